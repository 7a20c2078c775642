"""`symbolic_trace`: running a function or module once with Proxies instead of values, and keeping what it did as a graph."""
from __future__ import annotations

import copy
import functools
import inspect
import math
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import Any

from saraph.fx.codegen import _PyTreeCodeGen, _PyTreeInfo
from saraph.fx.graph import Graph
from saraph.fx.graph_module import GraphModule
from saraph.fx.names import is_shared
from saraph.fx.patching import (
    _autowrap_check,
    _find_proxy,
    _patch_wrapped_functions,
    _Patcher,
    wrap,
)
from saraph.fx.patching import _create_wrapped_func as _create_wrapped_func
from saraph.fx.patching import _create_wrapped_method as _create_wrapped_method
from saraph.fx.patching import _wrapped_fns_to_patch as _wrapped_fns_to_patch
from saraph.fx.patching import _wrapped_methods_to_patch as _wrapped_methods_to_patch
from saraph.fx.proxy import PLAIN_FUNCTIONAL, ParameterProxy, Scope, ScopeContextManager, TracerBase, _assert, with_defaults
from saraph.fx.proxy import Proxy as Proxy
from saraph.nn import functional
from saraph.nn.modules.container import Sequential
from saraph.nn.modules.module import Module
from saraph.ops.registry import NAMESPACES, OF_PUBLIC
from saraph.tensor.parameter import Parameter
from saraph.tensor.state import lower_active, raise_active
from saraph.tensor.tensor import Tensor
from saraph.utils import _pytree as pytree

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing", "is_fx_tracing", "symbolic_trace", "wrap"]
HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_orig_module_call: Callable[..., Any] = Module.__call__
_orig_module_getattr: Callable[..., Any] = Module.__getattr__
_proxyable_classes: dict[type, None] = {}
_tracing = 0


def is_fx_tracing() -> bool:
    """Whether a symbolic trace is running."""
    return _tracing > 0


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """Metaclass of classes whose construction with Proxies is recorded as a call, so that their instances can be arguments of nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        instance = cls.__new__(cls)  # type: ignore[call-overload]
        if not is_fx_tracing():
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        found = _find_proxy(args, kwargs)
        if found is None:
            cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
            return instance
        return found.tracer.create_proxy("call_function", cls, args, kwargs)


class PHBase:
    """A place in `concrete_args` that stays an input."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A place in `concrete_args` that stays an input, with a key to tell it by."""

    def __init__(self, ph_key: str | None = None):
        super().__init__()
        self.ph_key = ph_key


def _patch_function(fn: FunctionType, nargs: int) -> FunctionType:
    """The function with `*args`, `**kwargs` and keyword-only parameters as plain positional ones, so that each can be a Proxy."""
    code: CodeType = fn.__code__
    plain = code.replace(co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~HAS_VARSTUFF)
    return FunctionType(plain, fn.__globals__, fn.__name__, None, fn.__closure__)


class Tracer(TracerBase):
    """Traces functions and modules. Subclasses decide what is a leaf (`is_leaf_module`), how nodes are made (`create_node`), and so on.

    `autowrap_modules` are Python modules whose functions are recorded as calls (`math` by default), `autowrap_functions` further functions;
    `param_shapes_constant` lets shapes of parameters be plain numbers in the trace.
    """

    def __init__(self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Callable[..., Any], ...] = (),
                 param_shapes_constant: bool = False):
        super().__init__()
        found = chain.from_iterable(vars(m).items() for m in autowrap_modules)
        self._autowrap_function_ids = {id(value) for name, value in found if not name.startswith("_") and callable(value)}
        self._autowrap_function_ids.update(id(f) for f in autowrap_functions)
        self._autowrap_search: list[ModuleType] = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.tensor_attrs: dict[Any, str] = {}
        self.root: Module = Module()

    # -- what subclasses change --------------------------------------------------------------------------------------------
    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module becomes one `call_module` node; by default those of `torch.nn` except Sequential do."""
        return m.__module__.startswith(("saraph.nn", "saraph.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """A module's dotted path in the root; NameError where it is not in there."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, module in self.root.named_modules():
            if mod is module:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a submodule does: a node for a leaf, the trace of `forward(*args, **kwargs)` for others."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            number = self.num_calls.get(path, 0)
            self.num_calls[path] = number + 1
            key = f"{scope.module_path}@{number}" if number > 0 else scope.module_path
            self.module_stack[key] = (scope.module_path, scope.module_type)
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module gives: a Proxy for a parameter (and, with `proxy_buffer_attributes`, a buffer)."""
        if isinstance(attr_val, Parameter):
            found = self._attribute_proxy(attr_val, self.root.named_parameters(), parameter_proxy_cache)
            return attr_val if found is None else found
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            found = self._attribute_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
            return attr_val if found is None else found
        return attr_val

    def _attribute_proxy(self, value: Tensor, members: Iterator[tuple[str, Tensor]], cache: dict[str, Any]) -> Any:
        for name, member in members:
            if value is not member:
                continue
            if name not in cache:
                cache[name] = self._get_attr(name, value)
            return cache[name]
        return None

    def _get_attr(self, name: str, value: Tensor) -> Any:
        if self.param_shapes_constant and "proxy_factory_fn" in inspect.signature(self.create_proxy).parameters:
            return self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=lambda node: ParameterProxy(self, node, name, value))
        return self.create_proxy("get_attr", name, (), {})

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name for a new attribute of the root: the prefix with the first number that is free."""
        if not hasattr(self.root, prefix + "0"):
            return prefix + "0"
        number = 1
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes store it: parameters, buffers, tensors and modules become get_attr nodes (new tensors, attributes of the root)."""
        if isinstance(a, Parameter):
            for name, member in self.root.named_parameters():
                if a is member:
                    return self.create_node("get_attr", name, (), {})
            path = self.tensor_attrs.get(a)
            if path is not None:
                return self.create_node("get_attr", path, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(x) for x in a), {})
        if isinstance(a, Tensor):
            path = self.tensor_attrs.get(a)
            if path is None:
                path = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[a] = path
                setattr(self.root, path, a)
            return self.create_node("get_attr", path, (), {})
        if type(a) in _proxyable_classes:
            path = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, path, a)
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)

    # -- inputs ------------------------------------------------------------------------------------------------------------
    def create_args_for_root(self, root_fn: Callable[..., Any], is_module: bool,
                             concrete_args: dict[str, Any] | tuple[Any, ...] | None = None) -> tuple[Callable[..., Any], list[Any]]:
        """(function to call, its arguments): placeholders for the parameters, constants for what `concrete_args` fixes."""
        analysed: Any = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        original_names = list(code.co_varnames)
        names = iter(code.co_varnames)
        args: list[Any] = []
        skipped = 0
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            skipped = 1
            next(names)
            args.append(self.root)
        if isinstance(concrete_args, tuple):
            if len(concrete_args) != total - skipped:
                raise RuntimeError(f"Tracing expected {total - skipped} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(code.co_varnames[skipped:total], concrete_args))
        placeholder = functools.partial(self._placeholder, analysed, inspect.signature(analysed), concrete_args)
        args += [placeholder(next(names)) for _ in range(skipped, total)]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            if code.co_flags & inspect.CO_VARARGS:
                args.append(placeholder("*" + next(names)))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(placeholder("**" + next(names)))
            root_fn = _patch_function(analysed, len(args))
        return self._with_structured_inputs(root_fn, args, original_names[:total])

    def _with_structured_inputs(self, root_fn: Callable[..., Any], args: list[Any],
                                names: list[str]) -> tuple[Callable[..., Any], list[Any]]:
        flat, in_spec = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in in_spec.children_specs):
            return root_fn, args
        codegen = _PyTreeCodeGen(_PyTreeInfo(names, in_spec, None))
        self.graph._codegen = codegen

        def flatten_fn(*leaves: Any) -> Any:
            out, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(leaves), in_spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out

        return flatten_fn, flat

    def _placeholder(self, fn: Any, signature: inspect.Signature, concrete_args: dict[str, Any] | None, name: str) -> Any:
        if concrete_args is not None and name in concrete_args:
            return self._concrete(signature, name, concrete_args[name])
        if name.startswith("*"):
            default: tuple[Any, ...] = ()
        else:
            parameter = signature.parameters[name]
            default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        return self.create_proxy("placeholder", name, default, {}, type_expr=_annotations(fn).get(name))

    def _concrete(self, signature: inspect.Signature, name: str, value: Any) -> Any:
        parameter = signature.parameters[name]
        default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        count = 0

        def place(x: Any) -> Any:
            nonlocal count
            count += 1
            out = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if isinstance(x, PHWithMeta) and x.ph_key is not None:
                    out.node.meta["ph_key"] = x.ph_key
                return out
            message = f"{name} has been specialized to have value {x} but got another value"
            if x is None:
                self.create_proxy("call_function", _assert_is_none, (out, message), {})
            elif isinstance(x, (str, int, float, bool, complex)):
                self.create_proxy("call_function", _assert, (out == x, message), {})
            else:
                warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the user to "
                              "make sure that your inputs match the inputs you specialized the function with.", stacklevel=2)
            return x

        return pytree.tree_map(place, value)

    # -- the trace ---------------------------------------------------------------------------------------------------------
    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module's `forward` (or the method `traced_func_name` names), or of a function."""
        global _tracing
        if isinstance(root, Module):
            self.root = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn: Callable[..., Any] = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {mod: name for name, mod in root.named_modules()}
        else:
            self.root, fn, self.submodule_paths = Module(), root, None
        self.graph = Graph(tracer_cls=getattr(self, "__class__", None))
        self.tensor_attrs = {}
        _collect_tensor_attributes(self.root, [], self.tensor_attrs)
        if not isinstance(inspect.unwrap(fn), FunctionType):
            raise AssertionError(f"Expected a function to trace, got {type(fn)}")
        fn_globals = inspect.unwrap(fn).__globals__  # type: ignore[attr-defined]
        function = fn
        _tracing += 1
        raise_active()
        try:
            fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            with _Patcher() as patcher:
                self._patch_modules(patcher)
                _patch_functional(patcher)
                _patch_wrapped_functions(patcher)
                _autowrap_check(patcher, fn_globals, self._autowrap_function_ids)
                for module in self._autowrap_search:
                    _autowrap_check(patcher, vars(module), self._autowrap_function_ids)
                result = fn(*args)
            annotation = None if isinstance(self.graph._codegen, _PyTreeCodeGen) else _annotations(inspect.unwrap(function)).get("return")
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=annotation)
        finally:
            lower_active()
            _tracing -= 1
            self.submodule_paths = None
        return self.graph

    def _patch_modules(self, patcher: _Patcher) -> None:
        cache: dict[str, Any] = {}
        read, call = Module.__getattr__, Module.__call__

        @functools.wraps(read)
        def module_getattr(mod: Module, attr: str) -> Any:
            return self.getattr(attr, read(mod, attr), cache)

        @functools.wraps(call)
        def module_call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(mod, *args, **kwargs)

            _autowrap_check(patcher, getattr(getattr(mod, "forward", mod), "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        patcher.patch_method(Module, "__getattr__", module_getattr, deduplicate=False)
        patcher.patch_method(Module, "__call__", module_call, deduplicate=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = Tracer.__new__(type(self))
        for key, value in self.__dict__.items():
            made.__dict__[key] = copy.copy(value) if key == "_autowrap_search" else copy.deepcopy(value, memo)
        return made


def _patch_functional(patcher: _Patcher) -> None:
    """Let calls of `nn.functional.relu(x)` and the like note their defaults, which tells them from those of `torch.relu(x)`."""
    for name, fn in list(NAMESPACES["nn.functional"].items()):
        record = OF_PUBLIC.get(fn)
        if record is not None and is_shared(record) and name not in PLAIN_FUNCTIONAL:
            patcher.patch(vars(functional), name, _noting_defaults(fn))


def _noting_defaults(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_defaults(fn, args, kwargs)
        return fn(*args, **kwargs)

    return call


def _annotations(fn: Any) -> dict[str, Any]:
    """A program's annotations (those of saraph's own functions are not the program's)."""
    if (fn.__module__ or "").startswith("saraph."):
        return {}
    try:
        return inspect.get_annotations(fn, eval_str=True)
    except Exception:
        return {k: v for k, v in fn.__annotations__.items() if not isinstance(v, str)}


def _collect_tensor_attributes(module: Module, path: list[str], found: dict[Any, str]) -> None:
    for name, value in module.__dict__.items():
        if isinstance(value, Tensor):
            found[value] = ".".join([*path, name])
    for name, child in module.named_children():
        _collect_tensor_attributes(child, [*path, name], found)


def _assert_is_none(value: Any, msg: str) -> None:
    """The check of an input that was fixed to None."""
    if value is not None:
        raise AssertionError(msg)


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | tuple[Any, ...] | None = None) -> GraphModule:
    """A GraphModule that does what a module or function does, as a graph that can be looked at and changed.

    `concrete_args` fixes arguments, so that control flow on them can be followed; inside structured arguments `fx.PH` marks what stays
    an input. TraceError where the control flow depends on traced values.

    Example::

        traced = fx.symbolic_trace(model)
        print(traced.graph)
        print(traced.code)
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)  # type: ignore[arg-type]
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
