"""Files for type checkers and editors: the ops of every namespace, and the methods of Tensor. Made by `python -m saraph stubs` (cli/stubs.py)."""
