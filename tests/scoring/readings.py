"""Texts with what a careful reader makes of them, read from ``tests/data/reading``."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "reading"


def cases(name: str) -> list[dict[str, str]]:
    """The rows of one file. Column ``part``: rules were written with the *tuning* cases at hand.

    A backslash and an *n* stand for a line's end, a backslash and a *u* for a sign by its number.
    """
    text = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        row["text"] = row["text"].replace("\\n", "\n").replace("\\u00ad", "\u00ad")
    return rows
