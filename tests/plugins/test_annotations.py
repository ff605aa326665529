"""Spoken naming in TextGrid, EAF, CHAT and the PSST table, read back with the usual readers."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tabwb_interchange.chat_file import read_chat

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import export_document
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.naming import RecordingBegan, RecordingEnded
from tabwb.records.speakers import Study
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.testing import check_exporter
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.scoring.naming_parts import timed

Json = dict[str, object]


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load()
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty seconds of silence."""
    soundfile = pytest.importorskip("soundfile")
    path = tmp_path_factory.mktemp("sound") / "r1.wav"
    soundfile.write(path, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
    return path


@contextmanager
def naming(plugins: Plugins, sound: Path, folder: Path) -> Iterator[tuple[Session, Json]]:
    """A session of spoken naming with one recording; its document is filled at the end."""
    document: Json = {}
    with Store.open(folder / "naming.db") as store:
        battery = setup.find_battery(plugins, str(naming_battery(folder)))
        conditions = Conditions("S-014", "speaker", judges=(), rater="R1")
        with create_naming(
            store, plugins, battery, setup.resolve(plugins, battery, conditions)
        ) as session:
            spoken = spoken_in(session)
            spoken.keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
            yield session, document
            spoken.keep(None, RecordingEnded("r1", spoken.recordings.keep("r1", sound), 40.0))
            if session.current is None:
                spoken.show(shown(39.0))
        document |= export_document(load_administrations(store, (1,), sound=True))


@pytest.fixture(scope="module")
def whole(plugins: Plugins, sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """One recording of 40 s: dog right, cat after dog, tree a nonword, house silence."""
    with naming(plugins, sound, tmp_path_factory.mktemp("naming")) as (session, document):
        _name(session, 0.0, "right", "D AO G")
        _name(session, 10.0, "self-corrected", "D AO G", "K AE T")
        spoken_in(session).listening.hear("dog")
        spoken_in(session).listening.code("semantic")
        session.corrections.note("looked away")
        _name(session, 20.0, "error", "T R OY B")
        _name(session, 30.0, "no-response")
    return document


@pytest.fixture
def document(whole: Json) -> Json:
    return deepcopy(whole)


def _name(session: Session, at_s: float, score: str, *attempts: str) -> None:
    spoken_in(session).show(shown(at_s))
    spoken_in(session).score(score, take=take(at_s, seconds=8.0))  # type: ignore[arg-type]
    assert session.current is not None
    spoken_in(session).transcribed(session.current.plan.number, 1, heard(*attempts))


def _export(plugins: Plugins, format_id: str, document: Json, out: Path) -> Path:
    plugins.exporter(format_id).export(document, out)
    return out


SAID = [
    (0.5, 0.8, "D AO G"), (10.5, 10.8, "D AO G"), (12.3, 12.6, "K AE T"), (20.5, 20.9, "T R OY B"),
    (30.0, 38.0, "<sil>"),
]  # fmt: skip


def test_a_textgrid_is_what_praat_reads_and_its_recording_lies_beside_it(
    plugins: Plugins, document: Json, sound: Path, tmp_path: Path
) -> None:
    from praatio import textgrid

    out = _export(plugins, "textgrid", document, tmp_path / "grids")
    (path,), (copy,) = out.glob("*.TextGrid"), out.glob("*.wav")
    assert (copy.read_bytes(), copy.stem) == (sound.read_bytes(), path.stem)
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=False)
    said = [(round(e.start, 3), round(e.end, 3), e.label) for e in grid.getTier("attempt").entries]
    assert said == SAID
    labels = {name: [e.label for e in grid.getTier(name).entries] for name in grid.tierNames}
    assert labels["ipa"] == ["dɔɡ", "dɔɡ", "kæt", "trɔɪb"]
    assert labels["item"] == ["dog", "cat", "tree", "house"]
    assert labels["heard"] == ["dog"]
    assert labels["code"][1] == "semantic (person:R1)"
    assert len(labels["phoneme"]) == 13


def test_an_eaf_is_what_elan_reads(plugins: Plugins, document: Json, tmp_path: Path) -> None:
    from pympi.Elan import Eaf

    out = _export(plugins, "eaf", document, tmp_path / "elan")
    (path,) = out.glob("*.eaf")
    eaf = Eaf(str(path))
    said = sorted(eaf.get_annotation_data_for_tier("attempt"))
    assert [(each[0] / 1000, each[1] / 1000, each[2]) for each in said] == SAID
    (link,) = eaf.get_linked_files()
    assert (out / link["RELATIVE_MEDIA_URL"]).is_file()


def test_chat_codes_errors_on_the_main_tier(
    plugins: Plugins, document: Json, tmp_path: Path
) -> None:
    out = _export(plugins, "chat", document, tmp_path / "chat")
    (path,) = out.glob("*.cha")
    lines = path.read_text(encoding="utf-8").splitlines()
    spoken = [line.split("\x15")[0].strip() for line in lines if line.startswith("*PAR:")]
    assert spoken == [
        "*PAR:\tdog .",
        "*PAR:\tdog [: cat] [* s:r] [//] cat .",
        "*PAR:\ttrɔɪb@u [: tree] [* p:n] .",
        "*PAR:\t0 .",
    ]
    assert [line for line in lines if line.startswith("%pho")] == [
        "%pho:\tdɔɡ",
        "%pho:\tdɔɡ kæt",
        "%pho:\ttrɔɪb",
    ]
    by = str(document["documents"][0]["trials"][0]["naming"]["transcripts"][0]["transcriber"])  # type: ignore[index]
    assert sum(f"transcribed by {by}" in line for line in lines) == 4
    assert lines[:2] == ["@UTF8", "@Begin"]
    assert lines[-1] == "@End"
    assert any(line.startswith("%com:") and "looked away" in line for line in lines)
    assert f"@Media:\t{next(out.glob('*.wav')).stem}, audio" in lines


def _said(
    attempts: list[str], heard: str | None = None, target: str = "dog", **known: object
) -> Json:
    """A response to a picture of a dog: what the rules make of it, and what a person says."""
    forms = (Accepted(("D", "AO", "G"), "citation"),)
    found = propose_response(
        NamingTarget(target=target, accept=forms, semantic=("puppy",)),
        timed(" 1.2 ".join(attempts)),
        heard=parse_heard(heard) if heard else None,
    )
    spoken = [
        {
            **{"phonemes": list(one.phonemes), "complete": one.complete},
            **{"heard": said.word or None, "by_ear": said.ear},
            "code": None if proposal is None else proposal.code,
        }
        for one, said, proposal in zip(found.attempts, found.readings, found.proposals, strict=True)
    ]
    segments = [
        {"phoneme": one.phoneme, "start_s": one.start_s, "end_s": one.end_s}
        for one in timed(" 1.2 ".join(attempts))
    ]
    transcript = {
        "status": "ok" if attempts else "empty",
        "phonemes": [one["phoneme"] for one in segments],
        "segments": segments,
    }
    none = dict.fromkeys(("score", "code", "code_by", "start_s"))
    given = {"target": target, "accepted": ["D AO G"], "attempts": spoken, "heard": heard}
    empty: dict[str, list[object]] = {"marks": [], "examiner": []}
    proposed = found.proposal.to_json()
    rest = {"transcripts": [transcript], "by_ear": heard is not None, "proposed": proposed}
    return {**none, **given, **empty, **rest, **known}


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (_said(["D OW"], score="right"), "dog"),
        (_said([], score="right"), "dog"),
        (_said(["K AE T", "D OW"], score="self-corrected"), "kæt@u [: dog] [//] dog"),
        (_said(["D AO G"], score="error"), "dɔɡ@u [: dog]"),
        (_said(["K", "D AO G"]), "&+k [//] dog"),
        (_said(["K AE T"], heard="Cat"), "cat [: dog]"),
        (_said(["AY D OW N OW"], heard="I don't know"), "I don't know"),
        (_said(["K AE T"], heard="K AE P"), "kæp@u [: dog]"),
        (_said(["K AE T", "B AE T"], heard="cat"), "cat [: dog] [//] bæt@u [: dog]"),
        (_said(["K AE T", "B AE T"], heard="bee", score="error"), "bee [: dog] [//] bæt@u [: dog]"),
        (_said(["K AE T"], heard="cat (or cut)"), "cat or cut"),
        (_said(["D AO G", "B AO R K S"], score="right"), "dog [//] bɔrks@u [: dog] [* p:n]"),
        (_said(["D AO G", "B AO R"], score="self-corrected", heard="bow"), "bow [: dog] [//] dog"),
        (_said([]), "0"),
        (_said(["<spn>"]), "xxx"),
        (_said(["AH D AO G"]), "dog"),
        (_said(["D AO G Z"]), "dog"),
        (_said(["<unk>", "D AO G"]), "dog"),
        (_said([], heard="xxx, dog"), "xxx [//] dog"),
        (_said(["ER M", "D AO G"], heard="um, dog"), "&-um [//] dog"),
        (
            _said([], heard="um, it's a, cat, puppy"),
            "&-um [//] it's a [//] cat [: dog] [//] puppy [: dog] [* s:r]",
        ),
        (_said([], heard="D AO V <sil> /k/"), "dɔv@u [: dog] [* p:n] [//] &+k"),
        (_said([], heard="d-, puppy, dog"), "&+d [//] puppy [: dog] [* s:r] [//] dog"),
        (_said(["IH T S AH D AO G"], heard="it's a dog", score="right"), "it's a dog"),
        (
            _said(["IH T S AH K AE T"], heard="um it's a cat", code="semantic"),
            "&-um it's a cat [: dog] [* s:r]",
        ),
        (_said(["K AE T"], heard="cat", code="mixed"), "cat [: dog] [* s:r] [* p:w]"),
        (_said(["K AE T", "B AE T"], code="formal"), "kæt@u [: dog] [* p:w] [//] bæt@u [: dog]"),
        (
            _said(["K AE T", "B AE T"], heard="cat, bat", code="semantic"),
            "cat [: dog] [* s:r] [//] bat [: dog]",
        ),
        (_said(["K AE T", "K"], heard="cat", target="hot dog"), "cat [//] &+k"),
        (_said(["HH AA T"], score="right", target="hot dog"), "hot_dog"),
    ],
)
def test_a_persons_word_goes_before_a_machines_in_chat(said: Json, line: str) -> None:
    from tabwb_annotations.chat import main_tier

    assert main_tier(said).line == line


def test_what_a_person_heard_is_not_told_as_the_transcribers(
    plugins: Plugins, sound: Path, tmp_path: Path
) -> None:
    textgrid = pytest.importorskip("praatio.textgrid")
    with naming(plugins, sound, tmp_path) as (session, document):
        _name(session, 0.0, "error", "D AO")
        spoken_in(session).listening.hear("cat, kitten")
    (grid,) = _export(plugins, "textgrid", document, tmp_path / "grids").glob("*.TextGrid")
    tiers = textgrid.openTextgrid(str(grid), includeEmptyIntervals=False)
    assert [e.label for e in tiers.getTier("attempt").entries] == ["D AO"]
    assert [e.label for e in tiers.getTier("heard").entries] == ["cat, kitten"]
    (chat,) = _export(plugins, "chat", document, tmp_path / "chat").glob("*.cha")
    text = chat.read_text(encoding="utf-8")
    assert "%pho" not in text and ": dɔ;" in text
    table = _export(plugins, "attempts", document, tmp_path / "attempts.csv")
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["item"] == "dog"]
    assert [(row["attempt_heard"], row["by_ear"]) for row in rows] == [
        ("cat", "true"), ("kitten", "true"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "heard", "code", "comment"),
    [
        # One attempt was not a name: it is what was heard. The last was scored no response.
        (1, "cut", "formal", "code formal by person:R1"),
        (2, "tree (or three)", None, "heard tree (or three) by person:R1"),
        (3, "well", "unrelated", "heard well by person:R1; code unrelated by person:R1"),
    ],
)
def test_what_has_no_place_on_the_main_tier_is_said_below(
    plugins: Plugins,
    document: Any,
    tmp_path: Path,
    number: int,
    heard: str,
    code: str | None,
    comment: str,
) -> None:
    naming = document["documents"][0]["trials"][number]["naming"]
    naming |= {"heard": heard, "code": code, "code_by": code and "person:R1"}
    naming["raters"] = [{**naming["raters"][0], "heard": heard, "code": code}]
    (path,) = _export(plugins, "chat", document, tmp_path / "chat").glob("*.cha")
    *_, given = path.read_text(encoding="utf-8").split("@G:")[: number + 2]
    assert comment in given
    assert ("heard" in given) == (number != 1)


def test_chat_is_what_rustling_reads(plugins: Plugins, document: Json, tmp_path: Path) -> None:
    rustling = pytest.importorskip("rustling.chat")
    administration = document["documents"][0]["administration"]  # type: ignore[index]
    administration["speaker"] = {"age_years": 61, "group": "Anomic", "AQ": 82.8}
    administration["session_date"] = "2024-03-09"
    out = _export(plugins, "chat", document, tmp_path / "chat")
    (path,) = out.glob("*.cha")
    read = rustling.CHAT.from_files([str(path)])
    (header,) = read.headers()
    person = next(each for each in header.participants if each.code == "PAR")
    assert (person.name, person.group, person.custom) == ("S-014", "Anomic", "82.8")
    assert person.role == "Participant"
    assert header.date == datetime.date(2024, 3, 9)
    assert (header.media["filename"], header.media["format"]) == (path.stem, "audio")
    spoken = [each for each in read.utterances() if each.participant == "PAR"]
    assert [each.time_marks for each in spoken] == [
        (0, 8000), (10000, 18000), (20000, 28000), (30000, 38000),
    ]  # fmt: skip
    assert [each.tiers["PAR"].split(" .")[0] for each in spoken] == [
        "dog", "dog [: cat] [* s:r] [//] cat", "trɔɪb@u [: tree] [* p:n]", "0",
    ]  # fmt: skip
    assert [each.tiers.get("%pho") for each in spoken] == ["dɔɡ", "dɔɡ kæt", "trɔɪb", None]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"age_years": 61, "sex": "male"},
        {
            "AQ": 82.8, "age_years": 58.53, "sex": "female", "group": "Anomic", "SES": "MC",
            "education": "16", "language": "fra", "corpus": "Adler", "role": "Participant",
        },
        {"age_years": 44.5, "custom": "right-handed"},
    ],
)  # fmt: skip
def test_the_record_comes_back_from_the_headers_of_chat(
    plugins: Plugins, document: Json, tmp_path: Path, record: dict[str, Any]
) -> None:
    document["documents"][0]["administration"]["speaker"] = record  # type: ignore[index]
    (path,) = _export(plugins, "chat", document, tmp_path / "chat").glob("*.cha")
    person = read_chat(path.read_text(encoding="utf-8"), path.name).participants["PAR"]
    known = {"language": "eng", "corpus": "pictures", "role": "Participant", **record}
    assert Study().read(person.record) == known


def test_several_recordings_of_a_session_are_one_sound_file_for_chat(
    plugins: Plugins, document: Json, tmp_path: Path
) -> None:
    import soundfile

    one = document["documents"][0]  # type: ignore[index]
    (recording,) = one["recordings"]
    parts = []
    for number, trial in enumerate(one["trials"], start=1):
        sound = tmp_path / f"{number}.wav"
        rate = 8_000 * number
        soundfile.write(sound, np.full(2 * rate, number / 10, dtype=np.float32), rate)
        parts.append({**recording, "uid": f"p{number}", "seconds": 2.0, "file": str(sound)})
        trial["naming"] |= {"recording": f"p{number}", "start_s": 0.0, "end_s": 2.0}
    one["recordings"] = parts
    out = _export(plugins, "chat", document, tmp_path / "chat")
    (path,) = out.glob("*.cha")
    (sound,) = out.glob("*.wav")
    text = path.read_text(encoding="utf-8")
    assert f"@Media:\t{sound.stem}, audio" in text
    assert [line.split("\x15")[1] for line in text.splitlines() if "\x15" in line] == [
        "0_2000", "2000_4000", "4000_6000", "6000_8000",
    ]  # fmt: skip
    samples, rate = soundfile.read(sound)
    assert (rate, len(samples)) == (32_000, 8 * 32_000)
    middles = [samples[round((second + 1) * rate)] for second in (0, 2, 4, 6)]
    assert middles == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-3)
    assert "one after the other" in (out / "README.txt").read_text(encoding="utf-8")


def test_what_a_machine_heard_in_silence_is_no_tier_of_it(
    plugins: Plugins, document: Json, tmp_path: Path
) -> None:
    naming = document["documents"][0]["trials"][0]["naming"]  # type: ignore[index]
    naming["score"] = "no-response"
    (path,) = _export(plugins, "chat", document, tmp_path / "chat").glob("*.cha")
    first = path.read_text(encoding="utf-8").split("@G:")[1]
    assert "*PAR:\t0 ." in first and "%pho" not in first and ": dɔɡ" in first


def test_the_psst_layout_has_a_line_for_each_response(
    plugins: Plugins, document: Json, tmp_path: Path
) -> None:
    document["documents"][0]["administration"]["speaker"] = {"AQ": 82.8}  # type: ignore[index]
    out = _export(plugins, "psst", document, tmp_path / "psst")
    rows, heard = (
        list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
        for path in (out / "unsplit" / "utterances.tsv", next((out / "systems").iterdir()))
    )
    titles = {part["title"] for part in document["documents"][0]["summary"]["subtests"]}  # type: ignore[index]
    assert {row["test"] for row in rows} == titles
    assert {row["aq_index"] for row in rows} == {"82.8"}
    assert [(row["prompt"], row["correctness"]) for row in rows] == [
        ("dog", "TRUE"), ("cat", "TRUE"), ("tree", "FALSE"), ("house", "FALSE")
    ]  # fmt: skip
    assert [(row["utterance_id"], row["asr_transcript"]) for row in heard] == [
        (row["utterance_id"], said)
        for row, said in zip(rows, ("D AO G", "D AO G K AE T", "T R OY B", "<sil>"), strict=True)
    ]
    assert {row["transcript"] for row in rows} == {""}
    assert rows[0]["duration_frames"] == "128000"


@pytest.mark.parametrize("format_id", ["textgrid", "eaf", "chat", "psst", "attempts"])
def test_every_format_keeps_the_contract_and_counts_what_it_cannot_carry(
    plugins: Plugins, document: Json, tmp_path: Path, format_id: str
) -> None:
    check_exporter(format_id, plugins=plugins, document=document)
    if format_id == "attempts":
        return
    out = _export(plugins, format_id, document, tmp_path / "out")
    said = (out / "README.txt").read_text(encoding="utf-8")
    for words in ("not a medical device", "trained listener", "has no place for"):
        assert words in said
    assert ("1 note" in said) == (format_id == "psst") and "13 phoneme confidences" in said
    assert oct((out / "README.txt").stat().st_mode & 0o777) == "0o600"


def test_a_full_folder_and_what_was_never_recorded_are_refused(
    plugins: Plugins, document: Any, tmp_path: Path
) -> None:
    out = tmp_path / "full"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(TabwbError, match="not an empty folder"):
        _export(plugins, "chat", document, out)
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    document["documents"][0]["recordings"] = []
    with pytest.raises(TabwbError, match="no spoken naming was recorded"):
        _export(plugins, "textgrid", document, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_every_spoken_attempt_is_a_row(plugins: Plugins, document: Json, tmp_path: Path) -> None:
    out = _export(plugins, "attempts", document, tmp_path / "attempts.csv")
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], row["attempt"], row["phonemes"], row["complete"]) for row in rows] == [
        ("dog", "1", "D AO G", "true"), ("cat", "1", "D AO G", "true"),
        ("cat", "2", "K AE T", "true"), ("tree", "1", "T R OY B", "true"), ("house", "", "", ""),
    ]  # fmt: skip
    assert [row["attempt_onset_s"] for row in rows] == ["0.5", "10.5", "12.3", "20.5", ""]
    assert {row["latency_s"] for row in rows} == {"0.6"}
    assert [row["attempt_code"] for row in rows[:3]] == ["correct", "semantic", "correct"]
    assert (rows[0]["code"], rows[0]["code_by"]) == ("correct", "person:R1")
    assert [row["by_ear"] for row in rows] == ["false", "true", "false", "false", ""]
    cat = rows[1]
    assert (cat["heard"], cat["code"], cat["score"]) == ("dog", "semantic", "self-corrected")
    assert (cat["correct_any"], cat["correct_first"]) == ("true", "false")
    beside = tmp_path / "attempts.csv.README.txt"
    assert "trained listener" in beside.read_text(encoding="utf-8")
    beside.write_text("my notes on this study", encoding="utf-8")
    with pytest.raises(TabwbError, match="tabwb did not write"):
        _export(plugins, "attempts", document, tmp_path / "attempts.csv")
    assert beside.read_text(encoding="utf-8") == "my notes on this study"
