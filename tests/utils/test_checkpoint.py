"""Checkpointing: the same gradients, computed again; the same random numbers; errors when the second time differs."""
from __future__ import annotations

import pytest

import saraph as torch
from saraph import nn
from saraph.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop

BOTH = pytest.mark.parametrize("reentrant", [True, False])


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))


def gradients(run, net, x):
    net.zero_grad()
    x.grad = None
    torch.manual_seed(1)
    loss = run(x).pow(2).sum()
    loss.backward()
    return [loss.detach(), x.grad, *[p.grad for p in net.parameters()]]


@BOTH
def test_the_same_gradients(reentrant):
    net, x = model(), torch.rand(3, 4, requires_grad=True)
    plain = gradients(net, net, x)
    for run in (lambda v: checkpoint(net, v, use_reentrant=reentrant), lambda v: checkpoint_sequential(net, 3, v, use_reentrant=reentrant),
                lambda v: net[3:](checkpoint(net[:3], v, use_reentrant=reentrant))):
        assert all(torch.equal(a, b) for a, b in zip(plain, gradients(run, net, x)))


@BOTH
def test_it_is_computed_twice(reentrant):
    calls = []

    def f(x):
        calls.append(torch.is_grad_enabled())
        return (x.exp() * x).sin()

    x = torch.rand(3, requires_grad=True)
    y = checkpoint(f, x, use_reentrant=reentrant)
    assert len(calls) == 1
    y.sum().backward()
    assert len(calls) == 2 and calls[1] is True
    with torch.no_grad():
        checkpoint(f, x, use_reentrant=reentrant)
    assert len(calls) == 3


@BOTH
def test_random_numbers(reentrant):
    x = torch.ones(100, requires_grad=True)
    torch.manual_seed(3)
    y = checkpoint(lambda v: nn.functional.dropout(v * 1, 0.5), x, use_reentrant=reentrant)
    state = torch.get_rng_state()
    torch.rand(10)
    after = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and torch.equal(torch.get_rng_state(), after) and not torch.equal(state, after)
    torch.manual_seed(3)
    y = checkpoint(lambda v: nn.functional.dropout(v * 1, 0.5), x, use_reentrant=reentrant, preserve_rng_state=False)
    torch.rand(10)
    x.grad = None
    y.sum().backward()
    assert not torch.equal(x.grad, y.detach())


@BOTH
def test_several_arguments_and_results(reentrant):
    def f(x, n, y, flag=None):
        return x * n, "text", (x * y).sum()

    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    a, text, b = checkpoint(f, x, 5, y, use_reentrant=reentrant)
    assert text == "text"
    (a.sum() + b).backward()
    assert x.grad.tolist() == [8, 9] and y.grad is None


def test_keywords_and_nested_arguments():
    def f(pair, *, scale):
        return pair["x"].exp() * scale

    x = torch.tensor([1.0], requires_grad=True)
    checkpoint(f, {"x": x}, scale=2.0, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, 2 * x.detach().exp())
    with pytest.raises(ValueError, match="Unexpected keyword arguments"):
        checkpoint(f, {"x": x}, scale=2.0, use_reentrant=True)


def test_checkpoints_within_checkpoints():
    x = torch.rand(3, requires_grad=True)

    def inner(v):
        return v.sin().exp()

    def outer(v):
        return checkpoint(inner, v.cos(), use_reentrant=False) * v.sin()

    outer_plain = (inner(x.cos()) * x.sin()).sum()
    (expected,) = torch.autograd.grad(outer_plain, x)
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, expected)


def test_grad_and_higher_derivatives():
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
    y = checkpoint(lambda v: v.exp() * v, x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    (again,) = torch.autograd.grad(y.sum(), x)
    e = x.detach().exp()
    assert torch.allclose(g, e + x.detach() * e) and torch.equal(g, again)
    y = checkpoint(lambda v: v.exp() * v, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="use_reentrant=True"):
        torch.autograd.grad(y.sum(), x)


def test_only_weights_need_gradients():
    net, x = nn.Linear(2, 1), torch.rand(3, 2)
    checkpoint(net, x, use_reentrant=False).sum().backward()
    assert torch.allclose(net.weight.grad, x.sum(0, keepdim=True))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = checkpoint(net, x, use_reentrant=True)
    assert not y.requires_grad


def test_a_second_computation_that_differs():
    for change in (lambda v: v.repeat(2).exp(), lambda v: v.exp().exp(), lambda v: v * 2, lambda v: v.double().exp()):
        calls = []

        def f(v, calls=calls, change=change):
            calls.append(1)
            return (v.exp() if len(calls) == 1 else change(v)).sum()

        x = torch.rand(3, requires_grad=True)
        with set_checkpoint_early_stop(False):
            y = checkpoint(f, x, use_reentrant=False)
        with pytest.raises(CheckpointError):
            y.backward()


def test_contexts_of_both_computations():
    entered = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *exc):
            return None

    x = torch.rand(3, requires_grad=True)
    y = checkpoint(lambda v: v.exp(), x, use_reentrant=False, context_fn=lambda: (Note("forward"), Note("again")))
    assert entered == ["forward"]
    y.sum().backward()
    assert entered == ["forward", "again"]
    with pytest.raises(ValueError, match="context_fn"):
        checkpoint(lambda v: v, x, use_reentrant=True, context_fn=lambda: (Note(1), Note(2)))


def test_autocast_is_the_same_the_second_time():
    net, x, kinds = nn.Linear(4, 4), torch.rand(2, 4, requires_grad=True), []

    def f(v):
        y = net(v)
        kinds.append(y.dtype)
        return y.float().exp()

    for reentrant in (False, True):
        kinds.clear()
        with torch.autocast("cpu", torch.bfloat16):
            y = checkpoint(f, x, use_reentrant=reentrant)
        y.sum().backward()
        assert kinds == [torch.bfloat16, torch.bfloat16]


def test_less_memory_is_kept():
    kept = []
    x = torch.rand(10, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = checkpoint(lambda v: v.exp().exp().exp().sum(), x, use_reentrant=False)
    assert len(kept) <= 1
    y.backward()
    assert x.grad is not None


def test_there_are_no_streams_on_devices():
    assert torch.utils.checkpoint.get_device_states(torch.ones(2)) == ([], []) and torch.utils.checkpoint.set_device_states([], []) is None
    with pytest.raises(RuntimeError, match="no devices"):
        torch.utils.checkpoint.set_device_states([0], [torch.ones(2)])
