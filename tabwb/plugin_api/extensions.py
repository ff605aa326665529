"""What plugins add to results: statistics, commands, and result pages of the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tabwb.battery.task_type import TaskType
from tabwb.records.columns import Column
from tabwb.records.speakers import SubjectKind

if TYPE_CHECKING:
    import click
    import numpy as np
    from numpy.typing import NDArray

    from tabwb.battery.model import Battery
    from tabwb.operations.operation import Operation
    from tabwb.tables.table import Table

LIMIT_S = 60.0
"""Seconds that a statistic or page of a plugin may take, unless it declares others."""


@dataclass(frozen=True, slots=True)
class StatisticValue:
    """One value of a statistic.

    Attributes:
        value: None where it is undefined.
        low, high: ends of its 95 % interval for prompts like these, or None.
        n: responses behind it; None: all that the function was given.
        reason: why it is undefined, or why there is no interval.
        of: what it belongs to where a statistic has several values (a feature, a tag); empty where
            it has one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """The responses of a group of administrations that count, one row for each.

    Attributes:
        battery: what was given.
        table: columns ``administration`` (its number), ``subtest``, ``item``, ``replicate``,
            ``response``, ``words``, ``status`` and ``usable``.
        raters: rater to the measures that it gave.
        values: a function of rater and measure: the values of the ratings, float64, shape
            (responses,), nan where there is none.
        judges: judge to the features of its set, which its burden is over.
    """

    battery: Battery
    table: Table
    raters: Mapping[str, tuple[str, ...]]
    values: Callable[[str, str], NDArray[np.float64]]
    judges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def burdens(self, judge: str) -> NDArray[np.float64]:
        """Return how many features of a judge's set are present in each response.

        It is nan where a response is unusable or a feature has no value.
        """
        import numpy as np

        values = np.stack([self.values(judge, feature) for feature in self.judges[judge]])
        present = (values != 0).sum(axis=0) + values.sum(axis=0) * 0
        return np.where(self.table["usable"].values, present, np.nan)

    def item_means(self, *values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the means of items over the responses that have all of several values.

        It is one array for each of the values, then how many such responses each item has.
        """
        import numpy as np

        subtests, items = (self.table[name].values.astype(np.int64) for name in ("subtest", "item"))
        places = subtests * (items.max(initial=0) + 1) + items
        known = ~np.isnan(np.sum(values, axis=0))
        at, n = np.unique(places[known], return_inverse=True, return_counts=True)[1:]
        return [*(np.bincount(at, one[known], len(n)) / n for one in values), n.astype(float)]


Computed = StatisticValue | float | None | Iterable[StatisticValue]
"""What the function of a statistic returns; None is undefined."""


Per = Literal["group", "subtest"]
"""What the function of a statistic is called for."""
Pooling = Literal["responses", "items", "phonemes", "sum", "median", "examinees"]
"""How the responses of several administrations are put together: a mean over responses or items, a
ratio of sums over the phonemes of a corpus, a sum, a median, or over the scores of examinees."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic over the responses of a group of administrations.

    It is shown in ``tabwb results``, its JSON and CSV, in the tables of the Python interface and in
    the results by model.

    Attributes:
        id: kebab-case, unique among statistics and measures.
        title: of two or three words, for tables.
        meaning: what it is, one line without a final stop.
        compute: called with the :class:`Responses` of each group; it changes nothing, and returns a
            number, None, a :class:`StatisticValue`, or several that differ in ``of``. None of
            tabwb's own, which it computes together.
        unit: of its values (``words``); empty where there is none.
        digits: decimal places that are shown.
        percent: a share that is shown in per cent; ``unit`` is then ``share`` or empty.
        per: ``group``: computed over all responses of a group; ``subtest``: for each subtest.
        limit_s: seconds that one call may take; then it is stopped, and its value is undefined.
        judges: how many judges it needs; a group with fewer has no value of it.
        pooled: how the responses of a group are put together.
    """

    id: str
    title: str
    meaning: str
    compute: Callable[[Responses], Computed] | None
    unit: str = ""
    digits: int = 2
    percent: bool = False
    per: Per = "group"
    limit_s: float = LIMIT_S
    judges: int = 0
    pooled: Pooling = "responses"

    @property
    def explained(self) -> str:
        """Its meaning, with the unit."""
        return f"{self.meaning} ({self.unit})" if self.unit else self.meaning

    @property
    def column(self) -> Column:
        """The column of its values in tables."""
        title = self.title[:1].upper() + self.title[1:]
        return Column(self.id, title, self.meaning, "number", self.unit, self.digits, self.percent)


@dataclass(frozen=True, slots=True)
class CommandSource:
    """A command of the command line: ``tabwb ID``.

    Attributes:
        id: the word after ``tabwb``: kebab-case, not one of tabwb's own commands.
        help: one line for the list of commands.
        load: returns the click command; called when the command is used, so it may import much.
    """

    id: str
    help: str
    load: Callable[[], click.Command]


@dataclass(frozen=True, slots=True, eq=False)
class PageData:
    """What a result page is made from.

    Attributes:
        administrations: the numbers of those chosen.
        results: the table of results, one row for each group and measure.
        responses: of each group of the same examinee and conditions, its name and responses.
    """

    administrations: tuple[int, ...]
    results: Table
    responses: Sequence[tuple[str, Responses]]


@dataclass(frozen=True, slots=True)
class PageSource:
    """A result page of the workbench.

    Attributes:
        id: kebab-case, unique among pages.
        title: as the menu shows it.
        help: what the page shows, one line.
        build: called in a worker thread with :class:`PageData`; returns text, a Rich renderable, or
            a :class:`~tabwb.tables.table.Table`.
        limit_s: seconds that a call may take; then it is stopped.
    """

    id: str
    title: str
    help: str
    build: Callable[[PageData], Any]
    limit_s: float = LIMIT_S


@dataclass(frozen=True, slots=True)
class OperationSource:
    """An operation: a command, a method of Python and a dialog of the workbench.

    Attributes:
        id: the word after ``tabwb``: kebab-case, not one of tabwb's own commands, and ``NAME`` of
            the operation. Two words, ``corpus check``, are a command in a group.
        help: one line for lists.
        load: returns the subclass of :class:`~tabwb.operations.operation.Operation`; called when
            the operation is used, so it may import much.
        title: as menus show it; without it they show the words of ``id``.
        group: the help of the group; that of its first operation counts.
    """

    id: str
    help: str
    load: Callable[[], type[Operation]]
    title: str = ""
    group: str = ""

    @property
    def label(self) -> str:
        """The title, or the words of the id."""
        return self.title or self.id.replace("-", " ").capitalize()


Extension = Statistic | CommandSource | PageSource | OperationSource | TaskType | SubjectKind
ExtensionKind = Literal["statistics", "commands", "pages", "operations", "tasks", "subjects"]
