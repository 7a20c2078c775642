"""Files that are damaged, or made to do harm: an error, never code that runs, never memory that is not the file's."""
from __future__ import annotations

import collections
import io
import os
import pickle
import random
import zipfile

import pytest

import saraph as torch
from saraph.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, get_unsafe_globals_in_checkpoint, safe_globals

RAN = []


class Evil:
    """Runs a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Mine:
    def __init__(self, a=0):
        self.a = a

    def __eq__(self, other):
        return type(other) is Mine and other.a == self.a


def archive(data, **entries):
    """A file with this pickle, and one storage of 12 bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("a/data.pkl", data)
        for name, content in {"version": b"3\n", "data/0": bytes(12), **entries}.items():
            out.writestr("a/" + name, content)
    stream.seek(0)
    return stream


def tensor(offset="K\0", size="K\3\x85", stride="K\1\x85", storage="FloatStorage", key="X\1\0\0\0000", count="K\3", function="_rebuild_tensor_v2"):
    """The pickle of a tensor over storage 0, part by part."""
    parts = ["\x80\2ctorch._utils\n", function, "\n((X\7\0\0\0storagectorch\n", storage, "\n", key, "X\3\0\0\0cpu", count, "tQ", offset, size, stride,
             "\x89ccollections\nOrderedDict\n)RtR."]
    return "".join(parts).encode("latin1")


def test_the_pickle_of_a_tensor():
    assert torch.load(archive(tensor())).tolist() == [0, 0, 0]


@pytest.mark.parametrize("function, arguments", [(os.system, ("true",)), (eval, ("RAN.append(1)",)), (exec, ("RAN.append(1)",)), (RAN.append, (1,)),
                                                 (getattr, (os, "system")), (__import__, ("os",)), (bytearray, (10 ** 15,)), (type, ("X", (), {}))])
@pytest.mark.parametrize("new", [True, False])
def test_nothing_runs(function, arguments, new, monkeypatch):
    called = []
    monkeypatch.setattr(os, "system", lambda *a: called.append(a))
    stream = io.BytesIO()
    try:
        torch.save([torch.ones(2), Evil(function, *arguments)], stream, _use_new_zipfile_serialization=new)
    except (pickle.PicklingError, TypeError):
        pytest.skip("does not pickle")
    stream.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(stream)
    assert not called and not RAN


@pytest.mark.parametrize("data", [
    b"\x80\2cos\nsystem\nX\4\0\0\0true\x85R.", b"cposix\nsystem\n(S'true'\ntR.", b"\x80\4\x8c\2os\x8c\6system\x93\x8c\4true\x85R.",
    b"\x80\2c__builtin__\ngetattr\nctorch\nTensor\nX\7\0\0\0__new__\x86R.", b"(S'true'\nios\nsystem\n.", b"\x80\2ctorch\nTensor\n)\x81}X\1\0\0\0aK\1sb.",
    b"\x80\2ctorch\nFloatStorage\n)R.", b"\x80\2ctorch._utils\n_rebuild_tensor_v2\n}b.", b"\x80\2ccollections\nOrderedDict\n)RX\1\0\0\0ab.",
    b"\x80\2c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0rot\x86R.", b"\x80\2ctorch.serialization\nload\nX\1\0\0\0a\x85R.", b"\x80\2ctorch\nload\nX\1\0\0\0a\x85R.",
    b"\x80\2csaraph\nload\nX\1\0\0\0a\x85R."])
def test_pickles_that_reach_for_code(data):
    for stream in (archive(data), archive(data)):
        with pytest.raises(pickle.UnpicklingError):
            torch.load(stream)


@pytest.mark.parametrize("changes", [
    {"size": "K\4\x85"}, {"offset": "K\1"}, {"offset": "J\xff\xff\xff\xff"}, {"stride": "K\2\x85"}, {"stride": "J\xff\xff\xff\xff\x85"},
    {"size": "J\xff\xff\xff\xff\x85"}, {"size": "\x8a\x09\0\0\0\0\0\0\0\0\1\x85", "stride": "K\0\x85"}, {"size": "K\3K\1\x86"},
    {"storage": "DoubleStorage"}, {"size": "\x8a\x09\0\0\0\0\0\0\0\0\1\x85"}, {"offset": "\x8a\x09\0\0\0\0\0\0\0\0\1"}, {"size": "X\1\0\0\0a\x85"},
    {"size": "N"}, {"stride": "N"}, {"offset": "N"}, {"key": "X\1\0\0\0001"}, {"key": "]"}, {"key": "X\4\0\0\0../x"}, {"storage": "Size"},
    {"storage": "float32"}, {"function": "_rebuild_parameter"}, {"function": "_rebuild_sparse_tensor"}, {"function": "_rebuild_nothing"}])
def test_tensors_that_reach_outside(changes):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(archive(tensor(**changes)))


def test_a_stride_of_zero_is_fine():
    assert torch.load(archive(tensor(size="K\x7f\x85", stride="K\0\x85"))).tolist() == [0] * 127
    assert torch.load(archive(tensor(size="K\0\x85", offset="K\x63"))).shape == (0,)


@pytest.mark.parametrize("rows, columns", [([0, 1, 2], [0, 5]), ([0, 1, 2], [0, -1]), ([0, 3, 2], [0, 1]), ([1, 1, 2], [0, 1]), ([0, 1, 1], [0, 1])])
def test_sparse_tensors_that_contradict_themselves(rows, columns, monkeypatch):
    csr = torch.eye(2).to_sparse_csr()
    csr.crow_indices()[:] = torch.tensor(rows)
    csr.col_indices()[:] = torch.tensor(columns)
    coo = torch.eye(2).to_sparse()
    coo._indices()[0, 0] = 7
    for new in (True, False):
        for wrong in (csr, coo):
            stream = io.BytesIO()
            torch.save(wrong, stream, _use_new_zipfile_serialization=new)
            stream.seek(0)
            with pytest.raises(RuntimeError):
                torch.load(stream)


def everything(new):
    stream = io.BytesIO()
    torch.save({"x": torch.arange(6.0).view(2, 3), "p": torch.nn.Parameter(torch.ones(2)), "s": torch.eye(2).to_sparse(), "n": [1, "a", 2.5],
                "o": collections.OrderedDict(a=1)}, stream, _use_new_zipfile_serialization=new)
    return stream.getvalue()


@pytest.mark.parametrize("new", [True, False])
def test_truncated_files(new):
    data = everything(new)
    torch.load(io.BytesIO(data))
    for size in sorted({*range(60), *range(60, len(data) - 1, max(1, len(data) // 60)), len(data) - 1}):
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
            torch.load(io.BytesIO(data[:size]))


@pytest.mark.parametrize("new", [True, False])
def test_garbled_files(new, tmp_path):
    data, rng, refused = everything(new), random.Random(0), 0
    for k in range(300):
        wrong = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 20])):
            wrong[rng.randrange(len(wrong))] = rng.randrange(256)
        try:
            if k % 3:
                torch.load(io.BytesIO(bytes(wrong)))
            else:
                (tmp_path / "x.pt").write_bytes(wrong)
                torch.load(tmp_path / "x.pt", mmap=new)
        except (RuntimeError, pickle.UnpicklingError, EOFError):
            refused += 1
    assert 50 < refused < 300


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\3\4", b"PK\3\4" + bytes(100), b"\x80\2K\1.", b"\x80\5", bytes(1000), b"{\"json\": 1}"])
def test_what_is_no_checkpoint(content):
    for weights_only in (True, False):
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError, KeyError)):
            torch.load(io.BytesIO(content), weights_only=weights_only)


def test_a_zip_that_is_no_checkpoint():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("a.txt", "a")
    stream.seek(0)
    with pytest.raises(RuntimeError, match="data.pkl"):
        torch.load(stream)


def test_compressed_archives_are_read_and_bad_checksums_seen():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/data.pkl", tensor())
        out.writestr("a/data/0", bytes(12))
    data = stream.getvalue()
    assert torch.load(io.BytesIO(data)).tolist() == [0, 0, 0]
    plain = archive(tensor()).getvalue().replace(b"FloatStorage", b"floatStorage", 1)
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(io.BytesIO(plain))


# -- what may be allowed -----------------------------------------------------------------------------------------------------


def saved(obj):
    stream = io.BytesIO()
    torch.save(obj, stream)
    stream.seek(0)
    return stream


def test_allowing_a_class():
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL .*Mine was not an allowed global by default"):
        torch.load(saved(Mine(3)))
    with safe_globals([Mine]):
        assert torch.load(saved(Mine(3))) == Mine(3) and get_safe_globals() == [Mine]
    assert get_safe_globals() == []
    add_safe_globals([(Mine, f"{Mine.__module__}.Mine")])
    assert torch.load(saved([Mine(3)])) == [Mine(3)]
    clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        torch.load(saved(Mine(3)))
    assert torch.load(saved(Mine(3)), weights_only=False) == Mine(3)


def test_naming_what_is_unsafe():
    assert get_unsafe_globals_in_checkpoint(saved([Mine(3), torch.ones(1)])) == [f"{Mine.__module__}.Mine"]
    assert get_unsafe_globals_in_checkpoint(saved({"a": torch.ones(1, dtype=torch.uint16)})) == []
    with safe_globals([Mine]):
        assert get_unsafe_globals_in_checkpoint(saved(Mine(3))) == []
    with pytest.raises(ValueError):
        get_unsafe_globals_in_checkpoint(io.BytesIO(b"none"))


def test_own_pickle_module():
    assert torch.load(saved(Mine(1)), pickle_module=pickle) == Mine(1)
    with pytest.raises(RuntimeError, match="pickle_module"):
        torch.load(saved(1), pickle_module=pickle, weights_only=True)
