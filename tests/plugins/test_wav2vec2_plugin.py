"""wav2vec2:... and bundled-words as they are registered: specs, options, the child process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabwb.plugin_api.child.component import ChildTranscriber
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.speech import Clip

for module in ("torch", "transformers", "soundfile"):
    pytest.importorskip(module, reason="needs tabwb[local,audio]")
SPEECH = Path(__file__).parents[1] / "data" / "speech"


@pytest.fixture
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load()
    yield loaded
    loaded.close()


def test_a_model_in_a_folder_is_heard_through_a_child(plugins: Plugins, tmp_path: Path) -> None:
    from tests.plugins.speech_models import noises, save_ctc

    folder = save_ctc(tmp_path / "model")
    spec = f"wav2vec2:{folder}@threads=1,beam=4"
    transcriber = plugins.open_transcriber(spec)
    assert isinstance(transcriber, ChildTranscriber)
    facts = transcriber.open()
    assert (facts["model"], facts["threads"], facts["decoder"]) == (spec, "1", "beam 4")
    assert transcriber.pid not in (None, os.getpid())
    (clip,) = noises(tmp_path, 0.8)
    (found,) = transcriber.transcribe_many([clip], threading.Event())
    assert found[1].status == "ok"
    assert found[1].transcriber == spec
    assert found[1].metadata["weights_sha256"] == facts["weights_sha256"]


@pytest.mark.usefixtures("here")
def test_the_bundled_words_know_what_they_are(plugins: Plugins) -> None:
    descriptor, _ = plugins.resolve("transcribers", "bundled-words")
    assert (
        descriptor.remarks
        == "knows a few dozen words and tends to transcribe any sound as one of them"
    )
    transcriber = plugins.open_transcriber("bundled-words")
    facts = transcriber.open()
    assert (facts["model"], facts["labels"]) == ("bundled-words", "arpabet")
    clips = [
        Clip(str(SPEECH / name), accepted=(("D", "AO", "G"), ("D", "AA", "G")))
        for name in ("dog_d1a4fb3f_0.flac", "six_964e8cfd_2.flac")
    ]
    found = dict(transcriber.transcribe_many(clips, threading.Event()))
    dog, six = (found[index].accepted_likelihood for index in range(2))
    assert dog is not None and six is not None
    assert dog > six


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("wav2vec2:x@beam=0", "1 (greedy) to 500"),
        ("wav2vec2:x@labels=sampa", "espeak-ipa"),
        ("bundled-words@labels=cmu", "has no option 'labels'"),
        ("wav2vec2", "needs a name"),
        ("manual", "needs a name"),
    ],
)
def test_what_a_spec_may_say_is_told(plugins: Plugins, spec: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        plugins.resolve("transcribers", spec)
    assert words in str(caught.value)


def test_a_folder_is_stored_as_it_is_found_from_everywhere(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    _, spec = plugins.resolve("transcribers", "wav2vec2:./model")
    assert spec.name == str(tmp_path / "model")
    _, spec = plugins.resolve("transcribers", "wav2vec2:owner/name")
    assert spec.name == "owner/name"
