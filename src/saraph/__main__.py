"""`python -m saraph script.py ARGS` runs a PyTorch script on saraph; `python -m saraph demo` is the command line tool."""
import sys

from saraph.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
