"""Planning a rating set of stored responses: what the command line and the Python interface do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tabwb.administer.rating.calibration import (
    Consensus,
    consensus_of_set,
    read_consensus,
    text_of,
)
from tabwb.administer.rating.expected import measured_seconds
from tabwb.administer.rating.plan import AGAIN, DISTANCE, Design
from tabwb.administer.rating.planning import Planned, Request, planned
from tabwb.analysis.candidates import USABLE, Candidates, Wanted, candidates
from tabwb.analysis.names import judge_called
from tabwb.analysis.selection import Selection
from tabwb.battery.forms import Form
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import (
    Presentation,
    SetPlan,
    checked_counts,
    checked_rater,
    checked_set_name,
)
from tabwb.records.ratings import PROBABILITY
from tabwb.records.states import RatingStatus
from tabwb.records.words import separated
from tabwb.store.store import Store
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

if TYPE_CHECKING:
    from tabwb.administer.rating.hybrid import Judged, Queue, Rules
    from tabwb.plugin_api.registry.plugins import Plugins

_FAILED = frozenset((RatingStatus.UNPARSED, RatingStatus.ERROR))


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """A planned set with where its samples come from.

    Attributes:
        planned: the plan.
        candidates: the responses from which it was drawn.
        queue: of a hybrid plan, how many responses a person rates.
    """

    planned: Planned
    candidates: Candidates
    queue: Queue | None = None

    @property
    def plan(self) -> SetPlan:
        """From which the set is made."""
        return self.planned.plan


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What people say of a set that is to be planned, on the command line or in Python.

    Attributes:
        raters: codes.
        where, subtests, items: which responses; see :class:`~tabwb.analysis.selection.Selection`.
        statuses: of responses; empty: the usable ones.
        repeated: keep equal texts that one examinee gave to one item.
        stratify: keys.
        samples, per_stratum: how many are drawn.
        overlap, raters_per_sample, per_rater, again, distance, seed: see
            :class:`~tabwb.administer.rating.plan.Design`.
        calibration: file of :func:`~tabwb.administer.rating.calibration.read_consensus`.
        calibration_set: an earlier set, of which the samples with a known consensus are taken.
        guidelines: file with a text.
        context: number of responses before and after.
        case, punctuation, max_words, cut_mark: see
            :class:`~tabwb.records.rating_sets.Presentation`.
        ask_source: ask last whether a person or a machine produced the sample.
        counts: whose ratings count.
        hybrid: a judge; then only what a person rates first is planned.
        frequent, margin, audit: see :class:`~tabwb.administer.rating.hybrid.Rules`.
    """

    raters: tuple[str, ...]
    where: Any = ()
    subtests: str | Iterable[str] = ()
    items: str | Iterable[str] = ()
    statuses: str | Iterable[str] = ()
    repeated: bool = False
    stratify: str | Iterable[str] = ()
    samples: int | None = None
    per_stratum: int | None = None
    overlap: int | None = None
    raters_per_sample: int | None = None
    per_rater: int | None = None
    again: float = AGAIN
    distance: int = DISTANCE
    calibration: str | os.PathLike[str] | None = None
    calibration_set: str = ""
    guidelines: str | os.PathLike[str] | None = None
    context: int = 0
    case: Literal["as-said", "lower"] = "as-said"
    punctuation: Literal["kept", "none"] = "kept"
    max_words: int | None = None
    cut_mark: bool = True
    ask_source: bool = False
    counts: str = "majority"
    seed: int = 0
    hybrid: str = ""
    frequent: float = 0.2
    margin: float = 0.2
    audit: float = 0.1


def plan_with(
    store: Store,
    plugins: Plugins,
    name: str,
    form: Form,
    options: PlanOptions,
    references: Sequence[int | str] = (),
) -> PlannedSet:
    """Return the plan of a rating set that people describe; nothing is stored."""
    from tabwb.administer.rating.hybrid import Rules

    given = options
    design = Design(
        given.raters,
        given.overlap,
        given.raters_per_sample,
        given.per_rater,
        given.again,
        given.distance,
        given.seed,
    )
    request = Request(
        checked_set_name(name),
        form,
        design,
        Presentation(given.case, given.punctuation, given.cut_mark, given.max_words),
        given.samples,
        given.per_stratum,
        _consensus(store, form, given),
        "" if given.guidelines is None else text_of(Path(given.guidelines), "the guidelines"),
        given.ask_source,
        given.counts,
    )
    wanted = Wanted(
        form,
        separated(given.stratify),
        separated(given.statuses) or USABLE,
        given.repeated,
        given.context,
    )
    selection = Selection.of(where=given.where, subtests=given.subtests, items=given.items)
    rules = Rules(given.frequent, given.margin, given.audit)
    hybrid = (given.hybrid, rules) if given.hybrid else None
    return plan_set(store, plugins, request, references, selection, wanted, hybrid=hybrid)


def _consensus(store: Store, form: Form, options: PlanOptions) -> Consensus:
    known: Consensus = {}
    if options.calibration_set:
        known = consensus_of_set(store, options.calibration_set, form)
    if options.calibration is not None:
        known = {**known, **read_consensus(Path(options.calibration), form)}
    return known


def plan_set(
    store: Store,
    plugins: Plugins,
    request: Request,
    references: Sequence[int | str] = (),
    selection: Selection | None = None,
    wanted: Wanted | None = None,
    *,
    hybrid: tuple[str, Rules] | None = None,
) -> PlannedSet:
    """Return the plan of a rating set; nothing is stored."""
    for rater in request.design.raters:
        checked_rater(rater)
    checked_counts(request.counts, request.design.raters)
    selection = selection or Selection()
    found = candidates(store, plugins, references, selection, wanted or Wanted(request.form))
    measured = _measured(store, request.form)
    if hybrid is None:
        return PlannedSet(planned(found.found, request, measured=measured), found)
    if request.total is not None or request.per_stratum is not None:
        raise UsageError(
            "--hybrid decides what is drawn; --samples and --per-stratum cannot be combined with it"
        )
    from tabwb.administer.rating.hybrid import hybrid_queue

    name, rules = hybrid
    kept = [one for one in range(len(found.found)) if found.found[one].key not in request.consensus]
    judged, places = _judged(found, kept, name)
    draws, queue = hybrid_queue(
        [found.found[place] for place in places], judged, rules, request.design.seed
    )
    made = planned(found.found, request, draws=draws, measured=measured)
    return PlannedSet(made, found, queue)


def _measured(store: Store, form: Form) -> float | None:
    same = [one for one in store.sets.all() if one.form == form.canonical]
    return measured_seconds(rating for one in same for rating in store.sets.ratings(one.id))


def _judged(found: Candidates, kept: Sequence[int], name: str) -> tuple[Judged, list[int]]:
    """Return what a judge said of the candidates that it rated, and their places."""
    import numpy as np

    from tabwb.administer.rating.hybrid import Judged

    assert found.columns is not None
    judge = judge_called(name, found.columns.ratings)
    given = found.columns.ratings[judge]
    features = tuple(name for name in given.measures if f"{name}{PROBABILITY}" in given.measures)
    features = features or tuple(one for one in given.measures if not one.endswith(PROBABILITY))
    rows = np.array([found.rows[place] for place in kept], np.int64)
    verdicts = np.full((len(rows), len(features)), np.nan)
    probabilities, failed = verdicts.copy(), np.zeros(len(rows), bool)
    for column, feature in enumerate(features):
        for measure, into in ((feature, verdicts), (f"{feature}{PROBABILITY}", probabilities)):
            if (ratings := given.measures.get(measure)) is None:
                continue
            at = np.searchsorted(ratings.rows, rows)
            at[at == len(ratings.rows)] = 0
            here = ratings.rows[at] == rows
            into[here, column] = ratings.values[at[here]]
            codes = [at for at, status in enumerate(RATING_STATUSES) if status in _FAILED]
            failed[here] |= np.isin(ratings.statuses[at[here]], codes)
    rated = np.isin(rows, given.rows)
    if not rated.any():
        raise UsageError(
            f"judge '{name}' has rated none of the responses that can be rated",
            where="--judge",
            hint=f"tabwb judge run --all --judge {name}",
        )
    places = [kept[at] for at in np.flatnonzero(rated).tolist()]
    of = (verdicts[rated], probabilities[rated], failed[rated])
    return Judged(judge, features, *of), places


def plan_document(made: PlannedSet, uid: str | None = None) -> dict[str, Any]:
    """Return a plan as plain data."""
    plan, expected = made.plan, made.planned
    return {
        "format": 1,
        "set": plan.name,
        "uid": uid,
        "form": plan.form_id,
        "seed": plan.seed,
        "counts": plan.counts,
        "responses": len(made.candidates.found),
        "left_out": dict(made.candidates.left_out),
        "subtests": list(made.candidates.scope) or None,
        "samples": sum(taken for _, taken in expected.strata.values()),
        "rated_by_several": expected.several,
        "strata": [
            {"stratum": name, "responses": size, "samples": taken, "weight": size / taken}
            for name, (size, taken) in expected.strata.items()
        ],
        "raters": [
            {
                "rater": one.rater,
                "samples": one.samples,
                "again": one.again,
                "calibration": one.calibration,
                "minutes": round(one.seconds / 60, 1),
            }
            for one in expected.work
        ],
        "seconds_per_sample": None if expected.measured is None else round(expected.measured, 1),
        "pairs": [
            {"raters": list(pair), "samples": number} for pair, number in expected.pairs.items()
        ],
        "expected_intervals": [
            {
                "pairs": one.pairs,
                "samples": one.n,
                "prevalence": one.prevalence,
                "kappa": one.kappa,
                "width_of_kappa": one.of_kappa,
                "width_of_ac1": one.of_ac1,
            }
            for one in (expected.widths() if uid is None else ())
        ],
        "signs_of_source": [
            {
                "sign": one.name,
                "people": one.people,
                "of_people": one.of_people,
                "models": one.models,
                "of_models": one.of_models,
                "tells": one.tells,
            }
            for one in expected.signs
        ],
        "hybrid": None if made.queue is None else _queue(made.queue),
    }


def _queue(queue: Queue) -> dict[str, Any]:
    return {
        "judge": queue.judge,
        "responses": queue.responses,
        "to_person": queue.to_person,
        "uncertain": queue.uncertain,
        "with_frequent_feature": queue.with_frequent,
        "audited": queue.audited,
        "audited_of": queue.rest,
        "frequent_features": [
            {"measure": measure, "prevalence": share} for measure, share in queue.frequent
        ],
        "judge_tells_probabilities": queue.has_probabilities,
    }
