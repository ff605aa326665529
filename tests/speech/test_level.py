"""Levels against the arithmetic of a sine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.speech.files import Samples
from tabwb.speech.level import CLIP_RUN, FLOOR_DBFS, Meter, full_scale_runs, level


def array(*values: float) -> Samples:
    return np.array(values, dtype=np.float32)


def test_a_sine_at_full_scale_has_an_rms_of_minus_3_01() -> None:
    t = np.arange(48_000) / 48_000
    told = level(np.sin(2 * np.pi * 1_000 * t).astype(np.float32))
    assert told.peak_dbfs == pytest.approx(0.0, abs=1e-3)
    assert told.rms_dbfs == pytest.approx(10 * np.log10(0.5), abs=1e-3)


def test_silence_has_a_level_that_can_be_shown() -> None:
    told = level(np.zeros(100, dtype=np.float32))
    assert (told.peak_dbfs, told.rms_dbfs, told.clipped) == (FLOOR_DBFS, FLOOR_DBFS, False)


@pytest.mark.parametrize(("in_a_row", "clipped"), [(1, False), (2, False), (3, True), (9, True)])
def test_three_samples_at_full_scale_light_the_clip_light(in_a_row: int, clipped: bool) -> None:
    assert level(array(0.2, *[1.0] * in_a_row, 0.2)).clipped is clipped


def test_the_largest_value_of_16_bits_is_full_scale() -> None:
    assert level(array(*[32767 / 32768] * 3)).clipped
    assert not level(array(*[0.999] * 3)).clipped


def test_a_change_of_sign_is_no_flat_top() -> None:
    assert not level(array(1.0, 1.0, -1.0, -1.0)).clipped


@given(
    st.lists(st.sampled_from([0.0, 1.0, 1.0, -1.0]), max_size=40),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_where_blocks_are_cut_does_not_change_how_often_it_clipped(
    values: list[float], cuts: list[int]
) -> None:
    whole = np.array(values, dtype=np.float32)
    meter = Meter()
    for block in np.split(whole, sorted(min(cut, len(values)) for cut in cuts)):
        meter.feed(block)
    # Counted a second way: by walking along the samples.
    expected = run = 0
    before = 0.0
    for value in values:
        run = run + 1 if value and value == before else int(bool(value))
        before = value
        expected += run == CLIP_RUN
    assert meter.clips == expected == len(full_scale_runs(whole))


def test_a_flat_top_across_two_blocks_lights_the_second() -> None:
    meter = Meter()
    assert not meter.feed(array(0.0, 1.0, 1.0)).clipped
    assert meter.feed(array(1.0, 0.0)).clipped
    assert not meter.feed(array(0.0, 1.0)).clipped
    assert meter.clips == 1
