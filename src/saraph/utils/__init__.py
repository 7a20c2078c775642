"""Utilities of training: data loading, checkpointing."""
from saraph.tensor.interop import swap_tensors
from saraph.utils import _pytree, checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "swap_tensors"]
