"""manual:FILE, transcripts that a person typed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tabwb.host.plugins import Plugins
from tabwb.records.errors import TabwbError
from tabwb.records.speech import Clip, Transcript
from tabwb.scoring.naming.attempts import propose_attempts
from tests.builders import SPEECH

pytest.importorskip("soundfile", reason="needs tabwb[audio]")
CLIPS = ("dog_d1a4fb3f_0.flac", "bed_ca4d5368_0.flac", "silence_1024.flac", "up_189cbabe_0.flac")


def heard(table: Path, *clips: Clip) -> list[Transcript]:
    plugins = Plugins.load()
    try:
        transcriber = plugins.open_transcriber(f"manual:{table}")
        transcriber.open()
        return [each for _, each in transcriber.transcribe_many(clips, threading.Event())]
    finally:
        plugins.close()


def table(folder: Path, *rows: str) -> Path:
    path = folder / "typed.tsv"
    path.write_text("\n".join(("utterance_id\ttranscript", *rows)) + "\n", encoding="utf-8")
    return path


def test_what_was_typed_comes_as_a_transcript(tmp_path: Path) -> None:
    typed = table(
        tmp_path,
        "dog_d1a4fb3f_0\tD AO1 G <sil> <spn>",
        "bed_ca4d5368_0\tbɛd",
        "silence_1024\t<sil>",
    )
    dog, bed, silence, other = heard(typed, *(Clip(str(SPEECH / name)) for name in CLIPS))
    assert dog.phonemes == ("D", "AO", "G", "<sil>", "<spn>")
    assert bed.phonemes == ("B", "EH", "D")
    assert {(s.start_s, s.end_s, s.confidence) for s in bed.segments} == {(0.0, bed.seconds, None)}
    assert (silence.status, silence.phonemes) == ("empty", ("<sil>",))
    assert other.status == "error" and "no transcript of 'up_189cbabe_0'" in other.error
    assert dog.transcriber == f"manual:{typed}"


def test_an_empty_cell_is_no_silence(tmp_path: Path) -> None:
    (dog,) = heard(table(tmp_path, "dog_d1a4fb3f_0\t "), Clip(str(SPEECH / CLIPS[0])))
    assert dog.status == "error" and "<sil> where nothing was said" in dog.error


def test_a_mistake_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TabwbError, match="'QX' is not a phoneme") as caught:
        heard(table(tmp_path, "a\tD AO G", "b\tD QX G"))
    assert str(caught.value).startswith(f"{tmp_path / 'typed.tsv'}:3")


@pytest.mark.parametrize("text", ["K AE T <sil> D AO G", "kæt <sil> dɔɡ", "/kæt <sil> dɔɡ/"])
def test_a_typed_pause_parts_two_attempts(tmp_path: Path, text: str) -> None:
    typed = table(tmp_path, f"dog_d1a4fb3f_0\t{text}")
    (dog,) = heard(typed, Clip(str(SPEECH / CLIPS[0])))
    said = [" ".join(attempt.phonemes) for attempt in propose_attempts(dog.segments)]
    assert said == ["K AE T", "D AO G"]
