"""A loaded model of the laboratory: its parts, its lesion, answers that are not stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tabwb.administer.session import setup
from tabwb.administer.session.exchange import attempt_with_answer, request_for
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.session.raters import Raters
from tabwb.battery.model import Battery
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import TARGETS, Part
from tabwb.lesion.spec import parse_lesions
from tabwb.lesion.taken import change_text, kept, planned, whole
from tabwb.plugin_api.components import BatchingBackend, LesionableBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import ResponseStatus, StopReason
from tabwb.records.trials import PlannedTrial, Trial
from tabwb.records.words import size_text
from tabwb.workbench.engine.presenters import verdicts
from tabwb.workbench.engine.view_models import Verdict

DRAWN = 50_000_000
"""Of more weights than these the parameters are counted on average: drawing them takes seconds."""


@dataclass(frozen=True, slots=True)
class Count:
    """What a lesion would change.

    Attributes:
        parameters: how many; exact, or on average over seeds.
        of: how many the model has.
        kept_bytes: that are copied to restore them.
        exact: whether ``parameters`` is exact.
        taken: names of the parts that it changes.
    """

    parameters: int
    of: int
    kept_bytes: int
    exact: bool
    taken: frozenset[str]

    @property
    def words(self) -> str:
        """The count in words."""
        change = change_text(self.parameters, self.of, "" if self.exact else "about ")
        return f"{change}, {size_text(self.kept_bytes)} kept"


def count_of(spec: str, parts: Sequence[Part], model: str, of: int) -> Count:
    """Return what a lesion would change in a model; nothing is changed."""
    plan = planned(parse_lesions(spec), parts, model)
    weights = [one for one in plan if TARGETS[one.lesion.target].unit == "weight"]
    exact = sum(one.part.parameters for one in weights) <= DRAWN
    taken = [(one.part.name, one.parameters if exact else round(one.expected)) for one in plan]
    names = frozenset(name for name, number in taken if number)
    return Count(sum(number for _, number in taken), of, kept(plan), exact, names)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is not stored.

    Attributes:
        status: of the text.
        cut: it was cut at the token limit.
        verdicts: of the deciding scorer of its subtest.
    """

    text: str
    status: ResponseStatus
    cut: bool
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One item, intact and under a lesion.

    Attributes:
        title: of its subtest.
        lesion: the spec; empty: none is applied.
        lesioned: None while it is awaited, and without a lesion.
    """

    plan: PlannedTrial
    title: str
    expected: str
    lesion: str
    intact: Answer | None = None
    lesioned: Answer | None = None


class Laboratory:
    """A model with a battery; all methods are called in one thread, except :meth:`stop`.

    Attributes:
        lesion: the spec under which the model answers now; empty: intact.
        parts: what can be lesioned.
        parameters: how many the model has.
    """

    def __init__(self, plugins: Plugins, spec: str, cancel: threading.Event) -> None:
        self.spec, self.lesion = spec, ""
        self.parts: Sequence[Part] = ()
        self.parameters = 0
        self._plugins, self._cancel = plugins, cancel
        backend = plugins.open_model(spec)
        if not isinstance(backend, LesionableBackend):
            raise plugins.no_lesions(spec)
        self._backend = backend
        self._answers: dict[tuple[str, str, int], Answer] = {}

    def open(self) -> Mapping[str, str]:
        """Load the model; return its facts."""
        facts = opened(self._backend, self._cancel)
        self.parts = tuple(self._backend.parts())
        self.parameters = whole(self.parts, facts)
        return facts

    def close(self) -> None:
        """End the model's process; from any thread."""
        self._backend.close()

    def apply(self, lesion: str) -> None:
        """Answer under a lesion from now on; empty: intact."""
        if lesion != self.lesion:
            self.lesion = ""
            try:
                self._backend.lesion(lesion)
            except TabwbError:
                self._backend.lesion("")  # else it would answer nothing until a lesion fits
                raise
            self.lesion = lesion

    def trials(self, battery: Battery) -> tuple[PlannedTrial, ...]:
        """Return the items of a battery, as ``tabwb run`` gives them to this model."""
        return plan_trials(battery, self._conditions(battery))

    def give(
        self, battery: Battery, plans: Sequence[PlannedTrial], lesion: str
    ) -> Iterator[tuple[Pair, ...]]:
        """Yield the pairs as answers come: all intact ones first; the lesion stays applied.

        The answers are those that an administration with these conditions gets, and none is stored.
        The intact model and each lesion are asked once for an item.
        """
        pairs = {plan.number: _pair(battery, plan, lesion) for plan in plans}
        yield tuple(pairs.values())
        for spec in dict.fromkeys(("", lesion)):
            for plan, answer in self._answered(battery, plans, spec):
                pair = pairs[plan.number]
                if spec:
                    pairs[plan.number] = replace(pair, lesioned=answer)
                else:
                    pairs[plan.number] = replace(pair, intact=answer)
                yield tuple(pairs.values())
            if self._cancel.is_set():
                return

    def _conditions(self, battery: Battery, lesion: str = "") -> Conditions:
        asked = Conditions(self.spec, "model", judges=(), lesion=lesion or None)
        return setup.resolve(self._plugins, battery, asked)

    def _answered(
        self, battery: Battery, plans: Sequence[PlannedTrial], lesion: str
    ) -> Iterator[tuple[PlannedTrial, Answer]]:
        known = [(plan, (battery.content_hash, lesion, plan.number)) for plan in plans]
        asked = [plan for plan, key in known if key not in self._answers]
        for plan, key in known:
            if key in self._answers:
                yield plan, self._answers[key]
        if not asked:
            return
        self.apply(lesion)
        conditions = self._conditions(battery, lesion)
        raters, trials = Raters(self._plugins, battery, ()), [*map(Trial, self.trials(battery))]
        requests = [request_for(battery, conditions, plan) for plan in asked]
        for at, reply in self._replies(requests):
            answer = _answer(battery, asked[at], requests[at], reply, raters, trials)
            self._answers[battery.content_hash, lesion, asked[at].number] = answer
            yield asked[at], answer

    def _replies(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Yield each reply with the place of its request; none after the user has stopped."""
        backend, cancel = self._backend, self._cancel
        if isinstance(backend, BatchingBackend):
            replies = backend.reply_many(requests, cancel)
        else:
            replies = (
                (at, piece)
                for at, request in enumerate(requests)
                for piece in backend.reply(request, cancel)
                if not isinstance(piece, str)
            )
        for at, reply in replies:
            if isinstance(reply, ComponentError):
                raise reply
            if cancel.is_set() or not isinstance(reply, Reply):
                continue
            if reply.stop_reason is not StopReason.CANCELLED:
                yield at, reply


def _pair(battery: Battery, plan: PlannedTrial, lesion: str) -> Pair:
    subtest = battery.subtest(plan.subtest)
    return Pair(plan, subtest.title, subtest.item(plan.item).expected or "", lesion)


def _answer(
    battery: Battery,
    plan: PlannedTrial,
    request: Request,
    reply: Reply,
    raters: Raters,
    trials: Sequence[Trial],
) -> Answer:
    subtest = battery.subtest(plan.subtest)
    item = subtest.item(plan.item)
    attempt = attempt_with_answer(
        Trial(plan), reply, request, item.expected, kind=subtest.task.text_kind,
        language=battery.language, answers=subtest.allowed_answers(item),
    )  # fmt: skip
    ratings = raters.rate(plan, attempt, trials)
    declared = {one.rater: one for one in raters.declarations(ratings)}
    return Answer(
        attempt.response,
        attempt.status or ResponseStatus.OK,
        reply.stop_reason is StopReason.LENGTH,
        verdicts(ratings, subtest.scorers, declared),
    )
