"""``run`` and ``resume``: a battery is given to a model, or to a person who types.

The workbench's dialog of a new administration and its pages of items are made for people and stay
special: they give one item at a time and show it. Values, checks and the judging after the last
item are those of here (:func:`tabwb.administer.session.setup.resolve`).
"""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from tabwb.operations.operation import (
    MAX_COST,
    MAX_REQUESTS,
    Arg,
    Operation,
    Progress,
    Told,
    Tools,
    asked_conditions,
)
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.states import AdministrationStatus, AttemptState, Protocol
from tabwb.records.trials import Marks, changes

if TYPE_CHECKING:
    from tabwb.administer.cost import Expense, Limits
    from tabwb.administer.session.session import Session
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import ModelBackend
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Request
    from tabwb.records.trials import PlannedTrial

BATTERY = Arg("An id, such as tab, or the path of a battery file.", positional=True)
BATCH_SIZE = Arg(
    "Number of items given to a model at once, if it can batch; 1 streams each reply.",
    low=1, high=10_000,
)  # fmt: skip
TOGETHER = 64
"""Items that are given at once: on a laptop more gains nothing."""
PERPLEXITY = Arg(
    "Store the perplexity of a fixed text under the lesion, which checks that it acts."
)
TITLE = Arg("A title for the administration.", metavar="TEXT")
TAGS = Arg("A tag for the administration; repeatable.", flag="--tag", metavar="TAG")
RUN_CONDITIONS = Arg(
    "The conditions under which it is given.",
    conditions=("run", "research_protocol", "judges", "replicates", "seed", "protocol",
        "conversation", "item_order", "option_order", "max_tokens"),
)  # fmt: skip


class Model(NamedTuple):
    """A model that is loaded, and what it says of itself (revision, dtype)."""

    backend: ModelBackend
    facts: Mapping[str, str]


NEEDED = "tabwb.analysis.statistics.summary"
"""What the results need."""


def results_document(operation: Operation, tools: Tools) -> dict[str, Any]:
    """Return the document of the administration, also where work stopped early, or an estimate."""
    if tools.result is None:
        return tools.document
    from tabwb.media.documents.document import administration_document

    document = administration_document(tools.result, interval=True)
    return {key: value for key, value in document.items() if key != "format"}


@dataclass(frozen=True, kw_only=True)
class RunBattery(Operation):
    """Give BATTERY (an id or a path) to a model or to a person who types.

    Exit status: 0 done; 1 failed, also if a scorer or judge failed (the responses are stored);
    3 stopped early but resumable; 130 after a second ctrl+c.
    """

    NAME, TITLE, DOING, TOLD, NEEDED = "run", "Run", "Giving", "item", NEEDED
    AT_ONCE: ClassVar[bool] = True
    ESTIMATE: ClassVar[str] = "Print every prompt as it would be sent."
    battery: Annotated[str, BATTERY]
    model: Annotated[
        str | None, Arg("The model, for example bundled or replay:FILE.", metavar="SPEC")
    ] = None
    speaker: Annotated[
        str | None,
        Arg("A person who types, also descriptions and free items: participant code, never a name.",
            metavar="ID"),
    ] = None  # fmt: skip
    asked: Annotated[Mapping[str, Any], RUN_CONDITIONS] = field(default_factory=dict)
    title: Annotated[str, TITLE] = ""
    tags: Annotated[tuple[str, ...], TAGS] = ()
    batch_size: Annotated[int, BATCH_SIZE] = TOGETHER
    perplexity: Annotated[bool, PERPLEXITY] = True
    max_requests: Annotated[int | None, MAX_REQUESTS] = None
    max_cost: Annotated[float | None, MAX_COST] = None
    labels: Annotated[
        tuple[str, ...], Arg("What is said of a function.", pairs=True, hidden=True)
    ] = ()
    unknown: Annotated[
        tuple[str, ...], Arg("Conditions that a function does not get.", hidden=True)
    ] = ()

    documented = results_document

    @property
    def about(self) -> str:
        """Who is given which battery."""
        return f"{self.battery} to {self.model or self.speaker}"

    @property
    def creates(self) -> bool:
        """An administration is made, with a store where there is none."""
        return True

    def check(self, plugins: Plugins) -> None:
        """Refuse none or two examinees, and a title that cannot be kept."""
        if (self.model is None) == (self.speaker is None):
            raise UsageError(
                "name one examinee: --model SPEC or --speaker ID",
                hint="for example: tabwb run tab --model bundled",
            )
        self._marked()

    def estimate(self, tools: Tools) -> Progress:
        """Tell every prompt as it would be sent, and what the run would take."""
        battery, conditions = self._resolved(tools)
        yield from _forecast(tools, battery, conditions)

    def run(self, tools: Tools) -> Progress:
        """Give every item, then let the judges judge."""
        from tabwb.administer.consent import Guard
        from tabwb.administer.cost import limits_of
        from tabwb.administer.session import setup

        plugins, (battery, conditions) = tools.plugins, self._resolved(tools)
        limits = limits_of(plugins, conditions, self.max_requests, self.max_cost)
        store, spec = tools.store, conditions.examinee
        yield from _loading(conditions, spec)
        with (
            _loaded(tools, conditions, spec, perplexity=self.perplexity) as model,
            setup.create(store, plugins, battery, conditions) as session,
        ):
            if conditions.kind == "model":  # to a person they are said where the answers are typed
                for notice in Guard(store, plugins, conditions).notices():
                    tools.warn(notice)
            session.commit(self._marked())
            yield from _given(tools, session, model, self.batch_size, limits)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the prompts of an estimate."""
        prompts = document.get("prompts", ())
        for one in prompts:
            yield f"--- {one['number']}/{len(prompts)}  {one['subtest']} {one['item']}"
            for message in one["messages"]:
                yield f"[{message['role']}]"
                yield message["content"]
            yield from _held(self.asked.get("protocol", Protocol.GENERATE), one)

    def _marked(self) -> Any:
        return changes(Marks(), title=self.title, add=self.tags)

    def _resolved(self, tools: Tools) -> tuple[Battery, Conditions]:
        """Return the battery and the conditions, specs resolved; say what must be known."""
        from tabwb.administer.session import plan, setup

        plugins, asked = tools.plugins, self.asked
        battery = setup.find_battery(plugins, self.battery)
        person = self.speaker
        wanted = (
            asked_conditions(self.model or "", "model", asked)
            if person is None
            else asked_conditions(person, "typed", asked)
        )
        conditions = setup.resolve(plugins, battery, wanted, exactly="replicates" in asked)
        if self.labels:
            labels = dict(pair.split("=", 1) for pair in self.labels)
            conditions = replace(conditions, labels=labels)
        if self.unknown:
            conditions = replace(conditions, unknown=self.unknown)
        if person is not None and not any(subtest.task.typed for subtest in battery.subtests):
            raise UsageError(
                f"the pictures of '{battery.id}' are named aloud",
                hint=f"give it with: tabwb name {shlex.quote(self.battery)} "
                f"--speaker {conditions.examinee} --input FOLDER|mic",
            )
        if conditions.replicates != wanted.replicates:
            tools.say(f"{conditions.replicates} replicates, as in the file")
        if idle := plan.idle_replicates(plugins, battery, conditions):
            tools.warn(idle)
        for text in plan.before_run(plugins, battery, conditions, asked="judges" in asked):
            tools.warn(text)
        return battery, conditions


@dataclass(frozen=True, kw_only=True)
class ResumeAdministration(Operation):
    """Resume ADMINISTRATION (its number or uid) where it stopped."""

    NAME, TITLE, DOING, TOLD, NEEDED = "resume", "Resume", "Giving", "item", NEEDED
    AT_ONCE: ClassVar[bool] = True
    administration: Annotated[
        int | str, Arg("Number or uid of the administration.", positional=True)
    ]
    model: Annotated[
        str | None,
        Arg("The same model at another path: its weights and tokenizer must be equal.",
            metavar="SPEC"),
    ] = None  # fmt: skip
    batch_size: Annotated[int, BATCH_SIZE] = TOGETHER
    perplexity: Annotated[bool, PERPLEXITY] = True
    max_requests: Annotated[int | None, MAX_REQUESTS] = None
    max_cost: Annotated[float | None, MAX_COST] = None

    documented = results_document

    @property
    def about(self) -> str:
        """The administration."""
        return f"#{self.administration}"

    def run(self, tools: Tools) -> Progress:
        """Give the items that are left."""
        from tabwb.administer.cost import limits_of
        from tabwb.administer.session import setup

        plugins = tools.plugins
        with setup.resume(tools.store, plugins, self.administration, self.model) as session:
            number, conditions = session.administration.id, session.administration.conditions
            if session.status is AdministrationStatus.DISCONTINUED:
                raise UsageError(
                    f"administration {number} was discontinued",
                    hint=f"'tabwb trial undo {number}' takes that back",
                )
            if session.status is AdministrationStatus.DONE:
                tools.say(f"administration {number} is done: no items are left")
                tools.result = data_of(session)
                return
            if conditions.kind != "model" and tools.person is None:
                raise UsageError(
                    f"administration {number} is of a person",
                    hint=f"continue in a terminal: tabwb resume {number}",
                )
            if command := _named_next(session):
                raise UsageError(
                    f"the remaining items of administration {number} are named aloud",
                    hint=f"continue with: {command}",
                )
            limits = limits_of(plugins, conditions, self.max_requests, self.max_cost)
            yield from _loading(conditions, session.model_spec)
            with _loaded(
                tools, conditions, session.model_spec, perplexity=self.perplexity
            ) as model:
                session.resume()
                yield from _given(tools, session, model, self.batch_size, limits)


def data_of(session: Session) -> Any:
    """Return what the results of a session are made of."""
    from tabwb.analysis.administrations import AdministrationData, recordings_of
    from tabwb.battery.task_type import current_study

    administration = session.store.administration(session.administration.id)
    return AdministrationData(
        administration, session.battery, session.trials, session.history.model_facts,
        session.history.notes, session.history.declarations,
        recordings=recordings_of(session.store, administration),
        primary=session.plugins.configuration.study.primary_rater,
        speaker=current_study().values_of(session.speaker_record),
    )  # fmt: skip


def _loading(conditions: Conditions, spec: str) -> Progress:
    if conditions.kind == "model":
        yield Told(f"loading {spec}")


@contextmanager
def _loaded(
    tools: Tools, conditions: Conditions, spec: str, *, perplexity: bool
) -> Iterator[Model | None]:
    """Yield the examinee's model, loaded; None for a person.

    It is loaded before an administration begins: a model that cannot be loaded leaves none.
    """
    if conditions.kind != "model":
        yield None
        return
    from tabwb.administer.session.exchange import opened_facts

    plugins, cancel = tools.plugins, tools.cancel
    backend = plugins.open_model(spec, conditions.lesion)
    try:
        facts = opened_facts(backend, conditions.lesion, cancel, perplexity=perplexity)
        yield Model(backend, facts)
    finally:
        backend.close()
        for problem in plugins.failed_closings:
            tools.warn(f"plugin {problem}")


def _given(
    tools: Tools, session: Session, model: Model | None, together: int, limits: Limits
) -> Progress:
    """Give every item that is left, let the judges judge, and return the results."""
    from tabwb.administer.session.raters import check_failed, failed_raters
    from tabwb.administer.session.session import pausing

    number = session.administration.id
    # Said at once, so that it is known however the run ends.
    tools.say(f"administration {number}")
    failure = None
    try:
        with pausing(session):
            if model is not None:
                limits = yield from _give_to_model(tools, session, model, together, limits)
            elif tools.person is not None:
                tools.person(session, tools)
    except BaseException as error:
        error.add_note(f"administration {number} can be continued: {tools.resumed(number)}")
        raise
    if session.status is AdministrationStatus.DONE and (judges := session.raters.later):
        from tabwb.operations.judge import judged_after

        failure = yield from judged_after(tools, [number], judges, limits, held=True)
        session.reload()
    for problem in session.plugins.old_hooks:
        tools.say(f"plugin {problem}")
    for problem in session.plugins.failed_observers:
        tools.warn(f"plugin {problem}")
    tools.result = data_of(session)
    if session.status is AdministrationStatus.PAUSED:
        for failed in failed_raters(session.trials, session.raters.later):
            tools.warn(str(failed))
        reason = session.history.pause_reason or "by the user"
        raise Interrupted(
            f"administration {number} is paused: {reason}",
            hint=f"continue with: {_named_next(session) or tools.resumed(number)}",
        )
    if failure is not None:
        raise failure
    check_failed(session)


def _give_to_model(
    tools: Tools, session: Session, model: Model, together: int, limits: Limits
) -> Generator[Told, None, Limits]:
    """Give every item that is left; return what is left of the limits."""
    from tabwb.administer.cost import Meter, Spending, format_spending
    from tabwb.administer.session.drive import drive
    from tabwb.records.events import AttemptRecorded, TrialStarted, Waiting

    conditions, planned = session.administration.conditions, len(session.trials)
    meter = Meter(limits, session.plugins, conditions)
    spending = Spending.of(session.trials, session.plugins.price(conditions.examinee))
    at, given = sum(trial.counting is not None for trial in session.trials), 0
    session.opened(model.facts)
    yield Told("", at, planned)
    for event in drive(session, model.backend, tools.cancel, together=together, meter=meter):
        spending = spending.after(event)
        told = Told("", at, planned, event=event)
        if isinstance(event, TrialStarted):
            at = event.trial.number
            words = f"{event.trial.subtest} {event.trial.item}"
            spent = format_spending(spending)
            words = f"{words}  {spent}" if spent else words
            told = told._replace(words=words, done=at, timed=given)
        elif isinstance(event, Waiting) and event.seconds >= SHOWN_S:
            words = f"item {event.trial}: {event.reason}"
            words += f", waiting {event.seconds:.0f} s" if event.voids else ""
            told = told._replace(words=words, waits=True)
        elif isinstance(event, AttemptRecorded):
            given += 1
            if event.attempt.state is AttemptState.ERROR:
                first, *_ = event.attempt.error.splitlines() or ["no reason was given"]
                told = told._replace(problem=f"item {event.trial} in error: {first}")
        yield told
    return limits.after(meter)


SHOWN_S = 0.5
"""A shorter wait is not shown."""


def _named_next(session: Session) -> str:
    """Return the command that continues where only pictures to be named are left, or nothing."""
    given = session.administration
    if not session.is_spoken:
        return ""
    if session.waiting(aloud=False) or not session.waiting(aloud=True):
        return ""
    return (
        f"tabwb name {session.battery.id} --speaker {given.conditions.examinee} "
        f"--resume {given.id} --input FOLDER|mic"
    )


def _forecast(tools: Tools, battery: Battery, conditions: Conditions) -> Progress:
    """Tell what a run would take; every prompt is in the document."""
    from functools import cache

    from tabwb.administer.cost import expense_of, forecasts
    from tabwb.administer.session.exchange import request_for
    from tabwb.administer.session.plan import plan_trials
    from tabwb.administer.session.smallest_difference import planned, said, to_json

    plugins, price = tools.plugins, None
    trials = plan_trials(battery, conditions)
    requests = [request_for(battery, conditions, plan) for plan in trials]
    expense = without_reasoning = expense_of(requests, None)
    if conditions.kind == "model":
        price = plugins.price(conditions.examinee)
        most = cache(lambda limit: plugins.reply_tokens(conditions.examinee, limit))
        expense = expense_of(requests, price, most)
    reasoning = expense.reply_tokens - without_reasoning.reply_tokens
    later = list(forecasts(plugins, battery, conditions))
    can_show = planned(plugins, battery, conditions)
    tools.document |= {
        "battery": battery.id,
        "battery_version": battery.version,
        "battery_hash": battery.content_hash,
        "examinee": conditions.examinee,
        "estimate": {
            "requests": expense.requests,
            "prompt_tokens": expense.prompt_tokens,
            "reply_tokens_at_most": expense.reply_tokens,
            "reasoning_tokens_at_most": reasoning,
            "cost_at_most": expense.cost,
            "price": None if price is None else str(price),
        },
        "judging": [
            {
                "judge": forecast.judge,
                "responses": forecast.answers,
                "requests_at_most": forecast.requests,
                "cost_at_most": forecast.cost,
            }
            for forecast in later
        ],
        "smallest_difference": to_json(can_show),
        "prompts": [_prompt(plan, request) for plan, request in zip(trials, requests, strict=True)],
    }
    if conditions.kind == "model":
        yield Told(_expense_text(expense, reasoning, price))
    for forecast in later:
        yield Told(forecast.line("by itself when everything is answered"))
    for line in said(can_show):
        yield Told(line)


def _prompt(plan: PlannedTrial, request: Request) -> dict[str, Any]:
    return {
        "number": plan.number,
        "subtest": plan.subtest,
        "item": plan.item,
        "replicate": plan.replicate,
        "messages": [asdict(message) for message in request.messages],
        "max_tokens": request.decoding.max_tokens,
        "protocol": (request.protocol if request.options else Protocol.GENERATE).value,
        "options": list(request.options),
    }


def _expense_text(expense: Expense, reasoning: int, price: object) -> str:
    thinks = f" ({reasoning:,} of them added for reasoning)" if reasoning else ""
    cost = "cost unknown" if expense.cost is None else f"{expense.cost:.2g} USD"
    return (
        f"{expense.requests} requests, about {expense.prompt_tokens:,} tokens out and at most "
        f"{expense.reply_tokens:,} back{thinks}: at most {cost} ({price or 'no price is known'})"
    )


def _held(asked: str, prompt: Mapping[str, Any]) -> Iterator[str]:
    """Yield how the answer to a prompt is held to its options."""
    if asked == Protocol.GENERATE:
        return
    options = " | ".join(prompt["options"])
    how = {
        Protocol.LIKELIHOOD: f"weighed, not written: {options}",
        Protocol.ENFORCED: f"held to one of: {options}",
        Protocol.GENERATE: "no options: answered freely",
    }
    yield f"[protocol {Protocol(asked).value}]"
    yield how[Protocol(prompt["protocol"])]
