"""Tables of ratings from which the tests of agreement are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tabwb.analysis.ratings import Rated, read_ratings

Row = tuple[object, ...]
HEAD = "response,rater,measure,value"


def written(path: Path, rows: Iterable[Row], head: str = HEAD) -> Path:
    """A file of rows below the headings."""
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def cross_table(
    table: Sequence[Sequence[int]],
    *,
    raters: tuple[str, str] = ("R1", "R2"),
    measure: str = "jargon",
    values: Sequence[object] = (0, 1),
    begin: int = 0,
) -> list[Row]:
    """Rows of a table of counts: the first rater chose its row, the second its column."""
    rows: list[Row] = []
    number = begin
    for first, counts in zip(values, table, strict=True):
        for second, times in zip(values, counts, strict=True):
            for _ in range(times):
                rows.append((f"s{number}", raters[0], measure, first))
                rows.append((f"s{number}", raters[1], measure, second))
                number += 1
    return rows


def verdict_rows(given: Mapping[str, Mapping[str, Sequence[object]]]) -> list[Row]:
    """Rows of measure to rater to a value for each response; None has no row."""
    return [
        (f"s{number}", rater, measure, value)
        for measure, raters in given.items()
        for rater, values in raters.items()
        for number, value in enumerate(values)
        if value is not None
    ]


def rated(tmp_path: Path, rows: Iterable[Row], head: str = HEAD, **options: object) -> Rated:
    """What a table of rows has."""
    return read_ratings(written(tmp_path / "ratings.csv", rows, head), **options)  # type: ignore[arg-type]
