"""What can be set for the whole process: read from the environment once, changed through the public setters."""
from __future__ import annotations

import os
from typing import Any

from saraph import processors


class Settings:
    """Process-wide settings. `default_dtype` and `default_device` are filled in by the rooms that define those types."""

    __slots__ = ("default_dtype", "default_device", "logs", "threads")

    def __init__(self) -> None:
        self.default_dtype: Any = None
        self.default_device: Any = None
        self.logs = frozenset(filter(None, os.environ.get("SARAPH_LOGS", "").split(",")))
        wanted = (os.environ.get("SARAPH_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS") or "").split(",")[0].strip()
        self.threads = int(wanted) if wanted.isdigit() and int(wanted) > 0 else processors.usable()


settings = Settings()
