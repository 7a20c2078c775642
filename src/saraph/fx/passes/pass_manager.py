"""The older manager: passes as functions from module to module, in an order that constraints allow."""
from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from saraph.fx.passes.infra.pass_manager import _validate_pass_schedule_constraint, this_before_that_pass_constraint

__all__ = ["PassManager", "inplace_wrapper", "log_hook", "loop_pass", "these_before_those_pass_constraint", "this_before_that_pass_constraint"]
logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A pass that changes its module and returns something else, as one that returns the module."""
    @functools.wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Callable[..., Any], level: int = logging.INFO) -> Callable[..., Any]:
    """A pass that also logs its result."""
    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, result)
        return result

    return wrapped


def loop_pass(base_pass: Callable[[Any], Any], n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None) -> Callable[[Any], Any]:
    """A pass run `n_iter` times, or for as long as `predicate(module)` holds (exactly one of the two)."""
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @functools.wraps(base_pass)
    def looped(source: Any) -> Any:
        if n_iter is not None:
            for _ in range(n_iter):
                source = base_pass(source)
            return source
        while predicate(source):  # type: ignore[misc]
            source = base_pass(source)
        return source

    return looped


def these_before_those_pass_constraint(these: Callable[..., Any], those: Callable[..., Any]) -> Callable[..., bool]:
    """A constraint: passes equal to `these` run before passes equal to `those`."""
    return this_before_that_pass_constraint(these, those)


class PassManager:
    """Runs passes `module = fn(module)` one after the other, after checking the constraints on their order."""

    def __init__(self, passes: list[Callable[..., Any]] | None = None, constraints: list[Callable[..., Any]] | None = None):
        self.passes = passes or []
        self.constraints = constraints or []
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Callable[..., Any]]) -> PassManager:
        """A manager without constraints."""
        return cls(passes)

    def add_pass(self, _pass: Callable[..., Any]) -> None:
        """Add a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[..., Any]) -> None:
        """Add a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Remove the passes with these names."""
        self.passes = [p for p in self.passes if getattr(p, "__name__", type(p).__name__) not in _passes]
        self._validated = False

    def replace_pass(self, _target: Callable[..., Any], _replacement: Callable[..., Any]) -> None:
        """Put one pass in the place of another (found by name)."""
        name = _target.__name__
        self.passes = [_replacement if getattr(p, "__name__", type(p).__name__) == name else p for p in self.passes]
        self._validated = False

    def validate(self) -> None:
        """RuntimeError where the passes stand in an order that is not allowed."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def __call__(self, source: Any) -> Any:
        self.validate()
        for fn in self.passes:
            source = fn(source)
        return source
