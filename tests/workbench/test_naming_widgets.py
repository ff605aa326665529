"""The widgets of spoken naming, each fed with a snapshot."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from tabwb.phonology.distance import align_features, indel_cost
from tabwb.scoring.naming.target import CODES, FLAGS
from tabwb.speech.level import Level
from tabwb.workbench.naming.dialogs import CODE_KEYS, FLAG_KEYS
from tabwb.workbench.naming.item_list import ItemList, score_lines, strip
from tabwb.workbench.naming.meters import CLIP_HELD_S, LevelMeter, ResponseClock
from tabwb.workbench.naming.view_models import NamedItem
from tabwb.workbench.shell import settings
from tabwb.workbench.shell.rule_verdicts import Aligned, alignment_lines, change_lines


class Stage(App[None]):
    """One widget, in one of our themes."""

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        for theme in settings.THEMES:
            self.register_theme(theme)
        self.theme = "dark"
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget

    @property
    def text(self) -> str:
        strips = self.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips).rstrip()


def test_every_code_and_flag_has_a_letter_of_its_own() -> None:
    assert sorted(CODE_KEYS.values()) == sorted(CODES)
    assert sorted(FLAG_KEYS.values()) == sorted(FLAGS)
    assert all(key.islower() for key in CODE_KEYS) and all(key.isupper() for key in FLAG_KEYS)


def test_codes_stand_below_the_score_that_they_belong_to() -> None:
    items = (
        NamedItem("bed", "scored", True),
        NamedItem("cat", "scored", False, "semantic", is_code=True),
        NamedItem("dog", "scored", False, "semantic", is_code=True),
        NamedItem("axe", "scored", False),
        NamedItem("key", "scored", False, "no response"),
    )
    lines = [" ".join(line.plain.rsplit(None, 1)) for line in score_lines(items, 30)]
    assert lines[1:] == ["error 3", "  semantic 2", "right 1", "no response 1"]


async def test_the_clip_light_stays_on_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(
        "tabwb.workbench.naming.meters.time", SimpleNamespace(monotonic=lambda: now[0])
    )
    meter = LevelMeter()
    app = Stage(meter)
    async with app.run_test(size=(60, 3)) as pilot:
        meter.show(Level(0.0, clipped=True))
        meter.show(Level(-20.0))
        await pilot.pause()
        assert "! clipped" in app.text
        now[0] += CLIP_HELD_S
        meter.show(Level(-20.0))
        await pilot.pause()
        assert app.text.endswith("-20 dBFS  ok")


async def test_at_the_limit_the_clock_says_so_and_goes_on() -> None:
    clock = ResponseClock()
    app = Stage(clock)
    elapsed = [19.9]
    async with app.run_test(size=(40, 3)) as pilot:
        clock.run(lambda: elapsed[0], 20.0)
        await pilot.pause()
        assert "!" not in app.text
        elapsed[0] = 25.0
        await pilot.pause(0.25)
        assert app.text.endswith("! limit 20 s   25.0 s")


def test_a_substitution_tells_the_features_that_changed_and_what_it_costs() -> None:
    """The alignment of figure 1 (PSST): voice is what tells G from K, and costs one feature."""
    steps = align_features(["D", "G", "AH"], ["D", "K"]).steps
    aligned = Aligned(steps, 0.5, 0.3)
    lines = [*alignment_lines(aligned, 60, costs=True), *change_lines(aligned)]
    assert [line.plain for line in lines] == [
        "d  ɡ  ʌ",
        "d  k  ·",
        "=  ~  -",
        f"   1  {indel_cost('AH'):g}",
        "ɡ ~ k  1  +voice → -voice",
    ]


def test_a_long_response_continues_in_a_further_block() -> None:
    aligned = Aligned(align_features(["AA"] * 10, ["AA"] * 10).steps, 0.0, 0.0)
    lines = [line.plain for line in alignment_lines(aligned, 20, costs=False)]
    text = "\n".join(lines)
    assert text.count("ɑ") == 20
    assert text.count("=") == 10
    assert lines.count("") == 1
    assert max(map(len, lines)) <= 20


def test_the_strip_keeps_the_present_item_in_sight() -> None:
    items = [NamedItem(f"word{at}", "scored", at % 2 == 0) for at in range(30)]
    items += [NamedItem("dog", "now"), *(NamedItem(f"next{at}", "open") for at in range(29))]
    line = strip(items, 76, hidden=False).plain
    assert "31 dog ▸   29 left" in line
    assert "dog" not in strip(items, 76, hidden=True).plain
    assert "next" not in line, "the speaker may read what comes"
    assert line.startswith("…")
    assert line.endswith("15 of 30 right")
    assert len(line) == 76


async def test_the_list_is_scrolled_to_the_present_item() -> None:
    items = [NamedItem(f"word{at}", "scored", True) for at in range(30)]
    listed = ItemList()
    app = Stage(listed)
    async with app.run_test(size=(24, 10)) as pilot:
        listed.show([*items, NamedItem("dog", "now"), NamedItem("house", "open")])
        await pilot.pause()
        assert "31 " in app.text and "▸" in app.text
        assert "dog" not in app.text and "house" not in app.text
        assert "word29 " in app.text and "word0 " not in app.text
