"""`assert_close`: whether two values agree, with a message that says where they do not."""
from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saraph import dtypes, shapes
from saraph.ops.creation import as_tensor
from saraph.tensor.tensor import Tensor

__all__ = ["assert_close", "assert_allclose", "default_tolerances"]
_TOLERANCES = {dtypes.float16: (1e-3, 1e-5), dtypes.bfloat16: (1.6e-2, 1e-5), dtypes.float32: (1.3e-6, 1e-5), dtypes.float64: (1e-7, 1e-7),
               dtypes.complex64: (1.3e-6, 1e-5), dtypes.complex128: (1e-7, 1e-7)}


def default_tolerances(*kinds: Any) -> tuple[float, float]:
    """The loosest (rtol, atol) among those of these dtypes: (0, 0) for integers and bool."""
    pairs = [_TOLERANCES.get(k.dtype if isinstance(k, Tensor) else k, (0.0, 0.0)) for k in kinds]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


class _Options:
    """What was asked of a comparison."""

    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, checks: Mapping[str, bool], msg: Any):
        if (rtol is None) != (atol is None):
            raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.")
        self.rtol, self.atol, self.equal_nan, self.checks, self.msg = rtol, atol, equal_nan, checks, msg

    def tolerances(self, *kinds: Any) -> tuple[float, float]:
        """The tolerances for values of these dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        return default_tolerances(*kinds)


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
                 equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: str | Callable[[str], str] | None = None) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere, and shapes, dtypes, devices and layouts are equal.

    Tensors, numbers, None, and sequences and mappings of these. rtol and atol (both or neither) default to values by dtype, 1.3e-6 and 1e-5 for
    float32. msg: the message, or a function of the message that would be raised.
    """
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride, "subclasses": allow_subclasses}
    options = _Options(rtol, atol, equal_nan, checks, msg)
    _compare(actual, expected, (), options)


def _fail(text: str, where: tuple[Any, ...], options: _Options, error: type[Exception] = AssertionError) -> None:
    if where:
        text += f"\n\nThe failure occurred for item {''.join(f'[{k!r}]' for k in where)}"
    if options.msg is not None and error is AssertionError:
        text = options.msg(text) if callable(options.msg) else options.msg
    raise error(text)


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor) or type(value).__module__ == "numpy"


def _compare(actual: Any, expected: Any, where: tuple[Any, ...], options: _Options) -> None:
    if isinstance(actual, Sequence) and not isinstance(actual, str) and isinstance(expected, Sequence) and not isinstance(expected, str):
        if len(actual) != len(expected):
            _fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where, options)
        for k, (a, e) in enumerate(zip(actual, expected)):
            _compare(a, e, (*where, k), options)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, extra = expected.keys() - actual.keys(), actual.keys() - expected.keys()
        if missing or extra:
            _fail("The keys of the mappings do not match:" + (f"\nMissing keys in the actual mapping: {sorted(missing)}" if missing else "")
                  + (f"\nAdditional keys in the actual mapping: {sorted(extra)}" if extra else ""), where, options)
        for key in sorted(expected, key=str):
            _compare(actual[key], expected[key], (*where, key), options)
    elif actual is None or expected is None:
        if actual is not expected:
            _fail(f"None mismatch: {actual} is not {expected}", where, options)
    elif _number(actual) and _number(expected):
        _numbers(actual, expected, where, options)
    elif _is_array(actual) and _is_array(expected):
        _tensors(actual, expected, where, options)
    else:
        _fail(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", where, options, TypeError)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, bool)) and not isinstance(value, Tensor)


def _numbers(actual: Any, expected: Any, where: tuple[Any, ...], options: _Options) -> None:
    kinds = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}
    kind_a, kind_e = (next(d for t, d in kinds.items() if isinstance(v, t)) for v in (actual, expected))
    name = "Booleans" if isinstance(actual, bool) and isinstance(expected, bool) else "Scalars"
    if options.checks["dtype"] and kind_a is not kind_e:
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", where, options)
    rtol, atol = options.tolerances(kind_a, kind_e)
    difference = abs(actual - expected)
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    if math.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    if name == "Booleans":
        _fail(f"Booleans mismatch: {actual} is not {expected}", where, options)
    relative = difference / abs(expected) if expected else math.inf
    if rtol == atol == 0.0:
        _fail(f"Scalars are not equal!\n\nExpected {expected} but got {actual}.\nAbsolute difference: {difference}\n"
              f"Relative difference: {relative}", where, options)
    _fail(f"Scalars are not close!\n\nExpected {expected} but got {actual}.\nAbsolute difference: {difference} (up to {atol} allowed)\n"
          f"Relative difference: {relative} (up to {rtol} allowed)", where, options)


def _tensors(actual: Any, expected: Any, where: tuple[Any, ...], options: _Options) -> None:
    a, e = (v if isinstance(v, Tensor) else as_tensor(v) for v in (actual, expected))
    if not options.checks["subclasses"] and type(actual) is not type(expected):
        _fail(f"Except for scalars, type equality is required if allow_subclasses=False. Got {type(actual)} and {type(expected)} "
              "instead.", where, options, TypeError)
    if a.shape != e.shape:
        _fail(f"The values for attribute 'shape' do not match: {a.shape} != {e.shape}.", where, options)
    for name, wanted in (("layout", options.checks["layout"]), ("device", options.checks["device"]), ("dtype", options.checks["dtype"])):
        if wanted and getattr(a, name) != getattr(e, name):
            text = [str(getattr(x, name)) if name == "device" else repr(getattr(x, name)) for x in (a, e)]
            _fail(f"The values for attribute '{name}' do not match: {text[0]} != {text[1]}.", where, options)
    if options.checks["stride"] and a.layout is shapes.strided and e.layout is shapes.strided and a.stride() != e.stride():
        _fail(f"The values for attribute 'stride()' do not match: {a.stride()} != {e.stride()}.", where, options)
    if a.device.type == "meta" or e.device.type == "meta":
        return
    rtol, atol = options.tolerances(a, e)
    if a.dtype is not e.dtype:
        common = dtypes.promote_types(a.dtype, e.dtype)
        a, e = a.to(common), e.to(common)
    a, e = a.detach().to_dense(), e.detach().to_dense()
    if a.dtype in dtypes.FLOAT8:
        a, e = a.float(), e.float()
    near = (a == e) | ((a - e).abs() <= atol + rtol * e.abs()) & (a - e).abs().isfinite() if a.dtype is not dtypes.bool_ else a == e
    if options.equal_nan and (a.is_floating_point() or a.is_complex()):
        near = near | (a.isnan() & e.isnan())
    if not bool(near.all()):
        _mismatch(a, e, near, rtol, atol, where, options)


def _mismatch(a: Tensor, e: Tensor, near: Tensor, rtol: float, atol: float, where: tuple[Any, ...], options: _Options) -> None:
    """Raise for tensors that differ: how many elements, and the greatest differences."""
    exact = rtol == 0.0 and atol == 0.0
    if a.dtype is dtypes.bool_:
        a, e = a.to(dtypes.int64), e.to(dtypes.int64)
    if not (a.is_floating_point() or a.is_complex()):
        a, e = a.to(dtypes.int64), e.to(dtypes.int64)
    distance = (a - e).abs()
    relative = distance / e.abs()
    if a.dim() == 0:
        lines = [f"Scalars are not {'equal' if exact else 'close'}!", "", f"Expected {e.item()} but got {a.item()}.",
                 f"Absolute difference: {distance.item()}" + ("" if exact else f" (up to {atol} allowed)"),
                 f"Relative difference: {relative.item()}" + ("" if exact else f" (up to {rtol} allowed)")]
        _fail("\n".join(lines), where, options)
    wrong = int((~near).sum())
    lines = [f"Tensor-likes are not {'equal' if exact else 'close'}!", "", f"Mismatched elements: {wrong} / {near.numel()} ({wrong / near.numel():.1%})"]
    for name, values, allowed in (("absolute", distance, atol), ("relative", relative, rtol)):
        shown = values.masked_fill(near, 0).reshape(-1)
        k = int(shown.argmax())
        index = []
        for n in reversed(a.shape):
            index.append(k % n)
            k //= n
        place = tuple(reversed(index))
        lines.append(f"Greatest {name} difference: {shown.max().item()} at index {place}" + ("" if exact else f" (up to {allowed} allowed)"))
    _fail("\n".join(lines), where, options)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = "") -> None:
    """`assert_close` without checks of device, dtype and layout, under its old name."""
    warnings.warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
                  "`torch.testing.assert_close()` instead.", FutureWarning, stacklevel=2)
    a, e = (v if isinstance(v, Tensor) else as_tensor(v) for v in (actual, expected))
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(a, e)
    assert_close(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False, msg=msg or None)
