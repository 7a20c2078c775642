"""`Interpreter` runs a graph node by node; `Transformer` runs it into a new graph."""
from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saraph.fx._symbolic_trace import Tracer
from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.node import Argument, Node, Target, map_aggregate, map_arg
from saraph.fx.proxy import Proxy
from saraph.nn.modules.module import Module

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a GraphModule one node at a time. Override `run_node`, or one method per kind of node, to look on or to do something else.

    Values are dropped after their last use unless `garbage_collect_values` is False. An error gets the node that was running added to its text.

    Example::

        class WithGelu(fx.Interpreter):
            def call_function(self, target, args, kwargs):
                return super().call_function(F.gelu if target is torch.relu else target, args, kwargs)

        WithGelu(module).run(x)
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = graph if graph is not None else module.graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for user in reversed(self.graph.nodes):
                for used in user.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(user, []).append(used)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The graph's result for these arguments. `initial_env` gives the values of nodes that need not run.

        `enable_io_processing` puts structured inputs and outputs apart and together, where the graph has such.
        """
        self.env = dict(initial_env) if initial_env is not None else {}
        if enable_io_processing:
            args = tuple(self.graph.process_inputs(*args))
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _explain(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                self.env.pop(used, None)
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` with the inputs in a list, which is emptied so that they need not live to the end."""
        env = dict(zip((n for n in self.graph.nodes if n.op == "placeholder"), args_list))
        args_list.clear()
        return self.run(initial_env=env)

    @contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        yield

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of `run` (all the rest for `*args`), or the default."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The attribute at a path of the module."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a function."""
        if isinstance(target, str):
            raise AssertionError(f"Expected callable target, got string {target}")
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a method of the first argument."""
        own, *rest = args
        return getattr(own, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a submodule."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """What the graph returns."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What lies at a dotted path of the module; RuntimeError where nothing does."""
        value: Any = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(value, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments, with values in place of nodes."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args: Argument, n: Node) -> Any:
        """Values in place of the nodes in an argument of `n`."""
        def load(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues")
            return self.env[used]

        return map_arg(args, load)


def _explain(error: Exception, node: Node) -> None:
    """Add the node to the text of an error."""
    text = f"While executing {node.format_node()}"
    text = f"{error.args[0]}\n\n{text}" if error.args else str(text)
    text += f"\nOriginal traceback:\n{node.stack_trace}"
    if isinstance(error, KeyError):
        text = _Plain(text)
    error.args = (text, *error.args[1:])


class _Plain(str):
    """A text whose repr is itself (KeyError shows reprs)."""

    def __repr__(self) -> str:
        return str(self)


class _TransformerTracer(Tracer):
    def __init__(self, graph: Graph):
        super().__init__()
        self.graph = graph
        self.module_stack = OrderedDict()
        self.tensor_attrs: dict[Any, str] = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Every module stays one call."""
        return True


class Transformer(Interpreter):
    """An Interpreter whose values are Proxies: `transform()` gives a new GraphModule made of what the (overridden) methods did.

    Example::

        class NegSigmSwap(fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function(torch.neg if target is torch.sigmoid else target, args, kwargs)

        new = NegSigmSwap(module).transform()
    """

    def __init__(self, module: Module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """An input of the new graph."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(str(target), default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """An attribute, in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a submodule, in the new graph."""
        module = self.fetch_attr(str(target))
        return self.tracer.create_proxy("call_module", target, args, kwargs) if isinstance(module, Module) else module(*args, **kwargs)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function, in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new GraphModule."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(result, _strip), type_expr=_output_type(self.graph))
        old_nodes = {n.name: n for n in self.graph.nodes}
        for new in self.new_graph.nodes:
            old = old_nodes.get(new.name)
            if old is not None and old.op == new.op and not new.meta:
                new.meta = dict(old.meta)
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)


def _strip(value: Any) -> Any:
    return value.node if isinstance(value, Proxy) else value


def _output_type(graph: Graph) -> Any:
    return next((n.type for n in reversed(graph.nodes) if n.op == "output"), None)
