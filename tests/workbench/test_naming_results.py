"""Results of spoken naming in the workbench: by rule, item by item, codes, sessions over time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from textual.content import Content
from textual.widgets import Input, Static

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.analysis.grouping import grouped, summarised
from tabwb.host.plugins import Plugins
from tabwb.media.views.administration import opening_sentence
from tabwb.records.conditions import Conditions
from tabwb.records.naming import Coded, Score, Scored, observation_of_json
from tabwb.records.speakers import Consent
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import NamingView
from tabwb.workbench.comparison.page import NamedItems
from tabwb.workbench.engine.messages import Playing
from tabwb.workbench.lesions.dial_page import DialPage
from tabwb.workbench.naming.controller import Player
from tabwb.workbench.results.actions import ResultsActions
from tabwb.workbench.results.naming_body import NamedDetail, NamingBody
from tabwb.workbench.results.naming_summary import (
    code_lines,
    cue_lines,
    latency_lines,
    phoneme_lines,
    right_lines,
    session_lines,
)
from tabwb.workbench.results.stored import Results, results_of
from tabwb.workbench.shell import sound
from tabwb.workbench.shell.pictures import Picture
from tabwb.workbench.shell.sound import Waveform
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.workbench.seat import Seat, Sit

soundfile = pytest.importorskip("soundfile")
CUES = 'cues = [{ kind = "semantic", text = "It grows.", when = "asked", counts = true }]'
FIRST: tuple[tuple[Score, str], ...] = (
    ("right", "D AO G"), ("error", "D AO G"), ("error", "TH R IY"), ("no-response", ""),
)  # fmt: skip
SECOND: tuple[tuple[Score, str], ...] = (("right", ""),) * 4


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The battery given to S-014 twice; in the first session some names are wrong."""
    tmp_path = tmp_path_factory.mktemp("naming")
    plugins = Plugins.load()
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path, CUES)))
    conditions = setup.resolve(plugins, battery, Conditions("S-014", "speaker", rater="R7"))
    noise = 1e-3 * np.random.default_rng(1).standard_normal(46 * 8000)
    soundfile.write(tmp_path / "r1.wav", noise, 8000)
    with Store.open(tmp_path / "store.db") as store:
        for given in (FIRST, SECOND):
            with create_naming(store, plugins, battery, conditions) as session:
                if given is FIRST:
                    spoken_in(session).recordings.keep("r1", tmp_path / "r1.wav")
                for number, (score, said) in enumerate(given, 1):
                    spoken_in(session).show(shown(10.0 * number))
                    if said == "TH R IY":
                        spoken_in(session).cue(10.0 * number + 0.5)
                    spoken_in(session).score(score, take=take(10.0 * number))
                    if said:
                        spoken_in(session).transcribed(number, 1, heard(said))
                    if (number, score) == (2, "error"):
                        spoken_in(session).listening.hear("dog")
                        spoken_in(session).listening.code("semantic")
                session.next()
    plugins.close()
    return tmp_path


@pytest.fixture(autouse=True)
def two_sessions(tmp_path: Path, made: Path) -> None:
    copytree(made, tmp_path, dirs_exist_ok=True)


async def results(seat: Seat, number: int = 1) -> None:
    seat.show_results(number)
    await seat.at("results")


def line(seat: Seat, name: str) -> str:
    """The line of the screen that begins so, spaces drawn together."""
    found = (" ".join(each.split()) for each in seat.text.splitlines())
    return next((each[each.index(name) :] for each in found if name in each), "")


@pytest.fixture
def shown_results(tmp_path: Path) -> Results:
    """What the page shows of the first session."""
    with Store.open(tmp_path / "store.db") as store:
        sessions = load_columns(store, [1, 2])
        (first,) = load_administrations(store, (1,))
        return results_of(first, sessions)


def written(lines: Iterable[Content]) -> list[str]:
    """Lines with their spaces drawn together."""
    return [" ".join(line.plain.split()) for line in lines]


def test_right_names_have_their_intervals_and_cues_their_effect(shown_results: Results) -> None:
    assert shown_results.naming is not None
    (part,) = shown_results.naming.parts
    right = written(right_lines(part, 100))
    # One of four: 0.0063 to 0.8059 by Clopper and Pearson; the silence was not transcribed.
    assert right[2].startswith("Listener 1/4") and right[2].endswith("0.01-0.81")
    assert right[3].startswith("Right anywhere (by rule) 1/3")
    assert right[3].endswith("0.01-0.91 1 open")
    assert "what counts: 4 items scored by a listener, 0 by the battery's rule" in right
    cues = written(cue_lines(part, 60))
    assert cues[1].startswith("without a cue 1/4") and cues[1].endswith("0.01-0.81")
    assert cues[2].startswith("after a semantic cue 0/1")
    codes = written(code_lines(part, 60))
    assert any(each.startswith("semantic ") and each.endswith(" 1") for each in codes)
    assert "proposed" not in codes[0]  # every item was scored by a listener
    assert "Median of 1 right name 0.60 s" in " ".join(written(latency_lines(part, 60)))


def test_results_begin_with_the_number_of_right_names(shown_results: Results) -> None:
    told = opening_sentence(shown_results.battery, shown_results.summary)
    right = shown_results.summary.named[0].summary.accuracy[0]
    assert told.startswith(f"{right.correct} of {right.n} names") and right.correct < right.n


def test_phonemes_of_other_words_are_left_out_of_the_matrix(shown_results: Results) -> None:
    assert shown_results.naming is not None
    found = shown_results.naming.parts[0].confusions
    # D AO G and TH R IY for T R IY; "dog" for a cat is another word.
    assert (found.responses, found.other) == (2, (("cat", "semantic"),))
    lines = written(phoneme_lines(found, 60))
    assert lines[0].startswith("t ~ θ 1/1 -continuant → +continuant, ")
    assert "t · · 1 · · ·" in lines
    narrow = written(phoneme_lines(found, 14))
    assert "t 1" in narrow and not any(each.startswith("d ") for each in narrow)
    assert "d 1" in " ".join(narrow), "what was always heard is listed"


def test_sessions_are_compared_item_by_item(shown_results: Results) -> None:
    assert shown_results.naming is not None
    lines = written(session_lines(shown_results.naming, 0, 1, 100))
    first = next(each for each in lines if each.startswith("▸#1"))
    assert " 1/4 " in first and first.endswith("0.01-0.81 0.60 s 0")
    assert any(each.startswith("#2") and each.endswith("0.40-1.00 0.60 s +0") for each in lines)
    # Three gained and none lost: 2 * 0.5^3 by McNemar's exact test.
    assert "#1 to #2 3 gained (cat, tree, house); 0 lost; p 0.250" in lines
    assert "dog ✓ ✓ cat ✗ ✓ tree ✗ ✓ house ✗ ✓" in lines


async def test_figures_then_each_response_with_what_is_said_of_it(sit: Sit) -> None:
    async with sit() as seat:
        await results(seat)
        await seat.until(lambda: line(seat, "Listener"))
        assert line(seat, "Listener").startswith("Listener 1/4")
        assert line(seat, "notes (enter opens)"), "notes are folded to a line"
        await seat.press("I")
        await seat.until(lambda: seat.desk.workbench.remembered.arpabet, "ARPAbet")
        await seat.press("I")
        await seat.press("t")
        await seat.until(lambda: line(seat, "1 ✓ dog /dɔɡ/ right correct 0.60 s"), "the items")
        assert line(seat, "2 ✗ cat “dog” error semantic")
        await seat.press("down", "space")
        await seat.until(lambda: line(seat, "accepted /tri/"), "the third response")
        assert "3 of 4   tree" in seat.text
        await seat.press("enter")
        detail = seat.app.screen.query_one(NamedDetail)
        await seat.until(lambda: detail.has_focus, "the response")
        await seat.press("end")
        # A stop and a fricative at one place: three of 24 features turn round, 3 of 72 in all.
        await seat.reads("t ~ θ")
        assert line(seat, "t ~ θ").startswith("t ~ θ 3 -continuant → +continuant")
        assert "0.33 of" in seat.text
        await seat.pilot.resize_terminal(160, 60)
        await seat.until(lambda: line(seat, "1 ✓ dog /dɔɡ/ right correct 0.60 s"), "both")
        await seat.reads("t ~ θ", "0.33 of", "3 of 4   tree")
        await seat.press("escape", "escape", at="home")


def test_pictures_are_counted_for_each_speaker_the_hardest_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        rows = summarised(grouped(load_columns(store, [1, 2]), "model"))
    found = NamedItems(rows)
    assert written(found.lines(60)) == [
        "item speaker S-014",
        "cat 1/2 ████",
        "tree 1/2 ████",
        "house 1/2 ████",
        "dog 2/2 ████████",
    ]


def corrections(seat: Seat) -> list[str]:
    """What was corrected in the first response, as the page has it."""
    assert seat.results is not None and seat.results.responses[0].named is not None
    return [words for words, *_ in seat.results.responses[0].named.corrections]


async def test_a_response_is_measured_scored_and_coded_afterwards(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound, "SETTLED_S", 600.0)  # kept when the test says so
    async with sit((120, 40)) as seat:
        with Store.open(seat.store) as store:
            other = [one.observations for one in store.trials(2)]
        await results(seat)
        # Onset and limits are moved on the waveform, and figures follow.
        await seat.press("t")
        await seat.until(lambda: seat.app.screen.query_one(Waveform).sound, "the waveform")
        wave = seat.app.screen.query_one(Waveform)
        wave.focus()
        await seat.press(*["shift+right"] * 4)
        wave.keep()
        await seat.until(lambda: "0.80 s" in line(seat, "1 ✓ dog"), "the new latency")
        assert line(seat, "onset 0.80 s after picture, set by person:R7")
        await seat.press("o", "o", *["shift+left"] * 4)
        wave.keep()
        await seat.until(lambda: corrections(seat) == ["onset 10.80 s", "limits 10.00 to 13.80 s"])
        await seat.press("u")
        await seat.until(lambda: corrections(seat) == ["onset 10.80 s"], "the earlier limits")
        await seat.press("u")
        await seat.until(lambda: "0.60 s" in line(seat, "1 ✓ dog"), "the onset as measured")
        await seat.press("u")
        await seat.until(lambda: seat.asked, "nothing is left to take back")
        assert "no correction" in seat.text
        await seat.press("escape")
        await seat.closed()

        seat.app.screen.query_one("#responses").focus()
        await seat.press("home", "down", "down")
        await seat.until(lambda: line(seat, "rater R7"), "the response")
        await seat.press("1")
        await seat.until(lambda: line(seat, "1 S-014 2/4"), "the explorer counts it")
        await seat.press("u")
        await seat.until(lambda: line(seat, "1 S-014 1/4"), "the explorer, taken back")
        await seat.press("R")
        await seat.words("R8")
        await seat.until(lambda: line(seat, "Scores and transcripts of others"), "hidden")
        assert not line(seat, "person:R7") and line(seat, "1 · dog - -")
        await seat.press("2")
        await seat.until(lambda: line(seat, "score 2 self-corrected"), "the new score")
        assert "person:R8, after the machine's" in line(seat, "score 2 self-corrected")
        await seat.press("h")
        await seat.words("three")
        await seat.until(lambda: line(seat, "heard three"), "what was heard")
        await seat.press("k")
        await seat.has("codes")
        await seat.press("end", "space", "home", "f", "enter")
        await seat.until(lambda: line(seat, "code formal"), "the code")
        await seat.press("k")
        await seat.has("codes")
        await seat.press("enter")
        await seat.until(lambda: not seat.app.screen.query("#codes"), "the same code once more")
        await seat.press("u")
        await seat.until(lambda: any("Taken back: code" in one for one in seat.news), "undo")
        await seat.press("5")
        await seat.words("a car passed")
        await seat.until(lambda: line(seat, "score 5 cannot be scored"), "that it has no score")
        assert line(seat, "3 ✗ tree").startswith("3 ✗ tree “three” error (R7; R8 cannot be score")
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
    assert codes == [("formal", 1)], "a flag stays with its code; the second code was taken back"


async def test_a_small_screen_lists_refuses_and_exports_within_the_study(
    sit: Sit, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.people.keep_consents([Consent("S-014", "record", True, "2026-11-21")])
    out = tmp_path / "answers.jsonl"
    async with sit() as seat:
        await seat.press("T")  # of several transcribers
        await seat.has("transcriber")
        seat.fill(where="origin=human", transcriber="bundled-words nobody")
        seat.app.screen.query_one("#transcriber").focus()
        await seat.press("enter")
        await seat.until(lambda: line(seat, "! there is no transcriber 'nobody'"), "the second")
        await seat.press("escape")
        await seat.closed()

        await results(seat)
        await seat.press("M")
        await seat.has("transcriber")
        seat.fill(transcriber="nobody")
        await seat.press("enter")
        await seat.until(lambda: line(seat, "! there is no transcriber 'nobody'"), "what is wrong")
        assert seat.app.screen.focused is seat.app.screen.query_one("#transcriber")
        await seat.press("escape")

        await seat.press("e")
        await seat.has("out")
        seat.app.screen.query_one("#out", Input).value = str(out)
        await seat.press("enter")
        await seat.until(lambda: "scope 'share'" in seat.text, "the refusal")
        assert not out.exists()
        seat.fill(within_study="yes")
        seat.app.screen.query_one("#out").focus()
        await seat.press("enter")
        await seat.closed()
        assert out.exists()
        with Store.open(seat.store) as store:
            assert "within the study" in store.people.log_entries()[-1].detail

        # A small picture and the whole waveform have room.
        await seat.press("t")
        detail = seat.app.screen.query_one(NamedDetail)
        picture, wave = detail.query_one(Picture), detail.query_one(Waveform)
        await seat.until(lambda: wave.sound, "the waveform")
        detail.show_sound(np.zeros((8, 8, 3), dtype=np.uint8), wave.sound)
        await seat.until(lambda: picture.size.height, "the picture")
        for part in (picture, wave):
            assert detail.region.contains_region(part.region), part
        await seat.press("down", "down", "l")  # without the consent to rate
        await seat.until(
            lambda: "not consented to rating" in " ".join(seat.text.split()), "the refusal"
        )


async def test_four_keys_or_fewer_play_a_recording_from_home_or_from_the_summary(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[int, int]] = []

    def turn(player: object, session: Session, view: NamingView | None) -> None:
        assert view is not None and view.take is not None
        played.append((session.administration.id, view.trial.plan.number))

    monkeypatch.setattr(Player, "turn", turn)
    async with sit((100, 30)) as seat:
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "rate", True, "2026-11-01")])
        await seat.until(lambda: seat.desk.query("#home-latest"), "the list")
        await seat.focuses("home-latest")
        await seat.press("down", "l")  # 2 keys: the first session is below the second
        await seat.until(lambda: played == [(1, 1)], "the first recording")
        await seat.press("enter")
        await seat.at("results")
        await seat.until(lambda: seat.desk.current.situation(seat.desk.situation()), "")
        await seat.press("l")  # 3 keys: down, enter, l
        await seat.until(lambda: len(played) == 2, "the marked recording")
        assert played[1] == (1, 1)


async def test_people_stand_among_models_and_nothing_breaks(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("m", reads="S-014")
        await seat.reads("NAMES RIGHT")
        # One of four names in the first session, all four in the second.
        assert "5/8" in seat.text
        assert any("0.62" in one and "├" in one for one in seat.text.splitlines())
        sorting = (["greater_than_sign"], ["less_than_sign"])
        for keys in (["g"], ["right"], ["right"], ["g"], ["t"], *sorting, ["enter"]):
            await seat.press(*keys)
            await seat.pilot.pause(0.05)
        assert not [one for one in seat.app.screen.query(Static) if "unexpected" in str(one)]
        await seat.until(lambda: seat.desk.page == "results" or seat.asked, "one of its sessions")


async def test_the_sessions_of_a_speaker_are_on_the_dial_with_their_sound(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[int, int]] = []

    def turn(player: Player, session: Session, view: NamingView | None) -> None:
        assert view is not None and view.take is not None
        played.append((session.administration.id, view.trial.plan.number))
        player._say(Playing(*played[-1], lambda: None))

    monkeypatch.setattr(Player, "turn", turn)
    async with sit((80, 24)) as seat:
        await seat.press("p", at="participants")
        await seat.until(lambda: seat.desk.current.foot_rank, "the page")
        await seat.press("z", at="dial")
        page = seat.desk.current
        assert isinstance(page, DialPage)
        await seat.until(lambda: page.setting, "the sessions")
        assert page.facts is not None and page.facts.days == (None, None)
        assert len(page.facts.items) == 4
        one, two = (page.step_at("lesion", number) for number in (1.0, 2.0))
        assert one is not None and one.session is not None and two is not None
        # D AO G is the target, transcribed; the second response was heard, and coded an error.
        assert (one.answer, one.new_words, one.features["right"]) == ("d ɔ ɡ", (), True)
        assert two.features["right"] is True and not two.answer
        # Without consent to rate nothing is played; with it, each session in turn.
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "rate", False, "2026-10-01")])
        await seat.press("l")  # 3 keys from home: p, z, l
        await seat.until(lambda: seat.asked, "the refusal")
        assert not played
        await seat.press("escape")
        await seat.closed()
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "rate", True, "2026-11-01")])
        await seat.press("space")
        await seat.until(lambda: played == [(1, 1), (2, 1)], "both sessions in turn")
        assert page.place == 1
        await seat.press("z", "up", "left", "l")  # people have no range of amounts
        await seat.until(lambda: len(played) == 3, "the last item")
        assert page.setting is not None and page.setting.item == "nouns/house"
        assert played[-1] == (1, 4)
        # A click on another session stops what is played, and plays nothing else.
        await seat.until(lambda: page._position, "the sound")
        page._position = lambda: 0.1
        slider = page.query_one("#dial-slider")
        await seat.pilot.click(slider, offset=(slider.size.width - 3, 0))
        await seat.until(lambda: page.place == 1, "the other session")
        await seat.until(lambda: len(played) == 4, "the end of the sound")
        assert played[-1] == (1, 4)

        # What is shown is written by the operation's dialog, under its consent.
        file = seat.store.parent / "sessions.html"
        await seat.press("e")
        await seat.has("out")
        seat.fill(out=str(file))
        await seat.press_button("begin")
        await seat.reads("! ")  # no consent to share
        assert not file.exists()
        with Store.open(seat.store) as store:
            store.people.keep_consents([Consent("S-014", "share", True, "2026-11-01")])
        await seat.press_button("begin")
        await seat.until(file.exists, "the page")
        await seat.reads("written")  # and how the job ended
        await seat.press("escape", "escape")
        await seat.closed()

        # From the results it opens at the marked response, unless another rater listens blind.
        await results(seat)
        await seat.press("t", "down", "z", at="dial")
        await seat.until(lambda: page.setting and page.setting.item == "nouns/cat", "the item")
        await seat.press("escape", at="results")
        await seat.press("t")
        body = seat.desk.current.query_one(NamingBody)
        await seat.until(lambda: not body.responses_shown, "the summary")
        seat.desk.actions(ResultsActions).listener_changed(1, "R2")
        assert body.responses_shown, "the summary has what others said"
        await seat.press("z", "t")
        assert seat.desk.page == "results" and body.responses_shown
        await seat.press("escape", at="home")
        await seat.press("p", at="participants")
        await seat.press("z", "escape", at="home")
        assert "S-014" not in file.read_text(encoding="utf-8")
