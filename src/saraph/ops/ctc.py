"""Connectionist temporal classification (Graves et al. 2006): the loss, and its gradient by the forward-backward recursion in the log domain."""
from __future__ import annotations

import math
from typing import Any

from saraph.ops.loss import reduction_of
from saraph.ops.movement import cat
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.node import derivative
from saraph.tensor.state import thread, without_grad
from saraph.tensor.tensor import Tensor, record, unpack

NAME = "ctc_loss"


def _lengths(value: Any, name: str) -> list[int]:
    if isinstance(value, Tensor):
        if value.is_floating_point() or value.is_complex():
            raise RuntimeError(f"{name} must be integral, got {value.dtype!r}")
        return [int(n) for n in value.reshape(-1).tolist()]
    return [int(n) for n in (value if isinstance(value, (tuple, list)) else (value,))]


def _label_rows(targets: Tensor, lengths: list[int]) -> list[list[int]]:
    """The labels of each sample, from rows padded to one length or from one row after the other."""
    if targets.dim() == 2:
        if targets.shape[1] < max(lengths, default=0):
            raise RuntimeError(f"Expected tensor to have size at least {max(lengths)} at dimension 1, but got size {targets.shape[1]} for argument #2 "
                               f"'targets' ({NAME}: the longest of target_lengths)")
        return [[int(v) for v in row[:n]] for row, n in zip(targets.tolist(), lengths)]
    if targets.dim() != 1:
        raise RuntimeError(f"{NAME}: targets must have 1 or 2 dimensions, got {list(targets.shape)}")
    if targets.shape[0] != sum(lengths):
        raise RuntimeError(f"Expected tensor to have size {sum(lengths)} at dimension 0, but got size {targets.shape[0]} for argument #2 'targets' "
                           f"({NAME}: the sum of target_lengths)")
    values, rows, start = targets.tolist(), [], 0
    for n in lengths:
        rows.append([int(v) for v in values[start:start + n]])
        start += n
    return rows


class _Paths:
    """What the recursions of a batch need: the labels with blanks around them, and who may skip a blank."""

    def __init__(self, logs: Tensor, rows: list[list[int]], inputs: list[int], blank: int) -> None:
        width = 2 * max((len(row) for row in rows), default=0) + 1
        extended = [[label for pair in zip([blank] * len(row), row) for label in pair] + [blank] * (width - 2 * len(row)) for row in rows]
        skips = [[i >= 2 and row[i] != blank and row[i] != row[i - 2] for i in range(width)] for row in extended]
        self.labels = logs.new_tensor(extended).long().reshape(len(rows), width)  # (batch, width)
        self.skips = logs.new_tensor(skips).bool().reshape(len(rows), width)
        self.ends = logs.new_tensor([2 * len(row) for row in rows]).long()  # the last position of each sample
        self.inputs = inputs
        time = logs.shape[0]
        self.emitted = logs.gather(2, self.labels.unsqueeze(0).expand(time, -1, -1))  # (time, batch, width)

    def shifted(self, x: Tensor, steps: int) -> Tensor:
        """x[s - steps] (with a negative number: x[s + -steps]), minus infinity beyond the ends."""
        width = x.shape[1]
        floor = x.new_full((x.shape[0], min(abs(steps), width)), -math.inf)
        return cat([floor, x[:, : width - steps]], 1)[:, :width] if steps > 0 else cat([x[:, -steps:], floor], 1)[:, :width]


def _forward(paths: _Paths) -> list[Tensor]:
    """alpha[t][b, s]: log-probability of all paths over times 0..t that end at position s."""
    emitted = paths.emitted
    alphas: list[Tensor] = []
    for t in range(emitted.shape[0]):
        if t == 0:
            positions = emitted.new_tensor(range(emitted.shape[2]))
            alphas.append(emitted[0].masked_fill(positions > 1, -math.inf))
            continue
        last = alphas[-1]
        skipped = paths.shifted(last, 2).masked_fill(~paths.skips, -math.inf)
        alphas.append(last.logaddexp(paths.shifted(last, 1)).logaddexp(skipped) + emitted[t])
    return alphas


def _losses(paths: _Paths, alphas: list[Tensor]) -> Tensor:
    """-log p of each sample's labels: its paths end at the last label or the blank after it."""
    found = []
    for b, (n, end) in enumerate(zip(paths.inputs, paths.ends.tolist())):
        if n == 0:
            found.append(paths.emitted.new_full((1,), 0.0 if end == 0 else math.inf))
        else:
            found.append(-alphas[n - 1][b, max(end - 1, 0):end + 1].logsumexp(0, True))
    return cat(found)


def _gradient(logs: Tensor, paths: _Paths, alphas: list[Tensor], losses: Tensor) -> Tensor:
    """d loss[b] / d log_softmax's input: exp(logs) minus the probability that a path of the labels is at that class at that time."""
    time, batch, width = paths.emitted.shape
    positions = logs.new_tensor(range(width)).long()
    ends = paths.ends.unsqueeze(1)
    start = (positions == ends) | (positions == ends - 1)
    skips_back = paths.shifted(paths.skips.to(logs.dtype), -2) > 0
    inputs = logs.new_tensor(paths.inputs).long().unsqueeze(1)
    beta = logs.new_full((batch, width), -math.inf)
    shares: list[Tensor] = []
    for t in range(time - 1, -1, -1):
        onward = beta.logaddexp(paths.shifted(beta, -1)).logaddexp(paths.shifted(beta, -2).masked_fill(~skips_back, -math.inf))
        begun = start.where(logs.new_zeros(()), logs.new_full((), -math.inf))
        onward = (inputs - 1 == t).where(begun, onward)
        shares.append((alphas[t] + onward + losses.unsqueeze(1)).exp().masked_fill(positions > ends, 0).unsqueeze(0))
        beta = onward + paths.emitted[t]
    taken = logs.new_zeros(logs.shape)
    if shares:
        labels = paths.labels.unsqueeze(0).expand(time, -1, -1)
        taken = taken.scatter_add(2, labels, cat(shares[::-1]))
    gradient = (logs.exp() - taken).masked_fill(losses.isinf().reshape(1, -1, 1), math.nan)
    finished = logs.new_tensor(range(time)).long().reshape(-1, 1, 1) >= inputs.unsqueeze(0)
    return gradient.masked_fill(finished, 0)


@derivative("CtcLossBackward0")
def CtcLossBackward(node: Any, g: Tensor) -> Tensor:
    """PyTorch's gradient is that of the input of the log_softmax before it: its rows sum to 0."""
    (logs,) = unpack(node)
    if thread.grad:
        raise RuntimeError("derivative for aten::_ctc_loss_backward is not implemented")
    gradient = _gradient(logs, node.paths, node.alphas, node.losses)
    if node.zero_infinity:
        gradient = gradient.masked_fill(node.losses.isinf().reshape(1, -1, 1), 0)
    return gradient * g.reshape(1, -1, 1)


@op(namespaces=("nn.functional", "torch"), autocast="float32")
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:
    """-log p(targets) under all alignments: log_probs (time, batch, classes) or (time, classes); targets (batch, length) or one after the other.

    Lengths are a tensor or tuple of one number per sample. "mean" divides each loss by its target's length first. `zero_infinity`: impossible
    targets count 0, with a zero gradient.
    """
    logs = check_tensor(log_probs, NAME)
    reduction = ("none", "mean", "sum")[reduction] if isinstance(reduction, int) else reduction_of(reduction)
    if not logs.is_floating_point() or logs.dtype.itemsize < 4:
        raise NotImplementedError(f'"ctc_loss_cpu" not implemented for {logs.dtype!r}: pass log_probs.float()')
    batched = logs.dim() == 3
    full = logs if batched else logs.unsqueeze(1)
    time, batch, classes = full.shape
    inputs, lengths = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    if len(inputs) != batch or len(lengths) != batch:
        raise RuntimeError(f"input_lengths and target_lengths must be of size batch_size ({batch}), got {len(inputs)} and {len(lengths)}")
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: got {blank} with {classes} classes")
    for n in inputs:
        if n > time or n < 0:
            raise RuntimeError(f"Expected input_lengths to have value at {'least 0' if n < 0 else f'most {time}'}, but got value {n} ({NAME})")
    if min(lengths, default=0) < 0:
        raise RuntimeError(f"Expected target_lengths to have value at least 0, but got value {min(lengths)} ({NAME})")
    rows = _label_rows(targets, lengths)
    if any(not 0 <= label < classes for row in rows for label in row):
        raise RuntimeError(f"{NAME}: every target must be a class number from 0 to {classes - 1}")
    with without_grad():
        paths = _Paths(full.detach(), rows, inputs, blank)
        alphas = _forward(paths)
        losses = _losses(paths, alphas) if batch else full.new_zeros(0)
    loss = record(losses.clone()._a, CtcLossBackward, (full,), (full,), paths=paths, alphas=alphas, losses=losses, zero_infinity=zero_infinity)
    if zero_infinity:
        loss = loss.masked_fill(losses.isinf(), 0)
    if reduction == "mean":
        return (loss / loss.new_tensor([max(n, 1) for n in lengths])).mean()
    if reduction == "sum":
        return loss.sum()
    return loss if batched else loss.squeeze(0)
