"""The files for type checkers say what the functions are; ordinary programs that they accept also run."""
import importlib.util
from pathlib import Path

import pytest

import saraph as torch
from saraph.cli.stubs import FILES, annotation, definition, files
from saraph.ops import NAMESPACES

STUBS = Path(torch.__file__).parent / "stubs"


@pytest.mark.parametrize(("name", "text"), list(files()), ids=lambda value: value if value.endswith(".pyi") else "")
def test_the_files_are_up_to_date(name, text):
    assert (STUBS / name).read_text(encoding="utf-8") == text, "run: python -m saraph stubs"


def test_every_published_op_is_there():
    for file, space in FILES.items():
        text = (STUBS / f"{file}.pyi").read_text()
        assert [n for n in NAMESPACES[space] if f"def {n}(" not in text and f"{n}: " not in text] == []
    text = (STUBS / "tensor.pyi").read_text()
    assert all(f"def {n}(self" in text for n in ("add", "add_", "view", "to", "backward", "__getitem__", "requires_grad", "shape"))


def test_how_a_definition_reads():
    def sample(input: "Tensor", size: "tuple[int, ...]", /, dim: int = -1, *, unknown: "Mystery" = None, scale: float = float("inf")) -> "Tensor":  # noqa: F821
        """What it does.

        More.
        """

    assert definition("sample", sample) == ("def sample(input: _Tensor, size: _tuple[_int, ...], /, dim: _int = -1, *, unknown: _Any = None, "
                                            'scale: _float = ...) -> _Tensor:\n    """What it does."""')
    assert annotation("Sequence[Tensor] | None") == "_Sequence[_Tensor] | None" and annotation("Mystery") == "_Any" and annotation(None) == "None"


def test_the_ordinary_program_runs():
    spec = importlib.util.spec_from_file_location("ordinary", Path(__file__).parent / "ordinary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run()
    assert module.train() > 0
