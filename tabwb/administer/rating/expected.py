"""What a plan can be expected to give: widths of intervals, and minutes of work."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from tabwb.battery.forms import Form
from tabwb.records.rating_sets import Sample, SampleRating

PREVALENCES = (0.05, 0.1, 0.2, 0.35, 0.5)
KAPPAS = (0.3, 0.6)
"""For which intervals are forecast: about what TAB reports (0.286), and twice that."""
MOST_STUDIES = 8
"""Simulated for each forecast."""
SIMULATED = 4_000
"""Samples of all simulated studies of a forecast; at least four studies are simulated."""
WORDS_PER_MINUTE = 200
"""Of reading; an assumption until ratings with the form are stored."""
SECONDS_PER_QUESTION = 3.0
SECONDS_PER_SCALE = 5.0
PLAYED = 2.5
"""How often a sound is heard."""
LEAST_RATINGS = 10
"""So many stored ratings with the form replace the assumptions."""


@dataclass(frozen=True, slots=True)
class Width:
    """The expected width of the 95 % interval of a coefficient for one feature.

    Attributes:
        pairs: number of pairs of raters over which the coefficient is the mean.
        n: samples that several raters rate; of one pair those that both rate.
        prevalence: the share of samples that each rater calls present.
        kappa: agreement that is assumed.
        of_kappa, of_ac1: expected widths; None where too few samples have the feature for an
            interval.
    """

    pairs: int
    n: int
    prevalence: float
    kappa: float
    of_kappa: float | None
    of_ac1: float | None


def expected_widths(
    n: int,
    *,
    raters: int = 2,
    each: int = 2,
    seed: int = 0,
) -> tuple[Width, ...]:
    """Return the expected widths for one pair of raters, or over all pairs.

    They are those of :func:`tabwb.agreement.compare.expected_width`.
    """
    from tabwb.agreement.compare import expected_width

    studies = max(4, min(MOST_STUDIES, SIMULATED // max(n, 1)))
    widths = []
    for kappa in KAPPAS:
        for prevalence in PREVALENCES:
            one = expected_width(
                n, prevalence, kappa, raters=raters, per_sample=each, studies=studies, seed=seed
            )
            pairs = raters * (raters - 1) // 2
            widths.append(Width(pairs, n, prevalence, kappa, one.kappa, one.ac1))
    return tuple(widths)


def expected_seconds(form: Form, sample: Sample) -> float:
    """Return the assumed seconds for one sample: reading, listening and answering.

    Reading at 200 words a minute, each sound played 2.5 times, 3 s for a question of present or
    absent and 5 s for any other.
    """
    shown = " ".join((sample.prompt, sample.context_before, sample.text, sample.context_after))
    reading = len(shown.split()) * 60 / WORDS_PER_MINUTE
    audio = sample.audio
    listening = 0.0 if audio is None or not form.spoken else PLAYED * (audio.end_s - audio.start_s)
    answering = sum(
        SECONDS_PER_QUESTION if question.kind == "present-absent" else SECONDS_PER_SCALE
        for question in form.questions
    )
    return reading + listening + answering


def measured_seconds(ratings: Iterable[SampleRating]) -> float | None:
    """Return the median of seconds of complete ratings; None with fewer than ten."""
    seconds = [one.seconds for one in ratings if one.complete and one.seconds > 0]
    return statistics.median(seconds) if len(seconds) >= LEAST_RATINGS else None
