"""The summary of a naming administration: a pane for each of its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Resize
from textual.message import Message

from tabwb.analysis.cautions import cautions
from tabwb.workbench.results.accuracy import accuracy_lines
from tabwb.workbench.results.naming_figures import code_lines, cue_lines, latency_lines, right_lines
from tabwb.workbench.results.naming_phonemes import phoneme_lines
from tabwb.workbench.results.naming_presenter import NamingPart
from tabwb.workbench.results.naming_sessions import session_lines
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.results.written_summary import NoteLine
from tabwb.workbench.shell.widgets import Lines, Pane, WrappedText

SESSION_ROW = re.compile(r"[▸ ]#(\d+) ")
BESIDE = 126
"""From so many columns on the panes are in two columns."""
MOST = 100
PANES = ("right", "latency", "cues", "codes", "others", "sessions", "phonemes")
TITLES = {
    "right": "Right names",
    "latency": "Latency",
    "cues": "Cues",
    "codes": "Codes",
    "others": "Other items",
    "sessions": "Sessions, item by item",
    "phonemes": "Phonemes: target and heard",
}
HELPS = {
    "right": """\
Right names by each source with exact 95 % intervals. *Counted as right* is what all other tables,
tests and figures take: the score of a listener, else the battery's rule. *Open* items have no
verdict of that source.
""",
    "latency": """\
Seconds from the picture to the onset of speech: **│** one response, a digit several. ● is the
median of right names, the line their middle half. For description, not for psychophysics.
""",
    "cues": """\
The share of items that were right without a cue, and after each kind of cue. A right name belongs
to the last cue before it.
""",
    "codes": "How often each code was given, and proposed where no listener decided.\n",
    "others": "The subtests whose items are not named.\n",
    "sessions": """\
All sessions of the speaker with this battery, oldest first; **▸** is the one that is shown. Below,
what changed between two sessions, and each item in each session. **left** and **right**, or a click
on a row, open another session.
""",
    "phonemes": """\
The phonemes of the nearest accepted form and what was heard for them, aligned by features. Other
words (cat for dog) are left out here; the figure *confusion* counts them.
""",
}


class FigureText(WrappedText, can_focus=True):
    """Lines of one figure; takes the focus, so that its pane is outlined."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda width: (), id=f"named-{name}")
        self.help_text = f"# {TITLES[name]}\n\n{HELPS[name]}"


class Sessions(FigureText):
    """The sessions; a click on a row, left or right open another one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    class Wanted(Message):
        """The results of a session are to be shown."""

        def __init__(self, number: int) -> None:
            self.number = number
            super().__init__()

    def __init__(self) -> None:
        super().__init__("sessions")
        self._numbers: tuple[int, ...] = ()
        self._shown = 0

    def show_sessions(self, numbers: Sequence[int], shown: int, lines: Lines) -> None:
        """Show the lines of sessions."""
        self._numbers, self._shown = tuple(numbers), shown
        self.show(lines)

    def action_step(self, step: int) -> None:
        """Open the session before or after."""
        at = self._numbers.index(self._shown) + step
        if 0 <= at < len(self._numbers):
            self.post_message(self.Wanted(self._numbers[at]))

    def on_click(self, event: Click) -> None:
        """Open the session in the row that was clicked."""
        lines = self.paint(self.content_size.width).plain.splitlines()
        row = lines[event.y] if event.y < len(lines) else ""
        if (found := SESSION_ROW.match(row)) and int(found[1]) in self._numbers:
            self.post_message(self.Wanted(int(found[1])))


OWN: Mapping[str, Callable[[], FigureText]] = {"sessions": Sessions}


class Panes(VerticalScroll, can_focus=False):
    """The panes, in two columns where there is room."""

    def on_resize(self, event: Resize) -> None:
        """Put the columns beside each other where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")


class NamingSummary(Vertical):
    """The panes, and the notes in a line below them."""

    def compose(self) -> ComposeResult:
        """Yield the panes and the notes."""
        with Panes(id="named-panes"), Container(id="named-columns"):
            for side in (PANES[:5], PANES[5:]):
                with Vertical(classes="named-column"):
                    for name in side:
                        text = OWN[name]() if name in OWN else FigureText(name)
                        yield Pane(text, title=TITLES[name], classes="figure", id=f"pane-{name}")
        yield NoteLine()

    def show(self, results: Results, *, arpabet: bool) -> None:
        """Show results of a naming administration."""
        naming = results.naming
        if naming is None:
            return
        parts = naming.parts

        def phonemes(part: NamingPart, width: int) -> Iterator[Content]:
            return phoneme_lines(part.confusions, width, arpabet=arpabet)

        for name, figure in (
            ("right", right_lines),
            ("latency", latency_lines),
            ("cues", cue_lines),
            ("codes", code_lines),
            ("phonemes", phonemes),
        ):
            self._text(name).show(partial(_each, parts, figure))
        number = results.administration.id

        def sessions(part: NamingPart, width: int) -> Iterator[Content]:
            return session_lines(naming, parts.index(part), number, width)

        numbers = [session.number for session in naming.sessions]
        lines = partial(_each, parts, sessions)
        self.query_one(Sessions).show_sessions(numbers, number, lines)
        self.query_one("#pane-cues").display = any(part.cues for part in parts)
        own = {part.subtest.id for part in parts}
        others = [one for one in results.summary.parts if one.id not in own]
        self.query_one("#pane-others").display = bool(others)
        self._text("others").show(partial(accuracy_lines, others))
        told = cautions(results.battery, results.summary, model=False)
        self.query_one(NoteLine).show(tuple(told))

    def to_first_lines(self) -> None:
        """Scroll to the first line."""
        self.query_one(Panes).scroll_home(animate=False)

    def _text(self, name: str) -> FigureText:
        return self.query_one(f"#named-{name}", FigureText)

    def focus_inside(self) -> None:
        """Give the focus to the first pane, unless one has it."""
        if not self.has_focus_within:
            self._text(PANES[0]).focus()


def _each(
    parts: tuple[NamingPart, ...],
    lines: Callable[[NamingPart, int], Iterator[Content]],
    width: int,
) -> Iterator[Content]:
    """Yield the lines of each naming subtest, with its title where there are several."""
    for at, part in enumerate(parts):
        if len(parts) > 1:
            if at:
                yield Content("")
            yield Content.styled(part.subtest.title, "bold")
        yield from lines(part, width)
