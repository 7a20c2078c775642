"""Which nodes a backend can run: objects with `is_node_supported(submodules, node)`, and ways to combine them."""
from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saraph.dtypes import dtype
from saraph.fx.node import Node
from saraph.fx.passes.shape_prop import TensorMetadata
from saraph.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from saraph.nn.modules.module import Module

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]
IsNodeSupported = Callable[[Mapping[str, Module], Node], bool]
SupportDict = Mapping[str, Any]


class OperatorSupportBase(abc.ABC):
    """Says of a node whether it can be run."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the node can be run; `submodules` are those of the graph's module, by path."""


class OperatorSupport(OperatorSupportBase):
    """A table: {target: None, or (dtypes of each positional argument, {name: dtypes} of keyword arguments)}."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None):
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether the table lists the node's target, for the dtypes of its arguments."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        wanted = self._support_dict[target]
        if wanted is None:
            return True
        by_position, by_name = wanted
        for i, kinds in enumerate(by_position):
            if len(node.args) > i and isinstance(node.args[i], Node) and _get_arg_dtype(node.args[i]) not in kinds:
                return False
        return all(k not in node.kwargs or not isinstance(node.kwargs[k], Node) or _get_arg_dtype(node.kwargs[k]) in kinds
                   for k, kinds in by_name.items())


class _Predicate(OperatorSupportBase):
    def __init__(self, function: IsNodeSupported):
        self._function = function

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """What the function says."""
        return self._function(submodules, node)


def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """An object from a function."""
    return _Predicate(is_node_supported)


def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supported where all say so."""
    return _Predicate(lambda submodules, node: all(s.is_node_supported(submodules, node) for s in op_support))


def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supported where one says so."""
    return _Predicate(lambda submodules, node: any(s.is_node_supported(submodules, node) for s in op_support))


class OpSupports:
    """Ready-made conditions."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: dtype) -> OperatorSupportBase:
        """Not where an input has this dtype."""
        def supported(submodules: Mapping[str, Module], node: Node) -> bool:
            return all(_get_arg_dtype(used) != dtype for used in node.all_input_nodes)

        return _Predicate(supported)

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Not the nodes with these names."""
        return _Predicate(lambda submodules, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> dtype:
    meta: Sequence[Any] | None = arg.meta.get("tensor_meta")
    return meta.dtype if isinstance(meta, TensorMetadata) else arg.meta["type"]
