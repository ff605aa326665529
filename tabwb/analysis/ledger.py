"""Ledgers of papers: what was printed, how it is computed again, and how the two compare."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, ValidationError

from tabwb.analysis.tables.declared import text
from tabwb.battery.loader import read_tables, read_text
from tabwb.battery.problems import Problem, locate, located
from tabwb.battery.rules import type_problems, unique_ids
from tabwb.battery.toml_tables import Id, Text
from tabwb.battery.toml_tables import Table as FileTable
from tabwb.records.columns import Column
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, shortened
from tabwb.records.words import near, plural
from tabwb.tables.table import RecordColumn, Table, records_table

REPRODUCED, DIFFERS = "reproduced", "differs"
STAND_IN, CANNOT = "computed on stand-in data", "cannot be"
STATUSES = (REPRODUCED, DIFFERS, STAND_IN, CANNOT)
PRINTED = "the printed values"
"""What a formula computes from."""
UNPRINTED = "not printed"
"""Stands in a ledger where a value is computed that the paper does not print."""
ROW = "{row}"
NEAR = 1e-9

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]


class PaperTable(FileTable):
    """The paper as a whole."""

    id: Id = Field(description="Names the paper on the command line.")
    also: list[Id] = Field([], description="Other names by which it is found.")
    title: Text = Field(description="Its title.")
    citation: Text = Field(description="How to cite it.")
    url: str = Field("", description="Where it is.")
    notes: str = Field("", description="What must be known of the paper or of the ledger.")


class DataTable(FileTable):
    """Data that a paper was made from."""

    id: Id = Field(description="Its name in --data ID=FOLDER and in {ID} of a step.")
    title: Text = Field(description="What it is.")
    source: Text = Field(description="From where it can be had, and what it must look like.")
    stand_in: str = Field(
        "",
        description="What --stand-in makes in its place: ratings, answers, transcripts, or an "
        "operation of a plugin that takes folder and seed; empty: nothing.",
    )
    stand_in_values: dict[str, Any] = Field({}, description="Further values of that operation.")


class StepTable(FileTable):
    """What is run; the steps share one store and are run in the order of the file."""

    id: Id = Field(description="Names the step.")
    run: Text = Field(
        description="The command without 'tabwb', of tabwb or a plugin: 'import', 'psst table'."
    )
    values: dict[str, Any] = Field(
        {},
        description="Its values by their names in Python; {ID} in a text is the folder of "
        "data, {work} that of the steps.",
    )
    needs: list[Id] = Field([], description="The data without which it cannot be run.")
    dry_run: bool = Field(
        False, description="Only what --dry-run tells, as far as it comes without further files."
    )
    each: list[Text] = Field(
        [], description="It is run for each of these, {each} in its values; its document has them."
    )
    stand_in: dict[str, Any] = Field({}, description="Other values on stand-in data.")


class CheckTable(FileTable):
    """A printed value that follows from other printed values."""

    column: Name = Field(description="The column that follows.")
    formula: Text = Field(
        max_length=2000,
        description="Columns of the row, numbers, + - * /, cell(ENTRY, ROW, COLUMN), "
        "total(ENTRY, COLUMN, ROWS), log(X); {row} in a text is the name of the row. Write each "
        "value once where that is possible: a printed value stands for all values that are "
        "printed so.",
    )
    rows: list[Text] = Field(["*"], description="Only these rows; * stands for any text.")
    note: str = Field("", description="Shown where the two differ.")


class EntryTable(FileTable):
    """A table or figure of the paper, or numbers in its text."""

    at: Text = Field(description="Where it stands: 'Table 3', 'section 6.1'.")
    title: Text = Field(description="What it shows, in your own words.")
    columns: list[Name] = Field(min_length=1, description="The columns of values.")
    rows: list[list[str]] = Field(
        min_length=1,
        description="The name of the row, then its values as they are printed: the last digit "
        "tells the tolerance; a whole number has none, unless ~ stands before it. Empty: nothing "
        "is printed.",
    )
    printed: Literal["rounded", "cut"] = Field(
        "rounded", description="How the paper shortens decimals."
    )
    step: str = Field("", description="The step whose document has the values.")
    found: dict[Name, Text] = Field(
        {},
        description="Column: where its value is in the document, such as "
        "'groups[name={row}].burden'; {row} is the name of the row. A final '#' counts, "
        "'[+part=nouns]' adds up. '{row}' alone: the place is in names.",
    )
    names: dict[str, str] = Field(
        {}, description="Rows: their names, or the places of their values, in the document."
    )
    check: list[CheckTable] = Field([], description="What follows from printed values.")
    cannot: str = Field("", description="Why it cannot be computed again, where it cannot.")
    note: str = Field("", description="What must be known of it.")


class LedgerFile(FileTable):
    """The ledger of a paper."""

    paper: PaperTable
    data: list[DataTable] = Field([], description="What the paper was made from.")
    step: list[StepTable] = Field([], description="What is run, in this order.")
    entry: list[EntryTable] = Field(min_length=1)


class LedgerProblems(TabwbError):
    """A ledger cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = plural(len(problems), "problem")
        super().__init__(f"the ledger has {count}", hint="\n".join(map(str, problems)))
        self.problems = tuple(problems)


def load_ledger(path: Path) -> LedgerFile:
    """Read and check a ledger; an error lists every problem with its line."""
    content = read_text(path, "[paper] and [[entry]] tables")
    tables = content if isinstance(content, Problem) else read_tables(path, content)
    if isinstance(tables, Problem):
        raise LedgerProblems([tables])
    assert isinstance(content, str)
    try:
        file = LedgerFile.model_validate(tables)
    except ValidationError as error:
        broken = list(type_problems(error.errors(include_url=False), LedgerFile))
    else:
        broken = list(_broken(file))
        if not broken:
            return file
    raise LedgerProblems(located(str(path), locate(content), broken))


def _broken(file: LedgerFile) -> Iterator[Broken]:
    data, steps = [one.id for one in file.data], [one.id for one in file.step]
    entries = {one.at: one for one in file.entry}
    names_of = {at: dict.fromkeys(row[0] for row in one.rows if row) for at, one in entries.items()}
    for name, ids in (("data", data), ("step", steps)):
        yield from unique_ids((name,), ids, name)
    for at, step in enumerate(file.step):
        for place, needed in enumerate(step.needs):
            if needed not in data:
                yield _unknown(("step", at, "needs", place), needed, data)
    for at, entry in enumerate(file.entry):
        here = ("entry", at)
        if entries[entry.at] is not entry:
            yield Broken((*here, "at"), "another entry stands there", shortened(entry.at))
        if entry.step and entry.step not in steps:
            yield _unknown((*here, "step"), entry.step, steps)
        if bool(entry.step) != bool(entry.found):
            yield Broken((*here, "step"), "step and found need each other")
        named_before: set[str] = set()
        for row, cells in enumerate(entry.rows):
            if len(cells) != len(entry.columns) + 1:
                yield Broken(
                    (*here, "rows", row), "this row has another number of values",
                    str(len(cells)), f"its name and {plural(len(entry.columns), 'value')}",
                )  # fmt: skip
            elif cells[0] in named_before:
                yield Broken((*here, "rows", row), "this row is given twice", shortened(cells[0]))
            named_before.update(cells[:1])
        for column in entry.found.keys() - {*entry.columns}:
            yield _unknown((*here, "found", column), column, entry.columns)
        for number, check in enumerate(entry.check):
            where = (*here, "check", number)
            if check.column not in entry.columns:
                yield _unknown((*where, "column"), check.column, entry.columns)
            try:
                tree = _parsed(check.formula)
                names = _names(tree)
            except ValueError as error:
                yield Broken((*where, "formula"), str(error), shortened(check.formula))
                continue
            named_so = [row[0] for row in entry.rows if row and _is_of(check, row[0])]
            for named, rows, column in {
                (named, rows.replace(ROW, name), column)
                for named, rows, column in _cells(tree)
                for name in named_so or [ROW]
            }:
                of = entries.get(named)
                if of is None:
                    yield _unknown((*where, "formula"), named, [*entries])
                elif column not in of.columns:
                    yield _unknown((*where, "formula"), column, of.columns)
                elif not _matching(names_of[named], rows):
                    yield _unknown((*where, "formula"), rows, [row[0] for row in of.rows if row])
            for name in names - {*entry.columns}:
                yield _unknown((*where, "formula"), name, entry.columns)


def _unknown(path: tuple[str | int, ...], name: str, known: Sequence[str]) -> Broken:
    allowed = ", ".join(known) or "none is declared"
    return Broken(path, "there is none of this name", shortened(name), allowed, near(name, known))


class Interval(NamedTuple):
    """The values that a printed or computed value stands for."""

    low: float
    high: float


class Printed(NamedTuple):
    """A value as it was printed: between which values it lies, its decimals, and its unit."""

    of: Interval
    decimals: int
    percent: bool

    def shown(self, value: Interval) -> str:
        """Return a computed value in the unit of the printed one, with one more decimal."""
        factor, unit = (100, " %") if self.percent else (1, "")
        if self.of.low == self.of.high and all(abs(end - round(end)) < NEAR for end in value):
            ends = [f"{round(end):,}" for end in value]
        else:
            ends = [f"{end * factor:.{self.decimals + 1}f}" for end in value]
        return "–".join(dict.fromkeys(ends)) + unit


_NUMBER = re.compile(r"(~?)(-?)(\d[\d,]*|(?=\.))(?:\.(\d+))?\s*(%?)")


def printed(value: str, how: str = "rounded") -> Printed | None:
    """Return what a printed number stands for; None for a text.

    >>> printed("0.900").of, printed("24 %").of, printed("6,720").of, printed("lion")
    (Interval(low=0.8995, high=0.9005), Interval(low=0.235, high=0.245), Interval(low=6720.0, \
high=6720.0), None)
    """
    match = _NUMBER.fullmatch(value.strip())
    if match is None:
        return None
    about, sign, whole, decimals, percent = match.groups()
    number = float(f"{sign}{whole.replace(',', '') or 0}.{decimals or 0}")
    digits = len(decimals or "")
    step = 10.0**-digits if digits or percent or about else 0.0
    low, high = (number, number + step) if how == "cut" else (number - step / 2, number + step / 2)
    factor = 100 if percent else 1
    of = Interval(round(low / factor, 12), round(high / factor, 12))
    return Printed(of, digits, bool(percent))


_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_FUNCTIONS = {"cell": (3, 3), "total": (2, 3), "log": (1, 1)}
"""Functions of formulas, with the least and the greatest number of their values."""
DEEPEST = 200
"""Levels of a formula; a sum of n values has about n."""


def _parsed(formula: str) -> ast.expr:
    """Return the syntax of a formula; a ValueError says what is wrong with it."""
    try:
        tree = ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("this is not a formula") from None
    if _depth(tree) > DEEPEST:
        raise ValueError(f"a formula has at most {DEEPEST} operations in each other")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            try:
                node.value = float(node.value)
            except OverflowError:
                raise ValueError("this number is too large") from None
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS):
                raise ValueError(f"a formula has these functions only: {', '.join(_FUNCTIONS)}")
            low, high = _FUNCTIONS[node.func.id]
            texts = [one for one in node.args if isinstance(getattr(one, "value", 0), str)]
            if (
                not low <= len(node.args) <= high
                or node.keywords
                or (node.func.id != "log" and len(texts) != len(node.args))
            ):
                raise ValueError('write cell("ENTRY", "ROW", "COLUMN"), total("ENTRY", "COLUMN"), '
                                 "log(X)")  # fmt: skip
        elif (
            not isinstance(
                node, ast.Name | ast.Load | ast.Constant | ast.BinOp | ast.UnaryOp | ast.USub
            )
            and type(node) not in _OPERATORS
        ):
            raise ValueError("a formula has only names, numbers, + - * / and functions")
    return tree


def _depth(tree: ast.AST) -> int:
    """Return how many levels a tree has."""
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [one for node in level for one in ast.iter_child_nodes(node)]
    return depth


def _names(tree: ast.expr) -> set[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called
    }


def _cells(tree: ast.expr) -> Iterator[tuple[str, str, str]]:
    """Yield entry, rows and column of each call that names them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            at, *more = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            if node.func.id == "total":
                more = [more[1] if len(more) > 1 else "*", more[0]]
            yield at, more[0], more[1]


class Undefined(Exception):
    """A formula has no value; why."""


def computed(
    formula: str, value: Callable[[str], Interval], total: Callable[..., Interval]
) -> Interval:
    """Return the values that a formula can have, by interval arithmetic.

    >>> row = {"precision": Interval(0.94, 0.95), "recall": Interval(0.90, 0.91)}
    >>> low, high = computed("2 / (1 / precision + 1 / recall)", row.__getitem__, max)
    >>> round(low, 4), round(high, 4)
    (0.9196, 0.9296)
    """

    def of(node: ast.expr) -> Interval:
        match node:
            case ast.Constant(value=float() as number):
                return Interval(number, number)
            case ast.Name(id=name):
                return value(name)
            case ast.UnaryOp(operand=operand):
                low, high = of(operand)
                return Interval(-high, -low)
            case ast.BinOp(left=left, op=op, right=right):
                first, second = of(left), of(right)
                if isinstance(op, ast.Div) and second.low <= 0 <= second.high:
                    raise Undefined("a division by zero")
                ends = [_OPERATORS[type(op)](a, b) for a in first for b in second]
                return Interval(min(ends), max(ends))
            case ast.Call(func=ast.Name(id="log"), args=[one]):
                low, high = of(one)
                if low <= 0:
                    raise Undefined("the logarithm of zero")
                return Interval(math.log(low), math.log(high))
            case ast.Call(func=ast.Name(id=name), args=args):
                texts = [one.value for one in args if isinstance(one, ast.Constant)]
                return total(name, *map(str, texts))
        raise Undefined("it cannot be computed")

    return of(_parsed(formula))


_STEP = re.compile(r"\.?([^.\[\]#]+)|\[(\+?)([^\]]*)\]|\.?(#)$")


def found(document: Any, path: str, row: str) -> Any:
    """Return a value of a document; None where there is none.

    >>> found({"rows": [{"of": "a", "n": 1}, {"of": "b", "n": 2}]}, "rows[of={row}].n", "b")
    2
    >>> found({"rows": ["a", "b"]}, "rows.#", ""), found({"rows": ["a", "b"]}, "rows[1]", "")
    (2, 'b')
    >>> found([{"of": "a", "n": 1}, {"of": "b", "n": 2}, {"of": "b", "n": 4}], "[+of=b].n", "")
    6
    """
    if not path or document is None:
        return document
    match = _STEP.match(path)
    if match is None:
        return None
    key, several, wanted, count = match.groups()
    rest = path[match.end() :]
    if count:
        return len(document) if isinstance(document, Mapping | list) else None
    if key is not None:
        here = document if isinstance(document, Mapping) else {}
        return found(here.get(key.replace("{row}", row)), rest, row)
    if not isinstance(document, list):
        return None
    if wanted.isdecimal():
        at = wanted.lstrip("0") or "0"
        few = len(at) <= len(str(len(document))) and int(at) < len(document)
        return found(document[int(at)], rest, row) if few else None
    pairs = [pair.partition("=")[::2] for pair in wanted.split(",") if pair]
    having = [
        one
        for one in document
        if not pairs
        or (
            isinstance(one, Mapping)
            and all(str(one.get(name)) == value.replace("{row}", row) for name, value in pairs)
        )
    ]
    values = [found(one, rest, row) for one in (having if several else having[:1])]
    if several:
        numbers = [one for one in values if isinstance(one, int | float)]
        return sum(numbers) if numbers and len(numbers) == len(values) else None
    return values[0] if values else None


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was run, or could not be.

    Attributes:
        document: what it gave; None: it was not run.
        reason: why it was not.
        failed: it was run and failed.
        stand_in: it worked on stand-in data.
    """

    command: str
    document: Any = None
    reason: str = ""
    failed: bool = False
    stand_in: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """A printed value beside the one that was computed, in one way."""

    at: str
    row: str
    column: str
    published: str
    ours: str
    status: str
    by: str
    note: str = ""


def compared(file: LedgerFile, done: Mapping[str, Done]) -> list[Compared]:
    """Return every printed value of a ledger with what is computed in its place.

    A value that a formula and a step compute has a row for each.
    """
    rows = {one.at: (one, {row[0]: row[1:] for row in one.rows}) for one in file.entry}
    sums = cache(partial(_total, rows))  # the rows of a check have the same ones
    return [one for entry in file.entry for one in _of_entry(entry, done, sums)]


Sums: TypeAlias = Callable[[str, str, str], Interval | str]


def _of_entry(entry: EntryTable, done: Mapping[str, Done], sums: Sums) -> Iterator[Compared]:
    for name, *values in entry.rows:
        row = dict(zip(entry.columns, values, strict=True))
        for column, published in row.items():
            if not published:
                continue
            checks = [one for one in entry.check if one.column == column and _is_of(one, name)]
            for check in checks:
                yield _checked(entry, name, row, check, sums)
            if column in entry.found and (entry.found[column] != ROW or name in entry.names):
                yield _taken(entry, name, column, published, done[entry.step])
            elif not checks:
                reason = entry.cannot or "nothing in the paper determines it"
                yield Compared(entry.at, name, column, published, "", CANNOT, "", reason)


def _is_of(check: CheckTable, name: str) -> bool:
    """Return whether a check is about the row of this name."""
    return any(fnmatchcase(name, each) for each in check.rows)


def _checked(
    entry: EntryTable, name: str, row: Mapping[str, str], check: CheckTable, sums: Sums
) -> Compared:
    published = row[check.column]
    number = printed(published, entry.printed)
    by = f"{PRINTED}: {check.formula.replace(ROW, name)}"
    ours, status, reason = "", CANNOT, ""

    def value(column: str) -> Interval:
        found = printed(row[column], entry.printed)
        if found is None:
            raise Undefined(f"no number is printed in '{column}'")
        return found.of

    def total(kind: str, at: str, first: str, second: str = "*") -> Interval:
        rows, column = (first, second) if kind == "cell" else (second, first)
        found = sums(at, column, rows.replace(ROW, name))
        if isinstance(found, str):
            raise Undefined(found)
        return found

    try:
        if number is None:
            raise Undefined("what is printed is not a number")
        made = computed(check.formula, value, total)
        if not all(map(math.isfinite, made)):
            raise Undefined("it is not finite")
    except Undefined as undefined:
        reason = str(undefined)
    else:
        ours, status = number.shown(made), _status(number.of, made)
        reason = check.note if status == DIFFERS else ""
    return Compared(entry.at, name, check.column, published, ours, status, by, reason)


def _matching(names: Mapping[str, Any], rows: str) -> list[str]:
    """Return the names of rows that a text with * stands for."""
    if re.search(r"[*?\[]", rows) is None:
        return [rows] if rows in names else []
    return [name for name in names if fnmatchcase(name, rows)]


def _total(
    entries: Mapping[str, tuple[EntryTable, Mapping[str, Sequence[str]]]],
    at: str, column: str, rows: str,
) -> Interval | str:  # fmt: skip
    """Return the sum of a column of an entry over the rows that match, or why there is none."""
    low = high = 0.0
    entry, values = entries[at]
    for name in _matching(values, rows):
        one = printed(values[name][entry.columns.index(column)], entry.printed)
        if one is None:
            return f"no number is printed in '{column}' of '{name}'"
        low, high = low + one.of.low, high + one.of.high
    return Interval(low, high)


def _status(published: Interval, ours: Interval) -> str:
    """Return whether the two overlap; intervals that only touch do not."""
    least = NEAR if ours.low < ours.high and published.low < published.high else -NEAR
    overlap = min(ours.high, published.high) - max(ours.low, published.low)
    return REPRODUCED if overlap >= least else DIFFERS


def _taken(entry: EntryTable, name: str, column: str, published: str, done: Done) -> Compared:
    here = Compared(entry.at, name, column, published, "", CANNOT, done.command, done.reason)
    if done.document is None:
        return here
    path, called = entry.found[column], entry.names.get(name, name)
    path = called if path == ROW else path
    value = found(done.document, path, called)
    number = printed(published, entry.printed)
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    if value is None or (number is not None and not _is_finite(value)):
        return _with(here, reason=f"the document has no value at {path}")
    reason = ""
    if published == UNPRINTED:
        ours = f"{value:.3g}" if isinstance(value, float) else str(value)
        status, reason = CANNOT, "nothing is printed that it could be compared with"
    elif number is None:
        ours, status = str(value), REPRODUCED if str(value) == published else DIFFERS
    else:
        made = Interval(value, value)
        ours, status = number.shown(made), _status(number.of, made)
    if done.stand_in:
        status = STAND_IN
    elif status == DIFFERS:
        reason = entry.note
    return _with(here, ours, status, reason)


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _with(given: Compared, ours: str = "", status: str = CANNOT, reason: str = "") -> Compared:
    return Compared(
        given.at, given.row, given.column, given.published, ours, status, given.by, reason
    )


CELLS = (
    text("at", "Where", "the table, figure or section of the paper"),
    text("row", "Row", "the row of it"),
    text("column", "Column", "the column of it"),
    text("published", "Published", "the value as it is printed"),
    text("ours", "Ours", "the value that was computed, with one decimal more"),
    text("status", "Status", ", ".join(STATUSES)),
    text("by", "Computed by", "the command, or the formula of other printed values"),
    text("note", "Note", "why it differs or cannot be computed"),
)


def ledger_table(rows: Sequence[Compared]) -> Table:
    """Return the table of all printed values."""
    return records_table("ledger", CELLS, rows)


def entries_table(rows: Sequence[Compared]) -> Table:
    """Return how many values of each entry have which status."""
    counts = [
        RecordColumn(Column(name, title, f"values that are: {status}", "integer"), _counted(status))
        for name, title, status in (
            ("reproduced", "Reproduced", REPRODUCED), ("differs", "Differ", DIFFERS),
            ("stand_in", "Stand-in", STAND_IN), ("cannot", "Cannot be", CANNOT),
        )
    ]  # fmt: skip
    columns = (
        text("at", "Where", "the table, figure or section", lambda given: given[0].at),
        *counts,
    )
    grouped: dict[str, list[Compared]] = {}
    for row in rows:
        grouped.setdefault(row.at, []).append(row)
    return records_table("entries", columns, grouped.values())


def _counted(status: str) -> Callable[[list[Compared]], int]:
    return lambda given: sum(one.status == status for one in given)


def why_not(rows: Sequence[Compared]) -> dict[str, list[str]]:
    """Return the reasons why values cannot be computed, each with the entries."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.status == CANNOT and row.at not in found.setdefault(row.note, []):
            found[row.note].append(row.at)
    return found
