"""Switches for reproducible results, for precision and for warnings. saraph's ops are deterministic whatever these say; the values are kept."""
from __future__ import annotations

import warnings

__all__ = ["use_deterministic_algorithms", "are_deterministic_algorithms_enabled", "is_deterministic_algorithms_warn_only_enabled",
           "set_deterministic_debug_mode", "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision",
           "set_warn_always", "is_warn_always_enabled", "set_flush_denormal"]
_chosen = {"deterministic": False, "warn_only": False, "warn_always": False}
_precision = ["highest"]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for algorithms that give the same result every time. All of saraph's do."""
    if not isinstance(mode, bool):
        raise TypeError(f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}")
    _chosen["deterministic"], _chosen["warn_only"] = mode, bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms(True)` was called."""
    return _chosen["deterministic"]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether an op without a deterministic algorithm would only warn."""
    return _chosen["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same by one value: 0 or "default", 1 or "warn", 2 or "error"."""
    if isinstance(debug_mode, str):
        if debug_mode not in ("default", "warn", "error"):
            raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = ("default", "warn", "error").index(debug_mode)
    elif not isinstance(debug_mode, int) or isinstance(debug_mode, bool):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see `set_deterministic_debug_mode`."""
    return 0 if not _chosen["deterministic"] else 1 if _chosen["warn_only"] else 2


def set_float32_matmul_precision(precision: str) -> None:
    """How exact float32 products must be at least: "highest", "high" or "medium". saraph always computes them in float32."""
    if precision not in ("highest", "high", "medium"):
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.", stacklevel=2)
        return
    _precision[0] = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given last."""
    return _precision[0]


def set_warn_always(b: bool, /) -> None:
    """Whether warnings that come once per process should come every time."""
    if not isinstance(b, bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _chosen["warn_always"] = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given last."""
    return _chosen["warn_always"]


def set_flush_denormal(mode: bool) -> bool:
    """Ask the processor to take numbers below the normal range as 0. Not supported: False says so, and nothing changes."""
    return False
