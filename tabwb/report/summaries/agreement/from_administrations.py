"""Verdicts of stored administrations as arrays: judges and people, response by response."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import CANNOT_TELL, MISSING, Verdicts
from tabwb.records.counting import UNSURE, rule_of
from tabwb.records.errors import UsageError
from tabwb.records.ratings import prompt_hash
from tabwb.records.words import plural
from tabwb.report.summaries.agreement.from_naming import RULES, Heard, heard_in, listener
from tabwb.report.summaries.agreement.rated import (
    Ints,
    Measure,
    Rated,
    is_judge,
    judges_among,
)
from tabwb.report.summaries.columns.table import Table, table_of
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.load import load_columns
from tabwb.store.store import Store


def rated_administrations(
    store: Store, references: Sequence[int | str], *, judges: Collection[str] = ()
) -> Rated:
    """Return what every rater of some administrations says of their features and names.

    A response that is not usable counts for nobody, and equal responses that were not drawn again
    count once. A feature outside of a rater's declared set is left out, because the rater could
    never find it absent. What a judge said under different prompts is of different raters.
    """
    loaded = load_columns(store, references)
    if len({data.battery.content_hash for data in loaded}) > 1:
        raise UsageError("the administrations are of several batteries", hint="name those of one")
    numbers = [f"#{data.administration.id}" for data in loaded]
    named = ", ".join(numbers[:6]) + (", ..." if numbers[6:] else "")
    source = f"{plural(len(loaded), 'administration')} ({named})"
    if not loaded:
        raise UsageError("the store has no administration", hint="tabwb run BATTERY --model SPEC")
    sources = [data.source for data in loaded]
    heard = heard_in(sources)
    table = table_of(sources)
    raters, found = _verdicts(table, [feature.id for feature in table.battery.features])
    if not raters and not heard.given:
        features = {feature.id for feature in table.battery.features}
        if any(features & given.measures.keys() for given in table.columns.ratings.values()):
            raise UsageError(
                f"no rated response of {source} can be described",
                hint="responses that are refused, an echo of the prompt ... count for nobody",
            )
        raise UsageError(
            f"nobody has rated a feature or a name of {source}",
            hint="tabwb judge run ID --judge SPEC, or tabwb rate plan",
        )
    return _joined(store, table, source, raters, found, heard, judges)


def repeated_verdicts(
    store: Store,
    places: Sequence[tuple[int, int, int]],
    raters: Sequence[str],
    features: Sequence[str],
    samples: int = 0,
) -> tuple[Verdicts, ...]:
    """Return what judges said of responses when they were asked again: a layer for each time."""
    row_of = {place: row for row, place in enumerate(places)}
    rater_of = {rater: row for row, rater in enumerate(raters)}
    shape = len(raters), max(samples, len(places)), len(features)
    layers: dict[int, Verdicts] = {}
    for place, rater, repeat, values in store.repetitions(sorted({one for one, *_ in places})):
        if place in row_of and rater in rater_of:
            layer = layers.setdefault(repeat, np.full(shape, MISSING, np.int8))
            for at, feature in enumerate(features):
                if feature in values:
                    layer[rater_of[rater], row_of[place], at] = values[feature] != 0
    return tuple(layers[repeat] for repeat in sorted(layers))


def verdicts_at(
    store: Store, places: Sequence[tuple[int, int, int]], features: Sequence[str]
) -> tuple[dict[str, Verdicts], Ints | None, int]:
    """Return what judges say of some responses, who said these, and how many are not usable.

    Returns:
        Judge to int8 of shape (responses, features); of each response the number of its speaker,
        None where all differ; and the number of responses on which no judge has a say, because
        they are not usable.
    """
    loaded = load_columns(store, sorted({number for number, *_ in places}))
    found: dict[str, Verdicts] = {}
    row_of = {place: row for row, place in enumerate(places)}
    speakers: list[str] = [""] * len(places)
    unusable = 0
    by_battery: dict[str, list[Source]] = {}
    for data in loaded:
        by_battery.setdefault(data.battery.content_hash, []).append(data.source)
    for sources in by_battery.values():
        table = table_of(sources)
        which, rows = [], []
        for row, name in enumerate(_places(table, np.arange(len(table)))):
            if name in row_of:
                which.append(row_of[name])
                rows.append(row)
                source = table.sources[int(table.source[row])]
                speakers[which[-1]] = source.examinee if source.is_speaker else ""
        unusable += int((~table.usable[rows]).sum())
        raters, verdicts = _verdicts(table, features)
        # A response that counts as another one has the verdicts of that one.
        places_of = (np.cumsum(table.counts) - 1)[table.representative[rows]]
        for (rater, judge), layer in zip(raters, verdicts, strict=True):
            if judge:
                empty = np.full((len(places), len(features)), MISSING, np.int8)
                found.setdefault(rater, empty)[which] = layer[places_of]
    kept = {rater: layer for rater, layer in found.items() if (layer != MISSING).any()}
    return kept, _numbered(speakers), unusable


def _verdicts(table: Table, features: Sequence[str]) -> tuple[list[tuple[str, bool]], Verdicts]:
    """Return raters, whether each is a judge, and their verdicts on the responses that count."""
    unsure = [number for number, text in table.columns.reasons.items() if text == UNSURE]
    counts = int(table.counts.sum())
    raters: list[tuple[str, bool]] = []
    layers: list[Verdicts] = []
    for rater in sorted(table.columns.ratings):
        if rule_of(rater):
            continue
        for label, judge, places, own in _versions(table, rater, features):
            rows = table.chosen(rater)
            inside = table.usable[rows] & np.isin(table.source[rows], places)
            layer = np.full((counts, len(features)), MISSING, np.int8)
            for at, feature in enumerate(features):
                if feature not in own:
                    continue
                given = table.measure(rater, feature, rows)
                said = inside & ~np.isnan(given.values)
                layer[said, at] = given.values[said] != 0
                if unsure:
                    layer[inside & np.isin(given.reasons, unsure), at] = CANNOT_TELL
            if (layer != MISSING).any():
                raters.append((label, judge))
                layers.append(layer)
    shape = (0, counts, len(features))
    return raters, np.stack(layers) if layers else np.empty(shape, np.int8)


def _versions(
    table: Table, rater: str, features: Sequence[str]
) -> Iterator[tuple[str, bool, list[int], set[str]]]:
    """Yield label, whether it is a judge, administrations and features of a rater, by prompt."""
    if not table.columns.ratings[rater].measures.keys() & set(features):
        return
    by_prompt: dict[str, list[int]] = {}
    own: dict[str, set[str]] = {}
    kinds: set[str] = set()
    for place, source in enumerate(table.sources):
        declared = source.declarations.get(rater)
        prompt = "" if declared is None else (prompt_hash(declared.prompt_text) or "")
        by_prompt.setdefault(prompt, []).append(place)
        own.setdefault(prompt, set())
        if declared is None or not (declared.features or declared.measures):
            continue
        kinds.add(declared.kind)
        own[prompt].update(declared.features)
    if "scorer" in kinds:
        return
    judge = "person" not in kinds and (bool(kinds) or is_judge(rater))
    for prompt, places in by_prompt.items():
        label = listener(rater)
        if prompt and len([one for one in by_prompt if one]) > 1:
            label = f"{rater} (prompt {prompt[:8]})"
        yield label, judge, places, own[prompt] & set(features) or set(features)


def _joined(
    store: Store,
    table: Table,
    source: str,
    raters: Sequence[tuple[str, bool]],
    found: Verdicts,
    heard: Heard,
    judges: Collection[str],
) -> Rated:
    """Return responses with verdicts, then names with scores, over all raters."""
    features = table.battery.features
    given = found != MISSING
    rated, used = np.flatnonzero(given.any(axis=(0, 2))), np.flatnonzero(given.any(axis=(0, 1)))
    rows = np.flatnonzero(table.counts)[rated]
    names = list(dict.fromkeys((*(name for name, _ in raters), *heard.raters)))
    n, spoken = len(rows), len(heard.samples)
    verdicts = np.full((len(names), n + spoken, len(used)), MISSING, np.int8)
    verdicts[: len(raters), :n] = found[:, rated][..., used]
    right = np.full((len(names), n + spoken, len(RULES)), MISSING, np.int8)
    right[:, n:] = heard.right(names)
    scored = "score" in heard.given
    declared = [name for name, judge in raters if judge]
    people = {name for name, judge in raters if not judge}
    measures = tuple(Measure(features[at].id, features[at].title) for at in used.tolist())
    places = tuple(_places(table, rows))
    return Rated(
        source=source,
        samples=(*("{}:{}:{}".format(*place) for place in places), *heard.samples),
        raters=tuple(names),
        judges=frozenset({*declared, *heard.machines, *(judges_among(names, judges) - people)}),
        features=measures,
        verdicts=verdicts,
        again=repeated_verdicts(
            store, places, names, [measure.id for measure in measures], n + spoken
        ),
        correctness=tuple(Measure(rule, title) for rule, title in RULES.items()) if scored else (),
        right=right if scored else None,
        others=heard.answers(names, n),
        speakers=_speakers(table, rows, heard),
        flagged=_flagged(store, places, names, n + spoken),
    )


def _flagged(
    store: Store, places: Sequence[tuple[int, int, int]], raters: Sequence[str], samples: int
) -> NDArray[np.bool_] | None:
    """Return which ratings are doubtful; None where no response is in a rating set.

    A person's rating in a later set replaces that in an earlier one.
    """
    row_of = {place: row for row, place in enumerate(places)}
    found = np.zeros((len(raters), samples), bool)
    told = False
    for kept in store.sets.all():
        rows = {
            one.number: row
            for one in store.sets.samples(kept.id)
            if (row := row_of.get((one.administration, one.trial, one.attempt))) is not None
        }
        if not rows:
            continue
        told = True
        given = store.sets.arrays(kept.id)
        inside = [at for at, number in enumerate(given.samples.tolist()) if number in rows]
        to = np.array([rows[number] for number in given.samples[inside].tolist()])
        for rater, seconds, flagged in zip(given.raters, given.seconds, given.flagged, strict=True):
            if rater in raters:
                rated = ~np.isnan(seconds[inside])
                found[raters.index(rater), to[rated]] = flagged[inside][rated]
    return found if told else None


def _places(table: Table, rows: Ints) -> Iterator[tuple[int, int, int]]:
    """Yield administration, trial and attempt of responses."""
    numbers = np.array([table.columns.administrations[place] for place in table.members])
    own = table.rows[rows]
    parts = (numbers[table.source[rows]], table.columns.trials[own], table.columns.attempts[own])
    yield from zip(*(part.tolist() for part in parts), strict=True)


def _speakers(table: Table, rows: Ints, heard: Heard) -> Ints | None:
    spoken = [source.examinee if source.is_speaker else "" for source in table.sources]
    return _numbered([*(spoken[place] for place in table.source[rows].tolist()), *heard.speakers])


def _numbered(speakers: Sequence[str]) -> Ints | None:
    """Return a number for each speaker; a text without a speaker (empty) has its own number."""
    number = {name: at for at, name in enumerate(dict.fromkeys(filter(None, speakers)))}
    alone = iter(range(len(number), len(number) + len(speakers)))
    if len(number) == sum(map(bool, speakers)):
        return None
    return np.array([number[name] if name else next(alone) for name in speakers], np.int64)
