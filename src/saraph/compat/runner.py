"""Running somebody's PyTorch script."""
from __future__ import annotations

import os
import re
import runpy
import sys
import traceback

from saraph.compat.names import MissingHere, install

_ATTRIBUTE = re.compile(r"module 'saraph(\.[\w.]+)?' has no attribute '(\w+)'")
_IMPORT = re.compile(r"cannot import name '(\w+)' from '(saraph[\w.]*)'")
_TYPE = re.compile(r"type object '(\w+)' has no attribute '(\w+)'|'(Tensor|Parameter)' object has no attribute '(\w+)'")


def public(name: str) -> str:
    """A saraph name as the script knows it."""
    return ("torchvision" + name[len("saraph.vision"):]) if name.startswith("saraph.vision") else "torch" + name[len("saraph"):]


def missing_name(error: BaseException) -> str | None:
    """What part of PyTorch an error says is missing here; None for other errors."""
    text = str(error)
    if isinstance(error, MissingHere):
        return str(error.name)
    if match := _ATTRIBUTE.search(text):
        return f"{public('saraph' + (match[1] or ''))}.{match[2]}"
    if match := _IMPORT.search(text):
        return f"{public(match[2])}.{match[1]}"
    if isinstance(error, AttributeError) and (match := _TYPE.search(text)):
        return f"torch.{match[1] or match[3]}.{match[2] or match[4]}" if (match[1] or match[3]) in ("Tensor", "Parameter", "Module") else None
    return None


def run_script(path: str, arguments: list[str]) -> int:
    """Run a script as `python path arguments...` would, with torch resolved to saraph. Returns the exit status.

    What saraph lacks ends the program with one line that names it and the line of the script.
    """
    install()
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        runpy.run_path(path, run_name="__main__")
    except (ImportError, AttributeError) as error:
        name = missing_name(error)
        if name is None:
            raise
        frames = [f for f in traceback.extract_tb(error.__traceback__) if os.sep + "saraph" + os.sep not in f.filename and "runpy" not in f.filename
                  and not f.filename.startswith("<frozen")]
        where = f" ({frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""
        print(f"saraph: {name} is not available{where}", file=sys.stderr)
        return 1
    return 0
