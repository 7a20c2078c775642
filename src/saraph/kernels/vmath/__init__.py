"""Functions of mathematics as IR, for scalars and vectors of float and double alike.

Each takes the builder and a value and gives a value of the same type; what it gives does not depend on the number of lanes. Coefficients are
minimax fits to the function named beside them, made for the two formats apart. No fast-math: specials, signed zeros and denormals are right.
"""
from saraph.kernels.vmath.base import maximum, polynomial
from saraph.kernels.vmath.errors import erf, erfc, erfinv, ndtr
from saraph.kernels.vmath.exponentials import exp, exp2, expm1, sigmoid, tanh
from saraph.kernels.vmath.gammas import digamma, lgamma
from saraph.kernels.vmath.hyperbolic import acosh, asinh, atanh, cosh, sinh
from saraph.kernels.vmath.logarithms import log, log1p, log2, log10
from saraph.kernels.vmath.powers import cbrt, hypot, pow
from saraph.kernels.vmath.trigonometry import acos, asin, atan, atan2, cos, sin, tan

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1",
           "hypot", "lgamma", "log", "log10", "log1p", "log2", "maximum", "ndtr", "polynomial", "pow", "sigmoid", "sin", "sinh", "tan", "tanh"]
