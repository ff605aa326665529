"""The dialog of an operation: what it takes first, then how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, ProgressBar, Static

from tabwb.operations.operation import Operation, Value, made, values_of
from tabwb.records.errors import TabwbError, error_text
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.operations import JobController
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Choice, Dialog, labelled
from tabwb.workbench.shell.fields import Fields
from tabwb.workbench.shell.list_fields import Selection, known_judges
from tabwb.workbench.shell.wording import AMBER, QUIET

SIGNS = {"running": "…", "stopping": "…", "done": "✓", "stopped": "‖", "refused": "!"}

STOPPING = "stopping after the current calls"
MOST_ALLOWED = 160
"""Characters of what is allowed that the dialog has room for; its list has all."""


class OperationScreen(Dialog[None]):
    """Does an operation as a background job, which continues when the dialog is closed.

    Attributes:
        kind: the operation.
        known: the values that what is shown decides, and first values of fields.
    """

    CSS_PATH = "operation_dialog.tcss"

    def __init__(self, desk: Desk, kind: type[Operation], title: str, **known: Any) -> None:
        super().__init__()
        self.kind, self.known = kind, known
        self._desk, self._title = desk, title
        self._jobs = desk.controller(JobController)
        self._values = [value for value in values_of(kind) if value.arg.label]
        assert self._values and not kind.CONFIRMS, f"no dialog can be made of '{kind.NAME}'"
        helps = {one.name: f"{one.arg.help} {one.arg.more}".strip() for one in self._values}
        self._fields = Fields("", helps)
        numbers = known.get("ids", ())
        self._job = self._jobs.working(kind.DOING, numbers[0]) if len(numbers) == 1 else None
        """The job that works, or the latest."""
        if self._job is not None:
            self.known |= vars(self._jobs.wanted(self._job.number))
        self._working = self._asking = False

    def compose(self) -> ComposeResult:
        """Rows of labels and fields, progress, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield from self._rows()
            yield ProgressBar(id="progress", show_eta=False)
            yield Static(Content.styled(self.kind.NOTE, QUIET), id="said")
            with Horizontal(classes="dialog-buttons"):
                if self.kind.ESTIMATE:
                    yield Choice("Estimate", id="estimate")
                yield Choice(self.kind.TITLE, id="begin")
                yield Choice("Stop", id="stop")
                yield Choice("Close", id="close")

    def _rows(self) -> Iterator[Widget]:
        """Yield a row for each long value, and one for every two short ones."""
        short: list[Widget] = []
        for value in self._values:
            row = labelled(value.arg.label, self._field(value))
            if value.type is str and not value.choices:
                yield row
                continue
            short.append(row)
        for at in range(0, len(short), 2):
            yield Horizontal(*short[at : at + 2], classes="pair")

    def _field(self, value: Value) -> Widget:
        now, name, arg = self.known.get(value.name, value.default), value.name, value.arg
        if value.choices or value.type is bool:
            choices = value.choices or ("", "yes")
            words = list(zip(arg.words or choices, choices, strict=True))
            shown = now if value.choices else choices[bool(now)]
            return self._fields.selection(name, words, shown)
        text = " ".join(map(str, now)) if isinstance(now, tuple) else now
        shown = str(text) if isinstance(text, str | int | float) else ""
        if arg.kind == "judges":
            catalogue = self._desk.catalogue
            judges = () if catalogue is None else catalogue.judges
            return self._fields.combo(name, shown, known_judges(judges))
        return self._fields.text(name, shown, arg.blank)

    def on_mount(self) -> None:
        """Show the job that works already, if there is one."""
        self.set_focus(self.query_one(f"#{self._values[0].name}"))
        self._show_working(False)
        if self._job is not None:
            self._show(self._job)
        self._desk.news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        own = self._job
        if isinstance(message, JobState) and own is not None and message.number == own.number:
            self._show(message)

    def _show(self, state: JobState) -> None:
        self._show_working(state.active, "begin" if state.phase == "refused" else "close")
        if state.planned:
            self.query_one(ProgressBar).update(total=state.planned, progress=state.done)
        counted = state.active and state.planned
        done = f"{self.kind.TOLD} {state.done} of {state.planned}" if counted else ""
        doing = STOPPING if state.phase == "stopping" else state.words
        words = ", ".join(filter(None, (done, doing)))
        more = f"\n{self.kind.CONTINUES}" if state.phase == "stopped" else ""
        style = AMBER if state.phase in {"refused", "stopped"} else ""
        self._say(f"{SIGNS[state.phase]} {words}{more}", style)

    def _say(self, words: str, style: str = "") -> None:
        self.query_one("#said", Static).update(Content.styled(words, style))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field asks for the estimate, or begins where there is none."""
        self._ask(begin=not self.kind.ESTIMATE)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Estimate, begin, stop or close."""
        match event.button.id:
            case "stop":
                if self._job is not None:
                    self._jobs.stop(self._job.number)
            case "close":
                self.dismiss(None)
            case name:
                self._ask(begin=name == "begin")

    def _ask(self, *, begin: bool) -> None:
        if self._working or self._asking:
            return
        try:
            wanted = made(self.kind, self.known | dict(self._given()))
        except TabwbError as error:
            self._refuse(error)
            return
        self._say("… looking", QUIET)
        work = self._begin(wanted) if begin else self._estimate(wanted)
        self.run_worker(work, exclusive=True, exit_on_error=False)

    def _given(self) -> Iterator[tuple[str, Any]]:
        for value in self._values:
            field = self.query_one(f"#{value.name}")
            if isinstance(field, Selection):
                yield value.name, bool(field.value) if value.type is bool else field.value
                continue
            assert isinstance(field, Input)
            text = field.value.strip()
            several = text.split() if value.many and not value.arg.kind else text
            yield value.name, several or None

    async def _estimate(self, wanted: Operation) -> None:
        try:
            words = await self._desk.ask(self._jobs.estimate, wanted, aside=True)
        except Exception as error:  # noqa: BLE001 - a plugin's fault is shown
            self._refuse(error)
        else:
            self._say(f"≈ {words}")

    async def _begin(self, wanted: Operation) -> None:
        self._asking = True
        try:
            number = await self._desk.ask(self._jobs.begin, wanted)
        except Exception as error:  # noqa: BLE001 - a plugin's fault is shown
            self._refuse(error)
        else:
            if number:  # 0: the program ends
                self._job = self._jobs.state(number)
                self._show(self._job)
        finally:
            self._asking = False

    def _refuse(self, error: Exception) -> None:
        """Say why a value cannot be used, at its field."""
        values = {value.name: value for value in self._values}
        where = getattr(error, "where", None)
        if isinstance(error, TabwbError) and where in values:
            error.where = values[where].arg.label
        if isinstance(error, TabwbError) and len(error.allowed or "") > MOST_ALLOWED:
            error.allowed, error.hint = None, "down in the field lists what there is"
        self._say(f"! {error if isinstance(error, TabwbError) else error_text(error)}", AMBER)
        if where in values:
            self.query_one(f"#{where}").focus()

    def _show_working(self, working: bool, focus: str = "") -> None:
        ended = self._working and not working
        shown = {"stop": working, "estimate": not working, "begin": not working}
        buttons = {name: button for name in shown for button in self.query(f"#{name}")}
        for name, button in buttons.items():
            if shown[name]:
                button.display = True
        # At once, before buttons are hidden: Textual moves the focus away from a hidden one later,
        # after the user may have chosen another.
        if working:
            self.set_focus(buttons["stop"])
        elif ended and focus:
            self.set_focus(self.query_one(f"#{focus}"))
        self._working = working
        self.query_one("#close", Choice).label = "In the background" if working else "Close"
        for name, button in buttons.items():
            if not shown[name]:
                button.display = False
        self.query_one(ProgressBar).display = working
