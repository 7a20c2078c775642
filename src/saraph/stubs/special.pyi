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

def airy_ai(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Airy function Ai."""
def bessel_j0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Bessel function of the first kind, of order 0."""
def bessel_j1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Bessel function of the first kind, of order 1."""
def bessel_y0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Bessel function of the second kind, of order 0."""
def bessel_y1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Bessel function of the second kind, of order 1."""
def chebyshev_polynomial_t(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def chebyshev_polynomial_u(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def chebyshev_polynomial_v(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def chebyshev_polynomial_w(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def digamma(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The derivative of lgamma."""
def entr(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """-x log x; 0 at 0, -inf below."""
def erf(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The error function."""
def erfc(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 - erf(x)."""
def erfcx(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """exp(x^2) erfc(x)."""
def erfinv(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of erf."""
def exp2(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """2 to the power of each element."""
def expit(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / (1 + exp(-x))."""
def expm1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """exp(x) - 1, accurate near 0."""
def gammainc(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def gammaincc(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The regularised upper incomplete gamma function Q(input, other)."""
def gammaln(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm of |gamma(x)|."""
def hermite_polynomial_h(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def hermite_polynomial_he(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def i0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0e(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """i0(x) exp(-|x|)."""
def i1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The modified Bessel function of the first kind, of order 1."""
def i1e(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """i1(x) exp(-|x|)."""
def laguerre_polynomial_l(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def legendre_polynomial_p(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def log1p(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """log(1 + x), accurate near 0."""
def log_ndtr(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """log(ndtr(x)), accurate far to the left."""
def log_softmax(input: _Tensor, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
    """log(softmax(x)) along `dim`."""
def logit(input: _Tensor, eps: _float | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps] where eps is given."""
def logsumexp(input: _Tensor, dim: _Any, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """log(sum(exp(input))) over the dimensions `dim`, without overflow. Integers are computed in the default dtype."""
def modified_bessel_i0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """i0(x)."""
def modified_bessel_i1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """i1(x)."""
def modified_bessel_k0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The modified Bessel function of the second kind, of order 0."""
def modified_bessel_k1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The modified Bessel function of the second kind, of order 1."""
def multigammaln(input: _Tensor, p: _int, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm of the multivariate gamma function of dimension p, of elements above (p - 1) / 2."""
def ndtr(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The area under the standard normal density left of x."""
def ndtri(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of ndtr."""
def polygamma(n: _int, input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The n-th derivative of digamma."""
def psi(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The derivative of lgamma."""
def round(input: _Tensor, *, decimals: _int = 0, out: _Tensor | None = None) -> _Tensor:
    """To the nearest integer, halves to the even one; `decimals` digits after the point (before it, where negative)."""
def scaled_modified_bessel_k0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """modified_bessel_k0(x) exp(x)."""
def scaled_modified_bessel_k1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """modified_bessel_k1(x) exp(x)."""
def shifted_chebyshev_polynomial_t(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def shifted_chebyshev_polynomial_u(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def shifted_chebyshev_polynomial_v(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def shifted_chebyshev_polynomial_w(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The polynomial of degree `other` at `input`."""
def sigmoid(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / (1 + exp(-x))."""
def sinc(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
def softmax(input: _Tensor, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
def spherical_bessel_j0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """sin(x) / x."""
def xlog1py(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input log1p(other), 0 where input is 0."""
def xlogy(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input log(other), 0 where input is 0."""
def zeta(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The Hurwitz zeta function: the sum of (k + other)^-input over k = 0, 1, ..."""
