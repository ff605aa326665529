"""Keeping Python's garbage collector from holding up the screen.

A full collection looks at every object that lives: with Textual and our own modules loaded that
takes 30 to 100 ms, more than a frame may. What is there when the first screen stands stays for as
long as the program runs, so it need not be looked at again.
"""

from __future__ import annotations

import gc

YOUNG = 5_000
"""Objects made before the youngest are looked through; Python's own 700 is for scripts."""
OLDEST = 100
"""Collections of the middle generation before a full one."""


def settle() -> None:
    """Set aside what lives now, and look at the rest less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, 10, OLDEST)
