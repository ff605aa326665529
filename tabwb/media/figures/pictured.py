"""The figures of a report as SVG, each with the words that stand in its place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from tabwb.media.over_sessions import followed
from tabwb.media.studied import Studied
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised

if TYPE_CHECKING:
    from tabwb.media.figures.page import PaperFigure

DRAWN = ("burden", "accuracy", "profile")
"""Figures that need no further choice; those without data are left out."""
LESIONED = (("dose", "burden"), ("dose", "accuracy"), ("map", "burden"))
"""Figures of lesions, each with its measure."""
WIDTH = "double"
MOST_FOLLOWED = 6
"""Of so many participants the sessions are drawn; the tables have those of all."""
MOST_DRAWN = 60
"""With more groups a figure has more rows than a page."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """A figure of a report.

    Attributes:
        title: of the figure, with its battery where there are several.
        svg: the file's content.
        notes: the sentences below it.
    """

    id: str
    title: str
    svg: bytes
    notes: tuple[str, ...]

    @property
    def alternative(self) -> str:
        """What stands for the figure where it cannot be seen."""
        told = " ".join((f"{self.title}.", *self.notes))
        return f"{told} The numbers are in the tables of this report."


def pictured(about: Studied, command: str = "") -> tuple[tuple[Pictured, ...], str]:
    """Return the figures, and why there are none; empty where there are some."""
    from tabwb.media import figures

    found: list[Pictured] = []
    many = 0
    try:
        for battery in about.batteries:
            rows = [
                row for row in about.drawn_rows if row.battery.content_hash == battery.content_hash
            ]
            of = f"{battery.title}: " if len(about.batteries) > 1 else ""
            for name, measure in LESIONED if _has_lesions(rows) else ():
                with suppress(UsageError):  # lesions of one amount only, or of all layers
                    made = figures.make(
                        name, rows, width=WIDTH, caption=False, command=command, measure=measure
                    )
                    found.append(_pictured(f"{name}-{measure}-{battery.id}", of, made))
            if len(rows) > MOST_DRAWN:
                many = len(rows)
                continue
            for name in DRAWN:
                with suppress(UsageError):  # these groups have nothing that it shows
                    made = figures.make(name, rows, width=WIDTH, caption=False, command=command)
                    found.append(_pictured(f"{name}-{battery.id}", of, made))
        shown = list(islice(followed(about), MOST_FOLLOWED + 1))
        for own in shown if len(shown) <= MOST_FOLLOWED else ():
            sessions = summarised(grouped(own.members, ("administration",)))
            sets = ",".join(own.sets)
            made = figures.make(
                "change", sessions, width=WIDTH, caption=False, command=command, sets=sets
            )
            id_ = f"change-{own.battery.id}-{len(found)}"
            found.append(_pictured(id_, f"{own.battery.title}: ", made))
    except MissingExtra as missing:
        return (), f"{missing.message}. {missing.hint}"
    if many:
        why = f"No figure of {many} groups is drawn: {MOST_DRAWN} fit on a page."
        return tuple(found), why
    return tuple(found), "" if found else "No figure can be drawn of these results."


def _has_lesions(rows: Sequence[Grouped]) -> bool:
    return any(one.administration.conditions.lesion for row in rows for one in row.group.members)


def _pictured(id_: str, of: str, made: PaperFigure) -> Pictured:
    from tabwb.media.figures.saving import figure_bytes

    return Pictured(id_, f"{of}{made.facts.title}", figure_bytes(made, "svg"), made.facts.notes)
