"""The pages of the public names, and the examples that docstrings give."""
import re
from pathlib import Path

import numpy as np
import pytest

import saraph as torch
from saraph.cli.api_pages import NAMESPACES, found, page, public_names, write_pages

EXAMPLE = re.compile(r"Example: `([^`]+)` (is|has shape) (`[^`]+`|\([^)]*\)|\w+)")


def examples():
    """(where, expression, kind, expected) of every example of one line in a docstring."""
    seen = {}
    for path in NAMESPACES:
        space = found(path)
        for name in public_names(space):
            for text, kind, expected in EXAMPLE.findall(getattr(space, name).__doc__ or ""):
                seen[text] = (f"{path}.{name}", text, kind, " ".join(expected.strip("`").split()))
    return list(seen.values())


def names():
    """What an example may use: the functions of the main namespaces, and nn.functional as F."""
    table = {n: getattr(torch, n) for n in dir(torch) if not n.startswith("__")}
    for space in (torch.nn.utils.rnn, torch.nn.functional, torch.utils.data):
        table |= {n: getattr(space, n) for n in public_names(space) if n not in table}
    return table | {"torch": torch, "F": torch.nn.functional}


EXAMPLES = examples()


def test_there_are_examples():
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize(("where", "text", "kind", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_an_example_is_true(where, text, kind, expected):
    value = eval(text, names())
    if kind == "has shape":
        assert tuple(value.shape) == eval(expected)
    elif expected.startswith(("tensor", "[", "{")):
        want = eval(expected, names())
        if isinstance(want, dict):
            assert value.keys() == want.keys() and all(torch.equal(value[k], want[k]) for k in want)
        else:
            np.testing.assert_allclose(np.asarray(value, np.float64), np.asarray(want, np.float64), atol=5e-5)
    else:
        assert value is not None  # described in words


@pytest.mark.parametrize("path", NAMESPACES)
def test_a_page_lists_every_public_name_with_its_arguments(path):
    text = page(path)
    headings = re.findall(r"^## (\S+)$", text, re.M)
    assert headings == public_names(found(path)) and headings


def test_pages_are_written(tmp_path):
    assert write_pages(str(tmp_path)) == 0
    assert (tmp_path / "saraph.nn.functional.md").read_text().count("\n## ") > 80 and "saraph.optim.md" in (tmp_path / "README.md").read_text()


def test_a_signature_reads_as_in_the_source():
    text = page("saraph.linalg")
    assert "`norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Tensor | None = None) -> Tensor`" in text


@pytest.mark.parametrize("path", NAMESPACES)
def test_the_written_pages_know_every_name(path):
    written = (Path(__file__).parents[2] / "docs" / "api" / f"{path}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", written, re.M) == public_names(found(path)), "run: python -m saraph api docs/api"
