"""`torch.utils.hooks`: the handle that hook registrations return."""
from saraph.tensor.node import RemovableHandle

__all__ = ["RemovableHandle"]
