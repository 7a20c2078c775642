"""The short-time Fourier transform and its inverse."""
from __future__ import annotations

from typing import Any

from saraph.backends import of
from saraph.errors import describe
from saraph.ops.fft import real_inverse, real_transform, transform
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import OPS, op
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, record, wrap


@derivative("UnfoldBackward0")
def OverlapAddBackward(node: Any, g: Tensor) -> Tensor:
    return g.unfold(-1, node.size, node.hop)


def overlap_add(frames: Tensor, hop: int) -> Tensor:
    """Frames (..., count, size) laid `hop` apart and added up."""
    a = frames._a
    return record(of(a).overlap_add(a, hop), OverlapAddBackward, (frames,), size=a.shape[-1], hop=hop)


def _lengths(call: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={win}")
    return hop, win


def _ones(like: Tensor, length: int) -> Tensor:
    kind = like._a.dtype if like._a.dtype.kind != "c" else like.dtype.to_real().numpy
    return wrap(of(like._a).full((length,), 1, kind))


@op(method=True, autocast="float32")
def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
         center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
         return_complex: bool | None = None, align_to_window: bool | None = None) -> Tensor:
    """The Fourier transforms of overlapping frames of a signal (length) or several (batch, length): (batch,) frequencies by frames.

    Frames of `n_fft` values start every `hop_length` (default n_fft // 4) and are multiplied with `window`. With `center` the signal is first
    padded by n_fft // 2 on both sides. Real signals give the first n_fft // 2 + 1 frequencies unless `onesided` is False.
    `return_complex=False` gives real and imaginary part in a last dimension.
    """
    x = check_tensor(input, "stft")
    call = f"stft({describe(x)}, n_fft={n_fft}, hop_length={hop_length}, win_length={win_length})"
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    is_complex = x._a.dtype.kind == "c" or (window is not None and window._a.dtype.kind == "c")
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further "
                               "require that return_complex=True "
                               "in a future PyTorch release.")
        return_complex = True
    if x._a.dtype.kind in "biu":
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if x._a.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    hop, win = _lengths(call, n_fft, hop_length, win_length)
    batch = x if x._a.ndim == 2 else x.unsqueeze(0)
    if center:
        batch = _padded(batch, n_fft // 2, pad_mode)
    size = batch._a.shape[-1]
    if not 0 < n_fft <= size:
        raise RuntimeError(f"{call} : expected 0 < n_fft <= {size}, but got n_fft={n_fft}")
    full_window = _window_of(call, x, window, win, n_fft)
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    frames = batch.unfold(-1, n_fft, hop)
    if full_window is not None:
        frames = frames * full_window
    scale = n_fft**-0.5 if normalized else 1.0
    axis = (frames._a.ndim - 1,)
    spectrum = real_transform(frames, axis, scale) if onesided else transform(frames, axis, True, scale)
    result = spectrum.transpose(-2, -1)
    if x._a.ndim == 1:
        result = result.squeeze(0)
    return result if return_complex else OPS["view_as_real"].public(result)


def _padded(batch: Tensor, amount: int, mode: str) -> Tensor:
    if mode == "constant":
        return constant_pad_nd(batch, [amount, amount])
    pad = OPS["nn.functional.pad"].public
    return pad(batch.unsqueeze(1), (amount, amount), mode=mode).squeeze(1)


def _window_of(call: str, x: Tensor, window: Tensor | None, win: int, n_fft: int) -> Tensor | None:
    """What frames are multiplied with: the window in the middle of a frame, None for ones all over."""
    if window is not None and (window._a.ndim != 1 or window._a.shape[0] != win):
        raise RuntimeError(f"{call} : expected a 1D window tensor of size equal to win_length={win}, but got window with size "
                           f"{list(window._a.shape)}")
    if win == n_fft:
        return window
    left = (n_fft - win) // 2
    return constant_pad_nd(_ones(x, win) if window is None else window, [left, n_fft - win - left])


@op(method=True)
def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
          center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
          return_complex: bool = False) -> Tensor:
    """The signal that `stft` made the (complex) input from, in the sense of least squares; arguments as there.

    RuntimeError where the windows leave a gap (their squares add up to 0). The result is cut off, or filled up with zeros, to `length`.
    """
    x = check_tensor(input, "istft")
    call = f"istft({describe(x)}, n_fft={n_fft}, hop_length={hop_length}, win_length={win_length}, length={length})"
    if x._a.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if x._a.size == 0:
        raise RuntimeError(f"{call}: expected a non-empty tensor, but got {describe(x)}")
    if x._a.ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 2 or 3 dimensions (frequencies by frames), but got {x._a.ndim}")
    hop, win = _lengths(call, n_fft, hop_length, win_length)
    rows = x._a.shape[-2]
    if onesided is None:
        onesided = rows != n_fft
    expected = n_fft // 2 + 1 if onesided else n_fft
    if rows != expected:
        raise RuntimeError(f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"{'n_fft / 2 + 1 when onesided=True' if onesided else 'n_fft when onesided=False'}, but got {rows}")
    if return_complex and onesided:
        raise RuntimeError("cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window._a.dtype.kind == "c":
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    spectrum = (x if x._a.ndim == 3 else x.unsqueeze(0)).transpose(1, 2)
    scale = n_fft**-0.5 if normalized else 1.0 / n_fft
    if return_complex:
        frames = transform(spectrum, (2,), False, scale)
    else:  # a whole spectrum of a real signal says everything in its first half
        frames = real_inverse(spectrum if onesided else spectrum.narrow(2, 0, n_fft // 2 + 1), (2,), n_fft, scale)
    full_window = _window_of(call, x, window, win, n_fft)
    full_window = _ones(x, n_fft) if full_window is None else full_window
    signal = overlap_add(frames * full_window, hop)
    weights = overlap_add((full_window * full_window).expand(frames._a.shape[1], n_fft), hop)
    start = n_fft // 2 if center else 0
    return _cut(call, signal, weights, start, length, center, x._a.ndim == 2)


def _cut(call: str, signal: Tensor, weights: Tensor, start: int, length: int | None, center: bool, single: bool) -> Tensor:
    """Divide by the windows' weights and take the part that was asked for."""
    total = signal._a.shape[-1]
    end = start + length if length is not None else total - (start if center else 0)
    stop = min(end, total)
    signal, weights = signal.narrow(-1, start, max(stop - start, 0)), weights.narrow(-1, start, max(stop - start, 0))
    backend = of(weights._a)
    least = backend.amin(backend.abs(weights._a), None, False) if weights._a.size else None
    if least is not None and float(backend.tolist(least)) <= 1e-11:
        raise RuntimeError(f"{call} window overlap add min: the windows' squares add up to 0 at some positions, so the "
                           "signal is not determined there. "
                           "Use a smaller hop_length, center=True, or a window without zeros.")
    result = signal / weights
    if end > stop:
        result = constant_pad_nd(result, [0, end - stop])
    return result.squeeze(0) if single else result
