"""Layers, containers, losses, initialisers."""
from saraph.nn import attention, functional, init, modules, parallel, parameter, utils
from saraph.nn.modules import *  # noqa: F403
from saraph.nn.modules import __all__ as _names
from saraph.nn.parallel import DataParallel
from saraph.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "attention", "functional", "init", "modules", "parallel",
           "parameter", "utils", *_names]
