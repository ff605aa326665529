"""The running transcript: one line for each item, which stays when the next item is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from tabwb.records.states import StopReason, TrialState
from tabwb.workbench.engine.transcript import Row, Transcript
from tabwb.workbench.shell.marks import glyph_and_style
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded, key_lines, seconds

NEXT = "▸"
"""The glyph of the current item while it waits for its response."""
ROOMY = 100
"""From so many columns up the number of features stands before the latency."""
LEAST_PROMPT = 12
"""Columns that the words of an error leave to the prompt."""
NONE = (
    "Given items are listed here. Items to come are not, because the participant may see this "
    "screen."
)
KEYS = (
    ("space", "gives the next item; the participant sees it alone"),
    ("enter", "records the answer that was typed"),
    ("esc", "gives the examiner the keys; a second esc shows this page"),
    ("a", "gives the next item after each answer"),
)
"""What is done with which key while a person types."""


class Given(NamedTuple):
    """What the transcript shows of an administration.

    Attributes:
        number: of the administration.
        current: number of the current trial, or None before the first.
        waits: the current trial waits for its response.
        hidden: verdicts are hidden.
        person: a person answers: items to come are not shown, no verdict has a colour.
        streamed: the response that is arriving.
    """

    number: int = 0
    transcript: Transcript | None = None
    current: int | None = None
    waits: bool = False
    hidden: bool = False
    person: bool = False
    streamed: str = ""


class TranscriptList(ScrollView, can_focus=True):
    """Lists the items with their responses; only the visible lines are laid out."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"transcript--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """An item was chosen; None: the current one, and those that follow."""

        number: int | None

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._given = Given()
        self._lines: list[str | int] = []
        """The title of a subtest, or the number of a trial."""
        self._places: dict[int, int] = {}
        self._structure: tuple[object, ...] = ()
        self.chosen: int | None = None

    @property
    def cursor(self) -> int | None:
        """The number of the item under the cursor."""
        return self._given.current if self.chosen is None else self.chosen

    def show(self, given: Given, chosen: int | None) -> None:
        """Show an administration."""
        before = self.cursor
        self._given, self.chosen = given, chosen
        transcript = given.transcript
        rows = () if transcript is None else transcript.rows
        shown = [row for row in rows if _is_listed(row, given)] if given.person else rows
        structure = (given.number, len(shown))
        if structure != self._structure:
            self._structure = structure
            self._lay(shown)
        if self.cursor != before or structure != self._structure or chosen is None:
            self._show_cursor()
        self.refresh()

    def _lay(self, rows: tuple[Row, ...] | list[Row]) -> None:
        transcript = self._given.transcript
        titles = (
            {subtest.id: subtest.title for subtest in transcript.battery.subtests}
            if transcript is not None
            else {}
        )
        starts = {
            at
            for at, row in enumerate(rows)
            if at == 0 or _part(row) != _part(rows[at - 1])
        }  # fmt: skip
        headed = len(starts) * 2 <= len(rows) or len(starts) == 1
        replicated = bool(rows) and rows[-1].trial.plan.replicate > 0
        self._lines, self._places = [], {}
        for at, row in enumerate(rows):
            plan = row.trial.plan
            if headed and at in starts:
                words = titles.get(plan.subtest, plan.subtest)
                words += f"   replicate {plan.replicate + 1}" if replicated else ""
                self._lines.append(words + ("   practice" if plan.practice else ""))
            self._places[plan.number] = len(self._lines)
            self._lines.append(plan.number)
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._lines))

    def _show_cursor(self) -> None:
        place = 0 if self.cursor is None else self._places.get(self.cursor, 0)
        above = place > 0 and isinstance(self._lines[place - 1], str)
        self.scroll_to_region(
            Region(0, place - above, 1, 1 + above), animate=False, force=True, immediate=True
        )

    def on_resize(self, event: Resize) -> None:
        """Lay out for the new width."""
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._lines))
        self._show_cursor()

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        width = self.scrollable_content_region.width
        place = y + int(self.scroll_offset.y)
        style = self.visual_style
        if place >= len(self._lines):
            begun = bool(self._lines) or not self._given.person
            content = Content("") if begun else _line_of_none(place, width)
        else:
            line = self._lines[place]
            if isinstance(line, str):
                content = Content.styled(line, f"bold {QUIET}").truncate(width, ellipsis=True)
            else:
                content = self._row(line, width)
                if line == self.cursor:
                    style += self.get_visual_style("transcript--cursor")
        strips = Visual.to_strips(self, content, width, 1, style, pad=True)
        return strips[0].crop(0, width) if strips else Strip.blank(width)

    def _row(self, number: int, width: int) -> Content:
        given = self._given
        assert given.transcript is not None
        row = given.transcript.rows[number - 1]
        current = number == given.current
        waits = current and given.waits
        digits = len(str(len(given.transcript.rows)))
        glyph, style = glyph_of_row(row, waits=waits, hidden=given.hidden, person=given.person)
        edge = ("▌", ACCENT) if number == self.cursor else (" ", "")
        quiet = QUIET if row.mark in {"open", "not-administered"} and not waits else ""
        head = Content.assemble(
            edge, (f"{number:>{digits}} ", "bold" if current else QUIET), (glyph, style), " "
        )
        failed = row.mark == "error"
        right = Content("") if failed else _right(row, width, hidden=given.hidden)
        room = max(width - head.cell_length - right.cell_length - 4, 12)
        prompts = max(room * (2 if width >= ROOMY else 3) // 5, 6)
        response = given.streamed if waits else _response(row)
        if failed:  # its words are nowhere else on the page while another item is current
            prompts = min(prompts, max(room - len(response), LEAST_PROMPT))
        return Content.assemble(
            head,
            _cut(self._prompt(row), prompts, quiet or QUIET),
            "  ",
            _cut(response, room - prompts, quiet),
            " ",
            right,
        )

    def _prompt(self, row: Row) -> str:
        plan, transcript = row.trial.plan, self._given.transcript
        assert transcript is not None
        return transcript.battery.subtest(plan.subtest).item(plan.item).prompt or plan.prompt

    # ---------------------------------------------------------------- moving

    def _move_to(self, place: int, step: int) -> None:
        place = min(max(place, 0), len(self._lines) - 1)
        while 0 <= place < len(self._lines) and isinstance(self._lines[place], str):
            place += step
        if 0 <= place < len(self._lines):
            number = self._lines[place]
            assert isinstance(number, int)
            self.post_message(self.Chosen(None if number == self._given.current else number))

    @property
    def _place(self) -> int:
        return -1 if self.cursor is None else self._places.get(self.cursor, -1)

    def action_move(self, step: int) -> None:
        """Go to the next or the previous item."""
        self._move_to(self._place + step, step)

    def action_page(self, step: int) -> None:
        """Go a page up or down."""
        rows = max(self.scrollable_content_region.height - 1, 1)
        self._move_to(self._place + step * rows, step if self._place + step * rows > 0 else 1)

    def action_first(self) -> None:
        """Go to the first item."""
        self._move_to(0, 1)

    def action_last(self) -> None:
        """Return to the current item."""
        self.post_message(self.Chosen(None))

    def on_click(self, event: Click) -> None:
        """Choose the item that was clicked."""
        place = int(event.y + self.scroll_offset.y)
        if 0 <= place < len(self._lines) and isinstance(self._lines[place], int):
            self._move_to(place, 1)


def _line_of_none(place: int, width: int) -> Content:
    """Return one line of what is shown before the first item of a person."""
    width = min(width, 100)
    lines = [*folded(NONE, width), Content(""), *key_lines(KEYS, width)]
    return lines[place] if place < len(lines) else Content("")


def _is_listed(row: Row, given: Given) -> bool:
    """Return whether a row of a person is listed: nobody reads on the screen what is to come."""
    return row.mark != "open" or row.trial.plan.number == given.current


def _part(row: Row) -> tuple[str, int, bool]:
    return row.trial.plan.subtest, row.trial.plan.replicate, row.trial.plan.practice


def glyph_of_row(row: Row, *, waits: bool, hidden: bool, person: bool) -> tuple[str, str]:
    """Return the glyph of a trial with its style."""
    if waits:
        return NEXT, f"bold {ACCENT}"
    return glyph_and_style(row.mark, hidden=hidden, person=person)


def _response(row: Row) -> str:
    trial = row.trial
    counting = trial.counting
    if trial.state is TrialState.ANSWERED and counting is not None:
        cut = " [cut]" if counting.stop_reason is StopReason.LENGTH else ""
        return (counting.response.strip() or "(no response)") + cut
    if trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"{trial.state.value}: {trial.reason}"
    if row.mark == "error":
        return f"error: {trial.attempts[-1].error}"
    return ""


def _right(row: Row, width: int, *, hidden: bool) -> Content:
    """Return the number of features, where there is room, and the latency, in fixed columns."""
    counting = row.trial.counting
    features = latency = ""
    if row.trial.state is TrialState.ANSWERED and counting is not None:
        latency = seconds(counting.latency_s)
        if row.judged and not hidden:
            n = sum(next(iter(row.judged.values())).values())
            features = f"{n} feature{'' if n == 1 else 's'}"
    columns = f"{features:<12}{latency:>8}" if width >= ROOMY else f"{latency:>8}"
    return Content.styled(columns, QUIET)


def _cut(text: str, width: int, style: str) -> Content:
    """Return the beginning of a text in one line of exactly so many columns."""
    line = Content.styled(" ".join(text[: 4 * width].split()), style)
    line = line.truncate(width, ellipsis=True)
    return line.pad_right(width - line.cell_length)
