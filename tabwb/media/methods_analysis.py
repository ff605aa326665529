"""How figures are pooled and how their intervals are computed, in sentences for the methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.analysis.contrast import kindred
from tabwb.media.references import (
    BROWN_CAI_DASGUPTA,
    CLOPPER_PEARSON,
    GARWOOD,
    KORN_GRAUBARD,
    Citations,
)
from tabwb.media.sentences import listed
from tabwb.media.studied import Studied, is_sampled
from tabwb.records.words import plural
from tabwb.report.summaries.cautions import FEW_ITEMS
from tabwb.report.summaries.subtests import Share
from tabwb.scoring.burden import Burden
from tabwb.scoring.intervals import FEATURE_CORRELATION, REPLICATE_CORRELATION


def analysis(about: Studied, cite: Citations) -> Iterator[str]:
    """Yield how figures are pooled and how their intervals are computed."""
    shares = [p.share for row in about.rows for p in row.summary.subtests if p.share.scored]
    burdens = [
        judge.burden
        for row in about.rows
        for judge in row.summary.judges
        if judge.burden.symptom_burden.defined
    ]
    if any(len(row.group.members) > 1 for row in about.rows):
        yield (
            "The responses of a group were pooled; responses given under different conditions "
            "were not."
        )
    named = [
        share
        for row in about.rows
        for subtest in row.summary.named
        for share in subtest.summary.accuracy
        if share.n
    ]
    if not shares and not burdens and not named:
        return
    yield (
        "Intervals are 95 % intervals for prompts like these: the items are taken as a sample of "
        "such prompts."
    )
    if any(burden.interval for burden in burdens):
        yield (
            "Intervals of burdens use the effective sample size of Korn and Graubard "
            f"{cite(KORN_GRAUBARD)} with exact binomial limits {cite(CLOPPER_PEARSON)}; the "
            f"correlation of replicates is taken as at least {REPLICATE_CORRELATION:g}, that of "
            "the features of one response is estimated and shrunk towards "
            f"{FEATURE_CORRELATION:g}."
        )
    single, replicated = _by_replicates(shares)
    single |= any(not share.clustered for share in named)
    replicated |= any(share.clustered for share in named)
    if single:
        where = "" if not replicated else " with one response to each item"
        yield (
            f"Intervals of accuracies{where} are exact binomial intervals {cite(CLOPPER_PEARSON)}."
        )
    rates = bool(burdens)
    if replicated or rates:
        what = listed(
            [
                *(["accuracies with several responses to an item"] if replicated else []),
                *(["rates of features"] if rates else []),
            ]
        )
        yield (
            f"Intervals of {what} are quantiles of a beta-binomial model with Jeffreys' prior "
            f"{cite(BROWN_CAI_DASGUPTA)} on the mean and a uniform prior on the correlation of "
            "responses to one item."
        )
    yield from _these_prompts(about, shares, burdens, cite)
    if kindred(about.rows):
        yield (
            "Base and instruct models of one family and size are compared over the items that both "
            "have, the responses to an item averaged first; intervals of differences are paired t "
            "intervals over items, at least as wide as the draws alone make them."
        )
    if few := [n for n in _item_counts(shares, burdens) if n < FEW_ITEMS]:
        of = plural(few[-1], "item")
        yield (
            f"With {of if few[0] == few[-1] else f'{few[0]} to {of}'} an interval can be too "
            "narrow if one prompt elicits a feature almost alone."
        )


def _by_replicates(shares: Sequence[Share]) -> tuple[bool, bool]:
    sizes = [[n for _, n in share.by_item["exact"]] for share in shares]
    single = any(all(n == 1 for n in own) for own in sizes)
    return single, any(any(n > 1 for n in own) for own in sizes)


def _these_prompts(
    about: Studied, shares: Sequence[Share], burdens: Sequence[Burden], cite: Citations
) -> Iterator[str]:
    of_burdens = any(
        len(burden.intervals) > 1 and burden.intervals[1].interval for burden in burdens
    )
    of_shares = any(len(found := share.intervals()) > 1 and found[1].interval for share in shares)
    if of_burdens or of_shares:
        parts = []
        if of_burdens:
            parts.append(
                f"Garwood's Poisson limits {cite(GARWOOD)}, widened by the dispersion within "
                "items and by that of features that come together, for burdens"
            )
        if of_shares:
            parts.append(f"exact binomial intervals {cite(CLOPPER_PEARSON)} for accuracies")
        yield (
            "Intervals for exactly these prompts, of which only the draws vary, are "
            f"{listed(parts)}."
        )
    elif (
        (shares or burdens)
        and not any(map(is_sampled, about.members))
        and all(share.fixed for share in shares)
        and all(burden.fixed for burden in burdens)
    ):
        yield "Nothing was drawn: for exactly these prompts the figures are deterministic."


def _item_counts(shares: Sequence[Share], burdens: Sequence[Burden]) -> list[int]:
    """Return over how many items accuracies and burdens are, in ascending order."""
    counts = [len(share.by_item["exact"]) for share in shares if share.by_item["exact"]]
    return sorted([*counts, *(len(burden.sizes) for burden in burdens if burden.sizes)])
