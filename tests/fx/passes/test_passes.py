"""Shape propagation, splitting, managing, fusing."""
import pytest

import saraph as torch
from saraph import fx, nn
from saraph.fx.experimental.optimization import fuse, optimize_for_inference
from saraph.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from saraph.fx.passes.infra.pass_base import PassBase, PassResult
from saraph.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint
from saraph.fx.passes.operator_support import OpSupports, any_chain, chain, create_op_support
from saraph.fx.passes.shape_prop import ShapeProp
from saraph.fx.passes.split_module import split_module
from saraph.fx.passes.split_utils import split_by_tags
from saraph.fx.passes.tools_common import legalize_graph


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, bias=False)
        self.bn = nn.BatchNorm2d(2)
        self.drop = nn.Dropout()
        self.fc = nn.Linear(2 * 4 * 4, 3)
        self.scale = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        return self.fc(self.drop(x.flatten(1))) * self.scale, x.shape


@pytest.fixture
def net():
    torch.manual_seed(1)
    net = Net()
    net(torch.randn(8, 1, 6, 6))
    return net.eval()


X = torch.linspace(0, 1, 72).reshape(2, 1, 6, 6)


def test_shapes(net):
    traced = fx.symbolic_trace(net)
    ShapeProp(traced).propagate(X)
    meta = {n.name: n.meta["tensor_meta"] for n in traced.graph.nodes if "tensor_meta" in n.meta and n.op != "output"}
    assert meta["conv"].shape == (2, 2, 4, 4) and meta["conv"].dtype is torch.float32 and meta["conv"].stride == (32, 16, 4, 1)
    assert meta["scale"].requires_grad and meta["x"].memory_format is torch.contiguous_format
    assert traced.graph.find_nodes(op="call_function", target=getattr)[0].meta["type"] is torch.Size
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%conv"):
        ShapeProp(traced).propagate(torch.ones(1))


def test_split_module(net):
    traced = fx.symbolic_trace(net)
    names = {"conv": 0, "bn": 0, "relu": 0}
    paths = {}
    split = split_module(traced, net, lambda n: names.get(n.name, 1), paths)
    assert [n for n, _ in split.named_children()] == ["submod_0", "submod_1"] and paths["submod_0.conv"] == "conv"
    assert torch.equal(split(X)[0], net(X)[0]) and split(X)[1] == net(X)[1]
    with pytest.raises(RuntimeError, match="cycle"):
        split_module(traced, net, lambda n: int(n.name in ("bn", "fc")))


def test_split_by_tags(net):
    traced = fx.symbolic_trace(net)
    for node in traced.graph.nodes:
        node.tag = "first" if node.name in ("conv", "bn", "relu") else "second"
    split = split_by_tags(traced, ["first", "second"])
    assert torch.equal(split(X)[0], net(X)[0]) and {"first", "second"} <= {n for n, _ in split.named_children()}


def test_fusing_and_inference(net):
    for other in (fuse(net), optimize_for_inference(net)):
        assert torch.allclose(other(X)[0], net(X)[0], atol=1e-5)
        assert not any(isinstance(m, nn.BatchNorm2d) for m in [other.get_submodule(str(n.target)) for n in other.graph.find_nodes(op="call_module")])
    assert not optimize_for_inference(net).graph.find_nodes(op="call_module", target="drop")
    assert net.conv.bias is None


def test_pass_manager():
    def to_tanh(gm):
        for node in gm.graph.find_nodes(op="call_function", target=torch.relu):
            node.target = torch.tanh

    class ToNeg(PassBase):
        def call(self, gm):
            found = gm.graph.find_nodes(op="call_function", target=torch.tanh)
            for node in found:
                node.target = torch.neg
            return PassResult(gm, bool(found))

    first, second = pass_result_wrapper(to_tanh), ToNeg()
    manager = PassManager([second, first], constraints=[this_before_that_pass_constraint(first, second)])
    result = manager(fx.symbolic_trace(lambda x: torch.relu(x)))
    assert result.modified and manager.passes == [first, second] and result.graph_module(torch.ones(1)).item() == -1
    with pytest.raises(RuntimeError, match="Circular"):
        PassManager([first, second], [this_before_that_pass_constraint(first, second), this_before_that_pass_constraint(second, first)]
                    ).solve_constraints()
    with pytest.raises(Exception, match="wrapper|error occurred|PassResult"):
        PassManager([lambda gm: None])(fx.symbolic_trace(lambda x: x))


def test_partitioner():
    def f(x, y):
        a = torch.add(x, y)
        b = torch.relu(a)
        c = b.sin()
        return torch.add(torch.relu(c), b)

    traced = fx.symbolic_trace(f)
    support = create_op_support(lambda modules, node: node.target in (torch.add, torch.relu))
    both = chain(support, any_chain(OpSupports.decline_if_node_in_names({"nothing"}), support))
    partitioner = CapabilityBasedPartitioner(traced, both, allows_single_node_partition=False)
    groups = partitioner.propose_partitions()
    assert sorted(sorted(n.name for n in g.nodes) for g in groups) == [["add", "relu"], ["add_1", "relu_1"]]
    fused = partitioner.fuse_partitions(groups)
    fused.recompile()
    x = torch.linspace(-1, 1, 5)
    assert torch.allclose(fused(x, x), f(x, x)) and {"fused_0", "fused_1"} <= {n for n, _ in fused.named_children()}


def test_legalize():
    traced = fx.symbolic_trace(lambda x: torch.neg(torch.relu(x)))
    x, relu, neg, out = traced.graph.nodes
    relu.prepend(neg)
    with pytest.raises(RuntimeError):
        traced.graph.lint()
    legalize_graph(traced).graph.lint()
    assert traced(torch.ones(1)).item() == -1
