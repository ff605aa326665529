"""Read the text tables in ``data/``."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


class Table:
    """A file of named sections, ``[name]`` on a line of its own; ``#`` begins a comment line."""

    def __init__(self, name: str) -> None:
        self.sections: dict[str, tuple[str, ...]] = {}
        section = ""
        for raw in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            line = raw.strip()
            if line.startswith("[") and line.endswith("]"):
                section = line[1:-1]
                self.sections[section] = ()
            elif line and not line.startswith("#"):
                self.sections[section] += (line,)

    def lines(self, section: str) -> tuple[str, ...]:
        """Return the lines of a section."""
        return self.sections[section]

    def words(self, section: str) -> tuple[str, ...]:
        """Return the words of a section, over all its lines."""
        return tuple(word for line in self.sections[section] for word in line.split())

    def rows(self, section: str) -> tuple[tuple[str, ...], ...]:
        """Return the lines of a section as cells, separated by bars."""
        return tuple(
            tuple(cell.strip() for cell in line.split("|")) for line in self.sections[section]
        )


def topic_names() -> tuple[str, ...]:
    """Return the names of the tables in ``data/topics``."""
    return tuple(sorted(f"topics/{path.stem}" for path in (_FOLDER / "topics").glob("*.txt")))
