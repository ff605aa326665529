"""``tabwb transcribe``: sound files to phonemes, with no battery and no store."""

from __future__ import annotations

from tabwb.cli.command import command
from tabwb.operations.transcribing import TranscribeFiles

transcribe = command(TranscribeFiles)
