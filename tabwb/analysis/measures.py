"""The measures of results, each declared once, in the class in which plugins declare statistics.

Tables, remarks, columns, JSON keys and ``docs/reference/measures.md`` read these declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tabwb.plugin_api.extensions import Pooling, Statistic


def _measure(
    id_: str, title: str, unit: str, meaning: str, pooled: Pooling = "responses"
) -> Statistic:
    return Statistic(id_, title, meaning, None, unit, pooled=pooled)


ACCURACY = _measure("accuracy", "accuracy", "share", "share of right responses, policy exact")
SUBTEST_MEASURES = (
    _measure("chance_corrected", "corrected for chance", "share",
             "(accuracy - guessing) / (1 - guessing), if a guess must be an option"),
    _measure("yes_rate", "yes-rate", "share",
             "share of yes among the responses that are yes or no, policy exact"),
    _measure("balanced_accuracy", "balanced accuracy", "share",
             "mean of the accuracies of yes and of no questions, policy exact"),
)  # fmt: skip
CORRECTED, YES_RATE, BALANCED = SUBTEST_MEASURES
BASELINES = (
    _measure("always_first", "always first option", "share",
             "accuracy of always choosing the first option"),
    _measure("always_yes", "always Yes", "share", "accuracy of always saying yes"),
    _measure("guessing", "guessing", "share", "accuracy of guessing"),
)  # fmt: skip
BURDEN = _measure("burden", "symptom burden", "features per response",
                  "mean number of features present per response")  # fmt: skip
FEATURE_RATE = _measure(
    "rate", "feature rate", "share",
    "share of the responses with a burden in which a feature is present",
)  # fmt: skip
CATEGORY_COUNT = _measure(
    "category_count", "category count", "features per response",
    "mean number of the category's features present per response",
)  # fmt: skip
CATEGORY_RATE = _measure("category_rate", "category rate", "share",
                         "share of responses with a feature of the category")  # fmt: skip
FOIL_ERRORS = _measure("foil_errors", "errors of this kind", "share",
                       "share of the responses to items with such a foil that name it")  # fmt: skip
WORDS_MEAN = _measure("words_mean", "words", "words", "mean number of words of a usable response")
LEXICAL_MEASURES = (
    _measure("words", "words", "words", "number of words"),
    _measure("ttr", "TTR", "ratio", "type-token ratio"),
    _measure("mattr", "MATTR", "ratio", "moving-average type-token ratio, window of 50 words"),
    _measure("mtld", "MTLD", "words", "measure of textual lexical diversity"),
)
NAMING_MEASURES = (
    _measure("outcome", "Counted as right", "share",
             "names that are right by a listener's score, else by the rule of the battery: "
             "correct-any, or correct-first, by which a self-correction is not right"),
    _measure("person", "Listener", "share", "names that a listener scored right"),
    _measure("correct-any", "Right anywhere (by rule)", "share",
             "responses with an accepted form in any attempt"),
    _measure("correct-first", "First attempt right (by rule)", "share",
             "responses whose first complete attempt is an accepted form"),
)  # fmt: skip
CODE_MEASURES = (
    _measure("code", "Code", "share",
             "share of a code among the names that a listener coded, or scored so that a code "
             "follows"),
    _measure("proposed_code", "Proposed code", "share",
             "share of a code among those that the rules propose, where no listener scored or "
             "coded"),
)  # fmt: skip
CODE, PROPOSED_CODE = CODE_MEASURES
LATENCY = _measure("latency", "median latency", "seconds",
                   "from the picture to the onset of a right response", "median")  # fmt: skip
PHONEME_MEASURES = tuple(
    Statistic(id_, title, meaning, None, "ratio", 1, percent=True, pooled="phonemes")
    for id_, title, meaning in (
        ("per", "phoneme error rate", "phoneme edits / phonemes of the reference"),
        ("fer", "feature error rate", "feature edits / features of the reference's phonemes"),
    )
)
DISCRIMINATION = _measure(
    "discrimination", "discrimination", "correlation",
    "correlation of an item with the mean of the other items of its subtest", "examinees",
)  # fmt: skip
RASCH_DIFFICULTY = _measure(
    "rasch_difficulty", "Rasch difficulty", "sd of ability",
    "b of the Rasch model, abilities having the sd 1", "examinees",
)  # fmt: skip
INFIT = _measure(
    "infit", "infit", "mean square", "weighted mean square of the Rasch model, 1 where it holds",
    "examinees",
)  # fmt: skip
OUTFIT = _measure("outfit", "outfit", "mean square",
                  "mean square of the Rasch model, 1 where it holds", "examinees")  # fmt: skip
DIFFICULTY = _measure("difficulty", "2-PL difficulty", "sd of ability",
                      "b of the 2-PL model, abilities having the sd 1", "examinees")  # fmt: skip
SLOPE = _measure("slope", "2-PL discrimination", "ratio",
                 "a of the 2-PL model, the slope of the log odds", "examinees")  # fmt: skip
POSITION_ACCURACY = _measure(
    "position_accuracy", "accuracy by position", "share",
    "share of right responses if the right option is shown at a position, policy exact",
)  # fmt: skip
POSITION_SHARE = _measure(
    "position_share", "share of choices", "share",
    "share of the choices that name the option at a position, policy extracted",
)  # fmt: skip
FOIL_SHARE = _measure(
    "foil_share", "share of errors", "share",
    "share of the wrong options named that are of a kind, policy extracted",
)  # fmt: skip
FOIL_CHANCE = _measure("foil_chance", "by chance", "share",
                       "share of the kind among the wrong options shown at the errors")  # fmt: skip
DIFFERENCE = _measure("difference", "difference", "ratio",
                      "mean over items of the difference of item means", "items")  # fmt: skip
TREND = _measure("trend", "trend", "ratio", "mean over items of the score weighted by session less "
                 "the mean session", "items")  # fmt: skip
RATE_OF_CHANGE = _measure(
    "rate_of_change", "rate of change", "ratio",
    "slope from the last session before treatment on, less the slope before", "items",
)  # fmt: skip
MEASURES = (
    ACCURACY, *SUBTEST_MEASURES, *BASELINES, BURDEN, FEATURE_RATE, CATEGORY_COUNT,
    CATEGORY_RATE, FOIL_ERRORS, WORDS_MEAN, *LEXICAL_MEASURES,
    *NAMING_MEASURES, *CODE_MEASURES, LATENCY, *PHONEME_MEASURES, DISCRIMINATION,
    RASCH_DIFFICULTY, INFIT, OUTFIT, DIFFICULTY, SLOPE, POSITION_ACCURACY, POSITION_SHARE,
    FOIL_SHARE, FOIL_CHANCE, DIFFERENCE, TREND, RATE_OF_CHANGE,
)  # fmt: skip
_BY_ID = {measure.id: measure for measure in MEASURES}


def measure_of(name: str) -> Statistic:
    """Return the declaration of a measure; of one that only its scorer knows, a plain one.

    >>> measure_of("mattr").title, measure_of("close-substitution").title
    ('MATTR', 'close substitution')
    """
    return _BY_ID.get(name) or _measure(name, name.replace("-", " "), "count", "")


USABLE, SURPRISAL = "usable", "surprisal"
"""The share of usable responses; of a fixed text log2 of the perplexity."""
SECTIONS = {
    USABLE: "Usable responses",
    SURPRISAL: "Surprisal, bits per token",
    BURDEN.id: "Burden",
    CATEGORY_COUNT.id: "Features of a category",
    CATEGORY_RATE.id: "Responses with a category",
    FEATURE_RATE.id: "Responses with a feature",
    ACCURACY.id: "Accuracy",
    WORDS_MEAN.id: "Words in an answer",
}
"""Measures of lesions by amount and place in the order of the tables, with their titles."""


class Cell(NamedTuple):
    """What was measured: a key of :data:`SECTIONS`; other texts are empty where none applies."""

    measure: str
    part: str = ""
    rater: str = ""
    feature: str = ""

    @property
    def section(self) -> str:
        """The title of its kind."""
        return SECTIONS.get(self.measure, self.measure)

    @property
    def is_share(self) -> bool:
        """Whether its values are shares of 1."""
        return self.measure in (USABLE, CATEGORY_RATE.id, FEATURE_RATE.id, ACCURACY.id)

    def name(self, titles: Mapping[str, str], *, rater: bool = True) -> str:
        """Return its title among measures of one kind; without the rater among those of one."""
        what = ", ".join(titles.get(one, one) for one in (self.part, self.feature) if one)
        return ", ".join(filter(None, (what, self.rater * rater))) or "all responses"
