"""Pictures to be named from a CSV file: rows to the tables of a battery, with their pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tabwb.battery.files import read_text
from tabwb.battery.items_csv import Row, checked_battery, parts_of, rows_of
from tabwb.battery.problems import BatteryProblems, Problem
from tabwb.battery.starting_points import title_of

NEIGHBOURS = ("semantic", "visual", "parts", "unrelated")
COLUMNS = (
    *("target", "picture", "accept", *NEIGHBOURS, "prompt", "practice", "tags", "subtest", "id"),
)
"""Columns of a CSV of pictures; only ``target`` is needed.

``|`` separates pronunciations (``accept``, ARPAbet or IPA), related words and ``tags``. Without
``accept`` the pronunciations are those of the dictionary. Without ``picture`` it is the file beside
the CSV with the name of the id or the target. Without ``id`` it is the target. ``practice`` is yes
or no.
"""
PICTURES = (".png", ".jpg", ".jpeg")
SUBTEST = "naming"
YES, NO = ("yes", "true", "1", "x"), ("no", "false", "0", "")


def read_pictures(
    path: Path, battery: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the tables of a naming battery and its pictures, by the names that the tables use.

    Args:
        path: a CSV with :data:`COLUMNS`, separated by commas, semicolons or tabs.
        battery: the table ``[battery]``.

    Raises:
        BatteryProblems: every problem with its line.
    """
    name = str(path)
    text = read_text(path, "a column 'target' and items")
    if isinstance(text, Problem):
        raise BatteryProblems([text])
    problems: list[Problem] = []
    files: dict[str, Path] = {}
    subtests: dict[str, list[tuple[Row, dict[str, Any]]]] = {}
    for row in rows_of(name, text, COLUMNS, "target"):
        item = dict(_item(row, path, files, problems))
        subtests.setdefault(row.cells.get("subtest") or SUBTEST, []).append((row, item))
    if problems:
        raise BatteryProblems(problems)
    tables = [_subtest(subtest, [item for _, item in rows]) for subtest, rows in subtests.items()]
    content = checked_battery(
        name,
        {"battery": {**battery, "examinees": ["speaker"]}, "subtest": tables},
        [[row for row, _ in rows] for rows in subtests.values()],
        COLUMNS,
    )
    return content, {picture: file.read_bytes() for picture, file in files.items()}


def _subtest(subtest: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    say = "Tell me the name of each picture with one word."
    return {
        "id": subtest,
        "title": title_of(subtest),
        "response": "naming",
        "administrator": {"text": "Show one picture at a time.", "source": "ours"},
        "instructions": {"text": say, "source": "ours"},
        "rule": "correct-first",
        "item": items,
    }


def _item(
    row: Row, path: Path, files: dict[str, Path], problems: list[Problem]
) -> Iterator[tuple[str, Any]]:
    """Yield the keys of one item; what is wrong goes to the problems, pictures to the files."""

    def wrong(column: str, what: str, value: str, allowed: str = "") -> None:
        problems.append(Problem(str(path), row.line, column, what, repr(value), allowed))

    cells = row.cells
    target = cells.get("target", "")
    identifier = cells.get("id") or "-".join(target.casefold().split())
    if not target:
        wrong("target", "this is empty", "")
    yield "id", identifier
    if cells.get("prompt"):
        yield "prompt", cells["prompt"]
    picture = _picture(path.parent, cells.get("picture", ""), (identifier, target))
    if picture is None:
        beside = f"a file beside {path.name}: {identifier}.png, or the column picture"
        wrong("picture", "there is no such picture", cells.get("picture", ""), beside)
    elif files.setdefault(picture.name, picture) != picture:
        wrong("picture", "another picture has this file name", cells.get("picture", ""))
    else:
        yield "picture", picture.name
    yield "target", target
    accept = _accepted(cells.get("accept", ""), target)
    if not accept and target:
        wrong("accept", "the dictionary does not have this word", target, "ARPAbet or IPA")
    yield "accept", accept
    for column in (*NEIGHBOURS, "tags"):
        if parts := parts_of(cells.get(column, "")):
            yield column, parts
    practice = cells.get("practice", "").casefold()
    if practice in YES:
        yield "practice", True
    elif practice not in NO:
        wrong("practice", "this is neither yes nor no", practice, "yes, no")


def _picture(folder: Path, stated: str, names: tuple[str, ...]) -> Path | None:
    if stated:
        path = folder / stated
        inside = path.resolve().is_relative_to(folder.resolve())
        return path if inside and path.is_file() else None
    beside = (folder / f"{name}{suffix}" for name in names if name for suffix in PICTURES)
    return next((file for file in beside if file.is_file()), None)


def _accepted(text: str, target: str) -> list[dict[str, str]]:
    from tabwb.battery.pronounce import forms_of

    parts = parts_of(text)
    if parts:
        return [
            {"phonemes": part, "reason": "variant" if at else "citation"}
            for at, part in enumerate(parts)
        ]
    return [
        {"phonemes": " ".join(form.phonemes), "reason": form.reason} for form in forms_of(target)
    ]
