"""The 19 features, the verdict of a rule on one of them, and the thresholds of each version."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

TWO_SIDED = (
    "retracing",
    "abandoned-utterances",
    "perseverations",
    "neologisms",
    "jargon",
    "short-and-simplified-utterances",
    "false-starts",
)
"""May be present or absent; the burden of the rules judge is over these seven."""

ONE_SIDED = (
    "anomia",
    "empty-speech",
    "stereotypies-and-automatisms",
    "conduite-d-approche",
    "omission-of-function-words",
    "omission-of-bound-morphemes",
    "phonemic-paraphasias",
)
"""Present or undefined: a missed sign is not evidence of absence."""

NEVER = (
    "semantic-paraphasias",
    "paragrammatism",
    "meaning-unclear",
    "off-topic",
    "overall-communication-impairment",
)
"""Always undefined: no rule on the text alone can tell."""

FEATURES = TWO_SIDED + ONE_SIDED + NEVER


class Outcome(StrEnum):
    """The three outcomes of a rule. A rule that cannot tell does not return *absent*."""

    PRESENT = "present"
    ABSENT = "absent"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule's verdict.

    Attributes:
        words: the words of the response that fired, in their order; empty unless present.
        note: further information: why it is undefined, candidates that did not count.
    """

    outcome: Outcome
    words: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        quoted = "; ".join(f'"{words}"' for words in self.words)
        return " - ".join(part for part in (quoted, self.note) if part)


def present(*words: str, note: str = "") -> RuleVerdict:
    """Return the verdict that the sign is present in these words.

    >>> str(present("the ball the ball the ball"))
    '"the ball the ball the ball"'
    """
    return RuleVerdict(Outcome.PRESENT, tuple(dict.fromkeys(words)), note)


def absent(note: str = "") -> RuleVerdict:
    """Return the verdict that the sign is absent; only for two-sided features."""
    return RuleVerdict(Outcome.ABSENT, (), note)


def undefined(note: str) -> RuleVerdict:
    """Return an undefined verdict with its reason."""
    return RuleVerdict(Outcome.UNDEFINED, (), note)


NOT_SEEN = undefined(
    "no sign found; that a text rule finds no sign does not show that it is absent"
)
"""RuleVerdict of a one-sided feature whose rule does not fire."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Every number that a verdict depends on. Units are words unless something else is said.

    The closed lists of words in :mod:`tabwb.scoring.rules.vocabulary` belong to the version too.
    """

    version: int

    # Common to all rules
    form_based: bool = False
    """Whether the rules added after version 1 apply (docs/rules-judge.md)."""
    unpunctuated: int = 25
    """A single utterance longer than this does not show where a speaker's utterances end."""
    known_share: float = 0.5
    """Below this share of known words, and without an English function word: not English."""
    prompt_stretch: int = 3
    """This many words of the prompt in order are an echo of it."""

    # 1 Retracing, 3 Perseverations
    retraced_words: tuple[int, int] = (2, 6)
    retracings_per_100_spoken: float = 3.5
    perseverated_words: tuple[int, int] = (1, 6)
    perseverated_times: int = 3
    repeated_utterance: int = 5
    repeated_anywhere: int = 8
    repeated_across_stop: int = 4

    emphatic_times: int = 0
    """One word up to this number of times between commas in typed text is emphasis; 0: never."""
    returning_words: int = 0
    """A repeated phrase of this many words is a perseveration; 0: never."""
    returning_times: int = 3
    returning_share: float = 0.25
    """The copies of such a phrase fill this share of all words or more."""

    # 4 Neologisms, 5 Jargon
    neologism_letters: int = 4
    slip_level: int = 20
    """One edit from a word of SCOWL's sizes up to this one counts as a typing error."""
    joined_part_letters: int = 3
    jargon_words: int = 3
    jargon_share: float = 0.2
    jargon_share_short: float = 0.5
    jargon_short_text: int = 20

    # 6 Short and simplified utterances
    short_utterance: int = 4
    short_share: float = 0.5
    short_median: float = 5.0
    lone_utterance: int = 8

    # 7 False starts
    hyphened_letters: int = 4
    fragment_letters: int = 3

    # 8 Anomia, 9 Empty speech, 10 Stereotypies
    anomia_approaches: int = 2
    """Steps of approach, in one chain or in several."""
    unspecific_words: int = 2
    unspecific_share: float = 0.15
    stereotypy_times: int = 3
    formula_words: int = 5
    formula_answers: int = 3

    whole_answer_times: int = 0
    """One word or syllable this number of times as the whole answer is a stereotypy; 0: never."""
    proform_words: int = 0
    """A text of this many words can be empty of nouns; 0: this is not tested."""
    proform_share: float = 0.4
    proform_content: float = 0.15

    # 11 Conduite d'approche
    shared_letters: float = 0.5

    # 12 and 13 Omissions
    telegraphic_words: int = 12
    telegraphic_share: float = 0.3
    agreement_window: int = 2
    telegraphic_words_short: int = 0
    """With this many words a text of two utterances or more can be telegraphic; 0: never."""
    telegraphic_share_short: float = 0.05

    # 14 Phonemic paraphasias
    paraphasia_letters: float = 1 / 3


RULES_1 = Thresholds(version=1)
"""Kept so that studies judged with it can be continued and repeated."""
RULES_2 = Thresholds(
    version=2,
    form_based=True,
    emphatic_times=3,
    returning_words=3,
    whole_answer_times=4,
    proform_words=15,
    telegraphic_words_short=6,
)
CURRENT = RULES_2
"""The version of the alias ``rules``."""


def rater_id(thresholds: Thresholds) -> str:
    """Return the id of the rater under which verdicts are stored.

    >>> rater_id(RULES_1), rater_id(CURRENT)
    ('rules-1', 'rules-2')
    """
    return f"rules-{thresholds.version}"
