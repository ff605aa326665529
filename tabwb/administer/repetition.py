"""Gives a stored condition again and compares the answers; nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.administer.session.drive import answers_in_order
from tabwb.administer.session.exchange import request_for, storable
from tabwb.administer.session.opening import manipulation_facts
from tabwb.administer.session.setup import versions_of
from tabwb.battery.loader import battery_from_canonical
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import LANES, PARENT_PARTS, PERPLEXITY, PERPLEXITY_REASON
from tabwb.plugin_api.components import Cancel, LesionableBackend
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Reply
from tabwb.records.states import AttemptState
from tabwb.records.trials import Administration, Trial
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was stored.

    Attributes:
        what: the name of a fact, or subtest and item of an answer.
        stored: as it was.
        now: as it is; an answer that was not given has the reason in angle brackets.
    """

    what: str
    stored: str
    now: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """How the answers to a condition compare with those that are stored.

    Attributes:
        answers: number of answers that were compared.
        different: those that are not the same, in order.
        facts: what is not as it was, of the model and of the versions of packages.
    """

    answers: int
    different: tuple[Difference, ...]
    facts: tuple[Difference, ...]


def repeat(
    store: Store,
    plugins: Plugins,
    given: Administration,
    cancel: Cancel,
    *,
    model: str | None = None,
    together: int = 64,
) -> Repetition:
    """Return how the model answers the items of an administration now.

    The battery is the stored one, the lesion is applied from its spec, and each reply has the seed
    that it had. Before each prompt of a conversation are the stored answers.
    """
    conditions = given.conditions
    if conditions.kind != "model":
        raise UsageError(f"administration {given.id} is not one of a model")
    battery = battery_from_canonical(store.battery_canonical(given.battery_hash))
    trials = store.trials(given.id)
    asked = [trial for trial in trials if trial.counting is not None]
    if not asked:
        raise UsageError(f"administration {given.id} has no answers")
    requests = [
        request_for(battery, conditions, one.plan, trials, attempt=_replies(one)) for one in asked
    ]
    spec = model or conditions.examinee
    backend = plugins.open_model(spec, conditions.lesion)
    if not isinstance(backend, LesionableBackend):
        raise plugins.no_lesions(spec)
    before = dict(store.history(given.id).model_facts)
    try:
        facts = dict(opened(backend, cancel))
        if PERPLEXITY in before or PERPLEXITY_REASON in before:  # sweeps check intact models too
            facts |= manipulation_facts(backend, cancel)
        replies = list(answers_in_order(backend, requests, together, cancel))
    finally:
        backend.close()
    before |= given.versions
    for name in (LANES, PARENT_PARTS):  # of its sweep, not of the model
        before.pop(name, None)
    now = {**facts, **versions_of(plugins)}
    different = []
    for trial, reply in zip(asked, replies, strict=True):
        assert trial.counting is not None
        text = storable(reply.text) if isinstance(reply, Reply) else f"<{reply}>"
        if trial.counting.response != text:
            name = f"{trial.plan.subtest}/{trial.plan.item}"
            different.append(Difference(name, trial.counting.response, text))
    changed = (
        Difference(name, value, now.get(name, "not known"))
        for name, value in sorted(before.items())
        if now.get(name) != value
    )
    return Repetition(len(asked), tuple(different), tuple(changed))


def _replies(trial: Trial) -> int:
    """Return which reply to a trial counts, from 1: an attempt in error gave none."""
    counting = trial.counting
    assert counting is not None
    return sum(
        one.state is not AttemptState.ERROR and one.number <= counting.number
        for one in trial.attempts
    )
