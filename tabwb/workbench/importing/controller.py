"""Reads files of answers for a dry run, and imports them in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.files import expanded
from tabwb.records.speakers import ORIGINS, Origin
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import Ended, Tools
from tabwb.workbench.engine.messages import Told
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.importing.refusals import refusal

if TYPE_CHECKING:
    from tabwb.administer.answers.prepared import PreparedImport
    from tabwb.host.plugins import Plugins
    from tabwb.tasks.spoken_naming.giving import PreparedFolder, PreparedSessions
    from tabwb.tasks.spoken_naming.imports import Step

    Prepared = PreparedImport | PreparedSessions | PreparedFolder

KIND = "Import"
"""Of its background jobs."""
FRAME_S = 0.1
"""Seconds between two messages of progress."""
NOTHING = "nothing was imported"
SHOWN = 5
"""How many administrations and answers a dry run shows."""


@dataclass(frozen=True, slots=True)
class ImportWish:
    """What the dialog asks for, as it was typed.

    Attributes:
        by: who answered: ``file`` (as the file says), ``model``, ``human`` or ``unknown``.
        name: of the model, or the participant code; empty: as the file says.
        columns: of a table, ``response=text item=id``.
        date: of the session, or empty.
        transcriber: of a folder of recordings: a spec, or ``none``.
        numbered: further answers to an item are replicates.
        skip: answers to no item of the battery are left out.
        again: also where the store has the answers of the file.
    """

    path: str
    battery: str
    by: str = "file"
    name: str = ""
    columns: str = ""
    date: str = ""
    transcriber: str = "none"
    numbered: bool = False
    skip: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """How far an import is: ``read`` (a dry run), ``running``, ``refused`` or ``done``.

    Attributes:
        lines: what the dialog shows.
        numbers: of the administrations imported.
        field: of the dialog that is refused; empty: none.
    """

    phase: str
    lines: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    field: str = ""

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, ImportOutcome) and self.phase == later.phase == "running"


class ImportingController(Controller):
    """Imports what was answered elsewhere."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._stored: dict[ImportWish, list[int]] = {}
        """The administrations of imports that have not ended, or were stopped."""

    def check(self, wish: ImportWish) -> None:
        """Tell what an import would store and leave out; nothing is stored."""
        refused: list[str] = []

        def work(tools: Tools) -> Ended:
            prepared = _read(tools.plugins, wish, lambda: None, refused)
            return Ended("read", "\n".join(_described(prepared)))

        def after(ended: Ended) -> None:
            lines = ended.words.splitlines()
            if ended.phase == "read":
                lines.append("Nothing is imported yet.")
            self.say(ImportOutcome(ended.phase, tuple(lines), field="".join(refused)))

        self.engine.background.look(work, after)

    def import_all(self, wish: ImportWish) -> None:
        """Store what a file holds, in the background, and tell the administrations.

        Of spoken naming an import that was stopped is continued.
        """
        numbers = self._stored.setdefault(wish, [])
        refused: list[str] = []

        def work(tools: Tools) -> Ended:
            step = partial(_check_stop, tools, numbers)
            self._store(tools, _read(tools.plugins, wish, step, refused), wish, numbers)
            made = plural(len(numbers), "administration")
            return Ended("done", f"imported {made}", numbers[0] if numbers else None)

        def after(ended: Ended) -> None:
            self.engine.refresh()
            if ended.phase == "done":
                self._stored.pop(wish, None)
                self.say(ImportOutcome("done", numbers=tuple(numbers)))
            else:
                lines = tuple(ended.words.splitlines())
                self.say(ImportOutcome("refused", lines, field="".join(refused)))

        self.engine.background.start(
            KIND, Path(wish.path).name, work, after=after, again=partial(self.import_all, wish),
            holds=True,
        )  # fmt: skip

    def stop(self) -> None:
        """Stop the imports after what is being stored; from any thread."""
        for entry in list(self.engine.background.entries.values()):
            if entry.state.kind == KIND:
                self.engine.background.stop(entry.state.number)

    def _store(
        self, tools: Tools, prepared: Prepared, wish: ImportWish, numbers: list[int]
    ) -> None:
        from tabwb.tasks.spoken_naming.giving import PreparedFolder, PreparedSessions
        from tabwb.workbench.importing.recordings import FolderJob

        if isinstance(prepared, PreparedFolder):
            job = FolderJob(tools, prepared, self._tell, self._running, again=wish.again)
            job.give(numbers)
        elif isinstance(prepared, PreparedSessions):
            self._store_sessions(tools, prepared, numbers, again=wish.again)
        else:
            numbers += self._store_answers(tools, prepared, again=wish.again)

    def _tell(self, words: str) -> None:
        self.say(Told(words))

    def _running(self, words: str) -> None:
        self.say(ImportOutcome("running", (words,)))

    def _store_sessions(
        self, tools: Tools, prepared: PreparedSessions, numbers: list[int], *, again: bool
    ) -> None:
        from tabwb.tasks.spoken_naming.giving import import_sessions

        of = len(prepared.sessions)
        left = replace(prepared, sessions=prepared.sessions[len(numbers) :])
        step = partial(_check_stop, tools, numbers)
        for number, _ in import_sessions(
            tools.store, tools.plugins, left, self._tell, step=step, again=again
        ):
            numbers.append(number)
            words = f"stored {len(numbers)} of {plural(of, 'session')}"
            tools.tell(words=words, done=len(numbers), planned=of)
            self._running(words)

    def _store_answers(
        self, tools: Tools, prepared: PreparedImport, *, again: bool
    ) -> Sequence[int]:
        from tabwb.administer.answers.importing import import_answers
        from tabwb.administer.consent import Guard

        count = len(prepared.plan.source.answers)
        progress = _Progress(self._running, tools, count)
        imported = import_answers(
            tools.store, tools.plugins, prepared.battery, prepared.plan, prepared.conditions,
            progress.add, again=again,
        )  # fmt: skip
        tools.tell(done=count, planned=count)
        guards = (Guard(tools.store, tools.plugins, given) for given in prepared.conditions)
        for notice in Guard.notices_of(guards):
            self._tell(notice)
        for failed in dict.fromkeys(str(rater) for one in imported for rater in one.failed):
            self._tell(f"{failed}; every response is stored")
        return [one.administration.id for one in imported]


def _check_stop(tools: Tools, numbers: Sequence[int]) -> None:
    """Raise Interrupted where the user has stopped; it says what is stored."""
    if tools.cancel.is_set():
        made = f"imported {plural(len(numbers), 'session')}"
        raise Interrupted(f"stopped: {made if numbers else NOTHING}")


def _read(plugins: Plugins, wish: ImportWish, step: Step, refused: list[str]) -> Prepared:
    """Return what will be stored; the field that prevents it is added to ``refused``."""
    try:
        return _prepared(plugins, wish, step)
    except Interrupted:
        raise
    except TabwbError as error:
        typed = {"file": str(expanded(wish.path)), "battery": wish.battery, "name": wish.name,
                 "transcriber": wish.transcriber}  # fmt: skip
        field, words = refusal(error, typed)
        refused.append(field)
        raise UsageError(words) from error


def _prepared(plugins: Plugins, wish: ImportWish, step: Step) -> Prepared:
    from tabwb.administer.answers.examinee import Stated
    from tabwb.administer.answers.prepared import (
        ImportRequest,
        columns_of,
        importer_of,
        prepare_import,
    )
    from tabwb.tasks.spoken_naming.giving import (
        FolderImport,
        NamingImport,
        holds_recordings,
        prepare_folder,
        prepare_sessions,
    )

    path = expanded(wish.path)
    if not path.exists():
        raise UsageError("there is no such file or folder", where=str(path))
    model = wish.name if wish.by == "model" else ""
    speaker = wish.name if wish.by != "model" else ""
    origin: Origin | None = next((one for one in ORIGINS if one == wish.by), None)
    importer = importer_of(plugins, path, None)
    if importer is None:
        if not wish.battery:
            raise UsageError("spoken naming needs a battery")
        if holds_recordings(path):
            if wish.by in {"model", "unknown"}:
                raise UsageError("recordings are of a participant", allowed="answered by a person")
            folder = FolderImport(path, wish.battery, speaker, wish.transcriber, wish.date)
            return prepare_folder(plugins, folder)
        naming = NamingImport(
            path, wish.battery, speaker=speaker or None, origin=origin, date=wish.date
        )
        return prepare_sessions(plugins, naming, step)
    request = ImportRequest(
        path,
        wish.battery or None,
        Stated(model or None, speaker or None, origin),
        columns=columns_of(wish.columns.split()),
        number_replicates=wish.numbered,
        skip_unknown=wish.skip,
        date=wish.date,
    )
    return prepare_import(plugins, importer, request)


class _Progress:
    """Tells how many answers are rated, and stops where the user asks."""

    def __init__(self, running: Callable[[str], None], tools: Tools, of: int) -> None:
        self._running, self._tools, self._of = running, tools, of
        self._done, self._told_at = 0, 0.0

    def add(self, count: int) -> None:
        """Count answers."""
        if self._tools.cancel.is_set():
            raise Interrupted(f"stopped: {NOTHING}")
        self._done += count
        if time.monotonic() - self._told_at > FRAME_S:
            self._told_at = time.monotonic()
            words = f"rated {self._done:,} of {self._of:,} answers"
            self._tools.tell(words=words, done=self._done, planned=self._of)
            self._running(words)


def _described(prepared: Prepared) -> list[str]:
    from tabwb.administer.answers.prepared import left_out, planned_lines
    from tabwb.tasks.spoken_naming.giving import PreparedFolder, PreparedSessions
    from tabwb.workbench.importing.recordings import described

    if isinstance(prepared, PreparedFolder):
        return described(prepared)
    if isinstance(prepared, PreparedSessions):
        lines = [
            f"{conditions.examinee} ({conditions.made_by}): "
            f"{plural(len(session.responses), 'response')}"
            for session, conditions in prepared.sessions
        ]
        return [*_first(lines, "session"), *prepared.notes]
    plan = prepared.plan
    lines = [f"{plan.source.title}: {plural(len(plan.source.answers), 'answer')}"]
    runs = list(zip(plan.runs, prepared.conditions, strict=True))
    for run, given in runs[:SHOWN]:
        lines += planned_lines(run, given, SHOWN if len(runs) == 1 else 0)
    if len(runs) > SHOWN:
        lines.append(f"and {plural(len(runs) - SHOWN, 'administration')} more")
    return [*lines, *left_out(plan, prepared.battery.id)]


def _first(lines: Sequence[str], what: str) -> list[str]:
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], *([f"and {plural(more, what)} more"] if more > 0 else [])]
