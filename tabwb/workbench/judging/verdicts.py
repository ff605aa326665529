"""One response with the verdicts of every judge side by side; reasons and raw words below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from tabwb.battery.model import Battery
from tabwb.records.ratings import PROBABILITY, Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.records.trials import Trial
from tabwb.records.words import plural
from tabwb.workbench.shell.dialogs import Dialog, ScrollPane
from tabwb.workbench.shell.width_aware import WrappedText
from tabwb.workbench.shell.wording import QUIET, folded, verdict_words


@dataclass(frozen=True, slots=True)
class JudgeVerdicts:
    """One judge on one response.

    Attributes:
        rater: its spec.
        ratings, probabilities: by feature; some judges tell no probabilities.
        call: the latest call of a model whose verdict counts; None where no model was asked.
        calls: how often the model was asked; further calls tell how far it agrees with itself.
    """

    rater: str
    ratings: Mapping[str, Rating]
    probabilities: Mapping[str, float]
    call: Judgement | None
    calls: int

    @property
    def marks(self) -> list[str]:
        """How the verdict was obtained, in words."""
        return [] if self.call is None else list(_marks(self.call, self.calls))

    @property
    def took(self) -> list[str]:
        """Requests and tokens, in words."""
        call = self.call
        if call is None or call.same_as is not None:
            return []
        words = [plural(call.requests, "request")]
        if call.prompt_tokens is not None and call.reply_tokens is not None:
            words.append(f"{call.prompt_tokens:,} tokens sent, {call.reply_tokens:,} back")
        return words


@dataclass(frozen=True, slots=True)
class JudgedResponse:
    """One response with what every judge says of it.

    Attributes:
        place: its number in the administration.
        features: (id, title) of those that some judge has in its set, as the battery lists them.
        judges: in the order in which they judged first.
    """

    place: int
    subtest: str
    prompt: str
    response: str
    features: tuple[tuple[str, str], ...]
    judges: tuple[JudgeVerdicts, ...]


def judged_response(battery: Battery, trial: Trial, judged: Sequence[Judged]) -> JudgedResponse:
    """Return everything that judges say of a trial's counting answer.

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
        call.judgement
        for call in judged
        if attempt is not None and (call.trial, call.attempt) == (trial.plan.number, attempt.number)
    ]
    judges = tuple(
        _verdicts(rater, ratings, [call for call in calls if call.rater == rater])
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


def _verdicts(rater: str, ratings: Sequence[Rating], calls: Sequence[Judgement]) -> JudgeVerdicts:
    by_measure = {rating.measure: rating for rating in ratings}
    return JudgeVerdicts(
        rater,
        {name: rating for name, rating in by_measure.items() if not name.endswith(PROBABILITY)},
        {
            name.removesuffix(PROBABILITY): rating.value
            for name, rating in by_measure.items()
            if name.endswith(PROBABILITY) and rating.value is not None
        },
        next((call for call in reversed(calls) if call.repeat == 0), None),
        len(calls),
    )


def _marks(call: Judgement, calls: int) -> Iterator[str]:
    unread = any(rating.status is RatingStatus.UNPARSED for rating in call.ratings)
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


TITLE = 25
"""Columns of a feature's title."""
COLUMN = 15
"""Columns of a verdict; the judge's whole name is below."""
NOBODY = (
    "No judge has judged this response. On the results page j lets one judge all answers; its "
    "verdicts are shown here then."
)
HELP = """\
# Judges' verdicts

A line for each feature, a column for each judge: ● present and ○ absent, with the probability where
a judge tells one; *unparsed* where its words could not be read, *error* where the call failed,
*undefined* where nothing could be judged, *not asked* where the feature is not in its set. None of
these is counted as absent.

Below are the judges with their reasons for the feature that is marked. **w** shows the raw words
of the judges that ask a model, and how their verdicts were had; **w** again goes back.

Up and down move, **tab** goes to the text below to scroll it, **esc** closes.
"""


class VerdictTable(DataTable[Content]):
    """A line for each feature, a column for each judge."""

    HELP = HELP


def reasons(response: JudgedResponse, feature: str, width: int) -> Iterator[Content]:
    """Yield every judge's verdict and reason for one feature."""
    if not response.judges:
        yield from folded(NOBODY, width, QUIET)
    for letter, judge in lettered(response):
        rating = judge.ratings.get(feature)
        words = f"{letter}  {words_of(judge, feature):<{COLUMN + 1}}"
        yield Content.assemble((words, "bold"), judge.rater)
        if rating is not None and rating.reason:
            yield from folded(rating.reason, width, "", 3)
        yield from folded(", ".join(judge.marks), width, QUIET, 3)


def raw_words(response: JudgedResponse, width: int) -> Iterator[Content]:
    """Yield every judge's raw words."""
    for letter, judge in lettered(response):
        yield Content.assemble((f"{letter}  ", "bold"), judge.rater)
        call = judge.call
        if call is None:
            yield from folded("asks no model: it has no words of its own", width, QUIET, 3)
            continue
        yield from folded(", ".join([*judge.marks, *judge.took]), width, QUIET, 3)
        if call.first_raw:
            yield Content.styled("   the first reply, which could not be read", QUIET)
            yield from folded(call.first_raw, width, "", 3)
            yield Content.styled("   the second reply", QUIET)
        yield from folded(call.raw or "(no words)", width, "", 3)


class VerdictsScreen(Dialog[None]):
    """The response, the table, and below it the details of the marked feature."""

    CSS_PATH = "verdicts.tcss"
    AUTO_FOCUS = "VerdictTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,k", "dismiss(None)", "Close", show=False),
        Binding("w", "raw", "Raw words", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, response: JudgedResponse) -> None:
        super().__init__()
        self._response = response
        self._raw = False

    def compose(self) -> ComposeResult:
        """Title, response, table, text."""
        response = self._response
        title = f"Judges' verdicts   item {response.place}   {response.subtest}"
        with Vertical(classes="dialog"):
            yield Static(title, classes="dialog-title", markup=False)
            with VerticalScroll(id="verdicts-response", can_focus=False):
                yield Static(response.prompt, classes="quiet", markup=False)
                yield Static(response.response or "(no response)", markup=False)
            if response.judges:
                yield VerdictTable(id="verdict-table", cursor_type="row", cell_padding=0)
            with ScrollPane(id="reason-pane", help_text=HELP):
                first = response.features[0][0] if response.features else ""
                yield WrappedText(partial(reasons, response, first), id="reasons")
            yield Static(
                "w Raw words or reasons   tab Text below   arrows Move   esc Close",
                classes="dialog-note",
            )

    def on_mount(self) -> None:
        """Fill the table."""
        response = self._response
        if not response.judges:
            self.query_one(ScrollPane).focus()
            return
        table = self.query_one(VerdictTable)
        table.add_column("feature", width=TITLE)
        for letter, judge in lettered(response):
            head = Content(f"{letter}  {judge.rater}").truncate(COLUMN, ellipsis=True)
            table.add_column(Text(head.plain), width=COLUMN)
        for feature, title in response.features:
            cells = [Content(words_of(judge, feature)) for judge in response.judges]
            table.add_row(Content(title).truncate(TITLE - 1, ellipsis=True), *cells, key=feature)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Tell of that feature below."""
        self._raw = False
        self._show(str(event.row_key.value))

    def action_raw(self) -> None:
        """Raw words instead of reasons, and back."""
        if self._response.judges:
            self._raw = not self._raw
            self._show(self._response.features[self.query_one(VerdictTable).cursor_row][0])

    def _show(self, feature: str) -> None:
        response = self._response
        lines = partial(raw_words, response) if self._raw else partial(reasons, response, feature)
        self.query_one(WrappedText).show(lines)
        self.query_one(ScrollPane).scroll_home(animate=False)


def words_of(judge: JudgeVerdicts, feature: str) -> str:
    """Return a judge's verdict on a feature in words."""
    return verdict_words(judge.ratings.get(feature), judge.probabilities.get(feature))


def lettered(response: JudgedResponse) -> Iterator[tuple[str, JudgeVerdicts]]:
    """Yield the judges with the letters over their columns: A, B, and after Z the 27th."""
    for number, judge in enumerate(response.judges):
        yield chr(ord("A") + number) if number < 26 else str(number + 1), judge
