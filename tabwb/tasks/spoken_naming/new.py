"""Writing a new naming battery: a commented file to begin with, or made from a CSV of pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from math import hypot
from pathlib import Path
from typing import Any

from tabwb.battery.new import (
    Row,
    battery_table,
    check_id,
    check_rows,
    csv_rows,
    render,
    title_of,
    written,
)
from tabwb.battery.problems import BatteryProblems, Problem
from tabwb.phonology.dictionary import forms_of
from tabwb.records.files import is_inside

NEIGHBOURS = ("semantic", "visual", "parts", "unrelated")
PICTURE_COLUMNS = (
    *("target", "picture", "accept", *NEIGHBOURS, "prompt", "practice", "tags", "subtest", "id"),
)
"""Columns of a CSV of pictures; only ``target`` is needed.

``|`` separates pronunciations (``accept``, ARPAbet or IPA), related words and ``tags``. Without
``accept`` the pronunciations are those of the dictionary. Without ``picture`` it is the file beside
the CSV with the name of the id or the target. Without ``id`` it is the target. ``practice`` is yes
or no.
"""
_PRACTICE = {
    **dict.fromkeys(("yes", "true", "1", "x"), True),
    **dict.fromkeys(("no", "false", "0", ""), False),
}


def new_naming_battery(folder: Path, battery_id: str, items: Path | None = None) -> Path:
    """Write a folder with pictures to be named and the ``battery.toml`` that asks for them."""
    check_id(battery_id)
    if items is not None:
        tables, pictures = read_pictures(items, battery_table(battery_id))
        return written(folder, {**pictures, "battery.toml": render(tables).encode("utf-8")})
    text = NAMING_EXAMPLE.format(id=battery_id, title=title_of(battery_id))
    return written(folder, {"ball.png": example_picture(), "battery.toml": text.encode("utf-8")})


def read_pictures(
    path: Path, battery: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the tables of a naming battery and its pictures, by the names that the tables use."""
    problems: list[Problem] = []
    files: dict[str, Path] = {}
    subtests: dict[str, list[Row]] = {}
    items: dict[str, list[dict[str, Any]]] = {}
    for row in csv_rows(path, PICTURE_COLUMNS, "target"):
        subtest = row.cell("subtest") or "naming"
        subtests.setdefault(subtest, []).append(row)
        items.setdefault(subtest, []).append(dict(_picture_item(row, path, files, problems)))
    if problems:
        raise BatteryProblems(problems)
    say = "Tell me the name of each picture with one word."
    tables = [
        {
            "id": subtest,
            "title": title_of(subtest),
            "response": "naming",
            "administrator": {"text": "Show one picture at a time.", "source": "ours"},
            "instructions": {"text": say, "source": "ours"},
            "rule": "correct-first",
            "item": rows,
        }
        for subtest, rows in items.items()
    ]
    content = {"battery": {**battery, "examinees": ["speaker"]}, "subtest": tables}
    check_rows(path, content, list(subtests.values()), PICTURE_COLUMNS)
    return content, {picture: file.read_bytes() for picture, file in files.items()}


def _picture_item(
    row: Row, path: Path, files: dict[str, Path], problems: list[Problem]
) -> Iterator[tuple[str, Any]]:
    """Yield the keys of one item; what is wrong goes to the problems, pictures to the files."""

    def wrong(column: str, what: str, value: str, allowed: str = "") -> None:
        problems.append(Problem(str(path), row.line, column, what, repr(value), allowed))

    target, stated = row.cell("target"), row.cell("picture")
    identifier = row.cell("id") or "-".join(target.casefold().split())
    if not target:
        wrong("target", "this is empty", "")
    yield "id", identifier
    if prompt := row.cell("prompt"):
        yield "prompt", prompt
    picture = _picture(path.parent, stated, (identifier, target))
    if picture is None:
        beside = f"a file beside {path.name}: {identifier}.png, or the column picture"
        wrong("picture", "there is no such picture", stated, beside)
    elif files.setdefault(picture.name, picture) != picture:
        wrong("picture", "another picture has this file name", stated)
    else:
        yield "picture", picture.name
    yield "target", target
    accept = [
        {"phonemes": part, "reason": "variant" if number else "citation"}
        for number, part in enumerate(row.parts("accept"))
    ] or [{"phonemes": " ".join(form.phonemes), "reason": form.reason} for form in forms_of(target)]
    if not accept and target:
        wrong("accept", "the dictionary does not have this word", target, "ARPAbet or IPA")
    yield "accept", accept
    for column in (*NEIGHBOURS, "tags"):
        if parts := row.parts(column):
            yield column, parts
    practice = row.cell("practice").casefold()
    if practice not in _PRACTICE:
        wrong("practice", "this is neither yes nor no", practice, "yes, no")
    elif _PRACTICE[practice]:
        yield "practice", True


def _picture(folder: Path, stated: str, names: tuple[str, ...]) -> Path | None:
    if stated:
        path = folder / stated
        return path if is_inside(folder, stated) and path.is_file() else None
    beside = (
        folder / f"{name}{suffix}" for name in names if name for suffix in (".png", ".jpg", ".jpeg")
    )
    return next((file for file in beside if file.is_file()), None)


NAMING_EXAMPLE = """\
# A battery of pictures to be named aloud. It is data: nothing in it runs, and the pictures (PNG or
# JPEG) lie in this folder. Every key is explained in docs/batteries.md, every rule in
# docs/naming-rules.md; your editor can use `tabwb battery schema`.

[battery]
id = "{id}"
title = "{title}"
version = "1"            # change it whenever anything below, or a picture, changes
language = "en"
license = "CC-BY-4.0"
citation = ""            # how to cite it; doi, url, notes and disclaimer are allowed here too
examinees = ["speaker"]


[[subtest]]
id = "nouns"
title = "Nouns"
response = "naming"
# Words to who administers, and words said to the speaker:
administrator = {{ text = "Show one picture at a time.", source = "ours" }}
instructions = {{ text = "Tell me the name of each picture with one word.", source = "ours" }}

# Rules that change scores. Those that are left out are as `tabwb battery show` says.
rule = "correct-first"   # or "correct-any": an accepted form anywhere in the response
time_limit = 20          # seconds from the picture to speech
late_counts = false      # whether a right answer after the limit counts as right
# tolerance = {{ slips = 1, reason = "slips of articulation" }}   # or {{ share = 0.5 }}
# number = "scored"      # "balls" is not right for *ball*; left out: it is
# discontinue = {{ after = 8, counts_cued = false }}
# start_item = "ball"    # begin here; with basal, go back until so many in a row are right
# basal = 8
feedback = "neutral"     # or "none", "right-or-wrong"
response_rule = "first-response"   # or "whole-window"
reveal = "after-score"   # or "live": show at once what the machine heard
# Where a rule is from; one that is not named here is yours ("ours"):
# rule_sources = {{ time_limit = "BNT manual" }}
# Helps for every item, in the order in which they may be given; an item may have its own:
cues = [{{ kind = "semantic", text = "What is it for?", when = "no name came", counts = true }}]

[[subtest.item]]
id = "ball"
picture = "ball.png"
target = "ball"
# `tabwb battery pronounce ball` writes this line; add the dialects of the people you record:
accept = [{{ phonemes = "B AO L", reason = "citation" }}, {{ phonemes = "B AA L", reason = "dialect" }}]
semantic = ["bat", "toy", "balloon"]   # related in meaning
visual = ["circle", "ring", "moon"]    # what the picture may be taken for
# parts = []                           # parts of what is shown
# unrelated = []                       # words that have nothing to do with it
# practice = true                      # given first, never counted
cues = [
  {{ kind = "stimulus", text = "It is a toy.", when = "it was taken for something else", counts = true }},
  {{ kind = "phonemic", text = "It begins with ba.", when = "no name came", counts = false }},
]
"""  # noqa: E501 - a line of TOML cannot be broken
"""A battery with one picture to be named, to be filled in with :meth:`str.format`."""


SIDE = 240
"""Pixels of the example's picture."""


def example_picture() -> bytes:
    """Return a drawn ball as PNG, so that a new battery can be given at once.

    >>> example_picture()[1:4]
    b'PNG'
    """
    middle, radius = (SIDE - 1) / 2, SIDE * 0.42
    rows = bytearray()
    for y in range(SIDE):
        rows.append(0)  # no filter
        for x in range(SIDE):
            out = hypot(x - middle, y - middle) / radius
            stripe = abs(y - middle + (x - middle) / 3) < SIDE / 10
            rows.append(255 if out > 1 else 0 if out > 0.88 else 110 if stripe else 205)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)  # 8 bits of grey
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
