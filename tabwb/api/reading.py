"""The tables of an open store."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

from tabwb.analysis.keys import Sort
from tabwb.api.engine import (
    Changes,
    Choosing,
    Grouping,
    Ids,
    Names,
    Place,
    Where,
    check_options,
    named_references,
    python_names,
    references_of,
)
from tabwb.api.rating_sets import RatingSet
from tabwb.api.study import Administration, stored_in
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.ratings import calibrated_parts

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.selection import Selection
    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


class Reading:
    """An open store: its tables. :class:`~tabwb.api.study.Study` adds what is made from them.

    Args:
        store: open.
        settings: the user's.
        place: path or URL, as the user named it.
        write: allow what writes.
    """

    def __init__(
        self, store: Store, settings: Configuration, place: Place, *, write: bool = False
    ) -> None:
        self._store = store
        self._closed = False
        self._settings = settings
        self._place = stored_in(store, settings.store_at(None if place is None else str(place)))
        self._write = write
        self._held = ExitStack()
        self._held.enter_context(store)
        self._lock = threading.Lock()
        self._loaded_plugins: Plugins | None = None

    def close(self) -> None:
        """Close the store; may be called twice."""
        self._closed = True
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.location}{', closed' if self._closed else ''}>"

    @property
    def store(self) -> Store:
        """The engine's store; the stability promise does not cover it.

        Raises:
            UsageError: the study is closed.
        """
        if self._closed:
            raise UsageError("this study is closed", hint=f"tabwb.open('{self.location}')")
        return self._store

    @property
    def location(self) -> str:
        """The store's path or URL, without a password."""
        return self._store.location

    def administration(self, administration: int | str) -> Administration:
        """Return one administration by its number or uid."""
        return Administration(self.store.administration(administration).id, self._place)

    def administrations(self, ids: Ids = None, *, where: Where = ()) -> Table:
        """Return one row for each administration, with every condition in its own column.

        Args:
            ids: numbers or uids; None for all.
            where: filters (``{"model": "bundled"}``, ``"temperature>0"``).
        """
        from tabwb.report.tables.administrations import administrations_table

        return administrations_table(self._outlines(ids, where))

    def responses(
        self, ids: Ids = None, *, where: Where = (), subtests: Names = (), items: Names = ()
    ) -> Table:
        """Return one row for each response that counts, with its conditions and scores.

        Args:
            ids: numbers or uids; None for all.
            where: filters.
            subtests: responses to others are left out.
            items: ids, or ``SUBTEST/ITEM``; responses to others are left out.
        """
        from tabwb.report.tables.responses import responses_table

        return responses_table(
            self.store, self._chosen(ids, where=where, subtests=subtests, items=items)
        )

    def ratings(
        self,
        ids: Ids = None,
        *,
        where: Where = (),
        subtests: Names = (),
        items: Names = (),
        judge: str | None = None,
    ) -> Table:
        """Return one row for each rating of each response that counts, with its reason.

        Args:
            ids: numbers or uids; None for all.
            where: filters.
            subtests: responses to others are left out.
            items: ids, or ``SUBTEST/ITEM``; responses to others are left out.
            judge: a rater (judge, scorer or person); ratings of others are left out.
        """
        from tabwb.report.tables.responses import ratings_table

        chosen = self._chosen(ids, where=where, subtests=subtests, items=items)
        return ratings_table(self.store, chosen, None if judge is None else self._rater(judge))

    def results(
        self,
        ids: Ids = None,
        *,
        by: Names | None = None,
        table: str = "results",
        baseline: str | None = None,
        where: Where = (),
        judge: str | None = None,
        features: Names = (),
        subtests: Names = (),
        items: Names = (),
        limit: int | None = None,
        together: Names = (),
        sort: Sort | None = None,
        primary: str = "",
    ) -> Table:
        """Return the results of groups: one row for each group and measure, with its intervals.

        The options are those of ``tabwb results``. Unlike conditions are never pooled, except over
        the keys of ``together``. Other tables of groups have other rows: ``features``, ``items``,
        ``item-models``, ``positions``, ``foils``, ``co-occurrence``, ``doses``, ``map``,
        ``differences`` and ``profiles``.

        Args:
            ids: numbers or uids; None for all.
            by: keys that split groups (``"model"``, ``"model,temperature"``); None: each
                administration by itself, and in the other tables the model or the battery.
            table: its name.
            baseline: of ``differences``: the group that is subtracted, or a part of its name; of
                ``profiles`` such a group, or a CSV file with the columns ``feature`` and ``rate``.
            where: filters.
            judge: burdens of other judges are left out.
            features: other features are left out.
            subtests: responses to others are left out.
            items: ids, or ``SUBTEST/ITEM``; responses to others are left out.
            limit: number of groups.
            together: keys over which unlike conditions are pooled on purpose.
            sort: order of the groups.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).

        Raises:
            UsageError: an option names what there is not.
        """
        from tabwb.media.views.tables import VIEWS, named_table

        if by is None:
            view = VIEWS.get(table)
            by = "administration" if table == "results" else view.by if view else "model"
        return named_table(
            table,
            self.groups(
                ids, by=by, where=where, judge=judge, features=features, subtests=subtests,
                items=items, limit=limit, together=together, sort=sort, primary=primary,
            ),
            baseline,
        )  # fmt: skip

    def change(
        self,
        participant: str,
        *,
        battery: str | None = None,
        sets: str | None = None,
        baselines: int | None = None,
        rows: Changes = "change",
        primary: str = "",
    ) -> Table:
        """Return the change of one participant's responses over sessions, for research only.

        The options are those of ``tabwb change``.

        Args:
            participant: study ID.
            battery: its id, if there are sessions of several.
            sets: tags of items with commas between, or a CSV file with the columns item and set.
            baselines: number of sessions before treatment.
            rows: tests of change, right responses of each session, or each item over the sessions.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).

        Raises:
            UsageError: there are no such sessions, or a set names an unknown item.
        """
        from tabwb.analysis import change as tables
        from tabwb.analysis.administrations import load_columns
        from tabwb.analysis.change import change_of, named_sets, sessions_of

        numbers = [one.id for one in sessions_of(self.store, participant, battery)]
        members = load_columns(self.store, numbers, primary=self._counting(primary))
        found = change_of(members, named_sets(members, sets), baselines)
        if rows == "items":
            return tables.change_items_table(found)
        return tables.change_table(found) if rows == "change" else tables.sessions_table(found)

    def compare(self, first: Ids, second: Ids, *, primary: str = "") -> Table:
        """Return the differences of two sides on their common items, with intervals and tests.

        Args:
            first: number or uid of an administration, or several.
            second: the other side.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).

        Raises:
            UsageError: the sides were given different batteries.
        """
        from tabwb.analysis.administrations import load_columns
        from tabwb.analysis.contrast import members_compared
        from tabwb.report.tables.contrasts import differences_table

        left, right = (
            load_columns(self.store, named_references(side), primary=self._counting(primary))
            for side in (first, second)
        )
        return differences_table(members_compared(left, right))

    def groups(self, ids: Ids = None, **options: Unpack[Grouping]) -> tuple[Grouped, ...]:
        """Return the groups behind :meth:`results`, with their whole summaries.

        Args:
            ids: numbers or uids; None for all.
            options: of :meth:`results`.
        """
        from tabwb.analysis.selection import selected_groups

        statistics = self._plugins().statistics()
        selection = self._selection(**options)
        with python_names():
            return selected_groups(self.store, references_of(ids), selection, statistics=statistics)

    def document(self, administration: int | str) -> dict[str, Any]:
        """Return what ``tabwb results ID --json`` prints (``format: 1``)."""
        from tabwb.analysis.administrations import load_administrations
        from tabwb.report.documents.document import administration_document

        (data,) = load_administrations(self.store, [administration], primary=self._counting())
        return administration_document(data, interval=True)

    def _chosen(self, ids: Ids, **options: Unpack[Choosing]) -> tuple[AdministrationData, ...]:
        from tabwb.analysis.selection import selected

        selection = self._selection(**options)
        with python_names():
            return selected(self.store, references_of(ids), selection)

    def _outlines(self, ids: Ids, where: Where) -> tuple[AdministrationData, ...]:
        from tabwb.analysis.selection import outlined

        selection = self._selection(where=where)
        with python_names():
            return outlined(self.store, references_of(ids), selection)

    def _selection(self, **options: Unpack[Grouping]) -> Selection:
        from tabwb.analysis.selection import Selection

        judge = options.get("judge")
        if judge is not None:
            options["judge"] = self._rater(judge)
        check_options(options)
        with python_names():
            selection = Selection.of(**options)
        return replace(selection, primary=self._counting(selection.primary))

    def _counting(self, primary: str = "") -> str:
        return self._settings.study.counting_rater(primary)

    def _rater(self, judge: str) -> str:
        """Return the rater's stored name: of an alias the id, of an unknown judge its own name."""
        try:
            prefix, spec = calibrated_parts(judge)
            return f"{prefix}{self._plugins().resolve('judges', spec)[1]}"
        except TabwbError:
            return judge

    def _plugins(self) -> Plugins:
        from tabwb.plugin_api.registry.plugins import Plugins

        with self._lock:
            if self._loaded_plugins is None:
                self._loaded_plugins = Plugins.load(self._settings)
                self._held.callback(self._loaded_plugins.close)
            return self._loaded_plugins

    def writable(self, why: str) -> Store:
        """Return the engine's store, if it was opened for writing.

        Args:
            why: it is written, for the error.

        Raises:
            UsageError: it is open for reading.
        """
        self._must_write(why)
        return self.store

    def rating_sets(self) -> Table:
        """Return one row for each rating set, oldest first."""
        from tabwb.analysis.rating_sets import sets_table

        return sets_table(self.store)

    def rating_set(self, rating_set: int | str) -> RatingSet:
        """Return one rating set by its name, number or uid."""
        return RatingSet(self, self.store.sets.get(rating_set).id, self._plugins)

    def _must_write(self, why: str) -> None:
        if not self._write:
            raise UsageError(
                f"the store is open for reading: {why}", hint="tabwb.open(store, write=True)"
            )
