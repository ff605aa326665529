"""Live scores, made again as often as they are cheap."""

from __future__ import annotations

import time

from tabwb.administer.session.session import Session
from tabwb.report.summaries.summary import summarise
from tabwb.workbench.engine.presenters import scores_of
from tabwb.workbench.engine.view_models import Scores

SUMMARY_SHARE = 10
"""Live scores are made again only after this many times the time that they took."""


class LiveScores:
    """The scores of one session; a fast model is not held up by them."""

    def __init__(self) -> None:
        self._scores = Scores()
        self._cost = 0.0
        self._made_at = 0.0

    def of(self, session: Session, *, now: bool) -> Scores:
        """The scores as they stand; without ``now`` they may be a moment old."""
        started = time.monotonic()
        if not now and started - self._made_at < SUMMARY_SHARE * self._cost:
            return self._scores
        conditions = session.administration.conditions
        summary = summarise(
            session.battery,
            session.trials,
            conditions,
            declarations=session.history.declarations,
            primary=session.plugins.configuration.study.primary_rater,
            speaker=session.speaker_record,
        )
        current = session.current.plan.subtest if session.current else ""
        person = conditions.kind == "speaker"
        self._scores = scores_of(session.battery, session.trials, summary, current, person=person)
        self._made_at = time.monotonic()
        self._cost = self._made_at - started
        return self._scores
