"""Recurrent layers and cells: RNN, LSTM, GRU."""
from __future__ import annotations

import math
import warnings
from typing import Any

from saraph.nn import init
from saraph.nn.modules.module import Module
from saraph.nn.packing import PackedSequence
from saraph.ops import recurrent
from saraph.ops.creation import empty
from saraph.tensor.parameter import Parameter
from saraph.tensor.tensor import Tensor

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters per layer and direction, checks, packed and unbatched inputs.

    Parameters of layer k: weight_ih_l{k}, weight_hh_l{k}, bias_ih_l{k}, bias_hh_l{k} (weight_hr_l{k} with a projection), and the
    same with _reverse; all start uniform in +-1/sqrt(hidden_size).
    """

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
                 dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0 and num_layers == 1:
            warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                          f"but got dropout={dropout} and num_layers={num_layers}", stacklevel=3)
        for name, value, kind in (("input_size", input_size, int), ("hidden_size", hidden_size, int), ("bias", bias, bool),
                                  ("batch_first", batch_first, bool)):
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if input_size <= 0:
            raise ValueError("input_size must be greater than zero")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        directions = 2 if bidirectional else 1
        real_hidden = proj_size or hidden_size
        rows = _GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                columns = input_size if layer == 0 else real_hidden * directions
                shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, real_hidden)}
                if bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """For cuDNN, PyTorch lays the parameters out in one block here; saraph reads them where they lie."""
        return None

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of every layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for names in self._all_weights for name in names]

    def __getstate__(self) -> dict[str, Any]:
        names = [name for names in self._all_weights for name in names]
        return {**super().__getstate__(), "_flat_weights_names": names, "_flat_weights": self._flat_weights}  # PyTorch keeps these

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if not name.startswith("_flat_weight")})

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """RuntimeError where the input does not fit."""
        if input.dtype is not self._flat_weights[0].dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({self._flat_weights[0].dtype}). Convert input: "
                             f"input.to({self._flat_weights[0].dtype}), or convert model: model.to({input.dtype})")
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _hidden_shape(self, batch: int, size: int) -> tuple[int, int, int]:
        return self.num_layers * (2 if self.bidirectional else 1), batch, size

    def check_hidden_size(self, hx: Tensor, expected: tuple[int, ...], message: str = "Expected hidden size {}, got {}") -> None:
        """RuntimeError where a state does not fit."""
        if tuple(hx.shape) != tuple(expected):
            raise RuntimeError(message.format(tuple(expected), list(hx.shape)))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state with its batch in another order."""
        if permutation is None or hx is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(h.index_select(1, permutation) for h in hx)
        return hx.index_select(1, permutation)

    def _states(self, hx: Any, input: Tensor, batch: int) -> tuple[Tensor, ...]:
        """The starting state(s), zeros where none were given."""
        sizes = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        if hx is None:
            return tuple(input.new_zeros(self._hidden_shape(batch, n)) for n in sizes)
        states = hx if self.mode == "LSTM" else (hx,)
        messages = (["Expected hidden[0] size {}, got {}", "Expected hidden[1] size {}, got {}"] if self.mode == "LSTM" else
                    ["Expected hidden size {}, got {}"])
        for state, n, message in zip(states, sizes, messages):
            self.check_hidden_size(state, self._hidden_shape(batch, n), message)
        return tuple(states)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """(output, state): input (time, batch, features), (batch, time, features) if batch_first, (time, features), or a PackedSequence."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = self._add_batch(hx)
        elif hx is not None:
            for h in hx if isinstance(hx, tuple) else (hx,):
                if h.dim() != 3:
                    raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {h.dim()}-D tensor" if self.mode != "LSTM" else
                                       f"For batched 3-D input, hx and cx should also be 3-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
        self.check_input(input, None)
        steps = input.transpose(0, 1) if self.batch_first else input
        states = self._states(hx, input, steps.size(1))
        output, states = self._run(steps, states, None)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            states = tuple(s.squeeze(1) for s in states)
        return output, (states if self.mode == "LSTM" else states[0])

    def _add_batch(self, hx: Any) -> Any:
        if hx is None:
            return None
        for h in hx if isinstance(hx, tuple) else (hx,):
            if h.dim() != 2:
                raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {h.dim()}-D tensor" if self.mode != "LSTM" else
                                   f"For unbatched 2-D input, hx and cx should also be 2-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
        return tuple(h.unsqueeze(1) for h in hx) if isinstance(hx, tuple) else hx.unsqueeze(1)

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        data, batch_sizes, order, back = input
        self.check_input(data, batch_sizes)
        hx = self.permute_hidden(hx, order)
        states = self._states(hx, data, int(batch_sizes[0]))
        output, states = self._run(data, states, batch_sizes.tolist())
        states = tuple(self.permute_hidden(s, back) for s in states)
        return PackedSequence(output, batch_sizes, order, back), (states if self.mode == "LSTM" else states[0])

    def _run(self, data: Tensor, states: tuple[Tensor, ...], batch_sizes: list[int] | None) -> tuple[Tensor, tuple[Tensor, ...]]:
        return recurrent.run_layers(self.mode, data, states, self.all_weights, self.bias, self.num_layers, self.dropout if self.training else 0.0,
                                    self.bidirectional, batch_sizes, bool(self.proj_size))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first:
            text += f", batch_first={self.batch_first}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        if self.bidirectional:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or relu (Elman)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), gates in the order input, forget, cell, output; projections as in Sak et al. 2014."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)


class GRU(RNNBase):
    """Gated recurrent unit (Cho et al. 2014), gates in the order reset, update, new; reset is applied after the product with W_hn."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0,
                 bidirectional: bool = False, device: Any = None, dtype: Any = None) -> None:
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)


class RNNCellBase(Module):
    """One step of a recurrent layer."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniform in +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _prepare(self, input: Tensor, states: Any) -> tuple[Tensor, tuple[Tensor, ...], bool]:
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if states is not None:
            for i, h in enumerate(states):
                if h.dim() not in (1, 2):
                    raise ValueError(f"{name}: Expected {f'hx[{i}]' if len(states) > 1 else 'hidden'} to be 1D or 2D, got {h.dim()}D instead")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if x.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.size(1)}, expected {self.input_size}")
        if states is None:
            count = 2 if isinstance(self, LSTMCell) else 1
            return x, tuple(x.new_zeros((x.size(0), self.hidden_size)) for _ in range(count)), batched
        states = tuple(h if batched else h.unsqueeze(0) for h in states)
        for h in states:
            if h.size(0) != x.size(0):
                raise RuntimeError(f"Input batch size {x.size(0)} doesn't match hidden0 batch size {h.size(0)}")
            if h.size(1) != self.hidden_size:
                raise RuntimeError(f"hidden0 has inconsistent hidden_size: got {h.size(1)}, expected {self.hidden_size}")
        return x, states, batched

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """tanh (or relu) of W_ih x + b_ih + W_hh h + b_hh."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(batch, input_size), (batch, hidden_size) -> (batch, hidden_size); or without batch."""
        x, (h,), batched = self._prepare(input, None if hx is None else (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = recurrent.rnn_tanh_cell if self.nonlinearity == "tanh" else recurrent.rnn_relu_cell
        found = cell(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return found if batched else found.squeeze(0)


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """(batch, input_size), ((batch, hidden_size), (batch, hidden_size)) -> (h, c); or without batch."""
        x, states, batched = self._prepare(input, hx)
        h, c = recurrent.lstm_cell(x, states, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(batch, input_size), (batch, hidden_size) -> (batch, hidden_size); or without batch."""
        x, (h,), batched = self._prepare(input, None if hx is None else (hx,))
        found = recurrent.gru_cell(x, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return found if batched else found.squeeze(0)
