"""The explorer: what there is in the store, folded in groups, with a filter and a search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from time import perf_counter
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseMove
from textual.message import Message
from textual.widgets import Input, Tree
from textual.widgets.tree import TreeNode

from tabwb.records.conditions import Conditions
from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import UNFINISHED, Catalogue
from tabwb.workbench.shell.columns import clipped, shortened, shortened_apart
from tabwb.workbench.shell.settings import MIN_WIDTH
from tabwb.workbench.shell.wording import (
    LESIONED,
    glyph_of,
    name_of,
    special_conditions,
    special_words,
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
LEAST_BATTERY = 4
"""The columns to which the name of a battery may be cut, so that the examinee is to be read."""
INDENT = 2
"""Columns of the tree before a row of a group."""
LEAST_LESION = 6
"""With fewer columns only the glyph tells of a lesion."""
CURRENT = "▌"
"""The sign before the open administration."""
GROUPS = ("Batteries", "Examinees", "Administrations")


class Entry(NamedTuple):
    """What a node represents: ``battery``, ``examinee``, ``administration`` or ``more``."""

    kind: str
    name: str


class Explorer(Tree[Entry]):
    """The tree of batteries, examinees and administrations."""

    HELP = """\
# Explorer

Batteries, examinees, and administrations with the latest first. Each administration has its state,
number, battery, examinee, and the responses right of those scored; an unfinished one has the items
answered of those planned. ▸ running, ‖ paused, ■ discontinued, ✓ complete, ! interrupted, ▲ model
under a lesion. ▌ marks the open administration.

- **enter** on a battery or an examinee begins a new administration with it
- **enter** on an administration opens it: one that is running or paused can be continued,
  a complete one shows its results
- a click goes to a row, a second click opens it
- **/** filters: type parts of a number, name, state, condition or date; **esc** ends the filter
- **space** folds a group; arrows move
"""

    class Folded(Message):
        """Other groups are folded."""

        def __init__(self, titles: tuple[str, ...]) -> None:
            super().__init__()
            self.titles = titles

    def __init__(self, finder: Finder, folded: Sequence[str] = ()) -> None:
        super().__init__("tabwb", id="explorer", classes="enter-opens")
        self.show_root = self.show_guides = False
        self.guide_depth = 1
        self._finder, self._folded = finder, set(folded)
        self._groups: dict[str, TreeNode[Entry]] = {}
        self._catalogue = Catalogue()
        self._current: Administration | None = None
        self._scores: dict[int, tuple[int, int]] = {}
        self._words = ""

    def on_mount(self) -> None:
        """Add the groups."""
        for title in GROUPS:
            self._groups[title] = self.root.add(
                Text(title, style="bold"), expand=title not in self._folded
            )

    # ---------------------------------------------------------------- what is shown

    def show(self, catalogue: Catalogue, current: Administration | None) -> None:
        """Show a catalogue and the open administration, of which only the progress may be new."""
        before, opened = self._current, current.id if current is not None else None
        self._current = current
        if catalogue is not self._catalogue or opened != (before.id if before else None):
            self._catalogue = catalogue
            self._fill()
        elif current is not None and current != before:
            self._label(current)

    def show_score(self, number: int, right: int, scored: int) -> None:
        """Show how many responses of an administration are right, of those scored."""
        if self._scores.get(number) == (right, scored):
            return
        self._scores[number] = right, scored
        for administration in self._catalogue.administrations:
            if administration.id == number:
                self._label(administration)

    def filter(self, words: str) -> None:
        """List only what has all these words."""
        self._words = words
        self._fill()
        if words and (found := self._groups["Administrations"].children):
            self.call_after_refresh(self.move_cursor, found[0])

    def on_resize(self) -> None:
        """Cut names for the new width."""
        self._fill()

    def watch_show_vertical_scrollbar(self) -> None:
        """Cut names for the room beside the scroll bar."""
        self._fill()

    def _label(self, administration: Administration) -> None:
        entry = Entry("administration", str(administration.id))
        for node in self._groups["Administrations"].children:
            if node.data == entry:
                label = self._line(administration)
                if node.label != label:
                    node.set_label(label)
                return

    def _fill(self) -> None:
        if not self._groups:
            return
        catalogue, line, room = self._catalogue, self.cursor_line, self._room
        examinees = [name for name in catalogue.examinees if self._has_words(name)]
        given = catalogue.administrations
        found = self._finder.ranked(given, self._words)
        more = "older" if not self._words else "more"
        batteries = [one for one in catalogue.batteries if self._has_words(f"{one.id} {one.title}")]
        self._fill_group(
            "Batteries",
            ((battery.id, Entry("battery", battery.id)) for battery in batteries),
            len(batteries),
        )
        short = shortened_apart(examinees[:MOST_LISTED], room)
        self._fill_group(
            "Examinees",
            (
                (shown, Entry("examinee", name))
                for shown, name in zip(short, examinees, strict=False)
            ),
            len(examinees),
        )
        self._fill_group(
            "Administrations",
            (
                (self._line(one), Entry("administration", str(one.id)))
                for one in found[:MOST_LISTED]
            ),
            len(found),
        )
        if len(found) > MOST_LISTED:
            words = f"… {len(found) - MOST_LISTED} {more}"
            self._groups["Administrations"].add_leaf(Text(words, style="dim"), Entry("more", ""))
        self.cursor_line = min(line, self.last_line)

    def _fill_group(self, title: str, rows: Iterable[tuple[str | Text, Entry]], count: int) -> None:
        group = self._groups[title]
        group.set_label(Text.assemble((title, "bold"), (f"  {count}", "dim")))
        group.remove_children()
        for label, entry in rows:
            text = Text(f" {label}", no_wrap=True) if isinstance(label, str) else label
            group.add_leaf(text, entry)
        if not group.children:
            words = " nothing found" if self._words else " none yet"
            group.add_leaf(Text(words, style="dim"), Entry("none", ""))

    def _has_words(self, name: str) -> bool:
        return all(word in name.lower() for word in self._words.lower().split())

    @property
    def _room(self) -> int:
        return max(self.scrollable_content_region.width - INDENT, MIN_WIDTH - 4)

    def _line(self, administration: Administration) -> Text:
        """Return state, number, battery, examinee, and at the right the score or the progress."""
        if is_open := self._current is not None and administration.id == self._current.id:
            administration = self._current
        given = self._catalogue.administrations
        digits = len(str(given[-1].id)) if given else 1
        scored = self._scores.get(administration.id)
        count = f"{administration.answered}/{administration.planned}"
        if administration.status not in UNFINISHED:
            count = f"{scored[0]}/{scored[1]}" if scored is not None and scored[1] else ""
        left = CURRENT if is_open else " "
        head = f"{left}{glyph_of(administration)} {administration.id:>{digits}} "
        tail = f" {count}" if count else ""
        room = max(self._room - cell_len(head) - len(tail), 1)
        name = named(administration, room)
        blank = " " * (room - cell_len(name))
        return Text(f"{head}{name}{blank}{tail}", "bold" if is_open else "", no_wrap=True)

    # ---------------------------------------------------------------- what a user does

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[Entry]) -> None:
        """Remember that a group is folded."""
        self._remember()

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        """Remember that a group is unfolded."""
        self._remember()

    def _remember(self) -> None:
        folded = {title for title, group in self._groups.items() if not group.is_expanded}
        if folded != self._folded:
            self._folded = folded
            self.post_message(self.Folded(tuple(sorted(folded))))

    async def _on_click(self, event: Click) -> None:
        """Make a row the current one; a second click opens it, any click folds a group."""
        line = event.style.meta.get("line", -1)
        node = self.get_node_at_line(line) if line >= 0 else None
        if node is None or node.allow_expand or event.chain > 1:
            return
        event.prevent_default()
        self.cursor_line = line

    def on_mouse_move(self, event: MouseMove) -> None:
        """Let the tooltip tell what a row cuts."""
        line = event.style.meta.get("line", -1)
        node = self.get_node_at_line(line) if line >= 0 else None
        told = self._told(node.data) if node is not None and node.data else None
        self.tooltip = Content(told) if told else None

    def _told(self, entry: Entry) -> str | None:
        for one in self._catalogue.administrations:
            if entry == ("administration", str(one.id)):
                words = [f"#{one.id}  {name_of(one)}", ", ".join(special_words(one))]
                words.append(f"{state_word(one)}, {one.answered} of {one.planned} answered")
                if (scored := self._scores.get(one.id)) is not None and scored[1]:
                    words.append(f"{scored[0]} of {scored[1]} right")
                return "\n".join(filter(None, [*words, one.given_at]))
        return entry.name or None


def named(administration: Administration, width: int) -> str:
    """Return battery and examinee in so many columns; the battery is cut first.

    >>> from tabwb.records.conditions import Conditions
    >>> from tabwb.records.states import AdministrationStatus
    >>> one = Administration(3, "", AdministrationStatus.DONE, "naming-demo", "1", "", "",
    ...                      Conditions("S-014", "speaker"), "", 6, 6)
    >>> named(one, 20), named(one, 12), named(one, 9)
    ('naming-demo S-014', 'namin… S-014', 'nam… S-…4')
    """
    given = administration.conditions
    mark = LESIONED if given.lesion else ""
    examinee = f"{mark}{given.examinee}"
    room = max(width - len(examinee) - 1, LEAST_BATTERY)
    battery = clipped(administration.battery, room)
    room = max(width - len(battery) - 1, 1)
    left = room - len(examinee) - 1
    if given.lesion and left >= LEAST_LESION:
        return f"{battery} {examinee} {shortened(given.lesion, left)}"
    return f"{battery} {shortened(examinee, room)}"


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
