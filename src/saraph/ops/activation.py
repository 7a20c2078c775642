"""Activation functions. `inplace=True` writes the result over the input."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.backends import of
from saraph.kernels import RowKernel, log_softmax_rows, softmax_rows
from saraph.kernels.kernel import LARGE
from saraph.ops import promotion
from saraph.ops.inplace import update
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op, publish, register, standard_public
from saraph.shapes import wrap_dim
from saraph.tensor.fusing import Composite, fused
from saraph.tensor.node import derivative
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import PLAIN, Tensor, attach, record, unpack, wrap

ndarray = np.ndarray
FUNCTIONAL = "nn.functional"


def _floating(x: Tensor, name: str, kinds: str = "f") -> Tensor:
    """x, if it is a Tensor of a kind that the function takes: floating, with "c" also complex."""
    promotion.check_kind(name, check_tensor(x, name), kinds)
    return x


def _maybe_inplace(x: Tensor, inplace: bool, name: str, function: Any, *args: Any) -> Tensor:
    return update(x, name + "_", function, args, {}) if inplace else function(x, *args)


def _pointwise(x: Tensor, cls: Any, name: str, *args: Any, saved: bool = True) -> Tensor:
    """A primitive with numbers as its further arguments, which its formula finds as node.args."""
    return record(getattr(of(x._a), name)(x._a, *args), cls, (x,), (x,) if saved else (), args=args)


@derivative("ReluBackward0", saves_result=True)
@fused()
def ReluBackward(node: Any, g: Tensor) -> Tensor:
    (y,) = unpack(node)
    return g.masked_fill(y <= 0, 0)


def _relu(x: Tensor) -> Tensor:
    if check_tensor(x, "relu")._a.dtype.kind in "bc":
        if x._a.dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu")
        raise NotImplementedError("relu is not supported for complex types: they have no order")
    return record(of(x._a).relu(x._a), ReluBackward, (x,))


@op(namespaces=(FUNCTIONAL, "torch"), method=True)
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return _maybe_inplace(input, inplace, "relu", _relu)


@op(name="relu_", namespaces=(FUNCTIONAL, "torch"), method=True)
def relu_(input: Tensor) -> Tensor:
    """In-place `relu`."""
    return update(input, "relu_", _relu, (), {})


def _inplace_form(name: str, function: Any, namespaces: Any = (FUNCTIONAL, "torch")) -> None:
    def write(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return update(input, name + "_", function, args, kwargs)

    write.__name__ = write.__qualname__ = name + "_"
    write.__doc__ = f"In-place `{name}`."
    op(name=name + "_", namespaces=namespaces)(write)


@op(namespaces=FUNCTIONAL)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


@derivative("LeakyReluBackward0")
@fused("args")
def LeakyReluBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return (x > 0).where(g, g * node.args[0])


@op(namespaces=FUNCTIONAL)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, else negative_slope x."""
    return _maybe_inplace(input, inplace, "leaky_relu", lambda x: _pointwise(_floating(x, "leaky_relu"), LeakyReluBackward, "leaky_relu", negative_slope))


@derivative("EluBackward0")
@fused("args")
def EluBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    alpha, scale, slope = node.args
    return (x <= 0).where(g * (x * slope).exp() * (alpha * scale * slope), g * scale)


def _elu(x: Tensor, alpha: float, scale: float = 1.0, slope: float = 1.0) -> Tensor:
    return _pointwise(_floating(x, "elu"), EluBackward, "elu", float(alpha), float(scale), float(slope))


@op(namespaces=FUNCTIONAL)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, else alpha (exp(x) - 1)."""
    return _maybe_inplace(input, inplace, "elu", _elu, alpha)


@op(namespaces=(FUNCTIONAL, "torch"))
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _maybe_inplace(input, inplace, "celu", _elu, alpha, 1.0, 1.0 / alpha)


_SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)  # alpha, scale (Klambauer et al. 2017)


@op(namespaces=(FUNCTIONAL, "torch"))
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """scale (max(0, x) + min(0, alpha (exp(x) - 1)))."""
    return _maybe_inplace(input, inplace, "selu", _elu, *_SELU)


@derivative("GeluBackward0")
@fused("args")
def GeluBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    if node.args[0]:
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        t = inner.tanh()
        slope = (1 + x * x * (3 * 0.044715)) * math.sqrt(2 / math.pi)
        return g * ((1 + t) * 0.5 + x * 0.5 * (1 - t * t) * slope)
    return g * ((x * math.sqrt(0.5)).erf() * 0.5 + 0.5 + x * (x * x * -0.5).exp() * (1 / math.sqrt(2 * math.pi)))


@op(namespaces=FUNCTIONAL)
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """x Phi(x), Phi the normal distribution function; approximate="tanh" uses its tanh approximation."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _pointwise(_floating(input, "gelu"), GeluBackward, "gelu", approximate == "tanh")


@derivative("SiluBackward0")
@fused("args")
def SiluBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    s = x.sigmoid()
    return g * (s * (1 + x * (1 - s))).conj()


def _silu(x: Tensor) -> Tensor:
    return _pointwise(_floating(x, "silu", "fc"), SiluBackward, "silu")


@op(namespaces=FUNCTIONAL)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x sigmoid(x)."""
    return _maybe_inplace(input, inplace, "silu", _silu)


_mish_kernel = Composite("MishBackward0", lambda x: x * softplus(x).tanh())


def _mish(x: Tensor) -> Tensor:
    return _mish_kernel(_floating(x, "mish"))


@op(namespaces=FUNCTIONAL)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(softplus(x))."""
    return _maybe_inplace(input, inplace, "mish", _mish)


@derivative("SoftplusBackward0")
@fused("args")
def SoftplusBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    beta, threshold = node.args
    return (x * beta > threshold).where(g, g * (x * beta).sigmoid())


@op(namespaces=FUNCTIONAL)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""
    return _pointwise(_floating(input, "softplus"), SoftplusBackward, "softplus", float(beta), float(threshold))


_softsign = Composite("SoftsignBackward0", lambda x: x / (x.abs() + 1))
_tanhshrink = Composite("TanhshrinkBackward0", lambda x: x - x.tanh())


@op(namespaces=FUNCTIONAL)
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return _softsign(input)


@op(namespaces=FUNCTIONAL)
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return _tanhshrink(input)


@derivative("HardtanhBackward0")
@fused("args")
def HardtanhBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    low, high = node.args
    return g.masked_fill(~((x > low) & (x < high)), 0)


def _hardtanh(x: Tensor, low: float, high: float) -> Tensor:
    kind = check_tensor(x, "hardtanh")._a.dtype.kind
    if kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if kind == "c":
        raise NotImplementedError("clamp is not supported for complex types: hardtanh() compares with numbers")
    if kind == "u" and (low < 0 or high < 0):
        raise RuntimeError(f"cannot do hardtanh on an unsigned type with negative limits: got [{low}, {high}] for {x.dtype!r}")
    backend = of(x._a)
    a = backend.minimum(backend.maximum(x._a, backend.scalar(low, x._a.dtype)), backend.scalar(high, x._a.dtype))
    return record(a, HardtanhBackward, (x,), (x,), args=(low, high))


@op(namespaces=FUNCTIONAL)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x held within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _maybe_inplace(input, inplace, "hardtanh", _hardtanh, min_val, max_val)


@derivative("HardswishBackward0")
@fused("args")
def HardswishBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return (x < 3).where((g * (x / 3 + 0.5)).masked_fill(x <= -3, 0), g)


def _hardswish(x: Tensor) -> Tensor:
    return _pointwise(_floating(x, "hardswish"), HardswishBackward, "hardswish")


@op(namespaces=FUNCTIONAL)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x relu6(x + 3) / 6."""
    return _maybe_inplace(input, inplace, "hardswish", _hardswish)


@derivative("HardsigmoidBackward0")
@fused("args")
def HardsigmoidBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return (g * (1 / 6)).masked_fill(((x > -3) & (x < 3)).logical_not(), 0)


def _hardsigmoid(x: Tensor) -> Tensor:
    return _pointwise(_floating(x, "hardsigmoid"), HardsigmoidBackward, "hardsigmoid")


@op(namespaces=FUNCTIONAL)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return _maybe_inplace(input, inplace, "hardsigmoid", _hardsigmoid)


@derivative("HardshrinkBackward0")
@fused("args")
def HardshrinkBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return g.masked_fill(~((x < -node.args[0]) | (x > node.args[0])), 0)


@op(namespaces=(FUNCTIONAL, "torch"), method=True)
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x where |x| > lambd, else 0."""
    x = _floating(input, "hardshrink")
    return record(x.masked_fill((x >= -lambd) & (x <= lambd), 0)._a, HardshrinkBackward, (x,), (x,), args=(lambd,))


@op(namespaces=FUNCTIONAL)
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x moved towards 0 by lambd, 0 where |x| <= lambd (nan stays nan)."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    x = _floating(input, "softshrink")
    return (x > lambd).where(x - lambd, (x < -lambd).where(x + lambd, x * 0))


@derivative("ThresholdBackward0")
@fused("args")
def ThresholdBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return g.masked_fill(x <= node.args[0], 0)


def _threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    promotion.check_kind("threshold", check_tensor(x, "threshold"), "if")
    return record(x.masked_fill(x <= threshold, x.new_tensor(value))._a, ThresholdBackward, (x,), (x,), args=(threshold,))


@op(namespaces=(FUNCTIONAL, "torch"))
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value."""
    return _maybe_inplace(input, inplace, "threshold", _threshold, threshold, value)


@derivative("LogSigmoidBackward0")
@fused("args")
def LogSigmoidBackward(node: Any, g: Tensor) -> Tensor:
    (x,) = unpack(node)
    return g * (-x).sigmoid()


@op(namespaces=FUNCTIONAL)
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 / (1 + exp(-x)))."""
    return _pointwise(_floating(input, "logsigmoid"), LogSigmoidBackward, "logsigmoid")


@op(namespaces=FUNCTIONAL)
def glu(input: Tensor, dim: int = -1, *, out: Tensor | None = None) -> Tensor:
    """a sigmoid(b), a and b the halves of the input along `dim`."""
    _floating(input, "glu", "fc")
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    d = wrap_dim(dim, input.dim())
    size = input.shape[d]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {size}")
    a, b = input.narrow(d, 0, size // 2), input.narrow(d, size // 2, size // 2)
    return a * b.sigmoid()


@op(namespaces=(FUNCTIONAL, "torch"), method=True)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where x > 0, else weight x; one weight, or one per channel (dimension 1)."""
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype!r} and {weight.dtype!r}")
    slope = weight
    if weight.numel() != 1:
        if input.dim() == 0:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.dim() > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel size = "
                               f"{channels}.")
        slope = weight.reshape([-1 if d == 1 else 1 for d in range(max(input.dim(), 2))]) if input.dim() > 1 else weight
    elif weight.dim() and input.dim() == 0:
        slope = weight.reshape(())
    return (input > 0).where(input, slope * input)


@op(namespaces=(FUNCTIONAL, "torch"))
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """Leaky ReLU with slopes drawn from [lower, upper] in training, their mean otherwise."""
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound (got {lower} and {upper})")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)

    def draw(x: Tensor) -> Tensor:
        negative = x <= 0
        slopes = x.new_ones(x.shape)
        count = int(negative.sum())
        slopes[negative] = x.new_empty(count).double().uniform_(lower, upper).to(x.dtype)
        return x * slopes

    return _maybe_inplace(input, inplace, "rrelu", draw)


# -- softmax ---------------------------------------------------------------------------------------------------------------------


@derivative("SoftmaxBackward0", saves_result=True)
def SoftmaxBackward(node: Any, g: Tensor) -> Tensor:
    (y,) = unpack(node)
    if not thread.grad:
        return wrap(of(y._a).softmax_backward(g._a, y._a, node.dim))
    product = g * y
    return product - y * product.sum(node.dim, keepdim=True)


@derivative("LogSoftmaxBackward0", saves_result=True)
def LogSoftmaxBackward(node: Any, g: Tensor) -> Tensor:
    (y,) = unpack(node)
    if not thread.grad:
        return wrap(of(y._a).log_softmax_backward(g._a, y._a, node.dim))
    return g - y.exp() * g.sum(node.dim, keepdim=True)


def _implicit_dim(name: str, rank: int, level: int) -> int:
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=level)
    return 0 if rank in (0, 1, 3) else 1


def _along(input: Tensor, dim: int, dtype: Any, primitive: str, cls: Any) -> Tensor:
    x = input if input.__class__ in PLAIN else check_tensor(input, primitive)
    if dtype is not None:
        x = promotion.cast(x, dtype)
    a = x._a
    if a.dtype.kind in "biuc":
        raise NotImplementedError(f'"{primitive}_kernel_impl" not implemented for {dtypes.title(x.dtype)!r}: convert the input with .float()')
    d = wrap_dim(dim, a.ndim)
    r = getattr(of(a), primitive)(a, d)
    return record(r, cls, (x,), dim=d) if x._rg else wrap(r)


def _row_op(name: str, cls: Any, kernel: RowKernel, doc: str) -> tuple[Callable, Callable]:
    """The op in the namespaces where `dim` must be given, and nn.functional's; in both the case of last-axis rows is written out."""

    def body(input: Tensor, dim: int, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
        return _along(input, dim, dtype, name, cls)

    def functional_body(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if dim is None:  # the registry's frames stand between this and the caller
            dim = _implicit_dim(name, check_tensor(input, name).dim(), _stacklevel + 2)
        return _along(input, dim, dtype, name, cls)

    def rows(input: Tensor, a: Any) -> Tensor:
        t = wrap(kernel.function(a) if a.size < LARGE and a.flags.c_contiguous else getattr(of(a), name)(a, a.ndim - 1))
        if input._rg and thread.grad:
            attach(t, cls, (input,), (), {"dim": a.ndim - 1})
        return t

    def public(input: Tensor, dim: int | None = None, dtype: Any = None, **options: Any) -> Tensor:
        if dtype is None and not options and not state.active and input.__class__ in PLAIN:
            a = input._a
            if a.__class__ is ndarray and a.dtype.char in "fd" and a.size and (dim == -1 or dim == a.ndim - 1) and a.ndim:
                return rows(input, a)
        if dim is not None:
            options["dim"] = dim
        if dtype is not None:
            options["dtype"] = dtype
        return slow(input, **options)

    def functional_public(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if dtype is None and not state.active and input.__class__ in PLAIN:
            a = input._a
            if a.__class__ is ndarray and a.dtype.char in "fd" and a.size and (dim == -1 or dim == a.ndim - 1) and a.ndim:
                return rows(input, a)
        return functional_slow(input, dim, _stacklevel, dtype)

    for function in (body, functional_body, public, functional_public):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
    rec = register(body, name, ("torch", "special"), method=True, autocast="float32")
    functional_rec = register(functional_body, name, FUNCTIONAL, autocast="float32")
    slow, functional_slow = standard_public(rec), standard_public(functional_rec)
    return publish(rec, public), publish(functional_rec, functional_public)


softmax, functional_softmax = _row_op("softmax", SoftmaxBackward, softmax_rows, "exp(x) / sum(exp(x)) along `dim`.")
log_softmax, functional_log_softmax = _row_op("log_softmax", LogSoftmaxBackward, log_softmax_rows, "log(softmax(x)) along `dim`.")


@op(namespaces=FUNCTIONAL, autocast="float32")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x) along `dim`."""
    return functional_softmax(-input, dim, _stacklevel + 2, dtype)


@op(namespaces=FUNCTIONAL)
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017); `hard` makes it one-hot with the soft gradient."""
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return logits.new_zeros(logits.shape).scatter(dim, index, 1.0) - soft.detach() + soft


for _name, _function in (("leaky_relu", leaky_relu), ("elu", elu), ("hardtanh", hardtanh)):
    _inplace_form(_name, _function, FUNCTIONAL)
for _name, _function in (("celu", celu), ("selu", selu), ("threshold", threshold), ("rrelu", rrelu)):
    _inplace_form(_name, _function)
