"""Praat TextGrids: one file per recording, with its sound file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tabwb_annotations.attempts import OF_TIERS, Made, not_carried, write_folder
from tabwb_annotations.tiers import Annotated, Document, annotated


class TextGridExporter:
    """One TextGrid with interval tiers for each recording."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of TextGrids and the recordings they belong to."""
        recordings = annotated(document)
        made = [
            Made(f"{recording.name}.TextGrid", partial(write, recording))
            for recording in recordings
        ]
        write_folder(
            out,
            made,
            recordings,
            document,
            [not_carried(document, recordings, OF_TIERS, "TextGrid")],
        )


def write(recording: Annotated, path: Path) -> None:
    """Write a recording's tiers as a TextGrid in Praat's long text format."""
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    grid = Textgrid(0, recording.seconds)
    for name, stretches in recording.tiers.items():
        entries = [(stretch.start_s, stretch.end_s, stretch.label) for stretch in stretches]
        grid.addTier(IntervalTier(name, entries, 0, recording.seconds))
    grid.save(str(path), format="long_textgrid", includeBlankSpaces=True)
