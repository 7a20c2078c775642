"""Sequences of different lengths in one batch: padding and packing."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from saraph import dtypes
from saraph.ops.creation import tensor
from saraph.ops.movement import cat
from saraph.ops.ragged import pad_sequence
from saraph.ops.sequences import arange
from saraph.tensor.tensor import Tensor

__all__ = ["PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence", "unpad_sequence",
           "pack_sequence", "unpack_sequence"]


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """The elements of several sequences, time by time, longest sequence first: `batch_sizes[t]` sequences are longer than t.

    `sorted_indices` says where each sorted sequence was in the batch, `unsorted_indices` the reverse.
    """

    def __new__(cls, data: Tensor, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = data  # the old form: one pair
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(f"batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
                             f"instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. Got {batch_sizes.device}")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data moved or converted, as Tensor.to."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def _with(self, data: Tensor) -> PackedSequence:
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self) -> PackedSequence:
        """The data on the CPU."""
        return self.to("cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data on a CUDA device (raises where there is none)."""
        return self._with(self.data.cuda(*args, **kwargs))

    def double(self) -> PackedSequence:
        """The data as float64."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> PackedSequence:
        """The data as float32."""
        return self.to(dtype=dtypes.float32)

    def half(self) -> PackedSequence:
        """The data as float16."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> PackedSequence:
        """The data as int64."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> PackedSequence:
        """The data as int32."""
        return self.to(dtype=dtypes.int32)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data lies in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self) -> PackedSequence:
        """The data in pinned memory."""
        return self._with(self.data.pin_memory())


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another."""
    if permutation is None:
        return None
    inverse = permutation.new_empty(permutation.shape)
    inverse[permutation] = arange(0, permutation.numel(), dtype=permutation.dtype)
    return inverse


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack (time, batch, *) (or (batch, time, *)) by the sequences' lengths; with `enforce_sorted` these must not increase."""
    sizes = lengths.reshape(-1).to(dtypes.int64) if isinstance(lengths, Tensor) else tensor([int(n) for n in lengths], dtype=dtypes.int64)
    order = None
    if not enforce_sorted:
        sizes, order = sizes.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    values = sizes.tolist()
    data = input.transpose(0, 1) if batch_first else input
    if len(values) != data.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(values)} (batch_size={data.shape[1]})")
    if not values or min(values) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(values, values[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                           "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if values[0] > data.shape[0]:
        raise RuntimeError(f"Expected lengths to be at most the number of time steps ({data.shape[0]}), got {values[0]}")
    batch_sizes = [sum(n > t for n in values) for t in range(values[0])]
    packed = cat([data[t, :n] for t, n in enumerate(batch_sizes)])
    return PackedSequence(packed, tensor(batch_sizes, dtype=dtypes.int64), order, None)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The inverse of packing: (padded batch, lengths), in the original order."""
    data, batch_sizes, _, back = sequence
    sizes = batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} "
                             f"and max sequence length being {steps}")
        steps = total_length
    rows = []
    for part in data.split(sizes):
        missing = sizes[0] - part.shape[0]
        if missing:
            part = cat([part, part.new_full((missing, *part.shape[1:]), padding_value)])
        rows.append(part.unsqueeze(0))
    if steps > len(sizes):
        rows.append(data.new_full((steps - len(sizes), sizes[0], *data.shape[1:]), padding_value))
    padded = cat(rows)
    lengths = tensor([sum(n > b for n in sizes) for b in range(sizes[0])], dtype=dtypes.int64)
    if back is not None:
        padded, lengths = padded.index_select(1, back), lengths[back]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, cut to their lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows.unbind(0), lengths.tolist())]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of (length_i, *) tensors."""
    lengths = tensor([p.shape[0] for p in sequences], dtype=dtypes.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The list of tensors that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
