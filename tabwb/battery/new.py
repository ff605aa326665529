"""Writing a new battery: a commented file to begin with, or one made from a CSV of items."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabwb.battery.problems import BatteryProblems, Problem, shortened
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.identifiers import is_kebab

COLUMNS = ("subtest", "response", "prompt", "options", "expected", "tags", "id")
"""Columns of an items CSV. ``options`` and ``tags`` are separated by ``|``. Only ``prompt`` is
needed; without ``response`` it is choice where there are options, verbatim where an expected answer
stands alone (yes-no for Yes and No), else connected-text."""

_KINDS = ("choice", "yes-no", "verbatim", "connected-text", "free")
_SCORERS = {
    "choice": ["choice"],
    "yes-no": ["yes-no"],
    "verbatim": ["repetition"],
    "connected-text": ["lexical"],
    "free": [],
}
_INSTRUCTIONS = {
    "choice": "Answer with exactly one of the listed words and nothing else.",
    "yes-no": "Answer with one word, Yes or No, and nothing else.",
    "verbatim": "Repeat the text exactly as it stands; punctuation and capital letters matter.",
    "connected-text": "Answer in 3 to 5 full sentences.",
    "free": "Answer the question.",
}
EXAMPLE = (
    {
        "subtest": "words",
        "response": "choice",
        "prompt": "Which one can fly?",
        "options": "bird|stone|table|spoon",
        "expected": "bird",
    },
    {
        "subtest": "saying",
        "response": "verbatim",
        "prompt": "Please say: moon.",
        "expected": "moon.",
    },
    {"subtest": "telling", "response": "connected-text", "prompt": "Tell me about your morning."},
)


@dataclass(frozen=True, slots=True)
class Row:
    """One item of the CSV, with the subtest and the kind it belongs to."""

    subtest: str
    kind: str
    item: Mapping[str, object]


def new_battery(folder: Path, battery_id: str, items: Path | None = None) -> Path:
    """Write ``folder/battery.toml`` and return its path.

    Args:
        folder: must not exist yet; nothing is ever overwritten.
        battery_id: kebab-case id.
        items: a CSV with :data:`COLUMNS`, or None for an example of each kind.

    Raises:
        UsageError: the id is no id, or the folder is there.
        BatteryProblems: the CSV has problems; all are listed with their lines.
    """
    if not is_kebab(battery_id):
        raise UsageError(
            f"'{battery_id}' is no id", allowed="lower-case letters, digits and hyphens: my-battery"
        )
    rows = _rows("the example", list(enumerate(EXAMPLE))) if items is None else read_items(items)
    text = render(battery_id, rows)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"{folder} is there already", hint="choose another name") from None
    except OSError as error:
        raise TabwbError(f"{folder} cannot be made: {error.strerror}") from error
    path = folder / "battery.toml"
    path.write_text(text, encoding="utf-8")
    return path


def read_items(path: Path) -> list[Row]:
    """The items of a CSV file.

    Raises:
        BatteryProblems: every problem with its line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text), strict=True)
        unknown = [name for name in reader.fieldnames or () if name not in COLUMNS]
        if unknown or "prompt" not in (reader.fieldnames or ()):
            what = f"unknown columns {', '.join(unknown)}" if unknown else "no column 'prompt'"
            raise BatteryProblems([Problem(str(path), 1, "", what, "", ", ".join(COLUMNS))])
        # A record may span lines and blank lines are passed over: ask the reader where it is.
        table = [(reader.line_num, record) for record in reader]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BatteryProblems([Problem(str(path), 0, "", "this is no UTF-8")]) from error
    except csv.Error as error:
        raise BatteryProblems([Problem(str(path), 0, "", f"this is no CSV: {error}")]) from error
    if not table:
        raise BatteryProblems([Problem(str(path), 2, "", "there are no items")])
    return _rows(str(path), table)


def _rows(name: str, table: Sequence[tuple[int, Mapping[str, str | None]]]) -> list[Row]:
    problems: list[Problem] = []
    rows: list[Row] = []
    counted: dict[str, int] = {}
    for line, record in table:
        cells = {
            key: (value or "").strip() for key, value in record.items() if isinstance(key, str)
        }
        subtest = cells.get("subtest") or "items"
        options = [one.strip() for one in cells.get("options", "").split("|") if one.strip()]
        kind = cells.get("response") or _kind(options, cells.get("expected", ""))
        counted[subtest] = counted.get(subtest, 0) + 1
        item: dict[str, object] = {"id": cells.get("id") or f"i{counted[subtest]}"}
        item["prompt"] = cells.get("prompt", "")
        if options:
            item["options"] = options
        if cells.get("expected"):
            item["expected"] = cells["expected"]
        tags = [one.strip() for one in cells.get("tags", "").split("|") if one.strip()]
        if tags:
            item["tags"] = tags
        if None in record:
            problems.append(Problem(name, line, "", "more cells than columns"))
        if not item["prompt"]:
            problems.append(Problem(name, line, "prompt", "this is empty"))
        if kind not in _KINDS:
            problems.append(
                Problem(name, line, "response", "no such kind", shortened(kind), ", ".join(_KINDS))
            )
        if not is_kebab(subtest):
            problems.append(
                Problem(name, line, "subtest", "this is no id", shortened(subtest), "like-this")
            )
        rows.append(Row(subtest, kind, item))
    kinds: dict[str, str] = {}
    for (line, _), row in zip(table, rows, strict=True):
        first = kinds.setdefault(row.subtest, row.kind)
        if row.kind != first:
            problems.append(
                Problem(
                    name, line, "response", f"'{row.subtest}' has response '{first}' above",
                    shortened(row.kind), "one kind in a subtest",
                )
            )  # fmt: skip
    if problems:
        raise BatteryProblems(problems)
    return rows


def _kind(options: Sequence[str], expected: str) -> str:
    if options:
        return "choice"
    if expected in {"Yes", "No"}:
        return "yes-no"
    return "verbatim" if expected else "connected-text"


def render(battery_id: str, rows: Sequence[Row]) -> str:
    """The text of a battery file with these items."""
    title = battery_id.replace("-", " ").capitalize()
    lines = [
        "# Check this file with:  tabwb battery check battery.toml",
        "# See what is sent with: tabwb battery show ./battery.toml",
        "",
        "[battery]",
        f"id = {_toml(battery_id)}",
        f"title = {_toml(title)}",
        'version = "1"                     # change it whenever the content changes',
        'language = "en"',
        'license = "CC-BY-4.0"',
        'citation = ""',
        'examinees = ["model", "speaker"]  # whom it may be given to',
    ]
    by_subtest: dict[str, list[Row]] = {}
    for row in rows:
        by_subtest.setdefault(row.subtest, []).append(row)
    for subtest, members in by_subtest.items():
        kind = members[0].kind
        options = " ({options})" if kind == "choice" else ""
        lines += [
            "",
            "[[subtest]]",
            f"id = {_toml(subtest)}",
            f"title = {_toml(subtest.replace('-', ' ').capitalize())}",
            f"response = {_toml(kind)}  # {' | '.join(_KINDS)}",
            f'instructions = {{ text = {_toml(_INSTRUCTIONS[kind])}, source = "ours" }}',
            f'template = "{{instructions}}\\n{{prompt}}{options}"',
            f"scorers = {_toml(_SCORERS[kind])}",
        ]
        for row in members:
            lines += ["", "[[subtest.item]]"]
            lines += [f"{key} = {_toml(value)}" for key, value in row.item.items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    # JSON's strings and arrays of strings are TOML's too, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
