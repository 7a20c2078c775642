"""Random fills on the CPU: the streams of `saraph.random` get the machine code that the room of kernels makes for them."""
from __future__ import annotations

from saraph.kernels import filling
from saraph.random import Fills, compiled

compiled[:] = [Fills(filling.fill, filling.normals_in_place, filling.permutation)]
