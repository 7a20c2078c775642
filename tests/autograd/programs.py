"""Random programs of views, in-place writes and plain ops: drawn from a seed, run with any package that has PyTorch's names.

    python tests/autograd/programs.py PACKAGE > tests/autograd/programs.json

writes the golden answers: for each of 200 seeds (140 whose gradients exist, 60 that fail) the gradients of the two leaves, or the class
of the error that the package raised.
The drawing looks only at shapes, so that a program is the same whoever runs it.
"""
from __future__ import annotations

import importlib
import json
import random
import sys
from typing import Any

START = [(3, 4), (4,)]


class Value:
    """A tensor of the program as the drawing knows it: its shape."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape


def draw(seed: int, length: int = 9) -> list[tuple]:
    """A program: steps (name, operand numbers, arguments). Results are numbered after the two leaves."""
    rng = random.Random(seed)
    shapes: list[tuple[int, ...]] = list(START)
    steps: list[tuple] = []

    def add(step: tuple, *new: tuple[int, ...]) -> None:
        steps.append(step)
        shapes.extend(new)

    add(("mul_const", (0,), (2.0,)), START[0])
    add(("mul_const", (1,), (0.5,)), START[1])
    while len(steps) < length:
        kind = rng.choice(["view", "view", "view", "inplace", "inplace", "inplace", "plain", "write", "no_grad", "multi"])
        i = rng.randrange(2 if rng.random() < 0.9 else 0, len(shapes))
        shape = shapes[i]
        rank = len(shape)
        if kind == "view":
            _draw_view(rng, i, shape, rank, add)
        elif kind == "inplace":
            name = rng.choice(["add_const_", "mul_const_", "exp_", "sin_", "zero_", "neg_", "pow2_", "relu_", "sigmoid_", "fill_"])
            add((name, (i,), (rng.choice([0.5, 1.5, -1.0]),)))
        elif kind == "plain":
            j = rng.randrange(len(shapes))
            name = rng.choice(["mul", "add", "exp", "sin", "square", "clone", "detach", "tanh"])
            if name in ("mul", "add"):
                both = broadcast(shape, shapes[j])
                if both is not None:
                    add((name, (i, j), ()), both)
            else:
                add((name, (i,), ()), shape)
        elif kind == "write":
            j = rng.randrange(len(shapes))
            name = rng.choice(["add_", "mul_", "copy_", "setitem", "sub_"])
            if name == "setitem":
                if rank and shape[0] > 1 and broadcast(shape[1:], shapes[j]) == shape[1:]:
                    add((name, (i, j), (rng.randrange(shape[0]),)))
            elif broadcast(shape, shapes[j]) == shape:
                add((name, (i, j), ()))
        elif kind == "no_grad":
            add((rng.choice(["no_grad_add_", "no_grad_mul_"]), (i,), (2.0,)))
        elif rank and 1 < shape[0] <= 4:
            rest = shape[1:]
            add(("unbind", (i,), ()), *[rest] * shape[0])
    chosen = sorted(rng.sample(range(len(shapes)), min(len(shapes), 3)))
    add(("sum", tuple(chosen), ()))
    return steps


def _draw_view(rng: random.Random, i: int, shape: tuple[int, ...], rank: int, add: Any) -> None:
    name = rng.choice(["transpose", "select", "slice", "reshape", "unsqueeze", "diagonal", "expand", "narrow"])
    if name == "transpose" and rank >= 2:
        new = list(shape)
        new[0], new[1] = new[1], new[0]
        add((name, (i,), (0, 1)), tuple(new))
    elif name == "select" and rank:
        k = rng.randrange(shape[0])
        add((name, (i,), (k,)), shape[1:])
    elif name == "slice" and rank and shape[0] > 1:
        a = rng.randrange(shape[0] - 1)
        add((name, (i,), (a, shape[0])), (shape[0] - a, *shape[1:]))
    elif name == "reshape":
        count = 1
        for n in shape:
            count *= n
        add((name, (i,), (count,)), (count,))
    elif name == "unsqueeze" and rank < 4:
        add((name, (i,), (0,)), (1, *shape))
    elif name == "diagonal" and rank == 2:
        add((name, (i,), ()), (min(shape),))
    elif name == "expand" and rank < 3:
        add((name, (i,), (2, *shape)), (2, *shape))
    elif name == "narrow" and rank and shape[-1] > 1:
        add((name, (i,), (1, shape[-1] - 1)), (*shape[:-1], shape[-1] - 1))


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape, or None."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(n != m and 1 not in (n, m) for n, m in zip(a, b)):
        return None
    return tuple(max(n, m) for n, m in zip(a, b))


def step(p: Any, values: list, name: str, operands: tuple, args: tuple) -> Any:
    """Run one step; its result(s), or None where it only writes."""
    x = values[operands[0]]
    y = values[operands[1]] if len(operands) > 1 else None
    table = {
        "mul_const": lambda: x * args[0], "transpose": lambda: x.transpose(*args), "select": lambda: x[args[0]],
        "slice": lambda: x[args[0]:args[1]], "reshape": lambda: x.reshape(args[0]), "unsqueeze": lambda: x.unsqueeze(args[0]),
        "diagonal": lambda: x.diagonal(), "expand": lambda: x.expand(*args), "narrow": lambda: x.narrow(-1, *args),
        "unbind": lambda: list(x.unbind(0)), "mul": lambda: x * y, "add": lambda: x + y, "exp": lambda: x.exp(), "sin": lambda: x.sin(),
        "square": lambda: x ** 2, "clone": lambda: x.clone(), "detach": lambda: x.detach(), "tanh": lambda: x.tanh(),
    }
    if name in table:
        return table[name]()
    writes = {
        "add_const_": lambda: x.add_(args[0]), "mul_const_": lambda: x.mul_(args[0]), "exp_": lambda: x.exp_(), "sin_": lambda: x.sin_(),
        "zero_": lambda: x.zero_(), "neg_": lambda: x.neg_(), "pow2_": lambda: x.pow_(2), "relu_": lambda: x.relu_(),
        "sigmoid_": lambda: x.sigmoid_(), "fill_": lambda: x.fill_(args[0]), "add_": lambda: x.add_(y), "sub_": lambda: x.sub_(y),
        "mul_": lambda: x.mul_(y), "copy_": lambda: x.copy_(y), "setitem": lambda: x.__setitem__(args[0], y),
    }
    if name in writes:
        writes[name]()
        return None
    with p.no_grad():
        x.add_(args[0]) if name == "no_grad_add_" else x.mul_(args[0])
    return None


def run(p: Any, program: list[tuple]) -> dict[str, Any]:
    """The gradients of the leaves ("grads", None where there is none), or the class of the error ("error")."""
    leaves = []
    for k, shape in enumerate(START):
        count = 1
        for n in shape:
            count *= n
        leaf = p.tensor([0.1 * (i + 1) + k for i in range(count)], dtype=p.float64).reshape(shape).clone()
        leaves.append(leaf.requires_grad_())
    values: list[Any] = list(leaves)
    try:
        for name, operands, args in program[:-1]:
            result = step(p, values, name, tuple(operands), tuple(args))
            if isinstance(result, list):
                values.extend(result)
            elif result is not None:
                values.append(result)
        total = None
        for weight, i in enumerate(program[-1][1], 1):
            part = (values[i] * weight).sum()
            total = part if total is None else total + part
        if total.requires_grad:
            total.backward()
    except RuntimeError:
        return {"error": "RuntimeError"}
    return {"value": round(float(total.detach()), 9),
            "grads": [None if x.grad is None else [round(v, 9) for v in x.grad.reshape(-1).tolist()] for x in leaves]}


def main() -> None:
    """Write the answers of a package."""
    package = importlib.import_module(sys.argv[1])
    answers: list[dict[str, Any]] = []
    wanted, seed = {"grads": 140, "error": 60}, 0
    while any(wanted.values()):
        answer = run(package, draw(seed))
        kind = "error" if "error" in answer else "grads"
        if wanted[kind] and (kind == "error" or any(answer["grads"])):
            wanted[kind] -= 1
            answers.append({"seed": seed, **answer})
        seed += 1
    sys.stdout.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
