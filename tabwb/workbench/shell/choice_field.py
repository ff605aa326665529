"""A button among others in a dialog."""

from __future__ import annotations

from textual.widgets import Button


class Choice(Button):
    """One thing that can be chosen."""

    HELP = "# Choice\n\n**enter** chooses; **tab** moves on; **esc** closes."

    def __init__(self, words: str, *, id: str) -> None:
        super().__init__(words, id=id, compact=True)
