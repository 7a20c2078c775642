"""grid_sample and affine_grid: places, borders and derivatives."""
import itertools

import numpy as np
import pytest

import saraph as torch

F = torch.nn.functional
rng = np.random.default_rng(11)


def grid_of(places, sizes, align):
    """The grid (x first, in [-1, 1]) of places given in pixels."""
    scaled = [(2 * p / (n - 1) - 1) if align else ((2 * p + 1) / n - 1) for p, n in zip(np.moveaxis(places, -1, 0), sizes)]
    return torch.from_numpy(np.stack(scaled[::-1], -1))


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
def test_at_pixels_every_mode_gives_the_pixel(rank, align):
    sizes = (4, 5, 3)[:rank]
    x = rng.standard_normal((1, 2, *sizes))
    places = np.stack(np.meshgrid(*[np.arange(n) for n in sizes], indexing="ij"), -1)[None].astype(float)
    for mode in ("bilinear", "nearest", "bicubic")[: 5 - rank]:
        found = F.grid_sample(torch.from_numpy(x), grid_of(places, sizes, align), mode, "border", align)
        np.testing.assert_allclose(found.numpy(), x, atol=1e-9)


def bilinear(image, y, x, padding, align):
    """One sample of (h, w) written out."""
    height, width = image.shape

    def bounded(at, n):
        if padding == "border":
            return min(max(at, 0), n - 1)
        if padding == "reflection":
            low, high = (0, n - 1) if align else (-0.5, n - 0.5)
            at = (at - low) % (2 * (high - low))
            at = low + min(at, 2 * (high - low) - at)
            return min(max(at, 0), n - 1)
        return at

    y, x = bounded(y, height), bounded(x, width)
    total = 0.0
    for i, j in itertools.product((0, 1), (0, 1)):
        r, c = int(np.floor(y)) + i, int(np.floor(x)) + j
        if 0 <= r < height and 0 <= c < width:
            total += image[r, c] * (1 - abs(y - r)) * (1 - abs(x - c))
    return total


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_outside(padding, align):
    image = rng.standard_normal((4, 5))
    places = rng.uniform(-6, 10, (1, 7, 3, 2))
    found = F.grid_sample(torch.from_numpy(image[None, None]), grid_of(places, (4, 5), align), "bilinear", padding, align)[0, 0]
    expected = [[bilinear(image, *at, padding, align) for at in row] for row in places[0]]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_gradients(mode, padding, check_gradients):
    x, grid = rng.standard_normal((2, 2, 3, 4)), rng.uniform(-1.3, 1.3, (2, 2, 3, 2))
    check_gradients(lambda x, g: F.grid_sample(x, g, mode, padding, False), x, grid, tolerance=1e-5)


def test_gradients_of_volumes_and_of_gradients(check_gradients):
    x, grid = rng.standard_normal((1, 2, 2, 3, 4)), rng.uniform(-1.1, 1.1, (1, 2, 2, 1, 3))
    check_gradients(lambda x, g: F.grid_sample(x, g, align_corners=True), x, grid, tolerance=1e-5)
    inputs = [torch.from_numpy(a).requires_grad_() for a in (x, grid)]
    assert torch.autograd.gradgradcheck(lambda x, g: F.grid_sample(x, g, align_corners=True), inputs)


def test_not_finite_outside_and_dtypes():
    x = torch.ones(1, 1, 2, 2)
    grid = torch.tensor([[[[float("nan"), 0.0], [9.0, 9.0], [0.0, 0.0]]]])
    found = F.grid_sample(x, grid, "nearest", "zeros", False)
    assert found[0, 0, 0, 1:].tolist() == [0, 1]
    half = F.grid_sample(x.bfloat16(), grid.bfloat16(), align_corners=False)
    assert half.dtype is torch.bfloat16
    with pytest.raises(RuntimeError, match="to have same dtype"):
        F.grid_sample(x, grid.double(), align_corners=False)


def test_affine_grid(check_gradients):
    theta = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], dtype=torch.float64)
    x = torch.from_numpy(rng.standard_normal((1, 2, 4, 5)))
    for align in (False, True):
        grid = F.affine_grid(theta, (1, 2, 4, 5), align)
        assert grid.shape == (1, 4, 5, 2)
        np.testing.assert_allclose(F.grid_sample(x, grid, align_corners=align).numpy(), x.numpy(), atol=1e-12)
    assert torch.affine_grid_generator(theta, [1, 2, 4, 5], True).tolist() == grid.tolist()
    mirrored = F.affine_grid(theta * torch.tensor([[-1.0], [1.0]]).double(), (1, 2, 4, 5), False)
    np.testing.assert_allclose(F.grid_sample(x, mirrored, align_corners=False).numpy(), x.numpy()[..., ::-1], atol=1e-12)
    assert F.affine_grid(torch.ones(2, 3, 4), (2, 1, 3, 4, 5), False).shape == (2, 3, 4, 5, 3)
    check_gradients(lambda t: F.affine_grid(t, (1, 1, 2, 3), False), theta.numpy())
    with pytest.raises(ValueError, match="Expected a batch of 2D affine matrices of shape Nx2x3"):
        F.affine_grid(torch.ones(1, 3, 3), (1, 1, 2, 2), False)
    with pytest.raises(ValueError, match="Expected theta to have floating point type"):
        F.affine_grid(torch.ones(1, 2, 3).long(), (1, 1, 2, 2), False)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x, g: F.grid_sample(x, g, "other"), ValueError, "expected mode to be 'bilinear', 'nearest' or 'bicubic'"),
    (lambda x, g: F.grid_sample(x, g, padding_mode="other"), ValueError, "expected padding_mode to be 'zeros', 'border', or 'reflection'"),
    (lambda x, g: F.grid_sample(x, g[0], align_corners=False), RuntimeError, "same number of dimensions"),
    (lambda x, g: F.grid_sample(x, g[..., :1], align_corners=False), RuntimeError, "expected grid to have size 2 in last dimension"),
    (lambda x, g: F.grid_sample(x, torch.cat([g, g]), align_corners=False), RuntimeError, "to have same batch size"),
    (lambda x, g: F.grid_sample(x[:, :, :0], g, align_corners=False), RuntimeError, "non-empty spatial dimensions"),
    (lambda x, g: F.grid_sample(x[None], torch.ones(1, 1, 1, 1, 3), "bicubic", align_corners=False), RuntimeError, "bicubic interpolation only supports 4D"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch.ones(1, 1, 3, 3), torch.zeros(1, 2, 2, 2))


def test_numbered_modes():
    x, grid = torch.from_numpy(rng.standard_normal((1, 2, 3, 4))), torch.from_numpy(rng.uniform(-1, 1, (1, 2, 2, 2)))
    for k, mode in enumerate(("bilinear", "nearest", "bicubic")):
        assert torch.grid_sampler_2d(x, grid, k, 1, True).tolist() == F.grid_sample(x, grid, mode, "border", True).tolist()
        assert torch.grid_sampler(x, grid, k, 2, False).tolist() == F.grid_sample(x, grid, mode, "reflection", False).tolist()
