"""What every dialog has: esc closes it, ? and F1 help with what is focused in it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """Stands over the desk; F1 is the application's, also in a field, where ? is a letter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("question_mark", "app.help_for_focus", "Help", show=False),
    ]
