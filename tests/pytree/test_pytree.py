"""Trees of containers."""
import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import saraph as torch
from saraph.utils import _pytree as pytree

Pair = namedtuple("Pair", "a b")
TREE = {"b": [1, (2, None)], "a": Pair(3, []), "d": defaultdict(list, {1: 4}), "o": OrderedDict(z=5), "q": deque([6, 7], 3)}


def test_flatten_and_unflatten():
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == [1, 2, None, 3, 4, 5, 6, 7] == pytree.tree_leaves(TREE) and spec.num_leaves == 8
    back = pytree.tree_unflatten(leaves, spec)
    assert back == TREE and type(back["a"]) is Pair and back["d"].default_factory is list and back["q"].maxlen == 3
    with pytest.raises(ValueError, match="holds 8 items"):
        pytree.tree_unflatten([1], spec)
    assert pytree.tree_flatten(torch.Size([1, 2]))[0] == [1, 2]
    values = torch.max(torch.eye(2), 0)
    assert type(pytree.tree_map(lambda t: t + 1, values)) is type(values)


def test_maps():
    assert pytree.tree_map(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}]) == [11, {"x": 22}]
    assert pytree.tree_map_only(int, lambda i: i + 1, [1, "a", (2.0,)]) == [2, "a", (2.0,)]
    assert pytree.tree_map(lambda p: p.a, [Pair(1, 2)], is_leaf=lambda x: isinstance(x, Pair)) == [1]
    assert pytree.tree_all(bool, [1, [2]]) and pytree.tree_any_only(int, bool, [0, "a", 1])
    with pytest.raises(ValueError, match="arity mismatch; expected 2, but got 1"):
        pytree.tree_map(lambda a, b: a, [1, 2], [1])
    with pytest.raises(ValueError, match="type mismatch"):
        pytree.tree_map(lambda a, b: a, [1, 2], (1, 2))
    with pytest.raises(ValueError, match=r"missing key\(s\): {'a'}; extra key\(s\): {'b'}"):
        pytree.tree_map(lambda a, b: a, {"a": 1}, {"b": 1})


def test_specs():
    spec = pytree.tree_structure([1, (2, 3)])
    assert repr(spec) == "TreeSpec(list, None, [*,\n  TreeSpec(tuple, None, [*,\n    *])])"
    assert spec == pytree.tree_structure(["x", ("y", "z")]) and hash(spec) == hash(pytree.tree_structure([0, (0, 0)]))
    assert spec.children_specs[0] == pytree.LeafSpec() and isinstance(spec.child(0), pytree.LeafSpec) and not isinstance(spec, pytree.LeafSpec)
    assert pytree.treespec_tuple([spec, pytree.treespec_leaf()]).num_leaves == 4 and pytree.treespec_pprint(spec) == "[*, (*, *)]"
    assert pytree._broadcast_to_and_flatten([1, 2], pytree.tree_structure([(1, 2), 3])) == [1, 1, 2]


def test_text_form():
    tree = {k: v for k, v in TREE.items() if k != "a"}
    spec = pytree.tree_structure(tree)
    text = pytree.treespec_dumps(spec)
    assert text.startswith('[1, {"type": "builtins.dict", "context": "[\\"b\\", \\"d\\", \\"o\\", \\"q\\"]"') and pytree.treespec_loads(text) == spec
    with pytest.raises(NotImplementedError, match="namedtuple class"):
        pytree.treespec_dumps(pytree.tree_structure(TREE))
    with pytest.raises(ValueError, match="Unknown protocol 9"):
        pytree.treespec_loads("[9, 3]")


def test_paths():
    found, spec = pytree.tree_flatten_with_path({"x": [1, Pair(2, 3)]})
    assert [pytree.keystr(path) for path, _ in found] == ["['x'][0]", "['x'][1].a", "['x'][1].b"]
    assert [pytree.key_get({"x": [1, Pair(2, 3)]}, path) for path, _ in found] == [1, 2, 3]
    assert pytree.tree_map_with_path(lambda path, x: len(path), {"x": [1, 2]}) == {"x": [2, 2]} and spec.num_leaves == 3


def test_registering():
    class Box:
        def __init__(self, value):
            self.value = value

    pytree.register_pytree_node(Box, lambda b: ([b.value], None), lambda values, _: Box(*values))
    assert pytree.tree_map(lambda v: v * 2, Box(3)).value == 6
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Box, lambda b: ([], None), lambda values, _: Box(0))
    pytree._deregister_pytree_node(Box)

    @dataclasses.dataclass
    class Point:
        x: int
        y: int | None

    pytree.register_dataclass(Point)
    assert pytree.tree_leaves(Point(1, None)) == [1] and pytree.tree_map(lambda v: v + 1, Point(1, 2)) == Point(2, 3)
    pytree._deregister_pytree_node(Point)
