"""Random tensors and random fills: PyTorch's CPU streams from `saraph.random.Generator`.

Every function takes `generator=`; without it the default generator is used (`manual_seed`). On the meta device nothing is drawn.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saraph import dtypes
from saraph.backends import of
from saraph.config import settings
from saraph.ops.creation import store_out, uninitialized_like
from saraph.ops.filling import tracked
from saraph.ops.inplace import check_distinct, check_writable, update
from saraph.ops.options import as_dtype, as_sizes, check_layout, check_pin, library, made
from saraph.ops.promotion import cast, check_tensor
from saraph.ops.registry import method, op
from saraph.random import Generator, default_generator, fill_view
from saraph.shapes import broadcast_shapes
from saraph.tensor.node import derivative
from saraph.tensor.tensor import Tensor, bump, record, unpack, wrap

Draw = Callable[[Generator, tuple[int, ...], Any], Any]


def _generator(value: Any, name: str) -> Generator:
    if value is None:
        return default_generator
    if not isinstance(value, Generator):
        raise TypeError(f"{name}() received an invalid combination of arguments: 'generator' must be torch.Generator, not {type(value).__name__}")
    return value


def _constant(node_name: str) -> type:
    """The node of a random fill: what was there before has no influence."""
    @derivative(node_name)
    def formula(node: Any, g: Tensor) -> Tensor:
        return g.new_zeros(node.shape)

    return formula


def _spread(array: Any, generator: Generator, draw: Draw) -> Any:
    """Fill an array in the order of its memory."""
    if of(array).name == "meta":
        return array
    target = fill_view(array)
    of(array).copy_into(target, draw(generator, target.shape, array.dtype))
    return array


# -- factories -----------------------------------------------------------------------------------------------------------------


def _sized(name: str, size: tuple[Any, ...], size_keyword: Any, draw: Draw, generator: Any, out: Tensor | None, dtype: Any, layout: Any, device: Any,
           pin_memory: bool, requires_grad: bool) -> Tensor:
    """rand, randn: sizes as positional arguments, one sequence, or `size=`."""
    if size_keyword is not None:
        size = (size_keyword,)
    if not size:
        raise TypeError(f"{name}() received an invalid combination of arguments - got (), but expected sizes")
    return _drawn(name, as_sizes(size, name), draw, generator, out, dtype, settings.default_dtype, layout, device, pin_memory, requires_grad)


def _drawn(name: str, shape: tuple[int, ...], draw: Draw, generator: Any, out: Tensor | None, dtype: Any, natural: dtypes.dtype, layout: Any,
           device: Any, pin_memory: bool, requires_grad: bool) -> Tensor:
    source = _generator(generator, name)
    kind = as_dtype(dtype, name) if dtype is not None else out.dtype if out is not None else natural
    check_layout(layout, name)
    check_pin(pin_memory)
    backend = of(out._a) if out is not None else library(device, name)
    if requires_grad and kind.category < 2:
        raise RuntimeError(f"Only Tensors of floating point and complex dtype can require gradients, this one is {kind!r}")
    array = backend.empty(shape, kind.numpy) if backend.name == "meta" else draw(source, shape, kind.numpy)
    return made(array, requires_grad) if out is None else store_out(name, out, array, dtype)


def _uniform(generator: Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return generator.uniform(shape, dtype)


def _normal(generator: Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return generator.normal(shape, dtype)


def _like(name: str, input: Any, draw: Draw, generator: Any, dtype: Any, layout: Any, device: Any, pin_memory: bool, requires_grad: bool,
          memory_format: Any) -> Tensor:
    array = uninitialized_like(name, input, dtype, layout, device, pin_memory, memory_format)
    return made(_spread(array, _generator(generator, name), draw), requires_grad)


@op(out=False)
def rand(*shape: Any, size: Any = None, generator: Any = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
         device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in [0, 1). Sizes are ints or one sequence: `rand(2, 3)`, `rand((2, 3))`."""
    return _sized("rand", shape, size, _uniform, generator, out, dtype, layout, device, pin_memory, requires_grad)


@op(out=False)
def randn(*shape: Any, size: Any = None, generator: Any = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
          device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Normal numbers of mean 0 and standard deviation 1 (complex ones have variance 1 in all)."""
    return _sized("randn", shape, size, _normal, generator, out, dtype, layout, device, pin_memory, requires_grad)


@op()
def rand_like(input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
              requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """Uniform numbers in [0, 1) with input's shape, dtype, device and memory order."""
    return _like("rand_like", input, _uniform, generator, dtype, layout, device, pin_memory, requires_grad, memory_format)


@op()
def randn_like(input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
               requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """Normal numbers with input's shape, dtype, device and memory order."""
    array = uninitialized_like("randn_like", input, dtype, layout, device, pin_memory, memory_format)
    dense = of(array).name == "meta" or of(array).is_row_major(array)
    return made(_spread(array, _generator(generator, "randn_like"), lambda g, s, d: g.normal(s, d, 0.0, 1.0, dense)), requires_grad)


def _whole(value: Any, name: str, argument: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}() received an invalid combination of arguments: '{argument}' must be int, not {type(value).__name__}")
    return value.__index__()


@op(out=False)
def randint(*bounds: Any, low: Any = None, high: Any = None, size: Any = None, generator: Any = None, out: Tensor | None = None,
            dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Integers in [low, high): `randint(high, size)` or `randint(low, high, size)`; int64 unless `dtype` says otherwise."""
    given = list(bounds)
    if size is None and given and isinstance(given[-1], (tuple, list)):
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None and given:
        low = given.pop()
    if size is None or high is None or given or not isinstance(size, (tuple, list)):
        raise TypeError("randint() received an invalid combination of arguments - got "
                        f"({', '.join(type(b).__name__ for b in bounds)}), but expected (high, size) or (low, high, size), where size is a tuple")
    first, last = 0 if low is None else _whole(low, "randint", "low"), _whole(high, "randint", "high")
    return _drawn("randint", as_sizes((size,), "randint"), lambda g, s, d: g.random_ints(s, d, first, last), generator, out, dtype, dtypes.int64,
                  layout, device, pin_memory, requires_grad)


@op()
def randint_like(input: Tensor, *bounds: Any, low: Any = None, high: Any = None, generator: Any = None, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None) -> Tensor:
    """Integers in [low, high) with input's shape and dtype: `randint_like(x, high)` or `randint_like(x, low, high)`."""
    given = list(bounds)
    if high is None and given:
        high = given.pop()
    if low is None and given:
        low = given.pop()
    if high is None or given:
        raise TypeError(f"randint_like() received an invalid combination of arguments: {len(bounds)} bounds; expected (high) or (low, high)")
    first = 0 if low is None else _whole(low, "randint_like", "low")
    last = int(high.item()) if isinstance(high, Tensor) else _whole(high, "randint_like", "high")
    return _like("randint_like", input, lambda g, s, d: g.random_ints(s, d, first, last), generator, dtype, layout, device, pin_memory,
                 requires_grad, memory_format)


@op(out=False)
def randperm(n: Any, *, generator: Any = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
             pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """The numbers 0 to n - 1 in random order (int64 unless `dtype` says otherwise)."""
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    count = n.__index__()
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    return _drawn("randperm", (count,), lambda g, s, d: g.randperm(count, d), generator, out, dtype, dtypes.int64, layout, device, pin_memory,
                  requires_grad)


# -- distributions whose parameters are tensors ---------------------------------------------------------------------------------


@derivative("NormalBackward3")
def NormalBackward(node: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """PyTorch gives zeros: a sample is taken as it is, not as a function of its parameters."""
    return tuple(g.new_zeros(shape) if node.needs(i) else None for i, shape in enumerate(node.operands))


@op(out=False)
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
           layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Normal numbers with these means and standard deviations: tensors (broadcast), or two numbers and a `size`."""
    source = _generator(generator, "normal")
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            if out is None:
                raise TypeError(f"normal() received an invalid combination of arguments - got ({type(mean).__name__}, {type(std).__name__}), but "
                                "expected a tensor among them, or a size")
            size = out.shape
        return _drawn("normal", as_sizes((size,), "normal"), lambda g, s, d: g.normal(s, d, float(mean), float(std)), source, out, dtype,
                      settings.default_dtype, layout, device, pin_memory, requires_grad)
    kind = (mean if isinstance(mean, Tensor) else std).dtype
    if isinstance(std, Tensor):
        if std.dtype.is_complex:
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if of(std._a).name != "meta" and std._a.size and (std < 0).any():
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    parts = [x for x in (mean, std) if isinstance(x, Tensor)]
    shape = broadcast_shapes(*[x._a.shape for x in parts], op="normal")
    backend = of(*[x._a for x in parts])
    if backend.name == "meta":
        sample = wrap(backend.empty(shape, kind.numpy))
    else:
        sample = wrap(source.normal(shape, kind.numpy))
        sample = sample * (std.detach() if isinstance(std, Tensor) else std) + (mean.detach() if isinstance(mean, Tensor) else mean)
    sample = cast(sample, kind)
    if out is not None:
        return store_out("normal", out, sample._a, None)
    return record(sample._a, NormalBackward, tuple(parts), operands=tuple(x._a.shape for x in parts))


BernoulliBackward = _constant("BernoulliBackward0")
PoissonBackward = _constant("PoissonBackward0")


@op(method=True)
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Ones and zeros in input's shape and dtype: one with probability `input`, or with the probability `p` everywhere."""
    x = check_tensor(input, "bernoulli")
    array = of(x._a).empty_like(x._a, x._a.dtype)
    source = _generator(generator, "bernoulli")
    if p is None:
        if of(array).name != "meta":
            of(array).copy_into(array, source.bernoulli(x._a, x._a.shape, x._a.dtype))
    else:
        _spread(array, source, lambda g, s, d: g.bernoulli(float(p), s, d))
    return record(array, BernoulliBackward, (x,), shape=x._a.shape)


@op()
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson counts with the rates `input`, in input's dtype."""
    x = check_tensor(input, "poisson")
    source = _generator(generator, "poisson")
    array = of(x._a).empty(x._a.shape, x._a.dtype) if of(x._a).name == "meta" else source.poisson(x._a)
    return record(array, PoissonBackward, (x,), shape=x._a.shape)


@op()
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of `count` trials with success probability `prob` succeed (floating dtypes)."""
    x, q = check_tensor(count, "binomial", "count"), check_tensor(prob, "binomial", "prob")
    source = _generator(generator, "binomial")
    array = of(x._a).empty(broadcast_shapes(x._a.shape, q._a.shape), x._a.dtype) if of(x._a).name == "meta" else source.binomial(x._a, q._a)
    return wrap(array)


def _refuse_second(node: Any, g: Tensor) -> Tensor:
    raise RuntimeError(f"derivative for {node.what} is not implemented")


SlopeBackward = derivative("SlopeBackward0")(_refuse_second)


@op(name="_standard_gamma_grad")
def standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """How gamma numbers `output` of rate 1 move with their shape parameters `input`."""
    array = of(input._a).gamma_slope(output._a, input._a)
    return record(array, SlopeBackward, (input, output), what="aten::_standard_gamma_grad")


@op(name="_dirichlet_grad")
def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """dx/dalpha / (1 - x) for shares x that are Beta(alpha, total - alpha): how one share of a Dirichlet point moves with its concentration."""
    array = of(x._a).beta_slope(x._a, alpha._a, total._a)
    return record(array, SlopeBackward, (x, alpha, total), what="aten::_dirichlet_grad")


@derivative("StandardGammaBackward0", saves_result=True)
def StandardGammaBackward(node: Any, g: Tensor) -> Tensor:
    """The implicit function theorem: the place in the distribution stays."""
    x, sample = unpack(node)
    return g * standard_gamma_grad(x, sample)


@op(name="_standard_gamma")
def standard_gamma(input: Tensor, generator: Any = None) -> Tensor:
    """Gamma values of rate 1 with the shape parameters `input`, in which they are differentiable."""
    x = check_tensor(input, "_standard_gamma")
    source = _generator(generator, "_standard_gamma")
    array = of(x._a).empty(x._a.shape, x._a.dtype) if of(x._a).name == "meta" else source.standard_gamma(x._a)
    return record(array, StandardGammaBackward, (x,), (x,))


@derivative("DirichletBackward0", saves_result=True)
def DirichletBackward(node: Any, g: Tensor) -> Tensor:
    """A share moves with its concentration as a beta number does; the others keep their proportions among themselves."""
    x, sample = unpack(node)
    total = x.sum(-1, keepdim=True).expand_as(x)
    return dirichlet_grad(sample, x, total) * (g - (sample * g).sum(-1, keepdim=True))


@op(name="_sample_dirichlet")
def sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Points of the simplex along the last dimension with the concentrations `input`, in which they are differentiable."""
    x = check_tensor(input, "_sample_dirichlet")
    source = _generator(generator, "_sample_dirichlet")
    array = of(x._a).empty(x._a.shape, x._a.dtype) if of(x._a).name == "meta" else source.dirichlet(x._a)
    return record(array, DirichletBackward, (x,), (x,))


@op(method=True)
def multinomial(input: Tensor, num_samples: Any, replacement: bool = False, *, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """`num_samples` indices (int64) drawn from each row of weights; without `replacement` no index twice in a row."""
    x = check_tensor(input, "multinomial")
    count = _whole(num_samples, "multinomial", "num_samples")
    source = _generator(generator, "multinomial")
    if of(x._a).name == "meta":
        return wrap(of(x._a).empty((*x._a.shape[:-1], count), dtypes.int64.numpy))
    return wrap(source.multinomial(x._a, count, replacement))


# -- fills ---------------------------------------------------------------------------------------------------------------------


def _fill(x: Any, name: str, generator: Any, draw: Draw, node: type) -> Tensor:
    """Write drawn values over a tensor; what is recorded says that the old value has no influence."""
    check_tensor(x, name, "self")
    source = _generator(generator, name)
    check_distinct(x._a, name)
    if tracked(x):
        def replaced(before: Tensor) -> Tensor:
            a = before._a
            return record(_spread(of(a).empty_like(a, a.dtype), source, draw), node, (before,), shape=a.shape)

        return update(x, name, replaced, (), {})
    check_writable(x, name)
    _spread(x._a, source, draw)
    bump(x)
    return x


def _bounds(name: str, values: tuple[Any, ...], keywords: dict[str, Any], defaults: dict[str, Any]) -> list[Any]:
    """Arguments whose PyTorch names (`from`) are Python keywords."""
    if len(values) > len(defaults):
        raise TypeError(f"{name}() takes at most {len(defaults)} positional arguments ({len(values)} given)")
    found = {**defaults, **dict(zip(defaults, values))}
    for key, value in keywords.items():
        if key not in defaults or key in list(defaults)[: len(values)]:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        found[key] = value
    return list(found.values())


_NODES = {name: _constant(name) for name in ("UniformBackward0", "NormalBackward0", "ExponentialBackward0", "LogNormalBackward0",
                                            "CauchyBackward0", "GeometricBackward0", "RandomBackward0", "RandomBackward2", "BernoulliBackward2")}


@method("uniform_")
def uniform_(self: Tensor, *bounds: Any, generator: Any = None, **keywords: Any) -> Tensor:
    """Fill with uniform numbers in [from, to): `uniform_(from=0, to=1)`."""
    low, high = (float(v) for v in _bounds("uniform_", bounds, keywords, {"from": 0.0, "to": 1.0}))
    return _fill(self, "uniform_", generator, lambda g, s, d: g.uniform(s, d, low, high), _NODES["UniformBackward0"])


@method("normal_")
def normal_(self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers of that mean and standard deviation."""
    a = check_tensor(self, "normal_", "self")._a
    dense = of(a).name == "meta" or of(a).is_row_major(a)
    return _fill(self, "normal_", generator, lambda g, s, d: g.normal(s, d, float(mean), float(std), dense), _NODES["NormalBackward0"])


@method("log_normal_")
def log_normal_(self: Tensor, mean: Any = 1.0, std: Any = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithm is normal with that mean and standard deviation."""
    return _fill(self, "log_normal_", generator, lambda g, s, d: g.log_normal(s, d, float(mean), float(std)), _NODES["LogNormalBackward0"])


@method("exponential_")
def exponential_(self: Tensor, lambd: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of that rate."""
    return _fill(self, "exponential_", generator, lambda g, s, d: g.exponential(s, d, float(lambd)), _NODES["ExponentialBackward0"])


@method("geometric_")
def geometric_(self: Tensor, p: Any, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials, of success probability p, up to the first success."""
    return _fill(self, "geometric_", generator, lambda g, s, d: g.geometric(s, d, float(p)), _NODES["GeometricBackward0"])


@method("cauchy_")
def cauchy_(self: Tensor, median: Any = 0.0, sigma: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of the Cauchy distribution."""
    return _fill(self, "cauchy_", generator, lambda g, s, d: g.cauchy(s, d, float(median), float(sigma)), _NODES["CauchyBackward0"])


@method("random_")
def random_(self: Tensor, *bounds: Any, generator: Any = None, **keywords: Any) -> Tensor:
    """Fill with integers: `random_()` all that the dtype counts exactly, `random_(to)` in [0, to), `random_(from, to)` in [from, to)."""
    if len(bounds) == 1 and not keywords:
        bounds = (0, bounds[0])
    low, high = _bounds("random_", bounds, keywords, {"from": None, "to": None})
    if low is None and high is None:
        return _fill(self, "random_", generator, lambda g, s, d: g.random_full(s, d), _NODES["RandomBackward2"])
    first = 0 if low is None else _whole(low, "random_", "from")
    last = None if high is None else _whole(high, "random_", "to")
    return _fill(self, "random_", generator, lambda g, s, d: g.random_ints(s, d, first, last), _NODES["RandomBackward0"])


@method("bernoulli_")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones, with probability p (a number, or a tensor that broadcasts to this one's shape), and zeros."""
    if not isinstance(p, Tensor):
        return _fill(self, "bernoulli_", generator, lambda g, s, d: g.bernoulli(float(p), s, d), _NODES["BernoulliBackward2"])
    chances = p.expand(self._a.shape)._a
    check_distinct(self._a, "bernoulli_")
    if of(self._a).name == "meta":
        return self
    return self.copy_(wrap(_generator(generator, "bernoulli_").bernoulli(chances, self._a.shape, self._a.dtype)))


# -- the generator's state as a tensor ------------------------------------------------------------------------------------------


def _state_array(state: Any) -> Any:
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if state.dtype is not dtypes.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return of(state._a).host(state._a)


Generator._to_tensor = staticmethod(wrap)
Generator._from_tensor = staticmethod(_state_array)
