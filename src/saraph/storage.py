"""`saraph.storage`: the memory behind tensors, as in `torch.storage`."""
from saraph.tensor.storages import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
