"""`PassManager`: passes in an order that their constraints allow, run until nothing changes (or a number of times)."""
from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from saraph.fx.graph_module import GraphModule
from saraph.fx.passes.infra.pass_base import PassResult
from saraph.nn.modules.module import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]
Constraint = Callable[[Callable[..., Any], Callable[..., Any]], bool]


def pass_result_wrapper(fn: Callable[..., Any]) -> Callable[..., PassResult | None]:
    """A pass that changes the module and returns None (or the module), as one that returns a PassResult."""
    @functools.wraps(fn)
    def wrapped(gm: GraphModule) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    if not hasattr(fn, "__name__"):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this: Callable[..., Any], that: Callable[..., Any]) -> Constraint:
    """A constraint: the pass `this` runs before the pass `that`."""
    def holds(a: Callable[..., Any], b: Callable[..., Any]) -> bool:
        return not (a == that and b == this)

    return holds


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Callable[..., Any]]) -> None:
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1:], i + 1):
            if not constraint(a, b):
                raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at index {j} in "
                                   "pass list.")


def _topological_sort_passes(passes: list[Callable[..., Any]], constraints: list[Constraint]) -> list[Callable[..., Any]]:
    """The passes in the order given, as far as the constraints allow."""
    before = {p: [q for q in passes if q != p and any(not c(p, q) for c in constraints)] for p in passes}
    done: list[Callable[..., Any]] = []
    waiting = list(passes)
    while waiting:
        ready = next((p for p in waiting if all(q in done for q in before[p])), None)
        if ready is None:
            raise RuntimeError(f"Circular dependency detected within the following passes: {waiting}")
        waiting.remove(ready)
        done.append(ready)
    return done


class PassManager:
    """Runs passes over a module.

    `steps` rounds are run at most; a round in which no pass changes anything is the last. `constraints` are functions of two passes that say
    whether the first may run before the second. `add_checks` adds a check that runs after each round (after each pass with
    `run_checks_after_each_pass`).
    """

    def __init__(self, passes: list[Callable[..., Any]] | None = None, constraints: list[Constraint] | None = None, steps: int | None = None,
                 run_checks_after_each_pass: bool = False, suppress_check_failures: bool = False):
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps if steps is not None else 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Callable[..., Any]) -> None:
        """Add a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint on the order."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """RuntimeError where the passes stand in an order that is not allowed."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes into an order that is allowed."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Add a check `check(module)`, which raises where something is wrong."""
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> None:
        """The check that runs between passes; by default everything is right."""
        return None

    def __call__(self, module: Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self._check(module)
        modified_at_all = False
        for _ in range(self.steps):
            modified = False
            for fn in self.passes:
                module, changed = self._run(fn, module)
                modified = modified or changed
                if self.run_checks_after_each_pass:
                    self._check(module)
            self._check(module)
            modified_at_all = modified_at_all or modified
            if not modified:
                break
        return PassResult(module, modified_at_all)  # type: ignore[arg-type]

    def _run(self, fn: Callable[..., Any], module: Module) -> tuple[Module, bool]:
        name = getattr(fn, "__name__", type(fn).__name__)
        try:
            result = fn(module)
        except Exception as error:
            names = [getattr(p, "__name__", type(p).__name__) for p in self.passes[: self.passes.index(fn)]]
            raise Exception(f"An error occurred when running the '{name}' pass after the following passes: {names}") from error
        if not isinstance(result, PassResult):
            raise TypeError(f"The result of the pass {name} should be type PassResult. Please wrap it with pass_result_wrapper()")
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        return result.graph_module, result.modified

    def _check(self, module: Module) -> None:
        try:
            self.check(module)
        except Exception as error:
            if not self.suppress_check_failures:
                raise
            warnings.warn(f"a check between passes failed: {error}", stacklevel=3)
