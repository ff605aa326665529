"""Files of figures: the same bytes each time, fonts embedded, facts in the metadata."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from hashlib import sha256
from pathlib import Path
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import pytest
from PIL import Image

from tabwb import __version__
from tabwb.media.figures import make, save
from tabwb.media.figures.page import Facts
from tabwb.media.figures.saving import described, figure_bytes
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.words import RESEARCH_ONLY
from tests.media.figures.made import group, groups

FORMATS = ("pdf", "svg", "png")
COMMAND = "tabwb figure burden --by model"
AGAIN = """
import sys
from hashlib import sha256
from tabwb.media.figures import make
from tabwb.media.figures.saving import figure_bytes
from tests.media.figures.made import groups
made = make("burden", groups(2), command="tabwb figure burden --by model")
print(*[sha256(figure_bytes(made, name)).hexdigest() for name in ("pdf", "svg", "png")])
"""


def digests() -> list[str]:
    made = make("burden", groups(2), command=COMMAND)
    return [sha256(figure_bytes(made, name)).hexdigest() for name in FORMATS]


def test_another_process_makes_the_same_bytes() -> None:
    root = Path(__file__).parents[3]
    paths = os.pathsep.join((str(root), str(root / "plugins")))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONHASHSEED": "17"}
    run = subprocess.run(
        [sys.executable, "-c", AGAIN], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == digests()


def test_a_pdf_embeds_its_font_as_truetype_and_has_no_date() -> None:
    content = figure_bytes(make("burden", groups(2), command=COMMAND), "pdf")
    assert b"/FontFile2" in content  # TrueType
    assert b"/Subtype /CIDFontType2" in content and b"DejaVuSans" in content
    assert b"CreationDate" not in content and b"ModDate" not in content


def test_a_pdf_says_what_it_shows() -> None:
    content = figure_bytes(make("burden", groups(2), command=COMMAND), "pdf")
    assert b"/Title (Symptom burden with 95 % intervals)" in content
    assert f"tabwb {__version__}, matplotlib {mpl.__version__}".encode() in content
    keywords = re.search(rb"/Keywords \((.*?)\)", content)
    assert keywords is not None
    assert (
        COMMAND.encode() in keywords[1] and b"01890000-0000-7000-8000-000000000002" in keywords[1]
    )


def test_an_svg_draws_its_text_as_paths_and_says_what_it_shows() -> None:
    content = figure_bytes(make("burden", groups(2), command=COMMAND), "svg").decode()
    assert "<text" not in content and "<dc:date" not in content
    assert COMMAND in content and RESEARCH_ONLY.split(".")[0] in content


def test_a_png_says_what_it_shows_and_has_the_resolution_asked_for(tmp_path: Path) -> None:
    out = save(make("burden", groups(2), command=COMMAND), tmp_path / "a.png", dpi=100)
    with Image.open(out) as image:
        assert image.info["Title"] == "Symptom burden with 95 % intervals"
        assert image.info["Description"].endswith(RESEARCH_ONLY)
        assert COMMAND in image.info["Comment"]
        assert image.width == int(90 / 25.4 * 100)


def test_no_text_of_the_page_is_lost_in_a_pdf() -> None:
    content = figure_bytes(make("burden", groups(2)), "pdf")
    streams = [
        zlib.decompress(part)
        for part in re.findall(rb"FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    ]
    assert any(b"BT" in stream and b"Tf" in stream for stream in streams)  # text, not outlines


def test_many_administrations_are_named_by_their_number_and_digest() -> None:
    made = make("burden", groups(1))
    uids = tuple(f"uid-{n}" for n in range(101))
    told = described(Facts("burden", "t", made.facts.table, uids=uids))
    whole = sha256("\n".join(sorted(uids)).encode()).hexdigest()
    assert told["administrations"] == f"101 administrations; SHA-256 of their sorted uids: {whole}"


def test_folders_of_this_machine_are_in_no_file() -> None:
    made = make("burden", [group("replay:/home/ada/study/answers.jsonl")])
    assert made.facts.table["group"].to_list() == ["replay:answers.jsonl"]
    for name in ("svg", "pdf"):
        assert b"/home/ada" not in figure_bytes(made, name)


def test_names_hold_no_control_characters_and_no_formulas(tmp_path: Path) -> None:
    made = make("burden", [group("a\x1b[31m$x^2$\u202eb\nc")])
    assert made.facts.table["group"].to_list() == ["a\\x1b[31m$x^2$\\u202eb c"]
    assert "a\\x1b[31m$x^2$\\u202eb c" in "".join(text.get_text() for text in made.axes[0].texts)
    fromstring(figure_bytes(made, "svg"))  # valid XML


def test_matplotlib_is_imported_when_a_figure_is_made() -> None:
    code = (
        "import sys; from tabwb.media.figures import FIGURES, figure_kind\n"
        "for name in FIGURES: figure_kind(name)\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path: Path) -> None:
    made = make("burden", groups(1))
    out = save(made, tmp_path / "a.svg")
    with pytest.raises(TabwbError, match="already exists"):
        save(made, out)
    assert save(made, out, force=True) == out


def test_a_name_without_a_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="jpg") as refused:
        save(make("burden", groups(1)), tmp_path / "burden.jpg")
    assert refused.value.allowed == ".pdf, .svg, .png"


def test_the_footer_says_that_it_is_for_research_only() -> None:
    def words(*, footer: bool) -> str:
        made = make("burden", groups(1), footer=footer)
        return " ".join(text.get_text() for text in made.axes[0].texts)

    assert RESEARCH_ONLY in words(footer=True)
    assert RESEARCH_ONLY not in words(footer=False)


def test_a_notebook_shows_a_figure_as_png() -> None:
    assert make("burden", groups(1))._repr_png_().startswith(b"\x89PNG")
