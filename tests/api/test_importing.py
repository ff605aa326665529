"""``tabwb.import_answers``: answers made elsewhere become administrations."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.administer.answers import importing
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("item,text\nw1,dog\nw2,wall\ns1,house.\n", encoding="utf-8")
    return path


def test_answers_of_a_table_are_scored(answers: Path, battery_file: Path, tmp_path: Path) -> None:
    (given,) = tabwb.import_answers(
        answers, battery_file, model="elsewhere", columns={"response": "text"}, judges=[],
        store=tmp_path / "s.db",
    )  # fmt: skip
    assert given.status == "done" and given.record.conditions.examinee == "imported:elsewhere"
    table = given.responses().select(["item", "response", "exact"])
    assert list(table.rows()) == [
        ("w1", "dog", True), ("w2", "wall", False), ("s1", "house.", True)
    ]  # fmt: skip


def test_what_is_left_out_is_a_warning(answers: Path, battery_file: Path, tmp_path: Path) -> None:
    answers.write_text("item,response\nw1,dog\nw9,cat\n", encoding="utf-8")
    with pytest.warns(tabwb.TabwbWarning) as told:
        tabwb.import_answers(
            answers, battery_file, model="m", skip_unknown=True, judges=[], store=tmp_path / "s.db"
        )
    texts = [str(one.message) for one in told]
    assert any("'w9'" in text for text in texts) and any("without an answer" in t for t in texts)
    assert told[0].filename == __file__


def test_a_file_of_another_format_is_refused(battery_file: Path, tmp_path: Path) -> None:
    for wrong, content in (("no.csv", None), ("picture.png", b"PNG")):
        path = tmp_path / wrong
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(tabwb.TabwbError, match=wrong):
            tabwb.import_answers(path, battery_file, model="m", store=tmp_path / "s.db")
    assert not (tmp_path / "s.db").exists()


def test_two_imports_at_once_store_a_file_once(
    answers: Path, battery_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, check = threading.Barrier(2), importing.check_new
    first = threading.local()

    def check_together(*given: Any) -> None:
        check(*given)
        if not hasattr(first, "done"):  # both find that the store does not have the answers
            first.done = both.wait()

    monkeypatch.setattr(importing, "check_new", check_together)
    store = tmp_path / "s.db"

    def read(_: int) -> int | str:
        try:
            (made,) = tabwb.import_answers(
                answers, battery_file, columns={"response": "text"}, judges=[], model="m",
                store=store,
            )  # fmt: skip
        except tabwb.UsageError as error:
            return error.message
        return made.id

    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(read, range(2)), key=str)
    assert told[0] == 1 and "administration 1" in str(told[1])
    with Store.open(store) as opened:
        assert len(opened.administrations()) == 1


@pytest.mark.parametrize("who", [{"model": "m"}, {"speaker": "S-1"}])
def test_a_file_is_not_imported_twice(
    who: dict[str, Any], answers: Path, battery_file: Path, tmp_path: Path
) -> None:
    store = tmp_path / "s.db"

    def read(again: bool = False, **given: Any) -> list[tabwb.Administration]:
        return tabwb.import_answers(
            answers, battery_file, columns={"response": "text"}, judges=[],
            research_protocol="P-1" if "speaker" in given else None,
            again=again, store=store, **given,
        )  # fmt: skip

    (first,) = read(**who)
    with pytest.raises(tabwb.TabwbError, match=rf"(?s)administration {first.id}\b.*--again"):
        read(**who)
    assert [one.id for one in read(again=True, **who)] == [2]
    other: dict[str, Any] = {key: f"{name}-2" for key, name in who.items()}
    assert [one.id for one in read(**other)] == [3]
    answers.write_text("item,text\nw1,dog\n", encoding="utf-8")
    with pytest.warns(tabwb.TabwbWarning, match="without an answer"):
        assert [one.id for one in read(**who)] == [4]


def test_spoken_naming_is_imported_session_by_session(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    folder, store = tmp_path / "psst", tmp_path / "s.db"
    folder.mkdir()
    (folder / "utterances.tsv").write_text(
        "utterance_id\tsession\tprompt\ttranscript\tcorrectness\tsession_date\n"
        "u1\tS-014\tdog\tD AO G\tTRUE\t2026-03-09\nu2\tS-014\tcat\tD AO G\tFALSE\t2026-03-09\n"
        "u3\tS-015\tdog\tD AO\tFALSE\t2026-03-10\n",
        encoding="utf-8",
    )
    battery = naming_battery(tmp_path)
    with pytest.warns(tabwb.TabwbWarning, match="no consent of speaker S-014.*S-015") as told:
        given = tabwb.import_naming(folder, battery, origin="human", rater="R2", store=store)
    assert {one.filename for one in told} == {__file__}
    conditions = [one.record.conditions for one in given]
    assert [(one.examinee, one.session_date, one.rater) for one in conditions] == [
        ("S-014", "2026-03-09", "R2"), ("S-015", "2026-03-10", "R2"),
    ]  # fmt: skip
    with tabwb.open(store) as study:
        rated = {
            row["item"]: row["value"]
            for row in study.ratings(1).to_dicts()
            if row["measure"] == "correct-any" and row["rater"].endswith("R2")
        }
        right = study.results(1).where(measure="correct-any").to_dicts()
    assert rated == {"dog": 1.0, "cat": 0.0}
    assert [(row["part"], row["value"], row["n"], row["n_items"]) for row in right] == [
        ("nouns", 0.5, 2, 2)
    ]
    assert right[0]["low"] == pytest.approx(1 - 0.975**0.5)  # 1 of 2: 1 - (1 - low)^2 = .025
    with pytest.raises(tabwb.UsageError, match="the source has 2 sessions"):
        tabwb.import_naming(folder, battery, speaker="S-014", store=store)
    with pytest.raises(tabwb.UsageError, match=r"(?s)administration 2.*again=True"):
        tabwb.import_naming(folder, battery, session="S-015", origin="human", store=store)
    with pytest.warns(tabwb.TabwbWarning):
        (one,) = tabwb.import_naming(folder, battery, session="S-015", again=True, store=store)
    assert one.id == 3
    with pytest.raises(tabwb.UsageError, match="'word' is not a tier"):
        tabwb.import_naming(folder, battery, tiers={"word": "Wort"}, store=store)


def test_texts_and_their_ratings_are_imported(tmp_path: Path) -> None:
    texts, ratings = tmp_path / "texts.csv", tmp_path / "ratings.csv"
    texts.write_text("id,text,model\nt1,It rained all day long.,m\n", encoding="utf-8")
    ratings.write_text("response,rater,measure,value\nt1,R1,anomia,yes\n", encoding="utf-8")
    store = tmp_path / "s.db"
    (given,) = tabwb.import_answers(texts, judges=[], store=store)
    assert tabwb.import_ratings(ratings, "pilot", store=store) == "pilot"
    with tabwb.open(store) as study:
        rated = study.ratings(given.id).where(rater="R1", measure="anomia")
        assert rated["value"].to_list() == [1.0]
    with pytest.raises(tabwb.UsageError, match="a rating set 'pilot' already exists"):
        tabwb.import_ratings(ratings, "pilot", store=store)


def test_the_studys_code_takes_the_place_of_a_transcripts_own(tmp_path: Path) -> None:
    for name in ("adler01a", "adler01b"):
        head = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR adler01 Participant\n"
        (tmp_path / f"{name}.cha").write_text(f"{head}*PAR:\ta dog ran {name} .\n@End\n")
    made = tabwb.import_answers(tmp_path, speaker="S-014", store=tmp_path / "s.db")
    assert [one.to_dict()["administration"]["examinee"] for one in made] == ["S-014", "S-014"]
