"""Measuring how long code takes (`torch.utils.benchmark`): Timer, Measurement, Compare."""
from __future__ import annotations

import itertools
import statistics
import timeit
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from saraph.threads import get_num_threads, set_num_threads

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit", "timer", "unit_to_english"]
timer = timeit.default_timer


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time of t seconds is readable, and its length in seconds."""
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if t < scale * 1000:
            return unit, scale
    return "s", 1.0


def unit_to_english(u: str) -> str:
    """The unit's name."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each element once, in order."""
    return list(dict.fromkeys(elements))


@dataclass(frozen=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label with its sub-label, else the statement."""
        return ": ".join(x for x in (self.label or (self.stmt if not self.sub_label else None), self.sub_label) if x)


@dataclass
class Measurement:
    """Times of one task: `raw_times` of blocks of `number_per_run` runs each."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """Seconds per run, one per block."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles of `times`."""
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def has_warnings(self) -> bool:
        """Whether the times scatter so much that they say little."""
        return self.iqr / self.median > 0.1 if self.median else False

    def __getattr__(self, name: str) -> Any:
        if name in ("stmt", "setup", "label", "sub_label", "description", "env", "num_threads", "title"):
            return getattr(self.task_spec, name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count = len(self.raw_times)
        return (f"<saraph.utils.benchmark.Measurement object at {id(self):#x}>\n{self.task_spec.title}\n"
                f"  {'Median' if count > 1 else ''}{': ' if count > 1 else ''}{self.median / scale:.2f} {unit}\n"
                + (f"  IQR:    {self.iqr / scale:.2f} {unit}\n" if count > 3 else "")
                + f"  {count} measurement{'s' if count > 1 else ''}, {self.number_per_run} runs {'per measurement, ' if count > 1 else ', '}"
                f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}")

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of the same task as one each."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).append(m)
        return [Measurement(1, [t for m in ms for t in m.times], spec) for spec, ms in groups.items()]


class Timer:
    """Measures a statement, as `timeit.Timer`, with a number of threads and labels for tables."""

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = timer,
                 globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None, description: str | None = None,
                 env: str | None = None, num_threads: int = 1, language: Any = "python"):
        if str(language).lower() not in ("python", "py", "language.python"):
            raise ValueError(f"Timer measures Python statements, not {language!r}")
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        self._timer = timeit.Timer(stmt, setup, timer, globals=dict(globals or {}))
        self._task = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _run(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._task.num_threads)
        try:
            return self._timer.timeit(max(number, 1))
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One block of `number` runs, after a few to warm up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._task)

    def _block(self, min_run_time: float) -> int:
        number = 1
        while True:
            taken = self._run(number)
            if taken >= min_run_time / 1000 or number >= 1_000_000_000:
                return number
            number *= 10

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of runs until `min_run_time` seconds are spent; blocks are long enough for the clock."""
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
                           callback: Callable[[int, float], Any] | None = None) -> Measurement:
        """Blocks of runs until the quartiles are within `threshold` of the median, or `max_run_time` seconds are spent."""
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
            found = Measurement(number, times, self._task)
            if sum(times) >= min_run_time and len(times) > 3 and found.iqr / found.median < threshold:
                break
        return Measurement(number, times, self._task)


class Compare:
    """A table of measurements: rows by sub-label and threads, columns by description."""

    def __init__(self, results: Sequence[Measurement]):
        self._results: list[Measurement] = []
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More measurements."""
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
            self._results.append(r)

    def trim_significant_figures(self) -> None:
        """Kept for compatibility: figures are shown with one decimal."""
        return None

    def colorize(self, rowwise: bool = False) -> None:
        """Kept for compatibility: the table has no colours."""
        return None

    def highlight_warnings(self) -> None:
        """Kept for compatibility."""
        return None

    def print(self) -> None:
        """Print the table."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        parts = []
        for label, group in itertools.groupby(sorted(merged, key=lambda m: str(m.label)), key=lambda m: m.label):
            ms = list(group)
            unit, scale = select_unit(min(m.median for m in ms))
            columns = ordered_unique(m.description or "" for m in ms)
            width = max(12, *(len(c) for c in columns))
            rows = ordered_unique((m.num_threads, m.sub_label or m.stmt) for m in ms)
            first = max(len(str(r[1])) for r in rows) + 6
            lines = [f"[{label or ''}]".center(first + (width + 2) * len(columns), "-"), " " * first + "".join(f"  {c:>{width}}" for c in columns)]
            threads = None
            for count, name in rows:
                if count != threads:
                    lines.append(f"{count} threads:")
                    threads = count
                cells = [next((m for m in ms if (m.num_threads, m.sub_label or m.stmt, m.description or "") == (count, name, c)), None) for c in columns]
                lines.append(f"      {name:<{first - 6}}" + "".join(f"  {m.median / scale:>{width}.1f}" if m else " " * (width + 2) for m in cells))
            parts.append("\n".join([*lines, "", f"Times are in {unit_to_english(unit)}s ({unit})."]))
        return "\n\n".join(parts)
