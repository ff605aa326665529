"""The ratings of a rating set as arrays, with what judges say of the same responses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from tabwb.administer.naming.scores import CORRECT
from tabwb.administer.rating.hybrid import AUDIT, FREQUENT
from tabwb.agreement.verdicts import CANNOT_TELL, MISSING, Floats, Verdicts, cut_at, verdicts_of
from tabwb.battery.form_answers import of_attempts, whole_response
from tabwb.battery.forms import SOURCE, Form, Question
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import CANNOT_TELL as UNSURE
from tabwb.records.rating_sets import Answer, RatingSet, Sample, SampleRating
from tabwb.records.words import plural
from tabwb.report.summaries.agreement.from_administrations import repeated_verdicts, verdicts_at
from tabwb.report.summaries.agreement.from_naming import RULES, answers_of
from tabwb.report.summaries.agreement.rated import Answers, Guesses, Ints, Measure, Rated
from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.naming.target import right_by_score
from tabwb.store.set_arrays import SetArrays
from tabwb.store.set_ratings import asked_by
from tabwb.store.store import Store


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
    ratings = store.sets.ratings(kept.id) if _has_words(form) else ()
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
        others=(
            *_scales(given, form, len(names)),
            *_words(ratings, form, given, len(names)),
        ),
        adjudicated=_adjudicated(store, kept, given.samples, questions),
        speakers=speakers,
        objective_source=form.objective_source,
        guesses=_guesses(store, samples, ratings),
        notes=(*_cuts(questions), *_notes(store, kept, samples, unusable)),
        flagged=np.concatenate([given.flagged, np.zeros((len(names), len(samples)), bool)]),
    )


def _has_words(form: Form) -> bool:
    return any(one.kind in ("choice", "phonemes", "text") for one in form.questions)


def _features(given: SetArrays, questions: Sequence[Question]) -> Verdicts:
    """Return the verdicts of people: int8 of (raters, samples, features)."""
    columns = [given.measures.index(one.measure) for one in questions]
    verdicts = verdicts_of(given.values[..., columns])
    verdicts[given.cannot_tell[..., columns]] = CANNOT_TELL
    return verdicts


def _padded(verdicts: Verdicts, raters: int) -> Verdicts:
    """Return verdicts with rows of further raters without any."""
    return np.concatenate([verdicts, np.full((raters, *verdicts.shape[1:]), MISSING, np.int8)])


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
    found = np.full((len(given.raters), len(given.samples), len(RULES)), MISSING, np.int8)
    for place, answer in _answers(ratings, question, given):
        if answer == UNSURE:
            found[place] = CANNOT_TELL
            continue
        for at, rule in enumerate(RULES):
            right = right_by_score(str(answer), rule)
            if right is not None:
                found[(*place, at)] = right
    return found


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


def _scales(given: SetArrays, form: Form, judges: int) -> list[Answers]:
    """Return the raw values of scales."""
    found = []
    for question in form.questions:
        if question.kind == "scale":
            at = given.measures.index(question.measure)
            measure = Measure(question.measure, question.title, "scale", question.objective)
            values = _wide(given.raw[..., at], judges)
            found.append(Answers(measure, values, unsure=int(given.cannot_tell[..., at].sum())))
    return found


def _wide(values: Floats, raters: int) -> Floats:
    return np.concatenate([values, np.full((raters, values.shape[1]), np.nan)])


def _words(
    ratings: Sequence[SampleRating], form: Form, given: SetArrays, judges: int
) -> list[Answers]:
    """Return choices, transcripts and words heard."""
    found = []
    for question in form.questions:
        if question.kind not in ("choice", "phonemes", "text") or question.measure == SOURCE:
            continue
        answers = _answers(ratings, question, given)
        texts = {
            (given.raters[rater], sample): str(answer)
            for (rater, sample), answer in answers
            if answer != UNSURE
        }
        measure = Measure(question.measure, question.title, question.kind, question.objective)
        made = answers_of(measure, texts, given.raters, 0, len(given.samples))
        unsure = sum(answer == UNSURE for _, answer in answers)
        found.append(Answers(measure, _wide(made.values, judges), made.words, unsure))
    return found


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
