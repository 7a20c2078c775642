"""Kernels: small numeric programs that Python writes as LLVM IR, compiled on first use, each with a NumPy definition.

    from saraph import kernels
    y = kernels.softmax_rows(x)                 # along the last axis of a float32 or float64 array
    softmax = kernels.softmax_rows.function     # the NumPy gufunc itself: binding it saves the wrapper's cost per call
"""
from saraph.kernels.jit import Statistics as Statistics
from saraph.kernels.jit import available as available
from saraph.kernels.jit import statistics as statistics
from saraph.kernels.jit import why_unavailable as why_unavailable
from saraph.kernels.rows import RowKernel as RowKernel
from saraph.kernels.rows import log_softmax as log_softmax_rows
from saraph.kernels.rows import log_softmax_backward as log_softmax_backward_rows
from saraph.kernels.rows import softmax as softmax_rows
from saraph.kernels.rows import softmax_backward as softmax_backward_rows
from saraph.kernels.rows import sum_of_row as sum_rows

__all__ = ["RowKernel", "Statistics", "available", "log_softmax_backward_rows", "log_softmax_rows", "softmax_backward_rows",
           "softmax_rows", "statistics", "sum_rows",
           "why_unavailable"]
