"""What declares a figure: id, title, what it shows, which data it needs, its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tabwb.records.errors import UsageError
from tabwb.records.words import near

if TYPE_CHECKING:
    from tabwb.media.figures.page import Page
    from tabwb.report.summaries.groups import Grouped
    from tabwb.tables.table import Table

Options = Mapping[str, str]
"""Option to value; those that a figure declares, defaults included."""
Loads = Literal["columns", "latencies"]
"""What a figure reads: columns of responses, or these with latencies."""


@dataclass(frozen=True, slots=True)
class FigureOption:
    """One option of a figure.

    Attributes:
        name: kebab-case, as on the command line.
        meaning: what it chooses; no final stop.
        default: where it is not given; may be empty.
        allowed: its values; empty: any text.
    """

    name: str
    meaning: str
    default: str = ""
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureKind:
    """One kind of figure.

    Every number is put into a table first, and the figure is drawn from that table alone.

    Attributes:
        id: kebab-case, for commands.
        title: of the figure, for its metadata and for menus.
        shows: what it shows, one sentence.
        data: which data it needs, one sentence.
        table: the numbers that are drawn; raises UsageError where the groups have none.
        draw: draws the table.
        by: how administrations are grouped where nothing else is asked for.
        loads: what it reads of each response.
        people: drawn of people as a rule, so that nobody is left out unasked.
        judged: it draws what judges say, so that it may be of one of them.
    """

    id: str
    title: str
    shows: str
    data: str
    table: Callable[[Sequence[Grouped], Options], Table]
    draw: Callable[[Table, Page, Options], None]
    options: tuple[FigureOption, ...] = ()
    by: str = "model"
    loads: Loads = "columns"
    people: bool = False
    judged: bool = False

    def checked(self, given: Mapping[str, object]) -> Options:
        """Return the options with their defaults; in names ``_`` stands for ``-``."""
        own = {option.name: option for option in self.options}
        values = {name.replace("_", "-"): str(value) for name, value in given.items()}
        for name, value in values.items():
            if name not in own:
                meant = near(name, own)
                raise UsageError(
                    f"the figure '{self.id}' has no option '{name}'",
                    allowed=", ".join(own) or "it has no options",
                    hint=f"did you mean '{meant}'?" if meant else "",
                )
            allowed = own[name].allowed
            if allowed and value not in allowed:
                raise UsageError(
                    f"'{value}' is not a value of '{name}'", allowed=", ".join(allowed)
                )
        return {name: values.get(name, option.default) for name, option in own.items()}
