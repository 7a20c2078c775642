"""MNIST and its relatives: IDX files, gzip or not."""
from __future__ import annotations

import gzip
import hashlib
import os
import struct
import urllib.request
from collections.abc import Callable
from typing import Any

import numpy as np

from saraph.ops.creation import from_numpy
from saraph.tensor.tensor import Tensor
from saraph.vision.datasets.folder import VisionDataset
from saraph.vision.images import from_array

__all__ = ["MNIST", "FashionMNIST", "KMNIST", "read_idx", "find_idx"]
_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike) -> np.ndarray:
    """The array of an IDX file (gzip or not). ValueError says what is wrong with a damaged one."""
    name = os.fspath(path)
    with (gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb")) as stream:
        data = stream.read()
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _IDX_TYPES:
        raise ValueError(f"{name} is not an IDX file: it starts with {data[:4]!r}")
    rank = data[3]
    if len(data) < 4 + 4 * rank:
        raise ValueError(f"{name} ends within its header: it is truncated or damaged")
    shape = struct.unpack(f">{rank}i", data[4:4 + 4 * rank])
    kind = np.dtype(_IDX_TYPES[data[2]])
    expected = 4 + 4 * rank + int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if len(data) != expected or any(n < 0 for n in shape):
        raise ValueError(f"{name} has {len(data)} bytes, its header asks for {expected}: it is truncated or damaged")
    return np.frombuffer(data, kind, offset=4 + 4 * rank).reshape(shape).astype(kind.newbyteorder("="))


def find_idx(folder: str, *names: str) -> str | None:
    """The first of these files (with or without .gz) that is in the folder."""
    for name in names:
        for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
            if os.path.isfile(path):
                return path
    return None


class MNIST(VisionDataset):
    """Handwritten digits: 60,000 for training, 10,000 for testing, 28x28, classes 0 to 9.

    Files are looked for in root/MNIST/raw and in root itself. Nothing is downloaded unless `download=True`.
    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/"]
    resources = [("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"), ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
                 ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"), ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c")]
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"]

    def __init__(self, root: str | os.PathLike, train: bool = True, transform: Callable | None = None, target_transform: Callable | None = None,
                 download: bool = False) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        images, labels = self._files()
        if images is None or labels is None:
            raise RuntimeError(f"Dataset not found in {self.raw_folder} or {self.root}. You can use download=True to download it")
        self.data: Tensor = from_numpy(read_idx(images))
        self.targets: Tensor = from_numpy(read_idx(labels).astype(np.int64))

    @property
    def raw_folder(self) -> str:
        """Where downloaded files lie."""
        return os.path.join(self.root, type(self).__name__, "raw")

    def _files(self) -> tuple[str | None, str | None]:
        names = ("train", "train10k") if self.train else ("t10k",)
        for folder in (self.raw_folder, self.root):
            images = find_idx(folder, *[f"{n}-images-idx3-ubyte" for n in names])
            labels = find_idx(folder, *[f"{n}-labels-idx1-ubyte" for n in names])
            if images and labels:
                return images, labels
        return None, None

    def _check_exists(self) -> bool:
        return None not in self._files()

    def download(self) -> None:
        """Fetch the files that are missing."""
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        for name, digest in self.resources:
            target = os.path.join(self.raw_folder, name)
            if not os.path.isfile(target):
                _fetch([mirror + name for mirror in self.mirrors], target, digest)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image, target = from_array(self.data[index].numpy(), "L"), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self) -> int:
        return len(self.data)

    @property
    def class_to_idx(self) -> dict[str, int]:
        """Class names and their numbers."""
        return {name: i for i, name in enumerate(self.classes)}

    def extra_repr(self) -> str:
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


def _fetch(urls: list[str], target: str, digest: str) -> None:
    problem: Exception | None = None
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                data = answer.read()
        except OSError as error:
            problem = error
            continue
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != digest:
            problem = RuntimeError(f"{url}: the file is not the expected one (checksum)")
            continue
        with open(target + ".part", "wb") as stream:
            stream.write(data)
        os.replace(target + ".part", target)
        return
    raise RuntimeError(f"Error downloading {os.path.basename(target)}: {problem}")


class FashionMNIST(MNIST):
    """Pictures of clothes, in MNIST's format."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"), ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
                 ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"), ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310")]
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class KMNIST(MNIST):
    """Cursive Japanese characters, in MNIST's format."""

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = [("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"), ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
                 ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"), ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134")]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]
