"""interpolate against weights written out one output element at a time, and golden answers for the antialiased filters."""
import math

import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(10)
# eight squares shrunk to three
LINEAR = [2.052632, 13.452381, 35.578949]
CUBIC = [1.035794, 12.718559, 37.485275]


def rows(mode, size, out, scale=None, align=False):
    """The matrix (out, size) of one dimension."""
    matrix = np.zeros((out, size))
    ratio = ((size - 1) / (out - 1) if out > 1 else 0) if align else (1 / scale if scale else size / out)
    for i in range(out):
        at = i * ratio if align else (i + 0.5) * ratio - 0.5
        if mode == "nearest":
            matrix[i, min(math.floor(i * ratio), size - 1)] = 1
        elif mode == "nearest-exact":
            matrix[i, min(math.floor((i + 0.5) * ratio), size - 1)] = 1
        elif mode == "area":
            lo, hi = i * size // out, -(-(i + 1) * size // out)
            matrix[i, lo:hi] = 1 / (hi - lo)
        elif mode == "linear":
            at = max(at, 0)
            low = min(int(at), size - 1)
            part = min(max(at - low, 0), 1)
            matrix[i, low] += 1 - part
            matrix[i, min(low + 1, size - 1)] += part
        else:
            low = math.floor(at)
            for k in range(-1, 3):
                x = abs(at - low - k)
                w = (1.25 * x - 2.25) * x * x + 1 if x <= 1 else ((-0.75 * x + 3.75) * x - 6) * x + 3
                matrix[i, min(max(low + k, 0), size - 1)] += w
    return matrix


def along_all(x, matrices):
    for d, m in enumerate(matrices, 2):
        x = np.moveaxis(np.tensordot(m, x, (1, d)), 0, d)
    return x


NAMES = {"nearest": ["nearest"] * 3, "nearest-exact": ["nearest-exact"] * 3, "area": ["area"] * 3, "linear": ["linear", "bilinear", "trilinear"],
         "cubic": [None, "bicubic", None]}


@pytest.mark.parametrize("mode", NAMES)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_sizes(mode, rank):
    name = NAMES[mode][rank - 1]
    if name is None:
        return
    x = rng.standard_normal((2, 3) + (5, 7, 4)[:rank])
    for sizes in ((9, 3, 6), (5, 7, 4), (1, 1, 1), (13, 20, 2)):
        for align in (False, True) if mode in ("linear", "cubic") else (None,):
            found = F.interpolate(torch.from_numpy(x), size=sizes[:rank], mode=name, align_corners=align)
            expected = along_all(x, [rows(mode, n, o, align=bool(align)) for n, o in zip(x.shape[2:], sizes)])
            np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_scales():
    x = rng.standard_normal((1, 2, 6, 5))
    for factors in ((1.7, 0.6), (2.0, 3.0), (2.5, 2.5)):
        sizes = [math.floor(n * f) for n, f in zip((6, 5), factors)]
        for mode, name in (("linear", "bilinear"), ("cubic", "bicubic"), ("nearest", "nearest")):
            own = F.interpolate(torch.from_numpy(x), scale_factor=factors, mode=name)
            np.testing.assert_allclose(own.numpy(), along_all(x, [rows(mode, n, o, f) for n, o, f in zip((6, 5), sizes, factors)]), atol=1e-12)
            again = F.interpolate(torch.from_numpy(x), scale_factor=factors, mode=name, recompute_scale_factor=True)
            np.testing.assert_allclose(again.numpy(), along_all(x, [rows(mode, n, o) for n, o in zip((6, 5), sizes)]), atol=1e-12)
    assert F.interpolate(torch.from_numpy(x), scale_factor=2).shape == (1, 2, 12, 10)


def test_antialias_golden():
    x = torch.arange(8.0).reshape(1, 1, 1, 8) ** 2
    linear = F.interpolate(x, size=(1, 3), mode="bilinear", antialias=True)[0, 0, 0]
    cubic = F.interpolate(x, size=(1, 3), mode="bicubic", antialias=True)[0, 0, 0]
    np.testing.assert_allclose(linear.numpy(), LINEAR, rtol=1e-5)
    np.testing.assert_allclose(cubic.numpy(), CUBIC, rtol=1e-5)
    flat = F.interpolate(torch.ones(1, 1, 9, 9), size=(4, 4), mode="bicubic", antialias=True)
    np.testing.assert_allclose(flat.numpy(), 1, rtol=1e-6)


def test_nothing_leaks_from_other_elements():
    x = torch.ones(1, 1, 4, 6)
    x[0, 0, 1, 2] = float("nan")
    for mode in ("nearest", "bilinear", "area"):
        y = F.interpolate(x, size=(8, 12), mode=mode)
        assert y.isnan().any() and not y[0, 0, 6:].isnan().any() and not y[0, 0, :, 8:].isnan().any()


@pytest.mark.parametrize(("mode", "shape"), [("nearest", (1, 2, 3, 4)), ("bilinear", (1, 2, 3, 4)), ("bicubic", (1, 2, 3, 4)), ("linear", (2, 1, 5)),
                                             ("trilinear", (1, 1, 2, 3, 2)), ("area", (1, 2, 5, 4)), ("nearest-exact", (2, 1, 5))])
def test_gradients(mode, shape, check_gradients):
    x = rng.standard_normal(shape)
    for factor in (2.3, 0.7):
        check_gradients(lambda t, factor=factor: F.interpolate(t, scale_factor=factor, mode=mode), x)
    assert torch.autograd.gradgradcheck(lambda t: F.interpolate(t, scale_factor=1.5, mode=mode) ** 2, [torch.from_numpy(x).requires_grad_()])
    if mode in ("bilinear", "bicubic"):
        check_gradients(lambda t: F.interpolate(t, size=(2, 3), mode=mode, antialias=True), rng.standard_normal((1, 1, 6, 7)))
        check_gradients(lambda t: F.interpolate(t, size=(5, 2), mode=mode, align_corners=True), x)


def test_order_dtypes_and_meta():
    x = torch.from_numpy(rng.standard_normal((2, 3, 4, 5)))
    last = x.to(memory_format=torch.channels_last)
    for mode in ("nearest", "bilinear", "bicubic"):
        y = F.interpolate(last, scale_factor=1.5, mode=mode)
        assert y.is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_allclose(y.numpy(), F.interpolate(x, scale_factor=1.5, mode=mode).numpy(), atol=1e-12)
        assert F.interpolate(x.bfloat16(), scale_factor=2, mode=mode).dtype is torch.bfloat16
        assert F.interpolate(torch.empty(1, 2, 4, 5, device="meta"), size=(3, 7), mode=mode).shape == (1, 2, 3, 7)
    image = torch.tensor([[[[0, 255], [100, 3]]]], dtype=torch.uint8)
    assert F.interpolate(image, size=(2, 3), mode="bilinear").tolist() == [[[[0, 128, 255], [100, 52, 3]]]]
    assert F.interpolate(image, scale_factor=2)[0, 0, 0].tolist() == [0, 0, 255, 255]
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.interpolate(image.long(), scale_factor=2)
    same = F.interpolate(x, size=(4, 5), mode="bilinear")
    same.zero_()
    assert x.abs().sum() > 0


def test_older_names():
    x = torch.from_numpy(rng.standard_normal((1, 2, 3, 4)))
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample(x, scale_factor=2).tolist() == F.interpolate(x, scale_factor=2).tolist()
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample_nearest(x, 5).tolist() == F.interpolate(x, 5).tolist()
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample_bilinear(x, 5).tolist() == F.interpolate(x, 5, mode="bilinear", align_corners=True).tolist()


@pytest.mark.parametrize(("arguments", "kind", "text"), [
    ({"size": 3, "scale_factor": 2}, ValueError, "only one of size or scale_factor should be defined"),
    ({}, ValueError, "either size or scale_factor should be defined"),
    ({"size": (3, 3, 3)}, ValueError, "Input and output must have the same number of spatial dimensions"),
    ({"scale_factor": (2.0,)}, ValueError, "Input and scale_factor must have the same number of spatial dimensions"),
    ({"size": 3, "mode": "nearest", "align_corners": True}, ValueError, "align_corners option can only be set with the interpolating modes"),
    ({"size": 3, "mode": "trilinear"}, NotImplementedError, "Got 4D input, but trilinear mode needs 5D input"),
    ({"size": 3, "mode": "other"}, NotImplementedError, "Only 3D, 4D and 5D input Tensors supported"),
    ({"size": 3, "antialias": True}, ValueError, "Anti-alias option is restricted to bilinear and bicubic modes"),
    ({"size": 3, "recompute_scale_factor": True}, ValueError, "recompute_scale_factor is not meaningful with an explicit size"),
    ({"size": 0}, RuntimeError, "Input and output sizes should be greater than 0"),
    ({"size": 2.5}, TypeError, "expected size to be one of int or Tuple"),
])
def test_refusals(arguments, kind, text):
    with pytest.raises(kind, match=text):
        F.interpolate(torch.ones(1, 1, 4, 4), **arguments)


def test_names_of_nodes():
    x = torch.ones(1, 1, 2, 2, requires_grad=True)
    names = {"nearest": "UpsampleNearest2DBackward0", "bilinear": "UpsampleBilinear2DBackward0", "bicubic": "UpsampleBicubic2DBackward0"}
    for mode, name in names.items():
        assert F.interpolate(x, size=3, mode=mode).grad_fn.name() == name
