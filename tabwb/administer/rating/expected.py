"""What a plan can be expected to give: widths of intervals, and minutes of work."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabwb.battery.forms import Form
from tabwb.records.rating_sets import Sample, SampleRating

PREVALENCES = (0.05, 0.1, 0.2, 0.35, 0.5)
KAPPAS = (0.3, 0.6)
"""For which intervals are forecast: about what TAB reports (0.286), and twice that."""
TABLES = 30
"""Simulated studies for each forecast."""
DRAWS = 300
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
    """The expected width of the 95 % interval of a coefficient for two raters.

    Attributes:
        prevalence: the share of samples that each rater calls present.
        kappa: agreement that is assumed.
        n: samples that both rate.
        of_kappa, of_ac1: expected widths, or None where no interval is defined.
    """

    prevalence: float
    kappa: float
    n: int
    of_kappa: float | None
    of_ac1: float | None


def expected_widths(
    n: int,
    *,
    prevalences: Sequence[float] = PREVALENCES,
    kappas: Sequence[float] = KAPPAS,
    seed: int = 0,
) -> tuple[Width, ...]:
    """Return the expected widths of the intervals of kappa and AC1 for two raters.

    For each pair of prevalence p and kappa k, tables of n samples are drawn whose cells have the
    shares p^2 + kp(1-p) (both present), p(1-p)(1-k) twice, and (1-p)^2 + kp(1-p); the width is the
    mean over these tables of the interval that agreement prints (quantiles over
    Dirichlet(cells + 1/2)).

    Args:
        n: samples that both raters rate.
        prevalences: shares of present, of both raters.
        kappas: agreement.
        seed: of the draws.
    """
    import numpy as np

    from tabwb.agreement.intervals import dirichlet_intervals
    from tabwb.agreement.pairs import cohen_kappa, gwet_ac1

    widths = []
    for place, (prevalence, kappa) in enumerate((p, k) for k in kappas for p in prevalences):
        both = kappa * prevalence * (1 - prevalence)
        apart = prevalence * (1 - prevalence) - both
        shares = [(1 - prevalence) ** 2 + both, apart, apart, prevalence**2 + both]
        generator = np.random.Generator(np.random.PCG64([seed, place]))
        tables = generator.multinomial(n, shares, TABLES).reshape(TABLES, 2, 2).astype(np.int64)
        of_each = []
        for coefficient in (cohen_kappa, gwet_ac1):
            ends = dirichlet_intervals(tables, coefficient, draws=DRAWS, seed=seed)
            spans = (ends[:, 1] - ends[:, 0])[~np.isnan(ends[:, 0])]
            of_each.append(float(spans.mean()) if spans.size else None)
        widths.append(Width(prevalence, kappa, n, *of_each))
    return tuple(widths)


def expected_seconds(form: Form, sample: Sample) -> float:
    """Return the assumed seconds for one sample: reading, listening and answering.

    Reading at 200 words a minute, each sound played 2.5 times, 3 s for a question of present or
    absent and 5 s for any other.

    Args:
        form: with the questions.
        sample: to rate.
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
    """Return the median of seconds of complete ratings; None with fewer than ten.

    Args:
        ratings: with the same form.
    """
    seconds = [one.seconds for one in ratings if one.complete and one.seconds > 0]
    return statistics.median(seconds) if len(seconds) >= LEAST_RATINGS else None
