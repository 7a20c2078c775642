# Made by `python -m saraph stubs` from the functions themselves: change those.

from typing import Any as _Any, NamedTuple as _NamedTuple
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator, Mapping as _Mapping, Sequence as _Sequence
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, slice as _slice, str as _str, tuple as _tuple, type as _type
from numpy import ndarray as _ndarray
from saraph.dtypes import dtype as _dtype
from saraph.devices import device as _device
from saraph.shapes import Size as _Size, layout as _layout, memory_format as _memory_format
from saraph.random import Generator as _Generator
from saraph.tensor.tensor import Tensor as _Tensor
from saraph.tensor.storages import TypedStorage as _TypedStorage, UntypedStorage as _UntypedStorage

def fft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The discrete Fourier transform along `dim`, of `n` points (the input is cut off or filled up with zeros); the result is complex."""
def fft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`fftn` over the last two dimensions."""
def fftfreq(n: _int, d: _float = 1.0, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """The frequencies that `fft` of n points, d apart, gives: 0, 1, ..., -2, -1, divided by n * d."""
def fftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`fft` over several dimensions (default: all, or as many last ones as `s` has sizes)."""
def fftshift(input: _Tensor, dim: _Any = None) -> _Tensor:
    """The tensor rolled so that frequency 0 is in the middle, along all dimensions or some."""
def hfft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The transform of a Hermitian-symmetric signal, of which half is given: n real values."""
def hfft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`hfftn` over the last two dimensions."""
def hfftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`hfft` over several dimensions: Hermitian symmetry halves the last one."""
def ifft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `fft`."""
def ifft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`ifftn` over the last two dimensions."""
def ifftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `fftn`."""
def ifftshift(input: _Tensor, dim: _Any = None) -> _Tensor:
    """The inverse of `fftshift`."""
def ihfft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `hfft`: half of a Hermitian-symmetric signal from n real values."""
def ihfft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`ihfftn` over the last two dimensions."""
def ihfftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `hfftn`."""
def irfft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `rfft`: n real values (by default 2 * (size - 1)) from half a spectrum."""
def irfft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`irfftn` over the last two dimensions."""
def irfftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of `rfftn`."""
def rfft(input: _Tensor, n: _int | None = None, dim: _int = -1, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The transform of a real tensor: the first n // 2 + 1 values, from which the rest follows."""
def rfft2(input: _Tensor, s: _Any = None, dim: _Any = ..., norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`rfftn` over the last two dimensions."""
def rfftfreq(n: _int, d: _float = 1.0, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """The frequencies that `rfft` of n points, d apart, gives: 0, 1, ..., n // 2, divided by n * d."""
def rfftn(input: _Tensor, s: _Any = None, dim: _Any = None, norm: _str | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`fftn` of a real tensor; the last of the dimensions keeps only its first half."""
