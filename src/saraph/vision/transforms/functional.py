"""Transforms of single images: PIL images (or arrays) and tensors (..., channels, height, width)."""
from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from saraph import dtypes
from saraph.nn import functional as F
from saraph.ops.creation import as_tensor, from_numpy, ones
from saraph.ops.joining import stack
from saraph.ops.movement import cat
from saraph.ops.sequences import linspace
from saraph.tensor.tensor import Tensor
from saraph.vision.images import ArrayImage, enhance, from_array, is_image, pillow

__all__ = ["InterpolationMode", "to_tensor", "pil_to_tensor", "to_pil_image",
           "convert_image_dtype", "normalize", "resize", "crop", "center_crop", "resized_crop", "hflip",
           "vflip", "pad", "rotate", "rgb_to_grayscale", "to_grayscale", "adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue",
           "erase", "gaussian_blur", "get_image_size", "get_dimensions", "five_crop", "ten_crop", "invert", "solarize", "posterize"]
_GRAY = (0.2989, 0.587, 0.114)


class InterpolationMode(enum.Enum):
    """Ways to resample."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


def _name(interpolation: Any) -> str:
    """The name of a way to resample: an InterpolationMode, its name, or Pillow's number."""
    if isinstance(interpolation, int):
        return ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")[interpolation]
    return str(getattr(interpolation, "value", interpolation)).lower()


def pixels_of(image: Any) -> np.ndarray:
    """The pixels of an image as an array (height, width, channels)."""
    a = image.pixels if isinstance(image, ArrayImage) else np.array(image)
    return a[:, :, None] if a.ndim == 2 else a


def to_tensor(pic: Any) -> Tensor:
    """An image or array (height, width[, channels]) as a tensor (channels, height, width); uint8 pixels become floats in [0, 1]."""
    if not is_image(pic) and not isinstance(pic, np.ndarray):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    if isinstance(pic, np.ndarray) and pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    a = pixels_of(pic) if is_image(pic) else (pic[:, :, None] if pic.ndim == 2 else pic)
    if a.dtype == np.bool_:
        a = a.astype(np.uint8) * 255
    t = from_numpy(np.ascontiguousarray(a.transpose(2, 0, 1)))
    return t.to(dtypes.float32).div(255) if t.dtype is dtypes.uint8 else t


def pil_to_tensor(pic: Any) -> Tensor:
    """A PIL image as a tensor (channels, height, width) of its own dtype."""
    if not is_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return from_numpy(np.ascontiguousarray(pixels_of(pic).transpose(2, 0, 1)))


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A tensor (channels, height, width) or an array (height, width, channels) as an image; floats in [0, 1] become bytes."""
    if isinstance(pic, Tensor):
        if pic.dim() not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.dim()} dimensions.")
        t = pic.unsqueeze(0) if pic.dim() == 2 else pic
        if t.shape[0] > 4:
            raise ValueError(f"pic should not have > 4 channels. Got {t.shape[0]} channels.")
        a = t.detach().numpy()
        if a.dtype.kind == "f" and mode != "F":
            a = (a * 255).astype(np.int64).astype(np.uint8)  # wraps, as the conversion to bytes does
        a = a.transpose(1, 2, 0)
    elif isinstance(pic, np.ndarray):
        a = pic[:, :, None] if pic.ndim == 2 else pic
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    return from_array(np.ascontiguousarray(a[:, :, 0] if a.shape[2] == 1 else a), mode)


def convert_image_dtype(image: Tensor, dtype: dtypes.dtype = dtypes.float32) -> Tensor:
    """A tensor image in another dtype, its values rescaled to that dtype's range."""
    if image.dtype is dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        eps = 1e-3
        return image.mul(dtypes.iinfo(dtype).max + 1.0 - eps).to(dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / dtypes.iinfo(image.dtype).max
    have, want = dtypes.iinfo(image.dtype).max, dtypes.iinfo(dtype).max
    if have > want:
        return image.div((have + 1) // (want + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((want + 1) // (have + 1))


def normalize(tensor: Tensor, mean: Any, std: Any, inplace: bool = False) -> Tensor:
    """(tensor - mean) / std per channel."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.dim() < 3:
        raise ValueError(f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.size()}")
    out = tensor if inplace else tensor.clone()
    mean, std = as_tensor(mean, dtype=out.dtype), as_tensor(std, dtype=out.dtype)
    if bool((std == 0).any()):
        raise ValueError(f"std evaluated to zero after conversion to {out.dtype}, leading to division by zero.")
    mean = mean.view(-1, 1, 1) if mean.dim() == 1 else mean
    std = std.view(-1, 1, 1) if std.dim() == 1 else std
    return out.sub_(mean).div_(std)


def get_dimensions(img: Any) -> list[int]:
    """[channels, height, width]."""
    if isinstance(img, Tensor):
        return [1 if img.dim() == 2 else img.shape[-3], img.shape[-2], img.shape[-1]]
    width, height = img.size
    return [len(img.getbands()) if hasattr(img, "getbands") else pixels_of(img).shape[2], height, width]


def get_image_size(img: Any) -> list[int]:
    """[width, height]."""
    _, height, width = get_dimensions(img)
    return [width, height]


def _pil_filter(interpolation: Any) -> Any:
    image = pillow()
    filters = {"nearest": image.Resampling.NEAREST, "bilinear": image.Resampling.BILINEAR, "bicubic": image.Resampling.BICUBIC,
               "box": image.Resampling.BOX, "hamming": image.Resampling.HAMMING, "lanczos": image.Resampling.LANCZOS,
               "nearest-exact": image.Resampling.NEAREST}
    return filters[_name(interpolation)]


def _new_size(height: int, width: int, size: Any, max_size: int | None) -> tuple[int, int]:
    values = [size] if isinstance(size, int) else list(size)
    if len(values) == 2:
        return values[0], values[1]
    short, long = (width, height) if width <= height else (height, width)
    new_short, new_long = values[0], int(values[0] * long / short)
    if max_size is not None:
        if max_size <= values[0]:
            raise ValueError(f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge size = {size}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def resize(img: Any, size: Any, interpolation: Any = InterpolationMode.BILINEAR, max_size: int | None = None, antialias: bool | None = True) -> Any:
    """To (height, width), or with the shorter edge `size` (and the longer at most max_size)."""
    _, height, width = get_dimensions(img)
    new = _new_size(height, width, size, max_size)
    if new == (height, width):
        return img
    if not isinstance(img, Tensor):
        return _to_pil(img).resize(new[::-1], _pil_filter(interpolation))
    mode = _name(interpolation)
    x = img if img.dim() == 4 else img.unsqueeze(0)
    kind = x.dtype
    x = x if x.is_floating_point() else x.to(dtypes.float32)
    smooth = mode in ("bilinear", "bicubic")
    y = F.interpolate(x, size=list(new), mode=mode, align_corners=False if smooth else None, antialias=bool(antialias) and smooth)
    if kind is not y.dtype:
        y = y.clamp(min=0, max=255) if kind is dtypes.uint8 else y
        y = y.round().to(kind)
    return y if img.dim() == 4 else y.squeeze(0)


def _to_pil(img: Any) -> Any:
    return pillow().fromarray(img.pixels) if isinstance(img, ArrayImage) else img


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The rectangle at (top, left); what lies outside the image is 0."""
    if not isinstance(img, Tensor):
        if isinstance(img, ArrayImage):
            return _on_tensor(img, lambda t: crop(t, top, left, height, width))
        return img.crop((left, top, left + width, top + height))
    h, w = img.shape[-2:]
    right, bottom = left + width, top + height
    inside = img[..., max(top, 0):max(bottom, 0), max(left, 0):max(right, 0)]
    if left < 0 or top < 0 or right > w or bottom > h:
        padding = [max(min(right, 0) - left, 0), max(right - max(w, left), 0), max(min(bottom, 0) - top, 0), max(bottom - max(h, top), 0)]
        return F.pad(inside, padding)
    return inside


def _pair(size: Any) -> tuple[int, int]:
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    values = list(size)
    return (values[0], values[0]) if len(values) == 1 else (values[0], values[1])


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of the image; padded with 0 where it is too small."""
    height, width = _pair(output_size)
    _, h, w = get_dimensions(img)
    if width > w or height > h:
        left, top = max((width - w) // 2, 0), max((height - h) // 2, 0)
        img = pad(img, [left, top, max((width - w + 1) // 2, 0), max((height - h + 1) // 2, 0)])
        _, h, w = get_dimensions(img)
        if (width, height) == (w, h):
            return img
    return crop(img, int(round((h - height) / 2.0)), int(round((w - width) / 2.0)), height, width)


def resized_crop(img: Any, top: int, left: int, height: int, width: int, size: Any, interpolation: Any = InterpolationMode.BILINEAR,
                 antialias: bool | None = True) -> Any:
    """A rectangle of the image, resized."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img: Any) -> Any:
    """Left and right exchanged."""
    if isinstance(img, Tensor):
        return img.flip(-1)
    if isinstance(img, ArrayImage):
        return ArrayImage(np.ascontiguousarray(img.pixels[:, ::-1]), img.mode)
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    """Top and bottom exchanged."""
    if isinstance(img, Tensor):
        return img.flip(-2)
    if isinstance(img, ArrayImage):
        return ArrayImage(np.ascontiguousarray(img.pixels[::-1]), img.mode)
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def _four(padding: Any) -> tuple[int, int, int, int]:
    """(left, top, right, bottom)."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    values = list(padding)
    if len(values) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(values)} element tuple")
    if len(values) == 1:
        return (values[0],) * 4
    return (values[0], values[1], values[0], values[1]) if len(values) == 2 else tuple(values)


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Grow the image: padding is one int, (x, y), or (left, top, right, bottom); modes constant, edge, reflect, symmetric."""
    left, top, right, bottom = _four(padding)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    if isinstance(img, Tensor):
        if padding_mode == "constant":
            return F.pad(img, [left, right, top, bottom], value=float(fill if isinstance(fill, numbers.Number) else fill[0]))
        widths = [(0, 0)] * (img.dim() - 2) + [(top, bottom), (left, right)]
        return from_numpy(np.pad(img.numpy(), widths, mode=padding_mode))
    a = pixels_of(img)
    widths = [(top, bottom), (left, right), (0, 0)]
    if padding_mode == "constant":
        value = np.broadcast_to(np.asarray(fill, a.dtype), (a.shape[2],))
        found = np.empty((a.shape[0] + top + bottom, a.shape[1] + left + right, a.shape[2]), a.dtype)
        found[...] = value
        found[top:top + a.shape[0], left:left + a.shape[1]] = a
    else:
        found = np.pad(a, widths, mode=padding_mode)
    return from_array(found[:, :, 0] if found.shape[2] == 1 else found)


def _fill_of(fill: Any, img: Any) -> Any:
    """A PIL fill colour: a number for all channels, or one for each."""
    channels = get_dimensions(img)[0]
    if isinstance(fill, (list, tuple)):
        if len(fill) not in (1, channels):
            raise ValueError(f"The number of elements in 'fill' does not match the number of channels of the image ({len(fill)} != {channels})")
        return tuple(int(v) for v in (fill if len(fill) == channels else list(fill) * channels))
    return (int(fill or 0),) * channels if channels > 1 else int(fill or 0)


def rotate(img: Any, angle: float, interpolation: Any = InterpolationMode.NEAREST, expand: bool = False, center: Any = None, fill: Any = None) -> Any:
    """Turned counter-clockwise by `angle` degrees about the middle, or about `center` (x, y). What comes from outside is `fill`."""
    if not isinstance(img, Tensor):
        return _to_pil(img).rotate(angle, _pil_filter(interpolation), expand, tuple(center) if center is not None else None,
                                   fillcolor=_fill_of(fill, img))
    height, width = img.shape[-2:]
    cx, cy = (0.0, 0.0) if center is None else (center[0] - width * 0.5, center[1] - height * 0.5)
    cos, sin = math.cos(math.radians(-angle)), math.sin(math.radians(-angle))
    theta = [[cos, sin, cx - cos * cx - sin * cy], [-sin, cos, cy + sin * cx - cos * cy]]  # from the output's pixels to the input's
    size = _turned_size(theta, width, height) if expand else (width, height)
    return _sample(img, _grid(theta, (width, height), size), interpolation, fill)


def _turned_size(theta: list[list[float]], width: int, height: int) -> tuple[int, int]:
    """(width, height) of the box around the turned image."""
    corners = np.array([[x * width, y * height, 1.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)], np.float32) @ np.array(theta, np.float32).T
    middle, tolerance = np.array([width * 0.5, height * 0.5], np.float32), np.float32(1e-4)
    high = np.ceil(np.trunc((corners.max(0) + middle) / tolerance) * tolerance)
    low = np.floor(np.trunc((corners.min(0) + middle) / tolerance) * tolerance)
    return int(high[0] - low[0]), int(high[1] - low[1])


def _grid(theta: list[list[float]], size: tuple[int, int], out: tuple[int, int]) -> Tensor:
    """Where each of the output's pixels (out: width, height) lies in the input, as `grid_sample` wants it: (1, height, width, 2)."""
    matrix = as_tensor(theta, dtype=dtypes.float32).t() / as_tensor([0.5 * size[0], 0.5 * size[1]], dtype=dtypes.float32)
    xs = linspace(-out[0] * 0.5 + 0.5, out[0] * 0.5 - 0.5, out[0]).view(1, -1).expand(out[1], out[0])
    ys = linspace(-out[1] * 0.5 + 0.5, out[1] * 0.5 - 0.5, out[1]).view(-1, 1).expand(out[1], out[0])
    return (stack([xs, ys, ones(out[1], out[0])], -1).view(-1, 3) @ matrix).view(1, out[1], out[0], 2)


def _sample(img: Tensor, grid: Tensor, interpolation: Any, fill: Any) -> Tensor:
    """The image at the places of a grid; `fill` where that is outside."""
    x = img if img.dim() == 4 else img.unsqueeze(0)
    kind = x.dtype
    x = x if x.is_floating_point() else x.to(dtypes.float32)
    mode = _name(interpolation)
    where = grid.expand(x.shape[0], -1, -1, -1).to(x.dtype)
    if fill is None:
        y = F.grid_sample(x, where, mode=mode, padding_mode="zeros", align_corners=False)
    else:
        y = F.grid_sample(cat([x, x.new_ones(x.shape[0], 1, *x.shape[2:])], 1), where, mode=mode, padding_mode="zeros", align_corners=False)
        y, inside = y[:, :-1], y[:, -1:].expand_as(y[:, :-1])
        colour = as_tensor([float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill])], dtype=y.dtype).view(1, -1, 1, 1).expand_as(y)
        y = (inside < 0.5).where(colour, y) if mode == "nearest" else y * inside + (1 - inside) * colour
    y = y.round().to(kind) if kind is not y.dtype else y
    return y if img.dim() == 4 else y.squeeze(0)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """Luma of an RGB image, in one or three channels."""
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if isinstance(img, Tensor):
        if img.shape[-3] == 3:
            r, g, b = img.unbind(-3)
            gray = (r * _GRAY[0] + g * _GRAY[1] + b * _GRAY[2]).to(img.dtype).unsqueeze(-3)
        else:
            gray = img.clone()
        return gray.expand(img.shape[:-3] + (3,) + img.shape[-2:]) if num_output_channels == 3 else gray
    gray = _to_pil(img).convert("L")
    return pillow().merge("RGB", (gray, gray, gray)) if num_output_channels == 3 else gray


to_grayscale = rgb_to_grayscale


def _blend(a: Tensor, b: Any, ratio: float) -> Tensor:
    bound = 1.0 if a.is_floating_point() else 255.0
    return (a * float(ratio) + b * (1.0 - float(ratio))).clamp(min=0, max=bound).to(a.dtype)


def _is_pil(img: Any) -> bool:
    return is_image(img) and not isinstance(img, ArrayImage)


def _pil_hue(img: Any, hue_factor: float) -> Any:
    """Hue of a PIL image, in Pillow's HSV of bytes."""
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.array(hue) + np.array(int(hue_factor * 255) & 255, np.uint8)  # wraps around
    return pillow().merge("HSV", (pillow().fromarray(turned), saturation, value)).convert(img.mode)


def _on_tensor(img: Any, function: Any) -> Any:
    """A function of tensors, applied to an image through its pixels."""
    if isinstance(img, Tensor):
        return function(img)
    return to_pil_image(function(pil_to_tensor(img)))


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """Scale the pixels (0 black, 1 unchanged)."""
    if brightness_factor < 0:
        raise ValueError(f"brightness_factor ({brightness_factor}) is not non-negative.")
    if _is_pil(img):
        return enhance().Brightness(img).enhance(brightness_factor)
    return _on_tensor(img, lambda t: _blend(t, t * 0, brightness_factor))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Away from (or towards) the mean luma (0 grey, 1 unchanged)."""
    if contrast_factor < 0:
        raise ValueError(f"contrast_factor ({contrast_factor}) is not non-negative.")
    if _is_pil(img):
        return enhance().Contrast(img).enhance(contrast_factor)

    def change(t: Tensor) -> Tensor:
        gray = rgb_to_grayscale(t) if t.shape[-3] == 3 else t
        return _blend(t, gray.to(dtypes.float32).mean((-3, -2, -1), keepdim=True), contrast_factor)

    return _on_tensor(img, change)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Away from (or towards) grey (0 grey, 1 unchanged)."""
    if saturation_factor < 0:
        raise ValueError(f"saturation_factor ({saturation_factor}) is not non-negative.")
    if _is_pil(img):
        return enhance().Color(img).enhance(saturation_factor)
    return _on_tensor(img, lambda t: t if t.shape[-3] == 1 else _blend(t, rgb_to_grayscale(t), saturation_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Turn the hue by a fraction of the circle in [-0.5, 0.5]."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if _is_pil(img):
        return _pil_hue(img, hue_factor)

    def change(t: Tensor) -> Tensor:
        if t.shape[-3] == 1:
            return t
        x = convert_image_dtype(t, dtypes.float32)
        r, g, b = x.unbind(-3)
        high, low = r.maximum(g).maximum(b), r.minimum(g).minimum(b)
        span = high - low
        flat = span == 0
        safe = span.masked_fill(flat, 1)
        saturation = span / high.masked_fill(high == 0, 1)
        rc, gc, bc = (high - r) / safe, (high - g) / safe, (high - b) / safe
        hue = (high == r).where(bc - gc, (high == g).where(2 + rc - bc, 4 + gc - rc))
        hue = ((hue.masked_fill(flat, 0) / 6) % 1 + hue_factor) % 1
        sector = (hue * 6).floor()
        f = hue * 6 - sector
        p, q, u = high * (1 - saturation), high * (1 - saturation * f), high * (1 - saturation * (1 - f))
        k = sector.to(dtypes.int64) % 6
        channels = []
        for order in ((high, q, p, p, u, high), (u, high, high, q, p, p), (p, p, u, high, high, q)):
            channel = order[5]
            for i in range(5):
                channel = (k == i).where(order[i], channel)
            channels.append(channel.unsqueeze(-3))
        found = x.new_empty(x.shape)
        for i, c in enumerate(channels):
            found[..., i:i + 1, :, :] = c
        return convert_image_dtype(found, t.dtype)

    return _on_tensor(img, change)


def invert(img: Any) -> Any:
    """The negative."""
    return _on_tensor(img, lambda t: (1.0 if t.is_floating_point() else 255) - t)


def solarize(img: Any, threshold: float) -> Any:
    """Invert the pixels at or above a threshold."""
    return _on_tensor(img, lambda t: (t >= threshold).where(invert(t), t))


def posterize(img: Any, bits: int) -> Any:
    """Keep the highest bits of each channel."""
    return _on_tensor(img, lambda t: t & (256 - 2 ** (8 - bits)))


def gaussian_blur(img: Any, kernel_size: Any, sigma: Any = None) -> Any:
    """Smoothed by a Gaussian of (x, y) kernel sizes (odd) and widths (default 0.3 ((size - 1) / 2 - 1) + 0.8)."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if any(k % 2 == 0 or k < 0 for k in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    sigmas = [k * 0.15 + 0.35 for k in sizes] if sigma is None else [float(sigma)] * 2 if isinstance(sigma, numbers.Number) else list(sigma)
    if any(s <= 0 for s in sigmas):
        raise ValueError(f"sigma should have positive values. Got {sigmas}")

    def change(t: Tensor) -> Tensor:
        x = t if t.dim() == 4 else t.unsqueeze(0)
        x = x if x.is_floating_point() else x.to(dtypes.float32)
        across, down = [_bell(k, s, x.dtype) for k, s in zip(sizes, sigmas)]
        kernel = (down.unsqueeze(1) * across).expand(x.shape[1], 1, -1, -1)
        padded = F.pad(x, [sizes[0] // 2, sizes[0] // 2, sizes[1] // 2, sizes[1] // 2], mode="reflect")
        y = F.conv2d(padded, kernel, groups=x.shape[1])
        y = y if t.is_floating_point() else y.round().to(t.dtype)
        return y if t.dim() == 4 else y.squeeze(0)

    return _on_tensor(img, change)


def _bell(size: int, sigma: float, dtype: Any) -> Tensor:
    half = (size - 1) * 0.5
    values = (-0.5 * (linspace(-half, half, size, dtype=dtype) / sigma).square()).exp()
    return values / values.sum()


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """Fill a rectangle with v."""
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    out = img if inplace else img.clone()
    out[..., i:i + h, j:j + w] = v
    return out


def five_crop(img: Any, size: Any) -> tuple[Any, ...]:
    """The four corners and the middle."""
    height, width = _pair(size)
    _, h, w = get_dimensions(img)
    if width > w or height > h:
        raise ValueError(f"Requested crop size {(height, width)} is bigger than input size {(h, w)}")
    corners = [crop(img, top, left, height, width) for top in (0, h - height) for left in (0, w - width)]
    return (*corners, center_crop(img, [height, width]))


def ten_crop(img: Any, size: Sequence[int], vertical_flip: bool = False) -> tuple[Any, ...]:
    """Five crops, and those of the flipped image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)
