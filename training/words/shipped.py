"""Transcribe recordings with ``bundled-words`` exactly as tabwb does, with conditioning."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import soundfile
from tabwb_bundled.words_transcriber import WordsTranscriber
from tabwb_wav2vec2.options import TranscriberOptions

from tabwb.phonology.inventory import SILENT
from tabwb.records.speech import Clip
from tabwb.speech.condition import condition_file
from training.words.pronunciations import Phonemes
from training.words.recordings import RATE, Samples


def hear_shipped(folder: Path, sounds: Sequence[Samples]) -> list[Phonemes]:
    """Transcribe recordings with the model of a folder, in their order."""
    transcriber = WordsTranscriber(folder, TranscriberOptions(threads=1), shown="bundled-words")
    with tempfile.TemporaryDirectory() as working:
        clips = []
        for number, sound in enumerate(sounds):
            recorded, copy = (Path(working) / f"{number}-{name}.wav" for name in ("as", "to"))
            soundfile.write(recorded, sound, RATE, subtype="PCM_16")
            _, found = condition_file(recorded, copy)
            clips.append(Clip(str(copy), speech=found.speech, sounds=found.sounds))
        transcriber.open()
        heard = dict(transcriber.transcribe_many(clips, threading.Event()))
        transcriber.close()
    return [
        tuple(p for p in heard[number].phonemes if p not in SILENT) for number in range(len(sounds))
    ]
