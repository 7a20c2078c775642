"""`GraphModule`: a module whose `forward` is made from a graph."""
from __future__ import annotations

import contextlib
import copy
import itertools
import linecache
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from saraph.fx.codegen import PythonCode, _PyTreeCodeGen
from saraph.fx.graph import Graph
from saraph.fx.names import CUSTOM_BUILTINS
from saraph.nn.modules.module import Module
from saraph.nn.modules.sparse import Embedding
from saraph.serialization import save
from saraph.tensor.parameter import Parameter
from saraph.tensor.tensor import Tensor

__all__ = ["GraphModule", "reduce_graph_module"]
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")
_numbers = itertools.count()


def _forward_from_src(src: str, globals: dict[str, Any]) -> Callable[..., Any]:
    """The function that generated source defines; tracebacks show its lines."""
    key = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[key] = (len(src), None, [line + "\n" for line in src.splitlines()], key)
    found = dict(globals)
    found.pop("forward", None)
    exec(compile(src, key, "exec"), found)
    return found.pop("forward")


def _format_import_block(globals: dict[str, Any]) -> str:
    """The import lines that generated source needs in a file of its own."""
    lines = set()
    for name, obj in globals.items():
        if name in CUSTOM_BUILTINS:
            lines.add(CUSTOM_BUILTINS[name][1])
        elif hasattr(obj, "__module__") and hasattr(obj, "__name__"):
            lines.add(f"from {obj.__module__} import {obj.__name__} as {name}" if obj.__name__ != name else f"from {obj.__module__} import {name}")
    return "\n".join(sorted(lines))


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Put what lies at a dotted path of one module at the same path of another; modules on the way are made."""
    *path, field = target.split(".")
    source: Any = from_module
    place: Any = to_module
    for part in path:
        source = getattr(source, part)
        if getattr(place, part, None) is None:
            place.add_module(part, Module())
        elif getattr(place, part) is source:
            return
        place = getattr(place, part)
    value = getattr(source, field)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        if field in source._buffers:
            place.register_buffer(field, value, persistent=field not in source._non_persistent_buffers_set)
        else:
            place.register_buffer(field, value, persistent=False) if not hasattr(place, field) else setattr(place, field, value)
    else:
        setattr(place, field, value)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Put an object at a dotted path; modules on the way are made."""
    *path, field = target.split(".")
    place: Any = to_module
    for part in path:
        if getattr(place, part, None) is None:
            setattr(place, part, Module())
        place = getattr(place, part)
    if isinstance(from_obj, Tensor) and not isinstance(from_obj, Parameter):
        place.register_buffer(field, from_obj)
    else:
        setattr(place, field, from_obj)


def _get_attr(model: Any, attr_name: str) -> Any:
    """What lies at a dotted path."""
    for part in attr_name.split("."):
        model = getattr(model, part)
    return model


def _has_attr(model: Any, attr_name: str) -> bool:
    """Whether something lies at a dotted path."""
    for part in attr_name.split("."):
        if not hasattr(model, part):
            return False
        model = getattr(model, part)
    return True


def _del_attr(model: Any, attr_name: str) -> None:
    """Remove what lies at a dotted path."""
    path, _, field = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, field)


class _CodeOnlyModule(Module):
    """A module with another's attributes, whose `forward` comes from source."""

    def __init__(self, body: dict[str, Any]):
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[str, Any], graph: Graph, class_name: str) -> GraphModule:
    """The GraphModule that a pickle describes."""
    module = GraphModule(_CodeOnlyModule(dict(body)), graph, class_name)
    for name, value in body.items():
        if name not in module.__dict__ or name in ("_modules", "_parameters", "_buffers"):
            module.__dict__[name] = value
    return module


class GraphModule(Module):
    """A module whose `forward` is the code of its `graph`, with the attributes that the graph names.

    `graph` may be changed in place; `recompile()` then makes `forward` anew (assigning `graph` does too). `code` is the source. The module
    can be called, trained, traced again, deep-copied and pickled like any other. `root` is the module to take attributes from, or a dict
    from dotted paths to them.

    Example::

        module = fx.symbolic_trace(model)
        for node in module.graph.nodes:
            if node.target == torch.relu:
                node.target = torch.nn.functional.gelu
        module.recompile()
    """

    _code: str
    meta: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        """Each instance gets a class of its own, since its forward is its own."""
        base = next(c for c in cls.__mro__ if "GraphModuleImpl" not in c.__qualname__)
        own = type("GraphModuleImpl", (base,), {"__qualname__": "GraphModule.__new__.<locals>.GraphModuleImpl", "__module__": base.__module__})
        return super().__new__(own)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        targets = [str(n.target) for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in ``root``!")
            for target in sorted(set(targets), key=lambda t: t.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}
        if isinstance(root, Module) and isinstance(getattr(root, "meta", None), dict):
            self.meta = copy.copy(root.meta)
        for name in _HOOKS:
            setattr(self, name, [])
        self.graph = graph
        for name, value in self.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(self, name, value)

    # -- graph and code ----------------------------------------------------------------------------------------------------
    @property
    def graph(self) -> Graph:
        """The graph that `forward` runs."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Make `forward` from the graph as it is now."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen) and self._graph._codegen.pytree_info is not None:
            info = self._graph._codegen.pytree_info
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        code = self._graph.python_code(root_module="self")
        self._code = code.src
        self._lineno_map, self._prologue_start = code._lineno_map, code._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_from_src(code.src, code.globals)
        return code

    def print_readable(self, print_output: bool = True, include_stride: bool = False, include_device: bool = False, colored: bool = False, *,
                       fast_sympy_print: bool = False, expanded_def: bool = False, additional_meta: list[str] | None = None) -> str:
        """The source for reading, as a class with the inner GraphModules; shapes where shape propagation noted them. Returned, and printed."""
        text = _readable(self, self._get_name(), include_stride=include_stride, include_device=include_device, colored=colored,
                         expanded_def=expanded_def, additional_meta=additional_meta)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return "\n".join([super().__repr__(), self._code, "# To see more debug info, please use `graph_module.print_readable()`"])

    # -- submodules --------------------------------------------------------------------------------------------------------
    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a dotted path (empty modules are made on the way); False where something else is in the way."""
        *path, field = target.split(".")
        place: Module = self
        for part in path:
            inner = getattr(place, part, None)
            if inner is None:
                inner = Module()
                setattr(place, part, inner)
            if not isinstance(inner, Module):
                return False
            place = inner
        place.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a dotted path; False where there is none. Nodes that use it are not looked at."""
        *path, field = target.split(".")
        place: Any = self
        for part in path:
            place = getattr(place, part, None)
            if not isinstance(place, Module):
                return False
        if not isinstance(getattr(place, field, None), Module):
            return False
        delattr(place, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node calls or reads from."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = str(node.target).split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                with contextlib.suppress(AttributeError):
                    inner = self.get_submodule(str(node.target))
                    used.update(f"{node.target}.{name}" for name, _ in inner.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # -- copying and saving ------------------------------------------------------------------------------------------------
    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        extra = {k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code", "_lineno_map", "_prologue_start")}
        holder = _CodeOnlyModule(copy.deepcopy(extra, memo))
        graph = copy.deepcopy(self._graph, memo)
        made.__init__(holder, graph, self._get_name())  # type: ignore[misc]
        made.__dict__.update({k: v for k, v in holder.__dict__.items() if k not in made.__dict__ or k in ("_modules", "_parameters", "_buffers",
                                                                                                          "meta", *_HOOKS)})
        for name, value in holder.__dict__.items():
            if name.endswith("_hooks") or "_hooks_" in name:
                made.__dict__[name] = value
        made.training = self.training
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph, self._get_name())
        made.meta = getattr(self, "meta", {})
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        body = self.__dict__.copy()
        for name in ("_graph", "_code", "_lineno_map", "_prologue_start"):
            body.pop(name, None)
        return reduce_graph_module, (body, self._graph, self._get_name())

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as a Python package: `from folder import FxModule; FxModule()` makes it again. Needs no fx to run.

        Submodules whose repr makes them again stand in the source; others are saved beside it.
        """
        path = Path(folder)
        path.mkdir(exist_ok=True)
        save(self.state_dict(), path / "state_dict.pt")
        code = self.graph.python_code(root_module="self")
        lines = [f"setattr(self, {name!r}, {self._as_source(path, name, module)})" for name, module in self.named_children()]
        for table, form in ((self._buffers, "self.register_buffer({!r}, torch.empty({}, dtype={}))"),
                            (self._parameters, "setattr(self, {!r}, torch.nn.Parameter(torch.empty({}, dtype={})))")):
            lines += [form.format(name, list(value.shape), value.dtype) for name, value in table.items() if value is not None]
        lines.append(f"self.load_state_dict(torch.load(r'{path.resolve() / 'state_dict.pt'}'))")
        constructor = "".join(f"        {line}\n" for line in lines)
        forward = "\n".join("    " + line if line else "" for line in code.src.strip("\n").rstrip().split("\n"))
        text = (f"{_format_import_block(code.globals)}\n\nfrom saraph.nn import *\n\n\nclass {module_name}(torch.nn.Module):\n"
                f"    def __init__(self):\n        super().__init__()\n{constructor}\n{forward}\n")
        (path / "module.py").write_text(text)
        (path / "__init__.py").write_text("from .module import *\n")

    @staticmethod
    def _as_source(path: Path, name: str, module: Module) -> str:
        if type(module).__module__.startswith("saraph.nn") and not list(module.children()) and not isinstance(module, (Embedding, GraphModule)):
            return repr(module)
        file = path / f"{name}.pt"
        save(module, file)
        return f"torch.load(r'{file.resolve()}', weights_only=False) # {module._get_name()}"

    def _replicate_for_data_parallel(self) -> GraphModule:
        made = self.__copy__()
        made._is_replica = True
        return made

    # -- hooks on changes --------------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.remove(f)


def _readable(module: GraphModule, name: str, **options: Any) -> str:
    source = module._graph.python_code(root_module="self", verbose=True, **options).src.lstrip("\n")
    text = f"class {name}(torch.nn.Module):\n{_indented(source, 4)}"
    inner = [_readable(child, key, **options) for key, child in module.named_children() if isinstance(child, GraphModule)]
    return _indented("\n".join([text, *inner]), 0)


def _indented(text: str, by: int) -> str:
    lines = [(" " * by + line) if line.strip() else "" for line in text.split("\n")]
    return "\n".join(lines)
