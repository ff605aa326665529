"""``tabwb import psst``: battery, sessions, participants; whole sessions or none."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tabwb_psst.corpus import Corpus, read_corpus
from tabwb_psst.made import COLUMNS, made_psst

import tabwb
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.records.naming import Scored, Take, Transcribed, observations_of
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.views import observed
from tabwb.testing import check_importer
from tests.administer.naming_parts import naming_battery
from tests.administer.test_naming_round_trip import CUES, given
from tests.builders import needs, small_files

needs("soundfile")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made_psst(tmp_path / "psst", speakers=10, utterances=60, sounds=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


def run(*words: object, place: Path) -> int:
    return main([*map(str, words), "--store", str(place)])


def kept(place: Path) -> dict[str, tuple[Any, ...]]:
    """File name of each recording to speaker, test, target, transcript, score and sound."""
    found: dict[str, tuple[Any, ...]] = {}
    with Store.open(place, create=False) as store:
        for given in store.administrations():
            sounds = {one.uid: one.sha256 for one in store.people.recordings(given.id)}
            for trial in store.trials(given.id):
                if trial.counting is None:
                    continue
                take = Take.of_metadata(trial.counting.metadata)
                seen = observations_of(trial)
                said = [one.transcript for one in seen if isinstance(one, Transcribed)]
                scored = [one for one in seen if isinstance(one, Scored)]
                assert take is not None and take.recording not in found
                found[take.recording] = (
                    given.conditions.examinee, trial.plan.subtest, trial.plan.item,
                    tuple(sorted((one.transcriber, one.phonemes) for one in said)),
                    tuple(one.score for one in scored), sounds[take.recording],
                )  # fmt: skip
    return found


def expected(corpus: Corpus) -> Counter[tuple[Any, ...]]:
    return Counter(
        (
            one.speaker, one.test.casefold(), one.prompt,
            () if one.transcript is None else (("manual:psst", one.transcript),),
            () if one.correct is None else ("right" if one.correct else "error",),
            hashlib.sha256((one.sound or Path()).read_bytes()).hexdigest(),
        )
        for one in corpus.utterances
    )  # fmt: skip


def test_every_utterance_comes_with_its_sound_transcript_and_score(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", "psst", root, place=place) == 0
    assert "bark, howl, throw" in capsys.readouterr().err
    corpus = read_corpus(root)
    assert Counter(kept(place).values()) == expected(corpus)
    with Store.open(place, create=False) as store:
        given = store.administrations()
        assert {one.battery for one in given} == {"psst"}
        assert {one.status for one in given} == {AdministrationStatus.DONE}
        assert all(one.answered < one.planned for one in given)
        titles = {(one.conditions.examinee, one.title) for one in given}
        assert titles == {(one.speaker, one.session) for one in corpus.utterances}
        records = {one.id: one.values for one in store.people.speakers()}
    assert records == {
        speaker: {"AQ": own[0].aq, "split": own[0].split, "corpus": "PSST"}
        for speaker, own in corpus.by_speaker.items()
    }


def test_the_dry_run_stores_nothing_and_the_format_is_recognised(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_importer("psst", root)
    assert run("import", root, "--dry-run", "--json", place=place) == 0
    document = json.loads(capsys.readouterr().out)
    assert sum(one["answers"] for one in document["imports"]) == 60
    assert not place.exists()
    assert run("import", root, place=place) == 0


def test_a_second_import_is_refused_and_again_stores_it_once_more(root: Path, place: Path) -> None:
    assert run("import", "psst", root, place=place) == 0
    assert run("import", "psst", root, place=place) == 2
    with Store.open(place, create=False) as store:
        number = len(store.administrations())
    assert run("import", "psst", root, "--again", place=place) == 0
    with Store.open(place, create=False) as store:
        assert len(store.administrations()) == 2 * number


def test_other_accepted_pronunciations_make_another_version(
    root: Path, place: Path, tmp_path: Path
) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"house": ["HH AW S"]}', encoding="utf-8")
    assert run("import", "psst", root, "--correctness", file, place=place) == 0
    with Store.open(place, create=False) as store:
        text = store.battery_canonical(store.administrations()[0].battery_hash)
    items = [item for subtest in json.loads(text)["subtest"] for item in subtest["item"]]
    assert len(items) == len(read_corpus(root).prompts)
    (house,) = (item for item in items if item["target"] == "house")
    assert [form["phonemes"] for form in house["accept"]] == ["HH AW S"]


def test_sessions_are_stored_once_whatever_is_accepted(
    root: Path, place: Path, tmp_path: Path
) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"house": ["HH AW S"]}', encoding="utf-8")
    (root / "test" / "utterances.tsv").rename(tmp_path / "later.tsv")
    assert run("import", "psst", root, place=place) == 0
    with Store.open(place, create=False) as store:
        first = [(one.id, one.battery_hash) for one in store.administrations()]
    assert run("import", "psst", root, "--correctness", file, place=place) == 2
    with Store.open(place, create=False) as store:
        assert [(one.id, one.battery_hash) for one in store.administrations()] == first
    (tmp_path / "later.tsv").rename(root / "test" / "utterances.tsv")
    assert run("import", "psst", root, "--correctness", file, place=place) == 0
    assert Counter(kept(place).values()) == expected(read_corpus(root))


def test_correctness_is_refused_for_other_formats(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("item,text\nw1,dog\n", encoding="utf-8")
    words = ("import", table, "--speaker", "S-01", "--correctness", table)
    assert run(*words, place=place) == 2


def test_what_a_record_contradicts_is_told_and_stays(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speaker = next(iter(read_corpus(root).by_speaker))
    assert run("speaker", "add", speaker, "AQ=1", place=place) == 0
    assert (
        run("speaker", "consent", speaker, "--scope", "record", "--given", "today", place=place)
        == 0
    )
    capsys.readouterr()
    assert run("import", "psst", root, place=place) == 0
    assert f"{speaker}: AQ is 1" in capsys.readouterr().err
    with Store.open(place, create=False) as store:
        assert store.people.speaker(speaker).values["AQ"] == 1


def test_what_cannot_be_used_is_one_line_each_and_counted(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = root / "train" / "utterances.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    rows[1][COLUMNS.index("transcript")] = "D AO QQ"
    rows[2][COLUMNS.index("duration_frames")] = "0"
    (root / "train" / rows[3][COLUMNS.index("filename")]).unlink()
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert run("import", "psst", root, "--json", place=place) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["left_out"] == {"labels": 1, "0 s": 1, "sounds": 1}
    assert [line.partition(": ")[0] for line in document["problems"]] == [
        f"{table}:{number}" for number in (2, 3, 4)
    ]
    assert all(f"{table}:{number}: " in err for number in (2, 3, 4))
    assert len(kept(place)) == 57


def test_a_corpus_without_a_usable_utterance_names_the_first_problem(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "soundfile", None)
        assert run("import", "psst", root, place=place) == 1
    assert 'pip install "tabwb[audio]"' in capsys.readouterr().err
    for sound in root.rglob("*.wav"):
        sound.unlink()
    assert run("import", "psst", root, place=place) == 2
    assert "utterances.tsv:2: " in capsys.readouterr().err
    assert not place.exists()


def test_a_folder_that_is_not_psst_makes_no_store(tmp_path: Path, place: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("import", "psst", tmp_path / "empty", place=place) == 2
    assert not place.exists()


def sessions(place: Path) -> Iterator[tuple[int, int]]:
    """Yield how many responses each session has, and how many trials its log says were given."""
    with Store.open(place, create=False) as store:
        for given in store.administrations():
            trials = store.trials(given.id)
            answered = [one for one in trials if one.state is TrialState.ANSWERED]
            yield len(answered), len(store.people.recordings(given.id))


def test_a_killed_import_holds_whole_sessions_and_the_same_command_completes_it(
    tmp_path: Path, place: Path
) -> None:
    root = made_psst(tmp_path / "psst", speakers=20, utterances=200, sounds=False)
    command = [sys.executable, "-m", "tabwb", *("import", "psst"), str(root), "--store", str(place)]
    sizes = Counter(
        Counter((one.speaker, one.session) for one in read_corpus(root).utterances).values()
    )
    for least in (1, 5, 12):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
        while process.poll() is None and stored(place) < least:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = list(sessions(place))
        assert all(answered == recordings for answered, recordings in found)
        assert not Counter(answered for answered, _ in found) - sizes
    assert main(command[3:]) in (0, 2)  # 2: the last one was done before the kill
    assert Counter(kept(place).values()) == expected(read_corpus(root))
    assert main(["store", "check", "--store", str(place)]) == 0


def stored(place: Path) -> int:
    if not place.exists():
        return 0
    try:
        with Store.open(place, create=False) as store:
            return len(store.administrations())
    except tabwb.TabwbError:  # it is being made
        return 0


def test_a_full_disk_is_one_line_and_nothing_half(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_files(150_000):
        assert run("import", "psst", root, place=place) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(errors) == 1
    if place.exists():
        assert all(answered == recordings for answered, recordings in sessions(place))
    assert run("import", "psst", root, place=place) == 0
    assert Counter(kept(place).values()) == expected(read_corpus(root))


# ------------------------------------------------------------------ export


def whole(place: Path) -> tuple[Any, ...]:
    """Sessions with their battery, speaker and title; responses; participants' records."""
    with Store.open(place, create=False) as store:
        sessions = {
            (one.title, one.conditions.examinee, one.battery_hash, one.conditions.rater)
            for one in store.administrations()
        }
        records = {one.id: one.values for one in store.people.speakers()}
    return sessions, Counter(kept(place).values()), records


def test_an_export_is_the_corpus_again(
    root: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path))
    (tmp_path / "tabwb.toml").write_text("[study]\ncolumns = [{ name = 'speaker' }]\n")
    table = root / "train" / "utterances.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    rows[1][COLUMNS.index("transcript")] = rows[2][COLUMNS.index("correctness")] = ""
    rows[3][COLUMNS.index("transcript")] = "<sil>"
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert run("import", "psst", root, place=place) == 0
    unsplit = next(iter(read_corpus(root).by_speaker))
    assert (
        run("speaker", "set", unsplit, "split=", "age_years=61", 'site="Leeds"', place=place) == 0
    )
    assert run("speaker", "set", unsplit, "speaker=first", place=place) == 0
    speech = [
        Transcribed(
            1, Transcript("ear", "ok", (Segment("D", 0.0, 0.0), Segment("<spn>", 0.0, 0.0)))
        ),
        Transcribed(1, Transcript("hum:a/b", "empty")),
    ]
    with Store.open(place, create=False) as store:
        (trial, *_) = (one for one in store.trials(1) if one.counting)
        store.append(1, [observed(trial.plan.number, each) for each in speech])
    out, again = tmp_path / "out", tmp_path / "again.db"
    words = ("export", "--all", "--format", "psst", "--out", out)
    assert run(*words, place=place) == 1, "who is registered has not agreed to share"
    assert not out.exists()
    assert run(*words, "--within-study", place=place) == 0
    assert run("import", "psst", out, place=again) == 0
    assert whole(again) == whole(place)
    found = {split: read_corpus(out).split(split) for split in ("train", "valid", "test")}
    assert all(found.values())
    assert {one.speaker for one in read_corpus(out).utterances if not one.split} == {unsplit}
    assert (out / "train" / found["train"][0].filename).is_file()


def named_aloud(folder: Path, place: Path) -> Path:
    """Store a session of four responses in one recording; return its battery."""
    plugins = Plugins.load()
    (folder / "battery").mkdir()
    battery = naming_battery(folder / "battery", CUES)
    with Store.open(place) as store:
        given(store, plugins, battery, folder)
    plugins.close()
    return battery


def test_a_chat_folder_fills_records_and_contradictions_stay(
    tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    battery = named_aloud(tmp_path, place)
    values = ("AQ=40.5", "site=Leeds", "sex=female")
    assert run("speaker", "add", "S-014", *values, place=place) == 0
    words = ("export", 1, "--format", "chat", "--within-study", "--out", tmp_path / "out")
    assert run(*words, place=place) == 0
    into = ("import", tmp_path / "out", "--battery", battery)
    again, other = tmp_path / "again.db", tmp_path / "other.db"
    assert run(*into, place=again) == 0
    with Store.open(again, create=False) as store:
        assert store.people.speaker("S-014").values == {
            "AQ": 40.5, "site": "Leeds", "sex": "female"
        }  # fmt: skip
        assert not store.people.consents("S-014") and store.people.speaker("S-014").is_imported
    assert run("speaker", "add", "S-014", "AQ=10", place=other) == 0
    assert (
        run("speaker", "consent", "S-014", "--scope", "record", "--given", "today", place=other)
        == 0
    )
    capsys.readouterr()
    assert run(*into, "--json", place=other) == 0
    differences = json.loads(capsys.readouterr().out)["records"]["differences"]
    assert [(one["column"], one["recorded"]) for one in differences] == [
        ("AQ", 10), ("severity", "very severe")
    ]  # fmt: skip
    with Store.open(other, create=False) as store:
        recorded = store.people.speaker("S-014").values
        assert recorded == {"AQ": 10, "site": "Leeds", "sex": "female"}


def test_a_split_can_be_the_group_and_parts_of_a_recording_are_files(
    tmp_path: Path, place: Path
) -> None:
    again = tmp_path / "again.db"
    named_aloud(tmp_path, place)
    assert run("speaker", "add", "S-014", "group=valid", "AQ=40.5", place=place) == 0
    words = ("export", 1, "--format", "psst", "--within-study", "--out", tmp_path / "out")
    assert run(*words, place=place) == 0
    assert run("import", "psst", tmp_path / "out", place=again) == 0
    corpus = read_corpus(tmp_path / "out")
    assert [(one.split, one.prompt, one.seconds) for one in corpus.utterances] == [
        ("valid", name, 8.0) for name in ("dog", "cat", "tree", "house")
    ]
    with Store.open(again, create=False) as store:
        (one,) = store.administrations()
        assert (one.title, one.session_date) == ("S-014-1", "2026-03-09")
        assert store.people.speaker("S-014").values == {"group": "valid", "AQ": 40.5}
    assert [(row[0], row[2], row[4]) for row in kept(again).values()] == [
        ("S-014", name, (score,))
        for name, score in zip(
            ("dog", "cat", "tree", "house"), ("right",) * 3 + ("error",), strict=True
        )
    ]
