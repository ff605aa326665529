"""The options that methods of a study share, as types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from tabwb.report.filters import Filter

Ids = int | str | Iterable[int | str] | None
"""Numbers or uids of administrations; None: all of the store."""
Names = str | Iterable[str]
"""One name, several with commas between, or a sequence of names."""
Where = str | Iterable["str | Filter"] | Mapping[str, object]
"""Filters: ``"temperature>0"``, several such texts, or keys with a value or several each."""
Sort = Literal["burden", "name", "N", "accuracy"]


class Choosing(TypedDict, total=False):
    """Which responses; see :meth:`tabwb.Study.responses`."""

    where: Where
    subtests: Names
    items: Names


class Rated(Choosing, total=False):
    """Which ratings; see :meth:`tabwb.Study.ratings`."""

    judge: str | None


class Grouping(Rated, total=False):
    """Which groups; see :meth:`tabwb.Study.groups`."""

    by: Names
    features: Names
    limit: int | None
    together: Names
    sort: Sort | None
    primary: str
