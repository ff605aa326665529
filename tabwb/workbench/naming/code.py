"""Chooses the code of a response, with flags."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.scoring.naming.target import CODES, FLAGS
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.wording import QUIET

FLAG = "flag:"
NAME = 20


class CodeList(OptionList):
    """Codes, then flags."""

    HELP = """\
# Code

One code says what kind of response it was; flags say under which circumstances.

- **enter** on a code takes it, with the flags that are marked; **space** marks a flag
- letters go to the next line that begins with them; **esc** closes
"""


class CodeScreen(Dialog[tuple[str, tuple[str, ...]] | None]):
    """Returns the code with its flags; None when closed with esc.

    Args:
        target: the name that was asked for.
        code: the code so far, or empty.
        flags: those so far.
    """

    CSS_PATH = "code.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", "Mark", show=False)]

    def __init__(self, target: str, code: str, flags: tuple[str, ...]) -> None:
        super().__init__()
        self._target, self._code = target, code
        self._flags = set(flags)

    def compose(self) -> ComposeResult:
        """Title, list, what the keys do."""
        with Vertical(classes="dialog"):
            yield Static(f"Response to {self._target}", classes="dialog-title", markup=False)
            yield CodeList(id="codes", compact=True)
            yield Static("enter takes a code   space marks a flag   esc closes",
                         classes="dialog-note")  # fmt: skip

    def on_mount(self) -> None:
        """Fill the list; the present code is highlighted."""
        self._fill()
        codes = list(CODES)
        at = codes.index(self._code) if self._code in codes else 0
        self.query_one(CodeList).highlighted = at

    def _fill(self) -> None:
        listed = self.query_one(CodeList)
        kept = listed.highlighted
        listed.set_options(
            [
                *(Option(_line(name, code.definition), id=name) for name, code in CODES.items()),
                None,
                *(
                    Option(
                        _line(
                            f"[{'x' if name in self._flags else ' '}] {name}",
                            definition,
                        ),
                        id=FLAG + name,
                    )
                    for name, definition in FLAGS.items()
                ),
            ]
        )
        listed.highlighted = kept

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A code is taken, a flag marked."""
        name = event.option.id or ""
        if name.startswith(FLAG):
            self.action_mark()
        else:
            self.dismiss((name, tuple(flag for flag in FLAGS if flag in self._flags)))

    def action_mark(self) -> None:
        """Mark a flag, or not."""
        listed = self.query_one(CodeList)
        option = listed.highlighted_option
        if option is not None and (option.id or "").startswith(FLAG):
            self._flags ^= {(option.id or "").removeprefix(FLAG)}
            self._fill()

    def on_key(self, event: object) -> None:
        """Letters jump."""
        from textual.events import Key

        if (
            isinstance(event, Key)
            and event.is_printable
            and event.character not in {None, " ", "?"}
        ):
            listed = self.query_one(CodeList)
            names = [str(option.id).removeprefix(FLAG) for option in listed.options]
            at = listed.highlighted or 0
            order = [*range(at + 1, len(names)), *range(at + 1)]
            for place in order:
                if names[place].startswith(str(event.character)):
                    listed.highlighted = place
                    return


def _line(name: str, definition: str) -> Content:
    return Content.assemble(name.ljust(NAME), (definition, QUIET))
