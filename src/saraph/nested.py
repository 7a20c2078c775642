"""`torch.nested`: batches of tensors whose first sizes differ, in the jagged layout.

A nested tensor keeps the rows of all its components in one tensor `values()`, and where each begins in `offsets()`. Ops that work row by row (pointwise ones,
products with a matrix, norms and softmax over later dimensions) run on the values.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from saraph import dtypes, shapes
from saraph.ops.creation import as_tensor, tensor
from saraph.ops.joining import constant_pad_nd, stack
from saraph.ops.movement import cat
from saraph.tensor.subclass import DisableTorchFunctionSubclass, share
from saraph.tensor.tensor import Tensor

__all__ = ["NestedTensor", "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]


class NestedTensor(Tensor):
    """A jagged tensor: the values with the rows of all components, and where each component begins."""

    _nested_values: Tensor
    _nested_offsets: Tensor

    is_nested = True
    layout = shapes.jagged

    def values(self) -> Tensor:
        """The rows of all components, one after another."""
        return self._nested_values

    def offsets(self) -> Tensor:
        """Where each component begins, and where the last ends."""
        return self._nested_offsets

    def lengths(self) -> None:
        """None: components follow one another without gaps."""
        return None

    def dim(self) -> int:
        """The number of dimensions: batch, rows, and those of a row."""
        return self._nested_values.dim() + 1

    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements of all components."""
        return self._nested_values.numel()

    def size(self, dim: int | None = None) -> Any:
        """The sizes; that of dimension 1 differs among components and cannot be asked for alone."""
        sizes = (len(self._nested_offsets) - 1, None, *self._nested_values.shape[1:])
        if dim is None:
            return sizes
        found = sizes[dim]
        if found is None:
            raise RuntimeError(f"size({dim}) of a nested tensor differs among its components: use offsets().diff()")
        return found

    shape = property(size)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The components."""
        if dim != 0:
            raise RuntimeError(f"unbind(dim={dim}): only supported for dim 0 of a nested tensor")
        bounds = self._nested_offsets.tolist()
        return tuple(self._nested_values[a:b] for a, b in zip(bounds, bounds[1:]))

    def to_padded_tensor(self, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
        """See `torch.nested.to_padded_tensor`."""
        return to_padded_tensor(self, padding, output_size)

    def __len__(self) -> int:
        return len(self._nested_offsets) - 1

    def __getitem__(self, index: int) -> Tensor:
        return self.unbind()[index]

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        sizes = ", ".join("j" if n is None else str(n) for n in self.size())
        return f"NestedTensor(size=({sizes}), offsets={self._nested_offsets!r}, contiguous=True)"

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Run an op on the values; a result with a row per row is nested again."""
        kwargs = kwargs or {}
        nested = [a for a in (*args, *kwargs.values()) if isinstance(a, NestedTensor)]
        offsets = nested[0]._nested_offsets
        if any(n._nested_offsets is not offsets and n._nested_offsets.tolist() != offsets.tolist() for n in nested[1:]):
            raise RuntimeError("cannot call an op on nested tensors whose components have different lengths")
        _check_dims(func, nested[0], args[1:], kwargs)
        with DisableTorchFunctionSubclass():
            result = func(*[_plain(a) for a in args], **{k: _plain(v) for k, v in kwargs.items()})
        rows = nested[0]._nested_values.shape[0]
        return _wrap(result, offsets) if isinstance(result, Tensor) and result.dim() and result.shape[0] == rows else result


_BY_DIMENSION = {"softmax", "log_softmax", "sum", "mean", "amax", "amin", "max", "min", "prod", "var", "std", "cumsum", "argmax", "argmin", "norm", "select",
                 "narrow", "squeeze", "unsqueeze", "transpose", "permute", "reshape", "view", "flatten", "unflatten", "cat", "split", "chunk"}


def _check_dims(func: Callable, first: NestedTensor, rest: tuple, kwargs: dict[str, Any]) -> None:
    """RuntimeError for ops along dimensions, which the values number differently; those along the last dimension (-1) are the same."""
    name = getattr(func, "__name__", "")
    if name in _BY_DIMENSION:
        dims = kwargs.get("dim", rest[0] if rest else None)
        if dims != -1 and not (dims is None and name in ("sum", "mean", "max", "min", "amax", "amin", "prod", "norm")):
            raise RuntimeError(f"{name} on a nested tensor: only dim=-1 is supported; use values() or unbind() for others")


def _plain(value: Any) -> Any:
    return value._nested_values if isinstance(value, NestedTensor) else value


def _wrap(values: Tensor, offsets: Tensor) -> NestedTensor:
    found: Any = share(values, NestedTensor)
    found._nested_values, found._nested_offsets = values, offsets
    return found


def nested_tensor_from_jagged(values: Tensor, offsets: Tensor | None = None, lengths: Tensor | None = None, jagged_dim: int | None = None,
                              min_seqlen: int | None = None, max_seqlen: int | None = None) -> NestedTensor:
    """A nested tensor over `values`, whose components begin at `offsets` (batch + 1 entries), or follow one another with these `lengths`."""
    if jagged_dim not in (None, 1):
        raise RuntimeError(f"nested_tensor_from_jagged: jagged_dim must be 1, got {jagged_dim}")
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets = constant_pad_nd(lengths.cumsum(0), (1, 0))
    elif lengths is not None:
        bounds = offsets.tolist()
        return nested_tensor_from_jagged(cat([values[a:a + n] for a, n in zip(bounds, lengths.tolist())]), lengths=lengths)
    return _wrap(values, offsets)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> NestedTensor:
    """Tensors that differ in their first size as one nested tensor, differentiable with respect to them; a tensor gives its slices."""
    if isinstance(ts, NestedTensor):
        return ts
    parts = list(ts.unbind(0)) if isinstance(ts, Tensor) else list(ts)
    if not parts or not all(isinstance(t, Tensor) for t in parts):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors")
    if any(t.dim() != parts[0].dim() or t.shape[1:] != parts[0].shape[1:] or t.dim() == 0 for t in parts):
        raise RuntimeError(f"nested tensors of the jagged layout may differ in the first size of their components only, got {[list(t.shape) for t in parts]}")
    values = cat(parts) if dtype is None else cat(parts).to(dtype)
    return nested_tensor_from_jagged(values, lengths=tensor([t.shape[0] for t in parts]))


def nested_tensor(tensor_list: Sequence[Any], *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
                  pin_memory: bool = False) -> NestedTensor:
    """A new nested tensor (a leaf) with copies of these tensors or nested lists as its components."""
    parts = [t.detach() if isinstance(t, Tensor) else as_tensor(t, dtype=dtype) for t in tensor_list]
    values = as_nested_tensor(parts, dtype)
    return _wrap(values._nested_values.clone().requires_grad_(requires_grad), values._nested_offsets)


def to_padded_tensor(input: NestedTensor, padding: float, output_size: Sequence[int] | None = None, out: Tensor | None = None) -> Tensor:
    """The components stacked, each with `padding` after its last row: (batch, longest or output_size[1], ...)."""
    parts = input.unbind()
    longest = max((p.shape[0] for p in parts), default=0)
    length = longest if output_size is None else output_size[1]
    if length < longest:
        raise RuntimeError(f"Value in output_size is less than NestedTensor padded size: {length} < {longest}")
    return stack([constant_pad_nd(p, (0, 0) * (p.dim() - 1) + (0, length - p.shape[0]), padding) for p in parts])


def narrow(tensor: Tensor, dim: int, start: Any, length: Any, layout: Any = None) -> NestedTensor:
    """Of each slice of `tensor` along its first dimension the rows from `start` (an int or one per slice), `length` (likewise) of them."""
    if dim != 1:
        raise RuntimeError(f"nested.narrow: only dim=1 is supported, got {dim}")
    count = tensor.shape[0]
    begins, sizes = ([v] * count if isinstance(v, int) else v.tolist() for v in (start, length))
    return as_nested_tensor([tensor[i, b:b + n] for i, (b, n) in enumerate(zip(begins, sizes))])


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """Of each row of a 2-d tensor the elements where `mask` is True."""
    keep = mask.to(dtypes.bool_).expand(tensor.shape)
    return nested_tensor_from_jagged(tensor.masked_select(keep), lengths=keep.sum(-1))
