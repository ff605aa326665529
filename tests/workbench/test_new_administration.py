"""The new-administration dialog: what is told before anything begins, and which rows apply."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree

import pytest
from textual.widgets import Input, Static

from tabwb.lesion.declared import PRESETS
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import Audience
from tabwb.records.speakers import Consent
from tabwb.records.states import AdministrationStatus, AttemptState, TrialState
from tabwb.store.store import Store
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry
from tabwb.workbench.trial.draft import Draft, asked_of, default_draft, remembered
from tabwb.workbench.trial.new_administration import Row
from tests.builders import BATTERIES
from tests.plugin_api import conftest as installed
from tests.workbench.seat import Seat, Sit


def told(seat: Seat) -> str:
    line = seat.app.screen.query_one("#preview", Static)
    return " ".join(str(line.content).split()) if line.display else ""


def labels(seat: Seat) -> set[str]:
    """The labels that can be read."""
    shown = [row for row in seat.app.screen.query(Row) if row.region.height]
    return {label for row in shown for label in str(row.render()).split("  ") if label.strip()}


@asynccontextmanager
async def opened(sit: Sit, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Seat]:
    """Open the dialog."""
    async with sit(size) as seat:
        await seat.press("f2")
        await seat.dialog()
        yield seat


async def test_the_dialog_tells_what_it_would_do_and_has_only_the_rows_that_apply(
    sit: Sit, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    copytree(BATTERIES / "naming-demo", own)
    async with opened(sit) as seat:
        assert labels(seat) == {"Battery", "Given to", "Lesion", "Judges"}
        assert not seat.app.screen.query_one("#defaults").display
        seat.app.screen.query_one("#lesion").focus()
        await seat.press("down", reads="half of the attention heads")
        await seat.press("down", "enter")
        field = seat.app.screen.query_one("#lesion", Input)
        assert field.value == [*PRESETS][1]
        field.value = ""
        seat.fill(battery="tab")
        await seat.until(lambda: told(seat), "the design")
        line = seat.app.screen.query_one("#preview", Static)
        assert line.region.height == line.virtual_size.height > 5, "whole on a small screen"
        assert told(seat)[-20:] in seat.text
        seat.fill(judges="rules tab-2026:bundled")
        # Five connected texts in TAB; a reply that cannot be read is asked for once more.
        await seat.until(lambda: "5 answers, at most 10 requests" in told(seat), "the forecast")
        field = seat.app.screen.query_one("#judges", Input)
        field.focus()
        await seat.press("end", "space", *"sur", "down", "enter")
        assert field.value == "rules tab-2026:bundled surprisal:"
        seat.fill(judges="rules")
        await seat.until(lambda: "requests" not in told(seat), "no model, no forecast")
        seat.fill(battery=str(own / "battery.toml"))
        await seat.until(lambda: "Microphone" in labels(seat), "the rows of naming")
        seat.fill(battery="tab")
        await seat.until(lambda: "Protocol ID" in labels(seat), "TAB is made for models")
        seat.fill(kind="model")
        await seat.until(lambda: "Protocol ID" not in labels(seat), "a model needs none")

        seat.fill(battery="naming-demo")
        await seat.until(lambda: "Microphone" in labels(seat), "the rows of naming")
        assert labels(seat) == {"Battery", "Given to", "Microphone", "Transcriber"}
        await seat.advanced()
        folded = {"Scored by", "Seed", "Items", "Protocol ID"}
        await seat.until(lambda: folded <= labels(seat), "the folded rows")
        assert labels(seat) == {"Battery", "Given to", "Microphone", "Transcriber", *folded}

        # What a person has not agreed to is told here and before ready.
        seat.fill(speaker="pilot_one", transcriber="none", microphone="Rode")
        await seat.until(lambda: "no microphone will be opened" in told(seat), "no consent")
        assert "pilot_one" in told(seat)
        seat.fill(speaker="S-014")
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "record", True, "2026-11-01")])
        await seat.until(lambda: not told(seat), "a consent is enough")
        seat.fill(speaker="S-015")
        await seat.until(lambda: "S-015" in told(seat), "no consent")
        seat.app.screen.query_one("#battery", Input).focus()
        await seat.press("enter", reads="! no microphone will be opened")
        assert "Rode" in seat.text
        assert seat.app.remembered.microphone == "Rode"


async def test_the_smallest_difference_is_told_and_every_error_stands_at_its_field(
    sit: Sit,
) -> None:
    async with opened(sit, (100, 60)) as seat:
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
            lambda: "The lesion is drawn by the seed in its spec" in told(seat), "its seed"
        )

        # A lesion is checked while it is typed.
        seat.fill(lesion="")
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

        seat.fill(lesion="", replicates="1", seed="one", top_p="7", judges="nope", model="ecko")
        seat.app.screen.query_one("#advanced").focus()
        await seat.press("enter")  # the fields are folded again
        await seat.press_button("begin")
        await seat.reads("! there is no model back end 'ecko'; did you mean")
        await seat.reads("! there is no judge 'nope'", "! Seed: 'one' cannot be used")
        await seat.focuses("model")
        seat.app.screen.query_one("#fields").scroll_relative(y=4, animate=False)
        await seat.reads("! Top p: '7' cannot")
        assert seat.desk.work is None
        seat.fill(model="echo", judges="none", seed="2", top_p="1")
        await seat.until(lambda: "! " not in seat.text, "no error is left")
        for fields, words in (
            ({"protocol": "likelihood"}, "cannot answer under the protocol 'likelihood'"),
            ({"protocol": "generate", "part_subtests": "repetition, ct1"}, "no subtest 'ct1'"),
        ):
            seat.fill(**fields)
            await seat.press_button("begin")
            await seat.reads(words)
        seat.fill(part_subtests="repetition", part_limit="2")
        await seat.press_button("begin")
        await seat.until(lambda: seat.desk.work, "the administration")
        assert seat.work.administration.planned == 2
        assert [subtest.title for subtest in seat.work.scores.subtests] == ["Repetition"]


async def test_participants_are_listed_and_the_last_settings_are_filled_in_again(
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
        await seat.press("down", reads="S-014  1 administration")
        assert "S-020  no administration yet" in seat.text
        await seat.press("enter")
        seat.fill(battery=name)
        await seat.reads("Continue #1")  # an open administration can be continued

        await seat.advanced()
        seat.fill(battery=battery, kind="model", model="echo", judges="rules", seed="7")
        seat.fill(temperature="1")
        await seat.press_button("begin")
        await seat.until(lambda: seat.work.administration.id == 2, "the administration")
        await seat.press("f2")
        await seat.dialog()
        fields = [seat.app.screen.query_one(f"#{one}", Input) for one in ("battery", "model")]
        assert [one.value for one in fields] == [battery, "echo"]
        await seat.reads("seed 7, temperature 1")
        await seat.press_button("defaults")
        await seat.reads("greedy, seed 1, the battery's token limits")
        assert [one.value for one in fields] == ["tab", "bundled"]


MODEL = Draft()
PERSON = Draft(kind="speaker", speaker="S-014").filled(
    research_protocol="IRB-7", conversation="yes"
)


def conditions_of(draft: Draft) -> Conditions:
    audience: Audience = "model" if draft.kind == "model" else "typed"
    conditions, problems = asked_of(draft, audience)
    assert not problems
    return conditions


def test_a_draft_stands_for_conditions() -> None:
    conditions = conditions_of(MODEL)
    assert (conditions.examinee, conditions.kind) == ("bundled", "model")
    assert conditions.decoding.greedy
    assert conditions.judges == ("rules",)
    assert conditions.decoding.seed == conditions.seed == 1
    person = conditions_of(PERSON)
    assert (person.examinee, person.research_protocol) == ("S-014", "IRB-7")
    assert not person.conversation
    for fields, name, value in (
        ({"research_protocol": "IRB-7"}, "research_protocol", None),  # of a model
        ({"judges": "none"}, "judges", ()),
        ({"judges": "rules other"}, "judges", ("rules", "other")),
    ):
        assert getattr(conditions_of(MODEL.filled(**fields)), name) == value, fields
    stops = conditions_of(MODEL.filled(stop="Q:  \\n\\n")).decoding.stop
    assert stops == ("Q:", "\n\n"), "they stand two spaces apart"


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
    # A lesion is not, and what is damaged has its default.
    lesioned = MODEL.filled(lesion="mlp:zero:0.3", seed="7")
    assert lesioned.differing(MODEL) == {"seed": "7"}
    assert remembered(MODEL, {"lesion": "mlp:zero:0.3", "seed": "7"}) == MODEL.filled(seed="7")
    damaged = {"kind": "animal", "of another version": "x", "seed": 7, "rater": "R2"}
    assert remembered(MODEL, damaged) == MODEL.filled(rater="R2")  # type: ignore[arg-type]


install = installed.install
Install = installed.Install

CROWD = '''
from pathlib import Path


class Crowd:
    """Answers from the last to the first; NAME is a folder in which files say how.

    go: lets answers come after the wait; count: tokens are counted; fail: the keys that fail.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def open(self):
        return {"model": "crowd"}

    def close(self):
        pass

    def answer(self, request):
        failing = self.folder / "fail"
        if failing.exists() and request.key in failing.read_text().split():
            return ComponentError("the service is down")
        counted = (7, 3) if (self.folder / "count").exists() else (None, None)
        return Reply("dog", StopReason.END, 0.01, None, *counted)

    def reply(self, request, cancel):
        said = self.answer(request)
        if isinstance(said, ComponentError):
            raise said
        yield said

    def reply_many(self, requests, cancel):
        with (self.folder / "asked").open("a") as asked:
            print(len(requests), file=asked)
        for index in reversed(range(len(requests))):
            yield index, Wait(90.0, "rate limit, attempt 2 of 6")
            while not (self.folder / "go").exists():
                if cancel.wait(0.01):
                    return
            yield index, self.answer(requests[index])


@hookimpl
def tabwb_register_models(register):
    make = lambda spec, options: Crowd(spec.name)
    register(Descriptor("crowd", "Many at once", make, name_help="FOLDER", batches=True))
'''


@pytest.fixture
def folder(install: Install, tmp_path: Path) -> Path:
    install("crowd", CROWD)
    made = tmp_path / "crowd"
    made.mkdir()
    return made


def charge(tmp_path: Path) -> None:
    config = tmp_path / "tabwb-config"
    config.mkdir()
    price = '[[price]]\nmodel = "crowd:*"\nprompt = 100.0\nreply = 1000.0\n'
    (config / "prices.toml").write_text(price, encoding="utf-8")


async def test_many_at_once_wait_stop_pause_and_are_counted(
    sit: Sit, battery: str, folder: Path, tmp_path: Path
) -> None:
    charge(tmp_path)
    go, counted = folder / "go", folder / "count"
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a", reads="32 in flight")
        await seat.press("escape")
        await seat.until(lambda: not seat.work.asking, "the stop")
        assert seat.work.status is AdministrationStatus.PAUSED
        assert "in flight" not in seat.text
        assert not any(trial.attempts for trial in seat.stored()[1])
        await seat.press("a", reads="32 in flight")  # they are asked again
        await seat.press("p", reads="pausing after the current responses")
        go.touch()
        await seat.until(lambda: seat.work.status is AdministrationStatus.PAUSED, "the pause")
        assert sum(trial.state is TrialState.ANSWERED for trial in seat.stored()[1]) == 32
        await seat.reads("tokens not counted, cost unknown")

        go.unlink()
        counted.touch()
        (folder / "asked").unlink()
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.reads("rate limit, attempt 2 of 6: ", "32 in flight", "many at once")
        shown = seat.text
        await seat.until(lambda: seat.text != shown, "the countdown's next second")
        go.touch()
        await seat.at("results")
        # 45 items: 32 together, then the 13 that are left.
        assert (folder / "asked").read_text().split() == ["32", "13"]
        administration, trials = seat.stored()
        assert administration.status is AdministrationStatus.DONE
        assert all(len(trial.attempts) == 1 for trial in trials)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.work is None, "the first page")
        seat.desk.do(lambda: seat.desk.sessions.resume(2, go_on=False))
        # 45 x (7 x 100 + 3 x 1000) / 1,000,000 USD.
        await seat.reads("450 tokens, 0.1665 USD")

        (folder / "asked").unlink()
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="13")
        await seat.press("a", at="results")
        assert not (folder / "asked").exists(), "a few are asked one by one"


async def test_of_a_free_model_only_tokens_are_told_and_of_a_person_nothing(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.next()
        # "Which one barks? (dog, tree, cup)" has six words, and echo says them again.
        await seat.reads("12 tokens")
        assert "USD" not in seat.text
        assert "cost" not in seat.text
        await seat.begin(battery=battery, kind="speaker", speaker="S-01")
        assert seat.work.spending is None
        assert not seat.desk.query_one("#run-line").display


async def test_a_service_that_is_down_rests_the_run_and_says_so(
    sit: Sit, battery: str, folder: Path
) -> None:
    (folder / "go").touch()
    (folder / "fail").write_text("words/w1 words/w2 saying/s1", encoding="utf-8")
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.until(lambda: seat.asked, "the trouble")
        await seat.reads("Auto-run has stopped")
        assert "the last one: the service is down" in seat.work.reason
        with Store.open(seat.store) as store:
            failed = [one for one in store.trials(1) if one.attempts]
        assert [one.attempts[0].state for one in failed] == [AttemptState.ERROR] * 3
        (folder / "fail").unlink()
        await seat.press("escape")
        await seat.press("a", at="results")
