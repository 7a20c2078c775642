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

def addmm(mat: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: _float = 1.0, alpha: _float = 1.0) -> _Tensor:
    """beta mat + alpha (mat1 mat2) for a sparse mat1."""
def log_softmax(input: _Tensor, dim: _int, *, dtype: _Any = None) -> _Tensor:
    """log(softmax) over the stored values."""
def mm(mat1: _Tensor, mat2: _Tensor, reduce: _str = 'sum') -> _Tensor:
    """The product of a sparse matrix and a dense or sparse one (two sparse ones give a sparse one)."""
def sampled_addmm(input: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: _Any = 1.0, alpha: _Any = 1.0, out: _Tensor | None = None) -> _Tensor:
    """alpha (mat1 mat2) + beta input, at the positions that the CSR tensor `input` stores."""
def softmax(input: _Tensor, dim: _int, *, dtype: _Any = None) -> _Tensor:
    """softmax over the stored values: what is not stored counts as -inf and stays away."""
def spdiags(diagonals: _Tensor, offsets: _Tensor, shape: _tuple[_int, _int], layout: _Any = None) -> _Tensor:
    """A sparse matrix with the rows of `diagonals` on its diagonals `offsets` (above 0 to the right); entry j of a row stands in column j."""
def sum(input: _Tensor, dim: _Any = None, dtype: _Any = None) -> _Tensor:
    """The sum over some dimensions: sparse where sparse dimensions remain; over all, a dense number."""
