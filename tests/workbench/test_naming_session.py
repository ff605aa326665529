"""A session of naming in the workbench: what the speaker sees, breaks, consents, transcribers."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tabwb.administer.transcription.transcribe import Job, Transcribing
from tabwb.plugin_api.components import Cancel
from tabwb.records.speech import Transcript
from tabwb.records.states import AdministrationStatus
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.jobs.actions import JobsActions
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.pictures import SpeakerSheet, path_of
from tabwb.workbench.shell.pictures import Picture
from tests.workbench.naming_seat import Name, views
from tests.workbench.seat import SIZES


@pytest.mark.parametrize("size", SIZES)
async def test_the_speaker_sees_the_picture_and_nothing_else(
    name_aloud: Name,
    size: tuple[int, int],
    tmp_path: Path,
) -> None:
    async with name_aloud(size) as given:
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
        await seat.press("escape")
        await seat.reads("your score  1 right")
        await seat.press("f")
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
        await seat.press("enter")
        await seat.reads("Its recording was interrupted")
        await seat.press("enter")
        await seat.until(lambda: seat.desk.work and not seat.asked)
        await seat.until(lambda: given.now.left_over == 0, "it is kept")
        with Store.open(seat.store) as store:
            assert len(store.people.recordings(one.id)) == 2
            assert not takes.of_administration(store, one.uid)
        await given.ready()
        await seat.until(lambda: views(given)[1].transcript, "what was not transcribed before")


async def test_without_consent_no_microphone_is_opened(name_aloud: Name) -> None:
    async with name_aloud(consent=False) as given:
        await given.seat.press("space")
        await given.seat.until(lambda: given.seat.asked, "the refusal")
        await given.seat.reads("S-014 has not consented to recording")
        assert given.now.microphone == "closed"
        assert not given.sources or not given.speaker.path.exists()


async def test_what_is_read_to_the_speaker_is_shown_before_the_first_picture(
    name_aloud: Name,
) -> None:
    rules = 'instructions = { text = "Tell me its name.", source = "ours" }'
    async with name_aloud(rules=rules) as given:
        await given.seat.reads("Read aloud")
        assert "Tell me its name." in given.seat.text


async def test_every_lacking_consent_is_listed_and_recorded_here(name_aloud: Name) -> None:
    async with name_aloud(consent=False) as given:
        seat = given.seat
        await seat.reads("S-014 has not agreed to record")
        assert "transcribe (" in " ".join(seat.text.split())
        await seat.press("y")
        await seat.until(lambda: seat.app.screen.query("#words"), "the dialog")
        await seat.reads("To correct scores")
        await seat.type("IRB-7/014")
        await seat.pilot.click("#words-message", offset=(3, 0))
        await seat.until(lambda: "has not agreed" not in seat.text, "that nothing is lacking")
        with Store.open(seat.store) as store:
            kept = [(one.scope, one.given, one.document) for one in store.people.consents("S-014")]
        assert kept == [("record", True, "IRB-7/014"), ("transcribe", True, "IRB-7/014")]
        await given.ready()
        assert given.now.microphone == "open"


async def test_a_transcriber_that_cannot_be_had_stops_nothing_and_another_can_follow(
    name_aloud: Name, matcher: str
) -> None:
    async with name_aloud(transcriber="matcher:/nowhere") as given:
        await given.ready()
        await given.show()
        given.speaker.say("dog")
        await given.seat.press("1")
        await given.seat.reads("Responses cannot be transcribed now")
        await given.seat.press("enter")
        await given.seat.until(lambda: not given.seat.asked)
        await given.give("cat", key="1")
        assert [item.right for item in given.now.items[:2]] == [True, True]
        seat = given.seat
        number = seat.work.administration.id
        seat.desk.do(seat.desk.sessions.leave)
        seat.desk.tell(ResultsWanted(number))
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.press("M")
        await seat.until(lambda: seat.asked, "which transcriber")
        seat.fill(transcriber=matcher)
        await seat.press_button("begin")
        jobs = seat.desk.actions(JobsActions).states
        await seat.until(lambda: jobs and jobs[1].phase == "done", "the end of the job")
        assert (jobs[1].kind, jobs[1].done, jobs[1].planned) == ("Transcribing", 2, 2)
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
        jobs = seat.desk.actions(JobsActions).states
        await seat.until(lambda: jobs and jobs[1].planned == 2, "the job")
        go_on.set()
        await seat.until(lambda: jobs[1].phase == "done", "the end of the job")
    heard = [view.transcript.phonemes for view in views(given)[:2] if view.transcript]
    assert heard == [("D", "AO", "G"), ("K", "AE", "T")]
