"""One response: the exact prompt, every attempt, every rating with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.signal import Signal
from textual.widgets import Static

from tabwb.records.naming import SCORE_KEYS
from tabwb.records.ratings import Rating
from tabwb.records.states import AttemptState, RatingStatus
from tabwb.records.trials import Administration
from tabwb.report.render.wording import plain
from tabwb.report.summaries.counted import is_usable
from tabwb.workbench.engine.messages import ListenerChanged, ListenerInput, PlaybackWanted
from tabwb.workbench.results.controller import ResultsReady
from tabwb.workbench.results.naming_presenter import NamedResponse
from tabwb.workbench.results.presenter import ResponseRow, Results
from tabwb.workbench.shell.dialogs import Dialog, ScrollPane
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.width_aware import WrappedText
from tabwb.workbench.shell.wording import AMBER, MARKS, QUIET, seconds, short_spec, stopped

HELP = """\
# Response

The exact prompt, every attempt, every rating with its reason. **v** declares the item void, **n**
writes a note on it, arrows scroll, **esc** closes.

Of a picture that was named: **l** plays the response, **1** to **5** score it as during the
session, **h** takes what you heard and **k** a code. The new score is shown at once, marked as
given after the machine's transcript was seen, where there is one. **r** sets another rater. Earlier
scores stay in the store; another rater sees them only after their own score.
"""


def _named_lines(named: NamedResponse, width: int) -> Iterator[Content]:
    """Yield a picture, who says what of the response, and its alignment with the target."""
    yield from (_head("shown"), Content(named.shown), Content(""))
    facts = (*named.by_people, *named.facts)
    column = max((len(name) for name, _ in facts), default=0) + 2
    for name, words in facts:
        yield Content.assemble((f"{name:<{column}}", QUIET), words)
    rules = named.by_rules
    if rules is not None:
        by = short_spec(rules.transcriber)
        title = f"by rules over a draft by {by}" if by else "by rules"
        if rules.by_ear:
            title = "by rules over what was heard"
        yield from (Content(""), _head(title))
        yield from verdict_lines(rules, width, costs=True)
    yield Content("")


class ResponseScreen(Dialog[str | None]):
    """Returns ``void``, ``note`` or None; stays while a named picture is scored.

    Args:
        listener: who scores it afterwards; None: who gave the administration.
        tell: sends requests: play the response, take a score, a code or what was heard.
        news: publishes the worker's messages, new results among them.
    """

    CSS_PATH = "response.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,q", "dismiss(None)", "Close", show=False),
        Binding("v", "dismiss('void')", "Void", show=False),
        Binding("n", "dismiss('note')", "Note", show=False),
        Binding("k", "say('', 'code')", "Code", show=False),
        Binding("h", "say('', 'heard')", "Heard", show=False),
        Binding("l", "listen", "Listen", show=False),
        Binding("r", "say('', 'rater')", "Rater", show=False),
        *(Binding(key, f"say('', '{score}')", show=False) for key, score in SCORE_KEYS.items()),
    ]

    def __init__(
        self,
        row: ResponseRow,
        administration: Administration,
        listener: str | None,
        *,
        tell: Callable[[object], None],
        news: Signal[object],
    ) -> None:
        super().__init__()
        self._row, self._tell, self._news = row, tell, news
        self._number, self._trial = administration.id, row.item.place[0]
        self._listener = listener or ""
        self._rater = administration.conditions.rater if listener is None else listener

    def on_mount(self) -> None:
        """Listen to new results and to who scores them."""
        self._news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        number = self._number
        match message:
            case ResultsReady(results=Results(administration=given)) if given.id == number:
                for row in message.results.responses:
                    if row.item.place[0] == self._trial:
                        self._row = row
                        self._show()
            case ListenerChanged(number=changed, rater=rater) if changed == number:
                self._listener = self._rater = rater
                self._show()
                self.query_one("#response-rater", Static).update(self._rater_words())

    def _show(self) -> None:
        if (named := self._named) is not None:
            self.query_one(WrappedText).show(partial(_named_lines, named))
        self.query_one("#response-words", Static).update(self._text())

    @property
    def _named(self) -> NamedResponse | None:
        """A named picture, as the one who listens may see it."""
        return None if self._row.named is None else self._row.named.seen_by(self._rater)

    def _rater_words(self) -> str:
        return f"Rater: {self._rater or 'none'}   r Another rater"

    def action_say(self, written: str, by_ear: str) -> None:
        """Something of an answer that was written, or of a picture that was named."""
        if (named := self._named) is not None:
            self._tell(
                ListenerInput(
                    self._number,
                    self._trial,
                    by_ear,
                    self._listener,
                    target=named.item.target,
                    code=named.item.code,
                    flags=named.flags,
                    rules_seen=named.listed,
                )
            )
        elif written:
            self.dismiss(written)

    def action_listen(self) -> None:
        """Play it, or stop."""
        if self._row.named is not None:
            self._tell(PlaybackWanted(self._number, self._trial))

    def compose(self) -> ComposeResult:
        """Everything about it."""
        item = self._row.item
        own = "1-5 Score   h Heard   k Code   l Listen   " if self._row.named else ""
        title = f"Item {item.place[0]} of {item.place[1]}   {item.subtest}"
        with Vertical(classes="dialog"):
            yield Static(title, classes="dialog-title", markup=False)
            with ScrollPane(id="response-text", help_text=HELP):
                if (named := self._named) is not None:
                    yield WrappedText(partial(_named_lines, named))
                yield Static(self._text(), id="response-words", markup=False)
            if self._row.named is not None:
                words = self._rater_words()
                yield Static(words, id="response-rater", classes="dialog-note", markup=False)
            yield Static(f"{own}v Void   n Note   esc Close", classes="dialog-note")

    def _text(self) -> Content:
        row, item = self._row, self._row.item
        parts: list[Content] = []
        if row.named is None:
            parts += [_head("sent, exactly"), Content(item.sent), Content("")]
        if item.expected is not None:
            parts += [_head("expected"), Content(item.expected), Content("")]
        if self._named is not row.named:
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
        text = "" if item.attempt is None else item.attempt.response
        if item.status is not None and not is_usable(item.status, item.kind, text):
            words = f"not usable ({plain(item.status.value)}): its features are undefined"
            parts.append(Content.styled(f"{words}; verdicts are kept", AMBER))
        parts += [Content.assemble(("note  ", QUIET), note) for note in row.notes]
        raters: dict[str, list[Rating]] = {}
        for rating in item.trial.ratings:
            raters.setdefault(rating.rater, []).append(rating)
        for rater, ratings in raters.items():
            parts += [Content(""), _head(rater)]
            parts += _lines(ratings)
        return Content("\n").join(parts)


def _head(text: str) -> Content:
    return Content.styled(text, f"bold {QUIET}")


def _lines(ratings: list[Rating]) -> Iterator[Content]:
    """Yield ratings with a value, then those without, which share a line where a reason is one."""
    without: dict[tuple[str, str], list[str]] = {}
    for rating in ratings:
        name = plain(rating.measure)
        if rating.status is not RatingStatus.VALUE:
            without.setdefault((rating.status.value, rating.reason), []).append(name)
            continue
        number = rating.value or 0.0
        value = f"{number:g}" if number == int(number) else f"{number:.3f}"
        yield Content.assemble(
            f"{name:<32}", (f"{value:>9}", "bold"), (f"   {rating.reason}", QUIET)
        )
    for (status, reason), names in without.items():
        words = f"{status}: {reason or 'no reason given'}: "
        yield Content.assemble((words, QUIET), ", ".join(names))
