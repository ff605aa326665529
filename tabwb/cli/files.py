"""Commands that write and read files: ``export``, ``report``, ``import``, ``transcribe`` ..."""

from __future__ import annotations

from tabwb.cli.command import command
from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
from tabwb.operations.importing import ImportFile
from tabwb.operations.transcribing import TranscribeFiles

export = command(ExportResults)
report = command(WriteReport)
figure = command(DrawFigure)
import_ = command(ImportFile)
transcribe = command(TranscribeFiles)
