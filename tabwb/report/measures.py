"""The measures of results, each declared once: name, meaning, unit, format, how it is pooled.

Tables, remarks, CSV columns, JSON keys and ``docs/reference/measures.md`` read these declarations.
A new measure of a subtest is a function in :mod:`tabwb.scoring` and an entry in
:data:`SUBTEST_MEASURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tabwb.records.states import Protocol
from tabwb.records.words import NONE
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate, chance_corrected
from tabwb.scoring.yes_no import balanced_accuracy

Unit = Literal[
    "share", "features", "features per response", "words", "ratio", "count", "seconds",
    "correlation", "sd of ability", "mean square", "probability",
]  # fmt: skip
Pooling = Literal["responses", "items", "phonemes", "sum", "median", "examinees"]
"""How the responses of several administrations are put together: a mean over responses or items, a
ratio of sums over the phonemes of a corpus, a sum, a median, or over the scores of examinees."""


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """The verdicts on the answers to one subtest under one policy.

    Attributes:
        n: answers that count, with and without a verdict.
        accuracy: share right of the answers with a verdict.
        pairs: expected and chosen option (None where none was chosen) to how many answers with a
            verdict have them.
        guessing: accuracy of guessing; None for subtests without options.
        protocol: of all answers; None where they differ.
        yes: the word for yes of a yes/no subtest, empty where it is not known; else None.
    """

    n: int
    accuracy: Estimate
    pairs: Mapping[tuple[str, str | None], int]
    guessing: Estimate | None
    protocol: Protocol | None
    said_yes: Estimate | None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; ``compute``, ``policies`` and ``yes_no`` are of a subtest's measure.

    Attributes:
        id: JSON key and end of the CSV column.
        pooled: how responses are put together.
        digits: decimal places that are shown; of a share in per cent where ``percent``.
        compute: from the verdicts under one policy; policies: those under which it is computed.
        yes_no: whether only yes/no subtests have it.
    """

    id: str
    title: str
    meaning: str
    unit: Unit
    pooled: Pooling = "responses"
    digits: int = 2
    percent: bool = False
    compute: Callable[[ScoredAnswers], Estimate] | None = None
    policies: tuple[str, ...] = ("exact",)
    yes_no: bool = False

    def format(self, value: float | None) -> str:
        """Return a value as it is shown, a dash for None.

        >>> measure_of("per").format(0.125), measure_of("burden").format(None)
        ('12.5 %', '-')
        """
        if value is None:
            return NONE
        return f"{value * 100:.{self.digits}f} %" if self.percent else f"{value:.{self.digits}f}"


def _chance_corrected(answers: ScoredAnswers) -> Estimate:
    if answers.guessing is None:
        return Estimate(None, "not a subtest with options")
    if not answers.n:
        return Estimate(None, "no item answered")
    return chance_corrected(answers.accuracy, answers.guessing, answers.protocol)


_NOT_YES_NO = Estimate(None, "not a subtest of yes or no")


def _yes_rate(answers: ScoredAnswers) -> Estimate:
    return _NOT_YES_NO if answers.said_yes is None else answers.said_yes


def _balanced_accuracy(answers: ScoredAnswers) -> Estimate:
    return _NOT_YES_NO if answers.said_yes is None else balanced_accuracy(answers.pairs)


NEITHER = "neither answer was given exactly"
"""Why there is no yes-rate."""
ACCURACY = Measure("accuracy", "accuracy", "share of right responses, policy exact", "share")
YES_RATE = Measure(
    "yes_rate", "yes-rate", "share of yes among the responses that are yes or no, policy exact",
    "share", compute=_yes_rate, policies=POLICIES, yes_no=True,
)  # fmt: skip
SUBTEST_MEASURES = (
    Measure(
        "chance_corrected", "corrected for chance",
        "(accuracy - guessing) / (1 - guessing), if a guess must be an option", "share",
        compute=_chance_corrected,
    ),
    YES_RATE,
    Measure(
        "balanced_accuracy", "balanced accuracy",
        "mean of the accuracies of yes and of no questions, policy exact", "share",
        compute=_balanced_accuracy, policies=POLICIES, yes_no=True,
    ),
)  # fmt: skip
BASELINES = (
    Measure(
        "always_first", "always first option", "accuracy of always choosing the first option",
        "share",
    ),
    Measure("always_yes", "always Yes", "accuracy of always saying yes", "share"),
    Measure("guessing", "guessing", "accuracy of guessing", "share"),
)  # fmt: skip
BURDEN = Measure(
    "burden", "symptom burden", "mean number of features present per response",
    "features per response",
)  # fmt: skip
FEATURE_RATE = Measure(
    "rate", "feature rate", "share of the responses with a burden in which a feature is present",
    "share",
)  # fmt: skip
CATEGORY_COUNT = Measure(
    "category_count", "category count", "mean number of the category's features present per "
    "response", "features per response",
)  # fmt: skip
CATEGORY_RATE = Measure(
    "category_rate", "category rate", "share of responses with a feature of the category", "share"
)
FOIL_ERRORS = Measure(
    "foil_errors", "errors of this kind", "share of the responses to items with such a foil that "
    "name it", "share",
)  # fmt: skip
WORDS_MEAN = Measure("words_mean", "words", "mean number of words of a usable response", "words")
LEXICAL_MEASURES = (
    Measure("words", "words", "number of words", "words"),
    Measure("ttr", "TTR", "type-token ratio", "ratio"),
    Measure("mattr", "MATTR", "moving-average type-token ratio, window of 50 words", "ratio"),
    Measure("mtld", "MTLD", "measure of textual lexical diversity", "words"),
)
NAMING_MEASURES = (
    Measure(
        "outcome", "Counted as right",
        "names that are right by a listener's score, else by the rule of the battery", "share",
    ),
    Measure("person", "Listener", "names that a listener scored right", "share"),
    Measure(
        "correct-any", "Right anywhere (by rule)", "responses with an accepted form in any attempt",
        "share",
    ),
    Measure(
        "correct-first", "First attempt right (by rule)",
        "responses whose first complete attempt is an accepted form", "share",
    ),
)  # fmt: skip
LATENCY = Measure(
    "latency", "median latency", "from the picture to the onset of a right response", "seconds",
    "median",
)  # fmt: skip
PHONEME_MEASURES = (
    Measure(
        "per", "phoneme error rate", "phoneme edits / phonemes of the reference", "ratio",
        "phonemes", digits=1, percent=True,
    ),
    Measure(
        "fer", "feature error rate", "feature edits / features of the reference's phonemes",
        "ratio", "phonemes", digits=1, percent=True,
    ),
)  # fmt: skip
DISCRIMINATION = Measure(
    "discrimination", "discrimination",
    "correlation of an item with the mean of the other items of its subtest", "correlation",
    "examinees",
)  # fmt: skip
RASCH_DIFFICULTY = Measure(
    "rasch_difficulty", "Rasch difficulty", "b of the Rasch model, abilities having the sd 1",
    "sd of ability", "examinees",
)  # fmt: skip
INFIT = Measure(
    "infit", "infit", "weighted mean square of the Rasch model, 1 where it holds", "mean square",
    "examinees",
)  # fmt: skip
OUTFIT = Measure(
    "outfit", "outfit", "mean square of the Rasch model, 1 where it holds", "mean square",
    "examinees",
)  # fmt: skip
DIFFICULTY = Measure(
    "difficulty", "2-PL difficulty", "b of the 2-PL model, abilities having the sd 1",
    "sd of ability", "examinees",
)  # fmt: skip
SLOPE = Measure(
    "slope", "2-PL discrimination", "a of the 2-PL model, the slope of the log odds", "ratio",
    "examinees",
)  # fmt: skip
POSITION_ACCURACY = Measure(
    "position_accuracy", "accuracy by position",
    "share of right responses if the right option is shown at a position, policy exact", "share",
)  # fmt: skip
POSITION_SHARE = Measure(
    "position_share", "share of choices",
    "share of the choices that name the option at a position, policy extracted", "share",
)  # fmt: skip
FOIL_SHARE = Measure(
    "foil_share", "share of errors",
    "share of the wrong options named that are of a kind, policy extracted", "share",
)  # fmt: skip
FOIL_CHANCE = Measure(
    "foil_chance", "by chance", "share of the kind among the wrong options shown at the errors",
    "share",
)  # fmt: skip
DIFFERENCE = Measure(
    "difference", "difference", "mean over items of the difference of item means", "ratio", "items"
)
TREND = Measure(
    "trend", "trend", "mean over items of the score weighted by session less the mean session",
    "ratio", "items",
)  # fmt: skip
RATE_OF_CHANGE = Measure(
    "rate_of_change", "rate of change",
    "slope from the last session before treatment on, less the slope before", "ratio", "items",
)  # fmt: skip
ANALYSES = (
    DISCRIMINATION, RASCH_DIFFICULTY, INFIT, OUTFIT, DIFFICULTY, SLOPE, POSITION_ACCURACY,
    POSITION_SHARE, FOIL_SHARE, FOIL_CHANCE, DIFFERENCE, TREND, RATE_OF_CHANGE,
)  # fmt: skip
"""Measures of the tables of items, positions, foils, differences and change."""
MEASURES = (
    ACCURACY, *SUBTEST_MEASURES, *BASELINES, BURDEN, FEATURE_RATE, CATEGORY_COUNT,
    CATEGORY_RATE, FOIL_ERRORS, WORDS_MEAN, *LEXICAL_MEASURES,
    *NAMING_MEASURES, LATENCY, *PHONEME_MEASURES, *ANALYSES,
)  # fmt: skip
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


_BY_ID = {measure.id: measure for measure in MEASURES}


def measure_of(name: str) -> Measure:
    """Return the declaration of a measure; of one that only its scorer knows, a plain one.

    >>> measure_of("mattr").title, measure_of("close-substitution").title
    ('MATTR', 'close substitution')
    """
    return _BY_ID.get(name) or Measure(name, name.replace("-", " "), "", "count")
