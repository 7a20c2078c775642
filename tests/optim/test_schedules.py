"""Schedules of the learning rate against golden values, formulas and each other; their state dicts."""
import copy
import math

import pytest

import saraph as torch
from saraph import optim
from saraph.optim import lr_scheduler as schedules


def sgd(lr=1.0, groups=1):
    return optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1))]} for _ in range(groups)], lr=lr, momentum=0.9)


def rates(make, steps=9):
    optimizer = sgd()
    scheduler, found = make(optimizer), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


GOLDEN = {
    "linear": (lambda o: schedules.LinearLR(o, 0.2, 1.0, 4), [0.2, 0.4, 0.6, 0.8, 1, 1, 1, 1, 1]),
    "constant": (lambda o: schedules.ConstantLR(o, 0.25, 3), [0.25, 0.25, 0.25, 1, 1, 1, 1, 1, 1]),
    "polynomial": (lambda o: schedules.PolynomialLR(o, 5, 2.0), [1, 0.64, 0.36, 0.16, 0.04, 0, 0, 0, 0]),
    "multiplied": (lambda o: schedules.MultiplicativeLR(o, lambda t: 0.9 if t % 2 else 0.5),
                   [1, 0.9, 0.45, 0.405, 0.2025, 0.18225, 0.091125, 0.0820125, 0.04100625]),
    "cosine": (lambda o: schedules.CosineAnnealingLR(o, 4, 0.1), [1, 0.868198, 0.55, 0.231802, 0.1, 0.231802, 0.55, 0.868198, 1]),
    "restarts": (lambda o: schedules.CosineAnnealingWarmRestarts(o, 2, 2, 0.1), [1, 0.55, 1, 0.868198, 0.55, 0.231802, 1, 0.965746, 0.868198]),
    "triangles": (lambda o: schedules.CyclicLR(o, 0.1, 0.5, 2, 3, mode="triangular2"), [0.1, 0.3, 0.5, 0.366667, 0.233333, 0.1, 0.2, 0.3, 0.233333]),
    "falling triangles": (lambda o: schedules.CyclicLR(o, 0.1, 0.5, 2, mode="exp_range", gamma=0.9),
                          [0.1, 0.28, 0.424, 0.2458, 0.1, 0.218098, 0.312576, 0.195659, 0.1]),
    "one cycle": (lambda o: schedules.OneCycleLR(o, 0.8, total_steps=10), [0.032, 0.416, 0.8, 0.760388, 0.649397, 0.48901, 0.310994, 0.150607, 0.039615]),
    "three phases": (lambda o: schedules.OneCycleLR(o, 0.8, total_steps=10, anneal_strategy="linear", three_phase=True, pct_start=0.2),
                     [0.032, 0.8, 0.032, 0.027429, 0.022858, 0.018287, 0.013716, 0.009145, 0.004574]),
    "chained": (lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.5, 2), schedules.ExponentialLR(o, 0.9)]),
                [0.5, 0.45, 0.81, 0.729, 0.6561, 0.59049, 0.531441, 0.478297, 0.430467]),
    "one after the other": (lambda o: schedules.SequentialLR(o, [schedules.LinearLR(o, 0.1, 1.0, 2), schedules.StepLR(o, 2, 0.5)], [3]),
                            [0.1, 0.55, 1, 1, 1, 0.5, 0.5, 0.25, 0.25]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_rates(name):
    make, expected = GOLDEN[name]
    assert rates(make) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", [n for n in GOLDEN if n != "multiplied"])
def test_a_loaded_state_goes_on(name):
    make, _ = GOLDEN[name]
    whole = rates(make)
    optimizer = sgd()
    scheduler, found = make(optimizer), []
    for t in range(9):
        if t == 4:
            state, own = copy.deepcopy(scheduler.state_dict()), copy.deepcopy(optimizer.state_dict())
            optimizer = sgd()
            scheduler = make(optimizer)
            scheduler.load_state_dict(state)
            optimizer.load_state_dict(own)
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert found == pytest.approx(whole)


def test_momentum_cycles_against_the_rate():
    optimizer = sgd()
    scheduler = schedules.OneCycleLR(optimizer, 0.8, total_steps=10)
    seen = []
    for _ in range(10):
        seen.append(optimizer.param_groups[0]["momentum"])
        optimizer.step()
        scheduler.step() if len(seen) < 10 else None
    assert seen[0] == pytest.approx(0.95) and min(seen) == pytest.approx(0.85) and seen[-1] == pytest.approx(0.95)
    with pytest.raises(ValueError, match="Tried to step 11 times"):
        scheduler.step()
        scheduler.step()


def test_every_group_has_its_own_rate_and_function():
    optimizer = sgd(groups=2)
    optimizer.param_groups[1]["lr"] = 0.5
    scheduler = schedules.LambdaLR(optimizer, [lambda t: 0.5 ** t, lambda t: 1 + t])
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 1.0] and scheduler.base_lrs == [1.0, 0.5] and optimizer.param_groups[0]["initial_lr"] == 1.0
    with pytest.raises(ValueError, match="Expected 2 lr_lambdas, but got 1"):
        schedules.LambdaLR(optimizer, [lambda t: t])


def test_going_on_from_an_epoch():
    optimizer = sgd()
    with pytest.raises(KeyError, match="initial_lr"):
        schedules.StepLR(optimizer, 2, last_epoch=3)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    assert schedules.ExponentialLR(optimizer, 0.5, last_epoch=3).last_epoch == 4


def test_plateaus():
    optimizer = sgd()
    scheduler = schedules.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=0, threshold=0.1, threshold_mode="abs", cooldown=1, min_lr=0.2)
    found = []
    for value in (1.0, 1.05, 1.05, 1.05, 2.0, 2.0, 2.0):
        scheduler.step(torch.tensor(value))
        found.append(scheduler.get_last_lr()[0])
    assert found == pytest.approx([1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2])
    twin = schedules.ReduceLROnPlateau(sgd(), mode="max")
    twin.load_state_dict(scheduler.state_dict())
    assert twin.best == 2.0 and twin.num_bad_epochs == scheduler.num_bad_epochs
    with pytest.raises(ValueError, match="Factor should be < 1.0"):
        schedules.ReduceLROnPlateau(sgd(), factor=1.0)


def test_the_wrong_order_of_steps_is_noticed():
    optimizer = sgd()
    scheduler = schedules.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        scheduler.step()


def test_swa_averages_weights_and_anneals():
    optimizer = sgd()
    scheduler = optim.swa_utils.SWALR(optimizer, swa_lr=0.2, anneal_epochs=4, anneal_strategy="linear")
    found = []
    for _ in range(6):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert found == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0.2])
    model = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1))
    ema = optim.swa_utils.AveragedModel(model, multi_avg_fn=optim.swa_utils.get_ema_multi_avg_fn(0.9))
    for value in (1.0, 2.0):
        with torch.no_grad():
            model[0].weight.fill_(value)
        ema.update_parameters(model)
    assert ema.module[0].weight.item() == pytest.approx(1.1) and ema.n_averaged == 2
    batches = [torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])]
    optim.swa_utils.update_bn(batches, ema)
    assert ema.module[1].running_mean.item() == pytest.approx(4.0 * 1.1) and ema.module[1].momentum == 0.1


def test_cosine_halves():
    assert rates(lambda o: schedules.CosineAnnealingLR(o, 8))[4] == pytest.approx(0.5 * (1 + math.cos(math.pi / 2)))
