"""Sentences about lesions: what was changed in which models, how it was drawn, and its controls.

A sweep has hundreds of lesions. They are told as the grids that they form, so that the sentences
name exactly the lesions that were given and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from pathlib import PurePath
from typing import Any

from tabwb.lesion.declared import (
    CONTROL,
    CONTROL_ROLES,
    CONTROLS,
    MEASURES,
    OPERATIONS,
    SELECTIONS,
    SPREAD_OVER,
    TARGETS,
)
from tabwb.lesion.facts import CHECK_TEXT, DRAWS
from tabwb.lesion.items import shipped_items
from tabwb.lesion.numbers import numbers_text
from tabwb.lesion.spec import Lesion, parse_lesions
from tabwb.lesion.values import role_of
from tabwb.media.references import (
    ALKHAMISSI,
    CRAWFORD_HOWELL,
    FEDORENKO,
    WELCH,
    Citations,
)
from tabwb.media.sentences import listed, percent, ranges, spread
from tabwb.media.studied import Studied, is_persons
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.dose_lines import parameters_of, perplexity_of
from tabwb.report.summaries.load import AdministrationData
from tabwb.scoring.dose import LEAST_SEEDS

Members = Sequence[AdministrationData]
_DRAWS: Mapping[str, str] = {
    "tabwb-lesion-1": "SFC64, seeded with the BLAKE2b hash of seed and name",
}
"""Version of the draws to how they are made."""


@dataclass(frozen=True, slots=True)
class _Box:
    """Lesions that are every combination of their targets, layers, amounts and seeds.

    Attributes:
        targets: ids, or ids with plus signs between where lesions were joined.
        layers: sets of layers; an empty set is all layers.
        amounts: shares of units.
        numbers: factors, sigmas or bits of the operation; empty where it needs none.
        seeds: of the draws; empty where nothing was drawn.
        kind: what all have in common, with any target of their unit; None with ``spec``.
        spec: of joined lesions that differ in more than the target, without a common seed.
    """

    targets: tuple[str, ...]
    layers: tuple[tuple[int, ...], ...]
    amounts: tuple[float, ...]
    numbers: tuple[float, ...]
    seeds: tuple[int, ...]
    kind: Lesion | None
    spec: str = ""

    @property
    def n(self) -> int:
        """How many lesions."""
        sides = (self.targets, self.layers, self.amounts, self.numbers, self.seeds)
        return prod(max(1, len(side)) for side in sides)


def lesions(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield which lesions each model was given under, how units were drawn, and their controls."""
    lesioned = [m for m in about.members if not is_persons(m) and _spec(m)]
    if not lesioned:
        return
    given: dict[str, Members] = dict(spread(lesioned, about.name))

    def specs(name: str) -> frozenset[tuple[str, bool]]:
        return frozenset((_spec(member), _is_control(member)) for member in given[name])

    for _, names in spread(given, specs):
        yield from _given(about, names, given[names[0]])
    targets = dict.fromkeys(
        target
        for box in _boxes(dict.fromkeys(map(_spec, lesioned)))
        for joined in box.targets
        for target in joined.split("+")
    )
    if targets:
        yield f"The targets are {listed(f'{one} ({TARGETS[one].meaning})' for one in targets)}."
    found = _lesions_of(lesioned)
    yield from _localized(found, cite)
    yield from _drawn(lesioned, [one for one in found if one.draws])
    yield (
        "Each lesion changed a copy of the intact weights, so no lesion acted on weights that "
        "another had changed; all items of an administration were given under one lesion."
    )
    for name, members in given.items():
        yield from _sizes(name if len(given) > 1 else "", members)
    checked = {name: _checked(about, members) for name, members in given.items()}
    if any(checked.values()):
        texts = dict.fromkeys(one.model_facts.get(CHECK_TEXT, "") for one in lesioned)
        shown = [
            f"{value} ({name})" if len(given) > 1 else value
            for name, value in checked.items()
            if value
        ]
        yield (
            "To check that predictions changed, the perplexity of a fixed text "
            f"({listed(filter(None, texts))}) was measured: {'; '.join(shown)}."
        )


def over_amounts(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield how values by the amount of a lesion are averaged, where lesions have several."""
    members = [m for m in about.members if not is_persons(m) and _spec(m) and not _is_control(m)]
    if not any(
        len(box.amounts) > 1 or len(box.numbers) > 1
        for box in _boxes(dict.fromkeys(map(_spec, members)))
    ):
        return
    yield (
        "Values by the amount of a lesion are means over its seeds, with t intervals where there "
        f"are {LEAST_SEEDS} seeds or more: for other draws of units, the same model and exactly "
        "these prompts. Differences to controls are paired by seed; where the seeds are others, "
        "Welch's test is used. Corrected p values are by Holm's method, over the lesions, subtests "
        "and features of one measure."
    )
    alone = any(not one.draws for one in _lesions_of(members))
    if alone and any(_is_control(one) for one in about.members):
        yield (
            "A lesion of which nothing is drawn is one condition: it is compared with its controls "
            f"as a single case with a sample {cite(CRAWFORD_HOWELL)}, and the interval of the "
            "difference is a prediction interval, for one more control."
        )


def _given(about: Studied, names: Sequence[str], members: Members) -> Iterator[str]:
    given = dict.fromkeys(
        (_spec(one), role_of(_spec(one), one.administration.tags)) for one in members
    )
    of_roles = {
        noun: _boxes(spec for spec, role in given if role == noun)
        for noun in ("lesion", *CONTROL_ROLES)
    }
    counts = [
        plural(sum(box.n for box in boxes), noun) for noun, boxes in of_roles.items() if boxes
    ]
    were = "were each" if len(names) > 1 else "was"
    intact = [name for name in names if _intact(about, name)]
    if len(intact) == len(names):
        counts.insert(0, "no lesion")
    elif intact:
        counts.append(f"{listed(intact)} also under no lesion")
    yield f"{listed(names)} {were} given the items under {listed(counts)}."
    yield from map(_in_words, of_roles["lesion"])
    for kind in CONTROLS.values():
        controls = of_roles[kind.role]
        yield from (_in_words(box, kind.role) for box in controls if not _is_spread(box))
        spread_out = [box for box in controls if _is_spread(box)]
        if spread_out:
            amounts = [amount for box in spread_out for amount in box.amounts]
            yield (
                f"{plural(sum(box.n for box in spread_out), kind.role)} took weights "
                f"{kind.meaning}, each with the operation of a lesion, its seed if it has one, "
                f"and on average as many weights as that lesion ({percent(min(amounts))} to "
                f"{percent(max(amounts))} % of them)."
            )


def _intact(about: Studied, name: str) -> list[AdministrationData]:
    return [
        m for m in about.members if not is_persons(m) and about.name(m) == name and not _spec(m)
    ]


def _is_spread(box: _Box) -> bool:
    kind = box.kind
    return kind is not None and box.targets == (SPREAD_OVER,) and kind.select == "random"


def _spec(member: AdministrationData) -> str:
    return member.administration.conditions.lesion or ""


def _is_control(member: AdministrationData) -> bool:
    return CONTROL in member.administration.tags


def _boxes(specs: Iterable[str]) -> list[_Box]:
    """Return lesions as grids: a side is joined where all other sides are the same."""
    boxes = [_single(spec) for spec in specs]
    for side in ("seeds", "amounts", "numbers", "layers", "targets"):
        others = [one.name for one in fields(_Box) if one.name != side]
        alike: dict[tuple[Any, ...], list[_Box]] = {}
        for box in boxes:
            alike.setdefault(tuple(getattr(box, name) for name in others), []).append(box)
        boxes = [_joined(own, side) for own in alike.values()]
    return boxes


def _joined(boxes: Sequence[_Box], side: str) -> _Box:
    """Return boxes as one that has all their values of a side, numbers in ascending order."""
    values = list(dict.fromkeys(value for box in boxes for value in getattr(box, side)))
    changed: dict[str, Any] = {side: tuple(values if side == "targets" else sorted(values))}
    return replace(boxes[0], **changed)


def _single(text: str) -> _Box:
    try:
        found = parse_lesions(text)
    except UsageError:  # made with another tool
        return _Box((), (), (), (), (), None, text)
    seeds = {one.seed for one in found if one.draws}
    kinds = {_kind(one) for one in found}
    sides = {(one.layers, one.amount, one.number) for one in found}
    if len(seeds) > 1:
        return _Box((), (), (), (), (), None, text)
    if len(kinds) > 1 or len(sides) > 1:
        spec = "+".join(one.kind(amount="") for one in found)
        return _Box((), (), (), (), tuple(seeds), None, spec)
    targets = "+".join(one.target for one in found)
    ((layers, amount, number),) = sides
    numbers = () if number is None else (number,)
    return _Box((targets,), (layers,), (amount,), numbers, tuple(seeds), kinds.pop())


def _kind(lesion: Lesion) -> Lesion:
    """Return a lesion without layers, amount, number and seed, with any target of its unit."""
    own = TARGETS[lesion.target]
    like = next(
        one.id for one in TARGETS.values() if (one.unit, one.in_layers) == (own.unit, own.in_layers)
    )
    return replace(
        lesion, target=like, layers=(), amount=1.0, factor=None, sigma=None, bits=None, seed=0
    )


def _in_words(box: _Box, noun: str = "lesion") -> str:
    count = plural(box.n, noun)
    one = len(box.seeds) == 1
    seeds = f", {'seed' if one else 'seeds'} {ranges(box.seeds)}" if box.seeds else ""
    kind = box.kind
    if kind is None:
        return f"{count} had the spec {without_folders(box.spec)}{seeds}."
    operation, target = OPERATIONS[kind.operation], TARGETS[kind.target]
    numbers = listed((f"{number:g}" for number in box.numbers), "or") if box.numbers else ""
    meaning = operation.meaning.replace(f"{operation.option}=", numbers) if numbers else (
        operation.meaning
    )  # fmt: skip
    whole = box.amounts == (1.0,)
    chosen = "" if kind.select == "random" else SELECTIONS[kind.select]
    if kind.file:
        chosen = f"{chosen.replace('file=', PurePath(kind.file).name)}, SHA-256 {kind.sha256}"
    shares = ("the" if kind.file else "all") if whole else (
        f"{listed(map(percent, box.amounts), 'or')} % of the"
    )  # fmt: skip
    among = f" {numbers_text(kind.units)}" if kind.units else ""
    chosen = f" ({chosen})" if chosen and (kind.file or not whole) else ""
    of = f" of {listed(box.targets, 'or')}" if target.unit == "weight" else ""
    where = f", in {_layers(box.layers)}" if target.in_layers else ""
    if target.unit == "layer":
        where = f", among {_layers(box.layers)}" if any(box.layers) else ""
    return (
        f"{count} ({kind.operation}: {meaning}) took {shares} {target.unit}s{among}{of}{chosen}"
        f"{where}{seeds}."
    )


def _layers(layers: Sequence[tuple[int, ...]]) -> str:
    if layers == ((),):
        return "all layers"
    if all(len(one) == 1 and one[0] >= 0 for one in layers):
        numbers = [one[0] for one in layers]
        return f"layer {numbers[0]}" if len(numbers) == 1 else f"one of layers {ranges(numbers)}"
    sets = (f"layers {numbers_text(one)}" if one else "all layers" for one in layers)
    return listed(sets, "or")


def _lesions_of(members: Members) -> list[Lesion]:
    found: list[Lesion] = []
    for text in dict.fromkeys(map(_spec, members)):
        try:
            found += parse_lesions(text)
        except UsageError:  # made with another tool
            continue
    return found


def _localized(found: Iterable[Lesion], cite: Citations) -> Iterator[str]:
    """Yield the contrast by which the localizer selects units."""
    targets = dict.fromkeys(one.target for one in found if one.source == "localizer")
    if not targets:
        return
    items = shipped_items()
    measured = (f"{MEASURES[target]} ({target})" for target in targets)
    yield (
        f"The localizer takes the units with the largest t of Welch {cite(WELCH)} for "
        f"{len(items.first.texts)} {items.first.label} against {len(items.second.texts)} lists of "
        f"{items.second.label} ({items.name}), the contrast of a functional localizer of the "
        f"language network in people {cite(FEDORENKO)} that was used for units of language models "
        f"{cite(ALKHAMISSI)}. The response of a unit to a text is the mean over its tokens of the "
        f"{listed(measured)}."
    )


def _drawn(members: Members, found: Sequence[Lesion]) -> Iterator[str]:
    """Yield how units were chosen, where a seed decided it."""
    if not found:
        return
    units = {TARGETS[one.target].unit for one in found if one.select == "random" and one.amount < 1}
    if "weight" in units:
        yield "Each weight was taken by itself, with the probability of the share."
    if whole := sorted(units - {"weight"}):
        yield f"Of {listed(f'{unit}s' for unit in whole)} the rounded number was drawn."
    stored = dict.fromkeys(member.model_facts.get(DRAWS, "") for member in members)
    versions = [f"{one} ({_DRAWS[one]})" if one in _DRAWS else one for one in stored if one]
    how = listed(versions) if versions else "of an unknown version"
    yield (
        "The draws of a part depend on the seed of the lesion and the part's name (such as "
        f"3.attention.q) alone; they are {how}."
    )
    if not all(one.is_control for one in found):
        beside = any(one.is_control for one in found)
        but = ", except of the controls of selected units" if beside else ""
        yield f"With one seed a larger share contains a smaller one{but}."


def _sizes(name: str, members: Members) -> Iterator[str]:
    taken = [size for member in members if (size := parameters_of(member)) is not None]
    wholes = {member.model_facts.get("parameters", "") for member in members}
    if not taken or len(wholes) != 1:
        return
    (whole,) = wholes
    between = f"{min(taken):,}" if min(taken) == max(taken) else f"{min(taken):,} to {max(taken):,}"
    of = f" of the {int(whole):,} parameters" if whole.isdecimal() else " parameters"
    what = "Lesions and controls" if any(map(_is_control, members)) else "Lesions"
    yield f"{what} took {between}{of} of {name or 'the model'}."


def _checked(about: Studied, members: Members) -> str:
    """Return the perplexity of the fixed text, intact and its range under lesions, or nothing."""
    if not any(member.model_facts.get(CHECK_TEXT) for member in members):
        return ""
    intact = _intact(about, about.name(members[0]))
    known = [value for m in members if (value := perplexity_of(m.model_facts)) is not None]
    before = {value for m in intact if (value := perplexity_of(m.model_facts)) is not None}
    shown = [f"{listed(map(_count, sorted(before)))} without a lesion"] if before else []
    if known:
        ends = dict.fromkeys(map(_count, (min(known), max(known))))
        controls = " and controls" if any(map(_is_control, members)) else ""
        shown.append(f"{' to '.join(ends)} under lesions{controls}")
    missing = len(members) - len(known)
    undefined = f", undefined under {missing:,} of them" if missing else ""
    return f"{listed(shown) if shown else 'no value'}{undefined}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e7 else f"{value:.3g}"
