"""Unmodified PyTorch scripts on saraph."""
from __future__ import annotations

import os
import subprocess
import sys

import pytest

from saraph.compat.runner import missing_name, public


def run(tmp_path, text, *arguments, name="script.py"):
    (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run([sys.executable, "-m", "saraph", str(tmp_path / name), *arguments], capture_output=True, text=True, timeout=300,
                          env=environment, cwd=tmp_path)


EVERYTHING = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch.utils.data
from torch import Tensor, optim as optim_again
from torch.autograd import Function, Variable
from torch.nn.parameter import Parameter
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torch.utils.data.distributed import DistributedSampler
import torchvision
import torchvision.transforms.functional as TF
from torchvision import datasets, transforms
from torchvision.models import resnet18
import helper

assert torch.nn is nn and torch.nn.functional is F and sys.modules["torch"] is torch and torch.__name__ in ("torch", "saraph")
assert isinstance(torch.ones(1), Tensor) and torchvision.transforms.functional is TF and optim is optim_again
assert __name__ == "__main__" and sys.argv[1:] == ["--epochs", "2"] and helper.kind is torch.float32
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 2, 3), nn.Linear(2 * 36, 3)
    def forward(self, x):
        return F.log_softmax(self.fc(torch.flatten(F.relu(self.conv(x)), 1)), dim=1)

data = datasets.FakeData(8, (1, 8, 8), 3, transform=transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))]))
net, device = Net().to(torch.device("cuda" if torch.cuda.is_available() else "cpu")), "cpu"
optimizer = optim.Adadelta(net.parameters(), lr=1.0)
schedule = StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=4, shuffle=True, num_workers=1):
        optimizer.zero_grad()
        loss = F.nll_loss(net(x.to(device)), y)
        loss.backward()
        optimizer.step()
    schedule.step()
torch.save(net.state_dict(), "net.pt")
net.load_state_dict(torch.load("net.pt", weights_only=True))
print("done", torch.isfinite(loss).item())
"""


def test_a_training_script(tmp_path):
    (tmp_path / "helper.py").write_text("import torch\nkind = torch.float32\n")
    result = run(tmp_path, EVERYTHING, "--epochs", "2")
    assert result.returncode == 0 and result.stdout == "done True\n", result.stderr
    assert (tmp_path / "net.pt").exists()


@pytest.mark.parametrize("text, name", [
    ("import torch.onnx.utils", "torch.onnx"), ("import torch\n\nx = torch.nothing_of_the_kind(3)", "torch.nothing_of_the_kind"),
    ("from torch.nn import NoSuchLayer", "torch.nn.NoSuchLayer"), ("from torchvision.models import no_such_net", "torchvision.models.no_such_net"),
    ("import torch\ntorch.ones(1).no_such_method()", "torch.Tensor.no_such_method"),
    ("import torch.nn.functional as F\nF.no_such_function", "torch.nn.functional.no_such_function"),
    ("from torchvision import nothing", "torchvision.nothing"), ("from torch.distributed.nothing import x", "torch.distributed.nothing"),
    ("def f():\n    import torch\n    torch.linalg.no_such()\nf()", "torch.linalg.no_such")])
def test_what_is_missing_is_named_in_one_line(tmp_path, text, name):
    result = run(tmp_path, text)
    assert result.returncode == 1 and result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith(f"saraph: {name}") and "script.py:" in lines[0], result.stderr


@pytest.mark.parametrize("text, last", [
    ("import torch\ntorch.ones(2) @ torch.ones(3)", "RuntimeError"), ("raise KeyError('mine')", "KeyError: 'mine'"),
    ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
    ("class A: pass\nA().nothing", "AttributeError: 'A' object has no attribute 'nothing'")])
def test_the_scripts_own_errors_are_shown_whole(tmp_path, text, last):
    result = run(tmp_path, text)
    assert result.returncode == 1 and "Traceback" in result.stderr and result.stderr.splitlines()[-1].startswith(last)


def test_exit_status(tmp_path):
    assert run(tmp_path, "import sys\nsys.exit(7)").returncode == 7
    assert run(tmp_path, "print(__file__)").stdout.strip().endswith("script.py")


def test_installing_names():
    code = ("from saraph.compat import install, uninstall\ninstall()\ninstall()\nimport torch, saraph, torch.nn.utils.rnn, torchvision.transforms\n"
            "assert torch is saraph and torch.nn.utils.rnn is saraph.nn.utils.rnn\n"
            "assert saraph.__spec__.name == 'saraph' and saraph.nn.__name__ == 'saraph.nn'\n"
            "import importlib\nassert importlib.import_module('torch.nn.functional') is saraph.nn.functional\n"
            "import pickle\nassert pickle.loads(pickle.dumps(torch.nn.Linear(1, 1))).in_features == 1\n"
            "uninstall()\ntry:\n    import torch\nexcept ImportError:\n    print('gone')\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, result.stderr


def test_names_for_people():
    assert public("saraph") == "torch" and public("saraph.nn") == "torch.nn" and public("saraph.vision.models") == "torchvision.models"
    assert missing_name(AttributeError("module 'saraph.nn' has no attribute 'Nope'")) == "torch.nn.Nope"
    assert missing_name(AttributeError("module 'saraph' has no attribute 'nope'")) == "torch.nope"
    assert missing_name(ImportError("cannot import name 'Nope' from 'saraph.nn' (somewhere)")) == "torch.nn.Nope"
    assert missing_name(AttributeError("'Foo' object has no attribute 'bar'")) is None and missing_name(ValueError("other")) is None
