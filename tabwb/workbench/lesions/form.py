"""The fields of a lesion, its spec as text, and the grid of a sweep that is made from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tabwb.administer.sweep.grid import OWN, TOO_LARGE, grid_of, grid_text
from tabwb.lesion.declared import CONTROLS as DECLARED
from tabwb.lesion.declared import OPERATIONS, SELECTIONS, TARGETS, Part
from tabwb.lesion.spec import Lesion, asked_lesions, lesion_text, made, numbers_text, parse_numbers
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import expanded, read_regular
from tabwb.workbench.shell.dialogs import (
    Choice,
    Combo,
    Dialog,
    Fields,
    Known,
    Selection,
    TextField,
    labelled,
)
from tabwb.workbench.shell.wording import AMBER, QUIET

ALL = "all"
FIRST = ("mlp.down", "mlp.out")
"""The target at the beginning: the first that the model has."""
HELPS = {
    "target": "What is lesioned; **down** lists what the model has. **enter** on a part in the "
    "tree fills it in too.",
    "operation": "What is done to the units that are taken.",
    "amount": "Share of units that is taken, above 0 to 1; **up** and **down** change it by 0.05.",
    "layers": "In which layers: `0-3,-1`; negative numbers count from the end; `all`.",
    "units": "Among which heads, neurons or experts units are taken: `0-3,-1`; `all`.",
    "seed": "Of the choice of units, of noise and of orders; **up** and **down** change it by 1.",
    "select": "*random*: drawn from the seed; *magnitude*: the smallest; *localizer*: those that "
    "respond most to sentences; *list*: those of the file that the spec names.",
    "number": "The factor of *scale*, sigma of *noise* or bits of *quantise*; others need none.",
    "spec": "The lesion as text, as `tabwb run --lesion` takes it; several are joined by `+` here. "
    "**y** copies it.",
}
FIELDS = Fields("lab-", HELPS, "**tab** moves on, **enter** gives the item.")


class Stepped(TextField):
    """A number that up and down change by a step."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(1)", show=False),
        Binding("down", "step(-1)", show=False),
    ]

    def __init__(self, name: str, value: str, step: float, most: float) -> None:
        super().__init__(f"lab-{name}", value, FIELDS.help(name))
        self._step, self._most = step, most

    def action_step(self, direction: int) -> None:
        """Change the number by one step, within its bounds."""
        try:
            number = float(self.value)
        except ValueError:
            return
        changed = min(max(round(number + direction * self._step, 6), 0.0), self._most)
        self.value = f"{changed:g}" if changed < 1e6 else str(int(changed))


class LesionForm(Vertical):
    """The fields.

    Attributes:
        spec: of the lesion; empty: the intact model.
        problem: why the fields do not make a lesion, or empty.
    """

    @dataclass
    class Changed(Message):
        """The lesion is another one now."""

    def __init__(self) -> None:
        super().__init__(id="lab-form")
        self.problem = ""
        self.spec = str(Lesion(FIRST[0], "zero", 0.3))
        self._list: dict[str, object] = {}
        """File and hash of the list of units in the spec; there are no fields for them."""
        self._begun = self.spec
        """What the form began with; another spec was chosen by the user."""

    def compose(self) -> ComposeResult:
        """Yield the fields."""
        yield Horizontal(
            labelled("Target", FIELDS.combo("target", FIRST[0], ()), "-two"),
            labelled("Operation", _selection("operation", OPERATIONS, "zero")),
            classes="lab-row",
        )
        yield Horizontal(
            labelled("Amount", Stepped("amount", "0.3", 0.05, 1.0)),
            labelled("Seed", Stepped("seed", "1", 1, 2**31)),
            labelled("Layers", FIELDS.text("layers", ALL)),
            classes="lab-row",
        )
        yield Horizontal(
            labelled("Choice", _selection("select", SELECTIONS, "random")),
            labelled("Number", FIELDS.text("number")),
            labelled("Units", FIELDS.text("units", ALL)),
            classes="lab-row",
        )
        yield labelled("Spec", FIELDS.text("spec", self.spec))

    def offer(self, parts: Sequence[Part]) -> None:
        """Offer the targets that a model has; begin with one of them."""
        there = {part.target for part in parts}
        there |= {one.id for one in TARGETS.values() if there & set(one.of)}
        known = [
            Known(one.id, one.id, f"{one.meaning}; unit: {one.unit}")
            for one in TARGETS.values()
            if one.id in there
        ]
        self.query_one("#lab-target-combo", Combo).offer(known)
        first = next((name for name in FIRST if name in there), "")
        if first and self.spec == self._begun and self._text("target") not in there:
            self._begun = str(Lesion(first, "zero", 0.3))
            self.query_one("#lab-target", Input).value = first

    def choose(self, target: str, layer: int | None) -> None:
        """Take a part, a layer or the whole model from the list."""
        if target:
            self.query_one("#lab-target", Input).value = target
        in_layers = not target or TARGETS[target].in_layers
        layers = ALL if layer is None or not in_layers else str(layer)
        self.query_one("#lab-layers", Input).value = layers

    def on_input_changed(self, event: Input.Changed) -> None:
        """Renew the spec from the fields, or the fields from the spec."""
        event.stop()
        if event.input.id == "lab-spec":
            self._read_spec(event.value)
        else:
            self._read_fields()

    def on_selection_changed(self, event: Selection.Changed) -> None:
        """Renew the spec."""
        event.stop()
        self._read_fields()

    def _read_fields(self) -> None:
        target, operation = self._text("target"), self._text("operation")
        values: dict[str, object] = {
            "target": target,
            "operation": operation,
            "amount": self._text("amount"),
            "seed": self._text("seed"),
            "select": self._text("select"),
        }
        if self._text("select").startswith("list"):
            values |= self._list
        for name in ("layers", "units"):
            if self._text(name) not in ("", ALL):
                key = f"{TARGETS[target].unit}s" if name == "units" and target in TARGETS else name
                values[key] = self._text(name)
        needed = OPERATIONS[operation].option
        if needed and self._text("number"):
            values[needed] = self._text("number")
        try:
            self.spec, self.problem = str(made(values, "")), ""
        except UsageError as error:
            self.problem = problem_of(error)
        else:
            with self.prevent(Input.Changed):
                self.query_one("#lab-spec", Input).value = self.spec
        self.post_message(self.Changed())

    def _read_spec(self, typed: str) -> None:
        try:
            lesions = asked_lesions(typed) if typed.strip() else ()
        except UsageError as error:
            self.problem = problem_of(error)
        else:
            self.spec, self.problem = lesion_text(lesions), ""
            if len(lesions) == 1:
                given = {"file": lesions[0].file, "sha256": lesions[0].sha256}
                self._list = {key: value for key, value in given.items() if value}
                self._fill(lesions[0])
        self.post_message(self.Changed())

    def _fill(self, lesion: Lesion) -> None:
        number = lesion.number
        values = {
            "target": lesion.target,
            "operation": lesion.operation,
            "amount": f"{lesion.amount:g}",
            "seed": str(lesion.seed),
            "select": lesion.select,
            "layers": numbers_text(lesion.layers) or ALL,
            "units": numbers_text(lesion.units) or ALL,
            "number": "" if number is None else f"{number:g}",
        }
        with self.prevent(Input.Changed, Selection.Changed):
            for name, value in values.items():
                field = self.query_one(f"#lab-{name}", Widget)
                assert isinstance(field, Input | Selection)
                if field.value != value:
                    field.value = value

    def _text(self, name: str) -> str:
        field = self.query_one(f"#lab-{name}", Widget)
        assert isinstance(field, Input | Selection)
        return field.value.strip()


def _selection(name: str, values: Iterable[str], value: str) -> Selection:
    pairs = [(one, one) for one in values]
    return FIELDS.selection(name, pairs, value)


def problem_of(error: TabwbError) -> str:
    """Return what is wrong with a lesion, and what is allowed.

    >>> problem_of(UsageError("the lesion '' has the amount 2", allowed="up to 1"))
    'the lesion has the amount 2; allowed: up to 1'
    """
    words = error.message.replace("the lesion '' ", "the lesion ")
    return f"{words}; allowed: {error.allowed}" if error.allowed else words


AMOUNTS, SEEDS = "0.1 0.2 0.3 0.4 0.5", "1-5"
"""What the fields have at first."""
OF_FILE = " 'grid: lesions[0]'"
"""How errors name the lesions of a grid; there is one here."""
GRID_HELPS = {
    "amounts": "Shares of units, above 0 to 1, separated by spaces. A curve needs two or more.",
    "seeds": "The seeds of the choice of units: `1-5`, or `1,4,7`. Intervals need five or more.",
    "layers": "The layers of the lesion, all layers, or each layer separately, which gives a map.",
    "controls": "For each lesion one of the same size, anywhere in the model or in these layers.",
    "file": "A new TOML file. You can edit it, or give it to `tabwb lesion sweep --grid`. A file "
    "with other content is not overwritten.",
}
LAYERS = (
    (OWN, "as in the lesion"), ("all", "all together"), ("each", "each separately (a map)"),
)  # fmt: skip
IN_LAYERS = tuple(kind.id for kind in DECLARED.values() if kind.in_layers)
CONTROLS = (
    ("yes", "yes, of the same size"),
    *((kind, f"yes, of the same size in the {kind}") for kind in IN_LAYERS),
    ("no", "no"),
)
GRID_FIELDS = Fields("grid-", GRID_HELPS, "**tab** moves on, **enter** writes the file.")


class GridScreen(Dialog[str | None]):
    """Returns the path of the grid that was written; None when closed with esc."""

    CSS_PATH = "grid_dialog.tcss"
    AUTO_FOCUS = "#grid-amounts"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(self, lesions: Sequence[Lesion]) -> None:
        super().__init__()
        self._lesions = tuple(lesions)
        self._text = ""

    def compose(self) -> ComposeResult:
        """Yield fields, the content of the file, buttons."""
        first = self._lesions[0]
        kind = "-".join(one.target.replace(".", "-") for one in self._lesions)
        with Vertical(classes="dialog"):
            yield Static("Sweep with this lesion", classes="dialog-title", markup=False)
            yield Static(lesion_text(self._lesions), classes="dialog-note", markup=False)
            yield labelled("Amounts", GRID_FIELDS.text("amounts", AMOUNTS))
            yield labelled("Seeds", GRID_FIELDS.text("seeds", SEEDS))
            yield labelled("Layers", _grid_selection("layers", LAYERS))
            yield labelled("Controls", _grid_selection("controls", CONTROLS))
            yield labelled("File", GRID_FIELDS.text("file", f"{kind}-{first.operation}.toml"))
            yield Static(id="grid-message", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Write the file, go to the sweep", id="write")
                yield Choice("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Show the content."""
        self._renew()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the content."""
        self._renew()

    def on_selection_changed(self, event: Selection.Changed) -> None:
        """Show the content."""
        self._renew()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the file."""
        self._write()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Write the file, or not."""
        if event.button.id == "write":
            self._write()
        else:
            self.dismiss(None)

    def _value(self, name: str) -> str:
        field = self.query_one(f"#grid-{name}")
        assert isinstance(field, Input | Selection)
        return field.value.strip()

    def _renew(self) -> None:
        try:
            self._text = self._made()
        except TabwbError as error:
            self._text = ""
            self._say(problem_of(error).replace(OF_FILE, ""), AMBER)
        else:
            self._say(self._text.rstrip(), QUIET)

    def _made(self) -> str:
        """Return the grid; raise UsageError where a field has no usable value."""
        import tomli

        amounts = tuple(dict.fromkeys(_amount(word) for word in self._listed("amounts")))
        seeds = parse_numbers(",".join(self._listed("seeds")), "seeds", "the sweep")
        chosen = self._value("controls")
        controls = chosen if chosen in IN_LAYERS else chosen == "yes"
        name = Path(self._value("file")).stem
        if not name:
            raise UsageError("a file name is needed")
        layers = self._value("layers")
        text = grid_text(self._lesions, name, amounts, seeds, layers, controls=controls)
        grid_of(tomli.loads(text))  # an amount or seed that is not allowed
        return text

    def _listed(self, name: str) -> list[str]:
        words = self._value(name).replace(",", " ").split()
        if not words:
            raise UsageError(f"the field {name} is empty", allowed=GRID_HELPS[name])
        return words

    def _write(self) -> None:
        if not self._text:
            return
        path = expanded(self._value("file")).absolute()
        try:
            there = read_regular(path, TOO_LARGE)
            if there is not None and there != self._text.encode():
                self._say(f"{path} already exists with other content: choose another name", AMBER)
                return
            path.write_text(self._text, encoding="utf-8")
        except OSError as error:
            self._say(f"{path} cannot be written: {error.strerror}", AMBER)
            return
        except UsageError as error:
            self._say(problem_of(error), AMBER)
            return
        self.dismiss(str(path))

    def _say(self, words: str, style: str) -> None:
        self.query_one("#grid-message", Static).update(Content.styled(words, style))


def _grid_selection(name: str, values: Sequence[tuple[str, str]]) -> Selection:
    pairs = [(words, value) for value, words in values]
    return GRID_FIELDS.selection(name, pairs, values[0][0])


def _amount(word: str) -> float:
    try:
        amount = float(word)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount):
        raise UsageError(f"'{word}' is not an amount", allowed="numbers, above 0 to 1")
    return amount
