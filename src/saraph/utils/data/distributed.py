"""`torch.utils.data.distributed`: the sampler that shares a dataset among processes."""
from saraph.utils.data.sampler import DistributedSampler

__all__ = ["DistributedSampler"]
