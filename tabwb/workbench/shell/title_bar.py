"""The title bar: menus, what is open, offline and saved."""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.message import Message

from tabwb.workbench.shell.commands import GROUPS
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, spread

NAME = "tabwb"
GAP = 2


def menu_places() -> dict[str, int]:
    """Return the column at which each menu's title begins.

    >>> menu_places()["file"], menu_places()["administer"]
    (7, 13)
    """
    places = {}
    at = len(NAME) + GAP
    for group in GROUPS:
        places[group] = at
        at += len(group) + GAP
    return places


class TitleBar(WidthAwareWidget):
    """One line; on a narrow terminal it shows what is open instead of the menus."""

    class MenuWanted(Message):
        """A menu's title was clicked."""

        def __init__(self, group: str) -> None:
            self.group = group
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="title-bar")
        self._open = ""
        self._offline: bool | None = None
        self._saved: bool | None = None
        self._narrow = False
        self._recording = ""

    def show(
        self,
        *,
        open_: str,
        offline: bool | None,
        saved: bool | None,
        narrow: bool,
        recording: str = "",
    ) -> None:
        """Show what is open and the states; None or an empty text shows nothing."""
        before = (self._open, self._offline, self._saved, self._narrow, self._recording)
        if (open_, offline, saved, narrow, recording) != before:
            self._open, self._offline, self._saved, self._narrow = open_, offline, saved, narrow
            self._recording = recording
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return name and menus at the left, states at the right."""
        left: Content = Content.styled(NAME, f"bold {ACCENT}")
        if self._narrow:
            what = f" · {self._open}" if self._open else ""
            left = Content.assemble(left, (what, "$foreground"))
        else:
            for group in GROUPS:
                left = Content.assemble(left, " " * GAP, (group.title(), "$foreground"))
        states = []
        if self._recording:
            states.append((f"● {self._recording}", "bold $warning"))
        if self._offline is not None and not (self._recording and self._narrow):
            states.append((("offline" if self._offline else "network allowed"), QUIET))
        if self._saved is not None:
            states.append(("● saved", ACCENT) if self._saved else ("! not saved", "bold $warning"))
        right = Content("   ").join(Content.styled(*state) for state in states)
        return spread(left, right, width)

    def on_click(self, event: Click) -> None:
        """Open the menu that was clicked."""
        offset = event.x - self.styles.padding.left
        if self._narrow:
            self.post_message(self.MenuWanted(GROUPS[0]))
            return
        for group, at in menu_places().items():
            if at - 1 <= offset <= at + len(group):
                self.post_message(self.MenuWanted(group))
