"""`Proxy`: stands for a value during tracing; whatever is done to it becomes a node of the graph."""
from __future__ import annotations

import copy
import dataclasses
import dis
import enum
import inspect
import operator
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from saraph.devices import device
from saraph.dtypes import dtype
from saraph.fx.graph import Graph, magic_methods, reflectable_magic_methods
from saraph.fx.names import is_shared
from saraph.fx.node import Node, Target
from saraph.fx.operator_schemas import signature_of
from saraph.ops.registry import NAMESPACES, OF_PUBLIC
from saraph.shapes import layout, memory_format
from saraph.tensor.state import lower_active, raise_active
from saraph.tensor.tensor import Tensor

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager", "TraceError", "TracerBase"]
# Functions of nn.functional that keep a call's arguments as they come; the others note their defaults, as keywords.
PLAIN_FUNCTIONAL = frozenset("""adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d bilinear celu_
channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink
hardtanh_ leaky_relu_ linear logsigmoid native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_
rrelu_ scaled_dot_product_attention selu_ softplus softshrink threshold_ sigmoid tanh""".split())
base_types = (str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, enum.Enum, type(None), type(...))
_assert = NAMESPACES["torch"]["_assert"]
_ITERATED = ("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function argument. "
             "See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow can be traced, and check out the "
             "Proxy docstring for help troubleshooting Proxy iteration errors")


class TraceError(ValueError):
    """The program does something that a trace cannot follow: control flow or iteration on traced values."""


class Scope:
    """Which module a trace is in."""

    def __init__(self, module_path: str, module_type: Any):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """A trace inside a submodule: `scope` is changed to `current_scope`, and back at the end."""

    def __init__(self, scope: Scope, current_scope: Scope):
        self._scope, self._before = scope, copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exc: object) -> None:
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """What turns operations on Proxies into nodes of `self.graph`."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]

    def create_node(self, kind: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
                    type_expr: Any | None = None) -> Node:
        """A node from arguments that are nodes and constants; notes the module the trace is in."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = copy.copy(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """The Proxy that stands for a node's value."""
        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
                     type_expr: Any | None = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None) -> Proxy:
        """A node from arguments that may hold Proxies, and the Proxy of its value."""
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(args_, tuple):
            raise AssertionError(f"Expected args_ to be tuple, got {type(args_)}")
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        proxy = self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)
        if self.record_stack_traces and not proxy.node.stack_trace:
            proxy.node.stack_trace = _user_stack()
        return proxy

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes store it: nodes for Proxies, however deep. NotImplementedError for values a graph cannot hold."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._create_key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, base_types):
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (type, Node)) or inspect.isroutine(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        made = self.create_arg(key)
        if isinstance(made, Node) or (isinstance(made, tuple) and any(isinstance(k, Node) for k in made)):
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """`bool(proxy)`: the value is not known, so an `if` cannot be followed (TraceError)."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """`iter(proxy)`: the length is not known (TraceError)."""
        raise TraceError(_ITERATED)

    def keys(self, obj: Proxy) -> Any:
        """`proxy.keys()`, which `**proxy` asks for."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Appends what is done to Proxies made by hand to a graph."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()


def _user_stack() -> str:
    frames = [f for f in traceback.extract_stack() if "/saraph/fx/" not in f.filename.replace("\\", "/")]
    return "".join(traceback.format_list(frames)).strip()


def _instruction(frame: FrameType) -> tuple[list[dis.Instruction], int] | None:
    """The instructions of a frame and the position of the one that runs."""
    found = list(dis.get_instructions(frame.f_code))
    place = next((i for i, inst in enumerate(found) if inst.offset == frame.f_lasti), None)
    return None if place is None else (found, place)


class Proxy:
    """Stands for a value that is not there yet.

    Operators, methods, attributes and functions of saraph on it append nodes and give new Proxies. What needs the value raises TraceError:
    `if x.sum() > 0`, `for row in x`, `f(*x)`. `a, b = x` works (the number is known); `len(x)` and other functions of Python's work
    after `torch.fx.wrap("len")` at module scope. A loop over a known number of things is unrolled.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None):
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        _alive(self)

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__") and k.endswith("__") or k in ("node", "tracer"):
            raise AttributeError(f"'Proxy' object has no attribute '{k}'")
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _alive(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__setstate__({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k != "_counted"})
        return made

    def __del__(self) -> None:
        if self.__dict__.get("_counted"):
            lower_active()

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        """`a, b = proxy` takes as many elements as there are names; any other iteration is the tracer's `iter`."""
        frame = sys._getframe(1)
        found = _instruction(frame)
        if found is not None:
            instruction = found[0][found[1]]
            if instruction.opname == "UNPACK_SEQUENCE":
                return (self[i] for i in range(instruction.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        """Under `tracer.trace_asserts`, `assert proxy` becomes a node; any other use is the tracer's `to_bool`."""
        if self.tracer.trace_asserts:
            found = _instruction(sys._getframe(1))
            if found is not None:
                following = [i.opname for i in found[0][found[1]: found[1] + 4]]
                if any("JUMP" in name and "TRUE" in name for name in following) and "LOAD_ASSERTION_ERROR" in following:
                    self.tracer.create_proxy("call_function", _assert, (self, ""), {})
                    return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """The keys, for `**proxy`."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
                           "torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method: Callable[..., Any], types: Any, args: tuple[Any, ...] | None = None,
                           kwargs: dict[str, Any] | None = None) -> Proxy:
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        tracers = _tracers_in([*args, *kwargs.values()])
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers))
        record = OF_PUBLIC.get(orig_method)
        if record is None:
            return tracer.create_proxy("call_function", orig_method, args, kwargs)
        if "operator" in record.namespaces or orig_method.__name__.startswith(("_getitem", "_setitem")):
            name = "getitem" if "getitem" in orig_method.__name__ else "setitem" if "setitem" in orig_method.__name__ else record.name
            return tracer.create_proxy("call_function", getattr(operator, name), args, kwargs)
        if not record.namespaces:
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        if "nn.functional" in record.namespaces and record.name not in PLAIN_FUNCTIONAL and not is_shared(record):
            args, kwargs = with_defaults(orig_method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


def with_defaults(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments with those that have defaults as keywords, all of them; unchanged where they do not fit."""
    signature = signature_of(func)
    if signature is None:
        return args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    bound.apply_defaults()
    parameters = signature.parameters.values()
    required = [p for p in parameters if p.default is inspect.Parameter.empty]
    if any(p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for p in parameters):
        return args, kwargs
    names = {p.name for p in required}
    return tuple(bound.arguments[p.name] for p in required), {k: v for k, v in bound.arguments.items() if k not in names
                                                                   and not (k in ("out", "cudnn_enable") and v in (None, True))}


def _alive(proxy: Proxy) -> None:
    """While there are Proxies, ops look at the classes of their arguments first."""
    proxy.__dict__["_counted"] = True
    raise_active()


def _tracers_in(values: Any) -> dict[TracerBase, None]:
    found: dict[TracerBase, None] = {}
    for value in values:
        if isinstance(value, Proxy):
            found.setdefault(value.tracer)
        elif isinstance(value, (list, tuple)):
            found.update(_tracers_in(value))
        elif isinstance(value, dict):
            found.update(_tracers_in(value.values()))
        elif isinstance(value, slice):
            found.update(_tracers_in((value.start, value.stop, value.step)))
    return found


class Attribute(Proxy):
    """`proxy.name`: becomes a getattr node only when it is used as a value; when it is called it is a method call."""

    def __init__(self, root: Proxy, attr: str):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None
        _alive(self)

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The getattr node, made when first asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A Proxy of a parameter whose shape is known (`Tracer(param_shapes_constant=True)`): `shape`, `size()`, `ndim` give plain numbers."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor):
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    def size(self) -> Any:
        """The parameter's shape."""
        return self.param.size()

    def dim(self) -> int:
        """The number of dimensions."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.param.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self.param.numel()

    def nelement(self) -> int:
        """The number of elements."""
        return self.param.numel()


def _forward_operator(name: str) -> Callable[..., Proxy]:
    target = getattr(operator, name if name not in ("and", "or") else f"{name}_")

    def impl(*args: Any, **kwargs: Any) -> Proxy:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    impl.__name__ = f"__{name}__"
    return impl


def _reflected_operator(name: str) -> Callable[[Proxy, Any], Proxy]:
    target = getattr(operator, name if name not in ("and", "or") else f"{name}_")

    def impl(self: Proxy, rhs: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    impl.__name__ = f"__r{name}__"
    return impl


for _name in magic_methods:
    setattr(Proxy, f"__{_name}__", _forward_operator(_name))
for _name in reflectable_magic_methods:
    setattr(Proxy, f"__r{_name}__", _reflected_operator(_name))
