"""What the dialog asks for becomes conditions, or an error that names the field."""

from __future__ import annotations

from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import Audience
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry
from tabwb.workbench.trial.draft import Draft, asked_of, default_draft, remembered

MODEL = Draft()
PERSON = Draft(kind="speaker", speaker="S-014").filled(
    research_protocol="IRB-7", conversation="yes"
)


def conditions_of(draft: Draft) -> Conditions:
    audience: Audience = "model" if draft.kind == "model" else "typed"
    conditions, problems = asked_of(draft, audience)
    assert not problems
    return conditions


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


def test_every_error_is_found_at_once_with_its_field_and_what_was_typed() -> None:
    wrong = {
        "seed": "one", "replicates": "0", "max_tokens": "0", "temperature": "nan", "top_p": "7",
        "judges": "none rules",
    }  # fmt: skip
    draft = MODEL.filled(battery="", model=" ", **wrong)
    conditions, problems = asked_of(draft, "model")
    messages = {problem.field: problem.message for problem in problems}
    assert messages.keys() == {"battery", "model", *wrong}
    assert all(f"'{text}'" in messages[field] for field, text in wrong.items() if field != "judges")
    assert (conditions.seed, conditions.replicates) == (1, 1)  # their defaults


def test_a_person_without_a_participant_code_is_refused() -> None:
    _, problems = asked_of(PERSON.filled(speaker=""), "typed")
    assert [(one.field, one.message) for one in problems] == [
        ("speaker", "a participant code is needed")
    ]


def test_the_first_that_can_be_used_is_filled_in() -> None:
    batteries = (BatteryEntry("other", "Other", "1", 3),)
    models = (
        ModelEntry("bundled", "bundled", "bundled", "Bundled", "", "needs the extra 'local'"),
        ModelEntry("echo", "echo", "echo", "Echo", ""),
    )
    draft = default_draft(Catalogue(batteries=batteries, models=models))
    assert (draft.battery, draft.model) == ("other", "echo")


def test_a_draft_is_remembered_by_what_differs_and_without_the_participant() -> None:
    begun = PERSON.filled(battery="own", rater="R2", part_items="w1", model="echo")
    kept = begun.differing(MODEL)
    assert kept.keys() == {
        "battery", "kind", "model", "rater", "part_items", "research_protocol", "conversation",
    }  # fmt: skip
    assert remembered(MODEL, kept) == begun.filled(speaker="")
    other = remembered(MODEL, kept, "tab")
    assert (other.value("rater"), other.value("part_items")) == ("R2", "")


def test_a_lesion_is_not_remembered() -> None:
    begun = MODEL.filled(lesion="mlp:zero:0.3", seed="7")
    assert begun.differing(MODEL) == {"seed": "7"}
    assert remembered(MODEL, {"lesion": "mlp:zero:0.3", "seed": "7"}) == MODEL.filled(seed="7")


def test_what_cannot_be_remembered_any_more_has_its_default() -> None:
    damaged = {"kind": "animal", "of another version": "x", "seed": 7, "rater": "R2"}
    assert remembered(MODEL, damaged) == MODEL.filled(rater="R2")  # type: ignore[arg-type]
