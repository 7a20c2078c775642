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

class Methods:
    """What ops bind to Tensor when saraph is imported."""
    @property
    def H(self) -> _Tensor: ...
    @property
    def T(self) -> _Tensor: ...
    def __abs__(self, *, out: _Tensor | None = None) -> _Tensor:
        """The absolute value (of complex numbers: the modulus)."""
    def __add__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The sum of two operands."""
    def __and__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in both."""
    def __array__(self, dtype: _Any = None, copy: _bool | None = None) -> _Tensor: ...
    def __array_wrap__(self, array: _Any, context: _Any = None, return_scalar: _bool = False) -> _Tensor:
        """What NumPy's functions make of a result when they were given a Tensor."""
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> _complex: ...
    def __contains__(self, element: _Any) -> _bool: ...
    def __deepcopy__(self, memo: _dict[_int, _Any]) -> _Tensor:
        """A copy with its own memory (shared among the tensors of one deepcopy that share it), gradient and attributes."""
    def __div__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The quotient, as a floating point number."""
    def __dlpack__(self, *, stream: _Any = None, max_version: _Any = None, dl_device: _Any = None, copy: _bool | None = None) -> _Any:
        """A DLPack capsule over the tensor's memory. BufferError for tensors that require grad or have no memory."""
    def __dlpack_device__(self) -> _Tensor:
        """(device type, index) as DLPack numbers them."""
    def __eq__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:  # type: ignore[override]
        """`input == other`, elementwise, as a bool tensor."""
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The quotient, rounded down."""
    def __format__(self, format_spec: _str) -> _str: ...
    def __ge__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input >= other`, elementwise, as a bool tensor."""
    def __getitem__(self, index: _Any) -> _Tensor:
        """x[index]: a view for ints, slices, None and Ellipsis; a copy for tensors, masks and lists."""
    def __gt__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input > other`, elementwise, as a bool tensor."""
    def __iadd__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `add`: writes the result over the tensor and returns it."""
    def __iand__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `bitwise_and`: writes the result over the tensor and returns it."""
    def __idiv__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `div`: writes the result over the tensor and returns it."""
    def __ifloordiv__(self, other: _Any) -> _Tensor: ...  # type: ignore[misc]
    def __ilshift__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `bitwise_left_shift`: writes the result over the tensor and returns it."""
    def __imatmul__(self, other: _Tensor) -> _Tensor:  # type: ignore[misc]
        """`self @ other`, a new tensor: a product is never computed in place."""
    def __imod__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `remainder`: writes the result over the tensor and returns it."""
    def __imul__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `mul`: writes the result over the tensor and returns it."""
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> _Tensor:
        """`~x`: every bit turned; TypeError for floats."""
    def __ior__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `bitwise_or`: writes the result over the tensor and returns it."""
    def __ipow__(self, *args: _Any, **kwargs: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `pow`: writes the result over the tensor and returns it."""
    def __irshift__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `bitwise_right_shift`: writes the result over the tensor and returns it."""
    def __isub__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `sub`: writes the result over the tensor and returns it."""
    def __iter__(self) -> _Iterator[_Tensor]: ...
    def __itruediv__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `div`: writes the result over the tensor and returns it."""
    def __ixor__(self, other: _Any, **options: _Any) -> _Tensor:  # type: ignore[misc]
        """In-place version of `bitwise_xor`: writes the result over the tensor and returns it."""
    def __le__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input <= other`, elementwise, as a bool tensor."""
    def __len__(self) -> _int: ...
    def __lshift__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input shifted left by other bits."""
    def __lt__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input < other`, elementwise, as a bool tensor."""
    def __matmul__(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The matrix product, by the ranks of the operands:"""
    def __mod__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The remainder of floored division, with other's sign."""
    def __mul__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input * other`, elementwise, with broadcasting and type promotion."""
    def __ne__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:  # type: ignore[override]
        """`input != other`, elementwise, as a bool tensor."""
    def __neg__(self, *, out: _Tensor | None = None) -> _Tensor:
        """`-input`. Bool is refused: use `~`."""
    def __or__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in either."""
    def __pos__(self) -> _Tensor: ...
    def __pow__(self, other: _Any) -> _Tensor: ...
    def __radd__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The sum of two operands."""
    def __rand__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in both."""
    def __rdiv__(self, other: _Any) -> _Tensor:
        """Python's __rtruediv__."""
    def __reduce_ex__(self, protocol: _int) -> _Any:  # type: ignore[override]
        """How a tensor pickles; a non-leaf comes back as a leaf that requires grad."""
    def __repr__(self) -> _str: ...
    def __rfloordiv__(self, other: _Any) -> _Tensor:
        """Python's __rfloordiv__."""
    def __rlshift__(self, other: _Any) -> _Tensor:
        """Python's __rlshift__."""
    def __rmatmul__(self, other: _Tensor) -> _Tensor:
        """`other @ self`."""
    def __rmod__(self, other: _Any) -> _Tensor:
        """Python's __rmod__."""
    def __rmul__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input * other`, elementwise, with broadcasting and type promotion."""
    def __ror__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in either."""
    def __rpow__(self, other: _Any) -> _Tensor:
        """Python's __rpow__."""
    def __rrshift__(self, other: _Any) -> _Tensor:
        """Python's __rrshift__."""
    def __rshift__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input shifted right by other bits."""
    def __rsub__(self, other: _Any) -> _Tensor:
        """Python's __rsub__."""
    def __rtruediv__(self, other: _Any) -> _Tensor:
        """Python's __rtruediv__."""
    def __rxor__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in exactly one."""
    def __setitem__(self, index: _Any, value: _Any) -> None:
        """x[index] = value, converted and broadcast; autograd follows."""
    def __sub__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The difference of two operands."""
    @classmethod
    def __torch_function__(*args: _Any, **kwargs: _Any) -> _Any: ...
    def __truediv__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The quotient, as a floating point number."""
    def __xor__(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in exactly one."""
    def _addmm_activation(self, mat1: _Tensor, mat2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, use_gelu: _bool = False, out: _Tensor | None = None) -> _Tensor:
        """`addmm` followed by relu (or gelu)."""
    def _addmm_activation_(self, mat1: _Tensor, mat2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, use_gelu: _bool = False) -> _Tensor:
        """In-place version of `_addmm_activation`: writes the result over the tensor and returns it."""
    @property
    def _base(self) -> _Tensor | None: ...
    def _indices(self) -> _Tensor: ...
    def _is_view(self) -> _bool:
        """Whether the tensor is a differentiable view of another one."""
    @staticmethod
    def _make_subclass(*args: _Any, **kwargs: _Any) -> _Any: ...
    def _nnz(self) -> _int: ...
    def _typed_storage(self) -> _TypedStorage:
        """As `storage`, without the warning."""
    def _values(self) -> _Tensor: ...
    @property
    def _version(self) -> _int: ...
    def abs(self, *, out: _Tensor | None = None) -> _Tensor:
        """The absolute value (of complex numbers: the modulus)."""
    def abs_(self) -> _Tensor:
        """In-place `abs`; complex tensors are refused, for the result is real."""
    def absolute(self, *, out: _Tensor | None = None) -> _Tensor:
        """The absolute value (of complex numbers: the modulus)."""
    def absolute_(self) -> _Tensor:
        """In-place `abs`; complex tensors are refused, for the result is real."""
    def acos(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse cosine, in radians."""
    def acos_(self) -> _Tensor:
        """In-place version of `acos`: writes the result over the tensor and returns it."""
    def acosh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic cosine."""
    def acosh_(self) -> _Tensor:
        """In-place version of `acosh`: writes the result over the tensor and returns it."""
    def add(self, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`input + alpha * other`, elementwise, with broadcasting and type promotion."""
    def add_(self, other: _Any, *, alpha: _Any = 1) -> _Tensor:
        """In-place version of `add`: writes the result over the tensor and returns it."""
    def addbmm(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`beta * input + alpha * sum over b of (batch1[b] @ batch2[b])`: input broadcasts to (n, p), batches are (b, n, m) and (b, m, p)."""
    def addbmm_(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
        """In-place version of `addbmm`: writes the result over the tensor and returns it."""
    def addcdiv(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """input + value tensor1 / tensor2. Integer division is refused."""
    def addcdiv_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1) -> _Tensor:
        """In-place version of `addcdiv`: writes the result over the tensor and returns it."""
    def addcmul(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """input + value tensor1 tensor2."""
    def addcmul_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1) -> _Tensor:
        """In-place version of `addcmul`: writes the result over the tensor and returns it."""
    def addmm(self, mat1: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`beta * input + alpha * (mat1 @ mat2)`: input broadcasts to (n, p), mat1 is (n, m), mat2 is (m, p)."""
    def addmm_(self, mat1: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
        """In-place version of `addmm`: writes the result over the tensor and returns it."""
    def addmv(self, mat: _Tensor, vec: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`beta * input + alpha * (mat @ vec)`: input broadcasts to (n), mat is (n, m), vec is (m)."""
    def addmv_(self, mat: _Tensor, vec: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
        """In-place version of `addmv`: writes the result over the tensor and returns it."""
    def addr(self, vec1: _Tensor, vec2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`beta * input + alpha * outer(vec1, vec2)`: input broadcasts to (n, m). Mixed dtypes are promoted; bool uses "and" and "or"."""
    def addr_(self, vec1: _Tensor, vec2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
        """In-place version of `addr`: writes the result over the tensor and returns it."""
    def adjoint(self) -> _Tensor:
        """The last two dimensions swapped, and complex numbers conjugated."""
    def all(self, dim: _Any = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """Whether all elements are non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
    def allclose(self, other: _Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether all elements are close (see `isclose`)."""
    def amax(self, dim: _Any = ..., keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """The largest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
    def amin(self, dim: _Any = ..., keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """The smallest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False, out: _Any = None) -> _Any:
        """The smallest and the largest element, of all or along `dim`, as a named tuple (min, max)."""
    def angle(self, *, out: _Tensor | None = None) -> _Tensor:
        """The angle of complex numbers in radians; of real numbers 0 or, below 0, pi (nan stays nan)."""
    def any(self, dim: _Any = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """Whether any element is non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
    def apply_(self, callable: _Callable[[_Any], _Any]) -> _Tensor:
        """Replace every element v by `callable(v)`."""
    def arccos(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse cosine, in radians."""
    def arccos_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `acos`: writes the result over the tensor and returns it."""
    def arccosh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic cosine."""
    def arccosh_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `acosh`: writes the result over the tensor and returns it."""
    def arcsin(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse sine, in radians."""
    def arcsin_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `asin`: writes the result over the tensor and returns it."""
    def arcsinh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic sine."""
    def arcsinh_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `asinh`: writes the result over the tensor and returns it."""
    def arctan(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse tangent, in radians."""
    def arctan2(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The angle of the point (other, input), in radians."""
    def arctan2_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `atan2`: writes the result over the tensor and returns it."""
    def arctan_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `atan`: writes the result over the tensor and returns it."""
    def arctanh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic tangent."""
    def arctanh_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `atanh`: writes the result over the tensor and returns it."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """Where the (first) largest element is: along `dim`, or in the flattened tensor."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """Where the (first) smallest element is: along `dim`, or in the flattened tensor."""
    def argsort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, out: _Tensor | None = None) -> _Tensor:
        """The positions that sort the elements along `dim` (see `sort`)."""
    def argwhere(self) -> _Tensor:
        """The positions of elements that are not 0: (count, dims) int64."""
    def as_strided(self, size: _Any, stride: _Any, storage_offset: _int | None = None) -> _Tensor:
        """A view of any sizes and strides (in elements) over input's storage, from element `storage_offset` of it (default: input's own)."""
    def as_strided_(self, size: _Any, stride: _Any, storage_offset: _int | None = None) -> _Tensor:
        """In-place version of `as_strided`: the tensor itself gets these sizes and strides."""
    def as_strided_scatter(self, src: _Tensor, size: _Any, stride: _Any, storage_offset: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """A copy of `input` in which the elements that `as_strided(size, stride, storage_offset)` names are those of `src`."""
    def as_subclass(self, cls: _type) -> _Tensor:
        """The same tensor (memory and history) as an instance of `cls`, a subclass of Tensor."""
    def asin(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse sine, in radians."""
    def asin_(self) -> _Tensor:
        """In-place version of `asin`: writes the result over the tensor and returns it."""
    def asinh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic sine."""
    def asinh_(self) -> _Tensor:
        """In-place version of `asinh`: writes the result over the tensor and returns it."""
    def atan(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse tangent, in radians."""
    def atan2(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The angle of the point (other, input), in radians."""
    def atan2_(self, other: _Any) -> _Tensor:
        """In-place version of `atan2`: writes the result over the tensor and returns it."""
    def atan_(self) -> _Tensor:
        """In-place version of `atan`: writes the result over the tensor and returns it."""
    def atanh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse hyperbolic tangent."""
    def atanh_(self) -> _Tensor:
        """In-place version of `atanh`: writes the result over the tensor and returns it."""
    def backward(self, gradient: _Any = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: _Any = None) -> None:
        """Add the gradient of this tensor to the `.grad` of the leaves it was made from (see `autograd.backward`)."""
    def baddbmm(self, batch1: _Tensor, batch2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`beta * input + alpha * bmm(batch1, batch2)`: input broadcasts to (b, n, p), batches are (b, n, m) and (b, m, p)."""
    def baddbmm_(self, batch1: _Tensor, batch2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
        """In-place version of `baddbmm`: writes the result over the tensor and returns it."""
    def bernoulli(self, p: _Any = None, *, generator: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """Ones and zeros in input's shape and dtype: one with probability `input`, or with the probability `p` everywhere."""
    def bernoulli_(self, p: _Any = 0.5, *, generator: _Any = None) -> _Tensor:
        """Fill with ones, with probability p (a number, or a tensor that broadcasts to this one's shape), and zeros."""
    def bfloat16(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.bfloat16)`."""
    def bincount(self, weights: _Tensor | None = None, minlength: _int = 0) -> _Tensor:
        """How often each number from 0 on occurs in a 1-d tensor of non-negative integers, or the sum of the `weights` of its occurrences."""
    def bitwise_and(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in both."""
    def bitwise_and_(self, other: _Any) -> _Tensor:
        """In-place version of `bitwise_and`: writes the result over the tensor and returns it."""
    def bitwise_left_shift(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input shifted left by other bits."""
    def bitwise_left_shift_(self, other: _Any) -> _Tensor:
        """In-place version of `bitwise_left_shift`: writes the result over the tensor and returns it."""
    def bitwise_not(self, *, out: _Tensor | None = None) -> _Tensor:
        """Every bit turned; logical not for bools."""
    def bitwise_not_(self) -> _Tensor:
        """In-place version of `bitwise_not`: writes the result over the tensor and returns it."""
    def bitwise_or(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in either."""
    def bitwise_or_(self, other: _Any) -> _Tensor:
        """In-place version of `bitwise_or`: writes the result over the tensor and returns it."""
    def bitwise_right_shift(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input shifted right by other bits."""
    def bitwise_right_shift_(self, other: _Any) -> _Tensor:
        """In-place version of `bitwise_right_shift`: writes the result over the tensor and returns it."""
    def bitwise_xor(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The bits set in exactly one."""
    def bitwise_xor_(self, other: _Any) -> _Tensor:
        """In-place version of `bitwise_xor`: writes the result over the tensor and returns it."""
    def bmm(self, mat2: _Tensor, out_dtype: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
        """The products of two batches of matrices: (b, n, m) and (b, m, p) give (b, n, p). No broadcasting; see `matmul`."""
    def bool(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.bool)`."""
    def broadcast_to(self, size: _Any, *more: _int) -> _Tensor:
        """A view in which dimensions of size 1 are repeated: `input.expand(size)`."""
    def byte(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.uint8)`."""
    def cauchy_(self, median: _Any = 0.0, sigma: _Any = 1.0, *, generator: _Any = None) -> _Tensor:
        """Fill with numbers of the Cauchy distribution."""
    def ccol_indices(self) -> _Tensor:
        """Where each column begins."""
    def cdouble(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.complex128)`."""
    def ceil(self, *, out: _Tensor | None = None) -> _Tensor:
        """The smallest integer not below x."""
    def ceil_(self) -> _Tensor:
        """In-place version of `ceil`: writes the result over the tensor and returns it."""
    def cfloat(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.complex64)`."""
    def char(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.int8)`."""
    def cholesky(self, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """The Cholesky factor; see `linalg.cholesky`."""
    def cholesky_inverse(self, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse of A, whose Cholesky factor is given."""
    def cholesky_solve(self, input2: _Tensor, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """X with `A @ X = input`, where `input2` is A's Cholesky factor (lower unless `upper`)."""
    def chunk(self, chunks: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """Views of at most `chunks` parts of equal size along a dimension (the last may be smaller, and there may be fewer)."""
    def clamp(self, min: _Any = None, max: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
        """input held within [min, max] (numbers or tensors; None: no limit). Where min > max, max wins."""
    def clamp_(self, min: _Any = None, max: _Any = None) -> _Tensor:
        """In-place version of `clamp`: writes the result over the tensor and returns it."""
    def clamp_max(self, max: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`clamp(input, max=max)`."""
    def clamp_max_(self, max: _Any) -> _Tensor:
        """In-place version of `clamp_max`: writes the result over the tensor and returns it."""
    def clamp_min(self, min: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`clamp(input, min=min)`."""
    def clamp_min_(self, min: _Any) -> _Tensor:
        """In-place version of `clamp_min`: writes the result over the tensor and returns it."""
    def clip(self, min: _Any = None, max: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
        """input held within [min, max] (numbers or tensors; None: no limit). Where min > max, max wins."""
    def clip_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `clamp`: writes the result over the tensor and returns it."""
    def clone(self, *, memory_format: _Any = None) -> _Tensor:
        """A copy; the gradient flows through it. The memory order is kept unless `memory_format` names another."""
    def coalesce(self) -> _Tensor:
        """Positions sorted, each once, values of repeated ones added."""
    def col_indices(self) -> _Tensor:
        """The column of each value."""
    def conj(self) -> _Tensor:
        """The complex conjugate; a real tensor is returned as it is."""
    def conj_physical(self, *, out: _Tensor | None = None) -> _Tensor:
        """The complex conjugate, as a new tensor."""
    def conj_physical_(self) -> _Tensor:
        """In-place version of `conj_physical`: writes the result over the tensor and returns it."""
    def contiguous(self, memory_format: _Any = None) -> _Tensor:
        """The tensor itself when it lies in row-major order (or in `memory_format`), else a copy that does."""
    def copy_(self, src: _Any, non_blocking: _bool = False) -> _Tensor:
        """Write the values of `src` (broadcast, converted to this dtype) over the tensor; differentiable with respect to `src`."""
    def copysign(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The magnitude of input with the sign of other."""
    def copysign_(self, other: _Any) -> _Tensor:
        """In-place version of `copysign`: writes the result over the tensor and returns it."""
    def corrcoef(self) -> _Tensor:
        """The matrix of correlation coefficients of the rows (variables) over the columns (observations), clipped to [-1, 1]."""
    def cos(self, *, out: _Tensor | None = None) -> _Tensor:
        """The cosine of angles in radians."""
    def cos_(self) -> _Tensor:
        """In-place version of `cos`: writes the result over the tensor and returns it."""
    def cosh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> _Tensor:
        """In-place version of `cosh`: writes the result over the tensor and returns it."""
    def count_nonzero(self, dim: _Any = None) -> _Tensor:
        """How many elements are not zero, overall or over the dimensions `dim` (int64)."""
    def cov(self, *, correction: _int = 1, fweights: _Tensor | None = None, aweights: _Tensor | None = None) -> _Tensor:
        """The covariance matrix of the rows (variables) over the columns (observations)."""
    def cpu(self, memory_format: _Any = None) -> _Tensor:
        """The tensor in the CPU's memory (itself when it lies there)."""
    def cross(self, other: _Tensor, dim: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """The cross product along `dim` (default: the first dimension of size 3); see `linalg.cross`."""
    def crow_indices(self) -> _Tensor:
        """Where each row begins."""
    def cuda(self, device: _Any = None, non_blocking: _bool = False, memory_format: _Any = None) -> _Tensor:
        """Raises AssertionError: there is no CUDA device."""
    def cummax(self, dim: _int, *, out: _Any = None) -> _Any:
        """The running maximum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
    def cummin(self, dim: _int, *, out: _Any = None) -> _Any:
        """The running minimum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
    def cumprod(self, dim: _int, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The running product along `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
    def cumprod_(self, dim: _int, *, dtype: _Any = None) -> _Tensor:
        """In-place version of `cumprod`: writes the result over the tensor and returns it."""
    def cumsum(self, dim: _int, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The running sum along `dim`. Integers and bools add up in int64 unless `dtype` is given."""
    def cumsum_(self, dim: _int, *, dtype: _Any = None) -> _Tensor:
        """In-place version of `cumsum`: writes the result over the tensor and returns it."""
    @property
    def data(self) -> _Tensor: ...
    @data.setter
    def data(self, value: _Any) -> None: ...
    def data_ptr(self) -> _int:
        """The address of the first element; 0 for tensors without elements or values."""
    def deg2rad(self, *, out: _Tensor | None = None) -> _Tensor:
        """Degrees to radians."""
    def deg2rad_(self) -> _Tensor:
        """In-place version of `deg2rad`: writes the result over the tensor and returns it."""
    def dense_dim(self) -> _int:
        """How many dimensions are dense."""
    def dequantize(self) -> _Any:
        """The tensor in float32 (a list of them gives a list): what a tensor that is not quantized comes to."""
    def det(self) -> _Tensor:
        """The determinant; see `linalg.det`."""
    def detach(self) -> _Tensor:
        """A tensor over the same memory without history; a write to either is seen by both, and by the version check."""
    def detach_(self) -> _Tensor:
        """Cut the tensor off its history, in place; it becomes a leaf that needs no gradient. RuntimeError for a view."""
    @property
    def device(self) -> _device: ...
    def diag(self, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
        """A vector on the diagonal of a square matrix, or the diagonal of a matrix as a (new) vector."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> _Tensor:
        """The last dimension laid along a diagonal of two new dimensions, zeros elsewhere."""
    def diagflat(self, offset: _int = 0) -> _Tensor:
        """As `torch.diagflat`."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> _Tensor:
        """The view of a diagonal of two dimensions, which becomes the last dimension."""
    def diagonal_scatter(self, src: _Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
        """A copy with `src` on a diagonal of the plane of two dimensions."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: _Tensor | None = None, append: _Tensor | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """The n-th differences of neighbours along `dim`, after joining `prepend` in front and `append` behind. Of bools: `!=`."""
    def digamma(self, *, out: _Tensor | None = None) -> _Tensor:
        """The derivative of lgamma."""
    def digamma_(self) -> _Tensor:
        """In-place version of `digamma`: writes the result over the tensor and returns it."""
    def dim(self) -> _int:
        """The number of dimensions."""
    def dim_order(self, *, ambiguity_check: _Any = False) -> _tuple[_int, ...]:
        """The dimensions from the outermost to the innermost in memory."""
    def dist(self, other: _Tensor, p: _Any = 2) -> _Tensor:
        """The p-norm of `input - other`."""
    def div(self, other: _Any, *, rounding_mode: _str | None = None, out: _Tensor | None = None) -> _Tensor:
        """`input / other`, elementwise. `rounding_mode`: None (true division), "trunc" (towards zero) or "floor" (towards minus infinity)."""
    def div_(self, other: _Any, *, rounding_mode: _str | None = None) -> _Tensor:
        """In-place version of `div`: writes the result over the tensor and returns it."""
    def div_floor_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `div_floor`: writes the result over the tensor and returns it."""
    def div_trunc_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `div_trunc`: writes the result over the tensor and returns it."""
    def divide(self, other: _Any, *, rounding_mode: _str | None = None, out: _Tensor | None = None) -> _Tensor:
        """`input / other`, elementwise. `rounding_mode`: None (true division), "trunc" (towards zero) or "floor" (towards minus infinity)."""
    def divide_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `div`: writes the result over the tensor and returns it."""
    def dot(self, tensor: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The sum of products of two vectors of one length (nothing is conjugated: see `vdot`)."""
    def double(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.float64)`."""
    def dsplit(self, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
        """`tensor_split` along the third dimension; a number of sections must divide its size."""
    @property
    def dtype(self) -> _dtype: ...
    def eig(self, **kwargs: _Any) -> _Any:
        """Removed from PyTorch: raises. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex tensors: use L, V = torch.linalg.eig(A), or torch.linalg.eigvals(A)."""
    def element_size(self) -> _int:
        """Bytes of an element."""
    def eq(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input == other`, elementwise, as a bool tensor."""
    def eq_(self, other: _Any) -> _Tensor:
        """In-place version of `eq`: writes the result over the tensor and returns it."""
    def equal(self, other: _Tensor) -> _bool:
        """Whether shapes and all elements are equal."""
    def erf(self, *, out: _Tensor | None = None) -> _Tensor:
        """The error function."""
    def erf_(self) -> _Tensor:
        """In-place version of `erf`: writes the result over the tensor and returns it."""
    def erfc(self, *, out: _Tensor | None = None) -> _Tensor:
        """1 - erf(x)."""
    def erfc_(self) -> _Tensor:
        """In-place version of `erfc`: writes the result over the tensor and returns it."""
    def erfinv(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse of erf."""
    def erfinv_(self) -> _Tensor:
        """In-place version of `erfinv`: writes the result over the tensor and returns it."""
    def exp(self, *, out: _Tensor | None = None) -> _Tensor:
        """e to the power of each element."""
    def exp2(self, *, out: _Tensor | None = None) -> _Tensor:
        """2 to the power of each element."""
    def exp2_(self) -> _Tensor:
        """In-place version of `exp2`: writes the result over the tensor and returns it."""
    def exp_(self) -> _Tensor:
        """In-place version of `exp`: writes the result over the tensor and returns it."""
    def expand(self, size: _Any = ..., *more: _int, implicit: _bool = False) -> _Tensor:
        """A view in which dimensions of size 1 are repeated (-1 keeps a size; new dimensions go in front)."""
    def expand_as(self, other: _Tensor) -> _Tensor:
        """`self.expand(other.shape)`."""
    def expm1(self, *, out: _Tensor | None = None) -> _Tensor:
        """exp(x) - 1, accurate near 0."""
    def expm1_(self) -> _Tensor:
        """In-place version of `expm1`: writes the result over the tensor and returns it."""
    def exponential_(self, lambd: _Any = 1.0, *, generator: _Any = None) -> _Tensor:
        """Fill with exponential numbers of that rate."""
    def fill(self, value: _Any) -> _Tensor:
        """A tensor like `input` with every element `value`: a number or a zero-dim tensor."""
    def fill_(self, value: _Any) -> _Tensor:
        """Make every element `value` (a number or a zero-dim tensor), in place; differentiable with respect to a tensor's value."""
    def fill_diagonal_(self, fill_value: _Any, wrap: _bool = False) -> _Tensor:
        """Write `fill_value` on the main diagonal: a matrix, or more dimensions of equal length."""
    def fix(self, *, out: _Tensor | None = None) -> _Tensor:
        """x without its fraction."""
    def fix_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `trunc`: writes the result over the tensor and returns it."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> _Tensor:
        """The dimensions from `start_dim` to `end_dim` (included) as one: a view where strides allow it. A number becomes a vector of one."""
    def flip(self, dims: _Any, *more: _int) -> _Tensor:
        """A copy with the order along these dimensions reversed."""
    def fliplr(self) -> _Tensor:
        """A copy with the second dimension reversed."""
    def flipud(self) -> _Tensor:
        """A copy with the first dimension reversed."""
    def float(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.float32)`."""
    def float_power(self, exponent: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input ** exponent in float64 (or complex128)."""
    def float_power_(self, exponent: _Any) -> _Tensor:
        """In-place `float_power`, of a float64 or complex128 tensor only."""
    def floor(self, *, out: _Tensor | None = None) -> _Tensor:
        """The largest integer not above x."""
    def floor_(self) -> _Tensor:
        """In-place version of `floor`: writes the result over the tensor and returns it."""
    def floor_divide(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The quotient rounded down."""
    def floor_divide_(self, other: _Any) -> _Tensor:
        """In-place version of `floor_divide`: writes the result over the tensor and returns it."""
    def fmax(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The larger of two; nan only where both are nan."""
    def fmin(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The smaller of two; nan only where both are nan."""
    def fmod(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The remainder of truncated division, with input's sign."""
    def fmod_(self, other: _Any) -> _Tensor:
        """In-place version of `fmod`: writes the result over the tensor and returns it."""
    def frac(self, *, out: _Tensor | None = None) -> _Tensor:
        """The fraction of x, with its sign."""
    def frac_(self) -> _Tensor:
        """In-place version of `frac`: writes the result over the tensor and returns it."""
    def frexp(self, *, out: _Any = None) -> _Any:
        """(mantissa, exponent): input = mantissa 2^exponent, with |mantissa| in [0.5, 1) and the exponent an int32."""
    def gather(self, dim: _int, index: _Tensor, *, sparse_grad: _bool = False, out: _Tensor | None = None) -> _Tensor:
        """out[i][j] = input[index[i][j]][j] for dim 0, and so on; the result has index's shape."""
    def gcd(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The greatest common divisor of integers."""
    def gcd_(self, other: _Any) -> _Tensor:
        """In-place version of `gcd`: writes the result over the tensor and returns it."""
    def ge(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input >= other`, elementwise, as a bool tensor."""
    def ge_(self, other: _Any) -> _Tensor:
        """In-place version of `ge`: writes the result over the tensor and returns it."""
    def geometric_(self, p: _Any, *, generator: _Any = None) -> _Tensor:
        """Fill with the number of trials, of success probability p, up to the first success."""
    def geqrf(self, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
        """(a, tau): R in a's upper triangle, below it the Householder vectors (their leading 1 left out), and their factors. Not differentiable."""
    def ger(self, vec2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """Every product of an element of one vector and one of another: (n), (m) -> (n, m). Mixed dtypes are promoted."""
    def get_device(self) -> _int:
        """The index of the tensor's device, -1 on the CPU."""
    @property
    def grad(self) -> _Tensor | None: ...
    @grad.setter
    def grad(self, value: _Any) -> None: ...
    @property
    def grad_dtype(self) -> _Any: ...
    @property
    def grad_fn(self) -> _Any: ...
    def greater(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input > other`, elementwise, as a bool tensor."""
    def greater_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `gt`: writes the result over the tensor and returns it."""
    def greater_equal(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input >= other`, elementwise, as a bool tensor."""
    def greater_equal_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `ge`: writes the result over the tensor and returns it."""
    def gt(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input > other`, elementwise, as a bool tensor."""
    def gt_(self, other: _Any) -> _Tensor:
        """In-place version of `gt`: writes the result over the tensor and returns it."""
    def half(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.float16)`."""
    def hardshrink(self, lambd: _float = 0.5, *, out: _Tensor | None = None) -> _Tensor:
        """x where |x| > lambd, else 0."""
    def hash_tensor(self, dim: _Any = ..., *, keepdim: _bool = False, mode: _int = 0, out: _Tensor | None = None) -> _Tensor:
        """A checksum (uint64) of all elements or over the dimensions `dim`: the exclusive or of their 64-bit patterns."""
    def heaviside(self, values: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """0 where input < 0, `values` where it is 0, 1 above. Both have one dtype, which is not complex."""
    def heaviside_(self, values: _Tensor) -> _Tensor:
        """In-place version of `heaviside`: writes the result over the tensor and returns it."""
    def histc(self, bins: _int = 100, min: _Any = 0, max: _Any = 0, *, out: _Tensor | None = None) -> _Tensor:
        """How many elements fall into each of `bins` equal intervals between `min` and `max` (equal: those of the data)."""
    def histogram(self, bins: _Any, *, range: _Any = None, weight: _Tensor | None = None, density: _bool = False, out: _Any = None) -> _Any:
        """A named tuple (hist, bin_edges): how many elements fall into each interval; the last one includes its right end."""
    def hsplit(self, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
        """`tensor_split` along the second dimension (the first of a vector); a number of sections must divide its size."""
    def hypot(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """sqrt(input^2 + other^2)."""
    def hypot_(self, other: _Any) -> _Tensor:
        """In-place version of `hypot`: writes the result over the tensor and returns it."""
    def i0(self, *, out: _Tensor | None = None) -> _Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> _Tensor:
        """In-place version of `i0`: writes the result over the tensor and returns it."""
    def igamma(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The regularised lower incomplete gamma function P(input, other)."""
    def igamma_(self, other: _Any) -> _Tensor:
        """In-place version of `igamma`: writes the result over the tensor and returns it."""
    def igammac(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The regularised upper incomplete gamma function Q(input, other)."""
    def igammac_(self, other: _Any) -> _Tensor:
        """In-place version of `igammac`: writes the result over the tensor and returns it."""
    @property
    def imag(self) -> _Tensor: ...
    @imag.setter
    def imag(self, value: _Any) -> None: ...
    def index_add(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """input plus alpha times the slices of `source`, added at `index` along `dim`."""
    def index_add_(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Any = 1) -> _Tensor:
        """In-place version of `index_add`: writes the result over the tensor and returns it."""
    def index_copy(self, dim: _int, index: _Tensor, source: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """input with the slices at `index` along `dim` replaced by those of `source`."""
    def index_copy_(self, dim: _int, index: _Tensor, source: _Tensor) -> _Tensor:
        """In-place version of `index_copy`: writes the result over the tensor and returns it."""
    def index_fill(self, dim: _int, index: _Tensor, value: _Any) -> _Tensor:
        """input with the slices at `index` along `dim` filled with a value."""
    def index_fill_(self, dim: _int, index: _Tensor, value: _Any) -> _Tensor:
        """In-place version of `index_fill`: writes the result over the tensor and returns it."""
    def index_put(self, indices: _Sequence[_Any], values: _Tensor, accumulate: _bool = False) -> _Tensor:
        """A copy with `values` at (or, with accumulate, added to) input[indices]; `indices` holds a tensor per dimension."""
    def index_put_(self, indices: _Sequence[_Any], values: _Tensor, accumulate: _bool = False) -> _Tensor:
        """In-place version of `index_put`: writes the result over the tensor and returns it."""
    def index_reduce(self, dim: _int, index: _Tensor, source: _Tensor, reduce: _str, *, include_self: _bool = True, out: _Tensor | None = None) -> _Tensor:
        """The slices at `index` along `dim` reduced with those of `source`: "prod", "mean", "amax" or "amin"."""
    def index_reduce_(self, dim: _int, index: _Tensor, source: _Tensor, reduce: _str, *, include_self: _bool = True) -> _Tensor:
        """In-place version of `index_reduce`: writes the result over the tensor and returns it."""
    def index_select(self, dim: _int, index: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The slices of `input` along `dim` that the 1-d `index` names."""
    def indices(self) -> _Tensor:
        """The positions (sparse dims, nnz) of a coalesced COO tensor."""
    def inner(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """Sums of products along the last dimension of both: (..., n), (*, n) -> (..., *). With a number it is a plain product."""
    def int(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.int32)`."""
    def int_repr(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def inverse(self, *, out: _Tensor | None = None) -> _Tensor:
        """The inverse of square matrices; see `linalg.inv`."""
    def is_coalesced(self) -> _bool:
        """Whether every position occurs once, in order."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_conj(self) -> _bool:
        """Whether a conjugation is pending: never."""
    def is_contiguous(self, memory_format: _Any = None) -> _bool:
        """Whether the tensor lies dense in row-major order (or in `memory_format`)."""
    @property
    def is_cpu(self) -> _Any: ...
    is_cuda: _bool
    def is_distributed(self) -> _bool:
        """Whether a tensor is spread over processes: no."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is a (real) floating point type."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made under inference_mode; saraph's tensors stay ordinary ones."""
    is_ipu: _bool
    @property
    def is_leaf(self) -> _bool: ...
    is_maia: _bool
    @property
    def is_meta(self) -> _Any: ...
    is_mkldnn: _bool
    is_mps: _bool
    is_mtia: _bool
    def is_neg(self) -> _bool:
        """Whether a negation is pending: never."""
    is_nested: _bool
    def is_nonzero(self) -> _bool: ...
    def is_pinned(self, device: _Any = None) -> _bool:
        """False: there is no accelerator to pin memory for."""
    is_quantized: _bool
    def is_same_size(self, other: _Tensor) -> _bool:
        """Whether two tensors have one shape."""
    def is_set_to(self, tensor: _Tensor) -> _bool:
        """Whether both are the same piece of the same memory."""
    def is_shared(self) -> _bool:
        """Whether the tensor's memory can be mapped by other processes."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative values."""
    @property
    def is_sparse(self) -> _Any: ...
    @property
    def is_sparse_csr(self) -> _Any: ...
    is_vulkan: _bool
    is_xla: _bool
    is_xpu: _bool
    def isclose(self, other: _Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _Tensor:
        """Where |input - other| <= atol + rtol |other| (equal infinities too, and nans if asked)."""
    def isfinite(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are neither infinite nor nan."""
    def isinf(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are infinite."""
    def isnan(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are nan."""
    def isneginf(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are -inf."""
    def isposinf(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are +inf."""
    def isreal(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements have no imaginary part."""
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: _Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> _Tensor:
        """The signal that `stft` made the (complex) input from, in the sense of least squares; arguments as there."""
    def item(self) -> _Any:
        """The one element as a Python number; RuntimeError for any other count of elements."""
    @property
    def itemsize(self) -> _int: ...
    def kron(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The Kronecker product: every element of the first times the whole second, laid out as blocks. Mixed dtypes are promoted."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: _Any = None) -> _Any:
        """The k-th smallest element (from 1) along `dim`, and where it is: a named tuple (values, indices). NaN counts as largest."""
    @property
    def layout(self) -> _Any: ...
    def lcm(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The least common multiple of integers."""
    def lcm_(self, other: _Any) -> _Tensor:
        """In-place version of `lcm`: writes the result over the tensor and returns it."""
    def ldexp(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """input 2^other. With integer exponents exact wherever the result is a normal number."""
    def ldexp_(self, other: _Tensor) -> _Tensor:
        """In-place version of `ldexp`: writes the result over the tensor and returns it."""
    def le(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input <= other`, elementwise, as a bool tensor."""
    def le_(self, other: _Any) -> _Tensor:
        """In-place version of `le`: writes the result over the tensor and returns it."""
    def lerp(self, end: _Tensor, weight: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input + weight (end - input); weight is a number or a Tensor."""
    def lerp_(self, end: _Tensor, weight: _Any) -> _Tensor:
        """In-place version of `lerp`: writes the result over the tensor and returns it."""
    def less(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input < other`, elementwise, as a bool tensor."""
    def less_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `lt`: writes the result over the tensor and returns it."""
    def less_equal(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input <= other`, elementwise, as a bool tensor."""
    def less_equal_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `le`: writes the result over the tensor and returns it."""
    def lgamma(self, *, out: _Tensor | None = None) -> _Tensor:
        """The logarithm of |gamma(x)|."""
    def lgamma_(self) -> _Tensor:
        """In-place version of `lgamma`: writes the result over the tensor and returns it."""
    def log(self, *, out: _Tensor | None = None) -> _Tensor:
        """The natural logarithm; nan below 0, -inf at 0."""
    def log10(self, *, out: _Tensor | None = None) -> _Tensor:
        """The logarithm to base 10."""
    def log10_(self) -> _Tensor:
        """In-place version of `log10`: writes the result over the tensor and returns it."""
    def log1p(self, *, out: _Tensor | None = None) -> _Tensor:
        """log(1 + x), accurate near 0."""
    def log1p_(self) -> _Tensor:
        """In-place version of `log1p`: writes the result over the tensor and returns it."""
    def log2(self, *, out: _Tensor | None = None) -> _Tensor:
        """The logarithm to base 2."""
    def log2_(self) -> _Tensor:
        """In-place version of `log2`: writes the result over the tensor and returns it."""
    def log_(self) -> _Tensor:
        """In-place version of `log`: writes the result over the tensor and returns it."""
    def log_normal_(self, mean: _Any = 1.0, std: _Any = 2.0, *, generator: _Any = None) -> _Tensor:
        """Fill with numbers whose logarithm is normal with that mean and standard deviation."""
    def log_softmax(self, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
        """log(softmax(x)) along `dim`."""
    def logaddexp(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """log(exp(input) + exp(other))."""
    def logaddexp2(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """log2(2^input + 2^other)."""
    def logcumsumexp(self, dim: _int, *, out: _Tensor | None = None) -> _Tensor:
        """The logarithm of the running sum of exp(input) along `dim`, without overflow."""
    def logdet(self) -> _Tensor:
        """The logarithm of the determinant: nan where a real one is negative, -inf where it is 0."""
    def logical_and(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """Both are not 0."""
    def logical_and_(self, other: _Any) -> _Tensor:
        """In-place version of `logical_and`: writes the result over the tensor and returns it."""
    def logical_not(self, *, out: _Tensor | None = None) -> _Tensor:
        """Which elements are 0."""
    def logical_not_(self) -> _Tensor:
        """In-place version of `logical_not`: writes the result over the tensor and returns it."""
    def logical_or(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """At least one is not 0."""
    def logical_or_(self, other: _Any) -> _Tensor:
        """In-place version of `logical_or`: writes the result over the tensor and returns it."""
    def logical_xor(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """Exactly one is not 0."""
    def logical_xor_(self, other: _Any) -> _Tensor:
        """In-place version of `logical_xor`: writes the result over the tensor and returns it."""
    def logit(self, eps: _float | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """log(x / (1 - x)), with x clamped to [eps, 1 - eps] where eps is given."""
    def logit_(self, eps: _float | None = None) -> _Tensor:
        """In-place version of `logit`: writes the result over the tensor and returns it."""
    def logsumexp(self, dim: _Any, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """log(sum(exp(input))) over the dimensions `dim`, without overflow. Integers are computed in the default dtype."""
    def long(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.int64)`."""
    def lstsq(self, **kwargs: _Any) -> _Any:
        """Removed from PyTorch: raises. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, which takes its arguments in the other order and returns the residuals in a field of their own: use torch.linalg.lstsq(A, B)."""
    def lt(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input < other`, elementwise, as a bool tensor."""
    def lt_(self, other: _Any) -> _Tensor:
        """In-place version of `lt`: writes the result over the tensor and returns it."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False, *, out: _Any = None) -> _tuple[_Tensor, ...]:
        """(LU, pivots), and info with `get_infos`; see `linalg.lu_factor_ex`."""
    def lu_solve(self, LU_data: _Tensor, LU_pivots: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """X with `A @ X = input`, from the results of `lu_factor(A)`."""
    @property
    def mH(self) -> _Tensor: ...
    @property
    def mT(self) -> _Tensor: ...
    def map2_(self, x: _Tensor, y: _Tensor, callable: _Callable[[_Any, _Any, _Any], _Any]) -> _Tensor:
        """Replace every element a by `callable(a, b, c)` with the elements of x and y (broadcast) at the same place."""
    def map_(self, tensor: _Tensor, callable: _Callable[[_Any, _Any], _Any]) -> _Tensor:
        """Replace every element a by `callable(a, b)`, where b is the element of `tensor` (broadcast) at the same place."""
    def masked_fill(self, mask: _Tensor, value: _Any) -> _Tensor:
        """A copy with `value` where the bool `mask` (broadcast) is True."""
    def masked_fill_(self, mask: _Tensor, value: _Any) -> _Tensor:
        """In-place version of `masked_fill`: writes the result over the tensor and returns it."""
    def masked_scatter(self, mask: _Tensor, source: _Tensor) -> _Tensor:
        """A copy with the elements of `source`, in order, where `mask` is True."""
    def masked_scatter_(self, mask: _Tensor, source: _Tensor) -> _Tensor:
        """In-place version of `masked_scatter`: writes the result over the tensor and returns it."""
    def masked_select(self, mask: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The elements of `input` where `mask` is True, as a 1-d tensor."""
    def matmul(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The matrix product, by the ranks of the operands:"""
    def matrix_exp(self) -> _Tensor:
        """The exponential of square matrices, by scaling and squaring."""
    def matrix_power(self, n: _int, *, out: _Tensor | None = None) -> _Tensor:
        """Square matrices (batched) multiplied with themselves n times; 0 gives the identity, a negative n powers of the inverse."""
    def max(self, dim: _Any = None, keepdim: _bool = False, *, other: _Any = None, out: _Any = None) -> _Any:
        """The largest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `maximum(input, other)`."""
    def maximum(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The larger of two; nan where either is nan."""
    def mean(self, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None, **others: _Any) -> _Tensor:
        """The mean of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all). NaN over nothing."""
    def median(self, dim: _int | None = None, keepdim: _bool = False, *, out: _Any = None) -> _Any:
        """The (lower) median of all elements; or, with `dim`, a named tuple (values, indices) along it. NaN where there is one."""
    def min(self, dim: _Any = None, keepdim: _bool = False, *, other: _Any = None, out: _Any = None) -> _Any:
        """The smallest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `minimum(input, other)`."""
    def minimum(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The smaller of two; nan where either is nan."""
    def mm(self, mat2: _Tensor, out_dtype: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
        """The product of two matrices: (n, m) and (m, p) give (n, p). No broadcasting; see `matmul`."""
    def mode(self, dim: _int = -1, keepdim: _bool = False, *, out: _Any = None) -> _Any:
        """The most frequent element along `dim` (the smallest of several), and its last position: a named tuple (values, indices)."""
    def module_load(self, other: _Tensor, assign: _bool = False) -> _Tensor:
        """What `load_state_dict` puts in the place of this parameter when swapping: `other` itself (`assign`) or this tensor with its values."""
    def moveaxis(self, source: _Any, destination: _Any) -> _Tensor:
        """A view with dimensions moved to other places; the rest keep their order."""
    def movedim(self, source: _Any, destination: _Any) -> _Tensor:
        """A view with dimensions moved to other places; the rest keep their order."""
    def msort(self, *, out: _Tensor | None = None) -> _Tensor:
        """The elements in ascending order along the first dimension."""
    def mul(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input * other`, elementwise, with broadcasting and type promotion."""
    def mul_(self, other: _Any) -> _Tensor:
        """In-place version of `mul`: writes the result over the tensor and returns it."""
    def multinomial(self, num_samples: _Any, replacement: _bool = False, *, generator: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """`num_samples` indices (int64) drawn from each row of weights; without `replacement` no index twice in a row."""
    def multiply(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input * other`, elementwise, with broadcasting and type promotion."""
    def multiply_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `mul`: writes the result over the tensor and returns it."""
    def mv(self, vec: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The product of a matrix (n, m) and a vector (m): a vector (n)."""
    def mvlgamma(self, p: _int, *, out: _Tensor | None = None) -> _Tensor:
        """The logarithm of the multivariate gamma function of dimension p, of elements above (p - 1) / 2."""
    def mvlgamma_(self, p: _int) -> _Tensor:
        """In-place version of `mvlgamma`: writes the result over the tensor and returns it."""
    name: _Any
    names: _Any
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """nan becomes `nan` (0), infinities the dtype's largest numbers or what is given; of complex numbers in both parts."""
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> _Tensor:
        """In-place version of `nan_to_num`: writes the result over the tensor and returns it."""
    def nanmean(self, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The mean of the elements that are not NaN."""
    def nanmedian(self, dim: _int | None = None, keepdim: _bool = False, *, out: _Any = None) -> _Any:
        """As `median`, of the elements that are not NaN; NaN where there are none."""
    def nanquantile(self, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: _Tensor | None = None) -> _Tensor:
        """As `quantile`, of the elements that are not NaN; NaN where there are none."""
    def nansum(self, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The sum with NaN counted as zero (see `sum`)."""
    def narrow(self, dim: _int, start: _Any, length: _int) -> _Tensor:
        """The view of `length` positions of a dimension, from `start`."""
    def narrow_copy(self, dim: _int, start: _int, length: _int, *, out: _Tensor | None = None) -> _Tensor:
        """A copy of `input.narrow(dim, start, length)`."""
    @property
    def nbytes(self) -> _int: ...
    @property
    def ndim(self) -> _int: ...
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input != other`, elementwise, as a bool tensor."""
    def ne_(self, other: _Any) -> _Tensor:
        """In-place version of `ne`: writes the result over the tensor and returns it."""
    def neg(self, *, out: _Tensor | None = None) -> _Tensor:
        """`-input`. Bool is refused: use `~`."""
    def neg_(self) -> _Tensor:
        """In-place version of `neg`: writes the result over the tensor and returns it."""
    def negative(self, *, out: _Tensor | None = None) -> _Tensor:
        """`-input`. Bool is refused: use `~`."""
    def negative_(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """In-place version of `neg`: writes the result over the tensor and returns it."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """As the constructor `Tensor(...)`, with this tensor's dtype. Deprecated in PyTorch: use `new_tensor`, `new_empty`."""
    def new_empty(self, *shape: _Any, size: _Any = None, dtype: _Any = None, device: _Any = None, layout: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
        """An uninitialised tensor of another size with this tensor's dtype and device, unless named."""
    def new_empty_strided(self, size: _Any, stride: _Any, dtype: _Any = None, device: _Any = None, layout: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
        """An uninitialised tensor of these sizes and strides with this tensor's dtype and device, unless named."""
    def new_full(self, size: _Any, fill_value: _Any, *, dtype: _Any = None, device: _Any = None, layout: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
        """`fill_value` everywhere, with this tensor's dtype and device, unless named."""
    def new_ones(self, *shape: _Any, size: _Any = None, dtype: _Any = None, device: _Any = None, layout: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
        """Ones of another size with this tensor's dtype and device, unless named."""
    def new_tensor(self, data: _Any, *, dtype: _Any = None, device: _Any = None, requires_grad: _bool = False, layout: _Any = None, pin_memory: _bool = False) -> _Tensor:
        """A copy of `data` (as `tensor` takes it) with this tensor's dtype and device, unless named."""
    def new_zeros(self, *shape: _Any, size: _Any = None, dtype: _Any = None, device: _Any = None, layout: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
        """Zeros of another size with this tensor's dtype and device, unless named."""
    def nextafter(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The next floating point number after input towards other."""
    def nextafter_(self, other: _Any) -> _Tensor:
        """In-place version of `nextafter`: writes the result over the tensor and returns it."""
    def nonzero(self, *, as_tuple: _bool = False, out: _Tensor | None = None) -> _Any:
        """The positions of elements that are not 0: (count, dims) int64, or a tuple of one vector per dimension."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1, out: _Tensor | None = None) -> _Tensor:
        """`nonzero` with exactly `size` rows: the first ones, or all of them followed by rows of `fill_value`."""
    def norm(self, p: _Any = 'fro', dim: _Any = None, keepdim: _bool = False, out: _Tensor | None = None, dtype: _Any = None) -> _Tensor:
        """The p-norm of all elements or over the dimensions `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values."""
    def normal_(self, mean: _Any = 0.0, std: _Any = 1.0, *, generator: _Any = None) -> _Tensor:
        """Fill with normal numbers of that mean and standard deviation."""
    def not_equal(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input != other`, elementwise, as a bool tensor."""
    def not_equal_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `ne`: writes the result over the tensor and returns it."""
    def numel(self) -> _int:
        """The number of elements."""
    def numpy(self, *, force: _bool = False) -> _Any:
        """The values as a NumPy array over the same memory."""
    def orgqr(self, input2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The same as `linalg.householder_product`."""
    def ormqr(self, input2: _Tensor, input3: _Tensor, left: _bool = True, transpose: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
        """`Q @ input3` (or Q^H with `transpose`; from the right with left=False), Q the square product of the reflections in (input, input2)."""
    def outer(self, vec2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """Every product of an element of one vector and one of another: (n), (m) -> (n, m). Mixed dtypes are promoted."""
    @property
    def output_nr(self) -> _int: ...
    def permute(self, dims: _Any, *more: _int) -> _Tensor:
        """A view with the dimensions in another order."""
    def pin_memory(self, device: _Any = None) -> _Tensor:
        """Raises: pinned memory belongs to accelerators."""
    def pinverse(self, rcond: _float = 1e-15) -> _Tensor:
        """The pseudo-inverse; see `linalg.pinv`."""
    def polygamma(self, n: _int) -> _Tensor:
        """`polygamma(n, self)`."""
    def polygamma_(self, n: _int) -> _Tensor:
        """In-place `polygamma(n, self)`."""
    def positive(self, *, out: _Tensor | None = None) -> _Tensor:
        """x itself."""
    def pow(self, exponent: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """`input ** exponent`, elementwise; either may be a number. Integers to negative integer powers raise RuntimeError."""
    def pow_(self, exponent: _Any) -> _Tensor:
        """In-place version of `pow`: writes the result over the tensor and returns it."""
    def prelu(self, weight: _Tensor) -> _Tensor:
        """x where x > 0, else weight x; one weight, or one per channel (dimension 1)."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The product of all elements, or along the dimension `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
    def put(self, index: _Tensor, source: _Tensor, accumulate: _bool = False) -> _Tensor:
        """A copy with the elements of `source` at flat positions `index` (added there with `accumulate`)."""
    def put_(self, index: _Tensor, source: _Tensor, accumulate: _bool = False) -> _Tensor:
        """In-place version of `put`: writes the result over the tensor and returns it."""
    def q_per_channel_axis(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def q_per_channel_scales(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def q_per_channel_zero_points(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def q_scale(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def q_zero_point(self) -> _Any:
        """Of a quantized tensor; others raise."""
    def qr(self, some: _bool = True, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
        """(Q, R); see `linalg.qr`. `some` is its mode "reduced", else "complete"."""
    def qscheme(self) -> _Any:
        """The scheme of a quantized tensor; others raise."""
    def quantile(self, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: _Tensor | None = None) -> _Tensor:
        """The q-quantiles (q in [0, 1], a number or a 1-d tensor, which becomes the result's first dimension) of all elements or along `dim`."""
    def rad2deg(self, *, out: _Tensor | None = None) -> _Tensor:
        """Radians to degrees."""
    def rad2deg_(self) -> _Tensor:
        """In-place version of `rad2deg`: writes the result over the tensor and returns it."""
    def random_(self, *bounds: _Any, generator: _Any = None, **keywords: _Any) -> _Tensor:
        """Fill with integers: `random_()` all that the dtype counts exactly, `random_(to)` in [0, to), `random_(from, to)` in [from, to)."""
    def ravel(self) -> _Tensor:
        """All elements as a vector: a view where strides allow it."""
    @property
    def real(self) -> _Tensor: ...
    @real.setter
    def real(self, value: _Any) -> None: ...
    def reciprocal(self, *, out: _Tensor | None = None) -> _Tensor:
        """1 / x."""
    def reciprocal_(self) -> _Tensor:
        """In-place version of `reciprocal`: writes the result over the tensor and returns it."""
    def record_stream(self, stream: _Any) -> None:
        """Say that a stream uses the tensor. On the CPU there is nothing to keep it for."""
    def register_hook(self, hook: _Callable) -> _Any:
        """Call `hook(grad)` when this tensor's gradient is known; what it returns replaces it."""
    def register_post_accumulate_grad_hook(self, hook: _Callable) -> _Any:
        """Call `hook(tensor)` after this leaf's `.grad` was added to."""
    def relu(self, inplace: _bool = False) -> _Tensor:
        """max(x, 0)."""
    def relu_(self) -> _Tensor:
        """In-place `relu`."""
    def remainder(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The remainder of floored division, with other's sign."""
    def remainder_(self, other: _Any) -> _Tensor:
        """In-place version of `remainder`: writes the result over the tensor and returns it."""
    def renorm(self, p: _Any, dim: _int, maxnorm: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it."""
    def renorm_(self, p: _Any, dim: _int, maxnorm: _Any) -> _Tensor:
        """In-place version of `renorm`: writes the result over the tensor and returns it."""
    def repeat(self, repeats: _Any, *more: _int) -> _Tensor:
        """The tensor laid side by side `repeats[d]` times along each dimension; further dimensions go in front. A copy."""
    def repeat_interleave(self, repeats: _Any = None, dim: _int | None = None, *, output_size: _int | None = None) -> _Tensor:
        """Each element (or slice along `dim`) repeated in place: so many times, or as often as its entry in the tensor `repeats` says."""
    @property
    def requires_grad(self) -> _bool: ...
    @requires_grad.setter
    def requires_grad(self, value: _Any) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> _Tensor:
        """Set `requires_grad` in place."""
    def reshape(self, shape: _Any, *more: _int) -> _Tensor:
        """`input` with another shape (one size may be -1): a view where the strides allow it, a copy otherwise."""
    def reshape_as(self, other: _Tensor) -> _Tensor:
        """`self.reshape(other.shape)`."""
    def resize(self, *sizes: _Any) -> _Tensor:
        """The tensor with another size and the same number of elements (deprecated in PyTorch: use `reshape`)."""
    def resize_(self, size: _Any = ..., *more: _int, memory_format: _Any = None) -> _Tensor:
        """Give the tensor another size, in row-major order, in its own memory where that is large enough; new elements are uninitialised."""
    def resize_as_(self, the_template: _Tensor, *, memory_format: _Any = None) -> _Tensor:
        """`input.resize_(the_template.shape)`."""
    def resolve_conj(self) -> _Tensor:
        """The tensor with any pending conjugation carried out (saraph never leaves one pending)."""
    def resolve_neg(self) -> _Tensor:
        """The tensor with any pending negation carried out (saraph never leaves one pending)."""
    def retain_grad(self) -> None:
        """Keep this non-leaf tensor's gradient in `.grad` during backward; does nothing on a leaf."""
    @property
    def retains_grad(self) -> _bool: ...
    def roll(self, shifts: _Any, dims: _Any = None) -> _Tensor:
        """A copy with elements moved by `shifts` along `dims`; what leaves at the end comes back at the start."""
    def rot90(self, k: _int = 1, dims: _Sequence[_int] = ...) -> _Tensor:
        """A copy turned by k quarter turns in the plane of two dimensions, from the first towards the second."""
    def round(self, *, decimals: _int = 0, out: _Tensor | None = None) -> _Tensor:
        """To the nearest integer, halves to the even one; `decimals` digits after the point (before it, where negative)."""
    def round_(self, *, decimals: _int = 0) -> _Tensor:
        """In-place version of `round`: writes the result over the tensor and returns it."""
    def row_indices(self) -> _Tensor:
        """The row of each value."""
    def rsqrt(self, *, out: _Tensor | None = None) -> _Tensor:
        """1 / sqrt(x)."""
    def rsqrt_(self) -> _Tensor:
        """In-place version of `rsqrt`: writes the result over the tensor and returns it."""
    def scatter(self, dim: _int, index: _Tensor, src: _Any = None, *, value: _Any = None, reduce: _str | None = None, out: _Tensor | None = None) -> _Tensor:
        """A copy with src[i][j] at [index[i][j]][j] (dim 0, and so on); `reduce` ("add", "multiply") combines instead."""
    def scatter_(self, dim: _int, index: _Tensor, src: _Any = None, *, value: _Any = None, reduce: _str | None = None) -> _Tensor:
        """In-place version of `scatter`: writes the result over the tensor and returns it."""
    def scatter_add(self, dim: _int, index: _Tensor, src: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """A copy with src[i][j] added at [index[i][j]][j] (dim 0, and so on)."""
    def scatter_add_(self, dim: _int, index: _Tensor, src: _Tensor) -> _Tensor:
        """In-place version of `scatter_add`: writes the result over the tensor and returns it."""
    def scatter_reduce(self, dim: _int, index: _Tensor, src: _Tensor, reduce: _str, *, include_self: _bool = True, out: _Tensor | None = None) -> _Tensor:
        """input[index[i][j]][j] (dim 0, and so on) reduced with all src[i][j] that go there: "sum", "prod", "mean", "amax" or "amin"."""
    def scatter_reduce_(self, dim: _int, index: _Tensor, src: _Tensor, reduce: _str, *, include_self: _bool = True) -> _Tensor:
        """In-place version of `scatter_reduce`: writes the result over the tensor and returns it."""
    def select(self, dim: _int, index: _int) -> _Tensor:
        """The view at one position of a dimension, which is dropped."""
    def select_scatter(self, src: _Tensor, dim: _int, index: _int, *, out: _Tensor | None = None) -> _Tensor:
        """A copy with `src` at `index` along `dim`."""
    def set_(self, source: _Any = None, storage_offset: _int = 0, size: _Any = None, stride: _Any = None) -> _Tensor:
        """Put the tensor over other memory: that of a Tensor (with its sizes), or a storage with sizes and strides; nothing: no memory."""
    def sgn(self, *, out: _Tensor | None = None) -> _Tensor:
        """x / |x|, 0 at 0."""
    def sgn_(self) -> _Tensor:
        """In-place version of `sgn`: writes the result over the tensor and returns it."""
    @property
    def shape(self) -> _Size: ...
    def share_memory_(self) -> _Tensor:
        """Move the tensor's memory to where other processes can map it, and return the tensor. Nothing happens when it is there already."""
    def short(self, memory_format: _Any = None) -> _Tensor:
        """`self.to(torch.int16)`."""
    def sigmoid(self, *, out: _Tensor | None = None) -> _Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> _Tensor:
        """In-place version of `sigmoid`: writes the result over the tensor and returns it."""
    def sign(self, *, out: _Tensor | None = None) -> _Tensor:
        """-1, 0 or 1."""
    def sign_(self) -> _Tensor:
        """In-place version of `sign`: writes the result over the tensor and returns it."""
    def signbit(self, *, out: _Tensor | None = None) -> _Tensor:
        """Whether the sign bit is set."""
    def sin(self, *, out: _Tensor | None = None) -> _Tensor:
        """The sine of angles in radians."""
    def sin_(self) -> _Tensor:
        """In-place version of `sin`: writes the result over the tensor and returns it."""
    def sinc(self, *, out: _Tensor | None = None) -> _Tensor:
        """sin(pi x) / (pi x), 1 at 0."""
    def sinc_(self) -> _Tensor:
        """In-place version of `sinc`: writes the result over the tensor and returns it."""
    def sinh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> _Tensor:
        """In-place version of `sinh`: writes the result over the tensor and returns it."""
    def size(self, dim: _int | None = None) -> _Any:
        """The shape, or the size of one dimension."""
    def slice_scatter(self, src: _Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
        """A copy with `src` at start:end:step along `dim`."""
    def slogdet(self, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
        """(sign, logabsdet); see `linalg.slogdet`."""
    def smm(self, mat: _Tensor) -> _Tensor:
        """The product of a sparse and a dense matrix, sparse."""
    def softmax(self, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
        """exp(x) / sum(exp(x)) along `dim`."""
    def solve(self, **kwargs: _Any) -> _Any:
        """Removed from PyTorch: raises. `torch.solve` is deprecated in favor of `torch.linalg.solve`, which takes its arguments in the other order and does not return LU factors: use X = torch.linalg.solve(A, B), and torch.linalg.lu_factor for the factors."""
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool | None = None, out: _Any = None) -> _Any:
        """The elements along `dim` in order, and where they were: a named tuple (values, indices). Equal elements always keep their order."""
    def sparse_dim(self) -> _int:
        """How many dimensions are sparse."""
    def sparse_mask(self, mask: _Tensor) -> _Tensor:
        """The values of a dense tensor at the positions that the sparse tensor `mask` stores."""
    def sparse_resize_(self, size: _Any, sparse_dim: _int, dense_dim: _int) -> _Tensor:
        """Give a COO tensor another size of as many dimensions; stored positions must stay inside when there are any."""
    def split(self, split_size: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """As `torch.split`."""
    def split_with_sizes(self, split_sizes: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """Views of parts of these sizes along a dimension; they must add up to its size."""
    def sqrt(self, *, out: _Tensor | None = None) -> _Tensor:
        """The square root; nan below 0."""
    def sqrt_(self) -> _Tensor:
        """In-place version of `sqrt`: writes the result over the tensor and returns it."""
    def square(self, *, out: _Tensor | None = None) -> _Tensor:
        """x * x."""
    def square_(self) -> _Tensor:
        """In-place version of `square`: writes the result over the tensor and returns it."""
    def squeeze(self, dim: _Any = None) -> _Tensor:
        """A view without dimensions of size 1: all of them, or those among `dim` (an int or a tuple)."""
    def squeeze_(self, dim: _Any = None) -> _Tensor:
        """In-place version of `squeeze`."""
    def std(self, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The standard deviation: the root of the variance (see `var` for the arguments)."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: _Tensor | None = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> _Tensor:
        """The Fourier transforms of overlapping frames of a signal (length) or several (batch, length): (batch,) frequencies by frames."""
    def storage(self) -> _TypedStorage:
        """The memory behind the tensor, as elements of its dtype."""
    def storage_offset(self) -> _int:
        """How many elements lie in the storage before the tensor's first one."""
    def stride(self, dim: _int | None = None) -> _Any:
        """The stride of every dimension (or of one), in elements."""
    def sub(self, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
    def sub_(self, other: _Any, *, alpha: _Any = 1) -> _Tensor:
        """In-place version of `sub`: writes the result over the tensor and returns it."""
    def subtract(self, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
        """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
    def subtract_(self, other: _Any, **options: _Any) -> _Tensor:
        """In-place version of `sub`: writes the result over the tensor and returns it."""
    def sum(self, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None, **others: _Any) -> _Tensor:
        """The sum of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all)."""
    def sum_to_size(self, size: _Any = ..., *more: _int) -> _Tensor:
        """The tensor summed to a shape that broadcasts to its own."""
    def svd(self, some: _bool = True, compute_uv: _bool = True, *, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
        """(U, S, V) with `input = U @ diag(S) @ V^H`; see `linalg.svd`. Without `compute_uv` U and V are zeros."""
    def swapaxes(self, axis0: _int, axis1: _int) -> _Tensor:
        """`transpose(input, axis0, axis1)`."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> _Tensor:
        """In-place version of `swapaxes`."""
    def swapdims(self, dim0: _int, dim1: _int) -> _Tensor:
        """A view with two dimensions swapped."""
    def swapdims_(self, dim0: _int, dim1: _int) -> _Tensor:
        """In-place version of `transpose`: the tensor itself gets the other strides."""
    def symeig(self, **kwargs: _Any) -> _Any:
        """Removed from PyTorch: raises. The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower triangular portion: use L, V = torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh."""
    def t(self) -> _Tensor:
        """A view of a matrix with its dimensions swapped; vectors and numbers as they are."""
    def t_(self) -> _Tensor:
        """In-place version of `t`."""
    def take(self, index: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The elements at flat positions `index` (int64), in index's shape."""
    def take_along_dim(self, indices: _Tensor, dim: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
        """`gather` with input and indices broadcast against each other in the other dimensions; without `dim`, of the flat input."""
    def tan(self, *, out: _Tensor | None = None) -> _Tensor:
        """The tangent of angles in radians."""
    def tan_(self) -> _Tensor:
        """In-place version of `tan`: writes the result over the tensor and returns it."""
    def tanh(self, *, out: _Tensor | None = None) -> _Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> _Tensor:
        """In-place version of `tanh`: writes the result over the tensor and returns it."""
    def tensor_split(self, indices_or_sections: _Any = None, dim: _int = 0, *, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
        """Views of parts along a dimension: so many of sizes that differ by one at most, or cut at the positions in a list (or 1-d tensor)."""
    def tile(self, dims: _Any, *more: _int) -> _Tensor:
        """As `repeat`, but missing counts are 1 (in front), as in `numpy.tile`."""
    def to(self, *args: _Any, **kwargs: _Any) -> _Tensor:
        """The tensor in another dtype, on another device, or in another memory format; itself where it is all that already."""
    def to_dense(self, dtype: _Any = None, *, masked_grad: _bool | None = None) -> _Tensor:
        """The tensor in the strided layout (itself when it is strided). Its gradient is sparse, at what is stored; with `masked_grad=False` it is dense."""
    def to_sparse(self, sparse_dim: _Any = None, *, layout: _Any = None, blocksize: _Any = None, dense_dim: _int | None = None) -> _Tensor:
        """The tensor in the COO layout, with `sparse_dim` sparse dimensions (default: all)."""
    def to_sparse_coo(self) -> _Tensor:
        """The tensor in the COO layout."""
    def to_sparse_csc(self, dense_dim: _int | None = None) -> _Tensor:
        """The tensor in the CSC layout."""
    def to_sparse_csr(self, dense_dim: _int | None = None) -> _Tensor:
        """The tensor in the CSR layout."""
    def tolist(self) -> _Any:
        """The values as nested lists (a number for a zero-dim tensor)."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: _Any = None) -> _Any:
        """The k largest (or smallest) elements along `dim`, best first, and where they are: a named tuple (values, indices)."""
    def trace(self) -> _Tensor:
        """The sum of a matrix's diagonal; of integers in int64."""
    def transpose(self, dim0: _int, dim1: _int) -> _Tensor:
        """A view with two dimensions swapped."""
    def transpose_(self, dim0: _int, dim1: _int) -> _Tensor:
        """In-place version of `transpose`: the tensor itself gets the other strides."""
    def triangular_solve(self, A: _Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
        """(solution, a copy of A): X with `A @ X = input`, or `A^T @ X = input`. `linalg.solve_triangular` is the newer form."""
    def tril(self, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
        """The lower triangle of each matrix (up to and with the diagonal that `diagonal` names), zeros above."""
    def tril_(self, diagonal: _int = 0) -> _Tensor:
        """In-place version of `tril`: writes the result over the tensor and returns it."""
    def triu(self, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
        """The upper triangle of each matrix (from the diagonal that `diagonal` names), zeros below."""
    def triu_(self, diagonal: _int = 0) -> _Tensor:
        """In-place version of `triu`: writes the result over the tensor and returns it."""
    def true_divide(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """The quotient as a floating point number."""
    def true_divide_(self, other: _Any) -> _Tensor:
        """In-place version of `true_divide`: writes the result over the tensor and returns it."""
    def trunc(self, *, out: _Tensor | None = None) -> _Tensor:
        """x without its fraction."""
    def trunc_(self) -> _Tensor:
        """In-place version of `trunc`: writes the result over the tensor and returns it."""
    def type(self, dtype: _Any = None, non_blocking: _bool = False, **kwargs: _Any) -> _Any:
        """Without an argument the name of the tensor's type ('torch.FloatTensor'), else the tensor in that dtype."""
    def type_as(self, other: _Tensor) -> _Tensor:
        """The tensor in other's dtype and on other's device."""
    def unbind(self, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """Views of all slices along a dimension, without it."""
    def unflatten(self, dim: _int, sizes: _Any) -> _Tensor:
        """One dimension as several, of sizes whose product it is (one of them may be -1), as a view."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> _Tensor:
        """The view of all windows of `size` along a dimension, `step` apart; the window becomes the last dimension."""
    def uniform_(self, *bounds: _Any, generator: _Any = None, **keywords: _Any) -> _Tensor:
        """Fill with uniform numbers in [from, to): `uniform_(from=0, to=1)`."""
    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> _Any:
        """The different elements in ascending order, or the different slices along `dim`; every NaN counts as another one."""
    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> _Any:
        """The first of each run of equal elements, or of equal slices along `dim` (flags as in `unique`)."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """As `chunk`; in PyTorch the parts are not tracked as views of the input."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """As `split`; in PyTorch the parts are not tracked as views of the input."""
    def unsafe_split_with_sizes(self, split_sizes: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
        """As `split_with_sizes`; in PyTorch the parts are not tracked as views of the input."""
    def unsqueeze(self, dim: _int) -> _Tensor:
        """A view with a dimension of size 1 put in at `dim`."""
    def unsqueeze_(self, dim: _int) -> _Tensor:
        """In-place version of `unsqueeze`."""
    def untyped_storage(self) -> _UntypedStorage:
        """The memory behind the tensor, as bytes; tensors that share memory have the same."""
    def values(self) -> _Tensor:
        """The stored values of a (coalesced) sparse tensor."""
    def var(self, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Tensor | None = None) -> _Tensor:
        """The variance of all elements or over the dimensions `dim`: the sum of |x - mean|^2 divided by count - correction (1)."""
    def vdot(self, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
        """The sum of products of two vectors, the first of them conjugated."""
    def view(self, *shape: _Any, **keywords: _Any) -> _Tensor:
        """The tensor with another shape (one size may be -1) over the same memory, or, given a dtype, its bytes read as that dtype."""
    def view_as(self, other: _Tensor) -> _Tensor:
        """`self.view(other.shape)`."""
    @property
    def volatile(self) -> _Any: ...
    def vsplit(self, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
        """`tensor_split` along the first dimension; a number of sections must divide its size."""
    def where(self, condition: _Any, y: _Any = None, *, other: _Any = None) -> _Any: ...
    def xlogy(self, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
        """input log(other), 0 where input is 0."""
    def xlogy_(self, other: _Any) -> _Tensor:
        """In-place version of `xlogy`: writes the result over the tensor and returns it."""
    def xpu(self, device: _Any = None, non_blocking: _bool = False, memory_format: _Any = None) -> _Tensor:
        """A copy on an XPU: there is none."""
    def zero_(self) -> _Tensor:
        """Make every element zero, in place."""
