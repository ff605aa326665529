"""The explorer: what there is in the store, folded in groups, with a filter and a search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import MouseMove
from textual.message import Message
from textual.widgets import Input

from tabwb.records.conditions import Conditions
from tabwb.records.series import Series
from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import UNFINISHED, Catalogue
from tabwb.workbench.shell.columns import Column, Fitted, Heading, shortened_apart
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import (
    LESIONED,
    QUIET,
    glyph_of,
    name_of,
    special_conditions,
    special_words,
    spread,
    state_word,
)

SLICE_S = 0.01
"""Seconds of work between two turns of the event loop."""


class Searched(NamedTuple):
    """The texts of an administration in which words are looked for, in lower case."""

    number: str
    names: str
    date: str


def searched(administration: Administration) -> Searched:
    """Return the texts in which words are looked for.

    What tells its conditions from the defaults is worked out once for all administrations that
    differ in examinee, seed and lesion only: a store may hold 10,000.
    """
    given = administration.conditions
    names = [
        name_of(administration),
        state_word(administration),
        administration.status_word,
        administration.title,
    ]
    names += [*administration.tags, f"seed {given.seed}", *_special(_without_names(given))]
    return Searched(
        str(administration.id), " ".join(names).lower(), administration.given_at.lower()
    )


def _without_names(given: Conditions) -> Conditions:
    decoding = replace(given.decoding, seed=1)
    return replace(given, examinee="", lesion=None, seed=1, decoding=decoding, session_date=None)


@cache
def _special(given: Conditions) -> list[str]:
    return special_conditions(given)


class Finder:
    """Finds administrations; keeps their texts, so that each key typed is answered at once."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Administration, Searched]] = {}

    def text(self, administration: Administration) -> Searched:
        """Return the texts of an administration, computed when it is new or has changed."""
        kept = self._texts.get(administration.id)
        if kept is not None and (kept[0] is administration or kept[0] == administration):
            return kept[1]
        made = searched(administration)
        self._texts[administration.id] = administration, made
        return made

    async def warm(self, administrations: Sequence[Administration]) -> None:
        """Compute the texts of all, the latest first, without holding up what is drawn."""
        began = perf_counter()
        for administration in reversed(administrations):
            self.text(administration)
            if perf_counter() - began > SLICE_S:
                await asyncio.sleep(0)
                began = perf_counter()

    def ranked(self, administrations: Sequence[Administration], words: str) -> list[Administration]:
        """Return those with every word: by number first, then name, then date, then the latest."""
        wanted = words.lower().split()
        if not wanted:
            return list(reversed(administrations))
        found = []
        for administration in reversed(administrations):
            text = self.text(administration)
            ranks = [rank for word in wanted if (rank := _rank(text, word)) is not None]
            if len(ranks) == len(wanted):
                found.append((ranks, administration))
        return [administration for _, administration in sorted(found, key=itemgetter(0))]


def _rank(text: Searched, word: str) -> int | None:
    """Return 0 for the number, 1 for its beginning, 2 for name or status, 3 for the date."""
    number = word.removeprefix("#")
    if number == text.number:
        return 0
    if number and text.number.startswith(number):
        return 1
    if word in text.names:
        return 2
    return 3 if word in text.date else None


MOST_LISTED = 60
"""The number of administrations listed; *Open* finds all of them."""
MOST_SEARCHED = 2000
"""So many of the latest are put together in sweeps and series."""
LEAST_BATTERY, LEAST_NAME = 4, 13
"""The columns to which the names of batteries and examinees may be cut."""


class Entry(NamedTuple):
    """What a row stands for: a ``battery``, an ``examinee`` or an ``administration``."""

    kind: str
    name: str


class Group(NamedTuple):
    """The head of a group: what it has, how many, and what all of them share."""

    title: str
    n: int
    shared: str = ""


Row = Group | Entry | Administration | Series[Administration]
MARK = "◆"
"""The sign of the open administration."""


class Explorer(RowList):
    """Batteries, examinees and administrations, in groups that fold."""

    GAP = 1
    HELP = """\
# Explorer

Batteries, examinees, and administrations with the latest first. Each administration has its state,
number, battery, examinee, and the responses right of those scored; an unfinished one has the items
answered of those planned. ▸ running, ‖ paused, ■ discontinued, ✓ complete, ! interrupted, ▲ model
under a lesion. ◆ marks the open administration.

- **enter** on a battery or an examinee begins a new administration with it
- **enter** on an administration opens it: one that is running or paused can be continued,
  a complete one shows its results
- **enter** on a sweep, or a series of runs or sessions, shows its administrations, each named by
  what differs between them
- a click goes to a row, a second click opens it
- **/** filters: type parts of a number, name, state, condition or date; **esc** ends the filter
- **space** folds a group; arrows move
"""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "fold", show=False)]

    class Folded(Message):
        """Other groups are folded."""

        def __init__(self, titles: tuple[str, ...]) -> None:
            super().__init__()
            self.titles = titles

    def __init__(self, finder: Finder, folded: Sequence[str] = ()) -> None:
        super().__init__(id="explorer")
        self._finder, self._folded = finder, set(folded)
        self._catalogue = Catalogue()
        self._opened: Administration | None = None
        self._scores: dict[int, tuple[int, int]] = {}
        self._words = ""
        self._unfolded: set[object] = set()
        """The keys of sweeps and series whose members are listed."""
        self._members: dict[int, str] = {}
        """What tells such members apart, by number."""
        self._short: Mapping[str, str] = {}
        self._lesions: Mapping[str, str] = {}
        self._several = False
        self._columns_of: Sequence[Column[Administration]] = (
            Column("", self._sign),
            Column("", lambda one: str(one.id), right=True),
            Column(
                "",
                lambda one: one.battery,
                least=LEAST_BATTERY,
                most=LEAST_BATTERY,
                end=True,
                rank=2,
            ),
            Column("", self._examinee, least=LEAST_BATTERY),
            Column("", self._count, right=True, rank=1),
        )

    def on_mount(self) -> None:
        """Show the groups."""
        self._fill()

    # ---------------------------------------------------------------- what is shown

    def show_catalogue(self, catalogue: Catalogue, opened: Administration | None) -> None:
        """Show a catalogue and the open administration, of which only the progress may be new."""
        if catalogue is not self._catalogue or opened != self._opened:
            self._catalogue, self._opened = catalogue, opened
            if catalogue.administrations:
                from tabwb.analysis.names import short_names  # not before the first frame

                given = [one.conditions for one in catalogue.administrations]
                self._short = short_names(
                    {
                        one.examinee: one.labels.get("profile", "")
                        for one in given
                        if one.kind == "model"
                    }
                )
            self._fill()

    def show_score(self, number: int, right: int, scored: int) -> None:
        """Show how many responses of an administration are right, of those scored."""
        if self._scores.get(number) != (right, scored):
            self._scores[number] = right, scored
            self._fill()

    def filter(self, words: str) -> None:
        """List only what has all these words, at the first administration that has."""
        self._words = words
        self._fill()
        found = (row.id for row in self.rows if isinstance(row, Administration))
        if words and (first := next(found, None)) is not None:
            self.choose(first)

    def _fill(self) -> None:
        catalogue = self._catalogue
        examinees = [name for name in catalogue.examinees if self._has_words(name)]
        found = self._finder.ranked(catalogue.administrations, self._words)
        batteries = [one for one in catalogue.batteries if self._has_words(f"{one.id} {one.title}")]
        given, several = self._listed([self._as_now(one) for one in found])
        measured = [one for one in given if isinstance(one, Administration)]
        shared = found[0].battery if len({one.battery for one in found}) == 1 else ""
        rows = [
            *self._group("Batteries", [Entry("battery", one.id) for one in batteries]),
            *self._group("Examinees", [Entry("examinee", name) for name in examinees]),
            *self._group("Administrations", given, len(found), several, shared),
        ]
        own = [one for one in measured if one.id not in self._members]
        columns = [*self._columns_of]
        if shared:
            columns[2] = replace(columns[2], cell=lambda one: "")
        if lesioned := [one for one in own if one.conditions.lesion]:
            self._name_lesions([one.conditions for one in lesioned])
            least = max(len(self._examinee(one)) for one in lesioned)
            columns[3] = replace(columns[3], least=min(least, LEAST_NAME))
        self.show(columns, rows, ids=_id, measured=own)

    def _listed(self, found: Sequence[Administration]) -> tuple[list[Row], int]:
        """Return the rows of administrations, and how many administrations these stand for."""
        self._members.clear()
        if self._words or not found:
            return list(found[:MOST_LISTED]), min(len(found), MOST_LISTED)
        from tabwb.analysis.differing import differing, facts_of, in_series  # not before the frame

        rows: list[Row] = []
        n = 0
        for row in in_series(found[:MOST_SEARCHED], lambda one: one)[:MOST_LISTED]:
            rows.append(row)
            n += len(row.members) if isinstance(row, Series) else 1
            if isinstance(row, Series) and row.key in self._unfolded:
                rows += row.members
                facts = facts_of([one.conditions for one in row.members], seeds=True)
                named = zip(row.members, differing(facts).own, strict=True)
                self._members |= {
                    one.id: " ".join(own.values()) or one.given_at for one, own in named
                }
        return rows, n

    def _name_lesions(self, given: Sequence[Conditions]) -> None:
        from tabwb.analysis.differing import lesion_names  # not before the first frame

        self._lesions = lesion_names(given)
        self._several = len({one.examinee for one in given}) > 1

    def _examinee(self, one: Administration) -> str:
        given = one.conditions
        name = self._short.get(given.examinee, given.examinee)
        if not given.lesion:
            return name
        model = f"{name} " if self._several else ""
        return f"{model}{LESIONED}{self._lesions.get(given.lesion, given.lesion)}".replace(
            " · ", " "
        )

    def _as_now(self, one: Administration) -> Administration:
        return self._opened if self._opened is not None and one.id == self._opened.id else one

    def _group(
        self,
        title: str,
        rows: Sequence[Row],
        n: int | None = None,
        several: int = 0,
        shared: str = "",
    ) -> Iterator[Row | Heading]:
        n = len(rows) if n is None else n
        several = several or len(rows)
        yield Group(title, n, shared)
        if title in self._folded:
            return
        yield from rows
        if n > several:
            more = "older" if not self._words else "more"
            yield Heading(Content.styled(f"  … {n - several} {more}", QUIET))
        elif not rows:
            words = "nothing found" if self._words else "none yet"
            yield Heading(Content.styled(f"  {words}", QUIET))

    def _has_words(self, name: str) -> bool:
        return all(word in name.lower() for word in self._words.lower().split())

    def line_of(self, row: Row | Heading, fitted: Fitted[Any]) -> Content:
        """Return the line of a group, of a name, or of an administration."""
        if isinstance(row, Group):
            sign = "▸" if row.title in self._folded else "▾"
            n = (f"  {row.n}", QUIET)
            line = Content.assemble((f"{sign} ", QUIET), (row.title, "bold"), n)
            if row.shared and len(row.shared) < fitted.width - line.cell_length:
                line = spread(line, Content.styled(row.shared, QUIET), fitted.width)
            return line
        if isinstance(row, Entry):
            return Content(f"  {self._names(row.kind, fitted.width - 2)[row.name]}")
        if isinstance(row, Series):
            sign = "▾" if row.key in self._unfolded else "▸"
            number = Content.styled(str(len(row.members)), QUIET)
            return spread(Content(f" {sign} {row.name}"), number, fitted.width)
        line = fitted.line(row)
        if isinstance(row, Administration) and (name := self._members.get(row.id)) is not None:
            line = Content(f" {self._sign(row)} {name}")
            if line.cell_length + len(self._count(row)) < fitted.width:
                line = spread(line, Content(self._count(row)), fitted.width)
        return line.stylize("bold") if self._is_open(row) else line

    def _names(self, kind: str, width: int) -> Mapping[str, str]:
        """Return what the names of a kind are cut to."""
        names = [row.name for row in self.rows if isinstance(row, Entry) and row.kind == kind]
        short = [self._short.get(name, name) if kind == "examinee" else name for name in names]
        return dict(zip(names, shortened_apart(short, width), strict=True))

    def _is_open(self, row: Row | Heading) -> bool:
        opened = self._opened
        return isinstance(row, Administration) and opened is not None and row.id == opened.id

    def _sign(self, one: Administration) -> str:
        return f"{MARK if self._is_open(one) else ' '}{glyph_of(one)}"

    def _count(self, one: Administration) -> str:
        if one.status in UNFINISHED:
            return f"{one.answered}/{one.planned}"
        right, scored = self._scores.get(one.id, (0, 0))
        return f"{right}/{scored}" if scored else ""

    # ---------------------------------------------------------------- what a user does

    @property
    def chosen_entry(self) -> Entry | None:
        """The battery, examinee or administration of the current row."""
        row = self.rows[self.current] if 0 <= self.current < len(self.rows) else None
        if isinstance(row, Administration):
            return Entry("administration", str(row.id))
        return row if isinstance(row, Entry) else None

    def action_select(self) -> None:
        """Open the current row, or fold its group."""
        if self.chosen_entry is None:
            self.action_fold()  # of a group, a sweep or a series
        else:
            super().action_select()

    def action_fold(self) -> None:
        """Fold the current group, or unfold it."""
        row = self.rows[self.current] if 0 <= self.current < len(self.rows) else None
        if isinstance(row, Group):
            self._folded ^= {row.title}
            self._fill()
            self.post_message(self.Folded(tuple(sorted(self._folded))))
        elif isinstance(row, Series):
            self._unfolded ^= {row.key}
            self._fill()

    def on_mouse_move(self, event: MouseMove) -> None:
        """Let the tooltip tell what a row cuts."""
        offset = event.get_content_offset(self)
        at = -1 if offset is None else offset.y + self.scroll_offset.y
        told = self._told(self.rows[at]) if 0 <= at < len(self.rows) else ""
        self.tooltip = Content(told) if told else None

    def _told(self, row: Row | Heading) -> str:
        if isinstance(row, Entry):
            return row.name
        if isinstance(row, Series):
            return row.title
        if not isinstance(row, Administration):
            return ""
        words = [f"#{row.id}  {name_of(row)}", ", ".join(special_words(row))]
        words.append(f"{state_word(row)}, {row.answered} of {row.planned} answered")
        if (scored := self._scores.get(row.id)) is not None and scored[1]:
            words.append(f"{scored[0]} of {scored[1]} right")
        return "\n".join(filter(None, [*words, row.given_at]))


def _id(row: Row) -> object:
    return (
        row.id
        if isinstance(row, Administration)
        else row[:2]
        if isinstance(row, Entry)
        else row.key
        if isinstance(row, Series)
        else row.title
    )


class ExplorerFilter(Input):
    """The filter above the explorer; hidden while it is not used."""

    HELP = Explorer.HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("down,enter", "to_list", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="filter", compact=True, id="explorer-filter")
        self.display = False

    def open(self) -> None:
        """Show the field and take the focus."""
        self.display = True
        self.focus()

    def action_close(self) -> None:
        """List everything again."""
        self.value = ""
        self.display = False
        self.screen.query_one(Explorer).focus()

    def action_to_list(self) -> None:
        """Go to what was found."""
        self.screen.query_one(Explorer).focus()
