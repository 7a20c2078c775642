"""Trees flattened along a spec that is known beforehand: what generated code with structured inputs calls."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from saraph.ops import return_types
from saraph.utils._pytree import PyTree, TreeSpec

FlattenFuncSpec = Callable[[PyTree, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[PyTree, TreeSpec], bool]
SUPPORTED_NODES: dict[Any, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, FlattenFuncExactMatchSpec | None] = {}


def register_pytree_flatten_spec(cls: Any, flatten_fn_spec: FlattenFuncSpec, flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None) -> None:
    """Tell how containers of a class are flattened along a spec."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: Any) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """The leaves of `pytree` in the order of `spec`; RuntimeError for a container that is not registered."""
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
                           "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make sure that any custom pytrees "
                           "have been registered before loading it.")
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    return [leaf for child, inner in zip(children, spec.children_specs) for leaf in tree_flatten_spec(child, inner)]


def _dict_flatten_spec(d: dict[Any, Any], spec: TreeSpec) -> list[Any]:
    return [d[key] for key in spec.context]


def _sequence_flatten_spec(values: Any, spec: TreeSpec) -> list[Any]:
    return [values[i] for i in range(spec.num_children)]


def _dict_flatten_spec_exact_match(d: dict[Any, Any], spec: TreeSpec) -> bool:
    return len(d) == spec.num_children


register_pytree_flatten_spec(dict, _dict_flatten_spec, _dict_flatten_spec_exact_match)
for _kind in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_kind, _sequence_flatten_spec, lambda values, spec: len(values) == spec.num_children)
for _name in return_types.__all__:
    register_pytree_flatten_spec(getattr(return_types, _name), _sequence_flatten_spec, lambda values, spec: len(values) == spec.num_children)
