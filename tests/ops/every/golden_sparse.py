"""Sparse tensors (compared as dense ones), tensors over the memory of NumPy, and names that are gone."""
import numpy as np
import scipy.sparse
from golden import M, V, X, Y, case

import saraph as torch

A = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, -1.0], [0.0, 0.0, 0.5]])
HERE = np.array(np.nonzero(A))
VALUES = A[tuple(HERE)]
ROWS = scipy.sparse.csr_array(A)
COLUMNS = scipy.sparse.csc_array(A)
BLOCKS = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
DENSE = {"_through": lambda r: r.to_dense()}


def compressed(array):
    return array.indptr.astype(np.int64), array.indices.astype(np.int64), array.data.astype(np.float64)


case("from_numpy", X, X, _before=lambda t: (t.numpy(),), _grad="made from data")
case("sparse_coo_tensor", A, HERE, VALUES, (3, 3), **DENSE)
case("sparse_coo_tensor", np.array([0.0, 3.5]), np.array([[1, 1]]), np.array([1.5, 2.0]), (2,), **DENSE)
case("sparse_csr_tensor", A, *compressed(ROWS), (3, 3), **DENSE)
case("sparse_csc_tensor", A, *compressed(COLUMNS), (3, 3), **DENSE)
case("sparse_compressed_tensor", A, *compressed(ROWS), (3, 3), layout=torch.sparse_csr, **DENSE)
for _name, _of in (("sparse_bsr_tensor", scipy.sparse.bsr_array(BLOCKS, blocksize=(2, 2))),
                   ("sparse_bsc_tensor", scipy.sparse.bsr_array(BLOCKS.T, blocksize=(2, 2)))):
    _data = _of.data if _name == "sparse_bsr_tensor" else _of.data.transpose(0, 2, 1)
    case(_name, BLOCKS, _of.indptr.astype(np.int64), _of.indices.astype(np.int64), np.ascontiguousarray(_data), (4, 4), **DENSE)


# Sparse arguments are made from the values that they store, which is what has a gradient
def coo(values, *rest):
    """The first argument: A."""
    return (torch.sparse_coo_tensor(HERE, values, (3, 3)), *rest)


def csr(values, *rest):
    starts, columns, _ = compressed(ROWS)
    return (torch.sparse_csr_tensor(starts, columns, values, (3, 3)), *rest)


case("sparse.mm", A @ M, VALUES, M, _before=coo)
case("sparse.mm", A @ M, VALUES, M, _before=csr)
case("sparse.mm", A @ A, VALUES, VALUES, _before=lambda a, b: (*coo(a), *coo(b)), **DENSE)
case("sparse.mm", np.array([[-3.0, 6.0], [-1.5, 4.5], [1.0, 0.75]]), VALUES, np.array([[-1.0, 3.0], [-1.5, 3.0], [2.0, 1.5]]), "amax",
     _before=csr)
case("sparse.addmm", 0.5 * M + 2 * (A @ M.T), VALUES, M, M.T, beta=0.5, alpha=2.0, _before=lambda a, b, c: (b, *coo(a, c)))
case("spmm", A @ M, VALUES, M, _before=coo)
case("smm", A @ M, VALUES, M, _before=coo, **DENSE)
case("sparse.sampled_addmm", np.where(A != 0, 0.5 * A + 2 * (X.T @ Y), 0), VALUES, X.T, Y, beta=0.5, alpha=2.0, _before=csr, **DENSE)
case("sparse.sum", A.sum(), VALUES, _before=coo)
case("sparse.sum", A.sum(0), VALUES, 0, _before=coo, **DENSE)
_EXP = np.where(A != 0, np.exp(A), 0)
case("sparse.softmax", _EXP / _EXP.sum(1, keepdims=True), VALUES, 1, _before=coo, **DENSE)
case("sparse.log_softmax", np.where(A != 0, A - np.log(_EXP.sum(1, keepdims=True)), 0), VALUES, 1, _before=coo, **DENSE)
case("sparse.spdiags", scipy.sparse.spdiags(M, [0, 1, -2], 3, 4).toarray(), M, np.array([0, 1, -2]), (3, 4), **DENSE)

for _name in ("solve", "lstsq", "eig", "symeig", "matrix_rank"):
    case(_name, RuntimeError, M)
for _name in ("q_scale", "q_zero_point", "q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis", "int_repr"):
    case(_name, NotImplementedError, V)
