"""`torch.mps`: there is no such device here."""
from __future__ import annotations

from saraph.absent import dummy_class, false, nothing, refusing


def _needs(function: str) -> str:
    return f"Cannot execute {function}() without MPS backend."


is_available = false
manual_seed = seed = nothing
empty_cache = nothing
current_allocated_memory = refusing("current_allocated_memory", RuntimeError, _needs("getCurrentAllocatedMemory"))
driver_allocated_memory = refusing("driver_allocated_memory", RuntimeError, _needs("getDriverAllocatedMemory"))
recommended_max_memory = refusing("recommended_max_memory", RuntimeError, _needs("getRecommendedMaxMemory"))
set_per_process_memory_fraction = refusing("set_per_process_memory_fraction", RuntimeError, _needs("setMemoryFraction"))
get_rng_state = refusing("get_rng_state", RuntimeError, _needs("getDefaultGenerator"))
set_rng_state = refusing("set_rng_state", RuntimeError, _needs("getDefaultGenerator"))
synchronize = refusing("synchronize", RuntimeError, _needs("deviceSynchronize"))
compile_shader = refusing("compile_shader", RuntimeError, "MPS is not available")
Event = dummy_class("Event", "saraph.mps", "torch.mps.Event requires MPS support", ("record", "wait", "synchronize", "query", "elapsed_time"))


def device_count() -> int:
    """How many there are: 0."""
    return 0
