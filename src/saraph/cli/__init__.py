"""The command line: `saraph demo`, `saraph run script.py`, `saraph api folder`, `saraph stubs`, `saraph info`."""
from __future__ import annotations

import argparse
import os
import platform
import sys

import numpy

import saraph
from saraph.cli.api_pages import write_pages
from saraph.cli.demo import add_arguments, run_demo
from saraph.cli.stubs import write_stubs
from saraph.compat import run_script

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """The program: returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    if words and (words[0].endswith(".py") or os.path.isfile(words[0])):
        return run_script(words[0], words[1:])
    parser = argparse.ArgumentParser(prog="saraph", description="PyTorch in Python: run a demo, or somebody's PyTorch script.",
                                     epilog="python -m saraph script.py ARGS runs an unmodified PyTorch script.")
    commands = parser.add_subparsers(dest="command", required=True)
    add_arguments(commands.add_parser("demo", help="train a small CNN on handwritten digits"))
    script = commands.add_parser("run", help="run a PyTorch script")
    script.add_argument("script")
    script.add_argument("arguments", nargs=argparse.REMAINDER)
    pages = commands.add_parser("api", help="write the pages of the public names")
    pages.add_argument("folder")
    commands.add_parser("stubs", help="write what type checkers read of the ops")
    commands.add_parser("info", help="versions and the machine")
    options = parser.parse_args(words)
    if options.command == "demo":
        return run_demo(options)
    if options.command == "api":
        return write_pages(options.folder)
    if options.command == "stubs":
        return write_stubs()
    if options.command == "run":
        return run_script(options.script, options.arguments)
    print(f"saraph {saraph.__version__}, Python {platform.python_version()}, NumPy {numpy.__version__}, {platform.machine()}, "
          f"{os.cpu_count()} CPUs, {saraph.get_num_threads()} threads")
    return 0
