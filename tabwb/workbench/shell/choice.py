"""A question, a notice or an error, with what can be done about it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine.view_models import Catalogue, ErrorReport
from tabwb.workbench.shell.choice_field import Choice
from tabwb.workbench.shell.dialog import Dialog
from tabwb.workbench.shell.wording import QUIET

Choices = tuple[tuple[str, str], ...]


class ChoiceScreen(Dialog[str | None]):
    """Returns the id of what was chosen; None when closed with esc.

    Args:
        title: a few words.
        text: what it is about.
        choices: (id, words) of each button; the first has the focus.
        alone: nothing else is to be seen.
    """

    CSS_PATH = "choice.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(
        self, title: str, text: str | Content, choices: Choices, *, alone: bool = False
    ) -> None:
        super().__init__(classes="-alone" if alone else None)
        self._title, self._text, self._choices = title, text, choices

    def compose(self) -> ComposeResult:
        """Title, text, buttons."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False, classes="dialog-text"):
                yield Static(self._text, markup=False)
            with Horizontal(classes="dialog-buttons"):
                for name, words in self._choices:
                    yield Choice(words, id=name)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """That one."""
        self.dismiss(event.button.id)


def report_text(trouble: ErrorReport) -> Content:
    """What is wrong, where, what is allowed, what to do."""
    parts: list[Content] = []
    if trouble.where:
        parts.append(Content.styled(trouble.where, QUIET))
    parts.append(Content(trouble.message))
    if trouble.allowed:
        parts.append(Content.assemble(("allowed: ", QUIET), trouble.allowed))
    if trouble.hint:
        parts.append(Content.assemble("\n", trouble.hint))
    return Content("\n").join(parts)


def about_text(catalogue: Catalogue | None) -> Content:
    """Version, store, problems of plugins, the research-only sentence."""
    import tabwb

    lines = [Content.assemble(("tabwb ", "bold"), (tabwb.__version__, "bold"))]
    if catalogue is not None:
        lines.append(Content.assemble(("results are kept in  ", QUIET), catalogue.store or "-"))
        network = (
            "offline: nothing but this machine is reached"
            if catalogue.offline
            else "allowed: a model or judge that needs it may use it; tabwb --offline forbids it"
        )
        lines.append(Content.assemble(("network  ", QUIET), network))
        lines += [Content.assemble(("problem  ", QUIET), text) for text in catalogue.problems]
    lines.append(Content(f"\n{RESEARCH_ONLY}"))
    return Content("\n").join(lines)
