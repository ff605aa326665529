"""Pictures are named in the workbench, key by key."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest
from textual.events import Key

from tabwb.administer.transcription import Job, Transcribing
from tabwb.phonology.distance import align_features, indel_cost
from tabwb.plugin_api.components import Cancel
from tabwb.records.speech import Transcript
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.scoring.naming.target import CODES, FLAGS
from tabwb.speech.level import Level
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.dialogs import CODE_KEYS, FLAG_KEYS
from tabwb.workbench.naming.item_pane import (
    CLIP_HELD_S,
    ItemList,
    LevelMeter,
    ResponseClock,
    score_lines,
    strip,
)
from tabwb.workbench.naming.pictures import SpeakerSheet, path_of
from tabwb.workbench.naming.view_models import NamedItem
from tabwb.workbench.shell.pictures import Picture
from tabwb.workbench.shell.rule_verdicts import Aligned, alignment_lines, change_lines
from tabwb.workbench.shell.sound import OnsetMark
from tests.workbench.naming_seat import Name, NamingSeat, views
from tests.workbench.seat import Stage

CUES = """
cues = [
  { kind = "semantic", text = "You keep it at home.", counts = true },
  { kind = "phonemic", text = "It begins with that.", counts = false },
]
"""


def onset(given: NamingSeat) -> OnsetMark:
    """The onset that is shown."""
    assert given.now.sound is not None and given.now.sound.onset is not None
    return given.now.sound.onset


async def test_a_whole_battery_by_keyboard(name_aloud: Name) -> None:
    async with name_aloud() as given:
        seat = given.seat
        await given.ready()
        await seat.reads("REC 00:0")
        await given.show()
        await seat.reads("name hidden: H shows it")
        assert "dog" not in seat.text, "the participant may read it"
        await seat.press("H", reads="accepted /dɔɡ/")
        await seat.press("I", reads="accepted D AO G")
        await seat.until(lambda: "▀" in seat.text, "the picture")
        given.speaker.say("dog")
        await given.score("1")
        await given.give("dog", key="3")
        await given.give("three", key="3")
        await given.show()
        given.speaker.wait(3.0)
        await seat.press("4", "s")
        await seat.until(lambda: given.now.score == "no-response")
        await seat.reads("1 of 4 right", "space End")
        assert "space Show" not in seat.text
        await seat.press("space")
        await seat.until(lambda: seat.work.status is AdministrationStatus.DONE)
        folder = seat.store.with_name(f"{seat.store.name}.takes")
        assert not list(folder.glob("*.part")), "the recording is kept and nothing is left over"
    one, trials = seat.stored()
    assert one.status is AdministrationStatus.DONE
    assert {trial.state for trial in trials} == {TrialState.ANSWERED}
    found = [view.score for view in views(given)]
    assert [(one.score, one.reason) for one in found if one] == [
        ("right", ""), ("error", ""), ("error", ""), ("no-response", "silent"),
    ]  # fmt: skip
    with Store.open(seat.store) as store:
        (kept,) = store.people.recordings(one.id)
        assert kept.seconds == given.speaker.now_s, "from ready to the end"


async def test_a_response_from_the_picture_to_its_code(name_aloud: Name) -> None:
    async with name_aloud() as given:
        seat = given.seat
        await given.ready()
        await given.show()
        given.speaker.wait(1.0)
        given.speaker.say("dog")
        await seat.pilot.pause(0.2)
        assert "correct-any" not in seat.text, "hidden until the person has scored"
        assert "unchecked" not in seat.text
        await given.score("3")
        await given.heard()
        await seat.reads("Machine transcript (unchecked)", "correct-first  ✓")

        await seat.press("1")  # another score key corrects the first
        await seat.until(lambda: given.now.score == "right")

        measured = onset(given)
        assert measured.latency_s is not None
        assert 1.0 < measured.latency_s < 2.3, "from the picture to the word"
        await seat.press("shift+right", "right", reads="set by you")
        await seat.until(lambda: onset(given).by == "person:R7")
        moved = onset(given)
        assert moved.at_s == pytest.approx(measured.at_s + 0.06, abs=1e-3)
        await seat.press("u")
        await seat.until(lambda: onset(given) == measured, "the onset as measured")

        await given.give("dog", key="3")
        await seat.press("h")
        await seat.type("dog")
        await seat.press("enter")
        await seat.until(lambda: given.now.heard == "dog")
        await seat.reads("Rules, over what was heard")
        assert "unchecked" not in seat.text, "a listener's words are not the machine's"
        await seat.press("k")
        await seat.until(lambda: seat.asked, "the codes")
        await seat.press("end")
        above, below = (
            line for line in seat.text.splitlines() if "more speech" in line or "by ear" in line
        )
        assert below.index("a pause: check by ear") == above.index("more speech"), (
            "in its own column"
        )
        await seat.press("s", "S", "enter")  # the same wherever the cursor is
        await seat.until(lambda: given.now.code == "semantic")
        assert given.now.flags == ("self-corrected",)
        await seat.reads("cat ✗ semantic")
        assert not seat.asked

        # The next picture comes while the earlier response is transcribed.
        await given.show()
        given.speaker.say("tree")
        await seat.press("5")
        await seat.words("a car passed")
        await seat.until(lambda: given.now.score == "not-scorable")
        await seat.reads("5 cannot be scored: a car")
        await given.show()
        await seat.until(lambda: all(view.transcript for view in views(given)[:3]))
        said = [view.transcript.phonemes for view in views(given)[:3] if view.transcript]
        assert said == [("D", "AO", "G"), ("D", "AO", "G"), ("T", "R", "IY")]
        assert given.now.waits, "the fourth picture is still before the speaker"

        # No response has kinds, and undo opens the response again.
        await seat.press("4", reads="no response: s silent")
        await seat.press("escape")
        assert given.now.waits and not given.now.score
        await seat.press("4", "d")  # d discontinues elsewhere
        await seat.until(lambda: given.now.score, "the score")
        score = views(given)[3].score
        assert score is not None and (score.score, score.reason) == ("no-response", "dont-know")
        given.speaker.say("dog")
        await seat.press("u")
        await seat.until(lambda: given.now.waits, "the window is open again")
        given.speaker.say("dog")
        await given.score("2")
        assert given.now.sound is not None and given.now.sound.limits is not None
        start, end = given.now.sound.limits
        assert end - start > 2, "what was said before the undo lies in it"
    score = views(given)[3].score
    assert score is not None and score.score == "self-corrected"
    first, second = views(given)[:2]
    assert first.score is not None and first.score.score == "right"
    assert first.revealed and first.score.after_reveal, "corrected when the machine was known"
    assert second.heard is not None and second.heard.word == "dog"
    assert second.code is not None and second.code.code == "semantic"


async def test_the_examiner_is_asked_where_the_rule_says_to_end(name_aloud: Name) -> None:
    async with name_aloud(rules="discontinue = { after = 1 }") as given:
        seat = given.seat
        await given.ready()
        await given.give("dog", key="3")
        await seat.reads("1 item was not right: space asks whether the subtest ends", "space Ask")
        await seat.press("space")
        await seat.until(lambda: seat.asked, "the question")
        await seat.press("right", "enter")  # further items
        await seat.until(lambda: not given.now.ends)
        await given.give("dog", key="3")
        assert given.now.ends
        await seat.press("space")
        await seat.until(lambda: seat.asked, "the question")
        await seat.press("enter")  # the default: the subtest ends
        await seat.until(lambda: seat.work.status is AdministrationStatus.DISCONTINUED)
        await seat.reads("1 item was not right: the battery's rule says to end here")
    one, trials = seat.stored()
    assert one.reason.startswith("1 item was not right")
    assert [trial.state for trial in trials[2:]] == [TrialState.NOT_ADMINISTERED] * 2
    assert trials[0].notes[0].startswith("not discontinued")


async def test_keys_in_quick_succession_are_carried_out_in_order(name_aloud: Name) -> None:
    async with name_aloud() as given:
        seat = given.seat
        for _ in range(2):
            seat.app.post_message(Key("space", None))
        await seat.until(lambda: given.now.microphone == "open")
        await seat.pilot.pause(0.1)
        assert given.now.card is None, "nobody meant the first picture"
        await given.show()
        given.speaker.say("dog")
        seat.desk.do(lambda: sleep(0.5))  # a busy machine
        # Right, heard "dog", a code; the next picture: error, a code, a note; the third: silent.
        keys = "1 h d o g enter k f enter space 3 k s enter n o k enter space 4 s"
        for key in keys.split():
            seat.app.post_message(Key(key, None))
        await seat.until(lambda: given.now.score == "no-response", "the last of these keys")
    found = views(given)
    assert [one.score.score for one in found if one.score] == ["right", "error", "no-response"]
    assert found[0].heard is not None and found[0].heard.word == "dog"
    # The score of the third brings its code.
    assert [one.code.code for one in found if one.code] == ["formal", "semantic", "no-response"]
    assert found[1].trial.notes == ("ok",)


async def test_cues_marks_and_the_examiners_voice_lie_in_the_recording_of_a_live_battery(
    name_aloud: Name,
) -> None:
    async with name_aloud(rules=f'reveal = "live"\n{CUES}') as given:
        seat = given.seat
        await given.ready()
        await given.show()
        await seat.press("c", reads="You keep it at home.")
        await seat.reads("semantic,")
        await seat.press("x", reads="examiner speaks")
        given.speaker.wait(0.5)
        await seat.press("x")
        await seat.until(lambda: "examiner speaks" not in seat.text)
        given.speaker.say("dog")
        await seat.press("m")
        await seat.press("c")
        await seat.until(lambda: given.now.cues_given == 2)
        await seat.press("c", reads="this item has no further cue")
        await given.score("1")
        await seat.reads("dog ✗ after cue")
        await given.show()
        given.speaker.wait(20.5)
        given.speaker.say("cat")
        await given.score("1")
        await seat.reads("cat ✗ late", "0 of 2 right")
        await given.give("dog", key="1")
        await given.heard()
        await seat.press("3")
        await seat.until(lambda: given.now.score == "error", "the corrected score")
    score = views(given)[2].score
    assert score is not None and score.after_reveal, "the machine is shown before the score"
    view = views(given)[0]
    assert [(cue.kind, cue.counts) for cue in view.cues] == [
        ("semantic", True),
        ("phonemic", False),
    ]
    ((start, end),) = view.examiner
    assert 0.4 < end - start < 0.7
    assert len(view.marks) == 1


async def test_skip_void_note_ask_again_and_discontinue_by_key_and_palette(
    name_aloud: Name,
) -> None:
    async with name_aloud(rules=CUES) as given:
        seat = given.seat
        await given.ready()
        await given.show()
        given.speaker.say("dog")
        asked_at = given.speaker.now_s
        await seat.press("r")
        await seat.until(lambda: views(given)[0].re_prompted, "asked again")
        given.speaker.say("cat")
        await seat.press("ctrl+p")
        await seat.until(lambda: seat.asked, "the palette")
        await seat.type("next cue")
        await seat.press("enter")
        await seat.until(lambda: given.now.cues_given == 1, "the cue")
        await given.score("1")
        assert given.now.sound is not None and given.now.sound.limits is not None
        assert given.now.sound.limits[1] == pytest.approx(asked_at, abs=0.01), (
            "the first response ended there"
        )

        await seat.press("n")
        await seat.words("a cough")
        await seat.press("v")
        await seat.words("wrong picture on the table")
        await seat.reads("∅ void  wrong picture on the table")
        await given.show()
        await seat.press("s")
        await seat.words("does not know cats")
        await seat.reads("› skipped  does not know cats")
        await given.show()
        await seat.press("d")
        await seat.words("tired")
        await seat.until(lambda: seat.work.status is AdministrationStatus.DISCONTINUED)
        await seat.until(lambda: given.now.microphone == "closed", "and nothing is recorded")
        await seat.press("u")
        await seat.until(lambda: seat.work.status is not AdministrationStatus.DISCONTINUED)
    trials = seat.stored()[1]
    assert [one.state for one in trials[:2]] == [TrialState.VOID, TrialState.SKIPPED]
    assert trials[0].notes == ("a cough",)


async def test_the_speaker_sees_the_picture_and_nothing_else(
    name_aloud: Name, tmp_path: Path
) -> None:
    async with name_aloud() as given:
        seat = given.seat
        with Store.open(seat.store) as store:
            second = path_of(store)
        await seat.until(second.exists, "the page of a second terminal")
        assert second.read_bytes() == b""
        assert stat.S_IMODE(second.stat().st_mode) == 0o600
        await given.ready()
        assert not seat.app.screen.query_one("#naming-picture", Picture).shown
        await seat.press("f")
        await seat.until(lambda: not seat.text.strip(), "a blank page between items")
        await given.show()
        await seat.until(lambda: "▀" in seat.text)
        assert set(seat.text) <= {"▀", " ", "\n"}
        assert second.read_bytes() == (tmp_path / "pictures" / "dog.png").read_bytes()
        assert seat.app.screen.query_one("#naming-picture", Picture).shown
        assert seat.app.screen.query_one(SpeakerSheet).query_one(Picture).shown
        given.speaker.say("dog")
        await given.score("1")
        await seat.until(lambda: not seat.text.strip(), "a blank page after the score")
        assert second.read_bytes() == b""
        await seat.press("escape", reads="your score  1 right")
        await seat.pilot.resize_terminal(160, 48)
        await seat.press("f")
        await seat.until(lambda: not seat.text.strip(), "a blank page between items")
        await given.show()
        await seat.until(lambda: "▀" in seat.text, "the picture")
        assert set(seat.text) <= {"▀", " ", "\n"}
        given.speaker.alarm = "the microphone has vanished"
        await seat.reads("! the microphone has vanished")
        assert not seat.desk.query_one(SpeakerSheet).is_open, "a lost sound ends the speaker's view"
    assert not second.exists()


async def test_a_break_and_an_interruption_keep_what_was_recorded(name_aloud: Name) -> None:
    async with name_aloud() as given:
        seat = given.seat
        await given.ready()
        await given.give("dog", key="1")
        await seat.press("p")
        await seat.until(lambda: given.now.microphone == "closed")
        assert seat.work.status is AdministrationStatus.PAUSED
        assert "REC" not in seat.text
        await given.ready()
        await given.give("cat", key="1")
        one, _ = seat.stored()
        # The program dies: nothing is stopped in order, the file stays as it is.
        given.speaker.abandon()
        seat.desk.controller(NamingController)._live = None
        seat.desk.do(seat.desk.sessions.leave)
        await seat.until(lambda: seat.desk.work is None)
        with Store.open(seat.store) as store:
            assert len(takes.of_administration(store, one.uid)) == 1
            assert len(store.people.recordings(one.id)) == 1, "the one that the break ended"
        await seat.reads("! recording interrupted")
        seat.desk.current.focus_inside()
        await seat.press("enter", reads="Its recording was interrupted")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work and not seat.asked)
        await seat.until(lambda: given.now.left_over == 0, "it is kept")
        with Store.open(seat.store) as store:
            assert len(store.people.recordings(one.id)) == 2
            assert not takes.of_administration(store, one.uid)
        await given.ready()
        await seat.until(lambda: views(given)[1].transcript, "what was not transcribed before")


async def test_every_lacking_consent_is_listed_and_recorded_before_a_microphone_is_opened(
    name_aloud: Name,
) -> None:
    rules = 'instructions = { text = "Tell me its name.", source = "ours" }'
    async with name_aloud(consent=False, rules=rules) as given:
        seat = given.seat
        await seat.reads("S-014 has not agreed to record")
        foot = seat.text.splitlines()[-1]
        assert "C Consent" in foot and "space" not in foot
        await seat.press("space")
        await seat.reads("not agreed to: record, transcribe")
        assert given.now.microphone == "closed"
        assert not given.sources or not given.speaker.path.exists()
        assert "transcribe (" in " ".join(seat.text.split())
        await seat.press("C")
        await seat.has("words")
        await seat.reads("To correct scores")
        await seat.type("IRB-7/014")
        await seat.pilot.click("#words-message", offset=(3, 0))
        await seat.until(lambda: "has not agreed" not in seat.text, "that nothing is lacking")
        with Store.open(seat.store) as store:
            kept = [(one.scope, one.given, one.document) for one in store.people.consents("S-014")]
        assert kept == [("record", True, "IRB-7/014"), ("transcribe", True, "IRB-7/014")]
        await seat.reads("Read aloud", "Tell me its name.")  # before the first picture
        await given.ready()  # it is opened now


async def test_a_transcriber_that_cannot_be_had_stops_nothing_and_another_can_follow(
    name_aloud: Name, matcher: str
) -> None:
    async with name_aloud(transcriber="matcher:/nowhere") as given:
        await given.ready()
        await given.show()
        given.speaker.say("dog")
        await given.seat.press("1", reads="Responses cannot be transcribed now")
        await given.seat.press("enter")
        await given.seat.closed()
        await given.give("cat", key="1")
        assert [item.right for item in given.now.items[:2]] == [True, True]
        seat = given.seat
        number = seat.work.administration.id
        seat.desk.do(seat.desk.sessions.leave)
        seat.show_results(number)
        await seat.at("results")
        await seat.press("M")
        await seat.until(lambda: seat.asked, "which transcriber")
        seat.fill(transcriber=matcher)
        await seat.press_button("begin")
        jobs = seat.desk.sessions.jobs.all
        await seat.until(lambda: jobs and jobs[1].state.phase == "done", "the end of the job")
        assert (jobs[1].state.kind, jobs[1].state.done, jobs[1].state.planned) == (
            "Transcribing",
            2,
            2,
        )
    heard = [view.transcript.phonemes for view in views(given)[:2] if view.transcript]
    assert heard == [("D", "AO", "G"), ("K", "AE", "T")]


async def test_what_still_waits_for_its_transcript_at_the_end_becomes_a_job(
    name_aloud: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, run = threading.Event(), Transcribing.run

    def slowly(
        transcribing: Transcribing, jobs: Sequence[Job], cancel: Cancel
    ) -> Iterator[tuple[Job, Transcript]]:
        while not go_on.wait(0.05):
            if cancel.is_set():
                return
        yield from run(transcribing, jobs, cancel)

    monkeypatch.setattr(Transcribing, "run", slowly)
    async with name_aloud() as given:
        seat = given.seat
        await given.ready()
        await given.give("dog", key="1")
        await given.give("cat", key="1")
        await seat.press("d")
        await seat.words("tired")
        jobs = seat.desk.sessions.jobs.all
        await seat.until(lambda: jobs and jobs[1].state.planned == 2, "the job")
        go_on.set()
        await seat.until(lambda: jobs[1].state.phase == "done", "the end of the job")
    heard = [view.transcript.phonemes for view in views(given)[:2] if view.transcript]
    assert heard == [("D", "AO", "G"), ("K", "AE", "T")]


def test_every_code_and_flag_has_a_letter_of_its_own() -> None:
    assert sorted(CODE_KEYS.values()) == sorted(CODES)
    assert sorted(FLAG_KEYS.values()) == sorted(FLAGS)
    assert all(key.islower() for key in CODE_KEYS) and all(key.isupper() for key in FLAG_KEYS)


def test_codes_stand_below_the_score_that_they_belong_to() -> None:
    items = (
        NamedItem("bed", "scored", True),
        NamedItem("cat", "scored", False, "semantic", is_code=True),
        NamedItem("dog", "scored", False, "semantic", is_code=True),
        NamedItem("axe", "scored", False),
        NamedItem("key", "scored", False, "no response"),
    )
    lines = [" ".join(line.plain.rsplit(None, 1)) for line in score_lines(items, 30)]
    assert lines[1:] == ["error 3", "  semantic 2", "right 1", "no response 1"]


async def test_the_clip_light_stays_on_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(
        "tabwb.workbench.naming.item_pane.time", SimpleNamespace(monotonic=lambda: now[0])
    )
    meter = LevelMeter()
    app = Stage(meter)
    async with app.run_test(size=(60, 3)) as pilot:
        meter.show(Level(0.0, clipped=True))
        meter.show(Level(-20.0))
        await pilot.pause()
        assert "! clipped" in app.text
        now[0] += CLIP_HELD_S
        meter.show(Level(-20.0))
        await pilot.pause()
        assert app.text.endswith("-20 dBFS  ok")


async def test_at_the_limit_the_clock_says_so_and_goes_on() -> None:
    clock = ResponseClock()
    app = Stage(clock)
    elapsed = [19.9]
    async with app.run_test(size=(40, 3)) as pilot:
        clock.run(lambda: elapsed[0], 20.0)
        await pilot.pause()
        assert "!" not in app.text
        elapsed[0] = 25.0
        await pilot.pause(0.25)
        assert app.text.endswith("! limit 20 s   25.0 s")


def test_a_substitution_tells_the_features_that_changed_and_what_it_costs() -> None:
    steps = align_features(["D", "G", "AH"], ["D", "K"]).steps
    aligned = Aligned(steps, 0.5, 0.3)
    lines = [*alignment_lines(aligned, 60, costs=True), *change_lines(aligned)]
    assert [line.plain for line in lines] == [
        "d  ɡ  ʌ",
        "d  k  ·",
        "=  ~  -",
        f"   1  {indel_cost('AH'):g}",
        "ɡ ~ k  1  +voice → -voice",
    ]


def test_a_long_response_continues_in_a_further_block() -> None:
    aligned = Aligned(align_features(["AA"] * 10, ["AA"] * 10).steps, 0.0, 0.0)
    lines = [line.plain for line in alignment_lines(aligned, 20, costs=False)]
    text = "\n".join(lines)
    assert text.count("ɑ") == 20
    assert text.count("=") == 10
    assert lines.count("") == 1
    assert max(map(len, lines)) <= 20


def test_the_strip_keeps_the_present_item_in_sight() -> None:
    items = [NamedItem(f"word{at}", "scored", at % 2 == 0) for at in range(30)]
    items += [NamedItem("dog", "now"), *(NamedItem(f"next{at}", "open") for at in range(29))]
    line = strip(items, 76, hidden=False).plain
    assert "31 dog ▸   29 left" in line
    assert "dog" not in strip(items, 76, hidden=True).plain
    assert "next" not in line, "the speaker may read what comes"
    assert line.startswith("…")
    assert line.endswith("15 of 30 right")
    assert len(line) == 76


async def test_the_list_is_scrolled_to_the_present_item() -> None:
    items = [NamedItem(f"word{at}", "scored", True) for at in range(30)]
    listed = ItemList()
    app = Stage(listed)
    async with app.run_test(size=(24, 10)) as pilot:
        listed.show([*items, NamedItem("dog", "now"), NamedItem("house", "open")])
        await pilot.pause()
        assert "31 " in app.text and "▸" in app.text
        assert "dog" not in app.text and "house" not in app.text
        assert "word29 " in app.text and "word0 " not in app.text
