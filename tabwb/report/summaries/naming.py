"""Naming subtests in figures: of one administration, of several pooled, of two compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.administer.naming.scores import Naming, named_item, naming_of
from tabwb.administer.naming.views import (
    NamingView,
    is_recorded,
    observations_of,
    speech_of,
)
from tabwb.battery.naming import listed_words, naming_item
from tabwb.report.plain import Json, picked, picked_or_none
from tabwb.report.summaries.counted import Source
from tabwb.scoring.naming.case import Earlier
from tabwb.scoring.naming.summary import BASES, Basis, NamedItem, NamingSummary, right_by, summarise
from tabwb.scoring.participant_tests import McNemar, mcnemar
from tabwb.tasks.spoken_naming.rules import NamingRules


def namings(source: Source) -> tuple[Naming, ...]:
    """Return every naming trial of an administration, whether it was given or not, in order.

    Each knows the responses before it, with which perseverations are found.
    """
    battery = source.battery
    speech, listed = speech_of(source.speaker), listed_words(battery)
    found: list[Naming] = []
    earlier: list[Earlier] = []
    for trial in source.trials:
        subtest = battery.subtest(trial.plan.subtest)
        if not subtest.task.coded and not (subtest.task.spoken and is_recorded(trial)):
            continue
        rules = subtest.naming or NamingRules()
        view = NamingView(
            trial,
            naming_item(subtest.item(trial.plan.item)),
            rules,
            observations_of(trial),
            tuple(earlier),
            source.primary,
            speech,
            listed,
        )
        found.append(naming_of(view))
        if view.spoken is not None:
            earlier.append(view.spoken)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class NamedSubtest:
    """One naming subtest.

    Attributes:
        items: in the order given, practice left out, administration by administration.
        primary: the rater whose scores count; empty: whoever scored first.
    """

    id: str
    title: str
    rules: NamingRules
    items: tuple[NamedItem, ...]
    summary: NamingSummary
    primary: str = ""

    def to_json(self) -> Json:
        """Return plain data; what is not known is None."""
        summary = self.summary
        return {
            "rule": self.rules.rule,
            "primary_rater": self.primary or None,
            "scored_by_several": sum(bool(one.other_scores) for one in self.items),
            "accuracy": {
                one.basis: {
                    **picked(one, "correct", "n", "open", "rate", "interval"),
                    "status": "undefined" if one.rate is None else "value",
                }
                for one in summary.accuracy
            },
            "items": dict(summary.statuses),
            **picked(
                summary, "codes", "proposed", "flags", "cues", "latency_median_s", "latency_n"
            ),
            "decided_by": {"listener": summary.by_listener, "rule": summary.by_rule},
        }


def named_subtests(sources: Sequence[Source]) -> tuple[NamedSubtest, ...]:
    """Return the naming subtests of administrations of one battery."""
    battery = sources[0].battery
    found: list[NamedSubtest] = []
    scored = [naming for source in sources for naming in namings(source)]
    for subtest in battery.subtests:
        if not subtest.task.coded:
            continue
        items = tuple(
            named_item(naming)
            for naming in scored
            if naming.view.trial.plan.subtest == subtest.id and not naming.view.trial.plan.practice
        )
        rules = subtest.naming or NamingRules()
        found.append(
            NamedSubtest(
                subtest.id, subtest.title, rules, items, summarise(items), sources[0].primary
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class NamedPair:
    """One item on both sides, with the responses of each side in order of time."""

    item: str
    target: str
    first: tuple[NamedItem, ...]
    second: tuple[NamedItem, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides differ in what was said or in what is said of it."""
        sides = (self.first, self.second)
        one, other = ([_facts(each) for each in side] for side in sides)
        return one != other


@dataclass(frozen=True, slots=True)
class Changed:
    """Right answers by one basis on both sides, over the items that have one verdict on each.

    Attributes:
        basis: by what an answer is right.
        items: how many items are compared.
        first, second: right ones among them.
        test: McNemar's exact test; None without an item.
        left_out: items with no verdict, or several responses, on a side.
    """

    basis: Basis
    items: int
    first: int
    second: int
    test: McNemar | None
    left_out: int


@dataclass(frozen=True, slots=True)
class NamedDifference:
    """One naming subtest on both sides.

    Attributes:
        pairs: by item, in the battery's order.
        changed: one for each basis that says anything on both sides.
        codes: on each side, how often each code stands: a person's, else the one proposed.
    """

    id: str
    title: str
    pairs: tuple[NamedPair, ...]
    changed: tuple[Changed, ...]
    codes: tuple[Mapping[str, int], Mapping[str, int]]

    def to_json(self) -> Json:
        """Return plain data; what is not known is None."""
        return {
            "subtest": self.id,
            "changed": [
                {
                    "basis": one.basis,
                    "items": one.items,
                    "left_out": one.left_out,
                    "first_right": one.first,
                    "second_right": one.second,
                    **picked_or_none(one.test, "gained", "lost", "p", "mid_p"),
                    "test": None if one.test is None else "McNemar, exact, two-sided",
                    "status": "undefined" if one.test is None else "value",
                }
                for one in self.changed
            ],
            "codes": dict(zip(("first", "second"), map(dict, self.codes), strict=True)),
            "items": [
                {
                    "item": pair.item,
                    "target": pair.target,
                    "differs": pair.differs,
                    "first": [_facts(one) for one in pair.first],
                    "second": [_facts(one) for one in pair.second],
                }
                for pair in self.pairs
            ],
        }


def naming_difference(
    first: Sequence[Source], second: Sequence[Source]
) -> tuple[NamedDifference, ...]:
    """Compare two sides of one naming battery.

    Args:
        first: administrations of the first side.
        second: of the second; of the same battery.
    """
    return tuple(
        _subtest(one, other)
        for one, other in zip(named_subtests(first), named_subtests(second), strict=True)
    )


def _subtest(one: NamedSubtest, other: NamedSubtest) -> NamedDifference:
    names = dict.fromkeys(each.item for each in (*one.items, *other.items))
    pairs = tuple(_pair(name, one.items, other.items) for name in names)
    changed = tuple(_changed(pairs, basis) for basis in BASES)
    return NamedDifference(
        one.id,
        one.title,
        pairs,
        tuple(each for each in changed if each.items),
        (_codes(one.items), _codes(other.items)),
    )


def _pair(name: str, one: Sequence[NamedItem], other: Sequence[NamedItem]) -> NamedPair:
    mine, theirs = (tuple(each for each in side if each.item == name) for side in (one, other))
    return NamedPair(name, (*mine, *theirs)[0].target, mine, theirs)


def _changed(pairs: Sequence[NamedPair], basis: Basis) -> Changed:
    verdicts = [(_only(pair.first, basis), _only(pair.second, basis)) for pair in pairs]
    known = [(a, b) for a, b in verdicts if a is not None and b is not None]
    before, after = [a for a, _ in known], [b for _, b in known]
    test = mcnemar(before, after) if known else None
    return Changed(basis, len(known), sum(before), sum(after), test, len(pairs) - len(known))


def _only(responses: Sequence[NamedItem], basis: Basis) -> bool | None:
    """Return whether the only response of a side is right; None without or with several."""
    answered = [one for one in responses if one.status == "answered"]
    return right_by(answered[0], basis) if len(answered) == 1 else None


def _codes(items: Sequence[NamedItem]) -> Mapping[str, int]:
    said = [one.code or one.proposed for one in items if one.status == "answered"]
    return dict(Counter(code for code in said if code).most_common())


def _facts(one: NamedItem) -> Json:
    return {
        "status": one.status,
        "heard": one.heard or None,
        "phonemes": list(one.phonemes),
        "score": one.score or None,
        "right": right_by(one, "outcome"),
        "correct_any": one.rules.get("correct-any"),
        "correct_first": one.rules.get("correct-first"),
        "code": one.code or None,
        "proposed": one.proposed or None,
    }
