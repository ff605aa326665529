"""``tabwb transcribe`` with a plugin that hears words: its table can be scored by ``phonemes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.testing.checks import write_sound
from tests.cli.conftest import Run
from tests.plugin_api.conftest import Install

pytest.importorskip("soundfile", reason="needs tabwb[audio]")
PLUGIN = """
from tabwb.records.speech import Segment, Transcript

class Hears:
    unit = "words"
    def open(self):
        return {"model": "hears"}
    def transcribe_many(self, clips, cancel):
        for index, clip in enumerate(clips):
            segments = (Segment("a", 0.0, 0.1), Segment("treeb", 0.1, 0.4))
            yield index, Transcript("hears", "ok", segments, "words", seconds=0.5)
    def close(self):
        pass

@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("hears", "Hears words", lambda spec, options: Hears()))
"""


def test_words_are_printed_with_their_sounds(install: Install, tmp_path: Path, run: Run) -> None:
    install("hearing", PLUGIN)
    sound = write_sound(tmp_path / "u1.wav", 0.5, 220.0)
    done = run("transcribe", sound, "--transcriber", "hears", "--tsv")
    assert done.out.splitlines()[-1] == "u1\tAH T R IY B"
    assert "pronounced by their letters: treeb" in done.err
    ref, hyp = tmp_path / "ref.tsv", tmp_path / "hyp.tsv"
    ref.write_text("utterance_id\ttranscript\nu1\tAH T R IY B\n", encoding="utf-8")
    hyp.write_text(done.out, encoding="utf-8")
    assert run("phonemes", ref, hyp, "--json").document["per"] == 0.0
    (file,) = run("transcribe", sound, "--transcriber", "hears", "--json").document["files"]
    assert (file["unit"], [one["word"] for one in file["words"]]) == ("words", ["a", "treeb"])
    assert file["phonemes"] == ["AH", "T", "R", "IY", "B"]
