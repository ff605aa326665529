"""The responses of a session that count, each once, with the status under which it counts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from tabwb.battery.model import Item, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Rating
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Attempt, Trial
from tabwb.report.summaries.counted import Source, effective_statuses, is_usable
from tabwb.report.summaries.draws import shares_stream


@dataclass(frozen=True, slots=True)
class CountedResponse:
    """A response that counts, with its item and ratings.

    Attributes:
        status: under which it counts (:func:`effective_statuses`); the stored one is the attempt's.
        fixed: whether nothing was drawn, so that the same request gives the same response.
        shares_stream: whether it was drawn from a random stream that others share
            (:mod:`tabwb.report.summaries.draws`); the replicates are then one cluster.
        duplicates: identical answers that count as this one, because nothing was drawn; a judge
            may have judged one of them and not the others.
    """

    subtest: Subtest
    item: Item
    trial: Trial
    attempt: Attempt
    status: ResponseStatus | None = None
    fixed: bool = False
    shares_stream: bool = False
    duplicates: tuple[CountedResponse, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether its features can be judged."""
        return is_usable(self.status, self.subtest.response, self.attempt.response)

    @property
    def unusable(self) -> str:
        """The status that makes it unusable; empty for a usable one."""
        return "" if self.usable or self.status is None else self.status.value

    def rated_by(self, rater: str) -> dict[str, Rating]:
        """Return the ratings that a rater gave, by measure."""
        return {rating.measure: rating for rating in self.trial.ratings if rating.rater == rater}

    def as_rated_by(self, rater: str) -> CountedResponse:
        """Return this response, or its first duplicate, that the rater has rated; else this one."""
        for response in (self, *self.duplicates):
            if any(rating.rater == rater for rating in response.trial.ratings):
                return response
        return self


_PROTOCOLS = frozenset(Protocol)


def protocol_of(given: Protocol, subtest: Subtest, trial: Trial, attempt: Attempt) -> Protocol:
    """Return how a response was obtained."""
    noted = attempt.metadata.get("protocol")
    if noted in _PROTOCOLS:
        return Protocol(noted)
    return given if trial.plan.options or subtest.task.answers else Protocol.GENERATE


def is_fixed(conditions: Conditions, protocol: Protocol, attempt: Attempt) -> bool:
    """Return whether a model gives the same response again to the same request."""
    if attempt.metadata.get("replayed_sampled") == "yes":
        return False  # drawn when it was recorded
    drew_nothing = attempt.metadata.get("sampled") == "no"
    return conditions.decoding.greedy or protocol is Protocol.LIKELIHOOD or drew_nothing


def counted(source: Source) -> list[CountedResponse]:
    """Return the responses of one administration that count, in order.

    Practice, skipped and void trials are left out. Where nothing is drawn, identical replicates say
    nothing new and count once; under another protocol only what was obtained otherwise counts
    again. Whoever answers by sampling, and every person, counts each time.
    """
    conditions = source.conditions
    items = {
        (subtest.id, item.id): (subtest, item)
        for subtest in source.battery.subtests
        for item in subtest.items
    }
    alike: dict[Hashable, list[CountedResponse]] = {}
    statuses = effective_statuses(source.battery, source.trials)
    for trial, status in zip(source.trials, statuses, strict=True):
        attempt = trial.counting
        if attempt is None or not trial.is_answered:
            continue
        plan = trial.plan
        subtest, item = items[plan.subtest, plan.item]
        row = CountedResponse(subtest, item, trial, attempt, status)
        same: Hashable = plan.number
        if conditions is not None and conditions.kind == "model":
            protocol = protocol_of(source.protocol, subtest, trial, attempt)
            if is_fixed(conditions, protocol, attempt):
                row = replace(row, fixed=True)
                asked = attempt.messages or plan.prompt
                same = protocol, plan.subtest, plan.item, asked, attempt.response
            elif shares_stream(conditions, attempt):
                row = replace(row, shares_stream=True)
        alike.setdefault(same, []).append(row)
    return [
        replace(first, duplicates=tuple(others)) if others else first
        for first, *others in alike.values()
    ]
