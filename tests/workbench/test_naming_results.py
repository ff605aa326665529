"""Results of spoken naming in the workbench: by rule, item by item, codes, sessions over time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tabwb.administer.session import setup
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.naming import Coded, Score, Scored, observation_of_json
from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.workbench.seat import SIZES, Seat, Sit

CUES = 'cues = [{ kind = "semantic", text = "It grows.", when = "asked", counts = true }]'
FIRST: tuple[tuple[Score, str], ...] = (
    ("right", "D AO G"), ("error", "D AO G"), ("error", "TH R IY"), ("no-response", ""),
)  # fmt: skip
SECOND: tuple[tuple[Score, str], ...] = (("right", ""),) * 4


@pytest.fixture(autouse=True)
def two_sessions(tmp_path: Path) -> None:
    """The battery given to S-014 twice; in the first session some names are wrong."""
    plugins = Plugins.load()
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path, CUES)))
    conditions = setup.resolve(plugins, battery, Conditions("S-014", "speaker", rater="R7"))
    with Store.open(tmp_path / "store.db") as store:
        for given in (FIRST, SECOND):
            with setup.create_naming(store, plugins, battery, conditions) as session:
                for number, (score, said) in enumerate(given, 1):
                    session.spoken.show(shown(10.0 * number))
                    if said == "TH R IY":
                        session.spoken.cue(10.0 * number + 0.5)
                    session.spoken.score(score, take=take(10.0 * number))
                    if said:
                        session.spoken.transcribed(number, 1, heard(said))
                    if (number, score) == (2, "error"):
                        session.spoken.hear("dog")
                        session.spoken.code("semantic")
                session.next()


async def results(seat: Seat, number: int = 1) -> None:
    seat.show_results(number)
    await seat.until(lambda: seat.desk.page == "results", "the results")


def line(seat: Seat, name: str) -> str:
    """The line of the screen that begins so, spaces drawn together."""
    found = (" ".join(each.split()) for each in seat.text.splitlines())
    return next((each[each.index(name) :] for each in found if name in each), "")


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_named_is_shown_by_rule_by_item_and_over_time(
    sit: Sit, size: tuple[int, int]
) -> None:
    async with sit(size) as seat:
        await results(seat)
        # One of four: 0.0063 to 0.8059 by Clopper and Pearson.
        await seat.until(lambda: line(seat, "Listener"))
        assert line(seat, "Listener").startswith("Listener 1 4 0.01-0.81 0")
        # Of three transcripts one has the name; the silence was not transcribed.
        rule = "Right anywhere (by rule)"
        assert line(seat, rule).startswith(f"{rule} 1 3 0.01-0.91 1")
        assert "what counts: 4 items scored by a listener, 0 by the battery" in seat.text
        assert "semantic cue (counts): 1 item cued, 0 right after it" in seat.text
        assert line(seat, "Codes (listener)")
        assert "Proposed codes" not in seat.text  # every item was scored by a listener

        await seat.press("end")
        await seat.until(lambda: line(seat, "▸ #1"), "the session that is shown")
        assert "1 4 0.01-0.81 0.60 s" in line(seat, "▸ #1")
        assert "4 4 0.40-1.00 0.60 s" in line(seat, "#2 20")
        await seat.press("up", "up", "up", "up")
        await seat.until(lambda: {"●", "┬", "┴"} <= set(seat.text), "the plot")

        await seat.press("t")
        await seat.until(lambda: line(seat, "2 cat"), "the items")
        assert line(seat, "1 dog").startswith("1 dog D AO G right ✓ ✓ correct 0.60 s")
        assert line(seat, "2 cat").startswith("2 cat “dog” error ✗ ✗ semantic, repeats 0.60 s")
        await seat.press("down", "down", "enter")
        await seat.until(lambda: seat.asked, "the response")
        await seat.reads("tree.png   tree   accepted T R IY")
        assert "33 % phonemes, 4 % features" in seat.text
        await seat.press("pagedown")
        # A stop and a fricative at one place: three of 24 features turn round, 3 of 72 in all.
        await seat.reads("T ~ TH")
        assert line(seat, "T ~ TH").startswith("T ~ TH 3 -continuant → +continuant")


async def test_a_response_is_scored_and_coded_afterwards_by_ear(sit: Sit) -> None:
    async with sit() as seat:
        with Store.open(seat.store) as store:
            other = [one.observations for one in store.trials(2)]
        await results(seat)
        await seat.press("t", "down", "down")

        await seat.press("enter")
        await seat.until(lambda: seat.asked, "the response")
        assert line(seat, "Rater: R7")
        await seat.press("r")
        await seat.words("R8")
        await seat.until(lambda: line(seat, "shown after your score"), "what R7 said is hidden")
        assert not line(seat, "person:R7")
        await seat.press("2")
        await seat.until(lambda: line(seat, "score 2 self-corrected"), "the new score, still open")
        assert "person:R8, after the machine's" in line(seat, "score 2 self-corrected")
        await seat.press("h")
        await seat.words("three")
        await seat.until(lambda: line(seat, "heard three"), "what was heard, still open")
        await seat.press("k")
        await seat.until(lambda: seat.app.screen.query("#codes"), "the codes")
        await seat.press("end", "space", "home", "f", "enter")
        await seat.until(lambda: line(seat, "code formal"), "the code, still open")
        await seat.press("k")
        await seat.until(lambda: seat.app.screen.query("#codes"), "the codes")
        await seat.press("enter")
        await seat.until(lambda: not seat.app.screen.query("#codes"), "the same code once more")
        await seat.press("5")
        await seat.words("a car passed")
        await seat.until(lambda: line(seat, "score 5 cannot be scored"), "that it has no score")
        await seat.press("escape")
        await seat.until(lambda: not seat.asked, "the list")
        assert line(seat, "3 tree").startswith("3 tree “three” error (R7; R8 cannot be scored)")
        assert "formal," in line(seat, "3 tree") + ","
        assert line(seat, "1 dog").startswith("1 dog - -")  # R8 has not scored it
    with Store.open(seat.store) as store:
        assert [one.observations for one in store.trials(2)] == other, "what is another's stays"
        trial = store.trials(1)[2]
        acts = [each.detail for each in store.people.log_entries() if each.act == "rated"]
    said = [observation_of_json(each) for each in trial.observations]
    scores = [(one.score, one.by, one.after_reveal) for one in said if isinstance(one, Scored)]
    assert scores == [
        ("error", "person:R7", False),
        ("self-corrected", "person:R8", True),
        ("not-scorable", "person:R8", True),
    ]
    assert acts[-1] == "person:R8, item tree, score"
    codes = [(one.code, len(one.flags)) for one in said if isinstance(one, Coded)]
    assert codes == [("formal", 1), ("formal", 1)], "a flag stays with its code"


async def test_each_response_is_renewed_by_its_own_administration(sit: Sit) -> None:
    async with sit() as seat:
        await results(seat)
        await seat.press("t", "end", "enter")
        await seat.until(lambda: seat.asked, "the response")
        await seat.reads("house.png")
        seat.show_results(2)  # of another, while this one stands open
        await seat.until(lambda: seat.results and seat.results.administration.id == 2)
        assert "house.png" in seat.text and line(seat, "score 4 no response")
        await seat.press("1")
        await seat.until(lambda: line(seat, "score 1 right"), "the score of the first")


async def test_nobody_listens_again_without_the_consent_to_rate(sit: Sit, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.people.keep_consents([Consent("S-014", "record", True, "2026-11-21")])
    async with sit() as seat:
        await results(seat)
        await seat.press("t", "down", "down", "enter")
        await seat.until(lambda: seat.asked, "the response")
        await seat.press("l")
        await seat.until(
            lambda: "not consented to rating" in " ".join(seat.text.split()), "the refusal"
        )


async def test_what_may_not_be_shared_is_written_within_the_study(sit: Sit, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.people.keep_consents([Consent("S-014", "record", True, "2026-11-21")])
    out = tmp_path / "answers.jsonl"
    async with sit() as seat:
        await results(seat)
        await seat.press("e")
        await seat.until(lambda: seat.app.screen.query("#export-path"), "the dialog")
        assert "▸ jsonl" in seat.text
        words = line(seat, "attempts CSV")
        assert words.rstrip(" │").endswith("with all of its response"), "one line for each format"
        seat.app.screen.query_one("#export-path", Input).value = str(out)
        await seat.press("enter")
        await seat.until(lambda: "scope 'share'" in seat.text, "the refusal")
        assert not out.exists()
        await seat.press("down", "enter")
        await seat.until(lambda: "(x) stays within the study" in seat.text, "that it stays")
        await seat.press("up", "enter")
        await seat.until(lambda: not seat.asked, "the file")
    assert out.exists()
    with Store.open(seat.store) as store:
        assert "within the study" in store.people.log_entries()[-1].detail


async def test_without_plots_the_figures_of_each_session_stand(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textual_plotext", None)
    async with sit((160, 48)) as seat:
        await results(seat, 2)
        await seat.reads("SESSIONS OF S-014")
        assert line(seat, "▸ #2")
        assert "┬" not in seat.text


async def test_people_stand_among_models_and_nothing_breaks(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("m")
        await seat.reads("speaker S-014")
        for keys in (["g"], ["right"], ["right"], ["g"], ["t"], ["s"], ["r"], ["enter"]):
            await seat.press(*keys)
            await seat.pilot.pause(0.05)
        assert not [one for one in seat.app.screen.query(Static) if "unexpected" in str(one)]
        await seat.until(lambda: seat.desk.page == "results" or seat.asked, "one of its sessions")
