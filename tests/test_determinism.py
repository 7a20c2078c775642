"""The bits of every result are the same for any number of threads: values and gradients of the whole set of ops, and a training."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import saraph as torch
from saraph import nn
from saraph.cli.demo import Net
from saraph.nn import functional as F

THREADS = (1, 2, 3, 7)
CASES: list[Any] = []
PLANE = (311, 331)  # odd, and several blocks of every kernel


@pytest.fixture(autouse=True)
def _same_afterwards() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Operand:
    """What an input is made of: the same values on every run, where no two inputs of a call are alike."""

    def __init__(self, shape: tuple[int, ...], kind: str = "float32", below: int = 0, scale: float = 2.0, positive: bool = False) -> None:
        self.shape, self.kind, self.below, self.scale, self.positive = shape, kind, below, scale, positive

    def values(self, seed: int) -> torch.Tensor:
        """A leaf tensor, which needs a gradient where it can have one."""
        generator = np.random.default_rng(seed)
        if self.kind == "bool":
            return torch.tensor(generator.random(self.shape) < 0.5)
        if self.kind.startswith(("int", "uint")):
            low = 0 if self.below else 1
            return torch.tensor(generator.integers(low, self.below or 100, self.shape)).to(getattr(torch, self.kind))
        numbers = generator.standard_normal(self.shape) * self.scale
        if self.kind == "complex64":
            numbers = numbers + 1j * generator.standard_normal(self.shape)
        tensor = torch.tensor(np.abs(numbers) + 0.1 if self.positive else numbers).to(getattr(torch, self.kind))
        return tensor.requires_grad_()


def real(*shape: int, kind: str = "float32", scale: float = 2.0) -> Operand:
    """Normal numbers."""
    return Operand(shape, kind, scale=scale)


def positive(*shape: int, kind: str = "float32") -> Operand:
    """Numbers above 0.1."""
    return Operand(shape, kind, positive=True)


def whole(*shape: int, below: int = 0, kind: str = "int64") -> Operand:
    """Integers: from 0 to `below`, or from 1 to 100."""
    return Operand(shape, kind, below)


def mask(*shape: int) -> Operand:
    """True or False."""
    return Operand(shape, "bool")


def case(name: str, function: Callable[..., Any], *operands: Operand) -> None:
    """One more row of the table."""
    CASES.append(pytest.param(function, operands, id=f"{len(CASES)}-{name}"))


def bits(tensor: torch.Tensor) -> bytes:
    """The bytes of a tensor."""
    tensor = tensor.detach().resolve_conj().contiguous()
    return str((tensor.dtype, tuple(tensor.shape))).encode() + (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().tobytes()


def tensors(result: Any) -> list[torch.Tensor]:
    """The tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result for tensor in tensors(part)] if isinstance(result, (tuple, list)) else []


def everything(function: Callable[..., Any], operands: tuple[Operand, ...]) -> list[bytes]:
    """The bytes of all results and of all gradients of a call."""
    torch.manual_seed(7)
    inputs = [operand.values(11 + k) for k, operand in enumerate(operands)]
    outputs = tensors(function(*inputs))
    leaves = [x for x in inputs if x.requires_grad]
    reached = [y for y in outputs if y.requires_grad]
    found = [bits(y) for y in outputs]
    if leaves and reached:
        weights = [Operand(tuple(y.shape), str(y.dtype).partition(".")[2], scale=1.0).values(97 + k).detach() for k, y in enumerate(reached)]
        found += [bits(g) for g in torch.autograd.grad(reached, leaves, weights, allow_unused=True) if g is not None]
    assert found
    return found


# -- pointwise -------------------------------------------------------------------------------------------------------------------------------

for _name in ("abs acos acosh angle asin asinh atan atanh ceil clone cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac i0 isfinite isnan "
              "lgamma log log10 log1p log2 logical_not logit nan_to_num neg positive rad2deg reciprocal relu round rsqrt selu sgn sigmoid sign signbit sin "
              "sinc sinh sqrt square tan tanh trunc").split():
    for _kind in ("float32", "float64"):
        case(f"{_name}-{_kind}", getattr(torch, _name), real(*PLANE, kind=_kind))
for _name in "exp tanh sigmoid erf relu sqrt log neg".split():
    for _kind in ("float16", "bfloat16"):
        case(f"{_name}-{_kind}", getattr(torch, _name), real(*PLANE, kind=_kind))
for _name in ("celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish "
              "relu6 silu softplus softshrink softsign tanhshrink glu").split():
    case(_name, getattr(F, _name), real(317, 320))
for _name in "i0e i1 i1e erfcx entr ndtri log_ndtr".split():
    case(_name, getattr(torch.special, _name), real(101, 307))
for _name in ("add sub mul div atan2 copysign fmax fmin fmod hypot logaddexp logaddexp2 "
              "maximum minimum remainder pow xlogy floor_divide eq ge gt le lt ne").split():
    case(f"{_name}-same", getattr(torch, _name), real(*PLANE), real(*PLANE))
    case(f"{_name}-broadcast", getattr(torch, _name), real(41, 53, 59), positive(53, 1))
for _name in "bitwise_and bitwise_or bitwise_xor gcd lcm add mul floor_divide remainder".split():
    case(f"{_name}-integers", getattr(torch, _name), whole(*PLANE), whole(*PLANE))
for _name in "cos exp mul".split():
    case(f"{_name}-complex", (lambda f: lambda x, y: f(x, y) if f is torch.mul else f(x + y))(getattr(torch, _name)),
         real(*PLANE, kind="complex64"), real(*PLANE, kind="complex64"))
case("transposed", lambda x, y: torch.exp(x.t()) * y, real(*PLANE), real(*PLANE[::-1]))
case("strided", lambda x: torch.tanh(x[::2, 1::3]), real(701, 997))
case("flipped", lambda x: torch.sin(x.flip(0)) + x, real(*PLANE))
case("where", torch.where, mask(*PLANE), real(*PLANE), real(*PLANE))
case("masked_fill", lambda x, m: x.masked_fill(m, -1.0), real(*PLANE), mask(*PLANE))
case("clamp", lambda x: x.clamp(-1, 0.5), real(*PLANE))
case("lerp", torch.lerp, real(*PLANE), real(*PLANE), real(*PLANE))
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.3), real(*PLANE), real(*PLANE), real(*PLANE))
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.3), real(*PLANE), real(*PLANE), positive(*PLANE))
case("prelu", F.prelu, real(17, 23, 301), real(23))
case("chain", lambda x, y, z: ((x * y + z).tanh() * x).sigmoid(), real(*PLANE), real(*PLANE), real(PLANE[1]))

# -- reductions and scans ----------------------------------------------------------------------------------------------------------------------

DIMENSIONS: tuple[Any, ...] = (None, 0, 1, 2, (0, 1), (1, 2), (0, 2))
for _name in "sum mean amax amin var std logsumexp norm count_nonzero".split():
    for _dim in DIMENSIONS:
        def _reduce(x: Any, f: Any = getattr(torch, _name), dim: Any = _dim) -> Any:
            return f(x, dim=tuple(range(x.ndim)) if dim is None and f is torch.logsumexp else dim)
        case(f"{_name}-{_dim}", _reduce, real(61, 47, 53))
        if _name in ("sum", "mean", "var"):
            case(f"{_name}-{_dim}-float64", _reduce, real(61, 47, 53, kind="float64"))
            case(f"{_name}-{_dim}-bfloat16", _reduce, real(61, 47, 53, kind="bfloat16"))
            case(f"{_name}-{_dim}-transposed", lambda x, f=_reduce: f(x.transpose(0, 2)), real(61, 47, 53))
for _name in "prod argmax argmin max min median nansum all any mode cumsum cumprod cummax cummin logcumsumexp sort softmax log_softmax".split():
    for _dim in (0, 1, 2):
        def _along(x: Any, f: Any = getattr(torch, _name), dim: int = _dim) -> Any:
            return f(x > 0, dim=dim) if f in (torch.all, torch.any) else f(x, dim=dim)
        case(f"{_name}-{_dim}", _along, real(61, 47, 53, scale=0.5))
for _dim in (0, 1):
    case(f"long-sum-{_dim}", lambda x, dim=_dim: x.sum(dim), real(3, 100_003) if _dim else real(100_003, 3))
    case(f"long-softmax-{_dim}", lambda x, dim=_dim: x.softmax(dim), real(3, 100_003) if _dim else real(100_003, 3))
    case(f"long-cumsum-{_dim}", lambda x, dim=_dim: x.cumsum(dim), real(3, 100_003) if _dim else real(100_003, 3))
for _order in (0, 1, 2, 3.5, float("inf")):
    case(f"vector_norm-{_order}", lambda x, order=_order: torch.linalg.vector_norm(x, order), real(*PLANE))
case("integer-sum", lambda x: (x.sum(), x.sum(0), x.sum(1), x.prod(1)), whole(*PLANE))
case("total", lambda x: (x.max(), x.min(), x.argmax(), x.argmin(), x.median()), real(*PLANE))
case("var_mean", lambda x: torch.var_mean(x, dim=1), real(*PLANE))
case("quantile", lambda x: torch.quantile(x, 0.3, dim=0), real(*PLANE))
for _dim in (None, 0, 1):
    case(f"unique_consecutive-{_dim}", lambda x, dim=_dim: torch.unique_consecutive(x.detach().round(), return_counts=True, dim=dim), real(*PLANE))
case("histc", lambda x: torch.histc(x, 40, -3, 3), real(*PLANE))
case("bincount", lambda x: torch.bincount(x.flatten()), whole(*PLANE))
case("cov", lambda x: torch.cov(x), real(41, 2003))

# -- sorting, indexing, movement ---------------------------------------------------------------------------------------------------------------

for _kind in ("float32", "float64", "int64", "int32"):
    _make = Operand(PLANE, _kind, below=50 if "int" in _kind else 0)
    for _dim in (0, 1):
        case(f"sort-{_kind}-{_dim}", lambda x, dim=_dim: torch.sort(x, dim, stable=True), _make)
        case(f"argsort-down-{_kind}-{_dim}", lambda x, dim=_dim: torch.argsort(x, dim, descending=True), _make)
        case(f"topk-{_kind}-{_dim}", lambda x, dim=_dim: torch.topk(x, 7, dim), _make)
        case(f"kthvalue-{_kind}-{_dim}", lambda x, dim=_dim: torch.kthvalue(x, 9, dim), _make)
    case(f"sort-flat-{_kind}", lambda x: torch.sort(x.flatten()), _make)
    case(f"unique-{_kind}", lambda x: torch.unique(x.detach(), return_inverse=True, return_counts=True), _make)
case("searchsorted", lambda x, y: torch.searchsorted(x.detach().sort(1).values, y.detach()), real(*PLANE), real(*PLANE))
for _dim in (0, 1):
    case(f"gather-{_dim}", lambda x, i, dim=_dim: x.gather(dim, i), real(*PLANE), whole(300, 320, below=300))
    case(f"scatter-{_dim}", lambda x, i, y, dim=_dim: x.scatter(dim, i, y), real(*PLANE), whole(*PLANE, below=300), real(*PLANE))
    case(f"scatter_add-{_dim}", lambda x, i, y, dim=_dim: x.scatter_add(dim, i, y), real(*PLANE), whole(*PLANE, below=300), real(*PLANE))
    case(f"index_select-{_dim}", lambda x, i, dim=_dim: x.index_select(dim, i), real(*PLANE), whole(1001, below=300))
    case(f"index_add-{_dim}", lambda x, i, y, dim=_dim: x.index_add(dim, i, y if dim == 0 else y.t()), real(*PLANE),
         whole(1001, below=300), real(1001, PLANE[1 - _dim]))
    case(f"index_copy-{_dim}", lambda x, i, y, dim=_dim: x.index_copy(dim, i, y if dim == 0 else y.t()), real(*PLANE),
         whole(1001, below=300), real(1001, PLANE[1 - _dim]))
for _way in ("sum", "prod", "mean", "amax", "amin"):
    case(f"scatter_reduce-{_way}", lambda x, i, y, way=_way: x.scatter_reduce(0, i, y, way), real(*PLANE), whole(*PLANE, below=300), real(*PLANE))
case("index", lambda x, i: x[i], real(*PLANE), whole(2001, below=300))
case("index-pair", lambda x, i, j: x[i, j], real(*PLANE), whole(70_001, below=300), whole(70_001, below=300))
case("index-rows-of-3d", lambda x, i: x[:, i], real(37, 51, 61), whole(101, below=50))
case("index_put", lambda x, i, y: torch.index_put(x, (i,), y, accumulate=True), real(*PLANE), whole(2001, below=300), real(2001, PLANE[1]))
case("masked_select", lambda x, m: x[m], real(*PLANE), mask(*PLANE))
case("masked_scatter", lambda x, m, y: x.masked_scatter(m, y), real(*PLANE), mask(*PLANE), real(*PLANE))
case("nonzero", lambda m: m.nonzero(), mask(*PLANE))
case("take", lambda x, i: torch.take(x, i), real(*PLANE), whole(70_001, below=90_000))
case("embedding", lambda i, w: F.embedding(i, w), whole(67, 211, below=500), real(500, 65))
case("embedding-padding", lambda i, w: F.embedding(i, w, padding_idx=3), whole(67, 211, below=10), real(10, 65))
for _mode in ("sum", "mean", "max"):
    case(f"embedding_bag-{_mode}", lambda i, w, mode=_mode: F.embedding_bag(i, w, mode=mode), whole(503, 21, below=500), real(500, 65))
for _dim in (0, 1, 2):
    case(f"cat-{_dim}", lambda x, y, dim=_dim: torch.cat([x, y, x], dim), real(41, 43, 47), real(41, 43, 47))
    case(f"stack-{_dim}", lambda x, y, dim=_dim: torch.stack([x, y, x], dim), real(41, 43, 47), real(41, 43, 47))
    case(f"flip-{_dim}", lambda x, dim=_dim: x.flip(dim), real(41, 43, 47))
    case(f"roll-{_dim}", lambda x, dim=_dim: x.roll(7, dim), real(41, 43, 47))
    case(f"split-{_dim}", lambda x, dim=_dim: [part.contiguous() for part in x.split(13, dim)], real(41, 43, 47))
for _order in ((2, 1, 0), (0, 2, 1), (1, 0, 2), (2, 0, 1)):
    case(f"permute-{_order}", lambda x, order=_order: x.permute(order).contiguous(), real(61, 47, 53))
for _mode in ("constant", "reflect", "replicate", "circular"):
    case(f"pad-{_mode}", lambda x, mode=_mode: F.pad(x, (3, 2, 1, 4), mode=mode), real(5, 7, 61, 47))
for _kind in ("float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool"):
    case(f"cast-{_kind}", lambda x, kind=_kind: x.to(getattr(torch, kind)), real(*PLANE))
for _kind in ("float16", "bfloat16", "int32", "int64", "uint8"):
    case(f"cast-from-{_kind}", lambda x: x.to(torch.float32) * 0.1, Operand(PLANE, _kind))
case("tril", lambda x: (x.tril(), x.triu(2)), real(3, *PLANE))
case("repeat", lambda x: x.repeat(3, 2), real(*PLANE))
case("repeat_interleave", lambda x: x.repeat_interleave(3, 0), real(*PLANE))
case("unfold", lambda x: x.unfold(1, 20, 7).contiguous(), real(*PLANE))
case("copy", lambda x, y: x.detach().clone().t().copy_(y.detach()), real(*PLANE), real(*PLANE[::-1]))
case("fill", lambda x: torch.full_like(x, 2.5), real(*PLANE))

# -- products ------------------------------------------------------------------------------------------------------------------------------------

for _kind in ("float32", "float64", "bfloat16", "float16"):
    for _m, _k, _n in ((257, 131, 203), (1, 1009, 703), (703, 1009, 1), (5, 4099, 7), (67, 3, 501)):
        for _turn in range(4):
            case(f"matmul-{_kind}-{_m}x{_k}x{_n}-{_turn}", lambda x, y, turn=_turn: (x.t() if turn & 1 else x) @ (y.t() if turn & 2 else y),
                 real(*((_k, _m) if _turn & 1 else (_m, _k)), kind=_kind), real(*((_n, _k) if _turn & 2 else (_k, _n)), kind=_kind))
    case(f"linear-{_kind}", F.linear, real(131, 7, 257, kind=_kind), real(301, 257, kind=_kind), real(301, kind=_kind))
    case(f"bmm-{_kind}", torch.bmm, real(13, 67, 129, kind=_kind), real(13, 129, 71, kind=_kind))
    case(f"small-bmm-{_kind}", torch.bmm, real(501, 5, 9, kind=_kind), real(501, 9, 7, kind=_kind))
    case(f"mv-{_kind}", torch.mv, real(*PLANE, kind=_kind), real(PLANE[1], kind=_kind))
case("addmm", lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2.0), real(203), real(257, 131), real(131, 203))
case("baddbmm", torch.baddbmm, real(13, 67, 71), real(13, 67, 129), real(13, 129, 71))
case("dot", torch.dot, real(100_003), real(100_003))
case("outer", torch.outer, real(311), real(331))
case("einsum", lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y), real(3, 5, 61, 33), real(3, 5, 67, 33))
case("einsum-chain", lambda x, y, z: torch.einsum("ij,jk,kl->il", x, y, z), real(61, 203), real(203, 103), real(103, 57))
case("tensordot", lambda x, y: torch.tensordot(x, y, ([1, 2], [0, 1])), real(41, 13, 31), real(13, 31, 67))
case("integer-matmul", torch.matmul, whole(61, 67), whole(67, 71))
case("complex-matmul", torch.matmul, real(61, 67, kind="complex64"), real(67, 71, kind="complex64"))
case("bilinear", F.bilinear, real(301, 13), real(301, 17), real(19, 13, 17), real(19))
case("cdist", torch.cdist, real(3, 101, 23), real(3, 97, 23))
for _name in "inv det cholesky qr svdvals eigvalsh".split():
    case(f"linalg-{_name}", lambda x, f=getattr(torch.linalg, _name): f(x @ x.mT + 41 * torch.eye(41)), real(5, 41, 41, scale=0.3))
case("fft", lambda x: torch.view_as_real(torch.fft.fft2(x)), real(7, 61, 67))

# -- convolution, pooling, resizing --------------------------------------------------------------------------------------------------------------


def convolution(function: Callable[..., Any], last: bool, **options: Any) -> Callable[..., Any]:
    """A convolution, of channels_last input if asked."""
    if not last:
        return lambda x, w, b: function(x, w, b, **options)
    order = torch.channels_last if function in (F.conv2d, F.conv_transpose2d) else torch.channels_last_3d
    return lambda x, w, b: function(x.contiguous(memory_format=order), w, b, **options)


for _kind in ("float32", "float64", "bfloat16"):
    for _label, _options, _input, _weight in (
            ("3x3", {"padding": 1}, (5, 19, 29, 31), (33, 19, 3, 3)),
            ("3x3-wide", {"padding": 1}, (3, 64, 28, 28), (64, 64, 3, 3)),
            ("stem", {"stride": 2, "padding": 3}, (3, 3, 63, 65), (33, 3, 7, 7)),
            ("1x1", {}, (5, 67, 23, 21), (35, 67, 1, 1)),
            ("stride", {"stride": (2, 3), "padding": 1}, (5, 19, 29, 31), (33, 19, 3, 3)),
            ("dilated", {"dilation": 2}, (5, 19, 29, 31), (33, 19, 3, 3)),
            ("groups", {"groups": 3, "padding": 1}, (5, 21, 29, 31), (33, 7, 3, 3)),
            ("depthwise", {"groups": 35, "padding": 1}, (5, 35, 29, 31), (35, 1, 3, 3)),
            ("few", {"padding": 1}, (37, 1, 28, 28), (32, 1, 3, 3))):
        for _last in (False, True):
            if _kind == "float32" or not _last:
                case(f"conv2d-{_label}-{_kind}-{'last' if _last else 'first'}", convolution(F.conv2d, _last, **_options),
                     real(*_input, kind=_kind), real(*_weight, kind=_kind), real(_weight[0], kind=_kind))
    case(f"conv1d-{_kind}", convolution(F.conv1d, False, padding=2), real(7, 21, 301, kind=_kind), real(33, 21, 5, kind=_kind), real(33, kind=_kind))
    case(f"conv3d-{_kind}", convolution(F.conv3d, False, padding=1), real(2, 7, 13, 15, 17, kind=_kind), real(9, 7, 3, 3, 3, kind=_kind), real(9, kind=_kind))
    case(f"conv_transpose2d-{_kind}", convolution(F.conv_transpose2d, False, stride=2, padding=1, output_padding=1),
         real(3, 21, 15, 17, kind=_kind), real(21, 19, 3, 3, kind=_kind), real(19, kind=_kind))
case("conv_transpose1d", convolution(F.conv_transpose1d, False, stride=3), real(5, 21, 101), real(21, 19, 4), real(19))
case("conv_transpose3d", convolution(F.conv_transpose3d, False, stride=2), real(2, 7, 7, 9, 11), real(7, 9, 3, 3, 3), real(9))
for _rank, _shape in ((1, (5, 13, 2001)), (2, (5, 13, 61, 47)), (3, (2, 5, 17, 23, 29))):
    for _name in ("max_pool", "avg_pool"):
        case(f"{_name}{_rank}d", lambda x, f=getattr(F, f"{_name}{_rank}d"): f(x, 3, 2, 1), real(*_shape))
    for _name in ("adaptive_avg_pool", "adaptive_max_pool"):
        case(f"{_name}{_rank}d", lambda x, f=getattr(F, f"{_name}{_rank}d"): f(x, 7), real(*_shape))
    case(f"lp_pool{_rank}d", lambda x, f=getattr(F, f"lp_pool{_rank}d"): f(x, 2.0, 3), positive(*_shape))
    for _mode in ("nearest", "nearest-exact", ("linear", "bilinear", "trilinear")[_rank - 1], *(("bicubic",) if _rank == 2 else ())):
        case(f"interpolate-{_rank}-{_mode}", lambda x, mode=_mode: F.interpolate(x, scale_factor=1.7, mode=mode), real(*_shape))
case("max_pool-indices", lambda x: F.max_pool2d(x, 2, return_indices=True), real(5, 13, 62, 48))
case("max_pool-last", lambda x: F.max_pool2d(x.contiguous(memory_format=torch.channels_last), 3, 2, 1), real(5, 13, 61, 47))
case("max_unpool", lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), real(5, 13, 62, 48))
case("antialias", lambda x: F.interpolate(x, size=(31, 29), mode="bilinear", antialias=True), real(5, 3, 101, 97))
case("grid_sample", lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), real(3, 7, 41, 43), real(3, 53, 51, 2))
case("unfold-fold", lambda x: F.fold(F.unfold(x, 3, padding=1), (31, 33), 3, padding=1), real(5, 7, 31, 33))
case("pixel_shuffle", lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), real(5, 20, 31, 33))

# -- normalisation, attention, recurrent layers, losses --------------------------------------------------------------------------------------------

for _kind in ("float32", "float64", "bfloat16"):
    case(f"layer_norm-{_kind}", lambda x, w, b: F.layer_norm(x, (259,), w, b), real(31, 23, 259, kind=_kind), real(259, kind=_kind), real(259, kind=_kind))
    case(f"rms_norm-{_kind}", lambda x, w: F.rms_norm(x, (259,), w), real(31, 23, 259, kind=_kind), real(259, kind=_kind))
    case(f"group_norm-{_kind}", lambda x, w, b: F.group_norm(x, 5, w, b), real(7, 35, 23, 29, kind=_kind), real(35, kind=_kind), real(35, kind=_kind))
    for _training in (True, False):
        case(f"batch_norm-{_kind}-{_training}",
             lambda x, w, b, training=_training: F.batch_norm(x, torch.zeros(35, dtype=w.dtype), torch.ones(35, dtype=w.dtype), w, b, training=training),
             real(7, 35, 23, 29, kind=_kind), *(real(35, kind="float32" if _kind == "bfloat16" else _kind) for _ in range(2)))
    case(f"instance_norm-{_kind}", lambda x: F.instance_norm(x), real(7, 35, 23, 29, kind=_kind))
    for _causal in (False, True):
        case(f"attention-{_kind}-{_causal}", lambda q, k, v, causal=_causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
             *(real(2, 5, 133, 32, kind=_kind) for _ in range(3)))
    case(f"attention-mask-{_kind}", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m | (torch.arange(141) == 0)),
         real(2, 5, 133, 32, kind=_kind), real(2, 5, 141, 32, kind=_kind), real(2, 5, 141, 24, kind=_kind), mask(133, 141))
case("batch_norm-last", lambda x, w, b: F.batch_norm(x.contiguous(memory_format=torch.channels_last), None, None, w, b, training=True),
     real(7, 35, 23, 29), real(35), real(35))
case("batch_norm-rows", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), real(1003, 67), real(67), real(67))
case("attention-bias", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
     real(2, 3, 133, 32), real(2, 3, 141, 32), real(2, 3, 141, 24), real(1, 3, 133, 141))
case("attention-groups", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
     real(2, 6, 133, 32), real(2, 2, 141, 32), real(2, 2, 141, 32))
case("attention-decode", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), real(1, 12, 1, 64), real(1, 12, 1001, 64), real(1, 12, 1001, 64))
case("attention-long", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
     real(1, 2, 701, 64), real(1, 2, 701, 64), real(1, 2, 701, 64))
case("local_response_norm", lambda x: F.local_response_norm(x, 5), real(3, 13, 31, 33))
case("normalize", lambda x: F.normalize(x, dim=1), real(*PLANE))
case("cosine_similarity", lambda x, y: F.cosine_similarity(x, y, dim=1), real(*PLANE), real(*PLANE))


def layer(make: Callable[[], nn.Module], call: Callable[[nn.Module, Any], Any] | None = None) -> Callable[[torch.Tensor], Any]:
    """The outputs of a layer, and the gradients of its weights."""
    def run(x: torch.Tensor) -> Any:
        module = make()
        outputs = [y for y in tensors(call(module, x) if call else module(x)) if y.requires_grad]
        return outputs, torch.autograd.grad([y.square().sum() for y in outputs], list(module.parameters()), retain_graph=True, allow_unused=True)
    return run


for _kind in (nn.RNN, nn.LSTM, nn.GRU):
    for _both in (False, True):
        case(f"{_kind.__name__}-{_both}", layer(lambda kind=_kind, both=_both: kind(37, 67, 2, bidirectional=both)), real(23, 37, 37))
    case(f"{_kind.__name__}-float64", layer(lambda kind=_kind: kind(37, 67, batch_first=True).double()), real(17, 23, 37, kind="float64"))
case("LSTM-projection", layer(lambda: nn.LSTM(37, 67, proj_size=31)), real(23, 17, 37))
case("MultiheadAttention", layer(lambda: nn.MultiheadAttention(60, 5, batch_first=True), lambda m, x: m(x, x, x)), real(7, 51, 60))
case("TransformerEncoderLayer", layer(lambda: nn.TransformerEncoderLayer(60, 5, 131, dropout=0.1, batch_first=True)), real(7, 51, 60))
case("dropout", lambda x: F.dropout(x, 0.3), real(*PLANE))
for _how in ("mean", "sum", "none"):
    for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "soft_margin_loss"):
        case(f"{_name}-{_how}", lambda x, y, f=getattr(F, _name), how=_how: f(x, y, reduction=how), real(*PLANE), positive(*PLANE))
    for _name in ("binary_cross_entropy_with_logits", "binary_cross_entropy", "poisson_nll_loss"):
        case(f"{_name}-{_how}", lambda x, y, f=getattr(F, _name), how=_how: f(x.sigmoid(), y.sigmoid(), reduction=how), real(*PLANE), real(*PLANE))
    case(f"cross_entropy-{_how}", lambda x, y, how=_how: F.cross_entropy(x, y, reduction=how), real(2003, 101), whole(2003, below=101))
    case(f"cross_entropy-smooth-{_how}", lambda x, y, w, how=_how: F.cross_entropy(x, y, w, label_smoothing=0.1, reduction=how),
         real(2003, 101), whole(2003, below=101), positive(101))
    case(f"nll_loss-{_how}", lambda x, y, how=_how: F.nll_loss(x.log_softmax(1), y, reduction=how), real(7, 11, 61, 37), whole(7, 61, 37, below=11))
case("cross_entropy-soft", lambda x, y: F.cross_entropy(x, y.softmax(1)), real(2003, 101), real(2003, 101))
case("ctc_loss", lambda x, y: F.ctc_loss(x.log_softmax(2), y + 1, torch.full((9,), 61), torch.full((9,), 13)), real(61, 9, 21), whole(9, 13, below=19))
case("triplet_margin_loss", F.triplet_margin_loss, real(1001, 67), real(1001, 67), real(1001, 67))

# -- random numbers and optimizers ---------------------------------------------------------------------------------------------------------------

for _name, _function in (
        ("rand", lambda: torch.rand(PLANE)), ("randn", lambda: torch.randn(PLANE)), ("randint", lambda: torch.randint(1000, PLANE)),
        ("randperm", lambda: torch.randperm(100_003)), ("rand64", lambda: torch.rand(PLANE, dtype=torch.float64)),
        ("randn64", lambda: torch.randn(PLANE, dtype=torch.float64)), ("bernoulli", lambda: torch.bernoulli(torch.full(PLANE, 0.3))),
        ("exponential", lambda: torch.empty(PLANE).exponential_()), ("geometric", lambda: torch.empty(PLANE).geometric_(0.2)),
        ("cauchy", lambda: torch.empty(PLANE).cauchy_()), ("log_normal", lambda: torch.empty(PLANE).log_normal_()),
        ("poisson", lambda: torch.poisson(torch.full(PLANE, 3.0))), ("multinomial", lambda: torch.multinomial(torch.ones(301, 40), 5)),
        ("uniform-bfloat16", lambda: torch.empty(PLANE, dtype=torch.bfloat16).uniform_()),
        ("trunc_normal", lambda: nn.init.trunc_normal_(torch.empty(PLANE))), ("kaiming", lambda: nn.init.kaiming_normal_(torch.empty(PLANE))),
        ("arange", lambda: torch.arange(100_003)), ("linspace", lambda: torch.linspace(0, 1, 100_003)), ("eye", lambda: torch.eye(*PLANE))):
    case(_name, _function)


def optimize(name: str, **options: Any) -> Callable[..., Any]:
    """What three steps of an optimizer make of a few parameters."""
    def run(*gradients: torch.Tensor) -> Any:
        parameters = [nn.Parameter(g.detach() * 0.5 + 1) for g in gradients]
        optimizer = getattr(torch.optim, name)(parameters, **options)
        for _ in range(3):
            for p, g in zip(parameters, gradients, strict=True):
                p.grad = g.detach().clone()
            torch.nn.utils.clip_grad_norm_(parameters, 100.0)
            optimizer.step()
        return [p.detach() for p in parameters]
    return run


for _name, _options in (("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("Adam", {}),
                        ("Adam", {"amsgrad": True}), ("AdamW", {}), ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("RMSprop", {"momentum": 0.5}),
                        ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {})):
    for _kind in ("float32", "float64"):
        case(f"{_name}-{_kind}", optimize(_name, **_options), real(*PLANE, kind=_kind), real(67, 33, 3, 3, kind=_kind), real(7, kind=_kind))


@pytest.mark.filterwarnings("ignore:reduction")  # PyTorch's advice about kl_div
@pytest.mark.parametrize("function, operands", CASES)
def test_bits_do_not_depend_on_threads(function: Callable[..., Any], operands: tuple[Operand, ...]) -> None:
    expected: list[bytes] = []
    for threads in THREADS:
        torch.set_num_threads(threads)
        found = everything(function, operands)
        expected = expected or found
        assert len(found) == len(expected)
        wrong = [k for k, (one, other) in enumerate(zip(expected, found, strict=True)) if one != other]
        assert not wrong, f"{threads} threads: results (then gradients) {wrong} differ"


def test_trainings_do_not_depend_on_threads() -> None:
    def train(threads: int) -> tuple[list[float], list[bytes]]:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        model, losses = Net(28), []
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(20):
            x, y = torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, [bits(p) for p in model.parameters()]

    expected = train(1)
    assert len(set(expected[0])) == 20
    for threads in THREADS[1:]:
        assert train(threads) == expected
