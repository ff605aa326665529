"""Opens the dialog of models and profiles, and runs what it asks for."""

from __future__ import annotations

from functools import partial

from tabwb.workbench.models.controller import ModelsController, ModelTold
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.subject import Actions


class ModelsActions(Actions):
    """Runs the command *Models*."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._open = False
        """Whether the dialog is open."""
        desk.listen(ModelTold, self.told)

    def models(self) -> None:
        """Open the dialog."""
        desk = self.desk
        if desk.catalogue is None:
            return
        from tabwb.workbench.models.dialog import ModelActions, ModelsScreen

        controller = desk.controller(ModelsController)
        actions = ModelActions(
            write=lambda *values: desk.do(partial(controller.write_profile, *values)),
            remove=lambda name: desk.do(partial(controller.remove_profile, name)),
            try_=lambda spec: desk.do(partial(controller.try_model, spec)),
            stop=desk.sessions.interrupt,
        )

        def closed(_: None) -> None:
            self._open = False

        self._open = True
        desk.app.push_screen(ModelsScreen(desk.catalogue, actions, desk.news), closed)

    def told(self, message: ModelTold) -> None:
        """Tell the outcome of a command when the dialog was closed."""
        if not self._open and message.phase != "trying":
            self.desk.notify(message.words, timeout=8, markup=False)
