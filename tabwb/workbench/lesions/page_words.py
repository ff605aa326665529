"""The words of the laboratory: its help, and what can be done first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.lesion.declared import OPERATIONS, TARGETS
from tabwb.records.trials import PlannedTrial
from tabwb.workbench.shell.wording import QUIET, folded

WIDEST = 100
"""Columns of a prompt at most."""
BEGIN = (
    ("enter", "puts the part under the cursor into the fields"),
    ("space", "gives the item to the intact model and under the lesion, side by side"),
    ("a", "gives the whole subtest; left and right give the previous and the next item"),
    ("o", "turns the lesion on or off; ▲ marks it on every page while it is on"),
    ("N", "administers a battery with this lesion; the responses are stored"),
    ("g", "sweeps this lesion over amounts, layers and seeds; w opens the page of sweeps"),
)
"""What can be done first."""
HELP = """\
# Laboratory

A model is loaded in a separate process, lesioned, and asked. **No answer here is stored.**

- the tree shows the parts of the model, ▲ marks the parts that the lesion changes; **enter** puts
  a part into the fields
- **space** gives the item to the intact model and under the lesion; **a** gives its whole
  subtest; **left**, **right** give the previous and the next item
- **o** turns the lesion on or off; while it is on, the title bar of every page shows ▲ and the
  lesion
- **y** copies the spec; **N** opens the dialog of an administration with this lesion
- **g** writes a grid for a sweep with this lesion; **w** opens the page of sweeps; **t** changes
  between parts and answers
- **esc** stops the current work, leaves a field, leaves the page; the model stays loaded until an
  administration begins

In fields letters are typed: **esc** returns to the commands. Underlined words are not in the other
answer. A lesion here is a change of numbers in a model and says nothing about a brain.
"""
FIELD_HELPS = {
    "model": "A model that runs on this machine; **down** lists them. **enter** loads it.",
    "battery": "Whose items are given; **down** lists those installed. **enter** reads it.",
    "item": "The item that **space** gives; **down** lists all.",
}


def declared_lines(width: int) -> Iterator[Content]:
    """Yield the operations and targets of lesions, each with its meaning."""
    for title, declared in (("OPERATIONS", OPERATIONS), ("TARGETS", TARGETS)):
        yield Content("")
        yield Content.styled(title, f"bold {QUIET}")
        wide = max(map(len, declared)) + 2
        for name, one in declared.items():
            for n, part in enumerate(folded(one.meaning, width - wide, QUIET)):
                yield Content.assemble(("" if n else name).ljust(wide), part)


def item_lines(item: PlannedTrial | None, width: int) -> Sequence[Content]:
    """Return the item that would be given."""
    if item is None:
        return []
    head = Content.assemble(
        ("NEXT ITEM", f"bold {QUIET}"), (f"  {item.subtest}/{item.item}", QUIET)
    )
    return [head, *folded(item.prompt.strip(), min(width, WIDEST)), Content("")]
