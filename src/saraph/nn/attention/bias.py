"""Causal masks as objects (`torch.nn.attention.bias`): attention sees what they mean without a mask being made."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from enum import IntEnum, auto
from typing import Any

from saraph.ops.attention import scaled_dot_product_attention
from saraph.ops.creation import ones
from saraph.tensor.subclass import instance, share
from saraph.tensor.tensor import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner of a rectangular causal mask the diagonal starts from."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask (seq_len_q, seq_len_kv) for `scaled_dot_product_attention(attn_mask=...)`."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"Expected a CausalVariant, got {type(variant).__name__}")
        keep = ones(seq_len_q, seq_len_kv).bool()
        return instance(cls, keep.tril(0 if variant is CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q)._a)  # type: ignore[return-value]

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warnings.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=2)

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask as a plain bool tensor."""
        return share(self, Tensor)

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Attention takes the mask by its meaning; other ops see a bool tensor."""
        kwargs = dict(kwargs or {})
        if func is scaled_dot_product_attention:
            names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
            call = {**dict(zip(names, args)), **kwargs}
            mask = call.pop("attn_mask")
            if call.get("is_causal"):
                raise ValueError("CausalBias should not be used with causal=True")
            square = mask.variant is CausalVariant.UPPER_LEFT or mask.seq_len_q == mask.seq_len_kv
            call["is_causal"] = square
            return scaled_dot_product_attention(**call, attn_mask=None if square else mask._materialize())
        if getattr(func, "__name__", "") == "as_subclass":
            return share(args[0], args[1])
        plain = tuple(a._materialize() if isinstance(a, CausalBias) else a for a in args)
        return func(*plain, **kwargs)

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        return self._materialize().__repr__()


def causal_upper_left(*size: int) -> CausalBias:
    """The causal mask whose diagonal starts in the upper left corner: query i sees keys 0 to i."""
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """The causal mask whose diagonal ends in the lower right corner: the last query sees all keys."""
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
