"""Stops background jobs and starts them again."""

from __future__ import annotations

from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController


class JobsController(Controller):
    """Commands on the background jobs."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)

    def stop(self, number: int) -> None:
        """Ask a job to stop; from any thread."""
        self.engine.background.stop(number)

    def again(self, number: int) -> None:
        """Start a job that has stopped again."""
        self.engine.background.again(number)
