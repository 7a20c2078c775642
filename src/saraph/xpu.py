"""`torch.xpu`: there is no such device here. Questions are answered, what needs a device raises."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from saraph.absent import Context, dummy_class, false, nothing, refusing, zero

_MESSAGE = "Torch not compiled with XPU enabled: saraph computes on the CPU. Ask torch.xpu.is_available() first."
is_available = is_initialized = is_bf16_supported = is_tf32_supported = false
manual_seed = manual_seed_all = seed = seed_all = empty_cache = nothing
reset_peak_memory_stats = reset_accumulated_memory_stats = nothing
memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = zero
init = refusing("init", AssertionError, _MESSAGE)
current_device = refusing("current_device", AssertionError, _MESSAGE)
synchronize = refusing("synchronize", AssertionError, _MESSAGE)
current_stream = refusing("current_stream", AssertionError, _MESSAGE)
set_stream = refusing("set_stream", AssertionError, _MESSAGE)
get_device_name = refusing("get_device_name", AssertionError, _MESSAGE)
get_device_capability = refusing("get_device_capability", AssertionError, _MESSAGE)
get_device_properties = refusing("get_device_properties", AssertionError, _MESSAGE)
get_rng_state = refusing("get_rng_state", AssertionError, _MESSAGE)
set_rng_state = refusing("set_rng_state", AssertionError, _MESSAGE)
initial_seed = refusing("initial_seed", AssertionError, _MESSAGE)
mem_get_info = refusing("mem_get_info", AssertionError, _MESSAGE)
memory_usage = refusing("memory_usage", AssertionError, _MESSAGE)
can_device_access_peer = refusing("can_device_access_peer", AssertionError, _MESSAGE)
is_current_stream_capturing = refusing("is_current_stream_capturing", RuntimeError, _MESSAGE)
Stream = dummy_class("Stream", "saraph.xpu", "torch.xpu.Stream requires XPU support", ("record_event", "synchronize", "wait_event", "wait_stream", "query"))
Event = dummy_class("Event", "saraph.xpu", "torch.xpu.Event requires XPU support", ("record", "wait", "synchronize", "query", "elapsed_time"))
default_generators: tuple[Any, ...] = ()
streams: dict[str, Any] = {"Stream": Stream, "Event": Event}


def device_count() -> int:
    """How many there are: 0."""
    return 0


def set_device(device: Any) -> None:
    """Choose a device; nothing to do for a negative number."""
    if not isinstance(device, int) or device >= 0:
        raise AssertionError(_MESSAGE)


def get_arch_list() -> list[str]:
    """The architectures that are built in: none."""
    return []


def get_rng_state_all() -> list[Any]:
    """The states of all devices' streams: none."""
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Set the states of all devices' streams."""
    if list(new_states):
        raise AssertionError(_MESSAGE)


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Memory statistics of a device: empty."""
    return OrderedDict()


class device(Context):  # noqa: N801
    """Context that chooses a device; with none there it changes nothing."""


class device_of(Context):  # noqa: N801
    """Context that chooses the device of a tensor."""


class StreamContext(Context):
    """Context that chooses a stream."""


def stream(stream: Any) -> StreamContext:
    """Context that chooses a stream."""
    return StreamContext(stream)
