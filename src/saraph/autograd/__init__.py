"""Automatic differentiation: `backward`, `grad`, grad modes, `Function`, `gradcheck`, `functional`, `graph`."""
from saraph.autograd import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler
from saraph.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from saraph.autograd.api import backward, grad
from saraph.autograd.function import Function
from saraph.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from saraph.autograd.gradcheck import gradcheck, gradgradcheck
from saraph.autograd.legacy import variable
from saraph.tensor.tensor import Tensor as Variable

__all__ = ["Function", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad", "forward_ad", "function", "functional", "grad",
           "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled",
           "set_multithreading_enabled", "variable"]
