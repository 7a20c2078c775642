"""Every op of the registry against golden values, its gradient against finite differences, and its forms against each other.

The tables are in the golden_*.py beside this file; golden.py says how to read one."""
import importlib
import pathlib

import numpy as np
import pytest
from golden import CASES, arrays, assert_same, leaves, narrow, strided, tensors

import saraph as torch
from saraph.ops.registry import NAMESPACES, OPS

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:reduction")
HERE = pathlib.Path(__file__).parent
for _table in sorted(HERE.glob("golden_*.py")):
    importlib.import_module(_table.stem)
OF_MEMORY = {"view", "view_as", "view_copy", "view_as_complex", "view_as_complex_copy", "as_strided", "as_strided_copy", "as_strided_scatter",
             "resize_as_", "empty_like", "rand_like", "randn_like", "randint_like"}  # their results follow the memory of their arguments
OF_DTYPES = {"result_type", "empty_like", "float_power", "float_power_", "hash_tensor", "rand_like"}  # and of their dtypes
OTHER_ORDERS = {"empty_strided", "empty_permuted", "linalg.solve", "svd", "svd_lowrank", "pca_lowrank", "stft", "quantile", "rot90", "unsafe_split",
                "unsafe_split_with_sizes", "unsafe_chunk", "adjoint"}  # results that are not row-major, or are parts of an argument
REGISTERED = dict(OPS)
ALL = [pytest.param(c, id=f"{name}-{k}") for name, cases in CASES.items() for k, c in enumerate(cases)]


def test_every_op_has_a_case():
    missing = [name for name in REGISTERED if name not in CASES]
    assert not missing, f"{len(missing)} ops of {len(REGISTERED)} without a golden case: {missing}"


@pytest.mark.parametrize("case", ALL)
def test_values(case):
    if case.refused():
        with pytest.raises(case.want):
            case.call(OPS[case.name].public)
        return
    assert_same(case.shown(case.call(OPS[case.name].public)), case.expected(), case.rtol, case.name)


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].name not in OF_MEMORY and not p.values[0].refused()])
def test_strided_memory(case):
    found = case.call(OPS[case.name].public, case.given(strided(case.args)))
    assert_same(case.shown(found), case.expected(), case.rtol, case.name)


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].name not in OTHER_ORDERS and not p.values[0].refused()])
def test_results_are_row_major(case):
    """What is not a view of an argument can be viewed in any shape: programs rely on it."""
    given = case.given()
    results = leaves([case.call(OPS[case.name].public, given)], torch.Tensor)
    if all(t.is_contiguous() for t in leaves(given, torch.Tensor) if t.layout is torch.strided):
        assert all(t.is_contiguous() or t._is_view() for t in results if t.layout is torch.strided)


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].floats() and p.values[0].name not in OF_DTYPES and not p.values[0].refused()])
def test_float32(case):
    found = case.call(OPS[case.name].public, case.given(tensors(narrow(case.args))), narrow(case.kwargs))
    assert_same(case.shown(found), narrow(case.expected()), 1e-4, case.name)


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].differentiable()])
def test_gradients(case):
    op = OPS[case.name].public
    given = [tensors(arg, requires_grad=i not in case.fixed) for i, arg in enumerate(case.args)]
    inputs = [t for t in leaves(given, torch.Tensor) if t.requires_grad]

    def function(*moved):
        queue = iter(moved)
        result = case.call(op, case.given([_replaced(arg, queue) for arg in given]))
        results = leaves([result if case.through is None else case.through(result)], torch.Tensor)
        return [r.resolve_conj() for r in results]

    first = function(*inputs)
    chosen = [k for k, r in enumerate(first) if r.requires_grad]
    if not any(r.is_floating_point() or r.is_complex() for r in first):
        assert not chosen
        return
    assert chosen, f"{case.name}: no result requires a gradient"
    assert torch.autograd.gradcheck(lambda *moved: tuple(function(*moved)[k] for k in chosen), inputs, check_undefined_grad=False)


def _replaced(tree, queue):
    if isinstance(tree, torch.Tensor):
        return next(queue) if tree.requires_grad else tree
    return type(tree)(_replaced(t, queue) for t in tree) if isinstance(tree, (list, tuple)) else tree


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].grad is False])
def test_no_gradient_where_there_is_none(case):
    """An op marked so gives results that require no gradient, or refuses to compute it."""
    given = [tensors(arg, requires_grad=i not in case.fixed) for i, arg in enumerate(case.args)]
    try:
        results = leaves([case.call(OPS[case.name].public, case.given(given))], torch.Tensor)
        following = [r for r in results if r.requires_grad]
        if following:
            sum(r.sum() for r in following).backward()
    except (RuntimeError, NotImplementedError, TypeError) as error:
        assert str(error)
    else:
        assert not following, f"{case.name} has a gradient after all"


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].grad == "zero"])
def test_zero_gradients(case):
    given = [tensors(arg, requires_grad=i not in case.fixed) for i, arg in enumerate(case.args)]
    inputs = [t for t in leaves(given, torch.Tensor) if t.requires_grad]
    for g in torch.autograd.grad(case.call(OPS[case.name].public, case.given(given)).sum(), inputs):
        assert not g.any()


@pytest.mark.parametrize("name", REGISTERED)
def test_public_names(name):
    op = REGISTERED[name]
    for space in op.namespaces:
        for key in (op.name, *op.aliases):
            assert NAMESPACES[space][key] is op.public
    for key in op.methods:
        assert callable(getattr(torch.Tensor, key))


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].forms and OPS[p.values[0].name].methods])
def test_methods(case):
    if case.refused():
        with pytest.raises(case.want):
            getattr(case.given()[0], case.name)()
        return
    for key in OPS[case.name].methods:
        first, *rest = case.given()
        assert_same(case.shown(case.call(getattr(first, key), rest)), case.expected(), case.rtol, f"Tensor.{key}")


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].forms and OPS[p.values[0].name].inplace])
def test_in_place(case):
    op = OPS[case.name]
    result = case.call(op.public)
    for key in dict.fromkeys((op.name, *op.aliases, *op.methods)):
        first, *rest = case.given()
        version = first._version
        write = getattr(first, key + "_")
        if result.shape == first.shape and torch.can_cast(result.dtype, first.dtype):
            assert case.call(write, rest) is first
            assert first._version > version
            assert_same(arrays(first), arrays(result.to(first.dtype)), case.rtol, f"Tensor.{key}_")
        else:
            with pytest.raises(RuntimeError):
                case.call(write, rest)


@pytest.mark.parametrize("case", [p for p in ALL if OPS[p.values[0].name].out])
def test_out(case):
    op = OPS[case.name].public
    result = case.call(op)
    if isinstance(result, (tuple, list)):
        out = tuple(torch.empty(r.shape, dtype=r.dtype) for r in result)
        returned = case.call(op, out=out)
        assert returned is None or all(r is o for r, o in zip(returned, out))
    else:
        out = torch.empty(0, dtype=result.dtype) if result.layout is torch.strided else result * 0
        assert case.call(op, out=out) is out
    assert_same(case.shown(out), case.expected(), case.rtol, f"{case.name}(out=)")


def test_foreach_mul():
    given = [torch.tensor([1.0, -2.0]), torch.tensor([[3.0]])]
    assert torch._foreach_mul_(given, 2.0) is None
    assert [t.tolist() for t in given] == [[2.0, -4.0], [[6.0]]]


def test_tables_are_read_only():
    """Cases share arrays: no op wrote over one."""
    import golden

    assert golden.X[0, 0] == 0.3 and golden.M[0, 0] == 2.0
    assert all(np.isfinite(getattr(golden, key)).all() for key in "XYPQUVWCMS")
