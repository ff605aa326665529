"""What files of Praat and ELAN hold: encodings, a binary format, nested tiers, no times."""

from __future__ import annotations

from pathlib import Path
from struct import pack

import pytest

from tabwb.records.errors import TabwbError
from tabwb.speech.annotations import Interval, read_annotations

pytest.importorskip("praatio")
PRAAT = Path(__file__).parents[1] / "data" / "praat"
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
        (1.0, "D"), (1.5, "AO"), (2.0, "G"), (2.5, "K"),
    ]  # fmt: skip


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


def test_tiers_that_refer_to_tiers_that_refer_have_times(tmp_path: Path) -> None:
    def refers(tier: str, above: str, *parts: tuple[str, str, str]) -> str:
        before = ""
        said = []
        for number, (to, previous, label) in enumerate(parts):
            before = f' PREVIOUS_ANNOTATION="{previous}"' if previous else ""
            said.append(
                f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="{tier}{number}" ANNOTATION_REF="{to}"'
                f"{before}><ANNOTATION_VALUE>{label}</ANNOTATION_VALUE></REF_ANNOTATION>"
                "</ANNOTATION>"
            )
        head = f'<TIER TIER_ID="{tier}" LINGUISTIC_TYPE_REF="r" PARENT_REF="{above}"'
        return f"{head}>{''.join(said)}</TIER>"

    path = eaf(tmp_path / "a.eaf", "1000 3000", "item: 1-2 dog")
    # A subdivision, a tier of glosses on it, and one more division, before the tiers above them.
    below = (
        refers("sign", "gloss", ("gloss0", "", "x"), ("gloss0", "sign0", "y"))
        + refers("gloss", "part", ("part1", "", "zwei"), ("part0", "", "eins"))
        + refers("part", "item", ("item0", "part1", "b"), ("item0", "", "a"))
    )
    text = path.read_text().replace("</TIME_ORDER>", f"</TIME_ORDER>{below}")
    path.write_text(text, encoding="utf-8")
    tiers = read_annotations(path).tiers
    assert tiers["part"] == (Interval(1.0, 2.0, "a"), Interval(2.0, 3.0, "b"))
    assert tiers["gloss"] == (Interval(1.0, 2.0, "zwei"), Interval(2.0, 3.0, "eins"))
    assert tiers["sign"] == (Interval(1.0, 1.5, "x"), Interval(1.5, 2.0, "y"))


@pytest.mark.parametrize("name", ["binary", "latin-1", "utf-8", "utf-16", "utf-16-short"])
def test_each_format_of_praat_is_read(name: str) -> None:
    tiers = read_annotations(PRAAT / f"{name}.TextGrid").tiers
    words, points = tiers["words"], tiers["points"]
    last = "Straße" if name == "latin-1" else "ɾʌbɚ 東"
    assert words == (
        Interval(0.0, 0.5, "dog"),
        Interval(0.5, 1.25, 'Tür "quoted" x'),
        Interval(1.25, 2.0, last),
    )
    assert points == (Interval(0.75, 0.75, "click é"),)


def test_a_binary_file_that_was_cut_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.TextGrid"
    path.write_bytes((PRAAT / "binary.TextGrid").read_bytes()[:150])
    with pytest.raises(TabwbError, match="is damaged"):
        read_annotations(path)


@pytest.mark.parametrize("name", ["utf-8", "utf-16-short"])
def test_a_text_file_cut_anywhere_is_an_error_that_names_the_line(
    tmp_path: Path, name: str
) -> None:
    encoding = "utf-16" if name.startswith("utf-16") else "utf-8"
    lines = (PRAAT / f"{name}.TextGrid").read_bytes().decode(encoding).splitlines()
    path = tmp_path / "a.TextGrid"
    for n in range(1, len(lines)):
        path.write_text("\n".join(lines[:n]), encoding="utf-8")
        last = max(at for at in range(1, n + 1) if lines[at - 1].strip())
        with pytest.raises(TabwbError, match=rf"TextGrid:{last}: is damaged: it ends in"):
            read_annotations(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [(pack(">ddi", 0, 2, 3), pack(">ddi", 0, 2, -3)), (pack(">d", 1.25), pack(">d", float("nan")))],
)
def test_counts_below_0_and_times_that_are_no_numbers_are_damage(
    tmp_path: Path, old: bytes, new: bytes
) -> None:
    content = (PRAAT / "binary.TextGrid").read_bytes()
    assert old in content
    path = tmp_path / "a.TextGrid"
    path.write_bytes(content.replace(old, new, 1))
    with pytest.raises(TabwbError, match=r"is damaged: .*(below 0|has no time)"):
        read_annotations(path)
    path.write_text('"ooTextFile"\n"TextGrid"\n0\n1\n<exists>\n-1\n', encoding="utf-8")
    with pytest.raises(TabwbError, match=r"TextGrid:6: is damaged: .*below 0"):
        read_annotations(path)


def test_a_long_chain_of_references_is_read(tmp_path: Path) -> None:
    n = 20_000
    path = eaf(tmp_path / "a.eaf", "0 3000", "item: 1-2 dog")
    said = "".join(
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="w{at}" '
        f'ANNOTATION_REF="{f"w{at - 1}" if at else "item0"}">'
        f"<ANNOTATION_VALUE>{at}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
        for at in reversed(range(n))
    )
    tier = f'<TIER TIER_ID="word" LINGUISTIC_TYPE_REF="r" PARENT_REF="item">{said}</TIER>'
    whole = path.read_text(encoding="utf-8").replace("</ANNOTATION_DOCUMENT>", tier)
    path.write_text(f"{whole}</ANNOTATION_DOCUMENT>", encoding="utf-8")
    words = read_annotations(path).tiers["word"]
    assert len(words) == n
    assert {(one.start_s, one.end_s) for one in words} == {(0.0, 3.0)}


def test_many_words_of_one_annotation_are_read(tmp_path: Path) -> None:
    path = eaf(tmp_path / "a.eaf", "0 3000", "item: 1-2 dog")
    said = "".join(
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="w{n}" ANNOTATION_REF="item0"'
        f"{f' PREVIOUS_ANNOTATION={chr(34)}w{n - 1}{chr(34)}' if n else ''}>"
        f"<ANNOTATION_VALUE>{n}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
        for n in range(3000)
    )
    tier = f'<TIER TIER_ID="word" LINGUISTIC_TYPE_REF="r" PARENT_REF="item">{said}</TIER>'
    whole = path.read_text(encoding="utf-8").replace("</ANNOTATION_DOCUMENT>", tier)
    path.write_text(f"{whole}</ANNOTATION_DOCUMENT>", encoding="utf-8")
    words = read_annotations(path).tiers["word"]
    assert [each.label for each in words] == [str(n) for n in range(3000)]
