"""The scores beside an administration of a model: right answers, and a profile of every feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from tabwb.records.words import NONE
from tabwb.workbench.engine.transcript import Row
from tabwb.workbench.engine.view_models import Scores, SubtestScore
from tabwb.workbench.shell.drawn import marks, spark
from tabwb.workbench.shell.wording import ACCENT, QUIET, folded, sentence, spread

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge

MOST_RESPONSES = 12
"""The number of responses in a small profile, the latest ones."""
HIDDEN = "Verdicts are hidden while a person types; esc, then h shows them."


class LiveView(NamedTuple):
    """What is shown.

    Attributes:
        rows: the trials that the profiles are made of.
        hidden: only which items were given.
    """

    scores: Scores
    rows: Sequence[Row]
    hidden: bool = False


def live_lines(view: LiveView, width: int) -> Iterator[Content]:
    """Yield subtests, then burden and features of each judge."""
    if not view.scores.subtests:
        yield Content.styled("Scores appear here as responses arrive.", QUIET)
        return
    for subtest in view.scores.subtests:
        yield from _subtest(subtest, view, width)
    if view.hidden:
        yield Content("")
        yield from folded(HIDDEN, width, QUIET)
        return
    for judge in view.scores.judges:
        yield Content("")
        yield from _judge(judge, view, width)


def _subtest(subtest: SubtestScore, view: LiveView, width: int) -> Iterator[Content]:
    style = "bold" if subtest.current else ""
    count = f"{subtest.given}/{subtest.planned} given"
    if subtest.right is not None and not view.hidden:
        count = f"{subtest.right}/{subtest.scored} right"
    name = Content.styled(subtest.title, style)
    yield spread(name, Content.styled(count, style), width)
    row = marks(subtest, hidden=view.hidden, person=view.scores.person)
    if row.cell_length <= width:
        yield row


def _judge(judge: Judge, view: LiveView, width: int) -> Iterator[Content]:
    # not before the first frame
    from tabwb.analysis.statistics.results import cause_in_words
    from tabwb.media.wording import number

    titles, burden = view.scores.titles, judge.burden
    usable = f"{burden.usable.usable}/{burden.usable.n} usable"
    yield spread(
        Content.styled("Features", f"bold {ACCENT}"),
        Content.styled(f"{judge.rater}   {usable}", QUIET),
        width,
    )
    unusable = view.scores.unusable
    judged: list[Mapping[str, bool]] = [
        {} if row.trial.plan.number in unusable else row.judged[judge.rater]
        for row in view.rows
        if judge.rater in row.judged
    ]
    latest, n = judged[-MOST_RESPONSES:], burden.n_burden
    room = max(min(len(latest), MOST_RESPONSES, width - 24), 0)
    features = judge.features
    counts = [_found(one, burden.features) for one in latest]
    highest = max((count for count in counts if count is not None), default=0.0)
    whole = Content.assemble(
        spark(counts, room, highest=max(highest, 4.0)), f"  {number(burden.symptom_burden):>5}"
    )
    yield spread(Content.styled("symptom burden", "bold"), whole.stylize("bold"), width)
    for feature in sorted(features, key=lambda name: -burden.present.get(name, 0)):
        count = burden.present.get(feature, 0)
        profile = spark([_found(one, (feature,)) for one in latest], room, highest=1.0)
        style = "" if count else QUIET
        told = f"{count}/{n}" if n else NONE
        share = Content.assemble(profile, (f"  {told:>5}", style))
        yield spread(Content.styled(titles.get(feature, feature), style), share, width)
    if judged:
        yield Content("")
        for cause, count in burden.no_burden.items():
            words = f"{count} without a burden: {cause_in_words(cause)}."
            yield from folded(words, width, QUIET)
        words = f"A bar for each of the latest {len(latest)} responses: high where present, "
        words += "none where undefined."
        yield from folded(words, width, QUIET)
    if judge.caution:
        yield from folded(sentence(judge.caution), width, QUIET)


def _found(judged: Mapping[str, bool], features: Iterable[str]) -> float | None:
    """Return how many of some features are present; None where one of them has no value."""
    verdicts = [judged.get(feature) for feature in features]
    return None if None in verdicts else float(sum(filter(None, verdicts)))
