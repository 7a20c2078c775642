"""Padding and packing of sequences."""
import pytest

import saraph as torch
from saraph.nn.utils import rnn

A, B, C = torch.tensor([1, 2, 3]), torch.tensor([4, 5]), torch.tensor([6])


def test_padding():
    assert rnn.pad_sequence([A, B], batch_first=True).tolist() == [[1, 2, 3], [4, 5, 0]]
    assert rnn.pad_sequence([B, A], padding_value=9).tolist() == [[4, 1], [5, 2], [9, 3]]
    assert rnn.pad_sequence([B, A], batch_first=True, padding_side="left").tolist() == [[0, 4, 5], [1, 2, 3]]
    back = rnn.unpad_sequence(rnn.pad_sequence([B, A]), torch.tensor([2, 3]))
    assert [t.tolist() for t in back] == [[4, 5], [1, 2, 3]]


def test_packing_goes_time_by_time():
    packed = rnn.pack_sequence([A, B, C])
    assert packed.data.tolist() == [1, 4, 6, 2, 5, 3] and packed.batch_sizes.tolist() == [3, 2, 1] and packed.sorted_indices is None
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        rnn.pack_sequence([C, A])
    packed = rnn.pack_sequence([C, A, B], enforce_sorted=False)
    assert packed.sorted_indices.tolist() == [1, 2, 0] and packed.unsorted_indices.tolist() == [2, 0, 1] and packed.data.tolist() == [1, 4, 6, 2, 5, 3]
    assert [t.tolist() for t in rnn.unpack_sequence(packed)] == [[6], [1, 2, 3], [4, 5]]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1, total_length=4)
    assert padded.tolist() == [[6, -1, -1, -1], [1, 2, 3, -1], [4, 5, -1, -1]] and lengths.tolist() == [1, 3, 2]
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(packed, total_length=2)
    assert packed.double().data.dtype is torch.float64 and not packed.is_cuda
    with pytest.raises(RuntimeError, match="batch_first|Length of all samples has to be greater than 0"):
        rnn.pack_padded_sequence(torch.zeros(2, 2), [2, 0])


def test_the_permutation_back():
    order = torch.tensor([2, 0, 1])
    assert rnn.invert_permutation(order)[order].tolist() == [0, 1, 2] and rnn.invert_permutation(None) is None
