"""Sentences about how responses were scored, and which were unusable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tabwb.battery.model import Battery
from tabwb.media.references import (
    COVINGTON_MCFALL,
    MCCARTHY_JARVIS,
    Citations,
)
from tabwb.media.sentences import listed, spread
from tabwb.media.studied import Studied
from tabwb.records.words import plural
from tabwb.report.file_names import without_folders
from tabwb.report.names import judge_names
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, cause_in_words
from tabwb.scoring.burden import Burden

SHORT_HASH = 12
RIGHT = {
    "choice": "it equals the expected answer in every letter",
    "yes-no": "it equals the expected answer in every letter",
    "repetition": "it equals the target in every letter and mark",
}
"""Scorer to when a response is right under the policy *exact*."""
STATUSES = {
    "empty": "empty",
    "refused": "refused",
    "not-language": "not language",
    "prompt-echo": "an echo of the prompt",
    "repeated-answer": "the same text for three or more prompts",
    "degenerate": "degenerate",
    "truncated": "cut without text",
}
"""Why a response is unusable, after its number."""


def scoring(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield how responses were scored right or wrong, measured, and judged."""
    seen: set[tuple[str, ...]] = set()
    for battery in about.batteries:
        rows = about.rows_of(battery)
        if len(about.batteries) > 1:
            yield f"{battery.title}:"
        yield from _right_or_wrong(battery, rows)
        yield from _named(rows)
        yield from _diversity(battery, rows, cite)
        called = judge_names(_by_rater(about))
        judges = _judges(rows)
        for _, own in spread(judges, lambda one: (one.scope, one.declared, one.burden.features)):
            features = own[0].burden.features
            yield _judged(battery, own, called, same=features in seen)
            seen.add(features)
        if any(judge.burden.features for judge in judges):
            yield (
                "The symptom burden is the mean number of these features present per response; "
                "items have equal weights."
            )
        for caution, own in spread(judges, lambda one: one.caution.rstrip(".")):
            if caution:
                raters = listed(dict.fromkeys(called[judge.rater] for judge in own))
                yield f"Verdicts of {raters}: {caution}."


def _right_or_wrong(battery: Battery, rows: Sequence[Grouped]) -> Iterator[str]:
    scored = {part.id for row in rows for part in row.summary.subtests if part.share.scored}
    subtests = [subtest for subtest in battery.subtests if subtest.id in scored]
    ruled = [subtest for subtest in subtests if subtest.scorers[0] in RIGHT]
    rules = [
        f"a response to {listed((subtest.title for subtest in own), 'or')} is right if {rule}"
        for rule, own in spread(ruled, lambda subtest: RIGHT[subtest.scorers[0]])
    ]
    if rules:
        yield (
            f"Under the policy exact, {listed(rules)}; leading and trailing white space is removed."
        )
        yield (
            "The policy normalised also accepts other case and a missing or additional final stop; "
            "the policy extracted reads the answer out of a longer response."
        )
    for subtest in subtests:
        if subtest not in ruled:
            scorer = without_folders(subtest.scorers[0])
            yield f"Responses to {subtest.title} were scored by {scorer}."
    baselines = {
        name
        for row in rows
        for part in row.summary.subtests
        if part.share.scored
        for name in part.baselines
    }
    words = {
        "always_first": "always choosing the first option",
        "always_yes": "always answering Yes",
        "guessing": "guessing",
    }
    known = [text for name, text in words.items() if name in baselines]
    if known:
        yield f"Baselines are the accuracies of {listed(known)}."


def _named(rows: Sequence[Grouped]) -> Iterator[str]:
    found = [named for row in rows for named in row.summary.named]
    for title, rule in sorted({(named.title, named.rules.rule) for named in found}):
        own = [named.summary for named in found if (named.title, named.rules.rule) == (title, rule)]
        listener = sum(summary.by_listener for summary in own)
        by_rule = sum(summary.by_rule for summary in own)
        items = (
            item
            for one in found
            if (one.title, one.rules.rule) == (title, rule)
            for item in one.items
            if item.decided_by == "rule"
        )
        by_ear = sum(bool(item.heard) for item in items)
        n = by_rule + listener
        if not n:
            yield f"No name in {title} is scored yet."
            continue
        if listener:
            yield (
                f"{listener:,} of {plural(n, 'name')} in {title} "
                f"{'counts' if listener == 1 else 'count'} by a listener's verdict."
            )
        if by_rule:
            on = "on the transcript"
            if by_ear:
                on = f"on what a listener wrote down ({by_ear:,}) or on the transcript"
                on = "on what a listener wrote down" if by_ear == by_rule else on
            yield (
                f"{by_rule:,} of {plural(n, 'name')} in {title} "
                f"{'is' if by_rule == 1 else 'are'} scored by the battery's rule {rule} {on}."
            )
        if by_rule > by_ear:
            yield (
                "Scores by rule on a transcript are a draft until a trained listener has heard "
                "the recordings."
            )


def _diversity(battery: Battery, rows: Sequence[Grouped], cite: Citations) -> Iterator[str]:
    measured = {name for row in rows for part in row.summary.subtests for name in part.measures}
    if {"mattr", "mtld"} <= measured:
        yield (
            "Lexical diversity is the moving-average type-token ratio over windows of 50 words "
            f"(MATTR) {cite(COVINGTON_MCFALL)} and the measure of textual lexical diversity "
            f"(MTLD) {cite(MCCARTHY_JARVIS)}; both are undefined below 50 words."
        )


def _judges(rows: Sequence[Grouped]) -> tuple[JudgeSummary, ...]:
    """Return one summary of each judge and its terms that has judged any of the responses."""
    judges = (judge for row in rows for judge in row.summary.judges)
    found = {judge.terms: judge for judge in judges if judge.burden.n_responses}
    return tuple(found.values())


def _judged(
    battery: Battery, judges: Sequence[JudgeSummary], called: Mapping[str, str], *, same: bool
) -> str:
    """Return who rated which features."""
    first = judges[0]
    titles = {feature.id: feature.title for feature in battery.features}
    names = [titles.get(feature, feature).lower() for feature in first.burden.features]
    what = "Connected text" if first.scope == "connected-text" else "Every response that was read"
    raters = []
    for judge in sorted(judges, key=lambda one: called[one.rater]):
        rater = called[judge.rater]
        facts = [] if rater == judge.rater else [without_folders(judge.rater)]
        if judge.prompt_hash:
            facts.append(f"prompt SHA-256 {judge.prompt_hash[:SHORT_HASH]}")
        raters.append(f"{rater} ({', '.join(facts)})" if facts else rater)
    declared = "" if first.declared else " (set not declared by the rater)"
    the_same = "the same " if same else ""
    over = f": {listed(names)}" if names and not same else ""
    features = plural(len(names), "feature")
    return (
        f"{what} was rated by {listed(raters)} for the presence of {the_same}{features}{declared}"
        f"{over}."
    )


def unusable(about: Studied) -> Iterator[str]:
    """Yield how many responses count, and which of them are unusable."""
    n = sum(row.summary.answers.n for row in about.rows)
    if not n:
        yield "There are no responses."
        return
    planned = sum(part.planned for row in about.rows for part in row.summary.subtests)
    if planned > sum(member.administration.planned for member in about.members):
        yield "A response that belongs to several groups is counted in each of them."
    yield from _counted_once(about)
    causes: Counter[str] = Counter()
    by_row: dict[str, dict[str, int]] = {}
    for row in about.rows:
        found = row.summary.answers.usable.causes
        causes.update(found)
        names = dict.fromkeys(map(about.name, row.group.members))
        name = next(iter(names)) if len(names) == 1 else about.title(row)
        for cause, number in found.items():
            own = by_row.setdefault(cause, {})
            own[name] = own.get(name, 0) + number
    if not causes:
        were = (
            "The one response that counts is usable."
            if n == 1
            else (f"All {n:,} responses that count are usable.")
        )
        yield were
    else:
        total = causes.total()
        parts = listed(
            f"{number:,} {STATUSES.get(cause, cause)}{_where(by_row[cause], about)}"
            for cause, number in causes.most_common()
        )
        are = "is" if total == 1 else "are"
        yield f"Of {plural(n, 'response')} {total:,} {are} unusable: {parts}."
        yield (
            "The features of an unusable response are undefined for every rater: it enters no "
            "burden, rate or mean of words, and stays in the accuracies as scored."
        )
    yield from _without_burden(about)


def _where(by_row: Mapping[str, int], about: Studied) -> str:
    if len(about.rows) == 1 or len(set(map(about.name, about.members))) == 1:
        return ""
    return f" ({', '.join(f'{title} {number:,}' for title, number in by_row.items())})"


def _counted_once(about: Studied) -> Iterator[str]:
    answered = sum(part.answered for row in about.rows for part in row.summary.subtests)
    counted = sum(row.summary.answers.n for row in about.rows)
    again = sum(row.summary.answers.repeated_draws for row in about.rows)
    same = answered - counted - again
    if same > 0:
        yield (
            f"{plural(same, 'response')} {'is' if same == 1 else 'are'} identical to another "
            "response to the same item for which nothing was drawn, and "
            f"{'is' if same == 1 else 'are'} not counted again."
        )
    if again:
        yield (
            f"{plural(again, 'response')} {'repeats' if again == 1 else 'repeat'} a draw of "
            f"another administration and {'is' if again == 1 else 'are'} not counted again."
        )


def _without_burden(about: Studied) -> Iterator[str]:
    of_judges = _by_rater(about)
    names = judge_names(of_judges)
    not_judged: dict[int, list[str]] = {}
    for judge, rows in of_judges.items():
        causes: Counter[str] = Counter()
        waiting = sum(row.not_judged(judge) for row in rows)
        for row in rows:
            for own in row.summary.judges:
                if own.rater == judge:
                    causes.update(_usable_without(own.burden))
        rater = names[judge]
        if causes:
            total = causes.total()
            why = listed(f"{number:,} {cause}" for cause, number in causes.most_common())
            yield (
                f"{plural(total, 'usable response')} {'has' if total == 1 else 'have'} no burden "
                f"by {rater}: {why}."
            )
        if waiting:
            not_judged.setdefault(waiting, []).append(rater)
    for waiting, raters in not_judged.items():
        each, whose = ("each ", "their") if len(raters) > 1 else ("", "its")
        yield (
            f"{plural(waiting, 'response')} {each}{'is' if waiting == 1 else 'are'} not yet judged "
            f"by {listed(sorted(raters))}, and in none of {whose} figures."
        )


def _usable_without(burden: Burden) -> dict[str, int]:
    return {
        cause_in_words(cause): number
        for cause, number in burden.no_burden.items()
        if cause not in burden.usable.causes and cause != "no-response"
    }


def _by_rater(about: Studied) -> dict[str, tuple[Grouped, ...]]:
    raters = dict.fromkeys(judge.rater for row in about.rows for judge in row.summary.judges)
    return dict.fromkeys(raters, about.rows)
