"""What can be given and to whom, shown while nothing is stored yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry
from tabwb.workbench.shell.columns import Column, laid
from tabwb.workbench.shell.wording import QUIET

KINDS = {"model": "models", "speaker": "people"}
"""How the kinds of examinees are named."""


def installed_lines(catalogue: Catalogue, width: int) -> Iterator[Content]:
    """Yield the batteries with their items, and the models, a line for each."""
    batteries: Sequence[Column[BatteryEntry]] = (
        Column("", lambda one: Content.styled(one.id, "bold"), least=8),
        Column("", lambda one: plural(one.n_items, "item"), right=True),
        Column("", _for_whom, rank=2),
        Column("", lambda one: _quiet(one.problem or one.title), least=12, rank=1),
    )
    models: Sequence[Column[ModelEntry]] = (
        Column("", lambda one: Content.styled(one.shape, "bold"), least=12),
        Column("", lambda one: _quiet(one.note), least=12, rank=1),
    )
    yield Content.styled("BATTERIES", f"bold {QUIET}")
    yield from laid(batteries, catalogue.batteries, width)[1:]
    yield Content("")
    yield Content.styled("MODELS", f"bold {QUIET}")
    yield from laid(models, catalogue.models, width)[1:]


def _for_whom(battery: BatteryEntry) -> str:
    kinds = [words for kind, words in KINDS.items() if kind in battery.examinees]
    return f"for {' and '.join(kinds)}" if kinds else ""


def _quiet(words: str) -> Content:
    return Content.styled(words, QUIET)
