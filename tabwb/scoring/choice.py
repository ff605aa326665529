"""Choices: what a response names, the reason stored with a verdict, and positions."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tabwb.records import ratings
from tabwb.records.exchange import Likelihood
from tabwb.records.languages import not_available, reads_english
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.scoring.extraction import named_options
from tabwb.scoring.text import names_alike, normalised, read_part

POLICIES = ratings.POLICIES


@dataclass(frozen=True, slots=True)
class Reading:
    """The options that a response names under one policy, in the order of the options.

    Attributes:
        named: the options.
        undefined: why this policy reads nothing here, or empty.
    """

    named: tuple[str, ...] = ()
    undefined: str = ""

    @property
    def chosen(self) -> str | None:
        """The option named where it is exactly one, else None."""
        return self.named[0] if len(self.named) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether two or more options are named: never correct."""
        return len(self.named) > 1

    def correct(self, expected: str) -> bool:
        """Return whether the one option named is the expected one."""
        return self.chosen == expected

    def error(self, expected: str, foils: Mapping[str, str]) -> str | None:
        """Return the foil kind, ``other-option``, ``ambiguous`` or ``no-option``; None if right.

        >>> Reading(("boat",)).error("boot", {"boat": "phonological"})
        'phonological'
        >>> Reading(("boat", "boot")).error("boot", {}), Reading().error("boot", {})
        ('ambiguous', 'no-option')
        """
        if self.chosen is None:
            return "ambiguous" if self.ambiguous else "no-option"
        return None if self.chosen == expected else foils.get(self.chosen, OTHER_OPTION)


OTHER_OPTION = "other-option"
"""The kind of a wrong option for which the battery names no foil kind."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The readings of one response under the three policies."""

    exact: Reading
    normalised: Reading
    extracted: Reading

    def reading(self, policy: str) -> Reading:
        """Return the reading of one of :data:`POLICIES`."""
        reading: Reading = getattr(self, policy)
        return reading


def read_choice(
    response: str, options: Sequence[str], prompts: Sequence[str] = (), language: str = ""
) -> Choice:
    """Read which option a response names.

    - *exact*: the response, outer white space trimmed, equals an option, case-sensitive [ours;
      TAB, appendix B.6 says only "an item from the provided list"].
    - *normalised*: the same after case is folded and outer quotes and one final stop are removed,
      on both sides (:func:`~tabwb.scoring.text.normalised`); where that is none, an answer in
      capitals also names an option with ß written SS.
    - *extracted*: as *normalised*, else the option that a careful reader takes for the answer
      (:func:`tabwb.scoring.extraction.named_options`); English only. Of a response of more than
      :data:`tabwb.scoring.text.MOST_READ` characters its beginning and its end are read.

    Args:
        response: the text, unaltered.
        options: in the order given.
        prompts: what was sent and the item's own prompt; their text does not count as an answer.
        language: of the battery, as a BCP 47 tag.

    >>> answer = read_choice("Boot.", ["boot", "boat"])
    >>> answer.exact.chosen, answer.normalised.chosen, answer.extracted.chosen
    (None, 'boot', 'boot')
    >>> read_choice("Answer: lion. It has a mane.", ["knife", "lion"]).extracted.chosen
    'lion'
    >>> read_choice("boot or boat", ["boot", "boat"]).extracted.ambiguous
    True
    """
    choices = tuple(dict.fromkeys(options))
    response = read_part(response.strip())
    equal = read_equal(response, choices, language)
    if equal.extracted.undefined or equal.normalised.named:
        return equal
    read = tuple(choices[at] for at in named_options(response, choices, prompts))
    return replace(equal, extracted=Reading(read))


def read_equal(response: str, choices: Sequence[str], language: str = "") -> Choice:
    """Return which option a response is, under the first two policies; *extracted* adds nothing."""
    trimmed, folded = _composed(response), normalised(response, language)
    exact = tuple(option for option in choices if _composed(option) == trimmed)
    plain = tuple(o for o in choices if folded and normalised(o, language) == folded)
    if not plain:
        plain = tuple(o for o in choices if names_alike(response, o, language))
    english = reads_english(language)
    extracted = Reading(plain) if english else Reading((), not_available(language))
    return Choice(Reading(exact), Reading(plain), extracted)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


@dataclass(frozen=True, slots=True)
class Position:
    """One place among the options shown.

    Attributes:
        number: from 1.
        keyed, correct: answers to items whose right option was there, and right ones among them.
        chosen, of: answers that named the option there, and that named one of the options.
    """

    number: int
    keyed: int
    correct: int
    chosen: int
    of: int

    @property
    def accuracy(self) -> Estimate:
        """Share right among the items whose key was there."""
        return ratio(self.correct, self.keyed, "the key was never there")

    @property
    def share(self) -> Estimate:
        """Share of the answers that named the option there; 1 / options without a bias."""
        return ratio(self.chosen, self.of, "no answer named an option")


def positions(
    answers: Iterable[tuple[tuple[str, ...], str, bool, str | None]],
) -> tuple[Position, ...]:
    """Count right answers by the position of the key, and answers by their own position.

    Args:
        answers: (options as shown, expected, right, option named or None), or a ``Counter`` of
            them.

    >>> first, second = positions([
    ...     (("boot", "boat"), "boot", True, "boot"), (("boat", "boot"), "boot", False, "boat"),
    ... ])
    >>> (first.keyed, first.correct, first.chosen), (second.keyed, second.correct, second.chosen)
    ((1, 1, 2), (1, 0, 0))
    """
    given = {answer: n for answer, n in Counter(answers).items() if answer[1] in answer[0]}
    longest = max((len(options) for options, *_ in given), default=0)
    keyed, correct, chosen = ([0] * longest for _ in range(3))
    for (options, expected, right, named), n in given.items():
        at = options.index(expected)
        keyed[at] += n
        correct[at] += n * right
        if named is not None and named in options:
            chosen[options.index(named)] += n
    total = sum(chosen)
    return tuple(
        Position(at + 1, keyed[at], correct[at], chosen[at], total) for at in range(longest)
    )


AMBIGUOUS, NO_OPTION, NO_RESPONSE = "ambiguous: ", "no option", "no response"
UNTOLD = "untold"
"""Kind of an error whose reason has another form: another scorer or a person wrote it."""


def reason_of(reading: Reading, expected: str, foils: Mapping[str, str], *, empty: bool) -> str:
    """Return what was read in a wrong answer; empty for a right one.

    >>> reason_of(Reading(("boat",)), "boot", {"boat": "phonological"}, empty=False)
    'boat (foil: phonological)'
    >>> reason_of(Reading(("boat", "boot")), "boot", {}, empty=False)
    'ambiguous: boat, boot'
    """
    if reading.correct(expected):
        return ""
    if empty or reading.chosen is None:
        named = AMBIGUOUS + ", ".join(reading.named) if reading.ambiguous else NO_OPTION
        return NO_RESPONSE if empty else named
    kind = foils.get(reading.chosen)
    return reading.chosen + (f" (foil: {kind})" if kind is not None else "")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The option that a stored verdict names, or None, and the kind of error, or ``untold``."""

    chosen: str | None
    error: str | None = None


def read_reason(
    correct: bool, reason: str, expected: str, options: Sequence[str], foils: Mapping[str, str]
) -> StoredAnswer:
    """Return what a stored verdict says about an answer, as :func:`reason_of` wrote it.

    >>> kinds = {"boat": "phonological"}
    >>> read_reason(False, "boat (foil: phonological)", "boot", ["boot", "boat"], kinds)
    StoredAnswer(chosen='boat', error='phonological')
    >>> read_reason(True, "", "boot", ["boot", "boat"], {})
    StoredAnswer(chosen='boot', error=None)
    >>> read_reason(False, "did not point", "boot", ["boot", "boat"], {}).error
    'untold'
    """
    if correct:
        return StoredAnswer(expected)
    for option in options:
        kind = foils.get(option)
        if reason == option or (kind is not None and reason == f"{option} (foil: {kind})"):
            return StoredAnswer(option, OTHER_OPTION if kind is None else kind)
    if reason.startswith(AMBIGUOUS):
        return StoredAnswer(None, "ambiguous")
    return StoredAnswer(None, "no-option" if reason in (NO_OPTION, NO_RESPONSE) else UNTOLD)


@dataclass(frozen=True, slots=True)
class LikelihoodChoice:
    """The most likely option by its log probability, summed and over its tokens and characters."""

    by_sum: str
    per_token: str
    per_character: str


def choose_by_likelihood(options: Mapping[str, Likelihood]) -> LikelihoodChoice:
    """Return the most likely of the options; of equal ones the first.

    With L(o) = sum over the tokens t_i of option o of ln p(t_i | prompt, t_1 ... t_(i-1)), in nats:
    ``by_sum`` maximises L(o), ``per_token`` L(o) / tokens(o), ``per_character`` L(o) /
    characters(o). The sum, the probability that the model writes the option, decides; it favours
    short options. lm-evaluation-harness calls them ``acc`` (sum) and ``acc_norm`` (per character).
    That the answer must be one of the options is TAB, appendix B.6 (one-token outputs enforced).

    Raises:
        ValueError: there are no options.

    >>> weighed = {"lion": Likelihood(-2.0, 1), "violin": Likelihood(-2.4, 3)}
    >>> choose_by_likelihood(weighed)
    LikelihoodChoice(by_sum='lion', per_token='violin', per_character='violin')
    """
    if not options:
        raise ValueError("there are no options to choose from")

    def best(units: Mapping[str, float]) -> str:
        return max(options, key=lambda option: options[option].log_probability / units[option])

    return LikelihoodChoice(
        best(dict.fromkeys(options, 1.0)),
        best({option: float(max(options[option].tokens, 1)) for option in options}),
        best({option: float(max(len(option), 1)) for option in options}),
    )
