"""Registering parameters, buffers and submodules; finding, replacing, converting and printing them."""
import pytest

import saraph as torch
from saraph import nn


def test_assignment_registers_by_kind_and_moves_between_tables():
    m = nn.Module()
    m.x = nn.Parameter(torch.ones(1))
    assert "x" in m._parameters
    with pytest.raises(TypeError, match=r"cannot assign 'torch.*' as parameter 'x' \(torch.nn.Parameter or None expected\)"):
        m.x = torch.ones(1)
    m.x = None
    assert m.x is None and "x" in m._parameters
    with pytest.raises(TypeError, match="as parameter 'x'"):
        m.x = nn.Linear(1, 1)
    del m.x
    m.x = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="as child module 'x'"):
        m.x = 3
    m.x = nn.Parameter(torch.ones(1))
    assert "x" in m._parameters and "x" not in m._modules
    m.b = nn.Buffer(torch.zeros(1), persistent=False)
    assert "b" in m._buffers and "b" in m._non_persistent_buffers_set
    m.b = torch.ones(2)
    assert m._buffers["b"].shape == (2,) and list(m.state_dict()) == ["x"]
    with pytest.raises(TypeError, match="as buffer 'b'"):
        m.b = "text"
    m.plain = torch.ones(1)
    assert "plain" in m.__dict__
    del m.x, m.b
    assert not hasattr(m, "x") and not m._parameters and not m._buffers
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'x'"):
        assert m.x


def test_nothing_is_registered_before_init():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Early(nn.Parameter(torch.ones(1)))
    with pytest.raises(AttributeError, match="cannot assign module before"):
        Early(nn.Identity())
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        nn.Module(wrong=1)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda m: m.register_parameter("a.b", None), KeyError, "t contain"),
    (lambda m: m.register_parameter("", None), KeyError, "t be empty"),
    (lambda m: m.register_parameter(3, None), TypeError, "should be a string"),
    (lambda m: m.register_parameter("forward", None), KeyError, "already exists"),
    (lambda m: m.register_parameter("p", torch.ones(1)), TypeError, "torch.nn.Parameter or None required"),
    (lambda m: m.register_buffer("a.b", None), KeyError, "t contain"),
    (lambda m: m.register_buffer("b", 3), TypeError, "torch Tensor or None required"),
    (lambda m: m.add_module("a.b", nn.Identity()), KeyError, "t contain"),
    (lambda m: m.add_module("m", 3), TypeError, "is not a Module subclass"),
    (lambda m: m.add_module("forward", nn.Identity()), KeyError, "already exists"),
    (lambda m: m.train("yes"), ValueError, "boolean"),
    (lambda m: m.to(torch.int64), TypeError, "floating point or complex dtypes"),
])
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call(nn.Module())


def test_a_computed_tensor_is_no_parameter():
    p = nn.Parameter(torch.ones(1))
    m = nn.Module()
    q = nn.Parameter.__new__(nn.Parameter, torch.ones(1))
    assert isinstance(q, nn.Parameter)
    with pytest.raises(TypeError):
        m.register_parameter("w", p * 2)


def test_names_prefixes_and_duplicates():
    shared = nn.Linear(1, 1, bias=False)
    m = nn.Module()
    m.a, m.b, m.none = shared, shared, None
    assert [n for n, _ in m.named_parameters()] == ["a.weight"]
    assert [n for n, _ in m.named_parameters(remove_duplicate=False)] == ["a.weight", "b.weight"]
    assert [n for n, _ in m.named_modules()] == ["", "a"] and [n for n, _ in m.named_modules(remove_duplicate=False)] == ["", "a", "b"]
    assert [n for n, _ in m.named_children()] == ["a"] and len(list(m.children())) == 1
    assert [n for n, _ in m.named_parameters("net")] == ["net.a.weight"] and list(m.named_parameters(recurse=False)) == []


def test_finding_and_replacing_by_path():
    m = nn.Sequential(nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2)))
    assert m.get_submodule("") is m and m.get_submodule("0.1") is m[0][1]
    assert m.get_parameter("0.0.weight") is m[0][0].weight and m.get_buffer("0.1.running_mean") is m[0][1].running_mean
    with pytest.raises(AttributeError, match="is not a buffer"):
        m.get_buffer("0.0.weight")
    with pytest.raises(AttributeError, match="is not an nn.Parameter"):
        m.get_parameter("0.1.running_mean")
    m.set_submodule("0.1", nn.Identity())
    assert type(m[0][1]) is nn.Identity
    with pytest.raises(AttributeError):
        m.set_submodule("0.5", nn.Identity(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        m.set_submodule("", nn.Identity())


def test_conversion_keeps_parameters_and_their_gradients():
    m = nn.Linear(2, 1)
    weight = m.weight
    m(torch.ones(1, 2)).backward()
    m.to(torch.float64)
    assert m.weight is weight and weight.dtype is torch.float64 and weight.grad.dtype is torch.float64 and weight.grad.tolist() == [[1, 1]]
    assert m.half().weight.dtype is torch.float16 and m.bfloat16().bias.dtype is torch.bfloat16 and m.float().bias.dtype is torch.float32
    meta = nn.Linear(2, 1).to("meta")
    assert meta.weight.is_meta and not meta.to_empty(device="cpu").weight.is_meta
    m.requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())


def test_zeroing_gradients():
    m = nn.Linear(1, 1)
    m(torch.ones(1, 1)).backward()
    m.zero_grad(set_to_none=False)
    assert m.weight.grad.tolist() == [[0.0]]
    m.zero_grad()
    assert m.weight.grad is None


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_deep_nesting_prints_with_indents():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3, padding=1)
            self.rest = nn.Sequential(nn.ReLU(inplace=True), nn.Dropout(0.25))

        def extra_repr(self):
            return "kind=test"

    assert repr(Net()) == (
        "Net(\n  kind=test\n  (conv): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))\n"
        "  (rest): Sequential(\n    (0): ReLU(inplace=True)\n    (1): Dropout(p=0.25, inplace=False)\n  )\n)")
    assert repr(nn.Module()) == "Module()"
    assert "conv" in dir(Net()) and "weight" in dir(Net().conv)
