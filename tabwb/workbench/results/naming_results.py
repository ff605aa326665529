"""What the results page shows of a naming administration: figures, or responses one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widgets import DataTable, Static

from tabwb.workbench.engine.messages import ListenerInput, PlaybackWanted
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.body import ResultsBody
from tabwb.workbench.results.controller import ResultsController
from tabwb.workbench.results.naming_detail import fact_lines, rule_lines, title_of
from tabwb.workbench.results.naming_list import NamedTable
from tabwb.workbench.results.naming_sound import Correction, SoundReady
from tabwb.workbench.results.naming_summary import NamingSummary
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.pane import Pane
from tabwb.workbench.shell.pictures import Picture, Pixels
from tabwb.workbench.shell.sound import Sound
from tabwb.workbench.shell.waveform import Waveform
from tabwb.workbench.shell.width_aware import WrappedText
from tabwb.workbench.shell.wording import QUIET

WIDE, ROOMY = 110, 150
"""From so many columns on the list is wider, and wider again."""
TALL = 34
"""From so many rows on the picture is shown in a narrow window too."""
DETAIL_HELP = """\
# Response

Who says what of the response, its sound, and what the rules say of it, phoneme by phoneme.

**l** plays the response, **1** to **5** score it, **h** takes what you heard, **k** a code. A new
score is shown at once, marked as given after the transcript was seen where there is one. **R** sets
another rater, from whom earlier scores are hidden until they have scored. **v** declares the item
void, **n** writes a note. On the waveform the onset and the limits can be moved; latency, attempts
and what the rules say follow. Every earlier value stays in the store.
"""


class NamingResultsBody(ResultsBody):
    """Summary, or the list of responses with the marked one beside it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, "named-body")
        self._asked: tuple[int, int] | None = None
        """The response whose sound was asked for: administration and trial."""

    def compose(self) -> ComposeResult:
        """One of the two."""
        yield NamingSummary(id="named-summary")
        with Horizontal(id="named-responses"):
            yield Pane(NamedTable(id="named-list"), title="Responses", id="named-list-pane")
            with Pane(id="named-detail"), ScrollPane(id="named-scroll", help_text=DETAIL_HELP):
                with Container(id="named-top"):
                    yield Picture(id="named-picture")
                    yield WrappedText(self._facts, id="named-facts")
                yield Waveform(id="named-wave")
                yield Static(id="named-trouble", markup=False)
                yield WrappedText(self._rules, id="named-rules")

    def on_mount(self) -> None:
        """Listen to what the worker has read."""
        self.desk.news.subscribe(self, self._hear)

    # ---------------------------------------------------------------- what is shown

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        results = self.results
        if results is None:
            return
        self.query_one(NamingSummary).show(results)
        if new:
            self.query_one(NamedTable).forget()
        self.refill()

    @property
    def rater(self) -> str:
        """The ID of the one who listens from now on; empty: the one who gave it."""
        number = 0 if self.results is None else self.results.administration.id
        return self.desk.actions(ResultsActions).listeners.get(number, "")

    def _seen(self, row: ResponseRow) -> ResponseRow:
        """Return a response without what others said, until who listens has scored too."""
        if row.named is None or not self.rater:
            return row
        named = row.named.seen_by(self.rater)
        return row if named is row.named else replace(row, named=named, verdict="", glyph="open")

    @property
    def marked(self) -> ResponseRow | None:
        """The marked response, as the one who listens may see it."""
        number = self.query_one(NamedTable).marked
        rows = () if self.results is None else self.results.responses
        return next((self._seen(row) for row in rows if row.item.place[0] == number), None)

    def refill(self) -> None:
        """Show the list of responses, and the marked one."""
        if self.results is None:
            return
        table = self.query_one(NamedTable)
        room = table.size.width or self.app.size.width
        table.fill([self._seen(row) for row in self.results.responses], room)
        self._show_marked()

    def _show_marked(self) -> None:
        row = self.marked
        if row is None:
            return
        pane = self.query_one("#named-detail", Pane)
        rater = self.rater or (self.results and self.results.administration.conditions.rater)
        pane.border_title = title_of(row)
        pane.border_subtitle = f"rater {rater}" if rater else ""
        for name in ("facts", "rules"):
            self.query_one(f"#named-{name}", WrappedText).refresh(layout=True)

        self._ask_sound(row)

    def _ask_sound(self, row: ResponseRow) -> None:
        """Have picture and sound of a response read; those of another are taken away at once."""
        results, named = self.results, row.named
        assert results is not None
        asked = results.administration.id, row.item.place[0]
        if asked != self._asked:
            self._show_sound(None, None)
        self._asked = asked
        if named is not None:
            read = self.desk.controller(ResultsController).read_sound
            battery, hidden = results.administration.battery_hash, named.hidden
            self.desk.do(partial(read, asked[0], battery, named.naming, hidden=hidden))

    def _hear(self, message: object) -> None:
        """Show picture and sound that were read, if their response is still the marked one."""
        if isinstance(message, SoundReady) and (message.number, message.trial) == self._asked:
            self._show_sound(message.pixels, message.sound, message.trouble)

    def _show_sound(self, pixels: Pixels | None, sound: Sound | None, trouble: str = "") -> None:
        self.query_one(Picture).show(pixels)
        wave, words = self.query_one(Waveform), self.query_one("#named-trouble", Static)
        wave.show(sound)
        wave.display = sound is not None
        words.display = bool(trouble)
        words.update(Content.styled(trouble, QUIET))

    def _facts(self, width: int) -> Iterator[Content]:
        return iter(()) if (row := self.marked) is None else fact_lines(row, width)

    def _rules(self, width: int) -> Iterator[Content]:
        return iter(()) if (row := self.marked) is None else rule_lines(row, width)

    def show_summary(self) -> None:
        """Show the summary from its first line; the first response is marked."""
        super().show_summary()
        self.query_one(NamingSummary).scroll_home(animate=False)
        self.query_one(NamedTable).move_cursor(row=0)

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Change between summary and responses."""
        summary, responses = self.query_one(NamingSummary), self.query_one("#named-responses")
        inside = self.has_focus_within
        self.responses_shown = shown
        responses.display, summary.display = shown, not shown
        if focus or inside:
            if shown and not responses.has_focus_within:
                self.query_one(NamedTable).focus()
            elif not shown:
                summary.focus_first()

    def mark(self, trial: int) -> None:
        """Mark the response to one trial."""
        self.query_one(NamedTable).mark(trial)

    def escape(self) -> bool:
        """Go back from a response to the list; return whether that was possible."""
        if self.responses_shown and self.query_one("#named-detail").has_focus_within:
            self.query_one(NamedTable).focus()
            return True
        return False

    def on_resize(self, event: Resize) -> None:
        """Give list and picture as much as there is room for."""
        width, height = event.size
        self.set_class(width >= WIDE, "-wide")
        self.set_class(width >= ROOMY, "-roomy")
        self.set_class(width >= WIDE or height >= TALL, "-pictured")
        self.call_after_refresh(self.refill)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the marked response from its first line."""
        event.stop()
        self._show_marked()
        self.query_one("#named-scroll").scroll_home(animate=False)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Go to the response."""
        event.stop()
        self.query_one("#named-scroll").focus()

    # ---------------------------------------------------------------- commands

    def say(self, what: str) -> None:
        """Score or code the marked response, or write what was heard; ``rater``: who listens."""
        row, results = self.marked, self.results
        if row is None or row.named is None or results is None:
            return
        named = row.named
        self.desk.tell(
            ListenerInput(
                results.administration.id,
                row.item.place[0],
                what,
                self.rater,
                target=named.item.target,
                code=named.item.code,
                flags=named.flags,
                rules_seen=named.listed,
            )
        )

    def listen(self) -> None:
        """Play the marked response, or stop."""
        row, results = self.marked, self.results
        if row is not None and row.named is not None and results is not None:
            self.desk.tell(PlaybackWanted(results.administration.id, row.item.place[0]))

    def on_waveform_onset_moved(self, message: Waveform.OnsetMoved) -> None:
        """Keep the onset where it was moved to."""
        self._correct(onset_s=message.at_s)

    def on_waveform_limits_moved(self, message: Waveform.LimitsMoved) -> None:
        """Keep the limits where they were moved to."""
        self._correct(limits=(message.start_s, message.end_s))

    def _correct(
        self, onset_s: float | None = None, limits: tuple[float, float] | None = None
    ) -> None:
        if self._asked is not None:
            made = Correction(*self._asked, self.rater, onset_s, limits)
            self.desk.do(partial(self.desk.controller(ResultsController).correct, made))

    def undo(self) -> None:
        """Take back the latest correction of the marked response."""
        if self._asked is not None:
            job = self.desk.controller(ResultsController).undo_correction
            self.desk.do(partial(job, *self._asked))
