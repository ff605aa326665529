"""What the laboratory and a sweep tell the screen."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.lesion.declared import Part
from tabwb.records.errors import UsageError
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural, time_left

if TYPE_CHECKING:
    from tabwb.workbench.lesions.laboratory import Pair

MOST_WORKERS = 256


@dataclass(frozen=True, slots=True)
class LaboratoryState:
    """The model of the laboratory.

    Attributes:
        phase: ``loading``, ``ready``, ``asking``, ``closed`` or ``refused``.
        words: what is done, or why it was refused.
        lesion: under which the model answers now; empty: intact.
        parts: what can be lesioned; empty: no model is loaded.
        parameters: how many the model has.
    """

    phase: str
    model: str = ""
    words: str = ""
    lesion: str = ""
    parts: Sequence[Part] = ()
    parameters: int = 0


@dataclass(frozen=True, slots=True)
class ItemsKnown:
    """The items of a battery; ``problem`` says why there are none."""

    battery: str
    items: Sequence[PlannedTrial] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PairsGiven:
    """Answers of the intact and the lesioned model, as they come."""

    pairs: Sequence[Pair]

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, PairsGiven)


@dataclass(frozen=True, slots=True)
class SweepWish:
    """What the page of sweeps asks for, as it was typed."""

    battery: str
    model: str
    grid: str
    workers: str = "1"

    def checked(self) -> int:
        """Return the number of workers."""
        for value, field in ((self.battery, "battery"), (self.model, "model"), (self.grid, "grid")):
            if not value:
                raise UsageError(f"a {field} is needed", where=field)
        workers = int(self.workers) if self.workers.isdecimal() else 0
        if not 1 <= workers <= MOST_WORKERS:
            raise UsageError(
                f"'{self.workers}' cannot be used",
                where="workers",
                allowed=f"a whole number, 1 to {MOST_WORKERS}",
            )
        return workers

    def command(self, store: str | None) -> str:
        """Return the command line that does the same.

        >>> SweepWish("tab", "bundled", "my grid.toml", "2").command(None)
        "tabwb lesion sweep tab --model bundled --grid 'my grid.toml' --workers 2"
        """
        words = ["tabwb", "lesion", "sweep", self.battery, "--model", self.model]
        words += ["--grid", self.grid, "--workers", self.workers]
        return shlex.join([*words, *(["--store", store] if store else [])])


@dataclass(frozen=True, slots=True)
class SweepState:
    """How far a sweep is.

    Attributes:
        phase: ``loading``, ``running``, ``stopping``, ``done``, ``stopped``, ``failed`` (conditions
            failed; the others are stored), ``refused`` (it could not begin) or ``planned`` (a dry
            run ended).
        wish: what was asked for.
        name: of the sweep, which is the tag of its administrations.
        planned: number of conditions.
        before: of these, done before it was started.
        given: done since then.
        items: answers stored since then.
        begun: conditions that were begun since then and have not ended.
        failures: spec and reason of each condition that failed.
        recent: conditions that were given since then, the latest first, some of them.
        seconds: since the first condition was begun.
        words: what is done, or why it was refused.
        dry: nothing is given, it is only planned.
        forecast: what a dry run found, in words.
        conditions: of a dry run, role and name of each.
    """

    phase: str
    wish: SweepWish
    name: str = ""
    planned: int = 0
    before: int = 0
    given: int = 0
    items: int = 0
    begun: frozenset[str] = frozenset()
    failures: tuple[tuple[str, str], ...] = ()
    recent: tuple[str, ...] = ()
    seconds: float = 0.0
    words: str = ""
    dry: bool = False
    forecast: tuple[str, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()

    @property
    def active(self) -> bool:
        """Whether it works."""
        return self.phase in {"loading", "running", "stopping"}

    @property
    def left(self) -> int:
        """Number of conditions that are not done."""
        return self.planned - self.before - self.given - len(self.failures)

    @property
    def time_left(self) -> str:
        """The time that is left, in words; empty before one condition is done."""
        if self.phase != "running" or not self.given:
            return ""
        return time_left(self.seconds / self.given * self.left).strip()

    @property
    def summary(self) -> str:
        """Counts, in words."""
        done = self.before + self.given
        words = f"{done} of {plural(self.planned, 'condition')} done"
        words += f", {self.before} of them before" if self.before else ""
        if self.active and self.begun:
            words += f", {len(self.begun)} running, {plural(self.items, 'item')} answered"
        return words + (f", {len(self.failures)} failed" if self.failures else "")

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, SweepState) and self.phase == later.phase == "running"
