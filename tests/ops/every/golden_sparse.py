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


def first_sparse(a, *rest):
    return (a.to_sparse(), *rest)


def second_sparse(a, b, *rest):
    return (a, b.to_sparse(), *rest)


case("sparse.mm", A @ M, A, M, _before=first_sparse)
case("sparse.mm", A @ A.T, A, A.T, _before=lambda a, b: (a.to_sparse(), b.to_sparse()), **DENSE)
case("sparse.addmm", 0.5 * M + 2 * (A @ M.T), M, A, M.T, beta=0.5, alpha=2.0, _before=second_sparse)
case("spmm", A @ M, A, M, _before=first_sparse)
case("smm", A @ M, A, M, _before=first_sparse, _grad="has none")
case("sparse.sampled_addmm", np.where(A != 0, 0.5 * A + 2 * (X.T @ Y), 0), A, X.T, Y, beta=0.5, alpha=2.0,
     _before=lambda a, b, c: (a.to_sparse_csr(), b, c), **DENSE)
case("sparse.sum", A.sum(), A, _before=first_sparse)
case("sparse.sum", A.sum(0), A, 0, _before=first_sparse, **DENSE)
_EXP = np.where(A != 0, np.exp(A), 0)
case("sparse.softmax", _EXP / _EXP.sum(1, keepdims=True), A, 1, _before=first_sparse, **DENSE)
case("sparse.log_softmax", np.where(A != 0, A - np.log(_EXP.sum(1, keepdims=True)), 0), A, 1, _before=first_sparse, **DENSE)
case("sparse.spdiags", scipy.sparse.spdiags(M, [0, 1, -2], 3, 4).toarray(), M, np.array([0, 1, -2]), (3, 4), _grad="made from data")

for _name in ("solve", "lstsq", "eig", "symeig", "matrix_rank"):
    case(_name, RuntimeError, M)
for _name in ("q_scale", "q_zero_point", "q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis", "int_repr"):
    case(_name, NotImplementedError, V)
