"""Finds an administration by number, battery, examinee or status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.trials import Administration
from tabwb.workbench.wording import QUIET, STATUS_GLYPHS, name_of

MOST = 500


class Filter(Input):
    """What to look for."""

    HELP = """\
# Open

Type parts of what you look for: a number, battery, examinee, status, date. **down** goes to the
list, **enter** opens the one that is marked.
"""


class Found(OptionList):
    """What was found, the latest first."""

    HELP = Filter.HELP


class OpenScreen(ModalScreen[int | None]):
    """Returns the number of the administration that was chosen."""

    CSS_PATH = "open.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, administrations: Sequence[Administration]) -> None:
        super().__init__()
        self._rows = [(_text(one), one) for one in reversed(administrations)]

    def compose(self) -> ComposeResult:
        """Filter, list."""
        with Vertical(classes="dialog"):
            yield Static("Open an administration", classes="dialog-title")
            yield Filter(placeholder="number, battery, examinee, status, date", compact=True)
            yield Found(id="found", compact=True)
            yield Static("", id="found-count", classes="dialog-note")

    def on_mount(self) -> None:
        """All of them."""
        self._find("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Those that match."""
        self._find(event.value)

    def _find(self, words: str) -> None:
        parts = words.lower().split()
        rows = [(text, one) for text, one in self._rows if all(part in text for part in parts)]
        found = self.query_one(Found)
        found.set_options(Option(_line(one), id=str(one.id)) for _, one in rows[:MOST])
        found.highlighted = 0 if rows else None
        more = f", the latest {MOST} are listed" if len(rows) > MOST else ""
        self.query_one("#found-count", Static).update(
            f"{len(rows)} of {len(self._rows)}{more}   enter opens   esc closes"
        )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The one that is marked."""
        found = self.query_one(Found)
        if found.highlighted is not None:
            found.action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """That one."""
        self.dismiss(int(event.option.id or 0))

    def action_to_list(self) -> None:
        """From the filter to the list."""
        self.query_one(Found).focus()


def _text(one: Administration) -> str:
    return f"#{one.id} {name_of(one)} {one.status.value} {one.created_at[:16]}".lower()


def _line(one: Administration) -> Content:
    return Content.assemble(
        (f"{one.id:>5}", "bold"),
        f"  {STATUS_GLYPHS[one.status]} {one.status.value:<13}",
        (f"{one.answered:>5} of {one.planned:<5}", QUIET),
        f" {name_of(one)}",
        (f"   {one.created_at[:16].replace('T', ' ')}", QUIET),
    )
