"""`torch.backends.cuda`: switches that programs set; without CUDA they have no effect."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Matmul:
    """Precision switches of CUDA's products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    """Whether CUDA is built in: no."""
    return False


_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduced": False}


def flash_sdp_enabled() -> bool:
    """Whether CUDA's flash attention may be used."""
    return _attention["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """Whether CUDA's memory-efficient attention may be used."""
    return _attention["mem_efficient"]


def math_sdp_enabled() -> bool:
    """Whether CUDA's plain attention may be used."""
    return _attention["math"]


def enable_flash_sdp(enabled: bool) -> None:
    """Allow CUDA's flash attention."""
    _attention["flash"] = bool(enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow CUDA's memory-efficient attention."""
    _attention["mem_efficient"] = bool(enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Allow CUDA's plain attention."""
    _attention["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention may be used."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention."""
    _attention["cudnn"] = bool(enabled)


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allow sums in 16 bits in CUDA's plain attention."""
    _attention["reduced"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether sums in 16 bits are allowed in CUDA's plain attention."""
    return _attention["reduced"]


class SDPAParams:
    """The arguments of an attention call, as the questions below take them."""

    def __init__(self, query: Any, key: Any, value: Any, attn_mask: Any, dropout: float, is_causal: bool, enable_gqa: bool = False):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def is_flash_attention_available() -> bool:
    """Whether CUDA's flash attention is built in: no."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether CUDA's flash attention takes this call: there is none."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether CUDA's memory-efficient attention takes this call: there is none."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether cuDNN's attention takes this call: there is none."""
    return False


@contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True) -> Iterator[None]:
    """Context in which only these implementations of attention are allowed. Deprecated in PyTorch: use `torch.nn.attention.sdpa_kernel`."""
    before = dict(_attention)
    _attention.update(flash=bool(enable_flash), math=bool(enable_math), mem_efficient=bool(enable_mem_efficient), cudnn=bool(enable_cudnn))
    try:
        yield
    finally:
        _attention.update(before)


_preferred = {"linalg": "default", "blas": "default"}


def preferred_linalg_library(backend: str | None = None) -> str:
    """Which library CUDA's linear algebra should use; the value is kept."""
    if backend is not None:
        if backend not in ("default", "cusolver", "magma"):
            raise RuntimeError(f"Unknown input value. Choose from: default, cusolver, magma, but got {backend!r}.")
        _preferred["linalg"] = backend
    return _preferred["linalg"]


def preferred_blas_library(backend: str | None = None) -> str:
    """Which library CUDA's products should use; the value is kept."""
    if backend is not None:
        if backend not in ("default", "cublas", "cublaslt", "hipblaslt", "ck"):
            raise RuntimeError(f"Unknown input value. Choose from: default, cublas, cublaslt, hipblaslt, ck, but got {backend!r}.")
        _preferred["blas"] = backend
    return _preferred["blas"]


class _PlanCache:
    """CUDA's cache of plans for Fourier transforms: empty."""

    size = 0
    max_size = 0

    def clear(self) -> None:
        """Empty the cache."""
        return None


cufft_plan_cache = _PlanCache()
