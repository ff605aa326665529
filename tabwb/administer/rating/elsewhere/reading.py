"""Reading a file of ratings: a table (one row per answer, or REDCap's), or Label Studio's JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tabwb.administer.rating.elsewhere.labels import Label, LabelledText, Labels, Sheet
from tabwb.administer.rating.elsewhere.mapping import ALSO, COLUMNS, FileMapping
from tabwb.battery.problems import Problem
from tabwb.plugin_api.components import AnswerProblems
from tabwb.records.errors import TabwbError
from tabwb.records.files import read_file
from tabwb.records.words import near

MOST_BYTES = 256 * 2**20
MOST_CELL = 16 * 2**20
RATER = "{rater}"
"""Stands for a rater's name in the name of a column."""
LONG = ("response", "rater", "measure", "value")
"""Columns of a table with one row per answer."""
Row = Mapping[str, str]
"""Column to cell."""
_Row = tuple[str, Row]


def read_labels(path: Path, mapping: FileMapping, known: Mapping[str, str]) -> Labels:
    """Return the ratings of a file."""
    text = read_text(path)
    if text.lstrip()[:1] in ("[", "{"):
        from tabwb.administer.rating.elsewhere.label_studio import read_tasks

        return read_tasks(_json(text, path), path, mapping, known)
    header, rows = _table(text, path)
    if not rows:
        raise TabwbError("there are no ratings", where=str(path), allowed="a row for each")
    if mapping.measures and "measure" not in header and "measure" not in mapping.columns:
        return _wide(path, header, rows, mapping)
    return _long(path, header, rows, mapping)


def is_table_of_ratings(path: Path) -> bool:
    """Return whether the first line of a file has the columns of a table of ratings."""
    if not path.is_file() or path.suffix.lower() not in (".csv", ".tsv"):
        return False
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = file.readline(10_000)
    except OSError:
        return False
    cells = {
        cell.strip().strip('"') for cell in first.replace(";", ",").replace("\t", ",").split(",")
    }
    return {"rater", "measure", "value"} <= cells and "item" not in cells


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8."""
    try:
        content = read_file(path, MOST_BYTES)
    except OSError as error:
        reason = error.strerror or str(error)
        raise TabwbError(f"cannot be read: {reason}", where=str(path)) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TabwbError("is not UTF-8", where=f"{path}:{line}", allowed="UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TabwbError("holds a NUL byte", where=f"{path}:{line}", allowed="text in UTF-8")
    if not text.strip():
        raise TabwbError("is empty", where=str(path), allowed="ratings")
    return text


def read_rows(path: Path) -> list[_Row]:
    """Return the place and the cells of each row of a table; there may be none."""
    return _table(read_text(path), path)[1]


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TabwbError(f"is not JSON: {error}", where=str(path)) from error


def _table(text: str, path: Path) -> tuple[list[str], list[_Row]]:
    first = text.lstrip("\r\n").partition("\n")[0]
    tabs = path.suffix.lower() in (".tsv", ".tab")
    delimiter = "\t" if tabs else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    before = csv.field_size_limit(MOST_CELL)
    header: list[str] = []
    rows: list[_Row] = []
    try:
        while True:
            where = f"{path}:{reader.line_num + 1}"
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                raise TabwbError(f"this is not valid CSV: {error}", where=where) from error
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                _unique(header, where)
                continue
            if len(cells) > len(header):
                raise TabwbError(
                    f"{len(cells)} cells under {len(header)} columns", where=where,
                    hint="a cell that holds the separator needs quotes",
                )  # fmt: skip
            cells += [""] * (len(header) - len(cells))
            rows.append((where, dict(zip(header, cells, strict=True))))
    finally:
        csv.field_size_limit(before)
    return header, rows


def _unique(header: list[str], where: str) -> None:
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise TabwbError(f"column '{twice}' is given twice", where=where)


def _columns(header: list[str], mapping: FileMapping, path: Path) -> dict[str, str]:
    """Return what each known column is called in the file; those said by the user must be there."""
    problems = [
        Problem(
            str(path), 1, key, "there is no such column", repr(name),
            ", ".join(header[:30]), near(name, header),
        )
        for key, name in mapping.columns.items()
        if name not in header
    ]  # fmt: skip
    if problems:
        raise AnswerProblems(problems)
    found = dict(mapping.columns)
    used = set(found.values())
    found |= {own: own for own in COLUMNS if own in header and own not in found and own not in used}
    for name, own in ALSO.items():
        if name in header and own not in found and name not in used:
            found[own] = name
    return found


def _needed(
    columns: Mapping[str, str], needed: tuple[str, ...], header: list[str], path: Path
) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        raise AnswerProblems(
            [
                Problem(
                    str(path), 1, "", f"there is no column '{name}'", "",
                    f"one of {', '.join(header[:30])}: in a mapping file, {name} = \"NAME\"",
                    near(name, header),
                )
                for name in missing
            ]
        )  # fmt: skip


def _long(path: Path, header: list[str], rows: list[_Row], mapping: FileMapping) -> Labels:
    """Read one row per answer."""
    columns = _columns(header, mapping, path)
    _needed(columns, LONG, header, path)
    labels = Labels("table of ratings", path)
    for where, row in rows:
        cell = {own: row[name].strip() for own, name in columns.items()}
        label = Label(
            where, cell["response"], cell["rater"], cell["measure"], cell["value"],
            cell.get("occasion", ""), cell.get("note", ""), cell.get("looked_at", ""),
        )  # fmt: skip
        labels.labels.append(label)
        _add(labels, label, cell)
    return labels


def _wide(path: Path, header: list[str], rows: list[_Row], mapping: FileMapping) -> Labels:
    """Read one row per response and rater, or per response with columns for each rater."""
    columns = _columns(header, mapping, path)
    each = [name for name in mapping.measures.values() if RATER in name]
    _needed(columns, ("response",) if each else ("response", "rater"), header, path)
    raters = list(mapping.raters) if each else [""]
    absent = [
        Problem(
            str(path), 1, f"measures.{measure}", "there is no such column", repr(written),
            ", ".join(header[:30]), near(written, header),
        )
        for measure, name in mapping.measures.items()
        for rater in raters
        if (written := name.replace(RATER, rater)) not in header
    ]  # fmt: skip
    if each and not raters:
        absent = [Problem(str(path), 1, "raters", f"{RATER} in a column needs the raters' names")]
    if absent:
        raise AnswerProblems(absent)
    labels = Labels("table of ratings, one row for each response", path)
    for where, row in rows:
        cell = {own: row[name].strip() for own, name in columns.items()}
        said = 0
        for label in _cells(where, row, cell, raters, mapping):
            labels.labels.append(label)
            _add(labels, label, cell)
            said += bool(label.value)
        if not said:
            labels.leave_out("rows without a rating")
    return labels


def _cells(
    where: str,
    row: Mapping[str, str],
    cell: Mapping[str, str],
    raters: list[str],
    mapping: FileMapping,
) -> Iterator[Label]:
    for rater in raters:
        for measure, name in mapping.measures.items():
            value = row[name.replace(RATER, rater)].strip()
            yield Label(
                where, cell["response"], rater or cell["rater"], measure, value,
                cell.get("occasion", ""),
            )  # fmt: skip


def _add(labels: Labels, label: Label, cell: Mapping[str, str]) -> None:
    """Keep the text and the note of a row."""
    if text := cell.get("text", ""):
        rest = {
            name: cell.get(name, "") for name in ("prompt", "speaker", "model", "source", "group")
        }
        known = labels.texts.setdefault(label.response, LabelledText(label.where, text, **rest))
        if known.text != text:
            raise TabwbError(
                f"response '{label.response}' has another text than at {known.where}",
                where=label.where,
            )
    note, seconds, sure = (cell.get(name, "") for name in ("note", "seconds", "confidence"))
    if note or seconds or sure:
        key = label.rater, label.response, label.occasion
        labels.sheets[key] = Sheet(
            note,
            seconds_of(seconds, label.where),
            confidence=confidence_of(sure, label.where),
        )


def seconds_of(text: str, where: str) -> float:
    """Return a time in seconds; 0 where there is none."""
    try:
        seconds = float(text or 0)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise TabwbError(f"'{text}' is not a time", where=where, allowed="seconds, 0 or more")
    return seconds


def confidence_of(text: str, where: str) -> int | None:
    """Return how sure a rater was; None where it is not said."""
    if not text:
        return None
    if text not in ("0", "1", "2", "3"):
        raise TabwbError(f"'{text}' is not a confidence", where=where, allowed="0 to 3, or nothing")
    return int(text)
