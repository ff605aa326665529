"""The raters that need no model: the core scorers, and the judge by text rules with a version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tabwb.battery.model import Feature
from tabwb.plugin_api.components import Judge, Response
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.languages import NO_SPACES
from tabwb.records.ratings import MeasureKind, Rating, Scope, undefined, valued
from tabwb.records.specs import Spec
from tabwb.records.words import FORM_BASED_CAUTION, RULES_CAUTION, plural
from tabwb.scoring.choice import POLICIES, Choice, read_choice, reason_of
from tabwb.scoring.repetition import ERROR_TYPES, read_repetition
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
from tabwb.scoring.text import MOST_READ, PART_READ, count_words, is_unspaced, read_part, words
from tabwb.scoring.yes_no import read_yes_no

if TYPE_CHECKING:
    from tabwb.battery.model import Item, Subtest
    from tabwb.scoring.estimate import Estimate


VERDICTS: Mapping[str, MeasureKind] = MappingProxyType(dict.fromkeys(POLICIES, "verdict"))
"""The measures of a scorer with three policies; the first decides."""


class ChoiceScorer:
    """Scores which option was named, and whether it is correct (TAB, appendix B.2)."""

    id = "choice"
    measures = VERDICTS

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return one verdict per policy; the reason names the reading."""
        options = response.options or item.options
        return _verdicts(
            self.id,
            read_choice(response.text, options, _prompts(response), subtest.language),
            response,
        )


class YesNoScorer:
    """Scores whether the answer is Yes or No, and whether it is correct (TAB, appendix B.3)."""

    id = "yes-no"
    measures = VERDICTS

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return one verdict per policy; the reason names the reading."""
        answer = read_yes_no(
            response.text,
            item.options or subtest.possible_answers,
            _prompts(response),
            subtest.language,
            subtest.answer_words,
        )
        return _verdicts(self.id, answer, response)


class RepetitionScorer:
    """Scores whether the target was repeated, and counts errors (TAB, B.4 and B.6)."""

    id = "repetition"
    measures = MappingProxyType({**VERDICTS, **dict.fromkeys(ERROR_TYPES, "count")})

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return one verdict per policy and one count per type of error; the reason names the
        unit.
        """
        if response.expected is None:
            return [undefined(self.id, measure, NO_KEY) for measure in self.measures]
        answer = read_repetition(
            response.text, response.expected, response.prompt, subtest.language
        )
        counts = answer.errors.counts()
        listed = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
        unit = answer.errors.unit
        part = PART_READ if len(response.text.strip()) > MOST_READ else ""
        return [
            valued(self.id, "exact", answer.exact, listed),
            valued(self.id, "normalised", answer.normalised),
            undefined(self.id, "extracted", NO_SPACES)
            if answer.extracted is None
            else valued(self.id, "extracted", answer.extracted, part),
            *(
                valued(
                    self.id, name, count, _listed(unit if name in _IN_UNITS and count else "", part)
                )
                for name, count in counts.items()
            ),
        ]


class LexicalScorer:
    """Measures number and diversity of words in connected text (TAB, section 5)."""

    id = "lexical"
    measures = MappingProxyType(
        {"words": "count", "ttr": "share", "mattr": "share", "mtld": "number"}
    )

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return the number of words, TTR, MATTR (window 50) and MTLD (threshold 0.72)."""
        from tabwb.scoring import lexical

        text = read_part(response.text)
        if is_unspaced(text):
            return [undefined(self.id, measure, NO_SPACES) for measure in self.measures]
        number = count_words(response.text)
        tokens = words(text)
        part = "" if text == response.text else PART_READ
        short = plural(number, "word") if number < lexical.SHORT else ""
        return [
            valued(self.id, "words", number),
            self._rating("ttr", lexical.ttr(tokens), _listed(short, part)),
            self._rating("mattr", lexical.mattr(tokens), _listed(f"window {lexical.WINDOW}", part)),
            self._rating(
                "mtld",
                lexical.mtld(tokens),
                _listed(f"threshold {lexical.THRESHOLD}", short, part),
            ),
        ]

    def _rating(self, measure: str, estimate: Estimate, reason: str) -> Rating:
        if estimate.value is None:
            return undefined(self.id, measure, estimate.reason)
        return valued(self.id, measure, estimate.value, reason)


def _listed(*parts: str) -> str:
    return ", ".join(filter(None, parts))


NO_KEY = "the item has no expected answer"
_IN_UNITS = ("insertion", "deletion", "substitution")


def _prompts(response: Response) -> tuple[str, str]:
    """Return the texts that an answer may echo: what was sent, and the item's own prompt."""
    return response.sent, response.prompt


def _verdicts(rater: str, answer: Choice, response: Response) -> list[Rating]:
    expected = response.expected
    if expected is None:
        return [undefined(rater, policy, NO_KEY) for policy in POLICIES]
    ratings = []
    for policy in POLICIES:
        reading = answer.reading(policy)
        if reading.undefined:
            ratings.append(undefined(rater, policy, reading.undefined))
            continue
        empty = not response.text.strip()
        reason = reason_of(reading, expected, response.foils, empty=empty)
        ratings.append(valued(rater, policy, reading.correct(expected), reason))
    return ratings


def _made(scorer: Callable[[], Any]) -> Callable[[Spec, Any], Any]:
    return lambda spec, options: scorer()


SCORERS: tuple[Descriptor, ...] = (
    Descriptor("choice", "One option out of a list, under three policies", _made(ChoiceScorer)),
    Descriptor("yes-no", "Yes or No, under three policies", _made(YesNoScorer)),
    Descriptor(
        "repetition", "Verbatim repetition, with its errors counted", _made(RepetitionScorer)
    ),
    Descriptor("lexical", "Words, TTR, MATTR and MTLD of connected text", _made(LexicalScorer)),
)
"""The scorers of this plugin."""


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
