"""Functions of layers: convolutions, pooling, activations, losses, attention."""
from saraph.ops import NAMESPACES

globals().update(NAMESPACES["nn.functional"])
