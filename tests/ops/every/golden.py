"""Golden cases: an op, its arguments (small fixed arrays), and what NumPy, SciPy, mpmath or the definition say the result is.

    case("cumsum", lambda x, dim: np.cumsum(x, dim), X, 1)

enters one for the op of that name in the registry. Arrays among the arguments become tensors; numbers, strings and lists are passed as they are. The
expected value is an array (or a tuple of them, or a plain value), a function of the same arguments as NumPy arrays, or an exception's class. Every call
begins with seed 0. Options:

    _grad     False: the op has no derivative, or its results are not numbers that vary; "zero": it is 0, though results jump; another string
              says why this case is not differenced
    _fixed    numbers of float arguments that get no gradient (targets, running statistics)
    _before   a function of the arguments as tensors that makes them fit (symmetric, triangular, sparse), also where a gradient moves their numbers
    _through  for the gradient: a function of the result (a phase or a sign of the result is arbitrary, say)
    _post     a function of (result as NumPy arrays, *arguments) whose value is compared instead of the result
    _rtol     relative tolerance of values
    _forms    False: the first argument is not what methods and in-place forms take
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import saraph as torch
from saraph.ops.registry import OPS

__all__ = ["Case", "CASES", "case", "tensors", "narrow", "strided", "arrays", "leaves", "assert_same", "symmetric", "fresh", "lower",

           "B", "C", "I", "J", "M", "P", "Q", "S", "U", "V", "W", "X", "Y"]

X = np.array([[0.3, -1.2, 2.45], [1.7, -0.4, -2.1]])  # any numbers
Y = np.array([[1.1, 0.65, -0.7], [-1.9, 2.2, 0.8]])
P = np.array([[0.3, 1.2, 2.35], [1.7, 0.4, 3.1]])  # positive
Q = np.array([[0.3, 0.85, 0.5], [0.12, 0.4, 0.7]])  # between 0 and 1
U = np.array([[0.3, -0.85, 0.5], [-0.12, 0.4, 0.7]])  # between -1 and 1
V = np.array([0.5, -1.5, 2.0])
W = np.array([1.25, 0.75, -0.5])
C = np.array([[0.3 + 0.4j, -1.2 - 0.5j, 0.8j], [1.7 + 0.1j, -0.4 + 1.1j, 0.6 - 0.9j]])
I = np.array([[3, -7, 12], [5, 0, -4]])
J = np.array([[2, 3, 5], [1, 4, 6]])
B = np.array([[True, False, True], [False, False, True]])
M = np.array([[2.0, -0.5, 0.35], [0.7, 1.5, -0.8], [-0.4, 0.9, 1.8]])  # invertible
S = M @ M.T + 0.5 * np.eye(3)  # symmetric, positive definite


@dataclasses.dataclass
class Case:
    """One call of an op with what it gives."""

    name: str
    want: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grad: bool | str
    fixed: tuple[int, ...]
    before: Callable | None
    through: Callable | None
    post: Callable | None
    rtol: float
    forms: bool

    def expected(self) -> Any:
        if callable(self.want):
            return self.want(*copied(self.args), **copied(self.kwargs))
        return self.want

    def refused(self) -> bool:
        return isinstance(self.want, type) and issubclass(self.want, Exception)

    def given(self, args: Any = None) -> tuple[Any, ...]:
        """The arguments as tensors, made fit."""
        args = tensors(self.args) if args is None else args
        return tuple(args if self.before is None else self.before(*args))

    def floats(self) -> bool:
        return any(a.dtype.kind in "fc" for a in leaves([self.args, self.kwargs])) and "dtype" not in self.kwargs

    def call(self, function: Callable, args: Any = None, kwargs: Any = None, **more: Any) -> Any:
        """The op at arguments of `given`, from seed 0."""
        torch.manual_seed(0)
        return function(*(self.given() if args is None else args), **tensors(self.kwargs if kwargs is None else kwargs), **more)

    def shown(self, result: Any) -> Any:
        """What of a result is compared."""
        found = arrays(result)
        return found if self.post is None else self.post(found, *copied(self.args))

    def differentiable(self) -> bool:
        """Whether finite differences are to be taken: some argument has float numbers."""
        floats = [a for i, arg in enumerate(self.args) if i not in self.fixed for a in leaves(arg) if a.dtype.kind in "fc"]
        return self.grad is True and bool(floats) and not self.refused()


CASES: dict[str, list[Case]] = {}


def case(name: str, want: Any, *args: Any, _grad: bool | str = True, _fixed: tuple[int, ...] = (), _before: Callable | None = None,
         _through: Callable | None = None, _post: Callable | None = None, _rtol: float = 1e-9,
         _forms: bool = True, **kwargs: Any) -> None:
    """Enter a case (see the top of this file)."""
    assert name in OPS, name
    CASES.setdefault(name, []).append(Case(name, want, args, kwargs, _grad, _fixed, _before, _through, _post, _rtol, _forms))


def _mapped(tree: Any, kind: Any, function: Callable) -> Any:
    if isinstance(tree, kind):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(_mapped(t, kind, function) for t in tree) if type(tree) in (list, tuple) else tuple(_mapped(t, kind, function) for t in tree)
    if isinstance(tree, dict):
        return {k: _mapped(t, kind, function) for k, t in tree.items()}
    return tree


def symmetric(a: torch.Tensor, *rest: Any) -> tuple[Any, ...]:
    """For `_before`: the first argument is a symmetric matrix."""
    return ((a + a.mT) / 2, *rest)


def fresh(*args: Any) -> tuple[Any, ...]:
    """For `_before`: the first argument is written to, and must not be a leaf."""
    return (args[0] * 1, *args[1:])


def lower(a: torch.Tensor, *rest: Any) -> tuple[Any, ...]:
    """For `_before`: the first argument is a lower triangle."""
    return (a.tril(), *rest)


def copied(tree: Any) -> Any:
    return _mapped(tree, np.ndarray, np.copy)


def tensors(tree: Any, requires_grad: bool = False) -> Any:
    """Arguments with arrays made into tensors."""
    return _mapped(tree, np.ndarray, lambda a: torch.from_numpy(a.copy()).requires_grad_(requires_grad and a.dtype.kind in "fc"))


def narrow(tree: Any) -> Any:
    """float64 as float32, complex128 as complex64."""
    kinds = {"d": np.float32, "D": np.complex64}
    return _mapped(tree, (np.ndarray, np.generic), lambda a: a.astype(kinds[a.dtype.char]) if a.dtype.char in kinds else a)


def strided(tree: Any) -> Any:
    """Arguments as tensors whose dimensions lie in memory the other way round, with gaps."""
    def spread(a: np.ndarray) -> torch.Tensor:
        wide = torch.zeros([2 * n for n in reversed(a.shape)], dtype=torch.from_numpy(a).dtype)
        view = wide.permute(tuple(reversed(range(a.ndim))))[(slice(1, None, 2),) * a.ndim]
        return view.copy_(torch.from_numpy(a.copy()))

    return _mapped(tree, np.ndarray, spread)


def arrays(tree: Any) -> Any:
    """A result with tensors made into arrays."""
    return _mapped(tree, torch.Tensor, lambda t: t.detach().to_dense().resolve_conj().resolve_neg().numpy())


def leaves(tree: Any, kind: type = np.ndarray) -> list[Any]:
    """The arrays (or tensors) of a tree, in order."""
    found: list[Any] = []
    _mapped(tree, kind, found.append)
    return found


def assert_same(found: Any, expected: Any, rtol: float = 1e-9, what: str = "") -> None:
    """Equal trees of arrays: lengths, shapes, kinds of dtype (and dtypes where an array says one), values (NaN equals NaN)."""
    if isinstance(expected, (tuple, list)) and isinstance(found, (tuple, list)):
        assert len(found) == len(expected), f"{what}: {len(found)} results, {len(expected)} expected"
        for k, (f, e) in enumerate(zip(found, expected)):
            assert_same(f, e, rtol, f"{what}[{k}]")
        return
    if not isinstance(found, (np.ndarray, np.generic)) and not isinstance(expected, (np.ndarray, np.generic)):
        assert type(found) is type(expected) and found == expected, f"{what}: {found!r}, expected {expected!r}"
        return
    f, e = np.asarray(found), np.asarray(expected)
    assert f.shape == e.shape, f"{what}: shape {f.shape}, expected {e.shape}"
    assert f.dtype.kind == e.dtype.kind, f"{what}: dtype {f.dtype}, expected {e.dtype}"
    if isinstance(expected, (np.ndarray, np.generic)):
        assert f.dtype == e.dtype, f"{what}: dtype {f.dtype}, expected {e.dtype}"
    if f.dtype.kind in "fc":
        np.testing.assert_allclose(f, e, rtol=rtol, atol=rtol * 1e-2, err_msg=what)
    else:
        np.testing.assert_array_equal(f, e, err_msg=what)
