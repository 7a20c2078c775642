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

def adaptive_avg_pool1d(input: _Tensor, output_size: _Any) -> _Tensor:
    """The averages of `output_size` parts of ([N,] C, L), part i from floor(i L / out) to ceil((i + 1) L / out) -> ([N,] C, output_size)."""
def adaptive_avg_pool2d(input: _Tensor, output_size: _Any) -> _Tensor:
    """The averages of parts of ([N,] C, H, W) -> ([N,] C, *output_size); None keeps a size. See `adaptive_avg_pool1d`."""
def adaptive_avg_pool3d(input: _Tensor, output_size: _Any) -> _Tensor:
    """The averages of parts of ([N,] C, D, H, W) -> ([N,] C, *output_size); None keeps a size. See `adaptive_avg_pool1d`."""
def adaptive_max_pool1d(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """The maxima of `output_size` parts of ([N,] C, L) (the parts of `adaptive_avg_pool1d`), with `return_indices` also their positions."""
def adaptive_max_pool1d_with_indices(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`adaptive_max_pool1d` with `return_indices`."""
def adaptive_max_pool2d(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """The maxima of parts of ([N,] C, H, W), with `return_indices` also their flat positions; None keeps a size."""
def adaptive_max_pool2d_with_indices(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`adaptive_max_pool2d` with `return_indices`."""
def adaptive_max_pool3d(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """The maxima of parts of ([N,] C, D, H, W), with `return_indices` also their flat positions; None keeps a size."""
def adaptive_max_pool3d_with_indices(input: _Tensor, output_size: _Any, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`adaptive_max_pool3d` with `return_indices`."""
def affine_grid(theta: _Tensor, size: _Any, align_corners: _bool | None = None) -> _Tensor:
    """The grid (batch, *sizes, n) of an affine map, for `grid_sample`: theta (batch, n, n + 1), size (batch, channels, *sizes)."""
def alpha_dropout(input: _Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> _Tensor:
    """Dropout for SELU networks: mean and variance stay (Klambauer et al. 2017)."""
def avg_pool1d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> _Tensor:
    """The averages of windows of ([N,] C, L) -> ([N,] C, L'); zeros of the padding count if `count_include_pad`. Sizes as in `max_pool1d`."""
def avg_pool2d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The averages of windows of ([N,] C, H, W), or their sums over `divisor_override`. See `avg_pool1d`."""
def avg_pool3d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """The averages of windows of ([N,] C, D, H, W), or their sums over `divisor_override`. See `avg_pool1d`."""
def batch_norm(input: _Tensor, running_mean: _Tensor | None, running_var: _Tensor | None, weight: _Tensor | None = None, bias: _Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-05) -> _Tensor:
    """Mean 0 and variance 1 per channel of (N, C, ...), then times weight, plus bias, which have C elements (Ioffe and Szegedy 2015)."""
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None = None) -> _Tensor:
    """x1^T weight[k] x2 + bias[k]: (*, in1), (*, in2), weight (out, in1, in2) -> (*, out)."""
def binary_cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """-(t log x + (1 - t) log(1 - x)) for probabilities x; the logarithms are held above -100. RuntimeError outside [0, 1]."""
def binary_cross_entropy_with_logits(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', pos_weight: _Tensor | None = None) -> _Tensor:
    """Binary cross entropy of sigmoid(input), computed without overflow; `pos_weight` multiplies the positive term."""
def celu(input: _Tensor, alpha: _float = 1.0, inplace: _bool = False) -> _Tensor:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
def celu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `celu`."""
def channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """The channels of (N, C, ...) in `groups` groups, dealt out in turn: channel i of group g comes to place i * groups + g."""
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
def cosine_embedding_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """1 - cos(x1, x2) where target is 1, max(0, cos - margin) where it is -1."""
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int = 1, eps: _float = 1e-08) -> _Tensor:
    """The cosine of the angle between `x1` and `x2` along `dim`; norms below `eps` count as `eps`."""
def cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, ignore_index: _int = -100, reduce: _Any = None, reduction: _str = 'mean', label_smoothing: _float = 0.0) -> _Tensor:
    """Negative log likelihood of softmax(input): input (batch, classes, *) or (classes); target class numbers, or probabilities of input's shape."""
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: _Any, target_lengths: _Any, blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False) -> _Tensor:
    """-log p(targets) under all alignments: log_probs (time, batch, classes) or (time, classes); targets (batch, length) or one after the other."""
def dropout(input: _Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> _Tensor:
    """Each element is 0 with probability p, else scaled by 1 / (1 - p) (in training; otherwise the input itself)."""
def dropout1d(input: _Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> _Tensor:
    """Whole channels of (batch, channels, length) or (channels, length) are dropped."""
def dropout2d(input: _Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> _Tensor:
    """Whole channels of (batch, channels, height, width) are dropped."""
def dropout3d(input: _Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> _Tensor:
    """Whole channels of (batch, channels, depth, height, width) or (channels, depth, height, width) are dropped."""
def elu(input: _Tensor, alpha: _float = 1.0, inplace: _bool = False) -> _Tensor:
    """x where x > 0, else alpha (exp(x) - 1)."""
def elu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `elu`."""
def embedding(input: _Tensor, weight: _Tensor, padding_idx: _int | None = None, max_norm: _float | None = None, norm_type: _float = 2.0, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> _Tensor:
    """(*) row numbers -> (*, dim) rows of weight. The row `padding_idx` gets no gradient."""
def embedding_bag(input: _Tensor, weight: _Tensor, offsets: _Tensor | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: _str = 'mean', sparse: _bool = False, per_sample_weights: _Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> _Tensor:
    """Sums, means or maxima of bags of rows: input (bags, n), or flat with `offsets` where each bag begins."""
def feature_alpha_dropout(input: _Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> _Tensor:
    """alpha_dropout of whole channels."""
def fold(input: _Tensor, output_size: _Any, kernel_size: _Any, dilation: _Any = 1, padding: _Any = 0, stride: _Any = 1) -> _Tensor:
    """Columns (batch, channels * kernel, blocks) added back into (batch, channels, *output_size)."""
def fractional_max_pool2d(input: _Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: _Tensor | None = None) -> _Any:
    """Maxima of windows of ([N,] C, H, W) at pseudo-random places (Graham 2014) -> ([N,] C, *output_size), or sizes times `output_ratio`."""
def fractional_max_pool2d_with_indices(input: _Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: _Tensor | None = None) -> _tuple[_Tensor, _Tensor]:
    """`fractional_max_pool2d` with `return_indices`."""
def fractional_max_pool3d(input: _Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: _Tensor | None = None) -> _Any:
    """Maxima of windows of ([N,] C, D, H, W) at pseudo-random places. See `fractional_max_pool2d`."""
def fractional_max_pool3d_with_indices(input: _Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: _Tensor | None = None) -> _tuple[_Tensor, _Tensor]:
    """`fractional_max_pool3d` with `return_indices`."""
def gaussian_nll_loss(input: _Tensor, target: _Tensor, var: _Any, full: _bool = False, eps: _float = 1e-06, reduction: _str = 'mean') -> _Tensor:
    """(log var + (input - target)^2 / var) / 2, with var clamped to eps; plus log(2 pi) / 2 when `full`."""
def gelu(input: _Tensor, *, approximate: _str = 'none', out: _Tensor | None = None) -> _Tensor:
    """x Phi(x), Phi the normal distribution function; approximate="tanh" uses its tanh approximation."""
def glu(input: _Tensor, dim: _int = -1, *, out: _Tensor | None = None) -> _Tensor:
    """a sigmoid(b), a and b the halves of the input along `dim`."""
def grid_sample(input: _Tensor, grid: _Tensor, mode: _str = 'bilinear', padding_mode: _str = 'zeros', align_corners: _bool | None = None) -> _Tensor:
    """(batch, channels, *sizes) sampled at grid (batch, *out, n), whose last dimension holds places in [-1, 1], x first."""
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None = None, bias: _Tensor | None = None, eps: _float = 1e-05) -> _Tensor:
    """Mean 0 and variance 1 per sample and group of channels of (N, C, ...), then times weight, plus bias (C) (Wu and He 2018)."""
def grouped_mm(mat_a: _Tensor, mat_b: _Tensor, *, offs: _Tensor | None = None, bias: _Tensor | None = None, out_dtype: _Any = None) -> _Tensor:
    """Matrix products per group, where `offs` says at which row or column each group ends."""
def gumbel_softmax(logits: _Tensor, tau: _float = 1, hard: _bool = False, eps: _float = 1e-10, dim: _int = -1) -> _Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017); `hard` makes it one-hot with the soft gradient."""
def hardshrink(input: _Tensor, lambd: _float = 0.5, *, out: _Tensor | None = None) -> _Tensor:
    """x where |x| > lambd, else 0."""
def hardsigmoid(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """relu6(x + 3) / 6."""
def hardswish(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """x relu6(x + 3) / 6."""
def hardtanh(input: _Tensor, min_val: _float = -1.0, max_val: _float = 1.0, inplace: _bool = False) -> _Tensor:
    """x held within [min_val, max_val]."""
def hardtanh_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `hardtanh`."""
def hinge_embedding_loss(input: _Tensor, target: _Tensor, margin: _float = 1.0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
def huber_loss(input: _Tensor, target: _Tensor, reduction: _str = 'mean', delta: _float = 1.0, weight: _Tensor | None = None) -> _Tensor:
    """d^2 / 2 where d = |input - target| is at most delta, else delta (d - delta / 2)."""
def instance_norm(input: _Tensor, running_mean: _Tensor | None = None, running_var: _Tensor | None = None, weight: _Tensor | None = None, bias: _Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-05) -> _Tensor:
    """Mean 0 and variance 1 per sample and channel of (N, C, ...) (Ulyanov et al. 2016), or by running statistics. See `batch_norm`."""
def interpolate(input: _Tensor, size: _Any = None, scale_factor: _Any = None, mode: _str = 'nearest', align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None, antialias: _bool = False) -> _Tensor:
    """(N, C, *spatial) resized to `size`, or by `scale_factor` (a number, or one for every spatial dimension)."""
def kl_div(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', log_target: _bool = False) -> _Tensor:
    """target (log target - input): input holds log-probabilities, target probabilities (or their logs). "batchmean" divides by the batch size."""
def l1_loss(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', weight: _Tensor | None = None) -> _Tensor:
    """|input - target|."""
def layer_norm(input: _Tensor, normalized_shape: _Any, weight: _Tensor | None = None, bias: _Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = True) -> _Tensor:
    """Mean 0 and variance 1 over the last dimensions, whose sizes are `normalized_shape`, then times weight, plus bias (Ba et al. 2016)."""
def leaky_relu(input: _Tensor, negative_slope: _float = 0.01, inplace: _bool = False) -> _Tensor:
    """x where x > 0, else negative_slope x."""
def leaky_relu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `leaky_relu`."""
def linear(input: _Tensor, weight: _Tensor, bias: _Tensor | None = None, *, out: _Tensor | None = None) -> _Tensor:
    """`input @ weight^T + bias`: input (..., in), weight (out, in) or (in), bias (out) or () -> (..., out) or (...)."""
def linear_cross_entropy(input: _Tensor, linear_weight: _Tensor, target: _Tensor, *, linear_bias: _Tensor | None = None, weight: _Tensor | None = None, reduction: _str = 'mean', ignore_index: _int | None = None, label_smoothing: _float = 0.0, options: _Any = None) -> _Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target): weight (classes, *out, features)."""
def local_response_norm(input: _Tensor, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1.0) -> _Tensor:
    """x / (k + alpha mean(x^2 of `size` neighbouring channels))^beta (Krizhevsky et al. 2012), for (N, C, ...) of 3 or more dimensions."""
def log_softmax(input: _Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _Any = None) -> _Tensor:
    """log(softmax(x)) along `dim`."""
def logsigmoid(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """log(1 / (1 + exp(-x)))."""
def lp_pool1d(input: _Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> _Tensor:
    """The p-norms of windows of ([N,] C, L): (sum of x^p)^(1/p). Where all of a window is 0 the gradient is NaN for p != 1, as in PyTorch."""
def lp_pool2d(input: _Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> _Tensor:
    """The p-norms of windows of ([N,] C, H, W). See `lp_pool1d`."""
def lp_pool3d(input: _Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> _Tensor:
    """The p-norms of windows of ([N,] C, D, H, W). See `lp_pool1d`."""
def margin_ranking_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """max(0, -target (input1 - input2) + margin)."""
def max_pool1d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, L) -> ([N,] C, L'), with `return_indices` also their positions (int64)."""
def max_pool1d_with_indices(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`max_pool1d` with `return_indices`."""
def max_pool2d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, H, W), with `return_indices` also their flat positions in (H, W). See `max_pool1d`."""
def max_pool2d_with_indices(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`max_pool2d` with `return_indices`."""
def max_pool3d(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """The maxima of windows of ([N,] C, D, H, W), with `return_indices` also their flat positions in (D, H, W). See `max_pool1d`."""
def max_pool3d_with_indices(input: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _tuple[_Tensor, _Tensor]:
    """`max_pool3d` with `return_indices`."""
def max_unpool1d(input: _Tensor, indices: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> _Tensor:
    """Values put back where the maxima of `max_pool1d` were (its `indices`), zeros elsewhere: ([N,] C, L) -> ([N,] C, L')."""
def max_unpool2d(input: _Tensor, indices: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> _Tensor:
    """Values put back where the maxima of `max_pool2d` were, zeros elsewhere. See `max_unpool1d`."""
def max_unpool3d(input: _Tensor, indices: _Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> _Tensor:
    """Values put back where the maxima of `max_pool3d` were, zeros elsewhere. See `max_unpool1d`."""
def mish(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """x tanh(softplus(x))."""
def mse_loss(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', weight: _Tensor | None = None) -> _Tensor:
    """(input - target)^2."""
def multi_head_attention_forward(query: _Tensor, key: _Tensor, value: _Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: _Tensor | None, in_proj_bias: _Tensor | None, bias_k: _Tensor | None, bias_v: _Tensor | None, add_zero_attn: _bool, dropout_p: _float, out_proj_weight: _Tensor, out_proj_bias: _Tensor | None, training: _bool = True, key_padding_mask: _Tensor | None = None, need_weights: _bool = True, attn_mask: _Tensor | None = None, use_separate_proj_weight: _bool = False, q_proj_weight: _Tensor | None = None, k_proj_weight: _Tensor | None = None, v_proj_weight: _Tensor | None = None, static_k: _Tensor | None = None, static_v: _Tensor | None = None, average_attn_weights: _bool = True, is_causal: _bool = False) -> _tuple[_Tensor, _Tensor | None]:
    """(output, weights): query (L, batch, E), key and value (S, batch, .), or without batch. Masks: True (or -inf) takes no part."""
def multi_margin_loss(input: _Tensor, target: _Tensor, p: _int = 1, margin: _float = 1.0, weight: _Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """sum over other classes of max(0, margin - x[target] + x[class])^p, divided by the number of classes."""
def multilabel_margin_loss(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """sum over target classes (up to the first -1) and other classes of max(0, 1 - x[target] + x[other]), over the number of classes."""
def multilabel_soft_margin_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """Binary cross entropy with logits, averaged over the classes (last dimension)."""
def native_channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """The channels of (N, C, ...) in `groups` groups, dealt out in turn: channel i of group g comes to place i * groups + g."""
def nll_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None = None, size_average: _Any = None, ignore_index: _int = -100, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """-weight[target] input[target] for log-probabilities (batch, classes, *) or (classes) and class numbers (batch, *) or ()."""
def normalize(input: _Tensor, p: _float = 2.0, dim: _Any = 1, eps: _float = 1e-12, out: _Tensor | None = None) -> _Tensor:
    """x / max(p-norm of x along dim, eps)."""
def one_hot(tensor: _Tensor, num_classes: _int = -1) -> _Tensor:
    """(*) class numbers -> (*, classes) int64 with a single 1 each."""
def pad(input: _Tensor, pad: _Sequence[_int], mode: _str = 'constant', value: _float | None = None) -> _Tensor:
    """The last dimensions padded: `pad` is (before, after) of the last one, then of the one before it, ...; negative numbers crop."""
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False) -> _Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
def pdist(input: _Tensor, p: _float = 2.0) -> _Tensor:
    """The p-norm distances between all pairs of rows of a matrix (N, M), in the order (0, 1), (0, 2), ..., (1, 2), ..."""
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> _Tensor:
    """(*, C r^2, H, W) -> (*, C, H r, W r): every r^2 channels become the pixels of an r x r block. RuntimeError where they do not divide."""
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> _Tensor:
    """(*, C, H r, W r) -> (*, C r^2, H, W): the inverse of `pixel_shuffle`."""
def poisson_nll_loss(input: _Tensor, target: _Tensor, log_input: _bool = True, full: _bool = False, size_average: _Any = None, eps: _float = 1e-08, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """exp(input) - target input (or input - target log(input + eps)), with Stirling's term for targets above 1 when `full`."""
def prelu(input: _Tensor, weight: _Tensor) -> _Tensor:
    """x where x > 0, else weight x; one weight, or one per channel (dimension 1)."""
def relu(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """max(x, 0)."""
def relu6(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """min(max(x, 0), 6)."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place `relu`."""
def rms_norm(input: _Tensor, normalized_shape: _Any, weight: _Tensor | None = None, eps: _float | None = None) -> _Tensor:
    """x / sqrt(mean(x^2) + eps) over the last dimensions, then times weight (Zhang and Sennrich 2019). eps None: the dtype's epsilon."""
def rrelu(input: _Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False) -> _Tensor:
    """Leaky ReLU with slopes drawn from [lower, upper] in training, their mean otherwise."""
def rrelu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `rrelu`."""
def scaled_dot_product_attention(query: _Tensor, key: _Tensor, value: _Tensor, attn_mask: _Tensor | None = None, dropout_p: _float = 0.0, is_causal: _bool = False, scale: _float | None = None, enable_gqa: _bool = False) -> _Tensor:
    """softmax(query key^T scale + mask) value: (..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev)."""
def selu(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """scale (max(0, x) + min(0, alpha (exp(x) - 1)))."""
def selu_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `selu`."""
def sigmoid(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor:
    """1 / (1 + exp(-x))."""
def silu(input: _Tensor, inplace: _bool = False) -> _Tensor:
    """x sigmoid(x)."""
def smooth_l1_loss(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', beta: _float = 1.0) -> _Tensor:
    """d^2 / (2 beta) where d = |input - target| is below beta, else d - beta / 2."""
def soft_margin_loss(input: _Tensor, target: _Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """log(1 + exp(-target input)) for targets of +-1."""
def softmax(input: _Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _Any = None) -> _Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
def softmin(input: _Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _Any = None) -> _Tensor:
    """softmax(-x) along `dim`."""
def softplus(input: _Tensor, beta: _float = 1.0, threshold: _float = 20.0, *, out: _Tensor | None = None) -> _Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""
def softshrink(input: _Tensor, lambd: _float = 0.5, *, out: _Tensor | None = None) -> _Tensor:
    """x moved towards 0 by lambd, 0 where |x| <= lambd (nan stays nan)."""
def softsign(input: _Tensor) -> _Tensor:
    """x / (1 + |x|)."""
def tanhshrink(input: _Tensor) -> _Tensor:
    """x - tanh(x)."""
def threshold(input: _Tensor, threshold: _float, value: _float, inplace: _bool = False) -> _Tensor:
    """x where x > threshold, else value."""
def threshold_(input: _Tensor, *args: _Any, **kwargs: _Any) -> _Tensor:
    """In-place `threshold`."""
def triplet_margin_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, margin: _float = 1.0, p: _float = 2, eps: _float = 1e-06, swap: _bool = False, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> _Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) with p-norm distances; `swap` also considers d(positive, negative)."""
def triplet_margin_with_distance_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, *, distance_function: _Any = None, margin: _float = 1.0, swap: _bool = False, reduction: _str = 'mean') -> _Tensor:
    """The triplet loss with a distance of the caller's (default: the Euclidean one)."""
def unfold(input: _Tensor, kernel_size: _Any, dilation: _Any = 1, padding: _Any = 0, stride: _Any = 1) -> _Tensor:
    """Sliding blocks of (batch, channels, h, w) as columns: (batch, channels * kernel, blocks)."""
def upsample(input: _Tensor, size: _Any = None, scale_factor: _Any = None, mode: _str = 'nearest', align_corners: _bool | None = None) -> _Tensor:
    """The old name of `interpolate`."""
def upsample_bilinear(input: _Tensor, size: _Any = None, scale_factor: _Any = None) -> _Tensor:
    """`interpolate` with mode "bilinear" and aligned corners."""
def upsample_nearest(input: _Tensor, size: _Any = None, scale_factor: _Any = None) -> _Tensor:
    """`interpolate` with mode "nearest"."""
