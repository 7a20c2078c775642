"""What holds for all tests."""
import signal

from hypothesis import HealthCheck, settings

# A suite that was started in the background inherits that interrupts are ignored, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Time says nothing on a busy machine; a failure prints how to have it again.
settings.register_profile("saraph", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("saraph")
