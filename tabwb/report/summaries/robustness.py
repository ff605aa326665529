"""The judges of the same responses: each alone, every two compared, the majority, repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabwb.agreement.compare import FEWEST_SHARED
from tabwb.agreement.consensus import majority
from tabwb.agreement.pairs import (
    Counts,
    cohen_kappa,
    gwet_ac1,
    mean_of_defined,
    percent_agreement,
    samples,
    specific_agreement,
    tables_of,
)
from tabwb.agreement.verdicts import MISSING, Floats, verdicts_of
from tabwb.records.counting import is_derived
from tabwb.records.ratings import Judged
from tabwb.report.plain import Json, picked, plain
from tabwb.report.summaries.columns.judged import summarise_judges
from tabwb.report.summaries.columns.prepared import Bools
from tabwb.report.summaries.columns.table import Table, table_of
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.judges import JudgeSummary, causes_of, judge_labels
from tabwb.report.summaries.load import AdministrationData, sources_of
from tabwb.scoring.estimate import Estimate, item_mean

LIKE = "prompts like these"
NO_MAJORITY = "no response has a majority on every feature"


@dataclass(frozen=True, slots=True)
class FeatureAgreement:
    """Two judges, one feature: responses with a verdict of both, and coefficients or None.

    Attributes:
        table: responses by the first judge's verdict (rows: absent, present) and the second's.
    """

    feature: str
    samples: int
    percent: float | None
    kappa: float | None
    ac1: float | None
    positive: float | None
    table: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges over the features that both can find absent and present.

    Attributes:
        percent, kappa, ac1: unweighted means over the features where they are defined and the
            judges share ten responses or more, as in agreement; each with the number of those
            features.
    """

    first: str
    second: str
    features: tuple[FeatureAgreement, ...]
    percent: tuple[float | None, int]
    kappa: tuple[float | None, int]
    ac1: tuple[float | None, int]


@dataclass(frozen=True, slots=True)
class FeatureConsensus:
    """What most judges say of one feature; ``ties``: as many say present as absent.

    ``rate``: share of the responses with a majority that have it, the mean of the items' shares.
    """

    feature: str
    present: int
    absent: int
    ties: int
    rate: Estimate


@dataclass(frozen=True, slots=True)
class Consensus:
    """What most judges say.

    Attributes:
        judges: how many have a verdict on any response; the others have no say.
        features: those that all of these have in their sets.
        n_responses: responses on which at least two judges have verdicts on every feature and none
            of these is a tie.
        n_tied: responses left out of the burden because of a tie alone. What is hard to judge is
            left out, so that the burden is of a biased part of the responses.
        ties: verdicts without a majority; their responses have no consensus burden.
        burden: mean number of features that most judges call present, over ``n_responses``; the
            mean of the item means, as ``ties_present`` and ``ties_absent``.
        ties_present, ties_absent: the burden over ``n_responses + n_tied``, with every tie taken as
            present, and as absent.
        present: feature to number of responses, of ``n_responses``.
    """

    judges: int
    features: tuple[str, ...]
    by_feature: tuple[FeatureConsensus, ...]
    n_responses: int
    n_tied: int
    ties: int
    burden: Estimate
    ties_present: Estimate
    ties_absent: Estimate
    present: dict[str, int]


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """What judges say of responses that were given under like conditions.

    Attributes:
        name: of the examinee, with the conditions that tell it from others of its name; empty
            where there is one group.
        judges: a rater that judged under several terms (sets, scopes, prompts) is as many judges.
        labels: a name for each of them.
        consensus: None with fewer than two judges that gave a verdict.
    """

    name: str
    judges: tuple[JudgeSummary, ...]
    labels: tuple[str, ...]
    consensus: Consensus | None


@dataclass(frozen=True, slots=True)
class Robustness:
    """How much of a result is the judge's.

    Attributes:
        groups: burdens and consensus, never pooled over unlike examinees or conditions.
        pairs: every two judges with a feature and a response in common, over all groups.
        left_out: every other two judges, with the reason.
    """

    groups: tuple[JudgedGroup, ...]
    pairs: tuple[PairAgreement, ...]
    left_out: tuple[tuple[str, str, str], ...]

    @property
    def rows(self) -> tuple[tuple[JudgedGroup, str, JudgeSummary], ...]:
        """Every judge of every group with its label."""
        return tuple(
            (group, label, judge)
            for group in self.groups
            for label, judge in zip(group.labels, group.judges, strict=True)
        )

    def to_json(self) -> Json:
        """Return plain data; what is undefined is None."""
        return {
            "estimand": LIKE,
            "judges": [
                {
                    "group": group.name or None,
                    "label": label,
                    **picked(judge, "rater", "scope", "prompt_hash", "declared"),
                    **judge.burden.usable.to_json(),
                    **picked(
                        judge.burden,
                        *("features", "n_responses", "n_distinct", "no_burden"),
                        *("symptom_burden", "interval", "present"),
                    ),
                    "n_not_judged": judge.not_judged,
                }
                for group, label, judge in self.rows
            ],
            "left_out": [
                {"first": first, "second": second, "reason": why}
                for first, second, why in self.left_out
            ],
            "pairs": [
                {
                    **picked(pair, "first", "second"),
                    **{
                        name: dict(zip(("mean", "features"), getattr(pair, name), strict=True))
                        for name in ("percent", "kappa", "ac1")
                    },
                    "by_feature": plain(pair.features),
                }
                for pair in self.pairs
            ],
            "consensus": [
                {"group": group.name or None, **_plain(group.consensus)}
                for group in self.groups
                if group.consensus is not None
            ],
        }


def _plain(consensus: Consensus) -> Json:
    return {
        **picked(consensus, "judges", "features", "n_responses", "n_tied", "ties", "present"),
        "sensitivity": {
            **picked(consensus, "ties_present", "ties_absent"),
            "n_responses": consensus.n_responses + consensus.n_tied,
        },
        "by_feature": [
            {**plain(feature), "rate": feature.rate.value} for feature in consensus.by_feature
        ],
        "symptom_burden": consensus.burden.value,
        "status": "value" if consensus.burden.defined else "undefined",
    }


def judges_of(chosen: Sequence[AdministrationData]) -> Robustness:
    """Compare the judges of some administrations, see :func:`robustness`."""
    groups = grouped(chosen, "model")
    return robustness([(group.name, sources_of(group.members)) for group in groups])


def robustness(groups: Sequence[tuple[str, Sequence[Source]]]) -> Robustness:
    """Compare every judge of some administrations with every other one.

    A scorer's verdicts are left out; so is a judge's feature that its fixed set does not hold,
    because such a feature can never be found absent. A rule such as the majority of people has a
    burden, but no pairs and no say: it repeats the verdicts of raters that are compared themselves.
    """
    table = table_of([source for _, sources in groups for source in sources])
    judges = summarise_judges(table)
    labelled = zip(judge_labels(judges), judges, strict=True)
    raters = [one for one in labelled if not is_derived(one[1].rater)]
    pairs: list[PairAgreement] = []
    left_out: list[tuple[str, str, str]] = []
    for first, second in combinations(raters, 2):
        agreement = _pair(table, first, second)
        if isinstance(agreement, str):
            left_out.append((first[0], second[0], agreement))
        else:
            pairs.append(agreement)
    found = (_group(name if len(groups) > 1 else "", given) for name, given in groups)
    return Robustness(tuple(found), tuple(pairs), tuple(left_out))


def _group(name: str, sources: Sequence[Source]) -> JudgedGroup:
    table = table_of(sources)
    judges = summarise_judges(table, interval=True)
    raters = [judge for judge in judges if not is_derived(judge.rater)]
    speaking = [judge for judge in raters if _gave_verdicts(table, judge)]
    consensus = _consensus(table, speaking) if len(speaking) > 1 else None
    return JudgedGroup(name, judges, judge_labels(judges), consensus)


def verdicts(table: Table, judge: JudgeSummary, features: Sequence[str]) -> Floats:
    """Return a judge's verdicts: float64 of shape (responses, features), NaN where it has none.

    Only usable responses in the judge's scope, judged under its terms, have any.
    """
    rows = judge.rows.rows
    values = np.full((len(table), len(features)), np.nan)
    counts = table.representative[rows]
    own = table.usable[counts]
    for at, feature in enumerate(features):
        values[counts[own], at] = table.measure(judge.rater, feature, rows[own]).values
    return values[table.counts]


def _gave_verdicts(table: Table, judge: JudgeSummary) -> bool:
    return not np.isnan(verdicts(table, judge, judge.burden.features)).all()


_Labelled = tuple[str, JudgeSummary]


def _pair(table: Table, first: _Labelled, second: _Labelled) -> PairAgreement | str:
    (label, judge), (other_label, other) = first, second
    theirs = set(other.burden.features)
    features = tuple(feature for feature in judge.burden.features if feature in theirs)
    if not features:
        return "no feature in common"
    tables = tables_of(verdicts(table, judge, features), verdicts(table, other, features))
    counts = samples(tables)
    if not counts.any():
        return _uncompared(table, first, second)
    percent, kappa, ac1 = percent_agreement(tables), cohen_kappa(tables), gwet_ac1(tables)
    columns = zip(features, counts, percent, kappa, ac1, specific_agreement(tables, 1), strict=True)
    by_feature = tuple(
        _agreement(feature, int(n), [_or_none(value) for value in values], table)
        for (feature, n, *values), table in zip(columns, tables, strict=True)
    )
    enough = counts >= FEWEST_SHARED
    means = (mean_of_defined(np.where(enough, values, np.nan)) for values in (percent, kappa, ac1))
    return PairAgreement(label, other_label, by_feature, *means)


def _agreement(
    feature: str, n: int, values: Sequence[float | None], table: Counts
) -> FeatureAgreement:
    percent, kappa, ac1, positive = values
    cells = tuple(tuple(int(count) for count in row) for row in table)
    return FeatureAgreement(feature, n, percent, kappa, ac1, positive, cells)


def _uncompared(table: Table, *judges: _Labelled) -> str:
    first, second = (table.representative[judge.rows.rows] for _, judge in judges)
    both = len(np.intersect1d(first, second))
    if not both:
        return "no response in common"
    silent = [
        f"{label} gave no verdict ({causes_of(judge)})"
        for label, judge in judges
        if not _gave_verdicts(table, judge)
    ]
    reason = ", ".join(silent) or "none has a verdict of both on a feature that both judge"
    return f"both were given {both} of the same responses, {reason}"


def _consensus(table: Table, judges: Sequence[JudgeSummary]) -> Consensus:
    shared = set.intersection(*(set(judge.burden.features) for judge in judges))
    features = tuple(name for name in judges[0].burden.features if name in shared)
    stack = np.stack([verdicts(table, judge, features) for judge in judges])
    said, tied = majority(verdicts_of(stack))
    most = np.where(said == MISSING, np.nan, said)
    whole = np.asarray(~np.isnan(most).any(axis=1) & bool(features))
    # Responses with verdicts on every feature, ties or not.
    judged = np.asarray((~np.isnan(most) | tied).all(axis=1) & bool(features))
    n, with_ties = int(whole.sum()), int(judged.sum())
    ties_present, ties_absent = (
        _item_mean(table, judged, np.where(tied, value, most).sum(axis=1)) for value in (1.0, 0.0)
    )
    counts = ((most == 1).sum(axis=0), (most == 0).sum(axis=0), tied.sum(axis=0))
    rates = [_item_mean(table, ~np.isnan(column), column) for column in most.T]
    columns = zip(features, *(sums.tolist() for sums in counts), rates, strict=True)
    return Consensus(
        judges=len(judges),
        features=features,
        by_feature=tuple(FeatureConsensus(name, *sums) for name, *sums in columns),
        n_responses=n,
        n_tied=with_ties - n,
        ties=int(tied.sum()),
        burden=_item_mean(table, whole, most.sum(axis=1)),
        ties_present=ties_present,
        ties_absent=ties_absent,
        present={name: int(most[whole, at].sum()) for at, name in enumerate(features)},
    )


def _item_mean(table: Table, chosen: Bools, values: Floats) -> Estimate:
    """Return the mean of the item means over chosen ones of the rows that count."""
    places = table.place[table.counts][chosen]
    sums, sizes = np.bincount(places, values[chosen]), np.bincount(places)
    return item_mean(sums.tolist(), sizes.tolist(), NO_MAJORITY)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One judge, one feature, asked several times.

    Attributes:
        pairs: pairs of verdicts on one response that could be compared.
        percent: share of those pairs with the same verdict, in [0, 1]; None without pairs.
        kappa: Cohen's kappa over those pairs; None where no verdict varies.
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
            values = [given.get(name) for name in features]
            row = [float("nan") if value is None else value for value in values]
            # Of several judgements of one number the last one counts.
            verdicts.setdefault(judgement.repeat, {})[judgement.key] = row
    tables: Counts = np.zeros((len(features), 2, 2), dtype=np.int64)
    for one, other in combinations(sorted(verdicts), 2):
        shared = sorted(verdicts[one].keys() & verdicts[other].keys())
        if shared:
            first, second = (_rows(verdicts[n], shared) for n in (one, other))
            tables += tables_of(first, second) + tables_of(second, first)
    percent, kappa = percent_agreement(tables), cohen_kappa(tables)
    return tuple(
        SelfAgreement(name, int(pairs) // 2, _or_none(percent[at]), _or_none(kappa[at]))
        for at, (name, pairs) in enumerate(zip(features, samples(tables), strict=True))
    )


def _rows(verdicts: dict[str, list[float]], keys: list[str]) -> Floats:
    return np.array([verdicts[key] for key in keys], dtype=np.float64)
