"""Transforms: functions of tensors that know their inverse, the sets they map between and the log-determinant of their Jacobian.

`t(x)` maps, `t.inv(y)` maps back, `t.log_abs_det_jacobian(x, y)` needs both ends. With `cache_size=1` the last pair of ends is kept, so that
mapping back what was just mapped costs nothing and gives the very same tensor.
"""
from saraph.distributions.transforms_base import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    _InverseTransform,
    identity_transform,
)
from saraph.distributions.transforms_elementwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from saraph.distributions.transforms_vectors import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)

__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform",
           "ExpTransform", "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
           "SigmoidTransform", "SoftplusTransform", "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform",
           "identity_transform"]

for _name in __all__[:-1]:  # pickles and documentation name the public place
    globals()[_name].__module__ = __name__
_InverseTransform.__module__ = __name__
