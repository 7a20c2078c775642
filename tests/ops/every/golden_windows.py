"""Convolutions, pooling, padding, pixels, interpolation, sampling."""
import numpy as np
from golden import case
from references import conv, conv_transpose, sample, windows

F = "nn.functional."


def waves(*shape):
    """Numbers without order and without ties."""
    return np.sin(np.arange(np.prod(shape)) * 2.3 + 0.7).reshape(shape) * 1.7


def places(n):
    return (5, 4, 3)[:n] if n < 3 else (3, 4, 3)


# -- convolution
for _n in (1, 2, 3):
    _x, _w, _b = waves(2, 2, *places(_n)), waves(4, 2, *(2,) * _n) * 0.5, waves(4)
    _g = waves(4, 1, *(2,) * _n)
    case(f"{F}conv{_n}d", conv(_x, _w, _b), _x, _w, _b)
    case(f"{F}conv{_n}d", conv(_x, _g, None, 2, 1, 1, 2), _x, _g, None, 2, 1, 1, 2)
    case(f"{F}conv{_n}d", conv(_x[:, :, 1:], _w, _b, 1, 2, 2), _x[:, :, 1:].copy(), _w, _b, 1, 2, 2)
    _t, _u = waves(2, 3, *(2,) * _n), waves(3)
    case(f"{F}conv_transpose{_n}d", conv_transpose(_x[:1, :, 1:], _t, _u), _x[:1, :, 1:].copy(), _t, _u)
    case(f"{F}conv_transpose{_n}d", conv_transpose(_x[:1], _t, None, 2, 1, 1, 2), _x[:1].copy(), _t, None, 2, 1, 1, 2)
    case(f"{F}conv_transpose{_n}d", conv_transpose(_x[:1, :, :2], _t, _u, 1, 1, 0, 1, 2), _x[:1, :, :2].copy(), _t, _u, 1, 1, 0, 1, 2)
_x, _w = waves(2, 2, 5, 4), waves(4, 2, 2, 2)
case("convolution", conv(_x, _w, None, 2, 1), _x, _w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1)
case("convolution", conv_transpose(_x[:1], waves(2, 3, 2, 2), None, 2), _x[:1].copy(), waves(2, 3, 2, 2), None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1)
case(F + "conv2d", conv(_x, waves(4, 2, 3, 3), None, 1, 1), _x, waves(4, 2, 3, 3), padding="same")
_x, _w, _b = waves(5, 2, 3), waves(2, 3, 4), waves(4)
case(F + "conv_tbc", conv(_x.transpose(1, 2, 0), _w.transpose(2, 1, 0), _b, 1, 1).transpose(2, 0, 1), _x, _w, _b, 1)

# -- pooling


def taps(n):
    return tuple(range(-n, 0))


def highest(x, kernel, stride, padding=0, dilation=1, ceil=False):
    """The maxima of windows, and where they are in the flattened planes."""
    numbers = np.arange(np.prod(x.shape[2:]), dtype=float).reshape(1, 1, *x.shape[2:])
    v = windows(x, kernel, stride, padding, dilation, -np.inf, ceil)
    at = windows(numbers, kernel, stride, padding, dilation, -1, ceil)
    n = len(kernel)
    flat = v.reshape(*v.shape[:-n], -1)
    where = np.broadcast_to(at.reshape(*at.shape[:-n], -1), flat.shape)
    best = flat.argmax(-1)[..., None]
    return np.take_along_axis(flat, best, -1)[..., 0], np.take_along_axis(where, best, -1)[..., 0].astype(int)


def means(x, kernel, stride, padding=0, count_pad=True, divisor=None, ceil=False):
    v = windows(x, kernel, stride, padding, fill=0.0, ceil=ceil)
    ones = windows(np.ones_like(x), kernel, stride, padding, fill=1.0 if count_pad else 0.0, ceil=ceil)
    n = len(kernel)
    return v.sum(taps(n)) / (divisor or ones.sum(taps(n)))


def areas(size, count):
    return [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive(x, counts, function):
    found = np.empty((*x.shape[:2], *counts))
    for place in np.ndindex(*counts):
        box = tuple(areas(n, c)[i] for n, c, i in zip(x.shape[2:], counts, place))
        found[(slice(None), slice(None), *place)] = function(x[(slice(None), slice(None), *box)].reshape(*x.shape[:2], -1), -1)
    return found


def adaptive_places(x, counts):
    """Where in the flattened planes the maxima of the areas are."""
    best = adaptive(x, counts, np.max)
    planes = x.reshape(*x.shape[:2], -1)
    return best, np.array([[[np.flatnonzero(planes[i, j] == v)[0] for v in best[i, j].ravel()] for j in range(x.shape[1])]
                           for i in range(x.shape[0])]).reshape(best.shape)


for _n in (1, 2, 3):
    _x = waves(1, 2, *places(_n))
    _k, _s = (2,) * _n, (2,) * _n
    _v, _i = highest(_x, _k, 2)
    case(f"{F}max_pool{_n}d", _v, _x, 2)
    case(f"{F}max_pool{_n}d", (_v, _i), _x, 2, return_indices=True)
    case(f"{F}max_pool{_n}d", highest(_x, _k, 1, 1, 2)[0], _x, 2, 1, 1, 2)
    case(f"{F}max_pool{_n}d", highest(_x, _k, 2, ceil=True)[0], _x, 2, 2, ceil_mode=True)
    case(f"{F}max_pool{_n}d_with_indices", highest(_x, (3,) * _n, 1, 1), _x, 3, 1, 1)
    case(f"{F}avg_pool{_n}d", means(_x, _k, 2), _x, 2)
    case(f"{F}avg_pool{_n}d", means(_x, (3,) * _n, 2, 1), _x, 3, 2, 1)
    case(f"{F}avg_pool{_n}d", means(_x, (3,) * _n, 2, 1, False), _x, 3, 2, 1, False, False)
    if _n > 1:
        case(f"{F}avg_pool{_n}d", means(_x, _k, 1, 0, True, 3), _x, 2, 1, divisor_override=3)
    case(f"{F}lp_pool{_n}d", (windows(np.abs(_x), _k, 2) ** 3).sum(taps(_n)) ** (1 / 3), np.abs(_x), 3.0, 2)
    _r = np.zeros((1, 2, np.prod(places(_n))))
    np.put_along_axis(_r, _i.reshape(1, 2, -1), _v.reshape(1, 2, -1), 2)
    case(f"{F}max_unpool{_n}d", _r.reshape(_x.shape), _v, _i, 2, output_size=places(_n))
    _c = (3, 2, 2)[:_n]
    case(f"{F}adaptive_avg_pool{_n}d", adaptive(_x, _c, np.mean), _x, _c)
    case(f"{F}adaptive_max_pool{_n}d", adaptive_places(_x, _c)[0], _x, _c)
    case(f"{F}adaptive_max_pool{_n}d", adaptive_places(_x, _c), _x, _c, True)
    case(f"{F}adaptive_max_pool{_n}d_with_indices", adaptive_places(_x, _c), _x, _c)
    if _n == 1:
        case("adaptive_max_pool1d", adaptive_places(_x, _c), _x, 3)
    else:
        # Graham 2014, with the sample 0.5: window i begins at floor((i + u) a) - floor(u a), the last one at the end
        _size = (6, 7, 6)[:_n]
        _x, _u = waves(1, 2, *_size), np.full((1, 2, _n), 0.5)
        _starts = [[int((i + 0.5) * a) - int(0.5 * a) if i < 2 else n - 2 for i in range(3)] for n in _size for a in [(n - 2) / 2]]
        _boxes = np.empty((1, 2, *(3,) * _n))
        for _place in np.ndindex(*(3,) * _n):
            _box = tuple(slice(_starts[d][i], _starts[d][i] + 2) for d, i in enumerate(_place))
            _boxes[(slice(None), slice(None), *_place)] = _x[(slice(None), slice(None), *_box)].max(taps(_n))
        _flat = _x.reshape(2, -1)
        _where = np.array([[np.flatnonzero(_flat[j] == v)[0] for v in _boxes[0, j].ravel()] for j in range(2)]).reshape(_boxes.shape)
        case(f"{F}fractional_max_pool{_n}d", _boxes, _x, 2, 3, _random_samples=_u)
        case(f"{F}fractional_max_pool{_n}d_with_indices", (_boxes, _where), _x, 2, 3, _random_samples=_u)

# -- padding and pixels
_x = waves(1, 2, 4, 3)
case(F + "pad", np.pad(_x, ((0, 0), (0, 0), (0, 2), (1, 0)), constant_values=2.5), _x, (1, 0, 0, 2), "constant", 2.5)
for _mode, _numpy in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
    case(F + "pad", np.pad(_x, ((0, 0), (0, 0), (2, 1), (1, 2)), mode=_numpy), _x, (1, 2, 2, 1), _mode)
case("_edges", np.pad(_x, ((0, 0), (0, 0), (0, 0), (1, 2)), mode="reflect"), _x, (1, 2, 0, 0), "reflect")
case("_edges", np.pad(_x[0], ((0, 0), (0, 0), (1, 2)), mode="edge"), _x[0].copy(), (1, 2), "replicate")
_p = waves(1, 8, 2, 3)
_shuffled = _p.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6)
case(F + "pixel_shuffle", _shuffled, _p, 2)
case(F + "pixel_unshuffle", _p, _shuffled, 2)
case(F + "channel_shuffle", _p[:, [0, 4, 1, 5, 2, 6, 3, 7]], _p, 2)
_v = windows(_x, (2, 2), 1, 1)
case(F + "unfold", _v.transpose(0, 1, 4, 5, 2, 3).reshape(1, 8, 20), _x, 2, padding=1)
_folded = np.zeros((1, 2, 4, 3))
_columns = waves(1, 8, 6)
for _q, (_i, _j) in enumerate(np.ndindex(3, 2)):
    _folded[:, :, _i: _i + 2, _j: _j + 2] += _columns[:, :, _q].reshape(1, 2, 2, 2)
case(F + "fold", _folded, _columns, (4, 3), 2)


# -- interpolation
def stretched(x, size, align):
    """Linear interpolation of each dimension by a matrix of weights."""
    for d, n in enumerate(size, 2):
        old = x.shape[d]
        at = np.arange(n) * (old - 1) / (n - 1) if align else np.maximum((np.arange(n) + 0.5) * old / n - 0.5, 0)
        weights = np.maximum(0, 1 - np.abs(np.minimum(at, old - 1)[:, None] - np.arange(old)))
        x = np.moveaxis(np.tensordot(x, weights, (d, 1)), -1, d)
    return x


def nearest(x, size, centre=0.0):
    for d, n in enumerate(size, 2):
        x = np.take(x, np.floor((np.arange(n) + centre) * x.shape[d] / n).astype(int), d)
    return x


_x = waves(1, 2, 4, 3)
case(F + "interpolate", nearest(_x, (6, 5)), _x, (6, 5))
case(F + "interpolate", nearest(_x, (3, 5), 0.5), _x, (3, 5), mode="nearest-exact")
case(F + "interpolate", nearest(_x, (8, 6)), _x, scale_factor=2)
for _align in (False, True):
    case(F + "interpolate", stretched(_x, (7, 5), _align), _x, (7, 5), mode="bilinear", align_corners=_align)
    case(F + "interpolate", stretched(_x[..., 0], (7,), _align), _x[..., 0].copy(), 7, mode="linear", align_corners=_align)
    case(F + "interpolate", stretched(_x[..., None] * [1, 2], (5, 4, 3), _align), _x[..., None] * np.array([1, 2]), (5, 4, 3), mode="trilinear",
         align_corners=_align)
case(F + "interpolate", adaptive(_x, (2, 2), np.mean), _x, (2, 2), mode="area")
case(F + "upsample", nearest(_x, (8, 6)), _x, scale_factor=2)
case(F + "upsample_nearest", nearest(_x, (8, 6)), _x, scale_factor=2)
case(F + "upsample_bilinear", stretched(_x, (8, 6), True), _x, scale_factor=2)

# -- sampling
_points = np.array([[-0.9, 0.33], [0.21, -0.47], [1.13, 0.81], [-0.6, -1.24]])
_grid = _points.reshape(1, 2, 2, 2)
for _align in (True, False):
    for _padding in ("zeros", "border"):
        _want = sample(_x[0], _points, _padding, _align).T.reshape(1, 2, 2, 2)
        case(F + "grid_sample", _want, _x, _grid, "bilinear", _padding, _align)
        _code = {"zeros": 0, "border": 1}[_padding]
        case("grid_sampler", _want, _x, _grid, 0, _code, _align)
        case("grid_sampler_2d", _want, _x, _grid, 0, _code, _align)
_cube, _spots = waves(1, 2, 3, 4, 3), np.array([[-0.9, 0.33, 0.4], [0.21, -0.47, -0.8], [0.77, 0.81, 1.3]])
case("grid_sampler_3d", sample(_cube[0], _spots).T.reshape(1, 2, 1, 1, 3), _cube, _spots.reshape(1, 1, 1, 3, 3), 0, 0, True)
_theta = np.array([[[1.1, 0.2, -0.3], [0.4, 0.9, 0.5]]])
for _align, _xs, _ys in ((True, [-1, 0, 1], [-1, 1]), (False, [-2 / 3, 0, 2 / 3], [-0.5, 0.5])):
    _want = np.array([[[_theta[0] @ [x, y, 1] for x in _xs] for y in _ys]])
    case(F + "affine_grid", _want, _theta, (1, 2, 2, 3), _align)
    case("affine_grid_generator", _want, _theta, (1, 2, 2, 3), _align)
