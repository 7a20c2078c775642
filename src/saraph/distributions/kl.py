"""Kullback-Leibler divergences: `kl_divergence(p, q)`, `register_kl`, and the table of formulas (`kl_same`, `kl_cross`)."""
from saraph.distributions import kl_cross, kl_registry, kl_same
from saraph.distributions.kl_registry import kl_divergence, register_kl

__all__ = ["register_kl", "kl_divergence"]

for _module in (kl_registry, kl_same, kl_cross):  # the registry and the formulas under the names that programs know from torch.distributions.kl
    globals().update({name: value for name, value in vars(_module).items() if name.lower().startswith(("_kl_", "_dispatch_kl"))})
