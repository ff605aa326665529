"""The judges of the same responses: each alone, every two compared, the majority, repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from math import fsum

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.intervals import FEW_POSITIVES, dirichlet_intervals, least_positives
from tabwb.agreement.pairs import (
    Counts,
    cohen_kappa,
    gwet_ac1,
    percent_agreement,
    samples,
    tables_of,
)
from tabwb.agreement.verdicts import (
    MISSING,
    PRESENT,
    Floats,
    Verdicts,
    consensus,
    majority,
    verdicts_of,
)
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.agreement import CELLS, TABLES, Task, add_comparison, made
from tabwb.analysis.frame import NOT_RATED
from tabwb.analysis.frame import Table as Responses
from tabwb.analysis.frame import table_of as responses_of
from tabwb.analysis.grouping import grouped
from tabwb.analysis.ratings import Measure
from tabwb.analysis.statistics.burden import Judge, judges_in
from tabwb.analysis.statistics.results import judge_labels
from tabwb.battery.model import Item
from tabwb.records.ratings import PROBABILITY, Judged, Rating, is_derived
from tabwb.scoring.burden import Burden
from tabwb.scoring.estimate import item_mean
from tabwb.store.columns import Bools
from tabwb.store.verdicts import STATUSES as RATING_STATUSES
from tabwb.tables.table import Row, Table, columns_of, defined, ended, table_of_dicts

NO_MAJORITY = "no response has a majority on every feature"
CONSENSUS = columns_of("""
    group text Group | examinee with its conditions; none where there is one group
    judges integer Judges | how many have a verdict on any response
    features texts Features | those that all of these have in their sets
    n_responses integer N | with verdicts of two judges or more on every feature, and no tie
    n_tied integer Tied | responses left out of the burden because of a tie alone
    ties integer Ties | verdicts without a majority
    burden number Burden | mean number of features that most judges call present
    ties_present number Present | the burden of all, with every tie as present
    ties_absent number Absent | the burden of all, with every tie as absent
    """)
CONSENSUS_FEATURES = columns_of("""
    group text Group | examinee with its conditions; none where there is one group
    feature text Feature | the feature's id
    title text Feature | its title
    present integer Present | responses that most judges call present
    absent integer Absent | responses that most judges call absent
    ties integer Ties | as many say present as absent
    rate number Rate | share of the responses with a majority that have it
    of_burden integer Of burden | present among the responses of the burden
    """)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """How much of a result is the judge's.

    Attributes:
        rows: every judge of every group with its label: burdens are never pooled over unlike
            examinees or conditions. A rater that judged under several terms is as many judges.
        tables: ``pairs`` and ``pair-features`` over all groups, as in agreement (a pair with 0
            responses has the reason), ``consensus`` and ``consensus-features`` by group.
    """

    rows: tuple[tuple[str, str, Judge], ...]
    tables: Mapping[str, Table]


def judges_of(chosen: Sequence[AdministrationData]) -> JudgeReport:
    """Compare the judges of some administrations, see :func:`judge_report`."""
    groups = grouped(chosen, "model")
    return judge_report([(group.name, group.members) for group in groups])


def judge_report(groups: Sequence[tuple[str, Sequence[AdministrationData]]]) -> JudgeReport:
    """Compare every judge of some administrations with every other one.

    A scorer's verdicts are left out; so is a judge's feature that its fixed set does not hold,
    because such a feature can never be found absent. A rule such as the majority of people has a
    burden, but no pairs and no say: it repeats the verdicts of raters that are compared themselves.
    """
    responses = responses_of([source for _, sources in groups for source in sources])
    pairs, by_feature = _compared(responses)
    rows: list[tuple[str, str, Judge]] = []
    of_groups: list[Row] = []
    of_features: list[Row] = []
    for name, sources in groups:
        group = name if len(groups) > 1 else ""
        own = responses_of(sources)
        summaries = judges_in(own, interval=True)
        rows += ((group, *one) for one in zip(judge_labels(summaries), summaries, strict=True))
        speaking = [one for one in _judges(own, summaries) if (one.verdicts != MISSING).any()]
        if len(speaking) > 1:
            whole, parts = _consensus(own, speaking)
            of_groups.append({"group": group or None} | whole)
            of_features += ({"group": group or None} | part for part in parts)
    tables = (
        made("pairs", pairs),
        made("pair-features", by_feature),
        table_of_dicts("consensus", CONSENSUS, of_groups),
        table_of_dicts("consensus-features", CONSENSUS_FEATURES, of_features),
    )
    return JudgeReport(tuple(rows), {table.name: table for table in tables})


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """A judge with its verdicts: int8 of shape (responses that count, features of the battery)."""

    label: str
    summary: Judge
    verdicts: Verdicts


def _judges(responses: Responses, summaries: Sequence[Judge] | None = None) -> list[_Judge]:
    """Return every judge but rules, with its verdicts.

    Only usable responses in the judge's scope, judged under its terms, have any.
    """
    given = judges_in(responses) if summaries is None else summaries
    found = []
    for label, judge in zip(judge_labels(given), given, strict=True):
        if is_derived(judge.rater):
            continue
        rows = judge.rows.rows
        features = [feature.id for feature in responses.battery.features]
        values = np.full((len(responses), len(features)), np.nan)
        counts = responses.representative[rows]
        own = responses.usable[counts]
        for feature in judge.burden.features:
            said = responses.measure(judge.rater, feature, rows[own])
            values[counts[own], features.index(feature)] = said.values
        found.append(_Judge(label, judge, verdicts_of(values[responses.counts])))
    return found


def _compared(responses: Responses) -> tuple[list[Row], list[Row]]:
    """Return the agreement of every two judges: over features, and by feature of both their sets.

    Two that share no verdict are a row with the reason.
    """
    judges = {judge.label: judge for judge in _judges(responses)}
    sets = {label: judge.summary.burden.features for label, judge in judges.items()}
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    if judges:
        verdicts = np.stack([judge.verdicts for judge in judges.values()])
        every = range(len(judges))
        task = Task("judges", tuple(judges), verdicts, tuple(every), consensus(verdicts))
        add_comparison(rows, task, _measures(responses), task.pairs, "main")
    found = {(row["first"], row["second"]): row for row in rows["pairs"] if row["n"]}
    pairs = []
    for first, second in combinations(judges, 2):
        why = "no feature in common"
        if set(sets[first]) & set(sets[second]):
            why = _uncompared(responses, (judges[first], judges[second]))
        apart = {"first": first, "second": second, "n": 0, "averaged": False, "reason": why}
        pairs.append(found.get((first, second), apart))
    shared = (
        row
        for row in rows["pair-features"]
        if row["feature"] in sets[row["first"]] and row["feature"] in sets[row["second"]]
    )
    return pairs, list(shared)


def _measures(responses: Responses) -> list[Measure]:
    return [Measure(feature.id, feature.title) for feature in responses.battery.features]


def _causes(burden: Burden) -> str:
    """Return why responses have no burden, and how many."""
    return ", ".join(f"{cause.replace('-', ' ')} {n}" for cause, n in burden.no_burden.items())


def _uncompared(responses: Responses, judges: Sequence[_Judge]) -> str:
    first, second = (responses.representative[one.summary.rows.rows] for one in judges)
    both = len(np.intersect1d(first, second))
    if not both:
        return "no response in common"
    silent = [
        f"{one.label} gave no verdict ({_causes(one.summary.burden)})"
        for one in judges
        if (one.verdicts == MISSING).all()
    ]
    reason = ", ".join(silent) or "none has a verdict of both on a feature that both judge"
    return f"both were given {both} of the same responses, {reason}"


def _consensus(responses: Responses, judges: Sequence[_Judge]) -> tuple[Row, list[Row]]:
    """Return what most judges say: of all features together, and of each.

    What is hard to judge is a tie, and left out, so that the burden is of a biased part of the
    responses. ``ties_present`` and ``ties_absent`` are the burden of all of them.
    """
    own = [judge.summary.burden.features for judge in judges]
    shared = [all(measure.id in one for one in own) for measure in _measures(responses)]
    measures = list(compress(_measures(responses), shared))
    said, tied = majority(np.stack([judge.verdicts[:, shared] for judge in judges]))
    most = np.where(said == MISSING, np.nan, said)
    decided = ~np.isnan(most)
    whole = np.asarray(decided.all(axis=1) & bool(measures))
    # Responses with verdicts on every feature, ties or not.
    judged = np.asarray((decided | tied).all(axis=1) & bool(measures))
    rows = [
        {
            "feature": measure.id,
            "title": measure.title,
            "present": int((most[:, at] == PRESENT).sum()),
            "absent": int((most[:, at] == 0).sum()),
            "ties": int(tied[:, at].sum()),
            "rate": _item_mean(responses, decided[:, at], most[:, at]),
            "of_burden": int(most[whole, at].sum()),
        }
        for at, measure in enumerate(measures)
    ]
    burdens = {"ties_present": 1.0, "ties_absent": 0.0}
    return {
        "judges": len(judges),
        "features": tuple(measure.id for measure in measures),
        "n_responses": int(whole.sum()),
        "n_tied": int(judged.sum()) - int(whole.sum()),
        "ties": int(tied.sum()),
        "burden": _item_mean(responses, whole, most.sum(axis=1)),
        **{
            name: _item_mean(responses, judged, np.where(tied, value, most).sum(axis=1))
            for name, value in burdens.items()
        },
    }, rows


def _item_mean(responses: Responses, chosen: Bools, values: Floats) -> float | None:
    """Return the mean of the item means over chosen ones of the rows that count."""
    places = responses.place[responses.counts][chosen]
    sums, sizes = np.bincount(places, values[chosen]), np.bincount(places)
    return item_mean(sums.tolist(), sizes.tolist(), NO_MAJORITY).value


def with_intervals(rows: Sequence[Row]) -> list[Row]:
    """Return rows of ``pair-features`` with intervals by Dirichlet resampling.

    ``few``: a judge calls so few responses present that a coefficient says little.
    """
    tables = np.array([[row[name] for name in CELLS] for row in rows], np.int64).reshape(-1, 2, 2)
    few = (least_positives(tables) <= FEW_POSITIVES).tolist()
    ends = [dirichlet_intervals(tables, of).tolist() for of in (cohen_kappa, gwet_ac1)]
    return [
        {**row, "few": few[at],
         **ended("kappa", row["kappa"], ends[0][at]), **ended("ac1", row["ac1"], ends[1][at])}
        for at, row in enumerate(rows)
    ]  # fmt: skip


# ------------------------------------------------------------------------------ repetitions


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One judge, one feature, asked several times: pairs of verdicts on one response.

    ``percent`` is the share with the same verdict, None without pairs; ``kappa`` Cohen's, None
    where no verdict varies.
    """

    feature: str
    pairs: int
    percent: float | None
    kappa: float | None


def self_agreement(
    judged: Sequence[Judged], rater: str, features: Sequence[str]
) -> tuple[SelfAgreement, ...]:
    """Return the agreement of a judge's repetitions with each other, feature by feature.

    Every two repetitions are compared on the calls that both have a verdict on; their tables are
    added up, in both orders. Answers of one text share a call and count once.
    """
    verdicts: dict[int, dict[str, list[float]]] = {}
    for judgement in (call.judgement for call in judged):
        if judgement.rater == rater:
            given = {rating.measure: rating.value for rating in judgement.ratings}
            values = (given.get(name) for name in features)
            row = [float("nan") if value is None else value for value in values]
            # Of several judgements of one number the last one counts.
            verdicts.setdefault(judgement.repeat, {})[judgement.key] = row
    tables: Counts = np.zeros((len(features), 2, 2), dtype=np.int64)
    for one, other in combinations(sorted(verdicts), 2):
        if shared := sorted(verdicts[one].keys() & verdicts[other].keys()):
            first, second = (np.array([verdicts[n][key] for key in shared]) for n in (one, other))
            tables += tables_of(first, second) + tables_of(second, first)
    percent, kappa = percent_agreement(tables), cohen_kappa(tables)
    return tuple(
        SelfAgreement(name, int(pairs) // 2, defined(percent[at]), defined(kappa[at]))
        for at, (name, pairs) in enumerate(zip(features, samples(tables), strict=True))
    )


# ------------------------------------------------------------------------------ disagreements


@dataclass(frozen=True, slots=True)
class JudgedFeature:
    """What one judge says of one feature in one response; None where it was not asked."""

    judge: str
    verdict: Rating | None
    probability: float | None

    @property
    def score(self) -> float | None:
        """The probability where there is one, else the verdict (0 or 1); None without a value."""
        value = None if self.verdict is None else self.verdict.value
        return self.probability if value is not None and self.probability is not None else value


@dataclass(frozen=True, slots=True)
class Disputed:
    """One response with what every judge says of the feature.

    ``split``: some judges call it present, others absent.
    """

    item: Item
    response: str
    examinee: str
    said: tuple[JudgedFeature, ...]
    distance: float
    split: bool


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The responses that two judges or more have values of, the most disputed first.

    ``judges`` have the feature in their sets; ``disputed`` are those on which they differ at all.
    """

    feature: str
    judges: tuple[str, ...]
    compared: int
    disputed: tuple[Disputed, ...]


def distance(scores: Sequence[float]) -> float | None:
    """Return how far judges are apart: the mean absolute difference over all pairs.

    For verdicts of 0 and 1 it is the share of pairs that disagree; None with fewer than two.

    >>> distance([1.0, 0.0, 0.0]), distance([0.75, 0.25]), distance([1.0])
    (0.6666666666666666, 0.5, None)
    """
    pairs = list(combinations(scores, 2))
    return fsum(abs(first - second) for first, second in pairs) / len(pairs) if pairs else None


def disagreements(sources: Sequence[AdministrationData], feature: str) -> Disagreements:
    """Return the responses of some administrations on which judges differ about a feature.

    Only judges that have the feature in their declared sets take part. Responses that split the
    verdicts come first; equal distances stay in the order of administration.
    """
    table = responses_of(sources)
    judges = [judge for judge in judges_in(table) if feature in judge.burden.features]
    labels = judge_labels(judges)
    n = len(judges), len(table)
    rows = np.full(n, -1)
    verdicts, scores = np.full(n, np.nan), np.full(n, np.nan)
    for at, judge in enumerate(judges):
        own = judge.rows.rows[table.usable[judge.rows.rows]]  # else undefined for every judge
        counts = table.representative[own]
        value = table.measure(judge.rater, feature, own).values
        probability = table.measure(judge.rater, feature + PROBABILITY, own).values
        rows[at, counts], verdicts[at, counts] = own, value
        scores[at, counts] = np.where(np.isnan(value + probability), value, probability)
    compared = (~np.isnan(scores)).sum(axis=0) >= 2
    split = compared & _differ(verdicts)

    def disputed() -> Iterator[tuple[int, Disputed]]:
        for place in np.flatnonzero(split | (compared & _differ(scores))).tolist():
            by = [at for at in range(len(judges)) if rows[at, place] >= 0]
            said = tuple(
                _said(table, labels[at], judges[at].rater, feature, int(rows[at, place]))
                for at in by
            )
            apart = distance([given.score for given in said if given.score is not None])
            assert apart is not None
            row = int(rows[by[0], place])
            yield (
                row,
                Disputed(
                    table.item(int(table.place[row])),
                    table.columns.responses[int(table.text[row])],
                    table.sources[int(table.source[row])].examinee,
                    said,
                    apart,
                    bool(split[place]),
                ),
            )

    def order(found: tuple[int, Disputed]) -> tuple[bool, float, int]:
        return not found[1].split, -round(found[1].distance, 9), found[0]

    listed = tuple(one for _, one in sorted(disputed(), key=order))
    return Disagreements(feature, labels, int(compared.sum()), listed)


def _differ(values: NDArray[np.float64]) -> Bools:
    """Return in which columns there are different values, missing ones aside."""
    highest = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=0, initial=np.inf)
    differ: Bools = highest > lowest
    return differ


def _said(table: Responses, label: str, rater: str, feature: str, row: int) -> JudgedFeature:
    given = table.measure(rater, feature)
    verdict = None
    if given.statuses[row] != NOT_RATED:
        status = RATING_STATUSES[int(given.statuses[row])]
        reason = table.columns.reasons.get(int(given.reasons[row]), "")
        verdict = Rating(rater, feature, defined(given.values[row]), status, reason)
    probability = table.measure(rater, feature + PROBABILITY).values[row]
    return JudgedFeature(label, verdict, defined(probability))
