import ctypes
import os
import subprocess
import sys
import threading

import pytest

from saraph import kernels
from saraph.kernels import jit

SOURCE = "define i64 @add{0}(i64 %x) {{\n  %y = add i64 %x, {0}\n  ret i64 %y\n}}\n"


def call(code, name, argument):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address(name))(argument)


def run_new_process(program, **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def in_new_process(program, **variables):
    return run_new_process(program, **variables).stdout.split()


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


CALLS = """
declare i64 @{name}(i64)
define i64 @twice_{name}(i64 %x) {{
  %y = call i64 @{name}(i64 %x)
  %z = call i64 @{name}(i64 %y)
  ret i64 %z
}}
"""


def test_calls_functions_that_were_defined_by_name():
    first = jit.compile(SOURCE.format(21))
    jit.define_symbol("saraph_test_add", first.address("add21"))
    assert call(jit.compile(CALLS.format(name="saraph_test_add")), "twice_saraph_test_add", 0) == 42


def test_a_symbol_is_asked_for_when_code_needs_it():
    asked = []

    def address():
        asked.append(1)
        return jit.compile(SOURCE.format(22)).address("add22")

    jit.define_symbol("saraph_test_later", address)
    assert not asked
    assert call(jit.compile(CALLS.format(name="saraph_test_later")), "twice_saraph_test_later", 1) == 45
    assert asked == [1]


def test_calls_functions_of_the_c_library():
    source = "declare double @cbrt(double)\ndefine double @root(double %x) {\n  %y = call double @cbrt(double %x)\n  ret double %y\n}\n"
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(jit.compile(source).address("root"))(27.0) == pytest.approx(3.0)
    assert call(jit.compile(CALLS.format(name="labs")), "twice_labs", -5) == 5


def test_a_function_found_nowhere_is_an_error_and_nothing_breaks():
    with pytest.raises(RuntimeError, match="cannot link a kernel: there is no saraph_nowhere"):
        jit.compile(CALLS.format(name="saraph_nowhere"))
    assert call(jit.compile(SOURCE.format(23)), "add23", 1) == 24


def test_the_whole_pipeline_gives_the_same_code():
    codes = [jit.kernel("add24", thorough, lambda: SOURCE.format(24), thorough) for thorough in (False, True)]
    assert [call(code, "add24", 1) for code in codes] == [25, 25] and codes[0] is not codes[1]


def test_statistics_count():
    before = kernels.statistics()
    jit.compile(SOURCE.format(25))
    jit.compile(SOURCE.format(25))
    after = kernels.statistics()
    assert after.compiled == before.compiled + 1 and after.in_memory == before.in_memory + 1
    assert after.cached == before.cached and after.seconds > before.seconds


def test_kernels_are_made_for_lesser_processors():
    code = jit.kernel("add26", (), lambda: SOURCE.format(26))
    before = jit.host()
    limits = {"x86_64": ("avx2", "sse2"), "aarch64": ("neon",)}.get(before.architecture, ())
    for limit in limits:
        with jit.host_as(limit) as host:
            assert jit.host() is host
            made = jit.kernel("add26", (), lambda: SOURCE.format(26))
            assert call(made, "add26", 1) == 27 and (made is code) == (host == before)
    assert jit.host() is before
    assert jit.kernel("add26", (), lambda: SOURCE.format(26)) is code
    with pytest.raises(ValueError, match="SARAPH_CPU_FEATURES: expected one of"):
        with jit.host_as("z80"):
            pass


def test_the_environment_limits_the_processor():
    if jit.host().architecture != "x86_64":
        pytest.skip("names of x86")
    program = "from saraph.kernels import jit; h = jit.host(); print(h.vector_bytes, h.has('avx'), h.has('sse2'))"
    assert in_new_process(program, SARAPH_CPU_FEATURES="sse2") == ["16", "False", "True"]


LOGGED = """
from saraph.kernels import cache, jit
cache._fingerprint = "whatever the sources are at this moment"
jit.kernel("forty", (2, "x"), lambda: "define i64 @forty() {\\n  ret i64 40\\n}\\n")
"""


def test_logs_show_ir_and_assembly(tmp_path):
    for how in ("compiled", "loaded"):
        done = run_new_process(LOGGED, SARAPH_LOGS="kernels", SARAPH_CACHE_DIR=str(tmp_path))
        assert not done.stdout
        start = done.stderr.index(f"saraph kernel forty(2, 'x'): {how} in ")
        assert "define i64 @forty()" in done.stderr[start:] and "forty:" in done.stderr[start:]
    assert not run_new_process(LOGGED, SARAPH_LOGS="compile", SARAPH_CACHE_DIR=str(tmp_path)).stderr


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
               "assert kernels.log_softmax_rows.function == kernels.log_softmax_rows.definition\n"
               "print(kernels.available(), 'llvmlite' in kernels.why_unavailable())\n"
               "print(*kernels.softmax_rows(np.zeros((1, 2), 'f'))[0])")
    done = run_new_process(program)
    assert done.stdout.split() == ["False", "True", "0.5", "0.5"]
    assert done.stderr.count("RuntimeWarning: saraph computes with NumPy alone, which is slower") == 1


@pytest.mark.parametrize("breaking", ["del binding.create_lljit_compiler", "binding.check_jit_execution = refuse", "binding.create_lljit_compiler = fail"])
def test_an_llvmlite_that_does_not_work_is_as_none(breaking):
    program = ("import llvmlite.binding as binding\n"
               "def refuse(): raise OSError(13, 'no memory may hold code')\n"
               "def fail(**options): raise RuntimeError('unknown processor')\n"
               f"{breaking}\n"
               "from saraph.kernels import jit\n"
               "print(jit.available(), jit.host().vector_bytes >= 16)\n")
    done = run_new_process(program)
    assert done.stdout.split() == ["False", "True"]
    assert "RuntimeWarning: saraph computes with NumPy alone" in done.stderr and "llvmlite does not work here" in done.stderr


def test_without_llvmlite_programs_run():
    program = ("import sys; sys.modules['llvmlite'] = None\n"
               "import saraph as torch\n"
               "x = torch.ones(2, 1, 8, 8, requires_grad=True)\n"
               "net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(72, 3))\n"
               "torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 1])).backward()\n"
               "print(x.grad.shape == x.shape)")
    done = run_new_process(program)
    assert done.stdout.split() == ["True"]
    assert done.stderr.count("RuntimeWarning: ") <= 1
