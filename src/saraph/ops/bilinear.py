"""The bilinear form of nn.Bilinear."""
from __future__ import annotations

from saraph.errors import describe
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor


@op(namespaces=("nn.functional", "torch"), autocast="lower")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1^T weight[k] x2 + bias[k]: (*, in1), (*, in2), weight (out, in1, in2) -> (*, out)."""
    check_tensor(input1, "bilinear", "input1")
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: {describe(input1, input2)}")
    if input1.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2]:
        raise RuntimeError(f"bilinear(): input1 size does not match weight size: got {input1.shape[-1]} and {input2.shape[-1]} features but weight is "
                           f"{list(weight.shape)}")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}")
    lead = input1.shape[:-1]
    x, y = input1.reshape(-1, input1.shape[-1]), input2.reshape(-1, input2.shape[-1])
    rows = x.shape[0]
    through = x.matmul(weight.permute(1, 0, 2).reshape(weight.shape[1], -1)).reshape(rows, weight.shape[0], weight.shape[2])
    found = (through * y.unsqueeze(1)).sum(-1)
    if bias is not None:
        found = found + bias
    return found.reshape((*lead, weight.shape[0]))
