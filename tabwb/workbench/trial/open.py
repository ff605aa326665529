"""Finds an administration by number, battery, examinee or status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.trials import Administration
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.wording import QUIET, glyph_of, name_of, special_words

MOST = 500


class Filter(Input):
    """The search field."""

    HELP = """\
# Open

Type parts of what you look for: a number, battery, examinee, status, date. **down** goes to the
list, **enter** opens the one that is marked.
"""


class Found(OptionList):
    """The administrations found, the latest first."""

    HELP = Filter.HELP


class OpenScreen(Dialog[int | None]):
    """Returns the number of the administration that was chosen."""

    CSS_PATH = "open.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "to_list", show=False)]

    def __init__(self, administrations: Sequence[Administration]) -> None:
        super().__init__()
        self._administrations = tuple(administrations)

    def compose(self) -> ComposeResult:
        """Yield the field and the list."""
        with Vertical(classes="dialog"):
            yield Static("Open an administration", classes="dialog-title")
            yield Filter(placeholder="number, battery, examinee, status, date", compact=True)
            yield Found(id="found", compact=True)
            yield Static("", id="found-count", classes="dialog-note")

    def on_mount(self) -> None:
        """List all administrations."""
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """List the administrations that match."""
        self._find(event.value)

    def _find(self, words: str) -> None:
        rows = ranked(self._administrations, words)
        listed, options = rows[:MOST], self.query_one(Found)
        width = max((len(one.status_word) for one in listed), default=0)
        options.set_options(Option(_line(one, width), id=str(one.id)) for one in listed)
        options.highlighted = 0 if rows else None
        more = f", the latest {MOST} are listed" if len(rows) > MOST else ""
        self.query_one("#found-count", Static).update(
            f"{len(rows)} of {len(self._administrations)}{more}   enter opens   esc closes"
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the highlighted administration."""
        self.query_one(Found).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the administration that was chosen."""
        self.dismiss(int(event.option.id or 0))

    def action_to_list(self) -> None:
        """Move the focus to the list."""
        self.query_one(Found).focus()


def ranked(administrations: Sequence[Administration], words: str) -> list[Administration]:
    """Return the administrations with every word: found by number first, then name, then date.

    Among equals the latest stands first.
    """
    ranked_ones = []
    for one in reversed(administrations):
        ranks = [_rank(one, word) for word in words.lower().split()]
        matching = [rank for rank in ranks if rank is not None]
        if matching == ranks:
            ranked_ones.append((matching, one))
    return [one for _, one in sorted(ranked_ones, key=lambda pair: pair[0])]


def _rank(one: Administration, word: str) -> int | None:
    """Return 0 for the number, 1 for its beginning, 2 for name or status, 3 for the date."""
    number = word.removeprefix("#")
    if number == str(one.id):
        return 0
    if number and str(one.id).startswith(number):
        return 1
    if word in " ".join([name_of(one), one.status_word, *special_words(one)]).lower():
        return 2
    return 3 if word in one.given_at else None


def _line(one: Administration, width: int) -> Content:
    """Return number, status in ``width`` columns, progress, date and name."""
    return Content.assemble(
        (f"{one.id:>4}", "bold"),
        f"  {glyph_of(one)} {one.status_word:<{width}}",
        (f"{one.answered:>4}/{one.planned:<4}", QUIET),
        (f" {one.given_at}  ", QUIET),
        " · ".join([name_of(one), *special_words(one)]),
    )
