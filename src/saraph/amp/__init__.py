"""Mixed precision: `autocast` and `GradScaler`."""
from saraph.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from saraph.amp.grad_scaler import GradScaler, OptState

__all__ = ["GradScaler", "OptState", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
