"""``tabwb name`` and ``tabwb import``: spoken naming without the workbench."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tabwb.records.rating_sets import SampleRating
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.cli.conftest import Run

pytest.importorskip("soundfile")
CLIPS = Path(__file__).parents[1] / "data" / "speech"
SPOKEN = {
    "dog": "dog_d1a4fb3f_0.flac",
    "cat": "dog_d1a4fb3f_0.flac",
    "tree": "three_8c0e5970_0.flac",
    "house": "silence_1024.flac",
}
TYPED = "utterance_id\ttranscript\ndog\tD AO G\ncat\tD AO G\ntree\tTH R IY\nhouse\t<sil>\n"


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    (tmp_path / "battery").mkdir()
    return naming_battery(tmp_path / "battery")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file for each item, and what a person typed for each."""
    made = tmp_path / "responses"
    made.mkdir()
    for item, clip in SPOKEN.items():
        shutil.copy(CLIPS / clip, made / f"{item}.flac")
    (tmp_path / "typed.tsv").write_text(TYPED, encoding="utf-8")
    return made


def test_a_folder_of_files_is_given_transcribed_and_scored(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    spec = f"manual:{tmp_path / 'typed.tsv'}"
    outcome = run(
        *("name", battery, "--speaker", "S-014", "--input", folder),
        *("--transcriber", spec, "--title", "First", "--tag", "pilot", "--json"),
    )
    assert outcome.status == 0, outcome.err
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
    first = run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none")
    assert first.status == 3
    assert "no response yet: tree" in first.err
    for path in folder.iterdir():
        path.unlink()
    (folder.parent / "tree.flac").rename(folder / "tree.flac")
    again = run(
        *("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none"),
        *("--resume", "1", "--json"),
    )
    assert again.status == 0
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--input", "{folder}/nothing"], "is not a folder"),
        (["--input", "{folder}", "--transcriber", "wave2vec"], "wave2vec"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_kept(
    run: Run, battery: Path, folder: Path, arguments: list[str], said: str
) -> None:
    words = [word.format(folder=folder) for word in arguments]
    outcome = run("name", battery, "--speaker", "S-014", *words)
    assert outcome.status == 2
    assert said in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_files_that_are_no_sound_are_all_named_before_anything_is_kept(
    run: Run, battery: Path, folder: Path
) -> None:
    (folder / "tree.flac").write_bytes(b"no sound at all")
    (folder / "house_2.wav").touch()
    (folder / "dog.flac").write_bytes((folder / "dog.flac").read_bytes()[:5000])
    outcome = run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none")
    assert outcome.status == 1
    assert "tree.flac" in outcome.err
    assert "house_2.wav: is empty" in outcome.err
    assert "dog.flac: is damaged" in outcome.err
    assert run("results", "--json").document["administrations"] == []


def test_what_else_lies_in_the_folder_is_told(run: Run, battery: Path, folder: Path) -> None:
    (folder / "tree.flac").rename(folder / "tree.m4a")
    words = ("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none")
    assert "left out: tree.m4a (WAV, FLAC" in run(*words).err
    (folder / "manifest.tsv").write_text("file\titem\ndog.flac\tdog\n", encoding="utf-8")
    assert "left out: cat.flac, house.flac, tree.m4a" in run(*words).err


def test_a_name_with_a_line_break_is_only_a_name(run: Run, battery: Path, folder: Path) -> None:
    (folder / "tree.flac").rename(folder / "tr\nee'.flac")
    outcome = run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", "none")
    assert outcome.status == 2
    assert "no item of the battery is called" in outcome.err


def test_a_battery_without_pictures_says_how_to_give_it(run: Run, folder: Path) -> None:
    outcome = run("name", "tab", "--speaker", "S-014", "--input", folder)
    assert outcome.status == 2
    assert "no items to name aloud" in outcome.err


def test_what_was_exported_is_imported_again(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    spec = f"manual:{tmp_path / 'typed.tsv'}"
    run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", spec)
    out = tmp_path / "psst"
    exported = run("export", "1", "--format", "psst", "--out", out, "--within-study")
    assert exported.status == 0, exported.err
    imported = run("import", out, "--battery", battery, "--speaker", "S-014", "--json")
    assert imported.status == 0, imported.err
    document = run("results", imported.document["administrations"][0]["id"], "--json").document
    assert document["administration"]["status"] == "done"
    assert [trial["response"] for trial in document["trials"]] == [
        "D AO G",
        "D AO G",
        "TH R IY",
        "",
    ]


def test_typed_ipa_is_read_as_the_speakers_record_says(
    run: Run, battery: Path, folder: Path, tmp_path: Path
) -> None:
    typed = tmp_path / "typed.tsv"
    typed.write_text(TYPED.replace("TH R IY", "/tre/"), encoding="utf-8")
    assert run("speaker", "add", "S-014", "ipa=uk").status == 0
    for scope in ("record", "transcribe"):
        run("speaker", "consent", "S-014", "--scope", scope, "--given", "2026-11-01")
    said = {}
    for spec in (f"manual:{typed}", f"manual:{typed}@ipa=us"):
        outcome = run(
            *("name", battery, "--speaker", "S-014", "--input", folder),
            *("--transcriber", spec, "--json", "--again"),
        )
        assert outcome.status == 0, outcome.err
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
    (line,) = (line for line in run("results", "1").out.splitlines() if line.startswith(" tree"))
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
    assert run("trial", "score", "1", "cat", "error").status == 0
    told = run("trial", "heard", "1", "cat", "dog")
    assert "heard 'dog' kept; the rules propose semantic" in told.err
    second = run("trial", "heard", "1", "cat", "dog", "--rater", "R2")
    assert "semantic" not in second.err and "after your score" in second.err
    unknown = run("trial", "heard", "1", "house", "zzblorp")
    assert "the sound /zblɔrp/ is guessed from the letters" in unknown.err
    assert "tabwb trial heard 1 house /zblɔrp/" in unknown.err
    for way in ("/hɔɡ/", "HH AO G"):
        assert "no dictionary" not in run("trial", "heard", "1", "house", way).err
    coded = run("trial", "code", "1", "cat", "semantic", "--flag", "dialect")
    assert coded.err.startswith("coded semantic, dialect; the rules propose semantic (")
    assert "did you mean 'semantic'?" in run("trial", "code", "1", "cat", "semantics").err
    assert "did you mean 'house'?" in run("trial", "score", "1", "hous", "right").err
    assert "did you mean" not in run("trial", "score", "1", "zzz", "right").err
    log = run("speaker", "log", "S-014").out
    assert [f"item {item}, {act}" in log for item, act in (
        ("cat", "score"), ("cat", "heard"), ("cat", "code"), ("house", "heard"),
    )] == [True] * 4  # fmt: skip
    refused = run("trial", "code", "1", "cat", "sung")
    assert (refused.status, "not a valid response code" in refused.err) == (2, True)
    document = run("results", "1", "--json").document
    cat = next(trial for trial in document["trials"] if trial["item"] == "cat")
    naming = cat["naming"]
    assert (naming["score"], naming["heard"], naming["code"]) == ("error", "dog", "semantic")
    assert naming["proposed"]["code"] == "semantic"
    (subtest,) = document["summary"]["subtests"]
    assert subtest["naming"]["accuracy"]["person"]["n"] == 1


def test_what_is_not_spoken_naming_has_no_such_scores(run: Run) -> None:
    run("run", "tab", "--model", "echo")
    refused = run("trial", "score", "1", "wc1", "right")
    assert refused.status == 2
    assert "is not spoken naming" in refused.err


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
    assert run(*plan, "again", "--form", "transcription", "--json").status == 0
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
    assert run("store", "check").status == 0
    # Who scored in the session, and again in a set, is one rater: the session's score counts.
    assert _rated_right(run) == {"person:SLP1": 1.0, "person:SLP2": 0.0}
    run("trial", "undo", 1)
    assert _rated_right(run) == {"person:SLP1": None, "person:SLP2": 0.0}
    # A speaker who is registered must agree to rating.
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    refused = run(*plan, "third", "--form", "naming")
    assert "4 of speakers who do not agree to rating" in refused.err
