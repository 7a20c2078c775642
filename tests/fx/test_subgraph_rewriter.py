"""Finding and replacing parts of graphs."""
import saraph as torch
from saraph import fx, nn
from saraph.fx.passes.utils.matcher_utils import SubgraphMatcher
from saraph.fx.subgraph_rewriter import replace_pattern_with_filters


def model(x, w1, w2):
    m1 = torch.cat([w1, w2]).sum()
    m2 = torch.cat([w1, w2]).sum()
    return x + torch.max(m1) + torch.max(m2)


def test_every_occurrence_is_replaced():
    traced = fx.symbolic_trace(model)
    matches = fx.replace_pattern(traced, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]).mean())
    assert len(matches) == 2 and traced.code.count("torch.stack") == 2 and "cat" not in traced.code
    traced.graph.lint()
    x = torch.ones(2)
    assert traced(x, x, 3 * x).tolist() == [5.0, 5.0]


def test_inner_values_used_elsewhere_prevent_a_match():
    def f(x):
        y = torch.relu(x)
        return torch.neg(y) + y

    traced = fx.symbolic_trace(f)
    assert fx.replace_pattern(traced, lambda x: torch.neg(torch.relu(x)), lambda x: x) == []


def test_chains_and_two_results():
    def f(x):
        return torch.neg(torch.neg(torch.neg(torch.neg(x))))

    traced = fx.symbolic_trace(f)
    assert len(fx.replace_pattern(traced, lambda x: torch.neg(torch.neg(x)), lambda x: torch.abs(x))) == 2
    assert traced(torch.tensor([-2.0])).item() == 2 and traced.code.count("torch.abs") == 2

    traced = fx.symbolic_trace(lambda x: (x.relu().sum() + x.relu().max()))
    fx.replace_pattern(traced, lambda x: (x.sum(), x.max()), lambda x: (x.max(), x.sum()))
    traced.graph.lint()


def test_filters_callbacks_and_literals():
    traced = fx.symbolic_trace(lambda x: torch.add(x, 1) + torch.add(x, 2))
    pattern = fx.symbolic_trace(lambda x: torch.add(x, 5)).graph
    found = replace_pattern_with_filters(traced, pattern, lambda x: torch.sub(x, 1), ignore_literals=True,
                                         match_filters=[lambda match, graph, pattern: match.returning_nodes[0].args[1] == 2])
    assert len(found) == 1 and [n.target for n in found[0].replacements] == [torch.sub]
    assert traced(torch.ones(1)).item() == 2
    made = replace_pattern_with_filters(traced, fx.symbolic_trace(lambda x: torch.sub(x, 1)),
                                        replacement_callback=lambda match, graph, pattern: fx.symbolic_trace(lambda x: torch.mul(x, 3)).graph)
    assert len(made) == 1 and traced(torch.ones(1)).item() == 5


def test_replacements_with_modules():
    class New(nn.Module):
        def __init__(self):
            super().__init__()
            self.extra = nn.Hardtanh(0, 1)

        def forward(self, x):
            return self.extra(x)

    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    fx.replace_pattern(traced, lambda x: torch.relu(x), fx.symbolic_trace(New()))
    assert isinstance(traced.extra, nn.Hardtanh) and traced(torch.tensor([5.0])).item() == 2


def test_matcher_maps_nodes():
    pattern, graph = fx.symbolic_trace(lambda a: torch.relu(a) * 2).graph, fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2).graph
    match, = SubgraphMatcher(pattern).match(graph)
    assert match.placeholder_nodes[0].name == "add" and match.returning_nodes[0].name == "mul"
    assert match.name_node_map["relu"].name == "relu"
