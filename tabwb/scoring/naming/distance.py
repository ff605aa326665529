"""Distance from target: the phonemes of a response compared with the accepted forms.

It is not PER or FER, which compare a transcriber with a human transcript of the same speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.phonology.distance import Alignment, align_features, align_phonemes
from tabwb.phonology.inventory import SILENT
from tabwb.scoring.naming.target import Accepted
from tabwb.scoring.text import contains


@dataclass(frozen=True, slots=True)
class TargetDistance:
    """Distance of a response from the nearest accepted form.

    Attributes:
        form: the nearest.
        phonemes: alignment by phonemes; its rate is edits over the form's phonemes.
        features: alignment by features, for display; its rate is over 24 x the form's phonemes.
    """

    form: Accepted
    phonemes: Alignment
    features: Alignment

    @property
    def phoneme_rate(self) -> float:
        """Phoneme edits over the accepted form's length; may exceed 1."""
        return self.phonemes.distance / self.phonemes.length

    @property
    def feature_rate(self) -> float:
        """Feature distance over 24 times the accepted form's length."""
        return self.features.distance / self.features.length

    def to_json(self) -> dict[str, object]:
        """Return the distance for documents; a step of the trace is op, accepted, said, cost."""
        return {
            "form": " ".join(self.form.phonemes),
            "phonemes": self.phoneme_rate,
            "phoneme_distance": self.phonemes.distance,
            "phoneme_length": self.phonemes.length,
            "features": self.feature_rate,
            "feature_distance": self.features.distance,
            "feature_length": self.features.length,
            "trace": [[step.op, step.ref, step.hyp, step.cost] for step in self.features.steps],
        }


def distance_from_target(
    phonemes: Sequence[str], accept: Sequence[Accepted]
) -> TargetDistance | None:
    """Return the distance to the nearest accepted form; None without a phoneme.

    The nearest form is one that the response contains without interruption; then by feature rate,
    by phoneme rate, and in the battery's order [ours]. Meant for correct and phonological attempts:
    see :data:`tabwb.scoring.naming.codes.CODES` for the codes where it is meaningful.

    Args:
        phonemes: phonemes of the response; silence and noise are left out.
        accept: the accepted forms.

    >>> found = distance_from_target("D AO G AH".split(), [Accepted(("D", "AO", "G"), "citation")])
    >>> found.phonemes.distance, found.phonemes.length, found.features.distance
    (1.0, 3, 22.0)
    """
    spoken = [phoneme for phoneme in phonemes if phoneme not in SILENT]
    if not spoken:
        return None
    distances = (
        TargetDistance(
            form, align_phonemes(form.phonemes, spoken), align_features(form.phonemes, spoken)
        )
        for form in accept
    )
    return min(
        distances,
        key=lambda distance: (
            not contains(spoken, distance.form.phonemes),
            distance.feature_rate,
            distance.phoneme_rate,
        ),
        default=None,
    )
