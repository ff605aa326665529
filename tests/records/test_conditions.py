"""Every condition is declared once, and what is made of the declarations agrees with the record."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from tabwb.records.conditions import (
    Conditions,
    compared,
    conditions_from,
    conditions_of,
    default_text,
    described,
    document_of,
)
from tabwb.records.declared_conditions import CONDITIONS, SUBJECT, Audience, ConditionError
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol


def test_every_field_of_the_record_is_declared() -> None:
    places = {condition.place for condition in CONDITIONS}
    assert {name for record, name in places if not record} | SUBJECT == {
        field.name for field in fields(Conditions)
    }
    # The sampler's seed is the seed of the administration.
    assert {name for record, name in places if record == "decoding"} | {"seed"} == {
        field.name for field in fields(Decoding)
    }


def test_the_text_of_every_default_reads_as_the_default() -> None:
    values = {
        condition.id: condition.read(default_text(condition))
        for condition in CONDITIONS
        if condition.field is not None and "model" in condition.given_to
    }
    assert conditions_of("echo", "model", values) == conditions_of("echo", "model", {})
    assert conditions_of("echo", "model", {}) == Conditions(
        "echo", "model", judges=("rules",), decoding=Decoding(seed=1)
    )


def test_a_person_who_names_aloud_is_given_no_judges() -> None:
    conditions = conditions_of("S-014", "spoken", {"transcriber": "none", "rater": "R7"})
    assert (conditions.kind, conditions.judges, conditions.transcriber) == ("speaker", (), None)
    assert conditions.rater == "R7"
    assert conditions_of("S-014", "spoken", {}).transcriber == "bundled-words"


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("seed", 2**54),
        ("replicates", 0),
        ("temperature", float("nan")),
        ("top_p", 0.0),
        ("protocol", "guess"),
        ("stop", ("",)),
        ("judges", ("none", "rules")),
        ("research_protocol", "IRB-7"),
        ("transcriber", "bundled-words"),
    ],
)
def test_an_error_names_its_condition(condition: str, value: Any) -> None:
    with pytest.raises(ConditionError) as caught:
        conditions_of("echo", "model", {condition: value})
    assert caught.value.condition.id == condition


def test_conditions_come_back_equal_from_plain_data() -> None:
    given = conditions_of(
        "echo", "model", {"seed": 5, "stop": ("a", "b"), "protocol": Protocol.ENFORCED}
    )
    assert conditions_from(asdict(given)) == given


def test_data_of_an_earlier_version_has_the_values_from_before() -> None:
    data = asdict(Conditions("echo", "model"))
    del data["token_limits"], data["rater"]
    assert conditions_from(data) == Conditions("echo", "model", token_limits="smaller")


def test_a_document_has_no_decoding_of_a_person_and_no_one_limit_of_the_battery() -> None:
    assert document_of(Conditions("S-014", "speaker"))["decoding"] is None
    decoding = document_of(conditions_of("echo", "model", {"seed": 9}))["decoding"]
    assert (decoding["max_tokens"], decoding["token_limits"]) == (None, "battery")
    assert decoding["seed"] == 9
    limited = document_of(conditions_of("echo", "model", {"max_tokens": 40}))["decoding"]
    assert (limited["max_tokens"], limited["token_limits"]) == (40, "run")


def test_the_order_of_items_is_compared_only_in_one_conversation() -> None:
    shuffled = Conditions("echo", "model", item_order="shuffled")
    assert "items" not in compared(shuffled)
    assert described(shuffled)["items"] == "shuffled"
    assert compared(Conditions("echo", "model", conversation=True))["items"] == "as-given"


@pytest.mark.parametrize(
    ("audience", "name", "value", "whom"),
    [
        ("model", "research_protocol", "IRB-7", "people"),
        ("typed", "temperature", 1.0, "models"),
        ("spoken", "replicates", 2, "models and people who type"),
    ],
)
def test_a_condition_that_does_not_apply_says_to_whom_it_does(
    audience: Audience, name: str, value: object, whom: str
) -> None:
    with pytest.raises(ConditionError, match=f"applies only to {whom}$"):
        conditions_of("echo", audience, {name: value})
