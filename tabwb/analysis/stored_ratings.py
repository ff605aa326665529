"""Ratings of administrations, naming sessions and rating sets as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import ABSENT, CANNOT_TELL, MISSING, PRESENT, Verdicts
from tabwb.analysis.administrations import AdministrationData, load_columns
from tabwb.analysis.frame import Table, table_of
from tabwb.analysis.keys import is_filter
from tabwb.analysis.ratings import (
    Gathered,
    Guesses,
    Ints,
    Measure,
    Rated,
    is_judge,
    judges_among,
    read_ratings,
)
from tabwb.analysis.selection import named_in
from tabwb.battery.forms import (
    KINDS,
    SOURCE,
    Form,
    Kind,
    Question,
    flag_of,
    of_attempts,
    whole_response,
)
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.files import is_stdin
from tabwb.records.naming import CORRECT
from tabwb.records.rating_sets import (
    AUDIT,
    FREQUENT,
    Answer,
    RatingSet,
    Sample,
    SampleRating,
    is_rater,
)
from tabwb.records.rating_sets import CANNOT_TELL as UNSURE
from tabwb.records.ratings import CALIBRATED, prompt_hash, rule_of
from tabwb.records.ratings import UNSURE as UNSURE_REASON
from tabwb.records.speech import is_typed
from tabwb.records.words import plural
from tabwb.scoring.estimate import clopper_pearson
from tabwb.store.sets import asked_by
from tabwb.store.store import Store

Place = tuple[int, int, int]
"""Administration, trial and attempt of a response."""
WORDS = ("choice", "phonemes", "text")
"""Kinds of questions whose answers are words."""
HEARD: Mapping[str, Measure] = {
    "code": Measure("code", "Code", "choice"),
    "heard": Measure("heard", "Word heard", "text"),
    "phonemes": Measure("phonemes", "Transcript", "phonemes"),
}
"""Measures of listeners besides the score."""
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
    opened: Callable[[], AbstractContextManager[Store]] | None,
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
    assert opened is not None
    with opened() as store:
        if any(map(is_filter, words)):
            names = named_in(store, names)
        elif len(words) == 1 and not words[0].isdecimal():
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
    sources = list(load_columns(store, references))
    if len({data.battery.content_hash for data in sources}) > 1:
        raise UsageError("the administrations are of several batteries", hint="name those of one")
    numbers = [f"#{data.administration.id}" for data in sources]
    named = ", ".join(numbers[:6]) + (", ..." if numbers[6:] else "")
    source = f"{plural(len(sources), 'administration')} ({named})"
    if not sources:
        raise UsageError("the store has no administration", hint="tabwb run BATTERY --model SPEC")
    heard: list[tuple[str, str, list[Said]]] = []
    if any(one.battery.coded for one in sources):
        from tabwb.analysis.statistics.naming import heard_in

        heard = list(heard_in(sources))
    listeners = [listener(by) for *_, said in heard for _, by, _ in said]
    table = table_of(sources)
    features = table.battery.features
    layers = _verdicts(table, [feature.id for feature in features])
    if not layers and not listeners:
        own = {feature.id for feature in features}
        if any(own & given.measures.keys() for given in table.columns.ratings.values()):
            raise UsageError(
                f"no rated response of {source} can be described",
                hint="responses that are refused, an echo of the prompt ... count for nobody",
            )
        raise UsageError(
            f"nobody has rated a feature or a name of {source}",
            hint="tabwb judge run ID --judge SPEC, or tabwb rate plan",
        )
    found = np.zeros((int(table.counts.sum()), len(features)), bool)
    for layer, _ in layers.values():
        found |= layer != MISSING
    rated, used = np.flatnonzero(found.any(axis=1)), np.flatnonzero(found.any(axis=0))
    rows = np.flatnonzero(table.counts)[rated]
    places = list(_places(table, rows))
    samples = (*("{}:{}:{}".format(*place) for place in places), *(name for name, *_ in heard))
    gathered = Gathered(samples, [Measure(features[at].id, features[at].title) for at in used])
    for rater, (layer, _) in layers.items():
        gathered.layer(rater)[: len(rows)] = layer[rated][:, used]
    raters = list(dict.fromkeys((*layers, *listeners)))
    machines = gather_heard(gathered, heard, len(rows))
    _gather_repeated(gathered, store, places, raters)
    people = {name for name, (_, judge) in layers.items() if not judge}
    spoken = [source.examinee if source.is_speaker else "" for source in sources]
    speakers = [spoken[place] for place in table.source[rows].tolist()]
    return gathered.rated(
        raters,
        source=source,
        judges=frozenset(
            {*(layers.keys() - people), *machines, *(judges_among(raters, judges) - people)}
        ),
        speakers=_numbered([*speakers, *(speaker for _, speaker, _ in heard)]),
        flagged=_flagged(store, places, raters, len(samples)),
    )


def _gather_repeated(
    gathered: Gathered, store: Store, places: Sequence[Place], raters: Collection[str]
) -> None:
    """Gather what judges said of responses when they were asked again, each time an occasion."""
    row_of = {place: row for row, place in enumerate(places)}
    for place, rater, repeat, values in store.repetitions(sorted({one for one, *_ in places})):
        if place in row_of and rater in raters:
            row = gathered.layer(rater, repeat)[row_of[place]]
            for at, feature in enumerate(gathered.features):
                if feature.id in values:
                    row[at] = values[feature.id] != 0


def verdicts_at(
    store: Store, places: Sequence[Place], features: Sequence[str]
) -> tuple[dict[str, Verdicts], Ints | None, int]:
    """Return what judges say of some responses, who said these, and how many are not usable.

    Returns:
        Judge to int8 of shape (responses, features); of each response the number of its speaker,
        None where all differ; and the number of responses on which no judge has a say, because
        they are not usable.
    """
    found: dict[str, Verdicts] = {}
    row_of = {place: row for row, place in enumerate(places)}
    speakers, unusable = [""] * len(places), 0
    by_battery: defaultdict[str, list[AdministrationData]] = defaultdict(list)
    for data in load_columns(store, sorted({number for number, *_ in places})):
        by_battery[data.battery.content_hash].append(data)
    for sources in by_battery.values():
        table = table_of(sources)
        every = enumerate(_places(table, np.arange(len(table))))
        rows = {row: row_of[place] for row, place in every if place in row_of}
        for row, place in rows.items():
            source = table.sources[int(table.source[row])]
            speakers[place] = source.examinee if source.is_speaker else ""
        own = list(rows)
        unusable += int((~table.usable[own]).sum())
        # A response that counts as another one has the verdicts of that one.
        counted = (np.cumsum(table.counts) - 1)[table.representative[own]]
        for rater, (layer, judge) in _verdicts(table, features).items():
            if judge:
                empty = np.full((len(places), len(features)), MISSING, np.int8)
                found.setdefault(rater, empty)[list(rows.values())] = layer[counted]
    kept = {rater: layer for rater, layer in found.items() if (layer != MISSING).any()}
    return kept, _numbered(speakers), unusable


def _verdicts(table: Table, features: Sequence[str]) -> dict[str, tuple[Verdicts, bool]]:
    """Return each rater's verdicts on the responses that count, and whether it is a judge."""
    unsure = [number for number, text in table.columns.reasons.items() if text == UNSURE_REASON]
    found: dict[str, tuple[Verdicts, bool]] = {}
    for rater in sorted(table.columns.ratings):
        if rule_of(rater):
            continue
        for label, judge, places, own in _versions(table, rater, features):
            rows = table.chosen(rater)
            inside = table.usable[rows] & np.isin(table.source[rows], places)
            layer = np.full((int(table.counts.sum()), len(features)), MISSING, np.int8)
            for at, feature in enumerate(features):
                if feature in own:
                    given = table.measure(rater, feature, rows)
                    said = inside & ~np.isnan(given.values)
                    layer[said, at] = given.values[said] != 0
                    if unsure:
                        layer[inside & np.isin(given.reasons, unsure), at] = CANNOT_TELL
            if (layer != MISSING).any():
                found[label] = layer, judge
    return found


def _versions(
    table: Table, rater: str, features: Sequence[str]
) -> Iterator[tuple[str, bool, list[int], set[str]]]:
    """Yield label, whether it is a judge, administrations and features of a rater, by prompt."""
    if not table.columns.ratings[rater].measures.keys() & set(features):
        return
    by_prompt: defaultdict[str, list[int]] = defaultdict(list)
    own: defaultdict[str, set[str]] = defaultdict(set)
    kinds: set[str] = set()
    for place, source in enumerate(table.sources):
        declared = source.declarations.get(rater)
        prompt = "" if declared is None else (prompt_hash(declared.prompt_text) or "")
        by_prompt[prompt].append(place)
        if declared is not None and (declared.features or declared.measures):
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


def _flagged(
    store: Store, places: Sequence[Place], raters: Sequence[str], samples: int
) -> NDArray[np.bool_] | None:
    """Return which ratings are doubtful; None where no response is in a rating set.

    A person's rating in a later set replaces that in an earlier one.
    """
    row_of = {place: row for row, place in enumerate(places)}
    found, told = np.zeros((len(raters), samples), bool), False
    for kept in store.sets.all():
        rows = {
            one.number: row_of[place]
            for one in store.sets.samples(kept.id)
            if (place := (one.administration, one.trial, one.attempt)) in row_of
        }
        told = told or bool(rows)
        for rating in store.sets.ratings(kept.id) if rows else ():
            if rating.purpose == "rate" and rating.sample in rows and rating.rater in raters:
                flagged = bool(flag_of(asked_by(kept), rating))
                found[raters.index(rating.rater), rows[rating.sample]] = flagged
    return found if told else None


def _places(table: Table, rows: Ints) -> Iterator[Place]:
    """Yield administration, trial and attempt of responses."""
    numbers = np.array([table.columns.administrations[place] for place in table.members])
    own = table.rows[rows]
    parts = (numbers[table.source[rows]], table.columns.trials[own], table.columns.attempts[own])
    yield from zip(*(part.tolist() for part in parts), strict=True)


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
    form, samples = asked_by(kept), store.sets.samples(kept.id)
    ratings = store.sets.ratings(kept.id)
    people = sorted({one.rater for one in ratings if one.purpose == "rate"})
    if not people:
        raise UsageError(
            f"nobody has rated a sample of '{kept.name}' completely yet",
            hint=f"tabwb rate start {kept.name} --rater CODE",
        )
    questions = [one for one in form.questions if one.is_feature]
    measures = [Measure(one.measure, one.title, objective=one.objective) for one in questions]
    places = [(one.administration, one.trial, one.attempt) for one in samples]
    layers, speakers, unusable = verdicts_at(store, places, [one.id for one in measures])
    for name in judges:
        if name not in layers:
            raise UsageError(
                f"judge '{name}' has judged none of the samples",
                where="--judge",
                allowed=", ".join(layers) or "no judge has judged them",
            )
    names = [name for name in layers if not judges or name in judges]
    raters = [*people, *names]
    gathered = Gathered(tuple(str(sample.number) for sample in samples), measures)
    for name in names:
        gathered.layer(name)[:] = layers[name]
    _gather_repeated(gathered, store, places, raters)
    place = {sample.number: at for at, sample in enumerate(samples)}
    again = min((one for one in gathered.layers if one), default=1)
    flagged = np.zeros((len(raters), len(samples)), bool)
    for one in ratings:
        if one.purpose == "rate":
            flagged[raters.index(one.rater), place[one.sample]] = bool(flag_of(form, one))
        if one.purpose != "calibration" and one.rater in people and questions:
            layer = gathered.layer(one.rater, again if one.purpose == "again" else 0)
            layer[place[one.sample]] = [_verdict(question, one) for question in questions]
    for question in sorted(form.questions, key=lambda one: one.kind != "scale"):
        if question.kind in (*WORDS, "scale") and question.measure != SOURCE:
            told = (((one.rater, place[one.sample]), _whole(question, one))
                    for one in ratings if one.purpose == "rate")  # fmt: skip
            said: dict[tuple[str, int], Answer] = {}
            said.update((where, answer) for where, answer in told if answer is not None)
            measure = Measure(question.measure, question.title, question.kind, question.objective)
            gathered.said[measure] = said
            if question.measure == CORRECT and question.kind == "choice":
                gathered.scores = said
    if gathered.scores is not None and len(raters) == 1:
        numbers = " ".join(map(str, dict.fromkeys(one.administration for one in samples)))
        raise UsageError(
            f"rating set '{kept.name}' has the ratings of one rater: {people[0]}",
            hint=f"with the listeners of the naming session: tabwb agreement {numbers}",
        )
    return gathered.rated(
        raters,
        source=f"rating set '{kept.name}'",
        judges=frozenset(names),
        adjudicated=_adjudicated(store, kept, place, questions),
        speakers=speakers,
        objective_source=form.objective_source,
        guesses=_guesses(store, samples, ratings),
        notes=(*_cuts(questions), *_notes(samples, ratings, unusable)),
        flagged=flagged,
    )


def _verdict(question: Question, rating: SampleRating) -> int:
    answer = whole_response(question, of_attempts(question, rating.answers))
    number = question.number(answer)
    return CANNOT_TELL if answer == UNSURE else MISSING if number is None else int(number)


def _whole(question: Question, rating: SampleRating) -> Answer:
    """Return one answer: of phonemes and words those of all attempts, in order."""
    answers = of_attempts(question, rating.answers)
    if question.kind not in ("phonemes", "text"):
        return whole_response(question, answers)
    said = [str(answer) for answer in answers if answer is not None]
    return (" <sil> " if question.kind == "phonemes" else ", ").join(said) or None


def _adjudicated(
    store: Store, kept: RatingSet, place: Mapping[int, int], questions: Sequence[Question]
) -> Verdicts | None:
    """Return what was settled of features: int8 of (samples, features); None where nothing was."""
    column = {question.measure: at for at, question in enumerate(questions)}
    found = np.full((len(place), len(questions)), MISSING, np.int8)
    for one in store.sets.adjudications(kept.id):
        if one.sample in place and one.measure in column:
            number = questions[column[one.measure]].number(one.answer)
            verdict = CANNOT_TELL if one.answer == UNSURE else MISSING
            if number is not None and one.answer != UNSURE:
                verdict = PRESENT if number >= 1 else ABSENT
            found[place[one.sample], column[one.measure]] = verdict
    return found if (found != MISSING).any() else None


def _cuts(questions: Sequence[Question]) -> Iterator[str]:
    """Yield from which value of a scale on a feature is present."""
    cuts = sorted({one.cut for one in questions if one.cut is not None})
    if cuts:
        which = f"{cuts[0]} on" if len(cuts) == 1 else "the value on that the form names"
        yield f"A feature rated on a scale is present from {which}; the table of scales has values."


def _notes(
    samples: Sequence[Sample], ratings: Sequence[SampleRating], unusable: int
) -> Iterator[str]:
    """Yield what is to be known of the set: what is unusable, weights, how calibration went."""
    if unusable:
        yield (
            f"{plural(unusable, 'sample')} of {len(samples)} cannot be described (refused, an echo "
            "...): verdicts of people count, judges have none."
        )
    if {sample.stratum for sample in samples} & {AUDIT, FREQUENT}:
        yield (
            "Verdicts of a judge decided which responses people rated (--hybrid): in these samples "
            "the sensitivity of this judge is too high and its specificity too low."
        )
    if len({sample.weight for sample in samples if sample.consensus is None}) > 1:
        yield (
            "The samples stand for unequal numbers of responses; the coefficients describe the "
            "samples, not these responses."
        )
    known = {one.number: one.consensus or {} for one in samples}
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        for measure, answer in known[rating.sample].items():
            if rating.purpose == "calibration" and rating.answers.get(measure) is not None:
                right[rating.rater].append(rating.answers[measure] == answer)
    for rater, answers in right.items():
        yield (
            f"Calibration before the ratings: {rater} gave {sum(answers)} of "
            f"{plural(len(answers), 'known answer')}."
        )


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
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        guess = said.get(str(rating.answers.get(SOURCE)))
        if rating.purpose == "rate" and guess and origin.get(rating.sample) in said.values():
            right[rating.rater].append(guess == origin[rating.sample])
    return tuple(
        Guesses(rater, sum(given), len(given), clopper_pearson(sum(given), len(given)))
        for rater, given in right.items()
    )


Said = tuple[str, str, str]
"""Measure, rater as it is stored, and what the rater says."""


def gather_heard(
    gathered: Gathered, heard: Sequence[tuple[str, str, Sequence[Said]]], before: int
) -> set[str]:
    """Gather what was heard of names, after the others; return the raters that are not people."""
    given: defaultdict[str, dict[tuple[str, int], Answer]] = defaultdict(dict)
    for sample, (*_, said) in enumerate(heard, before):
        for measure, by, text in said:
            given[measure][listener(by), sample] = text
    gathered.scores = given.get("score")
    gathered.said = {measure: given[name] for name, measure in HEARD.items() if name in given}
    spoken = (by for *_, said in heard for measure, by, _ in said if measure == "phonemes")
    return {by for by in spoken if not by_person(by)}


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
