"""Hooks on tensors, nodes, leaves and groups of tensors; retained gradients."""
from __future__ import annotations

import gc
import weakref

import pytest

import saraph as torch
from saraph.autograd import graph


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_hooks_see_and_replace():
    x, seen = leaf(1.0, 2.0), []
    y = x * 3
    handle = y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert seen == [[1, 1], [10, 10]] and x.grad.tolist() == [30, 30]
    handle.remove()
    handle.remove()
    x.grad = None
    seen.clear()
    (x * 3).sum().backward()
    assert seen == [] and x.grad.tolist() == [3, 3]


def test_hooks_of_leaves():
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    with x.register_hook(lambda g: g / 2):
        (x * x + x).sum().backward()
    assert seen == [[3, 5]] and x.grad.tolist() == [1.5, 2.5]
    (g,) = torch.autograd.grad((x * 2).sum(), x)
    assert g.tolist() == [2, 2] and seen == [[3, 5], [2, 2]]


def test_a_hook_sees_the_whole_gradient_once():
    x, seen = leaf(2.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.item()))
    (y * 3 + y * y).sum().backward()
    assert seen == [7]


def test_hooks_of_one_of_several_results():
    x, seen = leaf(3.0, 1.0, 2.0), []
    values, _ = x.sort()
    values.register_hook(lambda g: seen.append(g.tolist()))
    a, b = (x * 2).split([1, 2])
    b.register_hook(lambda g: g * 5)
    (values.sum() + a.sum() + b.sum()).backward()
    assert seen == [[1, 1, 1]] and x.grad.tolist() == [3, 11, 11]


def test_wrong_hooks():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(print)
    x = leaf(1.0)
    with pytest.raises((TypeError, RuntimeError)):
        (x * 2).sum().backward() if x.register_hook(lambda g: 3) else None
    y = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError):
        y.register_hook(lambda g: torch.ones(3))
        (y * 2).sum().backward()


def test_hooks_raise_through():
    class Stop(Exception):
        pass

    def hook(g):
        raise Stop

    x = leaf(1.0)
    x.register_hook(hook)
    with pytest.raises(Stop):
        (x * 2).sum().backward()
    with pytest.raises(Stop):
        (x * 2).sum().backward()


def test_retained_gradients():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not z.retains_grad and not x.retains_grad
    z.sum().backward(retain_graph=True)
    assert y.grad.tolist() == [4, 8] and x.grad.tolist() == [8, 16]
    z.sum().backward()
    assert y.grad.tolist() == [8, 16]
    x.retain_grad()
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        torch.ones(1).retain_grad()


def test_retained_gradients_after_hooks():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert y.grad.item() == 10


def test_grad_of_a_tensor_without_one_warns():
    y = leaf(1.0) * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None


def test_after_accumulation():
    x, seen = leaf(1.0, 2.0), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    assert seen == [(True, [3, 3]), (True, [6, 6])]
    handle.remove()
    x.grad = None

    def step(t):
        with torch.no_grad():
            t -= 0.5 * t.grad
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    assert x.grad is None and x.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(step)
    with pytest.raises(RuntimeError):
        torch.ones(1).register_post_accumulate_grad_hook(step)


def test_hooks_of_nodes():
    x, seen = leaf(1.0, 2.0), []
    y = x * 2
    node = (y * 3).grad_fn
    z = y * 3
    z.grad_fn.register_prehook(lambda outs: seen.append(("pre", [o.tolist() for o in outs])))
    z.grad_fn.register_prehook(lambda outs: tuple(o * 10 for o in outs))
    z.grad_fn.register_hook(lambda ins, outs: seen.append(("post", ins[0].tolist(), outs[0].tolist())))
    z.grad_fn.register_hook(lambda ins, outs: (ins[0] + 1, *ins[1:]))
    z.sum().backward()
    assert seen == [("pre", [[1, 1]]), ("post", [30, 30], [10, 10])] and x.grad.tolist() == [62, 62]
    assert node.name() == "MulBackward0"


def test_hooks_of_the_accumulating_node():
    x, seen = leaf(1.0), []
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node is (x * 3).grad_fn.next_functions[0][0]
    node.register_hook(lambda ins, outs: seen.append(x.grad.item()))
    node.register_prehook(lambda outs: seen.append(x.grad))
    (x * 2).sum().backward()
    assert seen == [None, 2]


def test_hooks_after_a_write():
    x, seen = leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("old", g.item())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("new", g.item())))
    y.sum().backward()
    assert seen == [("new", 1), ("old", 3)] and x.grad.item() == 6


def test_several_gradients():
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    seen = []
    handle = graph.register_multi_grad_hook([a, b, c], lambda grads: seen.append([g if g is None else g.item() for g in grads]))
    (a * b * c).sum().backward()
    assert seen == [[6, 3, 2]]
    (a * b).sum().backward()
    assert seen[1:] == [[2, 1, None]]
    (a * b * c).sum().backward()
    assert seen[2:] == [[6, 3, 2]]
    handle.remove()
    (a * b * c).sum().backward()
    assert len(seen) == 3


def test_the_first_of_several_gradients():
    a, b = leaf(1.0), leaf(2.0)
    seen = []
    graph.register_multi_grad_hook([a, b], lambda g: seen.append(g.item()), mode="any")
    (a * b).sum().backward()
    assert len(seen) == 1
    (a * b).sum().backward()
    assert len(seen) == 2
    with pytest.raises(ValueError):
        graph.register_multi_grad_hook([a], print, mode="some")


def test_edges():
    x = leaf(1.0)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    (g,) = torch.autograd.grad((y * y).sum(), y)
    assert g.item() == 4
    (g,) = torch.autograd.grad((x * 5).sum(), graph.get_gradient_edge(x))
    assert g.item() == 5
    z = y * y
    (g,) = torch.autograd.grad(graph.get_gradient_edge(z), [edge], torch.ones(1))
    assert g.item() == 4
    with pytest.raises(RuntimeError):
        graph.get_gradient_edge(torch.ones(1))


def test_hooks_do_not_keep_tensors_alive():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: None)
    y.retain_grad()
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None


def test_versions_can_be_counted_up():
    x = leaf(1.0)
    y = x * 2
    z = y * y
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
