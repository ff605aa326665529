"""``tabwb transcribe``: sound files to phonemes, with no battery and no store."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    open_store,
    opened_plugins,
    print_json,
    store_option,
)
from tabwb.cli.signals import stopping
from tabwb.phonology.dictionary import GUESSED, pronounced
from tabwb.phonology.inventory import parse_pronunciation, to_ipa
from tabwb.records.conditions import Conditions
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.files import make_private_folder
from tabwb.records.speech import Segment, Transcript
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins

Forms = tuple[tuple[str, ...], ...]


@click.command()
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--transcriber",
    metavar="SPEC",
    default="bundled-words",
    show_default=True,
    help="The transcriber, for example wav2vec2:PATH-OR-ID (tabwb plugins list).",
)
@click.option(
    "--keep-conditioned",
    "kept",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the conditioned copies: high-passed, levelled, 16 kHz mono.",
)
@click.option(
    "--accept",
    "forms",
    metavar="PRONUNCIATION",
    multiple=True,
    help="Also give the log likelihood ratio of the best of these to free decoding: 'D AO G' "
    "or dɔɡ; repeatable. For transcribers with likelihoods.",
)
@click.option(
    "--speaker",
    metavar="ID",
    help="The speaker, whose consents are checked; required if a transcriber needs a network.",
)
@click.option("--tsv", is_flag=True, help="Print utterance_id and asr_transcript, for 'phonemes'.")
@store_option
@json_option
@offline_option
def transcribe(
    files: tuple[Path, ...],
    transcriber: str,
    kept: Path | None,
    forms: tuple[str, ...],
    speaker: str | None,
    tsv: bool,
    store_location: str | None,
    as_json: bool,
    offline: bool | None,
) -> int:
    """Transcribe sound files, and those in folders, to phonemes.

    WAV, FLAC, OGG, MP3 or AIFF of any rate. Each file is copied and conditioned as in the PSST
    challenge. Transcripts are a draft until a trained listener has heard the recording.

    Exit status: 0 done, 1 a file could not be transcribed (the others were), 3 stopped by ctrl+c.
    """
    if tsv and as_json:
        raise UsageError("--tsv and --json exclude each other")
    if tsv and forms:
        raise UsageError("--tsv has no column for the result of --accept", hint="use --json")
    shape = "json" if as_json else "tsv" if tsv else ""
    accepted = _accepted(forms)
    with opened_plugins(offline) as plugins:
        sounds, failed = _sounds(files)
        count = Counter(path.stem for path in sounds)
        twice = [str(path) for path in sounds if count[path.stem] > 1]
        if tsv and twice:
            raise UsageError(
                f"files of one name would have one utterance_id: {', '.join(twice)}",
                hint="rename them, give one folder at a time, or use --json",
            )
        _permit(plugins, transcriber, speaker, store_location)
        return _transcribe(plugins, transcriber, sounds, failed, kept, shape, accepted)


def _permit(
    plugins: Plugins, transcriber: str, speaker: str | None, store_location: str | None
) -> None:
    """Ask for the consents of the speaker, where one is named; no voice goes out without."""
    from tabwb.administer.consent import Guard

    spec = str(plugins.resolve("transcribers", transcriber)[1])
    if speaker is None:
        if plugins.reaches_out("transcribers", spec):
            raise UsageError(
                f"'{transcriber}' sends sound over a network, and the speaker is not known",
                hint="give --speaker ID, to check consent to 'transcribe' and 'remote'",
            )
        return
    with open_store(store_location, plugins, create=False) as store:
        conditions = Conditions(speaker, "speaker", judges=())
        store.people.log(*Guard(store, plugins, conditions).check_transcribing(spec))


def _transcribe(
    plugins: Plugins,
    spec: str,
    sounds: Sequence[Path],
    failed: Sequence[tuple[Path, str]],
    kept: Path | None,
    shape: str,
    accepted: Forms,
) -> int:
    descriptor, resolved = plugins.resolve("transcribers", spec)
    if descriptor.remarks:
        note(f"{descriptor.id}: {descriptor.remarks}")
    cancel = threading.Event()
    done = [(path, Transcript(str(resolved), "error", error=words)) for path, words in failed]
    if shape == "tsv":
        click.echo("utterance_id\tasr_transcript")
    for path, transcript in done:
        _tell(path, transcript, shape, accepted)
    with stopping(cancel, "finished transcripts are printed"):
        heard = _heard(plugins, str(resolved), sounds, accepted, cancel)
        for number, transcript in _in_order(heard):
            done.append((sounds[number], transcript))
            _tell(sounds[number], transcript, shape, accepted)
            if kept is not None and transcript.status != "error":
                _keep(sounds[number], kept)
    if shape == "json":
        rows = [_file(path, transcript, accepted) for path, transcript in done]
        print_json({"format": 1, "files": rows})
    left = len(sounds) + len(failed) - len(done)
    if left:
        raise Interrupted(
            f"stopped: {plural(left, 'file')} left", hint="run the same command with these files"
        )
    return int(any(transcript.status == "error" for _, transcript in done))


def _heard(
    plugins: Plugins,
    spec: str,
    sounds: Sequence[Path],
    accepted: Forms,
    cancel: threading.Event,
) -> Iterator[tuple[int, Transcript]]:
    from tabwb.administer.transcription import Job, Transcribing
    from tabwb.cli.command import Countdown

    if not sounds:
        return
    jobs = [
        Job(number, 1, path, accepted=accepted, name=path.stem)
        for number, path in enumerate(sounds)
    ]
    try:
        transcribing = Transcribing(plugins, spec, cancel=cancel)
    except Interrupted:  # the caller says what is left
        return
    with transcribing:
        if transcribing.caution:
            note(transcribing.caution)
        countdown = Countdown("file", len(jobs))
        try:
            for job, transcript in transcribing.run(jobs, cancel):
                countdown.advance()
                yield job.trial, transcript
        finally:
            countdown.status.close()


def _accepted(forms: Sequence[str]) -> Forms:
    read: list[tuple[str, ...]] = []
    for form in forms:
        try:
            read.append(parse_pronunciation(form, beyond="allophones"))
        except TabwbError as error:
            raise UsageError(error.message, where="--accept", allowed=error.allowed) from error
    return tuple(read)


def _in_order(heard: Iterator[tuple[int, Transcript]]) -> Iterator[tuple[int, Transcript]]:
    """Yield in the order of the numbers: each as soon as all before it are there."""
    waiting: dict[int, Transcript] = {}
    following = 0
    for number, transcript in heard:
        waiting[number] = transcript
        while following in waiting:
            yield following, waiting.pop(following)
            following += 1
    yield from sorted(waiting.items())  # cut short by ctrl+c


def _sounds(files: Sequence[Path]) -> tuple[list[Path], list[tuple[Path, str]]]:
    from tabwb.speech.files import sound_files

    sounds: dict[Path, None] = {}
    failed: list[tuple[Path, str]] = []
    for path in files:
        try:
            sounds |= dict.fromkeys(sound_files([path]))
        except TabwbError as error:
            failed.append((path, str(error)))
    return list(sounds), failed


def _tell(path: Path, transcript: Transcript, shape: str, accepted: Forms) -> None:
    if transcript.status == "error":
        message = transcript.error.splitlines() or ["no reason was given"]
        text = message[0] if str(path) in message[0] else f"{path}: {message[0]}"
        note(f"! {text}")
        return
    sounds = pronounced(transcript)
    if guessed := sounds.metadata.get(GUESSED):
        note(f"{path}: pronounced by their letters: {', '.join(json.loads(guessed))}")
    heard = " ".join(transcript.phonemes)
    if shape == "tsv":
        click.echo(f"{path.stem}\t{' '.join(sounds.phonemes)}")
    elif not shape:
        if transcript.status != "ok":
            heard = heard or "nothing was heard"
        elif ipa := to_ipa(sounds.phonemes):
            heard += f"  /{ipa}/"
        if accepted:
            score = transcript.accepted_likelihood
            none = "none: the transcriber has no likelihoods"
            ratio = none if score is None else f"{score:+.2f}"
            heard += f"  accepted against free decoding: {ratio}"
        click.echo(f"{path}  {heard}")


def _file(path: Path, transcript: Transcript, accepted: Forms) -> dict[str, Any]:
    sounds = pronounced(transcript)
    document: dict[str, Any] = {
        "file": str(path),
        "phonemes": list(sounds.phonemes),
        "segments": [_segment(segment, "phoneme") for segment in sounds.segments],
    }
    if transcript.unit == "words":
        words = [_segment(segment, "word") for segment in transcript.segments]
        document |= {"unit": "words", "words": words}
    document |= {
        "transcriber": transcript.transcriber,
        "seconds": transcript.seconds,
        "status": transcript.status,
    }
    if accepted:
        document["accepted_likelihood"] = transcript.accepted_likelihood
    if transcript.status == "error":
        document["error"] = transcript.error
    return document


def _segment(segment: Segment, what: str) -> dict[str, Any]:
    row = asdict(segment)
    return {what: row.pop("phoneme"), **row}


def _keep(path: Path, folder: Path) -> None:
    """Keep the conditioned copy of a file; of two files with one name the second is numbered."""
    from tabwb.speech.condition import condition_file

    make_private_folder(folder)
    copy = folder / f"{path.stem}.wav"
    number = 1
    while copy.exists():
        number += 1
        copy = folder / f"{path.stem}-{number}.wav"
    condition_file(path, copy)
