"""Groups with made-up responses for figures, and what is seen in a figure: texts, panels, lines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Group, Grouped
from tabwb.analysis.statistics.accuracy import Tally
from tabwb.analysis.statistics.burden import Judge
from tabwb.analysis.statistics.results import Result, Results, Terms, count
from tabwb.battery.model import Subtest
from tabwb.media.figures.sheet import fixed_style
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Scope
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.rules.passage import FEATURES, TWO_SIDED
from tabwb.tables.table import Table
from tests.analysis.given import BATTERY, administration
from tests.scoring.rated_responses import RatedResponse, symptom_burden

SEVEN = tuple(name for name in FEATURES if name in TWO_SIDED)
NAMES = (
    "Llama-3.2-1B", "Llama-3.2-1B-Instruct", "Qwen2.5-0.5B", "Qwen2.5-0.5B-Instruct",
    "pythia-1.4b + mlp.down:zero:0.3@seed=7", "gpt2", "SmolLM2-1.7B",
    "openai:org/a-model-with-a-very-long-name-for-a-figure-2026-07-01-preview@base_url=http://localhost:8000/v1",
    "OLMo-2-0425-1B", "gemma-3-1b-it",
)  # fmt: skip


def judge(
    profiles: Sequence[Sequence[Sequence[str] | None]],
    features: Sequence[str] = SEVEN,
    rater: str = "rules-2",
    scope: Scope = "connected-text",
) -> Judge:
    """A judge: by item, the features present in each response; None is unusable."""
    rated = [
        RatedResponse(
            ("text", f"ct{item}"),
            f"text {item} {n}",
            12,
            None if present is None else frozenset(present),
            "refused" if present is None else "",
            "refused" if present is None else "",
        )
        for item, responses in enumerate(profiles)
        for n, present in enumerate(responses)
    ]
    burden = symptom_burden(rated, features, interval=True)
    return Judge(Terms(rater, tuple(features), scope, None), burden)


def subtest(name: str, items: Sequence[tuple[int, int]], **baselines: float) -> Iterator[Result]:
    """A subtest: of each item, right responses and responses."""
    tally = Tally(tuple(right for right, _ in items), tuple(n for _, n in items))
    own = Result("", Estimate(0.0), name)
    yield from (tally.result(own, "accuracy", policy) for policy in POLICIES)
    for baseline, value in baselines.items():
        yield Result(baseline, Estimate(value), name)
    for number in ("planned", "answered", "counted"):
        yield count(number, tally.n, name)


def results_of(
    judges: Sequence[Judge], rows: Sequence[Result] = (), parts: Sequence[Subtest] | None = None
) -> Results:
    """Results of judges and of subtests; texts were given where these parts have any."""
    given = BATTERY.subtests if parts is None else parts
    counts = (
        count("responses", 60), count("distinct", 20), count("usable", 0),
        Tally((), ()).result(Result("", Estimate(0.0), "text"), "accuracy", "exact"),
        *(count(number, 15, "text") for number in ("planned", "answered", "counted")),
        *(row for one in judges for row in one.counts()),
    )  # fmt: skip
    rows = (
        Result("words_mean", Estimate(12.0)), *rows,
        *(row for one in judges for row in one.results()),
    )  # fmt: skip
    return Results(rows, counts, battery=BATTERY, parts=given, judges=judges)


def grouped(name: str, results: Results, number: int = 1) -> Grouped:
    """A group of one administration with results."""
    given = administration(number, Conditions(name, "model"))
    return Grouped(Group("model", name, (AdministrationData(given, BATTERY, ()),)), results)


def group(
    name: str,
    number: int = 1,
    *,
    load: float = 0.2,
    right: float = 0.6,
    usable: float = 1.0,
    judged: bool = True,
    replicates: int = 3,
) -> Grouped:
    """A group whose responses are drawn with the seed ``number``."""
    drawn = random.Random(number)

    def items(n: int) -> list[tuple[int, int]]:
        return [
            (sum(drawn.random() < right for _ in range(replicates)), replicates) for _ in range(n)
        ]

    profiles = [
        [
            [name for name in SEVEN if drawn.random() < load] if drawn.random() < usable else None
            for _ in range(replicates)
        ]
        for _ in range(5)
    ]
    rows = (
        *subtest("words", items(5), always_first=1.0, guessing=1 / 6),
        *subtest("sentences", items(5), always_yes=0.6, guessing=0.5),
        *subtest("repetition", items(5)),
    )
    return grouped(name, results_of([judge(profiles)] if judged else [], rows), number)


def groups(n: int) -> tuple[Grouped, ...]:
    """Groups of which the third, if any, has few usable responses and the fourth no judge."""
    made = []
    for at in range(n):
        name = NAMES[at % len(NAMES)] + (f" ({at // len(NAMES) + 1})" if at >= len(NAMES) else "")
        made.append(
            group(
                name,
                at + 1,
                load=0.05 + 0.4 * (at % 7) / 7,
                right=0.2 + 0.8 * (at % 5) / 5,
                usable=0.3 if at == 2 else 0.95,
                judged=at != 3,
            )
        )
    return tuple(made)


def records(table: Table) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns."""
    return table.to_dicts()


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if str(axes.get_label()).startswith("panel")]


def drawn(axes: Axes, gid: str, of: str = "x") -> list[list[float]]:
    """The x or y values of every line of a kind, from the top."""
    lines = [line for line in axes.lines if line.get_gid() == gid]
    lines.sort(key=lambda line: float(np.asarray(line.get_ydata())[0]))
    return [np.asarray(getattr(line, f"get_{of}data")()).astype(float).tolist() for line in lines]


def cells(axes: Axes, gid: str = "cell") -> list[Any]:
    return [patch for patch in axes.patches if patch.get_gid() == gid]


def words(axes: Axes, gid: str) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_gid() == gid]


SLACK = 1.2
"""Pixels at 100 dots per inch."""


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every visible text with its place in pixels."""
    with fixed_style():
        figure.set_dpi(100)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # type: ignore[no-untyped-call]
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        beyond = {
            text
            for axis in figure.findobj(Axis)
            if isinstance(axis, Axis)
            for tick in axis.get_major_ticks()
            if not min(ends := axis.get_view_interval()) <= tick.get_loc() <= max(ends)
            for text in (tick.label1, tick.label2)
        }  # of ticks that are not drawn
        return [
            (text.get_text(), text.get_window_extent(renderer))
            for text in figure.findobj(Text)
            if isinstance(text, Text) and text.get_visible() and text.get_text().strip()
            and text not in beyond
        ]  # fmt: skip


def faults(figure: Figure) -> list[str]:
    """Texts outside of the figure, and pairs that overlap."""
    found = texts(figure)
    width, height = figure.get_size_inches() * 100 + SLACK
    x0, y0, x1, y1 = np.array([box.extents for _, box in found]).T
    outside = (x0 < -SLACK) | (y0 < -SLACK) | (x1 > width) | (y1 > height)
    across = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0)
    down = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
    pairs = np.argwhere(np.triu((across > SLACK) & (down > SLACK + 2), 1))
    return [
        *(f"outside: {found[at][0]}" for at in np.flatnonzero(outside)),
        *(f"{found[one][0]} | {found[other][0]}" for one, other in pairs),
    ]
