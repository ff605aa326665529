"""Registers the transcribers ``wav2vec2:PATH-OR-ID`` and ``manual:FILE``; imports nothing heavy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.plugin_api import Descriptor, Register, Spec, Transcriber, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel


def _options() -> type[BaseModel]:
    from tabwb_wav2vec2.options import Wav2Vec2Options

    return Wav2Vec2Options


def _typed_options() -> type[BaseModel]:
    from tabwb_wav2vec2.options import ManualOptions

    return ManualOptions


def _model(spec: Spec, options: Any) -> Transcriber:
    from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

    assert spec.name is not None
    return Wav2Vec2Transcriber(spec.name, options, shown=str(spec))


def _typed(spec: Spec, options: Any) -> Transcriber:
    from tabwb_wav2vec2.manual import ManualTranscriber

    assert spec.name is not None
    return ManualTranscriber(Path(spec.name), options.ipa, shown=str(spec))


def _folder_or_id(name: str) -> str:
    """Return the absolute path of a folder; the id of a hub unchanged."""
    path = Path(name).expanduser()
    is_path = name.startswith(("./", "../", "~")) or path.is_dir()
    return os.path.normpath(path.absolute()) if is_path else name


def _file(name: str) -> str:
    return os.path.normpath(Path(name).expanduser().absolute())


@hookimpl
def tabwb_register_transcribers(register: Register) -> None:
    """Register CTC models of speech, and typed transcripts."""
    register(
        Descriptor(
            "wav2vec2",
            "A CTC model of speech (wav2vec 2.0, HuBERT, WavLM ...), run on this machine",
            _model,
            options=_options,
            needs=("local", "audio"),
            runs="child",
            variables=("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
            name_help="PATH-OR-ID",
            name_required=True,
            locate=_folder_or_id,
            remarks="an id that is not in the local cache is downloaded, except under --offline",
        )
    )
    register(
        Descriptor(
            "manual",
            "What a person typed: a TSV of utterance_id and transcript, ARPAbet or IPA",
            _typed,
            options=_typed_options,
            name_help="FILE",
            name_required=True,
            locate=_file,
            remarks="no machine hears anything; times are not known",
        )
    )
