"""`torch.nn.utils.stateless`: the old place of `torch.func.functional_call`."""
from __future__ import annotations

import warnings
from typing import Any

from saraph.nn.modules.module import Module
from saraph.nn.utils import calling
from saraph.tensor.tensor import Tensor

__all__ = ["functional_call"]


def functional_call(module: Module, parameters_and_buffers: dict[str, Tensor], args: Any = None, kwargs: dict[str, Any] | None = None, *,
                    tie_weights: bool = True, strict: bool = False) -> Any:
    """`torch.func.functional_call` under its old name."""
    warnings.warn("This API is deprecated as of PyTorch 2.0 and will be removed in a future version of PyTorch. Please use "
                  "torch.func.functional_call instead which is a drop-in replacement.", FutureWarning, stacklevel=2)
    return calling.functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
