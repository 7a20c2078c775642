"""`device`: where a tensor's memory lies. This machine's CPU holds values; `meta` holds shapes only; others are named but absent."""
from __future__ import annotations

import re
from typing import Any

from saraph import config

__all__ = ["device", "resolve"]

_TYPES = ("cpu", "cuda", "mps", "xpu", "meta", "ipu", "xla", "lazy", "hpu", "mtia", "privateuseone", "vulkan", "mkldnn", "opengl",
          "opencl", "ideep", "hip", "ve", "fpga", "maia")
_NAME = re.compile(r"([a-z]+)(?::(\d+))?")


class device:  # noqa: N801 (PyTorch's name)
    """A device such as `device("cpu")`, `device("cuda:1")` or `device("cuda", 1)`. As a context it is where new tensors go."""

    __slots__ = ("type", "index", "_outer")
    type: str
    index: int | None
    _outer: list[Any]

    def __new__(cls, type: Any = None, index: int | None = None) -> device:
        if isinstance(type, device):
            return type
        self = object.__new__(cls)
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        match = _NAME.fullmatch(type)
        if match is None or match[1] not in _TYPES:
            raise RuntimeError(f"Expected one of {', '.join(_TYPES[:5])} device type at start of device string: {type}"
                               if match is None or match[2] is None or match[1] not in _TYPES
                               else f"Invalid device string: '{type}'")
        if match[2] is not None and index is not None:
            raise RuntimeError("type (string) must not include an index because index was passed explicitly: " + type)
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        self.type = match[1]
        self.index = int(match[2]) if match[2] is not None else index
        self._outer = []
        return self

    def __repr__(self) -> str:
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return (device, (self.type,) if self.index is None else (self.type, self.index))

    def __copy__(self) -> device:
        return self

    def __deepcopy__(self, memo: object) -> device:
        return self

    def __enter__(self) -> device:
        self._outer.append(config.settings.default_device)
        config.settings.default_device = self
        return self

    def __exit__(self, *exc: object) -> None:
        config.settings.default_device = self._outer.pop()


device.__module__ = "saraph"
CPU = device("cpu")
META = device("meta")
config.settings.default_device = CPU


def resolve(wanted: Any = None) -> device:
    """The device that an argument `device=` means; raises as PyTorch's CPU build does for one that is not there."""
    if wanted is None:
        wanted = config.settings.default_device
    found = wanted if isinstance(wanted, device) else device(wanted)
    if found.type in ("cpu", "meta"):
        return CPU if found.type == "cpu" else META
    if found.type == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled: saraph computes on the CPU. "
                             "Ask torch.cuda.is_available() first, or pass device='cpu'.")
    raise RuntimeError(f"Device '{found}' is not available: saraph computes on 'cpu' (and on 'meta', shapes only). Pass device='cpu'.")


def without_device(*args: Any, **kwargs: Any) -> None:
    """What seeding, emptying caches and resetting counters come to on devices that are not there: nothing."""
    return None
