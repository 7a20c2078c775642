"""Indexing, gathering and scattering, masks; tensors made from data, sizes and sequences."""
import numpy as np
import scipy.signal.windows as windows
from golden import B, I, M, V, X, Y, case

import saraph as torch

K = np.arange(24.0).reshape(2, 3, 4) / 7 - 1
AT = np.array([2, 0])


# -- along a dimension
def put_along(x, dim, index, values, combine=lambda old, new: new):
    """What scattering says, one number after the other."""
    found = x.copy()
    for position in np.ndindex(index.shape):
        target = list(position)
        target[dim] = index[position]
        found[tuple(target)] = combine(found[tuple(target)], values[position] if isinstance(values, np.ndarray) else values)
    return found


_TO = np.array([[0, 1, 1], [1, 0, 1]])
_ROWS = np.array([[2, 0], [1, 1]])
case("index_select", X[:, [2, 0]], X, 1, AT)
case("gather", np.take_along_axis(X, _ROWS, 1), X, 1, _ROWS)
case("take", X.ravel()[[5, 0, 2]], X, np.array([5, 0, 2]))
case("take_along_dim", np.take_along_axis(X, _ROWS, 1), X, _ROWS, 1)
case("put", np.array([[0.3, 7.0, 2.45], [1.7, -0.4, 9.0]]), X, np.array([5, 1]), np.array([9.0, 7.0]))
case("put", np.array([[0.3, 14.8, 2.45], [1.7, -0.4, -2.1]]), X, np.array([1, 1]), np.array([9.0, 7.0]), True)
case("index_add", put_along(X, 1, np.array([[2, 0], [2, 0]]), 0.5 * Y[:, :2], np.add), X, 1, AT, Y[:, :2].copy(), alpha=0.5)
case("index_copy", put_along(X, 1, np.array([[2, 0], [2, 0]]), Y[:, :2]), X, 1, AT, Y[:, :2].copy())
case("index_fill", np.array([[7.0, -1.2, 7.0], [7.0, -0.4, 7.0]]), X, 1, AT, 7.0)
case("scatter", put_along(X, 1, _ROWS[:, :1], Y), X, 1, _ROWS[:, :1].copy(), Y)
case("scatter", put_along(X, 1, _ROWS, 7.0), X, 1, _ROWS, value=7.0)
case("scatter", put_along(X, 0, _TO, Y, np.multiply), X, 0, _TO, Y, reduce="multiply", _grad="refused, as by PyTorch")
case("scatter_add", put_along(X, 0, _TO, Y, np.add), X, 0, _TO, Y)
for _reduce, _combine in {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}.items():
    case("scatter_reduce", put_along(X, 0, _TO, Y, _combine), X, 0, _TO, Y, _reduce)
    _rows = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    if _reduce != "sum":
        case("index_reduce", put_along(X, 0, _rows, M, _combine), X, 0, np.array([1, 0, 1]), M, _reduce)
case("scatter_reduce", put_along(X, 0, _TO, Y, np.add) / put_along(np.ones((2, 3)), 0, _TO, 1, np.add), X, 0, _TO, Y, "mean")
case("scatter_reduce", np.array([[1.1, 2.2, 2.45], [-1.9, 0.65, 0.05]]), X, 0, _TO, Y, "mean", include_self=False)
case("index_reduce", np.stack([(X[0] + M[1]) / 2, (X[1] + M[0] + M[2]) / 3]), X, 0, np.array([1, 0, 1]), M, "mean")
case("index_put", put_along(X, 1, np.array([[2], [0]]), np.array([[7.0], [8.0]])), X, (np.array([0, 1]), AT), np.array([7.0, 8.0]))
case("index_put", np.array([[0.3, 13.8, 2.45], [1.7, -0.4, -2.1]]), X, (np.array([0, 0]), np.array([1, 1])), np.array([7.0, 8.0]), True)
case("_unsafe_masked_index", np.array([-1.2, 5.0]), X, np.array([True, False]), [np.array([0, 9]), np.array([1, 9])], 5.0)
case("_unsafe_masked_index_put_accumulate", np.array([[0.3, 5.8, 2.45], [1.7, -0.4, -2.1]]), X, np.array([True, False]),
     [np.array([0, 9]), np.array([1, 9])], np.array([7.0, 8.0]))
case("nn.functional.one_hot", np.array([[0, 0, 1], [1, 0, 0]]), AT)
case("nn.functional.one_hot", np.eye(5, dtype=int)[[2, 0]], AT, 5)

# -- masks
case("masked_fill", np.where(B, 7.0, X), X, B, 7.0)
case("masked_select", X[B], X, B)
case("masked_scatter", np.array([[0.5, -1.2, -1.5], [1.7, -0.4, 2.0]]), X, B, V)
case("nonzero", np.argwhere(B), B)
case("argwhere", np.argwhere(I), I)
case("nonzero_static", np.array([[0, 0], [0, 2], [1, 2], [-1, -1]]), B, size=4)
case("unravel_index", np.unravel_index([5, 2], (2, 3)), np.array([5, 2]), (2, 3))

# -- tensors from data
case("tensor", np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
case("tensor", np.array([1.5, -2.0], np.float32), [1.5, -2.0])
case("tensor", np.array([True, False]), [True, False])
case("as_tensor", X, X, _grad="the same tensor")
case("as_tensor", np.array([1.0, 2.0], np.float32), [1, 2], dtype=torch.float32)
case("asarray", X, X, _grad="the same tensor")
case("asarray", np.array([3, 4]), [3, 4])
case("frombuffer", np.array([1.5, -2.0]), bytearray(np.array([9.0, 1.5, -2.0]).tobytes()), dtype=torch.float64, offset=8)
case("scalar_tensor", np.array(2.5, np.float32), 2.5)
case("result_type", torch.float64, I, X)
case("result_type", torch.int64, I, 3)
case("result_type", torch.float32, I, 3.5)

# -- filled tensors
case("zeros", np.zeros((2, 3), np.float32), 2, 3)
case("ones", np.ones((2, 3), int), (2, 3), dtype=torch.int64)
case("full", np.full((2, 2), 7), (2, 2), 7)
case("full", np.full((2, 2), 2.5, np.float32), (2, 2), 2.5)
case("zeros_like", np.zeros((2, 3)), X, _grad=False)
case("ones_like", np.ones((2, 3), int), I)
case("full_like", np.full((2, 3), 2.5), X, 2.5, _grad=False)
SIZE = {"_post": lambda r, *_: (r.shape, str(r.dtype), r.strides), "_grad": "no values are defined"}
case("empty", ((2, 3), "float32", (12, 4)), 2, 3, **SIZE)
case("empty_like", ((2, 3), "float64", (24, 8)), X, **SIZE)
case("empty_strided", ((2, 3), "float32", (4, 8)), (2, 3), (1, 2), **SIZE)
case("empty_permuted", ((2, 3, 4), "float32", (48, 4, 12)), (2, 3, 4), (0, 2, 1), **SIZE)

# -- sequences
case("arange", np.arange(5), 5)
case("arange", np.arange(1, 8, 3), 1, 8, 3)
case("arange", np.array([0.5, 1.0, 1.5], np.float32), 0.5, 1.9, 0.5)
case("range", np.array([1.0, 3.0, 5.0], np.float32), 1, 5, 2)
case("linspace", np.linspace(-1, 2, 7).astype(np.float32), -1, 2, 7, _rtol=1e-6)
case("linspace", np.linspace(0, 1, 4), 0, 1, 4, dtype=torch.float64)
case("logspace", np.logspace(-1, 2, 4), -1, 2, 4, dtype=torch.float64)
case("logspace", np.logspace(0, 3, 4, base=2).astype(np.float32), 0, 3, 4, 2.0, _rtol=1e-6)
case("eye", np.eye(2, 3, dtype=np.float32), 2, 3)
case("tril_indices", np.stack(np.tril_indices(3, -1, 4)), 3, 4, -1)
case("triu_indices", np.stack(np.triu_indices(3, 1, 4)), 3, 4, 1)

# -- windows
_N = 7
for _name in ("hann", "hamming", "blackman", "bartlett"):
    case(f"{_name}_window", windows.get_window(_name, _N), _N, dtype=torch.float64)
    case(f"{_name}_window", getattr(windows, _name)(_N), _N, False, dtype=torch.float64)
    case(f"signal.windows.{_name}", getattr(windows, _name)(_N), _N, dtype=torch.float64)
case("hamming_window", windows.general_hamming(_N, 0.6), _N, False, 0.6, 0.4, dtype=torch.float64)
case("kaiser_window", windows.kaiser(_N, 12.0, False), _N, dtype=torch.float64)
case("kaiser_window", windows.kaiser(_N, 5.0), _N, False, 5.0, dtype=torch.float64)
case("signal.windows.general_cosine", windows.general_cosine(_N, [0.5, 0.3, 0.2]), _N, a=[0.5, 0.3, 0.2], dtype=torch.float64)
case("signal.windows.general_hamming", windows.general_hamming(_N, 0.6), _N, alpha=0.6, dtype=torch.float64)
case("signal.windows.nuttall", windows.nuttall(_N), _N, dtype=torch.float64)
case("signal.windows.cosine", windows.cosine(_N), _N, dtype=torch.float64)
case("signal.windows.kaiser", windows.kaiser(_N, 5.0), _N, beta=5.0, dtype=torch.float64)
case("signal.windows.gaussian", windows.gaussian(_N, 1.5), _N, std=1.5, dtype=torch.float64)
case("signal.windows.exponential", windows.exponential(_N, tau=2.0), _N, tau=2.0, dtype=torch.float64)
case("signal.windows.hann", windows.hann(_N, False), _N, sym=False, dtype=torch.float64)
