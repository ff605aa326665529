"""``tabwb name`` and ``tabwb import``: spoken naming without the workbench."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tabwb.records.rating_sets import SampleRating
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.builders import DOG, SPEECH, recordings, typed_table
from tests.cli.conftest import Outcome, Run

pytest.importorskip("soundfile")
SPOKEN = {
    "dog": "dog_d1a4fb3f_0.flac",
    "cat": "dog_d1a4fb3f_0.flac",
    "tree": "three_8c0e5970_0.flac",
    "house": "silence_1024.flac",
}
TYPED = "utterance_id\ttranscript\ndog\tD AO G\ncat\tD AO G\ntree\tTH R IY\nhouse\t<sil>\n"


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    return naming_battery(tmp_path / "battery")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file for each item, and what a person typed for each."""
    (tmp_path / "typed.tsv").write_text(TYPED, encoding="utf-8")
    return recordings(tmp_path / "responses", **SPOKEN)


def test_a_folder_of_files_is_given_transcribed_and_scored(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    spec = f"manual:{tmp_path / 'typed.tsv'}"
    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", folder),
        *("--transcriber", spec, "--title", "First", "--tag", "pilot", "--json"),
    )
    document = outcome.document
    assert document["administration"]["status"] == "done"
    assert document["administration"]["title"] == "First"
    assert document["administration"]["tags"] == ["pilot"]
    found = {
        trial["item"]: (
            trial["response"],
            trial["status"],
            trial["naming"]["verdicts"]["correct-any"]["value"],
            [code["code"] for code in trial["codes"]],
        )
        for trial in document["trials"]
    }
    assert found == {
        "dog": ("D AO G", "ok", True, ["correct"]),
        # "dog" is a named neighbour of the cat: only a person may say that it was heard.
        "cat": ("D AO G", "ok", False, ["undecided"]),
        "tree": ("TH R IY", "ok", False, ["undecided"]),
        "house": ("", "empty", False, ["no-response"]),
    }
    cat = next(trial for trial in document["trials"] if trial["item"] == "cat")
    assert "if you hear it, write it down" in cat["codes"][0]["clause"]
    (subtest,) = document["summary"]["subtests"]
    assert subtest["naming"]["accuracy"]["correct-any"]["correct"] == 1
    assert subtest["naming"]["accuracy"]["correct-any"]["n"] == 4
    assert subtest["naming"]["accuracy"]["person"]["status"] == "undefined"
    assert len(document["recordings"]) == 4


def test_the_recordings_are_kept_byte_for_byte(run: Run, battery: Path, folder: Path) -> None:
    import hashlib

    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", folder),
        *("--transcriber", "none", "--json"),
    )
    kept = {recording["sha256"] for recording in outcome.document["recordings"]}
    given = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert kept == given  # dog and cat are the same file: three contents, four recordings
    assert len(given) == 3


def test_items_without_a_file_are_told_and_can_come_later(
    run: Run, battery: Path, folder: Path
) -> None:
    (folder / "tree.flac").rename(folder.parent / "tree.flac")
    first = run(
        "name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none", status=3
    )
    assert "no response yet: tree" in first.err
    for path in folder.iterdir():
        path.unlink()
    (folder.parent / "tree.flac").rename(folder / "tree.flac")
    again = run(
        *("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none"),
        *("--resume", "1", "--json"),
    )
    assert again.document["administration"]["status"] == "done"
    assert [len(trial["attempts"]) for trial in again.document["trials"]] == [1, 1, 1, 1]


def test_the_last_take_counts_and_the_first_one_stays(
    run: Run, battery: Path, folder: Path
) -> None:
    shutil.copy(folder / "dog.flac", folder / "house_2.flac")
    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", folder),
        *("--transcriber", "none", "--json"),
    )
    house = outcome.document["trials"][3]
    assert [attempt["state"] for attempt in house["attempts"]] == ["void", "ok"]
    assert house["attempts"][0]["error"] == "another take follows"


def test_what_cannot_be_used_is_told_before_anything_is_kept(
    run: Run, battery: Path, folder: Path
) -> None:
    for more, said in (
        (["--input", folder / "nothing"], "is not a folder"),
        (["--input", folder, "--transcriber", "wave2vec"], "wave2vec"),
    ):
        run("name", battery, "--speaker", "S-014", *more, status=2, err=said)
    assert run("results", "--json").document["administrations"] == []


def test_files_that_are_no_sound_are_all_named_before_anything_is_kept(
    run: Run, battery: Path, folder: Path
) -> None:
    (folder / "tree.flac").write_bytes(b"no sound at all")
    (folder / "house_2.wav").touch()
    (folder / "dog.flac").write_bytes((folder / "dog.flac").read_bytes()[:5000])
    outcome = run(
        "name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none", status=1
    )
    assert "tree.flac" in outcome.err
    assert "house_2.wav: is empty" in outcome.err
    assert "dog.flac: is damaged" in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_what_else_lies_in_the_folder_is_told(run: Run, battery: Path, folder: Path) -> None:
    (folder / "tree.flac").rename(folder / "tree.m4a")
    words = ("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none")
    run(*words, status=3, err="left out: tree.m4a (WAV, FLAC")
    (folder / "manifest.tsv").write_text("file\titem\ndog.flac\tdog\n", encoding="utf-8")
    run(*words, status=3, err="left out: cat.flac, house.flac, tree.m4a")


def test_a_name_with_a_line_break_is_only_a_name(run: Run, battery: Path, folder: Path) -> None:
    (folder / "tree.flac").rename(folder / "tr\nee'.flac")
    outcome = run(
        "name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none", status=2
    )
    assert "no item of the battery is called" in outcome.err


def test_typed_ipa_is_read_as_the_speakers_record_says(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    typed = tmp_path / "typed.tsv"
    typed.write_text(TYPED.replace("TH R IY", "/tre/"), encoding="utf-8")
    run("speaker", "add", "S-014", "ipa=uk")
    for scope in ("record", "transcribe"):
        run("speaker", "consent", "S-014", "--scope", scope, "--given", "2026-11-01")
    said = {}
    for spec in (f"manual:{typed}", f"manual:{typed}@ipa=us"):
        outcome = run(
            *("name", battery, "--speaker", "S-014", "--input", folder),
            *("--transcriber", spec, "--json", "--again"),
        )
        tree = next(trial for trial in outcome.document["trials"] if trial["item"] == "tree")
        (transcript,) = tree["naming"]["transcripts"]
        said[transcript["transcriber"]] = tree["response"]
    assert said == {f"manual:{typed}@ipa=uk": "T R EH", f"manual:{typed}@ipa=us": "T R EY"}


def test_unintelligible_speech_is_not_told_as_silence(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    typed = tmp_path / "typed.tsv"
    typed.write_text(TYPED.replace("TH R IY", "<spn>"), encoding="utf-8")
    spec = f"manual:{typed}"
    run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", spec)
    (line,) = (line for line in run("results", "1").out.splitlines() if line.startswith("tree"))
    assert "unintelligible" in line
    out = tmp_path / "grids"
    pytest.importorskip("praatio")
    run("export", "1", "--format", "textgrid", "--out", out, "--within-study")
    assert '"<spn>"' in next(out.glob("*tree*.TextGrid")).read_text(encoding="utf-8")


def test_a_person_scores_by_ear_afterwards(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    spec = f"manual:{tmp_path / 'typed.tsv'}"
    run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", spec)
    run("trial", "score", "1", "cat", "error")
    run("trial", "heard", "1", "cat", "dog", err="heard 'dog' kept; the rules propose semantic")
    second = run("trial", "heard", "1", "cat", "dog", "--rater", "R2")
    assert "semantic" not in second.err and "after your score" in second.err
    unknown = run("trial", "heard", "1", "house", "zzblorp")
    assert "the sound /zblɔrp/ is guessed from the letters" in unknown.err
    assert "tabwb trial heard 1 house /zblɔrp/" in unknown.err
    for way in ("/hɔɡ/", "HH AO G"):
        assert "no dictionary" not in run("trial", "heard", "1", "house", way).err
    coded = run("trial", "code", "1", "cat", "semantic", "--flag", "dialect")
    assert coded.err.startswith("coded semantic, dialect; the rules propose semantic (")
    run("trial", "code", "1", "cat", "semantics", status=2, err="did you mean 'semantic'?")
    run("trial", "score", "1", "hous", "right", status=2, err="did you mean 'house'?")
    assert "did you mean" not in run("trial", "score", "1", "zzz", "right", status=2).err
    log = run("speaker", "log", "S-014").out
    assert [f"item {item}, {act}" in log for item, act in (
        ("cat", "score"), ("cat", "heard"), ("cat", "code"), ("house", "heard"),
    )] == [True] * 4  # fmt: skip
    run("trial", "code", "1", "cat", "sung", status=2, err="not a valid response code")
    document = run("results", "1", "--json").document
    cat = next(trial for trial in document["trials"] if trial["item"] == "cat")
    naming = cat["naming"]
    assert (naming["score"], naming["heard"], naming["code"]) == ("error", "dog", "semantic")
    assert naming["proposed"]["code"] == "semantic"
    (subtest,) = document["summary"]["subtests"]
    assert subtest["naming"]["accuracy"]["person"]["n"] == 1


def _rated_right(run: Run) -> dict[str, float | None]:
    (dog, *_) = run("results", "1", "--json").document["trials"]
    return {one["rater"]: one["value"] for one in dog["ratings"] if one["measure"] == "correct"}


def test_a_second_rater_gets_the_sound_and_the_picture_and_no_word_of_the_first(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    spec = f"manual:{tmp_path / 'typed.tsv'}"
    run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", spec)
    run("trial", "score", 1, "dog", "right", "--rater", "SLP1")
    plan = ("rate", "plan", "--raters", "SLP1,SLP2", "--stratify", "participant")
    named = run(*plan, "second", "--form", "naming", "--json").document
    assert (named["samples"], named["subtests"]) == (4, ["nouns"])
    assert [one["stratum"] for one in named["strata"]] == ["participant 1"]
    run(*plan, "again", "--form", "transcription", "--json")
    with Store.open() as store:
        samples, unseen = store.sets.samples(1), store.sets.samples(2)
        (recorded, *_) = {one.sha256 for one in store.people.recordings(1)}
        assert recorded
        for place in store.sets.assignments(1):
            if place.purpose == "rate" and samples[place.sample - 1].target == "dog":
                answers = {"correct": "error", "heard#1": "cat"}
                store.sets.rate(1, SampleRating(place.rater, place.position, place.sample, "rate",
                                                answers, True))  # fmt: skip
    assert {(one.text, one.target) for one in samples} == {
        ("", "dog"), ("", "cat"), ("", "tree"), ("", "house")
    }  # fmt: skip
    for one in samples:
        assert one.picture == f"{one.target}.png" and one.audio is not None
        assert one.audio.end_s > one.audio.start_s >= 0
    assert {(one.text, one.prompt, one.picture, one.target) for one in unseen} == {
        ("", "", None, "")
    }
    assert all(one.audio is not None for one in unseen)
    run("store", "check")
    # Who scored in the session, and again in a set, is one rater: the session's score counts.
    assert _rated_right(run) == {"person:SLP1": 1.0, "person:SLP2": 0.0}
    run("trial", "undo", 1)
    assert _rated_right(run) == {"person:SLP1": None, "person:SLP2": 0.0}
    # A speaker who is registered must agree to rating.
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    refused = run(*plan, "third", "--form", "naming", status=2)
    assert "4 of speakers who do not agree to rating" in refused.err


TYPED_TREE = "utterance_id\ttranscript\ndog\tD AO G\ncat\tD AO G\ntree\tT R IY\nhouse\tHH AW S\n"
CHOICE = """
[[subtest]]
id = "words"
title = "Words"
response = "choice"
scorers = ["choice"]
instructions = { text = "Answer.", source = "ours" }
template = "{instructions}\\n{prompt} ({options})"
[[subtest.item]]
id = "barks"
prompt = "Which one barks?"
options = ["lion", "dog"]
expected = "dog"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for a battery, and what a person typed of each response."""
    (tmp_path / "typed.tsv").write_text(TYPED_TREE, encoding="utf-8")
    return tmp_path


def battery_in(home: Path, rules: str = "", more: str = "") -> Path:
    path = naming_battery(home / "battery", rules)
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    return path


def files_of(home: Path, *items: str) -> Path:
    return recordings(home / "-".join(items), *items)


def name(
    run: Run, battery: Path | str, folder: Path, *more: object, speaker: str = "S-014"
) -> Outcome:
    words = ["name", battery, "--speaker", speaker, "--input", folder, *more]
    return run(*words, *([] if "--transcriber" in more else ["--transcriber", "none"]), status=None)


@pytest.mark.parametrize(
    ("more", "said"), [(["S-015"], "speaker S-014"), (["S-014", "--seed", "9"], "seed 1")]
)
def test_nobodys_recordings_come_to_somebody_elses(
    run: Run, home: Path, more: list[str], said: str
) -> None:
    battery = battery_in(home)
    name(run, battery, files_of(home, "dog"))
    folder = files_of(home, "cat")
    refused = name(run, battery, folder, "--resume", "1", *more[1:], speaker=more[0])
    assert refused.status == 2
    assert f"began with another: {said}" in refused.err
    document = run("results", "1", "--json").document
    assert document["administration"]["answered"] == 1


def test_a_stop_between_two_takes_of_an_item_loses_neither(run: Run, home: Path) -> None:
    battery = battery_in(home)
    folder = files_of(home, "dog_1", "cat")
    name(run, battery, folder)
    shutil.copy(SPEECH / "cat_4620dc14_0.flac", folder / "dog_2.flac")
    shutil.copy(DOG, folder / "tree.flac")
    name(run, battery, folder, "--resume", "1")
    trials = run("results", "1", "--json").document["trials"]
    states = [[attempt["state"] for attempt in trial["attempts"]] for trial in trials]
    assert states == [["void", "ok"], ["ok"], ["ok"], []]
    elsewhere = files_of(home, "cat_7", "cat_8")  # neither is the one that is kept
    (elsewhere / "cat_7.flac").write_bytes((SPEECH / "cat_4620dc14_0.flac").read_bytes())
    name(run, battery, elsewhere, "--resume", "1")
    assert len(run("results", "1", "--json").document["trials"][1]["attempts"]) == 1


def test_a_transcriber_can_be_named_later(run: Run, home: Path) -> None:
    battery = battery_in(home)
    items = files_of(home, "dog", "cat", "tree", "house")
    assert name(run, battery, items).status == 0
    spec = f"manual:{home / 'typed.tsv'}"
    (battery.parent / "battery.toml").unlink()  # what was given stands in the store
    again = name(run, "pictures", items, "--resume", "1", "--transcriber", spec, "--json")
    assert again.status == 0, again.err
    assert [trial["response"] for trial in again.document["trials"]] == [
        "D AO G",
        "D AO G",
        "T R IY",
        "HH AW S",
    ]


def test_what_could_not_be_transcribed_is_told_and_tried_again(run: Run, home: Path) -> None:
    battery = battery_in(home)
    items = files_of(home, "dog", "cat", "tree", "house")
    table = home / "typed.tsv"
    table.write_text(
        "utterance_id\ttranscript\ndog\tD AO G\ncat\t<sil>\nhouse\t\n", encoding="utf-8"
    )
    spec = f"manual:{table}"
    outcome = name(run, battery, items, "--transcriber", spec)
    assert outcome.status == 3
    assert "! tree: " in outcome.err and "! house: the transcript" in outcome.err
    assert "not transcribed: tree, house" in outcome.err
    assert f"--resume 1 --input {items} --transcriber {spec}" in outcome.err
    table.write_text(TYPED_TREE, encoding="utf-8")
    again = name(run, battery, items, "--resume", "1", "--transcriber", spec, "--json")
    assert again.status == 0, again.err
    naming = [one["naming"] for one in again.document["trials"]]
    assert [len(one["transcripts"]) for one in naming] == [1] * 4
    # What was typed over is read again, and without a transcriber nothing is missing any more.
    assert naming[1]["phonemes"] == ["D", "AO", "G"]
    silent = run("name", battery, "--speaker", "S-014", "--input", items, "--resume", "1")
    assert (silent.status, "! " in silent.err) == (0, False), silent.err


def test_a_recording_that_has_changed_is_not_taken_for_the_one_that_is_kept(
    run: Run, home: Path
) -> None:
    battery = battery_in(home)
    items = files_of(home, "dog", "cat")
    name(run, battery, items)
    shutil.copy(SPEECH / "bed_ca4d5368_0.flac", items / "cat.flac")
    told = name(run, battery, items, "--resume", "1")
    assert "kept as they were recorded first, not as in cat.flac;" in told.err
    assert "dog.flac" not in told.err


def test_who_listens_later_is_another_rater(run: Run, home: Path) -> None:
    battery = battery_in(home)
    name(run, battery, files_of(home, "dog"), "--rater", "R-01")
    run("trial", "score", "1", "dog", "right")
    run("trial", "code", "1", "dog", "correct")
    run("trial", "score", "1", "dog", "error", "--rater", "R-02", "--seen")
    run("trial", "code", "1", "dog", "semantic", "--rater", "R-02")
    trial = run("results", "1", "--json").document["trials"][0]
    assert [(one["rater"], one["measure"], one["value"]) for one in trial["ratings"]] == [
        ("person:R-01", "correct", 1.0),
        ("person:R-01", "code:correct", 1.0),
        ("person:R-02", "correct", 0.0),
        ("person:R-02", "code:semantic", 1.0),
    ]
    codes = [(one["rater"], one["code"]) for one in trial["codes"]]
    assert codes == [("person:R-01", "correct"), ("person:R-02", "semantic")]
    assert (trial["naming"]["score"], trial["naming"]["scored_after_reveal"]) == ("right", False)
    assert [each["scored_after_reveal"] for each in trial["naming"]["raters"]] == [False, True]
    undone = run("trial", "undo", "1")
    assert undone.err == "taken back: code of 1, dog\n"
    assert "code:semantic" not in str(
        run("results", "1", "--json").document["trials"][0]["ratings"]
    )


def test_what_the_basal_credits_and_practice_need_no_file(run: Run, home: Path) -> None:
    practice = """
[[subtest.item]]
id = "trial-run"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO G", reason = "citation" }]
practice = true
"""
    battery = battery_in(home, 'start_item = "tree"\nbasal = 2', practice)
    spec = f"manual:{home / 'typed.tsv'}"
    outcome = name(run, battery, files_of(home, "tree", "house"), "--transcriber", spec, "--json")
    assert outcome.status == 0, outcome.err
    states = {
        trial["item"]: (trial["state"], trial["reason"]) for trial in outcome.document["trials"]
    }
    assert states["dog"][0] == states["cat"][0] == "not-administered"
    assert "credited by the basal" in states["dog"][1]
    assert states["trial-run"] == ("not-administered", "practice, not recorded")
    assert outcome.document["administration"]["status"] == "done"


def test_items_that_were_not_given_end_it_for_a_reason(run: Run, home: Path) -> None:
    battery = battery_in(home, "discontinue = { after = 1, counts_cued = false }")
    spec = f"manual:{home / 'typed.tsv'}"
    words = ("--transcriber", spec, "--discontinue", "the rule")
    outcome = name(run, battery, files_of(home, "dog", "cat"), *words, "--json")
    assert outcome.status == 0, outcome.err
    assert "1 item was not right" in outcome.err
    assert outcome.document["administration"]["status"] == "discontinued"
    assert [trial["state"] for trial in outcome.document["trials"]][2:] == ["not-administered"] * 2


def test_two_items_of_one_name_are_told_apart(run: Run, home: Path) -> None:
    second = """
[[subtest]]
id = "again"
title = "Again"
response = "naming"
[[subtest.item]]
id = "dog"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO G", reason = "citation" }]
"""
    battery = battery_in(home, more=second)
    folder = files_of(home, "dog")
    refused = name(run, battery, folder)
    assert refused.status == 2
    assert "nouns/dog" in refused.err
    (folder / "manifest.tsv").write_text("file\titem\ndog.flac\tagain/dog\n", encoding="utf-8")
    assert "no response yet: dog, cat, tree, house" in name(run, battery, folder).err
    trials = run("results", "1", "--json").document["trials"]
    assert [trial["subtest"] for trial in trials if trial["state"] == "answered"] == ["again"]


def test_pictures_and_typed_items_of_one_battery_are_given_by_two_commands(
    run: Run, home: Path
) -> None:
    battery = battery_in(home, more=CHOICE)
    folder = files_of(home, "dog", "cat", "tree", "house")
    spec = f"manual:{home / 'typed.tsv'}"
    outcome = name(run, battery, folder, "--transcriber", spec)
    assert outcome.status == 3
    assert "no answer yet: barks" in outcome.err
    assert "tabwb resume 1" in outcome.err
    run("trial", "score", "1", "barks", "right", status=1, err="'barks' is not named aloud")
    typed = run("resume", 1, "--json", stdin="dog\n")
    assert typed.document["administration"]["status"] == "done"
    assert typed.document["trials"][4]["response"] == "dog"
    run("trial", "rescore", "1")
    rated = run("results", "1", "--json").document["trials"][4]["ratings"]
    assert {one["measure"]: one["value"] for one in rated}["exact"] == 1


def test_pictures_are_not_given_to_one_who_types(run: Run, home: Path) -> None:
    battery = battery_in(home)
    run(
        "run", battery, "--speaker", "S-014", status=2, err=f"tabwb name {battery} --speaker S-014"
    )  # as it was asked for
    name(run, battery, files_of(home, "dog"))
    run("resume", "1", status=2, err="tabwb name pictures --speaker S-014 --resume 1")


def test_typed_items_can_come_first(run: Run, home: Path) -> None:
    battery = battery_in(home, more=CHOICE)
    by_name = "tabwb name pictures --speaker S-014 --resume 1"
    person = ("--speaker", "S-014", "--judge", "none")
    run("run", battery, *person, stdin="dog\n", status=3, err=by_name)
    folder = files_of(home, "dog", "cat", "tree", "house")
    outcome = name(run, battery, folder, "--resume", "1", "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.document["administration"]["status"] == "done"


def test_the_same_folder_is_stored_once_unless_asked(run: Run, home: Path) -> None:
    battery, folder = battery_in(home), files_of(home, "dog", "cat", "tree", "house")
    assert name(run, battery, folder).status == 0
    refused = name(run, battery, folder)
    assert refused.status == 2
    assert "in the store already: administration 1" in refused.err
    assert "--resume 1" in refused.err
    assert name(run, battery, folder, "--again").status == 0
    assert len(run("results", "--json").document["administrations"]) == 2


def test_a_command_that_ended_before_the_first_recording_is_continued(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    battery, folder = battery_in(home), files_of(home, "dog", "cat", "tree", "house")
    with monkeypatch.context() as ended:
        ended.setattr("tabwb.operations.naming.NameAloud._given", lambda *_: iter(()))
        name(run, battery, folder)
    continued = name(run, battery, folder)
    assert continued.status == 0, continued.err
    assert "administration 1 was begun with these recordings; it continues" in continued.err
    (given,) = run("results", "--json").document["administrations"]
    assert (given["status"], given["answered"]) == ("done", 4)


@pytest.fixture
def one_sound(tmp_path: Path) -> Path:
    recordings(tmp_path / "sounds", "dog")
    return naming_battery(tmp_path / "battery")


def name_one(
    run: Run, battery: Path, *more: object, speaker: str = "S-014", transcriber: str = "none"
) -> Outcome:
    sounds = battery.parent.parent / "sounds"
    words = ("--speaker", speaker, "--input", sounds, "--transcriber", transcriber)
    return run("name", battery, *words, *more, status=None)


def test_a_bad_table_of_transcripts_begins_nothing(
    run: Run, one_sound: Path, tmp_path: Path
) -> None:
    table = tmp_path / "typed.tsv"
    for text in (None, "utterance_id\ttranscript\ndog\tD QQ G\n", "file\twords\n"):
        if text is not None:
            table.write_text(text, encoding="utf-8")
        refused = name_one(run, one_sound, transcriber=f"manual:{table}")
        assert refused.status in {1, 2}
        assert "typed.tsv" in refused.err
    assert not run("results", "--json").document["administrations"]


def test_a_reason_is_one_that_is_allowed(run: Run, one_sound: Path) -> None:
    name_one(run, one_sound)
    for score, reason, said, kept in (
        ("no-response", "bored", "silent, dont-know, refused", None),
        ("right", "bored", "", None),
        ("no-response", "silent", None, "no-response"),
        ("right", "", None, "right"),
        ("no-response", "", None, "no-response"),
        ("not-scorable", "a car passed", None, "not-scorable"),
    ):
        more = ("--reason", reason) if reason else ()
        status = 0 if said is None else 2
        run("trial", "score", "1", "dog", score, *more, status=status, err=said or "")
        found = run("results", "1", "--json").document["trials"][0]["naming"]["score"]
        assert found == kept


def test_a_deletion_says_which_audio_another_id_keeps(run: Run, one_sound: Path) -> None:
    name_one(run, one_sound)
    name_one(run, one_sound, speaker="S-015")
    gone = run("speaker", "delete", "S-014", "--reason", "other", "--yes", "--json")
    assert "1 recording that S-015 has too will be kept" in gone.err
    assert [one["also_of"] for one in gone.document["kept_recordings"]] == ["S-015"]
    last = run("speaker", "delete", "S-015", "--reason", "other", "--yes")
    assert "will be kept" not in last.err


soundfile = pytest.importorskip("soundfile")
DAY = "2019-03-09"


def _date(run: Run, number: int = 1) -> object:
    found: object = run("results", number, "--json").document["administration"]["session_date"]
    return found


def _dated(path: Path) -> None:
    samples, rate = soundfile.read(path)
    with soundfile.SoundFile(path, "w", rate, 1) as file:
        file.date = "2020-06-01"
        file.write(samples)


def test_the_date_is_said_or_in_a_manifest_or_in_a_sound_file(
    run: Run, one_sound: Path, tmp_path: Path
) -> None:
    name_one(run, one_sound, "--date", DAY)
    assert _date(run) == DAY
    assert DAY in run("results").out
    assert f"session {DAY}" in run("results", "1").out
    manifest = tmp_path / "sounds" / "manifest.tsv"
    manifest.write_text("file\titem\tdate\ndog.flac\tdog\t2019-04-10\n", encoding="utf-8")
    name_one(run, one_sound, "--again")
    assert _date(run, 2) == "2019-04-10"
    manifest.unlink()
    _dated(tmp_path / "sounds" / "dog.flac")
    name_one(run, one_sound)
    assert _date(run, 3) == "2020-06-01"


def test_a_date_that_nobody_says_is_not_known_and_not_today(run: Run, one_sound: Path) -> None:
    said = name_one(run, one_sound)
    assert "the date of the session is not known" in said.err
    assert _date(run) is None
    assert "date not known" in " ".join(run("results").out.split())


def test_what_is_no_past_day_is_refused(run: Run, one_sound: Path) -> None:
    for said in ("9.3.2019", "2019-02-30", "20190309", "2999-01-01"):
        refused = name_one(run, one_sound, "--date", said)
        assert (refused.status, said in refused.err) == (2, True)
    assert not run("results", "--json").document["administrations"]


def test_recordings_of_several_days_are_refused(run: Run, one_sound: Path, tmp_path: Path) -> None:
    shutil.copy(DOG, tmp_path / "sounds" / "cat.flac")
    rows = f"file\titem\tdate\ndog.flac\tdog\t{DAY}\ncat.flac\tcat\t2019-03-10\n"
    (tmp_path / "sounds" / "manifest.tsv").write_text(rows, encoding="utf-8")
    refused = name_one(run, one_sound)
    assert refused.status == 2
    assert "2 days: 2019-03-09, 2019-03-10" in refused.err


def test_the_microphone_is_of_today(run: Run, one_sound: Path) -> None:
    run("name", one_sound, "--speaker", "S-014", "--date", DAY, status=2, err="today's date")


def test_an_import_has_the_date(run: Run, one_sound: Path, tmp_path: Path) -> None:
    for number, column in enumerate(("session_date", "date", ""), start=1):
        head = "utterance_id\tprompt\ttranscript" + (f"\t{column}" if column else "")
        row = f"u-{number}\tdog\tD AO G" + (f"\t{DAY}" if column else "")
        psst = tmp_path / str(number)
        psst.mkdir()
        (psst / "utterances.tsv").write_text(f"{head}\n{row}\n", encoding="utf-8")
        said = () if column else ("--date", DAY)
        words = ("--battery", one_sound, "--speaker", "S-014", "--again", *said)
        run("import", psst, *words)
        assert _date(run, number) == DAY


def test_a_typed_administration_is_of_the_day_it_was_given(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    assert _date(run) in {datetime.now(UTC).date().isoformat()}


def test_every_export_has_the_date(run: Run, one_sound: Path, tmp_path: Path) -> None:
    name_one(run, one_sound, "--date", DAY)
    run("trial", "score", "1", "dog", "right")
    kinds = {"psst": "tsv", "chat": "cha", "eaf": "eaf", "textgrid": "txt"}
    for name in ("attempts", "csv", "jsonl", *kinds):
        out = tmp_path / f"out-{name}"
        run("export", "1", "--format", name, "--out", out, "--within-study")
        if name in {"attempts", "csv"}:
            with out.open(encoding="utf-8", newline="") as file:
                assert {row["session_date"] for row in csv.DictReader(file)} == {DAY}
        elif name == "jsonl":
            assert json.loads(out.read_text("utf-8").splitlines()[0])["session_date"] == DAY
        else:
            (path,) = out.glob(f"*.{kinds[name]}")
            day = "@Date:\t09-MAR-2019" if name == "chat" else DAY
            assert day in path.read_text(encoding="utf-8")


PAGE = Path(__file__).parents[2] / "docs" / "spoken-naming.md"
ITEMS = ("bed", "bird", "cat", "cat_2", "dog", "house", "tree")
NEEDS_A_MICROPHONE = ("microphone", "mic")


def test_the_commands_of_the_page_work_one_after_the_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recordings(Path("recordings"), *ITEMS)
    typed_table(Path("typed.tsv"), **dict.fromkeys(ITEMS, "D AO G"))
    blocks = re.findall(r"```\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    done = [_one(run, line) for block in blocks for line in block.splitlines()]
    assert done.count("tabwb") > 12


def _one(run: Run, line: str) -> str:
    command, *words = shlex.split(line, comments=True)
    words, out = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
    if command == "printf":
        assert out is not None
        out.write_text(words[0].encode().decode("unicode_escape"), encoding="utf-8")
    elif not set(NEEDS_A_MICROPHONE) & set(words):
        # A person types what bundled-words would hear: a model takes seconds to begin.
        more = ("--transcriber", "manual:typed.tsv") if words[0] in {"name", "transcribe"} else ()
        outcome = run(*words, *more)
        if out is not None:
            out.write_text(outcome.out, encoding="utf-8")
    return command
