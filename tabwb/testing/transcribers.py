"""Checks of a transcriber."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.testing.checks import (
    PATIENCE_S,
    Checks,
    check_facts,
    close_twice,
    expect,
    plugins_of,
    run_checks,
    within,
)

if TYPE_CHECKING:
    from tabwb.plugin_api.components import Transcriber
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.speech import Clip, Transcript


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
    from tabwb.testing.samples import write_sound

    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as folder:
        from tabwb.plugin_api.registry.guarded import inner_of
        from tabwb.records.speech import Clip

        first, second = (Path(folder) / f"{name}.wav" for name in names)
        clips = [
            Clip(str(write_sound(first, 0.6, 220.0))),
            Clip(str(write_sound(second, 1.0))),
        ]
        transcriber = inner_of(loaded.open_transcriber(spec))
        try:
            resolved = str(loaded.resolve("transcribers", spec)[1])
            missing = Clip(str(Path(folder) / "missing.wav"))
            checks = _checks(transcriber, resolved, clips, missing)
            run_checks(f"transcriber '{spec}'", checks)
        finally:
            transcriber.close()


def _checks(
    transcriber: Transcriber, resolved: str, clips: Sequence[Clip], missing: Clip
) -> Checks:
    return {
        "contract, open": lambda: check_facts(transcriber.open()),
        "contract, unit": lambda: expect(
            transcriber.unit in ("phonemes", "words"), f"unit is {transcriber.unit!r}"
        ),
        "contract, transcripts": lambda: _check_whole(transcriber, resolved, clips),
        "determinism": lambda: _check_same(transcriber, clips),
        "failure, a file that is not there": lambda: _check_missing(transcriber, clips, missing),
        "cancellation": lambda: _check_cancelled(transcriber, clips),
        "contract, close twice": lambda: close_twice(transcriber),
    }


def _heard(transcriber: Transcriber, clips: Sequence[Clip]) -> dict[int, Transcript]:
    found: dict[int, Transcript] = {}
    for index, transcript in transcriber.transcribe_many(clips, threading.Event()):
        expect(index in range(len(clips)), f"transcribe_many gave index {index!r}")
        expect(index not in found, f"transcribe_many gave index {index} twice")
        found[index] = transcript
    expect(len(found) == len(clips), f"{len(found)} transcripts of {len(clips)} clips")
    return found


def _check_whole(transcriber: Transcriber, resolved: str, clips: Sequence[Clip]) -> None:
    from tabwb.administer.transcription.transcribe import checked

    for index, transcript in _heard(transcriber, clips).items():
        sound = checked(transcript, resolved)
        wrong = transcript.status != "error" and sound.status == "error"
        expect(not wrong, f"the transcript of clip {index} cannot be kept: {sound.error}")
        same = transcript.status == "error" or transcript.unit == transcriber.unit
        expect(same, f"a transcript is of {transcript.unit}, the transcriber of {transcriber.unit}")


def _check_same(transcriber: Transcriber, clips: Sequence[Clip]) -> None:
    first, second = (_heard(transcriber, clips) for _ in range(2))
    for index in first:
        expect(
            first[index].phonemes == second[index].phonemes,
            f"clip {index} was heard as {first[index].phonemes}, then {second[index].phonemes}",
        )


def _check_missing(transcriber: Transcriber, clips: Sequence[Clip], missing: Clip) -> None:
    found = _heard(transcriber, [clips[0], missing])
    status = found[1].status
    expect(status == "error", f"a missing file has a transcript in status '{status}', not error")
    expect(bool(found[1].error), "a transcript in error has no message")
    alone = _heard(transcriber, clips[:1])[0]
    expect(found[0].phonemes == alone.phonemes, "a failed clip changed the transcript of another")


def _check_cancelled(transcriber: Transcriber, clips: Sequence[Clip]) -> None:
    cancel = threading.Event()
    cancel.set()
    within(
        PATIENCE_S,
        lambda: list(transcriber.transcribe_many(clips, cancel)),
        "transcribe_many with cancel set",
    )
