"""Optimizers and schedulers against their update formulas in NumPy."""
import copy
import math

import numpy as np
import pytest

import saraph as torch
from saraph import optim

RNG = np.random.default_rng(2)
START = RNG.standard_normal(5)
GRADS = RNG.standard_normal((6, 5))


def run(make, steps=6, start=START):
    p = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = make([p])
    for g in GRADS[:steps]:
        p.grad = torch.from_numpy(g.copy())
        optimizer.step()
    return p.detach().numpy()


@pytest.mark.parametrize(("momentum", "dampening", "nesterov", "decay", "maximize"),
                         [(0, 0, False, 0, False), (0.9, 0, False, 0.1, False), (0.9, 0, True, 0, True), (0.5, 0.3, False, 0, False)])
def test_sgd(momentum, dampening, nesterov, decay, maximize):
    p, buffer = START.copy(), None
    for g in GRADS:
        g = (-g if maximize else g) + decay * p
        if momentum:
            buffer = g.copy() if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - 0.1 * g
    options = {"lr": 0.1, "momentum": momentum, "dampening": dampening, "nesterov": nesterov, "weight_decay": decay, "maximize": maximize}
    np.testing.assert_allclose(run(lambda ps: optim.SGD(ps, **options)), p)


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam(decoupled, amsgrad):
    p, m, v, top = START.copy(), 0.0, 0.0, np.zeros(5)
    for t, g in enumerate(GRADS, 1):
        if decoupled:
            p = p * (1 - 0.01 * 0.1)
        else:
            g = g + 0.1 * p
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        top = np.maximum(top, v)
        p = p - 0.01 / (1 - 0.9 ** t) * m / (np.sqrt(top if amsgrad else v) / math.sqrt(1 - 0.99 ** t) + 1e-8)
    cls = optim.AdamW if decoupled else optim.Adam
    np.testing.assert_allclose(run(lambda ps: cls(ps, lr=0.01, betas=(0.9, 0.99), weight_decay=0.1, amsgrad=amsgrad)), p)


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop, optim.Adagrad, optim.Adadelta, optim.Adamax, optim.NAdam, optim.RAdam])
def test_a_loaded_state_goes_on_as_if_it_had_not_stopped(cls):
    options = {"momentum": 0.9} if cls is optim.SGD else {}
    whole = run(lambda ps: cls(ps, lr=0.01, **options))
    p = torch.nn.Parameter(torch.from_numpy(START.copy()))
    optimizer = cls([p], lr=0.01, **options)
    for k, g in enumerate(GRADS):
        if k == 3:
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = cls([p], lr=5.0, **options)
            optimizer.load_state_dict(state)
        p.grad = torch.from_numpy(g.copy())
        optimizer.step()
    # NAdam keeps its product of momenta in float32, as PyTorch does, until a state is loaded into float64 parameters
    np.testing.assert_allclose(p.detach().numpy(), whole, rtol=1e-9 if cls is optim.NAdam else 0)


def test_groups_closures_and_zeroed_gradients():
    a, b = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (a * 2 + b).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 3.0
    assert a.item() == 0.0 and b.item() == 0.0
    optimizer.zero_grad()
    assert a.grad is None and b.grad is None


def rates(make, steps=8):
    optimizer = optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler, found = make(optimizer), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def test_schedules():
    s = optim.lr_scheduler
    assert rates(lambda o: s.StepLR(o, 3, 0.5)) == pytest.approx([0.5 ** (t // 3) for t in range(8)])
    assert rates(lambda o: s.ExponentialLR(o, 0.9)) == pytest.approx([0.9 ** t for t in range(8)])
    assert rates(lambda o: s.CosineAnnealingLR(o, 10, 0.1)) == pytest.approx([0.1 + 0.9 * (1 + math.cos(math.pi * t / 10)) / 2 for t in range(8)])
    assert rates(lambda o: s.LambdaLR(o, lambda t: 1 / (1 + t))) == pytest.approx([1 / (1 + t) for t in range(8)])
    assert rates(lambda o: s.MultiStepLR(o, [2, 5], 0.1)) == pytest.approx([1, 1, .1, .1, .1, .01, .01, .01])
    assert rates(lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)], [3]))[3:] == pytest.approx([0.5 ** t for t in range(5)])


def test_plateau_lowers_the_rate_when_nothing_improves():
    optimizer = optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=1)
    found = []
    for value in (5.0, 4.0, 4.0, 4.0, 4.0, 3.0):
        scheduler.step(value)
        found.append(optimizer.param_groups[0]["lr"])
    assert found == pytest.approx([1, 1, 1, 0.1, 0.1, 0.1])


def test_averaged_weights():
    model = torch.nn.Linear(1, 1, bias=False)
    averaged = optim.swa_utils.AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model.weight.fill_(value)
        averaged.update_parameters(model)
    assert averaged.module.weight.item() == pytest.approx(3.0)
