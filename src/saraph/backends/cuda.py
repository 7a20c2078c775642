"""`torch.backends.cuda`: switches that programs set; without CUDA they have no effect."""


class _Matmul:
    """Precision switches of CUDA's products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    """Whether CUDA is built in: no."""
    return False


_attention = {"flash": True, "mem_efficient": True, "math": True}


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
