"""A store, opened from Python: its administrations, responses, ratings, results and figures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from tabwb.analysis.keys import Sort
from tabwb.api.engine import (
    Changes,
    Choosing,
    Chosen,
    Drawn,
    Grouping,
    Ids,
    Limited,
    Names,
    Place,
    Planning,
    Progress,
    Where,
    check_options,
    configuration,
    does,
    done,
    named_references,
    open_store,
    python_names,
    references_of,
)
from tabwb.api.rating_sets import RatingSet
from tabwb.api.running import Administration, stored_in
from tabwb.operations.dial import DialSessions
from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
from tabwb.operations.judge import JudgeRun
from tabwb.operations.norms import LEAST, MakeNorms
from tabwb.operations.rate import PlanRatings
from tabwb.operations.speaker import (
    AddSpeaker,
    ConsentOfSpeaker,
    DeleteSpeaker,
    ImportSpeakers,
    ListSpeakers,
    LogOfSpeakers,
    SetSpeaker,
    ShowSpeaker,
)
from tabwb.operations.store import BackupStore, MergeStore, StoreInfo
from tabwb.operations.transcribing import TranscribeFiles, TranscribeResponses
from tabwb.operations.trial import (
    CodeResponse,
    HeardResponse,
    HistoryOfTrial,
    NoteOnTrial,
    RescoreAdministration,
    ScoreResponse,
    SetAttempt,
    SetOnset,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.ratings import calibrated_parts
from tabwb.records.words import separated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.selection import Selection
    from tabwb.api.rating_sets import Agreement, Computed
    from tabwb.host.plugins import Plugins
    from tabwb.host.settings import Configuration
    from tabwb.records.naming import Score
    from tabwb.records.speakers import Scope
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
    call reads the store again, so that it sees what a run in progress has stored. An older store is
    upgraded when it is opened, as every command does.
    """

    def __init__(
        self, store: Store, settings: Configuration, place: Place, *, write: bool = False
    ) -> None:
        self._store = store
        self._closed = False
        self._settings = settings
        self._place = stored_in(store, settings, place)
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
        from tabwb.analysis.selection import outlined
        from tabwb.analysis.tables.administrations import administrations_table

        selection = self._selection(where=where)
        with python_names():
            found = outlined(self.store, references_of(ids), selection)
        return administrations_table(found)

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
        from tabwb.analysis.tables.responses import responses_table

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
        from tabwb.analysis.tables.responses import ratings_table

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
        sessions: str | None = None,
        where: Where = (),
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
            sessions: only these: numbers of administrations or days, with commas between.
            where: only sessions, and responses, with these values.
            rows: tests of change, right responses of each session, or each item over the sessions.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).

        Raises:
            UsageError: there are no such sessions, or a set names an unknown item.
        """
        from tabwb.analysis import change as tables
        from tabwb.analysis.change import change_of, members_of, named_sets

        members = members_of(
            self.store, participant, battery, sessions=sessions, where=where,
            primary=self._counting(primary),
        )  # fmt: skip
        found = change_of(members, named_sets(members, sets), baselines)
        if rows == "items":
            return tables.change_items_table(found)
        return tables.change_table(found) if rows == "change" else tables.sessions_table(found)

    @does(
        DialSessions,
        """
        Returns:
            A row for each item and session.

        Raises:
            UsageError: there are no such sessions, or no such item.
            NoConsent: the person has not agreed to ``share``; no page is written.
        """,
    )
    def dial(
        self,
        speaker: str,
        *,
        battery: str = "",
        item: str = "",
        sessions: str = "",
        where: Where = (),
        out: str | os.PathLike[str] | None = None,
        force: bool = False,
        study_ids: bool = False,
        within_study: bool = False,
        primary: str = "",
    ) -> Table:
        """Return what a speaker said to each item at each session, as ``tabwb speaker dial``."""
        table: Table = done(self, DialSessions, locals())["tables"][0]
        return table

    def compare(self, first: Ids, second: Ids, *, primary: str = "") -> Table:
        """Return the differences of two sides on their common items, with intervals and tests.

        Args:
            first: number or uid of an administration, or several; or filters in one text
                (``"severity=mild site=A"``).
            second: the other side.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).

        Raises:
            UsageError: the sides were given different batteries.
        """
        from tabwb.analysis.administrations import load_columns
        from tabwb.analysis.contrast import members_compared
        from tabwb.analysis.selection import label_of, named_in
        from tabwb.media.documents.contrasts import differences_table

        left, right = (
            load_columns(
                self.store,
                named_in(self.store, named_references(side)),
                primary=self._counting(primary),
            )
            for side in (first, second)
        )
        labels = [label_of(side) for side in (first, second)]
        return differences_table(members_compared(left, right, labels))

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

    def do(
        self,
        operation: str,
        *,
        dry_run: bool = False,
        progress: Progress = False,
        **values: Any,
    ) -> dict[str, Any]:
        """Do an operation that a plugin brings; return its document.

        Args:
            operation: its name, which is that of its command.
            dry_run: estimate only.
            progress: True for a line on stderr, or a function that gets each event.
            values: those that it declares.

        Raises:
            UsageError: there is no such operation, or a value cannot be used.
        """
        from tabwb.operations.operation import plugin_operation, values_of

        plugins = self._plugins()
        kind = plugin_operation(plugins, operation)
        if kind is None:
            names = ", ".join(one.extension.id for one in plugins.extensions("operations"))
            raise UsageError(
                f"there is no operation '{operation}'", allowed=names or "none is registered"
            )
        known = [value.name for value in values_of(kind)]
        if unknown := [name for name in values if name not in known]:
            raise UsageError(
                f"'{operation}' has no value '{unknown[0]}'", allowed=", ".join(known) or None
            )
        return done(self, kind, {**values, "dry_run": dry_run, "progress": progress})

    def document(self, administration: int | str, *, sound: bool = False) -> dict[str, Any]:
        """Return what ``tabwb results ID --json`` prints (``format: 1``).

        Args:
            administration: its number or uid.
            sound: ``file`` of each recording is the path of its sound in the store, else None.
        """
        from tabwb.analysis.selection import Selection
        from tabwb.media.documents.streamed import document_of

        selection = Selection(primary=self._counting())
        statistics = self._plugins().statistics()
        with self.store.unchanged():
            made = document_of(self.store, administration, selection, statistics, sound=sound)
            return {**made, "trials": list(made["trials"])}

    def _chosen(self, ids: Ids, **options: Unpack[Choosing]) -> tuple[AdministrationData, ...]:
        from tabwb.analysis.selection import selected

        selection = self._selection(**options)
        with python_names():
            return selected(self.store, references_of(ids), selection)

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
        from tabwb.host.plugins import Plugins

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
        if not self._write:
            raise UsageError(
                f"the store is open for reading: {why}", hint="tabwb.open(store, write=True)"
            )
        return self.store

    def rating_sets(self) -> Table:
        """Return one row for each rating set, oldest first."""
        from tabwb.analysis.rating_sets import sets_table

        return sets_table(self.store)

    def rating_set(self, rating_set: int | str) -> RatingSet:
        """Return one rating set by its name, number or uid."""
        return RatingSet(self, self.store.sets.get(rating_set).id, self._plugins)

    def figure(
        self,
        name: str,
        ids: Ids = None,
        *,
        by: Names = "model",
        width: str | float = "single",
        caption: bool = True,
        study_ids: bool = False,
        **options: Unpack[Drawn],
    ) -> Figure:
        """Return a figure of results for a paper; a notebook shows it, ``savefig`` writes it.

        What is chosen and how it is grouped is as for :meth:`results`.

        Args:
            name: of the figure: ``burden``, ``accuracy``, ``profile``, ``differences`` ...
            ids: numbers or uids; None for all.
            by: keys that split groups.
            width: ``single`` (90 mm), ``one-and-half`` (140 mm), ``double`` (190 mm), or
                millimetres.
            caption: :func:`save_figure` writes what its numbers are beside the file.
            study_ids: name participants by their study IDs; otherwise they are numbered.
            options: of :meth:`results` without ``features``, and of the figure, such as
                ``policy="normalised"``.

        Raises:
            MissingExtra: matplotlib is not installed.
            UsageError: there is no such figure, option or group.
        """
        from tabwb.media.figures import figure_kind, make
        from tabwb.media.figures.files import as_drawn
        from tabwb.media.studied import studied

        kind = figure_kind(name)
        given: dict[str, Any] = {**options}
        choosing = {key: given.pop(key) for key in Limited.__annotations__ if key in given}
        groups = as_drawn(kind, self.store, self.groups(ids, by=by, **choosing))
        rows = studied(groups, study_ids=study_ids).drawn_rows
        return make(name, rows, width=width, caption=caption, **given)

    def agreement(self, what: Ids, **options: Unpack[Computed]) -> Agreement:
        """Return how far raters agree: of a rating set, or of administrations.

        Args:
            what: name or uid of a rating set; numbers or uids of administrations.
            options: of :func:`tabwb.rater_agreement`; of a set ``judges`` leaves out the others.

        Raises:
            UsageError: nothing is there of this name, or nobody has rated it.
        """
        from contextlib import nullcontext

        from tabwb.api.rating_sets import made

        return made(named_references(what), lambda: nullcontext(self.store), **options)

    def paper_tables(
        self,
        ids: Ids = None,
        *,
        by: Names = "model",
        format: Literal["markdown", "latex"] = "markdown",
        columns: Names | None = None,
        **options: Unpack[Chosen],
    ) -> str:
        """Return the tables of groups for a paper, as ``tabwb results --format latex`` prints them.

        Args:
            ids: numbers or uids; None for all.
            by: keys that split groups.
            format: ``markdown`` or ``latex`` (for the package booktabs).
            columns: names; None: all.
            options: of :meth:`results`.

        Raises:
            UsageError: there is no such column, or an option has an unknown value.
        """
        from tabwb.media.paper import captioned_groups, latex, markdown

        if format not in ("markdown", "latex"):
            raise UsageError(
                f"{format!r} cannot be used",
                where="format",
                allowed="markdown, latex",
                hint="of the HTML report: report(); of every value: results()",
            )
        names = None if columns is None else separated(columns)
        tables = captioned_groups(self.groups(ids, by=by, **options), names)
        return "\n".join(map(markdown if format == "markdown" else latex, tables))

    def plan_ratings(
        self,
        name: str,
        raters: Names,
        ids: Ids = None,
        *,
        form: str = "tab-19",
        dry_run: bool = False,
        **options: Unpack[Planning],
    ) -> dict[str, Any]:
        """Make a rating set of stored responses, as ``tabwb rate plan``; return its plan.

        Args:
            name: of the set.
            raters: codes of who rates.
            ids: numbers or uids of administrations; None for all.
            form: id or path of a form.
            dry_run: make nothing; the study need not be open for writing.
            options: those of the command (``stratify="model"``, ``per_stratum=10``, ``overlap=82``,
                ``raters_per_sample=2``, ``case="lower"``); ``hybrid`` is the judge.

        Returns:
            The document of ``tabwb rate plan --json``; ``uid`` is None after a dry run.

        Raises:
            UsageError: the numbers do not fit, or nothing can be rated.
            StoreError: there is a set of this name.
            TypeError: there is no such option.
        """
        if unknown := options.keys() - Planning.__annotations__.keys():
            raise TypeError(f"unexpected keyword argument '{min(unknown)}'")
        given: dict[str, Any] = {**options, "ids": references_of(ids)}
        judge = given.pop("hybrid", "") or None
        given |= {"name": name, "raters": ",".join(separated(raters)), "form": form,
                  "dry_run": dry_run, "judge": judge, "hybrid": judge is not None,
                  "no_cut_mark": not given.pop("cut_mark", True)}  # fmt: skip
        return {"format": 1, **done(self, PlanRatings, given)}

    def methods(
        self,
        ids: Ids = None,
        *,
        by: Names | None = None,
        format: Literal["text", "bibtex"] = "text",
        **options: Unpack[Chosen],
    ) -> str:
        """Return what was given to whom and how, in sentences for a methods section.

        Args:
            ids: numbers or uids; None for all.
            by: keys that split groups; None: each administration that is named, else each model.
            format: ``text``, or ``bibtex`` for the works that the text cites.
            options: of :meth:`results`; with ``judge`` the text is about this judge alone.

        Raises:
            UsageError: an option names what there is not.
        """
        from tabwb.media.methods import methods_about, with_rating_sets
        from tabwb.media.studied import studied

        if format not in ("text", "bibtex"):
            raise UsageError(f"'{format}' is not a format of methods", allowed="text, bibtex")
        by = by or ("model" if ids is None else "administration")
        about = studied(self.groups(ids, by=by, **options))
        told = methods_about(with_rating_sets(about, self.store))
        return told.bibtex if format == "bibtex" else told.text

    def report(
        self,
        out: str | os.PathLike[str],
        ids: Ids = None,
        *,
        by: Names = "model",
        title: str = "",
        responses: int = 0,
        study_ids: bool = False,
        within_study: bool = False,
        force: bool = False,
        **options: Unpack[Chosen],
    ) -> Path:
        """Write a report and return its path: methods, tables, figures, cautions, dictionary.

        Of people's data the consents are checked, and the report is logged, as by ``tabwb report``.

        Args:
            out: a file that does not exist, ending in ``.html`` or ``.md``.
            ids: numbers or uids; None for all.
            by: keys that split groups.
            title: of the report; empty: the batteries' titles.
            responses: number of responses of each group that are shown.
            study_ids: print the study IDs of participants.
            within_study: the file stays within the study that collected the data; otherwise
                speakers must have agreed to ``share``.
            force: replace an existing file.
            options: of :meth:`results`.

        Raises:
            NoConsent: speakers have not agreed to ``share``; nothing is written.
            UsageError: people's data, and the store is not open for writing.
            TabwbError: there is nothing to report, or it cannot be written.
        """
        chosen = {"ids": ids, "by": by, "out": out, "title": title, "responses": responses}
        files = {"study_ids": study_ids, "within_study": within_study, "force": force}
        return _file(done(self, WriteReport, {**chosen, **files, **options}))

    def export(
        self,
        ids: Ids = None,
        *,
        where: Where = (),
        format: str = "jsonl",
        wide: bool = False,
        partition_by: Names = (),
        option: Mapping[str, str] | Iterable[str] = (),
        out: str | os.PathLike[str],
        within_study: bool = False,
        force: bool = False,
        primary: str = "",
        judge: str = "",
    ) -> Path:
        """Write administrations to a file, and return its path.

        Of people's data the consents are checked, and the export is logged, as by ``tabwb export``.

        Args:
            ids: numbers or uids; None for all.
            where: filters on keys of administrations.
            format: ``jsonl``, ``csv``, ``parquet`` or another exporter's.
            wide: one row for each response, one column for each measure (Parquet).
            partition_by: columns; a folder with a file for each of their values (Parquet).
            option: options of a plugin's format, by name.
            out: a file, or a folder, that does not exist.
            within_study: the file stays within the study that collected the data; otherwise
                speakers must have agreed to ``share``.
            force: replace an existing file.
            primary: whose ratings count where several people rated: a rater's code, or a rule
                (``majority``, ``consensus``, ``adjudicated``).
            judge: ``calibrated:JUDGE`` adds the probabilities of a calibrated judge.

        Raises:
            NoConsent: speakers have not agreed to ``share``; nothing is written.
            UsageError: people's data, and the store is not open for writing; or the judge cannot
                be calibrated.
            TabwbError: it cannot be written.
        """
        everything = not references_of(ids) and not where
        return _file(done(self, ExportResults, {**locals(), "everything": everything}))

    def write_figure(
        self,
        name: str,
        out: str | os.PathLike[str],
        ids: Ids = None,
        *,
        by: Names = "",
        width: str | float = "single",
        caption: bool = True,
        footer: bool = False,
        dpi: int = 300,
        data: str | os.PathLike[str] | None = None,
        study_ids: bool = False,
        within_study: bool = False,
        force: bool = False,
        option: Mapping[str, str] | Iterable[str] = (),
        **options: Unpack[Chosen],
    ) -> Path:
        """Write a figure and return its path, as ``tabwb figure``.

        Of people's data the consents are checked, and the figure is logged. :meth:`figure` returns
        a figure for a notebook instead.

        Args:
            name: of the figure: ``burden``, ``accuracy``, ``profile``, ``differences`` ...
            out: a file that does not exist, ending in ``.pdf``, ``.svg`` or ``.png``.
            ids: numbers or uids; None for all.
            by: keys that split groups; empty: each administration that is named, else those that
                suit the figure.
            width: ``single`` (90 mm), ``one-and-half`` (140 mm), ``double`` (190 mm), or
                millimetres.
            caption: write the caption to ``FILE.README.txt``.
            footer: write below the figure that it is for research only.
            dpi: dots per inch of a PNG.
            data: a file for the numbers drawn, as CSV.
            study_ids: name participants by their study IDs; otherwise they are numbered.
            within_study: the file stays within the study that collected the data; otherwise
                speakers must have agreed to ``share``.
            force: replace existing files.
            option: options of the figure, such as ``{"policy": "normalised"}``.
            options: of :meth:`results`.

        Raises:
            NoConsent: speakers have not agreed to ``share``; nothing is written.
            MissingExtra: matplotlib is not installed.
            UsageError: there is no such figure, option or group; or people's data, and the store
                is not open for writing.
            TabwbError: it cannot be written.
        """
        given = {**locals(), **options, "width": str(width)}
        return _file(done(self, DrawFigure, given))

    @does(
        JudgeRun,
        """
        Returns:
            What judging took, a row for each judge and administration.

        Raises:
            UsageError: the store is not open for writing, or the judge cannot be used.
            NoConsent: a person has not agreed to be judged by it.
            Interrupted: calls failed, or a limit was reached; the same call continues.
            TabwbError: not one reply of a judge could be read; the replies are stored.
        """,
    )
    def judge(
        self,
        ids: Ids = None,
        judge: str | Iterable[str] = (),
        *,
        everything: bool = False,
        where: Where = (),
        scope: Literal["connected-text", "all"] = "connected-text",
        repeats: int = 1,
        again: bool = False,
        max_requests: int | None = None,
        max_cost: float | None = None,
        progress: Progress = False,
    ) -> Table:
        """Let judges rate stored responses; those that a judge has judged are skipped."""
        from tabwb.analysis.tables.administrations import judgements_table

        return judgements_table(done(self, JudgeRun, locals())["judging"])

    @does(TagAdministrations)
    def tag(
        self,
        ids: Ids,
        *,
        title: str | None = None,
        add: Names = (),
        remove: Names = (),
        undo: bool = False,
    ) -> dict[str, Any]:
        """Give a title and tags to administrations; every change is kept and can be taken back."""
        return done(self, TagAdministrations, locals())

    @does(VoidTrial)
    def void(self, administration: int | str, trial: int | str, *, reason: str) -> dict[str, Any]:
        """Declare a trial void: its responses stay in the store and do not count."""
        return done(self, VoidTrial, locals())

    @does(NoteOnTrial)
    def note(self, administration: int | str, trial: int | str, text: str) -> dict[str, Any]:
        """Write a note on a trial."""
        return done(self, NoteOnTrial, locals())

    @does(UndoLatest)
    def undo(self, administration: int | str) -> dict[str, Any]:
        """Take back the latest response, score, skip, void or end; its record stays, marked so."""
        return done(self, UndoLatest, locals())

    @does(TranscribeResponses)
    def transcribe(
        self,
        administration: int | str,
        *,
        transcriber: str | None = None,
        again: bool = False,
        progress: Progress = False,
    ) -> dict[str, Any]:
        """Transcribe the recorded responses of an administration that have no transcript yet."""
        return done(self, TranscribeResponses, locals())

    @does(TranscribeFiles)
    def transcribe_stored(
        self,
        where: str | list[str],
        *,
        transcriber: str | list[str] = "bundled-words",
        progress: Progress = False,
    ) -> dict[str, Any]:
        """Transcribe the recorded responses of administrations (``battery=psst``).

        Each transcriber hears the responses that it has not heard.
        """
        return done(self, TranscribeFiles, locals())

    @does(RescoreAdministration)
    def rescore(self, administration: int | str) -> dict[str, Any]:
        """Rate every response of an administration again; earlier ratings stay in the store."""
        return done(self, RescoreAdministration, locals())

    @does(ScoreResponse)
    def score(
        self,
        administration: int | str,
        trial: int | str,
        score: Score,
        *,
        rater: str = "",
        reason: str = "",
        seen: bool = False,
    ) -> dict[str, Any]:
        """Score a spoken response by ear; of each rater the latest counts."""
        return done(self, ScoreResponse, locals())

    @does(HeardResponse)
    def heard(
        self, administration: int | str, trial: int | str, words: str, *, rater: str = ""
    ) -> dict[str, Any]:
        """Record what was heard in a spoken response: a plain word, ARPAbet or IPA."""
        return done(self, HeardResponse, locals())

    @does(CodeResponse)
    def code(
        self,
        administration: int | str,
        trial: int | str,
        code: str,
        *,
        rater: str = "",
        flags: Names = (),
        reason: str = "",
    ) -> dict[str, Any]:
        """Give a spoken response a code; the proposed code is kept."""
        return done(self, CodeResponse, locals())

    @does(SetOnset)
    def set_onset(
        self,
        administration: int | str,
        trial: int | str,
        seconds: float,
        *,
        rater: str = "",
        from_picture: bool = False,
        reason: str = "",
    ) -> dict[str, Any]:
        """Correct the onset of a spoken response; every earlier one stays in the store."""
        return done(self, SetOnset, locals())

    @does(SetAttempt)
    def set_attempt(
        self,
        administration: int | str,
        trial: int | str,
        *,
        rater: str = "",
        start: float | None = None,
        end: float | None = None,
        marks: Iterable[float] = (),
        reason: str = "",
    ) -> dict[str, Any]:
        """Correct the limits and attempts of a spoken response."""
        return done(self, SetAttempt, locals())

    @does(HistoryOfTrial)
    def history(self, administration: int | str, trial: int | str) -> dict[str, Any]:
        """Return every onset, limit and code that a person gave a response, oldest first."""
        return done(self, HistoryOfTrial, locals())

    @does(StoreInfo)
    def info(self) -> dict[str, Any]:
        """Return the path, size and content of the store."""
        return done(self, StoreInfo, {})

    @does(BackupStore)
    def backup(self, out: str | os.PathLike[str]) -> dict[str, Any]:
        """Copy the store to a new file and check the copy; the store may be in use."""
        return done(self, BackupStore, locals())

    @does(MergeStore)
    def merge(
        self,
        other: str | os.PathLike[str],
        *,
        same_speakers: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Add to the store what another one has and this one has not."""
        return done(self, MergeStore, locals())

    @does(MakeNorms)
    def make_norms(
        self,
        out: str | os.PathLike[str],
        *,
        source: str,
        license: str,
        by: str = "group",
        where: Where = (),
        measure: str | Iterable[str] = (),
        least: int = LEAST,
    ) -> dict[str, Any]:
        """Make norms of the people in the store, one for each group, and write them."""
        return done(self, MakeNorms, locals())

    @does(ListSpeakers)
    def speakers(self, *, may: Scope | None = None, where: Where = ()) -> dict[str, Any]:
        """List speakers with their consents and recorded values, and deleted speakers."""
        return done(self, ListSpeakers, locals())

    @does(ShowSpeaker)
    def speaker(self, speaker: str) -> dict[str, Any]:
        """Return all records of a speaker."""
        return done(self, ShowSpeaker, locals())

    @does(AddSpeaker)
    def add_speaker(
        self, speaker: str, values: Mapping[str, Any] | Iterable[str] = ()
    ) -> dict[str, Any]:
        """Register a speaker with a record."""
        return done(self, AddSpeaker, locals())

    @does(SetSpeaker)
    def set_speaker(
        self, speaker: str, values: Mapping[str, Any] | Iterable[str]
    ) -> dict[str, Any]:
        """Record new values of a speaker; None removes one. Earlier versions stay."""
        return done(self, SetSpeaker, locals())

    @does(ImportSpeakers)
    def import_speakers(
        self,
        path: str | os.PathLike[str],
        *,
        id: str = "",
        columns: Mapping[str, str] | Iterable[str] = (),
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Fill the records of speakers from a table; nothing that is recorded is changed."""
        return done(self, ImportSpeakers, locals())

    @does(ConsentOfSpeaker)
    def consent(
        self,
        speaker: str,
        *,
        scope: Names = (),
        everything: bool = False,
        given: str | None = None,
        withdrawn: str | None = None,
        document: str = "",
        note: str = "",
    ) -> dict[str, Any]:
        """Record consents or withdrawals of a speaker; without a day return those recorded."""
        return done(self, ConsentOfSpeaker, locals())

    @does(LogOfSpeakers)
    def log(
        self, speaker: str | None = None, *, administration: int | None = None
    ) -> dict[str, Any]:
        """Return the log of uses of people's data, oldest first."""
        return done(self, LogOfSpeakers, locals())

    @does(DeleteSpeaker)
    def delete_speaker(
        self,
        speaker: str,
        *,
        reason: Literal["withdrawn", "retention-ended", "entered-by-mistake", "other"],
    ) -> dict[str, Any]:
        """Delete a speaker with all records; this cannot be undone and is not asked again."""
        return done(self, DeleteSpeaker, locals())


def _file(document: Mapping[str, Any]) -> Path:
    """Return the first file that was written."""
    return Path(document["written"][0])
