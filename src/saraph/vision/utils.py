"""Images side by side, and files of images."""
from __future__ import annotations

import os
from typing import Any

from saraph import dtypes
from saraph.autograd import no_grad
from saraph.ops.joining import stack
from saraph.ops.movement import cat
from saraph.tensor.tensor import Tensor
from saraph.vision.images import pillow

__all__ = ["make_grid", "save_image"]


@no_grad()
def make_grid(tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False, value_range: tuple[float, float] | None = None,
              scale_each: bool = False, pad_value: float = 0.0) -> Tensor:
    """Images (batch, channels, height, width), or a list of them, as one image with `nrow` in each row.

    normalize: stretch the values to [0, 1], from value_range or from the smallest and largest one (of each image with scale_each).
    """
    if not isinstance(tensor, (Tensor, list)) or (isinstance(tensor, list) and not all(isinstance(t, Tensor) for t in tensor)):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    images = stack(tensor, 0) if isinstance(tensor, list) else tensor
    if images.dim() == 2:
        images = images.unsqueeze(0)
    if images.dim() == 3:
        images = (cat([images] * 3, 0) if images.size(0) == 1 else images).unsqueeze(0)
    if images.dim() == 4 and images.size(1) == 1:
        images = cat([images] * 3, 1)
    if normalize:
        images = images.clone()
        for part in images if scale_each else [images]:
            low, high = value_range if value_range is not None else (float(part.min()), float(part.max()))
            part.clamp_(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))
    if images.size(0) == 1:
        return images.squeeze(0)
    count = images.size(0)
    columns = min(nrow, count)
    rows = -(-count // columns)
    height, width = images.size(2) + padding, images.size(3) + padding
    grid = images.new_full((images.size(1), height * rows + padding, width * columns + padding), pad_value)
    for k in range(count):
        top, left = k // columns * height + padding, k % columns * width + padding
        grid[:, top:top + height - padding, left:left + width - padding] = images[k]
    return grid


@no_grad()
def save_image(tensor: Any, fp: str | os.PathLike | Any, format: str | None = None, **kwargs: Any) -> None:
    """Write an image, or a grid of images (options as for `make_grid`), with values in [0, 1], to a path or a stream."""
    grid = make_grid(tensor, **kwargs).mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to(dtypes.uint8)
    pillow().fromarray(grid.contiguous().numpy()).save(fp, format=format)
