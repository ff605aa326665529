"""The agreement of raters as a page for the terminal, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.agreement.compare import COEFFICIENTS, FEWEST_SHARED, OVER_FEATURES
from tabwb.agreement.error_rates import RATES
from tabwb.agreement.intervals import FEWEST_UNITS, few_speakers
from tabwb.analysis.agreement import (
    DESIGNS,
    NO_FEATURE,
    TABLES,
    WEIGHTED,
    Agreement,
    reason_of,
)
from tabwb.analysis.names import judge_names
from tabwb.analysis.plain import Json, plain
from tabwb.media.views.parts import Part, by, notes_view, parts_view, remarks, rows_view
from tabwb.media.wording import between, counts_of, figure
from tabwb.records.columns import Column
from tabwb.records.words import NONE, plural
from tabwb.tables.table import Row, columns_of

FEW_SHARED = 40
"""With fewer samples for each pair the interval of the weighted kappa is too narrow."""
TIES = {"drop": "drop", "positive": "present", "negative": "absent", "adjudicated": "settled"}
MEANS = {"unweighted": "unweighted", WEIGHTED: "weighted", "nonzero_prevalence": "p > 0",
         "pooled": "pooled"}  # fmt: skip
FEW = f"[few_shared] Not averaged: fewer than {FEWEST_SHARED} in common."
COLUMNS = columns_of("""
    who text Who | who is compared with whom
    own_mean text Mean | over features
    rule text Ties | what a tie of the consensus becomes, or what is left out
    counts text Counts | both say present, the first alone, the second alone, neither
    pair text Pair | two raters
    size integer Features | of this kind
    same_share number Same | share of equal answers of all pairs
    per estimate PER | phonemes that differ, per phoneme of the first
    fer estimate FER | the same in phonological features
    """)
RATED = (
    Part("raters", "who rated", "rater judge samples verdicts present unsure"),
    Part(
        "agreement", "{whom} with each other, by feature",
        "title n prevalence variance= positives ties unsure agreement= kappa counts ac1= alpha= "
        "fleiss= positive_agreement= negative_agreement=",
        {"design": "main"},
        narrow="title n prevalence agreement= kappa counts ac1= positive_agreement= "
        "negative_agreement=",
        notes="""
        n: samples with two verdicts or more. p: share of verdicts that say present. Agree, Kappa
        (Cohen), AC1 (Gwet), Pos, Neg (agreement on present, on absent): means over pairs, weighted
        by shared samples; pairs with fewer than {fewest} are left out. --details shows the other
        columns and all intervals.

        Kappa and AC1: 1 is full agreement, 0 what chance would give, below 0 less than that. Chance
        in kappa follows from how often each rater says present: where a feature is rare, kappa can
        be low although most verdicts are equal; AC1 depends less on that.

        [few] Counts instead of an interval: both say present / first alone / second alone /
        neither, over all pairs. In every pair a category has 3 samples or fewer: kappa says little.

        [reason] Kappa undefined ({reasons}).
        """,
    ),
    Part(
        "means", "over features",
        "own_mean kappa kappa_features ac1 ac1_features",
        {"design": tuple(one for one in DESIGNS if one != "names")}, "who",
        notes="""
        Features: number that the mean could estimate; an undefined kappa is left out, never taken
        as 0 or 1. weighted: by the samples that the consensus calls present, the same weights
        everywhere, with 95 % intervals (samples resampled with the weights; {draws}). p > 0:
        without the features that the consensus never calls present. pooled: one kappa over all
        decisions. The first three are the rows of table 1 of the TAB paper.

        [consensual] * not comparable with people: a consensus of several is more stable than one
        person. With each person is (like with like), on the features of both.
        """,
    ),
    Part(
        "sensitivity", "weighted kappa under other rules", "rule who positives kappa features",
        notes="""
        What a tie of the consensus becomes: no verdict (drop), present, absent, or what was
        settled; ?: "cannot tell" counts as what follows. > marks the rules of everything else on
        this page. Positives: verdicts of the consensus that say present, the weights.

        [reason] Undefined: {reasons}.

        [unflagged] not flagged: without flagged ratings.
        """,
    ),
    Part(
        "kinds", "objective and subjective features{source}",
        "name size ac1 ac1_features kappa kappa_features prevalence variance",
        notes="Unweighted means over the features that have a value.",
    ),
    Part("pairs", "pairs", "pair n agreement kappa features weighted_kappa ac1 ac1_features",
         {"design": "main"}, notes=FEW),
    Part("pairs", "raters with themselves",
         "first n agreement kappa features weighted_kappa ac1 ac1_features",
         {"design": "again"}, notes=FEW),
    Part(
        "calibration", "calibration of {judge}",
        "title true_positives false_positives false_negatives true_negatives sensitivity "
        "specificity positive_predictive_value negative_predictive_value",
        each=("judge",),
        notes="""
        Against {reference}: +/+ both say present, -/+ the judge alone, +/- {reference} alone, -/-
        neither. Sensitivity: of what {reference} calls present; specificity: of what is called
        absent; with 95 % intervals ({resampled}).
        """,
    ),
    Part(
        "drift", "changes from {first} to {second}", "title n appeared vanished changed p",
        each=("first", "second"),
        notes="""
        Appeared: absent by the first, present by the second version. p: McNemar's exact test, one
        for each feature, not adjusted.
        """,
    ),
)  # fmt: skip
LATENT = """
    Sensitivity/specificity of each rater, estimated from the ratings alone (Dawid and Skene 1979;
    errors of raters are taken as independent: raters who misread the same guideline alike get rates
    that are too good). --details shows their intervals.

    [feature_reason] Undefined ({reasons}).

    [unsettled] Only one of {starts} starts found the maximum: {names}.

    [moving] The estimates still changed in the last step: {names}.
    """
HEARD = (
    Part("agreement", "listeners on correctness", "title n agreement kappa counts ac1",
         {"design": "names"}),
    Part(
        "pair-features", "pairs of listeners", "pair n agreement kappa counts ac1",
        {"design": "names"}, "title",
        notes=f"""
        Counts of a pair: both say right / first alone / second alone / neither. Kappa is undefined
        where neither varies.

        {FEW}
        """,
    ),
    Part(
        "answers", "scales", "title n same_share kappa linear alpha unsure", {"kind": ("scale",)},
        notes="""
        N: samples with two answers or more. Same: equal answers of all pairs, without
        those that share fewer than {fewest} samples. Kappa: with quadratic weights, linear: with
        linear ones, means over pairs as above; alpha: Krippendorff's, ordinal. --json has every
        pair. No interval where all draws are equal.

        [-kappa] Undefined (no rater varies, or no pair shares {fewest} samples): {names}.
        """,
    ),
    Part("answers", "codes and words heard", "title n kappa alpha unsure",
         {"kind": ("choice", "text")}),
    Part(
        "answer-pairs", "{title}", "pair n agreed kappa ac1", {"kind": ("choice", "text")},
        each=("measure",),
        notes=f"""
        [-kappa] No kappa where no rater varies.

        [-kappa_low] No interval where all draws are equal, or with under {FEWEST_UNITS} speakers.

        {FEW}
        """,
    ),
    Part("confusions", "{title}: confused (the most frequent)", "one other n", each=("measure",),
         most=12),
    Part("codes", "{title}: agreement on each", "value n agreement", {"kind": ("choice",)},
         each=("measure",), most=12),
    Part(
        "transcripts", "{title}: the reference, and the other", "first second n same edits per fer",
        each=("measure",),
        notes=f"""
        PER: phonemes substituted, inserted or left out by the second, per phoneme of the first;
        FER: the same in phonological features. Each transcriber is the reference once (PSST's
        phonemes and features, silence left out).

        [-per_low] No interval with fewer than {FEWEST_UNITS} responses or speakers.
        """,
    ),
)  # fmt: skip


def agreement_view(found: Agreement, *, details: bool = False) -> RenderableType:
    """Return everything about the agreement of raters."""
    return Group(*_parts(found, details=details))


def _parts(found: Agreement, *, details: bool) -> Iterator[RenderableType]:
    rated, names = found.rated, judge_names(found.rated.raters)
    judges = [names[rater] for rater in rated.raters if rater in rated.judges]
    who = plural(len(rated.people), "person", "people")
    who += f" ({', '.join(rated.people)})" if rated.people else ""
    who += f", {plural(len(judges), 'judge')} ({', '.join(judges)})" if judges else ""
    samples = plural(len(rated.samples), "sample")
    yield Text.assemble((rated.source, "bold"), f"  {samples}, {who}\n")
    yield from remarks(*_how(found), *rated.notes)
    yield from remarks(
        *(
            f"Person or machine? {one.rater} was right on {one.right} of {one.n} "
            f"(95 % {between(one.interval)})."
            for one in rated.guesses
        )
    )
    rows = partial(_rows, found, names)
    if rated.features:
        parts = [part for part in RATED if found.is_compared or part.where.get("design") != "main"]
        yield from parts_view(parts, _columns, rows, details=details)
        if not found.is_compared:
            yield from remarks("No two raters rated the same samples on a feature.")
        yield from _error_rates(rows("error-rates"), details=details)
    yield from parts_view(HEARD, _columns, rows, details=details)
    answered = {row["measure"] for name in ("answer-pairs", "transcripts") for row in rows(name)}
    alone = [row["title"] for row in rows("answers") if row["measure"] not in answered]
    yield from remarks(alone and f"No sample with answers of two raters: {', '.join(alone)}.")


def _how(found: Agreement) -> Iterator[str]:
    rated, choices = found.rated, found.choices
    if not found.of_people and rated.features:
        yield (
            f"Fewer than two people rated: every two of {', '.join(rated.raters)} are compared; "
            "agreement between judges does not show that they agree with people."
        )
    if rated.speakers is not None and not few_speakers(rated.speakers):
        speakers = plural(len(set(rated.speakers.tolist())), "speaker")
        yield f"Intervals resample {speakers} with all their samples."
    flagged = {row["rater"]: row["flagged"] for row in found.rows("raters") if row["flagged"]}
    if flagged:
        told = ", ".join(f"{rater} {n}" for rater, n in flagged.items())
        yield (
            f"{plural(sum(flagged.values()), 'rating')} of samples flagged ({told}): confirmed "
            "without an answer, or in less time than the form's minimum."
        )
    if choices.draws == 0:
        yield "--draws 0: intervals that need draws are left out."
    if choices.cannot_tell == "absent":
        yield '"Cannot tell" counts as absent.'
    shared = [row["n"] for row in found.rows("pairs", design="main", averaged=True)]
    if len(shared) > 1 and median(shared) < FEW_SHARED:
        yield (
            f"Pairs share {median(shared):g} samples (median): with fewer than {FEW_SHARED} mean "
            "kappas are a little too low, and the interval of the weighted one covers 0.80 to "
            "0.94; pooled kappa is better."
        )


def _rows(found: Agreement, names: Mapping[str, str], table: str) -> list[Row]:
    """Return the rows of a table with what its part shows besides."""
    rated, choices = found.rated, found.choices
    whom = "people" if found.of_people else "raters"
    resampled = rated.speakers is not None and found.draws
    told: Row = {
        "whom": whom,
        "fewest": FEWEST_SHARED,
        "draws": plural(found.draws or 0, "draw"),
        "source": f" ({rated.objective_source})" if rated.objective_source else "",
        "resampled": "speakers resampled" if resampled else "Jeffreys",
    }
    measures = {row["measure"]: row for row in found.rows("answers")}
    same = {
        own[0]["measure"]: sum(row["agreed"] for row in own) / sum(row["n"] for row in own)
        for own in by(found.rows("answer-pairs", averaged=True), "measure")
    }
    made = []
    for row in found.rows(table):
        own = told | row
        for name in ("rater", "first", "second", "judge"):
            if isinstance(row.get(name), str):
                own[name] = names.get(row[name], row[name])
        if table in ("answer-pairs", "confusions", "codes", "transcripts"):
            own |= {name: measures[row["measure"]][name] for name in ("title", "kind")}
        if "few" in row:
            own["few"] = row["few"] and row["kappa"] is not None
        if row.get("both_present") is not None and own.get("few", True):
            own["counts"] = counts_of(row)
        if "first" in row:
            averaged = row.get("averaged", table != "pair-features" or row["n"] >= FEWEST_SHARED)
            own |= {"pair": f"{own['first']} and {own['second']}", "few_shared": not averaged}
            if table == "pairs" and not averaged:  # without means there is nothing to count
                own |= dict.fromkeys(("features", "ac1_features"))
        if table == "means":
            own["consensual"] = row["design"] == "consensus"
            own["who"] = DESIGNS[row["design"]].format(who=whom, rater=own["rater"])
            own |= {"who": own["who"] + " *" * own["consensual"], "own_mean": MEANS[row["mean"]]}
        elif table == "sensitivity":
            own["who"] = f"{own['judge']} *" if row["judge"] else f"{whom} with each other"
            own["rule"] = own["title"] = _rule(row, choices.cannot_tell)
        elif table == "kinds":
            own["size"] = len(row["features"])
        elif table == "answers":
            own["same_share"] = same.get(row["measure"])
        elif table == "error-rates":
            known = not row["feature_reason"]
            own["unsettled"] = known and row["same_maximum"] < 2
            own["moving"] = known and not row["converged"]
        made.append(own)
    if table == "transcripts":
        return [_referred(row, *order) for row in made
                for order in (("first", "second"), ("second", "first"))]  # fmt: skip
    return made


def _rule(line: Row, cannot_tell: str) -> str:
    if line["unflagged"]:
        return "not flagged"
    if line["cannot_tell"] != cannot_tell:
        return f"? {line['cannot_tell']}"
    return f"{'> ' if line['chosen'] else ''}{TIES[line['ties']]}"


def _referred(row: Row, reference: str, other: str) -> Row:
    """Return the error rates of a pair of transcribers with one of them as the reference."""
    rates = {
        f"{rate}{end}": row[f"{rate}_{reference}{end}"]
        for rate in ("per", "fer")
        for end in ("", "_low", "_high")
    }
    return row | {"first": row[reference], "second": row[other]} | rates


def _error_rates(rows: list[Row], *, details: bool) -> Iterator[RenderableType]:
    """Yield sensitivity and specificity of every rater by the model of Dawid and Skene."""
    if not rows:
        return
    title, columns = "error rates without a known truth", TABLES["error-rates"]
    every = by(rows, "feature")
    if details:
        shown = "rater sensitivity specificity"
        yield rows_view(title, shown, columns, rows, "title")
    else:
        raters = [row["rater"] for row in every[0]]
        own = [Column(f"r{at}", name, "sensitivity/specificity") for at, name in enumerate(raters)]
        wide = [
            {"title": some[0]["title"], "prevalence": some[0]["prevalence"]}
            | {f"r{at}": _both(row) for at, row in enumerate(some)}
            for some in every
        ]
        shown = " ".join(["title prevalence", *(one.name for one in own)])
        yield rows_view(title, shown, (*own, *columns), wide)
    yield from notes_view(LATENT, [some[0] for some in every])


def _both(row: Row) -> str:
    rates = (row["sensitivity"], row["specificity"])
    return NONE if rates[0] is None else "/".join(map(figure, rates))


def _columns(table: str) -> tuple[Column, ...]:
    """Return the columns of a table and those of the page; means have three decimal places."""
    every = (*COLUMNS, *TABLES[table])
    if table not in ("means", "sensitivity", "kinds", "pairs", "drift", "transcripts"):
        return every
    return tuple(replace(one, digits=3) if one.type == "number" else one for one in every)


# ------------------------------------------------------------------------------ document

NOT_COMPARABLE = (
    "agreement with a consensus is not comparable with the agreement of two people: a consensus of "
    "several is more stable than one person"
)
MEAN = "kappa ac1 features=kappa_features ac1_features kappa_interval=kappa~ ac1_interval=ac1~ \
agreement reason"
POOLED = "value=kappa features=kappa_features interval=kappa~ reason"
NOTHING: Row = {"kappa_features": 0, "ac1_features": 0, "reason": NO_FEATURE}
"""Of a mean of pairs that share no sample."""
COUNTED = "true_positives false_positives false_negatives true_negatives"
CELLS = "both_present first_present second_present both_absent"
OF_MAIN = "fleiss verdicts present consensus_positives=positives ties cannot_tell=unsure"
WITHOUT = "measure=feature title n prevalence agreement kappa ac1 alpha positive_agreement \
negative_agreement status reason"
RATE = "sensitivity sensitivity_interval=sensitivity~ specificity specificity_interval=specificity~"
TRANSCRIPT = "first second n same per_distance=edits fer_distance=feature_edits"


def agreement_document(found: Agreement) -> Json:
    """Return agreement as plain data; what is undefined is None, with the reason beside it."""
    rated, choices = found.rated, found.choices
    judges = dict.fromkeys((row["judge"], row["reference"]) for row in found.rows("calibration"))
    rates = found.rows("error-rates")
    answers = found.rows("answers")
    return {
        "format": 1,
        "source": rated.source,
        "n_samples": len(rated.samples),
        "raters": found.rows("raters"),
        "compared": "people" if found.of_people else "raters",
        "ties": choices.ties,
        "cannot_tell": choices.cannot_tell,
        "draws": found.draws,
        "seed": choices.seed,
        "resampled": "samples" if rated.speakers is None else "speakers",
        **_comparison(found, "main"),
        "intra": _by_rater(found, "again"),
        "judges": [_judge(found, judge, reference) for judge, reference in judges],
        "rest": _by_rater(found, "others"),
        "sensitivity": [_line(*own) for own in by(found.rows("sensitivity"), "line")],
        "kinds": [
            json_of(row, "name features prevalence variance kappa kappa_features ac1 ac1_features")
            for row in found.rows("kinds")
        ],
        "kinds_source": rated.objective_source or None,
        "drift": [
            {
                **json_of(own[0], "first second"),
                "features": [
                    json_of(row, "measure=feature n appeared vanished changed p mid_p")
                    for row in own
                ],
            }
            for own in by(found.rows("drift"), "first", "second")
        ],
        "error_rates": [_latent(own) for own in by(rates, "feature")] if rates else None,
        "correctness": _comparison(found, "names") if found.rows("means", design="names") else None,
        "answers": [_answered(found, row) for row in answers if row["kind"] != "phonemes"],
        "transcripts": [
            {
                "measure": row["measure"],
                "pairs": [
                    _transcribed(pair) for pair in found.rows("transcripts", measure=row["measure"])
                ],
            }
            for row in answers
            if row["kind"] == "phonemes"
        ],
        "person_or_machine": plain(rated.guesses),
        "notes": list(rated.notes),
    }


def json_of(row: Row, names: str) -> Json:
    """Return columns of a row as plain data: ``name``, ``key=name``, ``key=name~`` its interval."""
    found: Json = {}
    for one in names.split():
        key, _, name = one.rpartition("=")
        if name.endswith("~"):
            low = row.get(f"{name[:-1]}_low")
            found[key] = None if low is None else [low, row[f"{name[:-1]}_high"]]
        else:
            found[key or name] = plain(row.get(name))
    return found


def _by_rater(found: Agreement, design: str) -> list[Json]:
    raters = dict.fromkeys(row["rater"] for row in found.rows("means", design=design))
    return [{"rater": rater, **_comparison(found, design, rater)} for rater in raters]


def _comparison(found: Agreement, design: str, rater: str | None = None) -> Json:
    """Return one comparison: by feature, over features, and pair by pair."""
    means, rows, pairs, by_pair = (
        found.rows(table, design=design, rater=rater)
        for table in ("means", "agreement", "pairs", "pair-features")
    )
    kinds = {row["mean"]: row for row in means}
    summary: Json = {kind: json_of(kinds.get(kind, NOTHING), MEAN) for kind in OVER_FEATURES}
    summary["pooled_kappa"] = json_of(kinds.get("pooled", NOTHING), POOLED)
    return {
        "features": [_feature(row) if means else json_of(row, WITHOUT) for row in rows],
        "summary": summary,
        "pairs": [_paired(row, by_pair) for row in pairs],
    }


def _feature(row: Row) -> Json:
    main = row["design"] == "main"
    names = (*COEFFICIENTS, *["alpha"] * main)
    return {
        **json_of(row, "measure=feature title objective n" + " prevalence variance" * main),
        **json_of(row, f"{' '.join(names)} status reason"),
        "undefined": {name: row[reason_of(name)] for name in names if row[reason_of(name)]},
        "intervals": json_of(row, " ".join(f"{name}={name}~" for name in names)),
        "few": row["few"],
        "table": json_of(row, CELLS),
        **json_of(row, OF_MAIN * main),
    }


def _paired(row: Row, by_feature: Sequence[Row]) -> Json:
    if not row["n"]:
        return json_of(row, "first second n averaged kappa ac1 reason")
    own = (
        one for one in by_feature if json_of(one, "first second") == json_of(row, "first second")
    )
    names = "first second n averaged agreement kappa kappa_features=features weighted_kappa ac1 \
ac1_features reason"
    return {
        **json_of(row, names),
        "features": [
            {
                **json_of(one, f"measure=feature n {' '.join(COEFFICIENTS)} reason"),
                "table": cells_of(one),
            }
            for one in own
        ],
    }


def cells_of(row: Row) -> list[list[int]]:
    """Return the table of two raters: rows of the first, absent before present."""
    return [
        [row["both_absent"], row["second_present"]],
        [row["first_present"], row["both_present"]],
    ]


def _judge(found: Agreement, judge: str, reference: str) -> Json:
    apart = (found.rows("means", design=design, rater=judge) for design in ("same", "less"))
    people, less = (json_of(rows[0], POOLED) if rows else None for rows in apart)
    return {
        "judge": judge,
        "reference": reference,
        "each": _comparison(found, "each", judge),
        "people_on_same_features": people,
        "less_people": less,
        "consensus": {"note": NOT_COMPARABLE, **_comparison(found, "consensus", judge)},
        "calibration": [
            json_of(row, f"measure=feature {COUNTED}")
            | {
                name: {
                    **json_of(row, f"value={name} count={name}_count n={name}_n interval={name}~"),
                    "reason": None if row[f"{name}_n"] else "no such sample",
                }
                for name in RATES
            }
            for row in found.rows("calibration", judge=judge)
        ],
    }


def _line(first: Row, *judges: Row) -> Json:
    return {
        **json_of(first, "ties cannot_tell chosen positives kappa"),
        "features": first["features"] or 0,
        "judges": {row["judge"]: json_of(row, "kappa features") for row in judges},
        **json_of(first, "reason without_flagged=unflagged"),
    }


def _latent(rows: Sequence[Row]) -> Json:
    return {
        **json_of(rows[0], "measure=feature prevalence prevalence_interval=prevalence~"),
        "raters": [json_of(row, f"rater {RATE} reason") for row in rows],
        **json_of(rows[0], "converged same_maximum starts reason=feature_reason"),
    }


def _answered(found: Agreement, row: Row) -> Json:
    tables = ("answer-pairs", "confusions", "codes")
    pairs, confused, codes = (found.rows(name, measure=row["measure"]) for name in tables)
    names = "first second n agreed kappa interval=kappa~ linear ac1 averaged"
    return {
        **json_of(row, "measure kind n kappa interval=kappa~ linear alpha"),
        "status": "undefined" if row["kappa"] is None else "value",
        "cannot_tell": row["unsure"],
        "pairs": [json_of(pair, names) for pair in pairs],
        "confusion": [json_of(one, "one other n") for one in confused],
        "specific": [json_of(one, "value n agreement") for one in codes],
    }


def _transcribed(row: Row) -> Json:
    def both(name: str, ends: str = "") -> Json:
        return json_of(row, f"first={name}_first{ends} second={name}_second{ends}")

    return {
        **json_of(row, TRANSCRIPT),
        "phonemes": list(both("phonemes").values()),
        **{name: both(name) for name in ("per", "fer")},
        **{f"{name}_intervals": both(name, "~") for name in ("per", "fer")},
    }
