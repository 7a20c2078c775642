"""Data parallelism with one device and one process: the module as it is."""
from saraph.nn.parallel.data_parallel import DataParallel, data_parallel
from saraph.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
