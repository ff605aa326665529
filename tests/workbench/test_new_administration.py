"""The new-administration dialog: what is told before anything begins, and which rows apply."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

from textual.widgets import Input, Static

from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tabwb.workbench.trial.new_fields import Row
from tests.workbench.seat import Seat, Sit

BATTERIES = Path(__file__).parents[2] / "batteries"


def told(seat: Seat) -> str:
    line = seat.app.screen.query_one("#preview", Static)
    return " ".join(str(line.content).split()) if line.display else ""


def labels(seat: Seat) -> set[str]:
    """The labels that can be read."""
    shown = [row for row in seat.app.screen.query(Row) if row.region.height]
    return {label for row in shown for label in str(row.render()).split("  ") if label.strip()}


async def test_what_is_told_before_it_begins_can_be_read_whole_on_a_small_screen(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="tab")
        await seat.until(lambda: told(seat), "the design")
        line = seat.app.screen.query_one("#preview", Static)
        assert line.region.height == line.virtual_size.height > 5
        assert told(seat)[-20:] in seat.text


async def test_what_a_judge_that_asks_a_model_takes_is_told_before_it_begins(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="tab", judges="rules tab-2026:bundled")
        # Five connected texts in TAB; a reply that cannot be read is asked for once more.
        await seat.until(lambda: "5 answers, at most 10 requests" in told(seat), "the forecast")
        seat.app.screen.query_one("#judges", Input).focus()
        await seat.press("end", "space", *"sur", "down", "enter")
        field = seat.app.screen.query_one("#judges", Input)
        assert field.value == "rules tab-2026:bundled surprisal:"
        seat.fill(judges="rules")
        await seat.until(lambda: "requests" not in told(seat), "no model, no forecast")


async def test_the_smallest_difference_of_the_design_is_told_before_it_begins(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        await seat.advanced()
        seat.fill(battery="tab", model="bundled", replicates="20", temperature="1")
        await seat.until(lambda: "for these prompts: 0.6" in told(seat), "the smallest difference")
        assert "No difference in symptom burden over 7 features can be found" in told(seat)
        assert "22 percentage points in accuracy (sign flips over items with t)" in told(seat)
        assert "seed" not in told(seat)
        seat.fill(temperature="0")
        await seat.until(
            lambda: told(seat).count("Smallest detectable difference") == 1, "greedy answers"
        )
        assert "The seed has no effect" in told(seat)
        assert "drawn by the seed in its spec" not in told(seat)
        seat.fill(lesion="mlp.down:zero:0.3@seed=2")
        await seat.until(
            lambda: "The lesion is drawn by the seed in its spec" in told(seat), "the lesion's seed"
        )


async def test_for_pictures_that_are_named_only_the_rows_that_apply_are_there(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        assert labels(seat) == {"Battery", "Given to", "Judges"}
        seat.fill(battery="naming-demo")
        await seat.until(lambda: "Microphone" in labels(seat), "the rows of naming")
        assert labels(seat) == {"Battery", "Given to", "Microphone", "Transcriber"}
        await seat.advanced()
        folded = {"Scored by", "Seed", "Items", "Protocol ID"}
        await seat.until(lambda: folded <= labels(seat), "the folded rows")
        assert labels(seat) == {"Battery", "Given to", "Microphone", "Transcriber", *folded}


async def test_a_battery_named_by_its_path_and_one_for_models_get_their_fields(
    sit: Sit, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    copytree(BATTERIES / "naming-demo", own)
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery=str(own / "battery.toml"))
        await seat.until(lambda: "Microphone" in labels(seat), "the rows of naming")
        seat.fill(battery="tab")
        await seat.until(lambda: "Protocol ID" in labels(seat), "TAB is made for models")
        seat.fill(kind="model")
        await seat.until(lambda: "Protocol ID" not in labels(seat), "a model needs none")


async def test_every_error_stands_at_its_field_and_the_first_has_the_focus(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        await seat.advanced()
        seat.fill(seed="one", top_p="7", judges="nope", model="ecko")
        await seat.press("enter")  # the fields are folded again
        await seat.press_button("begin")
        await seat.reads("! there is no model back end 'ecko'; did you mean")
        for words in (
            "! there is no judge 'nope'", "! Seed: 'one' cannot be used", "! Top p: '7' cannot",
        ):  # fmt: skip
            assert words in seat.text
        assert seat.app.focused is not None
        assert seat.app.focused.id == "model"
        assert seat.desk.work is None
        seat.fill(model="echo", judges="none", seed="2", top_p="1")
        await seat.until(lambda: "! " not in seat.text, "no error is left")


async def test_known_participants_are_listed_and_an_open_administration_can_be_continued(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, kind="speaker", speaker="S-014")
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-020", "record", True, "2026-11-01")])
        name = seat.work.administration.battery
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery=battery, kind="speaker")
        seat.app.screen.query_one("#speaker").focus()
        await seat.press("down")
        await seat.reads("S-014  1 administration")
        assert "S-020  no administration yet" in seat.text
        await seat.press("enter")
        seat.fill(battery=name)
        await seat.reads("Continue #1")


async def test_what_a_person_has_not_agreed_to_is_told_in_the_dialog_and_before_ready(
    sit: Sit,
) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery="naming-demo")
        await seat.until(lambda: seat.app.screen.query("#microphone"), "the fields of naming")
        seat.fill(speaker="pilot_one", transcriber="none", microphone="Rode")
        await seat.until(lambda: "no microphone will be opened" in told(seat))
        assert "pilot_one" in told(seat)
        seat.fill(speaker="S-014")
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "record", True, "2026-11-01")])
        await seat.until(lambda: not told(seat), "a consent is enough")
        seat.fill(speaker="S-015")
        await seat.until(lambda: "S-015" in told(seat))
        seat.app.screen.query_one("#battery", Input).focus()
        await seat.press("enter")
        await seat.reads("! no microphone will be opened")
        assert "Rode" in seat.text
        assert seat.app.remembered.microphone == "Rode"


async def test_a_part_of_a_battery_is_given_and_only_its_subtests_are_scored(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        await seat.advanced()
        seat.fill(battery="tab", model="echo", judges="none", part_subtests="repetition, ct1")
        await seat.press_button("begin")
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
        await seat.advanced()
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


async def test_the_last_settings_are_filled_in_again_and_defaults_are_one_button_away(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.press("f2")
        await seat.dialog()
        assert not seat.app.screen.query_one("#defaults").display
        await seat.advanced()
        seat.fill(battery=battery, model="echo", judges="rules", seed="7", temperature="1")
        await seat.press_button("begin")
        await seat.until(lambda: seat.desk.work, "the administration")
        await seat.press("f2")
        await seat.dialog()
        fields = {
            name: seat.app.screen.query_one(f"#{name}", Input) for name in ("battery", "model")
        }
        assert {name: one.value for name, one in fields.items()} == {
            "battery": battery,
            "model": "echo",
        }
        await seat.reads("seed 7, temperature 1")
        await seat.press_button("defaults")
        await seat.reads("greedy, seed 1, the battery's token limits")
        assert [one.value for one in fields.values()] == ["tab", "bundled"]
