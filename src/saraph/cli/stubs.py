"""`python -m saraph stubs`: what type checkers and editors read of the names that the registry publishes when saraph is imported.

A file of `saraph/stubs` says the functions of one namespace, or the methods of Tensor, with arguments, types and the first line of the docstring. The
namespaces import it where only a type checker looks. The files are made from the functions themselves; a test fails when they are out of date.
"""
from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import saraph
from saraph.dtypes import dtype as dtype_type
from saraph.ops import NAMESPACES
from saraph.ops.legacy import DEFAULTS, TENSOR_TYPES
from saraph.ops.registry import OPS
from saraph.shapes import QSCHEMES, layout, memory_format
from saraph.tensor.storages import LEGACY
from saraph.tensor.tensor import Tensor

#: File of saraph/stubs -> the namespace of the registry whose functions it holds.
FILES = {"torch": "torch", "functional": "nn.functional", "special": "special", "linalg": "linalg", "fft": "fft", "masked": "masked", "sparse": "sparse",
         "windows": "signal.windows"}
#: Where the types come from that signatures may name; anything else is shown as Any. All have an underscore before them in the files, since methods
#: and properties of Tensor are called `float`, `dtype` and so on.
_SOURCES = {"typing": ("Any", "NamedTuple"), "collections.abc": ("Callable", "Iterable", "Iterator", "Mapping", "Sequence"),
            "builtins": ("bool", "bytes", "complex", "dict", "float", "int", "list", "object", "slice", "str", "tuple", "type"),
            "numpy": ("ndarray",), "saraph.dtypes": ("dtype",), "saraph.devices": ("device",), "saraph.shapes": ("Size", "layout", "memory_format"),
            "saraph.random": ("Generator",), "saraph.tensor.tensor": ("Tensor",), "saraph.tensor.storages": ("TypedStorage", "UntypedStorage")}
_KNOWN = {name for names in _SOURCES.values() for name in names}
#: What operators give, where the function behind them does not say.
_RESULTS = {"__bool__": "bool", "__int__": "int", "__index__": "int", "__float__": "float", "__complex__": "complex", "__len__": "int", "__iter__":
            "Iterator[Tensor]", "__contains__": "bool", "__format__": "str", "__repr__": "str", "__setitem__": "None", "__delitem__": "None"}
_OWN = ("__new__", "__init__", "__hash__", "_extra")  # what the class says itself
_HEAD = "# Made by `python -m saraph stubs` from the functions themselves: change those.\n"


class _Marked(ast.NodeTransformer):
    """An annotation with every known type marked by an underscore; `unknown` when there is another name."""

    unknown = False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in _KNOWN:
            self.unknown = True
        return ast.Name("_" + node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = ast.unparse(node)
        known = {"np.ndarray": "_ndarray", "dtypes.dtype": "_dtype", "torch.Tensor": "_Tensor"}.get(text)
        self.unknown |= known is None
        return ast.Name(known or "_Any")


def annotation(value: Any, otherwise: str = "Any") -> str:
    """An annotation (text or type) as the files write it."""
    if value is inspect.Parameter.empty:
        return annotation(otherwise)
    if value is None or value is type(None):
        return "None"
    text = value if isinstance(value, str) else value.__name__ if isinstance(value, type) else str(value)
    try:
        marked = _Marked()
        tree = marked.visit(ast.parse(text.strip("'\""), mode="eval"))
    except SyntaxError:
        return "_Any"
    return "_Any" if marked.unknown else ast.unparse(ast.fix_missing_locations(tree))


def parameters(found: inspect.Signature, method: bool) -> str:
    """The arguments between the parentheses."""
    parts: list[str] = ["self"] if method and not found.parameters else []
    listed = list(found.parameters.values())
    star = any(p.kind is p.VAR_POSITIONAL for p in listed)
    for number, p in enumerate(listed):
        if method and number == 0:
            parts.append("self")
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        plain = p.default is None or isinstance(p.default, (bool, int, float, str))
        default = "" if p.default is p.empty else f" = {p.default!r}" if plain and str(p.default) not in ("inf", "-inf", "nan") else " = ..."
        kind = annotation(p.annotation)
        if default == " = None" and "None" not in kind and kind != "_Any":
            kind += " | None"
        parts.append(f"{mark}{p.name}: {kind}{default}")
        last = number + 1 == len(listed) or listed[number + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and last:
            parts.append("/")
    return ", ".join(parts)


def _signature(name: str, thing: Callable) -> inspect.Signature | None:
    """The signature that callers see; an in-place form's is that of the op, without out=."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    vague = any(p.kind is p.VAR_KEYWORD for p in found.parameters.values())
    record = OPS.get(name[:-1]) if name.endswith("_") and not name.endswith("__") else None
    if vague and record is not None:
        found = inspect.signature(record.public)
        found = found.replace(parameters=[p for p in found.parameters.values() if p.name != "out"], return_annotation="Tensor")
    return found


def definition(name: str, thing: Callable, method: bool = False) -> str:
    """The lines of a function or method."""
    indent = "    " if method else ""
    found = inspect.Signature() if name == "__repr__" else _signature(name, thing)
    special = name.startswith("__")
    result = _RESULTS.get(name, "Tensor" if special else "Any")
    arguments = ("self, *args: _Any, **kwargs: _Any" if method else "*args: _Any, **kwargs: _Any") if found is None else parameters(found, method)
    given = found.return_annotation if found is not None else inspect.Signature.empty
    returned = annotation(inspect.Signature.empty if special and name not in ("__reduce_ex__", "__dlpack__") else given, result)
    doc = (inspect.getdoc(thing) or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"""', "'''").strip()
    head = f"{indent}def {name}({arguments}) -> {returned}:"
    code = "override" if name in ("__eq__", "__ne__", "__reduce_ex__") else "misc" if re.fullmatch("__i(?!nvert|nt|ndex|ter)[a-z]+__", name) else ""
    ignore = f"  # type: ignore[{code}]" if code else ""
    if not doc:
        return f"{head} ...{ignore}"
    return f'{head}{ignore}\n{indent}    """{doc}{" " if doc.endswith(chr(34)) else ""}"""'


def _imports() -> str:
    lines = []
    for module, names in _SOURCES.items():
        lines.append(f"from {module} import " + ", ".join(f"{n} as _{n}" for n in names))
    return "\n".join(lines) + "\n"


def functions(space: str) -> str:
    """The file of a namespace."""
    lines = [_HEAD, _imports()]
    if space == "torch":
        constants = {n: v for n, v in vars(saraph).items() if not n.startswith("_") and isinstance(v, (dtype_type, layout, memory_format))}
        lines += [f"{n}: _{type(v).__name__}" for n, v in sorted(constants.items())]
        lines += [f"{n}: _Any" for n in sorted({**TENSOR_TYPES, **LEGACY, **QSCHEMES})]
    for name, thing in sorted({**NAMESPACES[space], **(DEFAULTS if space == "torch" else {})}.items()):
        if callable(thing) and name.isidentifier() and not isinstance(thing, type):
            lines.append(definition(name, thing))
    return "\n".join(lines) + "\n"


def methods() -> str:
    """The file of Tensor's methods and properties."""
    lines = [_HEAD, _imports(), "class Methods:", '    """What ops bind to Tensor when saraph is imported."""']
    for name, thing in sorted(vars(Tensor).items()):
        if name in _OWN or not name.isidentifier():
            continue
        if isinstance(thing, property):
            lines += _property(name, thing)
        elif isinstance(thing, (classmethod, staticmethod)):
            lines += [f"    @{type(thing).__name__}", f"    def {name}(*args: _Any, **kwargs: _Any) -> _Any: ..."]
        elif isinstance(thing, types.FunctionType):
            lines.append(definition(name, thing, True))
        elif not name.startswith("_"):
            lines.append(f"    {name}: {annotation(type(thing)) if isinstance(thing, (bool, int, float, str)) else '_Any'}")
    return "\n".join(lines) + "\n"


def _property(name: str, thing: property) -> Iterator[str]:
    given = inspect.signature(thing.fget).return_annotation if thing.fget else inspect.Signature.empty
    yield "    @property"
    yield f"    def {name}(self) -> {annotation(given)}: ..."
    if thing.fset is not None:
        yield f"    @{name}.setter"
        yield f"    def {name}(self, value: _Any) -> None: ..."


def files() -> Iterator[tuple[str, str]]:
    """(file name, text) of every file."""
    for file, space in FILES.items():
        yield f"{file}.pyi", functions(space)
    yield "tensor.pyi", methods()


def write_stubs() -> int:
    """Write all files beside the package's own; the exit status."""
    folder = Path(saraph.__file__).parent / "stubs"
    for name, text in files():
        (folder / name).write_text(text, encoding="utf-8")
    return 0
