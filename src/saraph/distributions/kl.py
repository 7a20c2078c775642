"""Kullback-Leibler divergences: `kl_divergence(p, q)`, `register_kl`, and the table of formulas (`kl_same`, `kl_cross`)."""
from saraph.distributions import kl_cross, kl_same
from saraph.distributions.kl_registry import _KL_MEMOIZE, _KL_REGISTRY, _dispatch_kl, kl_divergence, register_kl
from saraph.distributions.kl_same import _kl_categorical_categorical, _kl_normal_normal

__all__ = ["register_kl", "kl_divergence"]

for _module in (kl_same, kl_cross):  # the formulas under the names that programs know from torch.distributions.kl
    globals().update({name: value for name, value in vars(_module).items() if name.startswith("_kl_")})
