"""``tabwb results ID --json``: one administration with all its trials, printed while it is read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tabwb.cli.streams import is_utf8
from tabwb.records.words import json_escaped, unfiltered

if TYPE_CHECKING:
    from tabwb.analysis.selection import Selection
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.store.store import Store

PIECE = 1_000_000
"""Characters that are printed at a time."""


def print_document(
    store: Store, reference: str, choice: Selection, statistics: tuple[Statistic, ...]
) -> None:
    """Print the document of an administration."""
    from tabwb.media.documents.streamed import Indented, document_of

    written = Indented(ascii_only=not is_utf8(sys.stdout))
    out = unfiltered(sys.stdout)  # what follows is escaped already
    with store.unchanged():
        document = document_of(store, reference, choice, statistics)
        pieces: list[str] = []
        size = 0
        for piece in written.document(document):
            pieces.append(piece)
            size += len(piece)
            if size > PIECE:
                out.write(json_escaped("".join(pieces)))
                pieces, size = [], 0
        out.write(json_escaped("".join(pieces)) + "\n")
        out.flush()
