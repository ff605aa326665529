"""How far raters agree, computed once into typed tables: one for each kind of result.

Every medium (terminal, JSON, Python, figures) takes its numbers from these tables. A comparison is
told by its ``design``: the people with each other (``main``), a judge with each of them (``each``)
or with their consensus (``consensus``), a rater with the ``others`` or ``again``, listeners on
names (``names``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from statistics import fmean
from typing import Literal, get_args

import numpy as np

from tabwb.agreement.compare import (
    COEFFICIENTS,
    FEWEST_SHARED,
    OVER_FEATURES,
    Comparison,
    OverFeatures,
    compare,
    difference,
    weighted_mean,
)
from tabwb.agreement.error_rates import NOT_IDENTIFIED, RATES, Calibration, calibrate, error_rates
from tabwb.agreement.intervals import (
    DRAWS,
    FEWEST_UNITS,
    SEED,
    few_speakers,
)
from tabwb.agreement.many import (
    alpha_intervals,
    binary_alpha,
    binary_counts,
    fleiss_kappa,
)
from tabwb.agreement.pairs import (
    mean_of_defined,
    samples,
    tables_of,
)
from tabwb.agreement.verdicts import (
    ABSENT,
    CANNOT_TELL,
    PRESENT,
    Ties,
    Verdicts,
    cannot_tell_as,
    consensus,
    majority,
    rest_of,
)
from tabwb.analysis.answers import add_answers
from tabwb.analysis.ratings import Ints, Measure, Rated
from tabwb.records.errors import UsageError
from tabwb.scoring.participant_tests import mcnemar_of_counts
from tabwb.tables.table import Row, Table, columns_of, defined, ended, table_of_dicts

CannotTell = Literal["missing", "absent"]
MOST_DRAWN = 20_000_000
"""Samples times draws of one comparison; of more samples fewer draws are made."""
FEWEST_DRAWS = 200
LATENT_DRAWS = 200
"""Bootstrap replicates of error rates without a known truth, unless draws are asked for."""
WEIGHTED = "positive_count_weighted"
NO_PAIR = "no sample has verdicts of two raters"
TOO_FEW = f"fewer than {FEWEST_SHARED} samples in common"
CONSTANT = "no rater varies"
NO_FEATURE = "no feature has a value"
NEVER = {"positive_agreement": "nobody says present", "negative_agreement": "nobody says absent"}
_FAMILY = re.compile(r"(-\d+)?(\+[^:@ ]+)?([:@].*| \(prompt .*)?$")
"""What tells versions of one judge apart: number, variant of the prompt, model, prompt's hash."""
CELLS = ("both_absent", "second_present", "first_present", "both_present")
DESIGNS: Mapping[str, str] = {
    "main": "{who} with each other",
    "each": "{rater} with each of the {who}",
    "consensus": "{rater} with the consensus",
    "same": "{who} on the features of {rater}",
    "less": "{rater} with each of the {who}, less {who}",
    "others": "{rater} with the others",
    "again": "{rater} again",
    "names": "listeners on names",
}
"""Who is compared with whom."""


@dataclass(frozen=True, slots=True)
class Choices:
    """How agreement is computed.

    Attributes:
        ties: what a tie of the consensus becomes.
        cannot_tell: what "cannot tell" counts as.
        draws: of intervals; None: as many as :func:`draws_for` says.
    """

    ties: Ties = "drop"
    cannot_tell: CannotTell = "missing"
    draws: int | None = None
    seed: int = SEED


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """The agreement of raters.

    ``draws`` of the intervals are None where no feature was rated; ``tables`` are those of
    :data:`TABLES`, by name.
    """

    rated: Rated
    choices: Choices
    draws: int | None
    tables: Mapping[str, Table]

    @property
    def of_people(self) -> bool:
        """Whether the main raters are people."""
        return len(self.rated.people) > 1

    @property
    def is_compared(self) -> bool:
        """Whether two of the main raters share a sample."""
        return bool(self.rows("means", design="main"))

    @property
    def measures(self) -> list[Row]:
        """The rows of what raters answered: the lowest kappa first, without one last."""
        rows = [*self.rows("agreement", design="main"), *self.rows("answers")]
        return sorted(rows, key=lambda row: (row["kappa"] is None, row["kappa"] or 0.0))

    def rows(self, table: str, **values: object) -> list[Row]:
        """Return the rows of a table in which columns have these values."""
        return self.tables[table].where(**values).to_dicts()


# ------------------------------------------------------------------------------ columns


def reason_of(coefficient: str) -> str:
    """Return the column with the reason why a coefficient is undefined."""
    return "reason" if coefficient == "kappa" else f"{coefficient}_reason"


_COMPARED = """
    compared text Compared | who with whom
    design text Design | main, each, consensus, others, again, names; of means also same, less
    rater text Rater | who is compared with others; none of people with each other
    """
_FEATURE = """
    feature text Feature | the feature's id
    title text Feature | its title
    """
_PAIR = """
    first text First | a rater
    second text Second | the other
    """
_TABLE = """
    both_absent integer -- | both say absent
    second_present integer -+ | the second alone says present
    first_present integer +- | the first alone says present
    both_present integer ++ | both say present
    """
_MEANINGS = {
    "agreement": "estimate Agree | share of samples with the same verdict",
    "kappa": "estimate Kappa | Cohen's kappa",
    "ac1": "estimate AC1 | Gwet's AC1",
    "positive_agreement": "estimate Pos | 2 x both / (first + second): agreement on present",
    "negative_agreement": "estimate Neg | the same for absent",
    "alpha": "estimate Alpha | Krippendorff's, nominal; of people with each other",
}
_COEFFICIENTS = "\n".join(
    f"{name} {told}\n{reason_of(name)} text Reason | why {name} is undefined"
    for name, told in _MEANINGS.items()
)
_OF_PAIR = "\n".join(
    f"{name} {_MEANINGS[name].replace('estimate', 'number')}" for name in COEFFICIENTS
)
_MEANS = "\n".join(
    f"{name} estimate {title} | mean of {name}\n"
    f"{name}_features integer Features ({title}) | number of features that it is made from"
    for name, title in (("kappa", "Kappa"), ("ac1", "AC1"), ("agreement", "Agree"))
)
_SHARES = "\n".join(
    f"{name} estimate {name.replace('_', ' ').capitalize()} | share of right verdicts\n"
    f"{name}_count integer Count | right verdicts\n"
    f"{name}_n integer N | samples of which it is a share"
    for name in RATES
)
_ERRORS = "\n".join(
    f"{rate}_{which} estimate {rate.upper()} | the {which} as reference"
    for rate in ("per", "fer")
    for which in ("first", "second")
)
_DECLARED: Mapping[str, str] = {
    "raters": """
        rater text Rater | who
        judge boolean Judge | is not a person
        samples integer Samples | with a verdict on any feature
        verdicts integer Verdicts | on features
        present integer Present | verdicts that say present
        unsure integer ? | "cannot tell"
        flagged integer Flagged | doubtful ratings of samples; missing: nothing tells (a judge)
        """,
    "agreement": f"""
        {_COMPARED}{_FEATURE}
        objective boolean Objective | has a clear criterion; missing: nothing tells
        n integer N | samples that two of them rated
        prevalence number p | share of verdicts on these samples that say present; of people with \
each other
        variance number p(1-p) | of these verdicts
        {_COEFFICIENTS}
        status text Status | value or undefined, of kappa
        few boolean Few | in every pair a category has 3 samples or fewer: kappa says little
        {_TABLE}
        fleiss number Fleiss | Fleiss' kappa; missing also with unequal numbers of verdicts
        verdicts integer Verdicts | of the main raters
        present integer Present | verdicts that say present
        positives integer Positives | samples that the consensus calls present: the weight
        ties integer Ties | samples on which as many say present as absent
        unsure integer ? | "cannot tell"
        """,
    "means": f"""
        {_COMPARED}
        mean text Mean | over features: unweighted, weighted by the consensus's positives, over \
those that the consensus ever calls present; or one pooled kappa
        {_MEANS}
        reason text Reason | why kappa is undefined
        """,
    "pairs": f"""
        {_COMPARED}{_PAIR}
        n integer N | the most samples that they share for a feature
        averaged boolean Averaged | shares enough samples for means
        agreement number Agree | mean share of equal verdicts
        agreement_features integer Features (agree) | features with a share
        kappa number Kappa | mean over features
        features integer Features (kappa) | features with a kappa
        weighted_kappa number Weighted | weighted by the consensus's positives
        ac1 number AC1 | mean over features
        ac1_features integer Features (AC1) | features with an AC1
        reason text Reason | why kappa is undefined
        """,
    "pair-features": f"""
        {_COMPARED}{_PAIR}{_FEATURE}
        n integer N | samples that they share
        {_OF_PAIR}
        reason text Reason | why kappa is undefined
        {_TABLE}
        """,
    "calibration": f"""
        judge text Judge | its spec
        reference text Reference | the consensus, or the one person
        {_FEATURE}
        true_positives integer +/+ | consensus and judge say present
        false_positives integer -/+ | the judge alone says present
        false_negatives integer +/- | the consensus alone says present
        true_negatives integer -/- | both say absent
        {_SHARES}
        """,
    "drift": f"""
        {_PAIR}{_FEATURE}
        n integer N | samples with verdicts of both versions
        appeared integer Appeared | absent by the first, present by the second
        vanished integer Vanished | the other way
        changed number Changed | share of samples with another verdict
        p number p | of McNemar's exact test
        mid_p number Mid-p | of the same test
        """,
    "error-rates": f"""
        {_FEATURE}
        rater text Rater | who
        prevalence estimate p | estimated share of samples with the feature
        sensitivity estimate Sens. | estimated probability to call present what is
        specificity estimate Spec. | estimated probability to call absent what is
        reason text Reason | why there are no estimates
        feature_reason text Reason | why no rater of the feature has estimates
        converged boolean Converged | the estimates no longer changed
        same_maximum integer Same | starts that found the maximum
        starts integer Starts | of the maximisation
        """,
    "sensitivity": """
        line integer Line | number of the rules
        ties text Ties | what a tie of the consensus becomes
        cannot_tell text Cannot tell | what "cannot tell" counts as
        chosen boolean Chosen | everything else is computed by these rules
        unflagged boolean Unflagged | doubtful ratings are left out
        positives integer Positives | verdicts of the consensus that say present
        reason text Reason | why there is nothing
        judge text Judge | with the consensus; none: the main raters with each other
        kappa number Kappa | weighted by the consensus's positives
        features integer Features | number of features that it is made from
        """,
    "kinds": """
        name text Kind | objective or subjective
        features texts Features | their ids
        prevalence number p | mean share of verdicts that say present
        variance number p(1-p) | mean variance of these
        kappa number Kappa | unweighted mean
        kappa_features integer Features (kappa) | features with a kappa
        ac1 number AC1 | unweighted mean
        ac1_features integer Features (AC1) | features with an AC1
        """,
    "answers": """
        measure text Measure | its id
        title text Measure | its title
        kind text Kind | scale, choice, text or phonemes
        n integer N | samples with answers of two raters or more
        kappa estimate Kappa | mean over pairs; of a scale with quadratic weights
        linear number Linear | of a scale: kappa with linear weights
        alpha number Alpha | Krippendorff's, ordinal for a scale, nominal for codes
        unsure integer ? | "cannot tell"
        """,
    "answer-pairs": f"""
        measure text Measure | its id
        {_PAIR}
        n integer N | samples with an answer of both
        agreed integer Agreed | those with the same answer
        kappa estimate Kappa | Cohen's; of a scale with quadratic weights
        linear number Linear | of a scale: kappa with linear weights
        ac1 number AC1 | of codes: Gwet's
        averaged boolean Averaged | shares enough samples for means
        """,
    "confusions": """
        measure text Measure | its id
        one text One | an answer
        other text Other | another answer to the same sample
        n integer N | pairs of answers
        """,
    "codes": """
        measure text Measure | its id
        value text Value | an answer
        n integer N | times that it was given, over all pairs
        agreement number Agree | 2 both / (first + second), over all pairs
        """,
    "transcripts": f"""
        measure text Measure | its id
        {_PAIR}
        n integer N | responses with a transcript of both
        same integer Same | those with equal phonemes
        edits integer Edits | phonemes that differ
        feature_edits number Features | phonological features that differ
        phonemes_first integer Phonemes | of the first's transcripts
        phonemes_second integer Phonemes | of the second's transcripts
        {_ERRORS}
        """,
}
TABLES = {name: columns_of(lines) for name, lines in _DECLARED.items()}
NOTES: Mapping[str, Sequence[str]] = {
    "agreement": (
        "A value that is missing is undefined; its 'reason' says why.",
        "Agreement with a consensus is not comparable with the agreement of two people; that of a "
        "judge with each person is.",
    ),
    "error-rates": (
        "Estimated from the ratings alone; errors of raters are taken as independent.",
    ),
}


def made(name: str, rows: Iterable[Row]) -> Table:
    """Return a table of rows by column name; what a row does not name is missing."""
    return table_of_dicts(name, TABLES[name], rows, NOTES.get(name, ()))


# ------------------------------------------------------------------------------ the whole


def agreement_of(rated: Rated, choices: Choices | None = None) -> Agreement:
    """Return everything about the agreement of raters."""
    choices = choices or Choices()
    speakers = 0 if rated.speakers is None else len(np.unique(rated.speakers))
    if speakers == 1:
        note = (
            "All samples are of one speaker: intervals are about further samples of this speaker."
        )
        rated = replace(rated, speakers=None, notes=(*rated.notes, note))
    elif few_speakers(rated.speakers):
        note = (
            f"All samples are of {speakers} speakers: there are no intervals with fewer than "
            f"{FEWEST_UNITS} speakers, because so few hardly tell how much speakers vary."
        )
        rated = replace(rated, notes=(*rated.notes, note))
    if len(rated.raters) < 2 and not rated.again:
        raise UsageError(
            f"{rated.source} has the ratings of one rater: {', '.join(rated.raters) or 'none'}",
            hint="agreement needs two raters, or one who rated samples twice",
        )
    if choices.ties == "adjudicated" and rated.adjudicated is None:
        raise UsageError(
            f"{rated.source} has no adjudicated value",
            where="--ties",
            allowed="drop, positive, negative",
            hint="tabwb rate disputed SET lists what to settle",
        )
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    rows["raters"] += (_given(rated, at) for at in range(len(rated.raters)))
    draws = None
    if rated.features:
        task = task_of(rated, choices)
        draws = task.draws
        _of_features(rows, rated, choices, task)
    if rated.right is not None:
        rules = replace(
            rated, features=rated.correctness, verdicts=rated.right, again=(), adjudicated=None
        )
        ties: Ties = "drop" if choices.ties == "adjudicated" else choices.ties
        task = task_of(rules, replace(choices, ties=ties))
        add_comparison(rows, task, rules.features, task.pairs, "names")
    for answers in rated.others:
        draws_of = draws_for(len(rated.samples), choices.draws)
        add_answers(rows, rated, answers, draws_of, choices.seed)
    return Agreement(rated, choices, draws, {name: made(name, own) for name, own in rows.items()})


def _given(rated: Rated, at: int) -> Row:
    own, rater = rated.verdicts[at], rated.raters[at]
    return {
        "rater": rater,
        "judge": rater in rated.judges,
        "samples": int((own >= 0).any(axis=1).sum()),
        "verdicts": int((own >= 0).sum()),
        "present": int((own == PRESENT).sum()),
        "unsure": int((own == CANNOT_TELL).sum()),
        # How a judge rated is not recorded, so that nothing can be doubtful.
        "flagged": None
        if rated.flagged is None or rater in rated.judges
        else int(rated.flagged[at].sum()),
    }


# ------------------------------------------------------------------------------ features

Side = tuple[str, Verdicts]
"""A rater and its verdicts: int8 of shape (samples, features)."""
Pairs = Sequence[tuple[Side, Side]]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Verdicts with all that every comparison of them shares.

    Attributes:
        who: people, or raters where fewer than two people are among them.
        verdicts: int8 of shape (raters, samples, features).
        main: places of those who are compared with each other.
        consensus: of the main raters, int8 of shape (samples, features).
    """

    who: str
    raters: tuple[str, ...]
    verdicts: Verdicts
    main: tuple[int, ...]
    consensus: Verdicts
    draws: int = 0
    seed: int = SEED
    speakers: Ints | None = None

    def compared(self, pairs: Pairs) -> tuple[Comparison | None, list[bool]]:
        """Return the agreement of the pairs that share a sample, and which these are."""
        given = [(one, other) for (_, one), (_, other) in pairs]
        shared = [bool(((one >= 0) & (other >= 0)).any()) for one, other in given]
        if not any(shared):
            return None, shared
        some = list(compress(given, shared))
        return compare(some, self.consensus, draws=self.draws, seed=self.seed,
                       speakers=self.speakers), shared  # fmt: skip

    @property
    def sides(self) -> list[Side]:
        """Every rater with its verdicts."""
        return list(zip(self.raters, self.verdicts, strict=True))

    @property
    def pairs(self) -> Pairs:
        """Every two main raters."""
        sides = self.sides
        return list(combinations([sides[at] for at in self.main], 2))


def draws_for(n: int, asked: int | None) -> int:
    """Return the number of draws of intervals.

    >>> draws_for(82, None), draws_for(112_000, None), draws_for(82, 500)
    (2000, 200, 500)
    """
    if asked is not None:
        return asked
    return max(FEWEST_DRAWS, min(DRAWS, MOST_DRAWN // max(n, 1)))


def task_of(rated: Rated, choices: Choices) -> Task:
    """Return the verdicts on features ready to be compared.

    The main raters are the people; with fewer than two, everybody.
    """
    people = rated.places(rated.people)
    main = tuple(people if len(people) > 1 else range(len(rated.raters)))
    verdicts = _told(rated.verdicts, choices)
    agreed = consensus(verdicts[list(main)], ties=choices.ties, adjudicated=rated.adjudicated)
    draws = draws_for(len(rated.samples), choices.draws)
    who = "people" if len(people) > 1 else "raters"
    return Task(who, rated.raters, verdicts, main, agreed, draws, choices.seed, rated.speakers)


def _told(verdicts: Verdicts, choices: Choices) -> Verdicts:
    return cannot_tell_as(verdicts, ABSENT) if choices.cannot_tell == "absent" else verdicts


def _of_features(rows: dict[str, list[Row]], rated: Rated, choices: Choices, task: Task) -> None:
    """Add every comparison of verdicts on features, and what follows from it."""
    measures, judges, people = rated.features, *map(rated.places, (rated.judges, rated.people))
    counts = list(_counts(task, rated))
    main = add_comparison(rows, task, measures, task.pairs, "main", None, counts)
    sides, most = task.sides, ("consensus", task.consensus)
    if main is None:
        begin = _begin(task, "main", None)
        undefined: Row = {reason_of(name): NO_PAIR for name in _MEANINGS}
        undefined |= {"n": 0, "alpha": None, "status": "undefined"}
        rows["agreement"] += (
            {**begin, **_named(measure), **own, **undefined}
            for measure, own in zip(measures, counts, strict=True)
        )
    references: list[tuple[int, Side]] = []
    if len(people) == 1:
        references = [(place, sides[people[0]]) for place in judges]
    elif people:
        references = [(place, ("the consensus", task.consensus)) for place in judges]
        for place in judges:
            name, with_each = task.raters[place], [(sides[place], sides[at]) for at in task.main]
            each = add_comparison(rows, task, measures, with_each, "each", name)
            add_comparison(rows, task, measures, [(sides[place], most)], "consensus", name)
            if both := _on_the_same_features(task, with_each, each, main):
                rows["means"] += (
                    _mean_row(_begin(task, "same", name), WEIGHTED, both[1]),
                    _mean_row(_begin(task, "less", name), WEIGHTED, difference(*both)),
                )
    for place, (reference, verdicts) in references:
        found = calibrate(task.verdicts[place], verdicts, draws=task.draws, seed=task.seed,
                          speakers=task.speakers)  # fmt: skip
        rows["calibration"] += (
            {"judge": task.raters[place], "reference": reference, **_named(measure), **_rates(one)}
            for measure, one in zip(measures, found, strict=True)
        )
    if len(task.main) > 2:
        rest = rest_of(task.verdicts[list(task.main)])
        for place, others in zip(task.main, rest, strict=True):
            pairs = [(sides[place], ("the others", others))]
            add_comparison(rows, task, measures, pairs, "others", task.raters[place])
    for at, rater in enumerate(rated.raters):
        repeated = [
            (sides[at], (f"{rater}, time {n}", _told(later[at], choices)))
            for n, later in enumerate(rated.again, start=2)
        ]
        add_comparison(rows, task, measures, repeated, "again", rater)
    if main is not None:
        rows["sensitivity"] += _sensitivity(rated, choices)
        rows["kinds"] += _kinds(rows["agreement"][: len(measures)])
    rows["drift"] += _drifts(task, measures, judges)
    if len(task.raters) > 2:
        rows["error-rates"] += _error_rates(task, measures, choices)


def _named(measure: Measure) -> Row:
    return {"feature": measure.id, "title": measure.title}


def _begin(task: Task, design: str, rater: str | None) -> Row:
    """Return who is compared with whom."""
    words = DESIGNS[design].format(who=task.who, rater=rater)
    return {"compared": words, "design": design, "rater": rater}


def add_comparison(
    rows: dict[str, list[Row]],
    task: Task,
    measures: Sequence[Measure],
    pairs: Pairs,
    design: str,
    rater: str | None = None,
    counts: Sequence[Row] = (),
) -> Comparison | None:
    """Add the agreement of some pairs of raters: by feature, over features, and pair by pair."""
    found, shared = task.compared(pairs)
    if found is not None:
        every = [(one, other) for (one, _), (other, _) in pairs]
        names = list(compress(every, shared))
        begin = _begin(task, design, rater)
        rows["agreement"] += (begin | row for row in _feature_rows(found, measures, counts))
        rows["means"] += (_mean_row(begin, kind, found.over_features[kind, "kappa"], found)
                          for kind in OVER_FEATURES)  # fmt: skip
        rows["means"].append(_mean_row(begin, "pooled", found.pooled))
        rows["pairs"] += (begin | row for row in _pair_rows(found, names))
        rows["pairs"] += (
            {**begin, "first": one, "second": other, "n": 0, "averaged": False,
             "reason": "no sample in common"}
            for (one, other), has in zip(every, shared, strict=True) if not has
        )  # fmt: skip
        rows["pair-features"] += (begin | row for row in _pair_features(found, names, measures))
    return found


def _feature_rows(
    found: Comparison, measures: Sequence[Measure], counts: Sequence[Row] = ()
) -> Iterator[Row]:
    """Yield the agreement of pairs by feature."""
    shared = samples(found.tables)
    tables = (found.tables * found.averaged[..., None, None]).sum(axis=0).reshape(-1, 4).tolist()
    for at, measure in enumerate(measures):
        own = bool(found.averaged[:, at].any())
        why = NO_PAIR if not shared[:, at].any() else "" if own else TOO_FEW
        row: Row = {
            **_named(measure),
            "objective": measure.objective,
            "n": int(shared[:, at].max(initial=0)),
            "few": own and bool(found.few[at]),
            **dict(zip(CELLS, tables[at], strict=True)),
        }
        for name in COEFFICIENTS:
            value = defined(found.by_feature[name][at])
            row |= ended(name, value, found.intervals[name][at].tolist())
            if value is None:
                row[reason_of(name)] = why or NEVER.get(name, CONSTANT)
        row["status"] = "undefined" if row["kappa"] is None else "value"
        yield row | counts[at] if counts else row


def _mean_row(begin: Row, kind: str, kappa: OverFeatures, found: Comparison | None = None) -> Row:
    row, given = begin | {"mean": kind}, {"kappa": kappa}
    if found is not None:
        given |= {name: found.over_features[kind, name] for name in ("ac1", "agreement")}
    for name, over in given.items():
        row |= {**ended(name, over.value, over.ends), f"{name}_features": over.features}
    return row | {"reason": NO_FEATURE if kappa.value is None else None}


def _pair_rows(found: Comparison, names: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """Yield every pair over the features of which it shares enough samples for means."""
    shared = samples(found.tables).max(axis=1, initial=0)
    by_pair = {
        name: np.where(found.averaged, values, np.nan) for name, values in found.by_pair.items()
    }
    for at, (first, second) in enumerate(names):
        averaged = bool(found.averaged[at].any())
        row: Row = {"first": first, "second": second, "n": int(shared[at]), "averaged": averaged}
        for name in ("agreement", "kappa", "ac1"):
            count = "features" if name == "kappa" else f"{name}_features"
            row[name], row[count] = mean_of_defined(by_pair[name][at])
        row["weighted_kappa"] = defined(float(weighted_mean(by_pair["kappa"][at], found.positives)))
        if row["kappa"] is None:
            row["reason"] = NO_FEATURE if averaged else TOO_FEW
        yield row


def _pair_features(
    found: Comparison, names: Sequence[tuple[str, str]], measures: Sequence[Measure]
) -> Iterator[Row]:
    """Yield every feature of every pair."""
    for place, (first, second) in enumerate(names):
        for at, measure in enumerate(measures):
            table = found.tables[place, at].ravel().tolist()
            values = {name: defined(given[place, at]) for name, given in found.by_pair.items()}
            why = CONSTANT if any(table) else "no sample with a verdict of both"
            yield {
                "first": first, "second": second, **_named(measure), "n": sum(table), **values,
                "reason": why if values["kappa"] is None else None,
                **dict(zip(CELLS, table, strict=True)),
            }  # fmt: skip


def _counts(task: Task, rated: Rated) -> Iterator[Row]:
    """Yield what the main raters gave to each feature."""
    own = task.verdicts[list(task.main)]
    counts = binary_counts(own)
    present, absent = counts[..., 1].sum(axis=0), counts[..., 0].sum(axis=0)
    two = counts.sum(axis=-1) >= 2
    shared = two.sum(axis=0)
    compared = (counts * two[..., None]).sum(axis=0)
    tied = majority(own)[1].sum(axis=0)
    unsure = (rated.verdicts[list(task.main)] == CANNOT_TELL).sum(axis=(0, 1))
    positives = (task.consensus == PRESENT).sum(axis=0)
    alphas = binary_alpha(own)
    ends = np.full((len(alphas), 2), np.nan)
    if task.draws and shared.any():
        ends = alpha_intervals(own, draws=task.draws, seed=task.seed, speakers=task.speakers)
    for at in range(len(alphas)):
        n, of = int(shared[at]), int(compared[at].sum())
        share, alpha = int(compared[at, 1]) / of if of else None, defined(alphas[at])
        yield {
            "n": n,
            "prevalence": share,
            "variance": None if share is None else share * (1 - share),
            **ended("alpha", alpha, ends[at].tolist()),
            "alpha_reason": None if alpha is not None else CONSTANT if n else NO_PAIR,
            "fleiss": defined(fleiss_kappa(counts[:, at])),
            "verdicts": int(present[at] + absent[at]),
            "present": int(present[at]),
            "positives": int(positives[at]),
            "ties": int(tied[at]),
            "unsure": int(unsure[at]),
        }


def _on_the_same_features(
    task: Task, with_each: Pairs, each: Comparison | None, main: Comparison | None
) -> tuple[OverFeatures, OverFeatures] | None:
    """Return the weighted kappas of a judge with people and of people, over features of both."""
    if each is None or main is None:
        return None
    of_judge, of_people = (~np.isnan(one.by_feature["kappa"]) for one in (each, main))
    if not np.array_equal(of_judge, of_people):
        both = np.flatnonzero(of_judge & of_people)
        if not both.size:
            return None
        some = replace(task, consensus=task.consensus[:, both])
        each, main = (
            some.compared([((a, x[:, both]), (b, y[:, both])) for (a, x), (b, y) in pairs])[0]
            for pairs in (with_each, task.pairs)
        )
        assert each is not None and main is not None
    key = WEIGHTED, "kappa"
    return each.over_features[key], main.over_features[key]


def _rates(one: Calibration) -> Row:
    counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    row: Row = {name: getattr(one, name) for name in counts}
    for name in RATES:
        share = getattr(one, name)
        ends = share.interval
        row |= ended(name, share.value, ends and (ends.low, ends.high))
        row |= {f"{name}_count": share.count, f"{name}_n": share.n}
    return row


def _drifts(task: Task, measures: Sequence[Measure], judges: Sequence[int]) -> Iterator[Row]:
    """Yield every two versions of a judge that judged the same samples, in order of names."""
    for one, other in combinations(sorted(judges, key=lambda at: task.raters[at]), 2):
        first, second = task.raters[one], task.raters[other]
        tables = tables_of(task.verdicts[one], task.verdicts[other])
        if _FAMILY.sub("", first) != _FAMILY.sub("", second) or not tables.any():
            continue
        for measure, table in zip(measures, tables.reshape(-1, 4).tolist(), strict=True):
            n, (_, appeared, vanished, _) = sum(table), table
            test = mcnemar_of_counts(appeared, vanished) if n else None
            yield {
                "first": first, "second": second, **_named(measure), "n": n, "appeared": appeared,
                "vanished": vanished, "changed": (appeared + vanished) / n if n else None,
                "p": test and test.p, "mid_p": test and test.mid_p,
            }  # fmt: skip


def _error_rates(task: Task, measures: Sequence[Measure], choices: Choices) -> Iterator[Row]:
    """Yield the error rates of all raters by the model of Dawid and Skene."""
    draws = LATENT_DRAWS if choices.draws is None else choices.draws
    rates = error_rates(task.verdicts, draws=draws, seed=choices.seed, speakers=task.speakers)
    for at, measure in enumerate(measures):
        for who, rater in enumerate(task.raters):
            known = defined(rates.sensitivity[at, who])
            yield {
                **_named(measure),
                "rater": rater,
                **ended("prevalence", defined(rates.prevalence[at]), rates.prevalence_ends[at]),
                **ended("sensitivity", known, rates.sensitivity_ends[at, who]),
                **ended("specificity", defined(rates.specificity[at, who]),
                         rates.specificity_ends[at, who]),
                "reason": rates.reasons[at] or (NOT_IDENTIFIED if known is None else None),
                "feature_reason": rates.reasons[at] or None,
                "converged": bool(rates.converged[at]),
                "same_maximum": int(rates.same_maximum[at]),
                "starts": rates.starts,
            }  # fmt: skip


def _sensitivity(rated: Rated, choices: Choices) -> Iterator[Row]:
    """Yield weighted kappas under each rule for ties, and the other meaning of "cannot tell".

    Where ratings are flagged as doubtful, a last line is computed without them.
    """
    other: CannotTell = "missing" if choices.cannot_tell == "absent" else "absent"
    wanted: list[tuple[Ties, CannotTell]] = [(rule, choices.cannot_tell) for rule in get_args(Ties)]
    wanted.append((choices.ties, other))
    number = 0
    for number, (ties, meaning) in enumerate(wanted):
        chosen = (ties, meaning) == (choices.ties, choices.cannot_tell)
        begin = {"line": number, "ties": ties, "cannot_tell": meaning, "chosen": chosen,
                 "unflagged": False}  # fmt: skip
        reason = ""
        if ties == "adjudicated" and rated.adjudicated is None:
            reason = "nothing is adjudicated"
        elif meaning == other and not (rated.verdicts == CANNOT_TELL).any():
            reason = 'nobody said "cannot tell"'
        if reason:
            yield {**begin, "positives": 0, "reason": reason}
        else:
            for row in _by_rules(rated, replace(choices, ties=ties, cannot_tell=meaning)):
                yield begin | row
    if rated.flagged is not None and rated.flagged.any():
        begin = {"line": number + 1, "ties": choices.ties, "cannot_tell": choices.cannot_tell,
                 "chosen": False, "unflagged": True}  # fmt: skip
        for row in _by_rules(rated.unflagged(), choices):
            yield begin | row


def _by_rules(rated: Rated, choices: Choices) -> Iterator[Row]:
    task = task_of(rated, replace(choices, draws=0))
    positives = int((task.consensus == PRESENT).sum())
    most, judges = ("consensus", task.consensus), set(rated.places(rated.judges)) - {*task.main}
    sides: list[tuple[str | None, Pairs]] = [(None, task.pairs)]
    sides += [(task.raters[at], [(task.sides[at], most)]) for at in sorted(judges)]
    for judge, pairs in sides:
        found, _ = task.compared(pairs)
        if found is not None or judge is None:
            over = None if found is None else found.over_features[WEIGHTED, "kappa"]
            yield {"positives": positives, "judge": judge, "kappa": over and over.value,
                   "features": over and over.features}  # fmt: skip


def _kinds(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield means over objective and over subjective features."""
    for name, wanted in (("objective", True), ("subjective", False)):
        own = [row for row in rows if row["objective"] is wanted]
        means: Row = {}
        for value in ("prevalence", "variance", "kappa", "ac1"):
            known = [row[value] for row in own if row[value] is not None]
            means |= {value: fmean(known) if known else None, f"{value}_features": len(known)}
        if own:
            yield {"name": name, "features": [row["feature"] for row in own], **means}
