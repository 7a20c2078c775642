"""vmap against a loop over samples, for every op of the table and every place of the batch dimension."""
import importlib.util
import itertools
import pathlib

import pytest

import saraph as torch
from saraph.func import grad, vmap

_spec = importlib.util.spec_from_file_location("saraph_vmap_table", pathlib.Path(__file__).parent / "vmap_table.py")
_table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_table)
TABLE = _table.TABLE
BATCH = 3


def assert_same(found, wanted):
    assert type(found) is type(wanted) or not isinstance(found, torch.Tensor)
    if not isinstance(found, torch.Tensor):
        for f, w in zip(found, wanted, strict=True):
            assert_same(f, w)
        return
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


def samples_of(values, dims, k):
    return [v if d is None else v.select(d, k) for v, d in zip(values, dims)]


def stacked(results, dim):
    if isinstance(results[0], torch.Tensor):
        return torch.stack(results, dim)
    return tuple(stacked(parts, dim) for parts in zip(*results))


def inputs(shapes, dims):
    torch.manual_seed(5)
    found = []
    for shape, d in zip(shapes, dims):
        x = torch.randn(shape) if d is None else torch.randn((BATCH, *shape)).movedim(0, d)
        found.append(x)
    return found


@pytest.mark.parametrize("entry", TABLE, ids=[e[0] for e in TABLE])
def test_vmap_is_a_loop(entry):
    _, function, shapes = entry
    choices = [(0, None) if s == () or len(shapes) > 2 else (0, len(s), None) for s in shapes]
    for dims in itertools.product(*choices):
        if all(d is None for d in dims):
            continue
        values = inputs(shapes, dims)
        wanted = [function(*samples_of(values, dims, k)) for k in range(BATCH)]
        for out in (0, -1):
            assert_same(vmap(function, dims, out)(*values), stacked(wanted, out))


DIFFERENTIABLE = [e for e in TABLE if len(e[2]) <= 3]


@pytest.mark.parametrize("entry", DIFFERENTIABLE, ids=[e[0] for e in DIFFERENTIABLE])
def test_gradients_of_samples(entry):
    """vmap of grad is a loop over gradients; and the gradient through vmap is that through the loop."""
    _, function, shapes = entry

    def scalar(*xs):
        found = function(*xs)
        parts = [found] if isinstance(found, torch.Tensor) else list(found)
        return sum((p * p).sum() for p in parts if p.is_floating_point()) + sum(x.sum() for x in xs)

    dims = (0,) + (None,) * (len(shapes) - 1)
    values = [v.double() for v in inputs(shapes, dims)]
    places = tuple(range(len(shapes)))
    wanted = [grad(scalar, places)(*samples_of(values, dims, k)) for k in range(BATCH)]
    assert_same(vmap(grad(scalar, places), dims)(*values), stacked(wanted, 0))
    through = grad(lambda *xs: vmap(scalar, dims)(*xs).sum(), places)(*values)
    for k, (found, d) in enumerate(zip(through, dims)):
        rows = torch.stack([w[k] for w in wanted])
        assert_same(found, rows if d == 0 else rows.sum(0))
