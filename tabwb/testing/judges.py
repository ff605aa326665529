"""Checks of a judge."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.testing.checks import (
    PATIENCE_S,
    Checks,
    check_facts,
    close_twice,
    expect,
    plugins_of,
    run_checks,
    within,
)

if TYPE_CHECKING:
    from tabwb.battery.model import Feature
    from tabwb.plugin_api.components import Judge, ModelJudge, Response
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.ratings import Rating


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
        from tabwb.administer.session.setup import find_battery
        from tabwb.plugin_api.components import ModelJudge

        features = find_battery(loaded, battery).features
        judge = loaded.judge(spec)
        resolved = str(loaded.resolve("judges", spec)[1])
        checks = dict(_checks(judge, resolved, features))
        if isinstance(judge, ModelJudge):
            checks |= _model_checks(judge, features)
        run_checks(f"judge '{spec}'", checks)


def _responses() -> list[Response]:
    from tabwb.testing.samples import TEXTS, response_to, subtest_of

    _, item = subtest_of("connected-text", keyed=False)
    return [response_to(item, "connected-text", text) for text in TEXTS]


def _checks(judge: Judge, resolved: str, features: Sequence[Feature]) -> Checks:
    from tabwb.plugin_api.components import ModelJudge

    asks = isinstance(judge, ModelJudge)
    return {
        "contract, declarations": lambda: _check_declared(judge, resolved, features),
        **({} if asks else {"contract, ratings": lambda: _check_ratings(judge, features)}),
        **({} if asks else {"determinism": lambda: _check_same(judge, features)}),
    }


def _check_declared(judge: Judge, resolved: str, features: Sequence[Feature]) -> None:
    expect(judge.rater == resolved, f"rater is '{judge.rater}', the resolved spec '{resolved}'")
    expect(isinstance(judge.features, tuple), f"features is {type(judge.features).__name__}")
    expect(isinstance(judge.caution, str), f"caution is {type(judge.caution).__name__}")
    known = {feature.id for feature in features}
    strange = [name for name in judge.features if name not in known]
    expect(not strange, f"features that the battery does not have: {', '.join(strange)}")


def _sound(judge: Judge, ratings: Sequence[Rating], response: Response) -> None:
    from tabwb.administer.session.raters import checked
    from tabwb.records.states import RatingStatus, ResponseStatus

    checked(judge.rater, ratings)
    given = {rating.measure: rating for rating in ratings}
    lacking = [name for name in judge.features if name not in given]
    expect(not lacking, f"no rating of {', '.join(lacking)} for {response.text[:40]!r}")
    for name in judge.features:
        rating = given[name]
        verdict = rating.status is not RatingStatus.VALUE or rating.value in (0.0, 1.0)
        expect(verdict, f"'{name}' is {rating.value}; allowed: 1 present, 0 absent")
        if response.status is ResponseStatus.EMPTY:
            empty = rating.status is not RatingStatus.VALUE
            expect(empty, f"an empty response has '{name}' = {rating.value}, not undefined")


def _check_ratings(judge: Judge, features: Sequence[Feature]) -> None:
    for response in _responses():
        _sound(judge, judge.judge(response, features), response)


def _check_same(judge: Judge, features: Sequence[Feature]) -> None:
    for response in _responses():
        first, second = (tuple(judge.judge(response, features)) for _ in range(2))
        expect(first == second, f"{response.text[:40]!r} was judged differently the second time")


def _model_checks(judge: ModelJudge, features: Sequence[Feature]) -> Checks:
    return {
        "contract, open": lambda: check_facts(judge.open()),
        "contract, requests": lambda: _check_requests(judge, features),
        "contract, judge_many": lambda: _check_many(judge, features),
        "cancellation": lambda: _check_cancelled(judge, features),
        "contract, close twice": lambda: close_twice(judge),
    }


def _check_requests(judge: ModelJudge, features: Sequence[Feature]) -> None:
    from tabwb.records.exchange import Request

    response = _responses()[5]
    first, second = (tuple(judge.requests(response, features)) for _ in range(2))
    expect(all(isinstance(one, Request) for one in first), "requests() gave no Request")
    expect(first == second, "requests() differ for one response")
    expect(judge.most_requests >= 1, f"most_requests is {judge.most_requests}")


def _check_many(judge: ModelJudge, features: Sequence[Feature]) -> None:
    from tabwb.plugin_api.components import Verdict
    from tabwb.records.exchange import Wait

    responses = _responses()[:6]
    found: dict[int, Verdict] = {}
    for index, piece in judge.judge_many(responses, features, threading.Event()):
        expect(index in range(len(responses)), f"judge_many gave index {index!r}")
        if isinstance(piece, Wait):
            continue
        expect(isinstance(piece, Verdict), f"judge_many gave {type(piece).__name__}")
        expect(index not in found, f"judge_many gave index {index} twice")
        found[index] = piece
    expect(len(found) == len(responses), f"{len(found)} verdicts for {len(responses)} responses")
    for index, verdict in found.items():
        _sound(judge, verdict.ratings, responses[index])


def _check_cancelled(judge: ModelJudge, features: Sequence[Feature]) -> None:
    cancel = threading.Event()
    cancel.set()
    within(
        PATIENCE_S,
        lambda: list(judge.judge_many(_responses(), features, cancel)),
        "judge_many with cancel set",
    )
