"""Anomaly mode: backward errors and NaNs name the line of the forward call."""
from __future__ import annotations

import os
import traceback

from saraph.tensor.state import lower_active, raise_active, thread, upper

__all__ = ["detect_anomaly", "set_detect_anomaly", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"]
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def forward_trace() -> list[str]:
    """The stack of the current op's call, without saraph's own frames at its end."""
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith(_PACKAGE):
        frames.pop()
    return traceback.format_list(frames)


upper.anomaly_trace = forward_trace


def _switch(mode: bool, check_nan: bool) -> tuple[bool, bool]:
    before = thread.anomaly, thread.anomaly_nan
    if mode and not before[0]:
        raise_active()
    elif before[0] and not mode:
        lower_active()
    thread.anomaly, thread.anomaly_nan = mode, check_nan
    return before


class set_detect_anomaly:  # noqa: N801
    """Switch anomaly mode at once; as a context, back at the end of the block."""

    def __init__(self, mode: bool, check_nan: bool = True):
        self._before = _switch(bool(mode), bool(check_nan))

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        _switch(*self._before)


class detect_anomaly:  # noqa: N801
    """Context: every node remembers where it was made; a backward error, or a NaN (`check_nan`), is shown with that line."""

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan

    def __enter__(self) -> None:
        self._before = _switch(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        _switch(*self._before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on in this thread."""
    return thread.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaNs."""
    return thread.anomaly_nan
