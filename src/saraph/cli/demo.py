"""`saraph demo`: the small CNN of every tutorial on handwritten digits."""
from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import numpy as np

import saraph as torch
from saraph import nn
from saraph.nn import functional as F
from saraph.utils.data import DataLoader, TensorDataset
from saraph.vision.datasets.mnist import MNIST, find_idx, read_idx

SHADES = " .:-=+*#%@"


class Net(nn.Module):
    """conv 32, pool, conv 64, pool, linear: (batch, 1, n, n) -> (batch, 10)."""

    def __init__(self, size: int = 28) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * (size // 4) ** 2, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of the ten digits."""
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        return self.fc(x.flatten(1))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The demo's options."""
    parser.add_argument("--data", help="folder with MNIST's IDX files (gzip or not); default: the 8x8 digits of scikit-learn")
    parser.add_argument("--download", action="store_true", help="fetch MNIST into --data (default ./data)")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", default="saraph_demo.pt", help="where the weights go")


def load_digits(options: argparse.Namespace) -> tuple[Any, Any, Any, Any, str]:
    """Training images and labels, test images and labels (arrays), and where they are from."""
    if options.download:
        root = options.data or "data"
        train, test = MNIST(root, train=True, download=True), MNIST(root, train=False)
        return train.data.numpy(), train.targets.numpy(), test.data.numpy(), test.targets.numpy(), f"MNIST in {root}"
    if options.data:
        if not os.path.isdir(options.data):
            raise SystemExit(f"saraph demo: there is no folder {options.data}")
        files = [find_idx(options.data, *names) for names in (
            ("train-images-idx3-ubyte", "train10k-images-idx3-ubyte"), ("train-labels-idx1-ubyte", "train10k-labels-idx1-ubyte"),
            ("t10k-images-idx3-ubyte",), ("t10k-labels-idx1-ubyte",))]
        if None in files:
            raise SystemExit(f"saraph demo: {options.data} lacks MNIST's IDX files (train-images-idx3-ubyte, train-labels-idx1-ubyte, "
                             "t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, each with or without .gz). --download fetches them.")
        images, labels, test_images, test_labels = (read_idx(f) for f in files)
        return images, labels.astype(np.int64), test_images, test_labels.astype(np.int64), f"IDX files in {options.data}"
    try:
        from sklearn.datasets import load_digits as sklearn_digits
    except ImportError:
        raise SystemExit("saraph demo: give --data FOLDER with MNIST's IDX files, or --download, or install saraph[demo] for the digits "
                         "that scikit-learn ships") from None
    digits = sklearn_digits()
    images = np.repeat(np.repeat((digits.images / 16 * 255).astype(np.uint8), 2, 1), 2, 2)
    order = np.random.default_rng(0).permutation(len(images))
    train, test = order[:1437], order[1437:]
    labels = digits.target.astype(np.int64)
    return images[train], labels[train], images[test], labels[test], "scikit-learn's digits (8x8, doubled)"


class Progress:
    """A one-line progress bar; on something that is no terminal, nothing until the end of the epoch."""

    def __init__(self, total: int, label: str):
        self.total, self.label, self.live = total, label, sys.stderr.isatty()
        self.start = time.perf_counter()

    def show(self, done: int, text: str) -> None:
        """Draw the bar."""
        if self.live:
            filled = 30 * done // self.total
            print(f"\r{self.label} [{'=' * filled}{' ' * (30 - filled)}] {done}/{self.total} {text}", end="", file=sys.stderr, flush=True)

    def close(self) -> float:
        """Wipe the bar; the seconds it took."""
        if self.live:
            print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)
        return time.perf_counter() - self.start


def to_input(images: Any) -> torch.Tensor:
    """uint8 images (n, h, w) as normalised floats (n, 1, h, w)."""
    return (torch.from_numpy(np.ascontiguousarray(images)).unsqueeze(1).float() / 255 - 0.1307) / 0.3081


def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """The share of right answers, in percent."""
    model.eval()
    right = 0
    with torch.no_grad():
        for start in range(0, len(x), 500):
            right += int((model(x[start:start + 500]).argmax(1) == y[start:start + 500]).sum())
    model.train()
    return 100.0 * right / len(x)


def picture(image: Any) -> list[str]:
    """A digit in characters, every second row."""
    return ["".join(SHADES[int(v) * (len(SHADES) - 1) // 255] for v in row) for row in image[::2]]


def run_demo(options: argparse.Namespace) -> int:
    """Train, report, save, and show a few digits."""
    images, labels, test_images, test_labels, source = load_digits(options)
    torch.manual_seed(options.seed)
    model = Net(images.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)
    x, y = to_input(images), torch.from_numpy(labels)
    test_x, test_y = to_input(test_images), torch.from_numpy(test_labels)
    batches = DataLoader(TensorDataset(x, y), batch_size=options.batch_size, shuffle=True)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(x)} digits to train on, {len(test_x)} to test on ({source}); {parameters} parameters")
    first = True
    for epoch in range(1, options.epochs + 1):
        bar, total = Progress(len(batches), f"epoch {epoch}"), 0.0
        for i, (images_batch, labels_batch) in enumerate(batches, 1):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images_batch), labels_batch)
            loss.backward()
            optimizer.step()
            value = loss.item()
            if first:
                print(f"loss at the first step {value:.4f}")
                first = False
            total += value
            bar.show(i, f"loss {value:.4f}")
        seconds = bar.close()
        print(f"epoch {epoch}: loss {total / len(batches):.4f}, test accuracy {accuracy(model, test_x, test_y):.2f}%, {seconds:.1f} s")
    torch.save(model.state_dict(), options.save)
    print(f"weights saved to {options.save}")
    show_examples(model, test_images, test_x, test_y)
    return 0


def show_examples(model: nn.Module, images: Any, x: torch.Tensor, y: torch.Tensor, count: int = 4) -> None:
    """A few test digits with what the model takes them for."""
    model.eval()
    with torch.no_grad():
        guesses = model(x[:count]).softmax(1)
    columns = [picture(images[i]) for i in range(count)]
    for rows in zip(*columns):
        print("  ".join(rows))
    width = len(columns[0][0])
    print("  ".join(f"{int(guesses[i].argmax())} ({float(guesses[i].max()):.0%}), is {int(y[i])}".ljust(width) for i in range(count)))
