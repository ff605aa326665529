"""``tabwb tag``: titles and tags of administrations."""

from __future__ import annotations

from tabwb.cli.command import command
from tabwb.operations.trial import TagAdministrations

tag = command(TagAdministrations)
