"""Loading data: datasets, samplers, batches, workers."""
from saraph.utils.data import distributed
from saraph.utils.data.collate import default_collate, default_convert
from saraph.utils.data.dataloader import DataLoader, get_worker_info
from saraph.utils.data.datapipes import IterDataPipe, MapDataPipe, functional_datapipe
from saraph.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from saraph.utils.data.sampler import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterDataPipe",
           "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
           "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert", "distributed",
           "functional_datapipe", "get_worker_info", "random_split"]
