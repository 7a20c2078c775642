"""200 random programs of views and in-place writes against PyTorch's answers (programs.json; programs.py says how it was made)."""
import importlib.util
import json
import math
import pathlib

import pytest

import saraph

HERE = pathlib.Path(__file__).parent
_spec = importlib.util.spec_from_file_location("saraph_test_programs", HERE / "programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)
ANSWERS = json.loads((HERE / "programs.json").read_text())


def close(a, b):
    return a == b or math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-8) or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: str(a["seed"]))
def test_program(answer):
    got = programs.run(saraph, programs.draw(answer["seed"]))
    assert ("error" in got) == ("error" in answer), (got, answer, programs.draw(answer["seed"]))
    if "error" in answer:
        return
    assert close(got["value"], answer["value"])
    for mine, theirs in zip(got["grads"], answer["grads"]):
        mine = mine if mine is not None else [0.0] * len(theirs or [])
        theirs = theirs if theirs is not None else [0.0] * len(mine)
        assert all(close(m, t) for m, t in zip(mine, theirs)), (mine, theirs, programs.draw(answer["seed"]))


def test_the_answers_are_200_and_of_both_kinds():
    assert len(ANSWERS) == 200
    assert sum("error" in a for a in ANSWERS) == 60
