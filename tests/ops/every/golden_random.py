"""Random ops. Uniform and normal numbers, integers and permutations come one by one from the Mersenne Twister, which NumPy has too: these are compared
number by number. Of the others the distribution is: means and frequencies of many draws, within four or more standard errors."""
import math

import mpmath
import numpy as np
import scipy.special as sp
from golden import P, X, case, fresh

import saraph as torch

F = "nn.functional."


def words(count):
    """The first 32-bit words of the generator with seed 0."""
    bits = np.random.MT19937()
    bits._legacy_seeding(0)
    return bits.random_raw(count).astype(np.uint64)


def singles(count):
    """Uniform float32: 24 bits of a word each."""
    return ((words(count) & 0xFFFFFF) / 2 ** 24).astype(np.float32)


def doubles(count):
    """Uniform float64: 53 bits of two words each."""
    pairs = words(2 * count).reshape(-1, 2)
    return (((pairs[:, 0] << np.uint64(32)) | pairs[:, 1]) & np.uint64(2 ** 53 - 1)) / 2.0 ** 53


def normals(count):
    """Box and Muller 1958: cosine and sine of an angle, times a radius."""
    u = doubles(count + count % 2).reshape(-1, 2)
    radius, angle = np.sqrt(-2 * np.log1p(-u[:, 1])), 2 * math.pi * u[:, 0]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()[:count]


def shuffled(count):
    order, draws = np.arange(count), words(count)
    for i in range(count - 1):
        j = i + int(draws[i]) % (count - i)
        order[i], order[j] = order[j], order[i]
    return order


case("rand", np.array([0.4963, 0.7682, 0.0885], np.float32), 3, _rtol=1e-3)
case("rand", singles(6).reshape(2, 3), 2, 3)
case("rand", doubles(5), 5, dtype=torch.float64)
case("rand_like", doubles(6).reshape(2, 3), X, _grad=False)
case("randn", np.array([1.5410, -0.2934, -2.1788], np.float32), 3, _rtol=1e-3)
case("randn", normals(5), 5, dtype=torch.float64)
case("randn", normals(6).astype(np.float32).reshape(2, 3), (2, 3), _rtol=1e-6)
case("randn_like", normals(6).reshape(2, 3), X, _grad=False)
case("randint", (words(6) % 10).astype(int).reshape(2, 3), 10, (2, 3))
case("randint", (words(4) % 7).astype(int) - 2, -2, 5, (4,))
case("randint_like", (words(6) % 10).astype(float).reshape(2, 3), X, 10, _grad=False)
case("randperm", shuffled(7), 7)
case("normal", normals(6).reshape(2, 3) * P + X, X, P, _grad="zero")
case("normal", (normals(4) * 0.5 + 2).astype(np.float32), 2.0, 0.5, (4,), _rtol=1e-6)

# -- distributions
MANY = 4000


def near(mean, deviation, values=None):
    """For `_post`: is the mean of the draws within 5 standard errors, and are all draws among `values`?"""
    def judge(draws, *_):
        allowed = values is None or np.isin(draws, values).all()
        return bool(allowed and np.all(np.abs(draws.mean(0) - mean) < 5 * deviation / math.sqrt(len(draws))))

    return judge


NOISE = "implicit: a sample is not followed when its parameters move"
case("bernoulli", True, np.full(MANY, 0.3), _post=near(0.3, math.sqrt(0.21), [0, 1]), _grad="zero")
case("bernoulli", True, np.zeros(MANY), 0.8, _post=near(0.8, 0.4, [0, 1]), _grad="zero")
case("poisson", True, np.full(MANY, 2.5), _post=near(2.5, math.sqrt(2.5), np.arange(30)), _grad="zero")
case("poisson", True, np.full(MANY, 2.5), _post=lambda r, *_: abs((r == 0).mean() - math.exp(-2.5)) < 0.02, _grad="zero")
case("binomial", True, np.full(MANY, 7.0), np.full(MANY, 0.4), _post=near(2.8, math.sqrt(7 * 0.24), np.arange(8)), _grad=False)
case("binomial", True, np.full(MANY, 60.0), np.full(MANY, 0.4), _post=near(24, math.sqrt(60 * 0.24), np.arange(61)), _grad=False)
for _shape in (0.4, 2.5):
    case("_standard_gamma", True, np.full(MANY, _shape), _post=near(_shape, math.sqrt(_shape)), _grad=NOISE)
    case("_standard_gamma", True, np.full(MANY, _shape), _post=lambda r, a: bool(abs(np.log(r).mean() - sp.digamma(a[0])) < 0.2), _grad=NOISE)
_ALPHA = np.array([0.5, 1.5, 3.0])
_SPREAD = np.sqrt(_ALPHA / 5 * (1 - _ALPHA / 5) / 6)
case("_sample_dirichlet", True, np.tile(_ALPHA, (MANY, 1)), _post=near(_ALPHA / 5, _SPREAD), _grad=NOISE)
case("_sample_dirichlet", np.ones(6), np.tile(_ALPHA, (6, 1)), _post=lambda r, *_: r.sum(1), _grad=NOISE)
_WEIGHTS = np.array([1.0, 0.0, 3.0, 4.0])
case("multinomial", True, _WEIGHTS, MANY, True, _post=lambda r, *_: bool(np.all(np.abs(np.bincount(r, minlength=4) / MANY - _WEIGHTS / 8) < 0.04)))
case("multinomial", np.array([[0, 2, 3], [0, 2, 3]]), np.stack([_WEIGHTS, _WEIGHTS]), 3, _post=lambda r, *_: np.sort(r, 1))
case("multinomial", np.array([0, 0, 0]), _WEIGHTS, 3, True, _post=lambda r, *_: (r == 1).astype(int))


# -- how samples move with their parameters: the place in the distribution stays, so dx/da = -(dF/da) / density
def slope(cdf, density, a, x):
    with mpmath.workdps(30):
        return float(-mpmath.diff(lambda t: cdf(t, x), a) / density(a, x))


def gamma_slope(a, x):
    return slope(lambda t, v: mpmath.gammainc(t, 0, v, regularized=True), lambda t, v: v ** (t - 1) * mpmath.exp(-v) / mpmath.gamma(t), a, x)


def beta_slope(x, a, total):
    b = total - a
    moved = slope(lambda t, v: mpmath.betainc(t, b, 0, v, regularized=True), lambda t, v: v ** (t - 1) * (1 - v) ** (b - 1) / mpmath.beta(t, b), a, x)
    return moved / (1 - x)


_A, _AT = np.array([0.3, 1.2, 2.5, 6.0, 20.0]), np.array([0.1, 2.0, 1.5, 7.5, 18.0])
case("_standard_gamma_grad", np.array([gamma_slope(a, x) for a, x in zip(_A, _AT)]), _A, _AT, _rtol=1e-3, _grad=False)
_SHARE, _TOTAL = np.array([0.2, 0.5, 0.7, 0.31, 0.9]), np.array([1.0, 3.0, 4.0, 15.0, 22.0])
case("_dirichlet_grad", np.array([beta_slope(*v) for v in zip(_SHARE, _A, _TOTAL)]), _SHARE, _A, _TOTAL, _rtol=2e-3, _grad=False)

# -- dropout
_ONES = np.ones((8, 500))
_MAPS = np.ones((40, 50, 3))


def dropped(r, *_):
    """With p = 0.25: nothing but 0 and 4/3, and the mean stays 1."""
    return np.unique(r), bool(abs(r.mean() - 1) < 0.06)


def by_map(r, *_):
    """The same of whole channels."""
    flat = r.reshape(*r.shape[:2], -1)
    return bool((flat == flat[..., :1]).all()), *dropped(r)


_TWO = (np.array([0, 4 / 3]), True)
case(F + "dropout", _TWO, _ONES, 0.25, _post=dropped, _grad="of the small case")
case("dropout", _TWO, _ONES, 0.25, True, _post=dropped, _grad="of the small case")
_SMALL = np.sin(np.arange(16.0)).reshape(2, 4, 2, 1)
for _name in (F + "dropout2d", F + "alpha_dropout", F + "feature_alpha_dropout", "feature_alpha_dropout"):
    case(_name, True, _SMALL, 0.4, True, _post=lambda r, x, *_: bool((r != x).any()))
case(F + "dropout3d", True, _SMALL[..., None], 0.4, True, _post=lambda r, x, *_: bool((r != x).any()))
for _name in ("dropout_", "feature_dropout_", "alpha_dropout_", "feature_alpha_dropout_"):
    case(_name, True, _SMALL, 0.4, True, _post=lambda r, x, *_: bool((r != x).any()), _before=fresh)
case("dropout_", _TWO, _ONES, 0.25, True, _post=dropped, _grad="in place")
case("native_dropout", (*_TWO, True), _ONES, 0.25, True, _post=lambda r, *_: (*dropped(r[0]), bool(((r[0] > 0) == r[1]).all())), _grad="of the small case")
for _name, _maps in {F + "dropout1d": _MAPS, F + "dropout2d": _MAPS[..., None] * np.ones(2), F + "dropout3d": _MAPS[..., None, None] * np.ones((2, 1)),
                     "feature_dropout": _MAPS, "feature_dropout_": _MAPS}.items():
    case(_name, (True, *_TWO), _maps, 0.25, True, _post=by_map, _grad="of the small case")
for _name in (F + "dropout", F + "dropout1d", "dropout", "feature_dropout", "native_dropout"):
    case(_name, True, X, 0.4, True, _post=lambda r, x, *_: bool(np.isclose(np.where(r == 0, 0, x / 0.6), r).all()) if isinstance(r, np.ndarray) else True)
    case(_name, X, X, 0.4, False, _post=lambda r, *_: r if isinstance(r, np.ndarray) else r[0])
_NORMAL = np.tile(sp.ndtri((np.arange(2000) + 0.5) / 2000), (4, 1))


def alpha_dropped(r, x, *_):
    """What is dropped is one number, the rest one line of what it was; mean 0 and variance 1 stay."""
    values, counts = np.unique(np.round(r, 9), return_counts=True)
    low = values[counts.argmax()]
    kept = np.abs(r - low) > 1e-6
    line = np.polyfit(x[kept], r[kept], 1)
    fits = np.allclose(np.polyval(line, x[kept]), r[kept])
    return bool(fits and abs(kept.mean() - 0.75) < 0.03 and abs(r.mean()) < 0.06 and abs(r.var() - 1) < 0.08)


def alpha_by_map(r, *_):
    """Channels are dropped whole: each is one number times what it was, plus another."""
    return bool((np.ptp(r, 2) < 1e-12).all() and len(np.unique(np.round(r, 9))) == 2)


for _name in (F + "alpha_dropout", "alpha_dropout", "alpha_dropout_"):
    case(_name, True, _NORMAL, 0.25, True, _post=alpha_dropped, _grad="of the small case")
for _name in (F + "feature_alpha_dropout", "feature_alpha_dropout", "feature_alpha_dropout_"):
    case(_name, True, _MAPS, 0.25, True, _post=alpha_by_map, _grad="of the small case")
for _name in ("alpha_dropout", "feature_alpha_dropout"):
    case(_name, X, X, 0.4, False)
    case(_name, (2, 3), X, 0.4, True, _post=lambda r, *_: r.shape)

# -- Gumbel's trick (Jang et al. 2017): the largest is drawn with the softmax's probability
_LOGITS = np.tile(np.log([0.2, 0.3, 0.5]), (MANY, 1))
case(F + "gumbel_softmax", True, _LOGITS, hard=True, _grad=NOISE,
     _post=lambda r, *_: bool(((r == 0) | (np.abs(r - 1) < 1e-12)).all() and np.all(np.abs(r.mean(0) - [0.2, 0.3, 0.5]) < 0.05)))
case(F + "gumbel_softmax", np.ones(2), X, 0.7, _post=lambda r, *_: r.sum(-1))
case(F + "rrelu", True, -np.ones(MANY), 0.1, 0.5, True, _grad="of the evaluated form",
     _post=lambda r, *_: bool((-r >= 0.1).all() and (-r <= 0.5).all() and abs(r.mean() + 0.3) < 0.02))
