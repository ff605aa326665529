"""A transcriber that lives in a child process, and what happens when that process dies."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.plugin_api.child.component import ChildTranscriber
from tabwb.plugin_api.components import Transcriber
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import ComponentError
from tabwb.records.speech import Clip, Segment, Transcript

Install = Callable[[str, str], Path]
Load = Callable[[], Plugins]

TRANSCRIBER = """
from tabwb.records.speech import Segment, Transcript

class Ear:
    unit = "words"

    def open(self):
        return {"model": "ear", "pid": str(os.getpid()), "threads": os.environ.get(
            "OMP_NUM_THREADS", "unset"), "offline": os.environ["TABWB_OFFLINE"]}

    def transcribe_many(self, clips, cancel):
        if any(clip.path == "all" for clip in clips):
            raise ComponentError("nothing can be heard today", hint="try tomorrow")
        for index in reversed(range(len(clips))):
            clip = clips[index]
            if clip.path == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if clip.path == "wait":
                cancel.wait(60)
                return
            if clip.path == "ignore":
                while True:
                    time.sleep(0.01)
            forms = " ".join("-".join(form) for form in clip.accepted)
            segment = Segment(clip.path, clip.start_s, clip.end_s or 9.0, 0.5)
            yield index, Transcript(
                "ear", "ok", (segment,), "words", 1.5, {"x": 2}, -0.25, forms, {"pid": str(os.getpid())}
            )

    def close(self):
        pass

def options():
    from pydantic import BaseModel
    class Options(BaseModel):
        threads: int | None = None
    return Options

@hookimpl
def tabwb_register_transcribers(register):
    made = lambda spec, options: Ear()
    register(Descriptor("ear", "Hears", made, options=options, runs="child"))
    register(Descriptor("near", "Hears here", made))
"""  # noqa: E501


@pytest.fixture
def ear(install: Install, load: Load) -> ChildTranscriber:
    install("ears", TRANSCRIBER)
    opened = load().open_transcriber("ear@threads=3")
    assert isinstance(opened, ChildTranscriber)
    return opened


def heard(ear: Transcriber, *paths: str) -> dict[int, Transcript]:
    return dict(ear.transcribe_many([Clip(path) for path in paths], threading.Event()))


def test_a_transcriber_hears_in_another_process(ear: ChildTranscriber) -> None:
    facts = ear.open()
    assert int(facts["pid"]) == ear.pid != os.getpid()
    assert (facts["threads"], facts["offline"]) == ("3", "1")
    assert ear.unit == "words"
    clips = [
        Clip("a.wav", 0.5, 2.0, (("D", "AO", "G"), ("D", "AA", "G"))),
        Clip("b.wav"),
    ]
    (first, second) = ear.transcribe_many(clips, threading.Event())
    assert (first[0], second[0]) == (1, 0)
    assert second[1] == Transcript(
        "ear",
        "ok",
        (Segment("a.wav", 0.5, 2.0, 0.5),),
        "words",
        1.5,
        {"x": 2},
        -0.25,
        "D-AO-G D-AA-G",
        {"pid": facts["pid"]},
    )


def test_one_that_runs_here_is_made_here(install: Install, load: Load) -> None:
    install("ears", TRANSCRIBER)
    near = load().open_transcriber("near")
    assert near.open()["pid"] == str(os.getpid())


def test_the_clip_that_a_process_dies_of_is_an_error_and_harms_no_other(
    ear: ChildTranscriber,
) -> None:
    first = ear.open()["pid"]
    found = heard(ear, "a", "kill", "b")
    assert {index: each.status for index, each in found.items()} == {0: "ok", 1: "error", 2: "ok"}
    assert "SIGKILL" in found[1].error
    assert found[2].metadata["pid"] == first
    assert found[0].metadata["pid"] != first


def test_a_process_that_always_dies_is_not_started_for_ever(ear: ChildTranscriber) -> None:
    ear.open()
    found = heard(ear, *["kill"] * 40)
    assert [each.status for each in found.values()] == ["error"] * 40
    assert len(found) == 40


def test_what_makes_all_of_them_impossible_is_raised(ear: ChildTranscriber) -> None:
    ear.open()
    with pytest.raises(ComponentError, match="nothing can be heard today"):
        heard(ear, "a", "all")
    assert heard(ear, "a")[0].status == "ok"


@pytest.mark.parametrize("order", ["wait", "ignore"])
def test_cancel_leaves_clips_without_a_transcript(ear: ChildTranscriber, order: str) -> None:
    ear.open()
    cancel = threading.Event()
    found = []
    for index, _ in ear.transcribe_many([Clip("a"), Clip(order), Clip("b")], cancel):
        found.append(index)
        cancelled_at = time.monotonic()
        cancel.set()
    assert found == [2]
    assert time.monotonic() - cancelled_at < 40
    assert heard(ear, "a")[0].status == "ok"
