"""Which commands are run on which store, and what of their output is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WIDTHS = (80, 160)
FIGURES: dict[str, tuple[str, ...]] = {
    "models": ("burden", "accuracy", "items", "profile", "differences", "latency", "agreement"),
    "lesions": ("burden", "accuracy", "dose", "map"),
    "naming": ("accuracy", "latency", "change", "confusion"),
    "sets": ("burden", "profile"),
    "study": ("burden", "accuracy", "profile", "differences"),
}
TABLES = (
    "results", "features", "items", "item-models", "positions", "foils", "differences",
    "co-occurrence", "profiles", "map", "doses",
)  # fmt: skip
GROUPS = {
    "models": "model",
    "lesions": "lesion",
    "naming": "participant,administration",
    "sets": "origin",
    "study": "tag",
}
ONLY = {"study": ("--where", "battery=themes")}
ONE = {"models": "3", "lesions": "2", "naming": "1", "sets": "1", "study": "2"}
PAIRS = {"models": ("3", "4"), "lesions": ("1", "3"), "sets": ("1", "2"), "study": ("1", "2")}
JUDGE = dict.fromkeys(GROUPS, "rules-2") | {"models": "tab-2026:a"}
FORMATS = ("jsonl", "csv")
OUT = "OUT"
"""In a command: the file or folder whose content is compared too."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command, and the width of the terminal."""

    name: str
    words: tuple[str, ...]
    width: int = 80


def commands(store: str) -> Iterator[Command]:
    """Yield the commands of a store; the name of each is the name of its golden file."""
    one, group = ONE[store], ("--by", GROUPS[store], *ONLY.get(store, ()))
    yield from _shown("list", "results")
    yield from _shown("one", "results", one)
    yield from _shown("details", "results", one, "--details")
    yield from _shown("by", "results", *group)
    yield from _shown("responses", "responses", "--limit", "12")
    yield Command("by.csv-file", ("results", *group, "--csv", OUT))
    for table in TABLES:
        base = _baseline(store, table)
        if base is not None:
            shown = _tables if table == "results" else _shown
            yield from shown(f"table-{table}", "results", *group, "--table", table, *base)
    if store in PAIRS:
        yield from _shown("diff", "diff", *PAIRS[store])
    yield from _others(store)
    for figure in FIGURES[store]:
        words = ("figure", figure, *group, "--out", "DRAWN.svg", "--data", OUT, "--no-caption")
        extra = {
            "agreement": ("--option", "judges=tab-2026:a,tab-2026:b"),
            "profile": ("--judge", JUDGE[store]),
        }.get(figure, ())
        if figure == "change":
            words = ("figure", "change", "1", "2", "3", "4", "--out", "DRAWN.svg", "--data", OUT)
        yield Command(f"figure-{figure}.data", (*words, *extra))
    yield Command("methods.text", ("report", *group, "--methods"))
    yield Command("report.md", ("report", *group, "--out", f"{OUT}.md", "--responses", "2"))
    for format in FORMATS:
        yield Command(f"export.{format}", ("export", one, "--format", format, "--out", OUT))


def _shown(name: str, *words: str) -> Iterator[Command]:
    """Yield a command at each width and with ``--json``."""
    for width in WIDTHS:
        yield Command(f"{name}.{width}", words, width)
    yield Command(f"{name}.json", (*words, "--json"))


def _tables(name: str, *words: str) -> Iterator[Command]:
    """Yield a command of a table in every format."""
    yield from _shown(name, *words)
    for format in ("markdown", "latex", "csv"):
        yield Command(f"{name}.{format}", (*words, "--format", format))


def _baseline(store: str, table: str) -> tuple[str, ...] | None:
    """Return the further words that a table needs; None where the store has no such table."""
    baselines = {
        "models": "mild", "lesions": "no lesion", "sets": "human", "study": "group0 (speakers)",
    }  # fmt: skip
    if table in ("differences", "profiles"):
        return ("--baseline", baselines[store]) if store in baselines else None
    if table in ("map", "doses"):
        return () if store == "lesions" else None
    if store == "naming":
        return () if table == "results" else None
    return ()


def _others(store: str) -> Iterator[Command]:
    """Yield the commands that only one store has data for."""
    if store == "models":
        yield from _shown("agreement", "agreement", "3", "4", "--draws", "200")
        yield from _shown("judges", "judge", "report", "3", "4", "5")
        yield from _tables(
            "pairs",
            "results",
            "--by",
            "model",
            "--table",
            "differences",
            "--where",
            "tuning=base,instruct",
            "--baseline",
            "elm-1b-base",
        )
        yield from _tables("seeds", "results", "--by", "seed", "--where", "model=bundled")
    if store == "naming":
        for speaker in ("P01", "P02", "P03"):
            yield from _tables(f"change-{speaker}", "change", speaker, "--items")
        yield from _tables("change-baselines", "change", "P01", "--baselines", "2")
        yield from _shown("agreement", "agreement", "1", "3", "5", "--draws", "200")
        yield from _shown("majority", "results", "1", "--counts", "majority")
        yield from _shown("second", "results", "1", "--counts", "R2")
    if store == "sets":
        for name in ("open", "settled"):
            yield from _shown(f"agreement-{name}", "agreement", name, "--draws", "200", "--details")
            yield from _shown(f"status-{name}", "rate", "status", name)
            yield from _shown(f"disputed-{name}", "rate", "disputed", name)
            yield from _shown(f"show-{name}", "rate", "show", name)
