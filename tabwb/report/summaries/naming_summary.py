"""Naming subtests of one administration, or of several pooled, in figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.administer.naming.scores import named_item
from tabwb.battery.naming import NamingRules
from tabwb.records.states import ResponseKind
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.naming_load import namings
from tabwb.scoring.naming.summary import NamedItem, NamingSummary, summarise

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class NamedSubtest:
    """One naming subtest.

    Attributes:
        id, title, rules: of the battery.
        items: in the order given, practice left out; of several administrations one after the
            other.
        summary: of these items.
        primary: the rater whose scores count; empty: whoever scored first.
    """

    id: str
    title: str
    rules: NamingRules
    items: tuple[NamedItem, ...]
    summary: NamingSummary
    primary: str = ""

    def to_json(self) -> Json:
        """As it stands in documents; what is not known is None."""
        summary = self.summary
        return {
            "rule": self.rules.rule,
            "primary_rater": self.primary or None,
            "scored_by_several": sum(bool(one.other_scores) for one in self.items),
            "accuracy": {
                one.basis: {
                    "correct": one.correct,
                    "n": one.n,
                    "open": one.open,
                    "rate": one.rate,
                    "interval": None
                    if one.interval is None
                    else [one.interval.low, one.interval.high],
                    "status": "undefined" if one.rate is None else "value",
                }
                for one in summary.accuracy
            },
            "items": dict(summary.statuses),
            "codes": dict(summary.codes),
            "proposed": dict(summary.proposed),
            "flags": dict(summary.flags),
            "cues": [
                {
                    "kind": cue.kind,
                    "counts": cue.counts,
                    "given": cue.given,
                    "right_after": cue.right_after,
                }
                for cue in summary.cues
            ],
            "latency_median_s": summary.latency_median_s,
            "latency_n": summary.latency_n,
            "decided_by": {"listener": summary.by_listener, "rule": summary.by_rule},
        }


def named_subtests(sources: Sequence[Source]) -> tuple[NamedSubtest, ...]:
    """The naming subtests of administrations of one battery."""
    battery = sources[0].battery
    found: list[NamedSubtest] = []
    scored = [
        naming
        for source in sources
        for naming in namings(battery, source.trials, source.primary, source.speaker)
    ]
    for subtest in battery.subtests:
        if subtest.response is not ResponseKind.NAMING:
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
