"""`PassBase`: a pass as an object."""
from __future__ import annotations

import abc
from typing import NamedTuple

from saraph.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass returns: the module, and whether anything was changed."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A pass: `call` does the work; `requires` checks the module before, `ensures` after."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """Check, run, check."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """The pass itself."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise where the module is not what the pass needs; by default everything is."""
        return None

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise where the module is not what the pass promises; by default everything is."""
        return None
