"""Adaptive softmax: frequent classes in a short list, rare ones in clusters (Grave et al. 2017)."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from saraph.nn import functional as F
from saraph.nn.modules.container import ModuleList, Sequential
from saraph.nn.modules.linear import Linear
from saraph.nn.modules.module import Module
from saraph.tensor.tensor import Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """(batch, in_features), (batch) class numbers -> (log-probabilities of the targets, mean loss). Classes are in order of frequency."""

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or len(set(cutoffs)) != len(cutoffs)
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and "
                             "n_classes-1")
        self.in_features, self.n_classes, self.cutoffs, self.div_value, self.head_bias = in_features, n_classes, [*cutoffs, n_classes], div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, width, bias=False, device=device, dtype=dtype),
                                        Linear(width, size, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """(output, loss)."""
        target_dim = target_.dim()
        if target_dim == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError("1D target tensor expects 2D input tensors, but found inputs with size", input_.size())
        elif target_dim == 0:
            if input_.dim() != 1:
                raise RuntimeError("0D target tensor expects 1D input tensors, but found inputs with size", input_.size())
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = target_dim > 0
        x, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        low, high = int(target.min()), int(target.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] were found. ")
        gathered = target.clone()
        output = x.new_zeros(x.size(0))
        for i in range(self.n_clusters):
            start, end = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= start) & (target < end)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            logs = F.log_softmax(self.tail[i](x.index_select(0, rows)), 1)
            local = logs.gather(1, (target[rows] - start).unsqueeze(1))
            gathered = gathered.index_fill(0, rows, self.shortlist_size + i)
            output = output.index_add(0, rows, local.squeeze(1))
        head = F.log_softmax(self.head(x), 1)
        output = output + head.gather(1, gathered.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _full(self, x: Tensor, head: Tensor) -> Tensor:
        out = x.new_empty((head.size(0), self.n_classes))
        logs = F.log_softmax(head, 1)
        out[:, :self.shortlist_size] = logs[:, :self.shortlist_size]
        for i, (start, end) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            out[:, start:end] = F.log_softmax(self.tail[i](x), 1) + logs[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Tensor) -> Tensor:
        """(batch, n_classes) log-probabilities."""
        return self._full(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """(batch) the likeliest classes."""
        return self.log_prob(input).argmax(1)
