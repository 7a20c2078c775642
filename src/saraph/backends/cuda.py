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


def flash_sdp_enabled() -> bool:
    """Whether CUDA's flash attention may be used."""
    return False


def enable_flash_sdp(enabled: bool) -> None:
    """Allow CUDA's flash attention: without CUDA nothing happens."""


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow CUDA's memory-efficient attention: without CUDA nothing happens."""


def enable_math_sdp(enabled: bool) -> None:
    """Allow CUDA's plain attention: without CUDA nothing happens."""
