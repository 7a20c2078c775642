"""Window functions against scipy.signal.windows."""
import numpy as np
import pytest
import scipy.signal.windows as reference

import saraph as torch

W = torch.signal.windows
CASES = [("hann", {}, ()), ("hamming", {}, ()), ("blackman", {}, ()), ("bartlett", {}, ()), ("cosine", {}, ()), ("nuttall", {}, ()),
         ("kaiser", {"beta": 5.0}, (5.0,)), ("gaussian", {"std": 2.0}, (2.0,)), ("exponential", {"tau": 2.0}, (None, 2.0)),
         ("general_cosine", {"a": [0.4, 0.5, 0.1]}, ([0.4, 0.5, 0.1],)), ("general_hamming", {"alpha": 0.7}, (0.7,))]


@pytest.mark.parametrize(("name", "keywords", "arguments"), CASES, ids=[c[0] for c in CASES])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("sym", [True, False])
def test_signal_windows(name, keywords, arguments, length, sym):
    expected = getattr(reference, name)(length, *arguments, sym=sym)
    made = getattr(W, name)(length, sym=sym, dtype=torch.float64, **keywords)
    np.testing.assert_allclose(made.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize(("name", "function"), [("hann", torch.hann_window), ("hamming", torch.hamming_window), ("blackman", torch.blackman_window),
                                                ("bartlett", torch.bartlett_window)])
def test_older_names_are_periodic_by_default(name, function):
    for periodic in (True, False):
        expected = getattr(reference, name)(7, sym=not periodic)
        np.testing.assert_allclose(function(7, periodic, dtype=torch.float64).numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(torch.kaiser_window(7, beta=3.0).numpy(), reference.kaiser(7, 3.0, sym=False), rtol=1e-6)
    np.testing.assert_allclose(torch.hamming_window(4, True, 0.6, 0.3, dtype=torch.float64).numpy(), [0.3, 0.6, 0.9, 0.6], atol=1e-12)


def test_options():
    made = torch.hann_window(4, dtype=torch.bfloat16)
    assert made.dtype is torch.bfloat16 and made.tolist() == [0.0, 0.5, 1.0, 0.5]
    assert torch.hann_window(3, requires_grad=True).requires_grad and torch.hann_window(0).shape == (0,)
    assert W.exponential(5, center=1.0, sym=False).argmax().item() == 1


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: torch.hann_window(-1), RuntimeError, "requires non-negative window_length"),
    (lambda: torch.hann_window(3, dtype=torch.int64), RuntimeError, "expects floating point dtypes"),
    (lambda: W.hann(-1), ValueError, "requires non-negative window length, got M=-1"),
    (lambda: W.hann(3, dtype=torch.float16), ValueError, "expects float32 or float64 dtypes"),
    (lambda: W.gaussian(3, std=-1), ValueError, "Standard deviation must be positive"),
    (lambda: W.exponential(3, center=1.0), ValueError, "Center must be None for symmetric windows"),
    (lambda: W.kaiser(3, beta=-1), ValueError, "beta must be non-negative"),
    (lambda: W.general_cosine(3, a=[]), ValueError, "Coefficients cannot be empty"),
    (lambda: W.general_cosine(3, a=3), TypeError, "must be a list/tuple"),
])
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
