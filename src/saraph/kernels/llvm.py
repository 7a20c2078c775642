"""LLVM as this package uses it: IR text to object code, object code to functions in memory. Callers hold jit.LOCK.

llvmlite is imported when an LLVM is made, never by `import saraph`.
"""
from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from saraph.kernels import conversions, processor
from saraph.kernels.processor import Host

#: What LLVM does to a module before it makes code. The sources are written in vectors and unrolled where that pays, so
#: that this gives the same speed as LLVM's own pipeline of level 3, in a fraction of its time.
PASSES = ("sroa", "simplify_cfg", "instruction_combine", "loop_rotate", "instruction_combine", "simplify_cfg")
OPTIMIZATION = 3  # of code generation: instruction choice, scheduling, registers


class Object(NamedTuple):
    """Object code, the functions it defines and those it calls."""

    defined: tuple[str, ...]
    called: tuple[str, ...]
    code: bytes

    def packed(self) -> bytes:
        """As bytes for the disk."""
        return f"{' '.join(self.defined)}\n{' '.join(self.called)}\n".encode() + self.code

    @staticmethod
    def unpacked(content: bytes) -> Object:
        """From what `packed` gave."""
        defined, called, code = content.split(b"\n", 2)
        return Object(tuple(defined.decode().split()), tuple(called.decode().split()), code)


class LLVM:
    """llvmlite, set up; `binding` is None where it cannot work, and `why_not` says why."""

    def __init__(self) -> None:
        self.binding: Any = None
        self.why_not = ""
        self.version = ""
        self._linker: Any = None
        self._processor: tuple[str, str, Mapping[str, bool]] = (processor.architecture(), "", {})
        self.host = processor.describe(*self._processor)
        self._machines: dict[Host, Any] = {}
        self._libraries = 0
        if sys.maxsize < 2**32 or sys.byteorder != "little":
            self.why_not = "compiled kernels need a 64-bit little-endian processor"
            return
        try:
            import llvmlite  # type: ignore[import-untyped]
            import llvmlite.binding as binding  # type: ignore[import-untyped]
            binding.check_jit_execution()
            binding.initialize_native_target()
            binding.initialize_native_asmprinter()
            # Not JITLink on Windows, where LLVM does not use it by itself either.
            self._linker = binding.create_lljit_compiler(use_jit_link=sys.platform != "win32", suppress_errors=True)
            processor_name = binding.get_host_cpu_name()
            features, triple = binding.get_host_cpu_features(), binding.get_default_triple()
        except (ImportError, OSError, AttributeError, RuntimeError) as error:
            # OSError: its library does not load, or no memory may hold code; AttributeError: it is too old; RuntimeError: LLVM says no.
            self.why_not = f"llvmlite does not work here: {error}"
            return
        # Never freed, not even at the end of the process: threads may still run its code.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._linker))
        self.binding = binding
        self.version = f"llvmlite {llvmlite.__version__} LLVM {'.'.join(map(str, binding.llvm_version_info))}"
        self._processor = (triple.partition("-")[0], processor_name, features)
        self.host = self.host_without(os.environ.get("SARAPH_CPU_FEATURES", ""))

    def host_without(self, limit: str) -> Host:
        """This processor, without what `limit` takes away. Raises ValueError when `limit` makes no sense (see processor.py)."""
        return processor.describe(*self._processor, limit)

    def _machine(self, host: Host) -> Any:
        if host not in self._machines:
            target = self.binding.Target.from_default_triple()
            self._machines[host] = target.create_target_machine(cpu=host.cpu, features=host.features, opt=OPTIMIZATION, jit=True)
        return self._machines[host]

    def _optimized(self, source: str, host: Host, thorough: bool) -> Any:
        binding, machine = self.binding, self._machine(host)
        module = binding.parse_assembly(source)
        module.verify()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        options = binding.create_pipeline_tuning_options(speed_level=OPTIMIZATION)
        options.loop_vectorization = options.slp_vectorization = False  # the sources are vectors where that pays
        builder = binding.create_pass_builder(machine, options)
        if thorough:
            passes = builder.getModulePassManager()
        else:
            passes = binding.create_new_module_pass_manager()
            for name in PASSES:
                getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        return module

    def object_code(self, source: str, host: Host, thorough: bool) -> Object:
        """IR text compiled. Raises RuntimeError with LLVM's message when it is not valid."""
        module = self._optimized(source, host, thorough)
        functions = [f for f in module.functions if not f.name.startswith("llvm.")]
        defined = tuple(f.name for f in functions if not f.is_declaration)
        code = self._machine(host).emit_object(module)
        called = [f.name for f in functions if f.is_declaration]
        called += [name for name in conversions.FUNCTIONS if name.encode() in code and name not in called]
        return Object(defined, tuple(called), code)

    def assembly(self, source: str, host: Host, thorough: bool) -> str:
        """IR text as the processor's assembly, for people to read."""
        return self._machine(host).emit_assembly(self._optimized(source, host, thorough))

    def link(self, code: Object, symbols: Mapping[str, int]) -> dict[str, int]:
        """Bring object code into memory, for ever; gives the addresses of the functions it defines.

        `symbols` are addresses of functions it calls; others are looked for in this process. Raises RuntimeError when one is found nowhere,
        or when it is not object code for this machine.
        """
        library = self.binding.JITLibraryBuilder().add_object_img(code.code).add_current_process()
        for name, address in symbols.items():
            library.import_symbol(name, address)
        for name in code.defined:
            library.export_symbol(name)
        self._libraries += 1
        try:
            tracker = library.link(self._linker, f"kernel{self._libraries}")
        except RuntimeError as error:
            missing = [name for name in code.called if name not in symbols and not self.binding.address_of_symbol(name)]
            raise RuntimeError(f"cannot link a kernel{': there is no ' * bool(missing)}{', '.join(missing)}: {error}") from None
        addresses = {name: tracker[name] for name in code.defined}
        tracker.detach()  # or the code would go with it
        return addresses

