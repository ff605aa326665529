"""The judge that needs no model: text rules with a version."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.battery.model import Feature
from tabwb.plugin_api.components import Judge, Response
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.ratings import Rating, Scope, undefined, valued
from tabwb.records.specs import Spec
from tabwb.records.words import FORM_BASED_CAUTION, RULES_CAUTION
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import (
    CURRENT,
    RULES_1,
    TWO_SIDED,
    Outcome,
    RuleVerdict,
    TextContext,
    Thresholds,
    rater_id,
)
from tabwb.scoring.rules.passage import undefined as no_verdict

_UNKNOWN = no_verdict("the rules know no feature of this id")


class RulesJudge(Judge):
    """Rates every feature of a battery by text rules.

    The burden is over the seven features that a rule can also find absent.
    """

    features: tuple[str, ...] = TWO_SIDED
    scope: Scope | None = "connected-text"

    def __init__(self, limits: Thresholds = CURRENT) -> None:
        self._limits = limits
        self.rater = rater_id(limits)
        self.caution = FORM_BASED_CAUTION if limits.form_based else RULES_CAUTION

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Return one rating for each feature of the battery, in its order."""
        verdicts = judge(
            TextContext(
                text=response.text,
                kind=response.kind,
                status=response.status,
                prompt=response.prompt,
                sent=response.sent,
                expected=response.expected,
                spoken=response.spoken,
                previous=response.previous,
                dialect=response.dialect,
                language=response.language,
            ),
            self._limits,
        )
        return [
            self._rating(feature.id, verdicts.get(feature.id, _UNKNOWN)) for feature in features
        ]

    def _rating(self, feature: str, verdict: RuleVerdict) -> Rating:
        if verdict.outcome is Outcome.UNDEFINED:
            return undefined(self.rater, feature, verdict.note)
        return valued(self.rater, feature, verdict.outcome is Outcome.PRESENT, str(verdict))


def _rules(spec: Spec, options: None) -> RulesJudge:
    return RulesJudge(CURRENT)


def _rules_1(spec: Spec, options: None) -> RulesJudge:
    return RulesJudge(RULES_1)


JUDGES = (
    Descriptor(
        id=rater_id(CURRENT),
        title="Text rules, no model needed",
        factory=_rules,
        aliases=("rules",),
        remarks=RULES_CAUTION,
    ),
    Descriptor(
        id=rater_id(RULES_1),
        title="Text rules of the first version, to continue older studies",
        factory=_rules_1,
        remarks=RULES_CAUTION,
    ),
)
"""What ``tabwb_builtin.plugin`` registers."""
