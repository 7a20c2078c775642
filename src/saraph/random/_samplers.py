"""Samplers that draw as long as they must (Poisson, binomial, gamma, Dirichlet), and choices (multinomial, randperm).

The rejection samplers make one value after the other, as PyTorch's do: each draws from where the one before it stopped.
"""
from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from saraph.random import _streams as streams
from saraph.random._mt19937 import MersenneTwister, compiled
from saraph.random._streams import BFLOAT16, FLOAT32, FLOAT64, FLOATS, HALF, type_name

__all__ = ["binomial", "dirichlet", "multinomial", "poisson", "randperm", "standard_gamma"]

Draw = Callable[[], float]

_MOST_CATEGORIES = 1 << 24
_INT64_MIN = -(1 << 63)


# ---- Poisson -------------------------------------------------------------------------------------

def poisson(source: MersenneTwister, rates: np.ndarray) -> np.ndarray:
    """Poisson counts, one for each rate, in the rates' dtype and shape."""
    if rates.dtype not in FLOATS:
        raise streams.not_implemented("poisson_cpu", rates.dtype)
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    draw = source.double_stream()
    counts = [_poisson(rate, draw) for rate in rates.astype(np.float64).ravel().tolist()]
    return streams.to_dtype(np.array(counts, np.int64), rates.dtype).reshape(rates.shape)


def _poisson(rate: float, draw: Draw) -> int:
    if rate >= 10:
        return _poisson_by_rejection(rate, draw)
    if rate == 0:
        return 0
    limit, product, count = math.exp(-rate), draw(), 0
    while product > limit:
        count += 1
        product *= draw()
    return count


def _poisson_by_rejection(rate: float, draw: Draw) -> int:
    """Hörmann's transformed rejection (PTRS)."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    tight = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draw() - 0.5
        v = draw()
        distance = 0.5 - abs(u)
        if distance == 0:  # the guess would be minus infinity
            continue
        guess = (2 * a / distance + b) * u + rate + 0.43
        count = math.floor(guess) if abs(guess) < 1 << 63 else _INT64_MIN  # what converting to a 64-bit integer gives
        if distance >= 0.07 and v <= tight:
            return count
        if count < 0 or (distance < 0.013 and v > distance):
            continue
        ratio = _log(v) + math.log(inverse_alpha) - math.log(a / (distance * distance) + b)
        if ratio <= -rate + count * log_rate - math.lgamma(count + 1):
            return count


def _log(value: float) -> float:
    """Logarithm that gives -inf for 0, where Python's raises."""
    return math.log(value) if value > 0 else -math.inf


# ---- binomial ------------------------------------------------------------------------------------

def binomial(source: MersenneTwister, counts: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Numbers of successes in `counts` trials; the two arrays broadcast and have the same dtype, float32 or float64."""
    if counts.dtype not in FLOATS:
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {type_name(counts.dtype)}")
    if probabilities.dtype != counts.dtype:
        raise RuntimeError(f"Found dtype {type_name(probabilities.dtype)} but expected {type_name(counts.dtype)}: "
                           "binomial needs count and prob of one dtype")
    if counts.dtype not in (FLOAT32, FLOAT64):
        raise streams.not_implemented("binomial_cpu", counts.dtype)
    counts, probabilities = np.broadcast_arrays(counts, probabilities)
    draw = source.double_stream()
    kind = counts.dtype.type
    pairs = zip(counts.ravel(), probabilities.ravel(), strict=True)
    with np.errstate(all="ignore"):
        found = [_binomial(kind(count), kind(p), draw) for count, p in pairs]
    return np.array(found, np.float64).astype(counts.dtype).reshape(counts.shape)


def _binomial(count: np.floating, p: np.floating, draw: Draw) -> float:
    """One value. The arguments keep their dtype, because PyTorch computes some of what follows in it."""
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return float(count)
    if p <= 0.5:
        sample = _binomial_by_rejection if count * p >= 10 else _binomial_by_waiting
        return sample(count, p, draw)
    if p > 0.5:
        q = type(p)(1.0 - float(p))
        sample = _binomial_by_rejection if count * q >= 10 else _binomial_by_waiting
        return float(count) - sample(count, q, draw)
    return math.nan


def _binomial_by_waiting(count: np.floating, p: np.floating, draw: Draw) -> float:
    """Add up geometric waiting times until they exceed the number of trials."""
    log_failure = float(np.log1p(-p))
    total, successes, trials = 0.0, 0.0, float(count)
    while True:
        wait = _log(draw()) / log_failure
        total += math.ceil(wait) if wait < math.inf else wait
        if total > trials:
            return successes
        successes += 1


def _binomial_by_rejection(count: np.floating, p: np.floating, draw: Draw) -> float:
    """Hörmann's transformed rejection (BTRS)."""
    n, chance, one = float(count), float(p), type(p)(1)
    deviation = float(np.sqrt(count * p * (one - p)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    centre = float(count * p) + 0.5
    tight = 0.92 - 4.2 / b
    odds = float(p / (one - p))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor((count + one) * p)
    while True:
        u = draw() - 0.5
        v = draw()
        distance = 0.5 - abs(u)
        if distance == 0:
            continue
        k = float(math.floor((2 * a / distance + b) * u + centre))
        if k < 0 or k > n:
            continue
        if distance >= 0.07 and v <= tight:
            return k
        ratio = _log(v * alpha / (a / (distance * distance) + b))
        bound = ((mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
                 + (n + 1) * math.log((n - mode + 1) / (n - k + 1))
                 + (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
                 + _stirling_tail(mode) + _stirling_tail(n - mode) - _stirling_tail(k) - _stirling_tail(n - k))
        if ratio <= bound:
            return k


_STIRLING_TAILS = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                   0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


def _stirling_tail(k: float) -> float:
    """log(k!) less Stirling's approximation of it."""
    if k < len(_STIRLING_TAILS):
        return _STIRLING_TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


# ---- gamma and Dirichlet -------------------------------------------------------------------------

def standard_gamma(source: MersenneTwister, alphas: np.ndarray) -> np.ndarray:
    """Gamma values of rate 1, one for each shape parameter; float32 or float64."""
    if alphas.dtype not in (FLOAT32, FLOAT64):
        raise streams.not_implemented("gamma_cpu", alphas.dtype)
    values = _gammas(source, alphas, alphas.dtype)
    return np.maximum(values, np.finfo(alphas.dtype).tiny)


def dirichlet(source: MersenneTwister, alphas: np.ndarray) -> np.ndarray:
    """Points of the simplex along the last dimension, one for each row of concentrations; float32 or float64."""
    if alphas.dtype not in (FLOAT32, FLOAT64):
        raise streams.not_implemented("dirichlet", alphas.dtype)
    values = np.maximum(_gammas(source, alphas, FLOAT64), np.finfo(np.float64).tiny)
    shares = (values / values.sum(-1, keepdims=True)).astype(alphas.dtype)
    one = alphas.dtype.type(1)
    return np.clip(shares, np.finfo(alphas.dtype).tiny, np.nextafter(one, one - one))


def _gammas(source: MersenneTwister, alphas: np.ndarray, dtype: np.dtype) -> np.ndarray:
    draw = source.double_stream()
    kind = dtype.type
    with np.errstate(all="ignore"):
        values = [_gamma(kind(alpha), draw, source) for alpha in alphas.ravel()]
    return np.array(values, np.float64).astype(dtype).reshape(alphas.shape)


_THIRD = np.float32(1) / np.float32(3)
_SQUEEZE = float(np.float32(0.0331))


def _gamma(alpha: np.floating, draw: Draw, source: MersenneTwister) -> float:
    """Marsaglia and Tsang's rejection. `alpha` keeps its dtype, because PyTorch computes a few terms in it."""
    kind = type(alpha)
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = math.pow(1 - draw(), float(kind(1) / alpha))
        alpha = alpha + kind(1)
    d = float(alpha - kind(_THIRD))
    if not d > 0:  # no shape parameter: nan, or negative
        return math.nan
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = _normal(draw, source)
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - draw()
        square = x * x
        if u < 1.0 - _SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + _log(v)):
            return scale * d * v


def _normal(draw: Draw, source: MersenneTwister) -> float:
    """A standard normal by the pair-wise method: the second of a pair waits in the source."""
    waiting = source.next_normal
    if waiting is not None:
        source.next_normal = None
        return waiting
    angle = 2.0 * math.pi * draw()
    radius = math.sqrt(-2.0 * math.log1p(-draw()))
    source.next_normal = radius * math.sin(angle)
    return radius * math.cos(angle)


# ---- multinomial ---------------------------------------------------------------------------------

def multinomial(source: MersenneTwister, weights: np.ndarray, samples: int, replacement: bool = False) -> np.ndarray:
    """int64 indices of categories drawn with these weights (of any sum), shape (samples,) or (rows, samples)."""
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim: multinomial got shape {tuple(weights.shape)}")
    if weights.dtype.kind in "biuc":
        raise RuntimeError("multinomial only supports floating-point dtypes for input, got: "
                           f"{type_name(weights.dtype)}")
    if weights.dtype not in FLOATS:
        raise streams.not_implemented("multinomial", weights.dtype)
    if samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples: multinomial got num_samples={samples}")
    categories = weights.shape[-1]
    if not replacement and samples > categories:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement: multinomial got "
                           f"num_samples={samples} for {categories} categories")
    if categories > _MOST_CATEGORIES:
        raise RuntimeError(f"number of categories cannot exceed 2^24, got {categories}")
    if weights.ndim == 2 and not weights.shape[0]:
        return np.empty((0, samples), np.int64)
    if replacement and samples > 1:
        return _with_replacement(source, weights, samples)
    return _by_exponential_race(source, weights, samples)


def _by_exponential_race(source: MersenneTwister, weights: np.ndarray, samples: int) -> np.ndarray:
    """The categories with the largest weight / Exponential(1) are a sample without replacement, in the order drawn."""
    if not weights.shape[-1]:
        raise RuntimeError("multinomial: cannot compute aminmax over an empty dimension: the weights have shape "
                           f"{weights.shape}")
    wide = weights.astype(np.float32) if weights.dtype in (HALF, BFLOAT16) else weights
    if not ((wide >= 0) & (wide < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (wide.sum(-1) == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    race = np.empty_like(weights)
    view = streams.fill_view(race)
    view[...] = streams.exponential(source, view.shape, weights.dtype)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = (wide / race.astype(wide.dtype)).astype(weights.dtype).astype(wide.dtype)
    if samples == 1:
        return scores.argmax(-1, keepdims=True)
    return np.ascontiguousarray(np.argsort(-scores, axis=-1, kind="stable")[..., :samples])


def _with_replacement(source: MersenneTwister, weights: np.ndarray, samples: int) -> np.ndarray:
    """Look uniform draws up in the cumulative weights, which are added up in float32 (float64 for float64 weights)."""
    rows: np.ndarray = np.atleast_2d(weights).astype(FLOAT64 if weights.dtype == FLOAT64 else FLOAT32)
    if not (rows >= 0).all():
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    if not np.isfinite(rows).all():
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    steps = np.cumsum(rows, axis=-1, dtype=rows.dtype)
    if not (steps[:, -1:] > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    steps = (steps / steps[:, -1:]).astype(np.float64)
    steps[:, -1] = 1
    found = [np.searchsorted(row, source.doubles(samples), side="left") for row in steps]
    return np.array(found, np.int64).reshape(*weights.shape[:-1], samples)


# ---- permutations --------------------------------------------------------------------------------

_LONG_PERMUTATION = 4096  # from here on the swaps are resolved by sorting
_WIDE_PERMUTATION = ((1 << 32) - 1) // 20  # from here on another algorithm draws 64 bits for each position


def randperm(source: MersenneTwister, count: int, dtype: np.dtype) -> np.ndarray:
    """A random permutation of 0 .. count - 1 (Fisher and Yates: swaps from the front, or huge ones inside out)."""
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    _check_permutation(count, dtype)
    if count >= _WIDE_PERMUTATION:
        targets = (source.words64(count) % np.arange(1, count + 1, dtype=np.uint64)).view(np.int64)
        return streams.to_dtype(_inside_out(targets), dtype)
    words = source.words(max(count - 1, 0))
    found = compiled[0].permutation(words) if count >= _LONG_PERMUTATION and compiled else None
    if found is not None:
        return streams.to_dtype(found, dtype)
    targets = (words % np.arange(count, 1, -1, dtype=np.uint32)).astype(np.int64)
    targets += np.arange(targets.size)
    order = _swaps_by_sorting(targets, count) if count >= _LONG_PERMUTATION else _swaps(targets, count)
    return streams.to_dtype(order, dtype)


def _check_permutation(count: int, dtype: np.dtype) -> None:
    if dtype in (HALF, FLOAT32, FLOAT64):
        digits = {HALF: 11, FLOAT32: 24, FLOAT64: 53}[dtype]
        if count > (1 << digits) + 1:
            limit = "2049" if dtype == HALF else f"2^{digits}+1"
            raise RuntimeError(f"n cannot be greater than {limit} for {type_name(dtype)} type.")
    elif dtype.kind in "iu" and dtype.str[1:] not in ("u2", "u4", "u8"):
        if count > np.iinfo(dtype).max + 1:
            names = {"i4": "int", "u1": "uint8_t"}
            name = names.get(dtype.str[1:], dtype.name + "_t")
            raise RuntimeError(f"value cannot be converted to type {name} without overflow: randperm({count}) needs "
                               "a wider dtype")
    elif dtype != BFLOAT16:
        raise streams.not_implemented("randperm", dtype)


def _swaps(targets: np.ndarray, count: int) -> np.ndarray:
    """Apply swap(i, targets[i]) for i = 0, 1, ... to 0 .. count - 1."""
    order = list(range(count))
    for index, target in enumerate(targets.tolist()):
        order[index], order[target] = order[target], order[index]
    return np.array(order, np.int64)


def _swaps_by_sorting(targets: np.ndarray, count: int) -> np.ndarray:
    """The same without a loop over the elements.

    Step i leaves at `targets[i]` what lay at i. So what lies at a position before step i was put there by the last
    earlier step that aimed at it, and is what lay at that step's own position: a chain of steps whose end is the value.
    """
    steps = np.arange(count)
    targets = np.append(targets, count - 1)  # the last position stays
    earlier, last = _links(targets)
    stays = targets == steps
    filler = np.where(stays, earlier, last)  # the step that filled position i before step i
    origin = _chain_ends(np.where(filler >= 0, filler, steps))
    taken_from = np.where(stays, steps, earlier)
    return np.where(taken_from >= 0, origin[taken_from], targets)


def _inside_out(targets: np.ndarray) -> np.ndarray:
    """For i = 0, 1, ...: position i takes what lies at `targets[i]` (at most i), which takes the value i."""
    steps = np.arange(targets.size)
    earlier, last = _links(targets)
    # Before step i the position it aims at holds the last earlier step that aimed there, or what the position took.
    ends = _chain_ends(np.where(earlier >= 0, steps, targets))
    taken = np.where(earlier[ends] >= 0, earlier[ends], ends)
    return np.where(last > steps, last, taken)


def _links(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each step the one before it with the same target, for each position the last step aiming at it; or -1."""
    if targets.size >> 31:
        order = np.argsort(targets, kind="stable")
    else:  # sorting plain numbers, target above step, is several times faster
        order = np.sort((targets << 32) | np.arange(targets.size)) & 0xFFFFFFFF
    aims = targets[order]
    same = aims[1:] == aims[:-1]
    earlier = np.full(targets.size, -1)
    earlier[order[1:][same]] = order[:-1][same]
    last = np.full(targets.size, -1)
    ends = np.append(~same, True)
    last[aims[ends]] = order[ends]
    return earlier, last


def _chain_ends(following: np.ndarray) -> np.ndarray:
    """Where the chain i, following[i], following[following[i]], ... stops. All advance at once in doubling steps."""
    while True:
        further = following[following]
        if np.array_equal(further, following):
            return following
        following = further
