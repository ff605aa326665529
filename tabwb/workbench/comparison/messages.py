"""Messages from the reading threads to the screen; ``turn`` counts what a reader was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.workbench.shell.dialogs import Dialog


@dataclass(frozen=True, slots=True)
class SurveyGrown:
    """One more model has been read; at the beginning ``row`` is None."""

    turn: int
    row: Grouped | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class DialogReady:
    """What was asked about some models has been computed; ``make`` returns the dialog with it."""

    turn: int
    make: Callable[[], Dialog[None]]
