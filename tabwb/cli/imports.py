"""``tabwb import``: answers, spoken naming, recordings and ratings that were given elsewhere."""

from __future__ import annotations

from tabwb.cli.command import command
from tabwb.operations.importing import ImportFile

import_ = command(ImportFile)
