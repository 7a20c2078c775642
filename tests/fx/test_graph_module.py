"""GraphModules: changing, copying, saving, and running by interpreters."""
import copy
import importlib
import pickle
import sys

import pytest

import saraph as torch
import saraph.nn.functional as F
from saraph import fx, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.unused = nn.Linear(2, 2)
        self.w = nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.arange(4.0))

    def forward(self, x, y=1.0):
        return torch.sigmoid(self.norm(self.a(x))) * self.w + self.b * y


@pytest.fixture
def traced():
    torch.manual_seed(0)
    return fx.symbolic_trace(Net().eval())


X = torch.linspace(-1, 1, 12).reshape(3, 4)


def test_changes_take_effect_with_recompile(traced):
    for node in traced.graph.nodes:
        if node.target is torch.sigmoid:
            node.target = torch.tanh
    before = traced(X)
    traced.recompile()
    want = torch.tanh(traced.norm(traced.a(X))) + traced.b
    assert not torch.equal(before, traced(X)) and torch.allclose(traced(X), want)
    assert "torch.tanh(norm)" in traced.code and type(traced).__name__ == "Net" and not hasattr(traced, "unused")


def test_submodules(traced):
    assert traced.add_submodule("new.deep", nn.ReLU()) and isinstance(traced.new.deep, nn.ReLU)
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "new") and hasattr(traced, "a")
    assert traced.delete_submodule("a") and not traced.delete_submodule("a")
    with pytest.raises(RuntimeError, match="not provided in ``root``"):
        fx.GraphModule({}, traced.graph)
    with pytest.raises(RuntimeError, match="Unsupported type"):
        fx.GraphModule(3, traced.graph)


def test_copies_and_pickles(traced):
    traced.meta["note"] = 1
    for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced)):
        assert torch.equal(other(X), traced(X)) and other.code == traced.code and other.meta == {"note": 1} and not other.training
        assert str(other.graph) == str(traced.graph)
    other = copy.deepcopy(traced)
    with torch.no_grad():
        other.w.fill_(0)
    assert traced.w.tolist() == [1] * 4
    assert torch.equal(fx.symbolic_trace(traced)(X), traced(X))


def test_state_and_gradients(traced):
    twin = fx.symbolic_trace(Net().eval())
    twin.load_state_dict(traced.state_dict())
    assert torch.equal(twin(X), traced(X))
    traced(X).sum().backward()
    assert traced.a.weight.grad is not None and traced.w.grad.shape == (4,)


def test_to_folder(traced, tmp_path):
    traced.to_folder(tmp_path / "saved_module", "Saved")
    sys.path.insert(0, str(tmp_path))
    try:
        module = importlib.import_module("saved_module").Saved().eval()
    finally:
        sys.path.remove(str(tmp_path))
    assert torch.equal(module(X), traced(X))


def test_printing(traced, capsys):
    assert "def forward(self, x, y = 1.0):" in str(traced) and "(a): Linear" in str(traced)
    fx.passes.shape_prop.ShapeProp(traced).propagate(X)
    text = traced.print_readable()
    assert text.startswith("class Net(torch.nn.Module):\n    def forward(self, x: \"f32[3, 4]\"") and 'a: "f32[3, 4]" = self.a(x)' in text
    assert capsys.readouterr().out.strip() == text.strip()


def test_errors_in_generated_code_show_its_lines(traced):
    import traceback
    try:
        traced(torch.ones(3, 5))
    except RuntimeError as error:
        text = "".join(traceback.format_tb(error.__traceback__))
        assert "a = self.a(x)" in text
    else:
        raise AssertionError("no error")


def test_interpreter(traced):
    seen = []

    class Watch(fx.Interpreter):
        def run_node(self, n):
            seen.append(n.name)
            return super().run_node(n)

        def call_function(self, target, args, kwargs):
            return super().call_function(torch.tanh if target is torch.sigmoid else target, args, kwargs)

    got = Watch(traced).run(X)
    assert torch.allclose(got, torch.tanh(traced.norm(traced.a(X))) + traced.b) and seen[0] == "x" and seen[-1] == "output"
    assert torch.equal(fx.Interpreter(traced).run(X, 2.0), traced(X, 2.0))
    inputs = [X, 2.0]
    assert torch.equal(fx.Interpreter(traced).boxed_run(inputs), traced(X, 2.0)) and inputs == []
    x = traced.graph.find_nodes(op="placeholder")[0]
    assert torch.equal(fx.Interpreter(traced, garbage_collect_values=False).run(initial_env={x: X, x.next: 1.0}), traced(X))
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x") as error:
        fx.Interpreter(traced).run()
    assert "While executing %x" in str(error.value)


def test_transformer(traced):
    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return F.gelu(*args) if target is torch.sigmoid else super().call_function(target, args, kwargs)

    new = Swap(traced).transform()
    assert "torch.nn.functional.gelu" in new.code and "y = 1.0" in new.code
    assert torch.allclose(new(X), F.gelu(traced.norm(traced.a(X))) + traced.b)
    same = fx.Transformer(traced).transform()
    assert same.code == traced.code and torch.equal(same(X), traced(X))
