"""Names in checkpoint files: PyTorch's on disk, saraph's in memory."""
from __future__ import annotations

import importlib
from typing import Any

from saraph import dtypes, shapes
from saraph.tensor.tensor import Tensor

# the typed storages of PyTorch's files; other dtypes are written as bytes plus a dtype
STORAGES = {"FloatStorage": dtypes.float32, "DoubleStorage": dtypes.float64, "HalfStorage": dtypes.float16, "BFloat16Storage": dtypes.bfloat16,
            "LongStorage": dtypes.int64, "IntStorage": dtypes.int32, "ShortStorage": dtypes.int16, "CharStorage": dtypes.int8,
            "ByteStorage": dtypes.uint8, "BoolStorage": dtypes.bool_, "ComplexFloatStorage": dtypes.complex64,
            "ComplexDoubleStorage": dtypes.complex128}
STORAGE_OF = {kind: name for name, kind in STORAGES.items()}
CONSTANTS: dict[str, Any] = {f"torch.{name}": kind for name, kind in {**dtypes.BY_NAME, **dtypes.ALIASES}.items()}
CONSTANTS.update({f"torch.{c.name}": c for c in vars(shapes).values() if isinstance(c, (shapes.layout, shapes.memory_format))})
LAYOUTS = {repr(c): c for c in vars(shapes).values() if isinstance(c, shapes.layout)}

# classes that live in another file here than in PyTorch: name -> PyTorch's module
_HOMES = {
    **dict.fromkeys(("Flatten", "Unflatten"), "flatten"), **dict.fromkeys(("Fold", "Unfold"), "fold"),
    **dict.fromkeys(("PixelShuffle", "PixelUnshuffle"), "pixelshuffle"), "ChannelShuffle": "channelshuffle",
    **dict.fromkeys(("Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d"), "upsampling"),
    **dict.fromkeys((f"{lazy}InstanceNorm{n}d" for lazy in ("", "Lazy") for n in (1, 2, 3)), "instancenorm"),
    "MultiheadAttention": "activation", "AdaptiveLogSoftmaxWithLoss": "adaptive",
}
_OPTIMIZERS = {"Adamax": "adamax", "NAdam": "nadam", "RAdam": "radam", "SparseAdam": "sparse_adam", "AdamW": "adamw", "Adagrad": "adagrad",
               "Adadelta": "adadelta", "RMSprop": "rmsprop", "Rprop": "rprop", "ASGD": "asgd", "Adafactor": "_adafactor", "Muon": "_muon"}


# where PyTorch's native functions say they live
_NATIVE = {"torch._C._nn": "torch.nn.functional", "torch._C._special": "torch.special", "torch._C._linalg": "torch.linalg",
           "torch._C._fft": "torch.fft"}
_BUILTINS = ("_VariableFunctionsClass", "_VariableFunctions", "TensorBase")


def to_torch(module: str, name: str) -> tuple[str, str]:
    """The (module, name) that PyTorch knows a saraph class or function by; others are unchanged."""
    if module != "saraph" and not module.startswith("saraph."):
        return module, name
    if module.startswith("saraph.nn.modules.") and name in _HOMES:
        return f"torch.nn.modules.{_HOMES[name]}", name
    if module.startswith("saraph.optim.") and name in _OPTIMIZERS:
        return f"torch.optim.{_OPTIMIZERS[name]}", name
    if name in ("Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"):
        return "torch.nn.parameter", name
    return "torch" + module[len("saraph"):], name


def from_torch(module: str, name: str) -> Any:
    """The saraph object that PyTorch's files call `module.name`; AttributeError or ImportError where there is none."""
    constant = CONSTANTS.get(f"{module}.{name}")
    if constant is not None:
        return constant
    if module == "torch._C" and name in _BUILTINS:
        return importlib.import_module("saraph") if name != "TensorBase" else Tensor
    if module in _NATIVE:
        module, name = _NATIVE[module], name.removeprefix(module.rpartition("._")[2] + "_")
    own = "saraph" + module[len("torch"):]
    for prefix in ("torch.nn.modules", "torch.optim"):
        if module.startswith(prefix + "."):
            try:
                return getattr(importlib.import_module("saraph" + prefix[len("torch"):]), name)
            except AttributeError:
                break
    found = importlib.import_module(own)
    for part in name.split("."):
        found = getattr(found, part)
    return found
