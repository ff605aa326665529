"""Reading a file of ratings: a table (one row per answer, or REDCap's), Label Studio's JSON.

A mapping file says what columns, raters, measures and values of another program are here.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabwb.battery.forms import Form, Question, completed
from tabwb.battery.loader import read_tables
from tabwb.battery.loader import read_text as read_toml
from tabwb.battery.problems import Problem, locate, located
from tabwb.plugin_api.components import AnswerProblems
from tabwb.records.errors import TabwbError
from tabwb.records.files import read_file
from tabwb.records.problems import Broken, shortened
from tabwb.records.rating_sets import CANNOT_TELL, UNSURE_WORDS, VERDICT_WORDS, Answer
from tabwb.records.words import near

TRUTHS = {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0, **VERDICT_WORDS}


@dataclass(frozen=True, slots=True)
class Label:
    """What one rater said to one question about one response.

    Attributes:
        where: its place, for messages.
        response: its id in the file.
        rater: as the file names them.
        measure: as the file names it; with the number of an attempt, ``code#2``.
        value: as the file has it; empty is not rated.
        occasion: tells ratings apart that one rater gave a response at several times.
        note: on this answer alone: why it was settled so.
        looked_at: ``yes``; ``no`` where it was confirmed as absent with the rest; empty: not known.
        words: numbers of the words of the text that show it, with blanks between.
    """

    where: str
    response: str
    rater: str
    measure: str
    value: str
    occasion: str = ""
    note: str = ""
    looked_at: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A response whose text the file of ratings has; empty where it does not say more."""

    where: str
    text: str
    prompt: str = ""
    speaker: str = ""
    model: str = ""
    source: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """More of one rating of one response, by rater, response and occasion."""

    note: str = ""
    seconds: float = 0.0
    unmarked: bool = False
    confidence: int | None = None


SheetKey = tuple[str, str, str]
"""Rater, response, occasion."""


@dataclass(slots=True)
class Labels:
    """The ratings of a file.

    Attributes:
        title: what the file is, for people.
        path: of the file.
        labels: in the order of the file.
        texts: id of a response to its text, where the file has texts.
        sheets: notes and times; ``unmarked``: a question without an answer means what the form
            says of unmarked questions.
        left_out: what was read besides ratings, to number.
    """

    title: str
    path: Path
    labels: list[Label] = field(default_factory=list)
    texts: dict[str, LabelledText] = field(default_factory=dict)
    sheets: dict[SheetKey, Sheet] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, what: str) -> None:
        """Count something that was read besides ratings."""
        self.left_out[what] = self.left_out.get(what, 0) + 1


def plain(name: str) -> str:
    """Return a name without what writers differ in: case, hyphens, underscores.

    >>> plain("Conduite d'approche"), plain("conduite-d-approche")
    ('conduite d approche', 'conduite d approche')
    """
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


def measures_by_name(form: Form, names: Mapping[str, str]) -> dict[str, str]:
    """Return every name of a question to its measure: id, title, and what the user says."""
    found: dict[str, str] = {}
    for question in form.questions:
        found.setdefault(plain(question.title), question.measure)
    found |= {plain(question.measure): question.measure for question in form.questions}
    for measure, name in names.items():
        found[plain(name)] = form.question(measure).measure
    return found


def answer_of(question: Question, value: str) -> Answer:
    """Return the answer that a value of a file stands for.

    >>> anomia = Question("anomia", "Anomia", cannot_tell=True)
    >>> answer_of(anomia, "Yes"), answer_of(anomia, "?"), answer_of(anomia, " ")
    (1.0, 'cannot-tell', None)
    """
    text = value.strip()
    folded = text.casefold()
    answer: Answer = text
    if not text:
        return None
    if folded in UNSURE_WORDS:
        answer = CANNOT_TELL
    elif question.kind == "present-absent":
        answer = TRUTHS.get(folded, text)
    elif question.kind == "scale":
        points = {plain(option.title): option.value for option in question.options}
        try:
            answer = float(points.get(plain(text), text))
        except ValueError:
            answer = text
    elif question.kind == "choice":
        titles = {plain(option.title): option.value for option in question.options}
        titles |= {plain(option.value): option.value for option in question.options}
        answer = titles.get(plain(text), text)
    question.check(answer)
    return answer


def filled(form: Form, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers of one rating, with what the form says of questions without a mark."""
    if form.unmarked != "absent":
        raise TabwbError(
            f"form '{form.id}' does not say what a question without a mark means",
            hint='a form of your own with unmarked = "absent" does',
        )
    return completed(form, answers)


COLUMNS = (
    *("response", "rater", "measure", "value", "text", "prompt", "speaker", "model", "source"),
    *("group", "note", "seconds", "confidence", "occasion", "looked_at"),
    "evidence_positions",
)
"""Keys that name a column of a table, or a key of a task's data."""
TABLES = ("raters", "measures", "values")
ALSO = {"id": "response", "participant": "speaker"}
"""Other usual names of columns, used where the column itself is not there."""


@dataclass(frozen=True, slots=True)
class FileMapping:
    """What the user says of a file.

    Attributes:
        columns: one of :data:`COLUMNS` to its name in the file.
        raters: name in the file to code; an empty code leaves the rater out.
        measures: measure of the form to its column, its control or its name in the file.
        values: by measure (empty: of all measures) value in the file to value here.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    raters: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def value(self, measure: str, value: str) -> str:
        """Return a value as it is here."""
        own = self.values.get(measure, {})
        return own.get(value.strip(), self.values.get("", {}).get(value.strip(), value))


def read_mapping(path: Path | None) -> FileMapping:
    """Return what a mapping file (TOML) says; nothing without a file."""
    if path is None:
        return FileMapping()
    text = read_toml(path, 'keys such as response = "record_id"')
    tables = text if isinstance(text, Problem) else read_tables(path, text)
    if isinstance(tables, Problem):
        raise AnswerProblems([tables])
    assert isinstance(text, str)
    broken: list[Broken] = []
    columns = {}
    for key, value in tables.items():
        if key in TABLES:
            continue
        if key not in COLUMNS:
            allowed = (*COLUMNS, *TABLES)
            suggestion = near(key, allowed)
            broken.append(
                Broken((key,), "there is no such key", "", ", ".join(allowed), suggestion)
            )
        elif not isinstance(value, str) or not value:
            broken.append(Broken((key,), "this is not the name of a column", shortened(value)))
        else:
            columns[key] = value
    measures, values = _measures(_table(tables, "measures", broken), broken)
    values[""] = _texts(_table(tables, "values", broken), ("values",), broken)
    raters = _texts(_table(tables, "raters", broken), ("raters",), broken)
    if broken:
        raise AnswerProblems(located(str(path), locate(text), broken))
    return FileMapping(columns, raters, measures, values)


def _table(
    tables: Mapping[str, Any], name: str, broken: list[Broken], above: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    table = tables.get(name, {})
    if isinstance(table, dict):
        return table
    where = (*above, name)
    broken.append(Broken(where, "this is not a table", shortened(table), f"[{'.'.join(where)}]"))
    return {}


def _texts(table: Mapping[str, Any], path: tuple[str, ...], broken: list[Broken]) -> dict[str, str]:
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            broken.append(Broken((*path, key), "this is not a text", shortened(value), "text"))
    return {str(key): str(value) for key, value in table.items()}


def _measures(
    table: Mapping[str, Any], broken: list[Broken]
) -> tuple[dict[str, str], dict[str, Mapping[str, str]]]:
    columns: dict[str, str] = {}
    values: dict[str, Mapping[str, str]] = {}
    for measure, given in table.items():
        path = ("measures", measure)
        if isinstance(given, str):
            columns[measure] = given
        elif isinstance(given, dict) and isinstance(given.get("column"), str):
            columns[measure] = given["column"]
            named = _table(given, "values", broken, path)
            values[measure] = _texts(named, (*path, "values"), broken)
        else:
            allowed = 'a column, or { column = "...", values = { ... } }'
            broken.append(Broken(path, "this names no column", shortened(given), allowed))
    return columns, values


RESPONSE = ("id", "response", "response_id", "text_id")
"""Keys of a task's data that name the response, the first that is there."""
CHOSEN = ("choices", "taxonomy", "labels")
"""Keys of a value that list what was chosen."""
LISTED = "present"
"""The value of a name in a list of choices."""


def read_tasks(tasks: Any, path: Path, mapping: FileMapping, known: Mapping[str, str]) -> Labels:
    """Return the annotations of tasks as ratings.

    A control with the name of a question is its answer. One whose choices have names of questions
    lists features that are present; those that are not chosen are unmarked.
    """
    if isinstance(tasks, dict):
        tasks = [tasks]
    labels = Labels("Label Studio export", path)
    for number, task in enumerate(tasks, start=1):
        where = f"{path}: task {number}"
        annotations = _annotations(task, where)
        data = task.get("data") or {}
        if not isinstance(data, dict):
            raise TabwbError("its data are not an object", where=where)
        response = _response(task, data, mapping, where)
        _keep_text(labels, response, data, mapping, where)
        seen: dict[str, int] = {}
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise TabwbError("an annotation is not an object", where=where)
            if annotation.get("was_cancelled"):
                labels.leave_out("skipped tasks")
                continue
            rater = _rater(annotation.get("completed_by"), mapping, where)
            seen[rater] = seen.get(rater, 0) + 1
            occasion = "" if seen[rater] == 1 else str(seen[rater])
            _annotation(labels, annotation, (rater, response, occasion), where, mapping, known)
    _empty_ones(labels)
    if not labels.labels and not labels.sheets:
        raise TabwbError("there is no annotation in it", where=str(path))
    return labels


def _annotations(task: Any, where: str) -> list[Any]:
    found = task.get("annotations", task.get("completions")) if isinstance(task, dict) else None
    if not isinstance(found, list):
        raise TabwbError(
            "this is not a task with annotations",
            where=where,
            allowed="Label Studio's export 'JSON' (JSON-MIN leaves out who answered nothing)",
        )
    return found


def _response(
    task: Mapping[str, Any], data: Mapping[str, Any], mapping: FileMapping, where: str
) -> str:
    if name := mapping.columns.get("response"):
        if name not in data:
            raise TabwbError(
                f"its data have no '{name}'", where=where, allowed=", ".join(map(str, data))
            )
        return str(data[name])
    found = next((data[name] for name in RESPONSE if name in data), task.get("id", ""))
    return str(found)


def _keep_text(
    labels: Labels, response: str, data: Mapping[str, Any], mapping: FileMapping, where: str
) -> None:
    names = ("text", "prompt", "speaker", "model", "source", "group")
    cells = {own: data.get(mapping.columns.get(own, own)) for own in names}
    texts = {own: value for own, value in cells.items() if isinstance(value, str)}
    if not texts.get("text"):
        return
    known = labels.texts.setdefault(response, LabelledText(where, **texts))
    if known.text != texts["text"]:
        raise TabwbError(
            f"response '{response}' has another text than at {known.where}", where=where
        )


def _rater(by: Any, mapping: FileMapping, where: str) -> str:
    """Return who annotated, as the mapping names them: by e-mail, else by number."""
    if isinstance(by, dict):
        for name in (by.get("email"), by.get("username"), by.get("id")):
            if name is not None and str(name) in mapping.raters:
                return str(name)
        by = by.get("id", by.get("email"))
    if by is None:
        raise TabwbError("an annotation does not say who made it (completed_by)", where=where)
    return str(by)


def _annotation(
    labels: Labels,
    annotation: Mapping[str, Any],
    key: SheetKey,
    where: str,
    mapping: FileMapping,
    known: Mapping[str, str],
) -> None:
    rater, response, occasion = key
    note, listed = "", False
    for control, values in _results(annotation, where, labels):
        if control == mapping.columns.get("note", "note"):
            note = " ".join(values)
        elif plain(control) not in known and all(plain(value) in known for value in values):
            listed = True
            for value in values:
                labels.labels.append(Label(where, response, rater, value, LISTED, occasion))
        else:
            value = ", ".join(values)
            labels.labels.append(Label(where, response, rater, control, value, occasion))
    lead = annotation.get("lead_time")
    seconds = float(lead) if isinstance(lead, int | float) and 0 <= lead < 1e9 else 0.0
    labels.sheets[key] = Sheet(note, seconds, listed or not annotation.get("result"))


def _empty_ones(labels: Labels) -> None:
    """Leave out annotations without a result, where no control lists what is present."""
    if any(label.value == LISTED for label in labels.labels):
        return
    for key in [key for key, sheet in labels.sheets.items() if sheet.unmarked]:
        del labels.sheets[key]
        labels.leave_out("annotations without a result")


def _results(
    annotation: Mapping[str, Any], where: str, labels: Labels
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each control and its values."""
    results = annotation.get("result") or []
    if not isinstance(results, list):
        raise TabwbError("a result is not a list", where=where)
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        control = result.get("from_name") if isinstance(result, dict) else None
        if not isinstance(value, dict) or not isinstance(control, str):
            labels.leave_out("results without a control and a value")
            continue
        chosen = next((value[name] for name in CHOSEN if isinstance(value.get(name), list)), None)
        if chosen is not None:
            names = [str(name[-1] if isinstance(name, list) and name else name) for name in chosen]
            if names:
                yield control, names
        elif isinstance(text := value.get("text"), list):
            yield control, [" ".join(map(str, text))]
        else:
            number = value.get("rating", value.get("number", text))
            if isinstance(number, int | float | str):
                yield control, [f"{number}"]
            else:
                labels.leave_out(f"results of type {result.get('type', 'unknown')}")


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
        return read_tasks(_json(text, path), path, mapping, known)
    header, rows = _rows(text, path)
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
    return _rows(read_text(path), path)[1]


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TabwbError(f"is not JSON: {error}", where=str(path)) from error


def _rows(text: str, path: Path) -> tuple[list[str], list[_Row]]:
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
            cell.get("evidence_positions", ""),
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
