"""What the dialog asks for becomes conditions, or an error that names the field."""

from __future__ import annotations

import pytest

from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry
from tabwb.workbench.trial.controller import Draft, FieldError, conditions_of, default_draft

MODEL = Draft()
PERSON = Draft(kind="speaker", speaker="S-014").filled(
    research_protocol="IRB-7", conversation="yes"
)


def test_what_is_filled_in_is_a_greedy_model_with_the_rules_judge() -> None:
    conditions = conditions_of(MODEL)
    assert (conditions.examinee, conditions.kind) == ("bundled", "model")
    assert conditions.decoding.greedy
    assert conditions.judges == ("rules",)
    assert conditions.decoding.seed == conditions.seed == 1


def test_a_person_has_a_protocol_and_no_conversation() -> None:
    conditions = conditions_of(PERSON)
    assert (conditions.examinee, conditions.research_protocol) == ("S-014", "IRB-7")
    assert not conditions.conversation


def test_a_protocol_is_not_kept_for_a_model() -> None:
    assert conditions_of(MODEL.filled(research_protocol="IRB-7")).research_protocol is None


def test_no_judge_is_none() -> None:
    assert conditions_of(MODEL.filled(judges="none")).judges == ()
    assert conditions_of(MODEL.filled(judges="rules other")).judges == ("rules", "other")


def test_stop_texts_stand_two_spaces_apart() -> None:
    assert conditions_of(MODEL.filled(stop="Q:  \\n\\n")).decoding.stop == ("Q:", "\n\n")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("battery", ""),
        ("model", " "),
        ("seed", "one"),
        ("replicates", "0"),
        ("max_tokens", "0"),
        ("temperature", "hot"),
        ("temperature", "nan"),
        ("top_p", "0"),
        ("judges", "none rules"),
    ],
)
def test_an_error_names_its_field(field: str, value: str) -> None:
    with pytest.raises(FieldError) as caught:
        conditions_of(MODEL.filled(**{field: value}))
    assert caught.value.field == field


def test_the_first_wrong_field_of_the_dialog_is_named_with_what_was_typed() -> None:
    wrong = {"replicates": "0", "temperature": "99", "top_p": "7", "judges": "none rules"}
    for field, shown in (("replicates", "0"), ("temperature", "99"), ("top_p", "7")):
        with pytest.raises(FieldError, match=f"'{shown}' cannot be used") as caught:
            conditions_of(MODEL.filled(**wrong))
        assert caught.value.field == field
        del wrong[field]


def test_a_person_without_a_study_id_is_refused() -> None:
    with pytest.raises(FieldError, match="participant code"):
        conditions_of(PERSON.filled(speaker=""))


def test_the_first_that_can_be_used_is_filled_in() -> None:
    batteries = (BatteryEntry("other", "Other", "1", 3),)
    models = (
        ModelEntry("bundled", "bundled", "bundled", "Bundled", "", "needs the extra 'local'"),
        ModelEntry("echo", "echo", "echo", "Echo", ""),
    )
    draft = default_draft(Catalogue(batteries=batteries, models=models))
    assert (draft.battery, draft.model) == ("other", "echo")
