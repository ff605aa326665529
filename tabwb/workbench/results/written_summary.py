"""The summary of written responses: accuracies, a mark for each item, features, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.console import Group, RenderableType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, MouseMove, Resize

from tabwb.analysis.cautions import bounds_words, cautions
from tabwb.analysis.statistics.results import Part, Results
from tabwb.battery.model import Battery, Category
from tabwb.media.wording import (
    baselines_of,
    between,
    burden_words,
    causes_listed,
    count,
    features_of,
    intervals_words,
    number,
    plain,
    tally,
    terms_of,
    usable_words,
    without_burden,
)
from tabwb.records.columns import fixed
from tabwb.records.trials import Trial
from tabwb.records.words import NONE, plural
from tabwb.scoring.estimate import Interval
from tabwb.workbench.shell.columns import GAP, Column, Heading, fitted, laid
from tabwb.workbench.shell.drawn import (
    BASELINE,
    BOTH,
    MARKS,
    VALUE,
    bar,
    glyph_and_style,
    interval_bar,
    scale,
    share_bar,
    step,
)
from tabwb.workbench.shell.widgets import Pane, ReportView, WidthAwareWidget, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, folded

if TYPE_CHECKING:
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.workbench.results.stored import Results as StoredResults


LIKE = ", prompts like these"
"""Is left out of the legend where it has no room."""
LEGEND_BOTH = (("   ", ""), (BOTH, ACCENT), (f" one on {VALUE} or an end", QUIET))
"""Is shown where a baseline is in the cell of an estimate or of an end."""


def given_subtests(parts: Sequence[Part]) -> list[Part]:
    """Return the subtests of the part of the battery that is given; all where none is planned."""
    return [part for part in parts if part.number("planned")] or list(parts)


def accuracy_lines(parts: Sequence[Part], width: int) -> Iterator[Content]:
    """Yield a line for each subtest: right answers, the interval on an axis, the baselines."""
    subtests = given_subtests(parts)
    if not any(subtest.right.n for subtest in subtests):
        yield from laid(GIVEN, subtests, width)[1:]
        return
    lines = laid(ACCURACY, subtests, width)
    yield from lines
    both = any(BOTH in line.plain for line in lines)
    whole = _legend(LIKE, both)
    yield (whole if whole.cell_length <= width else _legend("", both)).truncate(
        width, ellipsis=True
    )


def _legend(intervals: str, both: bool) -> Content:
    return Content.assemble(
        (VALUE, ACCENT),
        (" right   ", QUIET),
        ("├─┤", ACCENT),
        (f" 95 %{intervals}   ", QUIET),
        (BASELINE, "$foreground"),
        (" baseline", QUIET),
        *(LEGEND_BOTH if both else ()),
    )


def _drawn(subtest: Part, width: int) -> Content:
    right = subtest.right
    if not right.n:
        return Content.styled(_given(subtest), QUIET)
    low, high = (right.interval.low, right.interval.high) if right.interval else (None, None)
    lines = [one.value for one in subtest.baselines.values() if one.value is not None]
    return interval_bar(low, right.value.value, high, width=width, baseline=lines)


def _policy(place: int) -> Callable[[Part], str]:
    def cell(subtest: Part) -> str:
        rows = list(subtest.policies("accuracy").values())
        return count(rows[place].total) if subtest.right.n and place < len(rows) else ""

    return cell


def _given(subtest: Part) -> str:
    n = subtest.number("counted")
    return f"{n} given" if n else "none given yet"


def _right(subtest: Part) -> str:
    return f"{count(subtest.right.total)}/{subtest.right.n}" if subtest.right.n else ""


def _interval_words(subtest: Part) -> str:
    return between(subtest.right.interval) if subtest.right.n else ""


def _baselines(subtest: Part) -> str:
    words = [baselines_of(subtest)] if subtest.right.n else []
    guessing = subtest.baselines.get("guessing")
    if guessing is not None and guessing.defined and subtest.right.n:
        words.append(f"guessing {number(guessing)}")
    return ", ".join(filter(None, words))


TITLE: Column[Part] = Column("", lambda subtest: subtest.title, least=24)
GIVEN: Sequence[Column[Part]] = (TITLE, Column("", _given, style=QUIET))
"""The columns where no answer is right or wrong."""
ACCURACY: Sequence[Column[Part]] = (
    TITLE,
    Column("right", _right, right=True, style="bold"),
    Column(scale, _drawn, grow=(16, 40)),
    Column("95 %", _interval_words),
    Column("norm.", _policy(1), right=True, rank=2),
    Column("extr.", _policy(2), right=True, rank=2),
    Column("baselines", _baselines, rank=1, style=QUIET),
)
"""The columns of right answers; baselines that have no room are drawn all the same."""


BAR, AXIS = (6, 16), (16, 32)
"""Columns of a bar and of an interval, at least and at most."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a judge found a feature.

    Attributes:
        present: responses in which it is present.
        of: responses with a burden.
        share: of the responses, the mean of the items' shares; None where it is undefined.
        interval: of the share, for prompts like these; None where there is none.
    """

    present: float = 0
    of: int = 0
    share: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Profiles:
    """The features of a battery, and how often each judge found them.

    Attributes:
        categories: in the battery's order; the last one, without an id, has the others.
        titles: of the features, by id.
        judges: in the order of the summary.
        rates: of each judge, by feature.
    """

    categories: tuple[Category, ...]
    titles: Mapping[str, str]
    judges: tuple[Judge, ...]
    rates: tuple[dict[str, Rate], ...]


def profiles_of(battery: Battery, results: Results) -> Profiles:
    """Return how often each judge found each feature of a battery."""
    titles = {feature.id: feature.title for feature in battery.features}
    categories = [one for grouping in battery.groupings[:1] for one in grouping.categories]
    inside = {name for category in categories for name in category.features}
    others = tuple(name for name in titles if name not in inside)
    if others:
        categories.append(Category("", "Other" if inside else "", others))
    rates = tuple(
        {name: _rate(judge, name) for name in judge.burden.features} for judge in results.judges
    )
    return Profiles(tuple(categories), titles, results.judges, rates)


def _rate(judge: Judge, feature: str) -> Rate:
    burden = judge.burden
    if not burden.n_burden:
        return Rate()
    found = burden.rate_intervals(feature)[0].interval if burden.sizes else None
    share = burden.rate(feature).value
    return Rate(burden.present[feature], burden.n_burden, share, found)


def burden_lines(judge: Judge, width: int) -> Iterator[Content]:
    """Yield the burden of a judge with its interval, and of which responses it is."""
    burden = judge.burden
    value, of = burden.symptom_burden.value, len(burden.features)
    words = f"burden {burden_words(burden)}"
    over = f"over {features_of(judge)}"
    axis = min(width - len(words) - len(over) - 9, AXIS[1])
    found = burden.interval
    low, high = (None, None) if found is None else (found.low, found.high)
    parts: list[Content | tuple[str, str]] = [(words, f"bold {ACCENT}"), (f"  {over}", "")]
    if axis >= AXIS[0] and value is not None:
        drawn = interval_bar(low, value, high, width=axis, highest=float(of))
        parts += [("  0 ", QUIET), drawn, (f" {of}", QUIET)]
    yield Content.assemble(*parts)
    facts = [usable_words(burden.usable)]
    if value is not None and (intervals := intervals_words(burden.intervals)):
        facts.append(f"95 %: {', '.join(intervals)}")
    facts += bounds_words(burden)
    if burden.symptom_burden.reason:
        facts.append(burden.symptom_burden.reason)
    facts.append(f"{burden.n_distinct} distinct, {number(burden.words_mean)} words")
    if without := without_burden(burden):
        facts.append(f"usable but without a burden: {causes_listed(without)}")
    if judge.not_judged:
        facts.append(f"not rated yet: {judge.not_judged}")
    terms = terms_of(judge).replace("  ·  ", " · ").removeprefix(f"{judge.rater} · ")
    yield from folded(" · ".join([*facts, terms]), width, QUIET)


def profile_lines(profiles: Profiles, width: int) -> Iterator[Content]:
    """Yield the burden of each judge, then a line for each feature with the judges beside."""
    if not profiles.judges:
        yield from folded("No judge has judged these responses yet; j starts one.", width, QUIET)
        return
    several = len(profiles.judges) > 1
    for at, judge in enumerate(profiles.judges):
        letter = f"{ascii_uppercase[at % 26]}  " if several else ""
        yield Content.assemble((letter, "bold"), (judge.rater, "bold"))
        yield from burden_lines(judge, width)
        yield Content("")
    rows: list[str | Heading] = []
    unseen: list[str] = []
    dashes = False
    for category in profiles.categories:
        seen = [name for name in category.features if any(name in own for own in profiles.rates)]
        unseen += [profiles.titles[name] for name in category.features if name not in seen]
        dashes |= any(name not in own for name in seen for own in profiles.rates)
        rows += [*map(Heading, _category(profiles, category)), *seen] if seen else []
    if dashes:
        told = (
            "not in the judge's set, as it cannot call it absent; responses say where it found it"
        )
        yield from folded(f"{NONE} {told}", width, QUIET)
    yield from laid(_columns(profiles), rows, width)
    if unseen:
        words = f"{len(unseen)} in no judge's set, j adds a judge: {', '.join(unseen).lower()}"
        yield Content.styled(words, QUIET).truncate(width, ellipsis=True)


def _columns(profiles: Profiles) -> Iterator[Column[str]]:
    """Yield the title of a feature, and for each judge in how many responses it is present."""
    yield Column("feature", lambda feature: profiles.titles[feature], least=22)
    several = len(profiles.judges) > 1
    for at, own in enumerate(profiles.rates):
        head = ascii_uppercase[at % 26] if several else "present"
        yield Column(head, partial(_count, own), right=True)
        yield Column("", partial(_bar, own), rank=3, grow=BAR)
    if not several:
        yield Column(scale, partial(_interval, profiles.rates[0]), rank=2, grow=AXIS)
        yield Column("95 %", partial(_ends, profiles.rates[0]), rank=1, style=QUIET)


def _category(profiles: Profiles, category: Category) -> Iterator[Content]:
    """Yield the title of a category with its mean number of features, judge by judge."""
    if not category.title:
        return
    means = []
    for letter, judge in zip(ascii_uppercase, profiles.judges, strict=False):
        own = judge.burden.categories.get(category.id)
        if own is not None and own.of and own.count.defined:
            name = f"{letter} " if len(profiles.judges) > 1 else ""
            means.append(f"{name}{number(own.count)} of {own.of}")
    told = ", ".join(means)
    yield Content.assemble(
        (f"{plain(category.title)}  ", f"bold {QUIET}"), (f"mean {told}" if told else "", QUIET)
    )


Rates = Mapping[str, Rate]
"""How often one judge found each feature."""


def _count(rates: Rates, feature: str) -> Content:
    rate = rates.get(feature)
    if rate is None or not rate.of:
        return Content.styled(NONE, QUIET)
    return Content(f"{tally(rate.present)}/{rate.of}")


def _bar(rates: Rates, feature: str, width: int) -> Content:
    rate = rates.get(feature)
    return share_bar(rate.share, width) if rate is not None and rate.of else Content("")


def _interval(rates: Rates, feature: str, width: int) -> Content:
    rate = rates.get(feature)
    if rate is None or (found := rate.interval) is None:
        return Content("")
    return interval_bar(found.low, rate.share, found.high, width=width)


def _ends(rates: Rates, feature: str) -> str:
    rate = rates.get(feature)
    return "" if rate is None or rate.interval is None else between(rate.interval)


SHARE_BAR = 8
"""Columns of the share of right answers."""
TIP = (
    "✓ right, ✗ wrong, ● given, · not given, › skipped, ∅ void, ! in error; a number: features "
    "that the first judge found. A click opens the response."
)


@dataclass(frozen=True, slots=True)
class GridCell:
    """The response to one item in one replicate.

    Attributes:
        trial: its number.
        mark: its state in one word.
        found: features that the first judge found, and on how many it has a verdict; None: nobody
            judged it, or it is not usable.
        whole: the judge has a verdict on every feature of its set: the response has a burden.
    """

    trial: int
    mark: str
    found: tuple[int, int] | None = None
    whole: bool = False

    def drawn(self, *, person: bool) -> tuple[str, str]:
        """Return one character with its style: the number of features, or the glyph of the
        state.
        """
        if self.found is None or self.mark != "given":
            return glyph_and_style(self.mark, person=person)
        found = self.found[0]
        return str(found) if found < 10 else "+", "bold" if found else ACCENT

    @property
    def burden(self) -> int | None:
        """Features that the first judge found; None where one of its set is undefined."""
        return self.found[0] if self.found is not None and self.whole else None

    @property
    def share(self) -> float | None:
        """1 for right, 0 for wrong; None for others."""
        return {"right": 1.0, "wrong": 0.0}.get(self.mark)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One item with its responses, replicate by replicate."""

    subtest: str
    item: str
    cells: tuple[GridCell, ...]

    @property
    def told(self) -> str:
        """Right answers of those scored, or the mean of the burdens; a dash where none has one."""
        shares = [cell.share for cell in self.cells if cell.share is not None]
        if shares:
            return f"{sum(shares):.0f}/{len(shares)}"
        if all(cell.found is None for cell in self.cells):
            return ""
        burdens = [cell.burden for cell in self.cells if cell.burden is not None]
        return fixed(sum(burdens) / len(burdens), 2) if burdens else NONE

    @property
    def heading(self) -> str:
        """What :attr:`told` is; empty where nothing is told."""
        if self.share is not None:
            return "right"
        return "mean burden" if self.told else ""

    @property
    def share(self) -> float | None:
        """Share of right answers; None where none was scored."""
        shares = [cell.share for cell in self.cells if cell.share is not None]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the grid: text, and which columns show which trial."""

    text: Content
    targets: tuple[tuple[int, int, int], ...] = ()
    """(first column, column after the last, number of the trial)."""


@dataclass(frozen=True, slots=True)
class FirstJudge:
    """The judge whose features are counted in lists: the first one, with its set."""

    rater: str = ""
    features: frozenset[str] = frozenset()

    def found_in(self, trial: Trial, *, usable: bool) -> tuple[int, int] | None:
        """Return how many features of its set it found, and on how many it has a verdict."""
        if not usable:
            return None
        verdicts = [
            bool(rating.value)
            for rating in trial.ratings
            if rating.rater == self.rater
            and rating.value is not None
            and rating.measure in self.features
        ]
        return (sum(verdicts), len(verdicts)) if verdicts else None


def first_judge(results: Results) -> FirstJudge:
    """Return the first judge of a summary; one that has found nothing where there is none."""
    if not results.judges:
        return FirstJudge()
    judge = results.judges[0]
    return FirstJudge(judge.rater, frozenset(judge.burden.features))


def grid_of(
    battery: Battery,
    marks: Iterable[tuple[Trial, str, tuple[int, int] | None]],
    judge: FirstJudge,
) -> tuple[GridRow, ...]:
    """Return the items of an administration in their order, with their responses."""
    titles = {subtest.id: subtest.title for subtest in battery.subtests}
    cells: dict[tuple[str, str], list[GridCell]] = {}
    for trial, mark, found in marks:
        plan = trial.plan
        if not plan.practice:
            whole = found is not None and found[1] == len(judge.features)
            cell = GridCell(plan.number, mark, found, whole)
            cells.setdefault((plan.subtest, plan.item), []).append(cell)
    order = {subtest: place for place, subtest in enumerate(titles)}
    rows = sorted(cells.items(), key=lambda pair: order[pair[0][0]])
    return tuple(GridRow(titles[subtest], item, tuple(own)) for (subtest, item), own in rows)


class _Marks(NamedTuple):
    """A line of marks: of the replicates of an item, or of the items of a subtest."""

    title: str
    cells: Sequence[GridCell]
    told: str = ""
    share: float | None = None


def grid_lines(rows: Sequence[GridRow], width: int, *, person: bool = False) -> Iterator[Line]:
    """Yield the grid: a line for each item, or for each subtest if there is one replicate."""
    replicates = max((len(row.cells) for row in rows), default=0)
    if replicates < 2:
        marks = [*_by_subtest(rows, width)]
    else:
        marks = [_Marks(row.item, row.cells, row.told, row.share) for row in rows]
    most = max((len(one.cells) for one in marks), default=0)
    drawn = partial(_drawn_marks, most=most, person=person)
    columns: Sequence[Column[_Marks]] = (
        Column("", lambda one: one.title),
        Column("", drawn, grow=(1, 2 * most)),
        Column("", _told, right=True),
        Column("", lambda one: "" if one.share is None else bar(one.share, SHARE_BAR)),
    )
    made = fitted(columns, marks, width)
    widths = [one.width for one in made.measured]
    for at, one in enumerate(marks):
        if replicates > 1 and (at == 0 or rows[at].subtest != rows[at - 1].subtest):
            title = _titled(rows[at].subtest, rows, sum(widths[:3]) + 2 * GAP)
            yield Line(Content.styled(title, f"bold {QUIET}").truncate(width))
        first, step = widths[0] + GAP, _step(widths[1], most)
        places = enumerate(one.cells) if step else ()
        targets = ((first + n * step, first + (n + 1) * step, cell.trial) for n, cell in places)
        yield Line(made.line(one), tuple(targets))


def _step(width: int, most: int) -> int:
    """Return the columns of a mark; 0: several replicates share one."""
    return 2 if width >= 2 * most - 1 else int(width >= most)


def _drawn_marks(one: _Marks, width: int, *, most: int, person: bool) -> Content:
    step = _step(width, most)
    if not step:
        return Content.styled(_bins(one.cells, width), ACCENT)
    marks = (Content.assemble(cell.drawn(person=person)) for cell in one.cells)
    return Content(" " * (step - 1)).join(marks)


def _told(one: _Marks) -> Content:
    return Content.styled(one.told, QUIET if one.share is None else "bold")


def _titled(subtest: str, rows: Sequence[GridRow], end: int) -> str:
    """Return the title of a subtest with the heading of its last column."""
    headings = (row.heading for row in rows if row.subtest == subtest)
    heading = next(filter(None, headings), "")
    return f"{subtest}  {heading:>{max(end - len(subtest) - 2, 0)}}".rstrip()


def _by_subtest(rows: Sequence[GridRow], width: int) -> Iterator[_Marks]:
    titles = list(dict.fromkeys(row.subtest for row in rows))
    each = max((width - max(map(len, titles), default=0) - GAP) // 2, 1)
    for title in titles:
        cells = [cell for row in rows if row.subtest == title for cell in row.cells]
        for first in range(0, len(cells), each):
            yield _Marks("" if first else title, cells[first : first + each])


def _bins(cells: Sequence[GridCell], width: int) -> str:
    """Return a bar for each part of the replicates: its share of right answers, or features.

    >>> _bins([GridCell(at, "right" if at % 2 else "wrong") for at in range(8)], 2)
    '▅▅'
    """
    highest = max((cell.burden for cell in cells if cell.burden is not None), default=0) or 1
    columns = min(width, len(cells))
    words = ""
    for column in range(columns):
        part = cells[column * len(cells) // columns : (column + 1) * len(cells) // columns]
        known = [
            cell.share if cell.share is not None else cell.burden / highest  # type: ignore[operator]
            for cell in part
            if cell.share is not None or cell.burden is not None
        ]
        words += step(sum(known) / len(known)) if known else MARKS["open"]
    return words


class ItemGrid(WidthAwareWidget):
    """The grid; a click on a mark opens the response."""

    ALLOW_SELECT = False

    def __init__(self, opened: Callable[[int], object], *, id: str) -> None:
        super().__init__(id=id)
        self._opened = opened
        self._rows: tuple[GridRow, ...] = ()
        self._person = False
        self._lines: list[Line] = []

    def show(self, rows: tuple[GridRow, ...], *, person: bool) -> None:
        """Show items."""
        self._rows, self._person = rows, person
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        self._lines = list(grid_lines(self._rows, width, person=self._person))
        return Content("\n").join(line.text for line in self._lines)

    def _trial_at(self, x: int, y: int) -> int | None:
        if not 0 <= y < len(self._lines):
            return None
        targets = self._lines[y].targets
        return next((trial for first, end, trial in targets if first <= x < end), None)

    def on_click(self, event: Click) -> None:
        """Open the response that was clicked."""
        trial = self._trial_at(event.x, event.y)
        if trial is not None:
            event.stop()
            self._opened(trial)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Say what the marks mean."""
        self.tooltip = TIP if self._trial_at(event.x, event.y) is not None else None


BESIDE = 104
"""From so many columns up the features are beside the accuracies."""
HELP = """\
# Results

**Accuracy**: right answers of those scored by the policy *exact*, ● on its 95 % interval for
prompts like these; ◆ is a baseline: always naming the first option, always saying Yes, guessing;
◈ is a baseline in the same place as ● or as an end of the interval. *norm.* and *extr.* are the
two other policies.

**Items**: a mark for each response; a number is the number of features that the first judge found,
after replicates the mean of the responses with a burden; a click opens the response.
**Features**: in how many responses each judge found each feature, of those with a burden. A dash:
the feature is not in the judge's set (all that it can call present and absent), or no response has
a burden. What a judge found outside its set is shown with the response and counts nowhere.

**t** changes to the responses, **tab** to the next pane, **j** judges, **e** exports, **esc** goes
back.
"""


class Section(VerticalScroll):
    """What a pane holds; it is focused to scroll where panes are side by side."""

    HELP = HELP


class NoteLine(WidthAwareWidget, can_focus=True):
    """The sentences that go with the results: folded to one line, which opens."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "turn", show=False)]
    HELP = "# Notes on the results\n\n**enter** or a click shows all of them, or one line again."
    DEFAULT_CSS = """
    NoteLine { color: $quiet; padding: 0 1; }
    NoteLine:focus { color: $foreground; background: $hover; }
    """

    def __init__(self) -> None:
        super().__init__(id="written-notes", classes="enter-opens")
        self._notes: tuple[str, ...] = ()
        self._open = False

    def show(self, notes: tuple[str, ...]) -> None:
        """Show these, folded or not as before."""
        self._notes = notes
        self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if not self._notes:
            return Content("")
        if not self._open:
            count = f"{plural(len(self._notes), 'note')} (enter opens): "
            line = Content.assemble((count, AMBER), self._notes[0])
            return line.truncate(width, ellipsis=True)
        head = Content.assemble((f"{plural(len(self._notes), 'note')} (enter closes)", AMBER))
        lines = [line for note in self._notes for line in folded(f"- {note}", min(width, 100))]
        return Content("\n").join([head, *lines])

    def action_turn(self) -> None:
        """Open or close."""
        self._open = not self._open
        self.refresh(layout=True)

    def on_click(self) -> None:
        """Open or close."""
        self.action_turn()


class WrittenSummary(Vertical):
    """Panes side by side where there is room, else below each other in one that scrolls."""

    HELP = HELP

    def __init__(self, opened: Callable[[int], object]) -> None:
        super().__init__(id="written-summary")
        self._opened = opened
        self._beside = True

    def compose(self) -> ComposeResult:
        """Accuracies and items, features, notes."""
        pages = self.screen.query_one("#pages").size.width  # it has no width of its own yet
        self.set_class(pages >= BESIDE, "-beside", update=False)
        empty = partial(WrappedText, lambda width: ())
        yield empty(id="results-sentence")
        with Section(id="summary-panes"):
            with Container(id="summary-left"):
                with Pane(title="Accuracy", id="accuracy-pane"), Section():
                    yield empty(id="accuracy")
                with Pane(title="Items", id="items-pane"), Section():
                    yield ItemGrid(self._opened, id="item-grid")
                with Pane(title="Details", id="details-pane"), Section():
                    yield ReportView(id="details")
            with Pane(title="Features", id="features-pane"), Section():
                yield empty(id="features")
        yield NoteLine()

    def show(self, results: StoredResults) -> None:
        """Show the summary of an administration."""
        from tabwb.media.views.administration import opening_sentence  # loads numpy

        summary, given = results.summary, results.administration
        person = given.conditions.kind == "speaker"
        sentence = opening_sentence(results.battery, summary)
        self.query_one("#results-sentence", WrappedText).show(partial(opening_lines, sentence))
        self.query_one("#accuracy", WrappedText).show(partial(accuracy_lines, summary.parts))
        self.query_one(ItemGrid).show(results.grid, person=person)
        replicates = max((len(row.cells) for row in results.grid), default=0)
        title = ["Items", *([plural(replicates, "replicate")] if replicates > 1 else [])]
        if summary.judges:
            title.append(f"numbers: features found by {summary.judges[0].rater}")
        self.query_one("#items-pane", Pane).border_title = " · ".join(title)
        self.query_one(ReportView).show(Group(*_details(results)))
        features = self.query_one("#features-pane")
        features.display = bool(results.battery.features)
        self.query_one("#features", WrappedText).show(partial(profile_lines, results.profiles))
        notes = cautions(
            results.battery,
            summary,
            model=not person,
            lesion=given.conditions.lesion is not None,
            given=[given],
        )
        self.query_one(NoteLine).show(tuple(notes))

    def on_resize(self, event: Resize) -> None:
        """Place the panes for the width."""
        self._beside = event.size.width >= BESIDE
        self.set_class(self._beside, "-beside")
        for section in self.query(Section):
            section.can_focus = (section.id == "summary-panes") != self._beside

    def focus_inside(self) -> None:
        """Give the focus to the first pane, or to what scrolls all of them."""
        if self._beside:
            self.query_one("#accuracy-pane", Pane).focus_inside()
        else:
            self.query_one("#summary-panes").focus()

    def to_first_lines(self) -> None:
        """Scroll every pane to its first line."""
        for section in self.query(Section):
            section.scroll_home(animate=False)


def opening_lines(sentence: str, width: int) -> Iterator[Content]:
    """Yield the sentence with which results begin."""
    yield from folded(sentence, min(width, 100), "bold")


def _details(results: StoredResults) -> Iterator[RenderableType]:
    """Yield the tables of subtests, and the statistics of plugins."""
    from tabwb.media.views.results import own_tables, statistics_tables
    from tabwb.media.views.typed import captioned_view

    yield from map(captioned_view, own_tables(results.summary, results.battery, details=True))
    yield from map(captioned_view, statistics_tables([results.summary]))
