"""Kernels as machine code, made on first use: from memory, else from the cache on disk (cache.py), else by LLVM (llvm.py).

    code = jit.kernel("add", ("float", 4), build)     # build() gives LLVM IR text; it is only called where the code is found nowhere
    address = code.address("add_task")

llvmlite is imported on the first use, never by `import saraph`. Code, once made, lives as long as the process: ufuncs
point into it. A child process made by fork inherits the code; the lock is taken around the fork, so that no child
starts with a half-made module.

The environment variable SARAPH_LOGS=kernels prints each kernel's name, IR and assembly to stderr as it is compiled or loaded.
"""
from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from saraph.config import settings
from saraph.kernels import cache, conversions
from saraph.kernels.llvm import LLVM, OPTIMIZATION, PASSES, Object
from saraph.kernels.processor import Host as Host

#: Taken while anything is compiled, loaded or registered, and across a fork. Re-entrant: a kernel's set-up compiles inside it.
LOCK = threading.RLock()


class Statistics(NamedTuple):
    """What has been done for kernels in this process."""

    compiled: int  #: kernels made by LLVM
    cached: int  #: kernels loaded from the cache on disk
    in_memory: int  #: kernels there are now, ready to run
    seconds: float  #: time that compiling and loading took, the writing of IR and of the cache included


class MachineCode:
    """Compiled functions, found by name."""

    __slots__ = ("_addresses",)

    def __init__(self, addresses: Mapping[str, int]) -> None:
        self._addresses = addresses

    def __repr__(self) -> str:
        return f"<machine code of {', '.join(self._addresses)}>"

    def address(self, name: str) -> int:
        """The address of a function. Raises KeyError when the source defined none of that name."""
        try:
            return self._addresses[name]
        except KeyError:
            raise KeyError(f"the compiled module has no function {name!r}; it has {', '.join(self._addresses)}") from None


_llvm: LLVM | None = None
_warned = False
_symbols: dict[str, int | Callable[[], int]] = {}
_made: dict[Host, dict[tuple[str, str], MachineCode]] = {}  # by processor, name and parameters
_compiled = _cached = 0
_seconds = 0.0
_depth = 0  # kernels being made: the set-up of one may make another


def _setup() -> LLVM:
    global _llvm
    if _llvm is None:
        with LOCK:
            if _llvm is None:
                _llvm = LLVM()
    return _llvm


def available() -> bool:
    """Whether machine code can be made here. The first call imports llvmlite; where that does not work, it warns, once."""
    global _warned
    llvm = _llvm or _setup()
    if llvm.binding is None and not _warned:
        _warned = True
        warnings.warn(f"saraph computes with NumPy alone, which is slower: {llvm.why_not}", RuntimeWarning, stacklevel=2)
    return llvm.binding is not None


def why_unavailable() -> str:
    """The reason for `available()` being False, else an empty string."""
    return _setup().why_not


def host() -> Host:
    """The processor that code is made for."""
    return (_llvm or _setup()).host


@contextmanager
def host_as(limit: str | Host) -> Iterator[Host]:
    """Kernels are made for another processor, in all threads: `with host_as("avx2"): ...`. Its instructions must be among this one's.

    `limit` is a host, or what the environment variable SARAPH_CPU_FEATURES takes. For tests; objects that keep machine code must be new ones.
    """
    llvm = _setup()
    before = llvm.host
    llvm.host = llvm.host_without(limit) if isinstance(limit, str) else limit
    try:
        yield llvm.host
    finally:
        llvm.host = before


def define_symbol(name: str, address: int | Callable[[], int]) -> None:
    """Let code call a function by its name: one at an address, or at the address that a call gives when code that needs it is linked first."""
    with LOCK:
        _symbols[name] = address


def kernel(name: str, parameters: object, build: Callable[[], str], thorough: bool = False) -> MachineCode:
    """The machine code of a kernel. `build` gives the LLVM IR, and is only called where the code is found nowhere.

    name, parameters  with the processor and the sources of this package, they determine the IR. Parameters are plain values (numbers, texts,
                      tuples of them), told apart by their repr
    thorough          run LLVM's whole pipeline, not the short list of passes: five times slower; for code that is not written as vectors

    A call costs half a microsecond where the kernel is in memory: keep the addresses where that counts. Raises RuntimeError when LLVM is not
    available, when a function that the code calls is found nowhere, or, with LLVM's message, when the IR is not valid; TypeError for parameters
    that are not plain.
    """
    llvm = _llvm or _setup()
    label = (name, repr(parameters))
    made = _made.get(llvm.host)
    done = None if made is None else made.get(label)
    if done is None:
        with LOCK:
            made = _made.setdefault(llvm.host, {})
            done = made.get(label)
            if done is None:
                done = made[label] = _make(llvm, label, build, thorough, True)
    return done


def compile(source: str) -> MachineCode:
    """Compile a module of LLVM IR text, without the cache on disk. The same source is compiled once per process.

    Raises RuntimeError when LLVM is not available, or with LLVM's message when the source is not valid IR.
    """
    llvm, label = _setup(), ("", source)
    with LOCK:
        made = _made.setdefault(llvm.host, {})
        if label not in made:
            made[label] = _make(llvm, label, lambda: source, False, False)
        return made[label]


def _make(llvm: LLVM, label: tuple[str, str], build: Callable[[], str], thorough: bool, keep: bool) -> MachineCode:
    """Load or compile, with the lock held."""
    global _seconds, _depth
    if llvm.binding is None:
        raise RuntimeError(f"cannot compile a kernel: {llvm.why_not}")
    if " at 0x" in label[1] and keep:
        raise TypeError(f"kernel {label[0]}: expected parameters that are numbers, texts or tuples of them, got {label[1]}")
    start = time.perf_counter()
    _depth += 1
    try:
        entry = cache.key(label, thorough, llvm.host, llvm.version, PASSES, OPTIMIZATION) if keep else ""
        code = _load(llvm, label, entry)
        how = "loaded"
        if code is None:
            code, how = _compile(llvm, build(), thorough, entry), "compiled"
        if "kernels" in settings.logs:
            _log(llvm, label, build(), thorough, f"{how} in {1e3 * (time.perf_counter() - start):.1f} ms")
        return code
    finally:
        _depth -= 1
        if not _depth:
            _seconds += time.perf_counter() - start


def _load(llvm: LLVM, label: tuple[str, str], entry: str) -> MachineCode | None:
    global _cached
    content = cache.load(entry)
    if content is None:
        return None
    code = MachineCode(_link(llvm, Object.unpacked(content)))
    _cached += 1
    return code


def _compile(llvm: LLVM, source: str, thorough: bool, entry: str) -> MachineCode:
    global _compiled
    made = llvm.object_code(source, llvm.host, thorough)
    code = MachineCode(_link(llvm, made))
    cache.store(entry, made.packed())
    _compiled += 1
    return code


def _link(llvm: LLVM, made: Object) -> dict[str, int]:
    addresses: dict[str, int] = {}
    for name in made.called:
        address = _symbols.get(name)
        if address is not None:
            addresses[name] = address() if callable(address) else address
    return llvm.link(made, addresses)


def _log(llvm: LLVM, label: tuple[str, str], source: str, thorough: bool, how: str) -> None:
    name = f"{label[0]}{label[1]}" if label[0] else "from text"
    print(f"saraph kernel {name}: {how}\n{source}\n{llvm.assembly(source, llvm.host, thorough)}", file=sys.stderr, flush=True)


def statistics() -> Statistics:
    """How many kernels this process compiled, loaded from the cache on disk, and holds; and the seconds that took.

    >>> saraph.kernels.statistics()
    Statistics(compiled=3, cached=12, in_memory=15, seconds=0.071)
    """
    with LOCK:
        return Statistics(_compiled, _cached, sum(map(len, _made.values())), _seconds)


def _conversion(own: str) -> Callable[[], int]:
    return lambda: kernel("conversions", (), conversions.source).address(own)


for _name, _own in conversions.FUNCTIONS.items():
    define_symbol(_name, _conversion(_own))

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
