"""The word source: a 32-bit Mersenne Twister with the state that PyTorch's CPU generator keeps.

NumPy's own MT19937 makes the words (its recurrence, seeding and tempering are the same), always whole blocks of 624 at
a time, so that a small draw is a slice of the current block and a large one is a single bulk call.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

__all__ = ["STATE_BYTES", "Fills", "MersenneTwister", "compiled"]

_BLOCK = 624
_MASK53 = np.uint64((1 << 53) - 1)
_SCALE53 = 2.0 ** -53

# PyTorch's state record: seed, words left, seeded flag, next index, 624 words of 64 bits each, then (unused double,
# cached normal, unused double, cached normal is valid) and (cached float32 normal, it is valid).
_HEAD = struct.Struct("<QiiQ")
_TAIL = struct.Struct("<dddixxxxf?xxx")
STATE_BYTES = _HEAD.size + 8 * _BLOCK + _TAIL.size


class Fills(NamedTuple):
    """Fills in machine code (see `saraph.kernels.filling`). None or False: they cannot serve, and nothing has changed."""

    #: (kind, address of the key, words of it that are used, words to draw, elements, dtype, room for a block, parameters): what the words make
    fill: Callable[[str, int, int, int, int, np.dtype, np.ndarray, tuple[float, ...]], np.ndarray | None]
    #: (uniforms, mean, std): makes normals of them
    normals_in_place: Callable[[np.ndarray, float, float], bool]
    #: (words): the permutation that they make
    permutation: Callable[[np.ndarray], np.ndarray | None]


#: What the room of kernels has; it stands above this one, and is put in by the backend.
compiled: list[Fills] = []
_WORD = np.dtype(np.uint32)
_MANY = 4096  # words from which a compiled fill is quicker


class MersenneTwister:
    """MT19937 seeded with the low 32 bits of `seed`, plus the normal values that are cached between draws.

    Not safe for use by several threads at once: the owner holds a lock around every call.
    """

    __slots__ = ("seed", "next_normal", "next_float_normal", "_source", "_seeder", "_block", "_position", "_idle_index")

    def __init__(self, seed: int):
        self._source = np.random.MT19937(0)
        self._seeder = np.random.RandomState(self._source)
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start the stream of this seed (an unsigned 64-bit value); cached normal values are dropped."""
        self.seed = seed
        self.next_normal: float | None = None
        self.next_float_normal: float | None = None
        self._seeder.seed(seed & 0xFFFFFFFF)
        self._block = np.empty(0, np.uint32)
        self._position = _BLOCK  # nothing of a block left: the next draw makes one
        self._idle_index = 0  # what PyTorch's record says in that situation: 0 before the first draw, 624 later

    def words(self, count: int) -> np.ndarray:
        """The next `count` 32-bit words (uint32, shape (count,)), often a view of the current block: only read them."""
        start = self._position
        stop = start + count
        if stop <= _BLOCK:
            self._position = stop
            return self._block[start:stop]
        found = self.fill("words", count, count, _WORD)
        if found is not None:
            return found
        out = np.empty(count, np.uint32)
        head = _BLOCK - start
        if head:
            out[:head] = self._block[start:]
        bulk, rest = divmod(count - head, _BLOCK)
        if bulk:
            out[head:count - rest] = self._source.random_raw(bulk * _BLOCK)
        if rest:
            self._block = self._source.random_raw(_BLOCK).astype(np.uint32)
            out[count - rest:] = self._block[:rest]
        self._position = rest or _BLOCK
        self._idle_index = _BLOCK
        return out

    def fill(self, kind: str, count: int, size: int, dtype: np.dtype, *parameters: float) -> np.ndarray | None:
        """An array (size,) of what a compiled fill makes of the next `count` words. None, and nothing is drawn, where that does not serve."""
        if count < _MANY or not compiled:
            return None
        block = np.empty(_BLOCK, np.uint32)
        found = compiled[0].fill(kind, self._source.ctypes.state_address, self._position, count, size, dtype, block, parameters)
        if found is not None:
            self._block = block
            self._position = (self._position + count - 1) % _BLOCK + 1
            self._idle_index = _BLOCK
        return found

    def words64(self, count: int) -> np.ndarray:
        """The next `count` 64-bit words, uint64; each is made of two 32-bit words, the earlier one on top."""
        pairs = self.words(2 * count)
        out = pairs[0::2].astype(np.uint64)
        out <<= np.uint64(32)
        out |= pairs[1::2]
        return out

    def doubles(self, count: int) -> np.ndarray:
        """The next `count` uniform float64 values in [0, 1), 53 bits each."""
        bits = self.words64(count)
        bits &= _MASK53
        out = bits.astype(np.float64)
        out *= _SCALE53
        return out

    def double_stream(self) -> Callable[[], float]:
        """A function that gives the next uniform double at each call, for samplers that cannot tell how many they need.

        Nothing else may draw from this source while the function is in use.
        """
        return self._iterate_doubles().__next__

    def _iterate_doubles(self) -> Iterator[float]:
        while True:
            whole = max((_BLOCK - self._position) // 2, 1)
            end = self._position + 2 * whole
            if end > _BLOCK:  # one pair that reaches into the next block
                yield self.doubles(1).item()
                continue
            values = self.doubles(whole).tolist()
            for position, value in zip(range(end - 2 * whole + 2, end + 1, 2), values, strict=True):
                self._position = position
                yield value

    def state(self) -> np.ndarray:
        """PyTorch's state record, uint8 of shape (5056,)."""
        index = self._idle_index if self._position == _BLOCK else self._position
        left = 1 if self._position == _BLOCK else _BLOCK + 1 - self._position
        normal, short = self.next_normal, self.next_float_normal
        key = self._source.state["state"]["key"].astype("<u8")
        record = (_HEAD.pack(self.seed, left, 1, index) + key.tobytes()
                  + _TAIL.pack(0.0, normal or 0.0, 0.0, normal is not None, short or 0.0, short is not None))
        return np.frombuffer(bytearray(record), np.uint8)

    def restore(self, state: np.ndarray) -> None:
        """Continue from a record that `state` (or PyTorch) made. If it is none: RuntimeError, and nothing changes."""
        if state.size != STATE_BYTES:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state "
                               f"size to be {state.size}: pass what get_state() or get_rng_state() returned.")
        record = np.ascontiguousarray(state).tobytes()
        seed, left, seeded, index = _HEAD.unpack_from(record)
        _, normal, _, has_normal, short, has_short = _TAIL.unpack_from(record, _HEAD.size + 8 * _BLOCK)
        idle = left == 1
        if not seeded or index > _BLOCK or not (idle or left + index == _BLOCK + 1):
            raise RuntimeError("Invalid mt19937 state: pass what get_state() or get_rng_state() returned.")
        key = np.frombuffer(record, "<u8", _BLOCK, _HEAD.size).astype(np.uint32)
        self._source.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
        self._block = self._source.random_raw(_BLOCK).astype(np.uint32)
        self._position = _BLOCK if idle else index
        self._idle_index = index if idle else _BLOCK
        self.seed = seed
        self.next_normal = normal if has_normal else None
        self.next_float_normal = short if has_short else None
