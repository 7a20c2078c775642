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

bfloat16: _dtype
bits16: _dtype
bits1x8: _dtype
bits2x4: _dtype
bits4x2: _dtype
bits8: _dtype
bool: _dtype
cdouble: _dtype
cfloat: _dtype
chalf: _dtype
channels_last: _memory_format
channels_last_3d: _memory_format
complex128: _dtype
complex32: _dtype
complex64: _dtype
contiguous_format: _memory_format
double: _dtype
float: _dtype
float16: _dtype
float32: _dtype
float4_e2m1fn_x2: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
half: _dtype
int: _dtype
int1: _dtype
int16: _dtype
int2: _dtype
int3: _dtype
int32: _dtype
int4: _dtype
int5: _dtype
int6: _dtype
int64: _dtype
int7: _dtype
int8: _dtype
jagged: _layout
legacy_contiguous_format: _memory_format
long: _dtype
preserve_format: _memory_format
qint32: _dtype
qint8: _dtype
quint2x4: _dtype
quint4x2: _dtype
quint8: _dtype
short: _dtype
sparse_bsc: _layout
sparse_bsr: _layout
sparse_coo: _layout
sparse_csc: _layout
sparse_csr: _layout
strided: _layout
uint1: _dtype
uint16: _dtype
uint2: _dtype
uint3: _dtype
uint32: _dtype
uint4: _dtype
uint5: _dtype
uint6: _dtype
uint64: _dtype
uint7: _dtype
uint8: _dtype
BFloat16Storage: _Any
BFloat16Tensor: _Any
BoolStorage: _Any
BoolTensor: _Any
ByteStorage: _Any
ByteTensor: _Any
CharStorage: _Any
CharTensor: _Any
ComplexDoubleStorage: _Any
ComplexFloatStorage: _Any
DoubleStorage: _Any
DoubleTensor: _Any
FloatStorage: _Any
FloatTensor: _Any
HalfStorage: _Any
HalfTensor: _Any
IntStorage: _Any
IntTensor: _Any
LongStorage: _Any
LongTensor: _Any
ShortStorage: _Any
ShortTensor: _Any
per_channel_affine: _Any
per_channel_affine_float_qparams: _Any
per_channel_symmetric: _Any
per_tensor_affine: _Any
per_tensor_symmetric: _Any
def _addmm_activation(input: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, use_gelu: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """`addmm` followed by relu (or gelu)."""
def _addmm_activation_(input: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, use_gelu: _bool = False) -> _Tensor:
    """In-place version of `_addmm_activation`: writes the result over the tensor and returns it."""
def _assert(condition: _Any, message: _str) -> None:
    """`assert condition, message`, as a call: a traced program keeps it."""
def _chunk_cat(tensors: _Sequence[_Tensor], dim: _int, num_chunks: _int, *, out: _Tensor | None = None) -> _Tensor:
    """Each tensor is padded with 0 along `dim` to a multiple of `num_chunks`, cut into that many pieces, each flattened from `dim` on; the pieces of"""
def _dirichlet_grad(x: _Tensor, alpha: _Tensor, total: _Tensor) -> _Tensor:
    """dx/dalpha / (1 - x) for shares x that are Beta(alpha, total - alpha): how one share of a Dirichlet point moves with its concentration."""
def _foreach_mul_(self: _Sequence[_Tensor], other: _Any) -> None:
    """Multiply every tensor of a list by a number, a zero-dim tensor, or its own entry of a list of either; in place."""
def _foreach_norm(self: _Sequence[_Tensor], ord: _Any = 2, dtype: _Any = None) -> _tuple[_Tensor, ...]:
    """The norm of order `ord` of every tensor of a list, as zero-dim tensors."""
def _native_batch_norm_legit(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, *rest: _Any, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """`native_batch_norm`; the running statistics may be left out: (..., [running_mean, running_var,] training, momentum, eps)."""
def _sample_dirichlet(input: _Tensor, generator: _Any = None) -> _Tensor:
    """Points of the simplex along the last dimension with the concentrations `input`, in which they are differentiable."""
def _segment_reduce(data: _Tensor, reduce: _str, *, lengths: _Tensor | None = None, indices: _Tensor | None = None, offsets: _Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _Any = None) -> _Tensor:
    """The sum, mean, prod, max or min of consecutive segments along `axis`."""
def _standard_gamma(input: _Tensor, generator: _Any = None) -> _Tensor:
    """Gamma values of rate 1 with the shape parameters `input`, in which they are differentiable."""
def _standard_gamma_grad(input: _Tensor, output: _Tensor) -> _Tensor:
    """How gamma numbers `output` of rate 1 move with their shape parameters `input`."""
def _unsafe_masked_index(input: _Tensor, mask: _Tensor, indices: _Sequence[_Tensor | None], fill: _Any) -> _Tensor:
    """input[indices] where `mask` is True, `fill` elsewhere; positions that are masked out may lie outside of the input."""
def _unsafe_masked_index_put_accumulate(input: _Tensor, mask: _Tensor, indices: _Sequence[_Tensor | None], values: _Tensor) -> _Tensor:
    """input with `values` added at `indices` where `mask` is True; positions that are masked out may lie outside of the input."""
def _weight_norm(v: _Tensor, g: _Tensor, dim: _int = 0) -> _Tensor:
    """g v / ||v||, with one norm per slice of `dim` (or one for all: -1)."""
def abs(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The absolute value (of complex numbers: the modulus)."""
def abs_(input: _Tensor) -> _Tensor:
    """In-place version of `abs`: writes the result over the tensor and returns it."""
def absolute(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The absolute value (of complex numbers: the modulus)."""
def absolute_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `abs`: writes the result over the tensor and returns it."""
def acos(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse cosine, in radians."""
def acos_(input: _Tensor) -> _Tensor:
    """In-place version of `acos`: writes the result over the tensor and returns it."""
def acosh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic cosine."""
def acosh_(input: _Tensor) -> _Tensor:
    """In-place version of `acosh`: writes the result over the tensor and returns it."""
def adaptive_avg_pool1d(input: _Tensor, output_size: _Any) -> _Tensor:
    """The averages of `output_size` parts of ([N,] C, L), part i from floor(i L / out) to ceil((i + 1) L / out) -> ([N,] C, output_size)."""
def adaptive_max_pool1d(input: _Tensor, output_size: _Any) -> _tuple[_Tensor, _Tensor]:
    """`nn.functional.adaptive_max_pool1d` with `return_indices`."""
def add(input: _Any, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`input + alpha * other`, elementwise, with broadcasting and type promotion."""
def add_(input: _Any, other: _Any, *, alpha: _Any = 1) -> _Tensor:
    """In-place version of `add`: writes the result over the tensor and returns it."""
def addbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`beta * input + alpha * sum over b of (batch1[b] @ batch2[b])`: input broadcasts to (n, p), batches are (b, n, m) and (b, m, p)."""
def addbmm_(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
    """In-place version of `addbmm`: writes the result over the tensor and returns it."""
def addcdiv(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """input + value tensor1 / tensor2. Integer division is refused."""
def addcdiv_(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1) -> _Tensor:
    """In-place version of `addcdiv`: writes the result over the tensor and returns it."""
def addcmul(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """input + value tensor1 tensor2."""
def addcmul_(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Any = 1) -> _Tensor:
    """In-place version of `addcmul`: writes the result over the tensor and returns it."""
def addmm(input: _Tensor, mat1: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`: input broadcasts to (n, p), mat1 is (n, m), mat2 is (m, p)."""
def addmm_(input: _Tensor, mat1: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
    """In-place version of `addmm`: writes the result over the tensor and returns it."""
def addmv(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`beta * input + alpha * (mat @ vec)`: input broadcasts to (n), mat is (n, m), vec is (m)."""
def addmv_(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
    """In-place version of `addmv`: writes the result over the tensor and returns it."""
def addr(input: _Tensor, vec1: _Tensor, vec2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`: input broadcasts to (n, m). Mixed dtypes are promoted; bool uses "and" and "or"."""
def addr_(input: _Tensor, vec1: _Tensor, vec2: _Tensor, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
    """In-place version of `addr`: writes the result over the tensor and returns it."""
def adjoint(input: _Tensor) -> _Tensor:
    """The last two dimensions swapped, and complex numbers conjugated."""
def affine_grid_generator(theta: _Tensor, size: _Any, align_corners: _bool) -> _Tensor:
    """`nn.functional.affine_grid` with all arguments given."""
def alias_copy(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of the tensor."""
def all(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """Whether all elements are non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
def allclose(input: _Tensor, other: _Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements are close (see `isclose`)."""
def alpha_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """Dropout for SELU networks: mean and variance stay."""
def alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """In-place `alpha_dropout`."""
def amax(input: _Tensor, dim: _Any = ..., keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """The largest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
def amin(input: _Tensor, dim: _Any = ..., keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """The smallest element over the dimensions `dim` (an int or a tuple; empty: all). The gradient is shared evenly among equal elements."""
def aminmax(input: _Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: _Any = None) -> _Any:
    """The smallest and the largest element, of all or along `dim`, as a named tuple (min, max)."""
def angle(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The angle of complex numbers in radians; of real numbers 0 or, below 0, pi (nan stays nan)."""
def any(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """Whether any element is non-zero, overall or over the dimensions `dim`: a bool tensor (uint8 for uint8 input)."""
def arange(*bounds: _Any, start: _Any = None, end: _Any = None, step: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """The numbers start, start + step, ... below `end` (above it for a negative step): `arange(end)`, `arange(start, end, step=1)`."""
def arccos(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse cosine, in radians."""
def arccos_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `acos`: writes the result over the tensor and returns it."""
def arccosh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic cosine."""
def arccosh_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `acosh`: writes the result over the tensor and returns it."""
def arcsin(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse sine, in radians."""
def arcsin_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `asin`: writes the result over the tensor and returns it."""
def arcsinh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic sine."""
def arcsinh_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `asinh`: writes the result over the tensor and returns it."""
def arctan(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse tangent, in radians."""
def arctan2(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The angle of the point (other, input), in radians."""
def arctan2_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `atan2`: writes the result over the tensor and returns it."""
def arctan_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `atan`: writes the result over the tensor and returns it."""
def arctanh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic tangent."""
def arctanh_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `atanh`: writes the result over the tensor and returns it."""
def argmax(input: _Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """Where the (first) largest element is: along `dim`, or in the flattened tensor."""
def argmin(input: _Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """Where the (first) smallest element is: along `dim`, or in the flattened tensor."""
def argsort(input: _Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """The positions that sort the elements along `dim` (see `sort`)."""
def argwhere(input: _Tensor) -> _Tensor:
    """The positions of elements that are not 0: (count, dims) int64."""
def as_strided(input: _Tensor, size: _Any, stride: _Any, storage_offset: _int | None = None) -> _Tensor:
    """A view of any sizes and strides (in elements) over input's storage, from element `storage_offset` of it (default: input's own)."""
def as_strided_copy(input: _Tensor, size: _Any, stride: _Any, storage_offset: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.as_strided(size, stride, storage_offset)`."""
def as_strided_scatter(input: _Tensor, src: _Tensor, size: _Any, stride: _Any, storage_offset: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input` in which the elements that `as_strided(size, stride, storage_offset)` names are those of `src`."""
def as_tensor(data: _Any, dtype: _Any = None, device: _Any = None) -> _Tensor:
    """`data` as a tensor, without a copy where that can be: a Tensor of that dtype and device is returned as it is (its history kept),"""
def asarray(obj: _Any, *, dtype: _Any = None, device: _Any = None, copy: _bool | None = None, requires_grad: _bool = False) -> _Tensor:
    """obj as a tensor: a Tensor, NumPy array, DLPack object or buffer shares its memory where it can; numbers and sequences are copied."""
def asin(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse sine, in radians."""
def asin_(input: _Tensor) -> _Tensor:
    """In-place version of `asin`: writes the result over the tensor and returns it."""
def asinh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic sine."""
def asinh_(input: _Tensor) -> _Tensor:
    """In-place version of `asinh`: writes the result over the tensor and returns it."""
def atan(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse tangent, in radians."""
def atan2(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The angle of the point (other, input), in radians."""
def atan2_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `atan2`: writes the result over the tensor and returns it."""
def atan_(input: _Tensor) -> _Tensor:
    """In-place version of `atan`: writes the result over the tensor and returns it."""
def atanh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse hyperbolic tangent."""
def atanh_(input: _Tensor) -> _Tensor:
    """In-place version of `atanh`: writes the result over the tensor and returns it."""
def atleast_1d(*tensors: _Any) -> _Any:
    """Each zero-dim tensor as a view with one dimension; the others as they are."""
def atleast_2d(*tensors: _Any) -> _Any:
    """Numbers and vectors as a view with one row; the others as they are."""
def atleast_3d(*tensors: _Any) -> _Any:
    """Vectors (n) as (1, n, 1), matrices (n, m) as (n, m, 1); the others as they are."""
def avg_pool1d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> _Tensor:
    """The averages of windows of ([N,] C, L) -> ([N,] C, L'); zeros of the padding count if `count_include_pad`. Sizes as in `max_pool1d`."""
def baddbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`beta * input + alpha * bmm(batch1, batch2)`: input broadcasts to (b, n, p), batches are (b, n, m) and (b, m, p)."""
def baddbmm_(input: _Tensor, batch1: _Tensor, batch2: _Tensor, out_dtype: _Any = None, *, beta: _Any = 1, alpha: _Any = 1) -> _Tensor:
    """In-place version of `baddbmm`: writes the result over the tensor and returns it."""
def bartlett_window(window_length: _int, periodic: _bool = True, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """A triangle: 1 - |2 k / N - 1|."""
def batch_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = True) -> _Tensor:
    """`nn.functional.batch_norm` with torch.batch_norm's order of arguments."""
def bernoulli(input: _Tensor, p: _Any = None, *, generator: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """Ones and zeros in input's shape and dtype: one with probability `input`, or with the probability `p` everywhere."""
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None = None) -> _Tensor:
    """x1^T weight[k] x2 + bias[k]: (*, in1), (*, in2), weight (out, in1, in2) -> (*, out)."""
def binary_cross_entropy_with_logits(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', pos_weight: _Tensor | None = None) -> _Tensor:
    """Binary cross entropy of sigmoid(input), computed without overflow; `pos_weight` multiplies the positive term."""
def bincount(input: _Tensor, weights: _Tensor | None = None, minlength: _int = 0) -> _Tensor:
    """How often each number from 0 on occurs in a 1-d tensor of non-negative integers, or the sum of the `weights` of its occurrences."""
def binomial(count: _Tensor, prob: _Tensor, generator: _Any = None) -> _Tensor:
    """How many of `count` trials with success probability `prob` succeed (floating dtypes)."""
def bitwise_and(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The bits set in both."""
def bitwise_and_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `bitwise_and`: writes the result over the tensor and returns it."""
def bitwise_left_shift(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input shifted left by other bits."""
def bitwise_left_shift_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `bitwise_left_shift`: writes the result over the tensor and returns it."""
def bitwise_not(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Every bit turned; logical not for bools."""
def bitwise_not_(input: _Tensor) -> _Tensor:
    """In-place version of `bitwise_not`: writes the result over the tensor and returns it."""
def bitwise_or(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The bits set in either."""
def bitwise_or_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `bitwise_or`: writes the result over the tensor and returns it."""
def bitwise_right_shift(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input shifted right by other bits."""
def bitwise_right_shift_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `bitwise_right_shift`: writes the result over the tensor and returns it."""
def bitwise_xor(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The bits set in exactly one."""
def bitwise_xor_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `bitwise_xor`: writes the result over the tensor and returns it."""
def blackman_window(window_length: _int, periodic: _bool = True, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N)."""
def block_diag(*tensors: _Any) -> _Tensor:
    """A block matrix with the tensors along its diagonal and zeros elsewhere; numbers are 1x1 blocks, vectors one row."""
def bmm(input: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """The products of two batches of matrices: (b, n, m) and (b, m, p) give (b, n, p). No broadcasting; see `matmul`."""
def broadcast_shapes(*shapes: _Any) -> _Size:
    """The shape that tensors of these shapes (tuples or ints) broadcast to; RuntimeError where they do not."""
def broadcast_tensors(*tensors: _Any) -> _tuple[_Tensor, ...]:
    """Views of the tensors in the shape that all of them broadcast to."""
def broadcast_to(input: _Tensor, size: _Any, *more: _int) -> _Tensor:
    """A view in which dimensions of size 1 are repeated: `input.expand(size)`."""
def bucketize(input: _Any, boundaries: _Tensor, *, out_int32: _bool = False, right: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """The number of the bucket (between two of the sorted 1-d `boundaries`) that each value is in; `right`: buckets include their left end."""
def cartesian_prod(*tensors: _Any) -> _Tensor:
    """Every combination of one element from each vector, as rows; a single vector is returned as it is."""
def cat(tensors: _Sequence[_Tensor] = ..., dim: _int = 0, *, out: _Tensor | None = None, axis: _int | None = None) -> _Tensor:
    """The tensors joined along an existing dimension. All other sizes must agree; 1-d empty tensors are skipped, as in PyTorch."""
def cdist(x1: _Tensor, x2: _Tensor, p: _float = 2.0, compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary') -> _Tensor:
    """The p-norm distance of every row of `x1` (..., P, M) to every row of `x2` (..., R, M): (..., P, R)."""
def ceil(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The smallest integer not below x."""
def ceil_(input: _Tensor) -> _Tensor:
    """In-place version of `ceil`: writes the result over the tensor and returns it."""
def celu(input: _Tensor, alpha: _float = 1.0, inplace: _bool = False) -> _Tensor:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
def celu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `celu`."""
def chain_matmul(*matrices: _Tensor, out: _Tensor | None = None) -> _Tensor:
    """The product of several matrices, in the cheapest order of multiplications."""
def channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """The channels of (N, C, ...) in `groups` groups, dealt out in turn: channel i of group g comes to place i * groups + g."""
def cholesky(input: _Tensor, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """The Cholesky factor; see `linalg.cholesky`."""
def cholesky_inverse(input: _Tensor, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of A, whose Cholesky factor is given."""
def cholesky_solve(input: _Tensor, input2: _Tensor, upper: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = input`, where `input2` is A's Cholesky factor (lower unless `upper`)."""
def chunk(input: _Tensor, chunks: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """Views of at most `chunks` parts of equal size along a dimension (the last may be smaller, and there may be fewer)."""
def clamp(input: _Tensor, min: _Any = None, max: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """input held within [min, max] (numbers or tensors; None: no limit). Where min > max, max wins."""
def clamp_(input: _Tensor, min: _Any = None, max: _Any = None) -> _Tensor:
    """In-place version of `clamp`: writes the result over the tensor and returns it."""
def clamp_max(input: _Tensor, max: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`clamp(input, max=max)`."""
def clamp_max_(input: _Tensor, max: _Any) -> _Tensor:
    """In-place version of `clamp_max`: writes the result over the tensor and returns it."""
def clamp_min(input: _Tensor, min: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`clamp(input, min=min)`."""
def clamp_min_(input: _Tensor, min: _Any) -> _Tensor:
    """In-place version of `clamp_min`: writes the result over the tensor and returns it."""
def clip(input: _Tensor, min: _Any = None, max: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """input held within [min, max] (numbers or tensors; None: no limit). Where min > max, max wins."""
def clip_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `clamp`: writes the result over the tensor and returns it."""
def clone(input: _Tensor, *, memory_format: _Any = None) -> _Tensor:
    """A copy; the gradient flows through it. The memory order is kept unless `memory_format` names another."""
def column_stack(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """Joined along the second dimension; vectors and numbers count as columns."""
def combinations(input: _Tensor, r: _int = 2, with_replacement: _bool = False) -> _Tensor:
    """Every choice of r elements of a vector, as rows (choices, r), in the order of `itertools.combinations`."""
def complex(real: _Tensor, imag: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Complex numbers with these real and imaginary parts (floating, of one dtype; broadcast)."""
def concat(tensors: _Sequence[_Tensor] = ..., dim: _int = 0, *, out: _Tensor | None = None, axis: _int | None = None) -> _Tensor:
    """The tensors joined along an existing dimension. All other sizes must agree; 1-d empty tensors are skipped, as in PyTorch."""
def concatenate(tensors: _Sequence[_Tensor] = ..., dim: _int = 0, *, out: _Tensor | None = None, axis: _int | None = None) -> _Tensor:
    """The tensors joined along an existing dimension. All other sizes must agree; 1-d empty tensors are skipped, as in PyTorch."""
def conj(input: _Tensor) -> _Tensor:
    """The complex conjugate; a real tensor is returned as it is."""
def conj_physical(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The complex conjugate, as a new tensor."""
def conj_physical_(input: _Tensor) -> _Tensor:
    """In-place version of `conj_physical`: writes the result over the tensor and returns it."""
def constant_pad_nd(input: _Tensor, pad: _Sequence[_int], value: _Any = 0) -> _Tensor:
    """`value` put around (or, where negative, elements cut off): `pad` is (before, after) of the last dimension, then of the one before it, ..."""
def conv1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> _Tensor:
    """Convolution (cross-correlation) of input ([N,] C, L) with weight (O, C / groups, K), plus bias (O) -> ([N,] O, L')."""
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> _Tensor:
    """Convolution of input ([N,] C, H, W) with weight (O, C / groups, KH, KW), plus bias (O) -> ([N,] O, H', W'). See `conv1d`."""
def conv3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> _Tensor:
    """Convolution of input ([N,] C, D, H, W) with weight (O, C / groups, KD, KH, KW), plus bias (O) -> ([N,] O, D', H', W'). See `conv1d`."""
def conv_tbc(input: _Tensor, weight: _Tensor, bias: _Tensor, pad: _int = 0) -> _Tensor:
    """Convolution over time first: input (time, batch, channels), weight (kernel, in, out), bias (out) -> (time', batch, out)."""
def conv_transpose1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> _Tensor:
    """Transposed convolution (the gradient of conv1d in its input) of ([N,] C, L) with weight (C, O / groups, K) -> ([N,] O, L')."""
def conv_transpose2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> _Tensor:
    """Transposed convolution of ([N,] C, H, W) with weight (C, O / groups, KH, KW) -> ([N,] O, H', W'). See `conv_transpose1d`."""
def conv_transpose3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> _Tensor:
    """Transposed convolution of ([N,] C, D, H, W) with weight (C, O / groups, KD, KH, KW). See `conv_transpose1d`."""
def convolution(input: _Tensor, weight: _Tensor, bias: _Tensor | None, stride: _Any, padding: _Any, dilation: _Any, transposed: _bool, output_padding: _Any, groups: _int) -> _Tensor:
    """Any of the above by the rank of the weight: `transposed` chooses, `output_padding` counts only then."""
def copysign(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The magnitude of input with the sign of other."""
def copysign_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `copysign`: writes the result over the tensor and returns it."""
def corrcoef(input: _Tensor) -> _Tensor:
    """The matrix of correlation coefficients of the rows (variables) over the columns (observations), clipped to [-1, 1]."""
def cos(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The cosine of angles in radians."""
def cos_(input: _Tensor) -> _Tensor:
    """In-place version of `cos`: writes the result over the tensor and returns it."""
def cosh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic cosine."""
def cosh_(input: _Tensor) -> _Tensor:
    """In-place version of `cosh`: writes the result over the tensor and returns it."""
def cosine_embedding_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """1 - cos(x1, x2) where target is 1, max(0, cos - margin) where it is -1."""
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int = 1, eps: _float = 1e-08) -> _Tensor:
    """The cosine of the angle between `x1` and `x2` along `dim`; norms below `eps` count as `eps`."""
def count_nonzero(input: _Tensor, dim: _Any = None) -> _Tensor:
    """How many elements are not zero, overall or over the dimensions `dim` (int64)."""
def cov(input: _Tensor, *, correction: _int = 1, fweights: _Tensor | None = None, aweights: _Tensor | None = None) -> _Tensor:
    """The covariance matrix of the rows (variables) over the columns (observations)."""
def cross(input: _Tensor, other: _Tensor, dim: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The cross product along `dim` (default: the first dimension of size 3); see `linalg.cross`."""
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: _Any, target_lengths: _Any, blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False) -> _Tensor:
    """-log p(targets) under all alignments: log_probs (time, batch, classes) or (time, classes); targets (batch, length) or one after the other."""
def cummax(input: _Tensor, dim: _int, *, out: _Any = None) -> _Any:
    """The running maximum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
def cummin(input: _Tensor, dim: _int, *, out: _Any = None) -> _Any:
    """The running minimum along `dim`, and where it was last reached: a named tuple (values, indices). NaN from the first NaN on."""
def cumprod(input: _Tensor, dim: _int, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The running product along `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
def cumprod_(input: _Tensor, dim: _int, *, dtype: _Any = None) -> _Tensor:
    """In-place version of `cumprod`: writes the result over the tensor and returns it."""
def cumsum(input: _Tensor, dim: _int, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The running sum along `dim`. Integers and bools add up in int64 unless `dtype` is given."""
def cumsum_(input: _Tensor, dim: _int, *, dtype: _Any = None) -> _Tensor:
    """In-place version of `cumsum`: writes the result over the tensor and returns it."""
def cumulative_trapezoid(y: _Tensor, x: _Tensor | None = None, *, dx: _Any = None, dim: _int = -1) -> _Tensor:
    """The running integral of samples `y` along `dim` by the trapezoid rule: one element fewer than `y`."""
def deg2rad(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Degrees to radians."""
def deg2rad_(input: _Tensor) -> _Tensor:
    """In-place version of `deg2rad`: writes the result over the tensor and returns it."""
def dequantize(input: _Any) -> _Any:
    """The tensor in float32 (a list of them gives a list): what a tensor that is not quantized comes to."""
def det(input: _Tensor) -> _Tensor:
    """The determinant; see `linalg.det`."""
def detach(input: _Tensor) -> _Tensor:
    """A tensor over the same memory without history; a write to either is seen by both, and by the version check."""
def detach_copy(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy that no gradient flows through."""
def diag(input: _Tensor, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
    """A vector on the diagonal of a square matrix, or the diagonal of a matrix as a (new) vector."""
def diag_embed(input: _Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> _Tensor:
    """The last dimension laid along a diagonal of two new dimensions, zeros elsewhere."""
def diagflat(input: _Tensor, offset: _int = 0) -> _Tensor:
    """All elements, flattened, on the diagonal of a square matrix."""
def diagonal(input: _Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> _Tensor:
    """The view of a diagonal of two dimensions, which becomes the last dimension."""
def diagonal_copy(input: _Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.diagonal(offset, dim1, dim2)`."""
def diagonal_scatter(input: _Tensor, src: _Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
    """A copy with `src` on a diagonal of the plane of two dimensions."""
def diff(input: _Tensor, n: _int = 1, dim: _int = -1, prepend: _Tensor | None = None, append: _Tensor | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The n-th differences of neighbours along `dim`, after joining `prepend` in front and `append` behind. Of bools: `!=`."""
def digamma(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The derivative of lgamma."""
def digamma_(input: _Tensor) -> _Tensor:
    """In-place version of `digamma`: writes the result over the tensor and returns it."""
def dist(input: _Tensor, other: _Tensor, p: _Any = 2) -> _Tensor:
    """The p-norm of `input - other`."""
def div(input: _Any, other: _Any, *, rounding_mode: _str | None = None, out: _Tensor | None = None) -> _Tensor:
    """`input / other`, elementwise. `rounding_mode`: None (true division), "trunc" (towards zero) or "floor" (towards minus infinity)."""
def div_(input: _Any, other: _Any, *, rounding_mode: _str | None = None) -> _Tensor:
    """In-place version of `div`: writes the result over the tensor and returns it."""
def divide(input: _Any, other: _Any, *, rounding_mode: _str | None = None, out: _Tensor | None = None) -> _Tensor:
    """`input / other`, elementwise. `rounding_mode`: None (true division), "trunc" (towards zero) or "floor" (towards minus infinity)."""
def divide_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `div`: writes the result over the tensor and returns it."""
def dot(input: _Tensor, tensor: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The sum of products of two vectors of one length (nothing is conjugated: see `vdot`)."""
def dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """Elements are 0 with probability p, else scaled by 1 / (1 - p), in training."""
def dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """In-place `dropout`."""
def dsmm(input: _Tensor, mat2: _Tensor) -> _Tensor:
    """The product of a sparse and a dense matrix; unlike `torch.sparse.mm` it gives the sparse one a dense gradient."""
def dsplit(input: _Tensor, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
    """`tensor_split` along the third dimension; a number of sections must divide its size."""
def dstack(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """Joined in depth, along the third dimension; see `atleast_3d` for tensors that have fewer."""
def eig(*args: _Any, **kwargs: _Any) -> _Any:
    """Removed from PyTorch: raises. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex tensors: use L, V = torch.linalg.eig(A), or torch.linalg.eigvals(A)."""
def einsum(*args: _Any) -> _Tensor:
    """Sums of products, named by one letter per dimension: `einsum("ij,jk->ik", a, b)` is the matrix product."""
def embedding(weight: _Tensor, indices: _Tensor, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> _Tensor:
    """`nn.functional.embedding` in the order of torch.embedding."""
def empty(*size: _Any, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, **keywords: _Any) -> _Tensor:
    """An uninitialised tensor (arguments as for `zeros`, and `memory_format`)."""
def empty_like(input: _Tensor, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """An uninitialised tensor of input's shape, dtype, device and memory order, each of which a keyword can change."""
def empty_permuted(size: _Any, physical_layout: _Any, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """An uninitialised dense tensor whose dimensions lie in memory in the order `physical_layout` (outermost first)."""
def empty_strided(size: _Any, stride: _Any, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """An uninitialised tensor with these sizes and strides (in elements)."""
def eq(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input == other`, elementwise, as a bool tensor."""
def eq_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `eq`: writes the result over the tensor and returns it."""
def equal(input: _Tensor, other: _Tensor) -> _bool:
    """Whether shapes and all elements are equal."""
def erf(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The error function."""
def erf_(input: _Tensor) -> _Tensor:
    """In-place version of `erf`: writes the result over the tensor and returns it."""
def erfc(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 - erf(x)."""
def erfc_(input: _Tensor) -> _Tensor:
    """In-place version of `erfc`: writes the result over the tensor and returns it."""
def erfinv(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of erf."""
def erfinv_(input: _Tensor) -> _Tensor:
    """In-place version of `erfinv`: writes the result over the tensor and returns it."""
def exp(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """e to the power of each element."""
def exp2(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """2 to the power of each element."""
def exp2_(input: _Tensor) -> _Tensor:
    """In-place version of `exp2`: writes the result over the tensor and returns it."""
def exp_(input: _Tensor) -> _Tensor:
    """In-place version of `exp`: writes the result over the tensor and returns it."""
def expand_copy(input: _Tensor, size: _Any, *, implicit: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.expand(size)`."""
def expm1(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """exp(x) - 1, accurate near 0."""
def expm1_(input: _Tensor) -> _Tensor:
    """In-place version of `expm1`: writes the result over the tensor and returns it."""
def eye(n: _Any, m: _Any = None, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """An n by m matrix (m: n) with ones on the diagonal and zeros elsewhere."""
def feature_alpha_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`alpha_dropout` of whole channels of (N, C, ...)."""
def feature_alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """In-place `feature_alpha_dropout`."""
def feature_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`dropout` of whole channels of (N, C, ...)."""
def feature_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """In-place `feature_dropout`."""
def fill(input: _Tensor, value: _Any) -> _Tensor:
    """A tensor like `input` with every element `value`: a number or a zero-dim tensor."""
def fill_(input: _Tensor, value: _Any) -> _Tensor:
    """Make every element `value` (a number or a zero-dim tensor), in place; differentiable with respect to a tensor's value."""
def fix(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """x without its fraction."""
def fix_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `trunc`: writes the result over the tensor and returns it."""
def flatten(input: _Tensor, start_dim: _int = 0, end_dim: _int = -1) -> _Tensor:
    """The dimensions from `start_dim` to `end_dim` (included) as one: a view where strides allow it. A number becomes a vector of one."""
def flip(input: _Tensor, dims: _Any, *more: _int) -> _Tensor:
    """A copy with the order along these dimensions reversed."""
def fliplr(input: _Tensor) -> _Tensor:
    """A copy with the second dimension reversed."""
def flipud(input: _Tensor) -> _Tensor:
    """A copy with the first dimension reversed."""
def float_power(input: _Any, exponent: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input ** exponent in float64 (or complex128)."""
def floor(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The largest integer not above x."""
def floor_(input: _Tensor) -> _Tensor:
    """In-place version of `floor`: writes the result over the tensor and returns it."""
def floor_divide(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The quotient rounded down."""
def floor_divide_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `floor_divide`: writes the result over the tensor and returns it."""
def fmax(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The larger of two; nan only where both are nan."""
def fmin(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The smaller of two; nan only where both are nan."""
def fmod(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The remainder of truncated division, with input's sign."""
def fmod_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `fmod`: writes the result over the tensor and returns it."""
def frac(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The fraction of x, with its sign."""
def frac_(input: _Tensor) -> _Tensor:
    """In-place version of `frac`: writes the result over the tensor and returns it."""
def frexp(input: _Tensor, *, out: _Any = None) -> _Any:
    """(mantissa, exponent): input = mantissa 2^exponent, with |mantissa| in [0.5, 1) and the exponent an int32."""
def from_numpy(ndarray: _Any, /) -> _Tensor:
    """A tensor over a NumPy array's memory: writes to either are seen by both."""
def frombuffer(buffer: _Any, *, dtype: _Any, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> _Tensor:
    """A 1-d tensor over a Python buffer's memory: `count` elements (-1: all) from byte `offset` on. ValueError where they do not fit."""
def full(size: _Any, fill_value: _Any, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """A tensor of that size, every element `fill_value`; without `dtype` it is the number's own type."""
def full_like(input: _Tensor, fill_value: _Any, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """`fill_value` everywhere, with input's shape, dtype, device and memory order, each of which a keyword can change."""
def gather(input: _Tensor, dim: _int, index: _Tensor, *, sparse_grad: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0, and so on; the result has index's shape."""
def gcd(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The greatest common divisor of integers."""
def gcd_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `gcd`: writes the result over the tensor and returns it."""
def ge(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input >= other`, elementwise, as a bool tensor."""
def ge_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `ge`: writes the result over the tensor and returns it."""
def geqrf(input: _Tensor, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(a, tau): R in a's upper triangle, below it the Householder vectors (their leading 1 left out), and their factors. Not differentiable."""
def ger(input: _Tensor, vec2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Every product of an element of one vector and one of another: (n), (m) -> (n, m). Mixed dtypes are promoted."""
def get_default_device() -> _Any:
    """The device of tensors that are made without one."""
def get_default_dtype() -> _dtype:
    """The dtype that `set_default_dtype` set."""
def get_device(input: _Tensor) -> _int:
    """The index of the tensor's device, -1 on the CPU."""
def gradient(input: _Tensor, *, spacing: _Any = None, dim: _Any = None, edge_order: _int = 1) -> _tuple[_Tensor, ...]:
    """Estimates of the derivative along each of the dimensions `dim` (None: all), by central differences inside and one-sided ones at the edges."""
def greater(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input > other`, elementwise, as a bool tensor."""
def greater_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `gt`: writes the result over the tensor and returns it."""
def greater_equal(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input >= other`, elementwise, as a bool tensor."""
def greater_equal_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `ge`: writes the result over the tensor and returns it."""
def grid_sampler(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """`grid_sample` with its modes as numbers."""
def grid_sampler_2d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """`grid_sample` of images, with its modes as numbers."""
def grid_sampler_3d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """`grid_sample` of volumes, with its modes as numbers."""
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None = None, bias: _Tensor | None = None, eps: _float = 1e-05, cudnn_enabled: _bool = True) -> _Tensor:
    """`nn.functional.group_norm`, with torch.group_norm's arguments."""
def gru_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = None, b_hh: _Tensor | None = None) -> _Tensor:
    """One GRU step. Gates in the order reset, update, new."""
def gt(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input > other`, elementwise, as a bool tensor."""
def gt_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `gt`: writes the result over the tensor and returns it."""
def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54, beta: _float = 0.46, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """alpha - beta cos(2 pi k / N)."""
def hann_window(window_length: _int, periodic: _bool = True, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """Half a raised cosine, 0.5 - 0.5 cos(2 pi k / N). A periodic window is meant for Fourier transforms: N is its length, else length - 1."""
def hardshrink(input: _Tensor, lambd: _float = 0.5, *, out: _Tensor | None = None) -> _Tensor:
    """x where |x| > lambd, else 0."""
def hash_tensor(input: _Tensor, dim: _Any = ..., *, keepdim: _bool = False, mode: _int = 0, out: _Tensor | None = None) -> _Tensor:
    """A checksum (uint64) of all elements or over the dimensions `dim`: the exclusive or of their 64-bit patterns."""
def heaviside(input: _Tensor, values: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """0 where input < 0, `values` where it is 0, 1 above. Both have one dtype, which is not complex."""
def heaviside_(input: _Tensor, values: _Tensor) -> _Tensor:
    """In-place version of `heaviside`: writes the result over the tensor and returns it."""
def hinge_embedding_loss(input: _Tensor, target: _Tensor, margin: _float = 1.0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
def histc(input: _Tensor, bins: _int = 100, min: _Any = 0, max: _Any = 0, *, out: _Tensor | None = None) -> _Tensor:
    """How many elements fall into each of `bins` equal intervals between `min` and `max` (equal: those of the data)."""
def histogram(input: _Tensor, bins: _Any, *, range: _Any = None, weight: _Tensor | None = None, density: _bool = False, out: _Any = None) -> _Any:
    """A named tuple (hist, bin_edges): how many elements fall into each interval; the last one includes its right end."""
def histogramdd(input: _Tensor, bins: _Any, *, range: _Any = None, weight: _Tensor | None = None, density: _bool = False) -> _Any:
    """A named tuple (hist, bin_edges) of points whose coordinates lie along the last dimension: a count per cell of a grid."""
def hsmm(input: _Tensor, mat2: _Tensor) -> _Tensor:
    """The product of a sparse and a dense matrix; unlike `torch.sparse.mm` it gives the sparse one a dense gradient."""
def hsplit(input: _Tensor, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
    """`tensor_split` along the second dimension (the first of a vector); a number of sections must divide its size."""
def hstack(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """Joined horizontally: vectors along their only dimension, others along the second one."""
def hypot(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """sqrt(input^2 + other^2)."""
def hypot_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `hypot`: writes the result over the tensor and returns it."""
def i0(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0_(input: _Tensor) -> _Tensor:
    """In-place version of `i0`: writes the result over the tensor and returns it."""
def igamma(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def igamma_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `igamma`: writes the result over the tensor and returns it."""
def igammac(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The regularised upper incomplete gamma function Q(input, other)."""
def igammac_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `igammac`: writes the result over the tensor and returns it."""
def imag(input: _Tensor) -> _Tensor:
    """The imaginary part, as a view. RuntimeError for a real tensor."""
def index_add(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """input plus alpha times the slices of `source`, added at `index` along `dim`."""
def index_add_(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Any = 1) -> _Tensor:
    """In-place version of `index_add`: writes the result over the tensor and returns it."""
def index_copy(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """input with the slices at `index` along `dim` replaced by those of `source`."""
def index_copy_(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor) -> _Tensor:
    """In-place version of `index_copy`: writes the result over the tensor and returns it."""
def index_fill(input: _Tensor, dim: _int, index: _Tensor, value: _Any) -> _Tensor:
    """input with the slices at `index` along `dim` filled with a value."""
def index_fill_(input: _Tensor, dim: _int, index: _Tensor, value: _Any) -> _Tensor:
    """In-place version of `index_fill`: writes the result over the tensor and returns it."""
def index_put(input: _Tensor, indices: _Sequence[_Any], values: _Tensor, accumulate: _bool = False) -> _Tensor:
    """A copy with `values` at (or, with accumulate, added to) input[indices]; `indices` holds a tensor per dimension."""
def index_put_(input: _Tensor, indices: _Sequence[_Any], values: _Tensor, accumulate: _bool = False) -> _Tensor:
    """In-place version of `index_put`: writes the result over the tensor and returns it."""
def index_reduce(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, reduce: _str, *, include_self: _bool = True, out: _Tensor | None = None) -> _Tensor:
    """The slices at `index` along `dim` reduced with those of `source`: "prod", "mean", "amax" or "amin"."""
def index_reduce_(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, reduce: _str, *, include_self: _bool = True) -> _Tensor:
    """In-place version of `index_reduce`: writes the result over the tensor and returns it."""
def index_select(input: _Tensor, dim: _int, index: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The slices of `input` along `dim` that the 1-d `index` names."""
def inner(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Sums of products along the last dimension of both: (..., n), (*, n) -> (..., *). With a number it is a plain product."""
def instance_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = True) -> _Tensor:
    """`nn.functional.instance_norm` with torch.instance_norm's order of arguments."""
def int_repr(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def inverse(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The inverse of square matrices; see `linalg.inv`."""
def is_complex(input: _Tensor) -> _bool:
    """Whether the dtype is complex."""
def is_conj(input: _Tensor) -> _bool:
    """Whether a conjugation is pending: never."""
def is_distributed(input: _Tensor) -> _bool:
    """Whether a tensor is spread over processes: no."""
def is_floating_point(input: _Tensor) -> _bool:
    """Whether the dtype is a (real) floating point type."""
def is_neg(input: _Tensor) -> _bool:
    """Whether a negation is pending: never."""
def is_nonzero(input: _Tensor) -> _bool:
    """Whether the one element is not zero; RuntimeError for any other count of elements."""
def is_same_size(input: _Tensor, other: _Tensor) -> _bool:
    """Whether two tensors have one shape."""
def is_signed(input: _Tensor) -> _bool:
    """Whether the dtype has negative values."""
def is_tensor(obj: _Any, /) -> _bool:
    """Whether obj is a Tensor."""
def isclose(input: _Tensor, other: _Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _Tensor:
    """Where |input - other| <= atol + rtol |other| (equal infinities too, and nans if asked)."""
def isfinite(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are neither infinite nor nan."""
def isin(elements: _Any, test_elements: _Any, *, assume_unique: _bool = False, invert: _bool = False, out: _Tensor | None = None) -> _Tensor:
    """Which of `elements` occur among `test_elements` (with `invert`: do not); one of the two may be a number."""
def isinf(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are infinite."""
def isnan(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are nan."""
def isneginf(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are -inf."""
def isposinf(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are +inf."""
def isreal(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements have no imaginary part."""
def istft(input: _Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: _Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> _Tensor:
    """The signal that `stft` made the (complex) input from, in the sense of least squares; arguments as there."""
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """I0(beta sqrt(1 - (2 k / N - 1)^2)) / I0(beta)."""
def kl_div(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', log_target: _bool = False) -> _Tensor:
    """target (log target - input): input holds log-probabilities, target probabilities (or their logs). "batchmean" divides by the batch size."""
def kron(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The Kronecker product: every element of the first times the whole second, laid out as blocks. Mixed dtypes are promoted."""
def kthvalue(input: _Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: _Any = None) -> _Any:
    """The k-th smallest element (from 1) along `dim`, and where it is: a named tuple (values, indices). NaN counts as largest."""
def layer_norm(input: _Tensor, normalized_shape: _Any, weight: _Tensor | None = None, bias: _Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = True) -> _Tensor:
    """Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`, then times weight, plus bias (Ba et al. 2016)."""
def lcm(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The least common multiple of integers."""
def lcm_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `lcm`: writes the result over the tensor and returns it."""
def ldexp(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """input 2^other. With integer exponents exact wherever the result is a normal number."""
def ldexp_(input: _Tensor, other: _Tensor) -> _Tensor:
    """In-place version of `ldexp`: writes the result over the tensor and returns it."""
def le(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input <= other`, elementwise, as a bool tensor."""
def le_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `le`: writes the result over the tensor and returns it."""
def lerp(input: _Tensor, end: _Tensor, weight: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input + weight (end - input); weight is a number or a Tensor."""
def lerp_(input: _Tensor, end: _Tensor, weight: _Any) -> _Tensor:
    """In-place version of `lerp`: writes the result over the tensor and returns it."""
def less(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input < other`, elementwise, as a bool tensor."""
def less_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `lt`: writes the result over the tensor and returns it."""
def less_equal(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input <= other`, elementwise, as a bool tensor."""
def less_equal_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `le`: writes the result over the tensor and returns it."""
def lgamma(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm of |gamma(x)|."""
def lgamma_(input: _Tensor) -> _Tensor:
    """In-place version of `lgamma`: writes the result over the tensor and returns it."""
def linspace(start: _Any, end: _Any, steps: _Any, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """`steps` evenly spaced numbers from start to end, both included; start and end are numbers or zero-dim tensors."""
def log(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The natural logarithm; nan below 0, -inf at 0."""
def log10(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm to base 10."""
def log10_(input: _Tensor) -> _Tensor:
    """In-place version of `log10`: writes the result over the tensor and returns it."""
def log1p(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """log(1 + x), accurate near 0."""
def log1p_(input: _Tensor) -> _Tensor:
    """In-place version of `log1p`: writes the result over the tensor and returns it."""
def log2(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm to base 2."""
def log2_(input: _Tensor) -> _Tensor:
    """In-place version of `log2`: writes the result over the tensor and returns it."""
def log_(input: _Tensor) -> _Tensor:
    """In-place version of `log`: writes the result over the tensor and returns it."""
def log_softmax(input: _Tensor, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
    """log(softmax(x)) along `dim`."""
def logaddexp(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """log(exp(input) + exp(other))."""
def logaddexp2(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """log2(2^input + 2^other)."""
def logcumsumexp(input: _Tensor, dim: _int, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm of the running sum of exp(input) along `dim`, without overflow."""
def logdet(input: _Tensor) -> _Tensor:
    """The logarithm of the determinant: nan where a real one is negative, -inf where it is 0."""
def logical_and(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """Both are not 0."""
def logical_and_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `logical_and`: writes the result over the tensor and returns it."""
def logical_not(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Which elements are 0."""
def logical_not_(input: _Tensor) -> _Tensor:
    """In-place version of `logical_not`: writes the result over the tensor and returns it."""
def logical_or(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """At least one is not 0."""
def logical_or_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `logical_or`: writes the result over the tensor and returns it."""
def logical_xor(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """Exactly one is not 0."""
def logical_xor_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `logical_xor`: writes the result over the tensor and returns it."""
def logit(input: _Tensor, eps: _float | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps] where eps is given."""
def logit_(input: _Tensor, eps: _float | None = None) -> _Tensor:
    """In-place version of `logit`: writes the result over the tensor and returns it."""
def logspace(start: _Any, end: _Any, steps: _Any, base: _Any = 10.0, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """`steps` numbers from base**start to base**end whose logarithms are evenly spaced."""
def logsumexp(input: _Tensor, dim: _Any, keepdim: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """log(sum(exp(input))) over the dimensions `dim`, without overflow. Integers are computed in the default dtype."""
def lstm_cell(input: _Tensor, hx: _Sequence[_Tensor], w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = None, b_hh: _Tensor | None = None) -> _tuple[_Tensor, _Tensor]:
    """One LSTM step: (h, c). Gates in the order input, forget, cell, output."""
def lstsq(*args: _Any, **kwargs: _Any) -> _Any:
    """Removed from PyTorch: raises. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, which takes its arguments in the other order and returns the residuals in a field of their own: use torch.linalg.lstsq(A, B)."""
def lt(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input < other`, elementwise, as a bool tensor."""
def lt_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `lt`: writes the result over the tensor and returns it."""
def lu(A: _Tensor, pivot: _bool = True, get_infos: _bool = False, *, out: _Any = None) -> _tuple[_Tensor, ...]:
    """(LU, pivots), and info with `get_infos`; see `linalg.lu_factor_ex`."""
def lu_solve(input: _Tensor, LU_data: _Tensor, LU_pivots: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """X with `A @ X = input`, from the results of `lu_factor(A)`."""
def lu_unpack(LU_data: _Tensor, LU_pivots: _Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(P, L, U) from `lu_factor`'s results, with `A = P @ L @ U`; parts that are not asked for are empty."""
def margin_ranking_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """max(0, -target (input1 - input2) + margin)."""
def masked_fill(input: _Tensor, mask: _Tensor, value: _Any) -> _Tensor:
    """A copy with `value` where the bool `mask` (broadcast) is True."""
def masked_fill_(input: _Tensor, mask: _Tensor, value: _Any) -> _Tensor:
    """In-place version of `masked_fill`: writes the result over the tensor and returns it."""
def masked_scatter(input: _Tensor, mask: _Tensor, source: _Tensor) -> _Tensor:
    """A copy with the elements of `source`, in order, where `mask` is True."""
def masked_scatter_(input: _Tensor, mask: _Tensor, source: _Tensor) -> _Tensor:
    """In-place version of `masked_scatter`: writes the result over the tensor and returns it."""
def masked_select(input: _Tensor, mask: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The elements of `input` where `mask` is True, as a 1-d tensor."""
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The matrix product, by the ranks of the operands:"""
def matrix_exp(A: _Tensor) -> _Tensor:
    """The exponential of square matrices, by scaling and squaring."""
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None = None) -> _Tensor:
    """Square matrices (batched) multiplied with themselves n times; 0 gives the identity, a negative n powers of the inverse."""
def matrix_rank(*args: _Any, **kwargs: _Any) -> _Any:
    """Removed from PyTorch: raises. Please use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in `torch.linalg.matrix_rank()` to 'hermitian'."""
def max(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, other: _Any = None, out: _Any = None) -> _Any:
    """The largest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `maximum(input, other)`."""
def max_pool1d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, L) -> ([N,] C, L'), with `return_indices` also their positions (int64)."""
def max_pool1d_with_indices(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`max_pool1d` with `return_indices`."""
def max_pool2d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, H, W), with `return_indices` also their flat positions in (H, W). See `max_pool1d`."""
def max_pool3d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, D, H, W), with `return_indices` also their flat positions in (D, H, W). See `max_pool1d`."""
def maximum(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The larger of two; nan where either is nan."""
def mean(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None, **others: _Any) -> _Tensor:
    """The mean of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all). NaN over nothing."""
def median(input: _Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: _Any = None) -> _Any:
    """The (lower) median of all elements; or, with `dim`, a named tuple (values, indices) along it. NaN where there is one."""
def meshgrid(*tensors: _Any, indexing: _str | None = None) -> _tuple[_Tensor, ...]:
    """Grids of coordinates from vectors: result k repeats vector k along all dimensions but one."""
def min(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, other: _Any = None, out: _Any = None) -> _Any:
    """The smallest element; or, with `dim`, a named tuple (values, indices) along it; or, with another tensor, `minimum(input, other)`."""
def minimum(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The smaller of two; nan where either is nan."""
def mm(input: _Tensor, mat2: _Tensor, out_dtype: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """The product of two matrices: (n, m) and (m, p) give (n, p). No broadcasting; see `matmul`."""
def mode(input: _Tensor, dim: _int = -1, keepdim: _bool = False, *, out: _Any = None) -> _Any:
    """The most frequent element along `dim` (the smallest of several), and its last position: a named tuple (values, indices)."""
def moveaxis(input: _Tensor, source: _Any, destination: _Any) -> _Tensor:
    """A view with dimensions moved to other places; the rest keep their order."""
def movedim(input: _Tensor, source: _Any, destination: _Any) -> _Tensor:
    """A view with dimensions moved to other places; the rest keep their order."""
def msort(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The elements in ascending order along the first dimension."""
def mul(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input * other`, elementwise, with broadcasting and type promotion."""
def mul_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `mul`: writes the result over the tensor and returns it."""
def multinomial(input: _Tensor, num_samples: _Any, replacement: _bool = False, *, generator: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """`num_samples` indices (int64) drawn from each row of weights; without `replacement` no index twice in a row."""
def multiply(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input * other`, elementwise, with broadcasting and type promotion."""
def multiply_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `mul`: writes the result over the tensor and returns it."""
def mv(input: _Tensor, vec: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The product of a matrix (n, m) and a vector (m): a vector (n)."""
def mvlgamma(input: _Tensor, p: _int, *, out: _Tensor | None = None) -> _Tensor:
    """The logarithm of the multivariate gamma function of dimension p, of elements above (p - 1) / 2."""
def mvlgamma_(input: _Tensor, p: _int) -> _Tensor:
    """In-place version of `mvlgamma`: writes the result over the tensor and returns it."""
def nan_to_num(input: _Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """nan becomes `nan` (0), infinities the dtype's largest numbers or what is given; of complex numbers in both parts."""
def nan_to_num_(input: _Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> _Tensor:
    """In-place version of `nan_to_num`: writes the result over the tensor and returns it."""
def nanmean(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The mean of the elements that are not NaN."""
def nanmedian(input: _Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: _Any = None) -> _Any:
    """As `median`, of the elements that are not NaN; NaN where there are none."""
def nanquantile(input: _Tensor, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: _Tensor | None = None) -> _Tensor:
    """As `quantile`, of the elements that are not NaN; NaN where there are none."""
def nansum(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The sum with NaN counted as zero (see `sum`)."""
def narrow(input: _Tensor, dim: _int, start: _Any, length: _int) -> _Tensor:
    """The view of `length` positions of a dimension, from `start`."""
def narrow_copy(input: _Tensor, dim: _int, start: _int, length: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.narrow(dim, start, length)`."""
def native_batch_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, training: _bool, momentum: _float, eps: _float, *, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(batch_norm, mean, 1 / standard deviation) of the batch; the last two are empty outside training."""
def native_channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """The channels of (N, C, ...) in `groups` groups, dealt out in turn: channel i of group g comes to place i * groups + g."""
def native_dropout(input: _Tensor, p: _float, train: _bool | None) -> _tuple[_Tensor, _Tensor]:
    """(dropout, mask): the bool mask says which elements were kept."""
def native_group_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, N: _int, C: _int, HxW: _int, group: _int, eps: _float) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(group_norm, mean, 1 / standard deviation), the last two of shape (N, group)."""
def native_layer_norm(input: _Tensor, normalized_shape: _Any, weight: _Tensor | None, bias: _Tensor | None, eps: _float) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(layer_norm, mean, 1 / standard deviation), the last two with size 1 in place of the normalized dimensions."""
def ne(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input != other`, elementwise, as a bool tensor."""
def ne_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `ne`: writes the result over the tensor and returns it."""
def neg(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """`-input`. Bool is refused: use `~`."""
def neg_(input: _Tensor) -> _Tensor:
    """In-place version of `neg`: writes the result over the tensor and returns it."""
def negative(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """`-input`. Bool is refused: use `~`."""
def negative_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `neg`: writes the result over the tensor and returns it."""
def nextafter(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The next floating point number after input towards other."""
def nextafter_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `nextafter`: writes the result over the tensor and returns it."""
def nonzero(input: _Tensor, *, as_tuple: _bool = False, out: _Tensor | None = None) -> _Any:
    """The positions of elements that are not 0: (count, dims) int64, or a tuple of one vector per dimension."""
def nonzero_static(input: _Tensor, *, size: _int, fill_value: _int = -1, out: _Tensor | None = None) -> _Tensor:
    """`nonzero` with exactly `size` rows: the first ones, or all of them followed by rows of `fill_value`."""
def norm(input: _Tensor, p: _Any = 'fro', dim: _Any = None, keepdim: _bool = False, out: _Tensor | None = None, dtype: _Any = None) -> _Tensor:
    """The p-norm of all elements or over the dimensions `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values."""
def norm_except_dim(v: _Tensor, pow: _int = 2, dim: _int = 0) -> _Tensor:
    """The p-norm (p = `pow`) of each slice of `dim`, broadcastable to v; of everything (0-dim) for dim -1."""
def normal(mean: _Any, std: _Any = 1.0, size: _Any = None, *, generator: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """Normal numbers with these means and standard deviations: tensors (broadcast), or two numbers and a `size`."""
def not_equal(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input != other`, elementwise, as a bool tensor."""
def not_equal_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `ne`: writes the result over the tensor and returns it."""
def numel(input: _Tensor) -> _int:
    """The number of elements."""
def ones(*size: _Any, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, **keywords: _Any) -> _Tensor:
    """A tensor of ones (arguments as for `zeros`)."""
def ones_like(input: _Tensor, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """Ones of input's shape, dtype, device and memory order, each of which a keyword can change."""
def orgqr(input: _Tensor, input2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The same as `linalg.householder_product`."""
def ormqr(input: _Tensor, input2: _Tensor, input3: _Tensor, left: _bool = True, transpose: _bool = False, *, out: _Tensor | None = None) -> _Tensor:
    """`Q @ input3` (or Q^H with `transpose`; from the right with left=False), Q the square product of the reflections in (input, input2)."""
def outer(input: _Tensor, vec2: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Every product of an element of one vector and one of another: (n), (m) -> (n, m). Mixed dtypes are promoted."""
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False) -> _Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
def pca_lowrank(A: _Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(U, S, V) of the principal components of the rows of A (centred first unless `center` is False); q is min(6, m, n) by default."""
def pdist(input: _Tensor, p: _float = 2.0) -> _Tensor:
    """The p-norm distances between all pairs of rows of a matrix (N, M), in the order (0, 1), (0, 2), ..., (1, 2), ..."""
def permute(input: _Tensor, dims: _Any, *more: _int) -> _Tensor:
    """A view with the dimensions in another order."""
def permute_copy(input: _Tensor, dims: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.permute(dims)`."""
def pinverse(input: _Tensor, rcond: _float = 1e-15) -> _Tensor:
    """The pseudo-inverse; see `linalg.pinv`."""
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> _Tensor:
    """(*, C r^2, H, W) -> (*, C, H r, W r): every r^2 channels become the pixels of an r x r block. RuntimeError where they do not divide."""
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> _Tensor:
    """(*, C, H r, W r) -> (*, C r^2, H, W): the inverse of `pixel_shuffle`."""
def poisson(input: _Tensor, generator: _Any = None) -> _Tensor:
    """Poisson counts with the rates `input`, in input's dtype."""
def poisson_nll_loss(input: _Tensor, target: _Tensor, log_input: _bool = True, full: _bool = False, size_average: _Any = None, eps: _float = 1e-08, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """exp(input) - target input (or input - target log(input + eps)), with Stirling's term for targets above 1 when `full`."""
def polar(abs: _Tensor, angle: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Complex numbers with these absolute values and angles: abs * cos(angle) + abs * sin(angle) * j."""
def polygamma(n: _int, input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The n-th derivative of digamma."""
def positive(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """x itself."""
def pow(input: _Any, exponent: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """`input ** exponent`, elementwise; either may be a number. Integers to negative integer powers raise RuntimeError."""
def pow_(input: _Any, exponent: _Any) -> _Tensor:
    """In-place version of `pow`: writes the result over the tensor and returns it."""
def prelu(input: _Tensor, weight: _Tensor) -> _Tensor:
    """x where x > 0, else weight x; one weight, or one per channel (dimension 1)."""
def prod(input: _Tensor, dim: _int | None = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The product of all elements, or along the dimension `dim`. Integers and bools are multiplied in int64 unless `dtype` is given."""
def put(input: _Tensor, index: _Tensor, source: _Tensor, accumulate: _bool = False) -> _Tensor:
    """A copy with the elements of `source` at flat positions `index` (added there with `accumulate`)."""
def put_(input: _Tensor, index: _Tensor, source: _Tensor, accumulate: _bool = False) -> _Tensor:
    """In-place version of `put`: writes the result over the tensor and returns it."""
def q_per_channel_axis(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def q_per_channel_scales(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def q_per_channel_zero_points(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def q_scale(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def q_zero_point(self: _Tensor) -> _Any:
    """Of a quantized tensor; others raise."""
def qr(input: _Tensor, some: _bool = True, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(Q, R); see `linalg.qr`. `some` is its mode "reduced", else "complete"."""
def quantile(input: _Tensor, q: _Any, dim: _int | None = None, keepdim: _bool = False, *, interpolation: _str = 'linear', out: _Tensor | None = None) -> _Tensor:
    """The q-quantiles (q in [0, 1], a number or a 1-d tensor, which becomes the result's first dimension) of all elements or along `dim`."""
def rad2deg(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Radians to degrees."""
def rad2deg_(input: _Tensor) -> _Tensor:
    """In-place version of `rad2deg`: writes the result over the tensor and returns it."""
def rand(*shape: _Any, size: _Any = None, generator: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """Uniform numbers in [0, 1). Sizes are ints or one sequence: `rand(2, 3)`, `rand((2, 3))`."""
def rand_like(input: _Tensor, *, generator: _Any = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """Uniform numbers in [0, 1) with input's shape, dtype, device and memory order."""
def randint(*bounds: _Any, low: _Any = None, high: _Any = None, size: _Any = None, generator: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """Integers in [low, high): `randint(high, size)` or `randint(low, high, size)`; int64 unless `dtype` says otherwise."""
def randint_like(input: _Tensor, *bounds: _Any, low: _Any = None, high: _Any = None, generator: _Any = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """Integers in [low, high) with input's shape and dtype: `randint_like(x, high)` or `randint_like(x, low, high)`."""
def randn(*shape: _Any, size: _Any = None, generator: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """Normal numbers of mean 0 and standard deviation 1 (complex ones have variance 1 in all)."""
def randn_like(input: _Tensor, *, generator: _Any = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """Normal numbers with input's shape, dtype, device and memory order."""
def randperm(n: _Any, *, generator: _Any = None, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """The numbers 0 to n - 1 in random order (int64 unless `dtype` says otherwise)."""
def range(start: _Any, end: _Any, step: _Any = 1, *, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """As `arange`, but `end` is included, and the dtype is the default one. Deprecated in PyTorch: prefer `arange`."""
def ravel(input: _Tensor) -> _Tensor:
    """All elements as a vector: a view where strides allow it."""
def real(input: _Tensor) -> _Tensor:
    """The real part, as a view; a real tensor is returned as it is."""
def reciprocal(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / x."""
def reciprocal_(input: _Tensor) -> _Tensor:
    """In-place version of `reciprocal`: writes the result over the tensor and returns it."""
def relu(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """max(x, 0)."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place `relu`."""
def remainder(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The remainder of floored division, with other's sign."""
def remainder_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `remainder`: writes the result over the tensor and returns it."""
def renorm(input: _Tensor, p: _Any, dim: _int, maxnorm: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """Slices along `dim` whose p-norm is above `maxnorm` are scaled down to it."""
def renorm_(input: _Tensor, p: _Any, dim: _int, maxnorm: _Any) -> _Tensor:
    """In-place version of `renorm`: writes the result over the tensor and returns it."""
def repeat_interleave(input: _Tensor, repeats: _Any = None, dim: _int | None = None, *, output_size: _int | None = None) -> _Tensor:
    """Each element (or slice along `dim`) repeated in place: so many times, or as often as its entry in the tensor `repeats` says."""
def reshape(input: _Tensor, shape: _Any, *more: _int) -> _Tensor:
    """`input` with another shape (one size may be -1): a view where the strides allow it, a copy otherwise."""
def resize_as_(input: _Tensor, the_template: _Tensor, *, memory_format: _Any = None) -> _Tensor:
    """`input.resize_(the_template.shape)`."""
def resolve_conj(input: _Tensor) -> _Tensor:
    """The tensor with any pending conjugation carried out (saraph never leaves one pending)."""
def resolve_neg(input: _Tensor) -> _Tensor:
    """The tensor with any pending negation carried out (saraph never leaves one pending)."""
def result_type(tensor1: _Any, tensor2: _Any) -> _dtype:
    """The dtype that an op on these two (Tensors or numbers) would compute in."""
def rms_norm(input: _Tensor, normalized_shape: _Any, weight: _Tensor | None = None, eps: _float | None = None) -> _Tensor:
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then times weight (Zhang and Sennrich 2019). eps None: the dtype's epsilon."""
def rnn_relu_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = None, b_hh: _Tensor | None = None) -> _Tensor:
    """relu(W_ih x + b_ih + W_hh h + b_hh)."""
def rnn_tanh_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = None, b_hh: _Tensor | None = None) -> _Tensor:
    """tanh(W_ih x + b_ih + W_hh h + b_hh)."""
def roll(input: _Tensor, shifts: _Any, dims: _Any = None) -> _Tensor:
    """A copy with elements moved by `shifts` along `dims`; what leaves at the end comes back at the start."""
def rot90(input: _Tensor, k: _int = 1, dims: _Sequence[_int] = ...) -> _Tensor:
    """A copy turned by k quarter turns in the plane of two dimensions, from the first towards the second."""
def round(input: _Tensor, *, decimals: _int = 0, out: _Tensor | None = None) -> _Tensor:
    """To the nearest integer, halves to the even one; `decimals` digits after the point (before it, where negative)."""
def round_(input: _Tensor, *, decimals: _int = 0) -> _Tensor:
    """In-place version of `round`: writes the result over the tensor and returns it."""
def row_stack(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """Joined vertically, along the first dimension; vectors count as rows."""
def rrelu(input: _Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False) -> _Tensor:
    """Leaky ReLU with slopes drawn from [lower, upper] in training, their mean otherwise."""
def rrelu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `rrelu`."""
def rsqrt(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / sqrt(x)."""
def rsqrt_(input: _Tensor) -> _Tensor:
    """In-place version of `rsqrt`: writes the result over the tensor and returns it."""
def rsub(input: _Tensor, other: _Any, *, alpha: _Any = 1) -> _Tensor:
    """other - alpha input."""
def scalar_tensor(s: _Any, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False) -> _Tensor:
    """A zero-dim tensor of a number, in the default dtype unless `dtype` says otherwise."""
def scatter(input: _Tensor, dim: _int, index: _Tensor, src: _Any = None, *, value: _Any = None, reduce: _str | None = None, out: _Tensor | None = None) -> _Tensor:
    """A copy with src[i][j] at [index[i][j]][j] (dim 0, and so on); `reduce` ("add", "multiply") combines instead."""
def scatter_(input: _Tensor, dim: _int, index: _Tensor, src: _Any = None, *, value: _Any = None, reduce: _str | None = None) -> _Tensor:
    """In-place version of `scatter`: writes the result over the tensor and returns it."""
def scatter_add(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy with src[i][j] added at [index[i][j]][j] (dim 0, and so on)."""
def scatter_add_(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor) -> _Tensor:
    """In-place version of `scatter_add`: writes the result over the tensor and returns it."""
def scatter_reduce(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, reduce: _str, *, include_self: _bool = True, out: _Tensor | None = None) -> _Tensor:
    """input[index[i][j]][j] (dim 0, and so on) reduced with all src[i][j] that go there: "sum", "prod", "mean", "amax" or "amin"."""
def scatter_reduce_(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, reduce: _str, *, include_self: _bool = True) -> _Tensor:
    """In-place version of `scatter_reduce`: writes the result over the tensor and returns it."""
def searchsorted(sorted_sequence: _Tensor, input: _Any, *, out_int32: _bool = False, right: _bool = False, side: _str | None = None, sorter: _Tensor | None = None, out: _Tensor | None = None) -> _Tensor:
    """Where each value of `input` (a tensor or a number) would go into the last dimension of `sorted_sequence` so that it stays sorted."""
def segment_reduce(data: _Tensor, reduce: _str, *, lengths: _Tensor | None = None, indices: _Tensor | None = None, offsets: _Tensor | None = None, axis: _int = 0, unsafe: _bool = False, initial: _Any = None) -> _Tensor:
    """The sum, mean, prod, max or min of consecutive segments along `axis`."""
def select(input: _Tensor, dim: _int, index: _int) -> _Tensor:
    """The view at one position of a dimension, which is dropped."""
def select_copy(input: _Tensor, dim: _int, index: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.select(dim, index)`."""
def select_scatter(input: _Tensor, src: _Tensor, dim: _int, index: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy with `src` at `index` along `dim`."""
def selu(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """scale (max(0, x) + min(0, alpha (exp(x) - 1)))."""
def selu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `selu`."""
def set_default_device(device: _Any) -> None:
    """The device of tensors that are made without one; None: the CPU. `with torch.device(...)` does so for a block."""
def set_default_dtype(d: _Any, /) -> None:
    """The floating dtype of tensors that are made from Python numbers without a dtype (float32 at start)."""
def set_default_tensor_type(t: _Any, /) -> None:
    """Set the default dtype by a tensor type such as `FloatTensor` or its name. Deprecated: use `set_default_dtype`."""
def sgn(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """x / |x|, 0 at 0."""
def sgn_(input: _Tensor) -> _Tensor:
    """In-place version of `sgn`: writes the result over the tensor and returns it."""
def sigmoid(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / (1 + exp(-x))."""
def sigmoid_(input: _Tensor) -> _Tensor:
    """In-place version of `sigmoid`: writes the result over the tensor and returns it."""
def sign(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """-1, 0 or 1."""
def sign_(input: _Tensor) -> _Tensor:
    """In-place version of `sign`: writes the result over the tensor and returns it."""
def signbit(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """Whether the sign bit is set."""
def sin(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The sine of angles in radians."""
def sin_(input: _Tensor) -> _Tensor:
    """In-place version of `sin`: writes the result over the tensor and returns it."""
def sinc(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
def sinc_(input: _Tensor) -> _Tensor:
    """In-place version of `sinc`: writes the result over the tensor and returns it."""
def sinh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic sine."""
def sinh_(input: _Tensor) -> _Tensor:
    """In-place version of `sinh`: writes the result over the tensor and returns it."""
def slice_copy(input: _Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of the slice `start:end:step` along a dimension."""
def slice_scatter(input: _Tensor, src: _Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: _Tensor | None = None) -> _Tensor:
    """A copy with `src` at start:end:step along `dim`."""
def slogdet(input: _Tensor, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(sign, logabsdet); see `linalg.slogdet`."""
def smm(input: _Tensor, mat: _Tensor) -> _Tensor:
    """The product of a sparse and a dense matrix, sparse."""
def softmax(input: _Tensor, dim: _int | None = None, dtype: _Any = None, **options: _Any) -> _Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
def solve(*args: _Any, **kwargs: _Any) -> _Any:
    """Removed from PyTorch: raises. `torch.solve` is deprecated in favor of `torch.linalg.solve`, which takes its arguments in the other order and does not return LU factors: use X = torch.linalg.solve(A, B), and torch.linalg.lu_factor for the factors."""
def sort(input: _Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool | None = None, out: _Any = None) -> _Any:
    """The elements along `dim` in order, and where they were: a named tuple (values, indices). Equal elements always keep their order."""
def sparse_bsc_tensor(first_indices: _Any, second_indices: _Any, values: _Any, size: _Any = None, **options: _Any) -> _Tensor:
    """A block CSC tensor."""
def sparse_bsr_tensor(first_indices: _Any, second_indices: _Any, values: _Any, size: _Any = None, **options: _Any) -> _Tensor:
    """A block CSR tensor."""
def sparse_compressed_tensor(compressed_indices: _Any, plain_indices: _Any, values: _Any, size: _Any = None, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None) -> _Tensor:
    """A tensor in a compressed layout, from its index and value tensors."""
def sparse_coo_tensor(indices: _Any = None, values: _Any = None, size: _Any = None, *, dtype: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, check_invariants: _bool | None = None, is_coalesced: _bool | None = None) -> _Tensor:
    """A COO tensor: indices (sparse dims, nnz) int64, values (nnz, *dense dims); `size` is inferred when left out. Repeated positions add up."""
def sparse_csc_tensor(first_indices: _Any, second_indices: _Any, values: _Any, size: _Any = None, **options: _Any) -> _Tensor:
    """A CSC tensor from column starts, row indices and values."""
def sparse_csr_tensor(first_indices: _Any, second_indices: _Any, values: _Any, size: _Any = None, **options: _Any) -> _Tensor:
    """A CSR tensor from row starts, column indices and values."""
def split(tensor: _Tensor, split_size_or_sections: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """Views of parts along a dimension: of that size each (the last may be smaller), or of the sizes in a list (they must add up)."""
def split_copy(input: _Tensor, split_size: _int, dim: _int = 0, *, out: _Any = None) -> _tuple[_Tensor, ...]:
    """Copies of the parts of `input.split(split_size, dim)`."""
def split_with_sizes(input: _Tensor, split_sizes: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """Views of parts of these sizes along a dimension; they must add up to its size."""
def split_with_sizes_copy(input: _Tensor, split_sizes: _Any, dim: _int = 0, *, out: _Any = None) -> _tuple[_Tensor, ...]:
    """Copies of the parts of `input.split_with_sizes(split_sizes, dim)`."""
def spmm(input: _Tensor, mat2: _Tensor) -> _Tensor:
    """The product of a sparse and a dense matrix; unlike `torch.sparse.mm` it gives the sparse one a dense gradient."""
def sqrt(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The square root; nan below 0."""
def sqrt_(input: _Tensor) -> _Tensor:
    """In-place version of `sqrt`: writes the result over the tensor and returns it."""
def square(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """x * x."""
def square_(input: _Tensor) -> _Tensor:
    """In-place version of `square`: writes the result over the tensor and returns it."""
def squeeze(input: _Tensor, dim: _Any = None) -> _Tensor:
    """A view without dimensions of size 1: all of them, or those among `dim` (an int or a tuple)."""
def squeeze_copy(input: _Tensor, dim: _Any = None, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.squeeze(dim)`."""
def stack(tensors: _Sequence[_Tensor], dim: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
    """Tensors of one shape, joined along a new dimension `dim`. Mixed dtypes are promoted."""
def std(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The standard deviation: the root of the variance (see `var` for the arguments)."""
def std_mean(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """The standard deviation and the mean (see `var` for the arguments)."""
def stft(input: _Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: _Tensor | None = None, center: _bool = True, pad_mode: _str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> _Tensor:
    """The Fourier transforms of overlapping frames of a signal (length) or several (batch, length): (batch,) frequencies by frames."""
def sub(input: _Any, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
def sub_(input: _Any, other: _Any, *, alpha: _Any = 1) -> _Tensor:
    """In-place version of `sub`: writes the result over the tensor and returns it."""
def subtract(input: _Any, other: _Any, *, alpha: _Any = 1, out: _Tensor | None = None) -> _Tensor:
    """`input - alpha * other`, elementwise, with broadcasting and type promotion. Bool tensors are refused: use `^` or `~`."""
def subtract_(self: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place version of `sub`: writes the result over the tensor and returns it."""
def sum(input: _Tensor, dim: _Any = None, keepdim: _bool = False, *, dtype: _Any = None, out: _Tensor | None = None, **others: _Any) -> _Tensor:
    """The sum of all elements, or over the dimensions `dim` (an int or a tuple; an empty one means all)."""
def svd(input: _Tensor, some: _bool = True, compute_uv: _bool = True, *, out: _Any = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(U, S, V) with `input = U @ diag(S) @ V^H`; see `linalg.svd`. Without `compute_uv` U and V are zeros."""
def svd_lowrank(A: _Tensor, q: _int | None = 6, niter: _int | None = 2, M: _Tensor | None = None) -> _tuple[_Tensor, _Tensor, _Tensor]:
    """(U, S, V) with `A - M` close to `U @ diag(S) @ V^H`: about q singular values, found from random projections."""
def swapaxes(input: _Tensor, axis0: _int, axis1: _int) -> _Tensor:
    """`transpose(input, axis0, axis1)`."""
def swapdims(input: _Tensor, dim0: _int, dim1: _int) -> _Tensor:
    """A view with two dimensions swapped."""
def symeig(*args: _Any, **kwargs: _Any) -> _Any:
    """Removed from PyTorch: raises. The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower triangular portion: use L, V = torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh."""
def t(input: _Tensor) -> _Tensor:
    """A view of a matrix with its dimensions swapped; vectors and numbers as they are."""
def t_copy(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.t()`."""
def take(input: _Tensor, index: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The elements at flat positions `index` (int64), in index's shape."""
def take_along_dim(input: _Tensor, indices: _Tensor, dim: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`gather` with input and indices broadcast against each other in the other dimensions; without `dim`, of the flat input."""
def tan(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The tangent of angles in radians."""
def tan_(input: _Tensor) -> _Tensor:
    """In-place version of `tan`: writes the result over the tensor and returns it."""
def tanh(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The hyperbolic tangent."""
def tanh_(input: _Tensor) -> _Tensor:
    """In-place version of `tanh`: writes the result over the tensor and returns it."""
def tensor(data: _Any, *, dtype: _Any = None, device: _Any = None, requires_grad: _bool = False, pin_memory: _bool = False) -> _Tensor:
    """A new tensor with a copy of `data`: a number, nested sequences of numbers, a NumPy array or scalar, or a Tensor."""
def tensor_split(input: _Tensor, indices_or_sections: _Any = None, dim: _int = 0, *, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
    """Views of parts along a dimension: so many of sizes that differ by one at most, or cut at the positions in a list (or 1-d tensor)."""
def tensordot(a: _Tensor, b: _Tensor, dims: _Any = 2, out: _Tensor | None = None) -> _Tensor:
    """Sums of products over several dimensions of each: the last `dims` of a with the first of b, or the pairs that two lists name."""
def threshold(input: _Tensor, threshold: _float, value: _float, inplace: _bool = False) -> _Tensor:
    """x where x > threshold, else value."""
def threshold_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `threshold`."""
def tile(input: _Tensor, dims: _Any, *more: _int) -> _Tensor:
    """As `repeat`, but missing counts are 1 (in front), as in `numpy.tile`."""
def topk(input: _Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, out: _Any = None) -> _Any:
    """The k largest (or smallest) elements along `dim`, best first, and where they are: a named tuple (values, indices)."""
def trace(input: _Tensor) -> _Tensor:
    """The sum of a matrix's diagonal; of integers in int64."""
def transpose(input: _Tensor, dim0: _int, dim1: _int) -> _Tensor:
    """A view with two dimensions swapped."""
def transpose_copy(input: _Tensor, dim0: _int, dim1: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.transpose(dim0, dim1)`."""
def trapezoid(y: _Tensor, x: _Tensor | None = None, *, dx: _Any = None, dim: _int = -1) -> _Tensor:
    """The integral of samples `y` along `dim` by the trapezoid rule; samples lie at `x`, or `dx` (1) apart."""
def trapz(y: _Tensor, x: _Tensor | None = None, *, dx: _Any = None, dim: _int = -1) -> _Tensor:
    """The integral of samples `y` along `dim` by the trapezoid rule; samples lie at `x`, or `dx` (1) apart."""
def triangular_solve(input: _Tensor, A: _Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """(solution, a copy of A): X with `A @ X = input`, or `A^T @ X = input`. `linalg.solve_triangular` is the newer form."""
def tril(input: _Tensor, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
    """The lower triangle of each matrix (up to and with the diagonal that `diagonal` names), zeros above."""
def tril_(input: _Tensor, diagonal: _int = 0) -> _Tensor:
    """In-place version of `tril`: writes the result over the tensor and returns it."""
def tril_indices(row: _Any, col: _Any, offset: _Any = 0, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False) -> _Tensor:
    """Row and column numbers (shape (2, count)) of the elements on and below diagonal `offset` of a row by col matrix."""
def triplet_margin_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, margin: _float = 1.0, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with p-norm distances; `swap` also considers d(positive, negative)."""
def triu(input: _Tensor, diagonal: _int = 0, *, out: _Tensor | None = None) -> _Tensor:
    """The upper triangle of each matrix (from the diagonal that `diagonal` names), zeros below."""
def triu_(input: _Tensor, diagonal: _int = 0) -> _Tensor:
    """In-place version of `triu`: writes the result over the tensor and returns it."""
def triu_indices(row: _Any, col: _Any, offset: _Any = 0, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False) -> _Tensor:
    """Row and column numbers (shape (2, count)) of the elements on and above diagonal `offset` of a row by col matrix."""
def true_divide(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """The quotient as a floating point number."""
def true_divide_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `true_divide`: writes the result over the tensor and returns it."""
def trunc(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """x without its fraction."""
def trunc_(input: _Tensor) -> _Tensor:
    """In-place version of `trunc`: writes the result over the tensor and returns it."""
def typename(obj: _Any, /) -> _str:
    """The qualified name of a value's type; for a tensor that of its tensor type ('torch.FloatTensor')."""
def unbind(input: _Tensor, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """Views of all slices along a dimension, without it."""
def unbind_copy(input: _Tensor, dim: _int = 0, *, out: _Any = None) -> _tuple[_Tensor, ...]:
    """Copies of the slices of `input.unbind(dim)`."""
def unflatten(input: _Tensor, dim: _int, sizes: _Any) -> _Tensor:
    """One dimension as several, of sizes whose product it is (one of them may be -1), as a view."""
def unfold_copy(input: _Tensor, dimension: _int, size: _int, step: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.unfold(dimension, size, step)`."""
def unique(input: _Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> _Any:
    """The different elements in ascending order, or the different slices along `dim`; every NaN counts as another one."""
def unique_consecutive(input: _Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> _Any:
    """The first of each run of equal elements, or of equal slices along `dim` (flags as in `unique`)."""
def unravel_index(indices: _Tensor, shape: _int | _Sequence[_int]) -> _tuple[_Tensor, ...]:
    """The positions, one tensor per dimension, of flat positions in a tensor of that shape."""
def unsafe_chunk(input: _Tensor, chunks: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """As `chunk`; in PyTorch the parts are not tracked as views of the input."""
def unsafe_split(input: _Tensor, split_size: _int, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """As `split`; in PyTorch the parts are not tracked as views of the input."""
def unsafe_split_with_sizes(input: _Tensor, split_sizes: _Any, dim: _int = 0) -> _tuple[_Tensor, ...]:
    """As `split_with_sizes`; in PyTorch the parts are not tracked as views of the input."""
def unsqueeze(input: _Tensor, dim: _int) -> _Tensor:
    """A view with a dimension of size 1 put in at `dim`."""
def unsqueeze_copy(input: _Tensor, dim: _int, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.unsqueeze(dim)`."""
def vander(x: _Tensor, N: _int | None = None, increasing: _bool = False) -> _Tensor:
    """The matrix whose columns are powers of a vector: x**(N-1), ..., x, 1, or in increasing order. N: len(x)."""
def var(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """The variance of all elements or over the dimensions `dim`: the sum of |x - mean|^2 divided by count - correction (1)."""
def var_mean(input: _Tensor, dim: _Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _Any = None, out: _Any = None) -> _tuple[_Tensor, _Tensor]:
    """The variance and the mean (see `var` for the arguments)."""
def vdot(input: _Tensor, other: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """The sum of products of two vectors, the first of them conjugated."""
def view_as_complex(input: _Tensor) -> _Tensor:
    """A view of pairs (real, imaginary), the last dimension of a float32 or float64 tensor, as complex numbers."""
def view_as_complex_copy(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `view_as_complex(input)`: the last dimension of two becomes the parts."""
def view_as_real(input: _Tensor) -> _Tensor:
    """A view of a complex tensor as pairs (real, imaginary) along a new last dimension."""
def view_as_real_copy(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """A copy of `view_as_real(input)`: a last dimension of two holds the parts."""
def view_copy(input: _Tensor, size: _Any = None, *, dtype: _Any = None, out: _Tensor | None = None) -> _Tensor:
    """A copy of `input.view(size)`, or of `input.view(dtype)`."""
def vsplit(input: _Tensor, *indices_or_sections: _Any, indices: _Any = None, sections: _Any = None) -> _tuple[_Tensor, ...]:
    """`tensor_split` along the first dimension; a number of sections must divide its size."""
def vstack(tensors: _Sequence[_Tensor], *, out: _Tensor | None = None) -> _Tensor:
    """Joined vertically, along the first dimension; vectors count as rows."""
def where(condition: _Tensor, input: _Any = None, other: _Any = None, *, out: _Tensor | None = None) -> _Any:
    """input where condition is True, else other; with the condition alone the positions where it is not 0."""
def xlogy(input: _Any, other: _Any, *, out: _Tensor | None = None) -> _Tensor:
    """input log(other), 0 where input is 0."""
def xlogy_(input: _Any, other: _Any) -> _Tensor:
    """In-place version of `xlogy`: writes the result over the tensor and returns it."""
def zero_(input: _Tensor) -> _Tensor:
    """Make every element zero, in place."""
def zeros(*size: _Any, out: _Tensor | None = None, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, **keywords: _Any) -> _Tensor:
    """A tensor of zeros."""
def zeros_like(input: _Tensor, *, dtype: _Any = None, layout: _Any = None, device: _Any = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: _Any = None) -> _Tensor:
    """Zeros of input's shape, dtype, device and memory order, each of which a keyword can change."""
