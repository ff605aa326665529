"""Responses that can be rated, and the samples that are made of those drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabwb.administer.rating.presentation import presented
from tabwb.battery.forms import Form
from tabwb.records.rating_sets import Answer, AudioCut, Presentation, Sample


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored response that can be rated.

    Attributes:
        administration, trial, attempt: its numbers in the store.
        place: subtest and item.
        stratum: what it is sampled by, in words; empty where all are sampled together.
        by_model: whether a model made it.
        text: as it was stored.
        prompt: of the item.
        cut: whether a limit ended it.
        before, after: the responses around it in the administration, where they are wanted.
        picture: path within the battery, or None.
        target: the word that was expected, or empty.
        audio: where it is recorded, or None.
    """

    administration: int
    trial: int
    attempt: int
    place: tuple[str, str]
    stratum: str = ""
    by_model: bool = False
    text: str = ""
    prompt: str = ""
    cut: bool = False
    before: str = ""
    after: str = ""
    picture: str | None = None
    target: str = ""
    audio: AudioCut | None = None

    @property
    def key(self) -> tuple[int, int]:
        """Administration and trial."""
        return self.administration, self.trial


def sample_of(
    number: int,
    candidate: Candidate,
    form: Form,
    policy: Presentation,
    *,
    weight: float = 1.0,
    stratum: str | None = None,
    consensus: Mapping[str, Answer] | None = None,
) -> Sample:
    """Return a sample with the parts that the form shows, under the policy of the set."""
    shows = set(form.shows)
    text = candidate.text if "text" in shows else ""
    around = replace(policy, max_words=None)
    return Sample(
        number,
        *candidate.key,
        candidate.attempt,
        presented(text, policy, cut=candidate.cut and bool(text)),
        candidate.prompt if "prompt" in shows else "",
        presented(candidate.before, around) if "text" in shows else "",
        presented(candidate.after, around) if "text" in shows else "",
        candidate.stratum if stratum is None else stratum,
        weight,
        candidate.audio if "audio" in shows else None,
        candidate.picture if "picture" in shows else None,
        candidate.target if "target" in shows else "",
        consensus,
    )
