"""`torch.func`: transforms of functions: derivatives that nest, and mapping over a batch.

    grad(loss)(params, x)                      the gradient of a scalar function, as a function
    vmap(grad(loss), (None, 0))(params, xs)    one gradient per sample
    jacrev, jacfwd, hessian, vjp, jvp, linearize

Each derivative follows the inputs it is asked about and nothing else, at any depth of nesting. Results can be differentiated by an enclosing transform or
by ordinary autograd, where something outside needs a gradient.
"""
from importlib import import_module
from typing import Any

from saraph.func.batching import vmap
from saraph.func.derivatives import grad, grad_and_value, jvp, linearize, vjp
from saraph.func.jacobians import hessian, jacfwd, jacrev
from saraph.func.mutation import debug_unwrap, functionalize

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "stack_module_state", "vjp", "vmap"]


def __getattr__(name: str) -> Any:
    """What transforms need of modules lives upstairs, and is handed out from here."""
    if name in ("functional_call", "stack_module_state"):
        return getattr(import_module("saraph.nn.utils.calling"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
