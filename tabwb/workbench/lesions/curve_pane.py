"""The pane of a curve or map, which has the keys, and the list of measures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList

HELP = """\
# Curves and maps

A **curve** is a measure by the amount of one lesion: ● the mean over seeds with its 95 % interval,
· one seed, ○ controls (as many parameters anywhere in the model), ╌ the intact model. A seed
decides which units a lesion takes; five seeds or more give intervals.

A **map** has one cell for each target in each layer, lesioned alone: the mean over seeds, or its
difference to the intact model. The shade and the glyph behind the number show its size.

- **up**, **down** change the measure, **/** lists all; **left**, **right** change the lesion
- **g** changes between curves and maps; **t** between differences and values of a map
- **R** reads again; while a sweep runs, this happens after each condition
- **y** copies the command that gives the same numbers; **e** exports responses and figures

The numbers are those of `tabwb results --table doses` and `--table map`. A value for which fewer
than half of the responses are usable is in no mean. No p value or interval is corrected for the
number of measures and lesions.
"""


class CurvePane(Vertical, can_focus=True):
    """The plot or the map; has the keys."""

    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "turn('measure', -1)", show=False),
        Binding("down", "turn('measure', 1)", show=False),
        Binding("left", "turn('series', -1)", show=False),
        Binding("right", "turn('series', 1)", show=False),
    ]

    @dataclass
    class Turned(Message):
        """Another measure or lesion is wanted: ``by`` is 1 or -1."""

        what: str
        by: int

    def action_turn(self, what: str, by: int) -> None:
        """Ask for the measure or lesion before or after."""
        self.post_message(self.Turned(what, by))


class MeasureList(OptionList, can_focus=False):
    """The measures; a click chooses one."""
