"""nn.functional.pad: constant, and by reflection, replication or wrapping around."""
from __future__ import annotations

from collections.abc import Sequence

from saraph.backends import of
from saraph.ops.indexing import _select as select_positions
from saraph.ops.joining import constant_pad_nd
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor


def _positions(size: int, before: int, after: int, mode: str) -> list[int]:
    """Which element of a dimension stands at each place of the padded one."""
    if mode == "reflect":
        period = max(2 * (size - 1), 1)
        return [(size - 1) - abs((size - 1) - (i % period)) for i in range(-before, size + after)]
    if mode == "replicate":
        return [min(max(i, 0), size - 1) for i in range(-before, size + after)]
    kept = range(max(-before, 0), size - max(-after, 0))  # what is cropped does not come round
    return [kept[i % len(kept)] for i in range(-max(before, 0), len(kept) + max(after, 0))] if len(kept) else []


def _check(x: Tensor, pads: list[int], mode: str) -> None:
    n = len(pads) // 2
    names = {1: ("2D or 3D", (2, 3)), 2: ("3D or 4D", (3, 4)), 3: ("4D or 5D", (4, 5))}
    if n not in names or x.dim() not in names[n][1]:
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now" if n in names else
                                  f"Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now (pad has {len(pads)} numbers)")
    for k in range(n):
        d = x.dim() - 1 - k
        before, after, size = pads[2 * k], pads[2 * k + 1], x.shape[d]
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at "
                               f"dimension {d} of input {list(x.shape)}")
        if mode == "circular" and (before > size or after > size):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if mode == "circular" and size + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        if size + before + after < 1 and mode != "circular":
            raise RuntimeError(f"input (size: {size}) is too small for padding ({before}, {after}): calculated output size {size + before + after}")


@op(namespaces="nn.functional")
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pads the last dimensions: `pad` holds pairs (before, after), last dimension first; negative numbers crop.

    Modes: "constant" (with `value`), "reflect", "replicate", "circular".
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f"Padding mode \"{mode}\" doesn't take in value argument")
    pads = [int(p) for p in pad]
    if len(pads) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2 (got {len(pads)})")
    x = check_tensor(input, "pad")
    _check(x, pads, mode)
    for k in range(len(pads) // 2):
        d, before, after = x.dim() - 1 - k, pads[2 * k], pads[2 * k + 1]
        if before or after:
            x = select_positions(x, d, of(x._a).positions(_positions(x.shape[d], before, after, mode)))
    return x if x is not input else x.clone()
