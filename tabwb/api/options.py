"""The options that methods of a study share, as types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypedDict

from tabwb.analysis.keys import Sort
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.analysis.keys import Filter

Ids = int | str | Iterable[int | str] | None
"""Numbers or uids of administrations; None: all of the store."""
Names = str | Iterable[str]
"""One name, several with commas between, or a sequence of names."""
Where = str | Iterable["str | Filter"] | Mapping[str, object]
"""Filters: ``"temperature>0"``, several such texts, or keys with a value or several each."""
Changes = Literal["change", "sessions", "items"]
"""What a row of :meth:`tabwb.Study.change` is."""


class Choosing(TypedDict, total=False):
    """Which responses; see :meth:`tabwb.Study.responses`."""

    where: Where
    subtests: Names
    items: Names


class Rated(Choosing, total=False):
    """Which ratings; see :meth:`tabwb.Study.ratings`."""

    judge: str | None


class Limited(Rated, total=False):
    """What is chosen for groups, and how many; see :meth:`tabwb.Study.results`."""

    limit: int | None
    together: Names
    sort: Sort | None
    primary: str


class Chosen(Limited, total=False):
    """What is chosen for groups; see :meth:`tabwb.Study.results`."""

    features: Names


class Drawn(Limited, total=False):
    """What is chosen for a figure, and the options of figures (``tabwb figure --list``)."""

    against: str
    amount: str
    baselines: str
    feature: str
    features: str
    interval: str
    judges: str
    measure: str
    notation: str
    policy: str
    scale: str
    sets: str
    show: str
    x: str


class Grouping(Chosen, total=False):
    """What is chosen, and how it is grouped; see :meth:`tabwb.Study.groups`."""

    by: Names


@contextmanager
def python_names() -> Iterator[None]:
    """Let an error name the parameter of Python (``where``), not the option (``--where``)."""
    try:
        yield
    except UsageError as error:
        if error.where is not None and error.where.startswith("--"):
            error.where = error.where.removeprefix("--").replace("-", "_")
        raise


def check_options(options: Mapping[str, object]) -> None:
    """Check the types of what is chosen.

    Raises:
        UsageError: names that are not texts, or a limit below 1.
    """
    for name in ("by", "together", "subtests", "items", "features"):
        value = options.get(name, ())
        texts = value if isinstance(value, Iterable) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(
                f"{value!r:.60} cannot be used", where=name, allowed="one name or several"
            )
    limit = options.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise UsageError(
            f"{limit!r:.60} cannot be used", where="limit", allowed="1 or more, or None"
        )


def references_of(ids: Ids) -> list[int | str]:
    """Return numbers and uids as a list; empty for all.

    Raises:
        UsageError: a sequence that names none was given.

    >>> references_of(3), references_of(None), references_of([1, 2])
    ([3], [], [1, 2])
    """
    if ids is None:
        return []
    chosen = [ids] if isinstance(ids, int | str) else list(ids)
    if not chosen:
        raise UsageError("no administration is named", allowed="numbers or uids; None for all")
    return chosen


def named_references(ids: Ids) -> list[int | str]:
    """Return numbers and uids as a list; all of a store are never meant.

    Raises:
        UsageError: none is named.
    """
    if ids is None:
        raise UsageError("no administration is named", allowed="one number or uid, or several")
    return references_of(ids)
