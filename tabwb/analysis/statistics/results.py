"""The results of a group: one row for each value, found by what was measured.

Tables, documents, figures and pages of groups take every value from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tabwb.analysis.measures import measure_of
from tabwb.analysis.names import judge_names
from tabwb.battery.model import Battery, Subtest
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.ratings import FailedRater, MeasureKind, Scope
from tabwb.records.words import plural
from tabwb.scoring.burden import NONE_COUNTED, Usable
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate, EstimatedInterval, Interval

if TYPE_CHECKING:
    from tabwb.analysis.administrations import RaterSummary
    from tabwb.analysis.statistics.accuracy import Tally
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.analysis.statistics.naming import NamedSubtest

EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Terms:
    """What must be the same for responses to share one burden, and for burdens to be compared."""

    rater: str
    features: tuple[str, ...]
    scope: Scope
    prompt_hash: str | None

    def __str__(self) -> str:
        """Return the terms besides the rater, as words."""
        parts = [plural(len(self.features), "feature"), self.scope.replace("-", " ")]
        if self.prompt_hash:
            parts.append(f"prompt {self.prompt_hash[:8]}")
        return ", ".join(parts)


Rater = str | Terms
"""A rater by name, or by the terms under which it judged where it judged under several."""


@dataclass(frozen=True)
class Result:
    """One value of a group.

    Attributes:
        part: the subtest's id; empty for a value over all responses.
        rater: who gave the ratings; empty where there is none. terms: of a judge.
        measure, feature, policy: what was measured, of which feature, category, tag or kind of
            foil (else empty), and under which policy (else empty).
        n: responses with a value; n_items: the items that they belong to, None where not counted.
        total: the sum of what was counted in these: right answers, errors, responses with the
            feature; None where no answer could be counted.
        usable: of the responses that the measure is about.
        kind: what the values of a scorer's further measure are, as it declared.
        statistic: of a plugin, its declaration.
        tally: of an accuracy, a rate of errors or of yes: what it is computed from.
        ends: returns the intervals, one for each estimand; they are computed when first read.
    """

    measure: str
    value: Estimate
    part: str = ""
    rater: str = ""
    feature: str = ""
    policy: str = ""
    n: int = 0
    n_items: int | None = None
    total: float | None = None
    usable: Usable | None = None
    bounds: Interval | None = None
    kind: MeasureKind = "number"
    statistic: Statistic | None = None
    tally: Tally | None = None
    terms: Terms | None = None
    ends: Callable[[], Sequence[EstimatedInterval]] = field(default=tuple, compare=False)

    @cached_property
    def intervals(self) -> tuple[EstimatedInterval, ...]:
        """The 95 % intervals: for prompts like these, then for exactly these prompts."""
        return tuple(self.ends())

    @property
    def interval(self) -> Interval | None:
        """The interval for prompts like these, or None."""
        return self.intervals[0].interval if self.intervals else None

    @property
    def declared(self) -> Statistic:
        """What was measured, as tabwb or the plugin declares it."""
        return self.statistic or measure_of(self.measure)

    @property
    def interval_reason(self) -> str:
        """Why there is no such interval, else empty."""
        return self.intervals[0].reason if self.intervals else self.value.reason

    @property
    def these(self) -> Interval | None:
        """The interval for exactly these prompts, or None."""
        return self.intervals[1].interval if len(self.intervals) > 1 else None


@dataclass(frozen=True, slots=True)
class Part:
    """A subtest in the results of a group."""

    results: Results
    subtest: Subtest

    @property
    def id(self) -> str:
        """The subtest's id."""
        return self.subtest.id

    @property
    def title(self) -> str:
        """The subtest's title."""
        return self.subtest.title

    @property
    def right(self) -> Result:
        """The accuracy by the exact policy; ``n`` is 0 where nothing has a verdict."""
        found = self.find("accuracy")
        assert found is not None
        return found

    @property
    def usable(self) -> Usable:
        """Its usable responses."""
        return self.right.usable or NONE_COUNTED

    @property
    def baselines(self) -> dict[str, Estimate]:
        """The baselines that apply, by id."""
        found = {name: self.find(name) for name in ("always_first", "always_yes", "guessing")}
        return {name: row.value for name, row in found.items() if row is not None}

    @property
    def measures(self) -> dict[str, Result]:
        """The further measures of its scorers; with the rater where two give one of a name."""
        rows = [
            row
            for row in self.results
            if row.part == self.id and row.rater and row.statistic is None
        ]
        times = Counter(row.measure for row in rows)
        return {
            row.measure if times[row.measure] == 1 else f"{row.rater}: {row.measure}": row
            for row in rows
        }

    def find(self, measure: str, policy: str = EXACT, feature: str = "") -> Result | None:
        """Return a row or count of the subtest, or None."""
        return self.results.find(measure, self.id, "", feature, policy)

    def value(self, measure: str, policy: str = EXACT) -> Estimate:
        """Return a value of the subtest."""
        found = self.find(measure, policy)
        return Estimate(None, "not measured") if found is None else found.value

    def policies(self, measure: str, feature: str = "") -> dict[str, Result]:
        """Return a measure by policy."""
        found = {policy: self.find(measure, policy, feature) for policy in POLICIES}
        return {policy: row for policy, row in found.items() if row is not None}

    def of(self, measure: str) -> dict[str, Result]:
        """Return a measure by tag, kind of foil, position or status."""
        return self.results.of(measure, self.id)

    def number(self, name: str, feature: str = "") -> Any:
        """Return a count of the subtest."""
        return self.results.number(name, part=self.id, feature=feature)


Found = tuple[Result, bool | None]
"""A result, and whether it is a value, a count (False), or does not apply (None)."""


class Results(Sequence[Result]):
    """The results of a group, in order; counts are found too, but stand in no table of results.

    So are values that do not apply, with the reason (``unshown``), such as a rate of yes of words.

    Attributes:
        parts: the subtests that are summarised, in the battery's order.
        judges: in order.
        named: what is said of pictures that a speaker named.
        failed: raters with ratings in error.
        raters: the scorers and judges that rated.
    """

    def __init__(
        self,
        rows: Iterable[Result],
        counts: Iterable[Result] = (),
        unshown: Iterable[Result] = (),
        *,
        battery: Battery,
        parts: Sequence[Subtest] = (),
        judges: Sequence[Judge] = (),
        named: Sequence[NamedSubtest] = (),
        failed: Sequence[FailedRater] = (),
        raters: Sequence[RaterSummary] = (),
    ) -> None:
        self.rows, self.counts, self.unshown = tuple(rows), tuple(counts), tuple(unshown)
        self.battery, self.judges = battery, tuple(judges)
        self.parts = tuple(Part(self, subtest) for subtest in parts)
        self.named, self.failed, self.raters = tuple(named), tuple(failed), tuple(raters)

    @property
    def results(self) -> Results:
        """These, as a group has them."""
        return self

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.rows)

    @cached_property
    def _by_key(self) -> Mapping[tuple[object, ...], Result]:
        found: dict[tuple[object, ...], Result] = {}
        for row in (*self.rows, *self.counts, *self.unshown):
            for rater in (row.rater, row.terms or row.rater):
                key = row.measure, row.part, rater, row.feature, row.policy or EXACT
                found.setdefault(key, row)
        return found

    @cached_property
    def _by_feature(self) -> Mapping[tuple[object, ...], dict[str, Result]]:
        found: dict[tuple[object, ...], dict[str, Result]] = {}
        for (*of, feature, policy), row in self._by_key.items():
            if feature and policy == EXACT:
                found.setdefault(tuple(of), {})[str(feature)] = row
        return found

    def find(
        self,
        measure: str,
        part: str = "",
        rater: Rater = "",
        feature: str = "",
        policy: str = EXACT,
    ) -> Result | None:
        """Return the row or count of a measure, or None; of one without policies it is *exact*."""
        return self._by_key.get((measure, part, rater, feature, policy))

    def value(self, measure: str, *key: Any, **named: Any) -> float | None:
        """Return the value of a measure, or None where it is undefined or not there."""
        found = self.find(measure, *key, **named)
        return None if found is None else found.value.value

    def interval(self, measure: str, *key: Any, **named: Any) -> Interval | None:
        """Return the interval of a measure for prompts like these, or None."""
        found = self.find(measure, *key, **named)
        return None if found is None else found.interval

    def n(self, measure: str, *key: Any, **named: Any) -> int:
        """Return how many responses have a value of a measure."""
        found = self.find(measure, *key, **named)
        return 0 if found is None else found.n

    def of(self, measure: str, part: str = "", rater: Rater = "") -> dict[str, Result]:
        """Return feature (category, tag, kind of foil, status, cause) to its row or count.

        Of rows under several policies it is that of *exact*; a row without a feature is left out.
        """
        return self._by_feature.get((measure, part, rater), {})

    def number(self, name: str, **key: Any) -> Any:
        """Return a count; None where nothing could be counted, 0 where it is not there."""
        found = self.find(name, **key)
        return 0 if found is None else found.value.value

    def judge(self, terms: Terms | None) -> Judge | None:
        """Return the judge under these terms, or None."""
        return next((judge for judge in self.judges if judge.terms == terms), None)

    def part(self, subtest: str) -> Part | None:
        """Return a subtest, or None."""
        return next((part for part in self.parts if part.id == subtest), None)

    def without_rows(self) -> Results:
        """Return the results without what grows with the number of responses."""
        return self.keeping(
            (replace(judge, judged=None) for judge in self.judges), lambda row: True
        )

    @cached_property
    def others(self) -> dict[str, dict[str, Result]]:
        """What judges without features measured, by rater."""
        found: dict[str, dict[str, Result]] = {}
        for row in self.rows:
            if row.rater and row.terms is None and not row.part and row.statistic is None:
                found.setdefault(row.rater, {})[row.measure] = row
        return found

    def replaced(self, **changed: Any) -> Results:
        """Return the results with other values of some attributes."""
        made = copy(self)
        kept = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        made.__dict__ = {**kept, **changed}
        made.parts = tuple(Part(made, part.subtest) for part in self.parts)
        return made

    def keeping(self, judges: Iterable[Judge], is_kept: Callable[[Result], bool]) -> Results:
        """Return some results, and some judges."""
        rows, counts = (tuple(filter(is_kept, rows)) for rows in (self.rows, self.counts))
        return self.replaced(rows=rows, counts=counts, judges=tuple(judges))

    def only_judges(self, raters: Collection[str]) -> Results:
        """Return the results with the burdens of some raters; of one none that compares judges."""

        def is_kept(row: Result) -> bool:
            if row.statistic is not None:
                return len(raters) > 1 or row.statistic.judges < 2
            return row.terms is None or row.rater in raters

        return self.keeping((one for one in self.judges if one.rater in raters), is_kept)

    def with_features(self, features: Sequence[str]) -> Results:
        """Return the results with the rates of some features; burdens stay over all of a set."""
        if not features:
            return self
        return self.keeping(
            (replace(judge, shown=tuple(features)) for judge in self.judges),
            lambda row: row.measure != "rate" or row.feature in features,
        )


def count(
    name: str, n: float | None, part: str = "", *, why: str = "not counted", **key: Any
) -> Result:
    """Return a count."""
    return Result(name, Estimate(n, why if n is None else ""), part, **key)


def counts_of(name: str, counts: Mapping[str, float], **key: Any) -> Iterator[Result]:
    """Yield a count of each status, cause or feature."""
    return (count(name, n, feature=feature, **key) for feature, n in counts.items())


def usable_counts(usable: Usable, **key: Any) -> Iterator[Result]:
    """Yield how many responses there are, how many are usable, and why others are not."""
    yield count("responses", usable.n, usable=usable, **key)
    yield count("usable", usable.usable, usable=usable, **key)
    yield from counts_of("unusable", usable.causes, **key)


def cause_in_words(cause: str) -> str:
    """Return why responses have no burden, to stand behind their number.

    >>> cause_in_words("prompt-echo"), cause_in_words("empty-speech undefined: too short")
    ('prompt echo', "with 'empty speech' undefined (too short)")
    """
    feature, undefined, reason = cause.partition(" undefined")
    if not undefined:
        return cause.replace("-", " ")
    why = f" ({reason.removeprefix(': ')})" if reason.removeprefix(": ") else ""
    return f"with '{feature.replace('-', ' ')}' undefined{why}"


def judge_labels(judges: Sequence[Judge], *, short: bool = False) -> tuple[str, ...]:
    """Return a name for each judge: its rater, with its terms where it judged under several.

    A short name is as figures and tables of papers have it.
    """
    names = judge_names(judge.rater for judge in judges) if short else {}
    times = Counter(judge.rater for judge in judges)
    named = [(names.get(judge.rater, judge.rater), judge) for judge in judges]
    return tuple(
        name if times[judge.rater] == 1 else f"{name} ({judge.terms})" for name, judge in named
    )
