"""`torch.cuda` where there is no CUDA device: honest answers, and PyTorch's errors for what needs one."""
from __future__ import annotations

from typing import Any

from saraph.absent import Context, dummy_class, refusing
from saraph.amp import GradScaler
from saraph.cuda import amp, nvtx
from saraph.devices import without_device
from saraph.errors import AcceleratorError, OutOfMemoryError

__all__ = ["amp", "is_available", "is_initialized", "device_count", "current_device", "set_device", "synchronize", "empty_cache", "manual_seed",
           "manual_seed_all", "seed", "seed_all", "initial_seed", "get_device_name", "get_device_capability", "get_device_properties",
           "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "reset_peak_memory_stats", "is_bf16_supported",
           "init", "ipc_collect", "get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all", "can_device_access_peer",
           "memory_stats", "GradScaler", "device", "current_stream", "stream", "AcceleratorError", "CUDAGraph", "Event", "OutOfMemoryError",
           "Stream", "StreamContext", "cudart", "default_generators", "default_stream", "device_of", "get_arch_list", "graph",
           "is_current_stream_capturing", "is_tf32_supported", "mem_get_info", "memory_cached", "max_memory_cached", "memory_summary",
           "memory_usage", "nvtx", "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached", "set_stream",
           "utilization"]


def _absent() -> AssertionError:
    return AssertionError("Torch not compiled with CUDA enabled: saraph computes on the CPU. Ask torch.cuda.is_available() first.")


def is_available() -> bool:
    """Whether there is a CUDA device: no."""
    return False


def is_initialized() -> bool:
    """Whether CUDA is in use: no."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the CUDA device computes in bfloat16: there is none."""
    return False


def device_count() -> int:
    """How many CUDA devices there are: 0."""
    return 0


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether two devices reach each other's memory."""
    raise _absent()


def init() -> None:
    """Start CUDA."""
    raise _absent()


def current_device() -> int:
    """The number of the current device."""
    raise _absent()


def set_device(device: Any) -> None:
    """Choose a device; nothing to do for a negative number."""
    if not isinstance(device, int) or device >= 0:
        raise _absent()


def synchronize(device: Any = None) -> None:
    """Wait for a device."""
    raise _absent()


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    raise _absent()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a device."""
    raise _absent()


def get_device_properties(device: Any = None) -> Any:
    """What a device is."""
    raise _absent()


def current_stream(device: Any = None) -> Any:
    """The current stream."""
    raise _absent()


class device(Context):  # noqa: N801
    """Context that chooses a device; with none there it changes nothing."""


class device_of(Context):  # noqa: N801
    """Context that chooses the device of a tensor; with none there it changes nothing."""


class StreamContext(Context):
    """Context that chooses a stream; with no device it changes nothing."""


def stream(stream: Any) -> StreamContext:
    """Context that chooses a stream; with no device it changes nothing."""
    return StreamContext(stream)


_MESSAGE = "Torch not compiled with CUDA enabled: saraph computes on the CPU. Ask torch.cuda.is_available() first."
Stream = dummy_class("Stream", "saraph.cuda", "torch.cuda.Stream requires CUDA support",
                     ("record_event", "synchronize", "wait_event", "wait_stream", "query"))
Event = dummy_class("Event", "saraph.cuda", "torch.cuda.Event requires CUDA support: Tried to instantiate dummy base class Event",
                    ("record", "wait", "synchronize", "query", "elapsed_time"))
CUDAGraph = dummy_class("CUDAGraph", "saraph.cuda", "torch.cuda.CUDAGraph requires CUDA support: Tried to instantiate dummy base class CUDAGraph",
                        ("capture_begin", "capture_end", "replay", "reset", "pool"))
graph = dummy_class("graph", "saraph.cuda", "torch.cuda.graph requires CUDA support", ())
default_stream = refusing("default_stream", AssertionError, _MESSAGE)
set_stream = refusing("set_stream", AssertionError, _MESSAGE)
mem_get_info = refusing("mem_get_info", AssertionError, _MESSAGE)
cudart = refusing("cudart", AssertionError, _MESSAGE)
utilization = refusing("utilization", ModuleNotFoundError, "nvidia-ml-py does not seem to be installed or it can't be imported.")
memory_usage = refusing("memory_usage", ModuleNotFoundError, "nvidia-ml-py does not seem to be installed or it can't be imported.")
is_current_stream_capturing = refusing("is_current_stream_capturing", RuntimeError, _MESSAGE)
default_generators: tuple[Any, ...] = ()
reset_accumulated_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = without_device
for _kind in ("Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "Bool"):
    globals()[_kind + "Tensor"] = dummy_class(_kind + "Tensor", "saraph.cuda", f"type torch.cuda.{_kind}Tensor not available. {_MESSAGE}", ())


def get_arch_list() -> list[str]:
    """The architectures that CUDA code was built for: none."""
    return []


def is_tf32_supported() -> bool:
    """Whether the CUDA device computes in TF32: there is none."""
    return False


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The memory statistics of a device as a text."""
    return "There is no CUDA device: no memory is in use on any."


empty_cache = ipc_collect = manual_seed = manual_seed_all = seed = seed_all = reset_peak_memory_stats = without_device


def initial_seed() -> int:
    """The seed of the current device."""
    raise _absent()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of a device's stream."""
    raise _absent()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set the state of a device's stream."""
    raise _absent()


def get_rng_state_all() -> list[Any]:
    """The states of all devices' streams: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of all devices' streams."""
    if list(new_states):
        raise _absent()


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a device: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Memory statistics of a device: empty."""
    return {}
