"""Sentences about perturbations other than lesions: prompt noise and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabwb.battery.prompt_noise import OPERATIONS, VERSION
from tabwb.media.sentences import listed, percent, ranges, spread
from tabwb.media.studied import Studied, is_persons, is_recorded
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT
from tabwb.records.words import plural
from tabwb.report.file_names import without_folders
from tabwb.report.noise_keys import noise_of
from tabwb.report.summaries.load import AdministrationData
from tabwb.scoring.dose import LEAST_SEEDS

Members = Sequence[AdministrationData]


def perturbations(about: Studied) -> Iterator[str]:
    """Yield which checkpoints have which parents, and which items were given with prompt noise."""
    members = [member for member in about.members if not is_persons(member)]
    yield from _checkpoints(about, members)
    yield from _noises(about, members)


def over_other_amounts(about: Studied) -> Iterator[str]:
    """Yield how values by the amount of prompt noise and by temperature are averaged."""
    noise: dict[tuple[str, str], set[float]] = {}
    temperatures: dict[str, set[float]] = {}
    for member in about.members:
        given = member.administration.conditions
        if is_persons(member) or is_recorded(member) or given.lesion:
            continue
        if found := noise_of(given):
            noise.setdefault((about.name(member), found.kind()), set()).add(found.amount)
        elif not given.prompt_noise:
            temperatures.setdefault(about.name(member), set()).add(given.decoding.temperature)
    several = {
        "the amount of prompt noise (seeds of the noise)": noise.values(),
        "the temperature (seeds of the runs)": temperatures.values(),
    }
    named = [name for name, sets in several.items() if any(len(one) > 1 for one in sets)]
    if named:
        yield (
            f"Values by {listed(named)} are means over seeds, with t intervals where there are "
            f"{LEAST_SEEDS} seeds or more: for other draws, the same model and exactly these "
            "items."
        )


def _checkpoints(about: Studied, members: Members) -> Iterator[str]:
    children = [m for m in members if m.administration.conditions.labels.get(PARENT)]

    def parent(member: AdministrationData) -> str:
        return without_folders(member.administration.conditions.labels[PARENT])

    for name, own in spread(children, parent):
        told = {
            about.name(member): _distance(member.administration.conditions.labels) for member in own
        }
        shown = (f"{child} ({distance})" if distance else child for child, distance in told.items())
        one = len(told) == 1
        yield f"{listed(shown)} {'is a checkpoint' if one else 'are checkpoints'} of {name}."
    if children:
        yield "Parents and doses of checkpoints are as declared; they were not measured."


def _distance(labels: Mapping[str, str]) -> str:
    dose, name = labels.get(DOSE, ""), labels.get(DOSE_NAME, "")
    return f"{dose} {name}".strip() if dose else ""


def _noises(about: Studied, members: Members) -> Iterator[str]:
    noisy = [member for member in members if _spec(member)]
    if not noisy:
        return
    given = dict(spread(noisy, about.name))

    def specs(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(_spec, given[name])))

    for own, names in spread(given, specs):
        were = "were each" if len(names) > 1 else "was"
        yield (
            f"{listed(names)} {were} given the items under {plural(len(own), 'perturbation')} of "
            f"their texts (prompt noise): {'; '.join(_grids(given[names[0]]))}."
        )
    yield (
        "Prompt noise changed the items' own texts; instructions, options and system messages "
        "stayed as they are, and responses were scored against the unchanged items."
    )
    noises = [noise for m in noisy if (noise := noise_of(m.administration.conditions))]
    if any(noise.draws for noise in noises):
        yield (
            f"Its draws ({VERSION}: the BLAKE2b hash of seed, item and place in the text) are the "
            "same for every model."
        )
    if any(noise.amount < 1 for noise in noises):
        yield (
            "Each unit was taken by itself, with the probability of the share; with one seed a "
            "larger share contains a smaller one."
        )
    both = [member for member in noisy if member.administration.conditions.lesion]
    if both:
        yield f"Prompt noise and a lesion acted together for {about.some(both)}."


def _grids(members: Members) -> Iterator[str]:
    """Yield the prompt noise of a model: each operation with its shares and seeds."""
    amounts: dict[tuple[str, str], dict[float, set[int]]] = {}
    for member in members:
        noise = noise_of(member.administration.conditions)
        if noise is None:  # made with another tool
            yield _spec(member)
            continue
        seeds = amounts.setdefault((noise.unit, noise.operation), {}).setdefault(
            noise.amount, set()
        )
        if noise.draws:
            seeds.add(noise.seed)
    for (unit, operation), own in amounts.items():
        by_seeds: dict[frozenset[int], list[str]] = {}
        for amount, seeds in sorted(own.items()):
            by_seeds.setdefault(frozenset(seeds), []).append(percent(amount))
        shares = (
            f"a share of {listed(having, 'or')} %{_seeds(seeds)}"
            for seeds, having in by_seeds.items()
        )
        yield f"{unit}:{operation} ({OPERATIONS[unit][operation].meaning}), {listed(shares)}"


def _seeds(seeds: frozenset[int]) -> str:
    if not seeds:
        return ""
    return f" with {'seed' if len(seeds) == 1 else 'seeds'} {ranges(seeds)}"


def _spec(member: AdministrationData) -> str:
    return member.administration.conditions.prompt_noise or ""
