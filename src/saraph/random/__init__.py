"""`saraph.random`: the default generator and its seed, as in `torch.random`; the streams are PyTorch's CPU streams."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from saraph.devices import device
from saraph.random._generator import Generator, default_generator
from saraph.random._mt19937 import Fills as Fills
from saraph.random._mt19937 import compiled as compiled
from saraph.random._streams import fill_view as fill_view

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator and return it. `seed` is anything that `int()` takes, from -2**63 to 2**64 - 1."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system's entropy; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator's current stream."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator: a uint8 tensor of 5056 bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Continue the default generator from a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True, _caller: str = "fork_rng",
             _devices_kw: str = "devices", device_type: str | None = None) -> Iterator[None]:
    """Draw inside without moving the default generator outside: its state is put back at the end, also after an error.

    Args:
        devices: accelerators whose generators to fork too. There are none here: leave it out, or pass an empty list.
        enabled: False makes this do nothing.
        device_type: the kind of those accelerators; "meta" has no numbers to draw, so nothing is forked for it.
    """
    if not enabled:
        yield
        return
    if device_type is not None and device(device_type).type == "meta":
        yield
        return
    if list(devices or ()):
        raise AssertionError(f"Torch not compiled with CUDA enabled: saraph computes on the CPU, so {_caller} has no "
                             f"other generator to fork. Pass {_devices_kw}=[] or leave it out.")
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)
