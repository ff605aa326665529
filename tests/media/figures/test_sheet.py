"""Style, lettering, layout and files of figures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from hashlib import sha256
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.font_manager import findfont
from PIL import Image

from tabwb import __version__
from tabwb.media.figures import MISSING_LETTERS, make, save
from tabwb.media.figures.sheet import (
    Facts,
    figure_bytes,
    fixed_style,
    text_width,
    told_apart,
    wrapped,
)
from tabwb.media.figures.style import MANY, PALETTE, series_looks, shade, text_on, width_mm
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.words import RESEARCH_ONLY
from tests.media.figures.made import faults, group, groups, panels, texts

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0, for linear RGB.
BLINDNESS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(colour: str, seen_by: str = "") -> np.ndarray:
    """CIELAB (D65) of a colour, as it is seen with a kind of colour blindness."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    if seen_by:
        linear = np.clip(np.array(BLINDNESS[seen_by]) @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratios = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(("colours", "apart"), [(PALETTE, 20), (MANY, 15)])
@pytest.mark.parametrize("kind", ["", *BLINDNESS])
def test_colours_differ_for_colour_blind_readers(
    colours: tuple[str, ...], apart: float, kind: str
) -> None:
    distances = [
        float(np.linalg.norm(lab(a, kind) - lab(b, kind))) for a, b in combinations(colours, 2)
    ]
    assert min(distances) > apart


def test_colours_differ_in_grey() -> None:
    assert min(abs(lab(a)[0] - lab(b)[0]) for a, b in combinations(PALETTE, 2)) > 18
    assert min(abs(lab(a)[0] - lab(b)[0]) for a, b in pairwise(MANY)) > 10


@pytest.mark.parametrize("n", [1, 4, 5, 10])
def test_no_two_series_share_a_colour_or_a_marker(n: int) -> None:
    looks = series_looks(n)
    assert len({look["color"] for look in looks}) == len({look["marker"] for look in looks}) == n


def test_shades_become_darker_with_the_value_and_numbers_can_be_read_on_each() -> None:
    levels = [float(lab(shade(value / 1000))[0]) for value in range(1001)]
    assert levels[0] == pytest.approx(100, abs=0.01)
    assert all(later <= earlier for earlier, later in pairwise(levels))
    for value, level in enumerate(levels):  # luminance from L*, not by the function that is used
        own = ((level + 16) / 116) ** 3 if level > 8 else level / 903.3
        other = 1.0 if text_on(shade(value / 1000)) == "#FFFFFF" else 0.0
        light, dark = max(own, other), min(own, other)
        assert (light + 0.05) / (dark + 0.05) >= 4.49, value


def test_the_font_is_the_one_that_comes_with_matplotlib() -> None:
    with fixed_style():
        font = Path(findfont(mpl.rcParams["font.family"][0], fallback_to_default=False))
    assert font == Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")


def test_a_figure_has_and_keeps_its_style_whatever_the_settings_of_the_user() -> None:
    with mpl.rc_context({"axes.facecolor": "red", "xtick.labelsize": 20, "font.family": "serif"}):
        figure = make("burden", groups(2))
        assert mpl.rcParams["axes.facecolor"] == "red"
        figure.draw_without_rendering()
        (axes,) = panels(figure)
        assert axes.get_facecolor() == (1, 1, 1, 1)
        ticks = axes.xaxis.get_major_ticks()
        assert {tick.label1.get_fontsize() for tick in ticks} == {7.0}
        assert {tick.label1.get_fontfamily()[0] for tick in ticks} == {"DejaVu Sans"}


@pytest.mark.parametrize("width", ["triple", "20", "nan", "1000"])
def test_a_width_that_is_none_is_refused(width: str) -> None:
    with pytest.raises(UsageError, match=width):
        width_mm(width)


def test_lines_fit_their_width_and_keep_every_character() -> None:
    name = "openai:org/a-model-with-a-very-long-name@base_url=http://localhost:8000/v1"
    lines = wrapped(name, 7, 1.0)
    assert "".join(lines) == name
    assert max(text_width(line) for line in lines) <= 1.0


ALIKE = [
    f"Alder-1B-Instruct (temperature {t}, option order as-given, whole battery)" for t in (1, 0.7)
]


@pytest.mark.parametrize(("width", "most"), [(1.3, 2), (0.8, 1), (0.35, 1)])
def test_labels_that_are_cut_keep_what_differs(width: float, most: int) -> None:
    made = [label.split("\n") for label in told_apart([*ALIKE, "Birch-1B"], width, most)]
    assert len({*map(tuple, made)}) == 3
    assert all(len(lines) <= most for lines in made)
    assert all(text_width(line) <= width for lines in made for line in lines)


def test_the_value_that_differs_stands_in_the_label() -> None:
    first, second = told_apart(ALIKE, 1.3, 2)
    assert "1, option" in first.replace("\n", " ") and "0.7, option" in second.replace("\n", " ")


def test_labels_without_room_for_what_differs_are_numbered() -> None:
    made = told_apart([f"{'a' * 15}{n}{'b' * 15}{n}{'c' * 15}" for n in (1, 2)], 0.6, 1)
    assert [label[-3:] for label in made] == ["[1]", "[2]"]


@pytest.mark.parametrize(("n", "width"), [(1, "single"), (3, "double"), (30, "single")])
@pytest.mark.parametrize("name", ["burden", "accuracy", "profile"])
def test_texts_have_their_own_place(name: str, width: str, n: int) -> None:
    assert faults(make(name, groups(n), width=width)) == []


def test_texts_that_do_overlap_or_leave_the_page_are_found() -> None:
    figure = make("accuracy", groups(3))
    figure.text(0.5, 0.5, "one text here")
    figure.text(0.5, 0.5, "another text")
    figure.text(0.95, 0.5, "a text that is too long")
    assert {"one text here | another text", "outside: a text that is too long"} <= {*faults(figure)}


def test_rows_are_as_high_as_their_labels_need() -> None:
    figures = [make("burden", groups(n)) for n in (1, 30)]
    heights = [panels(figure)[0].get_position().height for figure in figures]
    sizes = [figure.get_size_inches()[1] for figure in figures]
    assert heights[1] * sizes[1] - heights[0] * sizes[0] > 29 * 0.16


# -- files ---------------------------------------------------------------------------------------

FORMATS = ("pdf", "svg", "png")
COMMAND = "tabwb figure burden --by model"
AGAIN = """
import sys
from hashlib import sha256
from tabwb.media.figures import make
from tabwb.media.figures.sheet import figure_bytes
from tests.media.figures.made import groups
made = make("burden", groups(2), command="tabwb figure burden --by model")
print(*[sha256(figure_bytes(made, name)).hexdigest() for name in ("pdf", "svg", "png")])
"""


def test_another_process_makes_the_same_bytes() -> None:
    root = Path(__file__).parents[3]
    paths = os.pathsep.join((str(root), str(root / "plugins")))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONHASHSEED": "17"}
    run = subprocess.run(
        [sys.executable, "-c", AGAIN], env=environment, capture_output=True, text=True, check=True
    )
    made = make("burden", groups(2), command=COMMAND)
    assert run.stdout.split() == [sha256(figure_bytes(made, name)).hexdigest() for name in FORMATS]


def test_a_file_says_what_it_shows(tmp_path: Path) -> None:
    made = make("burden", groups(2), command=COMMAND)
    content = figure_bytes(made, "pdf")
    assert b"/FontFile2" in content  # TrueType
    assert b"/Subtype /CIDFontType2" in content and b"DejaVuSans" in content
    assert b"CreationDate" not in content and b"ModDate" not in content
    assert b"/Title (Symptom burden with 95 % intervals)" in content
    assert f"tabwb {__version__}, matplotlib {mpl.__version__}".encode() in content
    keywords = re.search(rb"/Keywords \((.*?)\)", content)
    assert keywords is not None
    assert all(
        one in keywords[1] for one in (COMMAND.encode(), b"01890000-0000-7000-8000-000000000002")
    )
    content = figure_bytes(made, "svg")
    assert b"<text" not in content and b"<dc:date" not in content  # text is drawn as paths
    assert all(one.encode() in content for one in (COMMAND, RESEARCH_ONLY.split(".")[0]))
    with Image.open(save(made, tmp_path / "a.png", dpi=100)) as image:
        assert image.info["Title"] == "Symptom burden with 95 % intervals"
        assert image.info["Description"].endswith(RESEARCH_ONLY)
        assert COMMAND in image.info["Comment"]
        assert image.width == int(90 / 25.4 * 100)


def test_the_caption_stands_beside_the_file_and_not_in_it(tmp_path: Path) -> None:
    made = make("burden", groups(4))
    assert "mean number of features present" in made.facts.notes[0]
    assert not [words for words, _ in texts(made) if "mean number of features" in words]
    save(made, tmp_path / "a.svg")
    first, title, notes = (tmp_path / "a.svg.README.txt").read_text().strip().split("\n\n")
    assert (first, title) == (RESEARCH_ONLY, "Symptom burden with 95 % intervals.")
    assert notes == " ".join(made.facts.notes)
    save(make("burden", groups(4), caption=False), tmp_path / "b.svg")
    assert not (tmp_path / "b.svg.README.txt").exists()


def test_many_administrations_are_named_by_their_number_and_digest() -> None:
    uids = tuple(f"uid-{n}" for n in range(101))
    told = Facts("burden", "t", make("burden", groups(1)).facts.table, uids=uids).administrations
    whole = sha256("\n".join(sorted(uids)).encode()).hexdigest()
    assert told == f"101 administrations; SHA-256 of their sorted uids: {whole}"


def test_names_hold_no_folders_no_control_characters_and_no_formulas() -> None:
    made = make("burden", [group("replay:/home/ada/study/answers.jsonl")])
    assert made.facts.table["group"].to_list() == ["replay:answers.jsonl"]
    assert not any(b"/home/ada" in figure_bytes(made, name) for name in ("svg", "pdf"))
    made = make("burden", [group("a\x1b[31mb\tc $x^2$ <&>")])
    (name,) = made.facts.table["group"].to_list()
    assert name.isprintable() and "$x^2$" in name
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
    with pytest.raises(UsageError, match="jpg") as refused:
        save(made, tmp_path / "burden.jpg")
    assert refused.value.allowed == ".pdf, .svg, .png"


@pytest.mark.parametrize("footer", [True, False])
def test_the_footer_says_that_it_is_for_research_only(*, footer: bool) -> None:
    figure = make("burden", groups(1), footer=footer)
    found = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert (RESEARCH_ONLY in found) == footer and faults(figure) == []


def test_a_notebook_shows_a_figure_as_png() -> None:
    assert make("burden", groups(1))._repr_png_().startswith(b"\x89PNG")


@pytest.mark.filterwarnings("error")
def test_letters_that_the_font_lacks_are_told_in_the_caption() -> None:
    made, plain = (make("burden", [group(name)]) for name in ("日本語", "ɪɡˈzɑːmpl"))
    assert MISSING_LETTERS in made.facts.notes
    assert MISSING_LETTERS not in plain.facts.notes
    figure_bytes(made, "svg")
