"""Named responses from elsewhere: what our exports wrote comes back, and bad input says where."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabwb.administer.naming.imports import read_sessions
from tabwb.administer.naming.run import import_responses
from tabwb.administer.naming.scores import naming_of
from tabwb.administer.naming.views import NamingView
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import RecordingBegan, RecordingEnded
from tabwb.records.speech import Segment, Transcript
from tabwb.report.documents.document import export_document
from tabwb.store.store import Store
from tests.administer.naming_parts import heard, naming_battery, shown, take

soundfile = pytest.importorskip("soundfile")
Open = Callable[[str], Session]


@pytest.fixture
def open_session(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Open]:
    opened: list[Session] = []
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))

    def make(speaker: str) -> Session:
        conditions = Conditions(speaker, "speaker", judges=(), rater="R1", origin="human")
        conditions = setup.resolve(plugins, battery, conditions)
        opened.append(setup.create_naming(store, plugins, battery, conditions))
        return opened[-1]

    yield make
    for session in opened:
        session.close()


@pytest.fixture
def given(open_session: Open, tmp_path: Path) -> Session:
    """One recording of 40 s: dog right, cat after dog, tree a nonword, house silence."""
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    session.spoken.keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    responses: tuple[tuple[float, str, list[str]], ...] = (
        (0.0, "right", ["D AO G"]),
        (10.0, "self-corrected", ["D AO G", "K AE T"]),
        (20.0, "error", ["T R OY B"]),
        (30.0, "no-response", []),
    )
    for at_s, score, attempts in responses:
        session.spoken.show(shown(at_s))
        session.spoken.score(score, take=take(at_s, seconds=8.0))  # type: ignore[arg-type]
        assert session.current is not None
        by = "manual:R1" if at_s < 20.0 else "bundled-words"
        session.spoken.transcribed(session.current.plan.number, 1, heard(*attempts, by=by))
        if at_s == 10.0:
            session.spoken.listening.hear("dog")
            session.spoken.listening.code("semantic")
    session.spoken.keep(
        None, RecordingEnded("r1", session.spoken.recordings.keep("r1", sound), 40.0)
    )
    return session


def _what_stands(session: Session) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for trial in session.trials:
        view = session.spoken.view(trial.plan.number)
        assert view is not None
        found.append(
            (
                trial.plan.item,
                () if view.transcript is None else view.transcript.phonemes,
                None if view.transcript is None else view.transcript.transcriber,
                None if view.score is None else view.score.score,
                None if view.heard is None else view.heard.text,
                None if view.code is None else view.code.code,
            )
        )
    return found


def _import(session: Session, path: Path) -> Session:
    (imported,) = read_sessions(path, session.battery)
    list(import_responses(session, imported, "R1"))
    return session


def _exported(store: Store, plugins: Plugins, out: Path) -> Path:
    """The first administration in the format that the folder is named by."""
    plugins.exporter(out.name).export(
        export_document(load_administrations(store, (1,), sound=True)), out
    )
    return out


@pytest.mark.parametrize("format_id", ["textgrid", "eaf"])
def test_what_was_exported_comes_back(
    given: Session,
    open_session: Open,
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    format_id: str,
) -> None:
    again = _import(open_session("S-015"), _exported(store, plugins, tmp_path / format_id))
    assert _what_stands(again) == _what_stands(given)
    times = [segment.start_s for segment in _view(again, 2).segments]
    assert times == pytest.approx([0.5, 0.6, 0.7, 2.3, 2.4, 2.5], abs=0.0011)
    (kept,) = store.people.recordings(again.administration.id)
    assert kept.sha256 == store.people.recordings(1)[0].sha256


@pytest.fixture
def typed(open_session: Open, tmp_path: Path) -> Session:
    """One recording of 40 s, transcribed without times: two attempts, one sound, nothing, silence.

    Nobody transcribed the tree; the house was transcribed as silence.
    """
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    session.spoken.keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    for at_s, said, end_s in (
        (0.0, "D AO G <sil> B AO K", 8.0),  # as typed in a table
        (10.0, "AH", 0.0),  # as in the table of the PSST corpus
        (20.0, None, 0.0),
        (30.0, "", 0.0),
    ):
        session.spoken.show(shown(at_s))
        session.spoken.score("right", take=take(at_s, seconds=8.0))
        assert session.current is not None
        if said is not None:
            segments = tuple(
                Segment(each, 0.0, 0.0 if each == "<sil>" else end_s) for each in said.split()
            )
            written = Transcript("manual:R1", "ok" if said else "empty", segments, seconds=end_s)
            session.spoken.transcribed(session.current.plan.number, 1, written)
    session.spoken.keep(
        None, RecordingEnded("r1", session.spoken.recordings.keep("r1", sound), 40.0)
    )
    return session


@pytest.mark.parametrize("format_id", ["textgrid", "eaf", "psst"])
def test_transcripts_without_times_come_back(
    typed: Session,
    open_session: Open,
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    format_id: str,
) -> None:
    again = _import(open_session("S-015"), _exported(store, plugins, tmp_path / format_id))
    assert [row[:3] for row in _what_stands(again)] == [
        ("dog", ("D", "AO", "G", "<sil>", "B", "AO", "K"), "manual:R1"),
        ("cat", ("AH",), "manual:R1"),
        ("tree", (), None),
        ("house", (), "manual:R1"),
    ]
    first = again.spoken.view(1)
    assert first is not None
    assert [each.phonemes for each in naming_of(first).attempts] == [
        ("D", "AO", "G"),
        ("B", "AO", "K"),
    ]


@pytest.mark.parametrize("format_id", ["textgrid", "eaf"])
def test_a_phoneme_of_no_length_keeps_attempts_apart(
    open_session: Open, store: Store, plugins: Plugins, tmp_path: Path, format_id: str
) -> None:
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(10 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    session.spoken.keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    session.spoken.show(shown(0.0))
    session.spoken.score("error", take=take(0.0, seconds=8.0))
    *first, last = heard("D AO G").segments
    tied = replace(last, end_s=last.start_s)
    later = heard("K AE T", at_s=3.0).segments
    assert session.current is not None
    written = Transcript("replay", "ok", (*first, tied, *later), seconds=8.0)
    session.spoken.transcribed(session.current.plan.number, 1, written)
    session.spoken.keep(
        None, RecordingEnded("r1", session.spoken.recordings.keep("r1", sound), 10.0)
    )
    out = _exported(store, plugins, tmp_path / format_id)
    assert "1 lengthless phoneme" in (out / "README.txt").read_text(encoding="utf-8")
    view = _import(open_session("S-015"), out).spoken.view(1)
    assert view is not None
    assert [" ".join(each.phonemes) for each in naming_of(view).attempts] == ["D AO G", "K AE T"]


def test_times_that_nobody_knows_are_none(
    typed: Session, store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    document = export_document(load_administrations(store, (1,)))
    namings = [trial["naming"] for trial in document["documents"][0]["trials"]]
    for naming in namings:
        said = [*naming["attempts"], *naming["verdicts"].values()]
        said += [segment for each in naming["transcripts"] for segment in each["segments"]]
        times = ("onset_s", "offset_s", "start_s", "end_s")
        assert {each.get(name) for each in said for name in times} <= {None}
    assert [len(naming["attempts"]) for naming in namings] == [2, 1, 0, 0]
    out = tmp_path / "attempts.csv"
    plugins.exporter("attempts").export(document, out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["attempt"] for row in rows] == ["1", "2", "1", "", ""]
    assert {row["attempt_onset_s"] + row["attempt_offset_s"] for row in rows} == {""}


class _Heard:
    def __init__(self, view: NamingView) -> None:
        assert view.transcript is not None
        self.segments = view.transcript.segments


def _view(session: Session, number: int) -> _Heard:
    view = session.spoken.view(number)
    assert view is not None
    return _Heard(view)


def test_a_psst_folder_brings_transcripts_and_correctness(
    given: Session, open_session: Open, store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    out = tmp_path / "psst"
    plugins.exporter("psst").export(
        export_document(load_administrations(store, (1,), sound=True)), out
    )
    again = _import(open_session("S-015"), out)
    assert [row[:4] for row in _what_stands(again)] == [
        ("dog", ("D", "AO", "G"), "manual:R1", "right"),
        ("cat", ("D", "AO", "G", "K", "AE", "T"), "manual:R1", "self-corrected"),
        ("tree", ("T", "R", "OY", "B"), "bundled-words", "error"),
        ("house", (), "bundled-words", "no-response"),
    ]


def test_a_table_without_recordings_and_items_not_there(open_session: Open, tmp_path: Path) -> None:
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tcorrectness\nS1-dog\tdog\tD AO1 G <sil>\tTRUE\n"
    )
    session = _import(open_session("S-015"), tmp_path)
    phonemes = ("D", "AO", "G", "<sil>")
    assert _what_stands(session)[0][:4] == ("dog", phonemes, "manual:R1", "right")
    assert [trial.plan.item for trial in session.spoken.waiting(aloud=True)] == [
        "cat",
        "tree",
        "house",
    ]


@pytest.mark.parametrize("noise", ["<spn>", "<unk>", "<sil> <spn>"])
def test_unintelligible_speech_is_no_silence(
    open_session: Open, tmp_path: Path, noise: str
) -> None:
    (tmp_path / "utterances.tsv").write_text(
        f"utterance_id\tprompt\ttranscript\nS1-dog\tdog\t{noise}\nS1-cat\tcat\t<sil>\n"
    )
    session = open_session("S1")
    (found,) = read_sessions(tmp_path, session.battery)
    dog, cat = found.responses
    assert dog.transcripts[0].phonemes == tuple(noise.split())
    assert (cat.transcripts[0].phonemes, cat.transcripts[0].status) == ((), "empty")


def test_labels_of_a_machine_without_a_phoneme_are_dropped_and_counted(
    open_session: Open, tmp_path: Path
) -> None:
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tasr_transcript\nS1-dog\tdog\t\tD QQ AO <spn> QQ\n"
    )
    view = _import(open_session("S-015"), tmp_path).spoken.view(1)
    assert view is not None
    assert view.transcript is not None
    assert view.transcript.transcriber == "asr"
    assert (view.transcript.phonemes, view.transcript.dropped) == (("D", "AO", "<spn>"), {"QQ": 2})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utterance_id\tprompt\n", "no column transcript"),
        ("utterance_id\tprompt\ttranscript\nu\tdoge\tD\n", "tsv:2: the battery has no item 'doge'"),
        ("utterance_id\tprompt\ttranscript\nu\tdog\tD QQ\n", "tsv:2: 'QQ' is not a phoneme"),
        (
            "utterance_id\tprompt\ttranscript\tcorrectness\nu\tdog\tD\tyes\n",
            "'yes' is not a valid correctness",
        ),
        ("utterance_id\tprompt\ttranscript\tfilename\nu\tdog\tD\tx.wav\n", "no file 'x.wav'"),
        ("prompt\ttranscript\tutterance_id\ndog\tD\n", "tsv:2: 2 columns, where the headings"),
        ("utterance_id\tprompt\ttranscript\n\nu\tdog\tQQ\n", "tsv:3: 'QQ' is not a phoneme"),
        (
            "utterance_id\tprompt\ttranscript\tcues\nu\tdog\tD\tphonemic@\n",
            "'phonemic@' is not a cue",
        ),
        ("utterance_id\tprompt\ttranscript\tcues\nu\tdog\tD\t2.5\n", "'2.5' is not a cue of 'dog'"),
        ("utterance_id\tprompt\ttranscript\texaminer\nu\tdog\tD\t1.5\n", "'1.5' are not"),
        ("utterance_id\tprompt\ttranscript\texaminer\nu\tdog\tD\t2-1\n", "'2-1' are not"),
    ],
)
def test_a_faulty_table_says_where(
    open_session: Open, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "utterances.tsv").write_text(text)
    with pytest.raises(TabwbError, match=said):
        read_sessions(tmp_path, open_session("S-015").battery)


def _grid(path: Path, tiers: dict[str, list[tuple[float, float, str]]]) -> Path:
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    grid = Textgrid(0, 10)
    for name, stretches in tiers.items():
        grid.addTier(IntervalTier(name, stretches, 0, 10))
    grid.save(str(path), format="short_textgrid", includeBlankSpaces=True)
    return path


def test_tiers_of_other_names_are_named(open_session: Open, tmp_path: Path) -> None:
    path = _grid(tmp_path / "a.TextGrid", {"Wort": [(0, 4, "dog")], "Laute": [(1, 1.9, "dɔɡ")]})
    battery = open_session("S-015").battery
    with pytest.raises(UsageError, match="--tier item=NAME"):
        read_sessions(path, battery)
    (session,) = read_sessions(path, battery, {"item": "Wort", "attempt": "Laute"})
    (named,) = session.responses
    (written,) = named.transcripts
    assert [segment.phoneme for segment in written.segments] == ["D", "AO", "G"]
    assert [segment.start_s for segment in written.segments] == pytest.approx([1, 1.3, 1.6])
    assert (written.metadata["times"], written.transcriber) == (
        "evenly divided within each attempt",
        "",
    )


def test_where_nobody_transcribed_there_is_no_transcript(
    open_session: Open, tmp_path: Path
) -> None:
    words = [(0.0, 2.0, "dog"), (2.0, 4.0, "cat"), (4.0, 6.0, "tree")]
    tiers = {
        "item": words,
        "transcriber": [(start, end, "manual:R1") for start, end, _ in words],
        "attempt": [(1.0, 1.5, "D AO G"), (4.5, 5.5, "<sil>")],
    }
    path = _grid(tmp_path / "a.TextGrid", tiers)
    (session,) = read_sessions(path, open_session("S-015").battery)
    said = [[len(each.segments) for each in one.transcripts] for one in session.responses]
    assert said == [[3], [], [0]]


def test_what_was_heard_is_kept_whole(open_session: Open, tmp_path: Path) -> None:
    tiers = {"item": [(0.0, 2.0, "dog")], "heard": [(0.0, 2.0, "dog (or hog)")]}
    path = _grid(tmp_path / "a.TextGrid", tiers)
    (session,) = read_sessions(path, open_session("S-015").battery)
    assert [one.heard for one in session.responses] == ["dog (or hog)"]
