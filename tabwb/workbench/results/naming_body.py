"""The results of a naming administration: figures, or responses one by one with their sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tabwb.analysis.tables.said import SCORES, code_of, heard_or_transcribed, score_of
from tabwb.media.wording import plain
from tabwb.phonology.inventory import to_ipa
from tabwb.records.states import AttemptState
from tabwb.workbench.engine.messages import Playing
from tabwb.workbench.results.actions import HIDDEN, ResultsActions
from tabwb.workbench.results.naming_summary import NamedResponse, NamingSummary
from tabwb.workbench.results.responses import NUMBER, ResponsesView, ResultsBody
from tabwb.workbench.results.stored import (
    Correction,
    ResponseRow,
    SoundReader,
    correct,
    undo_correction,
)
from tabwb.workbench.shell.columns import Column, laid, short_spec
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.pictures import Picture, Pixels
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.sound import Sound, Waveform
from tabwb.workbench.shell.widgets import WrappedText
from tabwb.workbench.shell.wording import AMBER, QUIET, folded, key_lines, seconds

STATES = "✓ right, ✗ wrong, ● given and not scored, · not given, › skipped, ∅ void, ! in error"


def _item(row: ResponseRow) -> str:
    return f"{MARKS[row.glyph]} {row.item.trial.plan.item}"


def _said(row: ResponseRow, *, arpabet: bool) -> str:
    if row.named is not None:
        return heard_or_transcribed(row.named.item, arpabet=arpabet)
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt else row.item.trial.reason


def _latency(row: ResponseRow) -> float | None:
    if row.named is not None:
        return row.named.item.latency_s
    return row.item.attempt.latency_s if row.item.attempt else None


def columns_of(
    rows: Sequence[ResponseRow], *, arpabet: bool = False
) -> Sequence[Column[ResponseRow]]:
    """Return the columns, from left to right."""
    return (
        NUMBER,
        Column(
            "item",
            _item,
            least=8,
            most=22,
            tip=STATES,
            key=lambda row: row.item.trial.plan.item.casefold(),
        ),
        Column(
            "said",
            partial(_said, arpabet=arpabet),
            rank=1,
            least=8,
            most=24,
            end=True,
            tip="in quotes: as a listener heard it; between / /: the transcript, a draft",
        ),
        Column(
            "score",
            lambda row: row.verdict if row.named is None else score_of(row.named.item),
            rank=3,
            least=8,
            most=30,
            end=True,
            tip="by ear; where several listeners scored, whose score counts comes first",
        ),
        Column(
            "code",
            lambda row: "" if row.named is None else code_of(row.named.item),
            rank=4,
            least=8,
            most=30,
            end=True,
            tip="a code with ? is proposed by rule",
        ),
        Column(
            "latency",
            lambda row: seconds(_latency(row)),
            right=True,
            rank=2,
            tip="seconds from the picture to the onset of speech",
            key=lambda row: _latency(row) or 0.0,
            falling=True,
        ),
    )


MOST = 100


def title_of(row: ResponseRow) -> str:
    """Return the title of the pane of a response: its place, its item and its mark."""
    number, of = row.item.place
    words = row.verdict if row.named is None else _score(row.named)
    mark = f"{MARKS[row.glyph]} {words}".strip()
    return f"{number} of {of}   {row.item.trial.plan.item}   {mark}"


def _score(named: NamedResponse) -> str:
    score = named.item.score
    return SCORES[score] if score else "" if named.item.status == "answered" else named.item.status


def fact_lines(
    row: ResponseRow, rater: str, width: int, *, arpabet: bool = False
) -> Iterator[Content]:
    """Yield the target, and what each person says of the response."""
    width = min(width, MOST)
    named = row.named
    if named is None:
        yield from _text_lines(row, width)
        return
    view = named.naming.view
    forms = ", ".join(_written(form, arpabet) for form in view.item.accepted)
    yield Content.assemble((f"{named.item.target}", "bold"))
    yield from folded(f"accepted {forms}", width, QUIET)
    if named.hidden:
        yield from folded(HIDDEN, width, AMBER)
    facts = (
        *named.by_people,
        *named.facts,
        *_of_trial(row),
        ("rater", f"{rater or 'without an ID'}   R another"),
    )
    column = max((len(name) for name, _ in facts), default=0) + 2
    yield from key_lines(facts, width, room=column, style=QUIET, quiet="")


def _of_trial(row: ResponseRow) -> Iterator[tuple[str, str]]:
    trial = row.item.trial
    if trial.reason:
        yield "reason", trial.reason
    for attempt in trial.attempts:
        if attempt.state is not AttemptState.OK:
            yield f"attempt {attempt.number}", f"{attempt.state.value}: {attempt.error}"
    for note in row.notes:
        yield "note", note


def _text_lines(row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield prompt and answer of an item that was not named."""
    item = row.item
    for name, words in (("sent", item.sent), ("expected", item.expected or "")):
        if words:
            yield Content.styled(name, f"bold {QUIET}")
            yield from folded(words, width)
    attempt = item.attempt
    latency = seconds(attempt.latency_s) if attempt else ""
    yield Content.styled(f"response  {latency}", f"bold {QUIET}")
    yield from folded((attempt.response if attempt else "") or "(no response)", width)
    for name, words in _of_trial(row):
        yield Content.assemble((f"{name}  ", QUIET), words)


def rule_lines(row: ResponseRow, width: int, *, arpabet: bool = False) -> Iterator[Content]:
    """Yield what the rules say with the alignment, further transcripts, and corrections."""
    named, width = row.named, min(width, MOST)
    if named is None:
        yield from _ratings(row, width)
        return
    rules = named.by_rules
    if rules is not None:
        by = short_spec(rules.transcriber)
        title = f"Rules on a draft by {by}" if by else "Rules"
        yield _head("Rules on what was heard" if rules.by_ear else title)
        yield from verdict_lines(rules, width, costs=True, ipa=not arpabet)
    for transcriber, phonemes in named.transcripts:
        said = _written(phonemes, arpabet) if phonemes else "no speech"
        words = f"{short_spec(transcriber)}: {said}"
        yield from folded(f"also transcribed by {words}", width, QUIET)
    if named.corrections:
        yield from (Content(""), _head("Corrections, latest last"))
        for made in named.corrections:
            yield from folded("  ".join(filter(None, made)), width)


def _ratings(row: ResponseRow, width: int) -> Iterator[Content]:
    for rating in row.item.trial.ratings:
        value = rating.status.value if rating.value is None else f"{rating.value:g}"
        words = f"{rating.rater}  {plain(rating.measure)} {value}  {rating.reason}"
        yield from folded(words.rstrip(), width)


def _written(phonemes: Sequence[str], arpabet: bool) -> str:
    return " ".join(phonemes) if arpabet else f"/{to_ipa(phonemes)}/"


def _head(words: str) -> Content:
    return Content.styled(words, f"bold {QUIET}")


BESIDE = 52
"""From so many columns on the picture is beside the facts."""
WIDE = 84
"""From so many columns on the picture may be larger."""
ROWS = 18
"""From so many rows on the picture is larger; below them it is small, and only beside the facts."""
TALL = 40
"""From so many rows on picture and waveform are larger."""
HELP = """\
# Response

The picture (small on a low screen), who says what of the response, its sound, and what the rules
say of it, phoneme by phoneme.

- **l** plays the response, **1** to **5** score it, **h** takes what you heard, **k** a code. A new
  score is shown at once, marked as given after the transcript was seen where there is one
- **R** sets another rater, from whom earlier scores are hidden until they have scored
- **tab** goes to the waveform, where the onset and the limits can be moved: latency, attempts and
  what the rules say follow. **u** takes the latest correction back
- **I** changes between IPA and ARPAbet
- **v** declares the item void, **n** writes a note, **esc** goes back to the list

Every earlier value stays in the store.
"""


class NamedDetail(ScrollPane):
    """One response."""

    def __init__(self) -> None:
        super().__init__(id="named-detail", help_text=HELP)
        self._row: ResponseRow | None = None
        self._rater, self._arpabet = "", False

    def compose(self) -> ComposeResult:
        """Yield picture and facts, the waveform, the rules."""
        with Container(id="named-top"):
            yield Picture(id="named-picture")
            yield WrappedText(self._facts, id="named-facts")
        yield Waveform(id="named-wave")
        yield Static(id="named-trouble", markup=False)
        yield WrappedText(self._rules, id="named-rules")

    def show(
        self,
        row: ResponseRow | None,
        rater: str = "",
        *,
        arpabet: bool = False,
        new: bool = True,
    ) -> None:
        """Show a response."""
        self._row, self._rater, self._arpabet = row, rater, arpabet
        wave = self.query_one(Waveform)
        wave.ipa = not arpabet
        wave.refresh()
        for text in self.query(WrappedText):
            text.refresh(layout=True)
        if new:
            self.show_sound(None, None)
            self.scroll_home(animate=False)

    def show_sound(self, pixels: Pixels | None, sound: Sound | None, trouble: str = "") -> None:
        """Show picture and sound of the response."""
        self.query_one(Picture).show(pixels)
        recorded = self._row is not None and self._row.named is not None
        self.set_class(pixels is None and (bool(trouble) or not recorded), "-unpictured")
        wave, words = self.query_one(Waveform), self.query_one("#named-trouble", Static)
        wave.show(sound)
        wave.display = recorded and (sound is not None or not trouble)
        words.display = bool(trouble)
        words.update(Content.styled(trouble, QUIET))

    def follow(self, position: Callable[[], float | None]) -> None:
        """Show the second that is played."""
        self.query_one(Waveform).follow(position)

    def on_resize(self, event: Resize) -> None:
        """Show the picture as large as there is room for it."""
        self.set_class(event.size.height >= ROWS, "-pictured")
        self.set_class(event.size.height >= TALL, "-tall")
        self.set_class(event.size.width >= BESIDE, "-beside")
        self.set_class(event.size.width >= WIDE, "-wide")

    def _facts(self, width: int) -> Iterator[Content]:
        return (
            iter(())
            if self._row is None
            else fact_lines(self._row, self._rater, width, arpabet=self._arpabet)
        )

    def _rules(self, width: int) -> Iterator[Content]:
        return (
            iter(()) if self._row is None else rule_lines(self._row, width, arpabet=self._arpabet)
        )


class NamingBody(ResultsBody):
    """Summary, or the list of responses with the marked one."""

    def __init__(self, desk: Desk) -> None:
        self._summary, self._detail = NamingSummary(self._open_session), NamedDetail()
        view = ResponsesView(self._columns, self._detail, self._show_detail)
        super().__init__(desk, "named-results", self._summary, view)
        self._asked: tuple[int, int] | None = None
        """The response whose sound was asked for: administration and trial."""
        self._sounds = SoundReader(desk.engine)
        desk.listen(Playing, self._playing)

    # ---------------------------------------------------------------- what is shown

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        if self.results is not None:
            self._summary.show(self.results, self._items, arpabet=self.arpabet)
            self.view.show(self._rows(), new=new)

    def _items(self, width: int) -> Iterator[Content]:
        """Yield the list of responses for the summary."""
        rows = self._rows()
        yield from laid(self._columns(rows), rows, width)

    @property
    def arpabet(self) -> bool:
        """Whether phonemes are shown in ARPAbet; else in IPA."""
        return self.desk.workbench.remembered.arpabet

    @property
    def rater(self) -> str:
        """The ID of the one who listens from now on; empty: the one who gave it."""
        number = 0 if self.results is None else self.results.administration.id
        return self.desk.actions(ResultsActions).listeners.get(number, "")

    def _rows(self) -> list[ResponseRow]:
        return [] if self.results is None else [self._seen(row) for row in self.results.responses]

    def _seen(self, row: ResponseRow) -> ResponseRow:
        """Return a response without what others said, until who listens has scored too."""
        if row.named is None or not self.rater:
            return row
        named = row.named.seen_by(self.rater)
        return row if named is row.named else replace(row, named=named, verdict="", glyph="open")

    def refill(self) -> None:
        """Show the responses again: who may see what has changed."""
        self.view.show(self._rows(), new=False)
        self.show_responses(self.responses_shown, focus=False)

    def show_responses(self, shown: bool, *, focus: bool = True) -> None:
        """Show the list of responses, or the summary, which hides nothing from who listens."""
        hides = any(row.named is not None and row.named.hidden for row in self._rows())
        if hides and focus and not shown:
            self.desk.current.show_message(HIDDEN)
        super().show_responses(shown or hides, focus=focus)

    def _columns(self, rows: Sequence[ResponseRow]) -> Sequence[Column[ResponseRow]]:
        return columns_of(rows, arpabet=self.arpabet)

    def _show_detail(self, row: ResponseRow | None) -> str:
        """Show the marked response, and have its picture and sound read."""
        results = self.results
        if results is None or row is None:
            self._asked = None
            self._detail.show(None)
            return "Response"
        asked = results.administration.id, row.item.place[0]
        rater = self.rater or results.administration.conditions.rater
        new = asked != self._asked
        self._detail.show(row, rater, arpabet=self.arpabet, new=new)
        self._asked = asked
        if row.named is not None:
            battery = results.administration.battery_hash
            self.desk.start(self._read_sound, *asked, battery, row.named, group="sound")
        return title_of(row)

    async def _read_sound(
        self, number: int, trial: int, battery: str, named: NamedResponse
    ) -> None:
        """Show picture and sound of the marked response."""
        read = self._sounds.read
        heard = await self.desk.ask(read, number, battery, named.naming, named.hidden)
        if (number, trial) == self._asked:
            self._detail.show_sound(*heard)

    def _playing(self, message: Playing) -> None:
        """Show where the marked response is played."""
        if (message.number, message.trial) == self._asked:
            self._detail.follow(message.position)

    def _open_session(self, number: int) -> None:
        """Show the results of another session of the speaker."""
        self.desk.request("results", "show", number)

    # ---------------------------------------------------------------- commands

    def say(self, what: str) -> None:
        """Score or code the marked response, or write what was heard; ``rater``: who listens."""
        row = self.view.row
        if row is None or row.named is None or self._asked is None:
            return
        named = row.named
        self.desk.request(
            "naming", "listener_input", *self._asked, what, self.rater, target=named.item.target,
            code=named.item.code, flags=named.flags, rules_seen=named.listed,
        )  # fmt: skip

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
            self.desk.do(partial(correct, self.desk.sessions, made))

    def undo(self) -> None:
        """Take back the latest correction of the marked response."""
        if self._asked is not None:
            self.desk.do(partial(undo_correction, self.desk.sessions, *self._asked))

    def turn_notation(self) -> None:
        """Show phonemes in ARPAbet, or in IPA again."""
        self.desk.workbench.remember(arpabet=not self.arpabet)
        self.update_results(new=False)
