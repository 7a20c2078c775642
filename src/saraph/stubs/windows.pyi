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

def bartlett(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """A triangle from 0 over 1 to 0."""
def blackman(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x), with x from 0 to 2 pi over the window."""
def cosine(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """Half a period of the sine, taken at the middles of M equal steps."""
def exponential(M: _int, *, center: _float | None = None, tau: _float = 1.0, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """exp(-|k - center| / tau); the centre is the middle unless given, which a symmetric window does not allow."""
def gaussian(M: _int, *, std: _float = 1.0, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """A bell curve of width `std` around the middle."""
def general_cosine(M: _int, *, a: _Iterable[_float], sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """An alternating sum of cosines, a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., with x from 0 to 2 pi over the window."""
def general_hamming(M: _int, *, alpha: _float = 0.54, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """alpha - (1 - alpha) cos(x), with x from 0 to 2 pi over the window."""
def hamming(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """0.54 - 0.46 cos(x), with x from 0 to 2 pi over the window."""
def hann(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """0.5 - 0.5 cos(x), with x from 0 to 2 pi over the window."""
def kaiser(M: _int, *, beta: _float = 12.0, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """Kaiser's window: a Bessel function, whose width `beta` trades against its side lobes."""
def nuttall(M: _int, *, sym: _bool = True, dtype: _Any = None, layout: _Any = None, device: _Any = None, requires_grad: _bool = False) -> _Tensor:
    """Nuttall's sum of four cosines, with a continuous first derivative at the ends and low side lobes."""
