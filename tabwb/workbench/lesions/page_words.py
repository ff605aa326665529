"""What the laboratory and the page of sweeps say: help, first choices, earlier sweeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.lesion.declared import CONTROL, OPERATIONS, TARGETS
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration, PlannedTrial
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.shell.dialogs import Combo, Fields, Known
from tabwb.workbench.shell.wording import QUIET, folded

WIDEST = 100
"""Columns of a prompt at most."""
BEGIN = (
    ("enter", "puts the part under the cursor into the fields"),
    ("space", "gives the item to the intact model and under the lesion, side by side"),
    ("G", "gives the whole subtest; left and right give the previous and the next item"),
    ("o", "turns the lesion on or off; ▲ marks it on every page while it is on"),
    ("N", "administers a battery with this lesion; the responses are stored"),
    ("s", "sweeps this lesion over amounts, layers and seeds; w opens the page of sweeps"),
)
"""What can be done first."""
HELP = """\
# Laboratory

A model is loaded in a separate process, lesioned, and asked. **No answer here is stored.**

- the tree shows the parts of the model, ▲ marks the parts that the lesion changes; **enter** puts
  a part into the fields
- **space** gives the item to the intact model and under the lesion; **G** gives its whole
  subtest; **left**, **right** give the previous and the next item
- **o** turns the lesion on or off; while it is on, the title bar of every page shows ▲ and the
  lesion
- **y** copies the spec; **N** opens the dialog of an administration with this lesion
- **s** writes a grid for a sweep with this lesion; **w** opens the page of sweeps; **t** changes
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


def combo_of_models(fields: Fields, catalogue: Catalogue | None) -> Combo:
    """Return a field with the models that can be lesioned; the first usable one is chosen."""
    known = [
        Known(one.spec, one.shape, one.title, one.unavailable_reason)
        for one in (() if catalogue is None else catalogue.models)
        if one.lesions
    ]
    first = next((one.value for one in known if not one.unavailable_reason), "")
    return fields.combo("model", first, known)


def combo_of_batteries(fields: Fields, catalogue: Catalogue | None) -> Combo:
    """Return a field with the batteries that are answered in text; TAB is chosen."""
    known = [
        Known(one.id, one.id, one.title, one.problem)
        for one in (() if catalogue is None else catalogue.batteries)
        if not one.aloud
    ]
    first = next((one.value for one in known if one.value == "tab"), "")
    return fields.combo("battery", first, known)


EXAMPLE = """\
format = 1
name = "attention-or-mlp"      # the tag of the administrations

[[lesions]]
targets = ["attention", "mlp"] # each separately
amounts = [0.1, 0.2, 0.3]
layers = ["all"]               # also "each"
seeds = [1, 2, 3, 4, 5]
controls = true                # for each lesion one with as many weights"""
NO_GRID = (
    "A grid is a TOML file. The laboratory writes one from a lesion: b on the first page, "
    "then s. docs/lesions.md describes the file."
)
MOST = 12
"""Earlier sweeps that are listed."""
NO_TAG = "(no sweep)"
NAME = 22
"""Columns of a sweep's name."""


def earlier_lines(given: Sequence[Administration], width: int) -> Iterator[Content]:
    """Yield a line for each sweep of the store, the latest first: conditions that are complete.

    A sweep is the administrations with one tag, battery and model, some of them lesioned; lesioned
    administrations without a tag are one line.
    """
    sweeps: dict[tuple[str, str, str], list[Administration]] = {}
    for one in reversed(given):
        tags = [tag for tag in one.tags if tag != CONTROL]
        for tag in tags or [NO_TAG] * bool(one.conditions.lesion):
            key = (tag, one.battery, one.conditions.examinee)
            sweeps.setdefault(key, []).append(one)
    found = [(key, ones) for key, ones in sweeps.items() if any(o.conditions.lesion for o in ones)]
    if not found:
        return
    yield Content.styled("LESIONS IN THIS STORE, THE LATEST FIRST", f"bold {QUIET}")
    yield Content.styled(f"{'date':<12}{'complete':>9}  {'sweep':<{NAME}}  battery · model", QUIET)
    for (tag, battery, model), ones in found[:MOST]:
        done = sum(one.status is AdministrationStatus.DONE for one in ones)
        name = Content(tag).truncate(NAME, ellipsis=True).plain
        yield Content.assemble(
            (f"{ones[0].created_at[:10]:<12}", QUIET),
            f"{f'{done}/{len(ones)}':>9}  ",
            (f"{name:<{NAME}}", "bold"),
            f"  {battery} · {model}",
        ).truncate(width, ellipsis=True)
    if len(found) > MOST:
        yield Content.styled(f"and {len(found) - MOST} more", QUIET)
    yield Content("")


def example_lines(width: int) -> Iterator[Content]:
    """Yield what a grid is, with an example."""
    yield from folded(NO_GRID, width, QUIET)
    yield Content("")
    yield Content.styled("EXAMPLE OF A GRID", f"bold {QUIET}")
    for line in EXAMPLE.splitlines():
        words, sign, comment = line.partition("#")
        yield Content.assemble(words, (sign + comment, QUIET)).truncate(width, ellipsis=True)
    yield Content("")
    yield from folded(
        "It gives 61 conditions: the intact model, 2 targets x 3 amounts x 5 seeds, and a control "
        "for each.",
        width,
        QUIET,
    )
