"""Choosing among options by how likely a model finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabwb.records.exchange import Likelihood


@dataclass(frozen=True, slots=True)
class LikelihoodChoice:
    """Which option is the most likely one, by three measures.

    Attributes:
        by_sum: by the summed log probability: the answer.
        per_token: by the mean over the option's tokens.
        per_character: by the mean over the option's characters.
    """

    by_sum: str
    per_token: str
    per_character: str


def choose_by_likelihood(options: Mapping[str, Likelihood]) -> LikelihoodChoice:
    """Return the most likely of the options; of equal ones the first.

    With L(o) = sum over the tokens t_i of option o of ln p(t_i | prompt, t_1 ... t_(i-1)), in nats:
    ``by_sum`` maximises L(o), ``per_token`` L(o) / tokens(o), ``per_character`` L(o) /
    characters(o). The sum decides: it is the probability that the model writes the option. It
    favours short options, so that the normalised choices are kept beside it. In
    lm-evaluation-harness they are called ``acc`` (sum) and ``acc_norm`` (per character).

    That the answer must be one of the options is TAB, appendix B.6 (one-token outputs enforced);
    an option that is no token of its own is weighed whole.

    Args:
        options: the likelihood of each option after the same prompt.

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
