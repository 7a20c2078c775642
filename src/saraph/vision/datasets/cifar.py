"""CIFAR-10 and CIFAR-100: the pickled batches of the Python version."""
from __future__ import annotations

import hashlib
import os
import pickle
import tarfile
import urllib.request
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.vision.datasets.folder import VisionDataset
from saraph.vision.images import from_array

__all__ = ["CIFAR10", "CIFAR100"]


class _ArraysOnly(pickle.Unpickler):
    """Reads a batch: containers, strings and NumPy arrays, nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"), ("numpy", "ndarray"),
                              ("numpy", "dtype")):
            return super().find_class(module, name)
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return lambda text, encoding: text.encode("latin1")
        raise pickle.UnpicklingError(f"a CIFAR batch does not need {module}.{name}: the file is not what it should be")


class CIFAR10(VisionDataset):
    """60,000 colour images of 32x32 in ten classes (Krizhevsky 2009). Looked for in root/cifar-10-batches-py."""

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [f"data_batch_{i}" for i in range(1, 6)]
    test_list = ["test_batch"]
    meta_file, meta_key, labels_key = "batches.meta", "label_names", "labels"

    def __init__(self, root: str | os.PathLike, train: bool = True, transform: Callable | None = None, target_transform: Callable | None = None,
                 download: bool = False) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        files = [os.path.join(self.root, self.base_folder, n) for n in (self.train_list if train else self.test_list)]
        if not all(os.path.isfile(f) for f in files):
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        batches = [self._read(f) for f in files]
        self.data = np.concatenate([b["data"] for b in batches]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.targets = [int(t) for b in batches for t in b[self.labels_key]]
        meta = os.path.join(self.root, self.base_folder, self.meta_file)
        self.classes = self._read(meta)[self.meta_key] if os.path.isfile(meta) else [str(i) for i in range(max(self.targets) + 1)]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    @staticmethod
    def _read(path: str) -> dict[str, Any]:
        with open(path, "rb") as stream:
            return _ArraysOnly(stream, encoding="latin1").load()

    def download(self) -> None:
        """Fetch and unpack the archive, unless its files are there."""
        if os.path.isdir(os.path.join(self.root, self.base_folder)):
            return
        os.makedirs(self.root, exist_ok=True)
        target = os.path.join(self.root, self.filename)
        if not os.path.isfile(target):
            with urllib.request.urlopen(self.url, timeout=60) as answer, open(target + ".part", "wb") as stream:
                stream.write(answer.read())
            os.replace(target + ".part", target)
        with open(target, "rb") as stream:
            if hashlib.md5(stream.read(), usedforsecurity=False).hexdigest() != self.tgz_md5:
                raise RuntimeError(f"{target} is not the expected file (checksum)")
        with tarfile.open(target) as bundle:
            bundle.extractall(self.root, filter="data")

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image, target = from_array(self.data[index], "RGB"), self.targets[index]
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """60,000 colour images of 32x32 in a hundred classes. Looked for in root/cifar-100-python."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = ["train"]
    test_list = ["test"]
    meta_file, meta_key, labels_key = "meta", "fine_label_names", "fine_labels"
