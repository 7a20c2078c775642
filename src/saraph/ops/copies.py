"""The `*_copy` forms of view ops: the same result in memory of its own, differentiable like the view."""
from __future__ import annotations

from typing import Any

from saraph.ops.promotion import check_tensor
from saraph.ops.registry import OPS, op
from saraph.shapes import contiguous_format
from saraph.tensor.tensor import Tensor


def _fresh(view: Tensor) -> Tensor:
    return view.clone(memory_format=contiguous_format)


@op()
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the tensor."""
    return check_tensor(input, "alias_copy").clone()


@op()
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy that no gradient flows through."""
    return check_tensor(input, "detach_copy").detach().clone()


@op()
def as_strided_copy(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.as_strided(size, stride, storage_offset)`."""
    return _fresh(check_tensor(input, "as_strided_copy").as_strided(size, stride, storage_offset))


@op()
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.diagonal(offset, dim1, dim2)`."""
    return _fresh(check_tensor(input, "diagonal_copy").diagonal(offset, dim1, dim2))


@op()
def expand_copy(input: Tensor, size: Any, *, implicit: bool = False, out: Tensor | None = None) -> Tensor:
    """A copy of `input.expand(size)`."""
    return _fresh(check_tensor(input, "expand_copy").expand(size))


@op(method=True)
def narrow_copy(input: Tensor, dim: int, start: int, length: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.narrow(dim, start, length)`."""
    x = check_tensor(input, "narrow_copy")
    rank = x._a.ndim
    if dim >= max(rank, 1):
        raise RuntimeError(f"narrow_copy(): Expected dim < {rank} for a tensor of shape {list(x._a.shape)}, but got dim {dim}")
    return _fresh(x.narrow(dim, start, length))


@op()
def permute_copy(input: Tensor, dims: Any, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.permute(dims)`."""
    return _fresh(check_tensor(input, "permute_copy").permute(dims))


@op()
def select_copy(input: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.select(dim, index)`."""
    return _fresh(check_tensor(input, "select_copy").select(dim, index))


@op()
def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *,
               out: Tensor | None = None) -> Tensor:
    """A copy of the slice `start:end:step` along a dimension."""
    x = check_tensor(input, "slice_copy")
    return _fresh(x[(slice(None),) * (dim % max(x.ndim, 1)) + (slice(start, end, step),)])


@op()
def squeeze_copy(input: Tensor, dim: Any = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.squeeze(dim)`."""
    return _fresh(check_tensor(input, "squeeze_copy").squeeze(dim))


@op()
def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.unsqueeze(dim)`."""
    return _fresh(check_tensor(input, "unsqueeze_copy").unsqueeze(dim))


@op()
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.t()`."""
    return _fresh(check_tensor(input, "t_copy").t())


@op()
def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.transpose(dim0, dim1)`."""
    return _fresh(check_tensor(input, "transpose_copy").transpose(dim0, dim1))


@op()
def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input.unfold(dimension, size, step)`."""
    return _fresh(check_tensor(input, "unfold_copy").unfold(dimension, size, step))


@op()
def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None, out: Tensor | None = None) -> Tensor:
    """A copy of `input.view(size)`, or of `input.view(dtype)`."""
    return _fresh(check_tensor(input, "view_copy").view(size if dtype is None else dtype))


@op()
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `view_as_real(input)`: a last dimension of two holds the parts."""
    x = check_tensor(input, "view_as_real_copy")
    return _fresh(_view("view_as_real")(x))


@op()
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `view_as_complex(input)`: the last dimension of two becomes the parts."""
    x = check_tensor(input, "view_as_complex_copy")
    return _fresh(_view("view_as_complex")(x))


def _view(name: str) -> Any:
    return OPS[name].public


@op()
def split_copy(input: Tensor, split_size: int, dim: int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the parts of `input.split(split_size, dim)`."""
    return tuple(_fresh(part) for part in check_tensor(input, "split_copy").split(split_size, dim))


@op()
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the parts of `input.split_with_sizes(split_sizes, dim)`."""
    return tuple(_fresh(part) for part in check_tensor(input, "split_with_sizes_copy").split_with_sizes(split_sizes, dim))


@op()
def unbind_copy(input: Tensor, dim: int = 0, *, out: Any = None) -> tuple[Tensor, ...]:
    """Copies of the slices of `input.unbind(dim)`."""
    return tuple(_fresh(part) for part in check_tensor(input, "unbind_copy").unbind(dim))
