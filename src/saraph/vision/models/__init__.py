"""Models of images."""
from saraph.vision.models import resnet
from saraph.vision.models.resnet import (
    ResNet,
    resnet18,
    resnet34,
    resnet50,
    resnet101,
    resnet152,
    resnext50_32x4d,
    resnext101_32x8d,
    resnext101_64x4d,
    wide_resnet50_2,
    wide_resnet101_2,
)

__all__ = ["ResNet", "resnet", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50", "resnext101_32x8d", "resnext101_64x4d",
           "resnext50_32x4d", "wide_resnet101_2", "wide_resnet50_2"]
