import ctypes
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from saraph import threads
from saraph.config import settings
from saraph.kernels import blocks, jit, pool, team
from saraph.kernels.ir import DOUBLE, I64, POINTER, Module
from saraph.kernels.pool import PARALLEL, TASK

UNITS = 5000


def tasks():
    module = Module()
    module.declare(PARALLEL)
    mark = module.function("mark", TASK)  # adds 1 to the unit's word, and notes the highest slot in the word before the first
    args, begin, end, slot = mark.parameters
    words = mark.load(POINTER, args)
    with mark.range(begin, end) as unit:
        mark.add_shared(mark.offset(words, unit * 8 + 8), mark.constant(I64, 1))
    with mark.when(slot > mark.load_shared(I64, words)):
        mark.store_shared(slot, words)
    mark.give_back()
    nested = module.function("nested", TASK)  # each unit is a whole job
    args, begin, end, _ = nested.parameters
    with nested.range(begin, end):
        nested.call("saraph_parallel", [nested.address_of("mark"), args, nested.constant(I64, UNITS), nested.constant(I64, 100)])
    nested.give_back()
    sums = module.function("sums", TASK)  # words: input, sums of 100 elements
    args, begin, end, _ = sums.parameters
    source, target = sums.load(POINTER, args), sums.load(POINTER, sums.offset(args, 8))
    with sums.range(begin, end) as unit:
        total = sums.variable(DOUBLE, 0.0)
        with sums.range(0, sums.constant(I64, 100)) as index:
            total.set(total.get() + sums.load(DOUBLE, sums.offset(source, (unit * 100 + index) * 8)))
        sums.store(total.get(), sums.offset(target, unit * 8))
    sums.give_back()
    driver = module.function("driver", (("args", POINTER),))
    for _ in range(2):
        driver.call("saraph_parallel", [driver.address_of("mark"), driver.parameters[0], driver.constant(I64, UNITS), driver.constant(I64, 10)])
    driver.give_back()
    long = module.function("long", TASK)  # a quarter of a second or so of work
    args, begin, end, _ = long.parameters
    words = long.load(POINTER, args)
    with long.range(begin, end):
        with long.range(0, long.constant(I64, 100_000)):
            long.add_shared(words, long.constant(I64, 1))
    long.give_back()
    return module.text()


@pytest.fixture(scope="module")
def address():
    return jit.compile(tasks()).address


@pytest.fixture(autouse=True)
def _threads():
    before = settings.threads
    threads.set_num_threads(3)
    yield
    threads.set_num_threads(before)


def words():
    return np.zeros(UNITS + 1, np.int64)


def run(address, name, array, units, grain):
    pool.parallel(address(name), pool.arguments(blocks.address(array)), units, grain)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 2, 1000, 1])
@pytest.mark.parametrize("units, grain", [(0, 1), (1, 1), (UNITS, 1), (UNITS, 7), (UNITS, UNITS - 1), (UNITS, UNITS), (UNITS, 0), (-3, 5)])
def test_every_unit_is_done_once(address, count, units, grain):
    threads.set_num_threads(count)
    assert threads.get_num_threads() == count
    array = words()
    for turn in range(1, 4):
        run(address, "mark", array, units, grain)
        assert (array[1:max(units, 0) + 1] == turn).all() and not array[max(units, 0) + 1:].any()
    assert 0 <= array[0] < min(count, pool.slots())


def test_results_have_the_same_bits_with_any_number_of_threads(address):
    source = np.random.default_rng(0).standard_normal(100 * UNITS) * 10.0 ** np.arange(-5, 5).repeat(10 * UNITS)
    results = []
    for count in (1, 2, 3, 7):
        threads.set_num_threads(count)
        result = np.empty(UNITS)
        pool.parallel(address("sums"), pool.arguments(blocks.address(source), blocks.address(result)), UNITS, 13)
        results.append(result.tobytes())
    assert len(set(results)) == 1


def test_a_driver_runs_several_jobs(address):
    array = words()
    pool.call(address("driver"), pool.arguments(blocks.address(array)))
    assert (array[1:] == 2).all()


def test_nested_calls(address):
    array = words()
    run(address, "nested", array, 20, 1)
    assert (array[1:] == 20).all()


def test_many_threads_call_at_once(address):
    arrays = [words() for _ in range(8)]

    def work(array):
        for turn in range(30):
            run(address, "nested" if turn % 10 == 0 else "mark", array, 1 if turn % 10 == 0 else UNITS, 50)

    callers = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for caller in callers:
        caller.start()
    for turn in range(50):
        threads.set_num_threads(turn % 5 + 1)
    for caller in callers:
        caller.join()
    assert all((array[1:] == 30).all() for array in arrays)


def test_threads_are_no_python_threads_and_idle_ones_sleep(address):
    before = threading.active_count()
    run(address, "mark", words(), UNITS, 10)
    assert threading.active_count() == before
    start = os.times()
    time.sleep(0.4)
    end = os.times()
    assert end.user + end.system - start.user - start.system < 0.2


def test_floating_point_flags_are_kept(address):
    module = Module()
    task = module.function("divide", TASK)
    place = task.load(POINTER, task.parameters[0])
    task.store(task.load(DOUBLE, place) / task.load(DOUBLE, task.offset(place, 8)), place)
    task.give_back()
    code = jit.compile(module.text())
    array = np.array([1.0, 0.0])
    with np.errstate(all="raise"):
        pool.parallel(code.address("divide"), pool.arguments(blocks.address(array)), 4, 1)
        assert np.isinf(array[0])
        np.add(array[1:], 1.0)


def test_without_futex(address):
    code = jit.compile(team.text(futex=False))
    parallel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64)(code.address("saraph_parallel"))
    stop = ctypes.CFUNCTYPE(None)(code.address("stop"))
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(code.address("set_threads"))(3)
    array = words()
    for turn in range(1, 41):
        parallel(address("mark"), pool.arguments(blocks.address(array)), UNITS, 10)
        assert (array[1:] == turn).all()
        if turn % 10 == 0:
            time.sleep(0.01)  # they sleep by now
        if turn % 20 == 0:
            stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork(address):
    array = words()
    run(address, "mark", array, UNITS, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        run(address, "mark", array, UNITS, 10)
        os._exit(0 if (array[1:] == 2).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    run(address, "mark", array, UNITS, 10)
    assert (array[1:] == 2).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork_while_a_job_runs(address):
    array, other = words(), words()
    caller = threading.Thread(target=run, args=(address, "long", other, 500, 1))
    caller.start()
    time.sleep(0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        run(address, "mark", array, UNITS, 10)
        os._exit(0 if (array[1:] == 1).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    caller.join()
    assert other[0] == 500 * 100_000


def spawned():
    array = words()
    run(jit.compile(tasks()).address, "mark", array, UNITS, 10)
    assert (array[1:] == 1).all()


def test_spawn():
    process = multiprocessing.get_context("spawn").Process(target=spawned)
    process.start()
    process.join(60)
    assert process.exitcode == 0


EXIT = """
import sys, threading, time
sys.path.insert(0, {folder!r})
import test_pool
from saraph import threads
threads.set_num_threads(3)
address = test_pool.jit.compile(test_pool.tasks()).address
threading.Thread(target=test_pool.run, args=(address, "long", test_pool.words(), 10**6, 1), daemon=True).start()
time.sleep(0.05)
{end}
"""


@pytest.mark.parametrize("end, code", [("", 0), ("sys.exit(3)", 3), ("raise KeyboardInterrupt", None)])
def test_the_process_ends_in_the_middle_of_a_job(end, code):
    script = EXIT.format(folder=os.path.dirname(__file__), end=end)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == code if code is not None else "KeyboardInterrupt" in done.stderr), done.stderr
    assert "Fatal" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="no signals on this system")
def test_an_interrupt_waits_for_the_end_of_the_job(address):
    import signal
    array = words()
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(address, "long", array, 300, 1)
        time.sleep(10)
    assert array[0] == 300 * 100_000


def test_arguments():
    assert pool.arguments(1, -2, np.int64(3)) == np.array([1, -2, 3]).tobytes()
    assert pool.arguments(2**64 - 1, -1) == b"\xff" * 16
    assert pool.arguments(*range(100)) == np.arange(100).tobytes()


@pytest.mark.parametrize("wrong", [0, -1])
def test_set_num_threads_refuses(wrong):
    with pytest.raises(RuntimeError, match="positive"):
        threads.set_num_threads(wrong)
    with pytest.raises(TypeError, match="int"):
        threads.set_num_threads(1.5)


@pytest.mark.parametrize("environment, count", [({"SARAPH_NUM_THREADS": "5", "OMP_NUM_THREADS": "2"}, 5), ({"OMP_NUM_THREADS": "6,2"}, 6)])
def test_the_environment_sets_the_number(environment, count):
    script = "import saraph; print(saraph.get_num_threads())"
    clean = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", script], env={**clean, **environment}, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) == count
