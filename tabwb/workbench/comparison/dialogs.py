"""The dialog of the results by model that shows where judges differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tabwb.battery.model import Battery
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.dialogs import Dialog, ScrollPane
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import QUIET, folded, verdict_words

if TYPE_CHECKING:
    from tabwb.analysis.judges import Disagreements, Disputed

BESIDE = 120
"""From so many columns on a response is beside the list of responses."""
MOST_DISPUTED = 500
DIFFERING_HELP = """\
# Where judges differ

The responses that at least two judges have judged, the most disputed first. The number is the mean
absolute difference between all pairs of judges: of probabilities where a judge gives one, else of
its verdict (present 1, absent 0). Beside or below the list are the marked response and each judge's
verdict and reason.

Up and down move, **tab** goes to the response to scroll it, **esc** closes.
"""


def verdicts(disputed: Disputed, width: int) -> Iterator[Content]:
    """Yield one response with every judge's verdict."""
    width = min(width, 100)
    yield from folded(disputed.item.prompt.replace("\n", " "), width, QUIET)
    yield from folded(disputed.response or "(nothing)", width)
    for judge in disputed.said:
        words = verdict_words(judge.verdict, judge.probability)
        yield Content("")
        yield Content.assemble((words, "bold"), "  ", judge.judge)
        if judge.verdict is not None and judge.verdict.reason:
            yield from folded(judge.verdict.reason.replace("\n", " "), width, QUIET, 4)


def _present(disputed: Disputed) -> str:
    present = sum(bool(judge.verdict and judge.verdict.value) for judge in disputed.said)
    asked = sum(judge.score is not None for judge in disputed.said)
    return f"{present} of {asked} present"


DISPUTED: Sequence[Column[Disputed]] = (
    Column("", lambda one: f"{one.distance:.2f}", right=True, style="bold"),
    Column("", _present),
    Column("", lambda one: one.item.id, style=QUIET),
    Column("", lambda one: " ".join(one.response.split())[:200], least=20, end=True),
)


class DifferingScreen(Dialog[None]):
    """A list of responses, and below it the one that is marked."""

    CSS_PATH = "differing.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "dismiss(None)", "Close", show=False),
        Binding("tab", "app.focus_next", show=False),
    ]

    def __init__(self, disagreements: Disagreements, battery: Battery, label: str) -> None:
        super().__init__()
        self._disagreements, self._label = disagreements, label
        titles = {feature.id: feature.title for feature in battery.features}
        self._title = titles.get(disagreements.feature, disagreements.feature)

    def compose(self) -> ComposeResult:
        """Title, list, text."""
        title = f"Where judges differ on {self._title}"
        with Vertical(classes="dialog"):
            yield Static(title, classes="dialog-title", markup=False)
            yield Static(self._counts(), id="differing-told", markup=False)
            with Container(id="differing-body"):
                yield Pane(
                    RowList(id="disputed", help_text=DIFFERING_HELP, opens=False),
                    title="Responses, most disputed first",
                    id="disputed-pane",
                )
                text = WrappedText(lambda width: (), id="verdicts")
                scroll = ScrollPane(text, id="verdict-scroll", help_text=DIFFERING_HELP)
                yield Pane(scroll, title="Response and verdicts", id="verdict-pane")
            yield Static("arrows Move   tab Response   esc Close", classes="dialog-note")

    def on_mount(self) -> None:
        """The most disputed one."""
        disputed = self._disagreements.disputed
        self.query_one("#differing-body").display = bool(disputed)
        self.query_one(RowList).show(DISPUTED, disputed[:MOST_DISPUTED], ids=id)

    def on_resize(self, event: Resize) -> None:
        """Put the response beside the list where there is room."""
        self.set_class(event.size.width >= BESIDE, "-beside")

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show that one below."""
        disputed = event.value
        at, n = event.row + 1, len(self._disagreements.disputed)
        self.query_one(
            "#verdict-pane", Pane
        ).border_title = (
            f"{disputed.item.id} · {at} of {n} · mean difference {disputed.distance:.2f}"
        )
        self.query_one(WrappedText).show(partial(verdicts, disputed))
        self.query_one(ScrollPane).scroll_home(animate=False)

    def _counts(self) -> Content:
        judges, disputed = self._disagreements.judges, self._disagreements.disputed
        if len(judges) < 2:
            who = f"only {judges[0]} has" if judges else "no judge has"
            return Content(
                f"{self._label}: {who} this feature in its set. Another judge can be added "
                "with: tabwb judge run ID --judge SPEC"
            )
        split = sum(response.split for response in disputed)
        words = (
            f"{self._label}: of {self._disagreements.compared} responses with two or more "
            f"verdicts, verdicts are split on {split}"
        )
        if len(disputed) > split:
            words += f", and only probabilities differ on {len(disputed) - split}"
        if len(disputed) > MOST_DISPUTED:
            words += f"; the first {MOST_DISPUTED} are listed"
        return Content.styled(f"{words}.", QUIET)
