"""Images: Pillow's when it is installed (extra `vision`), and the plain arrays behind them."""
from __future__ import annotations

from typing import Any

import numpy as np


def pillow() -> Any:
    """The PIL.Image module; RuntimeError says how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise RuntimeError("this needs Pillow: install saraph[vision]") from None
    return Image


def enhance() -> Any:
    """The PIL.ImageEnhance module; RuntimeError says how to get it."""
    pillow()
    from PIL import ImageEnhance
    return ImageEnhance


class ArrayImage:
    """What stands in for a PIL image where Pillow is missing: pixels as an array (height, width[, channels]) uint8."""

    __slots__ = ("pixels", "mode")

    def __init__(self, pixels: np.ndarray, mode: str):
        self.pixels, self.mode = pixels, mode

    @property
    def size(self) -> tuple[int, int]:
        """(width, height)."""
        return self.pixels.shape[1], self.pixels.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.pixels if dtype is None else self.pixels.astype(dtype)


def from_array(pixels: np.ndarray, mode: str | None = None) -> Any:
    """A PIL image of an array of pixels (an ArrayImage without Pillow)."""
    try:
        image = pillow()
    except RuntimeError:
        return ArrayImage(pixels, mode or ("L" if pixels.ndim == 2 else "RGB"))
    return image.fromarray(pixels)


def is_image(value: Any) -> bool:
    """Whether a value is an image (not an array or a tensor)."""
    return isinstance(value, ArrayImage) or type(value).__module__.startswith("PIL.")
