"""The rules judge, ``rules-2`` and ``rules-1``: text rules for 14 of 19 features."""

from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import TextContext
from tabwb.scoring.rules.thresholds import CURRENT, RULES_1, RULES_2, Thresholds, rater_id
from tabwb.scoring.rules.verdicts import FEATURES, NEVER, ONE_SIDED, TWO_SIDED, Outcome, RuleVerdict

__all__ = [
    "CURRENT",
    "FEATURES",
    "NEVER",
    "ONE_SIDED",
    "RULES_1",
    "RULES_2",
    "TWO_SIDED",
    "Outcome",
    "RuleVerdict",
    "TextContext",
    "Thresholds",
    "judge",
    "rater_id",
]
