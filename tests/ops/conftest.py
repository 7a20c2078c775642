"""Fixtures for the tests of ops."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import saraph as torch


def _as_list(result: Any) -> list[torch.Tensor]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _loss(results: list[torch.Tensor], weights: list[np.ndarray | None]) -> float:
    return sum(float((np.conj(w) * r.detach().numpy()).real.sum()) for r, w in zip(results, weights) if w is not None)


def compare_gradients(function: Callable, *arrays: np.ndarray, tolerance: float = 1e-6, step: float = 1e-6) -> None:
    """The gradients of a random real functional of the results, against central differences in float64 (or complex128)."""
    rng = np.random.default_rng(7)
    inputs = [torch.from_numpy(a.copy()).requires_grad_() for a in arrays]
    results = _as_list(function(*inputs))
    weights = [rng.standard_normal(r.shape) + (1j * rng.standard_normal(r.shape) if r.is_complex() else 0) if r.requires_grad else None
               for r in results]
    used = [(r, torch.from_numpy(np.asarray(w))) for r, w in zip(results, weights) if w is not None]
    found = torch.autograd.grad([r for r, _ in used], inputs, [w for _, w in used], allow_unused=True, materialize_grads=True)
    for k, (a, g) in enumerate(zip(arrays, found)):
        expected = np.zeros(a.shape, a.dtype)
        for position in np.ndindex(a.shape):
            for direction in (1, 1j) if np.iscomplexobj(a) else (1,):
                losses = []
                for sign in (1, -1):
                    moved = [torch.from_numpy(b.copy()) for b in arrays]
                    moved[k].numpy()[position] += sign * step * direction
                    losses.append(_loss(_as_list(function(*moved)), weights))
                expected[position] += direction * (losses[0] - losses[1]) / (2 * step)
        np.testing.assert_allclose(g.numpy(), expected, rtol=tolerance, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)),
                                   err_msg=f"gradient of input {k}")


@pytest.fixture
def check_gradients() -> Callable:
    """`check_gradients(function, *float64 arrays)` compares gradients with central differences."""
    return compare_gradients
