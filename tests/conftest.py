"""What holds for all tests."""
import signal

# A suite that was started in the background inherits that interrupts are ignored, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
