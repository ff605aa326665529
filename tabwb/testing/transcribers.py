"""Checks of a transcriber."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from tabwb.administer.transcription.transcribe import checked
from tabwb.plugin_api.components import Transcriber
from tabwb.plugin_api.registry.guarded import inner_of
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.speech import Clip, Transcript
from tabwb.testing.checks import (
    Checks,
    cancelled,
    check_facts,
    close_twice,
    collected,
    expect,
    plugins_of,
    run_checks,
    within_patience,
)
from tabwb.testing.samples import write_sound


def check_transcriber(
    spec: str, *, plugins: Plugins | None = None, names: Sequence[str] = ("one", "two")
) -> None:
    """Check a transcriber: contract, cancellation, failure, determinism.

    It is given a tone and a second of silence (16 kHz mono), and a file that is not there.

    Args:
        spec: as on the command line.
        plugins: with the transcriber; None for those installed.
        names: of the two sound files, without suffix, for transcribers that go by name.

    Raises:
        NonConformance: the transcriber does not keep its contract.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tone, silence = (folder / f"{name}.wav" for name in names)
        clips = [Clip(str(write_sound(tone, 0.6, 220.0))), Clip(str(write_sound(silence, 1.0)))]
        missing = Clip(str(folder / "missing.wav"))
        transcriber = inner_of(loaded.open_transcriber(spec))
        try:
            resolved = str(loaded.resolve("transcribers", spec)[1])
            run_checks(f"transcriber '{spec}'", _checks(transcriber, resolved, clips, missing))
        finally:
            transcriber.close()


def _checks(
    transcriber: Transcriber, resolved: str, clips: Sequence[Clip], missing: Clip
) -> Checks:
    def transcripts_of(clips: Sequence[Clip]) -> dict[int, Transcript]:
        pairs = transcriber.transcribe_many(clips, threading.Event())
        transcripts = collected(pairs, len(clips), "transcribe_many")
        expect(
            len(transcripts) == len(clips), f"{len(transcripts)} transcripts of {len(clips)} clips"
        )
        return transcripts

    def check_unit() -> None:
        unit = transcriber.unit
        expect(unit in ("phonemes", "words"), f"unit is {unit!r}")

    def check_transcripts() -> None:
        for index, transcript in transcripts_of(clips).items():
            if transcript.status == "error":
                continue
            kept = checked(transcript, resolved)
            message = f"the transcript of clip {index} cannot be kept: {kept.error}"
            expect(kept.status != "error", message)
            unit = transcriber.unit
            message = f"a transcript is of {transcript.unit}, the transcriber of {unit}"
            expect(transcript.unit == unit, message)

    def check_same() -> None:
        first, second = (transcripts_of(clips) for _ in range(2))
        for index in first:
            heard, then = first[index].phonemes, second[index].phonemes
            expect(heard == then, f"clip {index} was heard as {heard}, then {then}")

    def check_missing() -> None:
        beside, failed = transcripts_of([clips[0], missing]).values()
        status = failed.status
        message = f"a missing file has a transcript in status '{status}', not error"
        expect(status == "error", message)
        expect(bool(failed.error), "a transcript in error has no message")
        alone = transcripts_of(clips[:1])[0]
        message = "a failed clip changed the transcript of another"
        expect(beside.phonemes == alone.phonemes, message)

    def check_cancelled() -> None:
        within_patience(
            "transcribe_many with cancel set",
            lambda: list(transcriber.transcribe_many(clips, cancelled())),
        )

    return {
        "contract, open": lambda: check_facts(transcriber.open()),
        "contract, unit": check_unit,
        "contract, transcripts": check_transcripts,
        "determinism": check_same,
        "failure, a file that is not there": check_missing,
        "cancellation": check_cancelled,
        "contract, close twice": lambda: close_twice(transcriber),
    }
