"""Datasets of images: IDX files, CIFAR's batches, folders, random images."""
from __future__ import annotations

import gzip
import io
import os
import pickle
import struct

import numpy as np
import pytest

import saraph as torch
from saraph.utils.data import DataLoader
from saraph.vision import datasets, transforms
from saraph.vision.datasets.mnist import find_idx, read_idx

Image = pytest.importorskip("PIL.Image")
IDX = {np.uint8: 8, np.int8: 9, np.int16: 11, np.int32: 12, np.float32: 13, np.float64: 14}


def idx(a):
    return struct.pack(f">HBB{a.ndim}i", 0, IDX[a.dtype.type], a.ndim, *a.shape) + a.astype(a.dtype.newbyteorder(">")).tobytes()


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def mnist(tmp_path):
    rng = np.random.default_rng(0)
    arrays = {"train-images-idx3-ubyte": rng.integers(0, 256, (12, 28, 28)).astype(np.uint8), "train-labels-idx1-ubyte": np.arange(12, dtype=np.uint8) % 10,
              "t10k-images-idx3-ubyte": rng.integers(0, 256, (5, 28, 28)).astype(np.uint8), "t10k-labels-idx1-ubyte": np.arange(5, dtype=np.uint8)}
    for k, (name, a) in enumerate(arrays.items()):
        write(tmp_path / "MNIST" / "raw" / (name + (".gz" if k % 2 else "")), idx(a))
    return tmp_path, arrays


@pytest.mark.parametrize("kind", list(IDX))
def test_idx_files(tmp_path, kind):
    a = np.arange(24).reshape(2, 3, 4).astype(kind)
    write(tmp_path / "a", idx(a))
    write(tmp_path / "b.gz", idx(a))
    for name in ("a", "b.gz"):
        got = read_idx(tmp_path / name)
        assert np.array_equal(got, a) and got.dtype == a.dtype and got.dtype.isnative and got.flags.writeable
    assert find_idx(str(tmp_path), "none", "b") == str(tmp_path / "b.gz") and find_idx(str(tmp_path), "none") is None


@pytest.mark.parametrize("data", [b"", b"\0\0", b"hello world", b"\0\0\7\1\0\0\0\1a", b"\0\0\10\1\0\0\0\5abc", b"\0\0\10\1\0\0\0\1abc", b"\0\0\10\3\0\0",
                                  b"\0\0\10\1\xff\xff\xff\xff"])
def test_damaged_idx_files(tmp_path, data):
    write(tmp_path / "a", data)
    with pytest.raises(ValueError):
        read_idx(tmp_path / "a")


def test_mnist(mnist):
    root, arrays = mnist
    train, test = datasets.MNIST(root, transform=transforms.ToTensor(), target_transform=lambda y: y + 100), datasets.MNIST(str(root), train=False)
    assert len(train) == 12 and len(test) == 5 and train.data.dtype is torch.uint8 and train.targets.dtype is torch.int64
    image, label = train[3]
    assert label == 103 and np.allclose(image.numpy(), arrays["train-images-idx3-ubyte"][3:4] / 255)
    image, label = test[2]
    assert isinstance(image, Image.Image) and image.mode == "L" and label == 2 and isinstance(label, int)
    assert train.classes[3] == "3 - three" and train.class_to_idx["3 - three"] == 3
    assert repr(test) == f"Dataset MNIST\n    Number of datapoints: 5\n    Root location: {root}\n    Split: Test"
    assert repr(train).endswith("    Split: Train\n    StandardTransform\nTransform: ToTensor()\nTarget transform: " + repr(train.target_transform))
    [batch, labels] = next(iter(DataLoader(datasets.MNIST(root, transform=transforms.ToTensor()), batch_size=4)))
    assert batch.shape == (4, 1, 28, 28) and labels.tolist() == [0, 1, 2, 3]


def test_mnist_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="Dataset not found"):
        datasets.MNIST(tmp_path)
    for cls in (datasets.FashionMNIST, datasets.KMNIST):
        with pytest.raises(RuntimeError, match=cls.__name__):
            cls(tmp_path)


@pytest.mark.parametrize("cls, train, labels", [(datasets.CIFAR10, [f"data_batch_{i}" for i in range(1, 6)], "labels"),
                                                (datasets.CIFAR100, ["train"], "fine_labels")])
def test_cifar(tmp_path, cls, train, labels):
    folder, rng = tmp_path / cls.base_folder, np.random.default_rng(0)
    folder.mkdir()
    pixels = rng.integers(0, 256, (len(train) * 2, 3072)).astype(np.uint8)
    for k, name in enumerate([*train, *cls.test_list]):
        rows = pixels[2 * (k % len(train)):][:2]
        (folder / name).write_bytes(pickle.dumps({"data": rows, labels: [k, 3]}, 2))
    (folder / cls.meta_file).write_bytes(pickle.dumps({cls.meta_key: ["plane", "car"]}, 2))
    data = cls(tmp_path)
    assert len(data) == len(pixels) and data.data.shape == (len(pixels), 32, 32, 3) and data.targets[:2] == [0, 3] and len(cls(tmp_path, train=False)) == 2
    image, label = data[1]
    assert image.size == (32, 32) and label == 3 and np.array_equal(np.array(image), pixels[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert data.classes == ["plane", "car"] and data.class_to_idx == {"plane": 0, "car": 1}
    with pytest.raises(RuntimeError, match="not found or corrupted"):
        cls(tmp_path / "none")
    (folder / cls.test_list[0]).write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    with pytest.raises(pickle.UnpicklingError, match="posix.system"):
        cls(tmp_path, train=False)


def picture(path, colour, mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, (4, 3), colour).save(path)


def test_folders_of_images(tmp_path):
    picture(tmp_path / "dog" / "b.png", (1, 2, 3))
    picture(tmp_path / "cat" / "z.PNG", (4, 5, 6))
    picture(tmp_path / "cat" / "deep" / "a.bmp", (7, 8, 9))
    picture(tmp_path / "cat" / "g.png", 50, "L")
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    data = datasets.ImageFolder(tmp_path, transform=transforms.PILToTensor())
    assert data.classes == ["cat", "dog"] and data.class_to_idx == {"cat": 0, "dog": 1} and data.targets == [0, 0, 0, 1] and data.imgs is data.samples
    assert [os.path.basename(p) for p, _ in data.samples] == ["g.png", "z.PNG", "a.bmp", "b.png"]
    assert [image[:, 0, 0].tolist() for image, _ in data] == [[50] * 3, [4, 5, 6], [7, 8, 9], [1, 2, 3]]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty"):
        datasets.ImageFolder(tmp_path)
    assert len(datasets.ImageFolder(tmp_path, allow_empty=True)) == 4
    only = datasets.ImageFolder(tmp_path, is_valid_file=lambda p: p.endswith(".png"), allow_empty=True)
    assert len(only) == 2
    with pytest.raises(FileNotFoundError, match="any class folder"):
        datasets.ImageFolder(tmp_path / "empty")


def test_folders_of_anything(tmp_path):
    for name in ("a/1.txt", "b/2.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(name)
    data = datasets.DatasetFolder(tmp_path, lambda p: open(p).read(), (".txt",), target_transform=str)
    assert list(data) == [("a/1.txt", "0"), ("b/2.txt", "1")]
    with pytest.raises(ValueError):
        datasets.DatasetFolder(tmp_path, open, None)


def test_random_images():
    data = datasets.FakeData(5, (3, 4, 6), 10, transform=transforms.ToTensor())
    assert len(data) == 5 and data[0][0].shape == (3, 4, 6) and torch.equal(data[2][0], data[2][0]) and not torch.equal(data[1][0], data[2][0])
    image, label = data[3]
    assert label == FAKE[0] and [round(v * 255) for v in image[:, 0, 0].tolist()] == FAKE[1] and 0 <= data[4][1] < 10
    with pytest.raises(IndexError):
        data[5]


FAKE = (2, [237, 143, 140])  # torchvision's label and first pixel of image 3


def test_own_datasets():
    class Two(datasets.VisionDataset):
        def __len__(self):
            return 2

        def extra_repr(self):
            return "Extra: yes"

    assert repr(Two("somewhere")) == "Dataset Two\n    Number of datapoints: 2\n    Root location: somewhere\n    Extra: yes"
    with pytest.raises(ValueError):
        Two(transforms=len, transform=len)
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((2, 2, 3), np.uint8)).save(buffer, "PNG")
    assert buffer.getvalue()[:4] == b"\x89PNG"
