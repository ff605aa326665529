"""ELAN annotation files: one file per recording, linked with its sound file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tabwb_annotations.attempts import OF_TIERS, Made, not_carried, sound_name, write_folder
from tabwb_annotations.tiers import Annotated, Document, annotated


class EafExporter:
    """One EAF with time-aligned tiers for each recording."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of EAF files and the recordings they belong to."""
        recordings = annotated(document)
        made = [
            Made(f"{recording.name}.eaf", partial(write, recording)) for recording in recordings
        ]
        notes = [
            not_carried(document, recordings, OF_TIERS, "EAF"),
            "EAF keeps times in whole milliseconds.",
        ]
        write_folder(out, made, recordings, document, notes)


def write(recording: Annotated, path: Path) -> None:
    """Write a recording's tiers as an ELAN file."""
    from pympi.Elan import Eaf, to_eaf

    eaf = Eaf(author="tabwb")
    # The date of the administration, so that one document always gives the same bytes.
    eaf.adocument["DATE"] = str(recording.administration["created_at"])
    eaf.remove_tier("default")
    sound = sound_name(recording)
    if recording.sound is not None:
        eaf.add_linked_file(f"file:///{sound}", relpath=f"./{sound}", mimetype="audio/x-wav")
    eaf.add_property("session date", recording.administration.get("session_date") or "not known")
    examinee = str(recording.administration["examinee"])
    for name, stretches in recording.tiers.items():
        eaf.add_tier(name, part=examinee)
        for stretch in stretches:
            start, end = round(stretch.start_s * 1000), round(stretch.end_s * 1000)
            eaf.add_annotation(name, start, max(end, start + 1), stretch.label)
    to_eaf(str(path), eaf)
