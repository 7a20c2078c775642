"""save and load: what goes in comes out, in both formats; files made by PyTorch; places, maps, streams, interrupted saves."""
from __future__ import annotations

import collections
import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import saraph as torch
from saraph import nn

FILES = pathlib.Path(__file__).parent / "files"
DTYPES = ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128", "int64", "int32", "int16", "int8",
          "uint8", "uint16", "uint32", "uint64", "bool"]


@pytest.fixture(params=[True, False], ids=["zip", "legacy"])
def again(request):
    """again(obj, **options): obj after a save and a load."""
    def trip(obj, **options):
        stream = io.BytesIO()
        torch.save(obj, stream, _use_new_zipfile_serialization=request.param)
        stream.seek(0)
        return torch.load(stream, **options)
    return trip


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(again, name):
    x = torch.tensor([[0, 1, 2], [3, 1, 0]]).to(getattr(torch, name))
    got = again({"x": x, "scalar": x[0, 1], "empty": x[:0]})
    assert all(t.dtype is x.dtype for t in got.values()) and got["empty"].shape == (0, 3)
    assert torch.equal(got["x"].view(torch.uint8), x.view(torch.uint8)) and got["scalar"].item() == x[0, 1].item()


def test_shared_memory_is_shared_again(again):
    base = torch.arange(12.0)
    got = again({"base": base, "row": base.view(3, 4)[1], "column": base.view(3, 4)[:, 1], "t": base.view(3, 4).t(), "wide": base[:1].expand(5),
                 "bits": base.view(torch.int32), "again": [base, base]})
    got["base"].add_(100)
    assert got["row"].tolist() == [104, 105, 106, 107] and got["column"].tolist() == [101, 105, 109] and got["t"].stride() == (1, 4)
    assert got["wide"].tolist() == [100] * 5 and got["wide"].stride() == (0,) and got["bits"].view(torch.float32)[0] == 100
    assert got["again"][0] is got["again"][1] and len({t.untyped_storage() for t in got.values() if torch.is_tensor(t)}) == 1
    assert got["row"].storage_offset() == 4 and got["row"]._version == 1


def test_memory_with_gaps(again):
    lent = np.arange(12.0).reshape(3, 4)[:, ::2]
    assert again(torch.from_numpy(lent)).tolist() == lent.tolist()
    assert again(torch.from_numpy(np.asfortranarray(lent))).stride() == (1, 3)
    image = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    assert again(image).is_contiguous(memory_format=torch.channels_last) and torch.equal(again(image), image)


def test_a_view_takes_its_whole_storage_along():
    small, whole = io.BytesIO(), io.BytesIO()
    x = torch.zeros(100_000)
    torch.save(x[:1].clone(), small)
    torch.save(x[:1], whole)
    assert len(small.getvalue()) < 3000 and len(whole.getvalue()) > 400_000


def test_parameters_and_gradients(again):
    w, b = nn.Parameter(torch.ones(2)), nn.Buffer(torch.zeros(1))
    w.note = "mine"
    leaf = torch.ones(1, requires_grad=True)
    got = again({"w": w, "frozen": nn.Parameter(torch.ones(1), requires_grad=False), "leaf": leaf, "made": leaf * 2, "b": b})
    assert type(got["w"]) is nn.Parameter and got["w"].requires_grad and got["w"].note == "mine" and not got["frozen"].requires_grad
    assert got["leaf"].requires_grad and got["made"].requires_grad and got["made"].is_leaf and isinstance(got["b"], nn.Buffer)


def test_containers(again):
    obj = {"list": [1, 2.5, "text", None, True, b"bytes", -3], "tuple": (torch.ones(1), ("a", 7)), "big": 2 ** 80, "negative": -(2 ** 40), 5: 6,
           "ordered": collections.OrderedDict([("z", 1), ("a", 2)]), "counter": collections.Counter("aab"), "complex": 1.5 - 2j, "set": {1, 2},
           "size": torch.Size([2, 3]), "dtype": torch.float16, "device": torch.device("cpu"), "layout": torch.sparse_coo,
           "format": torch.channels_last, "nested": [[[{}]]], "inf": [float("inf"), float("-inf")], "unicode": "ü\n\0", "array": bytearray(b"ab")}
    got = again(obj)
    assert list(got) == list(obj) and [got[k] for k in obj if k != "tuple"] == [v for k, v in obj.items() if k != "tuple"]
    assert type(got["ordered"]) is collections.OrderedDict and type(got["size"]) is torch.Size and type(got["tuple"]) is tuple
    me: list = []
    me.append(me)
    assert (found := again(me))[0] is found


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_sparse(again, layout):
    x = torch.tensor([[0.0, 2, 0], [3, 0, 4]]).to_sparse(layout=getattr(torch, layout))
    got = again(x)
    assert got.layout is x.layout and torch.equal(got.to_dense(), x.to_dense()) and got.shape == x.shape


def test_meta(again):
    got = again({"w": torch.ones(2, 3, device="meta"), "x": torch.ones(2)})
    assert got["w"].is_meta and got["w"].shape == (2, 3) and got["x"].tolist() == [1, 1]
    assert again(torch.ones(3), map_location="meta").is_meta


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))


def test_training_goes_on_where_it_stopped(again):
    x, y = torch.rand(4, 1, 4, 4), torch.tensor([0, 1, 2, 0])

    def step(model, optimizer, schedule):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss.item()

    def everything(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2)

    first = everything(net())
    for _ in range(3):
        step(*first)
    state = again({"parts": [part.state_dict() for part in first], "rng": torch.get_rng_state()})
    second = everything(net())
    for part, saved in zip(second, state["parts"]):
        part.load_state_dict(saved)
    assert [step(*first) for _ in range(3)] == [step(*second) for _ in range(3)]
    assert torch.equal(state["rng"], torch.get_rng_state())


def test_whole_modules(again):
    model, x = net().eval(), torch.rand(2, 1, 4, 4)
    got = again(model, weights_only=False)
    assert torch.equal(got(x), model(x)) and got[0].weight is not model[0].weight and not got.training
    for other in (nn.LSTM(2, 3, 2), nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"), nn.Embedding(3, 2), nn.ModuleDict({"a": nn.Linear(1, 1)})):
        assert str(again(other, weights_only=False)) == str(other)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        again(model)
    with torch.serialization.safe_globals([nn.Linear, set]):
        assert again(nn.Linear(2, 1)).in_features == 2


def test_functions_go_by_public_names(again):
    functions = [torch.tanh, nn.functional.gelu, nn.init.zeros_, torch.linalg.norm, torch.add]
    stream = io.BytesIO()
    torch.save(functions, stream)
    assert b"saraph" not in zipfile.ZipFile(stream).read("archive/data.pkl")
    assert again(functions, weights_only=False) == functions


# -- files made by PyTorch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mixed.pt", "mixed.legacy.pt"])
def test_a_file_of_pytorchs(name):
    got = torch.load(FILES / name)
    for kind, x in got["dtypes"].items():
        values = (x.real if x.is_complex() else x).to(torch.float64).tolist()
        assert x.dtype is getattr(torch, kind) and values == ([0, 1, 1, 1] if kind == "bool" else [0, 1, 2, 3])
    got["base"].fill_(7)
    assert got["row"].tolist() == [7] * 4 and got["column"].shape == (3,) and got["t"].stride() == (1, 4)
    assert got["conj"].tolist() == [1 - 2j, 3 + 4j] and got["neg"].tolist() == [-2, 4]
    assert isinstance(got["param"], nn.Parameter) and torch.equal(got["sparse"].to_dense(), torch.eye(2)) and got["csr"].layout is torch.sparse_csr
    assert got["size"] == torch.Size([1, 2]) and got["device"] == torch.device("cpu") and got["dtype"] is torch.bfloat16
    assert got["plain"] == [None, True, 1, 2.5, "x", b"y", (1,), {2}, 1j, 2 ** 70] and got["scalar"].item() == 3 and got["empty"].shape == (0, 3)


def test_modules_of_pytorchs():
    model = torch.load(FILES / "module.pt", weights_only=False)
    x = torch.arange(32.0).reshape(2, 1, 4, 4) / 10
    expected = [-0.2554657459259033, -0.18226736783981323, 0.22307024896144867]
    assert type(model) is nn.Sequential and not model.training and torch.allclose(model(x), torch.tensor([expected, expected]), atol=1e-6)
    lstm = torch.load(FILES / "lstm.pt", weights_only=False)
    assert torch.allclose(lstm(torch.ones(1, 1, 2))[0], torch.tensor([[[0.025601712986826897, 0.0452769473195076, -0.09880330413579941]]]), atol=1e-6)
    assert lstm.double()(torch.ones(1, 1, 2, dtype=torch.float64))[0].dtype is torch.float64


# -- where to ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["cpu", torch.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, lambda storage, location: storage,
                                   lambda storage, location: None, lambda storage, location: storage.clone(), lambda storage, location: "cpu"])
def test_map_location(again, where):
    assert again({"x": torch.arange(3)}, map_location=where)["x"].tolist() == [0, 1, 2]


def test_map_location_sees_the_storage(again):
    seen = []
    again(torch.arange(3), map_location=lambda storage, location: seen.append((storage.nbytes(), location)))
    assert seen == [(24, "cpu")]
    with pytest.raises(RuntimeError, match="map_location"):
        again(torch.arange(3), map_location=lambda storage, location: 3)


def cuda_file():
    stream = io.BytesIO()
    torch.save({"x": torch.arange(3.0)}, stream)
    changed = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    changed.seek(0)
    return changed


def test_files_from_other_devices():
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on a CUDA device but torch.cuda.is_available\(\) is False"):
        torch.load(cuda_file())
    for where in ("cpu", {"cuda:0": "cpu"}, lambda storage, location: storage, "meta"):
        assert torch.load(cuda_file(), map_location=where)["x"].shape == (3,)
    assert torch.load(cuda_file(), map_location=lambda storage, location: storage)["x"].tolist() == [0, 1, 2]


# -- files and streams -----------------------------------------------------------------------------------------------------------


def test_mmap(tmp_path):
    x = torch.arange(1000.0)
    torch.save({"x": x, "b": torch.ones(3, dtype=torch.bfloat16)}, tmp_path / "a.pt")
    before = (tmp_path / "a.pt").read_bytes()
    got = torch.load(tmp_path / "a.pt", mmap=True)
    assert torch.equal(got["x"], x) and got["b"].tolist() == [1, 1, 1]
    got["x"].zero_()  # a private copy of the page
    assert (tmp_path / "a.pt").read_bytes() == before and torch.equal(torch.load(str(tmp_path / "a.pt"), mmap=True)["x"], x)
    with pytest.raises(ValueError, match="file path"):
        torch.load(io.BytesIO(before), mmap=True)
    torch.save(x, tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap"):
        torch.load(tmp_path / "legacy.pt", mmap=True)


class OnlyWrite:
    def __init__(self):
        self.content = b""

    def write(self, data):
        self.content += bytes(data)
        return len(data)

    def flush(self):
        pass


class OnlyRead:
    def __init__(self, content):
        self.stream = io.BytesIO(content)

    def read(self, n=-1):
        return self.stream.read(n)

    def readline(self):
        return self.stream.readline()

    def seek(self, *place):
        return self.stream.seek(*place)

    def tell(self):
        return self.stream.tell()


@pytest.mark.parametrize("new", [True, False])
def test_file_like_objects(new):
    out = OnlyWrite()
    torch.save([torch.arange(3), "x"], out, _use_new_zipfile_serialization=new)
    got = torch.load(OnlyRead(out.content))
    assert got[0].tolist() == [0, 1, 2] and got[1] == "x"
    with pytest.raises(AttributeError, match="write"):
        torch.save(1, 3)
    with pytest.raises(AttributeError, match="seek"):
        torch.load(3)


def test_several_objects_in_one_legacy_stream():
    stream = io.BytesIO()
    for k in range(3):
        torch.save(torch.full((2,), k), stream, _use_new_zipfile_serialization=False)
    stream.seek(0)
    assert [torch.load(stream).tolist() for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]


def test_paths(tmp_path):
    torch.save(torch.ones(1), tmp_path / "x.pt")
    torch.save(torch.ones(1), str(tmp_path / "y.pt"))
    assert zipfile.ZipFile(tmp_path / "x.pt").namelist()[0] == "x/data.pkl"
    os.symlink(tmp_path / "x.pt", tmp_path / "link.pt")
    torch.save(torch.zeros(1), tmp_path / "link.pt")
    assert (tmp_path / "link.pt").is_symlink() and torch.load(tmp_path / "x.pt").item() == 0
    os.chmod(tmp_path / "x.pt", 0o640)
    torch.save(torch.zeros(1), tmp_path / "x.pt")
    assert os.stat(tmp_path / "x.pt").st_mode & 0o777 == 0o640
    torch.save(torch.zeros(1), "/dev/null")
    assert not os.path.isfile("/dev/null")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.save(1, tmp_path / "no" / "x.pt")


def test_a_save_that_fails_keeps_the_old_file(tmp_path):
    torch.save(torch.ones(1), tmp_path / "x.pt")
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        torch.save([torch.zeros(1), lambda: None], tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt").item() == 1 and os.listdir(tmp_path) == ["x.pt"]


def test_a_save_that_is_killed_keeps_the_old_file(tmp_path):
    torch.save(torch.ones(1), tmp_path / "x.pt")
    code = f"""
import os, signal, saraph as torch
class Deadly:
    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGKILL)
torch.save([torch.zeros(100000), Deadly()], {str(tmp_path / "x.pt")!r}, _use_new_zipfile_serialization=False)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=120).returncode == -signal.SIGKILL
    assert torch.load(tmp_path / "x.pt").item() == 1


def test_pickle_protocols():
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        stream = io.BytesIO()
        torch.save({"x": torch.arange(3), "b": b"bytes", "s": {1}, "f": frozenset([2]), "long": "x" * 300}, stream, pickle_protocol=protocol)
        stream.seek(0)
        got = torch.load(stream)
        assert got["x"].tolist() == [0, 1, 2] and got["b"] == b"bytes" and got["s"] == {1} and got["f"] == {2} and got["long"] == "x" * 300


def test_byte_orders():
    stream = io.BytesIO()
    torch.save(torch.tensor([1, 2], dtype=torch.int32), stream)
    swapped = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(swapped, "w") as new:
        for name in old.namelist():
            data = {"archive/byteorder": b"big", "archive/data/0": b"\0\0\0\1\0\0\0\2"}.get(name, old.read(name))
            new.writestr(name, data)
    swapped.seek(0)
    assert torch.load(swapped).tolist() == [1, 2]


def test_storage_types_have_names():
    assert torch.serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
