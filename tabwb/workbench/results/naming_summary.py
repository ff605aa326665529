"""The summary of a naming administration: a pane for each of its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

from rich.console import Group
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize

from tabwb.report.render.tables import summary_view
from tabwb.report.summaries.cautions import cautions
from tabwb.workbench.results.naming_figures import code_lines, cue_lines, latency_lines, right_lines
from tabwb.workbench.results.naming_phonemes import phoneme_lines
from tabwb.workbench.results.naming_presenter import NamingPart
from tabwb.workbench.results.naming_sessions import session_lines
from tabwb.workbench.results.presenter import Results
from tabwb.workbench.shell.pane import Pane
from tabwb.workbench.shell.width_aware import WrappedText, content_of
from tabwb.workbench.shell.wording import AMBER, QUIET, folded

BESIDE = 126
"""From so many columns on the panes are in two columns."""
MOST = 100
PANES = ("right", "latency", "cues", "codes", "others", "sessions", "phonemes", "notes")
TITLES = {
    "right": "Right names",
    "latency": "Latency",
    "cues": "Cues",
    "codes": "Codes",
    "others": "Other items",
    "sessions": "Sessions, item by item",
    "phonemes": "Phonemes: target and heard",
    "notes": "Notes",
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
what changed between two sessions, and each item in each session.
""",
    "phonemes": """\
The phonemes of the nearest accepted form and what was heard for them, aligned by features. Other
words (cat for dog) are left out here; the figure *confusion* counts them.
""",
    "notes": "What must be known of these figures. **enter** shows all notes, or the first line.\n",
}


class FigureText(WrappedText, can_focus=True):
    """Lines of one figure; takes the focus, so that its pane is outlined."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda width: (), id=f"named-{name}")
        self.help_text = f"# {TITLES[name]}\n\n{HELPS[name]}"


class Notes(FigureText):
    """The cautions, folded to one line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "fold", show=False)]

    def __init__(self) -> None:
        super().__init__("notes")
        self._notes: tuple[str, ...] = ()
        self._open = False

    def show_notes(self, notes: tuple[str, ...]) -> None:
        """Show notes, folded as they were."""
        self._notes = notes
        self.show(self._text)

    def action_fold(self) -> None:
        """Show all, or one line."""
        self._open = not self._open
        self.show(self._text)

    def on_click(self) -> None:
        """Show all, or one line."""
        self.action_fold()

    def _text(self, width: int) -> Iterator[Content]:
        width = min(width, MOST)
        if self._open:
            for note in self._notes:
                yield from folded(note, width, QUIET)
            return
        first = self._notes[0] if self._notes else ""
        words = f"enter shows {len(self._notes)} notes"
        line = Content.assemble((f"! {words}.  ", AMBER), (first, QUIET))
        yield line.truncate(width, ellipsis=True)


class NamingSummary(VerticalScroll, can_focus=False):
    """The panes, in two columns where there is room."""

    def compose(self) -> ComposeResult:
        """Yield the panes."""
        with Container(id="named-columns"):
            for side in (PANES[:5], PANES[5:]):
                with Vertical(classes="named-column"):
                    for name in side:
                        text = Notes() if name == "notes" else FigureText(name)
                        yield Pane(text, title=TITLES[name], classes="figure", id=f"pane-{name}")

    def on_resize(self, event: Resize) -> None:
        """Put the columns beside each other where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")

    def show(self, results: Results) -> None:
        """Show results of a naming administration."""
        naming = results.naming
        if naming is None:
            return
        parts = naming.parts
        for name, lines in (
            ("right", right_lines),
            ("latency", latency_lines),
            ("cues", cue_lines),
            ("codes", code_lines),
            ("phonemes", lambda part, width: phoneme_lines(part.confusions, width)),
        ):
            self._text(name).show(partial(_each, parts, lines))
        number = results.administration.id

        def sessions(part: NamingPart, width: int) -> Iterator[Content]:
            return session_lines(naming, parts.index(part), number, width)

        self._text("sessions").show(partial(_each, parts, sessions))
        self.query_one("#pane-cues").display = any(part.cues for part in parts)
        others = len(parts) < len(results.battery.subtests)
        self.query_one("#pane-others").display = others
        if others:
            own = {part.subtest.id for part in parts}
            subtests = tuple(one for one in results.summary.subtests if one.id not in own)
            texts = replace(results.summary, named=(), subtests=subtests)
            views = Group(*summary_view(texts, results.battery, items=False))
            self._text("others").show(lambda width: (content_of(views, min(width, MOST)),))
        told = cautions(results.battery, results.summary, model=False)
        self.query_one(Notes).show_notes(tuple(told))

    def _text(self, name: str) -> FigureText:
        return self.query_one(f"#named-{name}", FigureText)

    def focus_first(self) -> None:
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
