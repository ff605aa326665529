"""The foot: the keys that can be used now, as many as fit, most needed first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content
from textual.events import Click
from textual.message import Message

from tabwb.workbench.shell.width_aware import Painted
from tabwb.workbench.shell.wording import ACCENT, QUIET

GAP = 3


class Hint(NamedTuple):
    """One key at the foot; ``always`` ones keep their place however narrow it is."""

    key: str
    word: str
    action: str
    always: bool = False

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.key) + 1 + len(self.word)


def fitting(hints: Sequence[Hint], width: int) -> list[Hint]:
    """The hints that fit, in their order; those to keep always first, then from the front.

    >>> menu = Hint("F10", "Menu", "", always=True)
    >>> [one.word for one in fitting([Hint("s", "Skip", ""), Hint("n", "Note", ""), menu], 18)]
    ['Skip', 'Menu']
    """
    kept = {at for at, hint in enumerate(hints) if hint.always}
    used = sum(hints[at].width + GAP for at in kept)
    for at, hint in enumerate(hints):
        if at in kept:
            continue
        if used + hint.width > width:
            break
        kept.add(at)
        used += hint.width + GAP
    return [hint for at, hint in enumerate(hints) if at in kept]


class Foot(Painted):
    """Keys and words; a click on one does it."""

    class Chosen(Message):
        """A hint was clicked."""

        def __init__(self, action: str) -> None:
            self.action = action
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._hints: tuple[Hint, ...] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show these, most needed first."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def paint(self, width: int) -> Content:
        """Those that fit."""
        parts = [
            Content.assemble((hint.key, f"bold {ACCENT}"), " ", (hint.word, QUIET))
            for hint in fitting(self._hints, width)
        ]
        return Content(" " * GAP).join(parts)

    def on_click(self, event: Click) -> None:
        """Do what was clicked."""
        at = 0
        offset = event.x - self.styles.padding.left
        for hint in fitting(self._hints, self.content_size.width):
            if at <= offset < at + hint.width:
                self.post_message(self.Chosen(hint.action))
                return
            at += hint.width + GAP
