"""Calibration samples from an earlier set: those whose every answer is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.administer.rating.calibration import consensus_of_set
from tabwb.battery.forms import form_from_canonical
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import Adjudication, SampleRating
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, rated_set, scores


def test_samples_with_a_settled_or_common_answer_to_every_question_are_taken(store: Store) -> None:
    number = begin(store, 3).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    store.append(number, [RatingsEntry(trial, 1, scores()) for trial in (1, 2, 3)])
    kept = rated_set(store, number)
    form = form_from_canonical(kept.form)
    with pytest.raises(UsageError, match="no sample of set 'pilot' has a consensus"):
        consensus_of_set(store, "pilot", form)
    for sample, first, second in (
        (1, {"jargon": 1.0, "anomia": 3.0}, {"jargon": 1.0, "anomia": 3.0}),
        (2, {"jargon": 0.0, "anomia": 0.0}, {"jargon": 1.0, "anomia": 0.0}),
        (3, {"jargon": 0.0, "anomia": 0.0}, {"jargon": 1.0, "anomia": 0.0}),
    ):
        for rater, answers in (("R1", first), ("R2", second)):
            positions = store.sets.assignments(kept.id, rater)
            (at,) = (one.position for one in positions if one.sample == sample)
            store.sets.rate(kept.id, SampleRating(rater, at, sample, "rate", answers, True))
    store.sets.adjudicate(kept.id, Adjudication(3, "jargon", 0.0, "real words", "A1"))
    assert consensus_of_set(store, "pilot", form) == {
        (number, 1): {"jargon": 1.0, "anomia": 3.0},
        (number, 3): {"jargon": 0.0, "anomia": 0.0},
    }
    with pytest.raises(UsageError, match="has another form"):
        consensus_of_set(store, "pilot", replace(form, version="other"))
