"""Passes as objects, their manager, and the partitioner."""
from saraph.fx.passes.infra import partitioner, pass_base, pass_manager
