"""Texts with what a careful reader makes of them, read from ``tests/data/reading``."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery, Item
from tabwb.battery.prompts import render_prompt

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


@lru_cache(maxsize=1)
def _tab() -> Battery:
    return load_battery(Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml")


def item(item_id: str) -> Item:
    """An item of TAB."""
    return next(one for each in _tab().subtests for one in each.items if one.id == item_id)


def prompts(item_id: str) -> tuple[str, str]:
    """What is sent for an item of TAB, and its own prompt."""
    subtest = next(each for each in _tab().subtests if item_id in {one.id for one in each.items})
    return render_prompt(subtest, item(item_id)), item(item_id).prompt
