"""Change over sessions, phoneme confusions and latencies, counted by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import pytest
from matplotlib.patches import Rectangle
from scipy import stats

from tabwb.media.figures import drawn, figure_table, make
from tabwb.media.figures.confusion import Steps, confusion_table, corpus_steps
from tabwb.media.figures.estimates import records
from tabwb.media.figures.page import PaperFigure
from tabwb.media.figures.source import TimedGroup
from tabwb.media.studied import studied
from tabwb.phonology.batch import score
from tabwb.phonology.costs import psst_costs
from tabwb.phonology.inventory import CLASSES
from tabwb.records.errors import UsageError
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.quantiles import median_interval, quantile
from tests.analysis.test_pairs import given, words
from tests.media.figures.looks import faults, texts
from tests.media.figures.test_numbers import drawn as lines
from tests.media.figures.test_numbers import panels
from tests.report.given import CONDITIONS

RIGHT = ("lion", "boot", "knife")


def session(number: int, day: str, *right: bool) -> AdministrationData:
    said = (answer if ok else "nothing" for answer, ok in zip(RIGHT, right, strict=True))
    made = replace(CONDITIONS, examinee="S-014", kind="speaker", session_date=day)
    return given(number, made, *words(*said))


def groups(*chosen: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("administration",)))


def timed(
    chosen: Sequence[AdministrationData], times: Sequence[Sequence[float]]
) -> list[TimedGroup]:
    return [
        TimedGroup(row.group, row.summary, tuple(own))
        for row, own in zip(groups(*chosen), times, strict=True)
    ]


THREE = groups(
    session(2, "2026-02-01", True, False, True),
    session(1, "2026-01-01", False, False, True),
    session(3, "2026-03-01", True, True, True),
)


class TestChange:
    """Three sessions of one participant with three items."""

    def test_sessions_are_in_order_of_day_and_items_in_the_batterys(self) -> None:
        rows = [row for row in records(figure_table("change", THREE)) if row["row"] == "answer"]
        assert [(row["item"], row["date"], row["right"]) for row in rows[:3]] == [
            ("wc1", "2026-01-01", False), ("wc1", "2026-02-01", True), ("wc1", "2026-03-01", True),
        ]  # fmt: skip
        assert list(dict.fromkeys(row["item"] for row in rows)) == ["wc1", "wc3", "wc4"]

    def test_shares_have_exact_intervals(self) -> None:
        (axes,) = panels(make("change", THREE))
        (line,) = (line for line in axes.lines if line.get_gid() == "value")
        assert line.get_ydata() == pytest.approx([1 / 3, 2 / 3, 1])
        ends = [list(bar.get_ydata()) for bar in axes.lines if bar.get_gid() == "interval"]  # type: ignore[arg-type]
        exact = [clopper_pearson(n, 3) for n in (1, 2, 3)]
        assert ends == [[one.low, one.high] for one in exact if one is not None]

    def test_cells_are_dark_white_or_hatched(self) -> None:
        missing = session(4, "2026-04-01", True, True, True)
        missing = replace(missing, trials=missing.trials[:2])
        figure = make("change", (*THREE, *groups(missing)))
        (axes,) = (axes for axes in figure.axes if axes.get_label() == "answers")
        cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        kinds = [str(patch.get_gid()) for patch in cells]
        assert kinds == [
            *("wrong", "right", "right", "right"),
            *("wrong", "wrong", "right", "right"),
            *("right", "right", "right", "undefined"),
        ]
        assert cells[-1].get_hatch()

    def test_the_first_and_the_last_session_are_compared_in_the_notes(self) -> None:
        (note,) = (note for note in figure_table("change", THREE).notes if "McNemar" in note)
        assert note == (
            "Session 1 to 3, McNemar's exact test, two-sided: all items: 2 items gained, 0 lost, "
            "p = 0.5."
        )
        (corrected,) = (note for note in figure_table("change", THREE).notes if "Holm" in note)
        assert "p = 1" in corrected

    def test_sessions_stand_by_their_days(self) -> None:
        (axes,) = panels(make("change", THREE))
        (line,) = (line for line in axes.lines if line.get_gid() == "value")
        # 0, 31 and 59 days, over the width of three sessions.
        assert line.get_xdata() == pytest.approx([1, 1 + 2 * 31 / 59, 3])
        unknown = make("change", studied(THREE).drawn_rows)
        (line,) = (line for line in panels(unknown)[0].lines if line.get_gid() == "value")
        assert line.get_xdata() == pytest.approx([1, 2, 3])

    def test_the_participant_is_numbered_in_every_text_of_the_figure(self) -> None:
        table = figure_table("change", studied(THREE).drawn_rows)
        assert any(note.startswith("participant 1. Dark") for note in table.notes)
        assert "S-014" not in " ".join(map(str, (*table.notes, *table.rows())))
        dates = {row["session"]: row["date"] for row in records(table)}
        assert dates == {1: "session 1", 2: "session 2", 3: "session 3"}
        named = figure_table("change", studied(THREE, study_ids=True).drawn_rows)
        assert any(note.startswith("S-014. Dark") for note in named.notes)

    def test_one_session_or_several_participants_are_refused(self) -> None:
        with pytest.raises(UsageError, match="one session"):
            make("change", THREE[:1])
        other = session(9, "2026-02-01", True, True, True)
        given = other.administration
        other = replace(
            other,
            administration=replace(given, conditions=replace(given.conditions, examinee="S-2")),
        )
        with pytest.raises(UsageError, match="2 participants: S-014, S-2"):
            make("change", (*THREE, *groups(other)))

    def test_texts_have_their_own_place(self) -> None:
        assert faults(make("change", THREE, baselines="1")) == []


class TestConfusion:
    """Phonemes aligned by features."""

    def test_steps_are_counted_with_their_share_of_the_target(self) -> None:
        steps = {("K", "K"): 3, ("K", "T"): 1, ("AE", "AE"): 4, ("T", None): 2, (None, "S"): 1}
        rows = records(confusion_table(steps, ["Phonemes."]))
        assert [(row["target"], row["heard"], row["n"], row["of"]) for row in rows] == [
            ("t", None, 2, 2), ("k", "t", 1, 4), ("k", "k", 3, 4), ("æ", "æ", 4, 4),
            (None, "s", 1, 1),
        ]  # fmt: skip
        assert [row["value"] for row in rows] == [1, 0.25, 0.75, 1, 1]

    def test_steps_of_a_corpus_are_those_of_its_alignments(self) -> None:
        costs = psst_costs()
        scores = score([("K", "AE", "T"), ("D", "AO", "G")], [("T", "AE", "T"), ("D", "AO")], costs)
        assert corpus_steps(scores) == {
            ("K", "T"): 1, ("AE", "AE"): 1, ("T", "T"): 1, ("D", "D"): 1, ("AO", "AO"): 1,
            ("G", None): 1,
        }  # fmt: skip

    def test_cells_have_the_number_of_steps(self) -> None:
        steps: Steps = {("K", "K"): 3, ("K", "T"): 1, ("T", None): 2}
        figure = drawn("confusion", confusion_table(steps, ["Phonemes."]))
        (axes,) = (axes for axes in figure.axes if axes.get_label() == "confusion")
        assert sorted(text.get_text() for text in axes.texts) == ["1", "2", "3"]
        assert any("∅" in note for note in figure.facts.notes)

    def test_nothing_transcribed_is_nothing_to_draw(self) -> None:
        with pytest.raises(UsageError, match="no response has been transcribed"):
            make("confusion", THREE)

    def test_all_phonemes_have_their_own_place(self) -> None:
        every = [name for members in CLASSES.values() for name in members]
        some = random.Random(1)
        steps: Steps = {
            **{(a, some.choice(every)): 30 for a in every},
            **{(None, a): 2 for a in every},
        }
        figure = drawn("confusion", confusion_table(steps, ["Phonemes."]))
        assert faults(figure) == []


class TestLatency:
    """Latencies of replies."""

    def test_the_median_has_its_exact_interval(self) -> None:
        """P[X_(k) <= median <= X_(n-k+1)], k = 2 of 10: 1 - 2 P[Bin(10, 1/2) <= 1] = 0.979."""
        values = [float(n) for n in range(1, 11)]
        found = median_interval(values)
        assert found is not None and (found.low, found.high) == (2, 9)
        assert 1 - 2 * stats.binom(10, 0.5).cdf(1) > 0.95 > 1 - 2 * stats.binom(10, 0.5).cdf(2)

    @pytest.mark.parametrize("n", [6, 7, 17, 60, 181, 14_000])
    def test_the_interval_is_the_narrowest_that_covers(self, n: int) -> None:
        found = median_interval([float(k) for k in range(1, n + 1)])
        assert found is not None
        outside = 2 * stats.binom(n, 0.5).cdf(found.low - 1)
        assert outside <= 0.05 < 2 * stats.binom(n, 0.5).cdf(found.low)
        assert found.low + found.high == n + 1

    def test_quantiles_are_those_of_numpy(self) -> None:
        import numpy as np

        values = [0.3, 1.7, 0.2, 5.0, 0.9, 2.2]
        for share in (0.0, 0.05, 0.25, 0.5, 0.95, 1.0):
            assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)))

    def test_points_are_medians_and_boxes_quartiles(self) -> None:
        chosen = [
            session(1, "2026-01-01", True, True, False),
            session(2, "2026-02-01", *[True] * 3),
        ]
        times = [[0.5, 1.0, 4.0], [0.25, 0.5, 0.75]]
        figure = make("latency", timed(chosen, times))
        (axes,) = panels(figure)
        assert lines(axes, "value") == [[median(own)] for own in times]
        assert lines(axes, "interval") == []  # three latencies have none
        boxes = [patch.get_bbox() for patch in axes.patches if patch.get_gid() == "band"]  # type: ignore[attr-defined]
        assert [(box.x0, box.x1) for box in boxes] == [(0.75, 2.5), (0.375, 0.625)]
        assert faults(figure) == []

    def test_latencies_below_a_second_are_drawn_in_smaller_units(self) -> None:
        def drawn(time: float) -> PaperFigure:
            one = session(1, "2026-01-01", True, True, True)
            return make("latency", timed([one], [[time] * 3]))

        for time, unit, value in ((2.0, "s", 2.0), (0.25, "ms", 250.0), (2e-5, "µs", 20.0)):
            figure = drawn(time)
            (axes,) = panels(figure)
            assert lines(axes, "value") == [[pytest.approx(value)]]
            assert f"latency ({unit})" in [words for words, _ in texts(figure)]
            assert axes.xaxis.get_offset_text().get_text() == ""
            assert figure.facts.table["value"].to_list() == [time]  # the table is in seconds
