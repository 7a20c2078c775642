"""`torch.testing`: comparing tensors in tests, and making tensors of random values."""
from saraph.testing.comparison import assert_allclose, assert_close
from saraph.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
