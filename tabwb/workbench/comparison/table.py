"""The table of the results by model: rows, what they are sorted by, columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from textual.content import Content

from tabwb.analysis.differing import curve_of, differing, facts_name, facts_of, facts_of_groups
from tabwb.analysis.grouping import WIDEST, Grouped, by_keys, titles_of
from tabwb.analysis.keys import key_of as declared_key
from tabwb.analysis.statistics.results import Terms
from tabwb.media.wording import burden_cells, count, figure, number, plain
from tabwb.records.columns import ends_of
from tabwb.records.series import Series
from tabwb.records.trials import Administration
from tabwb.records.words import NONE
from tabwb.workbench.engine.presenters import short_titles
from tabwb.workbench.shell.columns import Column, Fitted
from tabwb.workbench.shell.drawn import interval_bar, scale, spark, step
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import ACCENT, QUIET, seconds

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.results import Part
    from tabwb.scoring.estimate import Interval


SORTS = ("burden", "model", "usable", "distinct", "words")
"""Columns that can be sorted by beside those of subtests, see :func:`right_column`."""
RIGHT = "right "
"""How the ids of the columns begin that have the share right of a subtest."""

Key = tuple[str, str, str]
"""What tells a row from others: label, battery, kind of examinee."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What the burdens in one column share: a battery, and a judge under one set of terms."""

    battery_hash: str
    battery: str
    """Title and version."""
    short: str
    """Id and version."""
    terms: Terms | None
    """None where no judge is chosen."""
    n: int = 0
    """Rows that it has."""

    @property
    def words(self) -> tuple[str, ...]:
        """Judge, person or rule; scope, set, prompt."""
        if self.terms is None:
            return ("no ratings of connected text",)
        rater, scope = f"rated by {self.terms.rater}", plain(self.terms.scope)
        prompt = (f"prompt {self.terms.prompt_hash[:8]}",) if self.terms.prompt_hash else ()
        return (rater, scope, f"over {len(self.terms.features)} features", *prompt)

    def line(self, width: int) -> str:
        """Return what the burdens share in at most so many columns, the least needed left out."""
        rater, *rest = self.words
        for words in (
            (rater, *rest, self.battery),
            (rater, *rest, self.short),
            (rater, *rest[:2], self.short),
            (rater, *rest[:1], self.short),
        ):
            line = " · ".join(words)
            if len(line) <= width:
                return line
        return f"{self.short} · {rater}"


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows are sorted, and whether from high to low."""

    column: str = "burden"
    falling: bool = True

    @property
    def arrow(self) -> str:
        """``↓`` from high to low, ``↑`` from low to high."""
        return "↓" if self.falling else "↑"

    def after(self, columns: Sequence[str]) -> Order:
        """Return the order by the next of the columns that can be sorted by."""
        usable = [column for column in dict.fromkeys(columns) if can_sort(column)]
        if not usable:
            return self
        at = usable.index(self.column) + 1 if self.column in usable else 0
        return Order().chosen(usable[at % len(usable)])

    def chosen(self, column: str) -> Order:
        """Return the order by a column: names rise and numbers fall, the same one again turns."""
        if not can_sort(column):
            return self
        return Order(column, not self.falling if column == self.column else column != "model")


def _is_recorded(row: Grouped) -> bool:
    """Whether a group is one of participants by what is recorded of them."""
    return any(declared_key(one.key).order for one in row.group.values)


def _label(row: Grouped) -> str:
    return row.label.casefold()


def can_sort(column: str) -> bool:
    """Return whether rows can be sorted by a column."""
    return column in SORTS or column.startswith(RIGHT)


def without_trials(row: Grouped) -> Grouped:
    """The same with nothing in it that grows with the number of responses."""
    members = tuple(
        replace(member, trials=(), judged=(), recordings=(), columns=None)
        for member in row.group.members
    )
    return Grouped(replace(row.group, members=members), row.results.without_rows())


def key_of(row: Grouped) -> Key:
    """What tells this row from others."""
    apart = ", ".join(map(" ".join, row.group.apart + row.group.shared))
    name = f"{row.group.label} ({apart})" if apart else row.group.label
    return name, row.battery.content_hash, "model" if row.group.has_model else "speaker"


def bases(rows: Sequence[Grouped]) -> tuple[Basis, ...]:
    """What can be chosen, the most rows first; a battery that no judge has seen is there too."""
    counts: Counter[Basis] = Counter()
    for row in rows:
        given = row.battery
        battery = (
            given.content_hash,
            f"{given.title} {given.version}",
            f"{given.id} {given.version}",
        )
        counts[Basis(*battery, None)] += 1
        counts.update(Basis(*battery, judge.terms) for judge in row.results.judges)
    judged = {basis.battery_hash for basis in counts if basis.terms is not None}
    choices = [
        replace(basis, n=n)
        for basis, n in counts.items()
        if basis.terms is not None or basis.battery_hash not in judged
    ]
    return tuple(sorted(choices, key=lambda basis: -basis.n))


def chosen(rows: Sequence[Grouped], basis: Basis, words: str, order: Order) -> list[Grouped]:
    """The rows of the basis' battery whose name or spec has every word, in order.

    By burden, rows without one come last, and so do those with few usable responses.
    """
    named = [
        row
        for row in rows
        if row.battery.content_hash == basis.battery_hash
        and all(word in _searched(row) for word in words.casefold().split())
    ]
    named.sort(key=by_keys if any(map(_is_recorded, named)) else _label)
    if order.column == "model":
        return named[::-1] if order.falling else named
    values = [(_value(row, basis, order.column), row) for row in named]
    known = [(value, row) for value, row in values if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.falling)
    return [*(row for _, row in known), *(row for value, row in values if value is None)]


def _searched(row: Grouped) -> str:
    """Return what a filter searches: the name, and the model's whole spec."""
    return f"{row.label} {row.group.label}".casefold()


def _value(row: Grouped, basis: Basis, column: str) -> float | None:
    if column.startswith(RIGHT):
        name = column.removeprefix(RIGHT)
        if row.named(name) is not None:
            return row.results.value("outcome", name)
        return row.results.value("accuracy", name)
    judge = row.judge(basis.terms)
    if judge is None and basis.terms is not None:
        return None
    if column == "burden":
        return None if judge is None else judge.burden.ranked
    measure = {"words": "words_mean"}.get(column, column)
    return row.results.value(measure, rater="" if judge is None else judge.terms)


LEAST_ROWS = 10
"""So many rows of a sweep at least are shown as one."""


def first_given(row: Grouped) -> Administration:
    """Return the first administration of a row."""
    return row.group.members[0].administration


class Names:
    """What tells rows apart: a column for each key in which they differ, or their labels.

    Attributes:
        common: what all rows are, in words.
        keys: those that are columns; none where the rows differ in model or examinee alone, or
            where columns would leave no room for results: then a row has a short name.
        telling: those without which two rows would be alike.
    """

    def __init__(self, rows: Sequence[Grouped]) -> None:
        split = differing(facts_of_groups([row.group for row in rows])) if rows else NO_ROWS
        self.telling = split.telling
        wide = sum(max(len(one.get(key, "")) for one in split.own) for key in self.telling)
        bare = not {*split.keys} - {"model", "participant", "lesion"}
        whole = wide > WIDEST or bare
        people = not any(row.group.has_model for row in rows)
        brief = split.brief if whole and (people or not bare) else ()
        self._brief = dict(zip(map(key_of, rows), brief, strict=bool(brief)))
        self.keys = () if whole else split.keys
        self.common = "" if whole else facts_name(split.common)
        own = zip(split.own, split.names, strict=True)
        self._own = dict(zip(map(key_of, rows), own, strict=True))

    def cell(self, key: str, row: Grouped) -> str:
        """Return what a row has of a key."""
        return self._own[key_of(row)][0].get(key, "")

    def label(self, row: Grouped) -> str:
        """Return the whole name of a row."""
        return self._brief.get(key_of(row), row.label)

    def renamed(self, row: Grouped) -> Grouped:
        """Return a row with the name that tells it from the others as its label."""
        if not self.keys:
            called = self._brief.get(key_of(row))
            return replace(row, group=replace(row.group, called=called)) if called else row
        own = self._own[key_of(row)][0]
        called = " ".join(own[key] for key in self.telling if key in own)
        return replace(row, group=replace(row.group, called=called))

    def title(self, row: Grouped, room: int) -> str:
        """Return what tells a row from the others, where there is room with its keys."""
        if not self.keys or key_of(row) not in self._own:
            return self.label(row)
        name = self._own[key_of(row)][1]
        return name if len(name) <= room else self.renamed(row).label


NO_ROWS = differing([])


def series_lines(
    members: Sequence[Administration], measures: Mapping[str, Sequence[float | None]]
) -> Content:
    """Return small lines of measures of the members of a sweep, and along what they go."""
    facts = facts_of([one.conditions for one in members])
    lines: list[Content | str | tuple[str, str]] = []
    words = ""
    for title, values in measures.items():
        curve = curve_of(members, values, facts)
        known = [value for value in curve.values if value is not None]
        if known:
            lines += [(f"  {title} ", QUIET), spark(curve.values, LINE, highest=max([*known, 1.0]))]
            lines += [] if lines[2:] else [f" {'-'.join(ends_of(min(known), max(known), 2))}"]
            words = curve.words
    return Content.assemble((words, QUIET), *lines)


LINE = 9
"""Columns of a small line at most."""


class ReadRows:
    """The rows of all batteries, and which of them are marked.

    While everything is read again a row stays until its new one has come.

    Attributes:
        by: the id of the key of the groups.
        marked: the keys of the marked rows, in the order marked.
        done: rows read so far.
        total: rows to read; None before the first is read.
    """

    def __init__(self) -> None:
        self.by = "model"
        self.marked: dict[Key, None] = {}
        self.done = 0
        self.total: int | None = None
        self._known: dict[Key, Grouped] = {}
        self._rows: dict[Key, Grouped] = {}
        self._new: set[Key] = set()

    @property
    def all(self) -> list[Grouped]:
        """Every row."""
        return [*self._rows.values()]

    @property
    def known(self) -> list[Grouped]:
        """Every row, also those that are not read yet: of these names and sweeps are made."""
        return [*(self._known | self._rows).values()]

    def expect(self, known: Sequence[Grouped]) -> None:
        """Know which rows will be read."""
        self._known = {key_of(row): row for row in known}

    @property
    def complete(self) -> bool:
        """Whether every row has been read."""
        return self.done == self.total

    @property
    def choices(self) -> tuple[Basis, ...]:
        """The batteries and judges that can be chosen."""
        return bases(self.all)

    def get(self, key: Key | None) -> Grouped | None:
        """Return the row with a key; None where there is none."""
        return None if key is None else self._rows.get(key)

    def begin(self, by: str) -> None:
        """Prepare to read everything again; the rows of another grouping go at once."""
        if by != self.by:
            self.by = by
            self._rows.clear()
            self.marked.clear()
        self._new.clear()
        self.done, self.total = 0, None

    def add(self, row: Grouped | None, done: int, total: int) -> None:
        """Keep a row; with the last one, those that are not there any more go."""
        self.done, self.total = done, total
        if row is not None:
            self._rows[key_of(row)] = row
            self._new.add(key_of(row))
        if self.complete:
            self._rows = {key: row for key, row in self._rows.items() if key in self._new}
            self.marked = {key: None for key in self.marked if key in self._rows}
            self._known.clear()

    def renew(self, rows: Sequence[Grouped]) -> None:
        """Replace rows that were read again when all had been read."""
        self._rows |= {key_of(row): row for row in rows}
        self.done = self.total = len(self._rows)

    def turn_mark(self, key: Key) -> None:
        """Mark a row, or unmark it."""
        if key in self.marked:
            del self.marked[key]
        else:
            self.marked[key] = None

    def selected(self, shown: Sequence[Grouped]) -> list[Grouped]:
        """Return the rows among those shown that are marked, in the order marked."""
        there = {key_of(row) for row in shown}
        return [self._rows[key] for key in self.marked if key in there]

    def progress(self, shown: Sequence[Grouped]) -> str:
        """Return how many rows are shown, or how many have been read."""
        if not self.complete:
            return f"… reading, {self.done} of {self.total}" if self.total else "… reading"
        if self.by != "model":
            return f"{len(shown)} of {len(self._rows)} groups"
        here, there = (Counter(row.group.has_model for row in rows) for rows in (shown, self.all))
        kinds = ((True, "models"), (False, "speakers"))
        counts = (f"{here[kind]} of {there[kind]} {what}" for kind, what in kinds if there[kind])
        return ", ".join(counts) or "0 of 0 models"


LEAST_NAME, ROOMY_NAME = 22, 36
"""Columns of a name at least, and before intervals become wider."""
BURDEN_AXIS, RIGHT_AXIS = (12, 32), (7, 20)
"""The least and the most columns of drawn intervals."""
HELP = """\
# Results by model

One row for each model with its lesion; all its administrations are pooled. How many responses are
**usable** (identical unsampled answers and repeated draws count once), the *burden* with its 95 %
interval for prompts like these (*0.50 n=2*: it rests on 2 responses, the others have none or are
not rated yet; *few*: fewer than half are usable, such rows are sorted last), then the share of
right answers of each subtest. Intervals are drawn: ├─●─┤ (○ with few usable), ◆ what guessing or
always one answer would give. Rows are named by the columns in which they differ; what all of them
are is in the title. A sweep of ten rows or more is one row with small lines of burden and right
answers: **enter** shows its rows alone, and all again. *Features*: a bar for each feature of the
set, · for none. Burdens of different judges, scopes or sets never share a column:
**j** chooses another. A dash: this judge has not seen that model.

- **space** marks a model, **c** compares the two that are marked, **e** writes the marked ones
- **>** sorts by the next column, **<** reverses the order; a click on a head does both
- **g** changes to plots and back, **/** filters by words, **t** puts the right answers first in a
  narrow table, or changes what is below
- **P** compares base and instruct models of a family, **A** the judges of the marked models
- **enter** opens the model's results; **tab** goes to its features, where **enter** shows the
  responses on which judges differ
"""


class ModelsTable(RowList):
    """Burdens and right answers."""

    HELP = HELP

    def __init__(self) -> None:
        super().__init__(id="models-table")
        self.opened: object = None
        """The key of the sweep whose rows are shown."""
        self.curves: dict[object, Content] = {}
        """Small lines of sweeps."""

    def sorts(self, column: Column[Any] | None) -> bool:
        """Return whether a click on a head sorts."""
        return column is not None and can_sort(column.name)

    def line_of(self, row: Any, fitted: Fitted[Any]) -> Content:
        """Return the line of a row, or of a sweep."""
        if not isinstance(row, Series):
            return super().line_of(row, fitted)
        sign = "▾" if row.key == self.opened else "▸"
        head = Content.assemble(f"{sign}  ", (row.title, "bold"))
        return Content.assemble(head, "  ", self.curves.get(row.key, "")).truncate(fitted.width)


def columns_of(
    rows: Sequence[Grouped],
    basis: Basis,
    by: str,
    order: Order,
    *,
    marked: Collection[Key] = (),
    right_first: bool = False,
    names: Names | None = None,
) -> list[Column[Grouped]]:
    """Return the columns for some rows, in the order in which they stand."""
    titles = titles_of([row.group for row in rows]) if rows else ()
    burdens = _burden_columns(rows, basis, order, 2 if right_first else 0)
    ranks = (1, 2) if right_first else (3, 7)
    right = [*_right_columns(rows, order, *ranks), *_named_columns(rows, order, *ranks)]
    columns: list[Column[Grouped]] = [
        Column("", lambda row: "x" if key_of(row) in marked else "·", id="mark"),
        *_name_columns(
            rows,
            ", ".join(titles) or by,
            order,
            names,
            LEAST_NAME // 2 if right_first else LEAST_NAME,
        ),
    ]
    return [*columns, *([*right, *burdens] if right_first else [*burdens, *right])]


def _name_columns(
    rows: Sequence[Grouped], by: str, order: Order, names: Names | None, least: int
) -> Iterator[Column[Grouped]]:
    """Yield the columns that tell rows apart: keys, which are never cut, else the name."""
    if names is None or not names.keys:
        head = _headed(by, "model", order)
        label = attrgetter("label") if names is None else names.label
        yield Column(head, label, id="model", least=least, most=ROOMY_NAME)
        return
    for at, key in enumerate(names.keys):
        number = all(_is_number(names.cell(key, row)) for row in rows)
        head = key if at else _headed(key, "model", order)
        cell = partial(names.cell, key)
        rank = 0 if key in names.telling or not at else OPTIONAL
        yield Column(head, cell, id="" if at else "model", right=number, rank=rank)


OPTIONAL = 9
"""The rank of a key that other keys imply."""


def _is_number(text: str) -> bool:
    return not text or text.lstrip("-").replace(".", "", 1).isdigit()


def _strip(row: Grouped, judge: Judge | None) -> Content:
    """Return a bar for each feature of a judge's set; a dot for one that was never present."""
    if judge is None or not judge.burden.n_burden:
        return Content("")
    asked = judge.terms.features
    shares = [
        judge.burden.rate(one.id).value or 0.0 for one in row.battery.features if one.id in asked
    ]
    return Content.assemble(*((step(one), ACCENT) if one else ("·", QUIET) for one in shares))


def _burden_columns(
    rows: Sequence[Grouped], basis: Basis, order: Order, later: int
) -> Iterator[Column[Grouped]]:
    judges = {key_of(row): row.judge(basis.terms) for row in rows}
    figures = {key_of(row): _burden_words(row, judges[key_of(row)], basis) for row in rows}
    _align([*figures.values()], "burden")
    spoken = bool(rows) and rows[0].battery.coded and basis.terms is None  # no text is rated
    for rank, name, head, tip in BURDENS:
        words = {key: own[name] for key, own in figures.items()}
        if name != "usable" and (spoken or all(one.strip() == NONE for one in words.values())):
            continue
        yield Column(
            _headed(head, name, order),
            lambda row, words=words: words[key_of(row)],
            id=name,
            right=True,
            rank=rank + later,
            style="bold" if name == "burden" else "",
            tip=tip,
        )
        if name == "burden":
            yield Column(
                "features",
                lambda row: _strip(row, judges[key_of(row)]),
                rank=5 + later,
                tip="the share of responses with each feature, in the order of the battery: "
                "· none, ▁ few, █ all",
            )
        if name == "interval" and (top := _most([*judges.values()])):
            yield Column(
                partial(scale, highest=top),
                lambda row, width: _drawn_burden(judges[key_of(row)], top, width),
                rank=6 + later,
                grow=BURDEN_AXIS,
                tip=f"burden with its 95 % interval, from 0 to {top:.2f}",
            )


BURDENS = (
    (1, "usable", "usable", "usable responses of all that count"),
    (10, "distinct", "distinct", "different texts among the responses"),
    (2, "burden", "burden", "mean number of features present in a response"),
    (4, "interval", "95 %", "95 % interval of the burden for prompts like these"),
    (11, "words", "mean words", "mean number of words in a usable response"),
    (12, "over", "over", "number of features in the judge's set"),
)
"""Rank, id, head and meaning of the columns about connected texts."""


def _headed(head: str, column: str, order: Order) -> str:
    return f"{head} {order.arrow}" if column == order.column else head


def _burden_words(row: Grouped, judge: Judge | None, basis: Basis) -> dict[str, str]:
    """Return a row's figures; dashes where this judge has not seen it."""
    words = dict.fromkeys((name for _, name, _, _ in BURDENS), NONE)
    if judge is not None:
        burden, usable = judge.burden, judge.burden.usable
        figures = burden_cells(judge)
        words |= {name: figures[name] for name in ("usable", "distinct", "burden", "words")}
        words |= {"interval": figures["95 %"], "over": str(len(burden.features))}
        if not usable.few and burden.n_burden < usable.usable + judge.not_judged:
            # The burden rests on fewer responses than are usable.
            words["burden"] += f" n={burden.n_burden}"
    elif basis.terms is None:
        results = row.results
        words["usable"] = f"{results.number('usable')}/{results.number('responses')}"
        words["distinct"] = count(results.number("distinct"))
        words["words"] = figure(results.value("words_mean"))
    return words


def _align(figures: Sequence[dict[str, str]], column: str) -> None:
    """Pad a column's cells where words follow a figure, so that figures are below each other."""
    after = [words[column].partition(" ")[2] for words in figures]
    most = max(map(len, after), default=0)
    for words, rest in zip(figures, after, strict=True):
        if most:
            words[column] += " " * (most - len(rest) + (not rest))


def _drawn_burden(judge: Judge | None, most: float, width: int) -> Content:
    if judge is None or (value := judge.burden.symptom_burden.value) is None:
        return _dash()
    few = judge.burden.usable.few
    return _drawn(judge.burden.interval, value, width, highest=most, few=few)


def _drawn(interval: Interval | None, value: float | None, width: int, **more: Any) -> Content:
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return interval_bar(ends[0], value, ends[1], width=width, **more)


def _most(judges: Sequence[Judge | None]) -> float:
    """Return the end of an axis for these burdens; 0 where there is nothing to draw."""
    ends = [
        end
        for judge in judges
        if judge is not None
        for end in (
            judge.burden.symptom_burden.value,
            judge.burden.interval.high if judge.burden.interval else None,
        )
        if end is not None
    ]
    return max(ends, default=0.0)


def _right_columns(
    rows: Sequence[Grouped], order: Order, rank: int, drawn: int
) -> Iterator[Column[Grouped]]:
    """Yield the share right of each subtest, then its interval."""
    parts = rows[0].battery.subtests if rows else ()
    short = short_titles(tuple(part.title for part in parts))
    for given in parts:
        own = [row.part(given.id) for row in rows]
        if not any(part is not None and part.right.n for part in own):
            continue
        name = f"{RIGHT}{given.id}"
        tip = f"{given.title}: share right (exact), 95 % interval from 0 to 1"
        if baselines := _baselines(own):
            tip += f"; ◆ {', '.join(baselines)}"
        head = _headed(short[given.title], name, order)
        cell, bar = partial(_share, given.id), partial(_drawn_share, given.id)
        least = 0 if name == order.column else LEAST_SHARE
        yield Column(head, cell, id=name, right=True, rank=rank, tip=tip, least=least)
        yield Column("", bar, id=name, rank=drawn, grow=RIGHT_AXIS, tip=tip)


LEAST_SHARE = 5
"""The width to which the head of a share is cut before names are."""


def _share(subtest: str, row: Grouped) -> str:
    part = row.part(subtest)
    return NONE if part is None or not part.right.n else number(part.right.value)


def _drawn_share(subtest: str, row: Grouped, width: int) -> Content:
    part = row.part(subtest)
    return Content("") if part is None or not part.right.n else drawn_share(part, width)


def _named_columns(
    rows: Sequence[Grouped], order: Order, rank: int, drawn: int
) -> Iterator[Column[Grouped]]:
    """Yield the shares of names counted as right, and the median latency, of naming subtests."""
    titles = {part.id: part.title for row in rows for part in row.results.named}
    for subtest, title in titles.items():
        name = f"{RIGHT}{subtest}"
        head = _headed(f"{title}, right", name, order)
        tip = f"{title}: share of names counted as right, 95 % interval from 0 to 1"
        cell, bar = partial(_names_right, subtest), partial(_drawn_names, subtest)
        yield Column(head, cell, id=name, right=True, rank=rank, tip=tip)
        yield Column("", bar, id=name, rank=drawn, grow=RIGHT_AXIS, tip=tip)
        latency = partial(_latency, subtest)
        yield Column(
            "latency",
            latency,
            id=f"latency {subtest}",
            right=True,
            rank=drawn + 1,
            tip=f"{title}: median latency",
        )


def _names_right(subtest: str, row: Grouped) -> str:
    part = row.named(subtest)
    return NONE if part is None else figure(part.summary.accuracy[0].rate)


def _drawn_names(subtest: str, row: Grouped, width: int) -> Content:
    part = row.named(subtest)
    if part is None or (share := part.summary.accuracy[0]).rate is None:
        return Content("")
    return _drawn(share.interval, share.rate, width)


def _latency(subtest: str, row: Grouped) -> str:
    part = row.named(subtest)
    return NONE if part is None else seconds(part.summary.latency_median_s) or NONE


def _baselines(parts: Sequence[Part | None]) -> list[str]:
    from tabwb.analysis.measures import BASELINES

    known = {name for part in parts if part is not None for name in part.baselines}
    return [baseline.title for baseline in BASELINES if baseline.id in known]


def drawn_share(part: Part, width: int) -> Content:
    """Return the share right of a subtest with its interval and its baselines, from 0 to 1."""
    known = (baseline.value for baseline in part.baselines.values())
    baselines = [value for value in known if value is not None]
    return _drawn(part.right.interval, part.right.value.value, width, baseline=baselines)


def _dash() -> Content:
    return Content.styled(NONE, QUIET)
