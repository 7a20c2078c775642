"""saraph: PyTorch in Python, all the way down to the machine code. Use it as `import saraph as torch`."""
import sys as _sys
import typing as _typing
from importlib import import_module as _import_module
from math import e, inf, nan, pi

from saraph import dtypes as _dtypes
from saraph import shapes as _shapes
from saraph import tensor as _tensor_room
from saraph.determinism import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_warn_always,
    use_deterministic_algorithms,
)
from saraph.devices import device
from saraph.dtypes import can_cast, dtype, finfo, iinfo, promote_types
from saraph.errors import AcceleratorError, OutOfMemoryError
from saraph.ops import NAMESPACES as _NAMESPACES
from saraph.ops.legacy import DEFAULTS as _DEFAULTS
from saraph.ops.legacy import TENSOR_TYPES as _TENSOR_TYPES
from saraph.random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from saraph.shapes import Size, layout, memory_format
from saraph.streams import Event, Stream, get_device_module
from saraph.symbolic_numbers import (
    SymBool,
    SymFloat,
    SymInt,
    sym_float,
    sym_fresh_size,
    sym_int,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
    sym_sqrt,
    sym_sum,
)
from saraph.tensor import Tensor
from saraph.tensor.interop import from_dlpack
from saraph.tensor.printing import get_printoptions, set_printoptions
from saraph.tensor.storages import LEGACY as _STORAGE_TYPES
from saraph.tensor.storages import TypedStorage, UntypedStorage, is_storage
from saraph.tensor.subclass import DisableTorchFunctionSubclass

globals().update(_dtypes.BY_NAME)
globals().update(_dtypes.ALIASES)
globals().update(_dtypes.NAMED_ONLY)
globals().update(_shapes.QSCHEMES)
qscheme, legacy_contiguous_format = _shapes.qscheme, _shapes.contiguous_format
for _name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d", "strided", "sparse_coo", "sparse_csr", "sparse_csc",
              "sparse_bsr", "sparse_bsc", "jagged"):
    globals()[_name] = getattr(_shapes, _name)
globals().update(_NAMESPACES["torch"])
for _table in (_DEFAULTS, _TENSOR_TYPES, _STORAGE_TYPES):
    globals().update(_table)
newaxis = None
torch = _sys.modules[__name__]  # `from torch import torch` is written here and there
__version__ = "2.13.0+saraph"
from saraph import (  # noqa: E402
    amp,
    autograd,
    backends,
    cpu,
    cuda,
    distributed,
    fft,
    jit,
    linalg,
    masked,
    mps,
    nn,
    optim,
    overrides,
    random,
    return_types,
    serialization,
    signal,
    special,
    utils,
    xpu,
)
from saraph.amp import GradScaler, autocast  # noqa: E402
from saraph.amp.autocast_mode import (  # noqa: E402
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from saraph.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from saraph.autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from saraph.backends import cuda as _backends_cuda  # noqa: E402
from saraph.backends import cudnn as _cudnn  # noqa: E402
from saraph.backends import mkl as _mkl  # noqa: E402
from saraph.backends import mkldnn as _mkldnn  # noqa: E402
from saraph.backends import mps as _backends_mps  # noqa: E402
from saraph.backends import openmp as _openmp  # noqa: E402
from saraph.compiling import compile  # noqa: E402
from saraph.cpu import memory_summary  # noqa: E402
from saraph.serialization import load, save  # noqa: E402
from saraph.threads import get_num_interop_threads, get_num_threads, set_num_interop_threads, set_num_threads  # noqa: E402

if _typing.TYPE_CHECKING:
    from saraph import accelerator, compiler, distributions, func, futures, fx, hub, library, mtia, nested, profiler, sparse, testing, types, version
    from saraph.control_flow import cond, while_loop
    from saraph.func import vmap
    from saraph.futures import Future
    from saraph.library import classes
    from saraph.stubs.torch import *  # the ops, which the registry publishes
else:
    _LAZY = ("accelerator", "compiler", "distributions", "func", "futures", "fx", "hub", "library", "mtia", "nested", "profiler", "sparse", "testing",
             "types", "version")  # rooms that load when first used
    _LAZY_NAMES = {"Future": "saraph.futures", "vmap": "saraph.func", "cond": "saraph.control_flow", "while_loop": "saraph.control_flow",
                   "classes": "saraph.library"}

    def __getattr__(name: str):
        if name in _LAZY:
            return _import_module(f"{__name__}.{name}")
        if name in _LAZY_NAMES:
            return getattr(_import_module(_LAZY_NAMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
