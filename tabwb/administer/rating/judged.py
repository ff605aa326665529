"""What judges say of the samples of a rating set, read from the ratings of their responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tabwb.battery.forms import Form
from tabwb.records.rating_sets import Sample
from tabwb.records.ratings import PERSON
from tabwb.store.columns import STATUSES
from tabwb.store.store import Store


def judged(
    store: Store, samples: Sequence[Sample], form: Form
) -> Mapping[int, Mapping[str, Mapping[str, float]]]:
    """Return, by sample, measure and judge, the verdicts of judges: 1 present, 0 absent.

    People are left out, and so are ratings of another attempt than the one that the sample shows
    and of unusable responses, which have no features.
    """
    numbers = sorted({sample.administration for sample in samples})
    if not numbers:
        return {}
    measures = {question.measure for question in form.questions if question.is_feature}
    people = {
        declared.rater
        for facts in store.facts(numbers)
        for declared in facts.declarations.values()
        if declared.kind == "person"
    }
    columns = store.columns(numbers)
    of = np.repeat(np.asarray(columns.administrations), np.diff(columns.starts))
    rows = {
        key: row
        for row, key in enumerate(
            zip(of.tolist(), columns.trials.tolist(), columns.attempts.tolist(), strict=True)
        )
    }
    # -1: no status is taken as usable.
    usable = np.array([status.usable for status in STATUSES] + [True])[columns.statuses]
    places = {
        row: sample.number
        for sample in samples
        if (row := rows.get((sample.administration, sample.trial, sample.attempt))) is not None
        and usable[row]
    }
    wanted = np.fromiter(sorted(places), np.int64, len(places))
    found: dict[int, dict[str, dict[str, float]]] = {}
    for rater, given in columns.ratings.items():
        if rater in people or rater.startswith(PERSON):
            continue
        for measure, ratings in given.measures.items():
            if measure not in measures:
                continue
            values, *_ = ratings.at()
            chosen = np.isin(ratings.rows, wanted) & np.isin(values, (0.0, 1.0))
            rows = ratings.rows[chosen].tolist()
            for row, value in zip(rows, values[chosen].tolist(), strict=True):
                found.setdefault(places[row], {}).setdefault(measure, {})[rater] = value
    return found
