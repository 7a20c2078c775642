"""The named tuples that ops with several results return, such as `torch.return_types.max(values, indices)`.

Each is a tuple of fixed length with the results as attributes too; it is made from one sequence, prints its fields, and pickles.
"""
from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

__all__: list[str] = []


class StructSequence(tuple):
    """A tuple whose items have names."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0
    exact_out = False  # whether out= tensors must have the very dtypes of the results

    def __new__(cls, sequence: Iterable[Any]) -> StructSequence:
        if not hasattr(sequence, "__iter__"):
            raise TypeError("constructor requires a sequence")
        items = tuple(sequence)
        if len(items) != cls.n_fields:
            raise TypeError(f"torch.return_types.{cls.__name__}() takes a {cls.n_fields}-sequence ({len(items)}-sequence given)")
        return tuple.__new__(cls, items)

    def __repr__(self) -> str:
        lines = ",\n".join(f"{name}={item!r}" for name, item in zip(self.__match_args__, self))
        return f"torch.return_types.{type(self).__name__}(\n{lines})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)

    def __replace__(self, **changes: Any) -> StructSequence:
        unknown = set(changes) - set(self.__match_args__)
        if unknown:
            raise TypeError(f"Got unexpected field name(s): {sorted(unknown)}")
        return type(self)(changes.get(name, item) for name, item in zip(self.__match_args__, self))


_EXACT = ("aminmax", "cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk")


def _define(name: str, *fields: str) -> type[StructSequence]:
    body: dict[str, Any] = {field: property(itemgetter(k), doc=f"Item {k}.") for k, field in enumerate(fields)}
    body |= {"__slots__": (), "__match_args__": fields, "n_fields": len(fields), "n_sequence_fields": len(fields),
             "exact_out": name in _EXACT, "__module__": "saraph.return_types", "__doc__": f"The results ({', '.join(fields)}) of `{name}`."}
    __all__.append(name)
    return type(name, (StructSequence,), body)


aminmax = _define("aminmax", "min", "max")
cummax = _define("cummax", "values", "indices")
cummin = _define("cummin", "values", "indices")
frexp = _define("frexp", "mantissa", "exponent")
geqrf = _define("geqrf", "a", "tau")
histogram = _define("histogram", "hist", "bin_edges")
histogramdd = _define("histogramdd", "hist", "bin_edges")
kthvalue = _define("kthvalue", "values", "indices")
linalg_cholesky_ex = _define("linalg_cholesky_ex", "L", "info")
linalg_eig = _define("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = _define("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_inv_ex = _define("linalg_inv_ex", "inverse", "info")
linalg_ldl_factor = _define("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = _define("linalg_ldl_factor_ex", "LD", "pivots", "info")
linalg_lstsq = _define("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_lu = _define("linalg_lu", "P", "L", "U")
linalg_lu_factor = _define("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = _define("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_qr = _define("linalg_qr", "Q", "R")
linalg_slogdet = _define("linalg_slogdet", "sign", "logabsdet")
linalg_solve_ex = _define("linalg_solve_ex", "result", "info")
linalg_svd = _define("linalg_svd", "U", "S", "Vh")
_lu_with_info = _define("_lu_with_info", "LU", "pivots", "info")
lu_unpack = _define("lu_unpack", "P", "L", "U")
max = _define("max", "values", "indices")
median = _define("median", "values", "indices")
min = _define("min", "values", "indices")
mode = _define("mode", "values", "indices")
nanmedian = _define("nanmedian", "values", "indices")
qr = _define("qr", "Q", "R")
slogdet = _define("slogdet", "sign", "logabsdet")
sort = _define("sort", "values", "indices")
svd = _define("svd", "U", "S", "V")
topk = _define("topk", "values", "indices")
triangular_solve = _define("triangular_solve", "solution", "cloned_coefficient")
