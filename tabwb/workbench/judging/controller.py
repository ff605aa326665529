"""Judges stored answers: an estimate first, then the work, with progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from tabwb.administer.judging.calls import (
    Limits,
    check_limits,
    format_estimate,
    format_spent,
    format_tally,
)
from tabwb.administer.judging.judging import Judging
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.plugin_api.components import ModelJudge
from tabwb.records import events
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.engine.model_runner import FRAME_S
from tabwb.workbench.engine.session_controller import SessionController


@dataclass(frozen=True, slots=True)
class JudgingWish:
    """What the judging dialog asks for.

    Attributes:
        judge: a spec.
        scope: ``connected-text`` or ``all``.
        repeats: how often each answer is judged.
        again: judge also what this judge has judged before.
    """

    judge: str
    scope: str
    repeats: int
    again: bool
    limits: Limits


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """The state of judging.

    Attributes:
        phase: ``estimate``, ``running``, ``done``, ``stopped`` or ``refused``.
        judged: answers judged so far, of those ``planned``.
    """

    phase: str
    words: str
    judged: int = 0
    planned: int = 0

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a judge can be fast)."""
        return isinstance(later, JudgingProgress) and self.phase == later.phase == "running"


class JudgingController(Controller):
    """Judges answers of one administration at a time."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions

    def estimate(self, number: int, wish: JudgingWish) -> None:
        """Tell what judging would take; asks nothing."""
        try:
            with self._judging(number, wish) as judging:
                words = format_estimate(judging.estimate(), judging.tally.price)
        except TabwbError as error:
            self.say(JudgingProgress("refused", str(error)))
        else:
            self.say(JudgingProgress("estimate", words))

    def _battery(self, number: int) -> Battery:
        battery_hash = self.store.administration(number).battery_hash
        return battery_from_canonical(self.store.battery_canonical(battery_hash))

    def judge(self, number: int, wish: JudgingWish) -> None:
        """Judge, and tell how far it is; what was judged is in the store at every moment."""
        self.engine.cancel.clear()
        try:
            with self._lock(number), self._judging(number, wish) as judging:
                words = self._judge_all(judging, wish)
                phase = "refused" if judging.tally.all_failed else "done"
        except Interrupted as stopped:
            self.say(JudgingProgress("stopped", f"{stopped.message}\nJudge continues from here"))
        except TabwbError as error:
            self.say(JudgingProgress("refused", str(error)))
        else:
            self.say(JudgingProgress(phase, words))
        if self._sessions.holds(number):
            self._sessions.open_session().reload()
            self._sessions.publish()
        self.say(Stored(number))
        self.engine.refresh()

    def _judge_all(self, judging: Judging, wish: JudgingWish) -> str:
        estimate = judging.estimate()
        planned = estimate.to_ask + estimate.duplicates + estimate.from_store
        judge = judging.judge

        def running(words: str) -> None:
            self.say(JudgingProgress("running", words, judging.tally.judged, planned))

        if estimate.to_ask and isinstance(judge, ModelJudge):
            running(f"opening {judge.examinee}")
            judge.open()
        started, shown_at = time.monotonic(), 0.0
        for event in judging.run(wish.limits, self.engine.cancel):
            now = time.monotonic()
            if isinstance(event, events.Waiting):
                running(f"{event.reason}: waiting {event.seconds:.0f} s")
            elif now - shown_at > FRAME_S:
                shown_at = now
                running(format_spent(judging.tally) + _left(judging, planned, now - started))
        words = format_tally(judging.tally)
        if wish.repeats > 1:
            from tabwb.report.summaries.robustness import self_agreement

            judged = self.store.judgements(judging.number)
            features = self_agreement(judged, judge.rater, judge.features)
            shares = [feature.percent for feature in features if feature.percent is not None]
            if shares:
                words += f"\nsame verdict when asked again: {sum(shares) / len(shares):.0%} (mean)"
        return words

    @contextmanager
    def _judging(self, number: int, wish: JudgingWish) -> Iterator[Judging]:
        judge = self.plugins.judge(wish.judge)
        check_limits(judge, wish.limits)
        try:
            yield Judging(
                self.store,
                self.plugins,
                self._battery(number),
                number,
                judge,
                scope=wish.scope,
                repeats=wish.repeats,
                again=wish.again,
                price=self.plugins.price_behind(judge),
            )
        finally:
            if isinstance(judge, ModelJudge):
                judge.close()

    def _lock(self, number: int) -> AbstractContextManager[object]:
        """Hold the administration; the open session holds its own already."""
        return nullcontext() if self._sessions.holds(number) else self.store.lock(number)


def _left(judging: Judging, planned: int, passed_s: float) -> str:
    asked = judging.tally.judged - judging.tally.from_store
    if asked < 3:
        return ""
    seconds = passed_s / asked * (planned - judging.tally.judged)
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    return f", about {seconds / 60:.0f} min left"
