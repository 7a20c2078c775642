"""Transforms of images."""
from saraph.vision.transforms import functional
from saraph.vision.transforms.transforms import *  # noqa: F403
from saraph.vision.transforms.transforms import __all__ as _names

__all__ = ["functional", *_names]
