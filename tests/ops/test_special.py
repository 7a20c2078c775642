"""Special functions: identities and known values; gradients by finite differences."""
import math

import numpy as np
import pytest

import saraph as torch
from saraph import special
from saraph.autograd import gradcheck

X = torch.tensor([-2.5, -0.7, 0.3, 1.0, 4.0], dtype=torch.float64)
POSITIVE = torch.tensor([0.2, 0.9, 1.7, 5.0], dtype=torch.float64)


def close(a, b, tolerance=1e-12):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def test_normal_distribution():
    close(special.ndtr(X), 0.5 * (1 + torch.erf(X / math.sqrt(2))))
    close(special.ndtri(special.ndtr(X)), X)
    close(special.log_ndtr(X), special.ndtr(X).log(), 1e-9)
    assert special.log_ndtr(torch.tensor(-40.0, dtype=torch.float64)).item() == pytest.approx(-804.608442, rel=1e-8)
    close(special.erfcx(X), torch.exp(X * X) * torch.erfc(X), 1e-9)
    assert special.entr(torch.tensor([0.0, 1.0, math.e, -1.0])).tolist() == pytest.approx([0.0, 0.0, -math.e, -math.inf])


def test_bessel_functions():
    theta = (np.arange(20000) + 0.5) * math.pi / 20000  # Bessel's integrals by the midpoint rule
    for value in (0.3, 2.0, 5.5):
        x = torch.tensor(value, dtype=torch.float64)
        close(special.i0(x), np.exp(value * np.cos(theta)).mean(), 1e-9)
        close(special.i1(x), (np.exp(value * np.cos(theta)) * np.cos(theta)).mean(), 1e-9)
        close(special.bessel_j0(x), np.cos(value * np.sin(theta)).mean(), 1e-9)
        close(special.bessel_j1(x), np.cos(theta - value * np.sin(theta)).mean(), 1e-9)
        # Wronskians
        close(special.bessel_j1(x) * special.bessel_y0(x) - special.bessel_j0(x) * special.bessel_y1(x), 2 / (math.pi * value), 1e-9)
        k0, k1 = special.modified_bessel_k0(x), special.modified_bessel_k1(x)
        close(special.i0(x) * k1 + special.i1(x) * k0, 1 / value, 1e-9)
    close(special.i0e(X), special.i0(X) * (-X.abs()).exp())
    assert special.spherical_bessel_j0(torch.tensor([0.0, math.inf])).tolist() == [1.0, 0.0]


def test_polynomials():
    theta = torch.tensor([0.3, 1.1, 2.5], dtype=torch.float64)
    x = theta.cos()
    for n in range(6):
        close(special.chebyshev_polynomial_t(x, n), (n * theta).cos())
        close(special.chebyshev_polynomial_u(x, n), ((n + 1) * theta).sin() / theta.sin())
        close(special.chebyshev_polynomial_v(x, n), ((n + 0.5) * theta).cos() / (theta / 2).cos())
        close(special.chebyshev_polynomial_w(x, n), ((n + 0.5) * theta).sin() / (theta / 2).sin())
        close(special.shifted_chebyshev_polynomial_t((x + 1) / 2, n), (n * theta).cos())
        unit = [0] * n + [1]
        close(special.legendre_polynomial_p(x, n), np.polynomial.legendre.legval(x.numpy(), unit))
        close(special.hermite_polynomial_h(x, n), np.polynomial.hermite.hermval(x.numpy(), unit))
        close(special.hermite_polynomial_he(x, n), np.polynomial.hermite_e.hermeval(x.numpy(), unit))
        close(special.laguerre_polynomial_l(x, n), np.polynomial.laguerre.lagval(x.numpy(), unit))
    assert special.chebyshev_polynomial_t(x, -1).tolist() == [0.0] * 3


def test_gamma_functions():
    close(torch.igamma(torch.ones(4, dtype=torch.float64), POSITIVE), 1 - (-POSITIVE).exp())
    close(special.gammainc(POSITIVE, POSITIVE) + special.gammaincc(POSITIVE, POSITIVE), np.ones(4))
    close(torch.mvlgamma(POSITIVE + 1, 2), torch.lgamma(POSITIVE + 1) + torch.lgamma(POSITIVE + 0.5) + 0.5 * math.log(math.pi))
    close(special.zeta(torch.tensor(2.0, dtype=torch.float64), 1.0), math.pi ** 2 / 6)
    infinite = torch.tensor(math.inf)
    assert special.zeta(torch.tensor(2.0), infinite).isnan() and special.zeta(infinite, torch.tensor(1.0)).item() == 1.0
    assert torch.igamma(torch.tensor(math.nan), infinite).item() == 1.0
    close(special.xlog1py(torch.tensor([0.0, 2.0]), torch.tensor([-1.0, 0.5])), [0.0, 2 * math.log(1.5)], 1e-6)


@pytest.mark.parametrize("name", ["entr", "i0", "i0e", "i1", "i1e", "ndtr", "log_ndtr", "erfcx"])
def test_gradients(name):
    assert gradcheck(getattr(special, name), (POSITIVE.clone().requires_grad_(),))


def test_gradients_of_two_arguments():
    x, y = (POSITIVE.clone().requires_grad_(), (POSITIVE.flip(0) + 1).requires_grad_())
    assert gradcheck(special.xlog1py, (x, y))
    assert gradcheck(lambda b: special.zeta(3.0 + POSITIVE, b), (y,))
    assert gradcheck(lambda b: torch.igamma(POSITIVE, b), (y,))


def test_parts_of_numbers():
    x = torch.tensor([0.75, -6.0, 0.0], dtype=torch.float64, requires_grad=True)
    mantissa, exponent = torch.frexp(x)
    assert exponent.dtype is torch.int32 and (mantissa * 2.0 ** exponent).tolist() == x.tolist() and mantissa[1].item() == -0.75
    assert torch.ldexp(torch.tensor([1.5]), torch.tensor([3])).tolist() == [12.0]
    z = torch.tensor([1 + 1j, -1j, 0], dtype=torch.complex128)
    assert torch.angle(z).tolist() == pytest.approx([math.pi / 4, -math.pi / 2, 0])
    assert torch.angle(torch.tensor([-1.0, 2.0])).tolist() == pytest.approx([math.pi, 0])


def test_complex_numbers_as_pairs_share_memory():
    z = torch.tensor([1 + 2j, 3 - 1j])
    pairs = torch.view_as_real(z)
    pairs[0, 1] = 7
    assert z[0].item() == 1 + 7j and torch.view_as_complex(pairs).data_ptr() == z.data_ptr()
    w = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x: torch.view_as_real(torch.view_as_complex(x) * (2 - 1j)), (w,))
    with pytest.raises(RuntimeError, match="size 2"):
        torch.view_as_complex(torch.zeros(3))
