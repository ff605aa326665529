"""``run`` and ``resume`` where a person types the answers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import tabwb
from tabwb.administer.session import setup
from tabwb.administer.session.exchange import check_same
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.trials import EventEntry
from tabwb.store.store import Store
from tests.cli.conftest import Run


def test_a_person_types_and_the_answers_are_scored(run: Run) -> None:
    answers = "\n".join(
        ["It was fine.", ""] * 5
        + ["lion", "violin", "boat", ":undo", "boot", "knife", "giraffe"]
        + ["Yes", "No", "No", "Yes", ":skip unsure"]
        + ["house.", "breakfast.", "catastrophe.", "The sun rises in the East.", "Where."]
    )
    person = ("--speaker", "S-01", "--research-protocol", "IRB-7")
    outcome = run("run", "tab", *person, "--json", stdin=answers + "\n")
    document = outcome.document
    assert "Which one is an animal with a mane?" in outcome.err
    assert document["administration"]["examinee"] == "S-01"
    correct = {one["id"]: (one["correct"], one["n"]) for one in document["summary"]["subtests"]}
    assert correct["word-comprehension"] == (5, 5)
    assert correct["sentence-comprehension"] == (4, 4)
    assert correct["repetition"] == (4, 5)


def test_the_end_of_the_input_pauses_and_resume_goes_on(run: Run) -> None:
    person = ("--speaker", "S-01", "--research-protocol", "IRB-7")
    typed = "We went to the lake.\n\nA red kite.\n\n"
    run("run", "tab", *person, stdin=typed, status=3, err="tabwb resume 1")
    document = run("results", 1, "--json").document
    assert document["administration"]["status"] == "paused"
    assert [trial["state"] for trial in document["trials"]].count("answered") == 2
    run("resume", 1, stdin="My first job.\n\n", status=3)
    document = run("results", 1, "--json").document
    assert [trial["response"] for trial in document["trials"][:3]] == [
        "We went to the lake.",
        "A red kite.",
        "My first job.",
    ]


TYPED = ("run", "tab", "--speaker", "S-01", "--research-protocol", "IRB-7")


def test_an_empty_line_is_no_answer_until_it_is_given_twice(run: Run) -> None:
    # The first item: empty, then an answer. The second: empty twice. Then the input ends.
    outcome = run(*TYPED, stdin="\nWe went.\n\n\n\n", status=3)
    assert outcome.err.count("nothing typed") == 2
    first, second, third = run("results", 1, "--json").document["trials"][:3]
    assert first["response"] == "We went."
    assert (second["response"], second["status"]) == ("", "empty")
    assert third["state"] == "planned"


def test_who_types_a_pause_is_told_of_no_error(run: Run) -> None:
    outcome = run(*TYPED, stdin=":pause\n", status=3)
    assert "error" not in outcome.err and "tabwb resume 1" in outcome.err


def test_what_was_done_to_a_trial_is_confirmed(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    run("trial", "note", 1, 3, "odd", err="note on trial 3 of administration 1")
    run("trial", "undo", 1, err="taken back: answer")
    run(*TYPED, stdin="We went.\n\n:undo\n:pause\n", status=3, err="taken back: answer")


def test_resuming_what_rests_with_nothing_left_finishes_it(run: Run) -> None:
    for examinee in (("--model", "echo"), TYPED[2:]):
        typed = "x\n\n" * 5 + "x\n" * 15
        number = run("run", "tab", *examinee, stdin=typed).err.split()[1]
        with Store.open(create=False) as store:
            (end,) = store.history(int(number)).endings
            rests = EventEntry("paused", None, "stopped by the user")
            store.append(int(number), [EventEntry("undone", None, "the end", end), rests])
        before = run("results", number, "--json").document["administration"]
        assert (before["status"], before["answered"]) == ("paused", 20)
        run("resume", number)
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


FACTS = {"model": "/a", "weights_sha256": "1" * 64, "tokenizer_sha256": "2" * 64, "dtype": "f"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"weights_sha256": "3" * 64}, "weights_sha256"),
        ({"tokenizer_sha256": "3" * 64}, "tokenizer_sha256"),
        ({"dtype": "g"}, "dtype"),
    ],
)
def test_another_model_is_refused_by_name(changed: Mapping[str, str], named: str) -> None:
    with pytest.raises(TabwbError) as error:
        check_same(FACTS, {**FACTS, "model": "/b", **changed}, began="x:/a", spec="x:/b")
    assert all(word in str(error.value) for word in (named, "x:/a", "x:/b"))


def test_the_same_weights_and_tokenizer_are_the_same_model() -> None:
    moved = {**FACTS, "model": "/b"}
    check_same(FACTS, moved, began="x:/a", spec="x:/b")
    check_same(moved, FACTS, began="x:/a", spec="x:/a")  # and back again
    older = {name: value for name, value in FACTS.items() if name != "tokenizer_sha256"}
    check_same(older, moved, began="x:/a", spec="x:/b")  # was not recorded
    check_same({}, moved, began="x:/a", spec="x:/b")  # nothing was answered yet
    with pytest.raises(TabwbError, match=r"no hash|not recorded"):
        check_same({"model": "m"}, {"model": "n"}, began="x:m", spec="x:n")


def paused(store: Path, battery: Path, examinee: str) -> None:
    """Begin an administration that no model has answered yet."""
    plugins = Plugins.load()
    with Store.open(store) as opened:
        found = setup.find_battery(plugins, str(battery))
        asked = Conditions(examinee, "model", judges=())
        conditions = setup.resolve(plugins, found, asked)
        with setup.create(opened, plugins, found, conditions) as session:
            session.pause("for a test")


@pytest.mark.parametrize("model", ["nonsense:spec", "echo@text=b", lambda prompt: "b"])
def test_python_refuses_what_cannot_continue(
    tmp_path: Path, battery_file: Path, model: object
) -> None:
    store = tmp_path / "store.db"
    paused(store, battery_file, "echo@text=a")
    with pytest.raises(UsageError):
        tabwb.resume(store, 1, model)  # type: ignore[arg-type]
    assert tabwb.resume(store, 1, "echo@text=a,delay=0").status == "done"


def test_a_person_has_no_spec(run: Run, tmp_path: Path, battery_file: Path) -> None:
    store = tmp_path / "store.db"
    plugins = Plugins.load()
    with Store.open(store) as opened:
        found = setup.find_battery(plugins, str(battery_file))
        given = setup.resolve(plugins, found, Conditions("S-1", "speaker", judges=()))
        with setup.create(opened, plugins, found, given) as session:
            session.pause("for a test")
    run("resume", "1", "--model", "echo", "--store", store, status=2, err="person")


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_a_folder_that_moved_goes_on_and_is_one_model(
    run: Run, tmp_path: Path, battery_file: Path
) -> None:
    from tests.plugins.conftest import save_model

    store = tmp_path / "store.db"
    first = save_model(tmp_path / "first" / "small")
    here = ("--store", store, "--judge", "none", "--max-tokens", "4")
    run("run", battery_file, "--model", f"transformers:{first}", *here)
    paused(store, battery_file, f"transformers:{first}")
    plugins = Plugins.load()
    with Store.open(store) as opened, setup.resume(opened, plugins, 2) as session:
        session.resume()
        session.opened(opened.history(1).model_facts)
        session.pause("for a test")
    second = tmp_path / "second" / "small"
    second.parent.mkdir()
    shutil.move(first, second)
    other = save_model(tmp_path / "other", hidden_size=16)
    wrong = run("resume", "2", "--model", f"transformers:{other}", "--store", store, status=1)
    assert str(first) in wrong.err and str(other) in wrong.err and "sha256" in wrong.err
    done = run("resume", "2", "--model", f"transformers:{second}", "--store", store, "--json")
    assert done.document["administration"]["examinee"] == f"transformers:{first}"
    run("run", battery_file, "--model", f"transformers:{second}", *here)
    groups = run("results", "--by", "model", "--store", store, "--json").document["groups"]
    members = [[one["id"] for one in group["administrations"]] for group in groups]
    assert members == [[1, 3], [2]]  # the second has other token limits
