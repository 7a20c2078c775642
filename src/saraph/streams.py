"""`Stream` and `Event` of the CPU, on which every op is done when it returns: there is nothing to wait for."""
from __future__ import annotations

import time
from typing import Any

from saraph.devices import device as Device
from saraph.devices import resolve

__all__ = ["Stream", "Event", "get_device_module"]


class Stream:
    """A queue of work. On the CPU there is one, and it is always idle."""

    def __init__(self, device: Any = None, *, priority: int = 0, stream_id: int = 0, device_index: int = -1, device_type: int = 0):
        self.device = resolve(device)
        self.stream_id, self.device_index, self.device_type = stream_id, device_index, device_type

    def query(self) -> bool:
        """Whether all work is done: always."""
        return True

    def synchronize(self) -> None:
        """Wait for the work: it is done."""
        return None

    def wait_event(self, event: Event) -> None:
        """Let later work wait for an event: it has happened."""
        return None

    def wait_stream(self, other: Any) -> None:
        """Let later work wait for another stream: it is idle."""
        return None

    def record_event(self, event: Event | None = None) -> Event:
        """An event that says when the work until now is done: now."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.stream_id) == (other.device, other.stream_id)

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, stream_id={self.stream_id}"


class Event:
    """A point in a stream's work. With `enable_timing`, the time between two events can be asked for."""

    def __init__(self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        self.device: Device = resolve(device)
        self.enable_timing, self._time = enable_timing, None

    _time: float | None

    def record(self, stream: Stream | None = None) -> None:
        """The event happens now."""
        self._time = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Let a stream wait for the event: it has happened."""
        return None

    def query(self) -> bool:
        """Whether it has happened: always."""
        return True

    def synchronize(self) -> None:
        """Wait until it has happened: it has."""
        return None

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another; both need `enable_timing` and must have been recorded."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1e3

    def __repr__(self) -> str:
        return f"torch.Event device_type={self.device.type}, device_index=-1, event_flag={int(self.enable_timing)}, event_id=0"


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device: `torch.cpu` by default, `torch.cuda` for "cuda"."""
    import importlib

    kind = "cpu" if device is None else (device if isinstance(device, Device) else Device(device)).type
    try:
        return importlib.import_module(f"saraph.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.") from None
