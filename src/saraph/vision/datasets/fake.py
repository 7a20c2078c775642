"""Random images, for trying things out."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph.ops.random import randint, randn
from saraph.random import Generator
from saraph.vision.datasets.folder import VisionDataset
from saraph.vision.transforms.functional import to_pil_image

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """`size` images of random pixels with random classes; image i is always the same."""

    def __init__(self, size: int = 1000, image_size: tuple[int, int, int] = (3, 224, 224), num_classes: int = 10, transform: Callable | None = None,
                 target_transform: Callable | None = None, random_offset: int = 0) -> None:
        super().__init__(None, transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size, self.random_offset = size, num_classes, image_size, random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        generator = Generator().manual_seed(index + self.random_offset)
        pixels = randn(*self.image_size, generator=generator)
        target: Any = int(randint(0, self.num_classes, (1,), generator=generator))
        image: Any = to_pil_image(pixels)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __len__(self) -> int:
        return self.size
