"""Python functions applied to every element, in place: slow, and for small tensors on the CPU only."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.backends import of
from saraph.ops.creation import tensor
from saraph.ops.registry import method
from saraph.tensor.tensor import Tensor, bump, needs_grad


def _writable(x: Tensor, name: str) -> None:
    if needs_grad(x):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def _store(x: Tensor, values: list[Any]) -> Tensor:
    of(x._a).copy_into(x._a, tensor(values, dtype=x.dtype).reshape(x.shape)._a)
    bump(x)
    return x


@method()
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element v by `callable(v)`."""
    _writable(self, "apply_")
    return _store(self, [callable(v) for v in self.reshape(-1).tolist()])


@method()
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element a by `callable(a, b)`, where b is the element of `tensor` (broadcast) at the same place."""
    _writable(self, "map_")
    if tensor.dtype is not self.dtype:
        raise TypeError(f"map_: expected a tensor of dtype {self.dtype!r}, got {tensor.dtype!r}")
    other = tensor.expand(self.shape).reshape(-1).tolist()
    return _store(self, [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other)])


@method()
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace every element a by `callable(a, b, c)` with the elements of x and y (broadcast) at the same place."""
    _writable(self, "map2_")
    others = [t.expand(self.shape).reshape(-1).tolist() for t in (x, y)]
    return _store(self, [callable(*values) for values in zip(self.reshape(-1).tolist(), *others)])
