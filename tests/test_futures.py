"""Futures: values set once, callbacks, errors."""
import threading

import pytest

import saraph as torch
from saraph.futures import Future, collect_all, wait_all


def failed(error):
    f = Future()
    f.set_exception(error)
    return f


def of(value):
    f = Future()
    f.set_result(value)
    return f


def test_a_value_is_set_once():
    f = Future()
    assert not f.done()
    with pytest.raises(RuntimeError, match="before the Future was completed"):
        f.value()
    f.set_result(3)
    assert f.done() and f.wait() == f.value() == 3
    with pytest.raises(RuntimeError, match="marked completed once"):
        f.set_result(4)
    with pytest.raises(RuntimeError, match="marked completed once"):
        f.set_exception(ValueError())
    assert f.wait() == 3 and torch.futures.Future is torch.Future is Future


def test_another_thread_sets_it():
    f, seen = Future(), []
    waiting = threading.Thread(target=lambda: seen.append(f.wait()))
    waiting.start()
    f.set_result("there")
    waiting.join(10)
    assert seen == ["there"]


def test_errors():
    f = failed(ValueError("mine"))
    assert f.done()
    for get in (f.wait, f.value):
        with pytest.raises(ValueError, match="mine"):
            get()
    with pytest.raises(AssertionError, match="not an Exception"):
        Future().set_exception(3)
    with pytest.raises(ValueError, match="indices"):
        Future(devices=["cpu"])
    with pytest.raises(RuntimeError, match="no cuda devices"):
        Future(devices=["cuda:0"])


def test_callbacks_before_and_after(capsys):
    f, seen = Future(), []
    doubled = f.then(lambda done: 2 * done.value())
    f.add_done_callback(lambda done: seen.append(done.wait()))
    f.add_done_callback(lambda done: 1 / 0)
    f.set_result(5)
    f.add_done_callback(lambda done: seen.append(-done.wait()))
    assert doubled.wait() == 10 and seen == [5, -5] and "ZeroDivisionError" in capsys.readouterr().err
    bad = f.then(lambda done: {}["key"])
    with pytest.raises(RuntimeError, match="running the callback: KeyError"):
        bad.wait()


def test_all_together():
    first, second = Future(), Future()
    both = collect_all([first, second])
    second.set_result(2)
    assert not both.done()
    first.set_result(1)
    assert both.wait() == [first, second] and wait_all([first, second, of(3)]) == [1, 2, 3] and collect_all([]).wait() == []
    with pytest.raises(ValueError, match="mine"):
        wait_all([first, failed(ValueError("mine"))])
