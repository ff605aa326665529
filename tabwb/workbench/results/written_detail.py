"""One written response: its prompt, the response, verdicts, measures, what judges say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from textual.content import Content

from tabwb.analysis.administrations import is_usable
from tabwb.analysis.measures import measure_of
from tabwb.media.wording import figure, plain
from tabwb.records.ratings import PROBABILITY, Judged, Rating
from tabwb.records.states import AttemptState, RatingStatus
from tabwb.workbench.engine.view_models import Item
from tabwb.workbench.results.presenter import ResponseRow, Results
from tabwb.workbench.results.verdicts import judged_response, raw_words, verdict_lines
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    QUIET,
    folded,
    reasoning_words,
    seconds,
    stopped,
)

MOST_OTHERS = 20
"""So many responses in other replicates are shown."""
MOST = 100
"""Text is not wider than so many columns."""
_VERDICTS: Mapping[bool | None, str] = {True: "✓ right", False: "✗ wrong", None: "- no verdict"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a response is shown.

    Attributes:
        exact: the prompt exactly as it was sent, not only that of the item.
        raw: the judges' reasons and raw replies instead of their verdicts.
        judged: the calls of judges that ask a model; None before they are read.
    """

    exact: bool = False
    raw: bool = False
    judged: tuple[Judged, ...] | None = None


def title_of(row: ResponseRow, replicates: int) -> str:
    """Return the title of a response: item, place, subtest, replicate."""
    item, plan = row.item, row.item.trial.plan
    place = f"{item.place[0]} of {item.place[1]}"
    words = [plan.item, place, item.subtest]
    if replicates > 1:
        words.append(f"replicate {plan.replicate + 1} of {replicates}")
    return " · ".join(words)


def detail_lines(results: Results, row: ResponseRow, shown: Shown, width: int) -> Iterator[Content]:
    """Yield everything about one written response."""
    width = min(width, MOST)
    item = row.item
    yield from _prompt(item, shown, width)
    yield Content("")
    yield from _response(row, width)
    yield from _reasoning(item, shown, width)
    yield from _facts(row, width)
    for note in row.notes:
        yield from folded(f"note: {note}", width, AMBER)
    yield from _earlier(item, width)
    features = {feature.id for feature in results.battery.features}
    measures = list(_measures(item, features, width))
    yield from [Content(""), *measures] if measures else []
    if item.attempt is not None:
        yield from _verdicts(results, item, shown, width)
    yield from _replicates(results, row, width)


def _verdicts(results: Results, item: Item, shown: Shown, width: int) -> Iterator[Content]:
    judged = judged_response(results.battery, item.trial, shown.judged or ())
    if not judged.judges and not results.battery.subtest(item.trial.plan.subtest).task.connected:
        return
    yield Content("")
    if shown.raw and shown.judged is None:
        yield Content.styled("… reading the judges' replies", QUIET)
    elif shown.raw:
        yield Content.styled("Reasons and raw replies   w: verdicts", f"bold {QUIET}")
        yield from raw_words(judged, width)
    else:
        yield from verdict_lines(judged, width)


def _replicates(results: Results, row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield the responses to the same item in the other replicates, a line for each."""
    plan = row.item.trial.plan
    others = [
        other
        for other in results.responses
        if (other.item.trial.plan.item, other.item.trial.plan.subtest) == (plan.item, plan.subtest)
        and other is not row
    ]
    if not others:
        return
    yield Content("")
    yield Content.styled("The same item in other replicates", f"bold {QUIET}")
    for other in others[:MOST_OTHERS]:
        attempt = other.item.attempt
        text = other.verdict if attempt is None else " ".join(attempt.response.split())
        line = f"{other.item.trial.plan.replicate + 1:>3}  {MARKS[other.glyph]} {text}"
        yield Content(line).truncate(width, ellipsis=True)
    if len(others) > MOST_OTHERS:
        yield Content.styled(f"… {len(others) - MOST_OTHERS} more", QUIET)


def _prompt(item: Item, shown: Shown, width: int) -> Iterator[Content]:
    if shown.exact:
        yield Content.styled("Sent exactly   i: prompt of the item", f"bold {QUIET}")
        yield from folded(item.sent, width)
        return
    yield from folded(item.prompt, width, QUIET)
    if item.options and any(option not in item.prompt for option in item.options):
        yield from folded("   ".join(item.options), width, QUIET)


def _response(row: ResponseRow, width: int) -> Iterator[Content]:
    item = row.item
    if item.attempt is None:
        words = f"{MARKS[row.glyph]} {row.verdict}"
        yield Content.assemble((words, "bold"), (f"  {item.trial.reason}".rstrip(), QUIET))
        yield from folded(item.error, width, AMBER)
        return
    if not item.attempt.response.strip():
        yield Content.assemble(("▌ ", ACCENT), ("(no response)", QUIET))
        return
    for line in folded(item.attempt.response, width - 2):
        yield Content.assemble(("▌ ", ACCENT), line)


def _reasoning(item: Item, shown: Shown, width: int) -> Iterator[Content]:
    """Yield what the model wrote in its thinking: one line, or with the exact prompt all of it."""
    attempt = item.attempt
    if attempt is None or not attempt.reasoning:
        return
    if not shown.exact:
        line = Content.assemble(
            ("i", f"bold {ACCENT}"), (f" shows {reasoning_words(attempt)}", QUIET)
        )
        yield line.truncate(width, ellipsis=True)
        return
    yield Content.styled(reasoning_words(attempt, text=False), f"bold {QUIET}")
    yield from folded(attempt.reasoning, width, QUIET, 2)


def _facts(row: ResponseRow, width: int) -> Iterator[Content]:
    """Yield the verdicts of the policies, the right answer, time, why the answer ended."""
    item = row.item
    attempt = item.attempt
    if attempt is None:
        return
    yield Content("")
    words: list[tuple[str, str]] = []
    for verdict in item.verdicts:
        words += [(f"{verdict.measure} ", QUIET), (f"{_VERDICTS[verdict.right]}   ", "bold")]
    if words:
        yield Content.assemble(*words)
    if row.glyph == "void":
        yield Content.assemble(("∅ void  ", "bold"), (item.trial.reason, QUIET))
    facts = []
    if item.expected is not None:
        facts.append(f"expected {item.expected}")
    if item.foil:
        foil = plain(item.foil)
        facts.append(foil if item.foil in {"no-option", "ambiguous"} else f"foil: {foil}")
    facts += [seconds(attempt.latency_s), stopped(item)]
    if len(item.trial.attempts) > 1:
        facts.append(f"attempt {attempt.number} of {len(item.trial.attempts)}")
    yield from folded("   ".join(filter(None, facts)), width, QUIET)
    if item.status is not None and not is_usable(item.status, item.kind, attempt.response):
        told = f"not usable ({plain(item.status.value)}): its features are undefined"
        yield from folded(f"{told}; verdicts are kept", width, AMBER)


def _earlier(item: Item, width: int) -> Iterator[Content]:
    """Yield the attempts that do not count."""
    for attempt in item.trial.attempts:
        if attempt is item.attempt:
            continue
        failed = attempt.state is not AttemptState.OK
        state = f"{attempt.state.value}: {attempt.error}" if failed else "does not count"
        yield from folded(f"attempt {attempt.number}, {state}", width, QUIET)
        yield from folded(attempt.response, width, QUIET, 2)


def _measures(item: Item, features: set[str], width: int) -> Iterator[Content]:
    """Yield the measures of scorers, a line for each scorer; why some are undefined."""
    raters: dict[str, list[Rating]] = {}
    for rating in item.further:
        name = rating.measure.removesuffix(PROBABILITY)
        if name not in features:
            raters.setdefault(rating.rater, []).append(rating)
    for rater, ratings in raters.items():
        words, missing = [], []
        for rating in ratings:
            title = measure_of(rating.measure).title
            if rating.status is RatingStatus.VALUE and rating.value is not None:
                value = rating.value
                number = f"{value:g}" if value == int(value) else figure(value)
                words.append(f"{title} {number}")
            else:
                reason = rating.reason or "no reason given"
                missing.append(f"{title} {rating.status.value}: {reason}")
        if words or missing:
            yield from folded(f"{rater}: {' · '.join([*words, *missing])}", width, QUIET)
