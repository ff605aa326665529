"""Judges stored answers: an estimate first, then the work, with progress."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

from tabwb.administer.judging.calls import check_limits, format_estimate, format_spent, format_tally
from tabwb.administer.judging.judging import Judging
from tabwb.administer.judging.task import Task
from tabwb.administer.limits import Limits
from tabwb.plugin_api.components import ModelJudge
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records import events
from tabwb.records.errors import Interrupted
from tabwb.records.ratings import Scope
from tabwb.store.store import Store
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.jobs import Ended, Tools
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.engine.model_runner import FRAME_S
from tabwb.workbench.engine.session_controller import SessionController

KIND = "Judging"
"""Of its background jobs."""
STORED_S = 1.0
"""Seconds between two messages that new verdicts are stored."""


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
    scope: Scope
    repeats: int
    again: bool
    limits: Limits


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """The state of judging.

    Attributes:
        phase: ``estimate``, ``running``, ``done``, ``stopped`` or ``refused``.
        judged: answers judged so far, of those ``planned``.
        number: of the administration.
    """

    phase: str
    words: str
    judged: int = 0
    planned: int = 0
    number: int = 0

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a judge can be fast)."""
        return (
            isinstance(later, JudgingProgress)
            and self.phase == later.phase == "running"
            and self.number == later.number
        )


class JudgingController(Controller):
    """Judges answers of one administration at a time."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self._turns: dict[int, threading.Lock] = {}
        """Held by the judge that works on an administration."""

    def estimate(self, number: int, wish: JudgingWish) -> None:
        """Tell what judging would take; asks nothing."""

        def work(tools: Tools) -> Ended:
            with _task(tools.plugins, tools.store, wish) as task:
                estimate = task.judging(number).estimate()
                return Ended("estimate", format_estimate(estimate, task.price))

        def after(ended: Ended) -> None:
            self.say(JudgingProgress(ended.phase, ended.words, number=number))

        self.engine.background.look(work, after)

    def judge(self, number: int, wish: JudgingWish) -> None:
        """Judge in the background; what was judged is in the store at every moment."""
        held = self._sessions.holds(number)

        def work(tools: Tools) -> Ended:
            return self._judged(tools, number, wish, held=held)

        def after(ended: Ended) -> None:
            if self._sessions.holds(number):
                self._sessions.open_session().reload()
                self._sessions.publish()
            self.say(JudgingProgress(ended.phase, ended.words, number=number))
            self.say(Stored(number))
            self.engine.refresh()

        self.engine.background.start(
            KIND,
            f"{wish.judge} on #{number}",
            work,
            after=after,
            again=partial(self.judge, number, replace(wish, again=False)),
            administration=number,
            holds=not held,
        )

    def running(self, number: int) -> bool:
        """Return whether a judge works on an administration."""
        return bool(self.engine.background.working(KIND, number))

    def stop(self, number: int) -> None:
        """Stop the judges of an administration after the calls that are out; from any thread."""
        for state in self.engine.background.working(KIND, number):
            self.engine.background.stop(state.number)

    def _judged(self, tools: Tools, number: int, wish: JudgingWish, *, held: bool) -> Ended:
        turn = self._turns.setdefault(number, threading.Lock())
        while not turn.acquire(timeout=FRAME_S):
            tools.tell(words="waits for another judge of this administration")
            if tools.cancel.is_set():
                return Ended("stopped", "nothing was judged yet")
        try:
            # The open session holds its administration already.
            lock = nullcontext() if held else tools.store.lock(number)
            with lock, _task(tools.plugins, tools.store, wish) as task:
                words = self._judge_all(tools, task, number, wish)
                return Ended("refused" if task.tallies[-1].all_failed else "done", words)
        except Interrupted as stopped:
            return Ended("stopped", stopped.message)
        finally:
            turn.release()

    def _judge_all(self, tools: Tools, task: Task, number: int, wish: JudgingWish) -> str:
        judging = task.judging(number)
        estimate = judging.estimate()
        planned = estimate.to_ask + estimate.duplicates + estimate.from_store
        judge = task.judge

        def running(words: str) -> None:
            judged = judging.tally.judged
            tools.tell(words=words, done=judged, planned=planned)
            self.say(JudgingProgress("running", words, judged, planned, number))

        if estimate.to_ask and isinstance(judge, ModelJudge):
            running(f"opening {judge.examinee}")
        started, shown_at = time.monotonic(), 0.0
        stored_at = started
        for event in task.run(judging, wish.limits, tools.cancel):
            now = time.monotonic()
            if isinstance(event, events.Waiting):
                running(f"{event.reason}: waiting {event.seconds:.0f} s")
            elif now - shown_at > FRAME_S:
                shown_at = now
                running(format_spent(judging.tally) + _left(judging, planned, now - started))
                if now - stored_at > STORED_S:
                    stored_at = now
                    self.say(Stored(number))
        words = format_tally(judging.tally)
        words = "\n".join((words, *task.warnings(number)))
        tools.tell(done=judging.tally.judged)
        if wish.repeats > 1:
            from tabwb.analysis.judges import self_agreement

            judged = tools.store.judgements(number)
            features = self_agreement(judged, judge.rater, judge.features)
            shares = [feature.percent for feature in features if feature.percent is not None]
            if shares:
                words += f"\nsame verdict when asked again: {sum(shares) / len(shares):.2f} (mean)"
        return words


def _task(plugins: Plugins, store: Store, wish: JudgingWish) -> Task:
    check_limits(plugins.judge(wish.judge), wish.limits)
    return Task(
        store, plugins, wish.judge, scope=wish.scope, repeats=wish.repeats, again=wish.again
    )


def _left(judging: Judging, planned: int, passed_s: float) -> str:
    asked = judging.tally.judged - judging.tally.from_store
    if asked < 3:
        return ""
    seconds = passed_s / asked * (planned - judging.tally.judged)
    if seconds < 90:
        return f", about {seconds:.0f} s left"
    return f", about {seconds / 60:.0f} min left"
