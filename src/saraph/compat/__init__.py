"""PyTorch programs, unmodified: `import torch` and `import torchvision` resolve to saraph."""
from saraph.compat.names import install, uninstall
from saraph.compat.runner import run_script

__all__ = ["install", "run_script", "uninstall"]
