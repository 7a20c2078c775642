"""Calls of transforms on small images; `golden.json` holds what torchvision 0.28 answers to them.

`answers(torch, transforms)` runs them all, for either package: name -> [kind, shape, values].
"""
from __future__ import annotations

import numpy as np


def pixels(height=7, width=9, channels=3, seed=0):
    a = np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return a[:, :, 0] if channels == 1 else a


def inputs(torch, image):
    rgb, gray = pixels(), pixels(channels=1)
    tensor = torch.from_numpy(rgb.transpose(2, 0, 1).copy())
    return {"rgb": image.fromarray(rgb), "gray": image.fromarray(gray), "bytes": tensor, "floats": tensor.float() / 255}


def calls(torch, T):
    F = T.functional
    M = T.InterpolationMode
    both = {
        "resize": lambda x: F.resize(x, [5, 6]), "resize up": lambda x: F.resize(x, [10, 12]), "resize short": lambda x: F.resize(x, 5),
        "resize max": lambda x: F.resize(x, 6, max_size=7), "resize nearest": lambda x: F.resize(x, [5, 6], M.NEAREST),
        "resize bicubic": lambda x: F.resize(x, [5, 6], M.BICUBIC), "resize bicubic up": lambda x: F.resize(x, [12, 10], M.BICUBIC),
        "crop": lambda x: F.crop(x, 1, 2, 3, 4), "crop outside": lambda x: F.crop(x, -1, -2, 5, 15), "center": lambda x: F.center_crop(x, [3, 4]),
        "center odd": lambda x: F.center_crop(x, 4), "center larger": lambda x: F.center_crop(x, [10, 6]), "center both": lambda x: F.center_crop(x, 12),
        "resized crop": lambda x: F.resized_crop(x, 1, 1, 5, 6, [4, 4]), "hflip": F.hflip, "vflip": F.vflip,
        "pad": lambda x: F.pad(x, 2), "pad two": lambda x: F.pad(x, [1, 2]), "pad four": lambda x: F.pad(x, [1, 2, 0, 3], 7),
        "pad edge": lambda x: F.pad(x, [1, 2, 0, 3], 0, "edge"), "pad reflect": lambda x: F.pad(x, [1, 2], 0, "reflect"),
        "pad symmetric": lambda x: F.pad(x, [1, 2, 3, 0], 0, "symmetric"),
        "rotate": lambda x: F.rotate(x, 30), "rotate expand": lambda x: F.rotate(x, 30, expand=True),
        "rotate bilinear": lambda x: F.rotate(x, -20, M.BILINEAR), "rotate centre": lambda x: F.rotate(x, 45, center=[2, 3]),
        "rotate 90": lambda x: F.rotate(x, 90, expand=True), "rotate fill": lambda x: F.rotate(x, 45, fill=[9] if F.get_dimensions(x)[0] == 1 else [9, 8, 7]),
        "brightness": lambda x: F.adjust_brightness(x, 1.4), "darker": lambda x: F.adjust_brightness(x, 0.3), "contrast": lambda x: F.adjust_contrast(x, 0.6),
        "contrast up": lambda x: F.adjust_contrast(x, 1.7), "invert": F.invert, "solarize": lambda x: F.solarize(x, 0.5 if _floats(x) else 128),
        "blur": lambda x: F.gaussian_blur(x, [3, 5], [0.8, 1.2]), "blur one": lambda x: F.gaussian_blur(x, 3),
        "gray": lambda x: F.rgb_to_grayscale(x), "gray 3": lambda x: F.rgb_to_grayscale(x, 3), "five": lambda x: F.five_crop(x, 3),
        "ten": lambda x: F.ten_crop(x, [3, 2]), "ten vertical": lambda x: F.ten_crop(x, 3, True),
    }
    colour = {"saturation": lambda x: F.adjust_saturation(x, 0.4), "saturation up": lambda x: F.adjust_saturation(x, 1.8),
              "hue": lambda x: F.adjust_hue(x, 0.2), "hue back": lambda x: F.adjust_hue(x, -0.4), "hue none": lambda x: F.adjust_hue(x, 0.0)}
    tensors = {"normalize": lambda x: F.normalize(x.float(), [0.5, 0.4, 0.3], [0.2, 0.3, 0.4]), "erase": lambda x: F.erase(x, 1, 2, 3, 4, torch.tensor(5)),
               "to float": lambda x: F.convert_image_dtype(x, torch.float64), "to uint8": lambda x: F.convert_image_dtype(x, torch.uint8),
               "to int16": lambda x: F.convert_image_dtype(x, torch.int16), "batch": lambda x: F.resize(torch.stack([x, x]), [4, 4])}
    return both, colour, tensors


def _floats(x):
    return hasattr(x, "is_floating_point") and x.is_floating_point()


def random_calls(T):
    return {
        "RandomCrop": T.RandomCrop(4), "RandomCrop padded": T.RandomCrop((7, 9), padding=2), "RandomCrop if needed": T.RandomCrop(12, pad_if_needed=True),
        "RandomHorizontalFlip": T.RandomHorizontalFlip(), "RandomVerticalFlip": T.RandomVerticalFlip(), "RandomResizedCrop": T.RandomResizedCrop(5),
        "RandomRotation": T.RandomRotation(30), "ColorJitter": T.ColorJitter(0.4, 0.4, 0.4, 0.1), "RandomGrayscale": T.RandomGrayscale(0.5),
        "RandomInvert": T.RandomInvert(), "RandomSolarize": T.RandomSolarize(100), "RandomPosterize": T.RandomPosterize(3),
        "RandomErasing": T.Compose([T.ToTensor(), T.RandomErasing(0.9)]),
        "RandomErasing random": T.Compose([T.ToTensor(), T.RandomErasing(0.9, value="random")]),
        "RandomApply": T.RandomApply([T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0)], 0.5), "Grayscale": T.Grayscale(3),
        "GaussianBlur": T.GaussianBlur(3),
        "Compose": T.Compose([T.Resize(8), T.CenterCrop(6), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize((0.5,) * 3, (0.2,) * 3)])}


def plain(value):
    """[kind, shape, values] of an image or tensor, or a list of those."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if hasattr(value, "detach"):
        a = value.detach().numpy()
        return [str(value.dtype), list(a.shape), [round(float(v), 5) for v in a.reshape(-1)] if a.dtype.kind == "f" else a.reshape(-1).tolist()]
    a = np.array(value)
    return [f"PIL {value.mode}", list(a.shape), a.reshape(-1).tolist()]


def answers(torch, T, image):
    given, found = inputs(torch, image), {}
    both, colour, tensors = calls(torch, T)
    for key, x in given.items():
        for name, call in {**both, **(colour if key != "gray" else {}), **(tensors if key in ("bytes", "floats") else {})}.items():
            if (key, name) == ("floats", "to int16"):
                continue
            found[f"{key}: {name}"] = plain(call(x))
    found["posterize rgb"] = plain(T.functional.posterize(given["rgb"], 3))
    found["posterize bytes"] = plain(T.functional.posterize(given["bytes"], 3))
    for name, transform in random_calls(T).items():
        torch.manual_seed(3)
        found[name] = [plain(transform(given["rgb"])) for _ in range(4)]
    return found
