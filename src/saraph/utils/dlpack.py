"""`saraph.utils.dlpack`: exchange of memory with other array libraries, as in `torch.utils.dlpack`."""
from saraph.tensor.interop import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
