"""The other optimizers against their update formulas in NumPy, in float64."""
import math

import numpy as np
import pytest

import saraph as torch
from saraph import optim

RNG = np.random.default_rng(8)
START, GRADS = RNG.standard_normal((3, 2)), RNG.standard_normal((4, 3, 2))


def run(make):
    p = torch.nn.Parameter(torch.from_numpy(START.copy()))
    optimizer = make([p])
    for g in GRADS:
        p.grad = torch.from_numpy(g.copy())
        optimizer.step()
    return p.detach().numpy()


def check(make, step, **tolerance):
    """`step(t, p, g, state)` gives the next parameters; `state` is a dict of its own."""
    p, state = START.copy(), {}
    for t, g in enumerate(GRADS, 1):
        p = step(t, p, g, state)
    np.testing.assert_allclose(run(make), p, **(tolerance or {"rtol": 1e-10}))


@pytest.mark.parametrize(("momentum", "centered"), [(0.0, False), (0.9, True)])
def test_rmsprop(momentum, centered):
    def step(t, p, g, s):
        g = g + 0.1 * p
        s["v"] = 0.9 * s.get("v", 0) + 0.1 * g * g
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        change = g / (np.sqrt(s["v"] - (s["m"] ** 2 if centered else 0)) + 1e-8)
        s["b"] = momentum * s.get("b", 0) + change
        return p - 0.02 * s["b"]

    check(lambda ps: optim.RMSprop(ps, lr=0.02, alpha=0.9, weight_decay=0.1, momentum=momentum, centered=centered), step)


def test_adagrad():
    def step(t, p, g, s):
        g = g + 0.1 * p
        s["sum"] = s.get("sum", 0.3) + g * g
        return p - 0.1 / (1 + (t - 1) * 0.2) * g / (np.sqrt(s["sum"]) + 1e-10)

    check(lambda ps: optim.Adagrad(ps, lr=0.1, lr_decay=0.2, weight_decay=0.1, initial_accumulator_value=0.3), step)


def test_adadelta():
    def step(t, p, g, s):
        s["v"] = 0.8 * s.get("v", 0) + 0.2 * g * g
        change = np.sqrt(s.get("d", 0) + 1e-6) / np.sqrt(s["v"] + 1e-6) * g
        s["d"] = 0.8 * s.get("d", 0) + 0.2 * change ** 2
        return p - 0.5 * change

    check(lambda ps: optim.Adadelta(ps, lr=0.5, rho=0.8), step)


def test_adamax():
    def step(t, p, g, s):
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["u"] = np.maximum(0.99 * s.get("u", 0), np.abs(g) + 1e-8)
        return p - 0.02 / (1 - 0.9 ** t) * s["m"] / s["u"]

    check(lambda ps: optim.Adamax(ps, lr=0.02, betas=(0.9, 0.99)), step)


def test_nadam():
    def step(t, p, g, s):
        now, later = (0.9 * (1 - 0.5 * 0.96 ** (k * 0.004)) for k in (t, t + 1))
        s["product"] = s.get("product", 1.0) * now
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
        root = np.sqrt(s["v"] / (1 - 0.99 ** t)) + 1e-8
        return p - 0.02 * ((1 - now) / (1 - s["product"]) * g + later / (1 - s["product"] * later) * s["m"]) / root

    check(lambda ps: optim.NAdam(ps, lr=0.02, betas=(0.9, 0.99)), step, rtol=1e-6)  # the product of momenta is kept in float32


def test_radam():
    def step(t, p, g, s):
        s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
        s["v"] = 0.8 * s.get("v", 0) + 0.2 * g * g
        m, limit = s["m"] / (1 - 0.9 ** t), 2 / (1 - 0.8) - 1
        length = limit - 2 * t * 0.8 ** t / (1 - 0.8 ** t)
        if length <= 5:
            return p - 0.02 * m
        r = math.sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
        return p - 0.02 * m * r * math.sqrt(1 - 0.8 ** t) / (np.sqrt(s["v"]) + 1e-8)

    check(lambda ps: optim.RAdam(ps, lr=0.02, betas=(0.9, 0.8)), step)


def test_rprop():
    def step(t, p, g, s):
        sign = np.sign(g * s.get("g", 0 * g))
        s["size"] = np.clip(s.get("size", 0.02 * np.ones_like(g)) * np.where(sign > 0, 1.2, np.where(sign < 0, 0.5, 1)), 1e-6, 50)
        g = np.where(sign < 0, 0, g)
        s["g"] = g
        return p - np.sign(g) * s["size"]

    check(lambda ps: optim.Rprop(ps, lr=0.02), step)


def test_asgd():
    def step(t, p, g, s):
        eta = s.get("eta", 0.1)
        p = p * (1 - 0.01 * eta) - eta * (g + 0.1 * p)
        s["eta"] = 0.1 / (1 + 0.01 * 0.1 * t) ** 0.75
        return p

    check(lambda ps: optim.ASGD(ps, lr=0.1, lambd=0.01, weight_decay=0.1), step, rtol=1e-6)  # the rate is kept in float32


def test_adafactor():
    def step(t, p, g, s):
        beta = t ** -0.8
        rate = max(1e-3, np.sqrt((p * p).mean())) * min(0.1, 1 / math.sqrt(t))
        p = p * (1 - 0.1 * 0.2)
        s["rows"] = s.get("rows", np.zeros((3, 1))) * (1 - beta) + beta * (g * g).mean(1, keepdims=True)
        s["columns"] = s.get("columns", np.zeros((1, 2))) * (1 - beta) + beta * (g * g).mean(0, keepdims=True)
        eps = np.finfo(float).eps
        variance = s["rows"] @ s["columns"] / max(s["rows"].mean(), eps)
        change = g / np.sqrt(np.maximum(variance, eps * eps))
        return p - rate / max(1, np.sqrt((change * change).mean())) * change

    check(lambda ps: optim.Adafactor(ps, lr=0.1, weight_decay=0.2), step, rtol=1e-6)


def test_muon_orthogonalises_the_momentum():
    def step(t, p, g, s):
        s["b"] = 0.95 * s.get("b", 0) + 0.05 * g
        u = (0.05 * g + 0.95 * s["b"]).T  # rows must not be more than columns
        u = u / max(np.linalg.norm(u), 1e-7)
        for _ in range(5):
            gram = u @ u.T
            u = 3.4445 * u + (-4.775 * gram + 2.0315 * gram @ gram) @ u
        return p * (1 - 0.02 * 0.1) - 0.02 * math.sqrt(max(1, 3 / 2)) * u.T

    check(lambda ps: optim.Muon(ps, lr=0.02), step, atol=2e-3)  # the iteration runs in bfloat16


def test_sparse_adam_moves_only_rows_with_gradients():
    p = torch.nn.Parameter(torch.from_numpy(START.copy()))
    optimizer = optim.SparseAdam([p], lr=0.1)
    p.grad = torch.sparse_coo_tensor([[2, 0, 2]], torch.ones(3, 2, dtype=torch.float64), (3, 2))
    optimizer.step()
    moved = START - p.detach().numpy()
    np.testing.assert_allclose(moved, [[0.1, 0.1], [0, 0], [0.1, 0.1]], rtol=1e-6)
    p.grad = torch.ones(3, 2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        optimizer.step()


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum_of_a_quadratic(search):
    a = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    b = torch.tensor([1.0, -1.0], dtype=torch.float64)
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], lr=1 if search else 0.3, max_iter=60, line_search_fn=search, tolerance_grad=1e-10, tolerance_change=1e-14)

    def closure():
        optimizer.zero_grad()
        loss = 0.5 * x @ a @ x - b @ x
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 0.0
    optimizer.step(closure)
    np.testing.assert_allclose(x.detach().numpy(), np.linalg.solve(a.numpy(), b.numpy()), rtol=1e-6)
    with pytest.raises(ValueError, match="per-parameter options"):
        optim.LBFGS([{"params": [x]}, {"params": [torch.ones(1, requires_grad=True)]}])


@pytest.mark.parametrize("cls", [optim.SGD, optim.Adam, optim.Adamax, optim.NAdam, optim.RAdam, optim.Adagrad, optim.Adadelta, optim.RMSprop,
                                             optim.Rprop, optim.ASGD])
def test_complex_parameters_are_pairs_of_real_ones(cls):
    z = torch.nn.Parameter(torch.tensor([1 + 2j, -1j], dtype=torch.complex128))
    r = torch.nn.Parameter(torch.view_as_real(z.detach().clone()))
    options = {"momentum": 0.9} if cls in (optim.SGD, optim.RMSprop) else {"amsgrad": True} if cls is optim.Adam else {}
    pair = [cls([z], lr=0.1, **options), cls([r], lr=0.1, **options)]
    for sign in (1, 1, -1):
        z.grad = sign * torch.tensor([0.5 - 1j, 2 + 0j], dtype=torch.complex128)
        r.grad = torch.view_as_real(z.grad)
        for optimizer in pair:
            optimizer.step()
    assert torch.allclose(torch.view_as_real(z), r)
    assert all(v.is_complex() for k, v in pair[0].state[z].items() if k not in ("step", "eta", "mu", "mu_product"))


ALL = [optim.SGD, optim.Adam, optim.AdamW, optim.Adamax, optim.NAdam, optim.RAdam, optim.Adagrad, optim.Adadelta, optim.RMSprop, optim.Rprop, optim.ASGD,
       optim.Adafactor]


@pytest.mark.parametrize("cls", ALL)
def test_maximising_is_minimising_the_negative(cls):
    p, q = (torch.nn.Parameter(torch.from_numpy(START.copy())) for _ in range(2))
    up, down = cls([p], lr=0.1, maximize=True), cls([q], lr=0.1)
    for g in GRADS:
        p.grad, q.grad = torch.from_numpy(-g), torch.from_numpy(g)
        up.step()
        down.step()
    assert torch.equal(p, q)


@pytest.mark.parametrize("cls", ALL)
def test_bad_arguments(cls):
    with pytest.raises(ValueError, match="[Ll]earning rate"):
        cls([torch.ones(1, requires_grad=True)], lr=-1.0)
    with pytest.raises(ValueError if cls is not optim.Rprop else TypeError, match="weight_decay"):
        cls([torch.ones(1, requires_grad=True)], weight_decay=-1.0)
    with pytest.raises(ValueError, match="empty parameter list"):
        cls([])
    with pytest.raises(TypeError, match="iterable of Tensors or dicts"):
        cls(torch.ones(1, requires_grad=True))


@pytest.mark.parametrize("cls", [c for c in ALL if c is not optim.Adafactor])
def test_large_parameters_are_updated_as_small_ones_are(cls):
    options = {"momentum": 0.9} if cls is optim.SGD else {}
    start, grads = torch.from_numpy(RNG.standard_normal(70000)), [torch.from_numpy(RNG.standard_normal(70000)) for _ in range(3)]
    whole, parts = torch.nn.Parameter(start.clone()), [torch.nn.Parameter(t.clone()) for t in start.split(10000)]
    one, many = cls([whole], lr=0.01, **options), cls(parts, lr=0.01, **options)
    for g in grads:
        whole.grad = g.clone()
        for p, h in zip(parts, g.split(10000)):
            p.grad = h.clone()
        one.step()
        many.step()
    assert torch.equal(whole, torch.cat(parts))
    state, other = one.state[whole], many.state[parts[0]]
    assert all(torch.equal(v if v.dim() == 0 else v[:10000], other[k]) for k, v in state.items())
    turned = torch.nn.Parameter(start.reshape(700, 100).t().clone(memory_format=torch.preserve_format))
    plain = torch.nn.Parameter(start.reshape(700, 100).t().contiguous())
    for p in (turned, plain):
        p.grad = grads[0].reshape(100, 700)
        cls([p], lr=0.01, **options).step()
    assert torch.equal(turned, plain)
