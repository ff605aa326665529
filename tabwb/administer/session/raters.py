"""Scorers and judges at work on one response, each by itself: one that fails harms no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.administer.session.exchange import storable
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.host.guarded import PluginExit, not_async, plugin_code
from tabwb.host.making import kinds_of
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge, Response, Scorer
from tabwb.records.errors import TabwbError, error_text
from tabwb.records.ratings import (
    Declaration,
    FailedRater,
    MeasureKind,
    PluginVersion,
    Rating,
    Scope,
    failed,
    fits_kind,
)
from tabwb.records.states import RatingStatus, ResponseStatus
from tabwb.records.trials import Attempt, PlannedTrial, Trial

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session

EXACT = "exact"
"""The measure that decides where a scorer declared no other one."""
_NamedScorer = tuple[Scorer, str]
"""A scorer and the id with which it signs its ratings."""


class Raters:
    """The scorers of a battery and the judges of conditions, made when first needed."""

    def __init__(
        self, plugins: Plugins, battery: Battery, judges: Sequence[str], *, dialect: str = ""
    ) -> None:
        self._dialect = dialect
        self._plugins = plugins
        self._battery = battery
        self._judge_specs = tuple(judges)
        self._judges: tuple[Judge, ...] | None = None
        self._declarations: dict[str, Declaration] = {}
        self._connected = frozenset(
            subtest.id for subtest in battery.subtests if subtest.task.connected
        )
        self._scorers: dict[str, _NamedScorer | TabwbError] = {}
        self._before: tuple[PlannedTrial | None, list[int]] = None, []
        self._later: tuple[str, ...] | None = None

    def judges(self) -> tuple[Judge, ...]:
        """Return the judges that rate at once, made at the first call; see :attr:`later`."""
        if self._judges is None:
            at_once = [spec for spec in self._judge_specs if spec not in self.later]
            self._judges = tuple(map(self._plugins.judge, at_once))
            self._declarations |= {
                judge.rater: declaration_of(judge, plugin=self._plugins.version_of("judges", spec))
                for spec, judge in zip(at_once, self._judges, strict=True)
            }
        return self._judges

    @property
    def later(self) -> tuple[str, ...]:
        """The judges that use a model: they judge when the answers are stored."""
        if self._later is None:
            self._later = tuple(
                spec
                for spec in self._judge_specs
                if self._plugins.resolve("judges", spec)[0].wraps is not None
            )
        return self._later

    @property
    def missing(self) -> tuple[str, ...]:
        """The scorers that were asked for and cannot be made."""
        given = self._scorers.items()
        return tuple(spec for spec, named in given if isinstance(named, TabwbError))

    def rate(
        self, plan: PlannedTrial, attempt: Attempt, trials: Sequence[Trial]
    ) -> tuple[Rating, ...]:
        """All ratings of one attempt."""
        subtest = self._battery.subtest(plan.subtest)
        response = self.response(plan, attempt, trials)
        ratings: list[Rating] = []
        for scorer_id in subtest.scorers:
            ratings += self._score(scorer_id, subtest, subtest.item(plan.item), response)
        if subtest.task.judged == "always" and self._battery.features:
            for judge in self.judges():
                ratings += self._judge(judge, response)
        return tuple(ratings)

    def declarations(self, ratings: Iterable[Rating]) -> tuple[Declaration, ...]:
        """What those scorers and judges declare that gave any of these ratings."""
        self.judges()
        raters = {rating.rater for rating in ratings}
        return tuple(
            declaration for rater, declaration in self._declarations.items() if rater in raters
        )

    def response(self, plan: PlannedTrial, attempt: Attempt, trials: Sequence[Trial]) -> Response:
        """Return what raters are told of one answer."""
        subtest = self._battery.subtest(plan.subtest)
        item = subtest.item(plan.item)
        return Response(
            text=attempt.response,
            status=attempt.status or ResponseStatus.OK,
            prompt=item.prompt,
            sent=plan.prompt,
            kind=subtest.task.text_kind,
            options=plan.options,
            expected=item.expected,
            foils=item.foils,
            spoken=item.metadata.get("spoken") is True,
            previous=self._previous(plan, trials),
            messages=attempt.messages,
            dialect=self._dialect,
            reference=item.reference,
            metadata=item.metadata,
            language=self._battery.language,
        )

    def _previous(self, plan: PlannedTrial, trials: Sequence[Trial]) -> tuple[str, ...]:
        # Of the same replicate only: greedy replicates repeat each other by construction, and a
        # formula that returns for that reason is not a stereotypy.
        reached, known = self._before
        places: list[int] = []
        # Only back to the trial of the last call: the whole way would slow down long runs.
        for at in range(plan.number - 2, -1, -1):
            before = trials[at].plan
            if before.replicate != plan.replicate:
                break
            if before.subtest in self._connected:
                places.append(at)
            if before is reached:
                places += known
                break
        self._before = plan, places
        counting = (trials[at].counting for at in reversed(places))
        return tuple(one.response for one in counting if one is not None)

    def _score(
        self, scorer_id: str, subtest: Subtest, item: Item, response: Response
    ) -> Sequence[Rating]:
        named = self._scorers.get(scorer_id)
        if named is None:
            named = self._scorers[scorer_id] = self._make_scorer(scorer_id)
        if isinstance(named, TabwbError):
            return [failed(scorer_id, EXACT, named.message)]
        scorer, own = named

        def score() -> Sequence[Rating]:
            given = not_async(scorer.score(subtest, item, response))
            if own == scorer_id:
                return given
            # A scorer with options signs with its id; its ratings are under its whole spec.
            return [_renamed(rating, own, scorer_id) for rating in given]

        kinds = self._declarations[scorer_id].measures
        return _guarded(scorer_id, kinds, score, kinds)

    def _make_scorer(self, spec: str) -> _NamedScorer | TabwbError:
        try:
            scorer = self._plugins.scorer(spec)
            self._declarations[spec] = Declaration(
                spec,
                (),
                kind="scorer",
                measures={storable(name): kind for name, kind in kinds_of(scorer).items()},
                plugin=self._plugins.version_of("scorers", spec),
            )
            return scorer, self._plugins.resolve("scorers", spec)[0].id
        except TabwbError as error:
            return error

    def _judge(self, judge: Judge, response: Response) -> Sequence[Rating]:
        features = self._battery.features

        def judged() -> Sequence[Rating]:
            given = tuple(not_async(judge.judge(response, features)))
            if not given:
                raise ValueError("the judge gave no rating")
            return given

        ids = [feature.id for feature in features]
        return _guarded(judge.rater, ids, judged, features=ids)


def _renamed(rating: Rating, own: str, rater: str) -> Rating:
    mine = isinstance(rating, Rating) and rating.rater == own
    return replace(rating, rater=rater) if mine else rating


def declaration_of(
    judge: Judge, judged: Scope = "connected-text", plugin: PluginVersion | None = None
) -> Declaration:
    """What a judge says of itself, to be kept with its first ratings."""
    return Declaration(
        rater=judge.rater,
        features=tuple(storable(str(feature)) for feature in judge.features),
        scope=judge.scope or judged,
        caution=storable(judge.caution),
        prompt_text=judge.prompt_text,
        plugin=plugin,
    )


def _guarded(
    rater: str,
    measures: Iterable[str],
    rate: Callable[[], Sequence[Rating]],
    kinds: Mapping[str, MeasureKind] | None = None,
    features: Collection[str] = (),
) -> Sequence[Rating]:
    try:
        with plugin_code:
            return checked(rater, rate(), kinds, features)
    except Exception as error:  # noqa: BLE001 - a plugin's failure is a rating in error
        named = error_text(error, typed=not isinstance(error, PluginExit))
        reason = storable(named)
        return [failed(rater, measure, reason) for measure in measures]


def checked(
    rater: str,
    ratings: Iterable[Rating],
    kinds: Mapping[str, MeasureKind] | None = None,
    features: Collection[str] = (),
) -> Sequence[Rating]:
    """Return ratings as they can be stored; a value that its measure cannot have is an error."""
    checked: dict[str, Rating] = {}
    for rating in not_async(ratings):
        if not isinstance(rating, Rating):
            raise TypeError(f"a rater gives ratings, not {type(rating).__name__}")
        if rating.rater != rater:
            raise ValueError(f"'{rater}' gave a rating in the name of '{rating.rater}'")
        if rating.measure in checked:
            raise ValueError(f"'{rater}' gave '{rating.measure}' twice")
        if kinds is not None and rating.measure not in kinds:
            allowed = ", ".join(kinds)
            raise ValueError(f"'{rater}' gave '{rating.measure}', but declares only: {allowed}")
        kind = (
            kinds[rating.measure]
            if kinds is not None
            else ("verdict" if rating.measure in features else "number")
        )
        if rating.value is not None and not fits_kind(rating.value, kind):
            said = f"{rating.value:g} is not a valid {kind}; '{rating.measure}' is declared as one"
            checked[rating.measure] = failed(rater, rating.measure, said)
            continue
        # A number of another type (numpy, Decimal) is stored by no database, or as bytes.
        value = None if rating.value is None else float(rating.value)
        checked[rating.measure] = replace(rating, value=value, reason=storable(rating.reason))
    return tuple(checked.values())


def failed_raters(
    trials: Iterable[Trial], except_for: Collection[str] = ()
) -> tuple[FailedRater, ...]:
    """Return the raters with ratings in error, in the order in which they come."""
    given: dict[str, int] = {}
    failures: dict[str, list[str]] = {}
    for trial in trials:
        seen: dict[str, str | None] = {}
        for rating in trial.ratings:
            if rating.status is RatingStatus.ERROR:
                seen[rating.rater] = seen.get(rating.rater) or rating.reason
            elif rating.rater not in seen:
                seen[rating.rater] = None
        for rater, reason in seen.items():
            given[rater] = given.get(rater, 0) + 1
            if reason is not None and rater not in except_for:
                failures.setdefault(rater, []).append(reason)
    return tuple(
        FailedRater(rater, len(reasons), given[rater], reasons[0])
        for rater, reasons in failures.items()
    )


def check_failed(session: Session) -> None:
    """Report every scorer and judge that failed, once; those that ask a model report themselves."""
    if failed := failed_raters(session.trials, session.raters.later):
        raise TabwbError(
            "\n".join(map(str, failed)),
            hint="every response is stored; after the cause is removed: "
            f"tabwb trial rescore {session.administration.id}",
        )
