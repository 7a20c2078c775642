"""The batched backend: arrays with a batch dimension that ops do not see. `vmap` runs a function over them."""
from saraph.backends.batched import families
from saraph.backends.batched.array import INPLACE, BatchedArray, NeedsValues, enter, highest, library, summed, taken_out
from saraph.backends.batched.rules import Library

__all__ = ["INPLACE", "BatchedArray", "Library", "NeedsValues", "enter", "families", "highest", "library", "summed", "taken_out"]
