"""Transforms as objects; random ones draw from the global stream in torchvision's order."""
from __future__ import annotations

import math
import numbers
import random as python_random
from collections.abc import Callable, Sequence
from typing import Any

from saraph.nn.modules.module import Module
from saraph.ops.creation import empty, tensor
from saraph.ops.random import rand, randint, randperm
from saraph.tensor.tensor import Tensor
from saraph.vision.transforms import functional as F
from saraph.vision.transforms.functional import InterpolationMode

__all__ = ["Compose", "ToTensor", "PILToTensor", "ConvertImageDtype", "ToPILImage", "Normalize", "Resize", "CenterCrop", "Pad", "Lambda", "RandomApply",
           "RandomChoice", "RandomOrder", "RandomCrop", "RandomHorizontalFlip", "RandomVerticalFlip", "RandomResizedCrop", "FiveCrop", "TenCrop",
           "ColorJitter", "RandomRotation", "Grayscale", "RandomGrayscale", "RandomErasing", "InterpolationMode", "RandomInvert", "RandomSolarize",
           "RandomPosterize", "GaussianBlur"]


def _uniform(low: float, high: float) -> float:
    return float(empty(1).uniform_(low, high))


def _size(size: Any) -> Any:
    return size if isinstance(size, int) else tuple(size)


def _pair(size: Any, message: str) -> tuple[int, int]:
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    values = tuple(size)
    if len(values) == 1:
        return values[0], values[0]
    if len(values) != 2:
        raise ValueError(message)
    return values


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self) -> str:
        return type(self).__name__ + "(" + "".join(f"\n    {t}" for t in self.transforms) + "\n)"


class ToTensor:
    """An image (height, width, channels) in 0..255 to a tensor (channels, height, width) in [0, 1]."""

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor(ToTensor):
    """An image to a tensor of its own dtype."""

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)


class ToPILImage:
    """A tensor or array to an image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Module):
    """A tensor image to another dtype, values rescaled."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        """Same shape."""
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """(x - mean) / std per channel."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor: Tensor) -> Tensor:
        """Same shape."""
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Resize(Module):
    """To a size, or with the shorter edge of a size."""

    def __init__(self, size: Any, interpolation: Any = InterpolationMode.BILINEAR, max_size: int | None = None, antialias: bool | None = True) -> None:
        super().__init__()
        self.size, self.interpolation, self.max_size, self.antialias = _size(size), interpolation, max_size, antialias

    def forward(self, img: Any) -> Any:
        """The resized image."""
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        name = getattr(self.interpolation, "value", self.interpolation)
        return f"{type(self).__name__}(size={self.size}, interpolation={name}, max_size={self.max_size}, antialias={self.antialias})"


class CenterCrop(Module):
    """The middle of the image."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = _pair(size, "Please provide only two dimensions (h, w) for size.")

    def forward(self, img: Any) -> Any:
        """The cropped image."""
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(Module):
    """Grow the image on all sides."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img: Any) -> Any:
        """The padded image."""
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class Lambda:
    """Any function."""

    def __init__(self, lambd: Callable) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomApply(Module):
    """All the transforms with probability p, or none."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img: Any) -> Any:
        """The image, transformed or not."""
        if self.p < rand(1):
            return img
        for t in self.transforms:
            img = t(img)
        return img


class RandomOrder:
    """The transforms in random order."""

    def __init__(self, transforms: Sequence[Callable]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        python_random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice:
    """One of the transforms."""

    def __init__(self, transforms: Sequence[Callable], p: Sequence[float] | None = None) -> None:
        self.transforms, self.p = transforms, p

    def __call__(self, *args: Any) -> Any:
        return python_random.choices(self.transforms, weights=self.p)[0](*args)


class RandomCrop(Module):
    """A random rectangle, of the image as padded."""

    def __init__(self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.size = _pair(size, "Please provide only two dimensions (h, w) for size.")
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """(top, left, height, width) of a random rectangle."""
        _, h, w = F.get_dimensions(img)
        th, tw = output_size
        if h < th or w < tw:
            raise ValueError(f"Required crop size {(th, tw)} is larger than input image size {(h, w)}")
        if w == tw and h == th:
            return 0, 0, h, w
        i = int(randint(0, h - th + 1, size=(1,)).item())
        j = int(randint(0, w - tw + 1, size=(1,)).item())
        return i, j, th, tw

    def forward(self, img: Any) -> Any:
        """The cropped image."""
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class _Chance(Module):
    """Applied with probability p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def change(self, img: Any) -> Any:
        """What is applied."""
        return img

    def forward(self, img: Any) -> Any:
        """The image, changed or not."""
        return self.change(img) if rand(1) < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomHorizontalFlip(_Chance):
    """Left and right exchanged, with probability p."""

    def change(self, img: Any) -> Any:
        """Flipped."""
        return F.hflip(img)


class RandomVerticalFlip(_Chance):
    """Top and bottom exchanged, with probability p."""

    def change(self, img: Any) -> Any:
        """Flipped."""
        return F.vflip(img)


class RandomInvert(_Chance):
    """The negative, with probability p."""

    def change(self, img: Any) -> Any:
        """Inverted."""
        return F.invert(img)


class RandomSolarize(_Chance):
    """Bright pixels inverted, with probability p."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def change(self, img: Any) -> Any:
        """Solarized."""
        return F.solarize(img, self.threshold)


class RandomPosterize(_Chance):
    """Fewer bits per channel, with probability p."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def change(self, img: Any) -> Any:
        """Posterized."""
        return F.posterize(img, self.bits)


class RandomGrayscale(_Chance):
    """Grey, with probability p."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def change(self, img: Any) -> Any:
        """Grey, in as many channels as before."""
        channels = F.get_dimensions(img)[0]
        return F.rgb_to_grayscale(img, 3 if channels == 3 else 1)


class Grayscale(Module):
    """Grey, in one or three channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        """The grey image."""
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomResizedCrop(Module):
    """A random rectangle of random area and aspect ratio, resized (Szegedy et al. 2014)."""

    def __init__(self, size: Any, scale: tuple[float, float] = (0.08, 1.0), ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
                 interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True) -> None:
        super().__init__()
        self.size = _pair(size, "Please provide only two dimensions (h, w) for size.")
        self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, interpolation, antialias

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """(top, left, height, width) of a random rectangle."""
        _, height, width = F.get_dimensions(img)
        area = height * width
        log_ratio = tensor(list(ratio)).log()
        for _ in range(10):
            target = area * empty(1).uniform_(scale[0], scale[1]).item()
            aspect = empty(1).uniform_(log_ratio[0].item(), log_ratio[1].item()).exp().item()
            w, h = int(round(math.sqrt(target * aspect))), int(round(math.sqrt(target / aspect)))
            if 0 < w <= width and 0 < h <= height:
                i = int(randint(0, height - h + 1, size=(1,)).item())
                j = int(randint(0, width - w + 1, size=(1,)).item())
                return i, j, h, w
        in_ratio = float(width) / float(height)
        if in_ratio < min(ratio):
            w, h = width, int(round(width / min(ratio)))
        elif in_ratio > max(ratio):
            w, h = int(round(height * max(ratio))), height
        else:
            w, h = width, height
        return (height - h) // 2, (width - w) // 2, h, w

    def forward(self, img: Any) -> Any:
        """The cropped and resized image."""
        return F.resized_crop(img, *self.get_params(img, self.scale, self.ratio), self.size, self.interpolation, self.antialias)


class FiveCrop(Module):
    """The four corners and the middle, as a tuple."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = _pair(size, "Please provide only two dimensions (h, w) for size.")

    def forward(self, img: Any) -> tuple[Any, ...]:
        """Five images."""
        return F.five_crop(img, self.size)


class TenCrop(FiveCrop):
    """Five crops of the image and of its mirror image, as a tuple."""

    def __init__(self, size: Any, vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def forward(self, img: Any) -> tuple[Any, ...]:
        """Ten images."""
        return F.ten_crop(img, self.size, self.vertical_flip)


class ColorJitter(Module):
    """Random brightness, contrast, saturation and hue, in random order."""

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0) -> None:
        super().__init__()
        self.brightness = self._range(brightness, "brightness")
        self.contrast = self._range(contrast, "contrast")
        self.saturation = self._range(saturation, "saturation")
        self.hue = self._range(hue, "hue", 0.0, (-0.5, 0.5), False)

    @staticmethod
    def _range(value: Any, name: str, centre: float = 1.0, bound: tuple[float, float] = (0.0, math.inf), clip: bool = True) -> Any:
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            pair = [centre - float(value), centre + float(value)]
            if clip:
                pair[0] = max(pair[0], 0.0)
        else:
            pair = [float(v) for v in value]
        if not bound[0] <= pair[0] <= pair[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {pair}.")
        return None if pair[0] == pair[1] == centre else tuple(pair)

    def forward(self, img: Any) -> Any:
        """The changed image."""
        order = randperm(4).tolist()
        drawn = [None if r is None else _uniform(*r) for r in (self.brightness, self.contrast, self.saturation, self.hue)]
        functions = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order:
            if drawn[i] is not None:
                img = functions[i](img, drawn[i])
        return img


class RandomRotation(Module):
    """Turned by a random angle."""

    def __init__(self, degrees: Any, interpolation: Any = InterpolationMode.NEAREST, expand: bool = False, center: Any = None, fill: Any = 0) -> None:
        super().__init__()
        if isinstance(degrees, numbers.Number):
            if degrees < 0:
                raise ValueError("If degrees is a single number, it must be positive.")
            degrees = (-degrees, degrees)
        self.degrees = [float(d) for d in degrees]
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def forward(self, img: Any) -> Any:
        """The turned image."""
        return F.rotate(img, _uniform(*self.degrees), self.interpolation, self.expand, self.center, self.fill)


class GaussianBlur(Module):
    """Smoothed by a Gaussian of random width."""

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = _pair(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(k <= 0 or k % 2 == 0 for k in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = (float(sigma), float(sigma)) if isinstance(sigma, numbers.Number) else tuple(sigma)
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def forward(self, img: Any) -> Any:
        """The smoothed image."""
        return F.gaussian_blur(img, list(self.kernel_size), _uniform(*self.sigma))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


class RandomErasing(Module):
    """A random rectangle of a tensor image is erased (Zhong et al. 2017)."""

    def __init__(self, p: float = 0.5, scale: tuple[float, float] = (0.02, 0.33), ratio: tuple[float, float] = (0.3, 3.3), value: Any = 0,
                 inplace: bool = False) -> None:
        super().__init__()
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    def _rectangle(self, img: Tensor) -> tuple[int, int, int, int, Any] | None:
        channels, height, width = img.shape[-3:]
        log_ratio = tensor(list(self.ratio)).log()
        for _ in range(10):
            area = height * width * empty(1).uniform_(*self.scale).item()
            aspect = empty(1).uniform_(log_ratio[0].item(), log_ratio[1].item()).exp().item()
            h, w = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
            if not (h < height and w < width):
                continue
            if self.value == "random":
                v: Any = empty(channels, h, w).normal_()
            else:
                values = [float(self.value)] if isinstance(self.value, numbers.Number) else [float(x) for x in self.value]
                v = tensor(values)[:, None, None]
            i = int(randint(0, height - h + 1, size=(1,)).item())
            j = int(randint(0, width - w + 1, size=(1,)).item())
            return i, j, h, w, v
        return None

    def forward(self, img: Tensor) -> Tensor:
        """The image, erased or not."""
        if rand(1) >= self.p:
            return img
        found = self._rectangle(img)
        return img if found is None else F.erase(img, *found, self.inplace)
