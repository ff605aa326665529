"""The desk's part that shows many administrations model by model, and compares them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from tabwb.workbench.shell.commands import BY_ID, Command
from tabwb.workbench.shell.dock_layout import Framing
from tabwb.workbench.shell.wording import QUIET, glyph_of, special_words

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.workbench.comparison.detail import ModelDetail
    from tabwb.workbench.comparison.loader import (
        Compared,
        Contrasted,
        Differing,
        Paired,
        SurveyGrown,
        SurveyReader,
    )
    from tabwb.workbench.comparison.page import ModelsPage

TWO = "Mark two models with space, then c compares them."
UNPAIRED = (
    "No base and instruct model of one family and size are shown. What a model is comes from "
    "its profile: family, tuning, parameters."
)


class Surveying(Framing):
    """What the commands of the page of all models do. The desk is one."""

    _surveyor: SurveyReader | None = None
    _asker: SurveyReader | None = None
    _location: str | None = None
    from_models = False
    """The results of one administration were opened from the page of all models."""

    @property
    def models_page(self) -> ModelsPage:
        """The page; mounted when it is first opened."""
        from tabwb.workbench.comparison.page import ModelsPage

        return self.query_one(ModelsPage)

    @property
    def surveyor(self) -> SurveyReader:
        """Reads all models, in a thread of its own."""
        if self._surveyor is None:
            self._surveyor = self._new_reader()
        return self._surveyor

    @property
    def asker(self) -> SurveyReader:
        """Answers what is asked about one or two models meanwhile."""
        if self._asker is None:
            self._asker = self._new_reader()
        return self._asker

    def _new_reader(self) -> SurveyReader:
        from tabwb.plugin_api.config.settings import Configuration
        from tabwb.workbench.comparison.loader import SurveyReader

        return SurveyReader(self.post_message, Configuration.load().store_at(self._location))

    # ---------------------------------------------------------------- reading

    async def action_results_by_model(self) -> None:
        """All models side by side, read anew."""
        if self.catalogue is None or not self.catalogue.store:
            self.notify("The store is not open yet.")
            return
        await self.go("models")
        self.models_page.begin()
        self.surveyor.survey()

    def on_survey_grown(self, message: SurveyGrown) -> None:
        """One more model has been read."""
        if message.turn == self.surveyor.turn:
            self.models_page.grow(message.row, message.done, message.total)
            self._show_foot()

    def foot_rank(self, command: Command) -> int:
        """Where there is another judge to show, its key is seldom left out."""
        if command.id == "results.basis" and len(self.models_page.choices) > 1:
            return BY_ID["results.compare"].rank
        return super().foot_rank(command)

    # ---------------------------------------------------------------- one model, two models

    def on_models_page_opened(self, message: ModelsPage.Opened) -> None:
        """The results of a model: of its only administration, or of the one that is picked."""
        members = [one.administration for one in reversed(message.row.group.members)]
        if len(members) == 1:
            self._open_results(members[0].id)
            return
        from tabwb.workbench.shell.pick import PickScreen

        width = max(len(one.status_word) for one in members)
        lines = [
            Content.assemble(
                (f"{one.id:>4}", "bold"),
                f"  {glyph_of(one)} {one.status_word:<{width}}",
                (
                    f"{one.answered:>6}/{one.planned:<6} {one.given_at}",
                    QUIET,
                ),
                f"  {' · '.join(special_words(one))}",
            )
            for one in members
        ]

        def picked(at: int | None) -> None:
            if at is not None:
                self._open_results(members[at].id)

        self.app.push_screen(PickScreen(f"Administrations of {message.row.label}", lines), picked)

    def _open_results(self, number: int) -> None:
        self.from_models = True
        self.do(partial(self.bench.results, number))

    def action_results_compare(self) -> None:
        """The two models that are marked, side by side."""
        marked = self.models_page.selected
        if len(marked) != 2:
            self.notify(f"{len(marked) or 'None'} marked. {TWO}", markup=False)
            return
        self.notify("Reading the responses of both …", timeout=2)
        self.asker.compare(marked[0].group, marked[1].group)

    def on_compared(self, message: Compared) -> None:
        """Show them."""
        if message.turn == self.asker.turn:
            from tabwb.workbench.comparison.compare import CompareScreen

            self.app.push_screen(CompareScreen(message.found, message.battery))

    def action_results_differ(self) -> None:
        """To the features; on one of them, the responses on which judges differ about it."""
        from tabwb.workbench.comparison.detail import ModelDetail

        page = self.models_page
        detail = page.query_one(ModelDetail)
        if detail.has_focus and detail.highlighted is not None:
            detail.action_select()
            return
        page.show_detail()
        detail.to_features()

    def on_model_detail_feature_chosen(self, message: ModelDetail.FeatureChosen) -> None:
        """Find the responses."""
        row: Grouped | None = self.models_page.current
        if row is not None:
            self.notify("Reading the responses …", timeout=2)
            self.asker.differ(row.group, message.feature)

    def on_differing(self, message: Differing) -> None:
        """Show them."""
        if message.turn == self.asker.turn:
            from tabwb.workbench.judging.differing import DifferingScreen

            self.app.push_screen(DifferingScreen(message.found, message.battery, message.label))

    # ---------------------------------------------------------------- reports

    def action_results_pairs(self) -> None:
        """Base and instruct models among those shown."""
        from tabwb.report.summaries.pairs import kindred

        kin = kindred(self.models_page.shown)
        if not kin:
            self.notify(UNPAIRED, markup=False)
            return
        self.notify("Reading the responses …", timeout=2)
        self.asker.pair([(base.group, instruct.group) for base, instruct in kin])

    def on_paired(self, message: Paired) -> None:
        """Show them."""
        if message.turn == self.asker.turn:
            from tabwb.workbench.shell.report import pairs_screen

            self.app.push_screen(pairs_screen(message.pairs))

    def action_results_judges(self) -> None:
        """The judges of the marked models, or of the model under the cursor."""
        rows, what = self._wanted()
        if rows:
            self.notify("Reading the responses …", timeout=2)
            self.asker.contrast([row.group for row in rows], what)

    def on_contrasted(self, message: Contrasted) -> None:
        """Show them."""
        if message.turn == self.asker.turn:
            from tabwb.workbench.shell.report import judges_screen

            self.app.push_screen(judges_screen(message.found, message.battery, message.label))

    def _wanted(self) -> tuple[list[Grouped], str]:
        """The marked models, or the one under the cursor; and what to call them."""
        page = self.models_page
        rows = page.selected or ([page.current] if page.current is not None else [])
        return rows, rows[0].label if len(rows) == 1 else f"{len(rows)} models"

    # ---------------------------------------------------------------- the table

    def action_results_mark(self) -> None:
        """Mark or unmark."""
        self.models_page.mark()

    def action_results_sort(self) -> None:
        """The next column."""
        self.models_page.sort(self.models_page.order.after())

    def action_results_reverse(self) -> None:
        """The other way round."""
        order = self.models_page.order
        self.models_page.sort(order.chosen(order.column))

    def action_results_plot(self) -> None:
        """Table or plots."""
        self.models_page.plot()

    def action_results_below(self) -> None:
        """Accuracies, or one model's detail."""
        self.models_page.turn_below()

    def action_results_filter(self) -> None:
        """Words of names."""
        self.models_page.filter()

    def action_results_basis(self) -> None:
        """Another battery or judge."""
        from tabwb.workbench.shell.pick import PickScreen

        page = self.models_page
        choices, basis = page.choices, page.basis
        if basis is None:
            return

        def picked(at: int | None) -> None:
            if at is not None:
                page.take(choices[at])

        lines = [
            Content.assemble(
                (" · ".join(one.words), "bold"),
                (f"\n  {one.battery}, {one.n} {'model' if one.n == 1 else 'models'}", QUIET),
            )
            for one in choices
        ]
        self.app.push_screen(
            PickScreen("Burdens of which judge", lines, choices.index(basis)), picked
        )

    # ---------------------------------------------------------------- shared with one's results

    def action_results_export(self) -> None:
        """Write the marked models' responses, or those of the model under the cursor."""
        if self.page != "models":
            super().action_results_export()
            return
        rows, what = self._wanted()
        if not rows or self.catalogue is None:
            return
        from tabwb.workbench.results.export import ExportScreen

        given = [one.administration for row in rows for one in row.group.members]
        self.app.push_screen(
            ExportScreen(
                what,
                self.catalogue.exporters,
                partial(self.export, [one.id for one in given]),
                name="results-by-model",
                people=any(one.conditions.guarded for one in given),
            )
        )

    def action_results_back(self) -> None:
        """From one's results back to all models; from there home or to what is open."""
        if self.page == "results" and self.from_models:
            if not self.close_drawer():
                self.from_models = False
                self.run_worker(self.go("models"))
            return
        super().action_results_back()

    def action_view_scores(self) -> None:
        """On the page of all models: show or hide one model's detail."""
        if self.page == "models":
            self.models_page.toggle_detail()
        else:
            super().action_view_scores()
