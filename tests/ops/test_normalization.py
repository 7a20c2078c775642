"""Normalisation against its definition in NumPy."""
import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(9)
EPS = 1e-5


def standard(x, axes, eps=EPS):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def per_channel(v, x):
    return v.reshape(1, -1, *[1] * (x.ndim - 2))


def tensors(*arrays):
    return [torch.from_numpy(np.array(a)) for a in arrays]


W, B = rng.standard_normal((2, 6))


@pytest.mark.parametrize("shape", [(4, 6), (3, 6, 5), (2, 6, 4, 3), (2, 6, 2, 3, 2), (3, 6, 40, 30)])
def test_batch_norm(shape):
    x = rng.standard_normal(shape) * 3 + 2
    axes = (0, *range(2, x.ndim))
    mean, var = np.full(6, 0.5), np.full(6, 2.0)
    running = tensors(mean, var)
    found = F.batch_norm(torch.from_numpy(x), *running, *tensors(W, B), True, 0.25)
    np.testing.assert_allclose(found.numpy(), standard(x, axes) * per_channel(W, x) + per_channel(B, x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(running[0].numpy(), 0.75 * mean + 0.25 * x.mean(axes))
    np.testing.assert_allclose(running[1].numpy(), 0.75 * var + 0.25 * x.var(axes, ddof=1))
    still = F.batch_norm(torch.from_numpy(x), *running, *tensors(W, B))
    unit = (x - per_channel(running[0].numpy(), x)) / np.sqrt(per_channel(running[1].numpy(), x) + EPS)
    np.testing.assert_allclose(still.numpy(), unit * per_channel(W, x) + per_channel(B, x))
    np.testing.assert_allclose(F.batch_norm(torch.from_numpy(x), None, None, training=True).numpy(), standard(x, axes), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(torch.batch_norm(torch.from_numpy(x), *tensors(W, B), *running, False, 0.1, EPS, False).numpy(), still.numpy())


def test_running_statistics_keep_no_history_and_count_as_written():
    mean = torch.zeros(2)
    x = torch.randn(5, 2, requires_grad=True)
    F.batch_norm(x, mean, None, training=True)
    assert not mean.requires_grad and mean._version == 1


@pytest.mark.parametrize("shape", [(6, 5), (2, 3, 6, 5), (700, 6, 5)])
def test_layer_norm(shape):
    x, w, b = rng.standard_normal(shape), *rng.standard_normal((2, 6, 5))
    expected = standard(x, (-2, -1)) * w + b
    np.testing.assert_allclose(F.layer_norm(*tensors(x), (6, 5), *tensors(w, b)).numpy(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(F.layer_norm(*tensors(x), 5).numpy(), standard(x, -1), rtol=1e-9, atol=1e-9)
    y, mean, rstd = torch.native_layer_norm(*tensors(x), [6, 5], *tensors(w, b), EPS)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mean.numpy(), x.mean((-2, -1), keepdims=True))
    np.testing.assert_allclose(rstd.numpy(), 1 / np.sqrt(x.var((-2, -1), keepdims=True) + EPS))


@pytest.mark.parametrize("shape", [(3, 6), (2, 6, 5), (2, 6, 4, 3), (5, 6, 30, 30)])
def test_group_and_instance_norm(shape):
    x = rng.standard_normal(shape) + 1
    for groups in (1, 2, 3):
        parts = x.reshape(shape[0], groups, -1)
        expected = standard(parts, 2).reshape(shape) * per_channel(W, x) + per_channel(B, x)
        np.testing.assert_allclose(F.group_norm(*tensors(x), groups, *tensors(W, B)).numpy(), expected, rtol=1e-9, atol=1e-9)
    if x.ndim == 2:
        return
    axes = tuple(range(2, x.ndim))
    mean, var = torch.zeros(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
    found = F.instance_norm(*tensors(x), mean, var, *tensors(W, B), momentum=0.5)
    np.testing.assert_allclose(found.numpy(), standard(x, axes) * per_channel(W, x) + per_channel(B, x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mean.numpy(), 0.5 * x.mean(axes).mean(0))
    np.testing.assert_allclose(var.numpy(), 0.5 + 0.5 * x.var(axes, ddof=1).mean(0))
    unit = (x - per_channel(mean.numpy(), x)) / np.sqrt(per_channel(var.numpy(), x) + EPS)
    np.testing.assert_allclose(F.instance_norm(*tensors(x), mean, var, use_input_stats=False).numpy(), unit)


def test_rms_norm():
    x, w = rng.standard_normal((4, 3, 8)), rng.standard_normal(8)
    size = np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(F.rms_norm(*tensors(x), (8,), *tensors(w), 1e-3).numpy(), x / size * w)
    tiny = torch.zeros(1, 4)
    assert F.rms_norm(tiny, (4,)).tolist() == [[0, 0, 0, 0]]
    z = x + 1j * x[::-1]
    assert F.rms_norm(torch.from_numpy(z), (8,)).dtype is torch.complex128


def test_local_response_norm_and_normalize():
    x = rng.standard_normal((2, 5, 3))
    padded = np.pad(x**2, [(0, 0), (1, 1), (0, 0)])
    mean = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    np.testing.assert_allclose(F.local_response_norm(*tensors(x), 3, 0.5, 0.75, 2.0).numpy(), x / (2 + 0.5 * mean) ** 0.75)
    np.testing.assert_allclose(F.normalize(*tensors(x), 3.0, -1).numpy(), x / (np.abs(x) ** 3).sum(-1, keepdims=True) ** (1 / 3))
    assert F.normalize(torch.zeros(2, 3)).tolist() == [[0, 0, 0]] * 2


CALLS = {
    "batch": lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
    "batch, fixed": lambda x, w, b: F.batch_norm(x, torch.zeros(6).double(), torch.ones(6).double() * 2, w, b),
    "instance": lambda x, w, b: F.instance_norm(x, None, None, w, b),
    "group": lambda x, w, b: F.group_norm(x, 2, w, b),
    "layer": lambda x, w, b: F.layer_norm(x.transpose(1, 2), (6,), w, b),
    "rms": lambda x, w, b: F.rms_norm(x.transpose(1, 2), (6,), w) + b,
    "statistics": lambda x, w, b: torch.native_layer_norm(x.transpose(1, 2), [6], w, b, EPS),
    "group statistics": lambda x, w, b: torch.native_group_norm(x, w, b, 3, 6, 4, 3, EPS),
}


@pytest.mark.parametrize("name", CALLS)
def test_gradients_to_second_order(name, check_gradients):
    x = rng.standard_normal((3, 6, 4))
    check_gradients(CALLS[name], x, W, B, tolerance=1e-5)
    inputs = [t.requires_grad_() for t in tensors(x, W, B)]
    assert torch.autograd.gradgradcheck(CALLS[name], inputs)


def test_gradients_without_parameters_or_input(check_gradients):
    x = rng.standard_normal((3, 6, 4))
    check_gradients(lambda t: F.batch_norm(t, None, None, training=True), x, tolerance=1e-5)
    check_gradients(lambda t: F.layer_norm(t, (6, 4)), x, tolerance=1e-5)
    check_gradients(lambda w: F.layer_norm(torch.from_numpy(x), (6, 4), w), rng.standard_normal((6, 4)))
    check_gradients(lambda b: F.group_norm(torch.from_numpy(x), 3, None, b), B)


def test_gradients_of_many_rows():
    x = torch.from_numpy(rng.standard_normal((3, 400, 70))).requires_grad_()
    w = torch.from_numpy(rng.standard_normal(70)).requires_grad_()
    weights = torch.from_numpy(rng.standard_normal(x.shape))
    fast = torch.autograd.grad(F.layer_norm(x, (70,), w, w), (x, w), weights)
    slow = torch.autograd.grad(F.layer_norm(x, (70,), w, w), (x, w), weights, create_graph=True)
    for a, b in zip(fast, slow):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), atol=1e-10)


def test_channels_last():
    x = torch.from_numpy(rng.standard_normal((2, 6, 5, 4))).to(memory_format=torch.channels_last).requires_grad_()
    plain = x.detach().contiguous().requires_grad_()
    for function in (lambda t: F.batch_norm(t, None, None, *tensors(W, B), True), lambda t: F.group_norm(t, 3, *tensors(W, B))):
        y, z = function(x), function(plain)
        assert y.is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_allclose(y.detach().numpy(), z.detach().numpy(), atol=1e-12)
        weights = torch.from_numpy(rng.standard_normal(y.shape))
        np.testing.assert_allclose(torch.autograd.grad(y, x, weights)[0].numpy(), torch.autograd.grad(z, plain, weights)[0].numpy(), atol=1e-12)


def test_dtypes():
    x = torch.from_numpy(rng.standard_normal((4, 6)))
    for kind in (torch.float16, torch.bfloat16):
        half = x.to(kind)
        for w in (torch.ones(6), torch.ones(6, dtype=kind)):
            for y in (F.layer_norm(half, (6,), w, w), F.batch_norm(half, None, None, w, w, True), F.group_norm(half, 2, w, w)):
                assert y.dtype is kind
        np.testing.assert_allclose(F.layer_norm(half, (6,)).double().numpy(), standard(half.double().numpy(), -1), atol=2e-2)
        w = torch.ones(6, requires_grad=True)
        F.layer_norm(half.requires_grad_(), (6,), w).sum().backward()
        assert half.grad.dtype is kind and w.grad.dtype is torch.float32
    with pytest.raises(NotImplementedError, match='"LayerNormKernelImpl" not implemented for \'Long\''):
        F.layer_norm(x.long(), (6,))
    with pytest.raises(RuntimeError, match="expected scalar type"):
        F.layer_norm(x, (6,), torch.ones(6))


def test_empty_large_and_meta():
    assert F.layer_norm(torch.zeros(0, 3), (3,)).shape == (0, 3)
    assert F.batch_norm(torch.zeros(0, 3, 2), torch.zeros(3), torch.ones(3)).shape == (0, 3, 2)
    assert F.group_norm(torch.zeros(0, 4, 2), 2).shape == (0, 4, 2)
    big = torch.full((2, 4), 1e4) + torch.tensor([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(F.layer_norm(big, (4,)).numpy(), np.tile(standard(np.arange(4.0), 0), (2, 1)), rtol=1e-4)
    y, mean, rstd = torch.native_layer_norm(torch.empty(2, 3, 4, device="meta"), [4], None, None, EPS)
    assert y.shape == (2, 3, 4) and mean.shape == rstd.shape == (2, 3, 1)
    assert F.batch_norm(torch.empty(2, 3, 4, device="meta"), None, None, training=True).shape == (2, 3, 4)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: F.layer_norm(torch.ones(2, 3), (4,)), RuntimeError, r"Given normalized_shape=\[4\], expected input with shape \[\*, 4\], but got input of size"),
    (lambda: F.layer_norm(torch.ones(2, 3), ()), RuntimeError, "Expected normalized_shape to be at least 1-dimensional"),
    (lambda: F.layer_norm(torch.ones(2, 3), (3,), torch.ones(4)), RuntimeError, "Expected weight to be of same shape as normalized_shape"),
    (lambda: F.batch_norm(torch.ones(1, 3), None, None, training=True), ValueError, "Expected more than 1 value per channel when training"),
    (lambda: F.batch_norm(torch.ones(2, 3), torch.ones(4), torch.ones(4)), RuntimeError, "running_mean should contain 3 elements not 4"),
    (lambda: F.batch_norm(torch.ones(2, 3), None, None), RuntimeError, "must be defined in evaluation mode"),
    (lambda: F.group_norm(torch.ones(2, 3), 2), RuntimeError, "Expected number of channels in input to be divisible by num_groups"),
    (lambda: F.group_norm(torch.ones(3), 1), RuntimeError, "Expected at least 2 dimensions for input tensor but received 1"),
    (lambda: F.group_norm(torch.ones(1, 1), 1), ValueError, "Expected more than 1 value per channel"),
    (lambda: F.instance_norm(torch.ones(2, 3, 1)), ValueError, "Expected more than 1 spatial element when training"),
    (lambda: F.local_response_norm(torch.ones(2, 3), 2), ValueError, "Expected 3D or higher dimensionality input"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_names_of_nodes():
    x = torch.randn(2, 4, 3, requires_grad=True)
    assert F.batch_norm(x, None, None, training=True).grad_fn.name() == "NativeBatchNormBackward0"
    assert F.batch_norm(x, torch.zeros(4), torch.ones(4)).grad_fn.name() == "NativeBatchNormBackward0"
    assert F.layer_norm(x, (3,)).grad_fn.name() == "NativeLayerNormBackward0"
    assert F.group_norm(x, 2).grad_fn.name() == "NativeGroupNormBackward0"


def test_autocast_leaves_normalisation_as_it_is():
    with torch.autocast("cpu", torch.bfloat16):
        for kind in (torch.float32, torch.bfloat16):
            x = torch.ones(2, 4, 3, dtype=kind)
            assert F.layer_norm(x, (3,)).dtype is kind and F.group_norm(x, 2).dtype is kind and F.rms_norm(x, (3,)).dtype is kind


def test_parameters_in_any_memory(check_gradients):
    rng = np.random.default_rng(3)
    x, weight = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 3))
    whole = torch.nn.functional.layer_norm(torch.from_numpy(x), (3, 4), torch.from_numpy(weight.T.copy()))
    turned = torch.nn.functional.layer_norm(torch.from_numpy(x), (3, 4), torch.from_numpy(weight).T)
    np.testing.assert_array_equal(turned.numpy(), whole.numpy())
    check_gradients(lambda a, w: torch.nn.functional.layer_norm(a, (3, 4), w.T, w.T), x, weight)
    check_gradients(lambda a, w: torch.nn.functional.rms_norm(a, (3, 4), w.T), x, weight)
