"""The command line."""
from __future__ import annotations

import gzip
import os
import struct

import numpy as np
import pytest

import saraph as torch
from saraph.cli import main
from saraph.cli.demo import Net, picture, to_input


def idx(a):
    return struct.pack(f">HBB{a.ndim}i", 0, 8, a.ndim, *a.shape) + a.tobytes()


@pytest.fixture
def digits(tmp_path):
    """Pictures of a bar whose place says the digit: easy to learn."""
    rng = np.random.default_rng(0)
    for part, n in (("train", 300), ("t10k", 60)):
        labels = rng.integers(0, 10, n).astype(np.uint8)
        images = rng.integers(0, 60, (n, 28, 28)).astype(np.uint8)
        for image, label in zip(images, labels):
            image[:, 2 + 2 * label:5 + 2 * label] = 250
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        with gzip.open(tmp_path / f"{part}-labels-idx1-ubyte.gz", "wb") as out:
            out.write(idx(labels))
    return tmp_path


def test_demo(digits, capsys, monkeypatch):
    monkeypatch.chdir(digits)
    assert main(["demo", "--data", str(digits), "--epochs", "2", "--batch-size", "30", "--save", "weights.pt"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("300 digits to train on, 60 to test on (IDX files in ") and out[0].endswith("50186 parameters")
    assert out[1].startswith("loss at the first step 2.") and out[2].startswith("epoch 1: loss") and out[3].startswith("epoch 2: loss")
    assert float(out[3].split("accuracy ")[1].split("%")[0]) > 80 and out[4] == "weights saved to weights.pt" and "is" in out[-1]
    Net().load_state_dict(torch.load("weights.pt"))
    first = out[1]
    main(["demo", "--data", str(digits), "--epochs", "1", "--batch-size", "30", "--save", "weights.pt"])
    assert capsys.readouterr().out.splitlines()[1] == first


def test_demo_without_digits(tmp_path):
    with pytest.raises(SystemExit, match="there is no folder"):
        main(["demo", "--data", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match="lacks MNIST's IDX files"):
        main(["demo", "--data", str(tmp_path)])


def test_run_and_info(tmp_path, capsys):
    assert main(["info"]) == 0
    assert capsys.readouterr().out.startswith(f"saraph {torch.__version__}, Python 3.")
    for wrong in ([], ["nothing"], ["demo", "--epochs", "many"]):
        with pytest.raises(SystemExit) as end:
            main(wrong)
        assert end.value.code == 2
    capsys.readouterr()


def test_pictures_in_characters():
    image = np.zeros((4, 3), np.uint8)
    image[2] = (0, 128, 255)
    assert picture(image) == ["   ", " =@"] or picture(image)[1][-1] == "@"
    assert to_input(np.full((2, 4, 4), 255, np.uint8)).shape == (2, 1, 4, 4) and os.path.sep
