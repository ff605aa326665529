"""The help texts of all parts of the workbench, read from its files: importing them is slow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1]
"""The package of the workbench."""
_TEXT = re.compile(
    r'^( *)\w*HELP = (""".*?"""|".*?"$|\(.*?^\1\)$)',
    re.DOTALL | re.MULTILINE,
)
"""A help text where it is declared: a literal in triple quotes, in one line, or in brackets."""


class Topic(NamedTuple):
    """One help text with its title."""

    title: str
    text: str


@cache
def topics() -> tuple[Topic, ...]:
    """Return every help text once, by title; it takes some milliseconds."""
    found = {topic.title: topic for path in sorted(FOLDER.rglob("*.py")) for topic in _topics(path)}
    return tuple(found[title] for title in sorted(found))


def _topics(path: Path) -> Iterator[Topic]:
    source = path.read_text(encoding="utf-8")
    for declared in _TEXT.finditer(source) if "HELP = " in source else ():
        text = ast.literal_eval(declared[2])
        title, _, rest = text.partition("\n")
        if title.startswith("# ") and rest.strip():
            yield Topic(title.removeprefix("# "), text)
