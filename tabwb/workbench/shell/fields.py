"""The fields of a dialog or page, declared with their help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabwb.workbench.shell.list_fields import Combo, Known, Selection
from tabwb.workbench.shell.text_fields import Paths, TextField


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

    def combo(self, name: str, value: str, known: Sequence[Known], placeholder: str = "") -> Combo:
        """Return a text field with a list."""
        return Combo(f"{self.prefix}{name}", value, known, self.help(name), placeholder=placeholder)

    def selection(
        self, name: str, values: Sequence[tuple[str, str]], value: str | None = None
    ) -> Selection:
        """Return a field whose value is one of a few."""
        shown = values[0][1] if value is None else value
        return Selection(values, shown, id=f"{self.prefix}{name}", help_text=self.help(name))
