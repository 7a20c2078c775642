"""Python source from graphs: `CodeGen` writes `def forward(self, x): ...`, `_PyTreeCodeGen` the same for structured inputs and outputs."""
from __future__ import annotations

import dataclasses
import enum
import re
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from saraph.fx import _pytree as fx_pytree
from saraph.fx.names import CUSTOM_BUILTINS, Namespace, is_from_torch, qualified_name, register_custom_builtin, type_name
from saraph.fx.node import Node
from saraph.tensor.tensor import Tensor
from saraph.utils import _pytree as pytree

__all__ = ["CodeGen", "PythonCode", "_PyTreeCodeGen", "_PyTreeInfo", "_BoxedCodeGen"]
register_custom_builtin("fx_pytree", "import saraph.fx._pytree as fx_pytree", fx_pytree)
register_custom_builtin("pytree", "import saraph.utils._pytree as pytree", pytree)
_BINARY = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "add": "+", "sub": "-", "mul": "*", "matmul": "@", "pow": "**",
           "truediv": "/", "floordiv": "//", "mod": "%", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^"}
_UNARY = {"pos": "+", "neg": "-", "invert": "~"}
magic_methods = {**{name.rstrip("_"): f"{{}} {sign} {{}}" for name, sign in _BINARY.items()}, **{name: f"{sign}{{}}" for name, sign in _UNARY.items()},
                 "getitem": "{}[{}]"}
inplace_methods = {**{f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}" for name, sign in _BINARY.items() if sign[-1] != "=" and sign not in "<>"},
                   "setitem": "{}[{}] = {}"}
_SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128", "int8": "i8",
          "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "b8"}
_FRAME = re.compile(r'^File "(.+)", line (\d+), in (.+)$')
_COLORS = {"yellow": "\033[33m", "cyan": "\033[36m", "green": "\033[32m", "red": "\033[31m", "blue": "\033[34m", "dim": "\033[2m",
           "dim_blue": "\033[2m\033[34m", "dim_green": "\033[2m\033[32m"}


@dataclasses.dataclass
class PythonCode:
    """A graph as source: the text, what its global names stand for, and which node (by number) each line of it is."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """Structured inputs and outputs: the names of the original arguments and the specs."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any | None


def format_target(base: str, target: str) -> str:
    """`base.a.b`, with getattr where a part is no identifier (`getattr(base, "0").weight`)."""
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def tensor_annotation(value: Any, include_stride: bool = False, include_device: bool = False) -> str:
    """`"f32[2, 3]"` for a tensor or its metadata; empty for anything else."""
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "dtype"):
        return ""
    short = _SHORT.get(str(value.dtype).removeprefix("torch."), str(value.dtype).removeprefix("torch."))
    stride = ""
    if include_stride:
        strides = value.stride() if callable(getattr(value, "stride", None)) else value.stride
        stride = str(list(strides))
    place = str(value.device) if include_device and hasattr(value, "device") else ""
    return f'"{short}{list(shape)}{stride}{place}"'


class _Writer:
    """Writes one graph: collects the lines, the inputs, the globals and the functions to be wrapped."""

    def __init__(self, codegen: CodeGen, nodes: Iterable[Node], root_module: str, options: dict[str, Any]):
        self.codegen, self.nodes, self.root, self.options = codegen, list(nodes), root_module, options
        self.namespace = Namespace()
        for node in self.nodes:
            self.namespace.create_name(node.name, node)
        self.globals: dict[str, Any] = {}
        self.body: list[str] = []
        self.free_vars: list[str] = []
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        self.last_uses = _last_uses(self.nodes)
        self.last_trace: str | None = None
        for name, (obj, _) in CUSTOM_BUILTINS.items():
            self.globals[name] = obj

    # -- names and values --------------------------------------------------------------------------------------------------
    def add_global(self, hint: str, obj: Any) -> str:
        """The name under which generated code reaches an object."""
        if is_from_torch(obj) and obj is not CUSTOM_BUILTINS["device"][0]:
            return hint if hint.startswith(("torch.", "torchvision.")) else qualified_name(obj)
        name = hint.replace(".", "_")
        if name in self.globals and self.globals[name] is obj:
            return name
        name = self.namespace.create_name(name, obj)
        self.globals[name] = obj
        return name

    def type_text(self, kind: Any) -> str:
        """An annotation, with what it names among the globals."""
        if kind == ():
            return "()"
        if isinstance(kind, str):
            return repr(kind)
        origin, arguments = getattr(kind, "__origin__", None), getattr(kind, "__args__", None)
        if origin is not None and arguments:
            base = self.add_global(type_name(kind).partition("[")[0], origin if isinstance(origin, type) else kind.__origin__)
            return f"{base}[{', '.join(self.type_text(a) for a in arguments)}]"
        if isinstance(kind, types.UnionType):
            return " | ".join(self.type_text(a) for a in kind.__args__)
        if kind is None or kind is type(None):
            return "None" if kind is None else "NoneType"
        return self.add_global(type_name(kind), kind)

    def value(self, arg: Any) -> str:
        """An argument as Python writes it."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple):
            if hasattr(arg, "_fields"):
                return f"{self.add_global(type_name(type(arg)), type(arg))}({', '.join(self.value(a) for a in arg)})"
            return f"({self.value(arg[0])},)" if len(arg) == 1 else f"({', '.join(self.value(a) for a in arg)})"
        if isinstance(arg, list):
            return f"[{', '.join(self.value(a) for a in arg)}]"
        if isinstance(arg, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in arg.items()) + "}"
        if isinstance(arg, slice):
            return f"slice({self.value(arg.start)}, {self.value(arg.stop)}, {self.value(arg.step)})"
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type_name(type(arg)), type(arg))}.{arg.name}"
        if isinstance(arg, types.FunctionType | types.BuiltinFunctionType | type):
            return self.add_global(qualified_name(arg), arg)
        if isinstance(arg, Tensor):
            return f"{self.add_global('_tensor_value', arg)}"
        return repr(arg)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The text between the parentheses of a call."""
        return ", ".join([*map(self.value, args), *(f"{k} = {self.value(v)}" for k, v in kwargs.items())])

    # -- lines -------------------------------------------------------------------------------------------------------------
    def write(self, node: Node) -> None:
        """Append the lines of one node."""
        if self.options.get("verbose"):
            self._comment(node)
        kind = f" : {self.type_text(node.type)}" if node.type is not None else self._metadata(node)
        if node.op == "placeholder":
            self._placeholder(node, kind)
            return
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_text(node.type)}"
            self.body.append(self.codegen.generate_output(node.args[0], repr_fn=self.value) + "\n")
            return
        getattr(self, f"_{node.op}")(node, f"{node!r}{kind}")
        dead = self.last_uses.get(node, [])
        if not node.users:
            dead = [*dead, node]
        self.body.append(f";  {' = '.join([*map(repr, dead), 'None'])}\n" if dead else "\n")

    def _placeholder(self, node: Node, kind: str) -> None:
        default = f" = {self.value(node.args[0])}" if node.args else ""
        self.free_vars.append(f"{node.target}{kind}{default}")
        raw = str(node.target).replace("*", "")
        if raw != repr(node):
            self.body.append(f"{node!r} = {raw}\n")

    def _call_method(self, node: Node, head: str) -> None:
        self.body.append(f"{head} = {format_target(self.value(node.args[0]), str(node.target))}({self.arguments(node.args[1:], node.kwargs)})")

    def _call_module(self, node: Node, head: str) -> None:
        self.body.append(f"{head} = {format_target(self.root, str(node.target))}({self.arguments(node.args, node.kwargs)})")

    def _get_attr(self, node: Node, head: str) -> None:
        self.body.append(f"{head} = {format_target(self.root, str(node.target))}")

    def _call_function(self, node: Node, head: str) -> None:
        target: Any = node.target
        if target.__module__ == "_operator" and not node.kwargs:
            sign = target.__name__.rstrip("_")
            form = magic_methods.get(sign)
            if form is not None and form.count("{}") == len(node.args):
                self.body.append(f"{head} = {form.format(*map(self.value, node.args))}")
                return
            form = inplace_methods.get(sign)
            if form is not None and form.count("{}") == len(node.args):
                self.body.append(f"{form.format(*map(self.value, node.args))};  {head} = {self.value(node.args[0])}")
                return
        if target is getattr and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.body.append(f"{head} = {format_target(self.value(node.args[0]), node.args[1])}")
            return
        name = self.add_global(qualified_name(target, node.kwargs), target)
        self.body.append(f"{head} = {name}({self.arguments(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    # -- what print_readable adds ------------------------------------------------------------------------------------------
    def _paint(self, text: str, color: str) -> str:
        return f"{_COLORS[color]}{text}\033[0m" if self.options.get("colored") else text

    def _metadata(self, node: Node) -> str:
        if not self.options.get("verbose"):
            return ""
        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        text = tensor_annotation(value, bool(self.options.get("include_stride")), bool(self.options.get("include_device")))
        return f": {text}" if text else ""

    def _comment(self, node: Node) -> None:
        if node.op in ("placeholder", "output"):
            return
        trace = node.stack_trace
        if trace:
            if trace != self.last_trace:
                self.last_trace = trace
                self.body.append("\n" + self._paint(f"# {summary_of_trace(trace)}", "dim") + "\n")
        elif self.last_trace != "":
            self.last_trace = ""
            self.body.append(self._paint("# No stacktrace found for following nodes", "dim") + "\n")
        for key in self.options.get("additional_meta") or ():
            if key in node.meta:
                self.body.append(self._paint(f"# {key}: {node.meta[key]}", "dim") + "\n")


def summary_of_trace(trace: str) -> str:
    """The innermost frame of a stack trace on one line."""
    lines = trace.strip().split("\n")
    for i in range(len(lines) - 1, -1, -1):
        if match := _FRAME.match(lines[i].strip()):
            code = lines[i + 1].strip() if i + 1 < len(lines) else ""
            return f"File: {match[1]}:{match[2]} in {match[3]}, code: {code}"
    return lines[-1]


def _last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """For each node the values that nobody needs after it."""
    seen: set[Node] = set()
    ends: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for used in user.all_input_nodes:
            if used not in seen:
                seen.add(used)
                ends.setdefault(user, []).append(used)
    return ends


class CodeGen:
    """How a graph becomes source. Subclasses change the head (`gen_fn_def`), the return (`generate_output`), or more globals."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The `def` line; `free_vars` are the inputs with annotations and defaults."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            inner = ",\n    ".join(free_vars)
            return f"def {self._func_name}(\n    {inner}\n){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] | None = None) -> str:
        """The `return` line."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments of a call as the graph's placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The graph's result as the caller gets it."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Further (name, object) pairs for the generated code."""
        return []

    def _gen_python_code(self, nodes: Iterable[Node], root_module: str, namespace: Any = None, **options: Any) -> PythonCode:
        writer = _Writer(self, nodes, root_module, options)
        for name, obj in self.additional_globals():
            writer.add_global(name, obj)
        starts: list[int] = []
        for node in writer.nodes:
            starts.append(len(writer.body))
            writer.write(node)
        body = writer.body or ["pass\n"]
        numbers = {line: k for k, line in enumerate(starts)}
        lines, owner, owners = 1, None, {}
        for i, text in enumerate(body):
            owner = numbers.get(i, owner)
            owners[lines] = owner
            lines += text.count("\n")
        if self._body_transformer is not None:
            body = self._body_transformer(body)
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped)
        head = self.gen_fn_def(writer.free_vars, writer.returns, **({"expanded_def": True} if options.get("expanded_def") else {}))
        code = "".join(body).lstrip("\n")
        code = "\n".join("    " + line for line in code.split("\n"))
        source = f"\n{wraps}\n\n{head}\n{code}"
        return PythonCode(source, writer.globals, owners, source[: source.index(head)].count("\n") + head.count("\n") + 1)


class _BoxedCodeGen(CodeGen):
    """A forward that takes one list of inputs and empties it, so that it alone decides how long they live."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The `def` line and the unpacking."""
        names = [v for v in free_vars if v != "self"]
        bare = ", ".join(name.partition(":")[0].partition("=")[0].strip() for name in names)
        unpack = f"\n    {bare}{',' if len(names) == 1 else ''} = args_list" if names else ""
        return f"def {self._func_name}(self, args_list):{unpack}\n    args_list.clear()"


class _PyTreeCodeGen(CodeGen):
    """For inputs and outputs that are containers: `forward` takes them as they are, the graph sees leaves."""

    def __init__(self, pytree_info: _PyTreeInfo):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of the arguments."""
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        """The containers of the result."""
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The `def` line with the original arguments, and the line that flattens them."""
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        names = list(self.pytree_info.orig_args)
        has_self = bool(names) and names[0] == "self"
        given = names[1:] if has_self else names
        head = super().gen_fn_def(list(names), maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return head
        bare = [v.partition(":")[0].partition("=")[0].strip() for v in free_vars]
        return f"{head}\n    {', '.join(bare)}, = fx_pytree.tree_flatten_spec([{', '.join(given)}], self._in_spec)"

    def generate_output(self, output_args: Any, *, descs: Any = None, repr_fn: Callable[[Any], str] | None = None) -> str:
        """The `return` line, which puts the containers together."""
        text = (repr_fn or repr)(output_args)
        if self.pytree_info is not None and self.pytree_info.out_spec is not None:
            return f"return pytree.tree_unflatten({text}, self._out_spec)"
        return f"return {text}"
