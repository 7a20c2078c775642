"""Utilities of training: data loading, checkpointing."""
from saraph.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
