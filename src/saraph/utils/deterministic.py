"""`torch.utils.deterministic`: what deterministic mode does to fresh memory."""
#: Whether `torch.empty` fills its memory with NaN under `use_deterministic_algorithms(True)`; kept, as no op here reads unwritten memory.
fill_uninitialized_memory = True
