"""Ratings of administrations, naming sessions and rating sets as arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.administer.naming.scores import CORRECT, listener_codes
from tabwb.administer.naming.views import NamingView, observations_of
from tabwb.administer.rating.hybrid import AUDIT, FREQUENT
from tabwb.agreement.verdicts import CANNOT_TELL, MISSING, Verdicts, cut_at, verdicts_of
from tabwb.analysis.administrations import AdministrationData, load_columns
from tabwb.analysis.frame import Table, table_of
from tabwb.analysis.rated import Answers, Guesses, Ints, Measure, Rated, is_judge, judges_among
from tabwb.analysis.ratings_table import read_ratings
from tabwb.battery.form_answers import of_attempts, whole_response
from tabwb.battery.forms import KINDS, SOURCE, Form, Kind, Question
from tabwb.battery.naming import naming_item
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.files import is_stdin
from tabwb.records.rating_sets import CANNOT_TELL as UNSURE
from tabwb.records.rating_sets import Answer, RatingSet, Sample, SampleRating, is_rater
from tabwb.records.ratings import CALIBRATED, prompt_hash, rule_of
from tabwb.records.ratings import UNSURE as UNSURE_REASON
from tabwb.records.speech import is_typed
from tabwb.records.words import plural
from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.naming.target import Rule, right_by_score
from tabwb.store.set_arrays import SetArrays
from tabwb.store.sets import asked_by
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.rules import NamingRules

WORDS = ("choice", "phonemes", "text")
"""Kinds of questions whose answers are words."""
TABLES = (".csv", ".tsv", ".tab", ".txt")
FORM = "tab-19"
"""The form that marks objective and subjective features of TAB."""


def is_table(name: str) -> bool:
    """Return whether a name means a table of ratings: a file, standard input, or one's ending.

    >>> is_table("ratings.csv"), is_table("-"), is_table("12"), is_table("pilot")
    (True, True, False, False)
    """
    path = Path(name)
    return is_stdin(path) or path.suffix.lower() in TABLES or (not name.isdecimal() and "/" in name)


def rated_of(
    names: Sequence[int | str],
    opened: Callable[[], AbstractContextManager[Store]],
    form_of: Callable[[str], Form],
    *,
    judges: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> Rated:
    """Return the ratings that names mean."""
    for name in judges:
        if name.startswith(CALIBRATED):
            raise UsageError(
                f"'{name}' gives probabilities, and agreement is defined for verdicts",
                where="--judge",
                hint=f"how well the judge agrees: --judge {name.removeprefix(CALIBRATED)}; its "
                f"rates and burden after calibration: tabwb results --by model --judge {name}",
            )
    words = [str(name) for name in names]
    if any(map(is_table, words)):
        if len(names) > 1:
            raise UsageError("a table of ratings is read alone", allowed="one file")
        table = read_ratings(Path(words[0]), judges=judges, kinds=_checked(kinds or {}))
        return _told_apart(table, form_of)
    if kinds:
        raise UsageError("kinds apply to tables: the form of a set defines its measures")
    with opened() as store:
        if len(words) == 1 and not words[0].isdecimal():
            try:
                number = store.sets.get(words[0]).id
            except StoreError as error:
                _check_administration(store, words[0], error)
            else:
                return rated_set(store, number, judges=judges)
        return _told_apart(rated_administrations(store, names, judges=judges), form_of)


def _told_apart(rated: Rated, form_of: Callable[[str], Form]) -> Rated:
    """Return ratings of TAB's features with titles, and objective and subjective ones marked."""
    form = form_of(FORM)
    own = {question.measure: question for question in form.questions}
    if not rated.features or any(feature.id not in own for feature in rated.features):
        return rated
    features = tuple(
        replace(feature, title=own[feature.id].title, objective=own[feature.id].objective)
        for feature in rated.features
    )
    return replace(rated, features=features, objective_source=form.objective_source)


def _check_administration(store: Store, name: str, error: StoreError) -> None:
    """Check that a name that is of no rating set is of an administration."""
    try:
        store.administration(name)
    except TabwbError:
        sets = ", ".join(one.name for one in store.sets.all())
        raise UsageError(
            f"there is no rating set, administration or table '{name}'",
            allowed=f"rating sets: {sets}" if sets else "a number, a uid, or a file of ratings",
            hint="tabwb rate list, tabwb results",
        ) from error


def _checked(kinds: Mapping[str, str]) -> dict[str, Kind]:
    checked: dict[str, Kind] = {}
    for name, given in kinds.items():
        kind = next((kind for kind in KINDS if kind == given), None)
        if kind is None:
            raise UsageError(
                f"'{given}' is not a kind of measure", where="--kind", allowed=", ".join(KINDS)
            )
        checked[name] = kind
    return checked


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
    sources = list(loaded)
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
    by_battery: dict[str, list[AdministrationData]] = {}
    for data in loaded:
        by_battery.setdefault(data.battery.content_hash, []).append(data)
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
    unsure = [number for number, text in table.columns.reasons.items() if text == UNSURE_REASON]
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


def rated_set(store: Store, ref: int | str, *, judges: Collection[str] = ()) -> Rated:
    """Return what the raters of a set and the judges of its responses say.

    What counts is each person's first rating of a sample; what a person rated again is kept apart.
    Judges have verdicts on the features that the form asks for and they judge.
    """
    kept = store.sets.get(ref)
    form = asked_by(kept)
    given = store.sets.arrays(kept.id)
    if not given.raters:
        raise UsageError(
            f"nobody has rated a sample of '{kept.name}' completely yet",
            hint=f"tabwb rate start {kept.name} --rater CODE",
        )
    samples = store.sets.samples(kept.id)
    questions = [one for one in form.questions if one.is_feature]
    measures = [one.measure for one in questions]
    found, names, speakers, unusable = _judged(store, samples, measures, judges)
    people = given.raters
    verdicts = _padded(_features(given, questions), len(names))
    verdicts[len(people) :] = found
    ratings = (
        store.sets.ratings(kept.id) if any(one.kind in WORDS for one in form.questions) else ()
    )
    right = _right(ratings, form, given)
    raters = (*people, *names)
    if right is not None and len(raters) == 1:
        numbers = " ".join(map(str, dict.fromkeys(one.administration for one in samples)))
        raise UsageError(
            f"rating set '{kept.name}' has the ratings of one rater: {people[0]}",
            hint=f"with the listeners of the naming session: tabwb agreement {numbers}",
        )
    places = [(one.administration, one.trial, one.attempt) for one in samples]
    repeats = repeated_verdicts(store, places, raters, measures)
    again = _again(store.sets.arrays(kept.id, "again"), given, questions, repeats, len(names))
    return Rated(
        source=f"rating set '{kept.name}'",
        samples=tuple(str(sample.number) for sample in samples),
        raters=raters,
        judges=frozenset(names),
        features=tuple(
            Measure(one.measure, one.title, objective=one.objective) for one in questions
        ),
        verdicts=verdicts,
        again=again,
        correctness=tuple(Measure(rule, title) for rule, title in RULES.items())
        if right is not None
        else (),
        right=None if right is None else _padded(right, len(names)),
        others=tuple(_others(ratings, form, given, len(names))),
        adjudicated=_adjudicated(store, kept, given.samples, questions),
        speakers=speakers,
        objective_source=form.objective_source,
        guesses=_guesses(store, samples, ratings),
        notes=(*_cuts(questions), *_notes(store, kept, samples, unusable)),
        flagged=np.concatenate([given.flagged, np.zeros((len(names), len(samples)), bool)]),
    )


def _features(given: SetArrays, questions: Sequence[Question]) -> Verdicts:
    """Return the verdicts of people: int8 of (raters, samples, features)."""
    columns = [given.measures.index(one.measure) for one in questions]
    verdicts = verdicts_of(given.values[..., columns])
    verdicts[given.cannot_tell[..., columns]] = CANNOT_TELL
    return verdicts


def _padded(values: NDArray[Any], raters: int, missing: float = MISSING) -> NDArray[Any]:
    """Return values with rows of further raters without any."""
    shape = (raters, *values.shape[1:])
    return np.concatenate([values, np.full(shape, missing, values.dtype)])


def _again(
    again: SetArrays,
    first: SetArrays,
    questions: Sequence[Question],
    repeats: tuple[Verdicts, ...],
    judges: int,
) -> tuple[Verdicts, ...]:
    """Return what people, and judges, said later, in the rows of the first ratings."""
    if not again.raters or not questions:
        return repeats
    shape = (len(first.raters) + judges, len(first.samples), len(questions))
    found = repeats[0] if repeats else np.full(shape, MISSING, np.int8)
    for verdicts, rater in zip(_features(again, questions), again.raters, strict=True):
        if rater in first.raters:
            found[first.raters.index(rater)] = verdicts
    return (found, *repeats[1:])


def _judged(
    store: Store, samples: Sequence[Sample], measures: Sequence[str], judges: Collection[str]
) -> tuple[Verdicts, list[str], Ints | None, int]:
    """Return verdicts and names of judges, speakers, and the number of unusable samples."""
    places = [(one.administration, one.trial, one.attempt) for one in samples]
    layers, speakers, unusable = verdicts_at(store, places, measures)
    for name in judges:
        if name not in layers:
            raise UsageError(
                f"judge '{name}' has judged none of the samples",
                where="--judge",
                allowed=", ".join(layers) or "no judge has judged them",
            )
    names = [name for name in layers if not judges or name in judges]
    shape = (0, len(samples), len(measures))
    found = np.stack([layers[name] for name in names]) if names else np.empty(shape, np.int8)
    return found, names, speakers, unusable


def _right(ratings: Sequence[SampleRating], form: Form, given: SetArrays) -> Verdicts | None:
    """Return whether names are right by both rules; None where the form asks for no score."""
    question = next((one for one in form.questions if one.measure == CORRECT), None)
    if question is None or question.kind != "choice":
        return None
    answers = _answers(ratings, question, given)
    return right_of(answers, (len(given.raters), len(given.samples)))


def _answers(
    ratings: Sequence[SampleRating], question: Question, given: SetArrays
) -> list[tuple[tuple[int, int], Answer]]:
    """Return (place of rater, place of sample) with the answer about the whole response."""
    place = {number: at for at, number in enumerate(given.samples.tolist())}
    rows = ((one, of_attempts(question, one.answers)) for one in ratings if one.purpose == "rate")
    found = (
        ((given.raters.index(one.rater), place[one.sample]), _whole(question, answers))
        for one, answers in rows
    )
    return [(where, answer) for where, answer in found if answer is not None]


def _whole(question: Question, answers: tuple[Answer, ...]) -> Answer:
    """Return one answer: of phonemes and words those of all attempts, in order."""
    if question.kind not in ("phonemes", "text"):
        return whole_response(question, answers)
    said = [str(answer) for answer in answers if answer is not None]
    return (" <sil> " if question.kind == "phonemes" else ", ").join(said) or None


def _others(
    ratings: Sequence[SampleRating], form: Form, given: SetArrays, judges: int
) -> Iterator[Answers]:
    """Yield the raw values of scales, then choices, transcripts and words heard."""
    for question in sorted(form.questions, key=lambda one: one.kind != "scale"):
        measure = Measure(question.measure, question.title, question.kind, question.objective)
        words: tuple[str, ...] = ()
        if question.kind == "scale":
            at = given.measures.index(question.measure)
            values, unsure = given.raw[..., at], int(given.cannot_tell[..., at].sum())
        elif question.kind in WORDS and question.measure != SOURCE:
            said = _answers(ratings, question, given)
            texts = {(given.raters[rater], sample): str(answer)
                     for (rater, sample), answer in said if answer != UNSURE}  # fmt: skip
            made = answers_of(measure, texts, given.raters, 0, len(given.samples))
            values, words = made.values, made.words
            unsure = sum(answer == UNSURE for _, answer in said)
        else:
            continue
        yield Answers(measure, _padded(values, judges, np.nan), words, unsure)


def _adjudicated(
    store: Store, kept: RatingSet, samples: Ints, questions: Sequence[Question]
) -> Verdicts | None:
    """Return what was settled of features: int8 of (samples, features); None where nothing was."""
    settled = store.sets.adjudications(kept.id)
    place = {number: at for at, number in enumerate(samples.tolist())}
    column = {question.measure: at for at, question in enumerate(questions)}
    found = np.full((len(samples), len(questions)), MISSING, np.int8)
    for one in settled:
        if one.sample in place and one.measure in column:
            at = column[one.measure]
            number = questions[at].number(one.answer)
            if one.answer == UNSURE:
                found[place[one.sample], at] = CANNOT_TELL
            elif number is not None:
                found[place[one.sample], at] = cut_at(np.array([number]), 1.0)[0]
    return found if (found != MISSING).any() else None


def _cuts(questions: Sequence[Question]) -> Iterator[str]:
    """Yield from which value of a scale on a feature is present."""
    cuts = sorted({one.cut for one in questions if one.cut is not None})
    if cuts:
        which = f"{cuts[0]} on" if len(cuts) == 1 else "the value on that the form names"
        yield f"A feature rated on a scale is present from {which}; the table of scales has values."


def _notes(store: Store, kept: RatingSet, samples: Sequence[Sample], unusable: int) -> list[str]:
    """Return what is to be known of the set: what is unusable, weights, how calibration went."""
    notes = []
    if unusable:
        notes.append(
            f"{plural(unusable, 'sample')} of {len(samples)} cannot be described (refused, an echo "
            "...): verdicts of people count, judges have none."
        )
    if {sample.stratum for sample in samples} & {AUDIT, FREQUENT}:
        notes.append(
            "Verdicts of a judge decided which responses people rated (--hybrid): in these samples "
            "the sensitivity of this judge is too high and its specificity too low."
        )
    if len({sample.weight for sample in samples if sample.consensus is None}) > 1:
        notes.append(
            "The samples stand for unequal numbers of responses; the coefficients describe the "
            "samples, not these responses."
        )
    known = {one.number: one.consensus for one in samples if one.consensus}
    right: dict[str, list[bool]] = {}
    for rating in store.sets.ratings(kept.id) if known else ():
        if rating.purpose == "calibration":
            for measure, answer in (known.get(rating.sample) or {}).items():
                if rating.answers.get(measure) is not None:
                    right.setdefault(rating.rater, []).append(rating.answers[measure] == answer)
    for rater, answers in right.items():
        notes.append(
            f"Calibration before the ratings: {rater} gave {sum(answers)} of "
            f"{plural(len(answers), 'known answer')}."
        )
    return notes


def _guesses(
    store: Store, samples: Sequence[Sample], ratings: Sequence[SampleRating]
) -> tuple[Guesses, ...]:
    """Return how often each rater told whether a person or a machine made a sample."""
    made_by = {
        number: store.administration(number).conditions.made_by
        for number in {sample.administration for sample in samples}
    }
    origin = {sample.number: made_by[sample.administration] for sample in samples}
    said = {"person": "human", "machine": "model"}
    right: dict[str, list[bool]] = {}
    for rating in ratings:
        guess = said.get(str(rating.answers.get(SOURCE)))
        if rating.purpose == "rate" and guess and origin.get(rating.sample) in said.values():
            right.setdefault(rating.rater, []).append(guess == origin[rating.sample])
    return tuple(
        Guesses(rater, sum(given), len(given), clopper_pearson(sum(given), len(given)))
        for rater, given in right.items()
    )


RULES: Mapping[Rule, str] = {
    "correct-any": "Right, a self-correction counts",
    "correct-first": "Right at the first attempt",
}
TITLES: Mapping[str, tuple[str, Kind]] = {
    "code": ("Code", "choice"),
    "heard": ("Word heard", "text"),
    "phonemes": ("Transcript", "phonemes"),
}
"""Measures of listeners besides the score: title and kind of answer."""


@dataclass(slots=True)
class Heard:
    """What listeners said, by measure: rater and sample to what was said.

    Attributes:
        samples: ids of the responses.
        machines: the transcribers that are not people, files of transcripts among them.
        given: measure to (rater, place of the sample) to the text.
        speakers: of each sample.
    """

    samples: list[str] = field(default_factory=list)
    given: dict[str, dict[tuple[str, int], str]] = field(default_factory=dict)
    speakers: list[str] = field(default_factory=list)
    machines: set[str] = field(default_factory=set)

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who said anything, in order of appearance."""
        return tuple(dict.fromkeys(rater for given in self.given.values() for rater, _ in given))

    def say(self, measure: str, rater: str, text: str) -> None:
        """Keep what a rater says of the sample that was added last."""
        self.given.setdefault(measure, {})[rater, len(self.samples) - 1] = text

    def right(self, raters: Sequence[str]) -> Verdicts:
        """Return whether each name is right by each rule: int8 of (raters, samples, rules)."""
        scores = self.given.get("score", {}).items()
        given = [((raters.index(rater), sample), score) for (rater, sample), score in scores]
        return right_of(given, (len(raters), len(self.samples)))

    def answers(self, raters: Sequence[str], before: int = 0) -> tuple[Answers, ...]:
        """Return the other measures as numbers; ``before``: samples without names before these."""
        n = len(self.samples)
        return tuple(
            answers_of(Measure(name, *TITLES[name]), self.given[name], raters, before, n)
            for name in TITLES
            if name in self.given
        )


def right_of(scores: Iterable[tuple[tuple[int, int], Answer]], shape: tuple[int, int]) -> Verdicts:
    """Return whether names are right by each rule: int8 of (raters, samples, rules)."""
    found = np.full((*shape, len(RULES)), MISSING, np.int8)
    for place, score in scores:
        for at, rule in enumerate(RULES):
            right = CANNOT_TELL if score == UNSURE else right_by_score(str(score), rule)
            if right is not None:
                found[(*place, at)] = right
    return found


def answers_of(
    measure: Measure,
    given: Mapping[tuple[str, int], str],
    raters: Sequence[str],
    before: int,
    samples: int,
) -> Answers:
    """Return texts as places in the list of different texts; words heard in small letters."""
    if measure.kind == "text":
        given = {key: text.strip().casefold() for key, text in given.items()}
    words = tuple(sorted(set(given.values())))
    place = {word: at for at, word in enumerate(words)}
    values = np.full((len(raters), before + samples), np.nan)
    for (rater, sample), text in given.items():
        values[raters.index(rater), before + sample] = place[text]
    return Answers(measure, values, words)


def heard_in(sources: Sequence[AdministrationData]) -> Heard:
    """Return what listeners and transcribers said of the naming responses of administrations."""
    found = Heard()
    for source in sources:
        for trial in source.trials:
            subtest = source.battery.subtest(trial.plan.subtest)
            attempt = trial.counting
            if not subtest.task.coded or trial.plan.practice or attempt is None:
                continue
            item = naming_item(subtest.item(trial.plan.item))
            rules = subtest.naming or NamingRules()
            view = NamingView(trial, item, rules, observations_of(trial))
            found.samples.append(f"{trial.plan.item}:{trial.plan.number}:{attempt.number}")
            found.speakers.append(source.examinee)
            for scored in view.scores:
                found.say("score", listener(scored.by), scored.score)
            for by, code in listener_codes(view):
                found.say("code", listener(by), code)
            for heard in view.words_heard:
                found.say("heard", listener(heard.by), heard.text)
            for transcript in view.transcripts:
                if transcript.status != "error":
                    if not by_person(transcript.transcriber):
                        found.machines.add(transcript.transcriber)
                    phonemes = " ".join(view.sounds(transcript).phonemes)
                    found.say("phonemes", listener(transcript.transcriber), phonemes)
    return found


def listener(by: str) -> str:
    """Return the code of a person from a rater or transcriber as it is stored; else its spec.

    >>> listener("person:R1"), listener("person"), listener("manual:R2"), listener("bundled-words")
    ('R1', 'person', 'R2', 'bundled-words')
    >>> listener("manual:ears/typed.tsv")
    'manual:ears/typed.tsv'
    """
    if is_typed(by) and not by_person(by):
        return by
    return by.removeprefix("person:").removeprefix("manual:")


def by_person(transcriber: str) -> bool:
    """Return whether a transcriber is a person whose code is known; a file of transcripts is not.

    >>> by_person("manual:R2"), by_person("manual:ears/typed.tsv"), by_person("bundled-words")
    (True, False, False)
    """
    return is_typed(transcriber) and is_rater(transcriber.partition(":")[2])
