"""The trials of the open administration as a running transcript, and how fast a model goes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tabwb.administer.session.session import Session
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration
from tabwb.records.states import RatingStatus, TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.store.derive import Blocks
from tabwb.workbench.engine.presenters import Places, item_of, mark_of, places_in_subtests
from tabwb.workbench.engine.view_models import Item


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
