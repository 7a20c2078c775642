"""Indexing in every form: against NumPy, with PyTorch's own rules where it differs; writes, errors, and gradients by central differences."""
import numpy as np
import pytest

import saraph as torch
from saraph import tensor

RNG = np.random.default_rng(3)
X = np.arange(60, dtype=np.float64).reshape(3, 4, 5)


def base():
    return torch.from_numpy(X.copy())


# -- against NumPy ---------------------------------------------------------------------------------------------------------------

BASIC = [0, -1, slice(1, 3), slice(None, None, 2), (0, 1), (slice(None), 1), (Ellipsis, 0), (0, Ellipsis), None, (None, 0), (0, None), Ellipsis, (),
         (slice(-2, None), Ellipsis, None, slice(1, -1)), (1, 2, 3), slice(5, 9), (slice(2, 1), 0), (Ellipsis, None), (slice(0, 100), -4)]


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_indices_make_views(index):
    x = base()
    y = x[index]
    np.testing.assert_array_equal(y.numpy(), X[index])
    assert y._is_view() and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    y.fill_(-1)
    expected = X.copy()
    expected[index] = -1
    np.testing.assert_array_equal(x.numpy(), expected)


def random_index(rng):
    """A random mix, as NumPy takes it: no integers beside arrays (where PyTorch differs)."""
    count = int(rng.integers(1, 4))
    items, dim, picked = [], 0, False
    while dim < 3:
        choice = rng.integers(0, 6)
        if choice == 0:
            items.append(None)
            continue
        if choice == 1:
            start, stop = sorted(rng.integers(-6, 6, 2).tolist())
            items.append(slice(start, stop, int(rng.integers(1, 3))))
        elif choice == 2:
            items.append(slice(None))
        elif choice == 3 and not picked:
            mask = np.zeros(X.shape[dim], bool)
            mask[rng.choice(X.shape[dim], min(count, 3), replace=False)] = True
            items.append(mask)
            picked, count = True, int(mask.sum())
        else:
            shape = (count,) if rng.random() < 0.7 else (2, count)
            items.append(rng.integers(-X.shape[dim], X.shape[dim], shape))
        dim += 1
        if rng.random() < 0.15:
            break
    return tuple(items)


def as_tensors(index):
    return tuple(torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)


@pytest.mark.parametrize("seed", range(150))
def test_random_mixed_indices(seed):
    rng = np.random.default_rng(seed)
    index = random_index(rng)
    expected = X[index]
    for form in (index, as_tensors(index)):
        np.testing.assert_array_equal(base()[form].numpy(), expected)
        x, written = base(), X.copy()
        x[form] = -2.5
        written[index] = -2.5
        np.testing.assert_array_equal(x.numpy(), written)
    x, values = base(), rng.standard_normal(expected.shape)
    x[as_tensors(index)] = torch.from_numpy(values)
    written = X.copy()
    written[index] = values
    np.testing.assert_array_equal(x.numpy(), written)


@pytest.mark.parametrize("seed", range(0, 150, 10))
def test_gradients_of_random_indices(seed, check_gradients):
    rng = np.random.default_rng(seed)
    index = random_index(rng)
    check_gradients(lambda x: x[as_tensors(index)], X / 10)
    positions = tuple(slice(None) if isinstance(i, np.ndarray) and i.dtype != bool else i for i in index)  # each place is named once

    def written(x, v):
        y = x * 2
        y[as_tensors(positions)] = v
        return y

    check_gradients(written, X / 10, rng.standard_normal(X[positions].shape))


# -- PyTorch's own rules ----------------------------------------------------------------------------------------------------------


def test_integers_are_selected_before_arrays_pick():
    x, at = base(), tensor([0, 2])
    np.testing.assert_array_equal(x[0, :, at].numpy(), X[0][:, [0, 2]])
    np.testing.assert_array_equal(x[tensor(1), :, at].numpy(), X[1][:, [0, 2]])
    np.testing.assert_array_equal(x[at, 1].numpy(), X[[0, 2]][:, 1])


def test_a_tensor_without_dimensions_selects_a_view():
    x = base()
    assert x[tensor(1)]._is_view() and torch.equal(x[tensor(1)], x[1])
    assert torch.equal(x[tensor(-1, dtype=torch.int8)], x[2])
    assert x[tensor(1, dtype=torch.uint8)].shape == (1, 3, 4, 5)  # a mask


def test_bools_add_a_dimension():
    x = base()
    assert x[True].shape == (1, 3, 4, 5) and x[False].shape == (0, 3, 4, 5) and x[tensor(True)].shape == (1, 3, 4, 5)
    assert x[True, 0].shape == (1, 4, 5) and tensor(3.0)[True].tolist() == [3.0]
    x[True] = 1
    x[False] = 7
    assert x.eq(1).all()


def test_lists_stand_for_tuples_where_they_hold_more_than_numbers():
    x = base()[0]
    assert x[[0, 1]].shape == (2, 5)
    assert x[[slice(0, 2), 1]].tolist() == [1.0, 6.0]
    assert x[[[0, 1], [1, 2]]].tolist() == [1.0, 7.0]
    assert x[[tensor([0, 1]), tensor([1, 2])]].tolist() == [1.0, 7.0]
    assert x[[True, False, True, False]].shape == (2, 5)
    assert x[[]].shape == (0, 5) and x[(0, 1),].shape == (2, 5)


def test_uint8_tensors_are_masks_and_int32_tensors_positions():
    x = torch.arange(4.0)
    assert x[tensor([1, 0, 0, 1], dtype=torch.uint8)].tolist() == [0.0, 3.0]
    assert x[tensor([3, 0], dtype=torch.int32)].tolist() == [3.0, 0.0]
    assert x[np.array([1, 2], np.int16)].tolist() == [1.0, 2.0] and x[np.int64(2)] == 2


def test_masks_with_several_dimensions():
    x, mask = base(), X[0] > 7
    np.testing.assert_array_equal(x[:, torch.from_numpy(mask)].numpy(), X[:, mask])
    np.testing.assert_array_equal(x[torch.from_numpy(X > 20)].numpy(), X[X > 20])
    x[x > 20] = 0
    assert x.max() == 20


@pytest.mark.parametrize(("index", "name"), [(0, "Select"), (slice(1, 2), "Slice"), (slice(None), "Slice"), (Ellipsis, "Alias"), ((), "Alias"),
                                             (None, "Unsqueeze"), ((slice(None), 0), "Select"), ((0, slice(1, 2)), "Slice"), ((0, None), "Unsqueeze"),
                                             ((0, slice(None)), "Select"), ((Ellipsis, 1), "Select"), ([0], "Index"), ((0, [1]), "Index")], ids=str)
def test_node_names(index, name):
    x = base().requires_grad_()
    assert x[index].grad_fn.name() == name + "Backward0"


def test_long_gradients_of_repeated_positions_add_up():
    x = torch.zeros(7, 2, dtype=torch.float64, requires_grad=True)
    at = RNG.integers(-7, 7, 100)
    weights = RNG.standard_normal((100, 2))
    (x[torch.from_numpy(at)] * torch.from_numpy(weights)).sum().backward()
    expected = np.zeros((7, 2))
    np.add.at(expected, at, weights)
    np.testing.assert_allclose(x.grad.numpy(), expected)


def test_an_index_that_was_written_to_is_refused_in_backward():
    x, at = base().requires_grad_(), tensor([0, 1])
    for read in (lambda: x[at], lambda: x.index_select(0, at), lambda: x[0, 0].gather(0, at), lambda: x[0, 0].scatter(0, at, 1.0)):
        y = read()
        at.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


# -- writes ------------------------------------------------------------------------------------------------------------------------


def test_written_values_are_converted_and_broadcast():
    x = torch.zeros(2, 3, dtype=torch.int64)
    x[0] = 2.7
    x[1, :2] = tensor([1.9, -1.9])
    assert x.tolist() == [[2, 2, 2], [1, -1, 0]]
    x[:, 0] = tensor([[[5, 6]]])
    assert x[:, 0].tolist() == [5, 6]
    y = torch.zeros(3, dtype=torch.uint8)
    y[0] = -1
    y[1] = True
    assert y.tolist() == [255, 1, 0]
    b = torch.zeros(2, dtype=torch.bfloat16)
    b[tensor([True, False])] = 0.5
    assert b.tolist() == [0.5, 0.0]


def test_the_last_of_repeated_positions_wins_and_accumulate_adds():
    x = torch.zeros(3)
    x[tensor([1, 1])] = tensor([4.0, 5.0])
    assert x.tolist() == [0.0, 5.0, 0.0]
    assert x.index_put((tensor([1, 1]),), tensor(2.0), accumulate=True).tolist() == [0.0, 9.0, 0.0]
    assert x.index_put_((tensor([True, False, True]),), tensor([7.0, 8.0])) is x and x.tolist() == [7.0, 5.0, 8.0]


def test_writes_count_and_reach_views():
    x = torch.zeros(4)
    y, before = x[1:3], x._version
    y[0] = 1
    x[tensor([2])] = 2
    x[x > 5] = 3
    assert y.tolist() == [1.0, 2.0] and x._version == y._version == before + 3


def test_writes_under_autograd():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 1
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[tensor([0])] = 1
    with torch.no_grad():
        x[0] = 2
    y = x * 1
    y[1:][tensor([0])] = x[0] * 3
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 0.0, 1.0]


# -- errors ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("index", "error", "text"), [
    (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
    (tensor([3]), IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    ((tensor([0, 1]), tensor([0, 1, 2])), IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes \\[2\\], \\[3\\]"),
    (tensor([True, False]), IndexError, "The shape of the mask \\[2\\] at index 0 does not match the shape of the indexed tensor \\[3, 4, 5\\] at index 0"),
    (tensor([0.5]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    (tensor([1], dtype=torch.int16), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    (0.5, IndexError, "only integers, slices"), ({}, IndexError, "only integers, slices"), (np.bool_(True), IndexError, "only integers, slices"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"), (slice(None, None, 0), ValueError, "step must be greater than zero"),
    (slice(0.5, None), TypeError, "slice indices must be integers or None"), (2**70, ValueError, "Overflow")], ids=str)
def test_errors_of_reading(index, error, text):
    with pytest.raises(error, match=text):
        base()[index]
    with pytest.raises(error, match=text):
        base()[index] = 1


def test_errors_of_zero_dim_tensors():
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        tensor(1.0)[0]
    with pytest.raises(IndexError, match="0-dim"):
        tensor(1.0)[:]
    assert tensor(1.0)[...] == 1 and tensor(1.0)[None].shape == (1,)


@pytest.mark.parametrize(("index", "value", "error", "text"), [
    (0, torch.ones(3, dtype=torch.float64), RuntimeError, "expanded size of the tensor"),
    (tensor([0, 1]), torch.ones(3, dtype=torch.float64), RuntimeError, "value tensor of shape \\[3\\] cannot be broadcast to indexing result"),
    (tensor([0, 1]), torch.ones(5), RuntimeError, "Index put requires the source and destination dtypes match, got Double for the destination and Float"),
    (0, [1.0, 2.0], TypeError, "can't assign a list to a torch.DoubleTensor"), (0, None, TypeError, "can't assign a NoneType"),
    (0, np.ones(5), TypeError, "can't assign a numpy.ndarray"), (0, "a", TypeError, "can't assign a str"),
    (0, 2j, RuntimeError, "without overflow")], ids=str)
def test_errors_of_writing(index, value, error, text):
    with pytest.raises(error, match=text):
        base()[index] = value


def test_values_that_do_not_fit():
    for kind, value in ((torch.uint8, 300), (torch.int64, float("nan")), (torch.float32, 1e300)):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            torch.zeros(3, dtype=kind)[0] = value
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.zeros(1, 4).expand(3, 4)[0:2] = 1


def test_errors_of_index_put():
    x = base()
    with pytest.raises(TypeError, match="expected Tensor as element 0"):
        x.index_put((0,), tensor(1.0))
    with pytest.raises(RuntimeError, match="dtypes match"):
        x.index_put((tensor([0]),), tensor(1))
    with pytest.raises(IndexError, match="too many indices"):
        x.index_put((tensor([0]),) * 4, tensor(1.0, dtype=torch.float64))


# -- named views -----------------------------------------------------------------------------------------------------------------------


def test_select_narrow_and_diagonal(check_gradients):
    x = base()
    np.testing.assert_array_equal(x.select(1, -1).numpy(), X[:, -1])
    np.testing.assert_array_equal(x.narrow(2, 1, 3).numpy(), X[:, :, 1:4])
    np.testing.assert_array_equal(x.narrow(0, tensor(-1), 1).numpy(), X[-1:])
    for offset in (-1, 0, 2, 9):
        np.testing.assert_array_equal(x.diagonal(offset, 0, 2).numpy(), np.diagonal(X, offset, 0, 2))
    check_gradients(lambda y: (y.select(1, 2), y.narrow(0, 1, 2), y.diagonal(1, 2, 1)), X / 10)
    for call, error, text in ((lambda: x.select(0, 3), IndexError, "out of range"), (lambda: x.narrow(0, 2, 2), RuntimeError, "exceeds dimension size"),
                              (lambda: x.narrow(0, 0, -1), RuntimeError, "non-negative"), (lambda: x.diagonal(0, 1, 1), RuntimeError, "identical"),
                              (lambda: x.narrow(0, tensor([0]), 1), RuntimeError, "0-dim integral")):
        with pytest.raises(error, match=text):
            call()


def test_tensors_without_values_have_the_shapes():
    x = torch.empty(10**6, 10**6, 3, device="meta")
    assert x[:5, 1].shape == (5, 3) and x[tensor([[0, 1]])].shape == (1, 2, 10**6, 3)
    assert x[:, tensor([0]), None, tensor([1])].shape == (1, 10**6, 1) and x[:, :, tensor([True, False, True])].shape == (10**6, 10**6, 2)
    x[0] = 1
    x[tensor([0])] = 2.0
    with pytest.raises(NotImplementedError, match="depends on its values"):
        x[x > 0]
