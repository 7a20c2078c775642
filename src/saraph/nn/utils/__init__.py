"""Helpers of training: gradient clipping, packed sequences, parametrizations."""
from saraph.nn.utils import parametrize, rnn
from saraph.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from saraph.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "parametrize",
           "rnn", "vector_to_parameters"]
