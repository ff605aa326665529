"""Taking back what a person said of a stored response."""

from __future__ import annotations

from tabwb.administer.session.session import Events, Session
from tabwb.records.errors import TabwbError
from tabwb.records.trials import AttemptEntry


def undo_correction(session: Session, number: int) -> Events:
    """Take back the latest correction of a response: onset, limits, score, word or code.

    Only the latest command of an administration can be taken back. The response itself, with the
    score that closed its window, stays.
    """
    history = session.history
    target = history.undoable
    what = None if target is None else target.what
    before = None
    if target is not None and target.sequence > 1:
        before = history.steps[target.sequence - 2].entry
    closes = (
        isinstance(before, AttemptEntry) and target is not None and before.trial == target.trial
    )
    if target is None or target.trial is None or what == "answer" or closes:
        raise TabwbError(
            "there is no correction to take back",
            hint="the response itself stays; v declares it void",
        )
    if target.trial != number:
        item = history.trial(target.trial).plan.item
        raise TabwbError(
            f"the latest correction is of item {target.trial}, {item}: {what}",
            hint="mark that response to take it back",
        )
    return session.corrections.undo()
