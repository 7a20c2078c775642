"""Where the leaves of a tree are: `tree_flatten_with_path` and what builds on it."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from saraph.pytree.nodes import SUPPORTED_NODES, KeyPath, PyTree
from saraph.pytree.trees import TreeSpec, _get_node_type, tree_is_leaf, tree_structure


def tree_flatten_with_path(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """([(path, leaf), ...], spec) of a tree."""
    return list(_generate_key_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """[(path, leaf), ...] of a tree."""
    return list(_generate_key_paths((), tree, is_leaf))


def _generate_key_paths(path: KeyPath, tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if with_keys is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to register_pytree_node.")
    for key, child in with_keys(tree)[0]:
        yield from _generate_key_paths((*path, key), child, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTree:
    """`tree_map` whose function gets the path first: `func(path, leaf, *rest)`."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten([func(path, leaf, *xs) for (path, leaf), *xs in zip(found, *others)])


def keystr(kp: KeyPath) -> str:
    """A path as Python would write it: `['a'][0].weight`."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
