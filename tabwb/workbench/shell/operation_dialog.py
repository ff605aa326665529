"""The dialog of an operation: what it takes first, then how far it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Input, ProgressBar, Static

from tabwb.operations.operation import Operation, Value, made, values_of
from tabwb.records.errors import TabwbError, UsageError, error_text
from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import JobState, refusal
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import (
    CLOSE,
    AskWords,
    Choice,
    Dialog,
    Fields,
    Known,
    ScrollPane,
    Selection,
    known_judges,
    labelled,
)
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import AMBER, JOB_SIGNS, QUIET

if TYPE_CHECKING:
    from tabwb.records.columns import Column as TableColumn
    from tabwb.tables.table import Table

SAID_HELP = "# What is said\n\nArrows scroll; **tab** moves on."
STOPPING = "stopping after the current calls"
MOST_ALLOWED = 160
"""Characters of what is allowed that the dialog has room for; its list has all."""
CLOSED = ("exporters", "figures")
"""Kinds of components of which one of those that are known is taken, without options."""
WHAT_HELP = "# What\n\nWhat is made. The fields below belong to it."
Kinds = Sequence[tuple[type[Operation], Mapping[str, Any]]]
"""Operations, each with the values that what is shown decides, and first values of fields."""


def parts(text: str) -> list[str]:
    """Return the values in a field: those with spaces stand in quotes.

    >>> parts(joined(["a b.wav", "c.wav"]))
    ['a b.wav', 'c.wav']
    """
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark alone, as in a word
        return text.split()


def joined(values: Sequence[object]) -> str:
    """Return the text of a field for several values."""
    texts = map(str, values)
    return " ".join(shlex.quote(one) if set(one) & set(" '\"\\") else one for one in texts)


class SaidPane(ScrollPane):
    """What the dialog says; it takes the focus where it is longer than its room."""

    def allow_focus(self) -> bool:
        """Whether there is something to scroll."""
        return super().allow_focus() and self.max_scroll_y > 0


class ResponseList(RowList):
    """Responses of the store."""

    AT_ONCE = True
    HELP = (
        "# Responses\n\n**enter** or **l** plays the response, or stops; **o** shows it in the "
        "results; **esc** closes."
    )


class ResponsesScreen(Dialog[tuple[int, int] | None]):
    """Plays responses of a table; returns administration and trial of the one to be shown."""

    CSS_PATH = "pick.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "play", show=False),
        Binding("o", "open", show=False),
    ]

    def __init__(self, desk: Desk, table: Table) -> None:
        super().__init__()
        self._desk, self._table = desk, table

    def compose(self) -> ComposeResult:
        """Yield the rows and the keys."""
        with Vertical(classes="dialog"):
            count = plural(len(self._table), "response")
            yield Static(count, classes="dialog-title", markup=False)
            yield ResponseList(id="lines", opens=False)
            yield Static(f"enter Play, or stop   o Show   {CLOSE}", classes="dialog-note")

    def on_mount(self) -> None:
        """Show the rows."""
        shown = [column for column in self._table.columns if column.name != "trial"]
        columns: list[Column[Mapping[str, Any]]] = [
            Column(
                one.title, partial(_cell, one), right=one.type in ("number", "integer"),
                rank=place, least=min(8, 2 * place),
            )
            for place, one in enumerate(shown)
        ]  # fmt: skip
        self.query_one(RowList).show(columns, self._table.to_dicts(), current=0, ids=_place_of)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Play the response, or stop."""
        self.action_play()

    def action_play(self) -> None:
        """Play the response, or stop; the log records it as heard."""
        self._desk.request("naming", "playback", *self.query_one(RowList).chosen)

    def action_open(self) -> None:
        """Return the response, to be shown in the results."""
        self.dismiss(self.query_one(RowList).chosen)


def _place_of(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["administration"], row["trial"]


def _cell(column: TableColumn, row: Mapping[str, Any]) -> str:
    return column.format(row[column.name])


class OperationScreen(Dialog[None]):
    """Does an operation as a background job, which continues when the dialog is closed.

    Attributes:
        kind: the operation; one of several, which a first field names.
        known: the values that what is shown decides, and first values of fields.
    """

    CSS_PATH = "operation_dialog.tcss"

    def __init__(
        self,
        desk: Desk,
        kind: type[Operation],
        title: str,
        *,
        others: Kinds = (),
        then: Callable[[JobState], object] | None = None,
        **known: Any,
    ) -> None:
        super().__init__()
        self._desk, self._title, self._then = desk, title, then
        self._kinds: dict[type[Operation], Mapping[str, Any]] = {kind: known, **dict(others)}
        self._jobs = desk.sessions.jobs
        numbers = known.get("ids") or [known[one] for one in ("administration",) if one in known]
        self._job = self._jobs.working(kind.DOING, numbers[0]) if len(numbers) == 1 else None
        """The job that works, or the latest."""
        self._working = self._asking = False
        self._responses: Table | None = None
        self._said_of: str | None = None
        """The field of which something is said: when it changes, that is over; empty: any field."""
        self._take(kind)
        if self._job is not None:
            self.known |= vars(self._jobs.all[self._job.number].wanted)

    def _take(self, kind: type[Operation]) -> None:
        """Ask for the values of this operation."""
        self.kind, self.known, self._secret = kind, dict(self._kinds[kind]), ""
        """``_secret`` is shown once, while the dialog asks for the operation that made it."""
        self._values = [value for value in values_of(kind) if value.arg.label]
        helps = {one.name: f"{one.arg.help} {one.arg.more}".strip() for one in self._values}
        self._fields = Fields("", helps)
        self._named = ""
        """The value that is part of the proposed name of a file."""

    def compose(self) -> ComposeResult:
        """Rows of labels and fields, progress, message, buttons."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            if len(self._kinds) > 1:
                whats = [(kind.WHAT, kind.NAME) for kind in self._kinds]
                yield labelled(
                    "What", Selection(whats, self.kind.NAME, id="what", help_text=WHAT_HELP)
                )
            with VerticalScroll(id="fields", can_focus=False):
                yield from self._rows()
            yield ProgressBar(id="progress", show_eta=False)
            with SaidPane(id="said-pane", help_text=SAID_HELP):
                yield Static(Content.styled(self.kind.NOTE, QUIET), id="said")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Estimate", id="estimate")
                yield Choice(self.kind.TITLE, id="begin")
                yield Choice("Stop", id="stop")
                yield Choice("Listen", id="listen")
                yield Choice("Close", id="close")

    def _rows(self) -> Iterator[Widget]:
        """Yield a row for each long value, one for every two short ones, and headings."""
        short: list[Widget] = []
        of = ""
        for value in self._values:
            arg = value.arg
            row = labelled(arg.label, self._field(value))
            is_long = value.type not in (bool, int, float) and not (value.choices or arg.short)
            if short and (is_long or arg.of != of or len(short) == 2):
                yield Horizontal(*short, classes="pair")
                short = []
            if arg.of != of:
                of = arg.of
                yield Static(of.capitalize(), classes="heading", markup=False)
            if is_long:
                yield row
            else:
                short.append(row)
        if short:
            yield Horizontal(*short, classes="pair")

    def _field(self, value: Value) -> Widget:
        name, arg = value.name, value.arg
        now = self.known.get(name, None if value.needed else value.default)
        if value.choices or value.type is bool:
            choices: Sequence[str] = value.choices or ("", "yes")
            if value.choices and value.default is None:
                choices = ("", *value.choices)
            words = list(zip(arg.words or choices, choices, strict=True))
            shown = now if value.choices else choices[bool(now)]
            return self._fields.selection(name, words, shown or choices[0])
        text = joined(now) if isinstance(now, tuple) else now
        shown = "" if text is None else str(text)
        if name == self.kind.NAMED_BY:
            self._named = shown
        if value.type is Path:
            return self._fields.path(name, shown, arg.blank)
        if arg.kind in CLOSED:
            titles = {one.value: f"{one.value}: {one.text}" for one in self._offered(arg.kind)}
            pairs = [(words, one) for one, words in ({shown: shown} | titles).items()]
            return self._fields.selection(name, pairs, shown)
        if arg.kind:
            offered = self._offered(arg.kind)
            return self._fields.combo(name, shown, offered, arg.blank, several=value.many)
        return self._fields.text(name, shown, arg.blank)

    def _offered(self, kind: str) -> list[Known]:
        """Return the components of a kind that are known."""
        if kind == "figures":
            from tabwb.media.figures import FIGURES, figure_kind

            names = self.known.get(kind) or FIGURES
            return [Known(name, name, figure_kind(name).title) for name in names]
        if kind == "papers":
            from tabwb.operations.reproduce import papers

            return [Known(id_, id_, file.paper.title) for id_, file in papers().items()]
        catalogue = self._desk.catalogue
        if catalogue is None:
            return []
        if kind == "judges":
            return known_judges(catalogue.judges)
        if kind == "exporters":
            return [Known(name, name, title) for name, title, _ in catalogue.exporters]
        if kind == "batteries":
            return [Known(one.id, one.id, one.title, one.problem) for one in catalogue.batteries]
        return [
            Known(one.spec, one.shape, one.title, one.unavailable_reason)
            for one in getattr(catalogue, kind)
        ]

    def on_mount(self) -> None:
        """Show the job that works already, if there is one."""
        self._show_working(False)
        self._enable()
        self._focus_first()
        if self._job is not None:
            self._show(self._job)
        self._desk.news.subscribe(self, self._hear)

    def _focus_first(self) -> None:
        """Go to the name of a file, or to the first field, or to the button that begins."""
        files = [value.name for value in self._values if value.arg.kind == "new"]
        first = [value.name for value in self._values]
        self.set_focus(self.query_one(f"#{(files + first + ['begin'])[0]}"))

    async def on_selection_changed(self, event: Selection.Changed) -> None:
        """Another operation: its fields."""
        chosen = event.selection
        self._forget_said(chosen.id)
        if chosen.id == "what":
            self._take(next(kind for kind in self._kinds if chosen.value == kind.NAME))
            fields = self.query_one("#fields")
            await fields.remove_children()
            await fields.mount_all(self._rows())
            self.query_one("#begin", Choice).label = self.kind.TITLE
            self._show_working(self._working)
            self._remark()
        elif chosen.id == self.kind.NAMED_BY and chosen.value != self._named:
            for field in self.query("#out").results(Input):
                head, found, tail = field.value.rpartition(self._named)
                if found:
                    field.value = f"{head}{chosen.value}{tail}"
            self._named = chosen.value
            self._remark()
        self._enable()

    def _remark(self) -> None:
        """Say what there is to know of the component that was chosen."""

        async def say() -> None:
            try:
                words = await self._desk.ask(self._jobs.remark, self.kind, self._named, aside=True)
            except Exception as error:  # noqa: BLE001 - a plugin's fault is shown
                words = error_text(error)
            self._say(words, QUIET)

        if not (self._working or self._asking):
            self.run_worker(say(), group="remark", exclusive=True, exit_on_error=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """An estimate or a refusal was of another value."""
        self._forget_said(event.input.id)

    def _enable(self) -> None:
        """Let only fields be filled that mean something with what is chosen."""
        exporters = self._desk.catalogue.exporters if self._desk.catalogue else ()
        flexible = {name for name, _, options in exporters if options}
        for value in self._values:
            if value.arg.only is not None:
                name, needed = value.arg.only
                field = self.query_one(f"#{value.name}")
                chosen = self.query_one(f"#{name}")
                assert isinstance(field, Input | Selection) and isinstance(chosen, Selection)
                field.disabled = chosen.value not in (flexible if needed == "@" else {needed})
                without = "none" if needed == "@" else f"{needed} only"
                field.placeholder = without if field.disabled else value.arg.blank

    def _forget_said(self, changed: str | None) -> None:
        if self._said_of is not None and self._said_of in ("", changed):
            self._said_of = None
            self._say(self.kind.NOTE, QUIET)
            self._show_wrong("")

    def shows(self, number: int) -> bool:
        """Whether it shows this job."""
        return self._job is not None and self._job.number == number

    def _hear(self, message: object) -> None:
        if isinstance(message, JobState) and self.shows(message.number):
            self._show(message)

    def _show(self, state: JobState) -> None:
        self._responses = state.responses
        after = "listen" if state.responses else "close"
        self._show_working(state.active, "begin" if state.phase == "refused" else after)
        if state.planned:
            self.query_one(ProgressBar).update(total=state.planned, progress=state.done)
        counted = state.active and state.planned
        done = f"{state.what} {state.done} of {state.planned}" if counted else ""
        doing = STOPPING if state.phase == "stopping" else state.words
        if state.phase == "done" and self.kind.SECRET:
            self._secret = self._secret or self._jobs.secret(state.number)
        words = "\n".join(filter(None, (", ".join(filter(None, (done, doing))), self._secret)))
        more = f"\n{self.kind.CONTINUES}" if state.phase == "stopped" else ""
        style = AMBER if state.phase in {"refused", "stopped"} else ""
        self._say(f"{JOB_SIGNS[state.phase]} {words}{more}", style)
        if not state.active:
            self._show_wrong(state.field)
            self._said_of = state.field or None
        if state.phase == "done" and self._then is not None:
            self.dismiss(None)
            self._then(state)

    def _say(self, words: str, style: str = "") -> None:
        self.query_one("#said", Static).update(Content.styled(words, style))
        self.query_one(ScrollPane).scroll_home(animate=False)

    def _show_wrong(self, name: str) -> None:
        """Mark a field, and go to it: not from another one, in which the user may be typing."""
        for value in self._values:
            field = self.query_one(f"#{value.name}")
            field.set_class(value.name == name, "-wrong")
        if name and isinstance(self.focused, Choice | None):
            self.query_one(f"#{name}").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field asks for the estimate, or begins where there is none."""
        self._ask(begin=not self.kind.ESTIMATE)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Estimate, begin, stop or close."""
        match event.button.id:
            case "stop":
                if self._job is not None:
                    self._jobs.stop(self._job.number)
            case "listen":
                assert self._responses is not None
                self.app.push_screen(ResponsesScreen(self._desk, self._responses), self._open)
            case "close":
                self.dismiss(None)
            case name:
                self._ask(begin=name == "begin")

    def _open(self, place: tuple[int, int] | None) -> None:
        """Show a response in the results."""
        if place is not None:
            self.dismiss(None)
            self._desk.request("results", "show", *place)

    def _ask(self, *, begin: bool) -> None:
        if self._working or self._asking:
            return
        try:
            wanted = made(self.kind, self.known | dict(self._given()))
        except TabwbError as error:
            self._refuse(error)
            return
        self.workers.cancel_group(self, "remark")
        self._said_of = None
        self._show_wrong("")
        self._say("… looking", QUIET)
        work = self._begin(wanted) if begin else self._estimate(wanted)
        self.run_worker(work, exclusive=True, exit_on_error=False)

    def _given(self) -> Iterator[tuple[str, Any]]:
        for value in self._values:
            field = self.query_one(f"#{value.name}")
            if field.disabled:
                continue
            if isinstance(field, Selection):
                yield value.name, bool(field.value) if value.type is bool else field.value or None
                continue
            assert isinstance(field, Input)
            text = field.value.strip()
            several = self._several(text, value.arg.kind) if value.many else text
            yield value.name, several or None

    def _several(self, text: str, kind: str) -> list[str]:
        """Return the values in a field.

        A word that names no component is of the name before it, so that a spec with spaces in a
        path needs no quotes.
        """
        words = parts(text)
        if kind not in ("judges", "models", "transcribers"):
            return words
        known = {re.split("[:@+]", one.value)[0] for one in self._offered(kind)}
        specs: list[str] = []
        for word in words:
            if specs and ":" in specs[-1] and re.split("[:@+]", word)[0] not in known:
                specs[-1] += f" {word}"
            else:
                specs.append(word)
        return specs

    async def _estimate(self, wanted: Operation) -> None:
        try:
            words = await self._desk.ask(self._jobs.estimate, wanted, aside=True)
        except Exception as error:  # noqa: BLE001 - a plugin's fault is shown
            self._refuse(error, wanted)
        else:
            self._say(f"≈ {words}")
            self._said_of = ""

    async def _begin(self, wanted: Operation) -> None:
        self._asking = True
        try:
            if wanted.CONFIRMS and not await self._confirmed(wanted):
                return
            number = await self._desk.ask(self._jobs.begin, wanted)
        except Exception as error:  # noqa: BLE001 - a plugin's fault is shown
            self._refuse(error, wanted)
        else:
            if number:  # 0: the program ends
                self._job = self._jobs.all[number].state
                self._show(self._job)
        finally:
            self._asking = False

    async def _confirmed(self, wanted: Operation) -> bool:
        """Show what an operation takes, and ask for the value that confirms it."""
        value = str(getattr(wanted, wanted.CONFIRMS))
        words = await self._desk.ask(self._jobs.estimate, wanted, aside=True)
        asked = AskWords(f"{wanted.TITLE} {value}", f"Type {value} again", words)
        typed = await self.app.push_screen_wait(asked)
        if typed is not None and typed != value:
            raise UsageError(f"'{typed}' is not '{value}': nothing was done")
        return typed is not None

    def _refuse(self, error: Exception, wanted: Operation | None = None) -> None:
        """Say why a value cannot be used, at its field."""
        words, field = error_text(error), ""
        if isinstance(error, TabwbError):
            if len(error.allowed or "") > MOST_ALLOWED:
                error.allowed, error.hint = None, "down in the field lists what there is"
            words, field = refusal(self.kind, error, wanted)
        self._say(f"! {words}", AMBER)
        self._show_wrong(field)
        self._said_of = field

    def _show_working(self, working: bool, focus: str = "") -> None:
        ended = self._working and not working
        shown = {
            "stop": working, "begin": not working,
            "estimate": not working and bool(self.kind.ESTIMATE),
            "listen": not working and self._responses is not None,
        }  # fmt: skip
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
