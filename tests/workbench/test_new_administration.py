"""The new-administration dialog: what is told before anything begins, and which rows apply."""

from __future__ import annotations

from textual.widgets import Input, Static

from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tabwb.workbench.trial.new_administration import Row
from tests.workbench.seat import Seat, Sit


def told(seat: Seat, name: str) -> str:
    line = seat.app.screen.query_one(f"#{name}", Static)
    return " ".join(str(line.content).split()) if line.display else ""


def rows(seat: Seat) -> set[str]:
    """The labels that can be read."""
    labelled = seat.app.screen.query(Row)
    shown = [row for row in labelled if row.is_on_screen or row.region.height]
    return {str(row.render()) for row in shown}


async def test_what_a_judge_that_asks_a_model_takes_is_told_before_it_begins(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        assert not told(seat, "judges-later")
        seat.fill(battery="tab", judges="rules tab-2026:bundled")
        # Five connected texts in TAB; a reply that cannot be read is asked for once more.
        await seat.until(
            lambda: "5 answers, at most 10 requests" in told(seat, "judges-later"), "the forecast"
        )
        seat.app.screen.query_one("#judges", Input).focus()
        await seat.press("end", "space", *"sur", "down", "enter")
        field = seat.app.screen.query_one("#judges", Input)
        assert field.value == "rules tab-2026:bundled surprisal:"
        seat.fill(judges="rules")
        await seat.until(lambda: not told(seat, "judges-later"), "no model, no forecast")


async def test_the_smallest_difference_of_the_design_is_told_before_it_begins(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="tab", model="bundled", replicates="20", temperature="1")
        await seat.until(
            lambda: (
                "prompts like these: symptom burden over 7 features 1.2, accuracy 21"
                in told(seat, "design")
            ),
            "the smallest difference",
        )
        assert "these prompts: symptom burden over 7 features 0.65" in told(seat, "design")
        seat.fill(temperature="0")
        await seat.until(
            lambda: told(seat, "design").count("smallest difference") == 1, "greedy answers"
        )


async def test_for_pictures_that_are_named_only_the_rows_that_apply_are_there(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        assert {"Replicates", "Options", "Judges", "Model"} <= rows(seat)
        seat.fill(battery="naming-demo")
        await seat.until(lambda: "Microphone" in rows(seat), "the rows of naming")
        assert rows(seat) == {
            "Battery", "Given to", "Participant", "Protocol ID", "Transcriber", "Microphone",
            "Scored by", "Seed", "Items",
        }  # fmt: skip
        seat.app.screen.query_one("#rater").focus()
        await seat.reads("the rater code of the person who scores by ear")


async def test_what_a_person_has_not_agreed_to_is_told_in_the_dialog_and_before_ready(
    sit: Sit,
) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="naming-demo", speaker="pilot_one", transcriber="none", microphone="Rode")
        await seat.until(lambda: "no microphone will be opened" in told(seat, "notices"))
        assert "pilot_one" in told(seat, "notices")
        seat.fill(speaker="S-014")
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "record", True, "2026-11-01")])
        await seat.until(lambda: not told(seat, "notices"), "a consent is enough")
        seat.fill(speaker="S-015")
        await seat.until(lambda: "S-015" in told(seat, "notices"))
        seat.app.screen.query_one("#battery", Input).focus()
        await seat.press("enter")
        await seat.reads("! no microphone will be opened")
        assert "Rode" in seat.text
        assert seat.app.remembered.microphone == "Rode"


async def test_a_part_of_a_battery_is_given_and_only_its_subtests_are_scored(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="tab", model="echo", judges="none", part_subtests="repetition, ct1")
        await seat.press("enter")
        await seat.reads("no subtest 'ct1'")
        seat.fill(part_subtests="repetition", part_limit="2")
        await seat.press_button("begin")
        await seat.until(lambda: seat.desk.work, "the administration")
        assert seat.work.administration.planned == 2
        assert [subtest.title for subtest in seat.work.scores.subtests] == ["Repetition"]


async def test_a_lesion_is_checked_while_it_is_typed(sit: Sit) -> None:
    async with sit((100, 40)) as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="tab", model="bundled")
        seat.app.screen.query_one("#lesion").focus()
        await seat.type("mlq:zero")
        await seat.reads("has no known target in 'mlq:zero'")
        seat.fill(lesion="mlp.down:zero:0.3")
        await seat.until(lambda: "has no known target" not in seat.text, "no error")
        seat.fill(model="echo")
        await seat.reads("'echo' cannot be lesioned")
        await seat.press("enter")
        await seat.until(lambda: seat.app.screen.query("#lesion.-wrong"), "the field is marked")
        assert seat.desk.work is None
