"""ResNets: torchvision's names, sizes and initial weights."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph import nn
from saraph.vision import models


def count(model):
    return sum(p.numel() for p in model.parameters())


def test_resnet18_is_torchvisions():
    torch.manual_seed(0)
    model = models.resnet18()
    names = [name for name, _ in model.named_parameters()]
    assert count(model) == 11_689_512 and len(model.state_dict()) == 122 and len(names) == 62
    assert names[:5] == ["conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight", "layer1.0.bn1.weight"]
    assert names[-2:] == ["fc.weight", "fc.bias"] and "layer2.0.downsample.0.weight" in names and "layer4.1.bn2.running_var" in model.state_dict()
    assert model.conv1.weight.shape == (64, 3, 7, 7) and model.layer3[1].conv2.weight.shape == (256, 256, 3, 3)
    assert [round(v, 5) for v in model.conv1.weight[0, 0, 0].tolist()] == FIRST
    assert [round(v, 5) for v in model.fc.bias[:3].tolist()] == LAST


FIRST = [0.02411, 0.00753, 0.04666, -0.00179, 0.02066, -0.02584, -0.02988]
LAST = [-0.01733, -0.04316, 0.00868]


@pytest.mark.parametrize("name, parameters", [("resnet34", 21_797_672), ("resnet50", 25_557_032), ("resnext50_32x4d", 25_028_904)])
def test_sizes(name, parameters):
    with torch.device("meta"):
        assert count(getattr(models, name)()) == parameters


def test_forward_and_backward():
    torch.manual_seed(0)
    model = models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5)
    x = torch.rand(2, 3, 32, 32)
    y = model(x)
    assert y.shape == (2, 5)
    y.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    model.eval()
    with torch.no_grad():
        assert torch.allclose(model(x), model(x)) and model(x[:1]).shape == (1, 5)


def test_options():
    model = models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], num_classes=3, zero_init_residual=True, groups=2, width_per_group=32,
                          replace_stride_with_dilation=[False, True, True], norm_layer=lambda n: nn.GroupNorm(4, n))
    assert not model.layer1[0].bn3.weight.any() and model.layer3[0].conv2.dilation == (1, 1) and model.layer4[0].conv2.dilation == (2, 2)
    assert model(torch.rand(1, 3, 32, 32)).shape == (1, 3)
    for wrong, error in ((lambda: models.resnet18(weights="IMAGENET1K_V1"), RuntimeError), (lambda: models.resnet18(groups=2), ValueError),
                         (lambda: models.resnet18(replace_stride_with_dilation=[True]), ValueError)):
        with pytest.raises(error):
            wrong()
