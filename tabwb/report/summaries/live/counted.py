"""The responses of a session that count, each once, with the status under which it counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tabwb.battery.model import Item, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Rating
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import Attempt, Trial
from tabwb.report.summaries.counted import Source, effective_statuses, is_usable
from tabwb.report.summaries.draws import Draw, again_drawn, drawn_with, shares_stream


@dataclass(frozen=True, slots=True)
class CountedResponse:
    """A response that counts, with its item and ratings.

    Attributes:
        source: place of its source, from 0.
        cluster: (subtest, item), whoever answered: items are the sample; or the speaker where
            several speakers are pooled. Responses in one cluster are not independent.
        status: under which it counts (:func:`effective_statuses`); the stored one is the attempt's.
        duplicates: identical answers that count as this one, because nothing was drawn or because
            they are the same draw; a judge may have judged one of them and not the others.
        representative: of a duplicate: the place of the answer that it counts as.
        fixed: whether nothing was drawn, so that the same request gives the same response.
        shares_stream: whether it was drawn from a random stream that others share
            (:mod:`tabwb.report.summaries.draws`); the replicates are then one cluster.
        deciding: scorer to the measure that decides, of scorers for which it is not ``exact``;
            empty text where a scorer decides nothing.
    """

    source: int
    subtest: Subtest
    item: Item
    trial: Trial
    attempt: Attempt
    cluster: tuple[str, ...]
    status: ResponseStatus | None = None
    duplicates: tuple[CountedResponse, ...] = ()
    representative: tuple[int, int] | None = None
    fixed: bool = False
    shares_stream: bool = False
    deciding: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> tuple[int, int]:
        """Source and trial of the response that counts, also for a duplicate."""
        return self.representative or (self.source, self.trial.plan.number)

    @property
    def usable(self) -> bool:
        """Whether its features can be judged."""
        return is_usable(self.status, self.subtest.response, self.attempt.response)

    @property
    def unusable(self) -> str:
        """The status that makes it unusable; empty for a usable one."""
        return "" if self.usable or self.status is None else self.status.value

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order shown."""
        return self.trial.plan.options

    def rating(self, rater: str, measure: str) -> Rating | None:
        """Return the rating of a measure, or None where there is none.

        Args:
            rater: who rated.
            measure: its name.
        """
        for rating in self.trial.ratings:
            if rating.measure == measure and rating.rater == rater:
                return rating
        return None

    def verdict(self, rater: str, policy: str = "exact") -> Rating | None:
        """Return a scorer's verdict on the response, or None where it has given none.

        Args:
            rater: the scorer.
            policy: ``exact`` is the scorer's deciding measure, whatever its name.
        """
        name = self.deciding.get(rater, policy) if policy == "exact" else policy
        return self.rating(rater, name)

    def as_rated_by(self, rater: str) -> CountedResponse:
        """Return this response, or its first duplicate, that the rater has rated; else this one."""
        for response in (self, *self.duplicates):
            if any(rating.rater == rater for rating in response.trial.ratings):
                return response
        return self


_PROTOCOLS = frozenset(Protocol)


def protocol_of(given: Protocol, subtest: Subtest, trial: Trial, attempt: Attempt) -> Protocol:
    """Return how a response was obtained.

    Args:
        given: the protocol of the administration.
        subtest: of the trial.
        trial: with the options shown.
        attempt: the one that counts.
    """
    noted = attempt.metadata.get("protocol")
    if noted in _PROTOCOLS:
        return Protocol(noted)
    return given if trial.plan.options or subtest.task.answers else Protocol.GENERATE


def is_fixed(conditions: Conditions, protocol: Protocol, attempt: Attempt) -> bool:
    """Return whether a model gives the same response again to the same request.

    Args:
        conditions: of the administration.
        protocol: of the response, see :func:`protocol_of`.
        attempt: the one that counts.
    """
    if attempt.metadata.get("replayed_sampled") == "yes":
        return False  # drawn when it was recorded
    drew_nothing = attempt.metadata.get("sampled") == "no"
    return conditions.decoding.greedy or protocol is Protocol.LIKELIHOOD or drew_nothing


def counted(sources: Iterable[Source]) -> list[CountedResponse]:
    """Return the responses that count, in order.

    Practice, skipped and void trials are left out. Where nothing is drawn, identical replicates say
    nothing new and count once, also across administrations of one model; under another protocol
    only what was obtained otherwise counts again. Whoever answers by sampling, and every person,
    counts each time; but a sampled response that another administration of the model drew already,
    with the same seed, counts once (:func:`tabwb.report.summaries.draws.again_drawn`).
    """
    rows: list[CountedResponse] = []
    first: dict[Hashable, int] = {}
    duplicates: dict[int, list[CountedResponse]] = {}
    draws: list[Draw] = []
    given = list(sources)
    pools_speakers = len({source.examinee for source in given if source.is_speaker}) > 1
    for place, source in enumerate(given):
        examinee, conditions = source.examinee, source.conditions
        deciding = {
            rater: next(iter(declaration.features), "")
            for rater, declaration in source.declarations.items()
            if declaration.kind == "scorer"
        }
        items = {
            (subtest.id, item.id): (subtest, item)
            for subtest in source.battery.subtests
            for item in subtest.items
        }
        statuses = effective_statuses(source.battery, source.trials)
        for trial, status in zip(source.trials, statuses, strict=True):
            attempt = trial.counting
            if attempt is None or not trial.is_answered:
                continue
            plan = trial.plan
            subtest, item = items[plan.subtest, plan.item]
            cluster = (
                (examinee,) if pools_speakers and source.is_speaker else (plan.subtest, plan.item)
            )
            row = CountedResponse(
                place, subtest, item, trial, attempt, cluster, status, deciding=deciding
            )
            if conditions is None or conditions.kind != "model":
                rows.append(row)
                continue
            protocol = protocol_of(source.protocol, subtest, trial, attempt)
            fixed = is_fixed(conditions, protocol, attempt)
            shared = not fixed and shares_stream(conditions, attempt)
            row = replace(row, fixed=fixed, shares_stream=shared)
            question = examinee, protocol, plan.subtest, plan.item, attempt.messages or plan.prompt
            if fixed:
                at = first.setdefault((*question, attempt.response), len(rows))
                if at < len(rows):
                    same = replace(row, representative=rows[at].place)
                    duplicates.setdefault(at, []).append(same)
                    continue
            else:
                draw = drawn_with(conditions, plan, attempt, shared=shared)
                if draw is not None:
                    draws.append((len(rows), place, (*question, draw), attempt.response))
            rows.append(row)
    again = again_drawn(draws)
    for place, at in again.items():
        duplicates.setdefault(at, []).append(replace(rows[place], representative=rows[at].place))
    for at, responses in duplicates.items():
        rows[at] = replace(rows[at], duplicates=tuple(responses))
    return [row for place, row in enumerate(rows) if place not in again]
