"""The Tensor class, its place in the backward graph, and what is known about it without computing anything."""
from saraph.tensor import attributes, interop, parameter, shared_memory, storages, subclass
from saraph.tensor.node import Node, RemovableHandle, derivative
from saraph.tensor.state import state, thread
from saraph.tensor.tensor import Tensor, record, record_many, unpack, view_of, wrap

__all__ = ["Node", "RemovableHandle", "Tensor", "attributes", "derivative", "interop", "parameter", "record", "record_many", "shared_memory",
           "state", "storages", "subclass", "thread", "unpack", "view_of",
           "wrap"]
