"""Fourier transforms against numpy.fft, gradients against differences, errors."""
import numpy as np
import pytest

import saraph as torch

rng = np.random.default_rng(11)
X = rng.standard_normal((3, 4, 5))
Z = X + 1j * rng.standard_normal((3, 4, 5))
NORMS = [None, "backward", "forward", "ortho"]


def t(a):
    return torch.from_numpy(np.array(a))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize(("n", "dim"), [(None, -1), (3, 0), (7, 1), (4, 2), (5, 2), (1, 2)])
@pytest.mark.parametrize("norm", NORMS)
def test_one_dimension(name, n, dim, norm):
    x = X if name in ("rfft", "ihfft") else Z
    expected = getattr(np.fft, name)(x, n, dim, norm)
    np.testing.assert_allclose(getattr(torch.fft, name)(t(x), n, dim, norm).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(("s", "dim"), [(None, None), ((4, 5), None), (None, (0, 2)), ((2, 6), (2, 0)), ((5,), (1,))])
@pytest.mark.parametrize("norm", NORMS)
def test_several_dimensions(name, s, dim, norm):
    x = X if name == "rfftn" else Z
    axes = dim if dim is not None or s is None else tuple(range(3 - len(s), 3))
    expected = getattr(np.fft, name)(x, s, axes, norm)
    np.testing.assert_allclose(getattr(torch.fft, name)(t(x), s, dim, norm).numpy(), expected, atol=1e-12)
    if dim is None and s is None:
        np.testing.assert_allclose(getattr(torch.fft, name[:-1] + "2")(t(x)).numpy(), getattr(np.fft, name[:-1] + "2")(x), atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_hermitian_transforms_undo_each_other(norm):
    for forth, back, size in (("ihfft", "hfft", {"n": 5}), ("ihfft2", "hfft2", {"s": (4, 5)}), ("ihfftn", "hfftn", {"s": (3, 4, 5)})):
        half = getattr(torch.fft, forth)(t(X), norm=norm)
        assert half.shape == (3, 4, 3)
        np.testing.assert_allclose(getattr(torch.fft, back)(half, norm=norm, **size).numpy(), X, atol=1e-12)
    whole = torch.fft.ifftn(t(X), norm=norm)
    np.testing.assert_allclose(torch.fft.ihfftn(t(X), norm=norm).numpy(), whole.numpy()[..., :3], atol=1e-12)


SMALL = Z[:2, :3, 0]


@pytest.mark.parametrize("function", [
    torch.fft.fft, torch.fft.ifft, lambda x: torch.fft.fft(x, 5, 0, "ortho"), torch.fft.fft2, lambda x: torch.fft.irfft(x, 4),
    lambda x: torch.fft.irfft(x, 3, 1), lambda x: torch.fft.irfft(x, 2), lambda x: torch.fft.hfft(x, 5), torch.fft.irfft2,
    lambda x: torch.fft.hfftn(x, (3, 5)), torch.fft.ifftn])
def test_complex_gradients(function, check_gradients):
    check_gradients(function, SMALL)


@pytest.mark.parametrize("function", [
    torch.fft.fft, torch.fft.ifft, torch.fft.rfft, lambda x: torch.fft.rfft(x, 4), torch.fft.ihfft, torch.fft.rfft2, torch.fft.ihfftn,
    lambda x: torch.fft.rfftn(x, (3, 2), norm="forward")])
def test_real_gradients(function, check_gradients):
    check_gradients(function, SMALL.real.copy())


def test_second_derivative(check_gradients):
    def once(x):
        x = x if x.requires_grad else x.detach().requires_grad_()
        power = torch.fft.rfft(x)
        return torch.autograd.grad((power * power.conj()).real.sum() ** 2, x, create_graph=True)[0]

    check_gradients(once, SMALL.real.copy(), tolerance=1e-4)


def test_dtypes():
    assert torch.fft.fft(torch.ones(4)).dtype is torch.complex64 and torch.fft.irfft(torch.ones(4)).dtype is torch.float32
    assert torch.fft.fft(torch.arange(4)).dtype is torch.complex64 and torch.fft.rfft(t(X)).dtype is torch.complex128
    assert torch.fft.fftn(torch.tensor(3.0)).item() == 3 and torch.fft.fftn(torch.ones(2, 3), dim=()).tolist() == [[1] * 3] * 2


def test_shifts_and_frequencies():
    np.testing.assert_array_equal(torch.fft.fftshift(t(X)).numpy(), np.fft.fftshift(X))
    np.testing.assert_array_equal(torch.fft.ifftshift(t(X), (0, 2)).numpy(), np.fft.ifftshift(X, (0, 2)))
    for n in (1, 4, 5):
        np.testing.assert_allclose(torch.fft.fftfreq(n, 0.5, dtype=torch.float64).numpy(), np.fft.fftfreq(n, 0.5))
        np.testing.assert_allclose(torch.fft.rfftfreq(n, 0.5, dtype=torch.float64).numpy(), np.fft.rfftfreq(n, 0.5))
    assert torch.fft.fftfreq(4).dtype is torch.float32


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: torch.fft.fft(torch.ones(0)), RuntimeError, r"Invalid number of data points \(0\)"),
    (lambda: torch.fft.fft(torch.ones(3), dim=2), IndexError, "Dimension out of range"),
    (lambda: torch.fft.fft(torch.ones(3), norm="x"), RuntimeError, 'Invalid normalization mode: "x"'),
    (lambda: torch.fft.rfft(t(Z)), RuntimeError, "expects a real input tensor, but got ComplexDouble"),
    (lambda: torch.fft.fftn(torch.ones(2, 2), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
    (lambda: torch.fft.fftn(torch.ones(2, 2), s=(2,), dim=(0, 1)), RuntimeError, "must have the same length"),
    (lambda: torch.fft.fftn(torch.ones(2), s=(2, 2)), RuntimeError, "Got shape with 2 values but input tensor only has 1"),
    (lambda: torch.fft.irfftn(torch.ones(2), dim=()), RuntimeError, "must transform at least one axis"),
    (lambda: torch.fft.fft(torch.ones(3, dtype=torch.float16)), RuntimeError, "Unsupported dtype Half"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
