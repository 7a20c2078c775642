"""Transforms of transforms, per-sample gradients, ensembles, randomness, errors."""
import pytest

import saraph as torch
from saraph.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, linearize, stack_module_state, vjp, vmap

F = torch.nn.functional
torch.manual_seed(3)
A, X = torch.randn(4, 3).double(), torch.randn(5, 3).double()
POINT = X[0]


def f(v):
    return (A @ v).tanh()


def g(v):
    return f(v).pow(3).sum()


def assert_close(found, wanted, tolerance=1e-8):
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


def differences(function, x, step=1e-6):
    """The Jacobian by central differences."""
    units = torch.eye(x.numel()).double().reshape(-1, *x.shape) * step
    return torch.stack([(function(x + u) - function(x - u)) / (2 * step) for u in units], -1)


@pytest.mark.parametrize("jacobian", [jacrev(f), jacfwd(f), jacrev(f, chunk_size=2)])
def test_jacobians(jacobian):
    assert_close(jacobian(POINT), differences(f, POINT), 1e-6)
    assert_close(vmap(jacobian)(X), torch.stack([jacobian(x) for x in X]))


@pytest.mark.parametrize("second", [hessian(g), jacrev(jacrev(g)), jacfwd(jacfwd(g)), jacrev(jacfwd(g)), jacrev(grad(g)), jacfwd(grad(g))])
def test_hessians(second):
    assert_close(second(POINT), differences(grad(g), POINT), 1e-6)
    assert_close(vmap(second)(X), torch.stack([hessian(g)(x) for x in X]))


def test_jacobian_of_vmap_is_block_diagonal():
    found = jacrev(vmap(f))(X)
    for i in range(5):
        for j in range(5):
            assert_close(found[i, :, j], jacrev(f)(X[i]) if i == j else torch.zeros(4, 3).double())


def test_products_of_a_batch():
    h = hessian(g)(POINT)
    assert_close(vmap(lambda t: jvp(grad(g), (POINT,), (t,))[1])(X), X @ h)
    assert_close(vmap(linearize(f, POINT)[1])(X), X @ jacrev(f)(POINT).T)
    assert_close(vmap(lambda c: vjp(f, POINT)[1](c)[0])(torch.eye(4).double()), jacrev(f)(POINT))


def test_nested_batches():
    assert_close(vmap(vmap(vmap(torch.mul, (None, 0)), (0, None)), (None, 0))(X[0], X), torch.einsum("i,bj->bij", X[0], X))
    w = torch.randn(3, 3).double()
    assert_close(grad(lambda w: vmap(lambda a: vmap(lambda b: (a @ w @ b).sin())(X).sum())(X).sum())(w), grad(lambda w: (X @ w @ X.T).sin().sum())(w))
    inner = lambda w, a: grad(lambda z: (z @ w @ a).sin())(a).sum()  # noqa: E731
    assert_close(grad(lambda w: vmap(lambda a: inner(w, a))(X).sum())(w), grad(lambda w: sum(inner(w, a) for a in X))(w))


def test_gradients_of_recorded_results_for_a_batch_of_weights():
    x = POINT.clone().requires_grad_()
    y = f(x)
    assert_close(vmap(lambda c: torch.autograd.grad(y, x, c, retain_graph=True)[0])(torch.eye(4).double()), jacrev(f)(POINT))


def test_gradients_per_sample():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.LayerNorm(36),
                              torch.nn.Linear(36, 5))
    images, targets, weights = torch.randn(6, 3, 8, 8), torch.randint(0, 5, (6,)), dict(net.named_parameters())

    def loss(p, x, t):
        return F.cross_entropy(functional_call(net, p, (x[None],)), t[None])

    found = vmap(grad(loss), (None, 0, 0))(weights, images, targets)
    for k in range(6):
        net.zero_grad()
        F.cross_entropy(net(images[k:k + 1]), targets[k:k + 1]).backward()
        for name, p in net.named_parameters():
            assert_close(found[name][k], p.grad, 1e-4)


def test_ensembles_learn():
    models = [torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)) for _ in range(5)]
    parameters, buffers = stack_module_state(models)
    out = vmap(lambda p, b: functional_call(models[0], (p, b), (X.float(),)))(parameters, buffers)
    assert_close(out, torch.stack([m(X.float()) for m in models]), 1e-5)
    out.sum().backward()
    models[2](X.float()).sum().backward()
    assert_close(parameters["0.weight"].grad[2], models[2][0].weight.grad, 1e-5)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

    @staticmethod
    def vmap(info, in_dims, x):
        assert info.batch_size == 5 and in_dims == (0,)
        return x * 200, 0


def test_custom_functions_say_what_they_do_to_a_batch():
    assert_close(vmap(Scaled.apply)(X), X * 200)


def test_randomness():
    torch.manual_seed(0)
    wanted = torch.rand(5, 3)
    torch.manual_seed(0)
    assert_close(vmap(lambda x: torch.rand(3), randomness="different")(X), wanted)
    same = vmap(lambda x: torch.rand_like(x), randomness="same")(X)
    assert all((row == same[0]).all() for row in same)
    assert_close(vmap(lambda x: F.dropout(x, 0.5, False))(X), X)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: torch.randn(3))(X)


def test_writes():
    assert_close(vmap(lambda x: torch.zeros_like(x).add_(x))(X), X)
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda x: torch.zeros(3).double().add_(x))(X)
    y = X.clone()
    vmap(lambda x: x.mul_(2))(y)
    assert_close(y, X * 2)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: vmap(lambda x: x if x.sum() > 0 else -x)(X), RuntimeError, "data-dependent control flow"),
    (lambda: vmap(lambda x: x.sum().item())(X), RuntimeError, r"vmap: It looks like you're calling .item\(\) on a Tensor"),
    (lambda: vmap(lambda x: x.nonzero())(X), RuntimeError, "vmap"), (lambda: vmap(lambda x: x, (None,))(X), ValueError, "at least one"),
    (lambda: vmap(lambda x, y: x)(X, X[:2]), ValueError, "same size"), (lambda: vmap(lambda x: x, 3)(X), ValueError, "in_dim"),
    (lambda: vmap(lambda x: 3)(X), ValueError, "must only return"), (lambda: vmap(lambda x: x, 0, None)(X), ValueError, "out_dim is None"),
    (lambda: vmap(lambda x: x, 0, 4)(X), IndexError, "out of range"), (lambda: grad(lambda x: x)(X), RuntimeError, "scalar Tensor"),
    (lambda: grad(lambda x: x * 2)(3.0), ValueError, "must be Tensor"), (lambda: grad(torch.sum)(torch.arange(3)), RuntimeError, "floating point"),
    (lambda: jvp(f, POINT, POINT), RuntimeError, "tuple"), (lambda: vjp(lambda x: 3, X), RuntimeError, "only tensors")])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
