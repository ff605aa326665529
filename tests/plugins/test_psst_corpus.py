"""Reading the PSST corpus: what is there, and what is left out with its place."""

from __future__ import annotations

import wave
from collections import Counter
from pathlib import Path

import pytest
from tabwb_psst.corpus import COLUMNS, SPLITS, read_corpus, speaker_of
from tabwb_psst.importing import PsstImporter
from tabwb_psst.made import PROMPTS, TESTS, TWICE, WORDS, made_psst

from tabwb.phonology.corpus import read_accepted
from tabwb.records.errors import TabwbError, UsageError
from tabwb.tasks.spoken_naming.giving import made_battery
from tabwb.tasks.spoken_naming.imports import item_names, items_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made_psst(tmp_path / "psst", speakers=10, utterances=60, sounds=False)


def lines(root: Path, split: str = "train") -> list[list[str]]:
    text = (root / split / "utterances.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def changed(root: Path, row: int, split: str = "train", **cells: str) -> str:
    """Change cells of an utterance, 1-based; return its place."""
    rows = lines(root, split)
    for name, value in cells.items():
        rows[row][COLUMNS.index(name)] = value
    path = root / split / "utterances.tsv"
    path.write_text("".join("\t".join(one) + "\n" for one in rows), encoding="utf-8")
    return f"{path}:{row + 1}"


def test_everything_is_read_as_it_was_made(root: Path) -> None:
    corpus = read_corpus(root)
    assert corpus.problems == ()
    assert len(corpus.utterances) == 60 and len(corpus.by_speaker) == 10
    assert corpus.merged == dict.fromkeys(TWICE, 1)
    assert set(corpus.accepted) == set(PROMPTS)
    assert all(WORDS[prompt] in forms for prompt, forms in corpus.accepted.items())
    assert all(TESTS[prompt] == test for prompt, test in corpus.prompts.items())
    for split in SPLITS:
        own = corpus.split(split)
        assert [one.id for one in own] == [row[0] for row in lines(root, split)[1:]]
    first = corpus.split("train")[0]
    with wave.open(str(first.sound)) as file:
        assert first.frames == file.getnframes() and first.seconds == first.frames / 16_000
    assert {one.correct for one in corpus.utterances} == {True, False}


def test_two_sessions_are_one_speaker(root: Path) -> None:
    corpus = read_corpus(root)
    sessions = {one.speaker: set[str]() for one in corpus.utterances}
    for one in corpus.utterances:
        sessions[one.speaker].add(one.session)
    assert Counter(map(len, sessions.values())) == {1: 9, 2: 1}


def test_the_speaker_of_a_session_has_no_letter() -> None:
    assert speaker_of("wright201a") == "wright201"
    assert speaker_of("adler01b") == "adler01"
    assert speaker_of("someone") == "someone"


def test_a_folder_that_is_not_psst_says_which_files_it_misses(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read_corpus(tmp_path)
    for split in SPLITS:
        assert str(tmp_path / split / "utterances.tsv") in (raised.value.hint or "")
    with pytest.raises(UsageError):
        read_corpus(tmp_path / "nowhere")


def test_a_missing_split_and_missing_pronunciations_are_told(root: Path) -> None:
    (root / "valid" / "utterances.tsv").unlink()
    (root / "correctness.json").unlink()
    corpus = read_corpus(root)
    assert [Path(problem.where).name for problem in corpus.problems] == [
        "utterances.tsv", "correctness.json",
    ]  # fmt: skip
    assert corpus.problem_counts == {"files": 2} and not corpus.split("valid")


def test_a_table_without_a_column_is_refused_at_its_first_line(root: Path) -> None:
    path = root / "test" / "utterances.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("aq_index", "aq"), encoding="utf-8")
    with pytest.raises(UsageError, match="aq_index") as raised:
        read_corpus(root)
    assert raised.value.where == f"{path}:1"


def test_what_cannot_be_used_is_left_out_with_its_place(root: Path) -> None:
    whole = len(read_corpus(root).utterances)
    names = [row[COLUMNS.index("filename")] for row in lines(root)]
    (root / "train" / names[3]).unlink()
    with wave.open(str(root / "train" / names[5]), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
    (root / "train" / names[9]).write_bytes(b"this is no sound")
    places = {
        changed(root, 1, transcript="D AO QQ"): "labels",
        changed(root, 2, filename=""): "sounds",
        changed(root, 3): "sounds",
        changed(root, 4, duration_frames="0"): "0 s",
        changed(root, 5): "0 s",
        changed(root, 6, correctness="maybe"): "lines",
        changed(root, 7, prompt=""): "lines",
        changed(root, 8, utterance_id=lines(root)[10][0]): "",
        changed(root, 9): "sounds",
        changed(root, 10): "ids twice",
        changed(root, 11, filename="../../elsewhere.wav"): "sounds",
        changed(root, 12, aq_index="high"): "lines",
        changed(root, 13, filename="/etc/hostname"): "sounds",
    }
    corpus = read_corpus(root)
    told = {problem.where: problem.kind for problem in corpus.problems}
    assert told == {where: kind for where, kind in places.items() if kind}
    assert len(corpus.utterances) == whole - len(told)


def test_names_that_no_file_or_person_can_have_are_left_out(root: Path) -> None:
    whole = len(read_corpus(root).utterances)
    places = {
        changed(root, 1, filename="x" * 5000): "sounds",
        changed(root, 2, session="Jane Doe"): "lines",
        changed(root, 3, prompt="x" * 5000): "lines",
        changed(root, 4, test="x" * 5000): "lines",
        changed(root, 5, transcript="HH AW " * 5000): "labels",
    }
    corpus = read_corpus(root)
    assert {one.where: one.kind for one in corpus.problems} == places
    assert len(corpus.utterances) == whole - 5


def test_tests_and_prompts_with_the_same_letters_have_items_of_their_own(root: Path) -> None:
    for row, (test, prompt) in enumerate(
        [("A B", "dog"), ("A-B", "dog"), ("A B", "dog!"), ("A B", "dog-2"), ("A B", "x " * 60)], 1
    ):
        changed(root, row, test=test, prompt=prompt)
    read = PsstImporter().read(root, {})
    battery = made_battery(read.battery)
    names, places = items_of(battery), item_names(battery)

    def said_to(name: str) -> tuple[str, object]:
        test, item = places[names[name.casefold()]]
        subtest = battery.subtest(test)
        return subtest.title, subtest.item(item).extra["target"]

    table = {one.sound: (one.test, one.prompt) for one in read_corpus(root).utterances}
    given = [one for session in read.sessions for one in session.responses]
    assert {one.sound: said_to(one.item) for one in given} == table


def test_a_speaker_is_in_the_split_of_most_of_its_utterances(root: Path) -> None:
    kept = lines(root)[1][COLUMNS.index("session")]
    where = changed(root, 1, split="test", session=kept, utterance_id=f"{kept}-VNT37-other")
    corpus = read_corpus(root)
    (problem,) = corpus.problems
    assert (problem.kind, problem.where) == ("splits", where)
    assert {one.split for one in corpus.by_speaker[speaker_of(kept)]} == {"train"}
    assert len(corpus.utterances) == 59


def test_speakers_that_differ_in_capitals_are_told_and_in_one_split(root: Path) -> None:
    kept = lines(root)[1][COLUMNS.index("session")]
    own = sum(row[1] == kept for row in lines(root))
    same = changed(root, 2, session=kept.swapcase(), utterance_id="x-VNT37-other")
    other = changed(root, 1, split="test", session=kept.swapcase(), utterance_id="y-VNT37-other")
    corpus = read_corpus(root)
    assert [(one.kind, one.where) for one in corpus.problems] == [
        ("speakers", same), ("splits", other),
    ]  # fmt: skip
    assert corpus.left_out == {"splits": 1}
    assert {one.split for one in corpus.by_speaker[speaker_of(kept.swapcase())]} == {"train"}
    assert own and len(corpus.utterances) == 59


def test_a_control_character_is_one_line(root: Path) -> None:
    where = changed(root, 1, prompt="d\x1bog")
    corpus = read_corpus(root)
    assert [(one.kind, one.where) for one in corpus.problems] == [("lines", where)]
    assert len(corpus.utterances) == 59
    changed(root, 0, prompt="prom\x1bpt")
    with pytest.raises(TabwbError):
        read_corpus(root)


def test_an_empty_transcript_is_none_and_silence_is_empty(root: Path) -> None:
    changed(root, 1, transcript="")
    changed(root, 2, transcript="<sil>")
    first, second, *_ = read_corpus(root).split("train")
    assert first.transcript is None and second.transcript == ()


@pytest.mark.parametrize("text", ["[]", "{", '"house"'])
def test_a_list_of_pronunciations_that_cannot_be_read_is_refused(root: Path, text: str) -> None:
    other = root / "other.json"
    other.write_text(text, encoding="utf-8")
    with pytest.raises(TabwbError) as raised:
        read_corpus(root, other)
    assert raised.value.where == str(other)


def test_pronunciations_outside_the_inventory_and_prompts_without_are_told(root: Path) -> None:
    other = root / "other.json"
    other.write_text('{"House": ["HH AW S", "HH QQ S", "HH AW1 S"]}', encoding="utf-8")
    corpus = read_corpus(root, other)
    assert corpus.accepted == {"house": (("HH", "AW", "S"),)} and corpus.merged == {"house": 1}
    others = len(corpus.prompts) - 1
    assert corpus.problem_counts == {"accepted pronunciations": 1 + others}


def test_a_single_pronunciation_needs_no_list_and_an_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    file.write_text('{"Dog": "D AO G"}', encoding="utf-8")
    assert read_accepted(file) == {"dog": [("D", "AO", "G")]}
    file.write_text('{"dog": ["QQ"]}', encoding="utf-8")
    with pytest.raises(TabwbError) as raised:
        read_accepted(file)
    assert raised.value.where == str(file)


def test_a_duration_that_is_not_that_of_the_sound_is_told_and_the_sound_counts(root: Path) -> None:
    first, second, third, *_ = read_corpus(root).split("train")
    where = changed(root, 1, duration_frames=str(first.frames + 16_000))
    changed(root, 2, duration_frames=str(second.frames + 16))
    absurd = changed(root, 3, duration_frames="1e30")
    corpus = read_corpus(root)
    assert {one.where: one.kind for one in corpus.problems} == dict.fromkeys(
        (where, absurd), "durations"
    )
    assert (corpus.problem_counts, corpus.left_out) == ({"durations": 2}, {})
    assert [one.frames for one in corpus.split("train")[:3]] == [
        first.frames, second.frames + 16, third.frames,
    ]  # fmt: skip
    unheard = read_corpus(root, sounds=False)
    assert [(one.where, one.kind) for one in unheard.problems] == [(absurd, "lines")]
    assert len(unheard.utterances) == len(corpus.utterances) - 1


def test_a_row_with_too_few_or_too_many_cells_is_left_out(root: Path) -> None:
    path = root / "train" / "utterances.tsv"
    rows = lines(root)
    rows[1].pop()
    rows[3].append("more")
    path.write_text("".join("\t".join(one) + "\n" for one in rows), encoding="utf-8")
    corpus = read_corpus(root)
    assert [(one.where, one.kind) for one in corpus.problems] == [
        (f"{path}:{number}", "lines") for number in (2, 4)
    ]
    assert len(corpus.utterances) == 58


def test_a_file_is_not_called_a_missing_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file"):
        read_corpus(tmp_path / "file")
