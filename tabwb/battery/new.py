"""Writing a new battery: a commented file to begin with, or one made from a CSV of items."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.battery.loader import read_assets, read_text
from tabwb.battery.model import Battery
from tabwb.battery.problems import BatteryProblems, Problem, located
from tabwb.battery.task_type import task_type
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.problems import KeyPath
from tabwb.records.specs import is_kebab
from tabwb.records.words import near


def battery_table(battery_id: str) -> dict[str, Any]:
    """Return the table ``[battery]`` of a new battery."""
    return {
        "id": battery_id,
        "title": title_of(battery_id),
        "version": "1",
        "language": "en",
        "license": "CC-BY-4.0",
        "examinees": ["model", "speaker"],
    }


def subtest_table(subtest: str, response: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a ``[[subtest]]`` table with the usual instructions, template and scorers."""
    task = task_type(response)  # what is misspelt is reported with its line later
    return {
        "id": subtest,
        "title": title_of(subtest),
        "response": response,
        "instructions": {"text": task.instructions, "source": "ours"},
        "template": "{instructions}\n{prompt}" + (" ({options})" if task.options else ""),
        "scorers": list(task.scorers),
        "item": list(items),
    }


def title_of(identifier: str) -> str:
    """Return a title for people to begin with.

    >>> title_of("word-comprehension")
    'Word comprehension'
    """
    return identifier.replace("-", " ").capitalize()


EXAMPLE = """\
# A battery is data: nothing in it runs, and the files that it names lie inside this folder.
# Every key is explained in docs/batteries.md; your editor can use `tabwb battery schema`.

[battery]
id = "{id}"
title = "{title}"
version = "1"            # change it whenever anything below changes
language = "en"
license = "CC-BY-4.0"
citation = ""            # how to cite it; doi, url, notes and disclaimer are allowed here too
examinees = ["model", "speaker"]   # a kind that is left out needs a research protocol
# system = {{ text = "...", source = "ours" }}   # a system message for models


# ---- choice: one of the options -------------------------------------------------------------
[[subtest]]
id = "words"
title = "Words"
response = "choice"
# Words to the examiner are shown and never sent:
administrator = {{ text = "Show the options with each question.", source = "ours" }}
# Instructions are sent. The source is "ours", or the section of the paper the text is from:
instructions = {{ text = "Answer with exactly one of the listed words and nothing else.", source = "ours" }}
template = "{{instructions}}\\n{{prompt}} ({{options}})"
scorers = ["choice"]
max_tokens = 64

[[subtest.item]]
id = "example"
prompt = "Which one is a colour?"
options = ["green", "window"]
expected = "green"
practice = true          # given first, never counted

[[subtest.item]]
id = "w1"
prompt = "Which one can fly?"
options = ["bird", "bard", "table", "plane"]
expected = "bird"
foils = {{ bard = "phonological", plane = "semantic" }}   # what choosing it would mean
tags = ["animal"]        # results are shown by tag too


# ---- yes-no: exactly Yes or No ----------------------------------------------------------------
[[subtest]]
id = "sentences"
title = "Sentences"
response = "yes-no"
instructions = {{ text = "Answer with one word, Yes or No, and nothing else.", source = "ours" }}
scorers = ["yes-no"]

[[subtest.item]]
id = "s1"
prompt = "Is a letter written by a writer?"
expected = "Yes"
tags = ["passive"]


# ---- verbatim: the expected text again, character for character ------------------------------
[[subtest]]
id = "saying"
title = "Saying again"
response = "verbatim"
instructions = {{ text = "Repeat the text exactly as it stands; punctuation and capital letters matter.", source = "ours" }}
scorers = ["repetition"]

[[subtest.item]]
id = "r1"
prompt = "Please say: moon."
expected = "moon."


# ---- connected-text: a few sentences, no right answer ----------------------------------------
[[subtest]]
id = "telling"
title = "Telling"
response = "connected-text"
instructions = {{ text = "Answer in 3 to 5 full sentences.", source = "ours" }}
scorers = ["lexical"]

[[subtest.item]]
id = "t1"
prompt = "Tell me about your morning."


# ---- description: a few sentences, typed or spoken; an item may have a picture for speakers ---
[[subtest]]
id = "describing"
title = "Describing"
response = "description"
instructions = {{ text = "Describe it in 3 to 5 full sentences.", source = "ours" }}
scorers = ["lexical"]

[[subtest.item]]
id = "d1"
prompt = "Describe the room that you are in."
# picture = "room.png"   # then: examinees = ["speaker"]
"""  # noqa: E501 - a line of TOML cannot be broken
"""A battery with one subtest of each kind in text, to be filled in with :meth:`str.format`."""


COLUMNS = ("subtest", "response", "prompt", "options", "expected", "tags", "id")
"""Columns of an items CSV; only ``prompt`` is needed.

``options`` and ``tags`` are separated by ``|``. Without ``subtest`` an item belongs to the subtest
``items``, without ``id`` it is numbered. Where no row of a subtest says its ``response``, it is
choice where there are options, yes-no where every expected answer is Yes or No in any case,
verbatim where every prompt contains its expected answer, free where there are other expected
answers, else connected-text.
"""
_YES_NO = {"yes": "Yes", "no": "No"}


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the CSV: the line it begins on and its cells, outer white space removed."""

    line: int
    cells: dict[str, str]

    def cell(self, column: str) -> str:
        """Return a cell, empty where the CSV has no such column."""
        return self.cells.get(column, "")

    def parts(self, column: str) -> list[str]:
        """Return the parts of a cell that ``|`` separates."""
        return [part.strip() for part in self.cell(column).split("|") if part.strip()]


def read_items(path: Path, battery: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a battery with the items of a CSV file."""
    subtests: dict[str, list[Row]] = {}
    for row in csv_rows(path, COLUMNS, "prompt"):
        subtests.setdefault(row.cell("subtest") or "items", []).append(row)
    tables = []
    for subtest, rows in subtests.items():
        response = _response(str(path), subtest, rows)
        items = [_item(row, number, response) for number, row in enumerate(rows, start=1)]
        tables.append(subtest_table(subtest, response, items))
    content = {"battery": battery, "subtest": tables}
    check_rows(path, content, list(subtests.values()), COLUMNS)
    return content


def check_rows(
    path: Path, content: dict[str, Any], rows: Sequence[Sequence[Row]], columns: Sequence[str]
) -> None:
    """Check the tables made of the rows of a CSV; a problem is reported at its row and column."""
    from tabwb.battery.rules import validate

    def column(where: KeyPath) -> str:
        """Return the column that a key came from, or nothing."""
        names = [part for part in where if isinstance(part, str)]
        if names == ["subtest", "id"]:
            return "subtest"
        return next((part for part in names if part in columns and part != "subtest"), "")

    lines: dict[KeyPath, int] = {}
    for number, own in enumerate(rows):
        lines[("subtest", number)] = own[0].line
        lines |= {("subtest", number, "item", at): row.line for at, row in enumerate(own)}
    # Validation may change what it gets where a type is wrong; then nothing is returned.
    _, broken = validate(content)
    if broken:
        raise BatteryProblems(located(str(path), lines, broken, column))


def csv_rows(path: Path, columns: Sequence[str], needed: str) -> Iterator[Row]:
    """Yield the items of a CSV with these columns, one of which must be there."""
    name = str(path)
    text = read_text(path, f"a column '{needed}' and items")
    if isinstance(text, Problem):
        raise BatteryProblems([text])
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(
        io.StringIO(text.replace("\r\n", "\n"), newline=""), strict=True, delimiter=delimiter
    )
    header: list[str] = []
    has_header = False
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            break
        except csv.Error as error:
            problem = Problem(name, line, "", f"this is not valid CSV: {error}")
            raise BatteryProblems([problem]) from error
        if not any(cells):
            continue
        if not header:
            header = _header(name, line, cells, columns, needed)
        elif len(cells) > len(header):
            what = "more cells than columns (a cell that holds the separator needs quotes)"
            raise BatteryProblems(
                [Problem(name, line, "", what, str(len(cells)), f"up to {len(header)}")]
            )
        else:
            has_header = True
            # A spreadsheet leaves out the empty cells at the end of a row.
            cells += [""] * (len(header) - len(cells))
            yield Row(line, dict(zip(header, cells, strict=True)))
    if not has_header:
        raise BatteryProblems([Problem(name, line, "", "there are no items")])


def _header(
    name: str, line: int, header: list[str], columns: Sequence[str], needed: str
) -> list[str]:
    allowed = ", ".join(columns)
    problems = [
        Problem(
            name, line, "", "there is no such column", repr(column), allowed, near(column, columns)
        )
        for column in header
        if column not in columns
    ]
    problems += [
        Problem(name, line, "", "this column is given twice", repr(column))
        for column in dict.fromkeys(header)
        if header.count(column) > 1 and column in columns
    ]
    if needed not in header and not any(problem.suggestion == needed for problem in problems):
        problems.append(Problem(name, line, "", f"there is no column '{needed}'", "", allowed))
    if problems:
        raise BatteryProblems(problems)
    return header


def _response(name: str, subtest: str, rows: Sequence[Row]) -> str:
    named = [row for row in rows if row.cell("response")]
    for row in named:
        first, this = named[0].cells["response"], row.cells["response"]
        if this != first:
            problem = f"'{subtest}' has response '{first}' in line {named[0].line}"
            raise BatteryProblems(
                [Problem(name, row.line, "response", problem, repr(this), "one kind in a subtest")]
            )
    if named:
        return named[0].cells["response"]
    expected = [row.cells["expected"] for row in rows if row.cell("expected")]
    if any(row.cell("options") for row in rows):
        return "choice"
    if not expected:
        return "connected-text"
    if all(answer.casefold() in _YES_NO for answer in expected):
        return "yes-no"
    repeated = all(row.cell("expected") in row.cells["prompt"] for row in rows)
    return "verbatim" if repeated else "free"


def _item(row: Row, number: int, response: str) -> dict[str, Any]:
    item: dict[str, Any] = {"id": row.cell("id") or f"i{number}", "prompt": row.cells["prompt"]}
    for column in ("options", "tags"):
        if parts := row.parts(column):
            item[column] = parts
    if answer := row.cell("expected"):
        yes_no = _YES_NO if response == "yes-no" else {}
        item["expected"] = yes_no.get(answer.casefold(), answer)
    return item


def new_battery(
    folder: Path, battery_id: str, items: Path | None = None, features_of: Battery | None = None
) -> Path:
    """Write ``folder/battery.toml`` and return its path."""
    check_id(battery_id)
    if items is None:
        text = EXAMPLE.format(id=battery_id, title=title_of(battery_id))
    else:
        text = render(read_items(items, battery_table(battery_id)))
    if features_of is not None:
        text = f"{text}\n{features_text(features_of)}"
    return written(folder, {"battery.toml": text.encode("utf-8")})


def copy_battery(folder: Path, battery_id: str, source: Path, battery: Battery) -> Path:
    """Write a copy of a battery under an id of its own, with its files, and return its path.

    Comments and the order of the file stay.
    """
    import tomlkit

    check_id(battery_id)
    document = tomlkit.parse(source.read_text(encoding="utf-8"))
    document["battery"]["id"] = battery_id
    files = dict(read_assets(source, battery))
    if (license_file := source.parent / "LICENSE").is_file():
        files.setdefault(license_file.name, license_file.read_bytes())
    text = tomlkit.dumps(document)
    return written(folder, {**files, "battery.toml": text.encode("utf-8")})


def check_id(battery_id: str) -> None:
    """Check the id of a new battery."""
    if not is_kebab(battery_id) or len(battery_id) > 64:
        raise UsageError(
            f"'{battery_id}' is not a valid id",
            allowed="up to 64 lower-case letters, digits and hyphens: my-battery",
        )


def written(folder: Path, contents: Mapping[str, bytes]) -> Path:
    """Write the files of a new battery, all or none of them; return the path of the last."""
    path = folder
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(
            f"the folder {folder} exists already", hint="choose another name"
        ) from None
    except OSError as error:
        raise TabwbError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # it was made above
        raise TabwbError(f"{path} cannot be written: {error.strerror}") from error
    return path


def render(tables: Mapping[str, Any]) -> str:
    """Return the text of a battery file with these tables."""
    lines = [
        "# Check this file with:  tabwb battery check battery.toml",
        "# See what is sent with: tabwb battery show ./battery.toml",
        "",
        "[battery]",
        *_pairs(tables["battery"]),
    ]
    for subtest in tables["subtest"]:
        lines += ["", "", "[[subtest]]", *_pairs(subtest)]
        for item in subtest["item"]:
            lines += ["", "[[subtest.item]]", *_pairs(item)]
    return "\n".join(lines) + "\n"


def features_text(battery: Battery) -> str:
    """Return the features and groupings of a battery as TOML, with their origin in a comment."""
    tables = json.loads(battery.canonical)
    if not tables.get("feature"):
        raise UsageError(f"battery '{battery.id}' has no features", allowed="tab")
    origin = f"{battery.id} {battery.version}, {battery.license}"
    lines = [f"# Features and groupings, copied unchanged from the battery {origin}."]
    for feature in tables["feature"]:
        lines += ["", "[[feature]]", *_pairs(feature)]
    for grouping in tables.get("grouping", []):
        shown = {key: value for key, value in grouping.items() if key != "category"}
        lines += ["", "[[grouping]]", *_pairs(shown)]
        for category in grouping["category"]:
            lines += ["", "[[grouping.category]]", *_pairs(category)]
    return "\n".join(lines) + "\n"


_COMMENTS = {
    "version": "change it whenever anything below changes",
    "examinees": "a kind that is left out needs a research protocol",
    "response": "choice, yes-no, verbatim, connected-text, description, free; naming: battery new "
    "--naming",
    "instructions": "sent; the source is 'ours' or a section of a paper",
}


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} = {_toml(value)}" + (f"   # {_COMMENTS[key]}" if key in _COMMENTS else "")
        for key, value in table.items()
        if key != "item"
    ]


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        keys = (key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key) for key in value)
        pairs = [f"{key} = {_toml(inner)}" for key, inner in zip(keys, value.values(), strict=True)]
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    # JSON's strings and arrays of strings are TOML's too.
    return json.dumps(value, ensure_ascii=False)
