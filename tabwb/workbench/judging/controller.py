"""The bench's part that judges stored answers: an estimate first, then the work, with progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tabwb.administer.judging.calls import format_estimate, format_spent, format_tally
from tabwb.administer.judging.judging import Judging, Limits, check_limits
from tabwb.battery.loader import battery_from_canonical
from tabwb.plugin_api.components import ModelJudge
from tabwb.records import events
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.trials import Trial
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.engine.model_runner import FRAME_S
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.judging.verdicts import JudgedResponse, judged_response


@dataclass(frozen=True, slots=True)
class JudgingWish:
    """What the judging dialog asks for.

    Attributes:
        judge: a spec.
        scope: ``connected-text`` or ``all``.
        repeats: how often each answer is judged.
        again: judge also what this judge has judged before.
        limits: where to stop.
    """

    judge: str
    scope: str = "connected-text"
    repeats: int = 1
    again: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """The state of judging.

    Attributes:
        phase: ``estimate``, ``running``, ``done``, ``stopped`` or ``refused``.
        words: what is shown.
        judged: answers judged so far.
        planned: answers to be judged.
    """

    phase: str
    words: str
    judged: int = 0
    planned: int = 0

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a judge can be fast)."""
        return isinstance(later, JudgingProgress) and self.phase == later.phase == "running"


@dataclass(frozen=True, slots=True)
class VerdictsReady:
    """What every judge says of one response."""

    response: JudgedResponse


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

    def verdicts(self, number: int, trial: Trial) -> None:
        """Tell what every judge says of one response."""
        administration = self.store.administration(number)
        battery = battery_from_canonical(self.store.battery_canonical(administration.battery_hash))
        judged = self.store.judgements(number, trial.plan.number)
        self.say(VerdictsReady(judged_response(battery, trial, judged)))

    def judge(self, number: int, wish: JudgingWish) -> None:
        """Judge, and tell how far it is; what was judged is in the store at every moment."""
        self.engine.cancel.clear()
        try:
            with self._locked(number), self._judging(number, wish) as judging:
                words = self._judge_all(judging, wish)
                phase = "refused" if judging.tally.all_failed else "done"
        except Interrupted as stopped:
            self.say(JudgingProgress("stopped", f"{stopped.message}\nJudge continues from here"))
        except TabwbError as error:
            self.say(JudgingProgress("refused", str(error)))
        else:
            self.say(JudgingProgress(phase, words))
        self._after_judging(number)

    def _judge_all(self, judging: Judging, wish: JudgingWish) -> str:
        estimate = judging.estimate()
        planned = estimate.to_ask + estimate.twins + estimate.from_store
        judge = judging.judge
        if estimate.to_ask and isinstance(judge, ModelJudge):
            self.say(JudgingProgress("running", f"opening {judge.examinee}", 0, planned))
            judge.open()
        started, shown_at = time.monotonic(), 0.0
        for event in judging.run(wish.limits, self.engine.cancel):
            now = time.monotonic()
            if isinstance(event, events.Waiting):
                words = f"{event.reason}: waiting {event.seconds:.0f} s"
                self.say(JudgingProgress("running", words, judging.tally.judged, planned))
            elif now - shown_at > FRAME_S:
                shown_at = now
                words = format_spent(judging.tally) + _left(judging, planned, now - started)
                self.say(JudgingProgress("running", words, judging.tally.judged, planned))
        words = format_tally(judging.tally)
        if wish.repeats > 1:
            from tabwb.report.summaries.robustness import self_agreement

            judged = self.store.judgements(judging.number)
            found = self_agreement(judged, judge.rater, judge.features)
            shares = [each.percent for each in found if each.percent is not None]
            if shares:
                words += f"\nsame verdict when asked again: {sum(shares) / len(shares):.0%} (mean)"
        return words

    @contextmanager
    def _judging(self, number: int, wish: JudgingWish) -> Iterator[Judging]:
        administration = self.store.administration(number)
        judge = self.plugins.judge(wish.judge)
        check_limits(judge, wish.limits)
        try:
            yield Judging(
                self.store,
                self.plugins,
                battery_from_canonical(self.store.battery_canonical(administration.battery_hash)),
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

    @contextmanager
    def _locked(self, number: int) -> Iterator[None]:
        """Hold the administration; the open session holds its own already."""
        if self._sessions.holds(number):
            yield
            return
        with self.store.lock(number):
            yield

    def _after_judging(self, number: int) -> None:
        if self._sessions.holds(number):
            self._sessions.open_session().reload()
            self._sessions.publish()
        self.say(Stored(number))
        self.engine.refresh()


def _left(judging: Judging, planned: int, passed_s: float) -> str:
    asked = judging.tally.judged - judging.tally.from_store
    if asked < 3:
        return ""
    seconds = passed_s / asked * (planned - judging.tally.judged)
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    return f", about {seconds / 60:.0f} min left"
