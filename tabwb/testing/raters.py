"""Checks of scorers and judges."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import product

from tabwb.administer.session.raters import checked
from tabwb.administer.session.setup import find_battery
from tabwb.battery.model import Feature, Item, Subtest
from tabwb.host.guarded import not_async
from tabwb.host.making import kinds_of
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge, Response, Scorer
from tabwb.records.exchange import Request
from tabwb.records.ratings import Rating, Verdict, verdict_measure
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.testing.checks import (
    KINDS,
    TEXTS,
    Checks,
    cancelled,
    check_facts,
    close_twice,
    collected,
    expect,
    plugins_of,
    response_to,
    run_checks,
    subtest_of,
    within_patience,
)

Sample = tuple[Subtest, Item]


def check_scorer(
    spec: str,
    *,
    plugins: Plugins | None = None,
    kinds: Sequence[str] = KINDS,
    battery: str | None = None,
) -> None:
    """Check a scorer: contract, failure, determinism.

    Args:
        spec: as in a battery's ``scorers``.
        plugins: with the scorer; None for those installed.
        kinds: of response that it is made for; each is checked with a sample item.
        battery: its items whose subtest names this spec are checked too; an id or a path.

    Raises:
        NonConformance: the scorer does not keep its contract.
    """
    with plugins_of(plugins) as loaded:
        descriptor, resolved = loaded.resolve("scorers", spec)
        scorer = loaded.scorer(spec)
        names = (descriptor.id, str(resolved), spec)
        samples = [subtest_of(kind, keyed=keyed) for kind in kinds for keyed in (True, False)]
        if battery is not None:
            subtests = find_battery(loaded, battery).subtests
            own = [(each, item) for each in subtests if spec in each.scorers for item in each.items]
            expect(own, f"no subtest of the battery '{battery}' names the scorer '{spec}'")
            samples += own
        checks: Checks = {
            "contract, ratings": lambda: _check_scores(scorer, names, samples),
            "determinism": lambda: _check_same_scores(scorer, samples),
            "failure, no expected answer": lambda: _check_unkeyed(scorer, kinds),
        }
        run_checks(f"scorer '{spec}'", checks)


def _score(scorer: Scorer, subtest: Subtest, item: Item, text: str) -> Sequence[Rating]:
    kind = subtest.task.text_kind.value
    try:
        return tuple(not_async(scorer.score(subtest, item, response_to(item, kind, text))))
    except Exception as error:
        raise AssertionError(
            f"a {kind} response {text[:40]!r} to item '{item.id}' raised "
            f"{type(error).__name__}: {error}"
        ) from error


def _check_scores(scorer: Scorer, names: tuple[str, ...], samples: Sequence[Sample]) -> None:
    for (subtest, item), text in product(samples, TEXTS):
        ratings = _score(scorer, subtest, item, text)
        for rating in ratings:
            rater = getattr(rating, "rater", None)
            expect(rater in names, f"a rating's rater is {rater!r}, not '{names[0]}'")
        if ratings:
            given = checked(ratings[0].rater, ratings, kinds_of(scorer))
            changed = [new.reason for old, new in zip(ratings, given, strict=True) if new != old]
            expect(not changed, f"{'; '.join(changed)}")


def _check_same_scores(scorer: Scorer, samples: Sequence[Sample]) -> None:
    for (subtest, item), text in product(samples, TEXTS):
        first, second = (tuple(_score(scorer, subtest, item, text)) for _ in range(2))
        expect(first == second, f"{text[:40]!r} was rated {first} and then {second}")


def _check_unkeyed(scorer: Scorer, kinds: Sequence[str]) -> None:
    """Without an expected answer nothing is right or wrong: verdicts are undefined or absent."""
    verdict = verdict_measure(kinds_of(scorer))
    for kind in kinds:
        if kind in ("connected-text", "free"):
            continue  # a scorer of these may decide by the text alone
        for rating in _score(scorer, *subtest_of(kind, keyed=False), "something else"):
            if rating.measure == verdict:
                called = rating.status is RatingStatus.VALUE
                said = "right" if rating.value else "wrong"
                expect(not called, f"an item without an expected answer was called {said}")


def check_judge(spec: str, *, plugins: Plugins | None = None, battery: str = "tab") -> None:
    """Check a judge: contract, failure, determinism; of one that asks a model cancellation too.

    Args:
        spec: as on the command line; a judge of models with the model's own spec
            (``my-prompt:echo``).
        plugins: with the judge; None for those installed.
        battery: whose features are judged.

    Raises:
        NonConformance: the judge does not keep its contract.
    """
    with plugins_of(plugins) as loaded:
        features = find_battery(loaded, battery).features
        judge = loaded.judge(spec)
        resolved = str(loaded.resolve("judges", spec)[1])
        _, item = subtest_of("connected-text", keyed=False)
        responses = [response_to(item, "connected-text", text) for text in TEXTS]
        checks = _model_checks if judge.examinee else _rules_checks
        declared = {"contract, declarations": lambda: _check_declared(judge, resolved, features)}
        run_checks(f"judge '{spec}'", {**declared, **checks(judge, responses, features)})


def _check_declared(judge: Judge, resolved: str, features: Sequence[Feature]) -> None:
    expect(judge.rater == resolved, f"rater is '{judge.rater}', the resolved spec '{resolved}'")
    expect(not isinstance(judge.features, str), "features is one text, not a tuple of names")
    expect(isinstance(judge.caution, str), f"caution is {type(judge.caution).__name__}")
    known = {feature.id for feature in features}
    strange = [name for name in judge.features if name not in known]
    expect(not strange, f"features that the battery does not have: {', '.join(strange)}")


def _check_verdict(judge: Judge, ratings: Sequence[Rating], response: Response) -> None:
    ratings = checked(judge.rater, ratings)
    rating_of = {rating.measure: rating for rating in ratings}
    lacking = [name for name in judge.features if name not in rating_of]
    expect(not lacking, f"no rating of {', '.join(lacking)} for {response.text[:40]!r}")
    for name in judge.features:
        rating = rating_of[name]
        has_value = rating.status is RatingStatus.VALUE
        valid = not has_value or rating.value in (0.0, 1.0)
        expect(valid, f"'{name}' is {rating.value}; allowed: 1 present, 0 absent")
        empty = response.status is ResponseStatus.EMPTY
        message = f"an empty response has '{name}' = {rating.value}, not undefined"
        expect(not (empty and has_value), message)


def _rules_checks(
    judge: Judge, responses: Sequence[Response], features: Sequence[Feature]
) -> Checks:
    def check_ratings() -> None:
        for response in responses:
            _check_verdict(judge, judge.judge(response, features), response)

    def check_same() -> None:
        for response in responses:
            first, second = (tuple(not_async(judge.judge(response, features))) for _ in range(2))
            message = f"{response.text[:40]!r} was judged differently the second time"
            expect(first == second, message)

    return {"contract, ratings": check_ratings, "determinism": check_same}


def _model_checks(
    judge: Judge, responses: Sequence[Response], features: Sequence[Feature]
) -> Checks:
    def check_requests() -> None:
        first, second = (tuple(judge.requests(responses[5], features)) for _ in range(2))
        expect(all(isinstance(part, Request) for part in first), "requests() gave no Request")
        expect(first == second, "requests() differ for one response")
        expect(judge.most_requests >= 1, f"most_requests is {judge.most_requests}")

    def check_many() -> None:
        some = responses[:6]
        pairs = judge.judge_many(some, features, threading.Event())
        verdicts = collected(pairs, len(some), "judge_many")
        expect(len(verdicts) == len(some), f"{len(verdicts)} verdicts for {len(some)} responses")
        for index, verdict in verdicts.items():
            expect(isinstance(verdict, Verdict), f"judge_many gave {type(verdict).__name__}")
            _check_verdict(judge, verdict.ratings, some[index])

    def check_cancelled() -> None:
        within_patience(
            "judge_many with cancel set",
            lambda: list(judge.judge_many(responses, features, cancelled())),
        )

    return {
        "contract, open": lambda: check_facts(judge.open()),
        "contract, requests": check_requests,
        "contract, judge_many": check_many,
        "cancellation": check_cancelled,
        "contract, close twice": lambda: close_twice(judge),
    }
