"""What the modules of devices that are not there (`torch.cuda`, `torch.xpu`, `torch.mps`) have in common: honest answers and PyTorch's errors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Context", "dummy_class", "refusing", "zero", "nothing", "false"]


def refusing(name: str, error: type[Exception], message: str) -> Callable[..., Any]:
    """A function of this name that needs the device: it raises `error(message)` whatever it is given."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise error(message)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Needs the device, which is not there: raises."
    return refuse


def dummy_class(name: str, module: str, message: str, methods: tuple[str, ...]) -> type:
    """A class that code can name and test against, and that cannot be instantiated without its device."""

    def create(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(message)

    body: dict[str, Any] = {m: refusing(m, RuntimeError, message) for m in methods}
    return type(name, (), {"__new__": create, "__module__": module, "__doc__": f"{name} of a device that is not there.", **body})


def zero(device: Any = None) -> int:
    """0: nothing lies on a device that is not there."""
    return 0


def false(*args: Any, **kwargs: Any) -> bool:
    """False: the device is not there."""
    return False


def nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing to do for a device that is not there."""
    return None


class Context:
    """A context for a device (or stream) that is not there: it changes nothing."""

    def __init__(self, device: Any = None) -> None:
        self.idx = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None
