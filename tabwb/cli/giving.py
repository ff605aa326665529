"""Give the items that a session has left to a model or a person, then let the judges judge."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tabwb.cli.common import inform, is_quiet, is_verbose, note, on_terminal, print_json
from tabwb.cli.progress import Progress
from tabwb.cli.signals import stopping
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from tabwb.administer.session.raters import FailedRater
    from tabwb.administer.session.session import Session
    from tabwb.plugin_api.components import ModelBackend
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.conditions import Conditions


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model that is loaded.

    Attributes:
        backend: what answers.
        facts: what it says of itself (revision, dtype).
        cancel: set by ctrl+c.
    """

    backend: ModelBackend
    facts: Mapping[str, str]
    cancel: threading.Event


@contextmanager
def opened_model(plugins: Plugins, conditions: Conditions) -> Iterator[OpenModel | None]:
    """Yield the examinee's model, loaded; None for a person.

    It is loaded before an administration begins: a model that cannot be loaded leaves no
    administration.

    Args:
        plugins: where the model is registered.
        conditions: of the administration.
    """
    if conditions.kind != "model":
        yield None
        return
    backend = plugins.open_model(conditions.examinee)
    cancel = threading.Event()
    if on_terminal():
        inform(f"loading {conditions.examinee}")
    try:
        facts = backend.open()  # ctrl+c ends this at once: nothing has been asked yet
        with stopping(cancel):
            yield OpenModel(backend, facts, cancel)
    finally:
        backend.close()
        for problem in plugins.failed_closings:
            note(f"warning: plugin {problem}")


def give(session: Session, model: OpenModel | None, together: int, *, as_json: bool) -> int:
    """Give every item that is left, print the results and return the exit status.

    Args:
        session: running.
        model: the examinee's, or None for a person.
        together: how many items a batching model gets at once.
        as_json: print one document instead of tables.

    Raises:
        Interrupted: items are left; ``resume`` continues.
    """
    number = session.administration.id
    # Said at once, so that it is known however the run ends.
    inform(f"administration {number}")
    with pausing(session):
        if model is not None:
            _give_to_model(session, model, together, quiet=as_json)
        else:
            from tabwb.cli.typing import give_to_typist

            give_to_typist(session, aside=as_json)
    documents: list[dict[str, Any]] = []
    if session.status is AdministrationStatus.DONE:
        _judge(session, documents, quiet=as_json)
    for problem in session.plugins.failed_observers:
        note(f"warning: plugin {problem}")
    try:
        show(session, as_json=as_json)
    finally:
        # Also when nobody reads the results: that more is to be done is the more important news.
        if session.status is AdministrationStatus.PAUSED:
            for failed in failures_of(session):
                note(f"warning: {failed}")
            reason = session.history.pause_reason or "by the user"
            raise Interrupted(
                f"administration {number} is paused: {reason}",
                hint=f"continue with: {named_next(session) or f'tabwb resume {number}'}",
            )
        for document in documents:
            from tabwb.cli.judge_run import check_verdicts

            hint = f"continue with: tabwb judge run {number} --judge {document['rater']}"
            check_verdicts([document], hint)
    check_raters(session)
    return 0


@contextmanager
def pausing(session: Session) -> Iterator[None]:
    """Pause a running session where an exception ends the block (a closed pipe, ctrl+c twice)."""
    try:
        yield
    except BaseException:
        if session.status is AdministrationStatus.RUNNING:
            with suppress(TabwbError):
                session.pause("stopped in the middle")
        raise


def failures_of(session: Session) -> tuple[FailedRater, ...]:
    """Return the scorers and judges that failed; those that ask a model report by themselves."""
    from tabwb.administer.session.raters import failed_raters

    return failed_raters(session.trials, session.raters.later)


def check_raters(session: Session) -> None:
    """Report every scorer and judge that failed, once.

    Raises:
        TabwbError: one failed; every answer is stored, and can be rated again.
    """
    failed = failures_of(session)
    if failed:
        raise TabwbError(
            "\n".join(map(str, failed)),
            hint="every response is stored; after the cause is removed: "
            f"tabwb trial rescore {session.administration.id}",
        )


def named_next(session: Session) -> str:
    """Return the command that continues where only pictures to be named are left, or nothing."""
    given = session.administration
    if not session.is_spoken:
        return ""
    if session.spoken.waiting_typed or not session.spoken.waiting_aloud:
        return ""
    return (
        f"tabwb name {session.battery.id} --speaker {given.conditions.examinee} "
        f"--resume {given.id} --input FOLDER|mic"
    )


def _give_to_model(session: Session, model: OpenModel, together: int, *, quiet: bool) -> None:
    from tabwb.administer.cost import Spending
    from tabwb.administer.session.drive import drive

    price = session.plugins.price(session.administration.conditions.examinee)
    done = sum(trial.counting is not None for trial in session.trials)
    spending = Spending.of(session.trials, price)
    progress = Progress(
        len(session.trials), done, spending, quiet=quiet or is_quiet(), each=is_verbose()
    )
    try:
        session.opened(model.facts)
        for event in drive(session, model.backend, model.cancel, together=together):
            progress.show(event)
    finally:
        progress.close()


def _judge(session: Session, documents: list[dict[str, Any]], *, quiet: bool) -> None:
    """Let the judges behind which a model stands judge, now that every answer is safe."""
    from tabwb.administer.judging.judging import Limits
    from tabwb.cli.judge_run import Task

    cancel = threading.Event()
    options = {"scope": "connected-text", "repeats": 1, "again": False}
    number = session.administration.id
    for spec in session.raters.later:
        task = Task(session.store, session.plugins, spec, options, quiet=quiet)
        try:
            with stopping(cancel):
                task.judge_held(number, Limits(), cancel, documents)
        except Interrupted as error:
            raise Interrupted(
                error.message, hint=f"continue with: tabwb judge run {number} --judge {spec}"
            ) from error
        finally:
            task.close()
            session.reload()


def show(session: Session, *, as_json: bool) -> None:
    """Print the results so far.

    Args:
        session: open or just ended.
        as_json: print one document instead of tables.
    """
    from tabwb.report.summaries.load import AdministrationData, exported_columns, recordings_of

    administration = session.store.administration(session.administration.id)
    data = AdministrationData(
        administration,
        session.battery,
        session.trials,
        session.history.model_facts,
        session.history.notes,
        session.history.declarations,
        recordings=recordings_of(session.store, administration),
        primary=session.plugins.configuration.study.primary_rater,
        speaker=exported_columns(session.speaker_record),
    )
    if as_json:
        from tabwb.report.documents.document import administration_document

        print_json(administration_document(data, interval=True))
        return
    from tabwb.report.render.printing import print_view
    from tabwb.report.render.tables import administration_view
    from tabwb.report.summaries.summary import pool

    summary = pool([data.source], interval=True)
    print_view(administration_view(administration, session.battery, summary))
