"""The dialog that writes the grid of a sweep from the lesion of the laboratory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tabwb.administer.sweep.grid import OWN, TOO_LARGE, grid_of, grid_text
from tabwb.lesion.declared import CONTROLS as DECLARED
from tabwb.lesion.spec import Lesion, lesion_text, parse_numbers
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import expanded, read_regular
from tabwb.workbench.lesions.form import problem_of
from tabwb.workbench.shell.dialogs import Choice, Dialog, labelled
from tabwb.workbench.shell.fields import Fields, Selection
from tabwb.workbench.shell.wording import AMBER, QUIET

AMOUNTS, SEEDS = "0.1 0.2 0.3 0.4 0.5", "1-5"
"""What the fields have at first."""
OF_FILE = " 'grid: lesions[0]'"
"""How errors name the lesions of a grid; there is one here."""
HELPS = {
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
FIELDS = Fields("grid-", HELPS, "**tab** moves on, **enter** writes the file.")


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
            yield labelled("Amounts", FIELDS.text("amounts", AMOUNTS))
            yield labelled("Seeds", FIELDS.text("seeds", SEEDS))
            yield labelled("Layers", _selection("layers", LAYERS))
            yield labelled("Controls", _selection("controls", CONTROLS))
            yield labelled("File", FIELDS.text("file", f"{kind}-{first.operation}.toml"))
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
            raise UsageError(f"the field {name} is empty", allowed=HELPS[name])
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


def _selection(name: str, values: Sequence[tuple[str, str]]) -> Selection:
    pairs = [(words, value) for value, words in values]
    return FIELDS.selection(name, pairs, values[0][0])


def _amount(word: str) -> float:
    try:
        amount = float(word)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount):
        raise UsageError(f"'{word}' is not an amount", allowed="numbers, above 0 to 1")
    return amount
