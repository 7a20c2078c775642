import pytest

from saraph.kernels import jit, processor

ALL = ("sse2", "sse3", "sse4.1", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vnni", "popcnt")


def described(present, architecture="x86_64", limit=""):
    return processor.describe(architecture, "some", {feature: feature in present for feature in ALL}, limit)


@pytest.mark.parametrize(("limit", "size", "registers", "has", "lacks"), [
    ("", 64, 32, "avx512vnni", "amx"), ("avx512", 64, 32, "avx512vnni", "amx"), ("avx2", 32, 16, "fma", "avx512f"),
    ("sse2", 16, 16, "popcnt", "avx"), ("-avx512vnni", 64, 32, "avx512vl", "avx512vnni"), (" -avx512vl , -popcnt", 32, 16, "avx512f", "popcnt")])
def test_instruction_sets(limit, size, registers, has, lacks):
    host = described(ALL, limit=limit)
    assert (host.vector_bytes, host.vector_registers) == (size, registers)
    assert host.has(has) and not host.has(lacks)


def test_older_processors():
    assert described(ALL[:7]).vector_bytes == 32
    assert described(ALL[:4]).vector_bytes == 16  # AVX without AVX2 and FMA
    assert described(ALL[:7], limit="avx512").vector_bytes == 32  # a limit adds nothing
    assert not described(ALL[:7], limit="avx512").has("avx512f")
    neon = processor.describe("aarch64", "some", {"neon": True})
    assert (neon.vector_bytes, neon.vector_registers) == (16, 32)
    other = processor.describe("riscv64", "some", {})
    assert (other.vector_bytes, other.vector_registers) == (16, 16)


def test_what_is_taken_away_is_named_last():
    features = described(ALL, limit="-avx512f").features.split(",")
    assert features[-1] == "-avx512f"
    assert len(features) == len(ALL)


@pytest.mark.parametrize("limit", ["neon", "z80", "avx2,-avx", "+avx512f"])
def test_limits_that_make_no_sense(limit):
    with pytest.raises(ValueError, match="SARAPH_CPU_FEATURES: expected one of avx512, avx2, sse2, or features to do without"):
        described(ALL, limit=limit)


def test_caches(tmp_path):
    host = jit.host()
    assert 4 << 10 <= host.level1_bytes <= host.level2_bytes <= host.level3_bytes
    for number, (level, kind, size) in enumerate((("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M"))):
        place = tmp_path / f"index{number}"
        place.mkdir()
        for name, text in (("level", level), ("type", kind), ("size", size)):
            (place / name).write_text(text + "\n")
    assert processor._from_sys(str(tmp_path)) == {1: 48 << 10, 2: 2 << 20}
    (tmp_path / "index2" / "size").write_text("?")
    assert processor._from_sys(str(tmp_path)) == {1: 48 << 10}
    assert processor._from_sys(str(tmp_path / "absent")) == {}


def test_architecture_without_llvm():
    assert processor.architecture() == jit.host().architecture
