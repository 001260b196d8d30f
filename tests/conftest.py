"""What all tests stand on."""

from __future__ import annotations

import signal

# What a shell starts in the background ignores SIGINT, and so does all that it starts: programs that tests interrupt would go on.
signal.signal(signal.SIGINT, signal.default_int_handler)
