"""Matching and lifting of subgraphs."""
from saraph.fx.passes.utils import fuser_utils, matcher_utils, source_matcher_utils
from saraph.fx.passes.utils.common import HolderModule, compare_graphs, lift_subgraph_as_module
