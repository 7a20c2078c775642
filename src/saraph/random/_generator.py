"""`Generator`: one stream of random numbers with PyTorch's CPU values, and the default one that every random op uses.

Besides PyTorch's own methods a Generator has the fills that the rooms above call. Shapes are tuples of ints, dtypes are
NumPy dtype objects (`np.dtype(...)`, bfloat16 from ml_dtypes), results are fresh C-contiguous arrays:

    uniform(shape, dtype, low=0, high=1)                    [low, high); complex dtypes too
    normal(shape, dtype, mean=0, std=1, contiguous=True)    contiguous: whether the target of the values is (see below)
    log_normal(shape, dtype, mean=1, std=2)
    random_full(shape, dtype)                               random_() without bounds
    random_ints(shape, dtype, low=0, high=None)             random_(low, high), randint; None: up to the largest
    randperm(count, dtype)
    bernoulli(p, shape, dtype, one=1)                       p a number (dropout, bernoulli_(p)) or an array
    exponential(shape, dtype, rate=1)
    geometric(shape, dtype, p)
    cauchy(shape, dtype, median=0, sigma=1)
    poisson(rates)                                          shape and dtype of the array argument, here and below
    binomial(counts, probabilities)
    standard_gamma(alphas)
    dirichlet(alphas)
    multinomial(weights, samples, replacement=False)        int64 indices

They raise what PyTorch raises for bad parameters and for dtypes that its kernels lack.

Targets that are not C-contiguous: PyTorch walks their memory. Take `view = fill_view(target)`, draw for `view.shape`
and assign; for `normal` pass `contiguous=False` as well, because it then uses another algorithm. Results in
`channels_last` or with the strides of a transposed input (`empty_like`, and so dropout, `rand_like` and `randn_like`)
are such targets.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from saraph.devices import CPU, device
from saraph.random import _samplers as samplers
from saraph.random import _streams as streams
from saraph.random._mt19937 import MersenneTwister

__all__ = ["Generator", "default_generator"]

_DEFAULT_SEED = 67280421310721


def _bytes_of(state: Any) -> np.ndarray:
    """The uint8 array of a generator state, as long as there are no tensors."""
    if not isinstance(state, np.ndarray):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return state


def _same(state: np.ndarray) -> Any:
    return state


class Generator:
    """A stream of random numbers on the CPU: the values are PyTorch's for the same seed.

    Args:
        device: "cpu" (also None).

    Example:
        >>> generator = Generator().manual_seed(0)
        >>> saraph.rand(2, generator=generator)
        tensor([0.4963, 0.7682])
    """

    __slots__ = ("_source", "_lock", "__weakref__")

    # How a state leaves and enters as a tensor: the tensor room puts its conversions here.
    _to_tensor: Callable[[np.ndarray], Any] = staticmethod(_same)
    _from_tensor: Callable[[Any], np.ndarray] = staticmethod(_bytes_of)

    def __init__(self, device: Any = None):
        _check_device(device)
        self._source = MersenneTwister(_DEFAULT_SEED)
        self._lock = threading.Lock()

    @property
    def device(self) -> device:
        """The device of the generator: always the CPU."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`, an int from -2**63 to 2**64 - 1 (taken modulo 2**64); returns the generator."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}: pass an int")
        value = int(seed)
        if not -(1 << 63) <= value < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: seed {value} is not between -2**63 and 2**64 - 1")
        with self._lock:
            self._source.reseed(value % (1 << 64))
        return self

    def seed(self) -> int:
        """Seed from the operating system's entropy; returns the seed."""
        value = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(value)
        return value

    def initial_seed(self) -> int:
        """The seed of the current stream."""
        return self._source.seed

    def get_state(self) -> Any:
        """The state as a uint8 tensor of 5056 bytes, in PyTorch's own layout."""
        with self._lock:
            state = self._source.state()
        return self._to_tensor(state)

    def set_state(self, new_state: Any) -> None:
        """Continue from a state that `get_state` (here or in PyTorch) returned."""
        state = self._from_tensor(new_state)
        with self._lock:
            self._source.restore(state)

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        clone = Generator()
        with self._lock:
            state = self._source.state()
        clone._source.restore(state)
        return clone

    def get_offset(self) -> int:
        """Raises: only generators of accelerators have an offset."""
        raise RuntimeError("CPU Generator does not use offset: use get_state()")

    def set_offset(self, offset: int) -> None:
        """Raises: only generators of accelerators have an offset."""
        raise RuntimeError("CPU Generator does not use offset: use set_state()")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, int | None, Any]) -> None:
        seed, _, record = state
        self.manual_seed(seed)
        self.set_state(record)

    # ---- fills -----------------------------------------------------------------------------------

    def uniform(self, shape: Sequence[int], dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Values in [low, high)."""
        with self._lock:
            return streams.uniform(self._source, shape, dtype, low, high)

    def normal(self, shape: Sequence[int], dtype: np.dtype, mean: float = 0.0, std: float = 1.0,
               contiguous: bool = True) -> np.ndarray:
        """Normal values; `contiguous` says whether the target is."""
        with self._lock:
            return streams.normal(self._source, shape, dtype, mean, std, contiguous)

    def log_normal(self, shape: Sequence[int], dtype: np.dtype, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """Exponentials of normal values."""
        with self._lock:
            return streams.log_normal(self._source, shape, dtype, mean, std)

    def random_full(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """Integers over the whole non-negative range that the dtype counts exactly."""
        with self._lock:
            return streams.random_full(self._source, shape, dtype)

    def random_ints(self, shape: Sequence[int], dtype: np.dtype, low: int = 0, high: int | None = None) -> np.ndarray:
        """Integers in [low, high)."""
        with self._lock:
            return streams.random_ints(self._source, shape, dtype, low, high)

    def randperm(self, count: int, dtype: np.dtype) -> np.ndarray:
        """A permutation of 0 .. count - 1."""
        with self._lock:
            return samplers.randperm(self._source, count, dtype)

    def bernoulli(self, p: float | np.ndarray, shape: Sequence[int], dtype: np.dtype, one: float = 1.0) -> np.ndarray:
        """Ones (or another number in their place) with probability p, else zeros."""
        with self._lock:
            return streams.bernoulli(self._source, p, shape, dtype, one)

    def exponential(self, shape: Sequence[int], dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
        """Exponential values."""
        with self._lock:
            return streams.exponential(self._source, shape, dtype, rate)

    def geometric(self, shape: Sequence[int], dtype: np.dtype, p: float) -> np.ndarray:
        """Numbers of trials up to the first success."""
        with self._lock:
            return streams.geometric(self._source, shape, dtype, p)

    def cauchy(self, shape: Sequence[int], dtype: np.dtype, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """Cauchy values."""
        with self._lock:
            return streams.cauchy(self._source, shape, dtype, median, sigma)

    def poisson(self, rates: np.ndarray) -> np.ndarray:
        """Poisson counts."""
        with self._lock:
            return samplers.poisson(self._source, rates)

    def binomial(self, counts: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        """Numbers of successes."""
        with self._lock:
            return samplers.binomial(self._source, counts, probabilities)

    def standard_gamma(self, alphas: np.ndarray) -> np.ndarray:
        """Gamma values of rate 1."""
        with self._lock:
            return samplers.standard_gamma(self._source, alphas)

    def dirichlet(self, alphas: np.ndarray) -> np.ndarray:
        """Points of the simplex along the last dimension."""
        with self._lock:
            return samplers.dirichlet(self._source, alphas)

    def multinomial(self, weights: np.ndarray, samples: int, replacement: bool = False) -> np.ndarray:
        """Indices drawn with the given weights."""
        with self._lock:
            return samplers.multinomial(self._source, weights, samples, replacement)


Generator.__module__ = "saraph"


def _check_device(wanted: Any) -> None:
    if wanted is None:
        return
    found = device(wanted)
    if found.type != "cpu":
        raise RuntimeError(f"Cannot get a generator for device '{found}': saraph draws on the CPU. Pass device='cpu'.")


default_generator = Generator()
default_generator.seed()


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock, and is not there to release it."""
    default_generator._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
