"""Nested containers (lists, tuples, dicts and what users register) as a flat list of leaves and a spec that puts them together again.

    leaves, spec = tree_flatten({"a": 1, "b": [2, (3, None)]})     # [1, 2, 3, None]
    tree_unflatten([x * 10 if x else x for x in leaves], spec)     # {"a": 10, "b": [20, (30, None)]}
    tree_map(lambda x: x.detach(), batch)                          # detached, in the same containers

None is a leaf. A dict keeps its order of insertion; dicts with the same keys in another order fit together.

    nodes.py   the kinds of containers, and how users register theirs
    trees.py   specs, flattening, mapping
    paths.py   the same with the path to every leaf
    text.py    specs as text, and back

`saraph.utils._pytree` is where programs look for all of it.
"""
from saraph.pytree.trees import tree_flatten, tree_map, tree_unflatten

__all__ = ["tree_flatten", "tree_map", "tree_unflatten"]
