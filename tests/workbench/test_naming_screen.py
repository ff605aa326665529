"""Pictures are named in the workbench, key by key."""

from __future__ import annotations

from time import sleep

import pytest
from textual.events import Key

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.store.store import Store
from tabwb.workbench.shell.sound import OnsetMark
from tests.workbench.naming_seat import Name, NamingSeat, views
from tests.workbench.seat import SIZES

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


@pytest.mark.parametrize("size", SIZES[:1])
async def test_a_whole_battery_by_keyboard(
    name_aloud: Name,
    size: tuple[int, int],
) -> None:
    async with name_aloud(size) as given:
        seat = given.seat
        await given.ready()
        await seat.reads("REC 00:0")
        await given.show()
        await seat.reads("name hidden: H shows it")
        assert "dog" not in seat.text, "the participant may read it"
        await seat.press("H")
        await seat.reads("accepted /dɔɡ/")
        await seat.press("I")
        await seat.reads("accepted D AO G")
        await seat.until(lambda: "▀" in seat.text, "the picture")
        given.speaker.say("dog")
        await given.score("1")
        await given.give("dog", key="3")
        await given.give("three", key="3")
        await given.show()
        given.speaker.wait(3.0)
        await seat.press("4", "s")
        await seat.until(lambda: given.now.score == "no-response")
        await seat.reads("1 of 4 right")
        await seat.reads("space End")
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
        await seat.reads("Machine transcript (unchecked)")
        await seat.reads("correct-first  ✓")

        await seat.press("1")  # another score key corrects the first
        await seat.until(lambda: given.now.score == "right")

        measured = onset(given)
        assert measured.latency_s is not None
        assert 1.0 < measured.latency_s < 2.3, "from the picture to the word"
        await seat.press("shift+right", "right")
        await seat.reads("set by you")
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
        await seat.reads("1 item was not right: space asks whether the subtest ends")
        await seat.reads("space Ask")
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


async def test_cues_marks_and_the_examiners_voice_lie_in_the_recording(name_aloud: Name) -> None:
    async with name_aloud(rules=CUES) as given:
        seat = given.seat
        await given.ready()
        await given.show()
        await seat.press("c")
        await seat.reads("You keep it at home.")
        await seat.reads("semantic,")
        await seat.press("x")
        await seat.reads("examiner speaks")
        given.speaker.wait(0.5)
        await seat.press("x")
        await seat.until(lambda: "examiner speaks" not in seat.text)
        given.speaker.say("dog")
        await seat.press("m")
        await seat.press("c")
        await seat.until(lambda: given.now.cues_given == 2)
        await seat.press("c")
        await seat.reads("this item has no further cue")
        await given.score("1")
        await seat.reads("dog ✗ after cue")
        await given.show()
        given.speaker.wait(20.5)
        given.speaker.say("cat")
        await given.score("1")
        await seat.reads("cat ✗ late")
        await seat.reads("0 of 2 right")
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


async def test_no_response_has_kinds_and_undo_opens_the_response_again(name_aloud: Name) -> None:
    async with name_aloud() as given:
        seat = given.seat
        await given.ready()
        await given.show()
        await seat.press("4")
        await seat.reads("no response: s silent")
        await seat.press("escape")
        assert given.now.waits and not given.now.score
        await seat.press("4", "d")  # d discontinues elsewhere
        await seat.until(lambda: given.now.score)
        score = views(given)[0].score
        assert score is not None and (score.score, score.reason) == ("no-response", "dont-know")
        given.speaker.say("dog")
        await seat.press("u")
        await seat.until(lambda: given.now.waits, "the window is open again")
        given.speaker.say("dog")
        await given.score("2")
        assert given.now.sound is not None and given.now.sound.limits is not None
        start, end = given.now.sound.limits
        assert end - start > 2, "what was said before the undo lies in it"
    score = views(given)[0].score
    assert score is not None and score.score == "self-corrected"


async def test_a_live_battery_shows_the_machine_before_the_score(name_aloud: Name) -> None:
    async with name_aloud(rules='reveal = "live"') as given:
        await given.ready()
        await given.give("dog", key="1")
        await given.heard()
        await given.seat.press("3")
        await given.seat.until(lambda: given.now.score == "error")
    score = views(given)[0].score
    assert score is not None and score.after_reveal
