"""Settings that apply to all tests."""

from __future__ import annotations

import signal

# A process that a shell starts in the background ignores SIGINT, and so do its children. With SIGINT ignored, programs
# that tests interrupt would not stop.
signal.signal(signal.SIGINT, signal.default_int_handler)
