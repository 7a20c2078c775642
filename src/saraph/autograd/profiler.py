"""The profiler: which ops ran, how often and for how long (`torch.autograd.profiler`, and the base of `torch.profiler`).

A profiler is a mode that sees every op that is called; ops inside of an op are part of it. Times are those of the CPU's clock.
"""
from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from saraph.ops.overriding import TorchFunctionMode

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "kineto_available", "profile", "record_function"]
_open: list[Recorder] = []


class FunctionEvent:
    """One call, or the sum of all calls of one name (`count`); times in microseconds."""

    def __init__(self, name: str, start: float = 0.0, end: float = 0.0, children: float = 0.0, shapes: Any = (), count: int = 1):
        self.name = self.key = name
        self.start, self.end, self.count, self.input_shapes = start, end, count, shapes
        self.cpu_time_total = end - start
        self.self_cpu_time_total = self.cpu_time_total - children
        self.device_time_total = self.self_device_time_total = 0.0
        self.thread = threading.get_ident()

    @property
    def cpu_time(self) -> float:
        """Microseconds per call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return f"<FunctionEvent {self.name} count={self.count} cpu_time_total={self.cpu_time_total:.1f}us>"


class EventList(list):
    """A list of events, which can be summed, printed as a table and exported."""

    def key_averages(self, group_by_input_shape: bool = False, **_: Any) -> EventList:
        """One event per name (and shapes), with the sums."""
        found: dict[Any, FunctionEvent] = {}
        for e in self:
            key = (e.name, str(e.input_shapes) if group_by_input_shape else "")
            total = found.get(key)
            if total is None:
                total = found[key] = FunctionEvent(e.name, shapes=e.input_shapes if group_by_input_shape else (), count=0)
            total.count += e.count
            total.cpu_time_total += e.cpu_time_total
            total.self_cpu_time_total += e.self_cpu_time_total
        return EventList(found.values())

    def total_average(self) -> FunctionEvent:
        """The sum of all events."""
        total = FunctionEvent("Total", count=0)
        for e in self:
            total.count += e.count
            total.cpu_time_total += e.cpu_time_total
            total.self_cpu_time_total += e.self_cpu_time_total
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events, each instant counted once."""
        return sum(e.self_cpu_time_total for e in self)

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
              header: str | None = None, top_level_events_only: bool = False, **_: Any) -> str:
        """The events as a text table, the largest `sort_by` first."""
        rows = list(self)
        if sort_by is not None:
            key = sort_by if hasattr(FunctionEvent(""), sort_by) else "cpu_time_total"
            rows.sort(key=lambda e: getattr(e, key), reverse=True)
        lines = [header] if header else []
        rule = "-" * max_name_column_width + "  " + "  ".join(["-" * 12] * 4)
        lines += [rule, f"{'Name':>{max_name_column_width}}  {'Self CPU':>12}  {'CPU total':>12}  {'CPU avg':>12}  {'# of Calls':>12}", rule]
        for e in rows[:row_limit]:
            lines.append(f"{e.name[:max_name_column_width]:>{max_name_column_width}}  {e.self_cpu_time_total:>10.1f}us  {e.cpu_time_total:>10.1f}us  "
                         f"{e.cpu_time:>10.1f}us  {e.count:>12}")
        return "\n".join([*lines, rule, f"Self CPU time total: {self.self_cpu_time_total / 1e3:.3f}ms", ""])

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace that Chrome (chrome://tracing) and Perfetto read."""
        events = [{"name": e.name, "ph": "X", "ts": e.start, "dur": e.end - e.start, "pid": 0, "tid": e.thread, "cat": "cpu_op"} for e in self]
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write one line per event, name and time, as flame graph tools read."""
        with open(path, "w") as file:
            file.writelines(f"{e.name.replace(' ', '_')} {int(e.self_cpu_time_total)}\n" for e in self)


class Recorder(TorchFunctionMode):
    """The mode that times ops."""

    def __init__(self, shapes: bool = False):
        self.events = EventList()
        self.shapes = shapes
        self._inside = [0.0]

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Run and time one op."""
        name = getattr(func, "__name__", str(func))
        shapes = [list(a.shape) if hasattr(a, "shape") else [] for a in args] if self.shapes else ()
        return self.timed(f"aten::{name}", lambda: func(*args, **(kwargs or {})), shapes)

    def timed(self, name: str, work: Callable[[], Any], shapes: Any = ()) -> Any:
        """Run `work` as an event."""
        start = self.begin()
        try:
            return work()
        finally:
            self.finish(name, start, shapes)

    def begin(self) -> float:
        """An event starts."""
        self._inside.append(0.0)
        return time.perf_counter_ns() / 1e3

    def finish(self, name: str, start: float, shapes: Any = ()) -> None:
        """It ends."""
        end = time.perf_counter_ns() / 1e3
        children = self._inside.pop()
        self._inside[-1] += end - start
        self.events.append(FunctionEvent(name, start, end, children, shapes))


class profile:  # noqa: N801
    """Context that times every op inside; afterwards `key_averages().table()`, `function_events`, `export_chrome_trace(path)`."""

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None, record_shapes: bool = False,
                 with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False, **_: Any):
        self.enabled = enabled
        self._recorder = Recorder(record_shapes)

    def __enter__(self) -> profile:
        if self.enabled:
            self._recorder.__enter__()
            _open.append(self._recorder)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            _open.remove(self._recorder)
            self._recorder.__exit__(*exc)

    @property
    def function_events(self) -> EventList:
        """The events so far."""
        return self._recorder.events

    def key_averages(self, group_by_input_shape: bool = False, **options: Any) -> EventList:
        """One event per name."""
        return self._recorder.events.key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEvent:
        """The sum of all events."""
        return self._recorder.events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all events."""
        return self._recorder.events.self_cpu_time_total

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a text table."""
        return self._recorder.events.table(*args, **kwargs)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a trace."""
        self._recorder.events.export_chrome_trace(path)


class record_function:  # noqa: N801
    """Context or decorator: a stretch of code appears in profiles under this name."""

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args
        self._starts: list[list[tuple[Recorder, float]]] = []

    def __enter__(self) -> record_function:
        self._starts.append([(r, r.begin()) for r in _open])
        return self

    def __exit__(self, *exc: object) -> None:
        for recorder, start in self._starts.pop():
            recorder.finish(self.name, start)

    def __call__(self, function: Callable) -> Callable:
        """As a decorator."""

        def inside(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return inside


class emit_nvtx:  # noqa: N801
    """Context that marks ops for NVIDIA's profiler: without CUDA only `enabled=False` is possible."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class emit_itt(emit_nvtx):  # noqa: N801
    """Context that marks ops for Intel's profiler: only `enabled=False` is possible."""


def kineto_available() -> bool:
    """Whether PyTorch's tracing library is built in: no."""
    return False
