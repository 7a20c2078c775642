"""`torch.func`: transforms of functions: derivatives that nest, and mapping over a batch.

    grad(loss)(params, x)                      the gradient of a scalar function, as a function
    vmap(grad(loss), (None, 0))(params, xs)    one gradient per sample
    jacrev, jacfwd, hessian, vjp, jvp, linearize

Each derivative follows the inputs it is asked about and nothing else, at any depth of nesting. Results can be differentiated by an enclosing transform or
by ordinary autograd, where something outside needs a gradient.
"""
from saraph.func.batching import vmap
from saraph.func.derivatives import grad, grad_and_value, jvp, linearize, vjp
from saraph.func.jacobians import hessian, jacfwd, jacrev
from saraph.func.modules import debug_unwrap, functional_call, functionalize, stack_module_state

__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "stack_module_state", "vjp", "vmap"]
