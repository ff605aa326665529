"""One rating page in a browser: ``tabwb serve`` starts this module, a process for each visitor.

Set and rater come in the environment of the process, which the server has made after it looked the
link up; arguments of a process can be read by everybody on the computer.
"""

from __future__ import annotations

import os

STORE, SET, RATER = "TABWB_STORE", "TABWB_RATING_SET", "TABWB_RATER"


def main() -> int:
    """Show the page of the rater that the environment names; return the exit status."""
    from tabwb.workbench.rating.only import run_rating

    return run_rating(os.environ.get(STORE), int(os.environ[SET]), os.environ[RATER])


if __name__ == "__main__":
    raise SystemExit(main())
