"""The word source against the published recurrence, and the record of its state."""
import hashlib

import numpy as np
import pytest

from saraph.random._mt19937 import STATE_BYTES, MersenneTwister


def reference_words(seed, count):
    """MT19937 as Matsumoto and Nishimura define it, one word at a time."""
    key = [seed & 0xFFFFFFFF]
    for i in range(1, 624):
        key.append((1812433253 * (key[-1] ^ (key[-1] >> 30)) + i) & 0xFFFFFFFF)
    out = []
    while len(out) < count:
        for i in range(624):
            y = (key[i] & 0x80000000) | (key[(i + 1) % 624] & 0x7FFFFFFF)
            key[i] = key[(i + 397) % 624] ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
        for y in key:
            y ^= y >> 11
            y ^= (y << 7) & 0x9D2C5680
            y ^= (y << 15) & 0xEFC60000
            out.append(y ^ (y >> 18))
    return out[:count]


@pytest.mark.parametrize("seed", [0, 1, 5489, 2 ** 40 + 7])
def test_words_follow_the_definition_however_they_are_cut(seed):
    expected = reference_words(seed, 4000)
    source = MersenneTwister(seed)
    found = []
    for size in (1, 5, 0, 617, 1, 1, 623, 624, 1248, 3, 800):
        found.extend(source.words(size).tolist())
    assert found == expected[:len(found)]


def test_wide_words_and_doubles():
    expected = reference_words(3, 20)
    assert MersenneTwister(3).words64(2).tolist() == [expected[0] << 32 | expected[1], expected[2] << 32 | expected[3]]
    bits = (expected[0] << 32 | expected[1]) & ((1 << 53) - 1)
    assert MersenneTwister(3).doubles(1)[0] == bits / 2.0 ** 53


def test_double_stream_is_the_doubles_across_blocks():
    # An odd word first, so that a pair straddles the end of a block.
    source, other = MersenneTwister(4), MersenneTwister(4)
    source.words(1)
    other.words(1)
    draw = source.double_stream()
    assert [draw() for _ in range(700)] == other.doubles(700).tolist()
    np.testing.assert_array_equal(source.words(9), other.words(9))
    np.testing.assert_array_equal(source.state(), other.state())


# The first 16 digits of the SHA-256 of PyTorch's state: fresh, after 10 words, after 624, after 1324.
STATES = {
    0: ("1ccf17250133dec5", "5c52c1215faecef8", "484720ea4ef85e46", "00575f398f6a16b8"),
    1: ("f5defda135ec2e0d", "0730cb284b14e24f", "bc0e33e8463c31a4", "517a4f2580923507"),
    42: ("5feb54a46230d321", "ac37a0c8ff1d5a50", "e390c389ddb91c65", "bf12ab41c3be71f2"),
    2 ** 40: ("cfeca2bf4ae8e896", "0b2f525771955383", "7b8cfff9f109ca7a", "8452b6c18ebae401"),
}


@pytest.mark.parametrize("seed", STATES)
def test_state_bytes_are_pytorchs(seed):
    source = MersenneTwister(seed)
    for size, digest in zip((0, 10, 614, 700), STATES[seed], strict=True):
        source.words(size)
        assert hashlib.sha256(source.state().tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("before", [0, 1, 623, 624, 625, 2000])
def test_state_round_trip(before):
    source = MersenneTwister(2 ** 63 + 5)
    source.words(before)
    source.next_normal = -1.25
    source.next_float_normal = 0.5
    state = source.state()
    assert state.dtype == np.uint8 and state.shape == (STATE_BYTES,) == (5056,)
    expected = source.words(1500).copy()
    other = MersenneTwister(1)
    other.restore(state)
    np.testing.assert_array_equal(other.state(), state)
    assert (other.seed, other.next_normal, other.next_float_normal) == (2 ** 63 + 5, -1.25, 0.5)
    np.testing.assert_array_equal(other.words(1500), expected)


def test_bad_states_change_nothing():
    source = MersenneTwister(1)
    before = source.state()
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 but found .* 10"):
        source.restore(np.zeros(10, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        source.restore(np.zeros(5056, np.uint8))
    np.testing.assert_array_equal(source.state(), before)
