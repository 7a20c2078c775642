"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts, as decorators of functions and generators, by thread."""
from __future__ import annotations

import threading

import pytest

import saraph as torch

X = torch.ones(2, requires_grad=True)


def recorded():
    return (X * 2).requires_grad


def test_contexts():
    with torch.no_grad():
        assert not torch.is_grad_enabled() and not recorded()
        with torch.enable_grad():
            assert torch.is_grad_enabled() and recorded()
            with torch.set_grad_enabled(False):
                assert not recorded()
            assert recorded()
        assert not recorded()
    assert torch.is_grad_enabled() and recorded()


def test_errors_leave_the_mode_as_it_was():
    with pytest.raises(ZeroDivisionError):
        with torch.no_grad():
            1 / 0  # noqa: B018
    assert torch.is_grad_enabled()


def test_one_object_several_times():
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not recorded()
        assert recorded()


def test_decorators():
    @torch.no_grad()
    def without():
        """Doc."""
        return recorded()

    @torch.no_grad
    def without_too():
        return recorded()

    @torch.enable_grad()
    def within():
        return recorded()

    @torch.set_grad_enabled(False)
    def switched():
        return recorded()

    @torch.inference_mode()
    def inference():
        return recorded(), torch.is_inference_mode_enabled()

    @torch.inference_mode
    def inference_too():
        return torch.is_inference_mode_enabled()

    assert not without() and not without_too() and not switched() and inference() == (False, True) and inference_too() and recorded()
    with torch.no_grad():
        assert within() and not recorded()
    assert without.__name__ == "without" and without.__doc__ == "Doc." and within() and torch.is_grad_enabled()


def test_recursion_in_a_decorated_function():
    @torch.no_grad()
    def deep(n):
        return recorded() or (n > 0 and deep(n - 1))

    assert not deep(5) and torch.is_grad_enabled()


def test_methods():
    class Model:
        @torch.no_grad()
        def f(self, x):
            return (x * 2).requires_grad

    assert Model().f(X) is False


def test_generators():
    @torch.no_grad()
    def numbers():
        try:
            got = yield recorded()
            while got is not None:
                got = yield got, recorded()
        except ValueError:
            yield "caught", recorded()
        return "end"  # noqa: B901

    generator = numbers()
    assert next(generator) is False and torch.is_grad_enabled() and recorded()
    assert generator.send(3) == (3, False) and recorded()
    assert generator.throw(ValueError()) == ("caught", False) and recorded()
    with pytest.raises(StopIteration) as end:
        next(generator)
    assert end.value.value == "end"
    closed = numbers()
    next(closed)
    closed.close()
    assert torch.is_grad_enabled()


def test_set_grad_enabled_works_at_once():
    torch.set_grad_enabled(False)
    assert not recorded()
    torch.set_grad_enabled(True)
    assert recorded()


def test_inference_mode():
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled() and not recorded()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and recorded()
    assert not torch.is_inference_mode_enabled() and recorded()
    with torch.inference_mode(mode=False):
        assert recorded()


def test_leaves_in_no_grad():
    with torch.no_grad():
        w = torch.ones(2, requires_grad=True)
        assert w.requires_grad and not (w * 2).requires_grad
        w.add_(1)
    (w * w).sum().backward()
    assert w.grad.tolist() == [4, 4]


def test_threads_start_with_gradients_on():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append((torch.is_grad_enabled(), recorded())))
        thread.start()
        thread.join()
    assert seen == [(True, True)]


def test_views_made_in_no_grad_are_not_written_with_gradients():
    x = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        v = x[0]
    with pytest.raises(RuntimeError, match="no_grad"):
        v.mul_(2)
