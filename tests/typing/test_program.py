"""The program that the type check reads also runs."""
import runpy
from pathlib import Path


def test_the_program_learns():
    train = runpy.run_path(str(Path(__file__).parent / "program.py"))["train"]
    assert train(8) < train(1)
