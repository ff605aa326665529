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
from tabwb.records.naming import Scored, Take, Transcribed, observations_of
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.store.store import Store
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
                said = [one for one in observations_of(trial) if isinstance(one, Transcribed)]
                scored = [one for one in observations_of(trial) if isinstance(one, Scored)]
                assert take is not None and take.recording not in found
                found[take.recording] = (
                    given.conditions.examinee, trial.plan.subtest, trial.plan.item,
                    tuple((one.transcript.transcriber, one.transcript.phonemes) for one in said),
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
        assert {one.status for one in given} == {AdministrationStatus.DISCONTINUED}
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
