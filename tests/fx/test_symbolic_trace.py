"""Tracing: what programs become, and that the result does the same."""
import gc
import math
import operator

import pytest

import saraph as torch
import saraph.nn.functional as F
from saraph import fx, nn
from saraph.tensor.state import state


def scaled(x, by=2):
    return x * by


fx.wrap("scaled")
fx.wrap("len")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4 * 3 * 3, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.arange(3.0))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = self.drop(torch.flatten(x, 1))
        return F.log_softmax(self.fc(x) * self.scale + self.shift, dim=1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        out = self.body(x)
        out += x
        return out


def test_a_network_as_code():
    net = Net().eval()
    traced = fx.symbolic_trace(net)
    assert traced.code == '''


def forward(self, x):
    conv = self.conv(x);  x = None
    relu = torch.nn.functional.relu(conv, inplace = False);  conv = None
    max_pool2d = torch.nn.functional.max_pool2d(relu, 2, stride = None, padding = 0, dilation = 1, ceil_mode = False, return_indices = False);  relu = None
    flatten = torch.flatten(max_pool2d, 1);  max_pool2d = None
    drop = self.drop(flatten);  flatten = None
    fc = self.fc(drop);  drop = None
    scale = self.scale
    mul = fc * scale;  fc = scale = None
    shift = self.shift
    add = mul + shift;  mul = shift = None
    log_softmax = torch.nn.functional.log_softmax(add, dim = 1, _stacklevel = 3, dtype = None);  add = None
    return log_softmax
    '''
    x = torch.randn(2, 1, 8, 8)
    assert torch.equal(traced(x), net(x))
    assert not traced.training and [n for n, _ in traced.named_parameters()] == ["scale", "conv.weight", "conv.bias", "fc.weight", "fc.bias"]
    assert [n for n, _ in traced.named_buffers()] == ["shift"]


def test_nested_modules_keep_their_paths():
    traced = fx.symbolic_trace(Block())
    assert str(traced.graph) == '''graph():
    %x : [num_users=2] = placeholder[target=x]
    %body_0 : [num_users=1] = call_module[target=body.0](args = (%x,), kwargs = {})
    %body_1 : [num_users=1] = call_module[target=body.1](args = (%body_0,), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%body_1, %x), kwargs = {})
    return add'''
    assert 'body_0 = getattr(self.body, "0")(x)' in traced.code
    node = list(traced.graph.nodes)[1]
    assert list(node.meta["nn_module_stack"].values()) == [("body", nn.Sequential), ("body.0", nn.Linear)]


def test_torch_and_functional_names_are_told_apart():
    text = str(fx.symbolic_trace(lambda x: torch.relu(x) + F.relu(x) + x.relu() + F.gelu(x)).graph)
    assert "target=torch.relu](args = (%x,), kwargs = {})" in text
    assert "target=torch.nn.functional.relu](args = (%x,), kwargs = {inplace: False})" in text
    assert "call_method[target=relu]" in text and "target=torch.nn.functional.gelu](args = (%x,)" in text


def test_operators_attributes_and_items():
    def f(x, y):
        a, b = x.chunk(2)
        size = x.shape[-1]
        return -a @ b.T + 2 ** y - abs(a), x[:, 1:, None, ...], size // 2, x.max(dim=1).values, a > 0, ~(b == a)

    traced = fx.symbolic_trace(f)
    x, y = torch.arange(16.0).reshape(4, 4) - 7, torch.tensor(3.0)
    x = torch.cat([x[:2, :2], x[2:, :2]])
    for got, want in zip(traced(x, y), f(x, y)):
        assert got == want if isinstance(want, int) else torch.equal(got, want)
    assert "getattr_1 = x.shape" in traced.code and "getitem_2 = getattr_1[-1]" in traced.code


def test_defaults_annotations_and_variadic_inputs():
    def f(x: torch.Tensor, i: int = 3, *args, key: float = 1.5, **kwargs) -> torch.Tensor:
        return x * i + args[0] * key + kwargs["extra"]

    traced = fx.symbolic_trace(f)
    assert "def forward(self, x : torch.Tensor, i : int = 3, key : float = 1.5, *args, **kwargs) -> torch.Tensor:" in traced.code
    assert traced(torch.ones(2), 2, 2.0, torch.ones(2), extra=1).tolist() == [5.0, 5.0]
    g = fx.symbolic_trace(lambda x, y=2: x + y)
    assert g(torch.ones(1)).item() == 3 and g(torch.ones(1), 5).item() == 6


def test_wrapped_functions_become_calls():
    traced = fx.symbolic_trace(lambda x: scaled(x, by=len(x)) + math.sqrt(x.sum()))
    targets = [n.target for n in traced.graph.nodes if n.op == "call_function"]
    assert scaled in targets and len in targets and math.sqrt in targets
    assert 'torch.fx._symbolic_trace.wrap("len")' in traced.code
    assert traced(torch.ones(4)).tolist() == [6.0] * 4
    assert scaled(torch.ones(1)).item() == 2  # outside a trace nothing has changed
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("scaled")
    with pytest.raises(RuntimeError, match="Unsupported type"):
        fx.wrap(3)


def test_constants_become_attributes():
    traced = fx.symbolic_trace(lambda x: torch.tensor([1.0, 2.0]) + x)
    assert traced._tensor_constant0.tolist() == [1, 2]
    assert traced(torch.ones(2)).tolist() == [2, 3]
    assert "_tensor_constant0 + x" in traced.code


def test_in_place_methods_and_functions():
    def f(x):
        x = x.clone()
        x.add_(1)
        torch.relu_(x)
        return x.mul_(2)

    assert fx.symbolic_trace(f)(torch.tensor([-3.0, 2.0])).tolist() == [0, 6]


@pytest.mark.parametrize("f, message", [
    (lambda x: x if x.sum() > 0 else -x, "control flow"),
    (lambda x: x and 1, "control flow"),
    (lambda x: list(enumerate(x)), "cannot be iterated"),
    (lambda x: torch.cat([*x]), "cannot be iterated"),
])
def test_control_flow_on_values(f, message):
    with pytest.raises(fx.proxy.TraceError, match=message):
        fx.symbolic_trace(f)


def test_other_errors():
    with pytest.raises(RuntimeError, match=r"torch.fx.wrap\('len'\)"):
        fx.symbolic_trace(lambda x: x.__len__())
    with pytest.raises(TypeError, match="item assignment"):
        fx.symbolic_trace(lambda x: x.__setitem__(0, 1) if False else operator.setitem(x, 0, 1))
    with pytest.raises(NotImplementedError, match="argument of type"):
        fx.symbolic_trace(lambda x: x + object())
    with pytest.raises(NameError, match="not installed as a submodule"):
        fx.symbolic_trace(lambda x: nn.Linear(2, 2)(x))
    assert nn.Module.__call__.__qualname__ == "Module.__call__" and nn.Linear(2, 2)(torch.ones(2)).shape == (2,)


def test_concrete_arguments():
    def f(x, flag):
        return x if flag else -x

    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(f)
    traced = fx.symbolic_trace(f, concrete_args={"flag": False})
    assert traced(torch.ones(1), False).item() == -1
    with pytest.raises(AssertionError, match="flag has been specialized to have value False"):
        traced(torch.ones(1), True)
    nested = fx.symbolic_trace(lambda x, d: {"sum": x + d["a"], "n": d["b"]}, concrete_args={"d": {"a": fx.PH, "b": 3}})
    assert "fx_pytree.tree_flatten_spec([x, d], self._in_spec)" in nested.code
    out = nested(torch.ones(1), {"a": torch.ones(1), "b": 3})
    assert out["sum"].item() == 2 and out["n"] == 3


def test_own_tracers():
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, name):
            return False

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            node.tag = "mine"
            return node

    block = Block()
    graph = Whole().trace(block)
    assert not graph.find_nodes(op="call_module") and all(n.tag == "mine" for n in graph.nodes)
    x = torch.randn(2, 4)
    assert torch.allclose(fx.GraphModule(block, graph)(x), block(x))


def test_traces_of_asserts_and_stacks():
    class Asserting(fx.Tracer):
        trace_asserts = True
        record_stack_traces = True

    space = {}
    exec("def f(x):\n    assert x.sum() > 0\n    return x + 1\n", space)  # pytest rewrites the assertions of this file
    graph = Asserting().trace(space["f"])
    traced = fx.GraphModule(nn.Module(), graph)
    assert traced(torch.ones(1)).item() == 2
    with pytest.raises(AssertionError):
        traced(-torch.ones(1))
    assert "in f" in graph.find_nodes(op="call_function", target=operator.add)[0].stack_trace


def test_known_shapes_of_parameters():
    class Shaped(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3, 2))

        def forward(self, x):
            return x @ self.w if self.w.shape[0] == 3 else x

    module = Shaped()
    graph = fx.Tracer(param_shapes_constant=True).trace(module)
    assert "matmul" in str(graph)
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(module)


def test_modes_are_off_after_tracing():
    gc.collect()
    before = state.active
    traced = fx.symbolic_trace(Net())
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: x if x else x)
    gc.collect()
    assert state.active == before and not fx._symbolic_trace.is_fx_tracing() and traced is not None
