"""Grids of images."""
from __future__ import annotations

import io

import numpy as np
import pytest

import saraph as torch
from saraph.vision.utils import make_grid, save_image


def test_grid():
    images = torch.arange(5.0).view(5, 1, 1, 1).expand(5, 3, 2, 2)
    grid = make_grid(images, nrow=3, padding=1, pad_value=9)
    assert grid.shape == (3, 7, 10)
    assert grid[0].tolist() == [[9] * 10, *[[9, 0, 0, 9, 1, 1, 9, 2, 2, 9]] * 2, [9] * 10, *[[9, 3, 3, 9, 4, 4, 9, 9, 9, 9]] * 2, [9] * 10]
    assert make_grid([images[0], images[1]]).shape == (3, 6, 10) and make_grid(torch.ones(4, 5)).shape == (3, 4, 5)
    assert make_grid(images[:1]).shape == (3, 2, 2) and make_grid(torch.ones(2, 1, 2, 2)).shape == (3, 6, 10)
    with pytest.raises(TypeError):
        make_grid(3)


def test_stretching():
    images = torch.tensor([[0.0, 2], [2, 4]]).view(2, 1, 1, 2)
    whole, each = make_grid(images, padding=0, normalize=True), make_grid(images, padding=0, normalize=True, scale_each=True)
    assert whole[0, 0].tolist() == [0, 0.5, 0.5, 1] and each[0, 0].tolist() == [0, 1, 0, 1] and images.max() == 4
    assert make_grid(images, padding=0, normalize=True, value_range=(1, 3))[0, 0].tolist() == [0, 0.5, 0.5, 1]


def test_files(tmp_path):
    image = pytest.importorskip("PIL.Image")
    x = torch.tensor([[[0.0, 1.0], [0.5, 2.0]]])
    save_image(x, tmp_path / "a.png")
    buffer = io.BytesIO()
    save_image([x, x], buffer, format="png", padding=0)
    assert np.array(image.open(tmp_path / "a.png"))[:, :, 0].tolist() == [[0, 255], [128, 255]]
    assert np.array(image.open(buffer)).shape == (2, 4, 3)
