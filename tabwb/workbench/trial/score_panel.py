"""The scores: marks for each subtest, features by category, burden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tabwb.report.render.wording import FEW
from tabwb.workbench.engine.snapshots import BurdenScore, Scores
from tabwb.workbench.naming.score_panel import naming_lines
from tabwb.workbench.naming.snapshots import NamingNow
from tabwb.workbench.shell.commands import bindings
from tabwb.workbench.shell.width_aware import Painted
from tabwb.workbench.shell.wording import (
    ACCENT,
    QUIET,
    category_line,
    compact,
    marks,
    score_words,
    sentence,
    spread,
)

MOST_PRESENT = 8


def burden_words(one: BurdenScore) -> str:
    """``usable 4/5 burden 1.60 over 7``; a dash where it is undefined."""
    value = "-" if one.burden is None else f"{one.burden:.2f}"
    usable = one.usable.partition(":")[0].replace(" of ", "/")
    return f"{usable} burden {value} over {one.n_features}"


class ScoreSheet(Painted):
    """The scores as lines."""

    def __init__(self) -> None:
        super().__init__()
        self._scores = Scores()
        self._hidden = False
        self._title = "SCORES"
        self._present = False
        self._naming: NamingNow | None = None

    def show(
        self,
        scores: Scores,
        *,
        hidden: bool,
        title: str,
        present: bool,
        naming: NamingNow | None = None,
    ) -> None:
        """Show these; ``hidden`` tells only what was given, ``present`` lists features too."""
        before = (self._scores, self._hidden, self._title, self._present, self._naming)
        if (scores, hidden, title, present, naming) != before:
            self._scores, self._hidden, self._title = scores, hidden, title
            self._present, self._naming = present, naming
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """All lines."""
        return Content("\n").join(self._lines(width))

    def _lines(self, width: int) -> Iterator[Content]:
        yield Content.styled(self._title, f"bold {QUIET}")
        yield Content("")
        if self._naming is not None:
            yield from naming_lines(self._naming.items, width)
            return
        if not self._scores.subtests:
            yield Content.styled("Scores stand here as answers come.", QUIET)
            return
        for one in self._scores.subtests:
            words = score_words(one, hidden=self._hidden)
            style = "bold" if one.current else ""
            yield Content.styled(one.title, style).truncate(width, ellipsis=True)
            row = marks(one, hidden=self._hidden, person=self._scores.person)
            yield spread(row, Content.styled(words, style), width)
            yield Content("")
        if self._hidden:
            yield Content.styled(
                "Verdicts are hidden while a person types; esc, then h shows them.", QUIET
            )
            return
        for burden in self._scores.burdens:
            yield from self._burden(burden, width)

    def _burden(self, one: BurdenScore, width: int) -> Iterator[Content]:
        yield spread(Content.styled("FEATURES", f"bold {QUIET}"), Content(one.rater), width)
        yield Content.styled(one.usable, "$warning" if ":" in one.usable else QUIET)
        yield Content("")
        title = max((len(category.title) for category in one.categories), default=0)
        room = width - title - 13
        for category in one.categories:
            yield category_line(category, title, min(room, 24) if room >= 4 else 0)
        yield Content("")
        value = "-" if one.burden is None else f"{one.burden:.2f}"
        yield Content.assemble(
            "burden ",
            (value, f"bold {ACCENT}"),
            (f" ({FEW})", "$warning") if one.few else "",
            f" over {one.n_features} features",
        )
        plural = "response" if one.n_responses == 1 else "responses"
        facts = [one.scope, f"{one.n_responses} {plural}", f"{one.n_distinct} distinct"]
        if one.words_mean is not None:
            facts.append(f"{one.words_mean:.0f} words on average")
        yield Content.styled(", ".join(facts), QUIET)
        for words in one.intervals:
            yield Content.styled(f"95 %: {words}", QUIET)
        if one.burden is None and one.reason:
            yield Content.styled(one.reason, QUIET)
        for cause, count in one.without:
            yield Content.assemble((f"{cause}: {count}", "$warning"), (" without a burden", QUIET))
        if one.not_judged:
            yield Content.styled(f"not judged yet: {one.not_judged}", "$warning")
        if self._present and any(count for _, count in one.present):
            yield Content("")
            head = f"FEATURES PRESENT (of {one.n_burden} answers)"
            yield Content.styled(head, f"bold {QUIET}")
            yield Content("")
            for feature, count in [pair for pair in one.present if pair[1]][:MOST_PRESENT]:
                yield spread(Content(feature), Content(str(count)), width)
        if one.caution:
            yield Content("")
            yield Content.styled(sentence(one.caution), QUIET)
        yield Content("")


class ScorePanel(VerticalScroll):
    """The scores in the dock; can be focused to scroll."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("trial")]
    HELP = """\
# Scores

One mark for each item: ✓ right, ✗ wrong, ● given (nothing to be right or wrong), · still to come,
› skipped, ∅ void, ! in error. *Right* is the policy *exact*.

**Features** are those that the judge named; each category's bar is scaled to the number of its
features. **Burden** is the mean number of features present per response, over the judge's fixed set
of features; responses without one are counted beside it.

Arrows scroll. While a person types, verdicts are hidden; **h** shows and hides them.
"""

    def compose(self) -> ComposeResult:
        """One sheet."""
        yield ScoreSheet()

    def show(
        self,
        scores: Scores,
        *,
        hidden: bool = False,
        title: str = "LIVE SCORES",
        present: bool = False,
        naming: NamingNow | None = None,
    ) -> None:
        """Show these; of spoken naming a person's scores and codes."""
        self.query_one(ScoreSheet).show(
            scores, hidden=hidden, title=title, present=present, naming=naming
        )


class CompactScores(Painted):
    """The live scores in one line, for narrow terminals."""

    def __init__(self) -> None:
        super().__init__(id="compact-scores")
        self._scores = Scores()
        self._hidden = False

    def show(self, scores: Scores, *, hidden: bool) -> None:
        """Show these."""
        if (scores, hidden) != (self._scores, self._hidden):
            self._scores, self._hidden = scores, hidden
            self.refresh()

    def paint(self, width: int) -> Content:
        """One line."""
        burdens = self._scores.burdens
        burden = burden_words(burdens[0]) if burdens else ""
        return compact(self._scores.subtests, burden, width, hidden=self._hidden)
