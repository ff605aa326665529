"""A store, opened from Python: its administrations, responses, ratings, results and figures."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from tabwb.api.administration import Administration, stored_in
from tabwb.api.comparing import Changes, change_stored, compare_stored
from tabwb.api.engine import Place, configuration, open_store, warn
from tabwb.api.judging import Scope
from tabwb.api.options import Choosing, Grouping, Ids, Names, Sort, Where
from tabwb.api.running import Progress
from tabwb.api.writing import export_stored, holds_people, judge_stored, tag_stored
from tabwb.records.errors import TabwbError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.plugin_api.config.settings import Configuration
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.report.selection import Selection
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.load import AdministrationData
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


def open(store: Place = None, *, write: bool = False) -> Study:
    """Return an open store; use it in a ``with`` block, or close it.

    Args:
        store: path of an SQLite file, URL of a PostgreSQL database, or None for the configured one.
        write: allow what writes: :meth:`Study.judge`, and exports of people's data, which are
            logged.

    Raises:
        StoreError: there is none, or it cannot be opened.
    """
    settings = configuration()
    return Study(open_store(store, settings), settings, store, write=write)


class Study:
    """An open store. Made by :func:`tabwb.open`.

    Its methods may be called from several threads; what they return is not changed afterwards. Each
    call reads the store anew, so that it sees what a run in progress has stored. An older store is
    upgraded when it is opened, as every command does.

    Attributes:
        store: the engine's store; the stability promise does not cover it.
    """

    def __init__(
        self, store: Store, settings: Configuration, place: Place, *, write: bool = False
    ) -> None:
        self.store = store
        self._settings = settings
        self._place = stored_in(store, settings.store_at(None if place is None else str(place)))
        self._write = write
        self._held = ExitStack()
        self._held.enter_context(store)
        self._lock = threading.Lock()
        self._loaded_plugins: Plugins | None = None

    def close(self) -> None:
        """Close the store; may be called twice."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.location}>"

    @property
    def location(self) -> str:
        """The store's path or URL, without a password."""
        return self.store.location

    def administration(self, administration: int | str) -> Administration:
        """Return one administration by its number or uid."""
        return Administration(self.store.administration(administration).id, self._place)

    def administrations(self, ids: Ids = None, *, where: Where = ()) -> Table:
        """Return one row for each administration, with every condition in a column of its own.

        Args:
            ids: numbers or uids; None for all.
            where: filters (``{"model": "bundled"}``, ``"temperature>0"``).
        """
        from tabwb.report.tables.conditions import administrations_table

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
        ``item-models``, ``positions``, ``foils`` and ``differences``.

        Args:
            ids: numbers or uids; None for all.
            by: keys that split groups (``"model"``, ``"model,temperature"``); None: each
                administration by itself, and in the other tables the model or the battery.
            table: its name.
            baseline: of ``differences``: the group that is subtracted, or a part of its name.
            where: filters.
            judge: burdens of other judges are left out.
            features: other features are left out.
            subtests: responses to others are left out.
            items: ids, or ``SUBTEST/ITEM``; responses to others are left out.
            limit: number of groups.
            together: keys over which unlike conditions are pooled on purpose.
            sort: order of the groups.
            primary: if several people scored a spoken response, the rater whose scores count.

        Raises:
            UsageError: an option names what there is not.
        """
        from tabwb.report.tables.named import DEFAULT_BY, named_table

        if by is None:
            by = "administration" if table == "results" else DEFAULT_BY.get(table, "model")
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
            primary: if several people scored a spoken response, the rater whose scores count.

        Raises:
            UsageError: there are no such sessions, or a set names an item that there is not.
        """
        return change_stored(
            self.store, participant, battery, sets, baselines, rows, self._counting(primary)
        )

    def groups(self, ids: Ids = None, **options: Unpack[Grouping]) -> tuple[Grouped, ...]:
        """Return the groups behind :meth:`results`, with their whole summaries.

        Args:
            ids: numbers or uids; None for all.
            options: of :meth:`results`.
        """
        from tabwb.report.selection import selected_groups

        statistics = self._plugins().statistics()
        return selected_groups(
            self.store, _references(ids), self._selection(**options), statistics=statistics
        )

    def figure(
        self,
        name: str,
        ids: Ids = None,
        *,
        by: Names = "model",
        where: Where = (),
        judge: str | None = None,
        subtests: Names = (),
        items: Names = (),
        limit: int | None = None,
        together: Names = (),
        sort: Sort | None = None,
        primary: str = "",
        width: str | float = "single",
        caption: bool = True,
        **options: str,
    ) -> Figure:
        """Return a figure of results for a paper; a notebook shows it, ``savefig`` writes it.

        What is chosen and how it is grouped is as for :meth:`results`.

        Args:
            name: of the figure: ``burden``, ``accuracy``, ``profile``, ``differences`` ...
            ids: numbers or uids; None for all.
            by: keys that split groups.
            where: filters.
            judge: burdens of other judges are left out.
            subtests: responses to others are left out.
            items: ids, or ``SUBTEST/ITEM``; responses to others are left out.
            limit: number of groups.
            together: keys over which unlike conditions are pooled on purpose.
            sort: order of the groups.
            primary: if several people scored a spoken response, the rater whose scores count.
            width: ``single`` (90 mm), ``one-and-half`` (140 mm), ``double`` (190 mm), or
                millimetres.
            caption: write below the figure what its numbers are.
            options: of the figure, such as ``policy="normalised"``.

        Raises:
            MissingExtra: matplotlib is not installed.
            UsageError: there is no such figure, option or group.
        """
        from tabwb.report.figures import make

        groups = self.groups(
            ids, by=by, where=where, judge=judge, subtests=subtests, items=items, limit=limit,
            together=together, sort=sort, primary=primary,
        )  # fmt: skip
        return make(name, groups, width=width, caption=caption, footer=False, command="", **options)

    def methods(self, ids: Ids = None, *, where: Where = ()) -> str:
        """Return what was given to whom and how, in sentences for a methods section.

        Args:
            ids: numbers or uids; None for all.
            where: filters.
        """
        from tabwb.report.documents.methods import methods_of

        return methods_of(self.groups(ids, where=where)).text

    def compare(self, first: Ids, second: Ids, *, primary: str = "") -> Table:
        """Return the differences of two sides on their common items, with intervals and tests.

        Args:
            first: number or uid of an administration, or several.
            second: the other side.
            primary: if several people scored a spoken response, the rater whose scores count.

        Raises:
            UsageError: the sides were given different batteries.
        """
        return compare_stored(self.store, _some(first), _some(second), self._counting(primary))

    def export(
        self,
        ids: Ids = None,
        *,
        format: str = "jsonl",
        out: str | os.PathLike[str],
        within_study: bool = False,
        force: bool = False,
        primary: str = "",
    ) -> Path:
        """Write administrations to a file, and return its path.

        Of people's data the consents are checked, and the export is logged, as by ``tabwb export``.

        Args:
            ids: numbers or uids; None for all.
            format: ``jsonl``, ``csv``, ``parquet`` or another exporter's.
            out: a file that does not exist.
            within_study: the file stays within the study that collected the data; otherwise
                speakers must have agreed to ``share``.
            force: replace an existing file.
            primary: if several people scored a spoken response, the rater whose scores count.

        Raises:
            NoConsent: speakers have not agreed to ``share``; nothing is written.
            UsageError: people's data, and the store is not open for writing.
            TabwbError: it cannot be written.
        """
        from tabwb.report.destination import check_destination

        plugins, references = self._plugins(), _references(ids)
        plugins.resolve("exporters", format)
        place = check_destination(Path(out), force=force)
        if holds_people(self.store, references):
            self._must_write("an export of people's data is logged in the store")
        permit = export_stored(
            self.store, plugins, references, format, place,
            within_study=within_study, primary=primary,
        )  # fmt: skip
        warn(permit.notice)
        return place

    def judge(
        self,
        ids: Ids,
        judge: str,
        *,
        scope: Scope = "connected-text",
        repeats: int = 1,
        again: bool = False,
        max_requests: int | None = None,
        max_cost: float | None = None,
        progress: Progress = False,
    ) -> Table:
        """Let a judge rate stored responses; return what that took, one row per administration.

        Args:
            ids: numbers or uids.
            judge: its spec.
            scope: connected text, or all responses that can be judged.
            repeats: how often each response is judged; the first judgement counts.
            again: judge also what this judge has judged before.
            max_requests: stop after so many.
            max_cost: stop before more is spent, in US dollars.
            progress: True for a line on stderr, or a function that gets each event.

        Raises:
            UsageError: the store is not open for writing, or the judge cannot be used.
            NoConsent: a person has not agreed to be judged by it.
            Interrupted: calls failed, or a limit was reached; the same call continues.
        """
        from tabwb.administer.judging.calls import Limits

        self._must_write("judgements are stored")
        limits = Limits(max_requests, max_cost)
        return judge_stored(
            self.store, self._plugins(), _some(ids), judge, limits, progress,
            scope=scope, repeats=repeats, again=again,
        )  # fmt: skip

    def tag(
        self, ids: Ids, *, title: str | None = None, add: Names = (), remove: Names = ()
    ) -> None:
        """Give a title and tags to administrations; each change is kept and can be taken back.

        Args:
            ids: numbers or uids.
            title: the new title; empty removes it.
            add: tags to add.
            remove: tags to remove.

        Raises:
            UsageError: the store is not open for writing, or a tag cannot be used or is not there.
        """
        self._must_write("titles and tags are stored")
        tag_stored(self.store, _some(ids), title, _several(add), _several(remove))

    def document(self, administration: int | str) -> dict[str, Any]:
        """Return what ``tabwb results ID --json`` prints (``format: 1``)."""
        from tabwb.report.documents.document import administration_document
        from tabwb.report.summaries.load import load_administrations

        (data,) = load_administrations(self.store, [administration], primary=self._counting())
        return administration_document(data, interval=True)

    def _chosen(self, ids: Ids, **options: Unpack[Choosing]) -> tuple[AdministrationData, ...]:
        from tabwb.report.selection import selected

        return selected(self.store, _references(ids), self._selection(**options))

    def _outlines(self, ids: Ids, where: Where) -> tuple[AdministrationData, ...]:
        from tabwb.report.selection import outlined

        return outlined(self.store, _references(ids), self._selection(where=where))

    def _selection(self, **options: Unpack[Grouping]) -> Selection:
        from tabwb.report.selection import Selection

        judge = options.get("judge")
        if judge is not None:
            options["judge"] = self._rater(judge)
        selection = Selection.of(**options)
        return replace(selection, primary=self._counting(selection.primary))

    def _counting(self, primary: str = "") -> str:
        """Return the rater whose scores of spoken responses count: the study's by default."""
        return primary or self._settings.study.primary_rater

    def _rater(self, judge: str) -> str:
        """Return the rater's stored name: of an alias the id, of an unknown judge its own name."""
        try:
            return str(self._plugins().resolve("judges", judge)[1])
        except TabwbError:
            return judge

    def _plugins(self) -> Plugins:
        from tabwb.plugin_api.registry.plugins import Plugins

        with self._lock:
            if self._loaded_plugins is None:
                self._loaded_plugins = Plugins.load(self._settings)
                self._held.callback(self._loaded_plugins.close)
            return self._loaded_plugins

    def _must_write(self, why: str) -> None:
        if not self._write:
            raise UsageError(
                f"the store is open for reading: {why}", hint="tabwb.open(store, write=True)"
            )


def _references(ids: Ids) -> list[int | str]:
    if ids is None:
        return []
    chosen = [ids] if isinstance(ids, int | str) else list(ids)
    if not chosen:
        raise UsageError("no administration is named", allowed="numbers or uids; None for all")
    return chosen


def _some(ids: Ids) -> list[int | str]:
    if ids is None:
        raise UsageError("name administrations by their numbers or uids")
    return _references(ids)


def _several(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else [*names]
