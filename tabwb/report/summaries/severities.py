"""What can be given at several amounts: lesions, prompt noise, checkpoints, temperature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tabwb.records.condition_table import compared
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.report.summaries.counted import spec_of
from tabwb.report.summaries.doses import CHECKPOINT, LESION, NOISE, Dose, dose_of, name_of_amounts


@dataclass(frozen=True, slots=True)
class Severity:
    """An ordered value that administrations differ in.

    Attributes:
        name: of the value, in words.
        dose: of an administration: without an amount where it is the reference of others.
        between: stands between model and kind in the name of a series.
        referred: whether there is a reference, the model without it.
    """

    name: str
    dose: Callable[[Conditions], Dose]
    between: str = " + "
    referred: bool = True


def _lesion(key: str, given: Conditions) -> Dose:
    return dose_of(given, LESION, key)


def _alone(by: str, given: Conditions) -> Dose:
    """Return the dose of prompt noise or of a checkpoint without another perturbation."""
    if given.lesion is not None or (by != NOISE and given.prompt_noise is not None):
        raise UsageError(f"the {by} is not given by itself")
    return dose_of(given, by)


def _temperature(given: Conditions) -> Dose:
    if given.lesion is not None or given.prompt_noise is not None:
        raise UsageError("the temperature is not given by itself")
    alike = tuple(sorted(compared(given, ["temperature"]).items()))
    amount = given.decoding.temperature
    drawn = not given.decoding.greedy or given.item_order != "as-given"
    drawn = drawn or given.option_order != "as-given"
    return Dose(spec_of(given), "temperature *", alike, amount, str(given.seed), drawn)


LESIONS = (
    Severity("amount of the lesion", partial(_lesion, "")),
    *(
        Severity(f"{name} of the lesion", partial(_lesion, name))
        for name in ("factor", "sigma", "bits")
    ),
)
SEVERITIES = (
    *LESIONS,
    *(Severity(name_of_amounts(by), partial(_alone, by)) for by in (NOISE, CHECKPOINT)),
    Severity("temperature", _temperature, ", ", referred=False),
)
"""In the order of tables."""
