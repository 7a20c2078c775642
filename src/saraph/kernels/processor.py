"""The processor that code is made for, as plain data.

    host = jit.host()
    host.vector_bytes, host.vector_registers       # 64 and 32 with AVX-512
    host.has("avx512vnni")                         # features as LLVM spells them
    host.level1_bytes, host.level2_bytes, host.level3_bytes

The environment variable SARAPH_CPU_FEATURES makes code for less than this processor: the name of a row of INSTRUCTION_SETS ("avx2", "sse2"),
or features without which to do ("-avx512vnni,-avx512bf16"). `jit.host_as("avx2")` does the same for a `with` block.
"""
from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class InstructionSet(NamedTuple):
    """A family of vector instructions."""

    name: str
    architectures: tuple[str, ...]  # the first word of LLVM's triple
    needs: tuple[str, ...]  # features as LLVM spells them
    beyond: tuple[str, ...]  # how the names of features begin that are more than this family
    vector_bytes: int
    vector_registers: int


_X86, _ARM = ("x86_64", "i386", "i686"), ("aarch64", "arm64")
#: The best first. The last row of an architecture is what all its 64-bit processors have.
INSTRUCTION_SETS = (
    InstructionSet("avx512", _X86, ("avx512f", "avx512bw", "avx512dq", "avx512vl"), (), 64, 32),
    InstructionSet("avx2", _X86, ("avx2", "fma"), ("avx512", "avx10", "evex512", "amx"), 32, 16),
    InstructionSet("sse2", _X86, (), ("avx", "fma", "f16c", "sse3", "ssse3", "sse4", "evex512", "amx", "vaes", "vpclmulqdq", "gfni", "xop"), 16, 16),
    InstructionSet("neon", _ARM, (), ("sve", "sme"), 16, 32),
)
OTHER = InstructionSet("other", (), (), (), 16, 16)

#: Bytes of the data caches where the system does not tell.
DEFAULT_CACHES = (32 << 10, 512 << 10, 8 << 20)


class Host(NamedTuple):
    """The processor that code is made for."""

    architecture: str  # the first word of LLVM's triple: x86_64, aarch64, ...
    cpu: str
    features: str  # as LLVM reads them: "+avx2,-avx512f,..."
    vector_bytes: int
    vector_registers: int = 16
    level1_bytes: int = DEFAULT_CACHES[0]  # of data, for one core
    level2_bytes: int = DEFAULT_CACHES[1]
    level3_bytes: int = DEFAULT_CACHES[2]

    def has(self, feature: str) -> bool:
        """Whether code may use a feature, by LLVM's name for it."""
        return f"+{feature}" in self.features.split(",")


def describe(architecture: str, cpu: str, features: Mapping[str, bool], limit: str = "") -> Host:
    """The host, without what `limit` takes away (see the module).

    Raises ValueError when `limit` is neither the name of an instruction set of this architecture nor a list of "-feature".
    """
    rows = [row for row in INSTRUCTION_SETS if architecture in row.architectures]
    present = dict(features)
    limit = limit.strip()
    named = next((row for row in rows if row.name == limit), None)
    parts = [part.strip() for part in limit.split(",") if part.strip()]
    if named is not None:
        missing = [feature for feature in present if feature.startswith(named.beyond)] if named.beyond else []
        rows = rows[rows.index(named):]
    elif all(part.startswith("-") for part in parts):
        missing = [part[1:] for part in parts]
    else:
        known = ", ".join(row.name for row in rows)
        raise ValueError(f"SARAPH_CPU_FEATURES: expected one of {known}, or features to do without such as '-avx512f', got {limit!r}")
    present.update(dict.fromkeys(missing, False))
    best = next((row for row in rows if all(present.get(feature) for feature in row.needs)), OTHER)
    # Those without come last: LLVM takes with a feature all those that are built upon it.
    text = ",".join([f"+{name}" for name in sorted(present) if present[name]] + [f"-{name}" for name in sorted(present) if not present[name]])
    return Host(architecture, cpu, text, best.vector_bytes, best.vector_registers, *cache_sizes())


def architecture() -> str:
    """This machine's architecture where LLVM cannot be asked."""
    machine = (os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")).lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def cache_sizes() -> tuple[int, int, int]:
    """Bytes of the data caches of levels 1, 2 and 3, as the system tells them, else DEFAULT_CACHES."""
    found = _from_sysctl() if sys.platform == "darwin" else _from_sys()
    one, two, three = (found.get(level) or default for level, default in enumerate(DEFAULT_CACHES, 1))
    return one, two, max(two, three)


def _from_sys(folder: str = "/sys/devices/system/cpu/cpu0/cache") -> dict[int, int]:
    found: dict[int, int] = {}
    try:
        for name in os.listdir(folder):
            place = Path(folder, name)
            if name.startswith("index") and (place / "type").read_text().strip() != "Instruction":
                size = (place / "size").read_text().strip()
                unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1:], 1)
                found[int((place / "level").read_text())] = int(size.rstrip("KMG")) * unit
    except (OSError, ValueError):  # not Linux, or hidden by a container
        return found
    return found


def _from_sysctl() -> dict[int, int]:
    found: dict[int, int] = {}
    library = ctypes.CDLL(None)
    for level, name in enumerate((b"hw.l1dcachesize", b"hw.l2cachesize", b"hw.l3cachesize"), 1):
        value, size = ctypes.c_int64(0), ctypes.c_size_t(8)
        if library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)) == 0:
            found[level] = value.value
    return found
