"""The footer: the keys that can be used now, as many as fit, most needed first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual.content import Content
from textual.events import Click

from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET

GAP = 3


class Hint(NamedTuple):
    """One key in the footer.

    Attributes:
        key: as it is written for people.
        word: what it does.
        run: what a click does; None where it does nothing.
        always: it keeps its place however narrow the footer is.
    """

    key: str
    word: str
    run: Callable[[], object] | None = None
    always: bool = False

    @property
    def width(self) -> int:
        """Its columns."""
        return len(self.key) + 1 + len(self.word)


def fitting(hints: Sequence[Hint], width: int) -> list[Hint]:
    """Return the hints that fit, in their order; those to keep always have priority.

    >>> menu = Hint("F10", "Menu", always=True)
    >>> [one.word for one in fitting([Hint("s", "Skip"), Hint("n", "Note"), menu], 18)]
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


class Foot(WidthAwareWidget):
    """Keys and words; a click on a hint runs it."""

    def __init__(self) -> None:
        super().__init__(id="foot")
        self._hints: tuple[Hint, ...] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show hints, most needed first."""
        before, self._hints = self._hints, tuple(hints)
        if [hint[:2] for hint in before] != [hint[:2] for hint in hints]:
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the hints that fit."""
        parts = [
            Content.assemble((hint.key, f"bold {ACCENT}"), " ", (hint.word, QUIET))
            for hint in fitting(self._hints, width)
        ]
        return Content(" " * GAP).join(parts)

    def on_click(self, event: Click) -> None:
        """Run the hint that was clicked."""
        at = 0
        offset = event.x - self.styles.padding.left
        for hint in fitting(self._hints, self.content_size.width):
            if at <= offset < at + hint.width:
                if hint.run is not None:
                    hint.run()
                return
            at += hint.width + GAP
