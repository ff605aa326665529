"""Figures of groups: burden, accuracy, profile, latency, differences, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import median
from typing import TYPE_CHECKING

from tabwb.analysis.contrast import (
    NO_ITEMS,
    Compared,
    Pair,
    baseline_of,
    contrasts,
    of_means,
    over,
    over_families,
    pairs_of,
)
from tabwb.analysis.grouping import Grouped, names_of_groups
from tabwb.analysis.measures import ACCURACY, BASELINES, BURDEN, FEATURE_RATE
from tabwb.analysis.names import judge_names
from tabwb.analysis.paired import AGREE, PAIRED_T, Contrast
from tabwb.analysis.series import size_words
from tabwb.media.documents.contrasts import SIDES, Of
from tabwb.media.figures.kind import (
    ESTIMANDS,
    INTERVAL,
    Cell,
    FigureKind,
    FigureOption,
    Forest,
    Groups,
    Options,
    Panel,
    Record,
    Shades,
    chosen_features,
    cut,
    ending,
    feature_titles,
    features_notes,
    having,
    interval_note,
    left_out,
    made_table,
    term_titles,
    terms_title,
    undefined,
    value_cells,
)
from tabwb.media.wording import chance
from tabwb.records.columns import Column, fixed
from tabwb.records.errors import UsageError
from tabwb.records.words import plural
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, Estimate, median_interval, quantile
from tabwb.tables.table import Table

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.analysis.agreement import Agreement
    from tabwb.analysis.statistics.results import Terms

TERMS = Column("terms", "Terms", "the rater with its feature set and scope")
TITLE = Column("title", "Feature", "the feature's title")

# -- burden --------------------------------------------------------------------------------------


def _burden(groups: Groups, options: Options) -> Table:
    titles = _titles(groups, "burden")
    places = [
        {"of": {"rater": terms}, "rater": terms.rater, "terms": title,
         "n_features": len(terms.features)}
        for terms, title in titles.items()
    ]  # fmt: skip
    groups, without = having(groups, BURDEN.id, places)
    given = cut(groups, BURDEN.id, places)
    items = list(_items_of(groups, titles))
    bounds = [
        f"{one['group']}: {fixed(one['bound_low'], 2)} to {fixed(one['bound_high'], 2)} if the "
        f"{plural(one['n_responses'] - one['n_usable'], 'unusable response')} had no feature, or "
        "all"
        for one in given
        if one.get("bound_low") is not None
    ]
    notes = [
        "Symptom burden, the mean number of features present per response.",
        *features_notes(groups),
        *interval_note(options, (record.get("n_items") for record in given)),
        *(["Grey points: means of the items."] if items else []),
        "N: responses with a burden, of all judged.",
        *without,
        *([f"Bounds of the burden: {'; '.join(bounds)}."] if bounds else []),
        *ending(given, groups),
    ]
    n_features = Column("n_features", "Features", "number of features in the set", "integer")
    own = [TERMS, n_features, Column("item", "Item", "of a mean of one item; empty of a group")]
    return made_table("burden", own, [*given, *items], notes, groups)


def _items_of(groups: Groups, titles: Mapping[Terms, str]) -> Iterator[Record]:
    """Yield the mean burden of each item of each group, where there are two or more."""
    for terms, title in titles.items():
        for name, group in zip(names_of_groups(groups), groups, strict=True):
            judge = group.judge(terms)
            values = judge.rows.burdens.values if judge and judge.judged else {}
            for (_, item), found in values.items() if len(values) > 1 else ():
                yield {
                    "group": name, "rater": terms.rater, "terms": title, "item": item,
                    "n_features": len(terms.features), "n": len(found),
                    **value_cells(Estimate(fsum(found) / len(found))),
                }  # fmt: skip


def _titles(groups: Groups, what: str) -> dict[Terms, str]:
    titles = term_titles(groups)
    if not titles:
        raise UsageError(
            f"no judge has judged these administrations, so they have no {what}",
            hint="tabwb judge run ID --judge rules",
        )
    return titles


BURDEN_FIGURE = FigureKind(
    "burden",
    "Symptom burden with 95 % intervals",
    shows="The symptom burden of each group with its interval; one panel for each judge, "
    "feature set and scope.",
    data="Administrations with connected text that a judge has judged.",
    table=_burden,
    draw=Forest(
        panel="terms",
        axis=lambda record: f"symptom burden (of {record['n_features']} features)",
        cell=lambda one, _: "" if one["n"] is None else f"{one['n']} of {one['n_responses']}",
        under="item",
    ),
    options=(INTERVAL,),
    judged=True,
)

# -- accuracy ------------------------------------------------------------------------------------


def _accuracy(groups: Groups, options: Options) -> Table:
    policy = options["policy"]
    parts = {
        subtest.id: subtest.title
        for group in groups for subtest in group.battery.subtests
        if any(one.results.n(ACCURACY.id, subtest.id, policy=policy) for one in groups)
    }  # fmt: skip
    if not parts:
        raise UsageError(
            "no choice, yes/no question or repetition was scored in these administrations",
            hint="names given aloud: tabwb figure change, or tabwb results",
        )
    places = [
        {"of": {"part": part, "policy": policy}, "part": part, "subtest": title, "policy": policy}
        for part, title in parts.items()
    ]
    groups, without = having(groups, ACCURACY.id, places)
    given = cut(groups, ACCURACY.id, places)
    named = dict(zip(names_of_groups(groups), groups, strict=True))
    for record in given:
        own = named[record["group"]].results
        record |= {one.id: own.value(one.id, record["part"]) for one in BASELINES}
    notes = [
        f"Accuracy, the share of right responses, policy {policy}.",
        *interval_note(options),
        "N: responses with a verdict.",
        *without,
        *ending(given, groups),
    ]
    baselines = (Column(one.id, one.title, one.meaning, "number", "share", 2) for one in BASELINES)
    subtest = Column("subtest", "Subtest", "the subtest's title")
    return made_table("accuracy", [subtest, *baselines], given, notes, groups)


ACCURACY_FIGURE = FigureKind(
    "accuracy",
    "Accuracy by subtest with 95 % intervals",
    shows="The accuracy of each group in each subtest with its interval, and the baselines "
    "guessing, always first option and always Yes.",
    data="Administrations with choices, yes/no questions or repetitions.",
    table=_accuracy,
    draw=Forest(
        panel="part",
        title="subtest",
        axis=lambda record: "accuracy",
        cell=lambda record, _: str(record["n"] or ""),
        baselines=tuple(one.id for one in BASELINES),
        limits=(0.0, 1.0),
    ),
    options=(
        INTERVAL,
        FigureOption("policy", "how exactly a response must match", "exact", POLICIES),
    ),
)

# -- items ---------------------------------------------------------------------------------------


def _items(groups: Groups, options: Options) -> Table:
    from tabwb.analysis.statistics.marks import marks_of

    given: list[Record] = []
    for name, group in zip(names_of_groups(groups), groups, strict=True):
        for marks in marks_of(group.group.members):
            for at, item in enumerate(marks.items):
                right = marks.right[marks.item == at]
                if len(right):
                    given.append(
                        {"group": name, "part": marks.subtest.id, "subtest": marks.subtest.title,
                         "item": item.id, "value": float(right.mean()), "n": len(right)}
                    )  # fmt: skip
    if not given:
        raise UsageError("nothing was scored right or wrong in these administrations")
    n = len({record["group"] for record in given})
    notes = [
        "Share of right answers to each item, in per cent; hatched: no answer with a verdict.",
        "Groups from the largest share of right answers on; items of a subtest from the easiest on."
        if options["order"] == "right"
        else "Groups and items are in the order in which they were given.",
        *left_out(len(groups) - n),
        *ending(given, groups),
    ]
    own = [Column("subtest", "Subtest", "the subtest's title"), Column("item", "Item", "its id")]
    return made_table("items", own, given, notes, groups)


def _items_panels(given: list[Record], options: Options, width: float) -> list[Panel]:
    """Return groups by items, or items by groups where there are too many of them."""
    found = {(one["group"], (one["part"], one["item"])): one["value"] for one in given}
    groups = list(dict.fromkeys(group for group, _ in found))
    items = list(dict.fromkeys(item for _, item in found))
    parts = list(dict.fromkeys(one["part"] for one in given))
    if options["order"] == "right":

        def share(own: Sequence[float]) -> float:
            return -fsum(own) / len(own)

        groups.sort(key=lambda name: share([v for (one, _), v in found.items() if one == name]))
        items.sort(key=lambda item: share([v for (_, one), v in found.items() if one == item]))
        items.sort(key=lambda item: parts.index(item[0]))

    def cell(group: str, item: tuple[str, str]) -> Cell:
        value = found.get((group, item))
        return Cell() if value is None else Cell(value, (f"{100 * value:.0f}",))

    starts = [n for n in range(1, len(items)) if items[n][0] != items[n - 1][0]]
    names = [name for _, name in items]
    key = "right answers in per cent"
    if len(items) * 0.16 > 0.75 * width and len(groups) * 0.12 <= 0.55 * width:
        cells = [[cell(group, item) for group in groups] for item in items]
        return [Panel(rows=names, heads=groups, cells=cells, key=key, under=starts, widest=0.5)]
    cells = [[cell(group, item) for item in items] for group in groups]
    return [Panel(rows=groups, heads=names, cells=cells, key=key, borders=starts, widest=0.4)]


ITEMS_FIGURE = FigureKind(
    "items",
    "Right answers item by item",
    shows="The share of right answers to each item in each group as a heat map, subtest by "
    "subtest.",
    data="Administrations with choices, yes/no questions, repetitions or pictures named aloud.",
    table=_items,
    draw=Shades(_items_panels),
    options=(
        FigureOption("order", "of groups and items: by right answers, or as given", "right",
                     ("right", "given")),
    ),
)  # fmt: skip

# -- profile -------------------------------------------------------------------------------------


def _profile(groups: Groups, options: Options) -> Table:
    titles = _titles(groups, "profile")
    if len(titles) > 1:
        raise UsageError(
            "several judges, or one under several terms, have judged these administrations",
            allowed="one judge: " + "; ".join(titles.values()),
            hint="choose one with --judge RATER",
        )
    ((terms, title),) = titles.items()
    kept = [group for group in groups if group.judge(terms)]
    names = feature_titles(kept)
    categories = {
        feature: category.title
        for group in kept
        for grouping in group.battery.groupings[:1]
        for category in grouping.categories
        for feature in category.features
    }
    own_set = [name for name in names if name in terms.features]
    every = options["features"] == "all"
    shown = list(names) if every else own_set or list(names)
    chosen = chosen_features(kept)
    shown = [name for name in shown if name in chosen] if chosen else shown
    order = {name: at for at, name in enumerate(categories)}
    shown.sort(key=lambda name: order.get(name, len(names)))
    places = [
        {"of": {"rater": terms, "feature": name}, "rater": terms.rater, "terms": title,
         "feature": name, "title": names[name], "category": categories.get(name)}
        for name in shown
    ]  # fmt: skip

    given = cut(kept, FEATURE_RATE.id, places, "not in the judge's set")
    notes = [
        f"Rate of each feature in per cent: of the responses that have a burden (N), the share in "
        f"which {terms.rater} finds it present; {terms.scope.replace('-', ' ')}.",
    ]
    if not every and 0 < len(own_set) < len(names):
        notes.append(
            f"The {len(own_set)} features are the set of {terms.rater}; the battery has "
            f"{len(names)} (features=all shows all)."
        )
    notes.append(_widths(given, options))
    notes += left_out(len(groups) - len(kept), f"that {terms.rater} did not judge")
    category = Column("category", "Category", "of the battery's first grouping")
    notes += ending(given, kept)
    return made_table("profile", [TERMS, TITLE, category], given, notes, kept)


def _widths(given: Sequence[Record], options: Options) -> str:
    prefix = ESTIMANDS[options["interval"]]
    estimand = Estimand.THESE_PROMPTS if prefix else Estimand.PROMPTS_LIKE_THESE
    ends = [(record.get(f"{prefix}low"), record.get(f"{prefix}high")) for record in given]
    widths = [high - low for low, high in ends if low is not None and high is not None]
    if not widths:
        return f"There is no interval for {estimand.value}."
    return (
        f"95 % intervals for {estimand.value} are between {100 * min(widths):.0f} and "
        f"{100 * max(widths):.0f} percentage points wide (median {100 * median(widths):.0f})."
    )


FEW_GROUPS = 4
"""Fewer groups than these are rows of a profile, where its features have room as columns."""


def _profile_panels(given: list[Record], options: Options, width: float) -> list[Panel]:
    """Return features by groups, or groups by features where the groups are few or many."""
    prefix = ESTIMANDS[options["interval"]]
    titles = {one["feature"]: (one["title"], one["category"]) for one in given}
    of_group = dict[str, list[Record]]()
    for record in given:
        of_group.setdefault(record["group"], []).append(record)
    names = [_counted(name, own) for name, own in of_group.items()]
    rows = [[_rate_cell(record, prefix) for record in own] for own in of_group.values()]
    features = [title for title, _ in titles.values()]
    kinds = [category for _, category in titles.values()]
    starts = [n for n in range(1, len(kinds)) if kinds[n] != kinds[n - 1]]
    ends = any(record[f"{prefix}low"] is not None for record in given)
    key = "rate in per cent (95 % interval where there is room)" if ends else "rate in per cent"
    few = len(names) < FEW_GROUPS and 0.58 * width >= 0.2 * len(features)
    if len(names) * 0.12 <= 0.55 * width and not few:
        cells = [list(column) for column in zip(*rows, strict=True)]
        return [Panel(rows=features, heads=names, cells=cells, key=key, under=starts, widest=0.8)]
    return [Panel(rows=names, heads=features, cells=rows, key=key, borders=starts, widest=0.8)]


def _counted(name: str, own: Sequence[Record]) -> str:
    """Return the name of a group with the responses behind its rates."""
    known = {record["n"] for record in own if record["n"] is not None}
    counts = "\u2013".join(str(n) for n in sorted({min(known), max(known)})) if known else "0"
    few = "few usable, " if any(record["few_usable"] for record in own) else ""
    return f"{name} ({few}N {counts})"


def _rate_cell(record: Record, prefix: str) -> Cell:
    value, low, high = (record[name] for name in ("value", f"{prefix}low", f"{prefix}high"))
    if value is None:
        return Cell()
    words = f"{100 * value:.0f}"
    if low is None:
        return Cell(value, (words,))
    return Cell(value, (f"{words} ({100 * low:.0f}\u2013{100 * high:.0f})", words))


PROFILE_FIGURE = FigureKind(
    "profile",
    "Feature profile",
    shows="The rate of each feature in each group as a heat map, numbers in the cells where they "
    "fit; undefined rates are hatched.",
    data="Administrations with connected text that one judge has judged.",
    table=_profile,
    draw=Shades(_profile_panels),
    options=(
        INTERVAL,
        FigureOption("features", "the set of the judge, or all features of the battery", "set",
                     ("set", "all")),
    ),
    judged=True,
)  # fmt: skip

# -- latency -------------------------------------------------------------------------------------

QUANTILES = {"p5": 0.05, "p25": 0.25, "p75": 0.75, "p95": 0.95}
RIGHT_NAMES = "from the picture to the onset of a right response"
REPLIES = "from the request to the end of the response"


@dataclass(frozen=True, slots=True)
class TimedGroup(Grouped):
    """A group with the latencies of its written responses, in seconds."""

    latencies: tuple[float, ...] = ()


def is_aloud(member: AdministrationData) -> bool:
    """Return whether a person named pictures aloud."""
    return member.battery.coded and member.is_speaker


def _latency(groups: Groups, options: Options) -> Table:
    given: list[Record] = []
    kinds: dict[str, None] = {}
    for name, group in zip(names_of_groups(groups), groups, strict=True):
        values = list(group.latencies) if isinstance(group, TimedGroup) else []
        if group.results.named:
            from tabwb.analysis.statistics.naming import latencies

            for named in group.results.named:
                values += latencies(named.items).right
        for member in group.group.members:
            kinds[RIGHT_NAMES if is_aloud(member) else REPLIES] = None
        if values:
            given.append({"group": name, **_quantiles(values)})
    if not given:
        raise UsageError(
            "no response has a latency",
            hint="recordings read from files have none: the time of the picture is not known",
        )
    notes = [
        f"Latency, {'; '.join(kinds)}.",
        "Point and line: median with its exact 95 % interval, responses taken as independent; "
        "box: middle half; thin line: 5 to 95 %.",
        "N: responses with a latency.",
        *left_out(len(groups) - len(given), "without a latency"),
        *ending(given, groups),
    ]
    end = "end of the exact 95 % interval of the median"
    own = [
        Column("low", "Low", f"lower {end}", "number", "s"),
        Column("high", "High", f"upper {end}", "number", "s"),
        *(Column(name, f"{share:.0%}", f"the {share:g} quantile of the latencies", "number", "s")
          for name, share in QUANTILES.items()),
        Column("smallest", "Smallest", "the smallest latency", "number", "s"),
        Column("largest", "Largest", "the largest latency", "number", "s"),
    ]  # fmt: skip
    return made_table("latency", own, given, notes, groups)


def _quantiles(values: Sequence[float]) -> Record:
    interval = median_interval(values)
    return {
        **value_cells(Estimate(quantile(values, 0.5))),
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        **{name: quantile(values, share) for name, share in QUANTILES.items()},
        "smallest": min(values),
        "largest": max(values),
        "n": len(values),
    }


def in_unit(given: list[Record]) -> list[Record]:
    """Return latencies in the unit in which they have few zeros: s, ms or µs."""
    largest = max(one["p95"] for one in given)
    units = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))
    unit, times = units[0 if largest >= 1 else 1 if largest >= 1e-3 else 2]
    names = ("value", "low", "high", *QUANTILES)
    return [
        {**one, "unit": unit, "interval_reason": "fewer than 6 latencies",
         **{name: one[name] * times for name in names if one[name] is not None}}
        for one in given
    ]  # fmt: skip


LATENCY_FIGURE = FigureKind(
    "latency",
    "Latencies",
    shows="The latencies of each group: median with its interval, quartiles, 5 to 95 %. By session "
    "with --by administration, by item with --by item.",
    data="Administrations whose responses have a latency; of pictures named aloud, right responses "
    "with an onset.",
    table=_latency,
    draw=Forest(
        axis=lambda record: f"latency ({record['unit']})",
        cell=lambda record, _: str(record["n"]),
        boxes=(("p5", "p95"), ("p25", "p75")),
        rows=in_unit,
    ),
    options=(FigureOption("scale", "of the axis", "linear", ("linear", "log")),),
    loads="latencies",
)

# -- differences ---------------------------------------------------------------------------------


def _differences(groups: Groups, options: Options) -> Table:
    against = options["against"]
    pairs = () if against else pairs_of(groups)
    if pairs:
        named = zip(_pair_names(pairs, groups), (pair.found for pair in pairs), strict=True)
    compared = [*named] if pairs else _of_groups(groups, against)
    found = over([one for _, one in compared], _family)
    every = [row for one in found for row in one.rows]
    n = Counter(_family(row) for row in every if row.like.p is not None)
    means = over_families(pairs)
    given = [
        {"comparison": name, **_cells(one, row, every, n[_family(row)])}
        for (name, _), one in zip(compared, found, strict=True)
        for row in one.rows
    ]
    no_sides = Compared("", "", ())
    given += [
        {"comparison": f"mean over {len(mean.families)} families",
         **_cells(no_sides, mean, every), **dict.fromkeys(OF_SIDES)} for mean in means
    ]  # fmt: skip
    given = [one for one in given if options["measure"] in ("all", one["measure"])]
    differing: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for name, mine, other in (fact for one in found for fact in one.unlike):
        firsts, seconds = differing.setdefault(name, ({}, {}))
        firsts[mine] = seconds[other] = None
    if not given:
        raise UsageError(
            "there is nothing to compare"
            + (f": the sides differ in {', '.join(sorted(differing))}" if differing else ""),
            hint="the sides must have been given the same battery and judged alike",
        )
    if pairs:
        what = "Base − instruct models of one family and size"
    else:
        names = names_of_groups(groups)
        what = f"Each group − {against}" if against else f"{names[0]} − {names[1]}"
    items = [
        {"comparison": one["comparison"], "panel": one["panel"], "measure": one["measure"],
         "item": item, "difference": difference}
        for one in given if len(one["of_items"]) > 1
        for (_, item), difference in one["of_items"].items()
    ]  # fmt: skip
    notes = [
        f"{what}, means over the items for which both have a value.",
        *interval_note(options),
        *(["Grey points: differences of the items."] if items else []),
        *([] if ESTIMANDS[options["interval"]] else _p_notes(given)),
    ]
    if differing:
        said = (f"{name} ({', '.join(a)} / {', '.join(b)})" for name, (a, b) in differing.items())
        notes.append(f"The sides also differ in {'; '.join(said)}.")
    told = ({"value": one["difference"], "reason": one["reason"]} for one in given)
    notes += ending(told, () if pairs else groups)
    return made_table("differences", DIFFERENCES, [*given, *items], notes, groups)


DIFFERENCES = (
    Column("comparison", "Comparison", "the two sides; they are empty for a mean over families"),
    Column("panel", "Panel", "measure and subtest, or judge, under which it is drawn"),
    *(one.column for one in SIDES),
    Column("units", "Units", "items, or clusters of items, whose signs are flipped"),
    Column("item", "Item", "of a difference of one item; empty of a mean"),
)
OF_SIDES = ("n", "n_baseline", "units")
"""Columns that a mean over families has no value of."""


def _pair_names(pairs: Sequence[Pair], groups: Groups) -> list[str]:
    """Return a name for each pair: family and size; both sides where several pairs have them."""

    def kin(pair: Pair) -> str:
        size = pair.parameters
        name = f"{pair.family} {size_words(int(size)) if size.isdecimal() else size}".strip()
        return f"{name} + {pair.lesion}" if pair.lesion else name

    called = {
        group.group.whole_name: name
        for name, group in zip(names_of_groups(groups), groups, strict=True)
    }
    names = list(map(kin, pairs))
    return [
        name
        if names.count(name) == 1
        else " − ".join(called.get(one, one) for one in (pair.found.first, pair.found.second))
        for name, pair in zip(names, pairs, strict=True)
    ]


def _of_groups(groups: Groups, against: str) -> list[tuple[str, Compared]]:
    named = dict(zip(names_of_groups(groups), groups, strict=True))
    if not against and len(groups) != 2:
        raise UsageError(
            "no base and instruct models of one family and size are among these, and there are "
            f"{len(groups)} groups",
            hint="choose two groups, or compare all with one of them: --option against=GROUP",
        )
    try:
        reference = baseline_of(groups, against) if against else groups[1]
    except UsageError as error:
        error.hint = "--option against=GROUP"
        raise
    own = next(name for name, group in named.items() if group is reference)
    others = {label: group for label, group in named.items() if group is not reference}
    for label, group in others.items():
        if group.battery.content_hash != reference.battery.content_hash:
            raise UsageError(
                f"{label} and {own} were given different batteries or versions",
                hint="choose one: --where battery=...",
            )
    pairs = [(group, reference) for group in others.values()]
    return [
        (
            label if against else f"{label} − {own}",
            replace(one, first=label, second=own, rows=of_means(one.rows)),
        )
        for label, one in zip(others, contrasts(pairs), strict=True)
    ]


def _family(row: Contrast) -> tuple[str, str]:
    """Return the family of a test: a judge's burden, or all accuracies."""
    return row.measure.id, row.judge


def _cells(pair: Compared, row: Contrast, every: Sequence[Contrast], tests: int = 0) -> Record:
    """Return a contrast as the table of differences has it, and where and how it is drawn."""
    panel, like = row.title, row.like
    if row.terms is not None:
        alone = len({other.terms for other in every if other.rater == row.rater}) == 1
        panel = terms_title(row.terms, alone=alone)
    corrected = like.p is not None and tests > 1
    cells = {one.column.name: one.value(Of(pair, row)) for one in SIDES}
    status = undefined(NO_ITEMS) if row.difference is None else {"status": "value", "reason": None}
    return {
        **cells,
        **status,
        "panel": panel,
        "units": row.unit_count,
        "of_items": row.differences,
        "interval_reason": like.interval.reason or None,
        "correction": f"{like.correction} over {plural(tests, 'test')}" if corrected else None,
    }


def _p_notes(given: Sequence[Record]) -> list[str]:
    tested = [record for record in given if record.get("p") is not None]
    least = {one["units"]: one["smallest_p"] for one in tested if one["smallest_p"] is not None}
    said = []
    if least:
        ordered = sorted(least.items(), key=lambda one: -one[1])
        parts = ", ".join(f"{p:.3g} over {units}" for units, p in ordered)
        said.append(f"sign flips over items, the smallest that can be reached is {parts}")
    if any(record["test"] == PAIRED_T for record in tested):
        said.append("paired t over items where the sides have unequal numbers of replicates")
    if not said:
        return []
    corrections: dict[str, dict[str, None]] = {}
    for one in tested:
        if one["correction"]:
            corrections.setdefault(one["correction"], {})[one["measure"]] = None
    how = "; ".join(
        f"{', '.join(measures)} by {by.replace('Holm', 'the method of Holm')}"
        for by, measures in corrections.items()
    )
    return [
        f"p: two-sided, {'; '.join(said)}{', before correction' if how else ''}.",
        *([f"corr.: p corrected: {how}."] if how else []),
        f"Intervals use Student's t; {AGREE}.",
    ]


def _p_cell(record: Record, options: Options) -> str:
    these = ESTIMANDS[options["interval"]]
    if these or record["p"] is None:
        return ""
    corrected = f" / {chance(record['p_adjusted'])}" if record["correction"] else ""
    return f"{chance(record['p'])}{corrected}"


DIFFERENCES_FIGURE = FigureKind(
    "differences",
    "Paired differences with 95 % intervals",
    shows="Differences in burden and accuracy on the same items with their intervals and p values: "
    "base - instruct models of one family and size with the mean over families, or two groups, or "
    "all groups against one.",
    data="Two or more groups that were given one battery; for base and instruct models their "
    "profiles say family, tuning and parameters.",
    table=_differences,
    draw=Forest(
        row="comparison",
        value="difference",
        panel="panel",
        axis=lambda record: f"difference in {record['measure']}",
        look=lambda record, low: (
            "mean" if record["group"] is None else "point" if low is not None else "alone"
        ),
        cell=_p_cell,
        missing="not compared",
        under="item",
        head=lambda own: "p / corr." if any(record["correction"] for record in own) else "p",
        zero=True,
    ),
    options=(
        INTERVAL,
        FigureOption("measure", "what is compared", "all", ("all", BURDEN.id, ACCURACY.id)),
        FigureOption("against", "the group that all others are compared with"),
    ),
    judged=True,
)

# -- agreement -----------------------------------------------------------------------------------

COEFFICIENTS = ("kappa", "ac1")
AGREEMENT = (
    "first", "second", "feature", "title", "n", "kappa", "kappa_low", "kappa_high", "ac1",
    "ac1_low", "ac1_high", "few", "both_present", "first_present", "second_present", "both_absent",
    "positive_agreement", "reason",
)  # fmt: skip
"""Columns of the tables of agreement that the figure draws."""


def _agreement(groups: Groups, options: Options) -> Table:
    from tabwb.agreement.intervals import FEW_POSITIVES
    from tabwb.analysis.judges import with_intervals

    names, chosen = feature_titles(groups), chosen_features(groups)
    rows = [row | {"title": names[row["feature"]]} for row in _pair(groups, options["judges"])]
    first, second = rows[0]["first"], rows[0]["second"]
    notes = [
        f"Agreement of {first} and {second} on each feature.",
        "Bars: 95 % intervals by Dirichlet resampling; responses are taken as independent.",
        f"Instead of a coefficient over {FEW_POSITIVES} positives or fewer: responses that both, "
        "only the first, only the second and neither call present, and the agreement on present.",
        "N: responses with a verdict of both.",
    ]
    shown = [row for row in rows if not chosen or row["feature"] in chosen]
    return _agreeing(with_intervals(shown), notes, groups)


def _agreeing(rows: Sequence[Record], notes: Sequence[str], groups: Groups = ()) -> Table:
    from tabwb.analysis.agreement import TABLES

    known = {one.name: one for table in ("pairs", "agreement") for one in TABLES[table]}
    given = [{name: row.get(name) for name in AGREEMENT} for row in rows]
    return made_table("agreement", known.values(), given, notes, groups)


def agreement_table(found: Agreement) -> Table:
    """Return the numbers of the figure for people (or raters) with each other."""
    if not found.is_compared:
        raise UsageError("no two raters rated the same samples on a feature", where="--figure")
    who = "people" if found.of_people else "raters"
    pairs = plural(len(found.rows("pairs", design="main", averaged=True)), "pair")
    resampled = "samples" if found.rated.speakers is None else "speakers"
    notes = [
        f"Agreement of {who} with each other on each feature: means over {pairs}, weighted by "
        "shared samples.",
        f"Bars: 95 % intervals over resampled {resampled}.",
        "Instead of a coefficient, where in every pair a category has 3 samples or fewer: samples "
        "that both, only the first, only the second and neither call present, over pairs, and the "
        "agreement on present.",
        "N: samples with two verdicts or more.",
    ]
    return _agreeing(found.rows("agreement", design="main"), notes)


def _coefficients(given: list[Record]) -> list[Record]:
    """Return the coefficients of each feature, each a row."""
    drawn = {"value": "", "low": "_low", "high": "_high"}
    return [
        row | {"measure": name}
        | {own: None if row["few"] else row[name + end] for own, end in drawn.items()}
        for name in COEFFICIENTS for row in given
    ]  # fmt: skip


def _pair(groups: Groups, judges: str) -> list[Record]:
    """Return the features of the two judges that are asked for, or of the only two."""
    from tabwb.analysis.judges import judges_of

    members = {
        member.administration.id: member for group in groups for member in group.group.members
    }
    if len({member.battery.content_hash for member in members.values()}) > 1:
        raise UsageError(
            "the administrations are of several batteries", hint="choose one: --where battery=..."
        )
    compared = judges_of(tuple(members.values()))
    pairs: dict[tuple[str, str], list[Record]] = {}
    for row in compared.tables["pair-features"].to_dicts():
        pairs.setdefault((row["first"], row["second"]), []).append(row)
    names = judge_names(name for pair in pairs for name in pair)
    wanted = judges.replace(", ", ",").strip(" ,")
    chosen = [pair for pair in pairs if not wanted or wanted in _called(pair, names)]
    if len(chosen) == 1:
        return pairs[chosen[0]]
    if not pairs:
        why = "; ".join(
            f"{row['first']} and {row['second']}: {row['reason']}"
            for row in compared.tables["pairs"].to_dicts()
        )
        raise UsageError(
            "no two judges have judged the same responses" + (f": {why}" if why else ""),
            hint="tabwb judge run ID --judge SPEC",
        )
    raise UsageError(
        f"{'several' if chosen else 'no two'} judges are called '{wanted}'"
        if wanted
        else "several pairs of judges",
        allowed="; ".join(f"{names[first]},{names[second]}" for first, second in pairs),
        hint="--option judges=FIRST,SECOND",
    )


def _called(pair: tuple[str, str], names: Mapping[str, str]) -> set[str]:
    """Return what two judges may be called: specs, short names or ids, in both orders."""
    first, second = ({judge, names[judge], judge.partition(":")[0]} for judge in pair)
    return {text for one in first for two in second for text in (f"{one},{two}", f"{two},{one}")}


def _verdicts(record: Record) -> str:
    """Return the table of verdicts, shown instead of a coefficient."""
    if not record["n"]:
        return ""
    names = ("both_present", "first_present", "second_present", "both_absent")
    counts = "/".join(str(record[name]) for name in names)
    positive = record["positive_agreement"]
    return counts if positive is None else f"{counts}, {positive:.2f}"


AGREEMENT_FIGURE = FigureKind(
    "agreement",
    "Agreement of two judges",
    shows="Cohen's kappa and Gwet's AC1 of two judges for each feature with intervals; the table "
    "of their verdicts where three responses or fewer are called present.",
    data="Administrations whose responses two judges have judged.",
    table=_agreement,
    draw=Forest(
        row="title",
        axis=lambda record: "coefficient of agreement",
        look=lambda record, low: str(record["measure"]),
        cell=lambda record, _: str(record["n"]),
        words=_verdicts,
        rows=_coefficients,
        include=(0.0, 1.0),
        zero=True,
    ),
    options=(
        FigureOption(
            "judges", "the two judges, separated by a comma; required if there are more than two"
        ),
    ),
    by="administration",
)

# -- calibration ---------------------------------------------------------------------------------

RATES = ("sensitivity", "specificity")


def calibration_table(found: Agreement) -> Table:
    """Return how often each judge is right by the people, as the table of calibration has it."""
    every = found.rows("calibration")
    given = [row for row in every if row["sensitivity_n"] or row["specificity_n"]]
    if not given:
        raise UsageError("no judge rated samples that people rated too", where="--draw",
                         hint="tabwb agreement SET --judge NAME")  # fmt: skip
    references = ", ".join(dict.fromkeys(row["reference"] for row in given))
    notes = [
        f"Verdicts of each judge against {references}: sensitivity, the share of samples with a "
        "feature that the judge calls present; specificity, of those without it, absent.",
        "Bars: 95 % intervals. N: samples with the feature and samples without it.",
        f"A rate over fewer than {FEWEST_RATED} samples is not drawn.",
    ]
    if left := len({row["feature"] for row in every}) - len({row["feature"] for row in given}):
        notes.append(f"Left out: {plural(left, 'feature')} without verdicts of both.")
    from tabwb.analysis.agreement import TABLES

    known = {one.name: one for one in TABLES["calibration"]}
    return made_table(
        "calibration", known.values(), [{name: row.get(name) for name in known} for row in given],
        notes,
    )  # fmt: skip


FEWEST_RATED = 4
"""Samples of a rate that is drawn: the interval of fewer covers nearly everything."""


def _rates(given: list[Record]) -> list[Record]:
    """Return the rates of each feature, each a row."""
    drawn = {"value": "", "low": "_low", "high": "_high"}
    return [
        row | {"measure": name}
        | {own: row[name + end] if (row[f"{name}_n"] or 0) >= FEWEST_RATED else None
           for own, end in drawn.items()}
        for name in RATES for row in given
    ]  # fmt: skip


def _ratings_only(groups: Groups, options: Options) -> Table:
    raise UsageError(
        "calibration is of ratings, not of groups",
        hint="tabwb agreement SET --judge NAME --figure FILE --draw calibration",
    )


CALIBRATION_FIGURE = FigureKind(
    "calibration",
    "Judges against people",
    shows="Sensitivity and specificity of each judge for each feature, with intervals.",
    data="Ratings of people and of judges on the same samples.",
    table=_ratings_only,
    draw=Forest(
        row="title",
        panel="judge",
        axis=lambda record: "share of right verdicts",
        look=lambda record, low: str(record["measure"]),
        cell=lambda record, _: f"{record['sensitivity_n']}/{record['specificity_n']}",
        words=lambda record: (
            "" if any(record[f"{name}_n"] >= FEWEST_RATED for name in RATES) else "few samples"
        ),
        rows=_rates,
        limits=(0.0, 1.0),
    ),
)
