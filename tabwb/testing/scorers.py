"""Checks of a scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.testing.checks import Checks, expect, plugins_of, run_checks

if TYPE_CHECKING:
    from tabwb.plugin_api.components import Response, Scorer
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.ratings import Rating


def check_scorer(
    spec: str,
    *,
    plugins: Plugins | None = None,
    kinds: Sequence[str] = ("choice", "yes-no", "verbatim", "connected-text", "free"),
) -> None:
    """Check a scorer: contract, failure, determinism.

    Args:
        spec: as in a battery's ``scorers``.
        plugins: with the scorer; None for those installed.
        kinds: of response that it is made for.

    Raises:
        NonConformance: the scorer does not keep its contract.
    """
    with plugins_of(plugins) as loaded:
        descriptor, resolved = loaded.resolve("scorers", spec)
        scorer = loaded.scorer(spec)
        names = (descriptor.id, str(resolved), spec)
        run_checks(f"scorer '{spec}'", _checks(scorer, names, tuple(kinds)))


def _checks(scorer: Scorer, names: tuple[str, ...], kinds: tuple[str, ...]) -> Checks:
    return {
        "contract, measures": lambda: _check_measures(scorer),
        "contract, ratings": lambda: _check_ratings(scorer, names, kinds),
        "determinism": lambda: _check_same(scorer, kinds),
        "failure, no expected answer": lambda: _check_unkeyed(scorer, kinds),
    }


def _score(scorer: Scorer, kind: str, text: str, *, keyed: bool) -> Sequence[Rating]:
    from tabwb.testing.samples import response_to, subtest_of

    subtest, item = subtest_of(kind, keyed=keyed)
    response: Response = response_to(item, kind, text)
    try:
        return scorer.score(subtest, item, response)
    except Exception as error:
        raise AssertionError(
            f"a {kind} response {text[:40]!r} raised {type(error).__name__}: {error}"
        ) from error


def _check_measures(scorer: Scorer) -> None:
    measures = scorer.measures
    plain = isinstance(measures, tuple) and all(isinstance(one, str) and one for one in measures)
    expect(plain and measures, f"measures is {measures!r}, not a tuple of names")
    expect(len(set(measures)) == len(measures), f"measures names one twice: {measures!r}")


def _check_ratings(scorer: Scorer, names: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    from tabwb.administer.session.raters import checked
    from tabwb.testing.samples import cases

    for kind, text, keyed in cases(kinds):
        ratings = _score(scorer, kind, text, keyed=keyed)
        for rating in ratings:
            rater = getattr(rating, "rater", None)
            expect(rater in names, f"a rating's rater is {rater!r}, not '{names[0]}'")
            known = rating.measure in scorer.measures
            expect(known, f"'{rating.measure}' is not among its measures {scorer.measures}")
        if ratings:
            checked(ratings[0].rater, ratings)


def _check_same(scorer: Scorer, kinds: tuple[str, ...]) -> None:
    from tabwb.testing.samples import cases

    for kind, text, keyed in cases(kinds):
        first, second = (tuple(_score(scorer, kind, text, keyed=keyed)) for _ in range(2))
        expect(first == second, f"{text[:40]!r} was rated {first} and then {second}")


def _check_unkeyed(scorer: Scorer, kinds: tuple[str, ...]) -> None:
    """Without an expected answer nothing is wrong: verdicts are undefined, or not given."""
    from tabwb.records.states import RatingStatus

    if not getattr(scorer, "decides", True):
        return
    for kind in kinds:
        if kind in ("connected-text", "free"):
            continue  # a scorer of these may decide by the text alone
        for rating in _score(scorer, kind, "something else", keyed=False):
            if rating.measure == scorer.measures[0]:
                wrong = rating.status is RatingStatus.VALUE and rating.value == 0
                expect(not wrong, "an item without an expected answer was called wrong")
