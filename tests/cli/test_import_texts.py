"""``tabwb import`` of texts without a battery: stored, rated, and deleted like a speaker's data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

SAID = (
    "I went to the store, and then I bought some bread and milk for the family.",
    "The winter was long, so we read books and played cards in the kitchen.",
    "My sister lives in the north and has three children and a small dog.",
)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    rows = [
        "text,id,prompt,source,group,site",
        f'"{SAID[0]}",t1,Tell me about your day.,S-01,aphasia,Ulm',
        f'"{SAID[1]}",t2,What do you like?,S-01,aphasia,Ulm',
        f'"{SAID[2]}",t3,Tell me about your day.,S-02,control group,Bonn',
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_each_source_is_an_administration(run: Run, texts: Path) -> None:
    done = run("import", texts, "--origin", "human", "--json")
    assert done.status == 0, done.err
    one, two = done.document["administrations"]
    assert [(g["examinee"], g["kind"], g["tags"]) for g in (one, two)] == [
        ("S-01", "speaker", ["aphasia"]),
        ("S-02", "speaker", ["control-group"]),
    ]
    assert one["battery"] == two["battery"]
    trials = run("results", 1, "--json").document["trials"]
    first = next(trial for trial in trials if trial["item"] == "tell-me-about-your-day")
    assert first["response"] == SAID[0]
    assert first["attempts"][0]["metadata"] == {"source.id": "t1", "source.site": "Ulm"}
    rated = {r["measure"]: r["status"] for r in first["ratings"] if r["rater"] == "rules-2"}
    assert rated["perseverations"] == "value"
    assert len(rated) == 19


def test_a_deleted_speakers_texts_are_gone(run: Run, texts: Path, tmp_path: Path) -> None:
    assert run("import", texts, "--origin", "human", "--judge", "none").status == 0
    assert run("speaker", "delete", "S-01", "--reason", "withdrawn", "--yes").status == 0
    files = (path for path in (tmp_path / "tabwb-data").rglob("*") if path.is_file())
    stored = b"".join(path.read_bytes() for path in files)
    assert SAID[1].encode() not in stored
    assert SAID[2].encode() in stored


def test_a_registered_speaker_must_have_agreed(run: Run, texts: Path) -> None:
    consent = ("speaker", "consent", "S-02", "--scope", "record", "--withdrawn")
    assert run(*consent).status == 0
    refused = run("import", texts, "--origin", "human")
    assert refused.status == 1
    assert "S-02" in refused.err
    assert run("results", "--json").document["administrations"] == []


@pytest.mark.parametrize(
    ("head", "options", "expected"),
    [
        ("text,source", (), "who gave these answers is not known"),
        ("text,source", ("--origin", "human", "--format", "table"), None),
        ("response,source", (), "there is no column 'item'"),
        ("item,response", (), "the battery whose items were answered is not named"),
        ("text,source", ("--battery", "tab"), "neither items nor prompts are named"),
        ("text,language", ("--model", "m"), "this is not a language"),
    ],
)
def test_what_is_missing_is_said(
    run: Run, tmp_path: Path, head: str, options: tuple[str, ...], expected: str | None
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{head}\nno matter what,S-01\n", encoding="utf-8")
    done = run("import", path, *options)
    assert (done.status == 0) == (expected is None), done.err
    assert expected is None or expected in done.err


def test_each_transcript_of_a_folder_is_known_when_it_comes_again(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "more").mkdir(parents=True)
    for place, gem in (("S-31.cha", "Flood"), ("more/S-32.cha", "Cat")):
        tiers = f"@G:\t{gem}\n*PAR:\tI [/] I went (.) home with the dog .\n"
        (folder / place).write_text(f"@UTF8\n@Begin\n{tiers}@End\n", encoding="utf-8")
    done = run("import", folder, "--judge", "none", "--json")
    assert done.status == 0, done.err
    given = done.document["administrations"]
    assert [(one["examinee"], one["answered"], one["planned"]) for one in given] == [
        ("S-31", 1, 2),
        ("S-32", 1, 2),
    ]
    (whence, dropped, lacks) = run("results", 1, "--json").document["administration"]["notes"]
    assert whence.startswith("Imported from S-31.cha (SHA-256 ")
    assert dropped == "Dropped from the transcript: 1 pause."
    assert lacks == "The transcript lacks @Participants."
    trials = run("results", 1, "--json").document["trials"]
    rated = {r["measure"]: r["value"] for t in trials for r in t["ratings"]}
    assert (rated["retracing"], rated["false-starts"], rated["jargon"]) == (0.0, 0.0, None)
    again = run("import", folder / "S-31.cha")
    assert "S-31 are in the store already: administration 1" in again.err
    assert run("import", folder, "--again", "--judge", "none").status == 0


def test_one_speaker_is_named_for_a_folder_of_chat_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(20):
        said = f"*INV:\ttell me .\n*PAR:\twe went to the lake {number} times .\n"
        (folder / f"s{number:02}.cha").write_text(f"@UTF8\n@Begin\n{said}@End\n", encoding="utf-8")
    run("speaker", "add", "P1")
    consent = ("speaker", "consent", "P1", "--scope", "record", "--given", "2026-11-01")
    assert run(*consent, "--document", "binder 4").status == 0
    named = ("--speaker", "P1", "--judge", "none", "--json")
    (alone,) = run("import", folder / "s00.cha", *named).document["administrations"]
    assert (alone["examinee"], alone["answered"]) == ("P1", 1)
    (folder / "s00.cha").unlink()
    done = run("import", folder, *named)
    assert done.status == 0, done.err
    given = done.document["administrations"]
    assert {one["examinee"] for one in given} == {"P1"}
    assert sum(one["answered"] for one in given) == 19
