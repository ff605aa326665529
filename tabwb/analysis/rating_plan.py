"""The plan of a rating set of stored responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tabwb.administer.rating.access import refuse_program
from tabwb.administer.rating.planning import (
    Consensus,
    Design,
    Planned,
    Request,
    consensus_of_set,
    measured_seconds,
    planned,
    read_consensus,
    text_of,
)
from tabwb.analysis.candidates import USABLE, Candidates, Wanted, candidates
from tabwb.analysis.names import judge_called
from tabwb.analysis.plain import renamed
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
from tabwb.store.store import Store
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

if TYPE_CHECKING:
    from tabwb.administer.rating.planning import Judged, Queue
    from tabwb.host.plugins import Plugins

_FAILED = frozenset((RatingStatus.UNPARSED, RatingStatus.ERROR))


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """A planned set, the responses from which it was drawn, and the queue of a hybrid plan."""

    planned: Planned
    candidates: Candidates
    queue: Queue | None = None

    @property
    def plan(self) -> SetPlan:
        """From which the set is made."""
        return self.planned.plan


def plan_with(store: Store, plugins: Plugins, form: Form, options: Mapping[str, Any]) -> PlannedSet:
    """Return the plan of a rating set with the values of its operation; nothing is stored."""
    from tabwb.administer.rating.planning import Rules, hybrid_queue

    def given(*names: str, **renamed: str) -> dict[str, Any]:
        pairs = {**dict(zip(names, names, strict=True)), **renamed}
        return {field: options[option] for field, option in pairs.items()}

    guidelines, raters = options["guidelines"], options["raters"]
    request = Request(
        checked_set_name(options["name"]),
        form,
        Design(
            raters,
            **given("overlap", "again", "distance", "seed", each="raters_per_sample"),
            **given(most="per_rater"),
        ),
        Presentation(
            **given("case", "punctuation", "max_words"), cut_mark=not options["no_cut_mark"]
        ),
        consensus=_consensus(store, form, options),
        guidelines="" if guidelines is None else text_of(guidelines, "the guidelines"),
        **given("per_stratum", "ask_source", "counts", total="samples"),
    )
    wanted = Wanted(
        form, options["stratify"], options["statuses"] or USABLE,
        **given("repeated", around="context"),
    )  # fmt: skip
    selection = Selection.of(**given("where", "subtests", "items"))
    for rater in raters:
        refuse_program(plugins, checked_rater(rater))
    checked_counts(request.counts, raters)
    found = candidates(store, plugins, options["ids"], selection, wanted)
    same = [one for one in store.sets.all() if one.form == form.canonical]
    measured = measured_seconds(rating for one in same for rating in store.sets.ratings(one.id))
    if not options["hybrid"]:
        return PlannedSet(planned(found.found, request, measured=measured), found)
    if request.total is not None or request.per_stratum is not None:
        raise UsageError(
            "a hybrid plan decides what is drawn: a number of samples, or of each stratum, cannot "
            "be combined with it"
        )
    kept = [one for one in range(len(found.found)) if found.found[one].key not in request.consensus]
    judged, places = _judged(found, kept, options["judge"])
    draws, queue = hybrid_queue(
        [found.found[place] for place in places],
        judged,
        Rules(**given("frequent", "margin", "audit")),
        request.design.seed,
    )
    made = planned(found.found, request, draws=draws, measured=measured)
    return PlannedSet(made, found, queue)


def _consensus(store: Store, form: Form, options: Mapping[str, Any]) -> Consensus:
    known: Consensus = {}
    if earlier := options["calibration_set"]:
        known = consensus_of_set(store, earlier, form)
    if (file := options["calibration"]) is not None:
        known = {**known, **read_consensus(file, form)}
    return known


def _judged(found: Candidates, kept: Sequence[int], name: str) -> tuple[Judged, list[int]]:
    """Return what a judge said of the candidates that it rated, and their places."""
    import numpy as np

    from tabwb.administer.rating.planning import Judged

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
            into[here, column], statuses, _ = ratings.at(at[here])
            codes = [at for at, status in enumerate(RATING_STATUSES) if status in _FAILED]
            failed[here] |= np.isin(statuses, codes)
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
    expected, queue = made.planned, made.queue
    return {
        "set": made.plan.kept.name,
        "uid": uid,
        **renamed(made.plan.kept, "form=form_id seed counts"),
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
            renamed(one, "rater samples again calibration")
            | {"minutes": round(one.seconds / 60, 1)}
            for one in expected.work
        ],
        "seconds_per_sample": None if expected.measured is None else round(expected.measured, 1),
        "pairs": [
            {"raters": list(pair), "samples": number} for pair, number in expected.pairs.items()
        ],
        "expected_intervals": [
            renamed(one, "pairs samples=n prevalence kappa width_of_kappa=of_kappa"
                    " width_of_ac1=of_ac1")
            for one in (expected.widths() if uid is None else ())
        ],
        "signs_of_source": [
            renamed(one, "sign=name people of_people models of_models tells")
            for one in expected.signs
        ],
        "hybrid": queue and {
            **renamed(queue, "judge responses to_person uncertain"
                      " with_frequent_feature=with_frequent audited audited_of=rest"),
            "frequent_features": [
                {"measure": measure, "prevalence": share} for measure, share in queue.frequent
            ],
            "judge_tells_probabilities": queue.has_probabilities,
        },
    }  # fmt: skip
