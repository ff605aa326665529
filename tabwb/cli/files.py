"""``tabwb export``, ``report`` and ``figure``: results in files."""

from __future__ import annotations

from tabwb.cli.command import command
from tabwb.operations.files import DrawFigure, ExportResults, WriteReport

export = command(ExportResults)
report = command(WriteReport)
figure = command(DrawFigure)
