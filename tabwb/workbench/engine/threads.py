"""Threads beside the screen, and the garbage collector, whose work must not delay the screen.

A full collection looks at every object that lives: with Textual and our own modules loaded that
takes 30 to 100 ms, more than a frame may. What is there when the first screen is shown stays for as
long as the program runs, so it need not be looked at again.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

YOUNG = 5_000
"""Allocations before a collection of the youngest generation; Python's own 700 is for scripts."""
OLDEST = 100
"""Collections of the middle generation before a full one."""
AT_ONCE = 100
"""Responses let go at once: well below the 5 ms after which threads change."""
FRAME_S = 1 / 30
"""What comes piece by piece is shown at most this often."""

_lock = threading.Lock()
_resting = 0


def aside(name: str, work: Callable[[], object]) -> threading.Thread:
    """Begin work in a thread of its own, for which the end of the program does not wait."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


def settle() -> None:
    """Exclude all present objects from collections, and collect less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, 10, OLDEST)


@contextmanager
def resting() -> Iterator[None]:
    """Suspend collections while a thread makes and frees many objects without cycles.

    It ends with the last of several threads. What lives then is excluded from collections.
    """
    global _resting
    with _lock:
        _resting += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _resting -= 1
            if not _resting:
                gc.freeze()
                gc.enable()


def let_go(objects: list[object]) -> None:
    """Empty a list in small steps, so that other threads can run in between.

    Freeing 16,000 responses at once takes 0.1 s, which no other thread can interrupt.
    """
    while objects:
        del objects[-AT_ONCE:]
        time.sleep(0)


def set_aside() -> None:
    """Exclude all present objects from collections: records without cycles that a thread keeps."""
    gc.freeze()


def tidy() -> None:
    """While collections are suspended: collect the youngest objects and exclude the survivors.

    Called where the thread holds little; nothing is done while another one holds much.
    """
    with _lock:
        if _resting == 1:
            gc.collect(0)
            gc.freeze()
