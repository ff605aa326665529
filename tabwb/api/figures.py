"""Writing figures from Python."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(
    figure: Figure, path: str | PathLike[str], *, dpi: float = 300.0, force: bool = False
) -> Path:
    """Write a figure and return its path: the same bytes each time, with fonts and facts.

    Consent is not asked for: a figure of people's data is the user's responsibility.

    Args:
        figure: of :meth:`tabwb.Study.figure`, or any other of matplotlib.
        path: a file that ends in ``.pdf``, ``.svg`` or ``.png``.
        dpi: dots per inch of a PNG.
        force: replace a file.

    Raises:
        UsageError: the file's name ends in no format of figures.
        TabwbError: it cannot be written, or is there already.
    """
    from tabwb.report.figures import save

    return save(figure, Path(path), dpi=dpi, force=force)
