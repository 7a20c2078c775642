"""What all learning rate schedules have in common: `LRScheduler`, and how options of a group are set."""
from __future__ import annotations

import warnings
import weakref
from functools import wraps
from typing import Any

from saraph.optim.optimizer import Optimizer
from saraph.tensor.tensor import Tensor

__all__ = ["LRScheduler", "EPOCH_DEPRECATION_WARNING", "copy_option", "count_steps", "per_group", "set_option"]
EPOCH_DEPRECATION_WARNING = ("The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
                             "`scheduler.step()` to step the scheduler.")


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; one that is a tensor is filled in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def copy_option(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


class LRScheduler:
    """Base of schedulers: `get_lr()` says the learning rates of the groups after the next step, from `last_epoch` and the present ones."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copy_option(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.")
        self.base_lrs: list[Any] = [copy_option(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        count_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The learning rates set last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates to set (to be overridden)."""
        raise _no_schedule(self)

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning, stacklevel=3)

    def step(self, epoch: int | None = None) -> None:
        """Set the next learning rates. Call it after `optimizer.step()`."""
        if self._step_count == 1 and not self._is_initial and not getattr(self.optimizer, "_opt_called", True):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in "
                          "the opposite order: `optimizer.step()` before `lr_scheduler.step()`. Failure to do this will result in PyTorch "
                          "skipping the first value of the learning rate schedule.", UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                values = closed() if closed is not None else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values):
            set_option(group, "lr", lr)
        self._last_lr = [copy_option(group["lr"]) for group in self.optimizer.param_groups]

    def _present(self) -> list[Any]:
        return [copy_option(group["lr"]) for group in self.optimizer.param_groups]


def _no_schedule(scheduler: LRScheduler) -> Exception:
    return NotImplementedError(f"{type(scheduler).__name__} must define get_lr()")


def count_steps(optimizer: Optimizer) -> None:
    """Note on the optimizer when `step` has been called, to warn about a wrong order of calls."""
    before: Any = optimizer.step
    if getattr(before, "_wrapped_by_lr_sched", False):
        return
    function, ref = before.__func__, weakref.ref(optimizer)

    @wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        own: Any = ref()
        own._opt_called = True
        return function(own, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # functions take attributes
    optimizer._opt_called = False  # type: ignore[attr-defined]
    optimizer.step = step  # type: ignore[method-assign]  # this optimizer's own


def per_group(optimizer: Optimizer, value: Any, name: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != len(optimizer.param_groups):
            raise ValueError(f"Expected {len(optimizer.param_groups)} {name}, but got {len(value)}")
        return list(value)
    return [value] * len(optimizer.param_groups)
