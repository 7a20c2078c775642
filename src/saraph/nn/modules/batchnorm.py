"""Batch and instance normalisation, with running statistics, and their lazy forms."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.nn import functional as F
from saraph.nn import init
from saraph.nn.modules.lazy import LazyModuleMixin
from saraph.nn.modules.module import Module
from saraph.ops.creation import empty, ones, tensor, zeros
from saraph.tensor.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from saraph.tensor.tensor import Tensor

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyBatchNorm1d",
           "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d"]


class _NormBase(Module):
    """Affine parameters and running statistics per channel."""

    _version = 2
    ranks: tuple[int, ...] = ()  # of the inputs it takes

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = Parameter(empty(num_features, device=device, dtype=dtype))
            self.register_parameter("bias", Parameter(empty(num_features, device=device, dtype=dtype)) if bias else None)
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        if track_running_stats:
            self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", tensor(0, dtype=dtypes.int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Scale 1, shift 0, and fresh statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            raise ValueError(f"expected {' or '.join(f'{r}D' for r in self.ranks)} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict, *rest: Any) -> None:
        """State dicts older than version 2 have no batch counter."""
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            counter = self.num_batches_tracked
            state_dict[key] = counter if counter is not None and not counter.is_meta else tensor(0, dtype=dtypes.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, *) -> same shape. In training the batch's own statistics are used, and the running ones updated."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if keep else None, self.running_var if keep else None, self.weight, self.bias, by_batch,
                            factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (batch, channels) or (batch, channels, length) (Ioffe and Szegedy 2015)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (batch, channels, height, width) (Ioffe and Szegedy 2015)."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (batch, channels, depth, height, width) (Ioffe and Szegedy 2015)."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over a process group; with one process it is batch normalisation."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
                 process_group: Any = None, device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with every BatchNorm replaced by a SyncBatchNorm of the same parameters and statistics."""
        found = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            found = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group)
            if module.affine:
                found.weight, found.bias = module.weight, module.bias
            found.running_mean, found.running_var = module.running_mean, module.running_var
            found.num_batches_tracked, found.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            found.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return found


class _InstanceNorm(_NormBase):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False, track_running_stats: bool = False,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """(batch, channels, *) or (channels, *) -> same shape; every sample and channel by its own statistics."""
        self._check_input_dim(input)
        batched = self.ranks[1]
        if input.size(input.dim() - batched + 1) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={input.dim() - batched + 1} to match num_features ({self.num_features}), but got: "
                                 f"{input.size(input.dim() - batched + 1)}.")
        if input.dim() == batched - 1:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)

    def _normalise(self, input: Tensor) -> Tensor:
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias, self.training or not self.track_running_stats,
                               momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (batch, channels, length) (Ulyanov et al. 2016)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (batch, channels, height, width) (Ulyanov et al. 2016)."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (batch, channels, depth, height, width) (Ulyanov et al. 2016)."""

    ranks = (4, 5)


class _LazyNorm(LazyModuleMixin, _NormBase):
    """Learns `num_features` from the first input."""

    instance = False

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            self.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype) if bias else None)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=dtypes.int64, device=device)

    def reset_parameters(self) -> None:
        """Nothing to fill while the shape is unknown."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `num_features` from the input."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[input.dim() - self.ranks[1] + 1] if self.instance else input.shape[1]
        if self.affine:
            self.weight.materialize((self.num_features,))
            if self.bias is not None:
                self.bias.materialize((self.num_features,))
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))
            self.running_var.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, _BatchNorm):
    """A BatchNorm1d that learns `num_features` from its first input."""

    cls_to_become, ranks = BatchNorm1d, (2, 3)


class LazyBatchNorm2d(_LazyNorm, _BatchNorm):
    """A BatchNorm2d that learns `num_features` from its first input."""

    cls_to_become, ranks = BatchNorm2d, (4,)


class LazyBatchNorm3d(_LazyNorm, _BatchNorm):
    """A BatchNorm3d that learns `num_features` from its first input."""

    cls_to_become, ranks = BatchNorm3d, (5,)


class LazyInstanceNorm1d(_LazyNorm, _InstanceNorm):
    """An InstanceNorm1d that learns `num_features` from its first input."""

    cls_to_become, ranks, instance = InstanceNorm1d, (2, 3), True


class LazyInstanceNorm2d(_LazyNorm, _InstanceNorm):
    """An InstanceNorm2d that learns `num_features` from its first input."""

    cls_to_become, ranks, instance = InstanceNorm2d, (3, 4), True


class LazyInstanceNorm3d(_LazyNorm, _InstanceNorm):
    """An InstanceNorm3d that learns `num_features` from its first input."""

    cls_to_become, ranks, instance = InstanceNorm3d, (4, 5), True
