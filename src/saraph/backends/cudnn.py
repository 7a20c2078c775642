"""`torch.backends.cudnn`: switches that programs set; without CUDA they have no effect."""
enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN is there: no."""
    return False


def version() -> None:
    """The version of cuDNN: None."""
    return None
