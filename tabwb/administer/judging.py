"""Judging stored answers: any judge, at any later time.

What a judge said of a response under the same prompt, model and options is taken from the store, so
that no call is paid for twice; interrupted judging continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from types import TracebackType
from typing import Self

from tabwb.administer import consent
from tabwb.administer.cost import Limits, call_at_most, tokens_of
from tabwb.administer.session.exchange import storable
from tabwb.administer.session.plan import of_language, unknown_features
from tabwb.administer.session.raters import Raters, checked, declaration_of
from tabwb.administer.session.session import Observers
from tabwb.battery.available import english_prompt
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.host.guarded import error_words, plugin_code
from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.host.prices import Price, cost_of
from tabwb.plugin_api.components import Cancel, Judge, Response
from tabwb.records import events
from tabwb.records.errors import ComponentError, Interrupted, TabwbError, UsageError, error_text
from tabwb.records.events import Event
from tabwb.records.exchange import Request, Wait
from tabwb.records.ratings import Judged, Judgement, Rating, Scope, Verdict, failed
from tabwb.records.states import RatingStatus
from tabwb.records.trials import DeclarationEntry, RatingsEntry, Trial
from tabwb.records.words import plural
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class Target:
    """One answer to judge.

    Attributes:
        key: SHA-256 (hex) of judge and exact request.
        repeat: 0 for the judgement that counts.
        prompt_tokens: estimated, of all its requests.
        reply_limit: the most tokens that its replies may have.
    """

    trial: int
    attempt: int
    response: Response
    key: str
    repeat: int
    prompt_tokens: int
    reply_limit: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The calls, tokens and money of judging.

    Attributes:
        to_ask: calls, each of one request (a repair would be a second one).
        from_store: verdicts that are stored already for the same call.
        duplicates: answers whose text another one of these has; they share its verdict.
        judged: answers that this judge has judged before and that stay as they are.
        cost: US dollars, or None where the price is unknown.
        reply_tokens_at_most, cost_at_most: each reply as long as it may be, reasoning included, and
            each asked for as often as it may be.
    """

    to_ask: int
    from_store: int
    duplicates: int
    judged: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    reply_tokens_at_most: int = 0
    cost_at_most: float | None = None


_FAILED = frozenset({RatingStatus.ERROR, RatingStatus.UNPARSED})


@dataclass(slots=True)
class Tally:
    """What judging has taken so far.

    Attributes:
        judged: judgements recorded.
        from_store: of these, those that asked nothing.
        in_error, unparsed: of these, those without a verdict.
        problem: why the first of these has none.
        cost: US dollars, or None where the price or the tokens are unknown.
        cost_at_most: US dollars, a call whose tokens are unknown counted with all that it may take;
            what a limit is held against.
    """

    price: Price | None = None
    judged: int = 0
    from_store: int = 0
    in_error: int = 0
    unparsed: int = 0
    repaired: int = 0
    problem: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cost: float | None = 0.0
    cost_at_most: float = 0.0

    def add(self, judgement: Judgement, reserved: float = 0.0) -> None:
        """Count one judgement."""
        statuses = {rating.status for rating in judgement.ratings}
        self.judged += 1
        self.from_store += judgement.requests == 0
        self.in_error += RatingStatus.ERROR in statuses
        self.unparsed += RatingStatus.UNPARSED in statuses
        self.repaired += judgement.repaired and RatingStatus.UNPARSED not in statuses
        failed = [rating.reason for rating in judgement.ratings if rating.status in _FAILED]
        self.problem = self.problem or next(filter(None, failed), "")
        self.requests += judgement.requests
        if not judgement.requests:
            return
        self.prompt_tokens += judgement.prompt_tokens or 0
        self.reply_tokens += judgement.reply_tokens or 0
        spent = cost_of(self.price, judgement.prompt_tokens, judgement.reply_tokens)
        self.cost = None if self.cost is None or spent is None else self.cost + spent
        self.cost_at_most += reserved if spent is None else spent


@dataclass(slots=True)
class Work:
    """The targets of one administration, sorted by what has to be done for them."""

    ask: dict[tuple[str, int], list[Target]] = field(default_factory=dict)
    take: list[tuple[Target, Judgement]] = field(default_factory=list)
    judged: int = 0


def has_verdict(trial: Trial, rater: str) -> bool:
    """Return whether a rater has judged a trial's counting answer; a failed call gives no
    verdict.
    """
    statuses = {rating.status for rating in trial.ratings if rating.rater == rater}
    return bool(statuses) and RatingStatus.ERROR not in statuses


def request_key(judge: Judge, requests: Sequence[Request], response: Response) -> str:
    """Return the SHA-256 (hex) of the judge and of exactly what it is shown.

    The judge's whole prompt counts, also what is not sent at first (the words of a repair) or not
    at all (a threshold). Answers of the same text have the same key unless the judge is shown the
    item's prompt.
    """
    content: list[object] = [
        judge.rater,
        judge.prompt_text,
        [
            [
                [[message.role, message.content] for message in request.messages],
                request.decoding.max_tokens,
                request.decoding.temperature,
                0,  # in place of the seed, by which the verdicts on one response differ
            ]
            for request in requests
        ]
        or [response.text, response.prompt, response.status.value],
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def format_estimate(estimate: Estimate, price: Price | None) -> str:
    """Return what judging would take, in one line.

    >>> format_estimate(Estimate(5, 0, 2, 1, 6000, 950, None), None)[:50]
    '5 to ask, 2 of the same text, 1 judged already, ab'
    >>> format_estimate(Estimate(5, 0, 0, 0, 0, 0, 0.0), None)  # a judge that asks no model
    '5 to judge'
    >>> format_estimate(Estimate(0, 3, 0, 5, 0, 0, 0.0), None)
    '0 to ask, 3 from the store, 5 judged already'
    """
    asks = estimate.prompt_tokens or not estimate.to_ask
    parts = [f"{estimate.to_ask} to {'ask' if asks else 'judge'}"]
    others = {
        "of the same text": estimate.duplicates,
        "from the store": estimate.from_store,
        "judged already": estimate.judged,
    }
    parts += [f"{count} {name}" for name, count in others.items() if count]
    if estimate.to_ask and estimate.prompt_tokens:
        parts.append(
            f"about {estimate.prompt_tokens:,} tokens sent and {estimate.reply_tokens:,} received"
            + _at_most(f"{estimate.reply_tokens_at_most:,}", estimate.reply_tokens_at_most)
        )
        if estimate.cost is None:
            parts.append("cost unknown (no price; see prices.toml)")
        elif estimate.cost:
            most = estimate.cost_at_most or 0.0
            parts.append(f"about {estimate.cost:.2g} USD{_at_most(f'{most:.2g}', most)} ({price})")
    return ", ".join(parts)


def _at_most(words: str, most: float) -> str:
    return f" (at most {words})" if most else ""


def format_spent(tally: Tally) -> str:
    """Return what judging has taken so far."""
    parts = [plural(tally.requests, "request")]
    if tokens := tally.prompt_tokens + tally.reply_tokens:
        parts.append(f"{tokens:,} tokens")
    if tally.cost is None:
        parts.append("cost unknown")
    elif tally.cost:
        parts.append(f"{tally.cost:.4f} USD")
    return ", ".join(parts)


def format_tally(tally: Tally) -> str:
    """Return what judging has done, in one line, and the first failure in a second."""
    parts = [f"judged {tally.judged}"]
    if tally.judged and tally.from_store == tally.judged and not tally.requests:
        parts = [plural(tally.judged, "verdict"), "no model requests needed"]
    elif tally.from_store:
        parts.append(f"{tally.from_store} of them without a model request")
    counts = {"repaired": tally.repaired, "unparsed": tally.unparsed, "in error": tally.in_error}
    parts += [f"{count} {name}" for name, count in counts.items() if count]
    words = ", ".join([*parts, format_spent(tally)] if tally.requests else parts)
    return f"{words}\nthe first without a verdict: {tally.problem}" if tally.problem else words


def check_limits(judge: Judge, limits: Limits) -> None:
    """Refuse a limit under which not one answer could be judged."""
    most = judge.most_requests
    if limits.requests is not None and limits.requests < most:
        raise UsageError(
            f"at most {plural(limits.requests, 'request')} is not enough for one answer: "
            f"'{judge.rater}' may take {most}, a second one where a reply cannot be read",
            allowed=f"{most} or more",
        )


CONSECUTIVE_FAILURES = 3
"""After so many failed calls in a row judging stops: then the model behind the judge is down."""
TOGETHER = 32
"""How many responses a judge gets at once; what a limit allows may be less."""


class Judging:
    """One judge at work on one administration, whose lock the caller holds."""

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        battery: Battery,
        number: int,
        judge: Judge,
        *,
        scope: str = "connected-text",
        repeats: int = 1,
        again: bool = False,
        price: Price | None = None,
    ) -> None:
        if repeats > 1 and not (judge.examinee and judge.writes):
            raise UsageError(
                f"'{judge.rater}' gives the same verdict every time",
                hint="judge once: leave out --repeat",
            )
        if not battery.features:
            raise UsageError(f"battery '{battery.id}' has no features to judge")
        self.number = number
        self.judge = judge
        self.tally = Tally(price)
        self._store = store
        self._battery = battery
        self._price = price
        self._plugins = plugins
        self._repeats = repeats
        self._again = again
        administration = store.administration(number)
        conditions = administration.conditions
        self._acts = consent.Guard(store, plugins, conditions).check_judging(judge)
        history = store.history(number)
        self._trials = history.trials
        subtests = {trial.plan.number: trial.plan.subtest for trial in history.trials}
        self._observers = Observers(
            plugins, battery, administration, store.location, subtests.__getitem__
        )
        # Once it has judged other answers too, a judge's burden stays over all of them.
        before = history.declarations.get(judge.rater)
        wide = scope == "all" or (before is not None and before.scope == "all")
        self._declaration = declaration_of(
            judge,
            "all" if wide else "connected-text",
            plugins.version_of("judges", judge.rater),
        )
        raters = Raters(plugins, battery, (), dialect=consent.dialect_of(store, conditions))
        self._work = self._sort(self._targets(raters, scope))

    def estimate(self) -> Estimate:
        """What :meth:`run` would take; asks nothing."""
        calls = [targets[0] for targets in self._work.ask.values()]
        prompt = sum(target.prompt_tokens for target in calls)
        reply = len(calls) * self._reply_tokens()
        answers = sum(len(targets) for targets in self._work.ask.values())
        return Estimate(
            to_ask=len(calls),
            from_store=len(self._work.take),
            duplicates=answers - len(calls),
            judged=self._work.judged,
            prompt_tokens=prompt,
            reply_tokens=reply,
            cost=cost_of(self._price, prompt, reply),
            reply_tokens_at_most=self._most_requests * sum(target.reply_limit for target in calls),
            cost_at_most=None if self._price is None else sum(map(self._reserved, calls)),
        )

    def requests(self) -> Iterator[tuple[int, Request]]:
        """Each request that would be sent, with the number of its trial; asks nothing."""
        for first, *_ in self._work.ask.values():
            for request in self._requests(first.response):
                yield first.trial, request

    def run(self, limits: Limits, cancel: Cancel) -> Generator[events.Event]:
        """Judge what is left; each judgement is in the store before its event comes."""
        if limits.cost is not None and self._price is None:
            limits.check(None)
        if self._work.ask:
            # Before anything is sent, so that every call is known.
            self._store.people.log(
                *(replace(act, administration=self.number) for act in self._acts)
            )
        for target, known in self._work.take:
            yield from self._keep([(target, known)])
        waiting = list(self._work.ask.values())
        failures = 0
        while waiting:
            if cancel.is_set():
                raise self._stop("stopped by the user", len(waiting))
            room = self._room(limits, [targets[0] for targets in waiting])
            if room == 0:
                raise self._stop(self._reached(limits, waiting[0][0]), len(waiting))
            batch, waiting = waiting[:room], waiting[room:]
            open_ = set(range(len(batch)))
            with closing(self._verdicts([t[0].response for t in batch], cancel)) as verdicts:
                for index, piece in verdicts:
                    if isinstance(piece, Wait) and not piece.seconds:
                        continue  # pieces of a verdict are not shown, so none is taken back
                    if isinstance(piece, Wait):
                        trial = batch[index][0].trial
                        wait = events.Waiting(
                            self.number, trial, piece.seconds, piece.reason, piece.voids
                        )
                        yield self._observers.tell(wait)
                        continue
                    open_.discard(index)
                    made = self._judgement(batch[index][0], piece)
                    first, *duplicates = batch[index]
                    (kept,) = self._keep([(first, made)])
                    yield kept
                    yield from self._keep([(duplicate, kept.judgement) for duplicate in duplicates])
                    down = _is_down(made.ratings) and not cancel.is_set()
                    failures = failures + 1 if down else 0
                    if failures >= CONSECUTIVE_FAILURES:
                        last = f"{failures} calls in a row failed; the last one: "
                        raise self._stop(last + made.ratings[0].reason, len(open_) + len(waiting))
            if cancel.is_set():
                raise self._stop("stopped by the user", len(open_) + len(waiting))

    # ---------------------------------------------------------------- inside

    def _targets(self, raters: Raters, scope: str) -> Iterator[tuple[Trial, Target]]:
        given = Counter(
            (judged.trial, judged.attempt)
            for judged in (self._store.judgements(self.number) if self._again else ())
            if judged.judgement.rater == self.judge.rater
        )
        for trial in self._trials:
            attempt = trial.counting
            subtest = self._battery.subtest(trial.plan.subtest)
            if attempt is None or trial.plan.practice:
                continue
            # A choice that is answered with a passage has features too (TAB, appendix C).
            if not (subtest.task.judged != "never" if scope == "all" else subtest.task.connected):
                continue
            response = raters.response(trial.plan, attempt, self._trials)
            requests = self._requests(response)
            key = request_key(self.judge, requests, response)
            limits = [request.decoding.max_tokens for request in requests]
            behind = sum(self._plugins.reply_tokens_behind(self.judge, limit) for limit in limits)
            place = trial.plan.number, attempt.number
            for repeat in range(self._repeats):
                draw = replace(response, draw=given[place] + repeat)
                prompt_tokens = sum(map(tokens_of, requests))
                yield trial, Target(*place, draw, key, repeat, prompt_tokens, behind)

    def _requests(self, response: Response) -> Sequence[Request]:
        return self.judge.requests(response, self._battery.features)

    def _sort(self, targets: Iterable[tuple[Trial, Target]]) -> Work:
        work = Work()
        pairs = list(targets)
        stored = {}
        if not self._again and self._repeats == 1:
            stored = self._store.judgements_of({target.key for _, target in pairs})
        before = self._before()
        for trial, target in pairs:
            known = before.get((target.trial, target.attempt, target.repeat))
            if not self._again and (
                # Under another prompt or other options it is another call.
                known is not None and known.key == target.key and not _is_down(known.ratings)
                if self.judge.examinee
                else has_verdict(trial, self.judge.rater)
            ):
                work.judged += 1
            elif target.key in stored:
                work.take.append((target, stored[target.key]))
            else:
                work.ask.setdefault((target.key, target.repeat), []).append(target)
        if self._again:
            # Those judged longest ago first, so that limited rounds come to all of them.
            def age(first: Target) -> int:
                known = before.get((first.trial, first.attempt, first.repeat))
                return known.id if known else 0

            work.ask = dict(sorted(work.ask.items(), key=lambda item: age(item[1][0])))
        return work

    def _before(self) -> dict[tuple[int, int, int], Judgement]:
        if not self.judge.examinee:
            return {}
        return {
            (judged.trial, judged.attempt, judged.judgement.repeat): judged.judgement
            for judged in self._store.judgements(self.number)
            if judged.judgement.rater == self.judge.rater
        }

    def _verdicts(
        self, responses: Sequence[Response], cancel: Cancel
    ) -> Generator[tuple[int, Verdict | Wait]]:
        features = self._battery.features
        left = set(range(len(responses)))
        problem = "the judge ended without a verdict"
        try:
            for index, piece in self.judge.judge_many(responses, features, cancel):
                yield index, piece
                if not isinstance(piece, Wait):
                    left.discard(index)
        except TabwbError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - a judge's failure is a verdict in error
            problem = error_text(error)
        if cancel.is_set():
            return
        for index in sorted(left):
            yield index, Verdict(self._failed(problem), requests=0)

    def _failed(self, problem: str) -> tuple[Rating, ...]:
        reason = storable(problem)
        return tuple(failed(self.judge.rater, name, reason) for name in self.judge.features)

    def _judgement(self, target: Target, verdict: Verdict) -> Judgement:
        judge = self.judge
        try:
            known = {feature.id for feature in self._battery.features}
            ratings = tuple(checked(judge.rater, verdict.ratings, features=known))
            wanted = set(judge.features) & known
            missing = wanted - {rating.measure for rating in ratings}
            if missing or not ratings:
                raise ValueError(f"no rating of {', '.join(sorted(missing)) or 'anything'}")
        except Exception as error:  # noqa: BLE001 - a plugin's verdict
            told = error_text(error, typed=False)
            ratings = self._failed(f"'{judge.rater}' gave a verdict that cannot be kept: {told}")
        given = {part.name: getattr(verdict, part.name) for part in fields(verdict)}
        given |= {"raw": storable(verdict.raw), "first_raw": storable(verdict.first_raw)}
        return Judgement(
            **given | {"ratings": ratings},
            rater=judge.rater,
            repeat=target.repeat,
            prompt_text=judge.prompt_text,
            key=target.key,
        )

    def _keep(self, pairs: Sequence[tuple[Target, Judgement]]) -> list[events.JudgementRecorded]:
        judged = [
            Judged(
                target.trial,
                target.attempt,
                replace(made, id=0, same_as=made.id, requests=0, repeat=target.repeat)
                if made.id
                else made,
            )
            for target, made in pairs
        ]
        if self.judge.examinee:
            judged = list(self._store.keep_judgements(self.number, judged, self._declaration))
        else:
            entries = [
                RatingsEntry(new.trial, new.attempt, new.judgement.ratings) for new in judged
            ]
            self._store.append(self.number, [*entries, DeclarationEntry(self._declaration)])
        for (target, _), new in zip(pairs, judged, strict=True):
            self.tally.add(new.judgement, self._reserved(target))
        return [
            self._observers.tell(
                events.JudgementRecorded(self.number, new.trial, new.attempt, new.judgement)
            )
            for new in judged
        ]

    def _room(self, limits: Limits, waiting: Sequence[Target]) -> int:
        room = min(TOGETHER, len(waiting))
        if limits.requests is not None:
            room = min(room, (limits.requests - self.tally.requests) // self._most_requests)
        if limits.cost is not None:
            left = limits.cost - self.tally.cost_at_most
            fits = 0
            for target in waiting[:room]:
                left -= self._reserved(target)
                if left < 0:
                    break
                fits += 1
            room = fits
        return max(room, 0)

    def _reached(self, limits: Limits, next_: Target) -> str:
        """Return which limit leaves nothing for the next answer, with its numbers."""
        most, sent = self._most_requests, self.tally.requests
        if limits.requests is not None and limits.requests - sent < most:
            return (
                f"the limit is {plural(limits.requests, 'request')}; {sent} "
                f"{'was' if sent == 1 else 'were'} sent, and the next answer may take {most}"
            )
        return (
            f"the limit is {limits.cost:.4g} USD; {self.tally.cost_at_most:.4g} USD was spent, and "
            f"the next answer may cost {self._reserved(next_):.4g} USD"
        )

    @property
    def _most_requests(self) -> int:
        return self.judge.most_requests

    def _reserved(self, target: Target) -> float:
        """Return the most that a call may cost, US dollars; 0 where nothing is known or charged."""
        tokens = target.prompt_tokens, target.reply_limit
        return call_at_most(self._price, *tokens, self._most_requests) or 0.0

    def _reply_tokens(self) -> int:
        if not self.judge.writes:
            return 0
        if self.tally.requests and self.tally.reply_tokens:
            return round(self.tally.reply_tokens / self.tally.requests)
        return 10 * len(self.judge.features)

    def _stop(self, why: str, left: int) -> Interrupted:
        return Interrupted(
            f"judging of administration {self.number}: {why}; {plural(left, 'call')} left"
        )


def _is_down(ratings: Sequence[Rating]) -> bool:
    return any(rating.status is RatingStatus.ERROR for rating in ratings)


class Task:
    """A judge; its model is opened when it is first asked, and stays open until the end.

    Attributes:
        tallies: what was judged so far, one for each administration.
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        spec: str,
        *,
        scope: Scope = "connected-text",
        repeats: int = 1,
        again: bool = False,
    ) -> None:
        self.judge = plugins.judge(spec)
        self.price = plugins.price_behind(self.judge)
        self.tallies: list[Tally] = []
        self.scope, self.repeats, self.again = scope, repeats, again
        self._store, self._plugins = store, plugins
        self._opened = False
        self._warned: set[str] = set()
        self._batteries: dict[str, Battery] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the judge's model."""
        if self.judge.examinee:
            self.judge.close()

    def judging(self, number: int) -> Judging:
        """Return what is left to judge of an administration, without asking the judge."""
        return Judging(
            self._store,
            self._plugins,
            self._battery(number),
            number,
            self.judge,
            scope=self.scope,
            repeats=self.repeats,
            again=self.again,
            price=self.price,
        )

    def warnings(self, number: int) -> list[str]:
        """Return what the judge cannot rate in the battery or its language, each sentence once."""
        battery, judge = self._battery(number), self.judge
        said = [unknown_features(battery, judge)]
        if judge.examinee:
            said.append(english_prompt(battery, judge.rater))
        else:
            said += of_language(battery)
        new = [one for one in said if one and one not in self._warned]
        self._warned.update(new)
        return new

    def _battery(self, number: int) -> Battery:
        given = self._store.administration(number).battery_hash
        if given not in self._batteries:
            canonical = self._store.battery_canonical(given)
            self._batteries[given] = battery_from_canonical(canonical)
        return self._batteries[given]

    def run(self, judging: Judging, limits: Limits, cancel: Cancel) -> Generator[Event]:
        """Judge what is left of an administration; see :meth:`Judging.run`."""
        self.tallies.append(judging.tally)
        if not self._opened and self.judge.examinee and judging.estimate().to_ask:
            self._open(self.judge, cancel)
            self._opened = True
        yield from judging.run(limits, cancel)

    @staticmethod
    def _open(judge: Judge, cancel: Cancel) -> None:
        try:
            with plugin_code:
                opened(judge, cancel)
        except TabwbError:
            raise
        except Exception as error:
            raise ComponentError(
                f"open() of judge '{judge.rater}' failed: {error_words(error)}"
            ) from error


def check_verdicts(tasks: Iterable[Task], hint: str) -> None:
    """Check that calls of judges succeeded, and that some of their replies could be read."""
    by_rater: dict[str, list[Tally]] = {}
    for task in tasks:
        by_rater.setdefault(task.judge.rater, []).extend(task.tallies)
    for rater, tallies in by_rater.items():
        if failed := sum(tally.in_error for tally in tallies):
            problem = next(filter(None, (tally.problem for tally in tallies)), "")
            raise Interrupted(
                f"{plural(failed, 'call')} of {rater} failed: there is no verdict on the "
                f"responses; the first one: {problem}",
                hint=hint,
            )
    for rater, tallies in by_rater.items():
        judged, unparsed = _sums(tallies)
        if 0 < judged <= unparsed:
            raise TabwbError(
                f"{rater} gave no verdict: none of {plural(judged, 'reply', 'replies')} can be "
                "read",
                hint="the replies are kept (tabwb results ID --json); --again repeats the "
                "requests; another model or prompt may work better",
            )


def _sums(tallies: Sequence[Tally]) -> tuple[int, int]:
    return sum(one.judged for one in tallies), sum(one.unparsed for one in tallies)
