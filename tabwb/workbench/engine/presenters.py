"""Make view models of the engine's records."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tabwb.administer.session.exchange import token_limit
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.measures import measure_of
from tabwb.battery.model import Battery
from tabwb.battery.model import Item as BatteryItem
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration, Rating, verdicts_of
from tabwb.records.states import AttemptState, RatingStatus, StopReason, TrialState
from tabwb.records.trials import Trial
from tabwb.scoring.choice import UNTOLD, read_reason
from tabwb.workbench.engine.view_models import Item, Scores, SubtestScore, Verdict

if TYPE_CHECKING:
    from tabwb.analysis.running import RunningSummary
    from tabwb.analysis.statistics.naming import NamedSubtest
    from tabwb.analysis.statistics.results import Results
    from tabwb.scoring.naming.summary import NamedItem

MOST_MARKS = 40
"""With more trials than this in a subtest there is a bar instead of one mark for each."""

RIGHT, WRONG = "right", "wrong"
SUMMARY_SHARE = 10
"""Live scores are computed again only after this many times the time that they took."""


Places = Mapping[int, tuple[int, int]]
"""By trial: its place within its subtest and replicate, and how many trials these have."""


def places_in_subtests(trials: Iterable[Trial]) -> Places:
    """Return the place of every trial within its subtest and replicate."""
    together: dict[tuple[str, int], list[int]] = defaultdict(list)
    for trial in trials:
        together[trial.plan.subtest, trial.plan.replicate].append(trial.plan.number)
    return {
        number: (place, len(numbers))
        for numbers in together.values()
        for place, number in enumerate(numbers, 1)
    }


def item_of(
    battery: Battery,
    conditions: Conditions,
    trial: Trial,
    trials: Sequence[Trial],
    places: Places | None = None,
    declared: Mapping[str, Declaration] = MappingProxyType({}),
) -> Item:
    """Return everything about one trial that is shown."""
    plan = trial.plan
    subtest = battery.subtest(plan.subtest)
    item = subtest.item(plan.item)
    places = places_in_subtests(trials) if places is None else places
    last = trial.attempts[-1] if trial.attempts else None
    counting = trial.counting
    administrator = [subtest.administrator.text] if subtest.administrator else []
    if item.picture:
        administrator.append(f"Show the picture {item.picture}.")
    decisive = verdicts_of(trial.ratings, subtest.scorers, declared)
    further = tuple(rating for rating in trial.ratings if rating not in decisive.values())
    limit = 0
    if counting is not None and counting.stop_reason is StopReason.LENGTH:
        sent = counting.metadata.get("max_tokens", "")
        limit = int(sent) if sent.isdecimal() else token_limit(subtest, conditions)
    return Item(
        place=(plan.number, len(trials)),
        in_subtest=places[plan.number],
        subtest=subtest.title + (" (practice)" if plan.practice else ""),
        kind=subtest.response,
        administrator=" ".join(administrator),
        instructions=subtest.instructions.text if subtest.instructions else "",
        prompt=item.prompt,
        options=plan.options,
        sent=plan.prompt,
        expected=item.expected,
        trial=trial,
        attempt=counting if trial.state is TrialState.ANSWERED else None,
        verdicts=verdicts(trial.ratings, subtest.scorers, declared),
        further=further,
        findings=tuple(findings(battery, further, subtest.scorers)),
        foil=_foil(item, plan.options, decisive.get("extracted")) if subtest.task.options else "",
        error=last.error if last is not None and last.state is AttemptState.ERROR else "",
        token_limit=limit,
    )


def _foil(item: BatteryItem, options: Sequence[str], verdict: Rating | None) -> str:
    """Return the kind of error that a stored verdict names, or empty."""
    if verdict is None or verdict.value is None or item.expected is None:
        return ""
    read = read_reason(
        verdict.value == 1.0, verdict.reason, item.expected, options or item.options, item.foils
    )
    return "" if read.error in (None, UNTOLD) else read.error


def verdicts(
    ratings: Iterable[Rating], scorers: Sequence[str], declared: Mapping[str, Declaration]
) -> tuple[Verdict, ...]:
    """Return the verdicts of the deciding scorer under each policy; empty without one."""
    return tuple(
        Verdict(policy, None if one.value is None else one.value == 1.0, one.reason)
        for policy, one in verdicts_of(ratings, scorers, declared).items()
    )


def findings(battery: Battery, ratings: Iterable[Rating], scorers: Sequence[str]) -> Iterable[str]:
    """Yield further measures, then the features that judges found, with the words found."""
    titles = {feature.id: feature.title for feature in battery.features}
    measures: list[str] = []
    features: list[str] = []
    for rating in ratings:
        if rating.rater in scorers:
            if rating.value:
                value = rating.value
                number = str(int(value)) if value == int(value) else f"{value:.2f}"
                measures.append(f"{measure_of(rating.measure).title} {number}")
        elif rating.status is RatingStatus.VALUE and rating.value:
            words = f": {rating.reason}" if rating.reason else ""
            features.append(f"{titles.get(rating.measure, rating.measure)}{words}")
        elif rating.status in {RatingStatus.ERROR, RatingStatus.UNPARSED}:
            features.append(f"{rating.rater} {rating.status.value}: {rating.reason}")
    if measures:
        yield "   ".join(measures)
    yield from dict.fromkeys(features)


def mark_of(trial: Trial, scorers: Sequence[str], declared: Mapping[str, Declaration]) -> str:
    """Return the state of a trial in one word."""
    match trial.state:
        case TrialState.ANSWERED:
            given = verdicts_of(trial.ratings, scorers, declared).values()
            decisive = next(iter(given), None)
            if decisive is None or decisive.value is None:
                return "given"
            return RIGHT if decisive.value == 1.0 else WRONG
        case TrialState.PLANNED:
            failed = trial.attempts and trial.attempts[-1].state is AttemptState.ERROR
            return "error" if failed else "open"
        case state:
            return state.value


def scores_of(
    battery: Battery,
    trials: Sequence[Trial],
    results: Results,
    current: str = "",
    *,
    person: bool = False,
    declared: Mapping[str, Declaration] = MappingProxyType({}),
) -> Scores:
    """Return the live scores."""
    by_subtest: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if not trial.plan.practice:
            by_subtest[trial.plan.subtest].append(trial)
    short = short_titles(tuple(part.title for part in results.parts))
    lines = []
    for part in results.parts:
        planned = part.number("planned")
        if not planned and by_subtest:
            continue  # not in the part of the battery that is given
        own = by_subtest[part.id]
        scorers, right = part.subtest.scorers, part.right
        lines.append(
            SubtestScore(
                title=part.title,
                short=short[part.title],
                planned=planned,
                given=part.number("answered"),
                scored=right.n,
                right=None if right.total is None else int(right.total),
                marks=tuple(mark_of(trial, scorers, declared) for trial in own)
                if len(own) <= MOST_MARKS
                else (),
                current=part.id == current,
            )
        )
    titles = {feature.id: feature.title for feature in battery.features}
    for grouping in battery.groupings:
        titles |= {category.id: category.title for category in grouping.categories}
    return Scores(tuple(lines), results.judges, person, titles)


def named_scores(scores: Scores, named: Sequence[NamedSubtest]) -> Scores:
    """Return scores in which pictures are right as a person scored them and the battery counts."""
    return replace(scores, subtests=tuple(_with_names(score, named) for score in scores.subtests))


def _with_names(score: SubtestScore, named: Sequence[NamedSubtest]) -> SubtestScore:
    subtest = next((subtest for subtest in named if subtest.title == score.title), None)
    if subtest is None:
        return score
    accuracy = subtest.summary.accuracy[0]
    marks = tuple(map(counted_mark, score.marks, subtest.items))
    right = accuracy.correct if accuracy.n else None
    return replace(score, marks=marks, scored=accuracy.n, right=right)


def counted_mark(mark: str, item: NamedItem) -> str:
    """Return the mark of an item as the battery counts it: marks add up to the count beside
    them.
    """
    if item.status != "answered" or item.outcome is None:
        return mark
    return RIGHT if item.outcome == "right" else WRONG


_SHORT_TITLE = 12
"""Columns of a title of which no word is chosen: that could be an "or"."""


@cache
def short_titles(titles: tuple[str, ...]) -> dict[str, str]:
    """Return a short title as it is, of others the shortest word of their own or the first words.

    >>> titles = ("Connected Text", "Word Comprehension", "Sentence Comprehension", "Repetition")
    >>> list(short_titles(titles).values())
    ['text', 'word', 'sentence', 'repetition']
    >>> short_titles(("Ja oder nein",))
    {'Ja oder nein': 'ja oder nein'}
    """
    result = {}
    for title in titles:
        words = title.lower().split()
        others = [other.lower().split() for other in titles if other != title]
        own = [
            word
            for word in words
            if len(word) > 3 and not any(word in title_words for title_words in others)
        ]
        short = " ".join(words)
        for n in range(len(words), 0, -1):
            if not any(title_words[:n] == words[:n] for title_words in others):
                short = " ".join(words[:n])
        whole = len(title) <= _SHORT_TITLE
        result[title] = title.lower() if whole else min(own, key=len) if own else short
    return result


class LiveScores:
    """The scores of one session, computed so seldom that they do not slow down a fast model."""

    def __init__(self) -> None:
        self._summary: RunningSummary | None = None
        self._scores = Scores()
        self._cost_s = 0.0
        self._computed_at = 0.0

    def of(self, session: Session, *, now: bool) -> Scores:
        """Return the scores of the open session; they may be a moment old unless ``now``."""
        started = time.monotonic()
        if not now and started - self._computed_at < SUMMARY_SHARE * self._cost_s:
            return self._scores
        if self._summary is None:
            from tabwb.analysis.running import RunningSummary  # loads numpy

            self._summary = RunningSummary()
        history, current = session.history, session.state.current
        battery, trials = session.battery, history.trials
        conditions = session.administration.conditions
        source = AdministrationData(
            session.administration,
            battery,
            trials,
            declarations=history.declarations,
            primary=session.plugins.configuration.study.primary_rater,
        )
        results = self._summary.of(source)
        subtest = current.plan.subtest if current else ""
        person = conditions.kind == "speaker"
        scores = scores_of(
            battery, trials, results, subtest, person=person, declared=source.declarations
        )
        self._scores = replace(scores, unusable=self._summary.unusable)
        self._computed_at = time.monotonic()
        self._cost_s = self._computed_at - started
        return self._scores
