"""One answer word out of a list: the policies *exact*, *normalised* and *extracted*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.scoring.extraction import named_options
from tabwb.scoring.text import normalised

POLICIES = ("exact", "normalised", "extracted")
"""The three policies; the first decides by default."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one policy reads in a response.

    Attributes:
        named: the options that the response names, in the order of the options.
    """

    named: tuple[str, ...] = ()

    @property
    def chosen(self) -> str | None:
        """The option named when it is exactly one, else None."""
        return self.named[0] if len(self.named) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether two or more options are named: never correct."""
        return len(self.named) > 1

    def correct(self, expected: str) -> bool:
        """Return whether the one option named is the expected one."""
        return self.chosen == expected

    def error(self, expected: str, foils: Mapping[str, str]) -> str | None:
        """Return the kind of error, or None for a right answer.

        The foil kind of the option chosen (``phonological``), else ``other-option``, ``ambiguous``
        or ``no-option``.

        Args:
            expected: the right answer.
            foils: wrong option to its kind, as the battery names it.

        >>> Reading(("boat",)).error("boot", {"boat": "phonological"})
        'phonological'
        >>> Reading(("boat", "boot")).error("boot", {}), Reading().error("boot", {})
        ('ambiguous', 'no-option')
        """
        if self.ambiguous:
            return "ambiguous"
        if self.chosen is None:
            return "no-option"
        if self.chosen == expected:
            return None
        return foils.get(self.chosen, OTHER_OPTION)


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
        return {"exact": self.exact, "normalised": self.normalised, "extracted": self.extracted}[
            policy
        ]


def read_choice(response: str, options: Sequence[str], prompts: Sequence[str] = ()) -> Choice:
    """Read which option a response names.

    - *exact*: the response, outer white space trimmed, equals an option, case-sensitive [ours;
      TAB, appendix B.6 says only "an item from the provided list"].
    - *normalised*: the same after case is folded and outer quotes and one final stop are removed,
      on both sides.
    - *extracted*: the option that a careful reader takes for the answer; the rules are those of
      :func:`tabwb.scoring.extraction.named_options`. What is read as *normalised* is read so too.

    A response may name several options: that is *ambiguous* and never correct.

    Args:
        response: the text, unaltered.
        options: in the order given.
        prompts: what was sent and the item's own prompt; their text is no answer.

    >>> answer = read_choice("Boot.", ["boot", "boat"])
    >>> answer.exact.chosen, answer.normalised.chosen, answer.extracted.chosen
    (None, 'boot', 'boot')
    >>> read_choice("Answer: lion. It has a mane.", ["knife", "lion"]).extracted.chosen
    'lion'
    >>> read_choice("boot or boat", ["boot", "boat"]).extracted.ambiguous
    True
    """
    choices = tuple(dict.fromkeys(options))
    trimmed, folded = response.strip(), normalised(response)
    plain = Reading(tuple(option for option in choices if folded and normalised(option) == folded))
    return Choice(
        exact=Reading(tuple(option for option in choices if option.strip() == trimmed)),
        normalised=plain,
        extracted=plain
        if plain.named
        else Reading(tuple(choices[at] for at in named_options(response, choices, prompts))),
    )
