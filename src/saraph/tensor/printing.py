"""Tensors as text, character for character as PyTorch prints them.

Numbers of one tensor share a format: whole numbers (`3.`), fixed (`0.1000`) or scientific (`1.0000e-05`), chosen from the finite non-zero
elements that are shown; all are padded to the widest. Large tensors show the first and last few elements of each dimension.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.config import settings
from saraph.tensor.tensor import Tensor

RATIO, LARGE, SMALL = 1000.0, 1.0e8, 1.0e-4  # beyond these magnitudes (or ratio of largest to smallest) numbers are scientific


@dataclass
class Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {"default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
             "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
             "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80}}
_options = Options()


def set_printoptions(precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None, linewidth: int | None = None,
                     profile: str | None = None, sci_mode: bool | None = None) -> None:
    """How tensors print: digits after the point, the number of elements above which they are summarised, elements at each edge of a
    summary, characters per line; `profile` is "default", "short" or "full" (others change nothing); `sci_mode` forces or forbids scientific
    notation (None: by size)."""
    global _options
    changes: dict[str, Any] = dict(_PROFILES.get(profile, {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes.update({name: value for name, value in given.items() if value is not None})
    _options = replace(_options, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The options as a dict that `set_printoptions` takes."""
    return asdict(_options)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Options for a block: takes what `set_printoptions` takes."""
    global _options
    before = _options
    try:
        set_printoptions(**kwargs)
        yield
    finally:
        _options = before


class _Format:
    """How the numbers of an array are written."""

    def __init__(self, a: np.ndarray):
        self.floating = a.dtype.kind == "f"
        self.whole, self.scientific, self.width = True, False, 1
        if not self.floating:
            self.width = max((len(str(v)) for v in a.ravel().tolist()), default=1)
            return
        finite = a[np.isfinite(a) & (a != 0)]
        if not finite.size:
            return
        size = np.abs(finite.astype(np.float64))
        largest, smallest = float(size.max()), float(size.min())
        with np.errstate(over="ignore"):
            wide = bool(np.float64(largest) / np.float64(smallest) > RATIO)
        self.whole = bool((finite == np.ceil(finite)).all())
        self.scientific = wide or largest > LARGE or (not self.whole and smallest < SMALL)
        if _options.sci_mode is not None:
            self.scientific = _options.sci_mode
        if self.scientific:
            self.width = max(self.width, *(len(f"{v:.{_options.precision}e}") for v in finite.tolist()))
        elif self.whole:
            self.width = max(self.width, *(len(f"{v:.0f}") + 1 for v in finite.tolist()))
        else:
            self.width = max(self.width, *(len(f"{v:.{_options.precision}f}") for v in finite.tolist()))

    def __call__(self, value: Any) -> str:
        if not self.floating:
            text = str(value)
        elif self.scientific:
            text = f"{value:{self.width}.{_options.precision}e}"
        elif self.whole:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            text = f"{value:.{_options.precision}f}"
        return text.rjust(self.width)


class _ComplexFormat:
    """Real and imaginary parts, each in a format of its own."""

    def __init__(self, a: np.ndarray):
        self.real, self.imag = _Format(a.real), _Format(a.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip()
        return self.real(value.real) + ("" if imag[0] in "+-" else "+") + imag + "j"


def _shown(a: np.ndarray) -> np.ndarray:
    """The elements that a summary shows."""
    edge = _options.edgeitems
    for axis in range(a.ndim):
        if a.shape[axis] > 2 * edge:
            n = a.shape[axis]
            a = np.take(a, [*range(edge), *range(n - edge, n)], axis)
    return a


def _row(a: np.ndarray, indent: int, summarize: bool, form: Any) -> str:
    per_line = max(1, math.floor((_options.linewidth - indent) / (form.width + 2)))
    edge, values = _options.edgeitems, a.tolist()
    if summarize and not edge:
        items = ["..."]
    elif summarize and len(values) > 2 * edge:
        items = [form(v) for v in values[:edge]] + [" ..."] + [form(v) for v in values[-edge:]]
    else:
        items = [form(v) for v in values]
    lines = [", ".join(items[i:i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _text(a: np.ndarray, indent: int, summarize: bool, form: Any) -> str:
    if a.ndim == 0:
        return form(a.item())
    if a.ndim == 1:
        return _row(a, indent, summarize, form)
    edge = _options.edgeitems
    if summarize and a.shape[0] > 2 * edge:
        parts = [_text(x, indent + 1, summarize, form) for x in a[:edge]] + ["..."]
        parts += [_text(x, indent + 1, summarize, form) for x in a[len(a) - edge:]]
    else:
        parts = [_text(x, indent + 1, summarize, form) for x in a]
    return "[" + ("," + "\n" * (a.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def numbers(a: np.ndarray, indent: int) -> str:
    """An array's elements as text, `indent` characters from the left."""
    if not a.size:
        return "[]"
    if a.dtype.kind not in "biufc" or a.dtype == np.float16:
        a = a.astype(np.float32)  # 16- and 8-bit floats
    summarize = a.size > _options.threshold
    shown = _shown(a) if summarize else a
    return _text(a, indent, summarize, _ComplexFormat(shown) if a.dtype.kind == "c" else _Format(shown))


def _with_suffixes(text: str, suffixes: Iterable[str], indent: int, new_line: bool) -> str:
    """Append `, suffix` for each, on a new line where the line would grow too long (the first one also where `new_line` says so)."""
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if new_line or last + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            last, new_line = indent + len(suffix), False
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"


def _implied(kind: dtypes.dtype) -> bool:
    """Whether a dtype goes without saying."""
    default = settings.default_dtype
    return kind in (default, default.to_complex(), dtypes.int64, dtypes.bool_)


def describe(x: Tensor, contents: str | None = None) -> str:
    """`repr(x)`; `contents` stands in for the elements."""
    cls = type(x)
    prefix = "tensor(" if cls is Tensor or cls.__module__ == "saraph.nn.parameter" else f"{cls.__name__}("
    indent, suffixes = len(prefix), []
    a, kind, new_line = x._a, x.dtype, False
    layout = x.layout.name if hasattr(x.layout, "name") else str(x.layout).removeprefix("torch.")
    if x.device.type != "cpu":
        suffixes.append(f"device='{x.device}'")
    if layout != "strided":
        new_line = layout == "sparse_coo"
        suffixes += [f"size={tuple(x.shape)}", f"nnz={_stored(a, layout)}"]
        if not _implied(kind):
            suffixes.append(f"dtype={kind}")
        text = contents if contents is not None else _sparse_parts(a, layout, indent)
        suffixes.append(f"layout=torch.{layout}")
    elif x.device.type == "meta":
        suffixes.append(f"size={tuple(x.shape)}")
        if kind != settings.default_dtype:
            suffixes.append(f"dtype={kind}")
        text = "..."
    elif not a.size:
        if a.ndim != 1:
            suffixes.append(f"size={tuple(x.shape)}")
        if kind != settings.default_dtype:
            suffixes.append(f"dtype={kind}")
        text = "[]" if contents is None else contents
    else:
        if not _options.edgeitems:
            suffixes.append(f"size={tuple(x.shape)}")
        if not _implied(kind):
            suffixes.append(f"dtype={kind}")
        text = numbers(a, indent) if contents is None else contents
    node = x.grad_fn
    if node is not None:
        suffixes.append(f"grad_fn=<{node.name()}>")
    elif x.requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(prefix + text, suffixes, indent, new_line)


def _stored(a: Any, layout: str) -> int:
    return a.values.shape[0] if layout == "sparse_coo" else a.plain.shape[-1]


def _part(name: str, a: np.ndarray, indent: int) -> str:
    start = f"{name}=tensor("
    return start + numbers(a, indent + len(start)) + ("" if a.size else f", size={a.shape}") + ")"


def _sparse_parts(a: Any, layout: str, indent: int) -> str:
    if layout == "sparse_coo":
        names = [("indices", a.indices), ("values", a.values)]
    else:
        rows = layout in ("sparse_csr", "sparse_bsr")
        names = [("crow_indices" if rows else "ccol_indices", a.compressed), ("col_indices" if rows else "row_indices", a.plain),
                 ("values", a.values)]
    return (",\n" + " " * indent).join(_part(name, values, indent) for name, values in names)
