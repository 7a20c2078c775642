"""Graphs by hand: making, changing, checking, copying."""
import copy
import operator
import pickle

import pytest

import saraph as torch
from saraph import fx, nn


def small():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.relu, (x,))
    graph.output(y)
    return graph, x, y


def run(graph, *args):
    return fx.GraphModule(nn.Module(), graph)(*args)


def test_nodes_know_their_users_and_inputs():
    graph, x, y = small()
    assert x.users == {y: None} and y.all_input_nodes == [x] and x.next is y and y.prev is x
    assert [n.op for n in graph.nodes] == ["placeholder", "call_function", "output"] and len(graph.nodes) == 3
    assert [n.op for n in reversed(graph.nodes)][0] == "output"
    assert x < y and graph.output_node().args == (y,)


def test_names_are_unique_and_legal():
    graph = fx.Graph()
    names = [graph.placeholder(n).name for n in ("x", "x", "x_1", "input", "lambda", "1a", "a.b")]
    assert names == ["x", "x_1", "x_2", "input_1", "lambda_1", "_1a", "a_b"]
    x = graph.placeholder("y")
    assert graph.call_function(torch.sum, (x,)).name == "sum_1"
    assert graph.call_module("layerNorm.0", (x,)).name == "layer_norm_0"
    assert graph.call_function(operator.add, (x, 1), name="total").name == "total"


def test_inserting_and_replacing():
    graph, x, y = small()
    with graph.inserting_after(y):
        z = graph.call_function(torch.neg, (y,))
    y.replace_all_uses_with(z)
    z.replace_input_with(z, y)  # replace_all_uses_with also changed z itself
    graph.lint()
    assert run(graph, torch.tensor([-1.0, 2.0])).tolist() == [0.0, -2.0]
    with graph.inserting_before(y):
        w = graph.call_method("add", (x, 1))
    y.update_arg(0, w)
    y.args = (w,)
    assert run(graph, torch.tensor([-3.0, 2.0])).tolist() == [0.0, -3.0]
    w.update_kwarg("alpha", 2)
    w.insert_arg(1, w.args[1])
    assert w.args == (x, 1, 1) and w.kwargs == {"alpha": 2}
    changed = x.replace_all_uses_with(y, delete_user_cb=lambda n: False)
    assert changed == []


def test_erasing():
    graph, x, y = small()
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(x)
    graph.output_node().args = (x,)
    graph.erase_node(y)
    assert len(graph.nodes) == 2 and x.users == {graph.output_node(): None}
    other, z, _ = small()
    other.output_node().args = (1,)
    with pytest.raises(RuntimeError, match="wrong graph|still had"):
        graph.erase_node(z)


def test_dead_code_goes_and_effects_stay():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.neg, (graph.call_function(torch.relu, (x,)),))
    graph.call_function(operator.setitem, (x, 0, 5.0))
    graph.call_function(torch.rand, (2,))
    graph.output(x)
    assert graph.eliminate_dead_code()
    assert [n.name for n in graph.nodes] == ["x", "setitem", "rand", "output"]
    assert not graph.eliminate_dead_code()
    assert graph.eliminate_dead_code(lambda n: n.target is operator.setitem)
    assert run(graph, torch.zeros(2)).tolist() == [5, 0]

    @fx.has_side_effect
    def log(x):
        return x

    node = graph.call_function(log, (x,))
    assert node.is_impure()


def test_lint_says_what_is_wrong():
    graph, x, y = small()
    other, z, _ = small()
    y.args = (z,)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()
    y.args = (x,)
    y.append(x)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    with pytest.raises(AssertionError, match="_legal_ops"):
        graph.create_node("call", "x")
    with pytest.raises(ValueError, match="Callable"):
        graph.call_function("relu")
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    list(module.graph.nodes)[1].target = "7"
    with pytest.raises(RuntimeError, match="nonexistent attribute 7"):
        module.graph.lint()


def test_arguments_refuse_changes():
    graph, x, y = small()
    node = graph.call_function(torch.cat, ([x, y],), {"dim": 0})
    with pytest.raises(TypeError, match="does not support mutation"):
        node.args[0].append(x)
    with pytest.raises(TypeError, match="does not support mutation"):
        node.kwargs["dim"] = 1
    assert fx.map_arg({"a": [x, 1], "b": slice(y, None)}, lambda n: n.name) == {"a": ["x", 1], "b": slice("relu", None, None)}


def test_copies_and_pickles():
    graph, x, y = small()
    y.meta["note"] = 1
    for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        other.lint()
        assert str(other) == str(graph) and all(n.graph is other for n in other.nodes)
        assert run(other, torch.tensor([-1.0])).item() == 0
    assert list(copy.deepcopy(graph).nodes)[1].meta == {"note": 1}
    both = fx.Graph()
    a = both.placeholder("a")
    first = both.graph_copy(graph, {x: a})
    second = both.graph_copy(graph, {x: first})
    both.output((first, second))
    assert str(both).count("torch.nn.functional.relu") + str(both).count("torch.relu") == 2


def test_source_of_unusual_operations():
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=torch.Tensor, default_value=3)
    graph.call_function(operator.setitem, (x, 0, 1))
    graph.call_function(operator.iadd, (x, 1))
    graph.call_function(getattr, (x, "a b"))
    graph.call_function(getattr, (x, "shape"))
    graph.call_function(torch.zeros, ((2, 3),), {"dtype": torch.float16, "device": torch.device("cpu")})
    graph.output({"k": (x,), "inf": float("inf")})
    assert graph.python_code("self").src == '''


def forward(self, x : torch.Tensor = 3):
    x[0] = 1;  setitem = x;  setitem = None
    x += 1;  iadd = x;  iadd = None
    getattr_1 = getattr(x, 'a b');  getattr_1 = None
    getattr_2 = x.shape;  getattr_2 = None
    zeros = torch.zeros((2, 3), dtype = torch.float16, device = device(type='cpu'));  zeros = None
    return {'k': (x,), 'inf': inf}
    '''


def test_tables_and_transformers_of_code(capsys):
    graph, x, y = small()
    graph.print_tabular()
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["opcode", "name", "target", "args", "kwargs"] and out[2].split() == ["placeholder", "x", "x", "()", "{}"]
    with graph.on_generate_code(lambda before: lambda body: ["print('run')\n", *body]):
        assert "print('run')" in graph.python_code("self").src
    assert "print" not in graph.python_code("self").src

    class Named(fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            return f"def forward(self, inputs):\n    {', '.join(free_vars)}, = inputs"

        def process_inputs(self, inputs):
            return inputs

    graph.set_codegen(Named())
    module = fx.GraphModule(nn.Module(), graph)
    assert module([torch.tensor([-1.0])]).item() == 0
    assert fx.Interpreter(module).run([torch.tensor([3.0])]).item() == 3


def test_sizes_and_find_nodes():
    graph, x, y = small()
    with graph.inserting_before(graph.output_node()):
        size = graph.create_size_node(y, 0)
    assert graph.find_nodes(op="call_method", target="size") == [size]
    assert graph.find_nodes(op="call_function", target=torch.relu) == [y] and graph.find_nodes(op="get_attr") == []
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    call = module.graph.find_nodes(op="call_module")[0]
    assert call.normalized_arguments(module, normalize_to_only_use_kwargs=True).kwargs == {"input": call.args[0]}
