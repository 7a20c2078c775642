"""Averages of models over training: SWA (Izmailov et al. 2018) and exponential moving averages."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from saraph import dtypes
from saraph.autograd import no_grad
from saraph.nn.modules.batchnorm import _BatchNorm
from saraph.nn.modules.module import Module
from saraph.ops.creation import tensor
from saraph.optim.optimizer import Optimizer
from saraph.optim.scheduler import LRScheduler, per_group
from saraph.tensor.tensor import Tensor

__all__ = ["AveragedModel", "update_bn", "SWALR", "get_ema_multi_avg_fn", "get_swa_multi_avg_fn", "get_ema_avg_fn", "get_swa_avg_fn"]


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """`(average, value, count) -> decay average + (1 - decay) value`."""
    _check_decay(decay)

    def average(ema: Tensor, value: Tensor, count: Any) -> Tensor:
        return decay * ema + (1 - decay) * value

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """As `get_ema_avg_fn`, in place over lists."""
    _check_decay(decay)

    def update(averages: list[Tensor], values: list[Tensor], count: Any) -> None:
        with no_grad():
            for a, v in zip(averages, values):
                if a.is_floating_point() or a.is_complex():
                    a.add_((v - a) * (1.0 - decay))
                else:
                    a.copy_(a * decay + v * (1 - decay))

    return update


def get_swa_avg_fn() -> Callable:
    """`(average, value, count) -> average + (value - average) / (count + 1)`."""

    def average(swa: Tensor, value: Tensor, count: Any) -> Tensor:
        return swa + (value - swa) / (count + 1)

    return average


def get_swa_multi_avg_fn() -> Callable:
    """As `get_swa_avg_fn`, in place over lists."""

    def update(averages: list[Tensor], values: list[Tensor], count: Any) -> None:
        with no_grad():
            for a, v in zip(averages, values):
                a.copy_(a + (v - a) / (count + 1))

    return update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model whose parameters are running averages: call `update_parameters(model)` after each step."""

    def __init__(self, model: Module, device: Any = None, avg_fn: Callable | None = None, multi_avg_fn: Callable | None = None,
                 use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=dtypes.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's result."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the model's present parameters into the averages."""
        own = list(itertools.chain(self.module.parameters(), self.module.buffers()) if self.use_buffers else self.parameters())
        new = list(itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters())
        with no_grad():
            count = self.n_averaged.item()
            if count == 0:
                for a, v in zip(own, new):
                    a.copy_(v)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn([a.detach() for a in own], [v.detach() for v in new], self.n_averaged)
            else:
                average = self.avg_fn or get_swa_avg_fn()
                for a, v in zip(own, new):
                    a.copy_(average(a.detach(), v.detach(), self.n_averaged))
            if not self.use_buffers:
                for a, v in zip(self.module.buffers(), model.buffers()):
                    a.copy_(v)
            self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of a model's batch norms anew, by one pass over the data."""
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta = {m: m.momentum for m in norms}
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    was_training = model.training
    model.train()
    with no_grad():
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(batch.to(device) if device is not None else batch)
    for m, momentum in momenta.items():
        m.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals the rates to `swa_lr` over `anneal_epochs`, then holds them."""

    def __init__(self, optimizer: Optimizer, swa_lr: float | list[float], anneal_epochs: int = 10, anneal_strategy: str = "cos",
                 last_epoch: int = -1) -> None:
        for value, group in zip(per_group(optimizer, swa_lr, "swa_lr"), optimizer.param_groups):
            group["swa_lr"] = value
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch: int) -> float:
        done = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * done)) / 2 if self.anneal_strategy == "cos" else done

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(max(0, step - 1)), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates
