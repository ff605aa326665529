"""The scores: marks for each subtest, features by category, burden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from tabwb.workbench.engine.view_models import Scores
from tabwb.workbench.shell.report_view import content_of
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import (
    QUIET,
    compact,
    marks,
    score_words,
    sentence,
    spread,
)

if TYPE_CHECKING:
    from tabwb.report.summaries.judges import JudgeSummary

Special = tuple[Callable[[Any, int], Iterator[Content]], object]
MOST_PRESENT = 8


def burden_words(judge: JudgeSummary) -> str:
    """Return ``usable 4/5 burden 1.60 over 7``, with a dash for an undefined burden."""
    from tabwb.report.render.wording import number  # not before the first frame

    burden = judge.burden
    usable = f"usable {burden.usable.usable}/{burden.usable.n}"
    return f"{usable} burden {number(burden.symptom_burden)} over {len(burden.features)}"


class ScoreSheet(WidthAwareWidget):
    """The scores as lines."""

    def __init__(self) -> None:
        super().__init__()
        self._scores = Scores()
        self._hidden = False
        self._title = "SCORES"
        self._present = False
        self._special: Special | None = None
        self._burdens: tuple[object, ...] = ()
        self._burden_lines: list[Content] = []

    def show(
        self,
        scores: Scores,
        *,
        hidden: bool,
        title: str,
        present: bool,
        special: Special | None = None,
    ) -> None:
        """Show scores.

        Args:
            scores: the scores.
            hidden: show only which items were given.
            title: the first line.
            present: list the features that are present too.
            special: what is shown in place of the scores: the function that lays it out, and what
                it is given.
        """
        before = (self._scores, self._hidden, self._title, self._present, self._special)
        if (scores, hidden, title, present, special) != before:
            self._scores, self._hidden, self._title = scores, hidden, title
            self._present, self._special = present, special
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return all lines."""
        return Content("\n").join(self._lines(width))

    def _lines(self, width: int) -> Iterator[Content]:
        yield Content.styled(self._title, f"bold {QUIET}")
        yield Content("")
        if self._special is not None:
            lay_out, shown = self._special
            yield from lay_out(shown, width)
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
        shown = (self._scores.judges, self._scores.titles, self._present, width)
        if shown != self._burdens:  # items without connected text change no burden
            judges = self._scores.judges
            self._burden_lines = [line for judge in judges for line in self._burden(judge, width)]
            self._burdens = shown
        yield from self._burden_lines

    def _burden(self, judge: JudgeSummary, width: int) -> Iterator[Content]:
        from tabwb.report.render.tables import burden_view  # not before the first frame

        titles = self._scores.titles
        yield Content.styled("FEATURES", f"bold {QUIET}")
        yield content_of(burden_view(judge, titles), width)
        present = judge.burden.present
        if self._present and any(present.values()):
            yield Content("")
            head = f"FEATURES PRESENT (of {judge.burden.n_burden} answers)"
            yield Content.styled(head, f"bold {QUIET}")
            for feature, count in Counter(present).most_common(MOST_PRESENT):
                if count:
                    yield spread(Content(titles.get(feature, feature)), Content(str(count)), width)
        if judge.caution:
            yield Content("")
            yield Content.styled(sentence(judge.caution), QUIET)
        yield Content("")


class ScorePanel(VerticalScroll):
    """The scores in the dock; can be focused to scroll."""

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
        """Yield the sheet."""
        yield ScoreSheet()

    def show(
        self,
        scores: Scores,
        *,
        hidden: bool = False,
        title: str = "LIVE SCORES",
        present: bool = False,
        special: Special | None = None,
    ) -> None:
        """Show scores; the arguments are those of :meth:`ScoreSheet.show`."""
        self.query_one(ScoreSheet).show(
            scores, hidden=hidden, title=title, present=present, special=special
        )


class CompactScores(WidthAwareWidget):
    """The live scores in one line, for narrow terminals."""

    def __init__(self) -> None:
        super().__init__(id="compact-scores")
        self._scores = Scores()
        self._hidden = False

    def show(self, scores: Scores, *, hidden: bool) -> None:
        """Show scores; ``hidden`` shows only which items were given."""
        if (scores, hidden) != (self._scores, self._hidden):
            self._scores, self._hidden = scores, hidden
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        judges = self._scores.judges
        burden = burden_words(judges[0]) if judges else ""
        return compact(self._scores.subtests, burden, width, hidden=self._hidden)
