"""Shows many administrations model by model, and compares them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.lesion.declared import PRESETS
from tabwb.records.trials import Administration
from tabwb.records.words import plural
from tabwb.workbench.engine.messages import Changed, Requested, Stored
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import pick
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.shell.wording import QUIET, glyph_of, head_words, name_of, state_word

if TYPE_CHECKING:
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.keys import Filter, Key
    from tabwb.workbench.comparison.loader import Companion, Question
    from tabwb.workbench.comparison.page import ModelsPage
    from tabwb.workbench.comparison.table import Basis
    from tabwb.workbench.engine.engine import Engine
    from tabwb.workbench.engine.session_controller import SessionController

TWO = "Mark two rows with space, then c compares them."
ONE_ROW = (
    "There is only one row. b groups by another key: administration shows each administration "
    "in a separate row, seed puts those with one seed together."
)
FIRST_KEYS = (
    "administration", "model", "seed", "temperature", "lesion", "family", "tuning", "participant",
    "severity",
)  # fmt: skip
"""Keys that are offered first."""
REST_S = 0.1
"""Seconds after each model, so that the screen has the interpreter while it shows it."""
UNREAD = "The results could not be read"
RENEW_S = 2.0
"""The least seconds between two readings of what changes while the page is shown."""
FIGURES = ("burden", "accuracy", "profile", "differences", "dose", "map", "agreement", "latency")
"""Figures that suit the page."""
UNPAIRED = (
    "No base and instruct model of one family and size are shown. Family, tuning and "
    "parameters of a model come from its profile."
)


def file_stem(label: str) -> str:
    """Return the proposed name of a file with the results of one row.

    >>> file_stem("bundled, mlp:zero:0.2@seed=3")
    'results-bundled-mlp-zero-0.2-seed-3'
    >>> file_stem("replay:severe.jsonl")
    'results-replay-severe'
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", label.removesuffix(".jsonl"))
    return f"results-{name.strip('-.')}"[:80]


def _give(
    engine: Engine, sessions: SessionController, one: Administration, lesion: str | None
) -> None:
    """Give a battery as an administration has it, with another lesion, by an auto-run."""
    from tabwb.administer.session import setup
    from tabwb.battery.loader import battery_from_canonical

    battery = battery_from_canonical(engine.store.battery_canonical(one.battery_hash))
    conditions = replace(one.conditions, lesion=lesion)
    sessions.begin(battery, setup.resolve(engine.plugins, battery, conditions))
    sessions.set_auto(True)


class ComparisonActions(Actions):
    """Runs the commands of the page of all models."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(Changed, self.changed)
        desk.listen(Stored, lambda message: self._renew_soon(message.number))
        desk.listen(Requested, self._over)
        self._given: tuple[int, str | None] | None = None
        """What is compared with the administration that is being given, and the lesion of that."""
        self._stale: set[int] = set()
        self._waiting = False

    @property
    def page(self) -> ModelsPage:
        """The page; mounted when it is first opened."""
        from tabwb.workbench.comparison.page import ModelsPage

        return self.desk.query_one(ModelsPage)

    async def by_model(self) -> None:
        """All models side by side, read again."""
        if self.desk.catalogue is None or not self.desk.catalogue.store:
            self.desk.notify("The store is not open yet.")
            return
        await self.desk.go("models")
        self._survey()

    async def groups(self, by: str) -> None:
        """Show the results by another key."""
        await self.by_model()
        if self.desk.page == "models" and by != self.page.by:
            self._survey(by)

    def choose(self, where: tuple[Filter, ...]) -> None:
        """Read again what filters choose."""
        self.page.where = where
        self._survey()

    def _survey(self, by: str | None = None) -> None:
        """Read all models; the reading before ends."""
        self.page.begin(by)
        self.desk.start(self._grow, group="survey", failing=UNREAD)

    async def _grow(self) -> None:
        from tabwb.workbench.comparison.loader import survey

        page = self.page
        async for grown in self.desk.each(survey, self.desk.engine, page.by, page.where):
            self.page.grow(*grown)
            self.desk.show_foot()
            await asyncio.sleep(REST_S)

    # ---------------------------------------------------------------- while work runs

    def changed(self, message: Changed) -> None:
        """Something was answered in the open administration."""
        if message.work is not None and message.work.administration.answered:
            self._renew_soon(message.work.administration.id)

    def _renew_soon(self, number: int) -> None:
        """Read an administration's model again, if the page is shown; opening it reads all."""
        if self.desk.page == "models":
            self._stale.add(number)
            if not self._waiting:
                self._waiting = True
                self.desk.set_timer(RENEW_S, self._renew)

    def _renew(self) -> None:
        self._waiting = False
        if self.desk.page != "models":
            self._stale.clear()
        elif self._stale and self.page.done:
            numbers = frozenset(self._stale)
            self.desk.start(self._read_again, numbers, group="survey", failing=UNREAD)
            self._stale.clear()
        elif self._stale:  # everything is being read; what is read already may have changed since
            self._renew_soon(next(iter(self._stale)))

    async def _read_again(self, numbers: frozenset[int]) -> None:
        from tabwb.workbench.comparison.loader import read_again

        desk = self.desk
        by, where = self.page.by, self.page.where
        self.page.renew(await desk.ask(read_again, desk.engine, by, where, numbers, aside=True))

    def _ask(self, question: Question, words: str = "Reading the responses …") -> None:
        self.desk.notify(words, timeout=2)
        self.desk.start(self._answer, question, group="question", failing=UNREAD)

    async def _answer(self, question: Question) -> None:
        """Show what was asked for last, a report only where the models are still shown."""
        from tabwb.workbench.comparison.loader import answer
        from tabwb.workbench.comparison.plots import ReportPage

        desk = self.desk
        found = await desk.ask(answer, desk.engine, question, aside=True)
        if callable(found):
            desk.app.push_screen(found())
        elif desk.page == "models":
            await desk.go("report")
            await desk.query_one(ReportPage).show(found)
            desk.show_frame()

    # ---------------------------------------------------------------- one model, two models

    def open_model(self, row: Grouped) -> None:
        """Show the results of a model's only administration, or of the one that is picked."""
        members = [member.administration for member in reversed(row.group.members)]
        if len(members) == 1:
            self._open_results(members[0].id)
            return
        columns: Sequence[Column[Administration]] = (
            Column("", lambda one: str(one.id), right=True, style="bold"),
            Column("", lambda one: f"{glyph_of(one)} {state_word(one)}"),
            Column("", lambda one: f"{one.answered}/{one.planned}", right=True, style=QUIET),
            Column("", lambda one: one.given_at, rank=1, style=QUIET),
            Column("", lambda one: " · ".join(head_words(one)), least=12),
        )

        def picked(one: Administration) -> None:
            self._open_results(one.id)

        title = f"Administrations of {row.label}"
        pick(self.desk.app, title, members, picked, columns=columns)

    def _open_results(self, number: int) -> None:
        self.desk.return_to = "models"
        self.desk.request("results", "show", number)

    def compare(self) -> None:
        """The two rows that are marked, side by side; with none marked, the only two shown."""
        from tabwb.workbench.comparison.loader import compare

        shown = self.page.shown
        marked = self.page.selected or (shown if len(shown) == 2 else [])
        if len(marked) != 2:
            words = f"{len(marked) or 'None'} marked. {TWO}" if len(shown) != 1 else ONE_ROW
            self.desk.notify(words, markup=False)
            return
        first, second = (row.group for row in marked)
        self._ask(partial(compare, first=first, second=second), "Reading the responses of both …")

    def compare_two(self, first: int, second: int) -> None:
        """Show the difference of two administrations."""
        self.desk.start(self._compare, first, second, failing=UNREAD)

    def compare_with(self, number: int) -> None:
        """Pick what is compared with the results of an administration."""
        from tabwb.workbench.comparison.loader import companions

        desk = self.desk
        listed = () if desk.catalogue is None else desk.catalogue.administrations
        one = next(given for given in listed if given.id == number)
        found = companions(desk.engine, one)
        if not found:
            desk.notify("Nothing else was given this battery yet.")
            return

        def lesion(row: Companion) -> str:
            given = row.administration
            return name_of(given) if given else f"+ {PRESETS[row.lesion][0]}: {row.lesion}"

        def told(row: Companion) -> str:
            given = row.administration
            return " · ".join(head_words(given)) if given else f"gives it: {PRESETS[row.lesion][1]}"

        columns: Sequence[Column[Companion]] = (
            Column("", lambda row: str(row.administration.id) if row.administration else "",
                   right=True, style="bold"),
            Column("", lesion, least=20),
            Column("", told, least=16, rank=1, end=True, style=QUIET),
        )  # fmt: skip
        pick(
            desk.app, f"Compare #{number} with", found, partial(self._picked, one), columns=columns
        )

    def _picked(self, one: Administration, row: Companion) -> None:
        if row.administration is not None:
            self.compare_two(one.id, row.administration.id)
            return
        self._given = one.id, row.lesion or None
        self.desk.do(partial(_give, self.desk.engine, self.desk.sessions, one, row.lesion or None))

    def _over(self, message: Requested) -> None:
        """Compare what was given for a comparison, once its auto-run is complete."""
        if message.what != "auto_run_complete" or self._given is None:
            return
        (first, lesion), work = self._given, self.desk.work
        self._given = None
        if work is not None and work.administration.conditions.lesion == lesion:
            self.compare_two(first, *message.values)

    async def _compare(self, first: int, second: int) -> None:
        from tabwb.workbench.comparison.loader import answer, compare, sides

        engine = self.desk.engine
        one, other = await self.desk.ask(sides, engine, first, second, aside=True)
        question = partial(compare, first=one, second=other)
        found = await self.desk.ask(answer, engine, question, aside=True)
        assert callable(found)
        self.desk.app.push_screen(found())

    def differ(self) -> None:
        """To the features; on one of them, the responses on which judges differ about it."""
        from tabwb.workbench.comparison.detail import ModelDetail

        page = self.page
        detail = page.query_one(ModelDetail)
        if detail.has_focus and detail.chosen is not None:
            detail.action_select()
            return
        page.show_detail()
        detail.to_features()

    def differ_on(self, feature: str) -> None:
        """Find the responses on which judges differ about a feature."""
        from tabwb.workbench.comparison.loader import differ

        row: Grouped | None = self.page.current
        if row is not None:
            self._ask(partial(differ, group=row.group, feature=feature))

    def pairs(self) -> None:
        """Base and instruct models among those shown."""
        from tabwb.analysis.contrast import kindred
        from tabwb.workbench.comparison.loader import pair

        kin = kindred(self.page.shown)
        if not kin:
            self.desk.notify(UNPAIRED, markup=False)
            return
        self._ask(partial(pair, kin=[(base.group, instruct.group) for base, instruct in kin]))

    def judges(self) -> None:
        """The judges of the marked models, or of the model under the cursor."""
        from tabwb.workbench.comparison.loader import contrast

        rows, label = self._wanted()
        if rows:
            self._ask(partial(contrast, groups=[row.group for row in rows], label=label))

    def _wanted(self) -> tuple[list[Grouped], str]:
        """The marked models, or the one under the cursor; and what to call them."""
        page = self.page
        rows = page.selected or ([page.current] if page.current is not None else [])
        return rows, rows[0].label if len(rows) == 1 else f"{len(rows)} models"

    # ---------------------------------------------------------------- what is shown

    def basis(self) -> None:
        """Another battery, judge, person or rule."""
        page = self.page
        choices, basis = page.choices, page.basis
        if basis is None:
            return

        columns: Sequence[Column[Basis]] = (
            Column("", lambda one: " · ".join(one.words), least=20, end=True, style="bold"),
        )
        pick(
            self.desk.app, "Battery, and who rated it", choices, page.take,
            at=choices.index(basis), columns=columns,
            below=lambda one, _: Content.styled(f"  {one.battery}, {plural(one.n, 'row')}", QUIET),
        )  # fmt: skip

    def group(self) -> None:
        """Group by another key."""
        from tabwb.analysis.keys import keys

        known = [key for key in keys() if key.level == "administration"]
        known.sort(
            key=lambda key: FIRST_KEYS.index(key.id) if key.id in FIRST_KEYS else len(FIRST_KEYS)
        )
        at = [key.id for key in known].index(self.page.by)
        columns: Sequence[Column[Key]] = (
            Column("", lambda key: key.id, style="bold"),
            Column("", lambda key: key.meaning, least=20, end=True, style=QUIET),
        )

        def picked(key: Key) -> None:
            if key.id != self.page.by:
                self._survey(key.id)

        pick(self.desk.app, "Group by", known, picked, at=at, columns=columns)

    def lesions(self) -> None:
        """Curves and maps of lesions among the marked rows, or among all that are shown."""
        page = self.page
        basis = page.basis
        if not page.done:
            self.desk.notify("The results are still being read.")
        elif basis is not None:
            judge = "" if basis.terms is None else basis.terms.rater
            numbers = tuple(sorted(page.administrations()))
            self.desk.request(
                "lesions", "curves", numbers=numbers, judge=judge, words=basis.battery,
                back="models",
            )  # fmt: skip

    def export(self) -> None:
        """Write the marked models' responses, or those of the model under the cursor."""
        rows, label = self._wanted()
        members = [member.administration for row in rows for member in row.group.members]
        if members:
            numbers = tuple(member.id for member in members)
            page = self.page
            by, drawn = page.by, page.administrations()
            terms = None if page.basis is None else page.basis.terms
            name = file_stem(label) if len(rows) == 1 else f"results-by-{by}"
            self.desk.request(
                "results", "export", numbers, label, name, figures=FIGURES,
                drawn=drawn, by=by, judge="" if terms is None else terms.rater,
            )  # fmt: skip

    async def back(self) -> None:
        """Return to the open administration, or home."""
        if not self.desk.docks.leave_drawer():
            await self.desk.back()
