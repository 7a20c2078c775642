"""Activations."""
import math

import numpy as np
import scipy.special as sp
from golden import V, X, case, fresh

D = np.array([[-3.5, -0.4, 0.2, 4.1], [0.7, 2.6, -1.1, 6.5]])  # both sides of every corner, no corner


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805  # the fixed point of "Self-normalizing neural networks"


def elu(x, a=1.0):
    return np.where(x > 0, x, a * np.expm1(x))


def selu(x):
    return SCALE * elu(x, ALPHA)


F = "nn.functional."
for _name, _of in {"relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
                   "elu": elu, "celu": elu, "selu": selu, "silu": lambda x: x * sigmoid(x), "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
                   "softsign": lambda x: x / (1 + np.abs(x)), "tanhshrink": lambda x: x - np.tanh(x), "hardtanh": lambda x: np.clip(x, -1, 1),
                   "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6, "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
                   "hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0), "softplus": lambda x: np.log1p(np.exp(x)),
                   "softshrink": lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0), "logsigmoid": lambda x: -np.log1p(np.exp(-x)),
                   "gelu": lambda x: x * sp.ndtr(x)}.items():
    case(F + _name, _of, D)
case(F + "gelu", gelu_tanh(D), D, approximate="tanh")
case(F + "leaky_relu", np.where(D > 0, D, 0.3 * D), D, 0.3)
case(F + "elu", elu(D, 2.0), D, 2.0)
case(F + "celu", np.where(D > 0, D, 2 * np.expm1(D / 2)), D, 2.0)
case(F + "softplus", np.where(2 * D > 3, D, np.log1p(np.exp(2 * D)) / 2), D, 2.0, 3.0)
case(F + "hardtanh", np.clip(D, -2, 3), D, -2.0, 3.0)
case(F + "hardshrink", np.where(np.abs(D) > 1, D, 0), D, 1.0)
case(F + "softshrink", np.sign(D) * np.maximum(np.abs(D) - 1, 0), D, 1.0)
case(F + "threshold", np.where(D > 0.5, D, -7.0), D, 0.5, -7.0)
case(F + "glu", D[:, :2] * sigmoid(D[:, 2:]), D)
case(F + "glu", D[:1] * sigmoid(D[1:]), D, 0)
case(F + "prelu", np.where(D > 0, D, 0.25 * D), D, np.array([0.25]))
case(F + "prelu", np.where(X > 0, X, V * X), X, V)
case(F + "rrelu", np.where(D > 0, D, D * (1 / 8 + 1 / 3) / 2), D)
case(F + "softmax", sp.softmax(X, 0), X, 0)
case(F + "log_softmax", sp.log_softmax(X, 1), X, 1)
case(F + "softmin", sp.softmax(-X, 1), X, 1)
_IN_PLACE = {"relu_": ((), np.maximum(D, 0)), "leaky_relu_": ((0.2,), np.where(D > 0, D, 0.2 * D)), "elu_": ((1.5,), elu(D, 1.5)),
             "hardtanh_": ((), np.clip(D, -1, 1)), "celu_": ((), elu(D)), "selu_": ((), selu(D)),
             "threshold_": ((0.5, -7.0), np.where(D > 0.5, D, -7.0)), "rrelu_": ((), np.where(D > 0, D, D * (1 / 8 + 1 / 3) / 2))}
for _name, (_args, _want) in _IN_PLACE.items():
    case(F + _name, _want, D, *_args, _before=fresh)
