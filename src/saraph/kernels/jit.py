"""LLVM IR text to machine code for this processor.

llvmlite is imported on the first use, never by `import saraph`. Code, once made, lives as long as the process: ufuncs
point into it. A child process made by fork inherits the code; the lock is taken around the fork, so that no child
starts with a half-made module.
"""
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from saraph.kernels import processor
from saraph.kernels.processor import Host as Host

#: Taken while anything is compiled or registered, and across a fork. Re-entrant: a kernel's set-up compiles inside it.
LOCK = threading.RLock()

#: What LLVM does to a module before it makes code. The sources are written in vectors and unrolled where that pays, so
#: that this gives the same speed as LLVM's own pipeline of level 3, in a sixth of its time (9 ms, not 55, for softmax).
PASSES = ("sroa", "simplify_cfg", "instruction_combine", "loop_rotate", "instruction_combine", "simplify_cfg")
OPTIMIZATION = 3  # of code generation: instruction choice, scheduling, registers


class MachineCode:
    """Compiled functions, found by name."""

    __slots__ = ("_engine",)

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def address(self, name: str) -> int:
        """The address of a function. Raises KeyError when the source defined none of that name."""
        address = self._engine.get_function_address(name)
        if not address:
            raise KeyError(f"the compiled module has no function {name!r}")
        return address


class _LLVM:
    """llvmlite, set up; `binding` is None where it cannot work."""

    def __init__(self) -> None:
        self.binding: Any = None
        self.why_not = ""
        self.host = processor.describe(processor.architecture(), "", {})
        if sys.maxsize < 2**32 or sys.byteorder != "little":
            self.why_not = "compiled kernels need a 64-bit little-endian processor"
            return
        try:
            import llvmlite.binding as binding  # type: ignore[import-untyped]
        except (ImportError, OSError) as error:  # OSError: the package is there, its shared library does not load
            self.why_not = f"llvmlite cannot be imported: {error}"
            return
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self.binding = binding
        self.host = self.host_without(os.environ.get("SARAPH_CPU_FEATURES", ""))

    def host_without(self, limit: str) -> Host:
        """This processor, without what `limit` takes away."""
        binding = self.binding
        architecture = binding.get_default_triple().partition("-")[0]
        return processor.describe(architecture, binding.get_host_cpu_name(), binding.get_host_cpu_features(), limit)


_llvm: _LLVM | None = None
_compiled: dict[Hashable, MachineCode] = {}


def _setup() -> _LLVM:
    global _llvm
    if _llvm is None:
        with LOCK:
            if _llvm is None:
                _llvm = _LLVM()
    return _llvm


def available() -> bool:
    """Whether machine code can be made here. The first call imports llvmlite."""
    return _setup().binding is not None


def why_unavailable() -> str:
    """The reason for `available()` being False, else an empty string."""
    return _setup().why_not


def host() -> Host:
    """The processor that code is made for."""
    return _setup().host


@contextmanager
def host_as(limit: str) -> Iterator[Host]:
    """Kernels are made for less than this processor, in all threads: `with host_as("avx2"): ...`. What is compiled already stays.

    `limit` is what SARAPH_CPU_FEATURES takes. For tests; objects that keep their machine code must be new ones.
    """
    llvm = _setup()
    before = llvm.host
    llvm.host = llvm.host_without(limit)
    try:
        yield llvm.host
    finally:
        llvm.host = before


def define_symbol(name: str, address: int) -> None:
    """Let code that is compiled or loaded from now on call the function at `address` by its name."""
    llvm = _setup()
    if llvm.binding is not None:
        llvm.binding.add_symbol(name, address)


def kernel(name: str, parameters: Hashable, build: Callable[[], str]) -> MachineCode:
    """The machine code of a kernel. `build` gives the LLVM IR, and is only called where the code is not there yet.

    `parameters` are plain values (numbers, texts, tuples) that determine the IR, together with the name, the processor, and the
    source of this package. Raises RuntimeError when LLVM is not available, or with LLVM's message when the IR is not valid.
    """
    llvm = _setup()
    key = (name, parameters, llvm.host)
    done = _compiled.get(key)
    if done is None:
        with LOCK:
            done = _compiled.get(key)
            if done is None:
                done = _compiled[key] = compile(build())
    return done


def compile(source: str) -> MachineCode:
    """Compile a module of LLVM IR text. The same source is compiled once per process.

    Raises RuntimeError when LLVM is not available, or with LLVM's message when the source is not valid IR.
    """
    done = _compiled.get(source)
    if done is not None:
        return done
    llvm = _setup()
    if llvm.binding is None:
        raise RuntimeError(f"cannot compile a kernel: {llvm.why_not}")
    with LOCK:
        done = _compiled.get(source)
        if done is None:
            done = _compiled[source] = MachineCode(_build(llvm, source))
    return done


def _build(llvm: _LLVM, source: str) -> Any:
    binding = llvm.binding
    module = binding.parse_assembly(source)
    module.verify()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=llvm.host.cpu, features=llvm.host.features, opt=OPTIMIZATION, jit=True)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    passes = binding.create_new_module_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    options = binding.create_pipeline_tuning_options(speed_level=OPTIMIZATION)
    passes.run(module, binding.create_pass_builder(machine, options))
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
