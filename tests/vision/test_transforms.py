"""Transforms: torchvision's answers on small images, and what they refuse."""
from __future__ import annotations

import gzip
import importlib.util
import json
import pathlib

import numpy as np
import pytest

import saraph as torch
from saraph.vision import transforms as T

Image = pytest.importorskip("PIL.Image")
F = T.functional
HERE = pathlib.Path(__file__).parent
_spec = importlib.util.spec_from_file_location("transform_calls", HERE / "transform_calls.py")
transform_calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(transform_calls)
GOLDEN = json.loads(gzip.decompress((HERE / "golden.json.gz").read_bytes()))


def check(name, mine, theirs):
    if isinstance(theirs[0], list):
        assert len(mine) == len(theirs)
        for m, t in zip(mine, theirs):
            check(name, m, t)
        return
    assert mine[:2] == theirs[:2], name
    # torchvision resizes bytes in integers: one step of 255 may differ
    tolerance = 1 if theirs[0] == "torch.uint8" and "resize" in name else 2e-5
    assert np.allclose(mine[2], theirs[2], rtol=0, atol=tolerance), name


@pytest.fixture(scope="module")
def answers():
    return transform_calls.answers(torch, T, Image)


@pytest.mark.parametrize("group", sorted({name.partition(":")[0] for name in GOLDEN}))
def test_torchvisions_answers(answers, group):
    names = [name for name in GOLDEN if name.partition(":")[0] == group]
    for name in names:
        check(name, answers[name], GOLDEN[name])
    assert set(answers) == set(GOLDEN)


def test_to_tensor():
    a = transform_calls.pixels()
    t = T.ToTensor()(Image.fromarray(a))
    assert t.dtype is torch.float32 and t.shape == (3, 7, 9) and np.allclose(t.numpy(), a.transpose(2, 0, 1) / 255)
    assert torch.equal(T.ToTensor()(a), t) and T.PILToTensor()(Image.fromarray(a)).dtype is torch.uint8
    assert T.ToTensor()(np.ones((2, 3, 1))).dtype is torch.float64 and T.ToTensor()(np.ones((2, 3), np.uint8)).shape == (1, 2, 3)
    bits = T.ToTensor()(Image.fromarray(a[:, :, 0] > 128))
    assert set(bits.unique().tolist()) == {0.0, 1.0}
    for wrong in (3, [1, 2]):
        with pytest.raises(TypeError):
            T.ToTensor()(wrong)
    with pytest.raises(ValueError):
        T.ToTensor()(np.ones(3))


def test_to_image_and_back():
    for t in (torch.rand(3, 4, 5), torch.rand(1, 4, 5), torch.randint(0, 256, (3, 4, 5), dtype=torch.uint8), torch.rand(4, 5)):
        image = T.ToPILImage()(t)
        back = T.PILToTensor()(image)
        expected = t if t.dtype is torch.uint8 else (t * 255).to(torch.uint8)
        assert torch.equal(back, expected.reshape(back.shape)) and image.mode == ("RGB" if back.shape[0] == 3 else "L")
    assert T.ToPILImage()(np.zeros((4, 5, 3), np.uint8)).size == (5, 4)
    with pytest.raises(ValueError):
        T.ToPILImage()(torch.rand(5, 2, 2))
    with pytest.raises(TypeError):
        T.ToPILImage()(3)


def test_normalize():
    x = torch.rand(3, 2, 2)
    kept = x.clone()
    y = T.Normalize([0.5] * 3, [0.5] * 3)(x)
    assert torch.allclose(y, (kept - 0.5) / 0.5) and torch.equal(x, kept)
    T.Normalize([0.5] * 3, [0.5] * 3, inplace=True)(x)
    assert torch.equal(x, y)
    for wrong, error in ((torch.ones(3, 2, 2, dtype=torch.uint8), TypeError), (torch.ones(3), ValueError), (3, TypeError)):
        with pytest.raises(error):
            T.Normalize([0.5] * 3, [0.5] * 3)(wrong)
    with pytest.raises(ValueError, match="std evaluated to zero"):
        T.Normalize([0.5] * 3, [0.0] * 3)(x)


@pytest.mark.parametrize("make", [
    lambda: T.RandomCrop(20)(torch.rand(3, 7, 9)), lambda: T.FiveCrop(20)(torch.rand(3, 7, 9)), lambda: T.ColorJitter(-1), lambda: T.ColorJitter(hue=0.6),
    lambda: T.RandomRotation(-1), lambda: F.pad(torch.rand(3, 2, 2), [1, 2, 3]), lambda: F.pad(torch.rand(3, 2, 2), 1, 0, "none"),
    lambda: F.rgb_to_grayscale(torch.rand(3, 2, 2), 2), lambda: F.adjust_brightness(torch.rand(3, 2, 2), -1), lambda: F.adjust_hue(torch.rand(3, 2, 2), 1),
    lambda: F.resize(torch.rand(3, 4, 6), 5, max_size=5), lambda: T.GaussianBlur(4), lambda: F.gaussian_blur(torch.rand(3, 4, 4), 2),
    lambda: T.RandomErasing(value="some")])
def test_what_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_how_they_print():
    t = T.Compose([T.Resize(8), T.CenterCrop((6, 4)), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize((0.5,), (0.2,)), T.RandomCrop(3, padding=1)])
    assert repr(t) == ("Compose(\n    Resize(size=8, interpolation=bilinear, max_size=None, antialias=True)\n    CenterCrop(size=(6, 4))\n"
                       "    RandomHorizontalFlip(p=0.5)\n    ToTensor()\n    Normalize(mean=(0.5,), std=(0.2,))\n    RandomCrop(size=(3, 3), padding=1)\n)")


def test_any_function_and_choices():
    assert T.Lambda(lambda x: x + 1)(1) == 2 and T.RandomChoice([T.Lambda(lambda x: x * 2)])(3) == 6
    assert T.RandomOrder([T.Lambda(lambda x: x + 1), T.Lambda(lambda x: x + 2)])(0) == 3
    with pytest.raises(TypeError):
        T.Lambda(3)


def test_without_pillow(monkeypatch):
    from saraph.vision import images

    def missing():
        raise RuntimeError("this needs Pillow: install saraph[vision]")

    monkeypatch.setattr(images, "pillow", missing)
    a = transform_calls.pixels()
    image = images.from_array(a)
    assert image.size == (9, 7) and image.mode == "RGB" and torch.equal(T.ToTensor()(image), T.ToTensor()(a))
    for call in (F.hflip, F.vflip, lambda x: F.crop(x, 1, 1, 3, 3), lambda x: F.pad(x, 1), lambda x: F.center_crop(x, 4),
                 lambda x: F.adjust_brightness(x, 2)):
        assert torch.equal(F.pil_to_tensor(call(image)), call(F.pil_to_tensor(image)))
