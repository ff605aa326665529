"""The values that pages show of an administration: its item, its transcript, its scores.

They are made in the worker's thread.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tabwb.administer.session.exchange import token_limit
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.measures import measure_of
from tabwb.battery.model import Battery
from tabwb.battery.model import Item as BatteryItem
from tabwb.records.columns import fixed
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import Declaration, Rating, verdicts_of
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    RatingStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Administration, Attempt, Trial
from tabwb.scoring.choice import UNTOLD, read_reason
from tabwb.scoring.estimate import Interval
from tabwb.store.derive import Blocks
from tabwb.store.store import Store
from tabwb.workbench.engine.view_models import (
    Item,
    ScoredAdministration,
    Scores,
    SubtestScore,
    Verdict,
)

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
                number = str(int(value)) if value == int(value) else fixed(value, 2)
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


@dataclass(frozen=True, slots=True)
class Row:
    """One trial.

    Attributes:
        mark: its state in one word, see :func:`mark_of`.
        judged: by judge, whether each feature is present in the response. A feature without a value
            is not in it, and neither is a judge that gave none.
    """

    trial: Trial
    mark: str
    judged: Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a model goes.

    Attributes:
        asked_s: seconds in which it was asked since the administration was opened.
        since: when the current request was sent, by ``time.monotonic``, or None.
        left_s: estimated seconds until everything is given, or None where nothing is known yet.
        tokens_per_s: tokens of the replies per second, or None where they were not counted.
    """

    asked_s: float = 0.0
    since: float | None = None
    left_s: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """All trials of an administration, in the order given."""

    battery: Battery
    conditions: Conditions
    rows: tuple[Row, ...]
    places: Places
    declared: Mapping[str, Declaration]

    def item(self, number: int) -> Item:
        """Return everything about a trial that is shown; from 1."""
        trials = [row.trial for row in self.rows]
        trial = trials[number - 1]
        return item_of(self.battery, self.conditions, trial, trials, self.places, self.declared)


class Sitting:
    """What a model has taken since its administration was opened.

    Attributes:
        latency_s: the sum of the latencies of its replies.
        tokens: of its replies, or None where one did not count them.
    """

    def __init__(self) -> None:
        self.asked_s = self.latency_s = 0.0
        self.since: float | None = None
        self.tokens: int | None = 0

    def begin(self) -> None:
        """Note that a request is sent."""
        self.since = time.monotonic()

    def end(self) -> None:
        """Note that the request is over."""
        if self.since is not None:
            self.asked_s += time.monotonic() - self.since
        self.since = None

    def count(self, attempt: Attempt) -> None:
        """Add a reply."""
        if attempt.latency_s is None:
            return
        self.latency_s += attempt.latency_s
        counted = attempt.metadata.get("reply_tokens", "")
        known = self.tokens is not None and counted.isdecimal()
        self.tokens = (self.tokens or 0) + int(counted) if known else None


@dataclass(slots=True)
class SubtestTimes:
    """Of one subtest: trials to be given, replies with a latency, and the sum of those."""

    waiting: int = 0
    timed: int = 0
    latency_s: float = 0.0


def seconds_left(subtests: Iterable[SubtestTimes], factor: float = 1.0) -> float | None:
    """Return the estimated seconds until everything is given, or None without a latency.

    A trial takes the mean latency of its subtest, or of all where its subtest has none yet.

    >>> seconds_left([SubtestTimes(2, 4, 8.0), SubtestTimes(5)]), seconds_left([SubtestTimes(3)])
    (14.0, None)
    """
    every = list(subtests)
    timed = sum(one.timed for one in every)
    if not timed:
        return None
    mean = sum(one.latency_s for one in every) / timed
    return factor * sum(
        one.waiting * (one.latency_s / one.timed if one.timed else mean) for one in every
    )


class TranscriptKeeper:
    """Keeps the transcript of one session; only trials that have changed are read again.

    Attributes:
        answered: how many trials have a response that counts.
    """

    def __init__(self) -> None:
        self.answered = 0
        self._standing: Blocks[Trial] = Blocks()
        self._rows: list[Row] = []
        self._times: dict[str, SubtestTimes] = defaultdict(SubtestTimes)
        self._made: Transcript | None = None

    @property
    def remaining(self) -> int:
        """How many trials are still to be given."""
        return sum(one.waiting for one in self._times.values())

    def of(self, session: Session) -> Transcript:
        """Return the transcript as it is now."""
        battery, standing, made = session.battery, session.history.standing, self._made
        declared = session.history.declarations
        if made is None or len(standing) != len(self._rows):
            self._times.clear()
            self.answered = 0
            self._rows = [row_of(battery, trial, declared) for trial in standing]
            for trial in standing:
                self._add(trial, 1)
            places = places_in_subtests(standing)
        else:
            changed = list(self._standing.differing(standing))
            if not changed:
                return made
            for at in changed:
                self._add(self._rows[at].trial, -1)
                self._add(standing[at], 1)
                self._rows[at] = row_of(battery, standing[at], declared)
            places = made.places
        self._standing = standing
        conditions = session.administration.conditions
        self._made = Transcript(battery, conditions, tuple(self._rows), places, declared)
        return self._made

    def pace(self, sitting: Sitting) -> Pace:
        """Return how fast the model goes; call :meth:`of` first."""
        asked_s, since = sitting.asked_s, sitting.since
        whole_s = asked_s + (0.0 if since is None else time.monotonic() - since)
        factor = whole_s / sitting.latency_s if sitting.latency_s else 1.0
        rate = sitting.tokens / whole_s if sitting.tokens and whole_s else None
        return Pace(asked_s, since, seconds_left(self._times.values(), factor), rate)

    def _add(self, trial: Trial, sign: int) -> None:
        self.answered += sign * trial.is_answered
        times, counting = self._times[trial.plan.subtest], trial.counting
        times.waiting += sign * (trial.state is TrialState.PLANNED)
        if counting is not None and counting.latency_s is not None:
            times.timed += sign
            times.latency_s += sign * counting.latency_s


def row_of(battery: Battery, trial: Trial, declared: Mapping[str, Declaration]) -> Row:
    """Return a trial as a row of the transcript."""
    scorers = battery.subtest(trial.plan.subtest).scorers
    judged: dict[str, dict[str, bool]] = {}
    if trial.state is TrialState.ANSWERED:
        features = {feature.id for feature in battery.features}
        for rating in trial.ratings:
            if (
                rating.measure in features
                and rating.rater not in scorers
                and rating.status is RatingStatus.VALUE
            ):
                judged.setdefault(rating.rater, {})[rating.measure] = bool(rating.value)
    return Row(trial, mark_of(trial, scorers, declared), judged)


MOST_TRIALS = 400
"""Of more trials than this columns are read: that takes 0.2 s for 14,000, trials 1.5 s."""


def scored_or_problem(
    store: Store, administration: Administration, primary: str
) -> ScoredAdministration:
    """Return the scores of an administration, or why they cannot be read: others are still
    shown.
    """
    try:
        return scored(store, administration, primary)
    except TabwbError as error:
        return ScoredAdministration(administration, problem=str(error))


def scored(store: Store, administration: Administration, primary: str) -> ScoredAdministration:
    """Return the scores of an administration."""
    # They import numpy, which takes 0.1 s.
    from tabwb.analysis.administrations import load_administrations, load_columns
    from tabwb.analysis.statistics.summary import pool

    many = administration.planned > MOST_TRIALS
    load = load_columns if many else load_administrations
    (data,) = load(store, [administration.id], primary=primary)
    results = pool([data])
    person = administration.conditions.kind == "speaker"
    scores = scores_of(
        data.battery, data.trials, results, person=person, declared=data.declarations
    )
    return ScoredAdministration(
        administration,
        named_scores(scores, results.named),
        dict(_intervals(results)),
        tuple(_unjudged(data, results)),
    )


def _intervals(results: Results) -> Iterator[tuple[str, Interval]]:
    """Yield title and interval of each subtest with a share right; of pictures a person's score."""
    named = {one.title: results.interval("outcome", one.id) for one in results.named}
    for part in results.parts:
        interval = named.get(part.title, part.right.interval)
        if interval is not None:
            yield part.title, interval


def _unjudged(data: AdministrationData, results: Results) -> Iterator[tuple[str, int]]:
    """Yield judges of the conditions, and judges that began, with the responses left to each."""
    if data.administration.status is not AdministrationStatus.DONE:
        return
    connected = sum(
        part.number("answered") for part in results.parts if part.subtest.task.connected
    )
    declared = data.declarations
    begun = [
        one.rater
        for one in results.judges
        if 0 < one.not_judged < connected
        and one.rater in declared
        and declared[one.rater].kind == "judge"
    ]
    for judge in dict.fromkeys([*data.administration.conditions.judges, *begun]):
        own = [one.not_judged for one in results.judges if one.rater == judge]
        left = min(own) if own else connected
        if left:
            yield judge, left
