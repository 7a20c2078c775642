"""Data pipes chained by methods."""
import pickle

import pytest

from saraph.utils.data import DataLoader, IterDataPipe, MapDataPipe, functional_datapipe


class Numbers(IterDataPipe):
    def __init__(self, count):
        self.count, self.resets = count, 0

    def __iter__(self):
        yield from range(self.count)

    def reset(self):
        self.resets += 1


@functional_datapipe("scaled_for_test")
class Scaled(IterDataPipe):
    def __init__(self, source, by=2):
        self.source, self.by = source, by

    def __iter__(self):
        return (x * self.by for x in self.source)


@functional_datapipe("shifted_for_test")
class Shifted(MapDataPipe):
    def __init__(self, source, by=1):
        self.source, self.by = source, by

    def __getitem__(self, index):
        return self.source[index] + self.by

    def __len__(self):
        return len(self.source)


def test_pipes_are_chained():
    assert list(Numbers(3).scaled_for_test().scaled_for_test(by=5)) == [0, 10, 20] and repr(Numbers(3)) == "Numbers"
    shifted = Shifted([1, 2]).shifted_for_test(3)
    assert [shifted[i] for i in range(len(shifted))] == [5, 6]
    with pytest.raises(AttributeError, match="'Numbers' object has no attribute 'shifted_for_test'"):
        Numbers(3).shifted_for_test()


def test_loaders_take_them():
    batches = list(DataLoader(Numbers(5).scaled_for_test(), batch_size=2))
    assert [b.tolist() for b in batches] == [[0, 2], [4, 6], [8]]
    assert [b.tolist() for b in DataLoader(Shifted([1, 2, 3]), batch_size=3)] == [[2, 3, 4]]


def test_only_the_newest_iterator_goes_on():
    numbers = Numbers(3)
    first = iter(numbers)
    assert next(first) == 0
    second = iter(numbers)
    assert next(second) == 0 and numbers.resets == 2
    with pytest.raises(RuntimeError, match="invalidated"):
        next(first)
    assert list(second) == [1, 2]


def test_pipes_can_be_pickled():
    assert list(pickle.loads(pickle.dumps(Numbers(2).scaled_for_test(by=7)))) == [0, 7]


def test_what_is_no_pipe_is_refused():
    with pytest.raises(TypeError, match="subclasses of IterDataPipe"):
        functional_datapipe("nothing")(int)
    with pytest.raises(Exception, match="already taken"):
        functional_datapipe("scaled_for_test")(Scaled)
