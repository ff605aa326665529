"""The topics of the short texts: prompts, scenes and their sentences.

Each file in ``data/topics`` is one topic. ``subjects`` follow "Tell me about"; ``prompts`` stand
alone. A row of ``scenes`` fixes the words that have to agree within one text. The sentence sections
are told in order, one variant of each; those marked ``optional`` may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.bundled.tables import Table, topic_names

Scene = dict[str, str]


@dataclass(frozen=True)
class Topic:
    """One subject of conversation."""

    name: str
    subjects: tuple[str, ...]
    prompts: tuple[str, ...]
    scenes: tuple[Scene, ...]
    stages: tuple[tuple[str, ...], ...]
    optional: tuple[int, ...]


def _read_topic(path: str) -> Topic:
    table = Table(path)
    columns, *rows = table.rows("scenes")
    stages = [name for name in table.sections if name.startswith("sentence")]
    return Topic(
        name=path.rpartition("/")[2],
        subjects=table.lines("subjects"),
        prompts=table.lines("prompts"),
        scenes=tuple(dict(zip(columns, row, strict=True)) for row in rows),
        stages=tuple(table.lines(name) for name in stages),
        optional=tuple(i for i, name in enumerate(stages) if name.endswith("optional")),
    )


TOPICS = tuple(_read_topic(path) for path in topic_names())
