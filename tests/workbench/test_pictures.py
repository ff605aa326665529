"""Pictures are read as another reader reads them, and come to the screen as half-blocks."""

from __future__ import annotations

import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from textual.app import App, ComposeResult

from tabwb.battery.loader import check_battery
from tabwb.records.errors import ComponentError, MissingExtra, UsageError
from tabwb.workbench.naming.picture_window import PictureWindow
from tabwb.workbench.naming.picture_window import drawn as drawn_for_window
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.pictures import (
    Picture,
    fitted,
    half_blocks,
    read_picture,
    read_rgba,
    scaled,
)
from tests.administer.naming_parts import naming_battery

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MODES = ["L", "LA", "RGB", "RGBA", "P", "1", "I;16"]


def drawn(mode: str, width: int = 37, height: int = 23) -> Image.Image:
    """Noise over a ramp, so that a writer uses all filters."""
    noise = np.random.default_rng(7).integers(0, 40, (height, width, 4))
    ramp = np.add.outer(np.arange(height) * 3, np.arange(width) * 2)[..., None]
    colours = ((noise + ramp) % 256).astype(np.uint8)
    if mode == "I;16":
        return Image.fromarray(colours[..., 0].astype(np.uint16) * 200)
    picture = Image.fromarray(colours)
    return picture if mode == "RGBA" else picture.convert("RGB").convert(mode)


def png_of(picture: Image.Image, **how: object) -> bytes:
    made = io.BytesIO()
    picture.save(made, "PNG", **how)
    return made.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    sum_ = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + sum_


@pytest.mark.parametrize("mode", MODES)
def test_every_colour_type_is_read_as_pillow_reads_it(mode: str) -> None:
    picture = drawn(mode)
    data = png_of(picture)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    if mode == "I;16":
        grey = (np.asarray(picture).astype(np.uint32) * 255 // 65535).astype(np.uint8)
        expected = np.dstack([grey, grey, grey, np.full_like(grey, 255)])
    assert np.array_equal(read_rgba(data), expected)


@pytest.mark.parametrize("kind", range(5))
def test_every_filter_is_undone(kind: int) -> None:
    rng = np.random.default_rng(kind)
    rows = rng.integers(0, 256, (9, 4 * 3)).astype(int).tolist()
    packed = bytearray()
    for y, row in enumerate(rows):
        packed.append(kind)
        for x, value in enumerate(row):
            left = row[x - 3] if x >= 3 else 0
            up = rows[y - 1][x] if y else 0
            corner = rows[y - 1][x - 3] if y and x >= 3 else 0
            near = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
            guess = [0, left, up, (left + up) // 2, near][kind]
            packed.append((value - guess) % 256)
    header = struct.pack(">IIBBBBB", 4, 9, 8, 2, 0, 0, 0)
    data = SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(packed)))
    read = read_rgba(data + chunk(b"IEND", b""))
    assert read[..., :3].reshape(9, 12).tolist() == rows


def test_a_palette_keeps_its_transparent_colour() -> None:
    picture = drawn("P")
    data = png_of(picture, transparency=picture.getpixel((0, 0)))
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    assert np.array_equal(read_rgba(data), expected)
    assert expected[0, 0, 3] == 0


def test_what_is_transparent_is_white_paper() -> None:
    picture = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    picture.putpixel((1, 0), (255, 0, 0, 128))
    assert read_picture(png_of(picture)).tolist() == [[[255, 255, 255], [255, 127, 127]]]


@pytest.mark.parametrize("cut", [8, 20, 60, -30])
def test_a_damaged_picture_is_named(cut: int) -> None:
    with pytest.raises(UsageError, match="damaged") as caught:
        read_rgba(png_of(drawn("RGB"))[:cut], "dog.png")
    assert caught.value.where == "dog.png"


def test_a_huge_picture_is_refused_unread() -> None:
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    data = SIGNATURE + chunk(b"IHDR", header) + chunk(b"IEND", b"")
    with pytest.raises(UsageError, match="too many pixels"):
        read_rgba(data)


def interlaced() -> bytes:
    """A grey picture of one pixel: the first pass of Adam7 holds it."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 1)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x7b"))
    return SIGNATURE + content + chunk(b"IEND", b"")


def test_an_interlaced_picture_passes_the_check_and_is_shown(tmp_path: Path) -> None:
    assert read_picture(interlaced()).tolist() == [[[123, 123, 123]]]
    battery = naming_battery(tmp_path)
    (tmp_path / "dog.png").write_bytes(interlaced())
    assert check_battery(battery) == ()


def test_other_formats_are_read() -> None:
    made = io.BytesIO()
    Image.new("RGB", (4, 4), (10, 20, 30)).save(made, "BMP")
    assert read_picture(made.getvalue(), "dog.bmp")[0, 0].tolist() == [10, 20, 30]
    with pytest.raises(UsageError, match="cannot be read"):
        read_picture(b"no picture at all", "dog.txt")


def test_scaling_keeps_the_mean_colour() -> None:
    pixels = np.asarray(drawn("RGB", 40, 30))
    small = scaled(pixels, 8, 6)
    blocks = pixels.reshape(6, 5, 8, 5, 3).mean(axis=(1, 3))
    assert np.abs(small.astype(float) - blocks).max() <= 0.5
    assert fitted(40, 30, 8, 100) == (8, 6)


def test_a_cell_holds_two_pixels_one_above_the_other() -> None:
    pixels = np.zeros((2, 1, 3), np.uint8)
    pixels[0, 0] = (255, 0, 0)
    pixels[1, 0] = (0, 0, 255)
    (row,) = half_blocks(pixels, 1, 1)
    (segment,) = row
    assert segment.text == "▀"
    assert segment.style is not None
    assert segment.style.color is not None and segment.style.bgcolor is not None
    assert segment.style.color.triplet == (255, 0, 0)
    assert segment.style.bgcolor.triplet == (0, 0, 255)


class Wall(App[None]):
    """One picture on the whole screen."""

    def compose(self) -> ComposeResult:
        yield Picture()


async def test_a_picture_stands_in_the_middle_and_goes_away() -> None:
    app = Wall()
    async with app.run_test(size=(30, 10)) as pilot:
        picture = app.query_one(Picture)
        picture.show(read_picture(png_of(Image.new("RGB", (100, 100), (1, 2, 3)))))
        await pilot.pause()
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert lines == [" " * 5 + "▀" * 20 + " " * 5] * 10
        picture.show(None)
        await pilot.pause()
        assert {strip.text.strip() for strip in app.screen._compositor.render_strips()} == {""}


def test_a_terminal_that_draws_pictures_is_asked_only_when_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.prepare_pictures({"TERM": "xterm-256color"})
    assert settings.picture_widget() is None
    with pytest.raises(UsageError, match="TABWB_PICTURES=ascii"):
        settings.prepare_pictures({"TABWB_PICTURES": "ascii"})
    monkeypatch.setitem(__import__("sys").modules, "textual_image", None)
    with pytest.raises(MissingExtra, match="pictures"):
        settings.prepare_pictures({"TABWB_PICTURES": "kitty"})
    settings.prepare_pictures({"TERM": "xterm-kitty"})
    assert settings.picture_widget() is None, "without the extra it is half-blocks"


def test_a_window_shows_the_picture_as_large_as_it_fits_with_a_white_edge() -> None:
    tall = Image.new("RGB", (30, 60), "black")
    shown = Image.open(io.BytesIO(drawn_for_window(png_of(tall), 1000, 500)))
    assert shown.size == (230, 460), "4 % of the window stay white on each side"


@pytest.mark.skipif(sys.platform != "linux", reason="only X11 can be without a display")
def test_without_a_display_the_picture_window_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(ComponentError, match="cannot be opened") as refused:
        PictureWindow(tmp_path / "picture")
    assert "f shows the picture in the terminal" in str(refused.value)
