"""What declares a figure, and what its tables and its drawing have in common. No matplotlib here.

A kind of figure puts every number into a table; one of three drawers draws that table alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tabwb.analysis.cautions import FEW_ITEMS
from tabwb.analysis.grouping import Grouped, names_of_groups, shared_note
from tabwb.analysis.statistics.results import Result, Terms
from tabwb.analysis.tables.results import COLUMNS
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.records.words import near, plural
from tabwb.scoring.estimate import Estimand, Estimate, EstimatedInterval
from tabwb.tables.table import Table, table_of

Record = dict[str, Any]
"""One row of a table by the names of its columns."""
Options = Mapping[str, str]
"""Option to value; those that a figure declares, defaults included."""
Groups = Sequence[Grouped]


@dataclass(frozen=True, slots=True)
class FigureOption:
    """An option of a figure: its name as on the command line; ``allowed`` is empty for any text."""

    name: str
    meaning: str
    default: str = ""
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Rows of points with intervals, in panels side by side.

    Attributes:
        axis: what the values of a panel are.
        row, panel: columns whose values are rows and panels; title: of the panel.
        value: the column that is drawn, with the ends of its interval.
        look: of a record and the low end of its interval, a name of the drawer's looks.
        cell: a text for a record at the right, under ``head``.
        words: instead of an undefined value; missing: of a row that a panel beside others has.
        baselines: columns of values to compare with, which are names of looks too.
        boxes: columns of the ends of a thin line and of a box.
        under: a column; records that have a value there are points below the line of their row.
        rows: changes the records before they are drawn, such as their unit.
    """

    axis: Callable[[Record], str]
    row: str = "group"
    value: str = "value"
    panel: str = ""
    title: str = ""
    look: Callable[[Record, float | None], str] = lambda record, low: (
        "few" if record.get("few_usable") else "alone" if low is None else "point"
    )
    cell: Callable[[Record, Options], str] = lambda record, options: ""
    head: Callable[[Sequence[Record]], str] = lambda own: "N"
    words: Callable[[Record], str] = lambda record: "undefined"
    missing: str = "no result"
    baselines: tuple[str, ...] = ()
    boxes: tuple[tuple[str, str], ...] = ()
    under: str = ""
    limits: tuple[float, float] | None = None
    include: tuple[float, ...] = (0.0,)
    zero: bool = False
    rows: Callable[[list[Record]], list[Record]] = list

    def drawn(self, prefix: str) -> tuple[str, str, str]:
        """Return the columns of the value and of the ends of its interval."""
        begin = f"{'' if self.value == 'value' else f'{self.value}_'}{prefix}"
        return self.value, f"{begin}low", f"{begin}high"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over amounts, or over sessions with a grid of their answers below."""

    over: Literal["amounts", "sessions"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its shade from 0 to 1, or down to -1, None where it is undefined, and texts, the
    longest first.
    """

    value: float | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Shaded cells in rows and columns.

    Attributes:
        cells: by row and column.
        key: what the shades mean, from 0 to 100.
        across, down: what columns and rows are.
        borders: columns before which groups of columns begin; under: the same of rows.
        widest: inches of a column at most; height: of a row at least; 0: as its width.
    """

    rows: Sequence[str]
    heads: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    title: str = ""
    key: str = ""
    across: str = ""
    down: str = ""
    borders: Sequence[int] = ()
    under: Sequence[int] = ()
    widest: float = 0.62
    height: float = 0.165


@dataclass(frozen=True, slots=True)
class Shades:
    """Heat maps: a function makes the panels of records, for a width in inches."""

    panels: Callable[[list[Record], Options, float], list[Panel]]


@dataclass(frozen=True, slots=True)
class FigureKind:
    """One kind of figure.

    Attributes:
        id, title: for commands, and for metadata and menus.
        shows, data: what it shows and which data it needs, one sentence each.
        table: the numbers that are drawn; raises UsageError where the groups have none.
        draw: how the table is drawn.
        by: how administrations are grouped where nothing else is asked for.
        loads: what it reads of each response.
        people: drawn of people as a rule, so that nobody is left out unasked.
        judged: it draws what judges say, so that it may be of one of them.
    """

    id: str
    title: str
    shows: str
    data: str
    table: Callable[[Groups, Options], Table]
    draw: Forest | Lines | Shades
    options: tuple[FigureOption, ...] = ()
    by: str = "model"
    loads: Literal["columns", "latencies"] = "columns"
    people: bool = False
    judged: bool = False

    def checked(self, given: Mapping[str, object]) -> Options:
        """Return the options with their defaults; in names ``_`` stands for ``-``."""
        own = {option.name: option for option in self.options}
        values = {name.replace("_", "-"): str(value) for name, value in given.items()}
        for name, value in values.items():
            if name not in own:
                meant = near(name, own)
                raise UsageError(
                    f"the figure '{self.id}' has no option '{name}'",
                    allowed=", ".join(own) or "it has no options",
                    hint=f"did you mean '{meant}'?" if meant else "",
                )
            allowed = own[name].allowed
            if allowed and value not in allowed:
                raise UsageError(
                    f"'{value}' is not a value of '{name}'", allowed=", ".join(allowed)
                )
        return {name: values.get(name, option.default) for name, option in own.items()}


ESTIMANDS = {"prompts-like-these": "", "these-prompts": "these_"}
"""Values of the option ``interval``, and what the names of the columns of their ends begin with."""
INTERVAL = FigureOption(
    "interval", "what the intervals are for", "prompts-like-these", tuple(ESTIMANDS)
)
INTERVALS = ("low", "high", "interval_reason", "these_low", "these_high", "these_reason")
_DECLARED = {column.name: column for column, _ in COLUMNS} | {
    name: Column(name, "No interval", f"why the value has no interval for {what}")
    for name, what in (
        ("interval_reason", "prompts like these"), ("these_reason", "these prompts"),
    )
}  # fmt: skip


CELLS = ("value", *INTERVALS, "bound_low", "bound_high", "n", "n_items", "n_usable", "n_responses",
         "few_usable", "status", "reason")  # fmt: skip
"""Columns of a value, behind what names it."""


def columns(*names: str | Column) -> list[Column]:
    """Return declarations: of the table of results by name, others as given."""
    return [name if isinstance(name, Column) else _DECLARED[name] for name in names]


def made_table(
    name: str,
    own: Iterable[Column],
    given: Sequence[Record],
    notes: Iterable[str],
    groups: Groups = (),
) -> Table:
    """Return records as the table of a figure; its last note says what was given.

    Columns are those of the table of results, and ``own`` ones; other values are left out.
    """
    known = _DECLARED | {column.name: column for column in own}
    found = dict.fromkeys(key for record in given for key in record if key in known)
    names = [key for key in found if key not in CELLS] + [key for key in CELLS if key in found]
    rows = [[record.get(key) for key in names] for record in given]
    told = [*notes, *([batteries_note(groups)] if groups else [])]
    return table_of(name, [known[key] for key in names], rows, told)


def batteries_note(groups: Groups) -> str:
    """Return what the groups were given."""
    names = dict.fromkeys(
        f"{group.battery.title} ({group.battery.id} {group.battery.version})" for group in groups
    )
    return f"{', '.join(names)}."


def ending(given: Iterable[Record], groups: Groups = ()) -> list[str]:
    """Return why values are undefined, each reason once, and the conditions that groups share."""
    reasons = dict.fromkeys(
        record["reason"] for record in given if record.get("value") is None and record["reason"]
    )
    return [*([f"Undefined: {'; '.join(reasons)}."] if reasons else []), *shared_note(groups)]


def value_cells(estimate: Estimate) -> Record:
    """Return value, status and reason of an estimate."""
    status = "value" if estimate.defined else "undefined"
    return {"value": estimate.value, "status": status, "reason": estimate.reason or None}


def undefined(reason: str) -> Record:
    """Return the cells of a value that is undefined."""
    return {"status": "undefined", "reason": reason}


def interval_cells(intervals: Iterable[EstimatedInterval]) -> Record:
    """Return the ends of intervals, and why there is none."""
    cells: Record = dict.fromkeys(INTERVALS)
    for found in intervals:
        like = found.estimand is Estimand.PROMPTS_LIKE_THESE
        prefix = "" if like else "these_"
        cells["interval_reason" if like else "these_reason"] = found.reason or None
        if found.interval is not None:
            cells[f"{prefix}low"] = found.interval.low
            cells[f"{prefix}high"] = found.interval.high
    return cells


def cells_of(result: Result | None, why: str) -> Record:
    """Return a result; ``why``: why there is none."""
    if result is None:
        return undefined(why)
    usable, bounds = result.usable, result.bounds
    cells = value_cells(result.value) | {"n": result.n, "n_items": result.n_items}
    cells |= interval_cells(result.intervals if result.value.defined else ())
    if usable is not None:
        cells |= {"n_usable": usable.usable, "n_responses": usable.n, "few_usable": usable.few}
    if bounds is not None:
        cells |= {"bound_low": bounds.low, "bound_high": bounds.high}
    return cells


def left_out(n: int, what: str = "without a value") -> list[str]:
    """Return the note on groups that a figure has no row for."""
    return [f"Left out: {plural(n, 'group')} {what}."] if n else []


def having(
    groups: Groups, measure: str, places: Sequence[Record]
) -> tuple[Sequence[Grouped], list[str]]:
    """Return the groups that have a result of a measure somewhere, and the note on the others.

    A group whose result is undefined stays.
    """
    found = [
        [row.results.find(measure, **place["of"]) is not None for place in places]
        for row in groups
    ]  # fmt: skip
    kept = [row for row, own in zip(groups, found, strict=True) if any(own)]
    partly = any(any(own) and not all(own) for own in found)
    apart = "A panel has the groups that have a result there."
    return kept, [*left_out(len(groups) - len(kept)), *([apart] if partly else [])]


def cut(
    groups: Groups,
    measure: str,
    places: Sequence[Record],
    why: str = "",
) -> list[Record]:
    """Return the rows of the results of a measure: of each place those of the groups.

    ``of`` of a place is the key of the result, without its measure. Groups without a result are
    left out, unless ``why`` says why they have none: then the rows of a group follow each other.
    """
    named = list(zip(names_of_groups(groups), groups, strict=True))
    pairs = [(one, place) for one in named for place in places]
    if not why:
        pairs = [(one, place) for place in places for one in named]
    found = [(*one, place, one[1].results.find(measure, **place["of"])) for one, place in pairs]
    return [
        {"group": name, **place, **cells_of(result, why)}
        for name, _, place, result in found if why or result is not None
    ]  # fmt: skip


def interval_note(options: Options, items: Iterable[int | None] = ()) -> list[str]:
    """Return what the bars are."""
    like = not ESTIMANDS[options["interval"]]
    estimand = Estimand.PROMPTS_LIKE_THESE if like else Estimand.THESE_PROMPTS
    notes = [f"Bars: 95 % intervals for {estimand.value}."]
    known = [n for n in items if n is not None]
    if like and known and min(known) < FEW_ITEMS:
        notes.append(
            f"Fewer than {FEW_ITEMS} items: an interval is unreliable where one prompt elicits a "
            "feature almost alone."
        )
    return notes


def terms_title(terms: Terms, *, alone: bool) -> str:
    """Return the rater with what its burden is over."""
    parts = str(terms).split(", ")
    return f"{terms.rater}, {', '.join(parts[:2] if alone else parts)}"


def term_titles(groups: Groups) -> dict[Terms, str]:
    """Return a title for each of the terms under which groups were judged."""
    terms = list(dict.fromkeys(judge.terms for group in groups for judge in group.results.judges))
    raters = [given.rater for given in terms]
    titles = {given: terms_title(given, alone=raters.count(given.rater) == 1) for given in terms}
    if len(set(titles.values())) < len(titles):
        return {given: f"{title} ({n})" for n, (given, title) in enumerate(titles.items(), 1)}
    return titles


def feature_titles(groups: Groups) -> dict[str, str]:
    """Return the titles of the batteries' features, by id, in the first battery's order."""
    return {feature.id: feature.title for group in groups for feature in group.battery.features}


def features_notes(groups: Groups) -> list[str]:
    """Return which features each burden counts."""
    titles, notes = feature_titles(groups), dict[str, None]()
    for terms in term_titles(groups):
        n, which = len(terms.features), ", ".join(
            titles.get(id, id).lower() for id in terms.features)  # fmt: skip
        counted = f"all {n} features of the battery" if len(titles) == n else (
            f"{n} features ({which})")  # fmt: skip
        notes[f"{terms.rater}: {counted}, {terms.scope.replace('-', ' ')}."] = None
    return list(notes)


def chosen_features(groups: Groups) -> set[str]:
    """Return the features that tables are limited to (``--feature``); empty: all."""
    return {name for group in groups for judge in group.results.judges for name in judge.shown}
