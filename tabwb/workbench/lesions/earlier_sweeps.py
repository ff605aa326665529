"""What the page of sweeps shows while nothing is swept: earlier sweeps, an example of a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.lesion.declared import CONTROL
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.workbench.shell.wording import QUIET, folded

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
    "then g. docs/lesions.md describes the file."
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
