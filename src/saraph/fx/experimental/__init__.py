"""Optimizations over graphs, and questions about sizes."""
from saraph.fx.experimental import optimization, symbolic_shapes
