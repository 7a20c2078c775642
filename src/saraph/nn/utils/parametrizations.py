"""Parametrizations that come with the house: weight norm, spectral norm, orthogonal matrices."""
from __future__ import annotations

from typing import Any

from saraph import dtypes
from saraph.autograd import no_grad
from saraph.linalg import householder_product, solve
from saraph.nn import functional as F
from saraph.nn.modules.module import Module
from saraph.nn.utils import parametrize
from saraph.nn.utils.spectral_norm import default_dim
from saraph.ops import NAMESPACES
from saraph.ops.creation import zeros_like
from saraph.ops.movement import cat
from saraph.ops.norms import norm_except_dim, weight_norm_of
from saraph.ops.sequences import eye
from saraph.tensor.tensor import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
MAPS = ("matrix_exp", "cayley", "householder")
geqrf, matrix_exp, allclose = (NAMESPACES["torch"][name] for name in ("geqrf", "matrix_exp", "allclose"))


def _is_orthogonal(q: Tensor) -> bool:
    rows, columns = q.shape[-2:]
    tolerance = 10.0 * rows * dtypes.finfo(q.dtype).eps
    return bool(allclose(q.mH @ q, eye(columns, dtype=q.dtype).expand(*q.shape[:-2], columns, columns), atol=tolerance))


def _made_orthogonal(a: Tensor) -> Tensor:
    """The Q of a's QR decomposition, with the signs that keep the determinant's."""
    reflectors, tau = geqrf(a)
    return householder_product(reflectors, tau) * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, where it is wide) from one without constraints."""

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix."""
        wide = X.shape[-2] < X.shape[-1]
        if wide:
            X = X.mT
        rows, columns = X.shape[-2:]
        if self.orthogonal_map == "householder":
            a = X.tril(diagonal=-1)
            q = householder_product(a, 2.0 / (1.0 + (a * a).sum(dim=-2))) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = X.tril()
            if rows != columns:
                x = cat([x, x.new_zeros((rows, rows - columns)).expand(*x.shape[:-2], -1, -1)], -1)
            a = x - x.mH
            if self.orthogonal_map == "matrix_exp":
                q = matrix_exp(a)
            else:
                identity = eye(rows, dtype=a.dtype)
                q = solve(identity - 0.5 * a, identity + 0.5 * a)
            q = q[..., :columns] if rows != columns else q
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives Q (or the orthogonal matrix of Q's QR decomposition)."""
        with no_grad():
            if Q.shape != self.shape:
                raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
            wide = Q.shape[-2] < Q.shape[-1]
            q = Q.mT if wide else Q
            rows, columns = q.shape[-2:]
            if not hasattr(self, "base"):
                if self.orthogonal_map != "householder":
                    raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                                              "use_trivialization=False.")
                a, tau = geqrf(q)
                diagonal = a.diagonal(dim1=-2, dim2=-1)
                diagonal.sign_()
                diagonal[tau == 0.0] *= -1
                return a.mT if wide else a
            if rows == columns:
                q = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
            else:  # the columns that are missing are drawn, and made orthogonal with the rest
                drawn = q.new_empty((*q.shape[:-2], rows, rows - columns)).normal_()
                q = _made_orthogonal(cat([q, drawn], -1))
            self.base = q
            start = zeros_like(Q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start


def _tensor(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Module:
    """Keep a matrix (or batch of matrices) orthogonal: by "matrix_exp", "cayley" or "householder" (default for those that are not square).

    With `use_trivialization` the map is taken around a stored base point, which is better conditioned (Casado 2019), and the matrix can be assigned.
    """
    weight = _tensor(module, name)
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization), unsafe=True)
    return module


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """weight_g weight_v / ||weight_v||."""
        return weight_norm_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """(length, direction times length)."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Write a parameter as length times direction (Salimans and Kingma 2016), both trained; one length per slice of `dim`, or one for all (None).

    The length is `parametrizations.<name>.original0`, the direction `original1`. State dicts of the old `utils.weight_norm` can be loaded.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: Any, prefix: str, *rest: Any) -> None:
        for old, new in (("_g", "original0"), ("_v", "original1")):
            if f"{prefix}{name}{old}" in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{new}"] = state_dict.pop(f"{prefix}{name}{old}")

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = weight.dim()
        if not -rank <= dim < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim if dim >= 0 else dim + rank, eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                u, v = (matrix.new_empty(n).normal_(0, 1) for n in matrix.shape)
                self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _iterate(self, matrix: Tensor, steps: int) -> None:
        """Power iteration, in place: u and v approach the singular vectors of the largest singular value."""
        with no_grad():
            for _ in range(steps):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight over its spectral norm."""
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next call writes to the buffers, and backward reads these
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: its norm cannot be known."""
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divide a parameter by its largest singular value (Miyato et al. 2018), which power iterations follow during training."""
    weight = _tensor(module, name)
    if dim is None:
        dim = default_dim(module)
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
