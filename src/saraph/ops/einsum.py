"""Einstein summation: `einsum("bij,bjk->bik", x, y)`.

An equation is read once (and kept) into one list of labels per operand. Labels are letters; the dimensions that an ellipsis stands for get
the labels "...0", "...1", ... counted from the right. Operands are joined from the left, two at a time, each join one batched product.
"""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from saraph.ops.matmul import matmul, refuse_bool
from saraph.ops.promotion import check_tensor
from saraph.ops.registry import op
from saraph.tensor.tensor import Tensor

Labels = tuple[str, ...]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@op()
def einsum(*args: Any) -> Tensor:
    """Sums of products, named by one letter per dimension: `einsum("ij,jk->ik", a, b)` is the matrix product.

    Letters that are missing on the right are summed over; without "->" the letters that occur once are kept, in alphabetical order. A letter
    twice on one operand takes its diagonal. "..." stands for dimensions that broadcast. The form `einsum(a, [0, 1], b, [1, 2], [0, 2])`
    (numbers below 52 and Ellipsis) means the same. RuntimeError names the operand and the letter that do not fit.
    """
    if not args:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")
    if isinstance(args[0], Tensor):
        equation, operands = _from_lists(args)
    else:
        equation, operands = args[0], args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
    if not operands:
        raise ValueError("einsum(): must provide at least one operand")
    for t in operands:
        check_tensor(t, "einsum", "operands")
    inputs, output = read_equation(equation, tuple(t._a.ndim for t in operands))
    _check_sizes(tuple([t._a.shape for t in operands]), inputs)
    return _contract(list(zip(*[_diagonals(t, labels) for t, labels in zip(operands, inputs)])), output)


def _from_lists(args: tuple[Any, ...]) -> tuple[str, tuple[Tensor, ...]]:
    """The equation of the form with lists of numbers."""
    operands, lists = args[0:len(args) // 2 * 2:2], args[1:len(args) // 2 * 2:2]
    text = ",".join(_letters(subscripts) for subscripts in lists)
    if len(args) % 2:
        text += "->" + _letters(args[-1])
    return text, operands


def _letters(subscripts: Sequence[Any]) -> str:
    text = ""
    for s in subscripts:
        if s is Ellipsis:
            text += "..."
        elif isinstance(s, int) and 0 <= s < 52:
            text += _LETTERS[s]
        else:
            raise ValueError(f"einsum(): subscript {s} is not within the valid range [0, 52)")
    return text


# -- reading --------------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def read_equation(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of every operand, and of the result."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        fewer = len(ranks) < len(terms)
        raise RuntimeError(f"einsum(): {'fewer' if fewer else 'more'} operands were provided than specified in the equation: '{equation}' takes "
                           f"{len(terms)}, got {len(ranks)}")
    inputs, place = [], 0
    for k, (term, rank) in enumerate(zip(terms, ranks)):
        inputs.append(_read_term(term, rank, k, place))
        place += len(term) + 1
    given = [label for labels in inputs for label in labels]
    dots = sorted({label for label in given if label[0] == "."}, key=lambda s: -int(s[3:]))
    if arrow:
        return tuple(inputs), _read_output(right, given, dots, len(left) + 2)
    once = sorted({label for label in given if label[0] != "." and given.count(label) == 1})
    return tuple(inputs), (*dots, *once)


def _read_term(term: str, rank: int, operand: int, place: int) -> Labels:
    tokens = _tokens(term, f" for operand {operand}", place)
    letters = sum(token != "..." for token in tokens)
    if "..." not in tokens:
        if letters != rank:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({letters}) does not match the number of dimensions ({rank}) for "
                               f"operand {operand} and no ellipsis was given")
        return tuple(tokens)
    extra = rank - letters
    if extra < 0:
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({letters}) is more than the number of dimensions ({rank}) for "
                           f"operand {operand}")
    at = tokens.index("...")
    return (*tokens[:at], *(f"...{k}" for k in reversed(range(extra))), *tokens[at + 1:])


def _tokens(term: str, where: str, place: int) -> list[str]:
    """Letters and "..." of one term; `place` is its position in the equation, for messages."""
    tokens: list[str] = []
    i = 0
    while i < len(term):
        c = term[i]
        if c == ".":
            if "..." in tokens:
                raise RuntimeError(f"einsum(): found '.'{where} for which an ellipsis was already found")
            if term[i:i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.'{where} that is not part of any ellipsis")
            tokens.append("...")
            i += 3
            continue
        if c in _LETTERS:
            tokens.append(c)
        elif c != " ":
            raise RuntimeError(f"einsum(): invalid subscript given at index {place + i} in the equation string, subscripts must be in [a-zA-Z]")
        i += 1
    return tokens


def _read_output(right: str, given: list[str], dots: list[str], place: int) -> Labels:
    tokens = _tokens(right, " for the output", place)
    for token in tokens:
        if token == "...":
            continue
        if tokens.count(token) > 1:
            raise RuntimeError(f"einsum(): output subscript {token} appears more than once in the output")
        if token not in given:
            raise RuntimeError(f"einsum(): output subscript {token} does not appear in the equation for any input operand")
    return tuple(label for token in tokens for label in (dots if token == "..." else [token]))


@functools.lru_cache(maxsize=512)
def _check_sizes(shapes: tuple[tuple[int, ...], ...], inputs: tuple[Labels, ...]) -> None:
    """Sizes of one label must agree, or be 1."""
    sizes: dict[str, int] = {}
    for k, (shape, labels) in enumerate(zip(shapes, inputs)):
        own: dict[str, int] = {}
        for label, n in zip(labels, shape):
            if own.setdefault(label, n) != n:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand {k} but the sizes don't match, {n} != {own[label]}")
        for label, n in own.items():
            have = sizes.setdefault(label, n)
            if have == 1:
                sizes[label] = n
            elif n not in (1, have):
                raise RuntimeError(f"einsum(): subscript {label} has size {n} for operand {k} which does not broadcast with previously seen "
                                   f"size {have} (operands have shapes {shapes})")


# -- computing ------------------------------------------------------------------------------------------------------------------------


def _diagonals(t: Tensor, labels: Labels) -> tuple[Tensor, list[str]]:
    """A label that an operand has twice is left once, over the diagonal."""
    names = list(labels)
    if len(set(labels)) == len(labels):
        return t, names
    for label in set(names):
        while names.count(label) > 1:
            i = names.index(label)
            j = names.index(label, i + 1)
            t = t.diagonal(0, i, j)
            names = [n for k, n in enumerate(names) if k not in (i, j)] + [label]
    return t, names


def _contract(parts: list[Any], output: Labels) -> Tensor:
    tensors, names = list(parts[0]), [list(n) for n in parts[1]]
    x, have = tensors[0], names[0]
    for k in range(1, len(tensors)):
        later = set(output).union(*names[k + 1:])
        x, have = join(x, have, tensors[k], names[k], later)
    x, have = _sum_out(x, have, set(output))
    for label in output:  # only where an ellipsis is broadcast by no operand that is left
        if label not in have:
            x, have = x.unsqueeze(-1), [*have, label]
    order = [have.index(label) for label in output]
    return x.permute(order) if order != sorted(order) else x


def _sum_out(x: Tensor, names: list[str], keep: set[str]) -> tuple[Tensor, list[str]]:
    drop = [d for d, label in enumerate(names) if label not in keep]
    if not drop:
        return x, names
    return x.sum(drop, dtype=x.dtype), [label for label in names if label in keep]


class Plan(NamedTuple):
    """How two labelled operands are joined: what is squeezed and summed away, orders, shapes, and the labels of the result."""

    left: tuple[Any, ...]  # dims to squeeze, dims to sum, order, shape
    right: tuple[Any, ...]
    contracts: bool
    shape: tuple[int, ...]
    names: list[str]


def join(x: Tensor, nx: list[str], y: Tensor, ny: list[str], keep: set[str]) -> tuple[Tensor, list[str]]:
    """One product of two labelled tensors: labels of both that nobody asks for later are contracted."""
    refuse_bool("bmm", x)
    plan = _plan(tuple(nx), x._a.shape, tuple(ny), y._a.shape, frozenset(keep))
    x, y = _prepared(x, *plan.left), _prepared(y, *plan.right)
    return (_reshaped(matmul(x, y), plan.shape) if plan.contracts else x * y), plan.names


def _prepared(x: Tensor, ones: tuple[int, ...], summed: tuple[int, ...], order: tuple[int, ...] | None, shape: tuple[int, ...]) -> Tensor:
    if ones:
        x = x.squeeze(ones)
    if summed:
        x = x.sum(summed, dtype=x.dtype)
    return _reshaped(x if order is None else x.permute(order), shape)


@functools.lru_cache(maxsize=512)
def _plan(nx: Labels, shape_x: tuple[int, ...], ny: Labels, shape_y: tuple[int, ...], keep: frozenset[str]) -> Plan:
    size_x, size_y = dict(zip(nx, shape_x)), dict(zip(ny, shape_y))
    shared = [n for n in nx if n in size_y]
    # a label of size 1 on one of two operands that both have it says nothing there
    ones_x = [n for n in shared if size_x[n] == 1 != size_y[n]]
    ones_y = [n for n in shared if size_y[n] == 1 and n not in ones_x]
    kept_x, kept_y = [n for n in nx if n not in ones_x], [n for n in ny if n not in ones_y]
    sum_x = [n for n in kept_x if n not in keep and n not in kept_y]
    sum_y = [n for n in kept_y if n not in keep and n not in kept_x]
    left_x, left_y = [n for n in kept_x if n not in sum_x], [n for n in kept_y if n not in sum_y]
    both = [n for n in left_x if n in left_y]
    batch, inner = [n for n in both if n in keep], [n for n in both if n not in keep]
    left, right = [n for n in left_x if n not in both], [n for n in left_y if n not in both]
    size = {**size_y, **{n: size_x[n] for n in left_x}}
    names = batch + left + right
    if inner:
        b, n, k, m = (_product(size[label] for label in group) for group in (batch, left, inner, right))
        made_x, made_y = ((b, n, k), (b, k, m)) if batch else ((n, k), (k, m))
        wanted_x, wanted_y = batch + left + inner, batch + inner + right
    else:
        made_x = tuple([size[n] for n in batch + left] + [1] * len(right))
        made_y = tuple([size[n] for n in batch] + [1] * len(left) + [size[n] for n in right])
        wanted_x, wanted_y = batch + left, batch + right
    return Plan((_places(nx, ones_x), _places(kept_x, sum_x), _order(left_x, wanted_x), made_x),
                (_places(ny, ones_y), _places(kept_y, sum_y), _order(left_y, wanted_y), made_y),
                bool(inner), tuple([size[n] for n in names]), names)


def _places(names: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    return tuple([names.index(n) for n in wanted])


def _order(names: list[str], wanted: list[str]) -> tuple[int, ...] | None:
    """The permutation that brings labels into an order; None where they are in it."""
    return None if names == wanted else _places(names, wanted)


def _reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x._a.shape == shape else x.reshape(shape)


def _product(sizes: Any) -> int:
    count = 1
    for n in sizes:
        count *= n
    return count
