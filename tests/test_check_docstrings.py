"""The script that counts docstring sections finds what is missing and nothing else."""

import ast
from pathlib import Path

import pytest

from docs import check_docstrings

SOURCE = '''
def area(width, height):
    """Return the area."""
    if width < 0:
        raise ValueError("negative")


def volume(width, height, depth):
    """Return the volume.

    Args:
        width: in metres.
        height: in metres.
        depth: in metres.

    Raises:
        ValueError: a length is negative.
    """
    try:
        measure()
    except OSError:
        raise
    raise ValueError("negative")


class Box:
    def paint(self, color): ...

    def move(self, x, y):
        """Move the box."""
        def inner():
            raise KeyError(x)


def _private(first, second): ...
'''


def test_missing_sections_are_counted_and_listed() -> None:
    package = check_docstrings.Package()
    path = check_docstrings.ROOT / "tabwb" / "box.py"
    check_docstrings.count_sections(path, ast.parse(SOURCE).body, package)
    assert (package.with_args, package.with_parameters) == (1, 3)
    assert (package.with_raises, package.raising) == (1, 2)
    assert package.percent == 40
    assert package.missing == [
        "tabwb/box.py:2: area has no Args:",
        "tabwb/box.py:2: area has no Raises: with ValueError",
        "tabwb/box.py:29: move has no Args:",
    ]


@pytest.mark.parametrize(
    ("line", "pages", "words"),
    [
        ("# See SCORING 4.", 1, 0),
        ("x = 'Mend it and try again'", 0, 1),
        ("surface = 'there is no file'", 0, 0),
        ("share = 'x is no share'", 0, 1),
    ],
)
def test_refused_words_are_found(tmp_path: Path, line: str, pages: int, words: int) -> None:
    (tmp_path / "module.py").write_text(line + "\n", encoding="utf-8")
    package = check_docstrings.examine(tmp_path)
    assert (len(package.pages), len(package.words)) == (pages, words)
