"""Measure every budget and print one table.

``python -m benchmarks [ROW ...] [--rounds N] [--markdown FILE]``. Each row compares tabwb with a
reference measured in the same run (a bare interpreter, a trivial Textual app, a bare SQLite
commit), so that the ratio is comparable between machines. Peers (``llm``, ``inspect``) are measured
too if they are installed. Nothing here fails: timings are for people. ``python -m benchmarks
paths`` and ``sizes`` count code instead, ``scorers`` reads long texts, ``condition`` measures on
any device: see their modules.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import (
    agreement,
    condition,
    dialog,
    frames,
    models,
    paths,
    rows,
    scorers,
    sizes,
)

ROWS: dict[str, Callable[[int], Iterator[rows.Result]]] = {
    "help": rows.help_text,
    "workbench": rows.workbench,
    "dialog": dialog.dialog,
    "frames": frames.frames,
    "echo": rows.twenty_items,
    "item": rows.durable_item,
    "long-run": rows.long_run,
    "generation": rows.local_generation,
    "crowd": models.many_replies,
    "lesions": models.lesions,
    "lanes": models.lanes,
    "lexicon": rows.word_list,
    "rules": rows.rules_judge,
    "list": rows.list_of_a_large_store,
    "by-model": rows.results_by_model,
    "exports": rows.exports,
    "transcription": models.transcription,
    "phonemes": rows.error_rates,
    "agreement": agreement.agreement,
}


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.2f} ms"


def _ratio(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def _peak(mb: float) -> str:
    return f"{mb:.0f} MB" if mb else ""


def main() -> None:
    """Measure and print."""
    others: dict[str, Callable[[list[str]], None]] = {
        "paths": paths.main,
        "sizes": sizes.main,
        "condition": condition.main,
    }
    if sys.argv[1:2] == ["scorers"]:
        scorers.main()
        return
    if other := others.get("".join(sys.argv[1:2])):
        other(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    lines = [
        "| what | budget | clock | CPU | memory | against |",
        "|---|---|---:|---:|---:|---|",
    ]
    print("\n".join(lines))
    for name in options.rows or ROWS:
        for result in ROWS[name](options.rounds):
            against = "; ".join(
                f"{_seconds(cost.clock_s)} {label} ({_ratio(result.cost.clock_s / cost.clock_s)} x)"
                for label, cost in result.against
            )
            line = (
                f"| {result.what} | {result.budget} | {_seconds(result.cost.clock_s)} "
                f"| {_seconds(result.cost.cpu_s)} | {_peak(result.cost.peak_mb)} | {against} |"
            )
            print(line, flush=True)
            lines.append(line)
    if options.markdown:
        machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        options.markdown.write_text(
            f"Medians of {options.rounds} interleaved runs, {machine}.\n\n"
            + "\n".join(lines)
            + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
