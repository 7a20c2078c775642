"""`torch.sparse`: products and reductions of sparse tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from saraph.dtypes import BY_NAME as _BY_NAME
from saraph.dtypes import dtype as _dtype
from saraph.ops import NAMESPACES as _NAMESPACES
from saraph.ops.conversion import TYPE_NAMES as _TYPE_NAMES
from saraph.tensor.tensor import Tensor as _Tensor

_coo = _NAMESPACES["torch"]["sparse_coo_tensor"]

globals().update(_NAMESPACES["sparse"])
__all__ = ["check_sparse_tensor_invariants", *_NAMESPACES["sparse"]]


class _SparseType(type):
    """`isinstance(x, sparse.FloatTensor)` asks for a COO tensor of that dtype; calling it makes one. Deprecated: use `sparse_coo_tensor`."""

    dtype: _dtype

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Tensor) and value.is_sparse and value.dtype is cls.dtype

    def __call__(cls, *args: _Any, device: _Any = None) -> _Tensor:
        if args and isinstance(args[0], _Tensor):
            return _coo(*args, dtype=cls.dtype, device=device)
        return _coo(tuple(args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args) or (0,), dtype=cls.dtype, device=device)


globals().update({name: _SparseType(name, (), {"dtype": _BY_NAME[kind], "is_sparse": True, "is_cuda": False, "__module__": "saraph.sparse",
                                               "__doc__": f"Old constructor and isinstance test of sparse {kind} tensors."})
                  for kind, name in _TYPE_NAMES.items() if _BY_NAME[kind].category < 3 and kind != "bool"})


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
    from saraph.stubs.sparse import *  # noqa: F403
