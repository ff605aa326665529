"""The results of written responses: one response with its verdicts, summary and list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from textual.content import Content

from tabwb.analysis.administrations import is_usable
from tabwb.analysis.measures import measure_of
from tabwb.battery.model import Battery
from tabwb.media.wording import figure, plain
from tabwb.records.ratings import PROBABILITY, Judged, Judgement, Rating
from tabwb.records.states import AttemptState, RatingStatus, StopReason
from tabwb.records.trials import Trial
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import Item
from tabwb.workbench.results.responses import HELP, NUMBER, ResponsesView, ResultsBody
from tabwb.workbench.results.stored import ResponseRow, Results, read_replies
from tabwb.workbench.results.written_summary import WrittenSummary
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.widgets import WrappedText
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    LEAST,
    PRESENT,
    QUIET,
    folded,
    reasoning_words,
    seconds,
    stopped,
    verdict_words,
    wrapped,
)


@dataclass(frozen=True, slots=True)
class JudgeVerdicts:
    """One judge on one response.

    Attributes:
        rater: its spec.
        ratings, probabilities: by feature; some judges tell no probabilities.
        call: the latest call of a model whose verdict counts; None where no model was asked.
        calls: how often the model was asked; further calls tell how far it agrees with itself.
        outside: features that it found and that are not in its set, which has what it can call
            present and absent: no burden, profile or rate counts them.
    """

    rater: str
    ratings: Mapping[str, Rating]
    probabilities: Mapping[str, float]
    call: Judgement | None
    calls: int
    outside: tuple[str, ...] = ()

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
        features: (id, title) of those that some judge rated, as the battery lists them.
        judges: in the order in which they judged first.
    """

    place: int
    subtest: str
    prompt: str
    response: str
    features: tuple[tuple[str, str], ...]
    judges: tuple[JudgeVerdicts, ...]


def judged_response(
    battery: Battery,
    trial: Trial,
    judged: Sequence[Judged],
    sets: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> JudgedResponse:
    """Return everything that judges say of a trial's counting answer; ``sets`` are by judge."""
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
        _of_judge(
            rater,
            ratings,
            [call for call in calls if call.rater == rater],
            titles.keys() - set(sets.get(rater, titles)),
        )
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


def _of_judge(
    rater: str, ratings: Sequence[Rating], calls: Sequence[Judgement], uncounted: Collection[str]
) -> JudgeVerdicts:
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
        tuple(name for name, one in by_measure.items() if name in uncounted and one.value),
    )


def _marks(call: Judgement, calls: int) -> Iterator[str]:
    unread = any(rating.status is RatingStatus.UNPARSED for rating in call.ratings)
    if call.repaired:
        yield (
            "asked again; the second reply cannot be read either"
            if unread
            else "repaired: the second reply is read"
        )
    if call.structured:
        yield "structured: the reply follows the schema"
    if call.stop_reason is StopReason.LENGTH:
        yield "the reply was cut at its limit"
    if call.stop_reason is StopReason.REFUSED:
        yield "the service refused"
    if call.same_as is not None:
        yield "copied from an earlier identical call"
    if calls > 1:
        yield f"judged {calls} times; this verdict counts"


NOBODY = "No judge has judged this response yet; j starts one."


def _outside(response: JudgedResponse, judge: JudgeVerdicts, width: int) -> Iterator[Content]:
    """Yield which of the features that a judge found no figure counts."""
    named = [title.lower() for name, title in response.features if name in judge.outside]
    if named:
        told = f"present but not in its set, so in no burden and no profile: {', '.join(named)}"
        yield from folded(told, width, AMBER, 3)


def verdict_lines(response: JudgedResponse, width: int) -> Iterator[Content]:
    """Yield the verdicts of every judge: of one as lists, of several as a table."""
    if not response.judges:
        yield from folded(NOBODY, width, QUIET)
    elif len(response.judges) == 1:
        yield from _of_one(response, response.judges[0], width)
    else:
        yield from _of_several(response, width)


def _of_one(response: JudgedResponse, judge: JudgeVerdicts, width: int) -> Iterator[Content]:
    """Yield the features that are present, each with the reason; the others by state and reason."""
    yield Content.assemble(("Verdicts  ", f"bold {QUIET}"), judge.rater)
    yield from folded(", ".join(judge.marks), width, QUIET, 2)
    yield from _outside(response, judge, width)
    others: dict[str, list[str]] = {}
    room = _titles(response)
    for feature, title in response.features:
        rating = judge.ratings.get(feature)
        words = words_of(judge, feature)
        reason = rating.reason if rating is not None else ""
        if rating is not None and rating.status is RatingStatus.VALUE:
            if rating.value:
                yield Content.assemble(f"{title:<{room}}", (words, f"bold {ACCENT}"))
                yield from folded(reason, width, "", 4)
                continue
            reason = ""
        words, probability = verdict_words(rating), judge.probabilities.get(feature)
        likely = "" if probability is None else f" {probability:.2f}"
        others.setdefault(f"{words}: {reason}" if reason else words, []).append(
            f"{title.lower()}{likely}"
        )
    for words, titles in others.items():
        yield from _hanging(words, ", ".join(titles), width)


def _titles(response: JudgedResponse) -> int:
    """Return the columns of the features' titles."""
    return max([len(title) for _, title in response.features], default=0) + 2


def _hanging(words: str, listed: str, width: int) -> Iterator[Content]:
    """Yield words and what they are said of, from the second line on further to the right."""
    lines = wrapped(f"{words}: {listed}", max(width - 2, LEAST))
    for at, line in enumerate(lines):
        yield Content.styled(line if not at else f"  {line}", QUIET)


def _of_several(response: JudgedResponse, width: int) -> Iterator[Content]:
    """Yield a line for each feature and a column for each judge; below it why it is present."""
    yield Content.styled("Verdicts", f"bold {QUIET}")
    for letter, judge in lettered(response):
        yield Content.assemble((f"{letter}  ", "bold"), judge.rater)
        yield from folded(", ".join(judge.marks), width, QUIET, 3)
        yield from _outside(response, judge, width)
    titles = dict(response.features)
    rows: list[str | Heading] = []
    for feature in titles:
        rows.append(feature)
        for letter, judge in lettered(response):
            rating = judge.ratings.get(feature)
            if rating is not None and rating.value and rating.reason:
                words = folded(f"{letter}  {rating.reason}", width, QUIET, 4)
                rows += map(Heading, words)
    columns: list[Column[str]] = [Column("feature", lambda feature: titles[feature], least=16)]
    for letter, judge in lettered(response):
        said = {feature: words_of(judge, feature) for feature in titles}
        longest, short = (
            max(map(len, words), default=1) for words in (said.values(), map(_glyph, said.values()))
        )
        cell = partial(_verdict, said, longest)
        columns.append(Column(letter, cell, grow=(short, longest)))
    yield from laid(columns, rows, width)


def _verdict(said: Mapping[str, str], longest: int, feature: str, width: int) -> Content:
    """Return a verdict in words; where a column has no room for these its sign and number."""
    words = said[feature] if width >= longest else _glyph(said[feature])
    return Content.styled(words, f"bold {ACCENT}" if words[0] == PRESENT else "")


def _glyph(words: str) -> str:
    """Return a verdict without its word.

    >>> _glyph("▣ present 0.70"), _glyph("- not asked")
    ('▣ 0.70', '-')
    """
    number = words.rpartition(" ")[2]
    return f"{words[0]} {number}" if number[:1].isdigit() else words[0]


def raw_words(response: JudgedResponse, width: int) -> Iterator[Content]:
    """Yield every judge's reasons and raw replies."""
    for letter, judge in lettered(response):
        yield Content.assemble((f"{letter}  ", "bold"), judge.rater)
        for feature, title in response.features:
            if (rating := judge.ratings.get(feature)) is not None and rating.reason:
                words = f"{title}, {words_of(judge, feature)[2:]}: {rating.reason}"
                yield from folded(words, width, "", 3)
        call = judge.call
        if call is None:
            yield from folded("asks no model: it has no raw reply", width, QUIET, 3)
            continue
        yield from folded(", ".join([*judge.marks, *judge.took]), width, QUIET, 3)
        if call.first_raw:
            yield Content.styled("   the first reply, which could not be read", QUIET)
            yield from folded(call.first_raw, width, "", 3)
            yield Content.styled("   the second reply", QUIET)
        yield from folded(call.raw or "(no words)", width, "", 3)


def words_of(judge: JudgeVerdicts, feature: str) -> str:
    """Return a judge's verdict on a feature in words."""
    return verdict_words(judge.ratings.get(feature), judge.probabilities.get(feature))


def lettered(response: JudgedResponse) -> Iterator[tuple[str, JudgeVerdicts]]:
    """Yield the judges with the letters over their columns: A, B, and after Z the 27th."""
    for number, judge in enumerate(response.judges):
        yield chr(ord("A") + number) if number < 26 else str(number + 1), judge


MOST_OTHERS = 20
"""So many responses in other replicates are shown."""
MOST = 100
"""Text is not wider than so many columns."""
_VERDICTS: Mapping[bool | None, str] = {True: "✓ right", False: "✗ wrong", None: "- no verdict"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a response is shown.

    Attributes:
        exact: the prompt exactly as it was sent, not only that of the item.
        raw: the judges' reasons and raw replies instead of their verdicts.
        judged: the calls of judges that ask a model; None before they are read.
    """

    exact: bool = False
    raw: bool = False
    judged: tuple[Judged, ...] | None = None


def title_of(row: ResponseRow, replicates: int) -> str:
    """Return the title of a response: item, place, subtest, replicate."""
    item, plan = row.item, row.item.trial.plan
    place = f"{item.place[0]} of {item.place[1]}"
    words = [plan.item, place, item.subtest]
    if replicates > 1:
        words.append(f"replicate {plan.replicate + 1} of {replicates}")
    return " · ".join(words)


def detail_lines(results: Results, row: ResponseRow, shown: Shown, width: int) -> Iterator[Content]:
    """Yield everything about one written response."""
    width = min(width, MOST)
    item = row.item
    yield from _prompt(item, shown, width)
    yield Content("")
    yield from _response(row, width)
    yield from _reasoning(item, shown, width)
    yield from _facts(row, width)
    for note in row.notes:
        yield from folded(f"note: {note}", width, AMBER)
    yield from _earlier(item, width)
    features = {feature.id for feature in results.battery.features}
    measures = list(_measures(item, features, width))
    yield from [Content(""), *measures] if measures else []
    if item.attempt is not None:
        yield from _verdicts(results, item, shown, width)
    yield from _replicates(results, row, width)


def _verdicts(results: Results, item: Item, shown: Shown, width: int) -> Iterator[Content]:
    sets = {judge.rater: judge.burden.features for judge in results.summary.judges}
    judged = judged_response(results.battery, item.trial, shown.judged or (), sets)
    if not judged.judges and not results.battery.subtest(item.trial.plan.subtest).task.connected:
        return
    yield Content("")
    if shown.raw and shown.judged is None:
        yield Content.styled("… reading the judges' replies", QUIET)
    elif shown.raw:
        yield Content.styled("Reasons and raw replies   W: verdicts", f"bold {QUIET}")
        yield from raw_words(judged, width)
    else:
        yield from verdict_lines(judged, width)


def _replicates(results: Results, row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield the responses to the same item in the other replicates, a line for each."""
    plan = row.item.trial.plan
    others = [
        other
        for other in results.responses
        if (other.item.trial.plan.item, other.item.trial.plan.subtest) == (plan.item, plan.subtest)
        and other is not row
    ]
    if not others:
        return
    yield Content("")
    yield Content.styled("The same item in other replicates", f"bold {QUIET}")
    for other in others[:MOST_OTHERS]:
        attempt = other.item.attempt
        text = other.verdict if attempt is None else " ".join(attempt.response.split())
        line = f"{other.item.trial.plan.replicate + 1:>3}  {MARKS[other.glyph]} {text}"
        yield Content(line).truncate(width, ellipsis=True)
    if len(others) > MOST_OTHERS:
        yield Content.styled(f"… {len(others) - MOST_OTHERS} more", QUIET)


def _prompt(item: Item, shown: Shown, width: int) -> Iterator[Content]:
    if shown.exact:
        yield Content.styled("Sent exactly   i: prompt of the item", f"bold {QUIET}")
        yield from folded(item.sent, width)
        return
    yield from folded(item.prompt, width, QUIET)
    if item.options and any(option not in item.prompt for option in item.options):
        yield from folded("   ".join(item.options), width, QUIET)


def _response(row: ResponseRow, width: int) -> Iterator[Content]:
    item = row.item
    if item.attempt is None:
        words = f"{MARKS[row.glyph]} {row.verdict}"
        yield Content.assemble((words, "bold"), (f"  {item.trial.reason}".rstrip(), QUIET))
        yield from folded(item.error, width, AMBER)
        return
    if not item.attempt.response.strip():
        yield Content.assemble(("▌ ", ACCENT), ("(no response)", QUIET))
        return
    for line in folded(item.attempt.response, width - 2):
        yield Content.assemble(("▌ ", ACCENT), line)


def _reasoning(item: Item, shown: Shown, width: int) -> Iterator[Content]:
    """Yield what the model wrote in its thinking: one line, or with the exact prompt all of it."""
    attempt = item.attempt
    if attempt is None or not attempt.reasoning:
        return
    if not shown.exact:
        line = Content.assemble(
            ("i", f"bold {ACCENT}"), (f" shows {reasoning_words(attempt)}", QUIET)
        )
        yield line.truncate(width, ellipsis=True)
        return
    yield Content.styled(reasoning_words(attempt, text=False), f"bold {QUIET}")
    yield from folded(attempt.reasoning, width, QUIET, 2)


def _facts(row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield the verdicts of the policies, the right answer, time, why the answer ended."""
    item = row.item
    attempt = item.attempt
    if attempt is None:
        return
    yield Content("")
    words: list[tuple[str, str]] = []
    for verdict in item.verdicts:
        words += [(f"{verdict.measure} ", QUIET), (f"{_VERDICTS[verdict.right]}   ", "bold")]
    if words:
        yield Content.assemble(*words)
    if row.glyph == "void":
        yield Content.assemble(("∅ void  ", "bold"), (item.trial.reason, QUIET))
    facts = []
    if item.expected is not None:
        facts.append(f"expected {item.expected}")
    if item.foil:
        foil = plain(item.foil)
        facts.append(foil if item.foil in {"no-option", "ambiguous"} else f"foil: {foil}")
    facts += [seconds(attempt.latency_s), stopped(item)]
    if len(item.trial.attempts) > 1:
        facts.append(f"attempt {attempt.number} of {len(item.trial.attempts)}")
    yield from folded("   ".join(filter(None, facts)), width, QUIET)
    if item.status is not None and not is_usable(item.status, item.kind, attempt.response):
        told = f"not usable ({plain(item.status.value)}): its features are undefined"
        yield from folded(f"{told}; verdicts are kept", width, AMBER)


def _earlier(item: Item, width: int) -> Iterator[Content]:
    """Yield the attempts that do not count."""
    for attempt in item.trial.attempts:
        if attempt is item.attempt:
            continue
        failed = attempt.state is not AttemptState.OK
        state = f"{attempt.state.value}: {attempt.error}" if failed else "does not count"
        yield from folded(f"attempt {attempt.number}, {state}", width, QUIET)
        yield from folded(attempt.response, width, QUIET, 2)


def _measures(item: Item, features: set[str], width: int) -> Iterator[Content]:
    """Yield the measures of scorers, a line for each scorer; why some are undefined."""
    raters: dict[str, list[Rating]] = {}
    for rating in item.further:
        name = rating.measure.removesuffix(PROBABILITY)
        if name not in features:
            raters.setdefault(rating.rater, []).append(rating)
    for rater, ratings in raters.items():
        words, missing = [], []
        for rating in ratings:
            title = measure_of(rating.measure).title
            if rating.status is RatingStatus.VALUE and rating.value is not None:
                value = rating.value
                number = f"{value:g}" if value == int(value) else figure(value)
                words.append(f"{title} {number}")
            else:
                reason = rating.reason or "no reason given"
                missing.append(f"{title} {rating.status.value}: {reason}")
        if words or missing:
            yield from folded(f"{rater}: {' · '.join([*words, *missing])}", width, QUIET)


STATES = (
    "✓ right, ✗ wrong, ● given, · not given, › skipped, ∅ void, ! in error, - not administered; "
    "● 2/7: the first judge found 2 of the 7 features of its set on which it has a verdict"
)


class WrittenBody(ResultsBody):
    """Summary or responses."""

    def __init__(self, desk: Desk) -> None:
        self._shown = Shown()
        self._at: tuple[int, int] | None = None
        """Administration and trial of the response that is shown."""
        self._summary = WrittenSummary(self._opened)
        self._text = WrappedText(lambda width: (), id="response-text")
        detail = ScrollPane(self._text, id="response-detail", help_text=HELP)
        view = ResponsesView(columns_of, detail, self._show_detail)
        super().__init__(desk, "written-results", self._summary, view)

    def update_results(self, *, new: bool) -> None:
        """Show the results."""
        results = self.results
        if results is None:
            return
        self._summary.show(results)
        self._shown = Shown() if new else replace(self._shown, judged=None)
        self.view.show(results.responses, new=new)

    def _opened(self, trial: int) -> None:
        """Show the response whose mark was clicked."""
        self.open_trial(trial)
        self.desk.show_foot()

    # ---------------------------------------------------------------- responses

    def _show_detail(self, row: ResponseRow | None) -> str:
        results = self.results
        if results is None or row is None:
            self._text.show(lambda width: ())
            return "Response"
        if self._shown.judged is not None:
            self._shown = replace(self._shown, judged=None)
        if self._shown.raw:
            number, trial = results.administration.id, row.item.place[0]
            self.desk.start(self._read_replies, number, trial, group="replies")
        self._text.show(partial(detail_lines, results, row, self._shown))
        shown = results.administration.id, row.item.place[0]
        if shown != self._at:  # results that are read again leave it where it is
            self._at = shown
            self.query_one("#response-detail").scroll_home(animate=False)
        replicates = max(one.item.trial.plan.replicate for one in results.responses) + 1
        return title_of(row, replicates)

    def exact(self) -> None:
        """Show the exact prompt of the marked response, or that of the item again."""
        self._shown = replace(self._shown, exact=not self._shown.exact)
        self.view.show_again()

    def raw(self) -> None:
        """Show reasons and raw replies of the judges, or their verdicts again."""
        self._shown = replace(self._shown, raw=not self._shown.raw)
        self.view.show_again()

    async def _read_replies(self, number: int, trial: int) -> None:
        """Show the replies of judges, if their response is still the marked one."""
        judged = await self.desk.ask(read_replies, self.desk.engine, number, trial)
        row, results = self.view.row, self.results
        if row is None or results is None or not self._shown.raw:
            return
        if (number, trial) == (results.administration.id, row.item.place[0]):
            shown = replace(self._shown, judged=judged)
            self._text.show(partial(detail_lines, results, row, shown))


def _replicate(row: ResponseRow) -> str:
    return str(row.item.trial.plan.replicate + 1)


def _latency(row: ResponseRow) -> str:
    return seconds(row.item.attempt.latency_s) if row.item.attempt else ""


def columns_of(rows: Sequence[ResponseRow]) -> Sequence[Column[ResponseRow]]:
    """Return the columns of the list of responses."""
    replicate: Column[ResponseRow] = Column(
        "rep.",
        _replicate,
        right=True,
        tip="replicate",
        key=lambda row: row.item.trial.plan.replicate,
    )
    several = any(row.item.trial.plan.replicate for row in rows)
    return (
        NUMBER,
        Column("item", lambda row: row.item.trial.plan.item, least=8, most=16),
        *((replicate,) if several else ()),
        Column(
            "state",
            _state,
            least=10,
            most=14,
            tip=STATES,
            key=lambda row: (row.verdict, row.found or (-1, 0)),
        ),
        Column(
            "latency",
            _latency,
            right=True,
            rank=1,
            tip="seconds until the response was complete",
            key=lambda row: row.item.attempt.latency_s or 0.0 if row.item.attempt else -1.0,
            falling=True,
        ),
        Column("response", _text, least=24, end=True),
    )


def _state(row: ResponseRow) -> str:
    """Return the state of a response; of text that was judged, how many features it has."""
    told = row.verdict if row.found is None else "/".join(map(str, row.found))
    return f"{MARKS[row.glyph]} {told}"


def _text(row: ResponseRow) -> str:
    attempt = row.item.attempt
    return " ".join(attempt.response.split()) if attempt is not None else row.item.trial.reason
