"""One response: the exact prompt, every attempt, every rating with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.signal import Signal
from textual.widgets import Static

from tabwb.records.naming import SCORE_KEYS
from tabwb.records.ratings import Rating
from tabwb.records.states import AttemptState, RatingStatus
from tabwb.report.summaries.counted import is_usable
from tabwb.workbench.results.controller import ResultsReady
from tabwb.workbench.results.presenter import ResponseRow, Results
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.requests import ListenerChanged
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import AMBER, MARKS, QUIET, seconds, short_spec, stopped

if TYPE_CHECKING:
    from tabwb.workbench.results.naming_results import NamedResponse


class ResponseText(VerticalScroll, can_focus=True):
    """Scrolls."""

    HELP = """\
# Response

The exact prompt, every attempt, every rating with its reason. **v** declares the item void, **n**
writes a note on it, **k** sets the judges' verdicts side by side, arrows scroll, **esc** closes.

Of a picture that was named: **l** plays the response, **1** to **5** score it as during the
session, **h** takes what you heard and **k** a code. The new score is shown at once, marked as
given after the machine's transcript was seen, where there is one. **r** sets another rater. Earlier
scores stay in the store; another rater sees them only after their own score.
"""


class NamedText(WidthAwareWidget):
    """A picture, who says what of the response, and how it lies beside the target."""

    def __init__(self, named: NamedResponse) -> None:
        super().__init__()
        self._named = named

    def show(self, named: NamedResponse) -> None:
        """Show what has been said of it since."""
        self._named = named
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        named = self._named
        lines = [_head("shown"), Content(named.shown), Content("")]
        facts = (*named.said, *named.facts)
        name = max((len(each) for each, _ in facts), default=0) + 2
        lines += [Content.assemble((f"{each:<{name}}", QUIET), said) for each, said in facts]
        if named.machine is not None:
            by = short_spec(named.machine.transcriber)
            title = f"by rules over a draft by {by}" if by else "by rules"
            if named.machine.by_ear:
                title = "by rules over what was heard"
            lines += [Content(""), _head(title), *verdict_lines(named.machine, width, costs=True)]
        return Content("\n").join([*lines, Content("")])


class ResponseScreen(Dialog[str | None]):
    """Returns ``void``, ``note``, ``judges`` or None; stays while a named picture is scored.

    Args:
        row: the response.
        at: its administration, and the number of its trial there.
        listen: plays it, or stops.
        by_ear: takes what a listener says of a picture that was named: ``heard``, ``code`` or a
            score; what comes of it is shown by :meth:`renew`. ``rater``: who listens is another.
        rater: who is known to listen, or empty.
        news: publishes the worker's messages.
    """

    CSS_PATH = "response.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,q", "dismiss(None)", "Close", show=False),
        Binding("v", "dismiss('void')", "Void", show=False),
        Binding("n", "dismiss('note')", "Note", show=False),
        Binding("k", "say('judges', 'code')", "Judges", show=False),
        Binding("h", "say('', 'heard')", "Heard", show=False),
        Binding("l", "listen", "Listen", show=False),
        Binding("r", "say('', 'rater')", "Rater", show=False),
        *(Binding(key, f"say('', '{score}')", show=False) for key, score in SCORE_KEYS.items()),
    ]

    def __init__(
        self,
        row: ResponseRow,
        at: tuple[int, int],
        *,
        listen: Callable[[], None],
        by_ear: Callable[[NamedResponse, str], None],
        rater: str,
        news: Signal[object],
    ) -> None:
        super().__init__()
        self.at, self._news = at, news
        self._row, self._listen, self._by_ear, self._rater = row, listen, by_ear, rater

    def on_mount(self) -> None:
        """Listen to new results and to who scores them."""
        self._news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        number, trial = self.at
        match message:
            case ResultsReady(results=Results(administration=given)) if given.id == number:
                row = next(
                    (one for one in message.results.responses if one.item.place[0] == trial), None
                )
                if row is not None:
                    self.renew(row)
            case ListenerChanged(number=changed, rater=rater) if changed == number:
                self.scored_by(rater)

    def renew(self, row: ResponseRow) -> None:
        """Show the same response in its new state."""
        self._row = row
        if (named := self._named) is not None:
            self.query_one(NamedText).show(named)
        self.query_one("#response-words", Static).update(self._text())

    def scored_by(self, rater: str) -> None:
        """Say that it is another who listens; what others said is hidden until this one scores."""
        self._rater = rater
        self.renew(self._row)
        self.query_one("#response-rater", Static).update(self._listener())

    @property
    def _named(self) -> NamedResponse | None:
        """A named picture, as the one who listens may see it."""
        return None if self._row.named is None else self._row.named.seen_by(self._rater)

    @property
    def _blind(self) -> bool:
        """Whether what others said is hidden from the one who listens."""
        return self._named is not self._row.named

    def _listener(self) -> str:
        return f"Rater: {self._rater or 'none'}   r Another rater"

    def action_say(self, written: str, named: str) -> None:
        """Something of an answer that was written, or of a picture that was named."""
        if (seen := self._named) is not None:
            self._by_ear(seen, named)
        elif written:
            self.dismiss(written)

    def action_listen(self) -> None:
        """Play it, or stop."""
        if self._row.named is not None:
            self._listen()

    def compose(self) -> ComposeResult:
        """Everything about it."""
        item = self._row.item
        own = "1-5 Score   h Heard   k Code   l Listen" if self._row.named else "k Judges' verdicts"
        with Vertical(classes="dialog"):
            yield Static(
                f"Item {item.place[0]} of {item.place[1]}   {item.subtest}",
                classes="dialog-title",
                markup=False,
            )
            with ResponseText(id="response-text"):
                if (named := self._named) is not None:
                    yield NamedText(named)
                yield Static(self._text(), id="response-words", markup=False)
            if self._row.named is not None:
                yield Static(
                    self._listener(), id="response-rater", classes="dialog-note", markup=False
                )
            yield Static(f"{own}   v Void   n Note   esc Close", classes="dialog-note")

    def _text(self) -> Content:
        row, item = self._row, self._row.item
        parts: list[Content] = []
        if row.named is None:
            parts += [_head("sent, exactly"), Content(item.sent), Content("")]
        if item.expected is not None:
            parts += [_head("expected"), Content(item.expected), Content("")]
        if self._blind:
            return _head("Scores and transcripts of others are shown after your score.")
        parts.append(_head(f"{MARKS[row.glyph]} {row.verdict}"))
        if item.trial.reason:
            parts.append(Content(item.trial.reason))
        for attempt in item.trial.attempts:
            label = f"attempt {attempt.number}"
            if attempt.state is not AttemptState.OK:
                label += f"  {attempt.state.value}: {attempt.error}"
            elif attempt is item.attempt:
                facts = [seconds(attempt.latency_s), stopped(item)]
                label += "  " + "  ".join(fact for fact in facts if fact)
            parts.append(Content.styled(label, QUIET))
            if row.named is None:
                parts.append(Content(attempt.response or "(no response)"))
        if item.status is not None and not is_usable(item.status, item.kind):
            words = (
                f"not usable ({item.status.value.replace('-', ' ')}): its features are undefined"
            )
            parts.append(Content.styled(f"{words}; verdicts are kept", AMBER))
        for note in row.notes:
            parts.append(Content.assemble(("note  ", QUIET), note))
        raters: dict[str, list[Rating]] = {}
        for rating in item.trial.ratings:
            raters.setdefault(rating.rater, []).append(rating)
        for rater, ratings in raters.items():
            parts += [Content(""), _head(rater)]
            parts += [_rating(one) for one in ratings if one.status is RatingStatus.VALUE]
            parts += _without_value(ratings)
        return Content("\n").join(parts)


def _head(text: str) -> Content:
    return Content.styled(text, f"bold {QUIET}")


def _without_value(ratings: list[Rating]) -> list[Content]:
    """Ratings without a value, those with one reason in one line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in ratings:
        if one.status is not RatingStatus.VALUE:
            key = (one.status.value, one.reason)
            groups.setdefault(key, []).append(one.measure.replace("-", " "))
    return [
        Content.assemble((f"{status}: {reason or 'no reason given'}: ", QUIET), ", ".join(names))
        for (status, reason), names in groups.items()
    ]


def _rating(one: Rating) -> Content:
    number = one.value or 0.0
    value = f"{number:g}" if number == int(number) else f"{number:.3f}"
    return Content.assemble(
        f"{one.measure.replace('-', ' '):<32}", (f"{value:>9}", "bold"), (f"   {one.reason}", QUIET)
    )
