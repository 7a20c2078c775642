"""`saraph.nn.parameter`: Parameter, Buffer and their forms without a shape, as in `torch.nn.parameter`."""
from saraph.tensor.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter, UninitializedTensorMixin, is_lazy

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]
