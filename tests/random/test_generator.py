"""Generator: seeds, states, copies, threads, fork; and the functions of saraph.random."""
import copy
import os
import pickle
import threading

import numpy as np
import pytest

import saraph.random
from saraph.devices import device
from saraph.random import (
    Generator,
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    set_rng_state,
)

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


@pytest.fixture(autouse=True)
def plain_states(monkeypatch):
    """States as arrays, whatever the tensor room has installed; the default generator is put back."""
    monkeypatch.setattr(Generator, "_to_tensor", staticmethod(lambda array: array))
    monkeypatch.setattr(Generator, "_from_tensor", staticmethod(saraph.random._generator._bytes_of))
    state = default_generator._source.state()
    yield
    default_generator._source.restore(state)


def test_seeds():
    generator = Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.manual_seed(-1) is generator
    assert generator.initial_seed() == 2 ** 64 - 1
    np.testing.assert_array_equal(generator.uniform((2,), F32), np.array([0.9937994, 0.57130635], F32))
    generator.manual_seed(-2 ** 63)
    assert generator.initial_seed() == 2 ** 63
    np.testing.assert_array_equal(generator.uniform((2,), F32), np.array([0.4962566, 0.7682218], F32))
    assert generator.manual_seed(np.int64(4)).initial_seed() == 4
    seeds = {generator.seed() for _ in range(4)}
    assert len(seeds) == 4 and generator.initial_seed() in seeds


@pytest.mark.parametrize("seed, error, phrase", [
    (True, RuntimeError, "manual_seed expected a long, but got bool"), (3.0, RuntimeError, "but got float"),
    ("5", RuntimeError, "but got str"), (None, RuntimeError, "but got NoneType"),
    (2 ** 64, ValueError, "Overflow when unpacking long long"),
    (-2 ** 63 - 1, ValueError, "Overflow when unpacking long long"),
])
def test_bad_seeds(seed, error, phrase):
    with pytest.raises(error, match=phrase):
        Generator().manual_seed(seed)


def test_devices():
    assert Generator().device == device("cpu")
    assert Generator(device="cpu").device == Generator(device("cpu")).device
    for name in ("cuda", "meta", "nowhere"):
        with pytest.raises(RuntimeError):
            Generator(name)


def test_state_round_trip_keeps_the_waiting_normal():
    generator = Generator().manual_seed(2)
    generator.normal((3,), F32)
    state = generator.get_state()
    first = generator.normal((4,), F64)
    generator.set_state(state)
    np.testing.assert_array_equal(generator.normal((4,), F64), first)
    # A new seed forgets it.
    generator.manual_seed(2)
    np.testing.assert_array_equal(generator.normal((3,), F32), Generator().manual_seed(2).normal((3,), F32))


def test_bad_states():
    generator = Generator().manual_seed(1)
    with pytest.raises(TypeError, match="RNG state must be a torch.ByteTensor"):
        generator.set_state(np.zeros(5056, F32))
    with pytest.raises(TypeError, match="expected a torch.ByteTensor, but got NoneType"):
        generator.set_state(None)
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        generator.set_state(np.zeros(5056, np.uint8))
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.get_offset()
    with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
        generator.set_offset(3)


def test_states_leave_and_enter_through_the_hooks(monkeypatch):
    monkeypatch.setattr(Generator, "_to_tensor", staticmethod(lambda array: ("tensor", array)))
    monkeypatch.setattr(Generator, "_from_tensor", staticmethod(lambda pair: pair[1]))
    generator = Generator().manual_seed(6)
    kind, array = generator.get_state()
    assert kind == "tensor" and array.shape == (5056,)
    generator.uniform((5,), F32)
    generator.set_state((kind, array))
    np.testing.assert_array_equal(generator.uniform((2,), F32), Generator().manual_seed(6).uniform((2,), F32))
    np.testing.assert_array_equal(generator.clone_state().get_state()[1], generator.get_state()[1])


def rebuilt(generator):
    """What unpickling does, with the state through pickle."""
    make, arguments, state = generator.__reduce__()
    other = make(*arguments)
    other.__setstate__(pickle.loads(pickle.dumps(state)))
    return other


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, Generator.clone_state, rebuilt])
def test_copies_go_their_own_way(duplicate):
    generator = Generator().manual_seed(9)
    generator.normal((3,), F32)
    other = duplicate(generator)
    assert other is not generator and other.initial_seed() == 9
    np.testing.assert_array_equal(other.get_state(), generator.get_state())
    generator.uniform((3,), F32)
    assert (other.get_state() != generator.get_state()).any()


def test_subclass_keeps_its_class_and_attributes():
    class Named(Generator):
        pass

    named = Named().manual_seed(1)
    named.name = "mine"
    assert type(copy.copy(named)) is Named and named.name == "mine"


def test_threads_share_one_stream_without_losing_words():
    generator = Generator().manual_seed(11)
    found = [[] for _ in range(4)]

    def draw(mine):
        for _ in range(300):
            mine.extend(generator.uniform((7,), F32).tolist())

    workers = [threading.Thread(target=draw, args=(mine,)) for mine in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expected = Generator().manual_seed(11).uniform((4 * 300 * 7,), F32)
    np.testing.assert_array_equal(np.sort(sum(found, [])), np.sort(expected.astype(F64)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_can_draw_although_a_thread_held_the_lock():
    with default_generator._lock:
        child = os.fork()
        if not child:
            default_generator.uniform((3,), F32)
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_module_functions():
    assert manual_seed("5") is default_generator and initial_seed() == 5
    assert manual_seed(3.7).initial_seed() == 3
    with pytest.raises(TypeError):
        manual_seed(None)
    state = get_rng_state()
    first = default_generator.uniform((4,), F32)
    set_rng_state(state)
    np.testing.assert_array_equal(default_generator.uniform((4,), F32), first)
    value = saraph.random.seed()
    assert value == initial_seed()


def test_fork_rng():
    manual_seed(0)
    expected = Generator().manual_seed(0).uniform((2,), F32)
    with pytest.raises(KeyError), fork_rng():
        default_generator.uniform((9,), F32)
        raise KeyError
    for keywords in ({"devices": []}, {"devices": range(0)}, {"device_type": "cuda"}):
        with fork_rng(**keywords):
            default_generator.normal((9,), F32)
    np.testing.assert_array_equal(default_generator.uniform((2,), F32), expected)
    state = get_rng_state()
    for keywords in ({"enabled": False}, {"device_type": "meta"}):
        with fork_rng(**keywords):
            default_generator.uniform((1,), F32)
        assert (get_rng_state() != state).any()
        state = get_rng_state()
    with pytest.raises(AssertionError, match="not compiled with CUDA"), fork_rng(devices=[0]):
        pass
    with pytest.raises(RuntimeError, match="device type"), fork_rng(device_type="nowhere"):
        pass


def test_fork_rng_as_decorator():
    @fork_rng()
    def draw():
        return default_generator.uniform((3,), F32)

    manual_seed(4)
    np.testing.assert_array_equal(draw(), draw())
