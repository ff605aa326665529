"""``tabwb name --input mic``: keys typed line by line while a microphone runs."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests.administer.naming_parts import naming_battery
from tests.builders import DOG
from tests.cli.conftest import Run, in_process
from tests.speech.virtual_microphone import VirtualMicrophone


class Giving:
    """The command, at which somebody types, and what it has said."""

    def __init__(self, words: Sequence[object]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tabwb.cli.main", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.said = ""
        self.limit = threading.Timer(60.0, self.process.kill)
        self.limit.daemon = True
        self.limit.start()

    def hear(self, words: str) -> None:
        """Wait until the command says this."""
        assert self.process.stderr is not None
        while words not in self.said:
            read = self.process.stderr.read1(4096)  # type: ignore[attr-defined]
            assert read, f"'{words}' was not said: {self.said}"
            self.said += read.decode()
        self.said = self.said.partition(words)[2]

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()


def test_responses_are_given_through_the_microphone_and_survive_a_kill(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    battery = naming_battery(tmp_path)
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    words = ["name", battery, "--speaker", "S-014", "--input", "mic", "--transcriber", "none"]
    giving = Giving(words)
    giving.hear("recording from")
    giving.type("")
    giving.hear("item 1/4  dog")
    microphone.speak(DOG).wait(10)
    time.sleep(0.3)
    giving.type("1")
    giving.hear("scored: right")
    giving.type("")
    giving.hear("item 2/4  cat")
    giving.process.kill()
    giving.process.wait(10)

    giving = Giving([*words, "--resume", 1, "--json"])
    giving.hear("an interrupted recording is kept")
    giving.hear("recording from")
    for line, answer in (("", "item 2/4  cat"), ("3", "scored: error"), ("", "item 3/4  tree")):
        giving.type(line)
        giving.hear(answer)
    giving.type("4 silent")
    giving.hear("scored: no-response")
    giving.type("d the speaker was tired")
    assert giving.process.wait(30) == 0
    document = run("results", "1", "--json").document
    assert document["administration"]["status"] == "discontinued"
    named = [trial["naming"] for trial in document["trials"]]
    assert [one["score"] for one in named] == ["right", "error", "no-response", None]
    assert 0.0 < named[0]["latency_s"] < named[0]["end_s"] - named[0]["start_s"]
    assert named[0]["recording"] != named[1]["recording"] == named[2]["recording"]
    assert len(document["recordings"]) == 2


def test_without_consent_or_microphone_nothing_is_begun(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    words = ["name", naming_battery(tmp_path), "--speaker", "S-014", "--input", "mic"]
    refused = run(*words, status=1)
    assert (refused.status, "S-014 has not consented to recording" in refused.err) == (1, True)
    run("speaker", "consent", "S-014", "--scope", "record", "--scope", "transcribe", "--given")
    refused = in_process([*words, "--device", "pulze"])
    assert (refused.status, "did you mean 'pulse'?" in refused.err) == (2, True)
    assert run("results", "--json").document["administrations"] == []


def test_the_examiner_is_told_and_asked_where_the_rule_says_to_end(
    microphone: VirtualMicrophone, tmp_path: Path, run: Run
) -> None:
    battery = naming_battery(tmp_path, "discontinue = { after = 1 }")
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    words = ["name", battery, "--speaker", "S-014", "--input", "mic", "--transcriber", "none"]
    giving = Giving(words)
    for line, answer in (
        ("", "item 1/4  dog"),
        ("3", "! 1 item was not right"),
        ("g the speaker insists", "> "),
        ("", "item 2/4  cat"),
        ("3", "! 1 item was not right"),
        ("", "ended: 1 item was not right"),
    ):
        giving.type(line)
        giving.hear(answer)
    assert giving.process.wait(30) == 0
    document = run("results", "1", "--json").document
    assert document["administration"]["status"] == "discontinued"
    assert document["administration"]["reason"].startswith("1 item was not right")
    states = [trial["state"] for trial in document["trials"]]
    assert states == ["answered", "answered", "not-administered", "not-administered"]
    assert document["trials"][0]["notes"][0].startswith("not discontinued (the speaker insists)")
