"""ctrl+c, as distinct from a ``KeyboardInterrupt`` that other code raises.

Standard library only.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interrupt(KeyboardInterrupt):
    """Raised by our signal handlers: a person pressed ctrl+c, or the process is asked to end."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising :class:`Interrupt`.

    Args:
        number: of the signal.
        frame: ignored.

    Raises:
        Interrupt: always.
    """
    raise Interrupt


def is_real(error: KeyboardInterrupt) -> bool:
    """Return whether a ``KeyboardInterrupt`` comes from a signal.

    Signals reach the main thread only. Where Python's own handler is in force there, every
    ``KeyboardInterrupt`` counts as one.

    >>> is_real(Interrupt())
    True
    """
    if isinstance(error, Interrupt):
        return True
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler
