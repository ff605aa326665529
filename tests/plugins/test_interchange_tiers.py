"""Running speech in a tier of Praat or ELAN is one text of each file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tabwb_interchange.chat import Chat
from tabwb_interchange.inspect_log import InspectLog
from tabwb_interchange.lm_eval_samples import LmEvalSamples
from tabwb_interchange.tiers import Tiers

from tabwb.plugin_api import Importer
from tabwb.records.errors import TabwbError, UsageError
from tabwb.speech.annotations import read_annotations

PRAAT = Path(__file__).parents[1] / "data" / "praat"


def test_the_labels_of_a_tier_are_the_utterances_of_a_text() -> None:
    source = Tiers().read(PRAAT / "utf-8.TextGrid", {"tier": "words", "language": "de"})
    assert [answer.text for answer in source.answers] == ['dog\nTür "quoted" x\nɾʌbɚ 東']
    assert (source.language, source.texts, source.spoken) == ("de", True, True)
    assert len(Tiers().read(PRAAT, {"tier": "points"}).answers) == 5


@pytest.mark.parametrize("names", [{}, {"tier": "Wort"}, {"Tier": "words"}])
def test_the_tier_must_be_named(names: dict[str, str]) -> None:
    with pytest.raises(TabwbError):
        Tiers().read(PRAAT / "utf-8.TextGrid", names)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Tiers(), "a.TextGrid"),
        (Chat(), "a.cha"),
        (InspectLog(), "a.eval"),
        (LmEvalSamples(), "samples_a_2024.jsonl"),
    ],
)
def test_a_link_out_of_a_folder_is_not_read(tmp_path: Path, source: Importer, name: str) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (tmp_path / name).write_text("private")
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match="outside the folder"):
        source.read(folder, {})


def test_the_sound_beside_annotations_is_no_link_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    grid = folder / "a.TextGrid"
    grid.write_bytes((PRAAT / "utf-8.TextGrid").read_bytes())
    (tmp_path / "private.wav").write_bytes(b"private")
    (folder / "a.wav").symlink_to(tmp_path / "private.wav")
    with pytest.raises(UsageError, match="outside the folder"):
        read_annotations(grid)
    (folder / "a.wav").unlink()
    (folder / "a.wav").write_bytes(b"own")
    assert read_annotations(grid).sound == folder / "a.wav"
