"""Opens the workbench."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tabwb.workbench.shell.app import Workbench, prepare
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.subjects import SUBJECTS


def make_workbench(
    *,
    location: str | None = None,
    offline: bool = False,
    battery: str | None = None,
    model: str | None = None,
    memory: Path | None = None,
    when_ready: Callable[[], None] | None = None,
) -> Workbench:
    """Return the workbench with all of its subjects."""

    def open_dialog(desk: Desk) -> None:
        from tabwb.workbench.home.subject import DEMONSTRATION
        from tabwb.workbench.trial.actions import TrialActions

        if (battery, model) == DEMONSTRATION:
            desk.perform("file.demonstration")
            return
        desk.actions(TrialActions).new(battery=battery, model=model)

    prepare()
    return Workbench(
        SUBJECTS,
        location=location,
        offline=offline,
        at_start=open_dialog if battery or model else None,
        memory=memory,
        when_ready=when_ready,
    )


def run_workbench(
    store_location: str | None = None,
    offline: bool = False,
    battery: str | None = None,
    model: str | None = None,
) -> int:
    """Open the workbench and return its exit status; arguments as for :func:`make_workbench`."""
    from tabwb.workbench.engine.threads import settle
    from tabwb.workbench.shell import settings

    settings.prepare_pictures()
    app = make_workbench(
        location=store_location, offline=offline, battery=battery, model=model, when_ready=settle
    )
    try:
        app.run()
    finally:
        app.desk.close_worker()
    return app.return_code or 0
