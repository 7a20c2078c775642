"""Memory does not grow: over calls of ever other shapes and numbers, and over long trainings."""
from __future__ import annotations

import gc
import os
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import saraph as torch
from saraph import kernels, nn
from saraph.cli.demo import Net
from saraph.kernels import jit
from saraph.nn import functional as F

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
MEGABYTE = 1 << 20


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def call(generator: np.random.Generator) -> None:
    """A few ops of one random shape, forward and backward."""
    a, b, c, side = (int(n) for n in generator.integers(3, 160, 4))
    x = torch.randn(a, b, requires_grad=True)
    y = (x @ torch.randn(b, c) * float(generator.random())).softmax(1)
    z = torch.cat([F.layer_norm(y, (c,)), F.leaky_relu(y, float(generator.random()))]).sort(1).values.cumsum(0)
    image = torch.randn(2, 5, side, a, requires_grad=True)
    shape = nn.Conv2d(5, 3, 3, padding=1, stride=int(generator.integers(1, 4)))(image)
    pooled = F.interpolate(F.adaptive_avg_pool2d(shape, (7, 5)), scale_factor=float(generator.random()) + 1)
    heads = x.reshape(1, 1, a, b)
    attended = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
    (z.sum() + pooled.square().mean() + attended.sum() + x.std() + x[x > 0].sum() + x.amax(0).sum()).backward()
    optimizer = torch.optim.Adam([nn.Parameter(x.detach())], lr=float(generator.random()))
    optimizer.param_groups[0]["params"][0].grad = x.grad
    optimizer.step()


@on_linux
def test_calls_of_ever_other_shapes() -> None:
    generator = np.random.default_rng(0)
    for _ in range(150):
        call(generator)
    before, made = resident(), kernels.statistics().in_memory
    for _ in range(1000):
        call(generator)
    grown = resident() - before
    assert kernels.statistics().in_memory <= made + 10
    assert grown < 48 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB more"


@on_linux
def test_long_trainings() -> None:
    torch.manual_seed(0)
    model = Net(8)
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(32, 1, 8, 8), torch.randint(0, 10, (32,))

    def train(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

    train(100)
    before = resident()
    train(2000)
    grown = resident() - before
    assert grown < 8 * MEGABYTE, f"{grown / MEGABYTE:.1f} MB more"


def test_numbers_that_change_with_every_call_compile_little() -> None:
    if not jit.available():
        pytest.skip(jit.why_unavailable())
    x = torch.linspace(-2, 2, 101, requires_grad=True)
    functions = (lambda n: F.leaky_relu(x, n), lambda n: F.elu(x, n), lambda n: F.softplus(x, n), lambda n: x.clamp(-n, n), lambda n: x.abs() ** n,
                 lambda n: F.huber_loss(x, x.detach() * 0.1, delta=n), lambda n: F.smooth_l1_loss(x, x.detach() * 0.1, beta=n, reduction="none"))
    for function in functions:
        for step in range(40):
            function(1 + step / 64).sum().backward()
    made = kernels.statistics().in_memory
    for function in functions:
        for step in range(40):
            function(2 + (2 * step + 1) / 128).sum().backward()  # no number that has a kernel of its own
    assert kernels.statistics().in_memory == made


def test_optimizers_let_go_of_gradients() -> None:
    p = nn.Parameter(torch.ones(5))
    optimizer = torch.optim.Adam([p])
    for _ in range(3):
        p.grad = torch.ones(5)
        array = weakref.ref(p.grad._a)
        optimizer.step()
        optimizer.zero_grad()
        gc.collect()
        assert array() is None
