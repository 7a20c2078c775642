"""`backward` and `grad`: arguments, errors, accumulation, higher derivatives, long and wide graphs."""
from __future__ import annotations

import gc
import threading
import weakref

import pytest

import saraph as torch


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_gradients_add_up():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (3 * x).sum().backward()
    assert x.grad.tolist() == [5, 7] and not x.grad.requires_grad
    first = x.grad
    (x * 2).sum().backward()
    assert x.grad is first and first.tolist() == [7, 9]
    x.grad = None
    x.sum().backward(torch.tensor(2.0, dtype=torch.float64))
    assert x.grad.tolist() == [2, 2]


def test_a_gradient_is_the_tensors_own():
    x, w = leaf(1.0, 2.0), torch.tensor([3.0, 4.0], dtype=torch.float64)
    x.backward(w)
    x.grad.add_(1)
    assert w.tolist() == [3, 4]
    a, b, seen = leaf(1.0, 1.0), leaf(1.0, 1.0), []
    c = a + b
    c.register_hook(seen.append)
    (c * w).sum().backward()
    a.grad.add_(1)
    assert a.grad.tolist() == [4, 5] and b.grad.tolist() == [3, 4] and seen[0].tolist() == [3, 4]
    a.grad = None
    a.register_hook(lambda g: w)
    (a * 2).sum().backward()
    a.grad.zero_()
    assert w.tolist() == [3, 4]


def test_a_gradient_is_not_copied_without_need():
    x, seen = torch.ones(1000, requires_grad=True), []
    y = x * 2
    y.grad_fn.register_hook(lambda ins, outs: seen.append(ins[0].data_ptr()))
    y.exp().sum().backward()
    assert x.grad.data_ptr() == seen[0]


def test_weights_of_outputs():
    x = leaf(1.0, 2.0)
    y = x * x
    y.backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert x.grad.tolist() == [2, 40]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * x).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * x).backward(torch.ones(3, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        torch.tensor(1j, requires_grad=True).mul(2).backward()


def test_several_roots():
    x = leaf(1.0, 2.0)
    torch.autograd.backward([x.sum(), (x * x)], [None, torch.tensor([1.0, 1.0], dtype=torch.float64)])
    assert x.grad.tolist() == [3, 5]
    torch.autograd.backward((x.sum(), x.sum()))
    assert x.grad.tolist() == [5, 7]
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.backward([x.sum(), x.sum()], [torch.tensor(1.0, dtype=torch.float64)])


def test_what_has_no_gradient():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(1).backward()
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        torch.ones(1, dtype=torch.int64, requires_grad=True)
    x = leaf(1.0)
    with torch.no_grad():
        y = x * 2
    with pytest.raises(RuntimeError, match="does not require grad"):
        y.backward()
    assert not (x > 0).requires_grad and not x.detach().requires_grad and not x.argmax().requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).requires_grad = False


def test_a_graph_is_used_once():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12
    z = x.exp()
    a, b = z.sum(), (z * 2).sum()
    a.backward()
    with pytest.raises(RuntimeError, match="second time"):
        b.backward()


def test_only_some_inputs():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    z = (y * y).sum()
    z.backward(inputs=[x], retain_graph=True)
    assert x.grad.item() == 36 and w.grad is None
    z.backward(inputs=w, retain_graph=True)
    assert w.grad.item() == 24 and x.grad.item() == 36
    z.backward(inputs=[y, x])
    assert y.grad.item() == 12 and x.grad.item() == 72 and w.grad.item() == 24
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).sum().backward(inputs=[])


def test_grad_leaves_grad_alone():
    x, w = leaf(2.0), leaf(3.0)
    y = (x * x * w).sum()
    gx, gw = torch.autograd.grad(y, (x, w))
    assert gx.item() == 12 and gw.item() == 4 and x.grad is None and w.grad is None
    (g,) = torch.autograd.grad([x * 2, x * 3], x, [torch.ones(1, dtype=torch.float64), torch.full((1,), 10.0, dtype=torch.float64)])
    assert g.item() == 32
    (g,) = torch.autograd.grad((x * 2).sum(), [x])
    assert g.item() == 2


def test_grad_of_what_lies_between():
    x = leaf(2.0)
    y = x * x
    z = (y * y).sum()
    gy, gx = torch.autograd.grad(z, [y, x])
    assert gy.item() == 8 and gx.item() == 32
    z = (x * x).sum()
    (g,) = torch.autograd.grad(z, z)
    assert g.item() == 1


def test_inputs_that_do_not_matter():
    x, w = leaf(2.0, 1.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x.sum(), [x, w])
    gx, gw = torch.autograd.grad(x.sum(), [x, w], allow_unused=True)
    assert gx.tolist() == [1, 1] and gw is None
    gx, gw = torch.autograd.grad(x.sum(), [x, w], materialize_grads=True)
    assert gw.tolist() == [0]
    with pytest.raises(ValueError):
        torch.autograd.grad(x.sum(), [x], allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(x.sum(), [torch.ones(1)])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(x.sum(), [])


def test_batched_weights():
    x = leaf(1.0, 2.0, 3.0)
    y = x * x
    (g,) = torch.autograd.grad(y, x, torch.eye(3, dtype=torch.float64), is_grads_batched=True, retain_graph=True)
    assert g.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def test_higher_derivatives():
    x = leaf(2.0)
    value, expected = x ** 5, [5 * 16, 20 * 8, 60 * 4, 120 * 2, 120]
    for e in expected:
        (value,) = torch.autograd.grad(value, x, torch.ones_like(value), create_graph=True)
        assert value.item() == e
    y = (x ** 3).sum()
    y.backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 12
    (g,) = torch.autograd.grad(x.grad.sum(), x)
    assert g.item() == 12


def test_a_penalty_on_the_gradient():
    w, x = leaf(1.0, 2.0), torch.tensor([3.0, 4.0], dtype=torch.float64)
    y = torch.tanh((w * x).sum() / 10)
    (g,) = torch.autograd.grad(y, w, create_graph=True)
    (g * g).sum().backward()
    t = y.item()  # d/dw |x (1 - t^2) / 10|^2 = 2 |x|^2 / 100 (1 - t^2) (-2 t) (1 - t^2) x / 10
    expected = [2 * 25 / 100 * (1 - t * t) ** 2 * -2 * t * v / 10 for v in (3, 4)]
    assert torch.allclose(w.grad, torch.tensor(expected, dtype=torch.float64))


def test_a_chain_of_100_000_ops():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 0
    y.sum().backward()
    assert x.grad.item() == 1
    del y  # freeing the chain does not recurse either
    gc.collect()


def test_a_wide_graph():
    x = leaf(*range(100))
    parts = x.unbind()
    total = parts[0] * 0
    for p in parts:
        total = total + p * p
    total.backward()
    assert x.grad.tolist() == [2 * k for k in range(100)]


def test_memory_goes_with_the_graph():
    x = leaf(1.0, 2.0)
    y = x.exp()
    ref = weakref.ref(y.grad_fn)
    (y * y).sum().backward()
    del y
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.complex64])
def test_gradients_have_the_dtype_of_the_leaf(kind):
    x = torch.ones(2, dtype=kind, requires_grad=True)
    (x.to(torch.complex128 if kind.is_complex else torch.float64) * 3).abs().sum().backward()
    assert x.grad.dtype is kind and x.grad.real.tolist() == [3, 3]


def test_gradients_have_the_layout_of_the_leaf():
    x = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last).requires_grad_()
    (x * torch.rand(2, 3, 4, 5)).sum().backward()
    assert x.grad.is_contiguous(memory_format=torch.channels_last)
    w = torch.ones(2, 3, requires_grad=True)
    w.t().contiguous().sum().backward()
    assert w.grad.stride() == (3, 1)
    w.grad = None
    w.sum().backward()
    w.grad[0, 0] = 5
    assert w.grad.tolist() == [[5, 1, 1], [1, 1, 1]]


def test_assigning_grad():
    x = leaf(1.0, 2.0)
    x.grad = torch.tensor([1.0, 1.0], dtype=torch.float64)
    x.sum().backward()
    assert x.grad.tolist() == [2, 2]
    for wrong in (torch.ones(3, dtype=torch.float64), torch.ones(2)):
        with pytest.raises(RuntimeError):
            x.grad = wrong
    with pytest.raises(TypeError):
        x.grad = 3


def test_threads_have_graphs_of_their_own():
    results = {}

    def work(k):
        x = leaf(float(k))
        for _ in range(50):
            x.grad = None
            (x * x * k).sum().backward()
        results[k] = x.grad.item()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 2.0 * k * k for k in range(1, 5)}


def test_threads_share_a_leaf():
    x = leaf(1.0)

    def work():
        for _ in range(20):
            (x * 2).sum().backward()

    work()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
        t.join()
    assert x.grad.item() == 160


def test_writes_that_backward_would_notice():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 3] and x.is_leaf


def test_graph_for_people():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert y.grad_fn.name() == "ExpBackward0" and type(y.grad_fn).__name__ == "ExpBackward0"
    (node, number), = y.grad_fn.next_functions
    assert node.name() == "MulBackward0" and number == 0
    accumulator = node.next_functions[0][0]
    assert accumulator.variable is x and accumulator.next_functions == () and x.grad_fn is None
    assert repr(y.grad_fn).startswith("<ExpBackward0 object at 0x")
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
