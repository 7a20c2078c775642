"""Products of groups of rows, each with a matrix of its own."""
from __future__ import annotations

from typing import Any

from saraph.ops.movement import cat
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor


@op(namespaces="nn.functional", autocast="lower")
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: Any = None) -> Tensor:
    """Matrix products per group, where `offs` says at which row or column each group ends.

    (M, K) x (G, K, N): rows of mat_a, result (M, N). (G, M, K) x (K, N): columns of mat_b, (M, N). (M, K) x (K, N): the shared dimension, (G, M, N).
    (G, M, K) x (G, K, N): without offs, (G, M, N).
    """
    if mat_a.dim() not in (2, 3) or mat_b.dim() not in (2, 3):
        raise RuntimeError(f"grouped_mm: mat_a and mat_b must have 2 or 3 dimensions, got shapes {list(mat_a.shape)} and {list(mat_b.shape)}")
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet")
    if mat_a.dim() == mat_b.dim() == 3:
        if offs is not None:
            raise RuntimeError("grouped_mm: Have to provide offsets for ragged dimensions only, but mat_a and mat_b are 3-d")
        found = mat_a.matmul(mat_b)
    else:
        if offs is None:
            raise RuntimeError("grouped_mm: Have to provide offsets if one of the inputs is 2-d")
        ends = offs.tolist()
        spans = list(zip([0, *ends[:-1]], ends))
        if mat_a.dim() == mat_b.dim():
            found = cat([mat_a[:, a:b].matmul(mat_b[a:b]).unsqueeze(0) for a, b in spans])
        elif mat_a.dim() == 2:
            parts = [mat_a[a:b].matmul(mat_b[g]) for g, (a, b) in enumerate(spans)]
            rest = mat_a.shape[0] - (ends[-1] if ends else 0)
            found = cat([*parts, mat_a.new_zeros((rest, mat_b.shape[-1]))]) if rest else cat(parts)
        else:
            parts = [mat_a[g].matmul(mat_b[:, a:b]) for g, (a, b) in enumerate(spans)]
            rest = mat_b.shape[1] - (ends[-1] if ends else 0)
            found = cat([*parts, mat_a.new_zeros((mat_a.shape[1], rest))], 1) if rest else cat(parts, 1)
    return found if out_dtype is None else found.to(out_dtype)
