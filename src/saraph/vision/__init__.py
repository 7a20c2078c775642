"""Vision: datasets, transforms and models, with torchvision's names."""
from saraph.vision import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
__version__ = "0.28.0+saraph"
