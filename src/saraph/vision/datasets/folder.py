"""The base of vision datasets, and datasets that are folders of images."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from saraph.utils.data.dataset import Dataset
from saraph.vision.images import pillow

__all__ = ["VisionDataset", "DatasetFolder", "ImageFolder", "IMG_EXTENSIONS", "default_loader", "pil_loader", "make_dataset"]
IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class StandardTransform:
    """A transform of the image and one of the target, as one of both."""

    def __init__(self, transform: Callable | None = None, target_transform: Callable | None = None) -> None:
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        return (input if self.transform is None else self.transform(input), target if self.target_transform is None else self.target_transform(target))

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for head, transform in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if transform is not None:
                lines += (head + repr(transform).replace("\n", "\n" + " " * len(head))).splitlines()
        return "\n".join(lines)


class VisionDataset(Dataset[Any]):
    """A dataset with a root folder and transforms: either `transforms(image, target)`, or one for each."""

    def __init__(self, root: str | os.PathLike | None = None, transforms: Callable | None = None, transform: Callable | None = None,
                 target_transform: Callable | None = None) -> None:
        self.root = os.path.expanduser(os.fspath(root)) if root is not None else None
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform, self.target_transform = transform, target_transform
        if transforms is None and (transform is not None or target_transform is not None):
            transforms = StandardTransform(transform, target_transform)
        self.transforms = transforms

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        if self.extra_repr():
            lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines.append(repr(self.transforms))
        return "\n".join(["Dataset " + type(self).__name__, *("    " + line for line in lines)])

    def extra_repr(self) -> str:
        """Further lines of the repr."""
        return ""


def pil_loader(path: str) -> Any:
    """The image of a file, as RGB."""
    with open(path, "rb") as stream:
        return pillow().open(stream).convert("RGB")


default_loader = pil_loader


def make_dataset(directory: str, class_to_idx: dict[str, int], extensions: tuple[str, ...] | None = None,
                 is_valid_file: Callable[[str], bool] | None = None, allow_empty: bool = False) -> list[tuple[str, int]]:
    """(path, class number) of every fitting file below directory/<class>, in order of names."""
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    valid = is_valid_file or (lambda path: path.lower().endswith(extensions))
    found, empty = [], set(class_to_idx)
    for name in sorted(class_to_idx):
        for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                if valid(path):
                    found.append((path, class_to_idx[name]))
                    empty.discard(name)
    if empty and not allow_empty:
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(sorted(empty))}. " +
                                (f"Supported extensions are: {', '.join(extensions)}" if extensions is not None else ""))
    return found


class DatasetFolder(VisionDataset):
    """Samples in root/<class>/...: (loader(path), class number)."""

    def __init__(self, root: str | os.PathLike, loader: Callable[[str], Any], extensions: tuple[str, ...] | None = None,
                 transform: Callable | None = None, target_transform: Callable | None = None, is_valid_file: Callable[[str], bool] | None = None,
                 allow_empty: bool = False) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = make_dataset(self.root, self.class_to_idx, extensions, is_valid_file, allow_empty)
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory: str) -> tuple[list[str], dict[str, int]]:
        """The class folders, sorted, and their numbers."""
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
        return classes, {name: i for i, name in enumerate(classes)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Images in root/<class>/..."""

    def __init__(self, root: str | os.PathLike, transform: Callable | None = None, target_transform: Callable | None = None,
                 loader: Callable[[str], Any] = default_loader, is_valid_file: Callable[[str], bool] | None = None, allow_empty: bool = False) -> None:
        super().__init__(root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples
