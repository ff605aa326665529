"""The agreement of raters as a page for the terminal, and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tabwb.agreement.compare import COEFFICIENTS, FEWEST_SHARED, OVER_FEATURES
from tabwb.agreement.error_rates import RATES
from tabwb.agreement.intervals import FEWEST_RESPONSES
from tabwb.analysis.agreement import NO_FEATURE, WEIGHTED, Agreement, reason_of
from tabwb.analysis.names import judge_names
from tabwb.analysis.rated_answers import Row
from tabwb.media.terminal import ForWidth, SpecCell, table
from tabwb.media.views.grid import (
    by,
    cell,
    ends,
    grid,
    grouped,
    remarks,
    shown,
    spec,
)
from tabwb.media.wording import between, figure, signed
from tabwb.records.words import NONE, plural
from tabwb.report.plain import Json, plain

FEW_SHARED = 40
"""With fewer samples for each pair the interval of the weighted kappa is too narrow."""
FEATURE = 26
"""Columns of characters for the feature and its prevalence."""
LEAST, LONGEST = 9, 13
"""Columns of characters that the error rates, and the name, of a rater take."""
MOST_SHOWN = 12
"""Confusions and codes that are shown."""
GIVEN = shown("samples {samples}; verdicts {verdicts}; present {present}; cannot tell {unsure}")
FEATURES = shown(
    "n {n}; p {prevalence:2}; *p(1-p) {variance:2}; *cons. {positives}; *ties {ties}; *? {unsure}; "
    "agree {agreement:2}; kappa {kappa:2}; 95 % {within}; AC1 {ac1:2}; *95 % {ac1:95}; "
    "*alpha {alpha:2}; *Fleiss {fleiss:2}; pos {positive_agreement:2}; neg {negative_agreement:2}"
)
AGGREGATIONS = {
    "unweighted": "Unweighted average",
    WEIGHTED: "Weighted",
    "nonzero_prevalence": "Excl. zero-prevalence",
}
"""The rows of table 1 of the paper, by kind of mean."""
COMPARISONS = shown(
    f"weighted kappa {{{WEIGHTED}.kappa:mean}}; weighted AC1 {{{WEIGHTED}.ac1:mean}}; "
    "mean kappa {unweighted.kappa:over}; mean AC1 {unweighted.ac1:over}; "
    "pooled kappa {pooled.kappa:mean}"
)
NARROW_COMPARISONS = (COMPARISONS[0], COMPARISONS[1]._replace(heading="AC1"))
KINDS = shown("features {size}; AC1 {ac1:over}; kappa {kappa:over}; p {prevalence:2}; "
              "p(1-p) {variance:2}")  # fmt: skip
PAIRS = shown("samples {n}; agree {agreement:2}; kappa {kappa:over}; weighted {weighted_kappa:3}; "
              "AC1 {ac1:over}")  # fmt: skip
AGAIN = (*PAIRS[:3], *shown("weighted kappa {weighted:mean}"), PAIRS[4])
CALIBRATION = shown(
    "+/+ {true_positives}; +/- {false_positives}; -/+ {false_negatives}; -/- {true_negatives}; "
    "sensitivity {sensitivity:share}; specificity {specificity:share}; "
    "*pos. pred. value {positive_predictive_value:share}; "
    "*neg. pred. value {negative_predictive_value:share}"
)
DRIFT = shown("n {n}; appeared {appeared}; vanished {vanished}; changed {changed:2}; p {p:p}")
RATES_OF_ONE = shown(
    "sens. {sensitivity:2}; 95 % {sensitivity:95}; spec. {specificity:2}; 95 % {specificity:95}"
)
NAMES = shown(
    "names {names}; agree {agreement:2}; kappa {kappa:2}; 95 % or counts {within}; AC1 {ac1:2}"
)
SCALES = shown(
    "n {n}; same {same:2}; kappa {kappa:2}; 95 % {kappa:95}; linear {linear:2}; alpha {alpha:2}"
)
CODES = shown("n {n}; same {agreed}; kappa {kappa:2}; 95 % {kappa:95}; AC1 {ac1:2}")
TRANSCRIPTS = shown(
    "n {n}; same {same}; edits {edits}; PER {per:3}; 95 % {per_within}; FER {fer:3}; "
    "95 % {fer_within}"
)


def agreement_view(found: Agreement, *, details: bool = False) -> RenderableType:
    """Return everything about the agreement of raters."""
    return Group(*_Page(found).parts(details=details))


def joined(names: Sequence[str]) -> str:
    """Return names with commas, the last after "and".

    >>> joined(["R1", "R2", "R3"])
    'R1, R2 and R3'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _counts(row: Row) -> str:
    return cell("{both_present}/{first_present}/{second_present}/{both_absent}", row)


def _pair(row: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """Return both raters, marked where they share too few samples."""
    first, second = (row[name] if names is None else names[row[name]]
                     for name in ("first", "second"))  # fmt: skip
    return f"{first} and {second}" + ("" if row["averaged"] else " †")


class _Page:
    """The page of ``tabwb agreement``."""

    def __init__(self, found: Agreement) -> None:
        self.found, self.rated = found, found.rated
        self.names = judge_names(found.rated.raters)
        calibrated = found.rows("calibration")
        self.judges = list(dict.fromkeys(row["judge"] for row in calibrated))
        self.who = "people" if found.of_people else "raters"

    def parts(self, *, details: bool) -> Iterator[RenderableType]:
        """Yield the tables with their remarks."""
        rated = self.rated
        judges = [self.names[rater] for rater in rated.raters if rater in rated.judges]
        who = plural(len(rated.people), "person", "people")
        who += f" ({', '.join(rated.people)})" if rated.people else ""
        who += f", {plural(len(judges), 'judge')} ({', '.join(judges)})" if judges else ""
        samples = plural(len(rated.samples), "sample")
        yield Text.assemble((rated.source, "bold"), f"  {samples}, {who}")
        yield from remarks(*self._how())
        yield from remarks(*rated.notes)
        yield from remarks(
            *(
                f"Person or machine? {one.rater} was right on {one.right} of {one.n} "
                f"(95 % {between(one.interval)})."
                for one in rated.guesses
            )
        )
        if rated.features:
            yield grid("rater", GIVEN, self.found.rows("raters"), "who rated", name=_rater)
            yield from self._features()
            if self.found.is_compared:
                yield from self._table_one()
                yield from self._comparisons()
                yield from self._sensitivity()
                yield from self._kinds()
                yield from self._pairs()
            yield from self._again()
            yield from self._calibration()
            yield from self._drift()
            yield from self._error_rates(details=details)
        yield from self._listeners()
        yield from self._answers()

    def _how(self) -> Iterator[str]:
        rated, choices = self.rated, self.found.choices
        if not self.found.of_people and rated.features:
            yield (
                f"Fewer than two people rated: every two of {joined(rated.raters)} are compared; "
                "agreement between judges does not show that they agree with people."
            )
        if rated.speakers is not None:
            speakers = plural(len(set(rated.speakers.tolist())), "speaker")
            yield f"Intervals resample {speakers} with all their samples."
        flagged = {row["rater"]: row["flagged"] for row in self.found.rows("raters")}
        if n := sum(one or 0 for one in flagged.values()):
            by = ", ".join(f"{rater} {one}" for rater, one in flagged.items() if one)
            yield (
                f"{plural(n, 'rating')} of samples flagged ({by}): confirmed without an answer, "
                "or in less time than the form's minimum."
            )
        if choices.draws == 0:
            yield "--draws 0: intervals that need draws are left out."
        if choices.cannot_tell == "absent":
            yield '"Cannot tell" counts as absent.'

    def _features(self) -> Iterator[RenderableType]:
        if not self.found.is_compared:
            yield from remarks("No two raters rated the same samples on a feature.")
            return
        rows = self.found.rows("agreement", design="main")
        for row in rows:
            row["few"] = row["few"] and row["kappa"] is not None
            row["within"] = _counts(row) if row["few"] else ends(row, "kappa")
        yield grid("feature", FEATURES, rows, f"{self.who} with each other, by feature")
        undefined = [(row["title"], row["reason"]) for row in rows if row["reason"]]
        yield from remarks(
            "n: samples with two verdicts or more. p: share of verdicts that say present. "
            "agree, kappa (Cohen), AC1 (Gwet), pos, neg (agreement on present, on absent): "
            "means over pairs, weighted by shared samples; pairs with fewer than "
            f"{FEWEST_SHARED} are left out.",
            "kappa and AC1: 1 is full agreement, 0 what chance would give, below 0 less than "
            "that. Chance in kappa follows from how often each rater says present: where a "
            "feature is rare, kappa can be low although most verdicts are equal; AC1 depends "
            "less on that.",
            any(row["few"] for row in rows)
            and (
                "Four counts instead of an interval: both say present / first alone / second "
                "alone / neither, over all pairs. In every pair a category has 3 samples or "
                "fewer: kappa says little."
            ),
            f"kappa undefined ({grouped(undefined)})." if undefined else "",
        )

    @property
    def _beside(self) -> list[str]:
        """The judges that are compared with several people."""
        return self.judges if self.found.of_people else []

    def _mean(self, design: str, rater: str | None = None, mean: str = WEIGHTED) -> Row:
        return next(iter(self.found.rows("means", design=design, rater=rater, mean=mean)), {})

    def _table_one(self) -> Iterator[RenderableType]:
        """Yield table 1 of the paper in its own shape."""
        people = "Human" if self.found.of_people else "Raters"
        columns = shown(
            f"{people} κ {{main.kappa:over}}; Judge-consensus κ {{consensus.kappa:over}}; "
            f"Judge-each-{people.lower()} κ {{each.kappa:over}}"
        )
        for judge in self._beside or (None,):
            designs = {"main": None} if judge is None else {
                "main": None, "consensus": judge, "each": judge
            }  # fmt: skip
            rows = [
                {"title": words} | _apart(
                    {design: self._mean(design, rater, kind) for design, rater in designs.items()}
                )
                for kind, words in AGGREGATIONS.items()
            ]  # fmt: skip
            title = "Aggregation (table 1)" + (f", {self.names[judge]}" if judge else "")
            yield grid("Aggregation method", columns[: len(designs)], rows, title)
        sides = [self._mean("main"), *(self._mean("each", judge) for judge in self._beside)]
        yield from remarks(
            "In brackets: number of features that the average could estimate. Weighted: by the "
            "samples that the consensus calls present, the same weights in every column. An "
            "undefined kappa is left out, never taken as 0 or 1.",
            self._beside
            and (
                "Judge-consensus is not comparable with human-human pairwise: a consensus of "
                "several is more stable than one person. Judge-each-human is (like with like)."
            ),
            len({side["kappa_features"] for side in sides if side}) > 1
            and (
                "Columns over unequal numbers of features are not like with like either: below "
                "is the difference on the features of both."
            ),
        )

    def _comparisons(self) -> Iterator[RenderableType]:
        """Yield every comparison over features, with intervals."""
        others = dict.fromkeys(row["rater"] for row in self.found.rows("means", design="others"))
        asked: list[tuple[str, str, str | None]] = [(f"{self.who} with each other", "main", None)]
        for judge in self._beside:
            asked.append((f"{self.names[judge]} with each person", "each", judge))
            asked.append((f"{self.names[judge]} with the consensus *", "consensus", judge))
        asked += ((f"{self.names[rater]} with the others", "others", rater) for rater in others)
        kinds = (*OVER_FEATURES, "pooled")
        rows = [
            {"title": words} | _apart({kind: self._mean(design, rater, kind) for kind in kinds})
            for words, design, rater in asked
        ]
        yield ForWidth(partial(_comparison_table, rows))
        draws = plural(self.found.draws or 0, "draw")
        notes = [
            "Means weighted as above with 95 % intervals (samples resampled with the weights; "
            f"{draws})."
        ]
        shared = [row["n"] for row in self.found.rows("pairs", design="main", averaged=True)]
        if len(shared) > 1 and median(shared) < FEW_SHARED:
            notes.append(
                f"Pairs share {median(shared):g} samples (median): with fewer than {FEW_SHARED} "
                "mean kappas are a little too low, and the interval of the weighted one covers "
                "0.80 to 0.94; pooled kappa is better."
            )
        if self._beside:
            notes.append("* not comparable with the row of people; with each person is.")
        for judge in self._beside:
            less, people = self._mean("less", judge), self._mean("same", judge)
            if less and less["kappa"] is not None:
                within = "no interval" if less["kappa_low"] is None else (
                    f"95 % {ends(less, 'kappa')}"
                )  # fmt: skip
                notes.append(
                    f"{self.names[judge]} with each person less people with each other, weighted "
                    f"kappa on the {plural(people['kappa_features'], 'feature')} of both: "
                    f"{signed(less['kappa'])} ({within}); people {figure(people['kappa'], 3)} "
                    "there."
                )
        yield from remarks(*notes)

    def _sensitivity(self) -> Iterator[RenderableType]:
        """Yield weighted kappa under each rule for ties and for "cannot tell"."""
        lines = _lines(self.found)
        firsts = [given[0] for given in lines]
        rules = [_rule(line, self.found.choices.cannot_tell) for line in firsts]
        made = table(
            *rules, first="ties of the consensus", title="weighted kappa under other rules"
        )
        made.add_row("positives", *(NONE if r["reason"] else str(r["positives"]) for r in firsts))
        kappa = f"{self.who} with each other", *(_over(line) for line in firsts)
        made.add_row(*kappa)
        for judge in self._beside:
            own = (next((_over(row) for row in given if row["judge"] == judge), NONE)
                   for given in lines)  # fmt: skip
            made.add_row(SpecCell.of([f"{self.names[judge]} *"]), *own)
        yield made
        other = "missing" if self.found.choices.cannot_tell == "absent" else "absent"
        undefined = [
            f"{rule} ({line['reason']})"
            for rule, line in zip(rules, firsts, strict=True)
            if line["reason"]
        ]
        yield from remarks(
            "What a tie becomes: no verdict (drop), present, absent, or what was settled; in "
            f'the column ? "cannot tell" counts as {other}. > marks the rules of everything '
            "else on this page. positives: verdicts of the consensus that say present, the "
            "weights." + (" * with the consensus." if self._beside else ""),
            f"Undefined: {'; '.join(undefined)}." if undefined else "",
            "not flagged: without flagged ratings." if firsts[-1]["unflagged"] else "",
        )

    def _kinds(self) -> Iterator[RenderableType]:
        rows = [row | {"size": len(row["features"])} for row in self.found.rows("kinds")]
        source = self.rated.objective_source
        title = "objective and subjective features" + (f" ({source})" if source else "")
        if rows:
            yield grid("", KINDS, rows, title, name="{name}")
            words = "Unweighted means, in brackets the features that have a value."
            yield from remarks(words)

    def _pairs(self) -> Iterator[RenderableType]:
        """Yield every pair of raters, those with too few samples in common too."""
        rows = [
            row | {"kappa_features": row["features"]}
            for row in self.found.rows("pairs", design="main")
        ]
        own = [row for row in rows if row["n"]]
        yield grid("pair", PAIRS, own, "pairs",
                   name=lambda row: SpecCell.of([_pair(row, self.names)]))  # fmt: skip
        apart = "; ".join(cell("{first} and {second}", row) for row in rows if not row["n"])
        few = not all(row["averaged"] for row in own)
        yield from remarks(
            few and f"† fewer than {FEWEST_SHARED} samples in common: listed, not averaged.",
            f"No sample in common: {apart}." if apart else "",
        )

    def _again(self) -> Iterator[RenderableType]:
        """Yield each rater with the same rater later."""
        rows = []
        for row in self.found.rows("pairs", design="again"):
            if row["n"]:
                mean = self._mean("again", row["rater"])
                mark = "" if row["averaged"] else " †"
                rows.append(row | {"kappa_features": row["features"], "mark": mark} | {
                    name.replace("kappa", "weighted"): value for name, value in mean.items()
                    if name.startswith("kappa")
                })  # fmt: skip
        if rows:
            yield grid("rater", AGAIN, rows, "raters with themselves", name="{first}{mark}")
            few = not all(row["averaged"] for row in rows)
            words = f"† fewer than {FEWEST_SHARED} samples rated again: listed, no means."
            yield from remarks(few and words)

    def _calibration(self) -> Iterator[RenderableType]:
        without = []
        for judge in self.judges:
            rows = self.found.rows("calibration", judge=judge)
            rated = [row for row in rows if any(row[name] for name in COUNTED)]
            name, who = self.names[judge], rows[0]["reference"]
            yield grid("feature", CALIBRATION, rated, f"calibration of {name}")
            titles = ", ".join(row["title"] for row in rows if row not in rated)
            without.append(f"Not rated by {name}, or by {who}: {titles}." if titles else "")
        if self.judges:
            resampled = self.rated.speakers is not None and self.found.draws
            yield from remarks(
                f"Against {who}: +/+ both say present, +/- the judge alone, -/+ {who} alone, "
                f"-/- neither. Sensitivity: of what {who} calls present; specificity: of what "
                "is called absent; with 95 % intervals "
                + ("(speakers resampled)." if resampled else "(Jeffreys)."),
                *without,
            )

    def _drift(self) -> Iterator[RenderableType]:
        rows = self.found.rows("drift")
        for own in by(rows, "first", "second"):
            one, other = (self.names[own[0][name]] for name in ("first", "second"))
            title = f"changes from {one} to {other}"
            yield grid("feature", DRIFT, own, title)
        if rows:
            yield from remarks(
                "appeared: absent by the first, present by the second version. p: McNemar's "
                "exact test, one for each feature, not adjusted."
            )

    def _error_rates(self, *, details: bool) -> Iterator[RenderableType]:
        """Yield sensitivity and specificity of every rater by the model of Dawid and Skene."""
        rows = self.found.rows("error-rates")
        if not rows:
            return
        by_feature = by(rows, "feature")
        title = "error rates without a known truth"
        if details:
            firsts = {id(own[0]) for own in by_feature}
            yield grid(("feature", "rater"), RATES_OF_ONE, rows, title,
                       name=lambda row: (row["title"] if id(row) in firsts else "", row["rater"]),
                       )  # fmt: skip
        else:
            yield ForWidth(partial(_rates, by_feature, list(self.names.values()), title))
        known = [own[0] for own in by_feature if not own[0]["feature_reason"]]
        undefined = [(own[0]["title"], own[0]["feature_reason"])
                     for own in by_feature if own[0]["feature_reason"]]  # fmt: skip
        unsettled = ", ".join(row["title"] for row in known if row["same_maximum"] < 2)
        moving = ", ".join(row["title"] for row in known if not row["converged"])
        yield from remarks(
            "sensitivity/specificity of each rater, estimated from the ratings alone (Dawid "
            "and Skene 1979; errors of raters are taken as independent: raters who misread the "
            "same guideline alike get rates that are too good)."
            + ("" if details else " Intervals: --details."),
            f"Undefined ({grouped(undefined)})." if undefined else "",
            unsettled
            and (f"Only one of {rows[0]['starts']} starts found the maximum: {unsettled}."),
            f"The estimates still changed in the last step: {moving}." if moving else "",
        )

    def _listeners(self) -> Iterator[RenderableType]:
        """Yield listeners with each other on what is right, by both rules, and pair by pair."""
        rules = self.found.rows("agreement", design="names")
        pairs = self.found.rows("pair-features", design="names")
        if not rules:
            return
        rows: list[Row] = []
        for rule in rules:
            own = [row for row in pairs if row["feature"] == rule["feature"]]
            within = NONE if rule["few"] else ends(rule, "kappa")
            n = "" if len(own) > 1 else str(rule["n"])
            title = Text(rule["title"], style="bold")
            rows.append(rule | {"title": title, "names": n, "within": within})
            for row in own:
                words = f"  {_pair(row | {'averaged': row['n'] >= FEWEST_SHARED}, self.names)}"
                rows.append(row | {"title": words, "names": str(row["n"]), "within": _counts(row)})
        yield grid("right by rule", NAMES, rows, "listeners on correctness",
                   name=lambda row: row["title"])  # fmt: skip
        few = any(row["n"] < FEWEST_SHARED for row in pairs)
        yield from remarks(
            "Counts of a pair: both say right / first alone / second alone / neither. kappa is "
            "undefined where neither varies.",
            few and f"† fewer than {FEWEST_SHARED} names in common: listed, not averaged.",
        )

    def _answers(self) -> Iterator[RenderableType]:
        """Yield scales, codes and words heard, then transcripts."""
        pairs = self.found.rows("answer-pairs")
        given = {row["measure"]: row for row in self.found.rows("answers")}
        scales, others, transcripts = (
            [row for row in given.values() if (row["kind"] in ("scale", "phonemes")) == among
             and (row["kind"] == kind or not among)]
            for kind, among in (("scale", True), ("", False), ("phonemes", True))
        )  # fmt: skip
        if scales:
            yield from self._scales(scales, pairs)
        alone = []
        for one in others:
            own = [row for row in pairs if row["measure"] == one["measure"]]
            if own:
                yield from self._codes(one, own)
            else:
                alone.append(one["title"])
        for one in transcripts:
            own = self.found.rows("transcripts", measure=one["measure"])
            if own:
                yield from _transcripts(one["title"], own)
            else:
                alone.append(one["title"])
        if alone:
            yield from remarks(f"No sample with answers of two raters: {', '.join(alone)}.")

    def _scales(self, scales: Sequence[Row], pairs: Sequence[Row]) -> Iterator[RenderableType]:
        rows = []
        for one in scales:
            own = [row for row in pairs if row["measure"] == one["measure"]]
            n = sum(row["n"] for row in own)
            rows.append(one | {"same": sum(row["agreed"] for row in own) / n if n else None})
        yield grid("scale", SCALES, rows, "scales")
        undefined = ", ".join(row["title"] for row in rows if row["kappa"] is None)
        yield from remarks(
            "n: samples with two answers or more. same: equal answers of all pairs. kappa: "
            "with quadratic weights, linear: with linear ones, means over pairs as above; "
            "alpha: Krippendorff's, ordinal. --json has every pair. No interval where all "
            "draws are equal.",
            undefined
            and (
                f"Undefined (no rater varies, or no pair shares {FEWEST_SHARED} samples): "
                f"{undefined}."
            ),
        )

    def _codes(self, one: Row, pairs: Sequence[Row]) -> Iterator[RenderableType]:
        title = f"{one['title']}: {plural(one['n'], 'sample')} with two answers"
        yield grid("pair", CODES, pairs, title, name=lambda row: SpecCell.of([_pair(row)]))
        facts = cell("mean kappa over pairs {kappa:2} ({kappa:95}); Krippendorff's alpha (nominal) "
                     "{alpha:2}", one)  # fmt: skip
        facts += f"; cannot tell {one['unsure']}" if one["unsure"] else ""
        notes = [f"{facts}."]
        if any(row["kappa"] is None or row["kappa_low"] is None for row in pairs):
            notes.append("No kappa where no rater varies; no interval where all draws are equal.")
        if not all(row["averaged"] for row in pairs):
            notes.append(f"† fewer than {FEWEST_SHARED} in common: listed, not averaged.")
        if confused := self.found.rows("confusions", measure=one["measure"]):
            shown = ", ".join(cell("{one} / {other} {n}", row) for row in confused[:MOST_SHOWN])
            more = len(confused) - MOST_SHOWN
            notes.append(
                f"confused: {shown}" + (f", and {more} more (--json)" if more > 0 else "") + "."
            )
        if one["kind"] == "choice":
            codes = self.found.rows("codes", measure=one["measure"])
            used = sorted(codes, key=lambda row: -int(row["n"]))[:MOST_SHOWN]
            words = (cell("{value} {agreement:2} (given {n})", row) for row in used if row["n"])
            notes.append(f"agreement on each: {', '.join(words)}.")
        yield from remarks(*notes)


COUNTED = ("true_positives", "false_positives", "false_negatives", "true_negatives")
_TIES = {"drop": "drop", "positive": "present", "negative": "absent", "adjudicated": "settled"}


def _rater(row: Mapping[str, Any]) -> RenderableType:
    return SpecCell.of([row["rater"], *["(judge)"] * row["judge"]])


def _apart(rows: Mapping[str, Row]) -> Row:
    """Return several rows as one, each name after that of its row."""
    return {f"{key}.{name}": value for key, row in rows.items() for name, value in row.items()}


def _comparison_table(rows: Sequence[Row], width: int) -> RenderableType:
    columns = COMPARISONS if width >= 120 else NARROW_COMPARISONS
    made = grid("who with whom", columns, rows, "over features", name=spec("{title}"))
    words = (
        "mean: unweighted, without an interval. pooled: one kappa over all decisions, always "
        "defined where anything varies."
    )
    return Group(made, *remarks(width >= 120 and words)[:-1])


def _over(row: Row) -> str:
    return cell("{kappa:over}", row | {"kappa_features": row["features"]})


def _rule(line: Row, cannot_tell: str) -> str:
    if line["unflagged"]:
        return "not flagged"
    if line["cannot_tell"] != cannot_tell:
        return f"? {line['cannot_tell']}"
    return f"{'> ' if line['chosen'] else ''}{_TIES[line['ties']]}"


def _lines(found: Agreement) -> list[list[Row]]:
    """Return the rows of each rule of the sensitivity analysis, the main raters first."""
    return by(found.rows("sensitivity"), "line")


def _rates(
    by_feature: Sequence[Sequence[Row]], whole: Sequence[str], title: str, width: int
) -> RenderableType:
    """Return as many raters side by side as there is room for, the others below."""
    if FEATURE + sum(max(len(name), LEAST) + 2 for name in whole) <= width:
        names, each = list(whole), len(whole)
    else:
        names = _columns(whole)
        each = max(1, (width - FEATURE) // (max(map(len, names)) + 1))
    blocks: list[RenderableType] = []
    for first in range(0, len(names), each):
        shown = names[first : first + each]
        made = table("p", *shown, first="feature", title="" if first else title)
        for own in by_feature:
            cells = (
                NONE if row["sensitivity"] is None else cell("{sensitivity:2}/{specificity:2}", row)
                for row in own[first : first + each]
            )
            made.add_row(own[0]["title"], figure(own[0]["prevalence"]), *cells)
        blocks.append(made)
    return Group(*blocks)


def _columns(names: Iterable[str]) -> list[str]:
    """Return names that fit above a column; of those that begin alike the end, else a number.

    >>> _columns(["R1", "tab-2026:judge-v1", "tab-2026:judge-v2"])
    ['       R1', '…026:judge-v1', '…026:judge-v2']
    """
    whole = list(names)
    ways = (
        [f"{name[: LONGEST - 1]}…" for name in whole],
        [f"…{name[1 - LONGEST :]}" for name in whole],
        [f"{name[: LONGEST - 4]}… {number}" for number, name in enumerate(whole, start=1)],
    )
    for way in ways:
        shown = [
            f"{name:>{LEAST}}" if len(name) <= LONGEST else short
            for name, short in zip(whole, way, strict=True)
        ]
        if len(set(shown)) == len(shown):
            break
    return shown


def _transcripts(title: str, pairs: Sequence[Row]) -> Iterator[RenderableType]:
    rows = [
        row | {"title": ", ".join(row[name] for name in order)} | {
            name: value for rate in ("per", "fer")
            for name, value in ((rate, row[f"{rate}_{order[0]}"]),
                                (f"{rate}_within", ends(row, f"{rate}_{order[0]}", "-")))
        }
        for row in pairs for order in (("first", "second"), ("second", "first"))
    ]  # fmt: skip
    yield grid("reference, other", TRANSCRIPTS, rows, title, name=spec("{title}"))
    bare = any(NONE in (row["per_within"], row["fer_within"]) for row in rows)
    yield from remarks(
        "PER: phonemes substituted, inserted or left out by the second, per phoneme of the "
        "first; FER: the same in phonological features. Each transcriber is the reference once "
        "(PSST's phonemes and features, silence left out).",
        f"No interval with fewer than {FEWEST_RESPONSES} responses or speakers." if bare else "",
    )


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
        "sensitivity": [_line(*own) for own in _lines(found)],
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
            json_of(row, f"measure=feature {' '.join(COUNTED)}")
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
