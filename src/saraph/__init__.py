"""saraph: PyTorch in Python, all the way down to the machine code. Use it as `import saraph as torch`."""
from saraph import dtypes as _dtypes
from saraph import shapes as _shapes
from saraph import tensor as _tensor_room
from saraph.devices import device
from saraph.dtypes import can_cast, dtype, finfo, iinfo, promote_types
from saraph.ops import NAMESPACES as _NAMESPACES
from saraph.shapes import Size, layout, memory_format
from saraph.tensor import Tensor

globals().update(_dtypes.BY_NAME)
globals().update(_dtypes.ALIASES)
for _name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d", "strided", "sparse_coo", "sparse_csr", "sparse_csc",
              "sparse_bsr", "sparse_bsc", "jagged"):
    globals()[_name] = getattr(_shapes, _name)
globals().update(_NAMESPACES["torch"])
from saraph import autograd, fft, linalg, nn, optim, signal, utils  # noqa: E402
