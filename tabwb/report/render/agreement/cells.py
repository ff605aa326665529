"""Numbers of agreement as cells: each with its interval, its counts, or a dash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tabwb.agreement.calibration import Share
from tabwb.agreement.compare import OverFeatures
from tabwb.records.words import NONE
from tabwb.report.names import judge_names
from tabwb.report.render.wording import figure
from tabwb.report.summaries.agreement.report import AgreementReport
from tabwb.report.summaries.agreement.stated import interval_of
from tabwb.scoring.estimate import Interval
from tabwb.tables.rounding import ends_of


def ends(interval: Interval | None) -> str:
    """Return both ends of an interval that may be negative, or a dash.

    >>> ends(Interval(-0.1, 0.25)), ends(None)
    ('-0.10 to 0.25', '-')
    """
    return NONE if interval is None else " to ".join(ends_of(interval.low, interval.high, 2))


def of_features(value: float | None, features: int) -> str:
    """Return a mean over features with their number.

    >>> of_features(0.286, 15), of_features(None, 0)
    ('0.286 (15)', '- (0)')
    """
    return f"{figure(value, 3)} ({features})"


def over(mean: OverFeatures | None) -> str:
    """Return a mean over features with their number; a dash where nothing was compared."""
    return NONE if mean is None else of_features(mean.value, mean.features)


def with_ends(mean: OverFeatures | None) -> str:
    """Return a mean over features with its interval and their number."""
    if mean is None or mean.value is None:
        return NONE
    interval = interval_of(mean)
    within = "" if interval is None else f" [{ends(interval)}]"
    return f"{figure(mean.value, 3)}{within} ({mean.features})"


def share(given: Share) -> str:
    """Return a share with its interval, or a dash."""
    if given.value is None:
        return NONE
    low_high = "" if given.interval is None else f" {ends(given.interval)}"
    return f"{figure(given.value)}{low_high}"


def rounded(value: float) -> str:
    """Return a number, or a dash for NaN."""
    return figure(None if np.isnan(value) else float(value))


def remarks(lines: Iterable[str]) -> list[RenderableType]:
    """Return sentences below a table, and an empty line after them."""
    given = [Padding(Text(line, style="dim"), (0, 0, 0, 1)) for line in lines if line]
    return [*given, Text()] if given else []


def grouped(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """Return why values are undefined, each reason once with the features that it is of.

    >>> grouped([("Jargon", "no rater varies"), ("Off-topic", "no rater varies")])
    ['no rater varies: Jargon, Off-topic']
    """
    found: dict[str, list[str]] = {}
    for title, reason in reasons:
        found.setdefault(reason, []).append(title)
    return [f"{reason}: {', '.join(titles)}" for reason, titles in found.items()]


def short_names(report: AgreementReport) -> Mapping[str, str]:
    """Return what raters are called in tables: a judge without the options of its model."""
    return judge_names(report.rated.raters)


def joined(names: Sequence[str]) -> str:
    """Return names with commas, the last after "and".

    >>> joined(["R1", "R2", "R3"])
    'R1, R2 and R3'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
