"""`saraph.return_types`: the named tuples that ops with several results return."""
from saraph.ops.return_types import *  # noqa: F403
from saraph.ops.return_types import __all__ as __all__
