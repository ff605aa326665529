"""Groups: who stands in which row, in what order, and what must be known of a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.contrast import baseline_of
from tabwb.analysis.grouping import Grouped, as_shown, grouped, summarised, titles_of
from tabwb.analysis.keys import Sort
from tabwb.media.documents.document import groups_document
from tabwb.media.views.groups import groups_view
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Trial
from tests.analysis.given import (
    ANSWERS,
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    printed,
    trials,
    unwrapped,
)
from tests.analysis.test_judges import BOTH, MODEL, with_features

LESIONED = replace(SAMPLED, lesion="noise:0.1")
PERSON = Conditions("S-01", "speaker")


def given(
    number: int,
    conditions: Conditions = SAMPLED,
    answers: Sequence[Trial] | None = None,
    **facts: str,
) -> AdministrationData:
    return AdministrationData(
        administration(number, conditions),
        BATTERY,
        trials(ANSWERS) if answers is None else tuple(answers),
        model_facts=facts,
        declarations=DECLARED,
    )


def rows(chosen: Sequence[AdministrationData], by: str) -> list[tuple[str, list[int]]]:
    return [
        (group.label, [one.administration.id for one in group.members])
        for group in grouped(chosen, by)
    ]


def test_a_model_is_apart_with_each_lesion_and_from_every_person() -> None:
    chosen = [given(1), given(2, LESIONED), given(3, PERSON), given(4)]
    assert rows(chosen, "model") == [
        ("bundled", [1, 4]),
        ("bundled + noise:0.1", [2]),
        ("speaker S-01", [3]),
    ]
    assert rows(chosen, "lesion") == [
        ("no lesion", [1, 4]),
        ("noise:0.1", [2]),
        ("speaker S-01", [3]),
    ]


def test_the_title_of_a_key_says_whom_the_key_does_not_apply_to() -> None:
    model, person = given(1), given(2, PERSON)
    by = "participant,lesion,battery"
    assert titles_of(grouped([model], by)) == ("model", "lesion", "battery")
    assert titles_of(grouped([person], by)) == ("participant", "speaker", "battery")
    both = ("participant or model", "lesion or speaker", "battery")
    assert titles_of(grouped([model, person], by)) == both


def test_models_and_persons_are_never_pooled() -> None:
    named_alike = replace(PERSON, examinee="bundled")
    assert rows([given(1), given(2, named_alike)], "battery") == [
        ("small 1", [1]),
        ("small 1, speakers", [2]),
    ]
    assert len(rows([given(1), given(2, named_alike)], "model")) == 2


def test_groups_of_one_name_say_whether_they_are_of_models_or_of_people() -> None:
    def tagged(number: int, conditions: Conditions) -> AdministrationData:
        made = given(number, conditions)
        return replace(made, administration=replace(made.administration, tags=("first",)))

    chosen = [tagged(1, SAMPLED), tagged(2, PERSON)]
    made = [*summarised(grouped(chosen, "tag"))]
    assert [row.label for row in made] == ["first (models)", "first (speakers)"]
    assert [baseline_of(made, row.label) for row in made] == made
    with pytest.raises(UsageError, match=r"'first \(models\)', 'first \(speakers\)'"):
        baseline_of(made, "first")
    assert [row.label for row in as_shown(made[:1])] == ["first"]


def test_families_and_tunings_are_those_of_the_profile() -> None:
    base = replace(SAMPLED, labels={"family": "L", "tuning": "base"})
    tuned = replace(SAMPLED, examinee="other", labels={"family": "L", "tuning": "instruct"})
    chosen = [given(1, base), given(2, tuned), given(3)]
    unknown = replace(SAMPLED, examinee="unknown")
    assert rows([given(3), given(4, unknown)], "family") == [
        ("bundled, family unknown", [3]),
        ("unknown, family unknown", [4]),
    ]
    assert rows(chosen, "family") == [("L", [1, 2]), ("bundled, family unknown", [3])]
    text = unwrapped(printed(groups_view(summarised(grouped(chosen, "family")))))
    assert "L (tuning: base, instruct)" in text
    assert rows(chosen, "tuning") == [("base", [1]), ("instruct", [2]), ("tuning unknown", [3])]


def test_protocols_are_kept_apart_or_named() -> None:
    forced = replace(SAMPLED, protocol=Protocol.ENFORCED)
    chosen = [given(1), given(2, forced)]
    assert rows(chosen, "protocol") == [("generate", [1]), ("enforced", [2])]
    first, second = grouped(chosen, "model")
    assert (first.label, second.label) == ("bundled", "bundled")
    assert first.apart == (("protocol", "generate"),)
    assert second.name == "bundled (protocol enforced)"
    text = unwrapped(printed(groups_view(summarised([first, second]))))
    assert "bundled: separate rows, not pooled, because they differ in protocol" in text


@pytest.mark.parametrize(
    ("unlike", "name"),
    [
        (replace(SAMPLED, decoding=replace(SAMPLED.decoding, temperature=0.0)), "decoding"),
        (replace(SAMPLED, option_order="rotated"), "options"),
        (replace(SAMPLED, conversation=True), "context"),
    ],
)
def test_unlike_conditions_are_never_pooled(unlike: Conditions, name: str) -> None:
    chosen = [given(1), given(2, unlike), given(3)]
    for by in ("model", "family", "lesion", "protocol", "tuning", "battery"):
        first, second = grouped(chosen, by)
        assert [one.administration.id for one in first.members] == [1, 3]
        assert [one.administration.id for one in second.members] == [2]
        assert name in dict(second.apart)
        assert first.name != second.name
    made: Any = document(summarised(grouped(chosen, "model")))
    assert [one["by"] for one in made["groups"]] == [{"model": "bundled"}] * 2
    assert name in made["groups"][1]["apart"]


def test_seeds_and_options_that_change_no_answer_are_pooled() -> None:
    specs = ("transformers:m", "transformers:m@threads=2", "transformers:m@batch_size=8,threads=1")
    chosen = [
        given(number, replace(SAMPLED, examinee=spec, seed=number, item_order="shuffled"))
        for number, spec in enumerate(specs, 1)
    ]
    assert rows(chosen, "model") == [("transformers:m", [1, 2, 3])]
    other = given(4, replace(SAMPLED, examinee="transformers:m@dtype=float16"))
    assert len(rows([*chosen, other], "model")) == 2


def test_other_weights_under_the_same_name_are_rows_of_their_own() -> None:
    first, second = grouped([given(1, revision="a"), given(2, revision="b")], "model")
    assert (first.name, second.name) == ("bundled (revision a)", "bundled (revision b)")
    lesioned = grouped([given(1), given(2, LESIONED)], "battery")
    assert [one.name for one in lesioned] == ["small 1 (lesion none)", "small 1 (lesion noise:0.1)"]
    (named,) = grouped([given(1), given(2, replace(SAMPLED, examinee="other"))], "battery")
    assert named.mixed == {"examinee": ("bundled", "other")}


def texts(*present: Sequence[str]) -> tuple[Trial, ...]:
    return tuple(
        answered(item, f"We went to the sea {number} times.", number=number, features=found)
        for number, (item, found) in enumerate(zip(("ct1", "ct2"), present, strict=True), 1)
    )


def three() -> list[AdministrationData]:
    """Burdens 0.5, none and 1.5; 3, 0 and 3 answers; right 1 of 1, none scored, 0 of 1."""
    right, wrong = answered("wc1", "lion", number=3), answered("wc1", "boat", number=3)
    return [
        given(1, replace(SAMPLED, examinee="b"), (*texts(["retracing"], []), right)),
        given(2, replace(SAMPLED, examinee="c"), ()),
        given(
            3,
            replace(SAMPLED, examinee="A"),
            (*texts(["retracing", "jargon"], ["retracing"]), wrong),
        ),
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("burden", ["A", "b", "c"]),
        ("name", ["A", "b", "c"]),
        ("N", ["b", "A", "c"]),
        ("accuracy", ["b", "A", "c"]),
        (None, ["b", "c", "A"]),
    ],
)
def test_rows_are_sorted_with_what_is_undefined_last(sort: Sort | None, order: list[str]) -> None:
    assert [one.label for one in summarised(grouped(three(), "model"), sort=sort)] == order


def test_one_judge_can_be_shown_alone() -> None:
    both = replace(
        given(1, answers=[with_features(one, ["anomia"]) for one in texts([], [])]),
        declarations=BOTH,
    )
    groups = grouped([both, given(2, PERSON)], "model")
    (model, person) = summarised(groups, judge=MODEL.rater)
    assert [each.rater for each in model.results.judges] == [MODEL.rater]
    assert person.results.judges == ()
    with pytest.raises(UsageError, match="nobody") as refused:
        summarised(groups, judge="nobody")
    assert refused.value.allowed == "rules-2, tab-2026:x"


def noted(trial: Trial, **metadata: str) -> Trial:
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata=metadata),))


def test_texts_that_a_batch_may_have_decided_are_said_beside_the_results() -> None:
    first, second = texts([], [])
    close = given(1, CONDITIONS, [noted(first, batch_exact="no"), noted(second, batch_exact="yes")])
    made = summarised(grouped([close], "model"))
    assert made[0].results.number("inexact") == 1
    document: Any = groups_document(made)
    assert document["groups"][0]["summary"]["answers"]["batch_inexact"] == 1
    assert any(
        notice.startswith("1 of 2 responses") and "batch_exact=no" in notice
        for notice in document["notices"]
    )
    assert "(batch_exact=no)" in unwrapped(printed(groups_view(made)))
    sure = summarised(grouped([given(1, answers=[first])], "model"))
    assert "batch_exact" not in printed(groups_view(sure))


def test_why_answers_are_empty_is_said_where_it_is_known() -> None:
    first, silent = texts([], [])
    attempt = replace(silent.attempts[0], response="", status=ResponseStatus.EMPTY)
    thought = noted(replace(silent, attempts=(attempt,)), cause="thinking used the limit of tokens")
    made = summarised(grouped([given(1, answers=[first, thought])], "model"))
    assert list(made[0].results.of("empty")) == ["thinking used the limit of tokens"]
    said = "1 of 2 responses have no text: thinking used the limit of tokens."
    assert said in document(made)["notices"]
    assert said in unwrapped(printed(groups_view(made)))


def document(made: Sequence[Grouped]) -> Any:
    return json.loads(json.dumps(groups_document(made), allow_nan=False))


def test_a_rate_without_responses_is_null() -> None:
    silent = given(1, answers=[answered("ct1", "")])
    (group,) = document(summarised(grouped([silent], "model")))["groups"]
    (judge,) = group["summary"]["judges"]
    assert set(judge["rates"].values()) == {None}
    assert judge["no_burden"] == {"no-response": 1}
