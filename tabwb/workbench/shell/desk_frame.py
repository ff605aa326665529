"""What title bar and footer of the desk show now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.keys import key_to_character
from textual.widgets import Input, OptionList, TextArea

from tabwb.workbench.shell.administration_words import lesion_mark, name_of
from tabwb.workbench.shell.commands import key_label
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.shell.frame import Hint, TitleState
from tabwb.workbench.shell.row_list import RowList

if TYPE_CHECKING:
    from textual.widget import Widget

    from tabwb.workbench.shell.desk import Desk


def title_state(desk: Desk) -> TitleState:
    """Return what the title bar shows: what is open, and the states of program and page."""
    page, work = desk.current, desk.work
    administration = work.administration if work is not None else None
    title = page.open_title()
    if title is None:
        title = name_of(administration) if administration is not None else ""
    return TitleState(
        title,
        offline=desk.catalogue.offline if desk.catalogue else None,
        saved=desk.saved,
        narrow=desk.docks.narrow,
        recording=page.state_words(),
        marks=tuple(filter(None, (lesion_mark(administration), *desk.marks.values()))),
    )


def foot_hints(desk: Desk) -> Sequence[Hint]:
    """Return the footer's hints: those of the page, or of the commands that can be used now."""
    focused, page = desk.focused, desk.current
    hints = page.hints()
    if hints is not None:
        return hints
    situation = desk.situation()
    where = "explorer" if isinstance(focused, Explorer) else desk.page
    shown = []
    empty = isinstance(focused, OptionList) and not focused.option_count
    empty = empty or (isinstance(focused, RowList) and not focused.rows)
    if focused is not None and focused.has_class("enter-opens") and not empty:
        shown.append(Hint("enter", getattr(focused, "ENTER_WORD", "Open")))
    usable = [
        command
        for command in desk.table.commands
        if page.foot_rank(command) and (where in command.where or "everywhere" in command.where)
        if command.reason(situation) is None and not _typed(focused, command.key)
    ]
    if isinstance(focused, Input | TextArea):
        shown.insert(0, Hint("esc", "Leave field", partial(desk.app.simulate_key, "escape")))
        usable = [command for command in usable if command.key != "escape"]
    shown += [
        Hint(
            key_label(command.key),
            page.foot_word(command),
            partial(desk.perform, command.id),
            always=command.id in {"help.menu", "help.keys"},
            tip=command.help,
        )
        for command in sorted(usable, key=page.foot_rank)
    ]
    return shown


def _typed(focused: Widget | None, key: str) -> bool:
    """Return whether a key types in the focused text field, or moves its cursor."""
    if not isinstance(focused, Input | TextArea):
        return False
    own = focused._bindings.key_to_bindings
    return focused.check_consume_key(key, key_to_character(key)) or key in own
