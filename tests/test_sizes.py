"""Tests what ``python -m benchmarks sizes`` counts and refuses."""

from __future__ import annotations

import ast
import tomllib

from benchmarks.sizes import above, code_lines, text

SOURCE = '''"""A module.

Two paragraphs."""

# A comment.
TEXT = """one

# three"""
VALUE = (  # beside code
    # between code
    1
)
"""What it is."""
'''


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    assert code_lines(SOURCE, ast.parse(SOURCE)) == 6


def test_a_number_that_rises_or_is_new_is_refused() -> None:
    kept = tomllib.loads(text({"tabwb/a": {"files": 2, "code": 10}}))
    assert list(above({"tabwb/a": {"files": 1, "code": 10}}, kept)) == []
    now = {"tabwb/a": {"files": 3, "code": 9}, "tabwb/b": {"files": 1, "code": 0}}
    assert [line.partition(":")[0] for line in above(now, kept)] == ["tabwb/a", "tabwb/b"]
