"""The verdicts of every judge on one response: lines with reasons, and the raw replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content

from tabwb.battery.model import Battery
from tabwb.records.ratings import PROBABILITY, Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.records.trials import Trial
from tabwb.records.words import plural
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.wording import (
    ACCENT,
    LEAST,
    PRESENT,
    QUIET,
    folded,
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
    """Return everything that judges say of a trial's counting answer."""
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
