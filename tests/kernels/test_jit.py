import ctypes
import os
import subprocess
import sys
import threading

import pytest

from saraph.kernels import jit

SOURCE = "define i64 @add{0}(i64 %x) {{\n  %y = add i64 %x, {0}\n  ret i64 %y\n}}\n"


def call(code, name, argument):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address(name))(argument)


def in_new_process(program):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_compiles_and_caches_by_source():
    code = jit.compile(SOURCE.format(11))
    assert call(code, "add11", 31) == 42
    assert jit.compile(SOURCE.format(11)) is code
    assert jit.compile(SOURCE.format(12)) is not code
    assert call(code, "add11", 1) == 12  # still there


def test_missing_function_and_invalid_source():
    with pytest.raises(KeyError, match="no function 'absent'"):
        jit.compile(SOURCE.format(13)).address("absent")
    with pytest.raises(RuntimeError, match="expected"):
        jit.compile("define i64 @broken(")


def test_host_names_a_vector_width():
    assert jit.host().vector_bytes in {16, 32, 64}
    assert jit.host().architecture and jit.host().cpu


def test_threads_compile_at_the_same_time():
    start, codes = threading.Barrier(8), []

    def work(index):
        start.wait()
        codes.append((index % 2, jit.compile(SOURCE.format(100 + index % 2))))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(code) for _, code in codes}) == 2
    assert all(call(code, f"add{100 + kind}", 1) == 101 + kind for kind, code in codes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # other threads are what is tested
def test_a_forked_child_runs_old_code_and_compiles_new():
    code = jit.compile(SOURCE.format(200))
    stop = threading.Event()

    def keep_compiling():
        number = 1000
        while not stop.is_set():
            jit.compile(SOURCE.format(number))
            number += 1

    thread = threading.Thread(target=keep_compiling)
    thread.start()
    try:
        for turn in range(5):
            child = os.fork()
            if not child:
                new = jit.compile(SOURCE.format(300 + turn))
                right = call(code, "add200", 1) == 201 and call(new, f"add{300 + turn}", 1) == 301 + turn
                os._exit(0 if right else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()


def test_llvmlite_is_not_imported_before_the_first_compile():
    assert in_new_process("import sys; from saraph import kernels; print('llvmlite' in sys.modules)") == ["False"]


def test_without_llvmlite_the_definitions_serve():
    program = ("import sys; sys.modules['llvmlite'] = None\n"
               "import numpy as np\n"
               "from saraph import kernels\n"
               "assert kernels.softmax_rows.function == kernels.softmax_rows.definition\n"
               "print(kernels.available(), 'llvmlite' in kernels.why_unavailable())\n"
               "print(*kernels.softmax_rows(np.zeros((1, 2), 'f'))[0])")
    assert in_new_process(program) == ["False", "True", "0.5", "0.5"]
