"""Datasets of images."""
from saraph.vision.datasets.cifar import CIFAR10, CIFAR100
from saraph.vision.datasets.fake import FakeData
from saraph.vision.datasets.folder import DatasetFolder, ImageFolder, VisionDataset
from saraph.vision.datasets.mnist import KMNIST, MNIST, FashionMNIST

__all__ = ["CIFAR10", "CIFAR100", "DatasetFolder", "FakeData", "FashionMNIST", "ImageFolder", "KMNIST", "MNIST", "VisionDataset"]
