"""`torch.sparse`: products and reductions of sparse tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from saraph.ops import NAMESPACES as _NAMESPACES

globals().update(_NAMESPACES["sparse"])
__all__ = ["check_sparse_tensor_invariants", *_NAMESPACES["sparse"]]


class check_sparse_tensor_invariants:  # noqa: N801
    """Whether the parts of sparse tensors are checked when they are made: a context, and `enable()`, `disable()`, `is_enabled()`.

    COO tensors with a given size are always checked here; compressed ones where `check_invariants=True` says so.
    """

    _state = False

    @staticmethod
    def is_enabled() -> bool:
        """Whether checks were asked for."""
        return check_sparse_tensor_invariants._state

    @staticmethod
    def enable() -> None:
        """Ask for checks."""
        check_sparse_tensor_invariants._state = True

    @staticmethod
    def disable() -> None:
        """Ask for none."""
        check_sparse_tensor_invariants._state = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted, self._before = enable, False

    def __enter__(self) -> None:
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._state = self._wanted

    def __exit__(self, *exc: object) -> None:
        check_sparse_tensor_invariants._state = self._before


if _TYPE_CHECKING:
    def __getattr__(name: str) -> _Any: ...
