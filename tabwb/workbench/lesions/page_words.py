"""The words of the laboratory: its help, and what can be done first."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from tabwb.workbench.shell.wording import ACCENT, LEAST, QUIET, folded

KEY = 8
"""Columns of a key."""
OWN_MODEL = "An administration has a model of its own; w gives it this lesion."
BEGIN = (
    ("enter", "puts the part under the cursor into the fields; the line above counts parameters"),
    ("space", "gives the item to the intact model and under the lesion, side by side"),
    ("a", "gives the whole subtest; n and p the next and the previous item"),
    ("o", "turns the lesion on or off; ▲ marks it on every page while it is on"),
    ("w", "opens the dialog of an administration with this lesion, which is stored"),
    ("g", "writes a grid of amounts, layers and seeds of this lesion, for a sweep"),
)
"""What can be done first."""
HELP = """\
# Laboratory

A model is loaded in a process of its own, lesioned, and asked. **No answer here is stored.**

- the tree shows what the model has; **enter** puts a part into the fields
- **space** gives the item to the intact model and under the lesion; **a** gives its whole
  subtest; **n**, **p** give the next and the previous item
- **o** turns the lesion on or off; while it is on, the title bar of every page shows ▲ and the
  lesion
- **y** copies the spec; **w** opens the dialog of an administration with this lesion
- **g** writes a grid for a sweep with this lesion; **s** opens the page of sweeps; **t** changes
  between parts and answers
- **esc** stops what is under way, leaves a field, leaves the page; the model stays loaded until an
  administration begins

In fields letters are typed: **esc** gives the keys back. Underlined words are not in the other
answer. A lesion here is a change of numbers in a model and says nothing about a brain.
"""
FIELD_HELPS = {
    "model": "A model that runs on this machine; **down** lists them. **enter** loads it",
    "battery": "Whose items are given; **down** lists those installed. **enter** reads it",
    "item": "The item that **space** gives; **down** lists all",
}


def begin_lines(width: int) -> Sequence[Content]:
    """Return what can be done first, key by key."""
    lines: list[Content] = []
    for key, words in BEGIN:
        first, *rest = folded(words, max(width - KEY, LEAST), QUIET)
        lines.append(Content.assemble((f"{key:<{KEY}}", f"bold {ACCENT}"), first))
        lines += [Content.assemble(" " * KEY, line) for line in rest]
    return lines
