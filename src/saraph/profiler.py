"""`torch.profiler`: profiles of a training loop, step by step.

    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2)) as prof:
        for batch in data:
            train(batch)
            prof.step()
    print(prof.key_averages().table(sort_by="cpu_time_total"))
"""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from saraph.autograd import profiler as _base
from saraph.autograd.profiler import EventList, kineto_available, record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]


class ProfilerActivity(Enum):
    """What is looked at."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What happens in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """What can be looked at: the CPU."""
    return {ProfilerActivity.CPU}


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """A function from the step's number to what happens: after `skip_first` steps cycles of `wait` idle, `warmup` and `active` recorded ones.

    repeat: how many cycles (0: without end); skip_first_wait: the first cycle begins without its idle steps.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Callable[[Any], None]:
    """An `on_trace_ready` that writes a trace file per profile into a folder."""

    def handle(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return handle


class profile:  # noqa: N801
    """Times every op, in the steps that `schedule` records (all of them without one). `on_trace_ready(prof)` is called after each recorded stretch."""

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[[Any], Any] | None = None, record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, use_cuda: bool | None = None, custom_trace_id_callback: Any = None):
        self.activities = set(activities) if activities is not None else supported_activities()
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready, self.record_shapes = on_trace_ready, record_shapes
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.metadata: dict[str, str] = {}
        self.profiler: _base.profile | None = None
        self._running = False

    def start(self) -> None:
        """Begin."""
        self._act()

    def stop(self) -> None:
        """End; a recorded stretch is handed to `on_trace_ready`."""
        if self._running:
            self._close(True)

    def step(self) -> None:
        """The next step begins."""
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if self._running and (before is ProfilerAction.RECORD_AND_SAVE or self.current_action in (ProfilerAction.NONE, ProfilerAction.WARMUP)):
            self._close(before is ProfilerAction.RECORD_AND_SAVE)
        self._act()

    def _act(self) -> None:
        if not self._running and self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.profiler = _base.profile(record_shapes=self.record_shapes)
            self.profiler.__enter__()
            self._running = True

    def _close(self, ready: bool) -> None:
        if self.profiler is not None:
            self.profiler.__exit__(None, None, None)
        self._running = False
        if ready and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def events(self) -> EventList:
        """The events of the last recorded stretch."""
        if self.profiler is None:
            raise AssertionError("the profiler has not recorded anything yet")
        return self.profiler.function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False) -> EventList:
        """One event per name."""
        return self.events().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace."""
        self.events().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the events as lines for flame graphs."""
        self.events().export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Keep a note with the profile."""
        self.metadata[key] = value
