"""`python -m saraph api FOLDER`: a page for every namespace, made from signatures and docstrings."""
from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

NAMESPACES = (
    "saraph", "saraph.Tensor", "saraph.nn", "saraph.nn.functional", "saraph.nn.init", "saraph.nn.utils", "saraph.nn.utils.rnn", "saraph.nn.utils.parametrize",
    "saraph.nn.utils.parametrizations", "saraph.nn.utils.prune", "saraph.nn.attention", "saraph.nn.attention.flex_attention", "saraph.optim",
    "saraph.optim.lr_scheduler", "saraph.optim.swa_utils", "saraph.autograd", "saraph.autograd.functional", "saraph.autograd.forward_ad", "saraph.func",
    "saraph.linalg", "saraph.fft", "saraph.special", "saraph.signal.windows", "saraph.masked", "saraph.sparse", "saraph.nested", "saraph.distributions",
    "saraph.random", "saraph.utils.data", "saraph.utils.checkpoint", "saraph.utils.benchmark", "saraph.utils.flop_counter", "saraph.utils.hooks",
    "saraph.utils.dlpack", "saraph.serialization", "saraph.amp", "saraph.fx", "saraph.library", "saraph.testing", "saraph.profiler", "saraph.futures",
    "saraph.hub", "saraph.cpu", "saraph.cuda", "saraph.accelerator", "saraph.kernels")


def found(path: str) -> Any:
    """The object that a dotted path names; AttributeError or ImportError where there is none."""
    try:
        return importlib.import_module(path)
    except ImportError:
        parent, _, name = path.rpartition(".")
        if not parent:
            raise
        return getattr(found(parent), name)


def public_names(space: Any) -> list[str]:
    """The names of a namespace that a page lists, sorted: no modules, nothing private, only what can be called."""
    names = getattr(space, "__all__", None) or dir(space)
    listed = [n for n in names if not n.startswith("_") and callable(getattr(space, n, None)) and not isinstance(getattr(space, n), ModuleType)]
    return sorted(set(listed), key=lambda n: (n.lower(), n))


class _Plain(str):
    """An annotation that is text in the source, shown without quotation marks."""

    __repr__ = str.__str__


def signature(thing: Callable) -> str:
    """The arguments of a callable, as text."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"

    def plain(annotation: Any) -> Any:
        return _Plain(annotation) if isinstance(annotation, str) else annotation

    parameters = [p.replace(annotation=plain(p.annotation)) for p in found.parameters.values()]
    text = str(found.replace(parameters=parameters, return_annotation=plain(found.return_annotation)))
    text = re.sub(r"<(?:module|class) '([^']+)'[^>]*>", r"\1", text)
    return text if " at 0x" not in text else "(...)"


def page(path: str) -> str:
    """The page of a namespace as Markdown."""
    space = found(path)
    lines = [f"# {path}", ""]
    head = (inspect.getdoc(space) or "").strip()
    if head:
        lines += [head, ""]
    for name in public_names(space):
        thing = getattr(space, name)
        doc = (inspect.getdoc(thing) or "").strip()
        lines += [f"## {name}", "", f"`{name}{signature(thing)}`", "", doc, ""]
    return "\n".join(lines).rstrip() + "\n"


def pages() -> Iterator[tuple[str, str]]:
    """(file name, text) of every page, the index first."""
    lines = ["# The public names", "", "Made by `python -m saraph api docs/api`; change the docstrings, not these pages.", ""]
    made = []
    for path in NAMESPACES:
        text = page(path)
        name = f"{path}.md"
        made.append((name, text))
        lines.append(f"* [{path}]({name}): {text.count(chr(10) + '## ')} names")
    yield "README.md", "\n".join(lines) + "\n"
    yield from made


def write_pages(folder: str) -> int:
    """Write all pages into a folder; the exit status."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (target / name).write_text(text, encoding="utf-8")
    return 0
