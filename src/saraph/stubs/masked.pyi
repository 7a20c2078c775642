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

def amax(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The largest kept element, of all or over the dimensions `dim`."""
def amin(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The smallest kept element, of all or over the dimensions `dim`."""
def argmax(input: _Tensor, dim: _int | None = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """Where the largest kept element is, in the input's dtype (as PyTorch gives it)."""
def argmin(input: _Tensor, dim: _int | None = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """Where the smallest kept element is, in the input's dtype (as PyTorch gives it)."""
def cumprod(input: _Tensor, dim: _int, *, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The running product of the kept elements along `dim`."""
def cumsum(input: _Tensor, dim: _int, *, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The running sum of the kept elements along `dim`."""
def log_softmax(input: _Tensor, dim: _int, *, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The logarithm of softmax along `dim` over the kept elements."""
def logaddexp(input: _Tensor, other: _Tensor, *, dtype: _Any = None, input_mask: _Tensor | None = None, other_mask: _Tensor | None = None) -> _Tensor:
    """log(exp(input) + exp(other)), where masked elements of either count as minus infinity."""
def logsumexp(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """log(sum(exp(input))) of the kept elements, of all or over the dimensions `dim`, in the input's dtype."""
def mean(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The mean of the kept elements, of all or over the dimensions `dim`."""
def median(input: _Tensor, dim: _int = -1, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The median of the kept elements along `dim`; NaN where nothing is kept."""
def norm(input: _Tensor, ord: _Any = 2.0, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The vector norm of the kept elements, of all or over the dimensions `dim`."""
def normalize(input: _Tensor, ord: _Any, dim: _int, *, eps: _float = 1e-12, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The kept elements over their norm along `dim` (at least `eps`); masked elements get 0."""
def prod(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The product of the kept elements, of all or over the dimensions `dim`."""
def softmax(input: _Tensor, dim: _int, *, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """softmax along `dim` over the kept elements; masked elements get 0."""
def softmin(input: _Tensor, dim: _int, *, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """softmax of the negated elements along `dim` over the kept elements."""
def std(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, *, correction: _Any = None, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The standard deviation of the kept elements, of all or over the dimensions `dim`."""
def sum(input: _Tensor, dim: _Any = None, *, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The sum of the kept elements, of all or over the dimensions `dim`."""
def var(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, *, correction: _Any = None, keepdim: _bool = False, dtype: _Any = None, mask: _Tensor | None = None) -> _Tensor:
    """The variance of the kept elements, of all or over the dimensions `dim`."""
