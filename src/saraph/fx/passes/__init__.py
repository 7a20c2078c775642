"""Passes over graphs: shapes, splitting, matching, managing."""
from saraph.fx.passes import (
    graph_manipulation,
    infra,
    operator_support,
    param_fetch,
    pass_manager,
    shape_prop,
    split_module,
    split_utils,
    tools_common,
    utils,
)
