"""Names that PyTorch keeps for what it no longer has, or has only for quantized and distributed tensors: they answer as PyTorch's do."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph import dtypes
from saraph.ops.registry import method, op
from saraph.tensor.tensor import Tensor

_REMOVED = "This function was deprecated since version 1.9 and is now removed. "


def _gone(name: str, advice: str) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_REMOVED + advice)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Removed from PyTorch: raises. {advice}"
    op(method=name != "matrix_rank")(refuse)


_gone("solve", "`torch.solve` is deprecated in favor of `torch.linalg.solve`, which takes its arguments in the other order and does not return LU factors: "
      "use X = torch.linalg.solve(A, B), and torch.linalg.lu_factor for the factors.")
_gone("lstsq", "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, which takes its arguments in the other order and returns the residuals "
      "in a field of their own: use torch.linalg.lstsq(A, B).")
_gone("eig", "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex tensors: use "
      "L, V = torch.linalg.eig(A), or torch.linalg.eigvals(A).")
_gone("symeig", "The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower triangular portion: "
      "use L, V = torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh.")
_gone("matrix_rank", "Please use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
      "`torch.linalg.matrix_rank()` to 'hermitian'.")


def _quantized_only(name: str) -> Callable[..., Any]:
    def refuse(self: Tensor) -> Any:
        kind = self.dtype
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: the tensor of dtype {kind!r} is not "
                                  "quantized (saraph has no quantized tensors).")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Of a quantized tensor; others raise."
    return op(method=True)(refuse)


for _name in ("q_scale", "q_zero_point", "q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis", "int_repr"):
    _quantized_only(_name)


@method()
def qscheme(self: Tensor) -> Any:
    """The scheme of a quantized tensor; others raise."""
    raise RuntimeError(f"Could not run 'aten::qscheme': the tensor of dtype {self.dtype!r} is not quantized")


@op(method=True)
def dequantize(input: Any) -> Any:
    """The tensor in float32 (a list of them gives a list): what a tensor that is not quantized comes to."""
    if isinstance(input, (list, tuple)):
        return [dequantize(x) for x in input]
    return input.to(dtypes.float32)


@op(method=True)
def is_distributed(input: Tensor) -> bool:
    """Whether a tensor is spread over processes: no."""
    return False


@method()
def record_stream(self: Tensor, stream: Any) -> None:
    """Say that a stream uses the tensor. On the CPU there is nothing to keep it for."""
    if not hasattr(stream, "wait_stream"):
        raise RuntimeError(f"record_stream expects a torch.Stream, got {type(stream).__name__}")


@method()
def xpu(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """A copy on an XPU: there is none."""
    raise AssertionError("Torch not compiled with XPU enabled: saraph computes on the CPU. Ask torch.xpu.is_available() first.")


@method()
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost in memory."""
    return tuple(sorted(range(self.dim()), key=lambda d: (-self.stride(d), d)))


@method()
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What `load_state_dict` puts in the place of this parameter when swapping: `other` itself (`assign`) or this tensor with its values."""
    return other.detach() if assign else self.copy_(other).detach()


Tensor.volatile = property(lambda self: False, doc="Removed from PyTorch: False.")  # type: ignore[method-assign,assignment]
Tensor.grad_dtype = property(lambda self: self.dtype, doc="The dtype of the gradient: that of the tensor.")  # type: ignore[method-assign,assignment]
