"""Mixed precision: what autocast runs in which dtype, and the scaler's arithmetic."""
from __future__ import annotations

import threading

import pytest

import saraph as torch
from saraph import nn
from saraph.amp import GradScaler, autocast, custom_bwd, custom_fwd
from saraph.nn import functional as F

A, B = torch.rand(4, 4), torch.rand(4, 4)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_what_runs_in_16_bits(kind):
    x, w = torch.rand(1, 2, 6, 6), torch.rand(3, 2, 3, 3)
    with autocast("cpu", kind):
        for y in (A @ B, torch.mm(A, B), torch.matmul(A, B), F.linear(A, B), torch.bmm(A[None], B[None]), F.conv2d(x, w), torch.addmm(A, A, B),
                  torch.baddbmm(A[None], A[None], B[None])):
            assert y.dtype is kind
        for y in (A + B, A.relu(), A.sum(), torch.cat([A, B]), A * 2):
            assert y.dtype is torch.float32


def test_what_stays_in_32_bits():
    half = A.bfloat16()
    with autocast("cpu"):
        assert F.mse_loss(half, half).dtype is torch.float32 and F.binary_cross_entropy_with_logits(half, half).dtype is torch.float32
        assert (half @ half).dtype is torch.bfloat16 and (A.double() @ B.double()).dtype is torch.float64
        assert torch.stack([half, A]).dtype is torch.float32


def test_contexts():
    assert not torch.is_autocast_enabled("cpu")
    with autocast("cpu"):
        assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.bfloat16
        with autocast("cpu", enabled=False):
            assert not torch.is_autocast_enabled("cpu") and (A @ B).dtype is torch.float32
        with autocast("cpu", torch.float16):
            assert (A @ B).dtype is torch.float16
        assert (A @ B).dtype is torch.bfloat16
    assert (A @ B).dtype is torch.float32 and torch.autocast is autocast


def test_decorators():
    @autocast("cpu")
    def f(x, depth=0):
        return f(x, depth + 1) if depth < 2 else x @ x

    assert f(A).dtype is torch.bfloat16 and not torch.is_autocast_enabled("cpu")


def test_other_devices():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        with autocast("cuda"):
            assert (A @ B).dtype is torch.float32
    with pytest.warns(UserWarning, match="not supported"):
        with autocast("cpu", torch.float64):
            assert (A @ B).dtype is torch.float32
    with pytest.raises((RuntimeError, ValueError)):
        autocast("nothing")
    with pytest.raises(ValueError):
        autocast(3)


def test_gradients_are_in_the_dtype_of_the_weights():
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)
    with autocast("cpu"):
        y = net(x)
        assert y.dtype is torch.bfloat16
        loss = F.cross_entropy(y, torch.tensor([0, 1, 0]))
    assert loss.dtype is torch.float32
    loss.backward()
    half = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    F.cross_entropy(net(x), torch.tensor([0, 1, 0])).backward()
    for a, p in zip(half, net.parameters()):
        assert a.dtype is torch.float32 and torch.allclose(a, p.grad, atol=0.02)


def test_weights_are_cast_once():
    w = torch.rand(4, 4, requires_grad=True)
    with autocast("cpu"):
        ((A @ w) + (B @ w)).float().sum().backward()
    assert torch.allclose(w.grad, (A + B).sum(0)[:, None].expand(4, 4), rtol=0.02)
    with autocast("cpu", cache_enabled=False):
        assert (A @ w).dtype is torch.bfloat16
    with torch.no_grad():
        w.fill_(1)
    with autocast("cpu"):
        assert torch.allclose((A @ w).float(), A.sum(1, keepdim=True).expand(4, 4), rtol=0.02)


def test_other_threads_do_not_notice():
    seen = []
    with autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(((A @ B).dtype, torch.is_autocast_enabled("cpu"))))
        thread.start()
        thread.join()
    assert seen == [(torch.float32, False)]


def test_own_functions():
    kinds = []

    class Product(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, a, b):
            kinds.append((a.dtype, torch.is_autocast_enabled("cpu")))
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            kinds.append((g.dtype, torch.is_autocast_enabled("cpu")))
            return g @ b.t(), a.t() @ g

    w = A.bfloat16().requires_grad_()
    with autocast("cpu"):
        y = Product.apply(w, B)
    y.sum().backward()
    assert kinds == [(torch.float32, False), (torch.float32, False)] and w.grad.dtype is torch.bfloat16


# -- GradScaler --------------------------------------------------------------------------------------------------------------


def setup(**options):
    w = nn.Parameter(torch.ones(2))
    return w, torch.optim.SGD([w], lr=1.0), GradScaler("cpu", **options)


def test_a_step_is_the_same_as_without_scale():
    w, optimizer, scaler = setup(init_scale=1024.0)
    loss = (w * torch.tensor([1.0, 2.0])).sum()
    assert scaler.scale(loss).item() == 3 * 1024 and [v.item() for v in scaler.scale([loss, loss])] == [3072, 3072]
    scaler.scale(loss).backward()
    assert w.grad.tolist() == [1024, 2048]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0, -1] and w.grad.tolist() == [1, 2] and scaler.get_scale() == 1024


def test_steps_that_overflow_are_skipped():
    w, optimizer, scaler = setup(init_scale=8.0, growth_interval=2, growth_factor=4.0, backoff_factor=0.25)
    scales, values = [], []
    for g in (1.0, float("inf"), 1.0, 1.0, float("nan"), 1.0):
        optimizer.zero_grad()
        scaler.scale((w * g).sum()).backward()
        result = scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        values.append(w[0].item())
        assert result is None
    assert scales == [8, 2, 2, 8, 2, 2] and values == [0, 0, -1, -2, -2, -3]


def test_unscaling_and_clipping():
    w, optimizer, scaler = setup(init_scale=4.0)
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [3, 3]
    nn.utils.clip_grad_norm_([w], 1.0)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    assert torch.allclose(w, 1 - torch.full((2,), 0.5 ** 0.5))


def test_state():
    _, optimizer, scaler = setup(init_scale=4.0)
    state = scaler.state_dict()
    assert state == {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": 0}
    other = setup()[2]
    other.load_state_dict({**state, "scale": 16.0, "growth_interval": 5})
    assert other.get_scale() == 16 and other.get_growth_interval() == 5 and other.get_growth_factor() == 2 and other.get_backoff_factor() == 0.5
    other.update(2.5)
    assert other.get_scale() == 2.5
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})
    with pytest.raises(AssertionError):
        scaler.update()
    for wrong in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError):
            setup(**wrong)


def test_disabled():
    w, optimizer, scaler = setup(enabled=False)
    loss = (w * 2).sum()
    assert scaler.scale(loss) is loss and not scaler.is_enabled() and scaler.get_scale() == 1 and scaler.state_dict() == {}
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [-1, -1]
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not GradScaler().is_enabled()


def test_float16_training():
    torch.manual_seed(0)
    net, x = nn.Linear(8, 1), torch.rand(32, 8)
    y = x.sum(1, keepdim=True)
    optimizer, scaler, losses = torch.optim.Adam(net.parameters(), lr=0.05), GradScaler("cpu", init_scale=2.0 ** 10), []
    for _ in range(60):
        optimizer.zero_grad()
        with autocast("cpu", torch.float16):
            loss = F.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 20


def test_the_old_place_on_the_cpu():
    x = torch.ones(2, 2)
    with torch.cpu.amp.autocast():
        assert (x @ x).dtype is torch.bfloat16
    with torch.cpu.amp.autocast(dtype=torch.float16):
        assert (x @ x).dtype is torch.float16
    with torch.cpu.amp.autocast(False):
        assert (x @ x).dtype is torch.float32
    assert torch.cpu.amp.GradScaler(init_scale=4.0).get_scale() == 4.0
