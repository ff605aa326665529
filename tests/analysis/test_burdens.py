"""Several judges: each burden over what its judge declared, never two sets in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tabwb.analysis.administrations import AdministrationData
from tabwb.media.documents.document import administration_document
from tabwb.records.ratings import Declaration, undefined, valued
from tabwb.records.trials import Trial
from tabwb.scoring.intervals import burden_interval
from tabwb.scoring.rules.passage import FEATURES
from tests.analysis.given import (
    BATTERY,
    CONDITIONS,
    DECLARED,
    administration,
    answered,
    summarise,
)

MODEL = Declaration(
    "tab-2026:gemini:x",
    FEATURES,
    caution="labels by a language model; have a person check a sample",
    prompt_text='{"system":"You are a speech-language pathologist"}',
)
BOTH = {**DECLARED, MODEL.rater: MODEL}


def judged(trial: Trial, present: Sequence[str], missing: Sequence[str] = ()) -> Trial:
    """The trial with the model judge's verdicts added."""
    ratings = [
        undefined(MODEL.rater, name, "not in the reply")
        if name in missing
        else valued(MODEL.rater, name, name in present)
        for name in FEATURES
    ]
    return replace(trial, ratings=(*trial.ratings, *ratings))


def given() -> tuple[Trial, ...]:
    """Two connected texts: rules-2 finds 1 and 0 of 7, the model 3 and 1 of 19."""
    return (
        judged(
            answered("ct1", "We went to the sea.", number=1, features=["retracing"]),
            ["anomia", "off-topic", "retracing"],
        ),
        judged(answered("ct2", "I sold bread.", number=2), ["meaning-unclear"]),
    )


def document(trials: Sequence[Trial], declarations: Mapping[str, Declaration]) -> Any:
    return administration_document(
        AdministrationData(administration(), BATTERY, trials, declarations=declarations),
        interval=True,
    )


def test_two_judges_over_different_sets_have_two_burdens() -> None:
    rules, model = document(given(), BOTH)["summary"]["judges"]
    assert (rules["rater"], rules["n_features"], rules["symptom_burden"]) == ("rules-2", 7, 0.5)
    assert (model["rater"], model["n_features"], model["symptom_burden"]) == (MODEL.rater, 19, 2.0)
    assert model["features"] == list(FEATURES)
    for judge in (rules, model):
        assert (judge["n_responses"], judge["n_distinct"]) == (2, 2)
        assert judge["scope"] == "connected-text"
        assert judge["declared"] is True
    for judge, values in ((rules, [[1.0], [0.0]]), (model, [[3.0], [1.0]])):
        expected = burden_interval(values, judge["n_features"]).interval
        assert expected is not None
        assert judge["interval"] == [expected.low, expected.high]
    assert (rules["prompt_hash"], model["prompt_hash"]) == (None, MODEL.prompt_hash)


def test_a_feature_of_the_set_that_is_undefined_leaves_no_burden_for_its_judge_only() -> None:
    first, second = given()
    second = judged(answered("ct2", "I sold bread.", number=2), [], missing=["anomia"])
    rules, model = summarise(BATTERY, (first, second), CONDITIONS, declarations=BOTH).judges
    assert rules.burden.no_burden == {}
    assert (model.burden.n_burden, model.burden.no_burden) == (
        1,
        {"anomia undefined: not in the reply": 1},
    )
    assert model.burden.symptom_burden.value == 3.0
