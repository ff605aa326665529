"""Dialogs: their base with its style sheets, those that ask a question, and their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple, TypeVar

from rich.segment import Segment
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.message import Message
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine.view_models import Catalogue, ErrorReport
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.row_list import Below, RowList
from tabwb.workbench.shell.wording import QUIET, spread

R = TypeVar("R")


def read_styles(app: App[Any], paths: Iterable[PurePath]) -> None:
    """Read style sheets that the application does not have yet.

    Textual reads those of a screen too, but then parses every other one again and updates the
    styles of all widgets. Ours concern only what is inside their own page or dialog.
    """
    for path in paths:
        place = str(path), ""
        if not app.stylesheet.has_source(*place):  # its read() would leave the rules found before
            css = Path(path).read_text(encoding="utf-8")
            app.stylesheet.add_source(css, read_from=place)


def prepare_styles(screen: Screen[Any]) -> None:
    """Read the styles of a screen, and give it the class for the height of the window.

    Textual gives the class after the first layout, and updates all styles for it.
    """
    app = screen.app
    read_styles(app, screen.css_path)
    least = [at for at in app.VERTICAL_BREAKPOINTS or () if at[0] <= app.size.height]
    if least:
        screen.add_class(max(least)[1], update=False)


class Dialog(ModalScreen[ScreenResultType]):
    """Base of the dialogs: esc closes, ? shows help (F1 too, also in a text field)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("question_mark", "app.help_for_focus", "Help", show=False),
        Binding("ctrl+o", "app.jump", "Jump", show=False),
    ]

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        prepare_styles(self)


class Choice(Button):
    """A button."""

    HELP = "# Choice\n\n**enter** chooses; **tab** moves on; **esc** closes."

    def __init__(self, words: str, *, id: str) -> None:
        super().__init__(words, id=id, compact=True)

    def watch_label(self) -> None:
        """Take the width of other words."""
        self.refresh(layout=True)


class ScrollPane(VerticalScroll, can_focus=True):
    """A part of a dialog or page that can be focused to scroll it."""

    def __init__(self, *children: Widget, id: str, help_text: str) -> None:
        super().__init__(*children, id=id)
        self.help_text = help_text


def labelled(label: str, field: Widget, classes: str = "") -> Horizontal:
    """Return a row of a dialog: a label and a field."""
    words = Static(label, classes="label", markup=False)
    return Horizontal(words, field, classes=f"row {classes}")


class ChoiceScreen(Dialog[str | None]):
    """Returns the id of what was chosen; None when closed with esc."""

    CSS_PATH = "choice.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(
        self,
        title: str,
        text: str | Content,
        choices: Sequence[tuple[str, str]],
        *,
        alone: bool = False,
    ) -> None:
        super().__init__(classes="-alone" if alone else None)
        self._title, self._text, self._choices = title, text, choices

    def compose(self) -> ComposeResult:
        """Yield title, text and buttons."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False, classes="dialog-text"):
                yield Static(self._text, markup=False)
            with Horizontal(classes="dialog-buttons"):
                for name, words in self._choices:
                    yield Choice(words, id=name)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Return the id of the button."""
        self.dismiss(event.button.id)


def report_text(report: ErrorReport) -> Content:
    """Return what is wrong, where, what is allowed and what to do."""
    lines = [Content.styled(report.where, QUIET)] if report.where else []
    lines.append(Content(report.message))
    if report.allowed:
        lines.append(Content.assemble(("allowed: ", QUIET), report.allowed))
    if report.hint:
        lines.append(Content(f"\n{report.hint}"))
    return Content("\n").join(lines)


def about_text(catalogue: Catalogue | None) -> Content:
    """Return version, store, network, problems of plugins and the research-only sentence."""
    import tabwb

    lines = [Content.styled(f"tabwb {tabwb.__version__}", "bold")]
    if catalogue is not None:
        network = (
            "offline: no other machine is contacted"
            if catalogue.offline
            else "allowed: a model or judge that needs it may use it; tabwb --offline forbids it"
        )
        facts = [("results are kept in", catalogue.store or "-"), ("network", network)]
        facts += [("problem", text) for text in catalogue.problems]
        lines += [Content.assemble((f"{name}  ", QUIET), text) for name, text in facts]
    return Content("\n").join([*lines, Content(f"\n{RESEARCH_ONLY}")])


CLOSE = "[@click=screen.dismiss]esc Close[/]"
"""The end of a line of keys; a click closes too."""


class Words(Input):
    """The text field."""

    HELP = "# A few words\n\nThey are kept in the store. **enter** accepts, **esc** closes."


class AskWords(Dialog[str | None]):
    """Returns the words; None when closed with esc."""

    CSS_PATH = "ask_words.tcss"

    def __init__(
        self, title: str, label: str, text: str = "", *, words: str = "", optional: bool = False
    ) -> None:
        super().__init__()
        self._title, self._text, self._words, self._optional = title, text, words, optional
        self._label = f"{label} (may stay empty)" if optional else label

    def compose(self) -> ComposeResult:
        """Yield title, field and keys."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            if self._text:
                yield Static(self._text, classes="dialog-note", markup=False)
            yield Words(self._words, placeholder=self._label, id="words", compact=True)
            keys = f"[@click=screen.accept]enter Accept[/]   {CLOSE}"
            yield Static(keys, id="words-message", classes="dialog-note")

    async def action_accept(self) -> None:
        """Do what enter does in the field."""
        await self.query_one(Words).action_submit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the words, if there are any."""
        words = event.value.strip()
        if words or self._optional:
            self.dismiss(words)
            return
        message = self.query_one("#words-message", Static)
        message.update(f"{self._label}: a text is needed   {CLOSE}")
        message.add_class("-error")


class Picks(RowList):
    """The rows of which one is picked."""

    AT_ONCE = True
    HELP = "# Pick one\n\nArrows move, **enter** picks, **esc** closes."


LINE: Sequence[Column[Any]] = (Column("", lambda line: line, least=20, end=True),)
"""The only column of lines."""


class PickScreen(Dialog[int | None]):
    """Returns the place of the chosen row; None when closed with esc."""

    CSS_PATH = "pick.tcss"

    def __init__(
        self,
        title: str,
        rows: Sequence[Any],
        at: int = 0,
        columns: Sequence[Column[Any]] = LINE,
        below: Below | None = None,
    ) -> None:
        super().__init__()
        self._title, self._rows, self._at = title, rows, at
        self._columns, self._below = columns, below

    def compose(self) -> ComposeResult:
        """Yield title and rows."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Picks(id="lines", opens=False)
            yield Static(f"enter Pick   {CLOSE}", classes="dialog-note")

    def on_mount(self) -> None:
        """Show the rows, at the present one."""
        self.query_one(RowList).show(
            self._columns, self._rows, current=self._at, below=self._below, ids=id
        )

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Return the place of the row."""
        self.dismiss(event.row)


def pick(
    app: App[Any],
    title: str,
    rows: Sequence[R],
    then: Callable[[R], object],
    *,
    at: int = 0,
    columns: Sequence[Column[R]] = LINE,
    below: Below | None = None,
) -> None:
    """Let one of some rows be picked, and call a function with it."""

    def picked(place: int | None) -> None:
        if place is not None:
            then(rows[place])

    app.push_screen(PickScreen(title, rows, at, columns, below), picked)


class TextField(Input):
    """A text field that shows the end of a long text while it has no focus: of a path, the file."""

    def __init__(
        self,
        name: str,
        value: str,
        help_text: str,
        placeholder: str = "",
        suggester: Suggester | None = None,
    ) -> None:
        # Validation would update the styles of each field once more; there is none.
        super().__init__(
            value, placeholder, id=name, compact=True, validate_on=(), suggester=suggester
        )
        self.help_text = help_text

    def on_resize(self) -> None:
        """Show the end in the new width."""
        self._show_end()

    def watch_value(self) -> None:
        """Show the end of a text that was filled in."""
        self.call_after_refresh(self._show_end)

    def on_blur(self) -> None:
        """Show the end when the focus has gone."""
        self.call_after_refresh(self._show_end)

    def _show_end(self) -> None:
        if not self.has_focus:
            self.cursor_position = len(self.value)
            self.scroll_to(x=self.max_scroll_x, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Return the line; … stands for what is cut at the left."""
        line = super().render_line(y)
        if y or self.has_focus or not self.scroll_offset.x:
            return line
        cut = Strip([Segment("…", self.rich_style)])
        return Strip.join([cut, line.crop(1)])


class Paths(Suggester):
    """Suggests the first file or folder whose name begins with what was typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole path; a folder ends in ``/``."""
        head, slash, begin = value.rpartition("/")
        if not begin:
            return None
        try:
            found = min(Path(f"{head}{slash}" or ".").expanduser().glob(f"{escape(begin)}*"))
        except (ValueError, OSError):
            return None
        return f"{head}{slash}{found.name}{'/' if found.is_dir() else ''}"


class FilterField(TextField):
    """A field for words to filter a list by; hidden while it is not used.

    It submits its words: enter those that were typed, esc none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", show=False)]

    def __init__(self, name: str, help_text: str, placeholder: str) -> None:
        super().__init__(name, "", help_text, placeholder)
        self.display = False

    def open(self) -> None:
        """Show the field and take the focus."""
        self.display = True
        self.focus()

    def close(self) -> None:
        """Empty and hide the field."""
        self.value = ""
        self.display = False

    def action_clear(self) -> None:
        """Submit no words."""
        self.value = ""
        self.post_message(self.Submitted(self, ""))


class ListField(Widget):
    """Base of the fields: opens the list, and closes it when it loses the focus."""

    DEFAULT_CSS = """
    ListField { height: 1; width: 1fr; }
    ListField RowList {
        overlay: screen; constrain: none inside; display: none; height: auto; max-height: 10;
        width: 1fr; background: $panel; border: heavy $accent;
    }
    """

    def make_list(self) -> RowList:
        """Return the list; called when it is opened first."""
        raise NotImplementedError

    def fill(self, listed: RowList) -> None:
        """Show the values, at the present one, in the list that is opened."""
        raise NotImplementedError

    async def action_open(self) -> None:
        """Open the list at the present value."""
        if not self.query(RowList):
            await self.mount(self.make_list())
        listed = self.query_one(RowList)
        listed.display = True
        self.fill(listed)
        listed.focus()

    async def on_click(self, event: Click) -> None:
        """Open the list."""
        if not isinstance(event.widget, RowList):
            await self.action_open()

    @on(RowList.Highlighted)
    @on(RowList.Left)
    def _keep(self, event: RowList.Highlighted | RowList.Left) -> None:
        event.stop()  # nobody else's

    def on_descendant_blur(self) -> None:
        """Close the list when it loses the focus."""
        self.call_after_refresh(self._close)

    def _close(self) -> None:
        # By then the dialog may have been closed, with everything in it.
        for listed in self.query(RowList):
            if not listed.has_focus:
                listed.display = False


class Known(NamedTuple):
    """One entry of the list; an entry with an ``unavailable_reason`` cannot be chosen."""

    value: str
    label: str
    text: str
    unavailable_reason: str = ""


def known_judges(judges: Iterable[tuple[str, str]]) -> list[Known]:
    """Return the judges of a catalogue as entries."""
    return [Known(begins, begins.removesuffix(":"), title) for begins, title in judges]


KNOWN: Sequence[Column[Known]] = (
    Column("", lambda one: one.label, least=16),
    Column("", lambda one: one.unavailable_reason or one.text, least=16, end=True, style=QUIET),
)


class ComboList(RowList):
    """The list of known values."""

    AT_ONCE = True
    HELP = """\
# List

The known values. **enter** takes one; **esc**, or typing, goes back to the field.
"""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    @property
    def _field(self) -> ComboInput:
        assert self.parent is not None
        return self.parent.query_one(ComboInput)

    def action_leave(self) -> None:
        """Return to the field."""
        self._field.go_on()

    def on_key(self, event: Key) -> None:
        """Pass letters on to the field."""
        field = self._field
        if event.is_printable and event.character is not None:
            field.replace(event.character, *field.selection)
        elif event.key == "backspace":
            field.action_delete_left()
        else:
            return
        event.stop().prevent_default()
        field.go_on()


class ComboInput(TextField):
    """The text field."""

    def go_on(self) -> None:
        """Take the focus from the list, without selecting the text."""
        self.select_on_focus = False
        self.focus()

    def on_blur(self) -> None:
        """Select the text, as other fields do, except when the focus comes from the list."""
        super().on_blur()
        self.select_on_focus = True


class Combo(ListField):
    """A text field with a list of known values, which the key down opens.

    The field's id is the combo's without ``-combo``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "open", show=False)]

    def __init__(
        self,
        name: str,
        value: str,
        known: Sequence[Known],
        help_text: str,
        *,
        several: bool = False,
        placeholder: str = "",
    ) -> None:
        field = ComboInput(name, value, help_text, placeholder)
        super().__init__(field, id=f"{name}-combo")
        self._field, self._known, self._several = field, tuple(known), several

    @property
    def field(self) -> Input:
        """The text field, also before the combo is mounted."""
        return self._field

    def offer(self, known: Sequence[Known]) -> None:
        """Replace the entries of the list."""
        self._known = tuple(known)
        for listed in self.query(ComboList):
            if listed.display:
                self.fill(listed)

    def make_list(self) -> RowList:
        """Return the list."""
        return ComboList(id=f"{self._field.id}-list", opens=False)

    def fill(self, listed: RowList) -> None:
        """Show the entries, at the one that was typed."""
        typed = self._field.value
        at = nearest(self._known, typed.rpartition(" ")[2] if self._several else typed)
        listed.show(
            KNOWN, self._known, current=at or 0, usable=lambda one: not one.unavailable_reason
        )

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Fill in the entry that was chosen."""
        event.stop()
        field, chosen = self._field, event.value.value
        field.value = joined(field.value, chosen) if self._several else taken(field.value, chosen)
        field.go_on()
        field.cursor_position = len(field.value)


def nearest(known: Sequence[Known], typed: str) -> int | None:
    """Return the place of the entry for a typed text, or None.

    The one that was typed, by itself or with more behind it; else the first that begins with what
    was typed, else the first that has it somewhere, else the first.

    >>> known = [Known(one, one, "") for one in ("rules-2", "tab-2026:", "tab-2026+likelihood:")]
    >>> [nearest(known, one) for one in ("tab", "LIKE", "tab-2026+likelihood:echo", "", "zz")]
    [1, 2, 2, 0, 0]
    """
    typed = typed.strip().lower()
    values = [entry.value.lower() for entry in known]
    tests = (
        lambda value: value == typed,
        lambda value: opens(value, typed),
        lambda value: value.startswith(typed),
        lambda value: typed in value,
        lambda value: True,
    )
    return next((values.index(value) for test in tests for value in values if test(value)), None)


def opens(value: str, typed: str) -> bool:
    """Return whether a typed text is an entry followed by a name or options.

    >>> opens("tab-2026:", "tab-2026:echo"), opens("echo", "echo@delay=1"), opens("echo", "echo2")
    (True, True, False)
    """
    behind = typed.removeprefix(value) if value and typed.startswith(value) else ""
    return bool(behind) and (value.endswith(":") or behind[0] in ":@")


def taken(typed: str, value: str) -> str:
    """Return the text of the field after an entry was chosen; a typed name stays.

    >>> taken("tab-2026:echo", "tab-2026:"), taken("tab", "tab-2026:"), taken("echo2", "echo")
    ('tab-2026:echo', 'tab-2026:', 'echo')
    """
    return typed.strip() if opens(value, typed.strip()) else value


def joined(typed: str, value: str) -> str:
    """Return the text of a field with several values: the last is completed, or one is added.

    >>> joined("rules tab", "tab-2026:"), joined("rules", "tab-2026:"), joined("none", "rules")
    ('rules tab-2026:', 'rules tab-2026:', 'rules')
    >>> joined("rules tab-2026:echo", "tab-2026:"), joined("rules", "rules"), joined("", "rules")
    ('rules tab-2026:echo', 'rules', 'rules')
    """
    words = [word for word in typed.split() if word != "none"]
    if words and value.lower().startswith(words[-1].lower()):
        words.pop()
    if any(word == value or opens(value, word) for word in words):
        return " ".join(words)
    return " ".join([*words, value])


VALUES: Sequence[Column[tuple[str, str]]] = (Column("", lambda one: one[1]),)


class SelectionList(RowList):
    """The values."""

    AT_ONCE = True
    HELP = "# List\n\nArrows move, **enter** chooses, **esc** goes back to the field."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def action_leave(self) -> None:
        """Return to the field."""
        if isinstance(self.parent, Selection):
            self.parent.focus()

    def on_key(self, event: Key) -> None:
        """Highlight the first value that begins with a typed letter."""
        letter = (event.character or "").lower()
        if letter.isalnum():
            event.stop()
            rows = enumerate(self.rows)
            self.go(next((at for at, row in rows if row[1].lower().startswith(letter)), -1))


class Selection(ListField, can_focus=True):
    """A field whose value is one of a few."""

    DEFAULT_CSS = """
    Selection { color: $foreground; }
    Selection SelectionList { margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,down,space,up", "open", show=False)]
    value = reactive("", init=False)
    placeholder = reactive("")
    """What is shown instead of the value while the field is disabled."""

    @dataclass
    class Changed(Message):
        """Another value was chosen."""

        selection: Selection

    def __init__(
        self, values: Iterable[tuple[str, str]], value: str, *, id: str, help_text: str
    ) -> None:
        super().__init__(id=id)
        self._words = {value: words for words, value in values}
        self.help_text = help_text
        self.set_reactive(Selection.value, value)

    def watch_value(self) -> None:
        """Tell the dialog."""
        self.post_message(self.Changed(self))

    def render(self) -> Content:
        """Return the words of the value."""
        if self.disabled:
            return Content.styled(self.placeholder, QUIET)
        return spread(Content(self._words[self.value]), Content("▼"), self.content_size.width)

    def make_list(self) -> RowList:
        """Return the list."""
        return SelectionList(id=f"{self.id}-list", opens=False)

    def fill(self, listed: RowList) -> None:
        """Show the values, at the present one."""
        listed.show(VALUES, [*self._words.items()], current=list(self._words).index(self.value))

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Take the value that was chosen."""
        event.stop()
        self.value = event.value[0]
        self.focus()


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a dialog or page.

    Attributes:
        prefix: of their ids.
        helps: what each field is for, by its name.
        keys: what keys do in them; ends the help.
    """

    prefix: str
    helps: Mapping[str, str]
    keys: str = "**tab** moves on."

    def help(self, name: str) -> str:
        """Return the F1 help of a field."""
        return f"# {name.replace('_', ' ').capitalize()}\n\n{self.helps[name]}\n\n{self.keys}"

    def text(self, name: str, value: str = "", placeholder: str = "") -> TextField:
        """Return a text field."""
        return TextField(f"{self.prefix}{name}", value, self.help(name), placeholder)

    def path(self, name: str, value: str = "", placeholder: str = "") -> TextField:
        """Return a field for the path of a file, which the key right completes."""
        help_text = f"{self.help(name)} **right** completes a name."
        return TextField(f"{self.prefix}{name}", value, help_text, placeholder, Paths())

    def combo(
        self,
        name: str,
        value: str,
        known: Sequence[Known],
        placeholder: str = "",
        *,
        several: bool = False,
    ) -> Combo:
        """Return a text field with a list; of ``several`` values with spaces between."""
        words, id_ = self.help(name), f"{self.prefix}{name}"
        return Combo(id_, value, known, words, several=several, placeholder=placeholder)

    def selection(
        self, name: str, values: Sequence[tuple[str, str]], value: str | None = None
    ) -> Selection:
        """Return a field whose value is one of a few."""
        shown = values[0][1] if value is None else value
        return Selection(values, shown, id=f"{self.prefix}{name}", help_text=self.help(name))
