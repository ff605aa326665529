"""The sentences that go with every result, wherever it is shown or written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tabwb.analysis.draws import pooled_caution, repeated_caution
from tabwb.battery.available import unavailable
from tabwb.battery.model import Battery
from tabwb.records.columns import fixed
from tabwb.records.languages import is_english, language_name
from tabwb.records.trials import Administration
from tabwb.records.words import LESION_CAUTION, MODEL_CAUTION, RESEARCH_ONLY, SPEECH_CAUTION, plural
from tabwb.scoring.burden import Burden

if TYPE_CHECKING:
    from tabwb.analysis.administrations import RaterSummary
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.moved import Moved
    from tabwb.analysis.statistics.results import Result, Results

CHANGED = (0, 2)
"""The version from which on the rules hold."""
FEW_ITEMS = 20
"""Below so many items an interval is said to be unreliable."""
PROMPTS_LIKE_THESE = (
    "95 % intervals are for prompts like these: the items are taken as a sample of such prompts."
)
DETERMINISTIC = (
    "Where nothing was drawn (greedy), the figures are deterministic for exactly these prompts."
)
FEW = f"There are fewer than {FEW_ITEMS} items: intervals from so few can be too narrow."
UNRELIABLE = (
    f"There are fewer than {FEW_ITEMS} items. If one prompt in five elicits nearly all features, "
    "an interval is too narrow, whatever the method: in simulated studies the interval of a burden "
    "contained the true value in 92 % of studies with 4 to 8 items (56 % in the worst case) and in "
    "96 % with 10 to 15 (85 %)."
)


def battery_cautions(battery: Battery, *, model: bool, lesion: bool = False) -> Iterator[str]:
    """Yield what must be known of every result of a battery, whatever its figures are."""
    yield RESEARCH_ONLY
    if battery.disclaimer:
        yield battery.disclaimer
    if model:
        yield MODEL_CAUTION
    if lesion:
        yield LESION_CAUTION
    if battery.coded or (battery.spoken and not model):
        yield SPEECH_CAUTION
    if missing := unavailable(battery):
        yield f"{missing[0].upper()}{missing[1:]}."
    if battery.lacks:
        yield (
            f"{battery.lacks[0].upper()}{battery.lacks[1:]}: its responses are shown without its "
            "rules, and no more can be given."
        )


def group_cautions(rows: Sequence[Grouped]) -> list[str]:
    """Return what must be known of the summaries of groups, each sentence once."""
    told: dict[str, None] = {}
    for row in rows:
        model, lesion = row.group.has_model, row.group.has_lesion
        of_row = cautions(row.battery, row.results, model=model, lesion=lesion, burdens=False)
        told |= dict.fromkeys(of_row)
    if UNRELIABLE in told:
        told.pop(FEW, None)
    changed = [
        moved(row.results, [member.administration for member in row.group.members]) for row in rows
    ]
    judged = [judge.burden for row in rows for judge in row.results.judges]
    return [*told, *_moved_words(changed), *correlation_notes(judged)]


def is_older(administration: Administration) -> bool:
    """Return whether a version with the former rules stored an administration."""
    found = re.match(r"(\d+)\.(\d+)", administration.versions.get("tabwb", ""))
    return found is not None and (int(found[1]), int(found[2])) < CHANGED


def moved(results: Results, administrations: Iterable[Administration]) -> tuple[Moved, ...]:
    """Return the burdens, intervals, accuracies and rates that older versions printed otherwise."""
    if not any(map(is_older, administrations)):
        return ()
    from tabwb.analysis.moved import changed

    return changed(results)


def _moved_words(found: Sequence[Sequence[Moved]]) -> Iterator[str]:
    if any(found):
        from tabwb.analysis.moved import moved_words

        yield from moved_words(found)


def cautions(
    battery: Battery,
    results: Results,
    *,
    model: bool,
    lesion: bool = False,
    burdens: bool = True,
    given: Sequence[Administration] = (),
) -> Iterator[str]:
    """Yield what must be known of a summary."""
    yield from battery_cautions(battery, model=model, lesion=lesion)
    n = results.number("responses")
    if inexact := results.number("inexact"):
        yield (
            f"{inexact} of {n} responses are near ties: at some "
            "token two candidates were no further apart than rounding, so that they may change "
            "with batch size or device (batch_exact=no)."
        )
    for failed in results.failed:
        yield f"{failed}."
    yield from rater_cautions(results.raters)
    if reasoned := results.number("with_reasoning"):
        yield (
            f"{reasoned} of {n} responses contain the "
            "model's reasoning, which was scored as speech: a version before 0.2.0 did not keep "
            "it apart. 'tabwb trial rescore ID' does so."
        )
    yield from _moved_words([moved(results, given)])
    yield from _of_intervals(results)
    if burdens:
        yield from correlation_notes([judge.burden for judge in results.judges])
    if shared := results.number("shared_streams"):
        yield pooled_caution(shared, n)
    if again := results.number("repeated_draws"):
        yield repeated_caution(again)
    for cause, found in results.of("empty").items():
        yield f"{found.value.value} of {n} responses have no text: {cause}."
    for judge in results.judges:
        if judge.other_prompts:
            others = ", ".join(
                f"{n} under {name[:8]}" for name, n in sorted(judge.other_prompts.items())
            )
            yield (
                f"Judging again by {judge.rater} was not finished: of the verdicts on "
                f"{plural(judge.burden.n_responses, 'response')} {others}, the others under "
                f"{(judge.terms.prompt_hash or 'none')[:8]} (prompt)."
            )
    yield from _read_as_english(battery, results)
    declared = {judge.rater: judge.caution for judge in results.judges if judge.caution}
    for rater, caution in declared.items():
        yield f"Verdicts of {rater}: {caution.rstrip('.')}."


def _read_as_english(battery: Battery, results: Results) -> Iterator[str]:
    """Yield what earlier versions stored of a battery in another language, read as English."""
    if is_english(battery.language):
        return
    again = "'tabwb trial rescore ID' rates again"
    for judge in results.judges:
        if judge.rater.startswith("rules-") and judge.burden.symptom_burden.value is not None:
            yield (
                f"Verdicts of {judge.rater} were given before version 0.2.0 by rules for English: "
                f"they say nothing about {language_name(battery.language)}; {again}."
            )
    for part in results.parts:
        subtest = part.subtest
        read = subtest.task.closed and (subtest.task.options or not subtest.answer_words)
        if read and part.value("accuracy", "extracted").defined:
            yield f"'extracted' in {subtest.id} was read as English; {again}."


def _of_intervals(results: Results) -> Iterator[str]:
    accuracies = list(_accuracies(results))
    burdens = [judge.burden for judge in results.judges if judge.burden.interval]
    if not accuracies and not burdens:
        return
    if burdens or any(map(_has_interval, accuracies)):
        yield PROMPTS_LIKE_THESE
    fixed = [tally.fixed for rows in accuracies for row in rows[:1] if (tally := row.tally)]
    if all([*fixed, *(burden.fixed for burden in burdens)]):
        yield DETERMINISTIC
    yield from few_items(results)


def _accuracies(results: Results) -> Iterator[list[Result]]:
    """Yield the accuracies of each scored subtest, *exact* first."""
    for part in results.parts:
        if part.right.n:
            yield list(part.policies("accuracy").values())


def _has_interval(accuracies: Sequence[Result]) -> bool:
    return any(row.interval for row in accuracies)


def correlation_notes(burdens: Sequence[Burden]) -> Iterator[str]:
    """Yield what the intervals of burdens take for granted, each sentence once for all of them."""
    given = [
        burden
        for burden in burdens
        if burden.interval and len(burden.features) > 1 and not burden.calibration
    ]
    alone = len(given) == 1
    if nothing := [burden for burden in given if not burden.found]:
        highs = _range([burden.independent_high for burden in nothing])
        yield (
            f"{'No feature was found. The' if alone else 'Where no feature was found, the'} upper "
            "limit allows for responses with half of all features at once; if features came "
            f"independently it would be {highs}."
        )
    if few := [burden for burden in given if burden.found and burden.few_found]:
        where = "" if alone else f" for {plural(len(few), 'burden')} of {len(given)}"
        found = _range([burden.found for burden in few], 0)
        one = "feature was" if found == "1" else "features were"
        yield (
            f"How far features come together is partly assumed{where}, because only {found} {one} "
            "found."
        )
    if rare := [burden for burden in given if 3 * burden.most < len(burden.features)]:
        every = len(rare) == len(given)
        where = "" if every else f" (in {plural(len(rare), 'burden')} of {len(given)})"
        n = _range([burden.n_burden for burden in rare], 0)
        shares = _range([min(1.0, 3 / burden.n_burden) for burden in rare])
        yield (
            f"None of {n} responses had a third of the features or more{where}; a share of such "
            f"responses up to {shares} (3 / responses) cannot be excluded."
        )


def bounds_words(burden: Burden) -> tuple[str, ...]:
    """Return the limits of a burden, whatever the unusable responses were, where they are many."""
    if (bounds := burden.bounds) is None:
        return ()
    ends = f"{fixed(bounds.low, 2)} to {fixed(bounds.high, 2)}"
    unusable = plural(sum(burden.lost), "unusable response")
    return (f"{ends} if the {unusable} had no feature, or all",)


def _range(values: Sequence[float], digits: int = 2) -> str:
    """Return the least and the largest value, as words."""
    return " to ".join(dict.fromkeys(fixed(value, digits) for value in (min(values), max(values))))


def few_items(*several: Results) -> Iterator[str]:
    """Yield that an interval is over fewer items than :data:`FEW_ITEMS`, once."""
    burdens = [judge.burden for results in several for judge in results.judges]
    counts = [burden.n_units for burden in burdens if burden.interval]
    accuracies = (rows for results in several for rows in _accuracies(results))
    tallies = (rows[0].tally for rows in accuracies if _has_interval(rows))
    counts += (tally.n_units for tally in tallies if tally is not None)
    if min(counts, default=FEW_ITEMS) < FEW_ITEMS:
        yield UNRELIABLE if burdens else FEW


def rater_cautions(raters: Sequence[RaterSummary]) -> Iterator[str]:
    """Yield what must be known of the raters of a result."""
    for one in raters:
        if one.kind == "scorer" and not one.measures:
            yield (
                f"The scorer {one.rater} did not declare which of its measures are verdicts, as "
                "before version 0.2.0: none of its values says right or wrong. 'tabwb trial "
                "rescore ID' rates again."
            )
        if len(one.plugins) > 1:
            yield f"{one.rater} rated with several versions of its plugin: {one.versions}."
    unknown = [one.rater for one in raters if one.plugins == (None,)]
    if unknown:
        yield (
            "The version of the plugin was not recorded before version 0.2.0, for the ratings of: "
            f"{', '.join(unknown)}."
        )
