"""`torch.library`: ops of one's own, with derivatives, shapes and batching, under `torch.ops.<namespace>.<name>`.

    @custom_op("mylib::scale", mutates_args=())
    def scale(x: Tensor, factor: float) -> Tensor:
        return x * factor

    scale.register_autograd(lambda ctx, g: (g * ctx.factor, None), setup_context=remember)
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from saraph.autograd.function import Function
from saraph.autograd.gradcheck import gradcheck
from saraph.ops import OPS
from saraph.tensor.state import thread
from saraph.tensor.tensor import Tensor, needs_grad

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl", "impl_abstract", "infer_schema", "opcheck",
           "register_autocast", "register_autograd", "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap", "ops", "classes"]
_TABLE: dict[str, CustomOpDef] = {}
_TYPES = {"Tensor": "Tensor", "int": "SymInt", "float": "float", "bool": "bool", "str": "str", "device": "Device", "dtype": "ScalarType", "Number": "Scalar"}


class CustomOpDef:
    """A custom op: call it, or register what it does for a device, for shapes alone, for derivatives, for batches."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable | None = None, mutates_args: Any = (), tags: Any = ()):
        self._namespace, self._name, self._schema, self.mutates_args, self.tags = namespace, name, schema, mutates_args, tags
        self._kernels: dict[str, Callable] = {} if fn is None else {"default": fn}
        self._fake: Callable | None = None
        self._backward: Callable | None = None
        self._setup: Callable | None = None
        self._vmap: Callable | None = None
        self._autocast: dict[str, Any] = {}
        self._init_fn = fn
        self.__name__ = name
        self._functions: dict[tuple[str, ...], type[Function]] = {}

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def default(self) -> CustomOpDef:
        """The op under its overload's name."""
        return self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Any:
        """What to run for tensors of these device types (a name, several, or None for all). Also a decorator."""

        def enter(function: Callable) -> Callable:
            for kind in ("default",) if device_types is None else (device_types,) if isinstance(device_types, str) else device_types:
                self._kernels[kind] = function
            return function

        return enter if fn is None else enter(fn)

    def register_fake(self, fn: Callable, /) -> Callable:
        """What to run for tensors without values (device "meta"): it makes results of the right shapes and dtypes. Also a decorator."""
        if self._fake is not None:
            raise RuntimeError(f"register_fake(...): the operator {self._qualname} already has an fake impl registered.")
        self._fake = fn
        return fn

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """The derivative: backward(ctx, *grads) gives a gradient or None per argument; setup_context(ctx, inputs, output) keeps what it needs."""
        if self.mutates_args:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self._qualname} with schema {self._schema}. Please create a "
                               "functional operator and register an autograd formula for that.")
        self._backward, self._setup, self._functions = backward, setup_context, {}

    def register_vmap(self, func: Callable | None = None) -> Any:
        """The batched form, func(info, in_dims, *args) -> (result, out_dims), for `call_batched`. `torch.vmap` runs the op per sample. Also a decorator."""

        def enter(function: Callable) -> Callable:
            self._vmap = function
            return function

        return enter if func is None else enter(func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """The dtype that floating inputs are cast to while autocast is on for a device type."""
        self._autocast[device_type] = cast_inputs

    def _run(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        kind = tensors[0].device.type if tensors else "cpu"
        kernel = self._fake if kind == "meta" and self._fake is not None else self._kernels.get(kind, self._kernels.get("default"))
        if kernel is None:
            raise NotImplementedError(f"{self._qualname}: no kernel for device type '{kind}'. Register one with torch.library.register_kernel or impl.")
        return kernel(*args, **kwargs)

    def _differentiable(self, names: tuple[str, ...]) -> type[Function]:
        """The Function of a call with these keyword-only arguments, which come last."""
        found = self._functions.get(names)
        if found is not None:
            return found
        owner = self

        class Custom(Function):
            @staticmethod
            def forward(ctx: Any, *values: Any) -> Any:
                count = len(values) - len(names)
                args, kwargs = values[:count], dict(zip(names, values[count:]))
                output = owner._run(args, kwargs)
                if owner._setup is not None:
                    extra = {"keyword_only_inputs": kwargs} if kwargs else {}
                    owner._setup(ctx, inputs=args, output=output, **extra)
                return output

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                results = owner._backward(ctx, *grads)  # type: ignore[misc]
                return (*(results if isinstance(results, tuple) else (results,)), *([None] * len(names)))

        Custom.__name__ = self._name
        self._functions[names] = Custom
        return Custom

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if thread.autocast is not None and self._autocast:
            args = tuple(self._cast(a) for a in args)
        if self._backward is None or not thread.grad or not any(isinstance(a, Tensor) and needs_grad(a) for a in (*args, *kwargs.values())):
            return self._run(args, kwargs)
        if self._init_fn is not None:
            bound = inspect.signature(self._init_fn).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return self._differentiable(tuple(kwargs)).apply(*args, *kwargs.values())

    def _cast(self, value: Any) -> Any:
        kind = self._autocast.get(value.device.type) if isinstance(value, Tensor) else None
        on = isinstance(value, Tensor) and thread.autocast is not None and value.device.type in thread.autocast
        return value.to(kind) if kind is not None and on and value.is_floating_point() else value


class _Namespace:
    """`torch.ops.<name>`: the ops of a namespace as attributes."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = _TABLE.get(f"{self._name}::{name}")
        if found is None and self._name in ("aten", "prims"):
            record = OPS.get(name)
            if record is not None:
                return record.public
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found

    def __dir__(self) -> list[str]:
        return [k.split("::")[1] for k in _TABLE if k.startswith(self._name + "::")]


class _Ops:
    """`torch.ops`."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        space = _Namespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path: str) -> None:
        """Load a shared library of C++ ops, which saraph cannot use."""
        raise OSError(f"saraph cannot load ops from the shared library {path!r}: they are written against PyTorch's C++ interface")


ops = _Ops()
classes = _Ops()


def _qualified(name: str) -> tuple[str, str]:
    if name.count("::") != 1:
        raise ValueError(f"Expected op name to be of the form 'namespace::name', got {name!r}")
    space, short = name.split("::")
    return space, short.split(".")[0]


def _type_text(annotation: Any, mutated: str) -> str:
    if isinstance(annotation, str):
        text = annotation
    else:
        text = str(annotation) if hasattr(annotation, "__args__") else getattr(annotation, "__name__", str(annotation))
    text = text.replace("typing.", "").replace("saraph.", "").replace("torch.", "").replace("tensor.", "")
    optional = text.startswith("Optional[") or "None" in text
    text = text.removeprefix("Optional[").replace(" | None", "").replace("None | ", "")
    text = text[:-1] if optional and text.endswith("]") and text.count("]") > text.count("[") else text
    for head in ("List[", "Sequence[", "list[", "collections.abc.Sequence["):
        if text.startswith(head):
            return _type_text(text[len(head):-1], mutated) + "[]" + ("?" if optional else "")
    base = _TYPES.get(text.split(".")[-1], text)
    return base + (mutated if base == "Tensor" else "") + ("?" if optional else "")


def infer_schema(prototype_function: Callable, /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """The schema of a function, from its annotations: '(Tensor x, float factor=1.0) -> Tensor'."""
    signature = inspect.signature(prototype_function)
    parts, starred, marks = [], False, 0
    for p in signature.parameters.values():
        if p.annotation is inspect.Parameter.empty:
            raise ValueError(f"infer_schema(func): Parameter {p.name} must have a type annotation. Got func with signature {signature})")
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        written = mutates_args == "unknown" or p.name in mutates_args
        mark = f"(a{marks}!)" if written else ""
        marks += written
        default = "" if p.default is inspect.Parameter.empty else f"={p.default!r}" if not isinstance(p.default, str) else f'="{p.default}"'
        parts.append(f"{_type_text(p.annotation, mark)} {p.name}{default}")
    out = signature.return_annotation
    if out is None or out == "None" or out is inspect.Signature.empty:
        result = "()"
    elif hasattr(out, "__args__") and "uple" in str(out):
        result = "(" + ", ".join(_type_text(a, "") for a in out.__args__) + ")"
    else:
        result = _type_text(out, "")
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def custom_op(name: str, fn: Callable | None = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None, schema: str | None = None,
              tags: Sequence[Any] | None = None) -> Any:
    """Make a function an op named 'namespace::name'. Also a decorator.

    mutates_args: the names of the arguments it writes to; device_types: where the function works (default: everywhere).
    """

    def make(function: Callable) -> CustomOpDef:
        space, short = _qualified(name)
        text = schema if schema is not None else infer_schema(function, mutates_args=mutates_args)
        found = CustomOpDef(space, short, text, None, () if mutates_args == "unknown" else tuple(mutates_args), tags or ())
        found._init_fn = function
        found.register_kernel(device_types, function)
        _TABLE[found._qualname] = found
        return found

    return make if fn is None else make(fn)


def _of(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    space, short = _qualified(op)
    found = _TABLE.get(f"{space}::{short}")
    if found is None:
        raise RuntimeError(f"operator {op} does not exist: define it with torch.library.custom_op or torch.library.define first")
    return found


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare an op by its name and schema; what it does is given by `impl`."""
    space, short = _qualified(qualname)
    if not isinstance(schema, str) or "->" not in schema:
        raise ValueError(f"define: expected a schema such as '(Tensor x) -> Tensor', got {schema!r}")
    if f"{space}::{short}" in _TABLE:
        raise RuntimeError(f"Tried to register an operator ({qualname}{schema}) with the same name and overload name multiple times.")
    _TABLE[f"{space}::{short}"] = CustomOpDef(space, short, schema)


_KEYS = {"cpu": "cpu", "meta": "meta", "cuda": "cuda", "compositeimplicitautograd": "default", "compositeexplicitautograd": "default", "default": "default"}


def impl(qualname: str, types: Any, func: Callable | None = None, *, lib: Any = None) -> Any:
    """What an op does for device types ("cpu", "cuda", several, or "default"). Also a decorator."""

    def enter(function: Callable) -> Callable:
        for kind in (types,) if isinstance(types, str) else types:
            _of(qualname).register_kernel(_KEYS.get(kind.lower(), kind.lower()), function)
        return function

    return enter if func is None else enter(func)


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """As `CustomOpDef.register_kernel`, by the op or its name."""
    return _of(op).register_kernel(device_types, func) if func is not None else _of(op).register_kernel(device_types)


def register_fake(op: Any, func: Callable | None = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: bool = False) -> Any:
    """As `CustomOpDef.register_fake`, by the op or its name."""
    if func is None:
        return lambda function: register_fake(op, function, allow_override=allow_override)
    found = _of(op)
    if allow_override:
        found._fake = None
    return found.register_fake(func)


impl_abstract = register_fake


def register_autograd(op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None) -> None:
    """As `CustomOpDef.register_autograd`, by the op or its name."""
    _of(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """As `CustomOpDef.register_vmap`, by the op or its name."""
    return _of(op).register_vmap(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """As `CustomOpDef.register_autocast`, by the op or its name."""
    _of(op).register_autocast(device_type, cast_inputs)


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """What an op does under a `__torch_dispatch__` class: saraph has no such classes."""
    raise RuntimeError("saraph has no __torch_dispatch__ classes; use a TorchFunctionMode or __torch_function__")


def fallthrough_kernel() -> None:
    """Stands for "nothing of its own here" in `Library.impl`."""
    raise RuntimeError("fallthrough_kernel() stands for a kernel and is never called")


class _FakeContext:
    """What `get_ctx()` gives inside a fake implementation."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """A size that depends on values: its least value stands for it."""
        return min


def get_ctx() -> _FakeContext:
    """The context of a fake implementation."""
    return _FakeContext()


class Library:
    """A group of ops of one namespace: `define` them, then `impl` them per device."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim", "prims") and kind != "FRAGMENT":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an op, 'name(Tensor x) -> Tensor'; returns its name."""
        name = schema.split("(")[0].strip()
        define(f"{self.ns}::{name}", schema[len(name):])
        self._defined.append(f"{self.ns}::{name.split('.')[0]}")
        return name

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False, allow_override: bool = False) -> None:
        """What an op of this namespace does for a dispatch key ("CPU", "Meta", "CompositeImplicitAutograd", ...; default: all)."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if fn is fallthrough_kernel:
            return
        name = op_name if isinstance(op_name, str) else op_name._name
        qualified = name if "::" in name else f"{self.ns}::{name}"
        key = (dispatch_key or self.dispatch_key or "default").lower()
        if key == "meta":
            register_fake(qualified, fn, allow_override=True)
        elif key.startswith("autograd"):
            raise RuntimeError(f"Library.impl: give derivatives with torch.library.register_autograd, not with the key {dispatch_key!r}")
        else:
            _of(qualified).register_kernel(_KEYS.get(key, key), fn)

    def _destroy(self) -> None:
        for name in self._defined:
            _TABLE.pop(name, None)


def opcheck(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, test_utils: Any = None, raise_exception: bool = True,
            atol: float | None = None, rtol: float | None = None) -> dict[str, str]:
    """Check an op on sample arguments: that it leaves its inputs as they are (but for those it says it writes), that its fake implementation agrees in
    shape and dtype, and its derivative with finite differences where double tensors need gradients. Returns a line per check."""
    found, kwargs = _of(op), kwargs or {}
    report: dict[str, str] = {}
    for name, check in (("test_schema", _check_schema), ("test_faketensor", _check_fake), ("test_autograd_registration", _check_autograd)):
        try:
            check(found, args, kwargs)
            report[name] = "SUCCESS"
        except (AssertionError, RuntimeError) as error:
            if raise_exception:
                raise RuntimeError(f"opcheck({found._qualname}): {name} failed: {error}") from error
            report[name] = str(error)
    return report


def _check_schema(op: CustomOpDef, args: tuple, kwargs: dict[str, Any]) -> None:
    before = [a.detach().clone() if isinstance(a, Tensor) else None for a in args]
    op(*args, **kwargs)
    names = list(inspect.signature(op._init_fn).parameters) if op._init_fn is not None else []
    for i, (old, new) in enumerate(zip(before, args)):
        written = i < len(names) and names[i] in op.mutates_args
        if old is not None and not written and not bool((old == new.detach()).logical_or(old != old).all()):
            raise AssertionError(f"argument {i} is not listed in mutates_args, but was written to")


def _check_fake(op: CustomOpDef, args: tuple, kwargs: dict[str, Any]) -> None:
    if op._fake is None:
        return
    real = op(*args, **kwargs)
    fake = op._fake(*[a.to("meta") if isinstance(a, Tensor) else a for a in args], **kwargs)
    for r, f in zip(real if isinstance(real, (tuple, list)) else (real,), fake if isinstance(fake, (tuple, list)) else (fake,)):
        if isinstance(r, Tensor) and (r.shape != f.shape or r.dtype is not f.dtype):
            raise AssertionError(f"the fake implementation gives {f.dtype!r}{list(f.shape)}, the op {r.dtype!r}{list(r.shape)}")


def _check_autograd(op: CustomOpDef, args: tuple, kwargs: dict[str, Any]) -> None:
    if op._backward is not None and any(isinstance(a, Tensor) and a.requires_grad and a.dtype.itemsize >= 8 for a in args):
        gradcheck(lambda *a: op(*a, **kwargs), args)
