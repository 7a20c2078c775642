import ctypes
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from saraph.kernels import cache, jit

SOURCE = "define i64 @answer() {{\n  ret i64 {0}\n}}\n"


def answer(code):
    return ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("answer"))()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache; statistics count from 0."""
    monkeypatch.setenv("SARAPH_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("_compiled", "_cached"):
        monkeypatch.setattr(jit, name, 0)
    monkeypatch.setattr(cache, "_fingerprint", "sources")
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def get(monkeypatch):
    """get(number): the kernel that answers it, as a new process would get it; with whether it was compiled."""
    def call(number=42):
        written = []

        def build():
            written.append(number)
            return SOURCE.format(number)

        monkeypatch.setattr(jit, "_made", {})
        code = jit.kernel("answer", (number,), build)
        assert answer(code) == number
        assert jit.kernel("answer", (number,), build) is code
        return bool(written)
    return call


def entries(folder):
    return sorted(folder.iterdir())


def test_stored_and_loaded_without_writing_the_source(folder, get):
    assert not folder.exists()
    assert get()
    assert len(entries(folder)) == 1 and entries(folder)[0].name.endswith(".kernel")
    assert folder.stat().st_mode & 0o777 == 0o700 or os.name == "nt"
    assert not get()
    assert jit.statistics()[:3] == (1, 1, 1)
    assert get(43)
    assert len(entries(folder)) == 2
    shutil.rmtree(folder)
    assert get()
    assert not get()


def damages():
    def flip(place):
        def damage(content):
            where = place if place >= 0 else len(content) + place
            return content[:where] + bytes([content[where] ^ 16]) + content[where + 1:]
        return damage
    yield from ((f"bit {place}", flip(place)) for place in (0, 20, 50, 70, 200, -1))
    yield "empty", lambda content: b""
    yield "short", lambda content: content[:30]
    yield "cut", lambda content: content[:-1]
    yield "longer", lambda content: content + b"\0"
    yield "foreign", lambda content: b"\x7fELF" * 400


@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in damages()])
def test_damaged_entries_are_made_again(folder, get, damage):
    assert get()
    entry, = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert get()
    assert entry.read_bytes() == whole
    assert not get()


def test_an_entry_under_another_name_is_not_taken(folder, get):
    assert get(1) and get(2)
    first, second = entries(folder)
    second.write_bytes(first.read_bytes())
    assert [get(1), get(2)].count(True) == 1


def test_an_entry_that_is_a_folder_or_unreadable_is_passed_over(folder, get):
    assert get()
    entry, = entries(folder)
    entry.unlink()
    entry.mkdir()
    assert get() and get()
    assert entry.is_dir() and entries(folder) == [entry]


def test_no_folder_can_be_made(tmp_path, monkeypatch, folder, get):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SARAPH_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert get() and get()
    assert jit.statistics()[:2] == (2, 0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system of POSIX's kind")
def test_a_read_only_folder_serves_what_it_has(folder, get, monkeypatch):
    assert get(1)
    real = cache.tempfile.mkstemp

    def refuse(suffix, prefix, place):  # root may write anywhere: the refusal is made up
        raise PermissionError(13, "read-only", str(place))

    folder.chmod(0o500)
    monkeypatch.setattr(cache.tempfile, "mkstemp", refuse if os.geteuid() == 0 else real)
    assert not get(1)
    assert get(2) and get(2)
    assert len(entries(folder)) == 1
    folder.chmod(0o700)


def test_a_full_disk_leaves_nothing_behind(folder, get, monkeypatch):
    def refuse(source, target):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert get() and get()
    assert entries(folder) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system of POSIX's kind")
def test_entries_of_other_users_are_not_run(folder, get, monkeypatch):
    assert get()
    monkeypatch.setattr(os, "geteuid", lambda: entries(folder)[0].stat().st_uid + 1)
    if entries(folder)[0].stat().st_uid:
        assert get()
    else:
        assert not get()  # root's are


def test_keys_differ_by_all_that_decides_the_code(folder, get, monkeypatch):
    host = jit.host()
    assert get()
    assert not get()
    for other in (host._replace(cpu=host.cpu + " "), host._replace(vector_bytes=8), host._replace(level2_bytes=1),
                  host._replace(features=host.features + ",")):
        keys = {cache.key("name", "(1,)", h) for h in (host, other)}
        assert len(keys) == 2
    if host.architecture == "x86_64":
        for limit in ("sse2", "-avx"):
            with jit.host_as(limit) as other:
                assert get() == (other != host)
                assert not get()
    monkeypatch.setattr(jit._setup(), "version", "llvmlite 99")
    assert get()
    names = {cache.key(*identity) for identity in (("a", "(1,)"), ("a", "(1.0,)"), ("b", "(1,)"), ("a", "(True,)"), ("a", "(-0.0,)"), ("a", "(0.0,)"))}
    assert len(names) == 6


def test_parameters_are_told_apart_by_what_they_say(folder):
    codes = {jit.kernel("parameters", p, lambda: SOURCE.format(1)) for p in ((1,), (1.0,), (True,), (-0.0,), (0.0,), ("1",), 1)}
    assert len(codes) == 7
    with pytest.raises(TypeError, match="parameters that are numbers, texts or tuples"):
        jit.kernel("parameters", (answer,), lambda: SOURCE.format(1))


def test_the_fingerprint_follows_the_sources(tmp_path):
    sources = tmp_path / "kernels"
    (sources / "below").mkdir(parents=True)
    files = [sources / "a.py", sources / "below" / "b.py"]
    for file in files:
        file.write_text("x = 1\n")
    later = time.time() + 10

    def digest():
        return cache._digest(str(sources), later)

    assert cache._digest(str(sources), 0.0) == ""  # changed since the process imported them: nothing is cached
    assert cache._digest(str(tmp_path / "absent"), later) == ""
    seen = {digest()}
    assert digest() in seen and "" not in seen
    (sources / "notes.txt").write_text("not code")
    assert digest() in seen
    for file in files:
        file.write_text("x = 2\n")
        assert digest() not in seen
        seen.add(digest())
    files[0].rename(sources / "c.py")
    assert digest() not in seen


def test_a_process_with_changed_sources_caches_nothing(folder, get, monkeypatch):
    monkeypatch.setattr(cache, "_fingerprint", "")
    assert get() and get()
    assert not folder.exists()


def test_the_least_recently_used_go_first(folder, get, monkeypatch):
    assert all(get(number) for number in range(8))
    files = sorted(entries(folder), key=lambda f: f.stat().st_mtime_ns)
    for age, file in enumerate(files):
        os.utime(file, (0, 1000 + age))
    unfinished = [folder / "a.unfinished", folder / "b.unfinished"]
    for file in unfinished:
        file.write_text("")
    os.utime(unfinished[0], (0, 1000))
    size = files[0].stat().st_size
    cache.trim(folder, 9 * size)
    assert len(entries(folder)) == 9 and not unfinished[0].exists()
    assert not get(0)  # and now it was used just now
    cache.trim(folder, 4 * size)
    kept = [f for f in files if f.exists()]
    assert kept == [files[0], files[6], files[7]]


def test_where_the_folder_is(monkeypatch):
    for name in ("SARAPH_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert cache.folder() == Path.home() / ".cache" / "saraph" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.folder() == Path("/x/saraph/kernels")
    monkeypatch.setenv("SARAPH_CACHE_DIR", "/y")
    assert cache.folder() == Path("/y/kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("SARAPH_CACHE_DIR")

    def homeless():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert cache.folder() is None
    assert not cache.store("name", b"") and cache.load("name") is None


PROGRAM = """
import ctypes
from saraph.kernels import cache, jit
cache._fingerprint = "whatever the sources are at this moment"
source = "define i64 @answer() {{\\n  ret i64 {0}\\n}}\\n"
total = 0
for number in range(12):
    code = jit.kernel("answer", (number,), lambda: source.format(number))
    total += ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("answer"))()
print(total, *jit.statistics()[:2])
"""


def test_four_processes_fill_it_at_once(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(_):
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(4)))
    assert all(total == 66 and compiled + cached >= 12 for total, compiled, cached in results)
    assert not [f for f in entries(folder) if f.suffix != ".kernel"]
    total, _, cached = run(0)
    assert total == 66 and cached >= 12


def test_importing_writes_nothing(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", "import saraph; saraph.ones(3) + 1"], env=environment, check=True, timeout=60)
    assert not folder.parent.exists()
