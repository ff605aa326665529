"""The layout of the docks: beside the page where there is room, drawers over it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from tabwb.workbench.shell.dock import Dock
from tabwb.workbench.shell.remembered import MAX_WIDTH, MIN_WIDTH

if TYPE_CHECKING:
    from tabwb.workbench.shell.desk import Desk

ROOMY = 128
"""From so many columns up the middle has wider margins."""


class DockLayout:
    """Lays out explorer and scores on a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._drawer = ""
        """The drawer that is open: ``explorer``, ``scores`` or empty."""

    @property
    def narrow(self) -> bool:
        """Whether the docks are drawers."""
        return self._desk.size.width < self._desk.current.WIDE_FROM

    @property
    def scores_stand(self) -> bool:
        """Whether the scores stand beside the page."""
        return not self.narrow and self._desk.workbench.remembered.scores

    def apply(self) -> None:
        """Place the docks for the present size and page."""
        desk, page = self._desk, self._desk.current
        kept = desk.workbench.remembered
        explorer, scores = (
            desk.query_one("#explorer-dock", Dock),
            desk.query_one("#scores-dock", Dock),
        )
        if self.narrow:
            explorer.lay(shown=self._drawer == "explorer", drawer=True, width=0)
            scores.lay(shown=self._drawer == "scores", drawer=True, width=0)
        else:
            self._drawer = ""
            room = max(desk.size.width - page.LEAST_WIDTH, 2 * MIN_WIDTH)
            wanted = kept.explorer_width * kept.explorer + kept.scores_width * kept.scores
            share = min(1.0, room / wanted) if wanted else 1.0
            left = max(int(kept.explorer_width * share), min(kept.explorer_width, 23))
            explorer.lay(shown=kept.explorer, drawer=False, width=left)
            right = min(kept.scores_width, max(room - left * kept.explorer, MIN_WIDTH))
            scores.lay(shown=kept.scores and page.SCORES_DOCK, drawer=False, width=right)
        desk.set_class(self.narrow, "-narrow")
        desk.set_class(not self.narrow and desk.size.width < ROOMY, "-medium")
        desk.show_frame()

    def toggle(self, name: str, content: Widget) -> None:
        """Show or hide a dock or drawer.

        Args:
            name: ``explorer`` or ``scores``.
            content: the widget in it.
        """
        desk = self._desk
        if self.narrow:
            self._drawer = "" if self._drawer == name else name
            self.apply()
            (content.focus if self._drawer else desk.current.focus_inside)()
            return
        desk.workbench.remember(**{name: not getattr(desk.workbench.remembered, name)})
        if content.has_focus:
            desk.current.focus_inside()
        self.apply()
        desk.current.update_page()

    def close_drawer(self) -> bool:
        """Close an open drawer without laying out; return whether there was one."""
        was_open, self._drawer = bool(self._drawer), ""
        return was_open

    def leave_drawer(self) -> bool:
        """Close an open drawer and focus the page; return whether there was one."""
        if not self.close_drawer():
            return False
        self.apply()
        self._desk.current.focus_inside()
        return True

    def widen(self, name: str, step: int) -> None:
        """Change the width of a dock.

        Args:
            name: ``explorer`` or ``scores``.
            step: columns; negative makes it narrower.
        """
        kept = self._desk.workbench.remembered
        width = min(max(getattr(kept, f"{name}_width") + step, MIN_WIDTH), MAX_WIDTH)
        self._desk.workbench.remember(**{f"{name}_width": width})
        self.apply()

    def set_width(self, dock: Dock, width: int) -> None:
        """Give a dock the width to which its border was dragged."""
        name = "explorer_width" if dock.id == "explorer-dock" else "scores_width"
        self._desk.workbench.remember(**{name: width})
        self.apply()
