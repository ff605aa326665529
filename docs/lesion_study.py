"""Runs the study of docs/lesion-study.md and draws its figures: python docs/lesion_study.py STORE.

The sweep continues where it stopped: after an interruption, run the same command again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
GRID = HERE / "examples" / "lesion-study.toml"
MODEL = "bundled@threads=1"
FIGURES = {
    "lesion-burden": ("dose", "--option", "measure=burden"),
    "lesion-accuracy": ("dose", "--option", "measure=accuracy"),
    "lesion-map": ("map", "--option", "measure=burden"),
}
"""Picture to the figure with its options."""
TABLES = ("doses", "map")


def tabwb(*words: str) -> None:
    """Run a command of tabwb; end if it fails."""
    done = subprocess.run([sys.executable, "-m", "tabwb", *words], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def draw(store: Path, folder: Path) -> None:
    """Draw the figures, small, in few colours.

    Args:
        store: with the sweep.
        folder: where they are written.
    """
    from PIL import Image

    with tempfile.TemporaryDirectory() as made:
        for name, (kind, *options) in FIGURES.items():
            drawn = Path(made, f"{name}.png")
            tabwb(
                "figure", kind, *options, "--width", "double", "--dpi", "110",
                "--out", str(drawn), "--store", str(store),
            )  # fmt: skip
            with Image.open(drawn) as image:
                image.convert("RGB").quantize(48).save(folder / f"{name}.png", optimize=True)


def main() -> None:
    """Give the battery under all conditions, draw the figures, and print the tables as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--workers", default="1")
    parser.add_argument("--pictures", type=Path, help="their folder; default: that of the store")
    given = parser.parse_args()
    tabwb(
        "lesion", "sweep", "tab", "--model", MODEL, "--grid", str(GRID),
        "--workers", given.workers, "--store", str(given.store),
    )  # fmt: skip
    draw(given.store, given.pictures or given.store.parent)
    for name in TABLES:
        tabwb("results", "--table", name, "--format", "csv", "--store", str(given.store))


if __name__ == "__main__":
    main()
