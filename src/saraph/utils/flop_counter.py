"""Counting floating-point operations of products, convolutions and attention (`torch.utils.flop_counter`)."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import prod
from typing import Any

from saraph.nn.modules.module import Module
from saraph.ops.overriding import TorchFunctionMode
from saraph.ops.registry import OF_PUBLIC, OPS
from saraph.tensor.tensor import Tensor

__all__ = ["FlopCounterMode", "convert_num_with_suffix", "convert_to_percent_str", "flop_registry", "register_flop_formula", "sdpa_flop_count"]
flop_registry: dict[Any, Callable] = {}
_SUFFIXES = ("", "K", "M", "B", "T")


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable], Callable]:
    """Decorator: formula(*args, out_val=result) gives the operations of a call of the function(s) `targets`; tensors come as their shapes
    (`out_shape`) unless `get_raw`."""

    def enter(formula: Callable) -> Callable:
        def on_shapes(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
            shape = lambda v: tuple(v.shape) if isinstance(v, Tensor) else v  # noqa: E731
            return formula(*map(shape, args), out_shape=shape(out_val), **{k: shape(v) for k, v in kwargs.items()})

        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            flop_registry[target] = formula if get_raw else on_shapes
        return formula

    return enter


def _built_in(*names: str) -> list[Callable]:
    return [OPS[n].public for n in names if n in OPS]


@register_flop_formula(_built_in("mm", "matmul", "bmm"), get_raw=True)
def _product(a: Tensor, b: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """2 k operations per element of the result."""
    return 2 * out_val.numel() * a.shape[-1]


@register_flop_formula(_built_in("addmm", "baddbmm"), get_raw=True)
def _added_product(c: Tensor, a: Tensor, b: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """2 k operations per element of the result."""
    return 2 * out_val.numel() * a.shape[-1]


@register_flop_formula(_built_in("nn.functional.linear"), get_raw=True)
def _linear(x: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """2 k operations per element of the result."""
    return 2 * out_val.numel() * x.shape[-1]


@register_flop_formula(_built_in("conv1d", "conv2d", "conv3d", "nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv3d"), get_raw=True)
def _convolution(x: Tensor, weight: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """Two operations per weight of a filter and element of the result."""
    return 2 * out_val.numel() * prod(weight.shape[1:])


@register_flop_formula(_built_in(*(f"{s}conv_transpose{n}d" for s in ("", "nn.functional.") for n in (1, 2, 3))), get_raw=True)
def _transposed_convolution(x: Tensor, weight: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """Two operations per weight of a filter and element of the input."""
    return 2 * x.numel() * prod(weight.shape[1:])


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """The operations of attention: both products, softmax not counted."""
    *lead, length, width = query_shape
    return 2 * prod(lead) * length * key_shape[-2] * (width + value_shape[-1])


@register_flop_formula(_built_in("nn.functional.scaled_dot_product_attention"), get_raw=True)
def _attention(q: Tensor, k: Tensor, v: Tensor, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    """Both products."""
    return sdpa_flop_count(q.shape, k.shape, v.shape)


_BACKWARD = {_convolution: 2.0, _transposed_convolution: 2.0, _attention: 2.5}


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in thousands (K), millions (M), billions (B) or trillions (T)."""
    return f"{number / 1000 ** _SUFFIXES.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """num as a share of denom."""
    return "0%" if denom == 0 else f"{num / denom:.2%}"


class FlopCounterMode(TorchFunctionMode):
    """Context that counts: `get_total_flops()`, `get_flop_counts()` by module and op, and a table (printed at the end unless display=False).

    Backward passes inside of the context are counted too: the products they are made of, and convolutions and attention by formula.
    """

    def __init__(self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None):
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.registry = {**flop_registry, **(custom_mapping or {})}
        self._parents = ["Global"]
        self._mods = [mods] if isinstance(mods, Module) else list(mods or [])
        self._handles: list[Any] = []

    def get_total_flops(self) -> int:
        """All operations so far."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Operations by module path and op."""
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts per module as text."""
        limit = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix = _SUFFIXES[min(len(_SUFFIXES) - 1, max(0, (len(str(total)) - 1) // 3))]
        lines = [f"{'Module':<40}  {'FLOP':>12}  {'% Total':>9}"]
        for name, counts in self.flop_counts.items():
            level = 0 if name == "Global" else name.count(".") + 1
            if level <= limit:
                for label, n in ((name, sum(counts.values())), *((f" - {op}", n) for op, n in counts.items())):
                    share = convert_to_percent_str(n, total)
                    lines.append(f"{' ' * level + label:<40}  {convert_num_with_suffix(n, suffix):>12}  {share:>9}")
        return "\n".join(lines)

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        """Count one op; one without a formula is looked into."""
        kwargs = kwargs or {}
        formula = self.registry.get(func)
        if formula is None:
            record = OF_PUBLIC.get(func)
            if record is None or "out" in kwargs:
                return func(*args, **kwargs)
            TorchFunctionMode.__enter__(self)
            try:
                return record.body(*args, **kwargs)
            finally:
                TorchFunctionMode.__exit__(self)
        result = func(*args, **kwargs)
        count = formula(*args, **kwargs, out_val=result)
        self._add(func, count)
        factor = _BACKWARD.get(formula)
        if factor is not None and result.grad_fn is not None:
            result.grad_fn.register_hook(lambda *_: self._add(func, int(count * factor), "_backward"))
        return result

    def _add(self, func: Any, count: int, suffix: str = "") -> None:
        name = getattr(func, "__name__", str(func)) + suffix
        for parent in dict.fromkeys(self._parents):
            self.flop_counts[parent][name] += count

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        for module in self._mods:
            for path, part in module.named_modules(prefix=type(module).__name__):
                self._handles.append(part.register_forward_pre_hook(lambda m, a, name=path: self._parents.append(name)))
                self._handles.append(part.register_forward_hook(lambda m, a, o: self._parents.pop() and None))
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self.display:
            print(self.get_table())
