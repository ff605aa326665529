"""``run`` and ``resume`` where a person types the answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tabwb.records.trials import EventEntry
from tabwb.store.store import Store
from tests.cli.conftest import Run, in_process


def test_a_person_types_and_the_answers_are_scored(tmp_path: Path) -> None:
    answers = "\n".join(
        ["It was fine.", ""] * 5
        + ["lion", "violin", "boat", ":undo", "boot", "knife", "giraffe"]
        + ["Yes", "No", "No", "Yes", ":skip unsure"]
        + ["house.", "breakfast.", "catastrophe.", "The sun rises in the East.", "Where."]
    )
    outcome = in_process(
        ["run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7", "--json"],
        stdin=answers + "\n",
    )
    assert outcome.status == 0, outcome.err
    document = outcome.document
    assert "Which one is an animal with a mane?" in outcome.err
    assert document["administration"]["examinee"] == "S-01"
    correct = {one["id"]: (one["correct"], one["n"]) for one in document["summary"]["subtests"]}
    assert correct["word-comprehension"] == (5, 5)
    assert correct["sentence-comprehension"] == (4, 4)
    assert correct["repetition"] == (4, 5)


def test_the_end_of_the_input_pauses_and_resume_goes_on(run: Run) -> None:
    begun = in_process(
        ["run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7"],
        stdin="We went to the lake.\n\nA red kite.\n\n",
    )
    assert begun.status == 3
    assert "tabwb resume 1" in begun.err
    document = run("results", 1, "--json").document
    assert document["administration"]["status"] == "paused"
    assert [trial["state"] for trial in document["trials"]].count("answered") == 2
    more = in_process(["resume", 1], stdin="My first job.\n\n")
    assert more.status == 3
    document = run("results", 1, "--json").document
    assert [trial["response"] for trial in document["trials"][:3]] == [
        "We went to the lake.",
        "A red kite.",
        "My first job.",
    ]


TYPED = ("run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7")


def test_an_empty_line_is_no_answer_until_it_is_given_twice(run: Run) -> None:
    # The first item: empty, then an answer. The second: empty twice. Then the input ends.
    outcome = in_process(TYPED, stdin="\nWe went.\n\n\n\n")
    assert outcome.err.count("nothing typed") == 2
    first, second, third = run("results", 1, "--json").document["trials"][:3]
    assert first["response"] == "We went."
    assert (second["response"], second["status"]) == ("", "empty")
    assert third["state"] == "planned"


def test_a_command_without_its_reason_says_what_to_type() -> None:
    outcome = in_process(TYPED, stdin=":skip\n:void\n:discontinue\n")
    for command in ("skip", "void", "discontinue"):
        assert f"':{command}' needs a reason" in outcome.err
        assert f"for example: :{command} " in outcome.err


def test_who_types_a_pause_is_told_of_no_error() -> None:
    outcome = in_process(TYPED, stdin=":pause\n")
    assert outcome.status == 3
    assert "error" not in outcome.err and "tabwb resume 1" in outcome.err


def test_what_was_done_to_a_trial_is_confirmed(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    assert "note on trial 3 of administration 1" in run("trial", "note", 1, 3, "odd").err
    assert "taken back: answer" in run("trial", "undo", 1).err
    assert "taken back: answer" in in_process(TYPED, stdin="We went.\n\n:undo\n:pause\n").err


def test_resuming_what_rests_with_nothing_left_finishes_it(run: Run) -> None:
    for examinee in (("--model", "echo"), TYPED[2:]):
        typed = "x\n\n" * 5 + "x\n" * 15
        number = in_process(("run", "tab", *examinee), stdin=typed).err.split()[1]
        with Store.open(create=False) as store:
            (end,) = store.history(int(number)).endings
            rests = EventEntry("paused", None, "stopped by the user")
            store.append(int(number), [EventEntry("undone", None, "the end", end), rests])
        before = run("results", number, "--json").document["administration"]
        assert (before["status"], before["answered"]) == ("paused", 20)
        assert run("resume", number).status == 0
        assert run("results", number, "--json").document["administration"]["status"] == "done"


def test_nobody_reading_leaves_it_paused_not_running(run: Run, tmp_path: Path) -> None:
    words = " ".join(("-m", "tabwb", *TYPED))
    subprocess.run(
        ["bash", "-c", f"yes 'It was fine.' | {sys.executable} {words} | head -n 2"],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert run("results", 1, "--json").document["administration"]["status"] == "paused"
