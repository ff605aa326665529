"""What differs in amount between administrations: lesions, sizes of models, other numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tabwb.lesion.spec import parse_lesions
from tabwb.records.condition_kinds import Real, Whole
from tabwb.records.condition_table import compared, declared
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT, Conditions
from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.errors import UsageError
from tabwb.report.noise_keys import noise_of
from tabwb.report.summaries.counted import model_of, spec_of

LESION, PARAMETERS = "lesion", "parameters"
NOISE, CHECKPOINT = "prompt_noise", "checkpoint"
REFERENCED = LESION, NOISE, CHECKPOINT
"""Of these an administration without an amount is the reference: intact, or the parent."""
SIZED = "family", "tuning", "parameters"
"""What profiles say of models that are compared by size."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SEED = re.compile(r"([@,])seed=([^,@]*)")


def doses() -> tuple[str, ...]:
    """Return what can be an amount: of perturbations, sizes of models, conditions as numbers."""
    numbers = (
        condition.id
        for condition in CONDITIONS
        if isinstance(condition.kind, Real | Whole) and condition.id != "seed"
    )
    return *REFERENCED, PARAMETERS, *numbers


def name_of_amounts(by: str, key: str = "") -> str:
    """Return what amounts are, for axes and captions.

    >>> name_of_amounts("lesion"), name_of_amounts("lesion", "bits"), name_of_amounts("max_tokens")
    ('amount of the lesion', 'bits of the lesion', 'max tokens')
    """
    names = {
        LESION: f"{key or 'amount'} of the lesion",
        NOISE: "amount of prompt noise",
        CHECKPOINT: "dose of the checkpoint",
        PARAMETERS: "number of parameters",
    }
    return names.get(by) or by.replace("_", " ")


def amount_words(by: str, amount: float) -> str:
    """Return an amount as an axis has it.

    >>> amount_words("parameters", 1_240_000_000), amount_words("lesion", 0.3)
    ('1.24B', '0.3')
    """
    return size_words(amount) if by == PARAMETERS else f"{amount:g}"


def size_words(parameters: float) -> str:
    """Return a number of parameters in words.

    >>> size_words(1_240_000_000), size_words(494e6), size_words(64_000), size_words(12)
    ('1.24B', '494M', '64K', '12')
    """
    for unit, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("K", 1e3)):
        if parameters >= scale:
            return f"{parameters / scale:.3g}{unit}"
    return f"{parameters:g}"


def lesion_dose(spec: str, key: str = "") -> tuple[str, float, str]:
    """Return the kind of a lesion, its amount, and its seed.

    The kind is the spec with ``*`` for the amount and without the seed. The amount is the only
    number between its marks, or that of an option.

    >>> lesion_dose("mlp.down:zero:0.3@seed=7")
    ('mlp.down:zero:*', 0.3, '7')
    >>> lesion_dose("noise:mlp@layers=2,sigma=0.05,seed=1", "sigma")
    ('noise:mlp@layers=2,sigma=*', 0.05, '1')
    >>> lesion_dose("mlp.up:zero:0.3@layers=0-2,seed=7+mlp.down:zero:0.3@layers=0-2,seed=7")
    ('mlp.up:zero:*@layers=0-2+mlp.down:zero:*@layers=0-2', 0.3, '7')
    """
    try:
        lesions = parse_lesions(spec)
    except UsageError:  # made with another tool
        return _any_dose(spec, key)
    key = key or "amount"
    amounts = {getattr(one, key, None) for one in lesions}
    seeds = {str(one.seed) for one in lesions if one.draws}
    amount = amounts.pop()
    if amounts or not isinstance(amount, float) or len(seeds) > 1:
        raise UsageError(
            f"the lesion '{spec}' has more than one seed"
            if len(seeds) > 1
            else f"the lesion '{spec}' has not one {key}",
            allowed="lesions joined by + with one amount and one seed; or amount=factor, "
            "amount=sigma where these differ",
        )
    return "+".join(one.kind(key) for one in lesions), amount, "".join(seeds)


def _any_dose(spec: str, key: str) -> tuple[str, float, str]:
    seed = _SEED.search(spec)
    rest = _SEED.sub("", spec)
    if "," in rest and "@" not in rest:  # the seed was the first option
        rest = rest.replace(",", "@", 1)
    parts = re.split(r"([:@,=+])", rest)
    found = [
        at
        for at, part in enumerate(parts)
        if _NUMBER.fullmatch(part) and (not key or parts[max(at - 2, 0) : at] == [key, "="])
    ]
    if len(found) != 1:
        what = f"no amount '{key}'" if key else f"{len(found) or 'no'} numbers"
        raise UsageError(
            f"the lesion '{spec}' has {what}",
            allowed="one number, its amount",
            hint="" if key or not found else "name the option that is the amount: amount=KEY",
        )
    (at,) = found
    kind = "".join((*parts[:at], "*", *parts[at + 1 :]))
    return kind, float(parts[at]), seed[2] if seed else ""


@dataclass(frozen=True, slots=True)
class Dose:
    """Of an administration: to what series it belongs, the amount, the seed.

    Attributes:
        examinee: without the lesion; of sizes the family with its tuning; of a checkpoint its
            parent.
        kind: of the lesion or prompt noise, without amount and seed, or what a checkpoint's dose
            is; empty of an intact model, and of other amounts.
        conditions: all others that must be alike: name and value.
        amount: None of an intact model.
        seed: of the draws; where nothing is drawn, of the run.
        drawn: whether that seed decides something of the lesion, noise or answers.
    """

    examinee: str
    kind: str
    conditions: tuple[tuple[str, str], ...]
    amount: float | None
    seed: str
    drawn: bool = True


def dose_of(given: Conditions, by: str, key: str = "") -> Dose:
    """Return the dose of an administration."""
    alike = tuple(sorted(compared(given, [by]).items()))
    if by == PARAMETERS:
        family, tuning, size = (given.labels.get(name, "") for name in SIZED)
        kin = " ".join(filter(None, (family or "family unknown", tuning)))
        amount = float(size) if size.isdecimal() else None
        return Dose(kin, given.lesion or "", alike, amount, str(given.seed))
    if by in (NOISE, CHECKPOINT):
        return _noise_dose(given, alike) if by == NOISE else _checkpoint_dose(given, alike)
    if by != LESION:
        value = declared(by).of(given)
        amount = None if value is None else float(value)
        return Dose(model_of(given), "", alike, amount, str(given.seed))
    examinee, seed = spec_of(given), str(given.seed)
    if given.lesion is None:
        return Dose(examinee, "", alike, None, seed)
    kind, amount, own = lesion_dose(given.lesion, key)
    return Dose(examinee, kind, alike, amount, own or seed, bool(own))


def _noise_dose(given: Conditions, alike: tuple[tuple[str, str], ...]) -> Dose:
    noise = noise_of(given)
    if noise is None and given.prompt_noise is not None:
        raise UsageError(f"the prompt noise '{given.prompt_noise}' has no amount")
    if noise is None:
        return Dose(model_of(given), "", alike, None, str(given.seed))
    seed, kind = noise.seed if noise.draws else given.seed, f"prompt noise {noise.kind()}"
    return Dose(model_of(given), kind, alike, noise.amount, str(seed), noise.draws)


def _checkpoint_dose(given: Conditions, alike: tuple[tuple[str, str], ...]) -> Dose:
    labels = given.labels
    if PARENT not in labels:
        return Dose(model_of(given), "", alike, None, str(given.seed))
    if DOSE not in labels:
        raise UsageError(f"the checkpoint {given.examinee} has no dose")
    kin = model_of(replace(given, examinee=labels[PARENT]))
    kind = f"{labels.get(DOSE_NAME, DOSE)} *"
    return Dose(kin, kind, alike, float(labels[DOSE]), str(given.seed), drawn=False)
