"""Makes the views of the rating screen from a rater's session.

Lives in the thread of :mod:`tabwb.workbench.rating.worker`; the screen gets only what it returns.
"""

from __future__ import annotations

from dataclasses import replace

from tabwb.administer.rating.session import RaterSession
from tabwb.records.errors import StoreError, TabwbError
from tabwb.workbench.rating.view_models import RatingView
from tabwb.workbench.shell.sound import Envelope, envelope_of


def view_of(session: RaterSession) -> RatingView:
    """Return what the screen shows now: of the sample only what the form shows of it."""
    progress, shown = session.progress, session.shown
    base = RatingView(
        phase=session.phase,
        visit=session.visit,
        set_name=session.name,
        rater=session.rater,
        form=session.form,
        position=progress.place,
        planned=progress.planned,
        done=progress.done,
        withheld=progress.withheld,
        draft=session.draft if session.asked is None else session.asked.draft,
        complete=session.complete,
        confirmed=session.confirmed,
        asked=session.asked,
        right=session.right,
        guidelines=session.guidelines,
        guidelines_first=bool(session.guidelines) and not session.guidelines_read,
    )
    if shown is None:
        return base
    return replace(
        base,
        text=shown.text,
        prompt=shown.prompt,
        context_before=shown.context_before,
        context_after=shown.context_after,
        target=shown.target,
        learning=shown.calibration,
        audio_s=shown.seconds,
        loudness=_loudness(session),
        picture=_picture(session),
    )


def _loudness(session: RaterSession) -> Envelope | None:
    try:
        cut = session.audio()
        made = None if cut is None else envelope_of(*cut)
    except TabwbError:
        return None  # playing it says why it cannot be read
    return made and replace(made, start_s=0.0, end_s=made.end_s - made.start_s)


def _picture(session: RaterSession) -> bytes | None:
    try:
        return session.picture()
    except StoreError:
        return None  # 'tabwb store check' says which file is gone; what was said can be rated
