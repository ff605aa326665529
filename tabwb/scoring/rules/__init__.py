"""The rules judge ``rules-1``: 19 features, a text rule for 14 of them (SCORING 3)."""

from tabwb.scoring.rules.features import FEATURES, NEVER, ONE_SIDED, TWO_SIDED
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import TextContext
from tabwb.scoring.rules.thresholds import RULES_1, Thresholds, rater_id
from tabwb.scoring.rules.verdicts import Outcome, Verdict

__all__ = [
    "FEATURES",
    "NEVER",
    "ONE_SIDED",
    "RULES_1",
    "TWO_SIDED",
    "Outcome",
    "TextContext",
    "Thresholds",
    "Verdict",
    "judge",
    "rater_id",
]
