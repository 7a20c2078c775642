"""`gradcheck` and `gradgradcheck`: analytic derivatives against central finite differences.

For a real input each element is moved by +-eps; for a complex one the real and the imaginary part separately, and the analytic side
is compared in PyTorch's convention (the gradient is the conjugate Wirtinger derivative, so a cotangent v gives conj of d<v, f>/dx).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.autograd.api import grad
from saraph.autograd.grad_mode import enable_grad, no_grad
from saraph.tensor.tensor import Tensor, needs_grad

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError", "get_numerical_jacobian", "get_analytical_jacobian"]


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def _outputs(value: Any) -> list[Tensor]:
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    return [o for o in values if isinstance(o, Tensor)]


def _numpy(x: Tensor) -> np.ndarray:
    return np.asarray(x.detach().resolve_conj().numpy())


def numerical(function: Callable, inputs: tuple, x: Tensor, eps: float) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """For every output: d out / d Re(x) and d out / d Im(x) (None when x is real), each of shape (elements of x, elements of out)."""
    array = x._a
    parts = [1.0] if array.dtype.kind != "c" else [1.0, 1j]
    results: list[list[list[np.ndarray]]] = []
    for part in parts:
        rows: list[list[np.ndarray]] = []
        for index in np.ndindex(*array.shape):
            before = array[index]
            with no_grad():
                array[index] = before + eps * part
                plus = [_numpy(o).copy() for o in _outputs(function(*inputs))]
                array[index] = before - eps * part
                minus = [_numpy(o).copy() for o in _outputs(function(*inputs))]
            array[index] = before
            rows.append([((p - m) / (2 * eps)).reshape(-1) for p, m in zip(plus, minus)])
        results.append(rows)
    count = len(_outputs(function(*inputs)))
    found = []
    for k in range(count):
        tables = [np.array([row[k] for row in rows]) for rows in results]
        found.append((tables[0], tables[1] if len(tables) > 1 else None))
    return found


def analytical(output: Tensor, x: Tensor, cotangent: complex, k: int) -> np.ndarray:
    """The gradient of x for a cotangent that is `cotangent` at element k of the output and 0 elsewhere."""
    seed = output.new_zeros(output.shape)
    seed._a[np.unravel_index(k, output._a.shape) if output._a.ndim else ()] = cotangent
    (found,) = grad(output, x, seed, retain_graph=True, allow_unused=True)
    return np.zeros(x._a.size, x._a.dtype) if found is None else _numpy(found).reshape(-1)


def gradcheck(func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
              nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """Whether backward agrees with finite differences at `inputs` (use float64). GradcheckError, or False, where it does not."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    try:
        _check(func, given, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(func: Callable, given: tuple, eps: float, atol: float, rtol: float, nondet_tol: float, check_dtypes: bool) -> None:
    xs = [x for x in given if isinstance(x, Tensor) and needs_grad(x)]
    if not xs:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
    for x in xs:
        if x._a.size > 1 and 0 in x._a.strides:
            raise RuntimeError("The input has a dimension with stride 0 (an expanded tensor): gradcheck moves one element at a time, so "
                               "clone() it first.")
        if not x.is_leaf:
            x.retain_grad()
    with enable_grad():
        outputs = _outputs(func(*given))
        again = _outputs(func(*given))
    for i, x in enumerate(xs):
        tables = numerical(func, given, x, eps)
        for k, out in enumerate(outputs):
            if not needs_grad(out):
                if out._a.dtype.kind in "fc" and np.any(np.abs(tables[k][0]) > atol):
                    raise GradcheckError(f"Numerical gradient for function expected to be zero for output {k}, which does not require grad")
                continue
            _compare(out, x, i, k, tables[k], atol, rtol, check_dtypes)
            if needs_grad(again[k]):
                _repeatable(out, again[k], x, nondet_tol)


def _compare(out: Tensor, x: Tensor, i: int, k: int, table: tuple, atol: float, rtol: float, check_dtypes: bool) -> None:
    by_real, by_imaginary = table
    for element in range(out._a.size):
        for cotangent in [1.0] if out._a.dtype.kind != "c" else [1.0, 1j]:
            found = analytical(out, x, cotangent, element)
            if check_dtypes and found.dtype != x._a.dtype:
                raise GradcheckError(f"Expected the gradient of input {i} to have dtype {x.dtype!r}, got {found.dtype}")
            # L = Re(conj(cotangent) * out); its gradient is dL/dRe(x) + i dL/dIm(x)
            wanted = (np.conj(cotangent) * by_real[:, element]).real
            if by_imaginary is not None:
                wanted = wanted + 1j * (np.conj(cotangent) * by_imaginary[:, element]).real
            if not np.allclose(found, wanted, rtol, atol, equal_nan=True):
                worst = int(np.argmax(np.abs(found - wanted)))
                raise GradcheckError(
                    f"Jacobian mismatch for output {k} with respect to input {i}: at output element {element}, input element {worst}, "
                    f"numerical {wanted[worst]!r} but analytical {found[worst]!r} (atol {atol}, rtol {rtol}).")


def _repeatable(out: Tensor, again: Tensor, x: Tensor, tolerance: float) -> None:
    ones = out.new_ones(out.shape)
    first = grad(out, x, ones, retain_graph=True, allow_unused=True)[0]
    second = grad(again, x, ones, retain_graph=True, allow_unused=True)[0]
    if first is not None and second is not None and not np.allclose(_numpy(first), _numpy(second), 0, max(tolerance, 1e-300), equal_nan=True):
        raise GradcheckError("Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
                             "values, although analytical gradient matches numerical gradient.")


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
                  gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
                  check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
                  check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """`gradcheck` of the gradients themselves: second derivatives."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    with enable_grad():
        outputs = [o for o in _outputs(func(*given)) if needs_grad(o)]
    if grad_outputs is None:
        numbers = np.random.default_rng(0)
        seeds = []
        for o in outputs:
            seed = o.detach().clone()
            seed._a[...] = numbers.standard_normal(seed._a.shape) + (1j * numbers.standard_normal(seed._a.shape) if seed._a.dtype.kind == "c" else 0)
            seeds.append(seed.requires_grad_())
    else:
        seeds = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]
    count = len(given)
    wanted = [i for i, x in enumerate(given) if isinstance(x, Tensor) and needs_grad(x)]

    def first(*args: Any) -> tuple[Tensor, ...]:
        xs, weights = args[:count], args[count:]
        xs = tuple(x if not isinstance(x, Tensor) or needs_grad(x) or i not in wanted else x.detach().requires_grad_() for i, x in enumerate(xs))
        with enable_grad():
            outs = [o for o in _outputs(func(*xs)) if needs_grad(o)]
            return tuple(g for g in grad(outs, [xs[i] for i in wanted], list(weights), create_graph=True, allow_unused=True) if g is not None)

    return gradcheck(first, (*given, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_grad_dtypes=check_grad_dtypes)


def get_numerical_jacobian(fn: Callable, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0) -> list[np.ndarray]:
    """The Jacobians of the first output by finite differences, one (elements of input, elements of output) array per input."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    return [numerical(fn, given, x, eps)[0][0] for x in given if isinstance(x, Tensor) and needs_grad(x)]


def get_analytical_jacobian(inputs: Any, output: Tensor) -> list[np.ndarray]:
    """The Jacobians of `output` by backward, one (elements of input, elements of output) array per input."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    return [np.array([analytical(output, x, 1.0, k) for k in range(output._a.size)]).T for x in given if needs_grad(x)]
