"""One response with the verdicts of every judge side by side; reasons and raw words below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from tabwb.battery.model import Battery
from tabwb.records.ratings import Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.records.trials import Trial
from tabwb.report.summaries.disagreements import PROBABILITY
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET, verdict_words


@dataclass(frozen=True, slots=True)
class JudgeSaid:
    """One judge on one response.

    Attributes:
        rater: its spec.
        ratings: by feature.
        probabilities: by feature, of a judge that tells them.
        asked: whether a model was asked.
        marks: what is to be known of the way in which its verdict was had, in words.
        took: requests and tokens, in words.
        raw: the model's own words, or empty.
        first_raw: those that could not be read before it was asked again, or empty.
    """

    rater: str
    ratings: Mapping[str, Rating]
    probabilities: Mapping[str, float] = field(default_factory=dict)
    asked: bool = False
    marks: tuple[str, ...] = ()
    took: tuple[str, ...] = ()
    raw: str = ""
    first_raw: str = ""


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response with what every judge says of it.

    Attributes:
        place: its number in the administration.
        prompt: the item's.
        response: as given.
        features: (id, title) of those that some judge has in its set, as the battery lists them.
        judges: in the order in which they judged first.
    """

    place: int
    subtest: str
    prompt: str
    response: str
    features: tuple[tuple[str, str], ...]
    judges: tuple[JudgeSaid, ...]


def judged_response(battery: Battery, trial: Trial, judged: Sequence[Judged]) -> JudgedResponse:
    """Everything that judges say of a trial's counting answer.

    Args:
        battery: the administration's.
        trial: with its ratings.
        judged: the calls of judges that ask a model, of this trial or of more.
    """
    subtest = battery.subtest(trial.plan.subtest)
    titles = {feature.id: feature.title for feature in battery.features}
    by_rater: dict[str, list[Rating]] = {}
    for rating in trial.ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    attempt = trial.counting
    calls = [
        one.judgement
        for one in judged
        if attempt is not None and (one.trial, one.attempt) == (trial.plan.number, attempt.number)
    ]
    judges = tuple(
        _said(rater, ratings, [call for call in calls if call.rater == rater])
        for rater, ratings in by_rater.items()
        if any(rating.measure in titles for rating in ratings)
    )
    named = {feature for judge in judges for feature in judge.ratings}
    return JudgedResponse(
        place=trial.plan.number,
        subtest=subtest.title,
        prompt=subtest.item(trial.plan.item).prompt,
        response=attempt.response if attempt is not None else "",
        features=tuple((name, title) for name, title in titles.items() if name in named),
        judges=judges,
    )


def _said(rater: str, ratings: Sequence[Rating], calls: Sequence[Judgement]) -> JudgeSaid:
    # The latest call whose verdict counts; the others tell how far the judge agrees with itself.
    counting = next((call for call in reversed(calls) if call.repeat == 0), None)
    return JudgeSaid(
        rater=rater,
        ratings={one.measure: one for one in ratings if not one.measure.endswith(PROBABILITY)},
        probabilities={
            one.measure.removesuffix(PROBABILITY): one.value
            for one in ratings
            if one.measure.endswith(PROBABILITY) and one.value is not None
        },
        asked=counting is not None,
        marks=tuple(_marks(counting, len(calls))) if counting is not None else (),
        took=tuple(_took(counting)) if counting is not None else (),
        raw=counting.raw if counting is not None else "",
        first_raw=counting.first_raw if counting is not None else "",
    )


def _marks(call: Judgement, calls: int) -> Iterator[str]:
    unread = any(one.status is RatingStatus.UNPARSED for one in call.ratings)
    if call.repaired:
        yield "asked again, and not read either" if unread else "repaired: the second reply is read"
    if call.structured:
        yield "structured: the service kept to the schema"
    if call.stop_reason is StopReason.LENGTH:
        yield "the reply was cut at its limit"
    if call.stop_reason is StopReason.REFUSED:
        yield "the service refused"
    if call.same_as is not None:
        yield "copied from an earlier identical call"
    if calls > 1:
        yield f"judged {calls} times; this verdict counts"


def _took(call: Judgement) -> Iterator[str]:
    if call.same_as is not None:
        return
    yield "1 request" if call.requests == 1 else f"{call.requests} requests"
    if call.prompt_tokens is not None and call.reply_tokens is not None:
        yield f"{call.prompt_tokens:,} tokens sent, {call.reply_tokens:,} back"


LEAST = 20
"""Nothing is laid out narrower, also before there is any room."""
TITLE = 25
"""Columns of a feature's title."""
COLUMN = 15
"""Columns of a verdict; the judge's whole name stands below."""
NOBODY = (
    "No judge has judged this response. On the results page j lets one judge all answers; its "
    "verdicts stand here then."
)
HELP = """\
# Judges' verdicts

A line for each feature, a column for each judge: ● present and ○ absent, with the probability where
a judge tells one; *unparsed* where its words could not be read, *error* where the call failed,
*undefined* where nothing could be judged, *not asked* where the feature is not in its set. None of
these is counted as absent.

Below stand the judges with their reasons for the feature that is marked. **w** shows the raw words
of the judges that ask a model, and how their verdicts were had; **w** again goes back.

Up and down move, **tab** goes to the text below to scroll it, **esc** closes.
"""


class VerdictTable(DataTable[Content]):
    """A line for each feature, a column for each judge."""

    HELP = HELP


class ReasonPane(VerticalScroll, can_focus=True):
    """What is told of the marked feature, or the raw words; scrolls."""

    HELP = HELP


class Reasons(WidthAwareWidget):
    """Every judge's verdict and reason for one feature, or every judge's raw words."""

    def __init__(self, found: JudgedResponse) -> None:
        super().__init__(id="reasons")
        self._found = found
        self._feature = found.features[0][0] if found.features else ""
        self.raw = False

    def show(self, feature: str, *, raw: bool) -> None:
        """Show this feature, or raw words."""
        self._feature, self.raw = feature, raw
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(self._lines(max(width, LEAST)))

    def _lines(self, width: int) -> Iterator[Content]:
        if not self._found.judges:
            yield from folded(NOBODY, width, QUIET)
            return
        for letter, judge in lettered(self._found):
            yield from (
                self._raw(letter, judge, width) if self.raw else self._reason(letter, judge, width)
            )

    def _reason(self, letter: str, judge: JudgeSaid, width: int) -> Iterator[Content]:
        rating = judge.ratings.get(self._feature)
        words = verdict_words(rating, judge.probabilities.get(self._feature))
        yield Content.assemble((f"{letter}  {words:<{COLUMN + 1}}", "bold"), judge.rater)
        if rating is not None and rating.reason:
            yield from folded(rating.reason, width, "", 3)
        yield from folded(", ".join(judge.marks), width, QUIET, 3)

    def _raw(self, letter: str, judge: JudgeSaid, width: int) -> Iterator[Content]:
        yield Content.assemble((f"{letter}  ", "bold"), judge.rater)
        if not judge.asked:
            yield from folded("asks no model: it has no words of its own", width, QUIET, 3)
            return
        yield from folded(", ".join([*judge.marks, *judge.took]), width, QUIET, 3)
        if judge.first_raw:
            yield Content.styled("   the first reply, which could not be read", QUIET)
            yield from folded(judge.first_raw, width, "", 3)
            yield Content.styled("   the second reply", QUIET)
        yield from folded(judge.raw or "(no words)", width, "", 3)


class VerdictsScreen(Dialog[None]):
    """The response, the table, and below it what is told of the marked feature."""

    CSS_PATH = "verdicts.tcss"
    AUTO_FOCUS = "VerdictTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,k", "dismiss(None)", "Close", show=False),
        Binding("w", "raw", "Raw words", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, found: JudgedResponse) -> None:
        super().__init__()
        self._found = found
        self._raw = False

    def compose(self) -> ComposeResult:
        """Title, response, table, text."""
        found = self._found
        with Vertical(classes="dialog"):
            yield Static(
                f"Judges' verdicts   item {found.place}   {found.subtest}",
                classes="dialog-title",
                markup=False,
            )
            with VerticalScroll(id="verdicts-response", can_focus=False):
                yield Static(found.prompt, classes="quiet", markup=False)
                yield Static(found.response or "(no response)", markup=False)
            if found.judges:
                yield VerdictTable(id="verdict-table", cursor_type="row", cell_padding=0)
            with ReasonPane(id="reason-pane"):
                yield Reasons(found)
            yield Static(
                "w Raw words or reasons   tab Text below   arrows Move   esc Close",
                classes="dialog-note",
            )

    def on_mount(self) -> None:
        """Fill the table."""
        found = self._found
        if not found.judges:
            self.query_one(ReasonPane).focus()
            return
        table = self.query_one(VerdictTable)
        table.add_column("feature", width=TITLE)
        for letter, judge in lettered(found):
            head = Content(f"{letter}  {judge.rater}").truncate(COLUMN, ellipsis=True)
            table.add_column(Text(head.plain), width=COLUMN)
        for feature, title in found.features:
            cells = [
                Content(verdict_words(judge.ratings.get(feature), judge.probabilities.get(feature)))
                for judge in found.judges
            ]
            table.add_row(Content(title).truncate(TITLE - 1, ellipsis=True), *cells, key=feature)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Tell of that feature below."""
        self._raw = False
        self._tell(str(event.row_key.value))

    def action_raw(self) -> None:
        """Raw words instead of reasons, and back."""
        if self._found.judges:
            self._raw = not self._raw
            self._tell(self._found.features[self.query_one(VerdictTable).cursor_row][0])

    def _tell(self, feature: str) -> None:
        self.query_one(Reasons).show(feature, raw=self._raw)
        self.query_one(ReasonPane).scroll_home(animate=False)


def lettered(found: JudgedResponse) -> Iterator[tuple[str, JudgeSaid]]:
    """The judges with the letters that stand over their columns: A, B, and after Z the 27th."""
    for number, judge in enumerate(found.judges):
        yield chr(ord("A") + number) if number < 26 else str(number + 1), judge


def folded(text: str, width: int, style: str = "", indent: int = 0) -> Iterator[Content]:
    """A text in lines of its own, each so many columns from the left."""
    for line in text.splitlines():
        for part in wrap(line, max(width - indent, LEAST)) or [""]:
            yield Content.assemble(" " * indent, (part, style))
