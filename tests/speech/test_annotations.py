"""What ELAN files of others hold: a video linked before the sound, annotations without a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.records.errors import TabwbError
from tabwb.speech.annotations import Interval, read_annotations

pytest.importorskip("pympi")
HEAD = (
    '<ANNOTATION_DOCUMENT FORMAT="3.0" VERSION="3.0" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">'
)


def eaf(path: Path, slots: str, tiers: str, linked: tuple[str, ...] = ()) -> Path:
    """An ELAN file: slots such as ``0 - 3000``, tiers such as ``word: 1-2 dog, 2-3 cat``."""
    media = "".join(
        f'<MEDIA_DESCRIPTOR MEDIA_URL="file:///C:/{name}" RELATIVE_MEDIA_URL="./{name}"/>'
        for name in linked
    )
    times = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="ts{number}"'
        + ("/>" if value == "-" else f' TIME_VALUE="{value}"/>')
        for number, value in enumerate(slots.split(), start=1)
    )
    body = "".join(_tier(*line.split(":")) for line in tiers.split(";"))
    path.write_text(
        f"{HEAD}<HEADER>{media}</HEADER><TIME_ORDER>{times}</TIME_ORDER>{body}"
        "</ANNOTATION_DOCUMENT>",
        encoding="utf-8",
    )
    return path


def _tier(name: str, annotations: str) -> str:
    name, _, parent = name.strip().partition("<")
    said = []
    for at, each in enumerate(annotations.split(",")):
        between, label = each.split()
        first, last = between.split("-")
        said.append(
            f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}{at}" '
            f'TIME_SLOT_REF1="ts{first}" TIME_SLOT_REF2="ts{last}">'
            f"<ANNOTATION_VALUE>{label}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
        )
    above = f' PARENT_REF="{parent}"' if parent else ""
    head = f'<TIER TIER_ID="{name}" LINGUISTIC_TYPE_REF="lt"'
    return f"{head}{above}>{''.join(said)}</TIER>"


def test_the_recording_is_the_sound_and_not_the_video_linked_before_it(tmp_path: Path) -> None:
    for name in ("rec.mp4", "rec.WAV"):
        (tmp_path / name).write_bytes(b"not opened here")
    path = eaf(tmp_path / "a.eaf", "0 1000", "item: 1-2 dog", ("rec.mp4", "rec.WAV"))
    assert read_annotations(path).sound == tmp_path / "rec.WAV"
    path = eaf(tmp_path / "b.eaf", "0 1000", "item: 1-2 dog", ("rec.mp4",))
    assert read_annotations(path).sound is None


def test_annotations_that_divide_another_are_of_equal_length(tmp_path: Path) -> None:
    tiers = "phoneme<word: 1-4 D, 4-5 AO, 5-3 G, 3-2 K; word<item: 1-3 dog, 3-2 cat; item: 1-2 x"
    found = read_annotations(eaf(tmp_path / "a.eaf", "1000 4000 - - -", tiers)).tiers
    assert found["word"] == (Interval(1.0, 2.5, "dog"), Interval(2.5, 4.0, "cat"))
    assert [(each.start_s, each.label) for each in found["phoneme"]] == [
        (1.0, "D"),
        (1.5, "AO"),
        (2.0, "G"),
        (2.5, "K"),
    ]


@pytest.mark.parametrize("tiers", ["w: 1-3 dog", "w: 3-4 dog, 4-3 cat", "w: 3-2 dog"])
def test_an_annotation_whose_time_nobody_can_tell_is_named(tmp_path: Path, tiers: str) -> None:
    path = eaf(tmp_path / "a.eaf", "1000 4000 - -", tiers)
    with pytest.raises(TabwbError, match=r"a\.eaf: the annotation 'dog' of .* has no time"):
        read_annotations(path)


def test_what_is_no_xml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.eaf"
    path.write_text("hello", encoding="utf-8")
    with pytest.raises(TabwbError, match=r"a\.eaf: is damaged"):
        read_annotations(path)
