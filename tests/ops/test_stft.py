"""The short-time Fourier transform and its inverse."""
import numpy as np
import pytest

import saraph as torch
from saraph.ops.stft import overlap_add

rng = np.random.default_rng(12)
SIGNAL = rng.standard_normal(40)


def frames_of(signal, size, hop, center):
    if center:
        signal = np.pad(signal, size // 2, mode="reflect")
    return np.stack([signal[k:k + size] for k in range(0, len(signal) - size + 1, hop)])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("onesided", [False, True])
def test_stft(center, onesided):
    window = np.hanning(8)
    found = torch.stft(torch.from_numpy(SIGNAL), 8, 3, window=torch.from_numpy(window), center=center, onesided=onesided, return_complex=True)
    frames = frames_of(SIGNAL, 8, 3, center) * window
    expected = (np.fft.rfft(frames) if onesided else np.fft.fft(frames)).T
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_short_window_sits_in_the_middle():
    window = np.arange(1.0, 5)
    found = torch.stft(torch.from_numpy(SIGNAL), 8, 2, 4, torch.from_numpy(window), center=False, normalized=True, return_complex=True)
    frames = frames_of(SIGNAL, 8, 2, False) * np.pad(window, 2)
    np.testing.assert_allclose(found.numpy(), np.fft.rfft(frames).T / np.sqrt(8), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"hop_length": 3}, {"normalized": True}, {"onesided": False}])
def test_inverse(options):
    window = torch.hann_window(12, dtype=torch.float64)
    batch = torch.from_numpy(np.stack([SIGNAL, SIGNAL[::-1]]))
    spectrum = torch.stft(batch, 12, window=window, return_complex=True, **options)
    back = torch.istft(spectrum, 12, window=window, length=39, **options)
    np.testing.assert_allclose(back.numpy()[:, :37], batch.numpy()[:, :37], atol=1e-10)
    assert back.shape == (2, 39)


def test_gradients(check_gradients):
    check_gradients(lambda x: torch.stft(x, 4, 2, return_complex=True), SIGNAL[:10])
    spectrum = np.fft.rfft(frames_of(SIGNAL[:10], 4, 1, True)).T
    check_gradients(lambda z: torch.istft(z, 4), spectrum, tolerance=1e-5)


def test_overlap_add(check_gradients):
    frames = rng.standard_normal((2, 3, 5))
    for hop in (1, 2, 5, 7):
        expected = np.zeros((2, 2 * hop + 5))
        for k in range(3):
            expected[:, k * hop:k * hop + 5] += frames[:, k]
        np.testing.assert_allclose(overlap_add(torch.from_numpy(frames), hop).numpy(), expected)
    check_gradients(lambda f: overlap_add(f, 2), frames)


def test_parts_instead_of_complex_numbers():
    x = torch.from_numpy(SIGNAL)
    both = torch.stft(x, 8, return_complex=False)
    np.testing.assert_array_equal(both.numpy()[..., 0], torch.stft(x, 8, return_complex=True).numpy().real)


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: torch.stft(x, 4), "requires the return_complex parameter"),
    (lambda x: torch.stft(x, 4, hop_length=0, return_complex=True), "expected hop_length > 0"),
    (lambda x: torch.stft(x, 4, win_length=5, return_complex=True), "expected 0 < win_length <= n_fft"),
    (lambda x: torch.stft(x, 4, window=torch.ones(3), return_complex=True), "window tensor of size equal to win_length=4"),
    (lambda x: torch.stft(x.to(torch.complex64), 4, onesided=True), "Cannot have onesided output"),
    (lambda x: torch.istft(x, 4), "requires a complex-valued input"),
    (lambda x: torch.istft(torch.ones(3, 5, dtype=torch.complex64), 4, window=torch.zeros(4)), "window overlap add min"),
    (lambda x: torch.istft(torch.ones(2, 5, dtype=torch.complex64), 4), "expected the frequency dimension"),
])
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones(10))
