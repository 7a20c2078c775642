"""Element types: `dtype`, the table that ties them to NumPy's, promotion, `finfo` and `iinfo`.

PyTorch's promotion rules are not NumPy's; they are written down here once (`promote_types`), and everything above asks here.
bfloat16 and float8 are NumPy dtypes of the ml_dtypes package.
"""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from saraph import config

__all__ = ["dtype", "finfo", "iinfo", "from_numpy_dtype", "promote_types", "can_cast"]


class dtype:  # noqa: N801 (PyTorch's name)
    """The type of a tensor's elements, such as `saraph.float32`.

    Attributes: `itemsize` (bytes), `is_floating_point`, `is_complex`, `is_signed`; `numpy` is the NumPy dtype behind it.
    """

    __slots__ = ("name", "numpy", "itemsize", "is_floating_point", "is_complex", "is_signed", "category", "rank")

    def __init__(self, name: str, numpy_type: Any, category: int, rank: int, signed: bool = True):
        self.name = name
        self.numpy = np.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        self.category = category  # 0 bool, 1 integer, 2 floating, 3 complex
        self.rank = rank
        self.is_floating_point = category == 2
        self.is_complex = category == 3
        self.is_signed = signed

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self

    def to_real(self) -> dtype:
        """The real type of a complex type's parts; other types are themselves."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type."""
        if self.is_complex:
            return self
        if self is float64:
            return complex128
        return complex64


dtype.__module__ = "saraph"

bool_ = dtype("bool", np.bool_, 0, 0, signed=False)
bool_.name = "bool"
uint8 = dtype("uint8", np.uint8, 1, 8, signed=False)
uint16 = dtype("uint16", np.uint16, 1, 16, signed=False)
uint32 = dtype("uint32", np.uint32, 1, 32, signed=False)
uint64 = dtype("uint64", np.uint64, 1, 64, signed=False)
int8 = dtype("int8", np.int8, 1, 8)
int16 = dtype("int16", np.int16, 1, 16)
int32 = dtype("int32", np.int32, 1, 32)
int64 = dtype("int64", np.int64, 1, 64)
float8_e4m3fn = dtype("float8_e4m3fn", ml_dtypes.float8_e4m3fn, 2, 8)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 2, 8)
float8_e5m2 = dtype("float8_e5m2", ml_dtypes.float8_e5m2, 2, 8)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 2, 8)
float8_e8m0fnu = dtype("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, 2, 8)
float16 = dtype("float16", np.float16, 2, 16)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, 2, 16)
float32 = dtype("float32", np.float32, 2, 32)
float64 = dtype("float64", np.float64, 2, 64)
complex64 = dtype("complex64", np.complex64, 3, 32)
complex128 = dtype("complex128", np.complex128, 3, 64)

ALL = (bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2,
       float8_e5m2fnuz, float8_e8m0fnu, float16, bfloat16, float32, float64, complex64, complex128)
BY_NAME = {t.name: t for t in ALL}
ALIASES = {"half": float16, "float": float32, "double": float64, "cfloat": complex64, "cdouble": complex128,
           "short": int16, "int": int32, "long": int64}
BY_NUMPY: dict[np.dtype, dtype] = {t.numpy: t for t in ALL}
REDUCED = frozenset(t.numpy for t in ALL if t.is_floating_point and t.itemsize <= 2)  # computed through float32
FLOAT8 = frozenset(t for t in ALL if t.is_floating_point and t.itemsize == 1)
#: Types that have a name and a size and no arithmetic here: packed bits, quantized numbers, half-precision complex numbers. No tensor holds them.
NAMED_ONLY = {name: dtype(name, f"V{size}", category, 0, signed)
              for names, size, category, signed in ((tuple(f"uint{n}" for n in range(1, 8)), 1, 1, False),
                                                    (tuple(f"int{n}" for n in range(1, 8)), 1, 1, True),
                                                    (("bits8", "bits1x8", "bits2x4", "bits4x2"), 1, 1, False), (("bits16",), 2, 1, False),
                                                    (("qint8", "quint8", "quint4x2", "quint2x4"), 1, 1, True), (("qint32",), 4, 1, True),
                                                    (("complex32",), 4, 3, True), (("float4_e2m1fn_x2",), 1, 2, True))
              for name in names}
NAMED_ONLY["chalf"] = NAMED_ONLY["complex32"]
_BAREBONES = frozenset({uint16, uint32, uint64})  # PyTorch has next to no promotion for these


_TITLES = {"bool": "Bool", "uint8": "Byte", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "int8": "Char", "int16": "Short",
           "int32": "Int", "int64": "Long", "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
           "complex64": "ComplexFloat", "complex128": "ComplexDouble"}


def title(kind: dtype) -> str:
    """What PyTorch's messages call a type, such as 'Long' or 'Float'."""
    return _TITLES.get(kind.name, kind.name)


def from_numpy_dtype(kind: np.dtype) -> dtype:
    """The saraph dtype of a NumPy dtype (byte order is ignored); TypeError where there is none."""
    found = BY_NUMPY.get(kind)
    if found is None:
        found = BY_NUMPY.get(np.dtype(kind).newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {kind}. The only supported types are: float64, float32, float16, complex64, "
            "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.")
    return found


def _promote(a: dtype, b: dtype) -> dtype:
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high.category == 3 and low.category == 2 and low is float64:
            return complex128
        return high
    if a.category == 1:
        return _promote_integers(a, b)
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {a!r} and {b!r}. "
                           "Convert one of them with .to(dtype) first.")
    if {a, b} == {float16, bfloat16}:
        return float32
    return a if a.rank >= b.rank else b


def _promote_integers(a: dtype, b: dtype) -> dtype:
    if a.is_signed == b.is_signed:
        if a in _BAREBONES or b in _BAREBONES:
            _refuse_unsigned(a, b)
        return a if a.rank >= b.rank else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    if unsigned in _BAREBONES:
        _refuse_unsigned(a, b)
    return int16 if signed is int8 else signed


def _refuse_unsigned(a: dtype, b: dtype) -> None:
    raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a!r} and {b!r}. "
                       "Convert one of them with .to(dtype) first.")


_PROMOTED: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest type that both can be converted to without losing their kind (PyTorch's lattice)."""
    if type1 is type2:
        return type1
    found = _PROMOTED.get((type1, type2))
    if found is None:
        found = _PROMOTED[type1, type2] = _promote(type1, type2)
    return found


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a conversion keeps the kind of number (complex > floating > integer > bool)."""
    if from_.category > to.category:
        return False
    return not (from_.category == to.category == 1 and from_.is_signed and not to.is_signed and to is not uint8) \
        or from_ is to


def of_scalar(value: object) -> dtype:
    """The type PyTorch gives a Python number: bool, int64, the default dtype, or its complex."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return config.settings.default_dtype
    if isinstance(value, (complex, np.complexfloating)):
        return config.settings.default_dtype.to_complex()
    raise TypeError(f"expected a number, got {type(value).__name__}")


class finfo:  # noqa: N801
    """Limits of a floating point (or complex) dtype: `bits`, `eps`, `max`, `min`, `tiny`, `smallest_normal`, `resolution`."""

    __slots__ = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")

    def __init__(self, type: dtype | None = None):
        kind = config.settings.default_dtype if type is None else type
        if not isinstance(kind, dtype) or kind.category < 2:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind!r}'")
        info = ml_dtypes.finfo(kind.to_real().numpy)
        self.bits = kind.to_real().itemsize * 8
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)
        self.dtype = kind.to_real().name

    def __repr__(self) -> str:
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:  # noqa: N801
    """Limits of an integer dtype: `bits`, `max`, `min`."""

    __slots__ = ("bits", "max", "min", "dtype")

    def __init__(self, type: dtype):
        if not isinstance(type, dtype) or type.category != 1:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'")
        info = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = info.bits, int(info.max), int(info.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


config.settings.default_dtype = float32
