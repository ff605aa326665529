"""Raters that are computed when results are read: the majority, consensus and adjudicated verdicts.

They have their own ids and are never stored. They are computed from the ratings of people, and
from what was settled in rating sets (docs/rating.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tabwb.records.classes import dataclass, field, replace
from tabwb.records.ratings import (
    CANNOT,
    PRIMARY,
    RULES,
    Declaration,
    Open,
    Rating,
    Rule,
    counting_value,
    is_derived,
    rule_of,
    undefined,
    valued,
)
from tabwb.records.trials import Trial
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.battery.forms import Form
    from tabwb.records.rating_sets import Answer, RatingSet

Response = tuple[int, int]
"""Numbers of the trial and of the attempt."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the derived raters of one administration are computed.

    Attributes:
        rules: each gives one rater.
        settled: by response and measure the number that was settled; None: nobody can tell.
        answers: by response what was settled of its questions, as answered.
        sets: by whose ratings count (``majority``, ``primary:R1``) the names of rating sets.
    """

    rules: tuple[Rule, ...] = ()
    settled: Mapping[Response, Mapping[str, float | None]] = field(default_factory=dict)
    answers: Mapping[Response, Mapping[str, Answer]] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def declarations(self, declared: Mapping[str, Declaration]) -> Mapping[str, Declaration]:
        """Return the declarations of an administration with those of the derived raters."""
        people = people_of(declared)
        found = dict(declared)
        for counts, names in self.sets.items():
            code = counts.removeprefix(PRIMARY)
            if code in people:
                found[code] = replace(declared[code], caution=_that_counts(names))
        features = dict.fromkeys(one for code in people for one in declared[code].features)
        for rule in self.rules if people else ():
            names = self.sets.get(rule, ())
            of = f"computed from those of {', '.join(people)}"
            caution = f"{of}; {_that_counts(names)}" if names else of
            found[rule] = Declaration(rule, tuple(features), kind="person", caution=caution)
        return found

    def with_derived(self, trial: Trial, people: Collection[str]) -> Trial:
        """Return a trial with the ratings of the derived raters after those of others."""
        attempt = trial.counting
        if attempt is None or not self.rules or not people:
            return trial
        settled = self.settled.get((trial.plan.number, attempt.number), {})
        made = tuple(
            rating
            for rule in self.rules
            for rating in derived(rule, trial.ratings, people, settled)
        )
        return replace(trial, ratings=(*trial.ratings, *made)) if made else trial


def _that_counts(sets: Sequence[str]) -> str:
    return f"they count in rating set {', '.join(sets)}"


def people_of(declared: Mapping[str, Declaration]) -> tuple[str, ...]:
    """Return the people whose declared features the rules take, in the order declared."""
    return tuple(
        rater
        for rater, one in declared.items()
        if one.kind == "person" and one.features and not is_derived(rater)
    )


def derived(
    rule: Rule,
    ratings: Sequence[Rating],
    people: Collection[str],
    settled: Mapping[str, float | None],
) -> tuple[Rating, ...]:
    """Return the ratings of one response by a rule, in the order in which people gave theirs.

    >>> given = [valued("R1", "jargon", 1), valued("R2", "jargon", 1), valued("R3", "jargon", 0)]
    >>> [(one.rater, one.value) for one in derived("majority", given, ("R1", "R2", "R3"), {})]
    [('majority', 1.0)]
    """
    given: dict[str, list[float]] = {}
    for rating in ratings:
        if rating.rater in people and ":" not in rating.measure:
            values = given.setdefault(rating.measure, [])
            if rating.value is not None:
                values.append(rating.value)
    made = []
    for measure, values in given.items():
        decided: float | Open | None = settled.get(measure, None)
        if measure in settled and decided is None:
            decided = CANNOT
        found = counting_value(rule, values, decided)
        if found is None:
            found = CANNOT
        if isinstance(found, Open):
            made.append(undefined(rule, measure, found.reason))
        else:
            made.append(valued(rule, measure, found))
    return tuple(made)


def derivations(
    store: Store, administrations: Collection[int], counts: str = ""
) -> Mapping[int, Derivation]:
    """Return how derived raters are computed, by number of the administration.

    An administration in no rating set has the rule that is asked for, if it is one; one in rating
    sets has those of the sets too.
    """
    asked = rule_of(counts)
    rules = {number: {asked} if asked else set[Rule]() for number in administrations}
    settled: dict[int, dict[Response, dict[str, float | None]]] = {}
    answers: dict[int, dict[Response, dict[str, Answer]]] = {}
    named: dict[int, dict[str, tuple[str, ...]]] = {}
    for kept in store.sets.all() if store.has_sets else ():
        samples = {
            one.number: one for one in store.sets.samples(kept.id) if one.administration in rules
        }
        for number in {one.administration for one in samples.values()}:
            if (rule := rule_of(kept.counts)) is not None:
                rules[number].add(rule)
            of = named.setdefault(number, {})
            of[kept.counts] = (*of.get(kept.counts, ()), kept.name)
        for number, given, numbers in _settled(store, kept, samples.keys()):
            sample = samples[number]
            place = sample.trial, sample.attempt
            settled.setdefault(sample.administration, {}).setdefault(place, {}).update(numbers)
            answers.setdefault(sample.administration, {}).setdefault(place, {}).update(given)
    return {
        number: Derivation(
            tuple(rule for rule in RULES if rule in rules[number]),
            settled.get(number, {}),
            answers.get(number, {}),
            named.get(number, {}),
        )
        for number in rules
        if rules[number] or number in named
    }


def _settled(
    store: Store, kept: RatingSet, samples: Collection[int]
) -> list[tuple[int, dict[str, Answer], dict[str, float | None]]]:
    """Return, of samples with settled answers, their answers by question and their numbers."""
    if not samples:
        return []
    found: dict[int, dict[str, Answer]] = {}
    for one in store.sets.adjudications(kept.id):
        if one.sample in samples:
            found.setdefault(one.sample, {})[one.measure] = one.answer
    if not found:
        return []
    from tabwb.battery.forms import form_from_canonical

    form = form_from_canonical(kept.form)
    return [(sample, _of_response(given), _numbers(form, given)) for sample, given in found.items()]


def _of_response(given: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return settled answers by question; of one about each attempt that of the first attempt."""
    from tabwb.records.rating_sets import CANNOT_TELL, measure_of

    found: dict[str, Answer] = {}
    for key in sorted(given, key=lambda key: measure_of(key)[1] or 0):
        answer = given[key]
        found.setdefault(measure_of(key)[0], None if answer == CANNOT_TELL else answer)
    return found


def _numbers(form: Form, given: Mapping[str, Answer]) -> dict[str, float | None]:
    return {
        key: form.question(key).number(answer)
        for key, answer in given.items()
        if "#" not in key and form.question(key).numbered
    }
