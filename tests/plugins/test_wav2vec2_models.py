"""wav2vec2:... on tiny random models: CTC against all paths, loading, labels, ONNX."""

from __future__ import annotations

import itertools
import json
import math
import os
import pickle
import threading
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_wav2vec2 import ctc
from tabwb_wav2vec2.reading import Reader, Vocabulary

from tabwb.host.plugins import Plugins
from tabwb.host.process import ChildTranscriber
from tabwb.phonology.inventory import PHONEMES
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.speech import Clip
from tabwb.speech.files import read_clip, write_wav
from tests.builders import SPEECH
from tests.plugins.speech_models import (
    ESPEAK,
    LETTERS,
    RATE,
    heard,
    noises,
    save_ctc,
    transcriber,
)

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
transformers = pytest.importorskip("transformers", reason="needs tabwb[local]")
pytest.importorskip("soundfile", reason="needs tabwb[audio]")


FAMILIES: list[tuple[str, dict[str, Any], str]] = [
    ("Wav2Vec2", {}, "padded"),
    ("Wav2Vec2", {"feat_extract_norm": "group"}, "of equal lengths"),
    ("Wav2Vec2Bert", {}, "padded"),
    ("Hubert", {}, "padded"),
    ("WavLM", {}, "padded"),
    ("Data2VecAudio", {"num_conv_pos_embeddings": 2}, "of equal lengths"),
]
LENGTHS = (0.5, 1.0, 1.0, 0.52, 1.04, 2.0)


@pytest.fixture(scope="module")
def arpabet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_ctc(tmp_path_factory.mktemp("arpabet"))


def plain(folder: Path, clip: Clip) -> list[str]:
    """What transformers' own classes say, one clip at a time."""
    model = transformers.AutoModelForCTC.from_pretrained(folder).eval()
    front = transformers.AutoFeatureExtractor.from_pretrained(folder)
    samples, rate = read_clip(clip.path)
    with torch.inference_mode():
        best = model(**front(samples, sampling_rate=rate, return_tensors="pt")).logits[0].argmax(-1)
    numbers = json.loads((folder / "vocab.json").read_text())
    labels = {number: label for label, number in numbers.items()}
    runs = torch.unique_consecutive(best).tolist()
    return [labels[number] for number in runs if number]


@pytest.mark.parametrize(("kind", "more", "together"), FAMILIES)
def test_batches_say_what_each_clip_says_alone(
    tmp_path: Path, kind: str, more: dict[str, Any], together: str
) -> None:
    folder = save_ctc(tmp_path / "model", kind=kind, **more)
    clips = noises(tmp_path, *LENGTHS)
    one, many = transcriber(folder, batch_size=1), transcriber(folder, batch_size=4)
    one.open()
    facts = many.open()
    assert facts["batches"] == together
    # A front end of spectra has the stride of its stacked frames.
    assert facts["stride_s"] == ("0.03" if kind == "Wav2Vec2Bert" else "0.02")
    alone, batched = heard(one, clips), heard(many, clips)
    assert sum(len(each.segments) for each in alone) > 10
    for a, b in zip(alone, batched, strict=True):
        assert a.phonemes == b.phonemes
        for x, y in zip(a.segments, b.segments, strict=True):
            assert (x.start_s, x.end_s) == (y.start_s, y.end_s)
            assert x.confidence == pytest.approx(y.confidence, abs=2e-3)


def test_it_says_what_transformers_says(arpabet: Path, tmp_path: Path) -> None:
    for clip in noises(tmp_path, 0.7, 1.3):
        said = [label for label in plain(arpabet, clip) if label not in {"<sil>", "<s>", "</s>"}]
        assert list(heard(transcriber(arpabet), [clip])[0].phonemes) == said
        assert len(said) > 3


def test_times_are_frames_of_20_ms_in_order_within_the_clip(arpabet: Path, tmp_path: Path) -> None:
    made = transcriber(arpabet)
    facts = made.open()
    assert facts.items() >= {
        "model": "tiny", "architecture": "Wav2Vec2ForCTC", "labels": "arpabet", "unit": "phonemes",
        "decoder": "greedy", "threads": "1", "stride_s": "0.02",
    }.items()  # fmt: skip
    assert len(facts["weights_sha256"]) == 64
    (whole,) = noises(tmp_path, 1.3)
    (found,) = heard(made, [whole])
    ends = [0.0]
    for each in found.segments:
        assert each.start_s >= ends[-1]
        assert each.start_s % 0.02 == pytest.approx(0, abs=1e-6) or each.start_s % 0.02 > 0.0199
        assert each.confidence is not None and 0 < each.confidence <= 1
        ends.append(each.end_s)
    assert ends[-1] <= found.seconds == 1.3
    # A stretch of a file is heard as a file of its own.
    samples, _ = read_clip(whole.path, 0.3, 1.2)
    write_wav(tmp_path / "part.wav", samples, RATE)
    part, stretch = heard(made, [Clip(str(tmp_path / "part.wav")), Clip(whole.path, 0.3, 1.2)])
    assert part.phonemes == stretch.phonemes and stretch.seconds == pytest.approx(0.9)
    cancel = threading.Event()
    one_by_one = transcriber(arpabet, batch_size=1)
    pieces = []
    for piece in one_by_one.transcribe_many(noises(tmp_path, 0.5, 0.6, 0.7), cancel):
        pieces.append(piece)
        cancel.set()
    assert len(pieces) == 1
    beam = transcriber(arpabet, beam=8)
    assert beam.open()["decoder"] == "beam 8"
    (found,) = heard(beam, [whole])
    starts = [segment.start_s for segment in found.segments]
    assert starts == sorted(starts) and found.status == "ok"


def test_ipa_is_read_as_phonemes_and_what_has_none_is_counted(tmp_path: Path) -> None:
    folder = save_ctc(tmp_path / "model", ESPEAK)
    made = transcriber(folder)
    assert made.open()["labels"] == "espeak-ipa"
    found = heard(made, noises(tmp_path, 2.0, 2.0, 2.0, 2.0))
    said = {phoneme for each in found for phoneme in each.phonemes}
    assert said <= {"B", "D", "AO", "G", "AH", "L", "IY", "DX", "<unk>"} and len(said) > 3
    assert {label for each in found for label in each.dropped} == {"y"}


def test_a_label_of_two_phonemes_shares_its_time(tmp_path: Path) -> None:
    from tabwb_wav2vec2.reading import Reader, Vocabulary

    reader = Reader(Vocabulary(("<pad>", "b", "əl"), 0), "espeak-ipa", 0.02)
    scores = np.log([[0.1, 0.8, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.1, 0.3, 0.6]])
    segments = reader.hear(scores).segments
    assert [(s.phoneme, s.start_s, s.end_s, s.confidence) for s in segments] == [
        ("B", 0.0, 0.02, 0.8),
        ("AH", 0.04, 0.06, 0.7),
        ("L", 0.06, 0.08, 0.7),
    ]


def test_an_orthographic_model_hears_words(tmp_path: Path) -> None:
    folder = save_ctc(tmp_path / "model", LETTERS)
    made = transcriber(folder)
    assert made.open()["unit"] == made.unit == "words"
    (clip,) = noises(tmp_path, 2.0)
    (found,) = heard(made, [replace(clip, accepted=(("D", "AO", "G"),))])
    assert found.unit == "words" and found.accepted_likelihood is None
    said = "".join(label for label in plain(folder, clip) if label not in {"<s>", "</s>"})
    assert list(found.phonemes) == said.replace("|", " ").lower().split()


def test_the_baseline_of_psst_is_read_with_its_shift(tmp_path: Path) -> None:
    names = ("<pad>", "", "", "", *sorted(PHONEMES), "<sil>", "<spn>")
    folder = save_ctc(tmp_path / "model", names, files=False, feat_extract_norm="group")
    made = transcriber(folder, labels="psst")
    assert made.open()["labels"] == "arpabet"
    clips = noises(tmp_path, 2.0, 2.0)
    model = transformers.AutoModelForCTC.from_pretrained(folder).eval()
    front = transformers.Wav2Vec2FeatureExtractor()
    for clip, found in zip(clips, heard(made, clips), strict=True):
        samples, _ = read_clip(clip.path)
        inputs = front(samples, sampling_rate=RATE, return_tensors="pt").input_values
        with torch.inference_mode():
            runs = torch.unique_consecutive(model(inputs).logits[0].argmax(-1)).tolist()
        assert [names[n] for n in runs if names[n] not in {"<pad>", "", "<sil>"}] == list(
            found.phonemes
        )
        assert sum(found.dropped.values()) == sum(n in {1, 2, 3} for n in runs)


def test_vocabularies_are_read_from_every_file_they_come_in(arpabet: Path, tmp_path: Path) -> None:
    from tabwb_wav2vec2.reading import read_vocabulary

    def vocabulary(**files: Any) -> Any:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files.items():
            (folder / f"{name}.json").write_text(json.dumps(content))

        def find(name: str) -> Path | None:
            return folder / name if (folder / name).is_file() else None

        return read_vocabulary(find, 6, 0, str(folder))

    plain_vocab = vocabulary(vocab={"[PAD]": 5, "AA": 0, "B": 1, "|": 2}, added_tokens={"<s>": 3},
                             tokenizer_config={"pad_token": {"content": "[PAD]"}})  # fmt: skip
    assert (plain_vocab.blank, plain_vocab.delimiter) == (5, 2)
    assert plain_vocab.sounds == ("AA", "B")
    whole = vocabulary(
        tokenizer={
            "model": {"vocab": {"AA": 1, "B": 2}},
            "added_tokens": [{"id": 0, "content": "<pad>", "special": True}],
        }
    )
    assert (whole.labels, whole.blank) == (("<pad>", "AA", "B", "", "", ""), 0)
    with pytest.raises(ComponentError, match="one per language") as caught:
        vocabulary(vocab={"eng": {"a": 0}, "deu": {"a": 0}})
    assert "eng, deu" in str(caught.value)
    with pytest.raises(ComponentError, match="holds no vocabulary"):
        vocabulary()
    with pytest.raises(ComponentError, match="does not fit a model of 6 outputs"):
        vocabulary(vocab={str(number): number for number in range(40)})


def test_one_bad_clip_harms_no_other(arpabet: Path, tmp_path: Path) -> None:
    (good,) = noises(tmp_path, 0.6)
    (tmp_path / "text.wav").write_text("no sound at all")
    write_wav(tmp_path / "slow.wav", np.full(8000, 0.1, dtype=np.float32), 8000)
    write_wav(tmp_path / "still.wav", np.zeros(RATE, dtype=np.float32), RATE)
    write_wav(tmp_path / "short.wav", np.full(300, 0.1, dtype=np.float32), RATE)
    write_wav(tmp_path / "long.wav", np.full(121 * RATE, 0.1, dtype=np.float32), RATE)
    names = ("nowhere.wav", "text.wav", "slow.wav", "long.wav", "still.wav", "short.wav")
    clips = [good, *(Clip(str(tmp_path / name)) for name in names)]
    found = heard(transcriber(arpabet), clips)
    assert [each.status for each in found] == ["ok", *["error"] * 4, *["empty"] * 2]
    assert "nowhere.wav" in found[1].error
    assert "8000 Hz" in found[3].error and "16000 Hz" in found[3].error
    assert "lasts 121 s" in found[4].error and "up to 120 s" in found[4].error


def test_weights_in_a_pickle_are_read_as_weights_only(arpabet: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_ctc(folder)
    state = transformers.AutoModelForCTC.from_pretrained(folder).state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    assert transcriber(folder).open()["labels"] == "arpabet"

    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    torch.save({"lm_head.weight": Trap()}, folder / "pytorch_model.bin", pickle_module=pickle)
    with pytest.raises(ComponentError):
        transcriber(folder).open()
    assert not (tmp_path / "sprung").exists()


def test_what_cannot_be_a_transcriber_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabwb_wav2vec2.options import Wav2Vec2Options
    from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

    monkeypatch.setattr("tabwb_transformers.loading.is_offline", lambda: True)
    monkeypatch.setattr("tabwb_wav2vec2.engine.is_offline", lambda: True)
    language = tmp_path / "language"
    language.mkdir()
    (language / "config.json").write_text('{"model_type": "gpt2"}')
    unknown = save_ctc(tmp_path / "unknown", ("<pad>", *(f"unit-{n}" for n in range(9))))
    untrained = save_ctc(tmp_path / "untrained")
    transformers.AutoModelForCTC.from_pretrained(untrained).base_model.save_pretrained(untrained)
    for name, words in (
        ("./no/such/folder", "there is no such folder"),
        ("nobody/nothing", "is not in the local cache, and tabwb is offline"),
        (str(language), "is a model of type 'gpt2', no CTC model of speech"),
        (str(untrained), r"was never trained .* 'lm_head"),
        (str(unknown), "cannot map its labels to phonemes(?s:.*)labels=arpabet"),
    ):
        with pytest.raises(ComponentError, match=words):
            Wav2Vec2Transcriber(name, Wav2Vec2Options(device="cpu")).open()


@pytest.mark.parametrize("kind", ["Wav2Vec2", "Wav2Vec2Bert"])
def test_onnx_says_what_torch_says(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("onnxruntime", reason="needs tabwb[onnx]")
    folder = save_ctc(tmp_path / "model", kind=kind)
    clips = noises(tmp_path, 0.5, 1.1, 1.7)
    by_torch = heard(transcriber(folder), clips)
    made = transcriber(folder, onnx="fp32")
    assert made.open()["onnx"] == "fp32"
    for a, b in zip(by_torch, heard(made, clips), strict=True):
        assert a.phonemes == b.phonemes
        assert b.metadata["onnx"] == "fp32"


def test_int8_is_made_once_and_does_not_depend_on_what_else_is_heard(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs tabwb[onnx]")
    folder = save_ctc(tmp_path / "model")
    quiet, loud, third = noises(tmp_path, 0.8, 0.8, 0.8)
    samples, _ = read_clip(loud.path)
    write_wav(Path(loud.path), samples / np.abs(samples).max(), RATE)
    made = transcriber(folder, onnx="int8")
    made.open()
    together = heard(made, [quiet, loud, third])
    (copy,) = (tmp_path / "onnx-copies").iterdir()
    stamp = copy.stat().st_mtime_ns
    again = transcriber(folder, onnx="int8")
    again.open()
    assert [heard(again, [clip])[0].segments for clip in (quiet, loud, third)] == [
        each.segments for each in together
    ]
    assert copy.stat().st_mtime_ns == stamp
    # Other weights have their own copy.
    transcriber(save_ctc(tmp_path / "other", seed=8), onnx="int8").open()
    assert len(list((tmp_path / "onnx-copies").iterdir())) == 2


for module in ("torch", "transformers", "soundfile"):
    pytest.importorskip(module, reason="needs tabwb[local,audio]")


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


seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, frames: int, outputs: int, sharpness: float = 1.0) -> ctc.LogProbs:
    """Log probabilities drawn at random."""
    scores = np.random.default_rng(seed).normal(size=(frames, outputs)) * sharpness
    normalised: ctc.LogProbs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return normalised


def read(path: tuple[int, ...], blank: int = 0) -> tuple[int, ...]:
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


def every_path(log_probs: ctc.LogProbs) -> dict[tuple[int, ...], float]:
    """The probability of every reading, by writing out every path."""
    frames, outputs = log_probs.shape
    found: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(outputs), repeat=frames):
        found[read(path)] += math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
    return found


@given(seeds, st.integers(1, 6))
def test_probabilities_of_readings_are_those_of_all_their_paths(seed: int, frames: int) -> None:
    log_probs = drawn(seed, frames, 3)
    for reading, probability in every_path(log_probs).items():
        assert ctc.log_probability(log_probs, reading) == pytest.approx(math.log(probability))


@given(seeds)
def test_probabilities_of_all_readings_add_up_to_one(seed: int) -> None:
    log_probs = drawn(seed, 4, 3)
    readings = {read(path) for path in itertools.product(range(3), repeat=4)}
    total = sum(math.exp(ctc.log_probability(log_probs, reading)) for reading in readings)
    assert total == pytest.approx(1.0)


@given(seeds, st.lists(st.integers(1, 5), max_size=8))
def test_probabilities_are_torchs(seed: int, labels: list[int]) -> None:
    torch = pytest.importorskip("torch")
    log_probs = drawn(seed, 20, 6)
    loss = torch.nn.functional.ctc_loss(
        torch.tensor(log_probs)[:, None],
        torch.tensor([labels], dtype=torch.long),
        torch.tensor([20]),
        torch.tensor([len(labels)]),
        blank=0,
        reduction="sum",
    )
    assert ctc.log_probability(log_probs, labels) == pytest.approx(-float(loss))


def test_any_output_may_be_blank_and_too_few_frames_are_impossible() -> None:
    log_probs = drawn(3, 9, 4)
    moved = log_probs[:, [1, 2, 3, 0]]
    assert ctc.log_probability(moved, [0, 1, 1], blank=3) == pytest.approx(
        ctc.log_probability(log_probs, [1, 2, 2])
    )
    log_probs = drawn(1, 2, 3)
    assert ctc.log_probability(log_probs, [1, 1]) == -math.inf
    assert ctc.align(log_probs, [1, 1]) is None
    assert ctc.log_probability(log_probs[:0], []) == 0.0
    assert ctc.greedy(log_probs[:0]) == ()


@given(seeds, st.integers(2, 6))
def test_a_wide_beam_finds_the_likeliest_reading(seed: int, frames: int) -> None:
    log_probs = drawn(seed, frames, 3)
    readings = every_path(log_probs)
    best = max(readings.values())
    assert readings[ctc.beam(log_probs, 200)] == pytest.approx(best)


@given(seeds)
def test_the_alignment_is_the_best_path_of_its_reading(seed: int) -> None:
    log_probs = drawn(seed, 6, 3)
    paths: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(3), repeat=6):
        score = float(sum(log_probs[t, label] for t, label in enumerate(path)))
        paths[read(path)] = max(score, paths.get(read(path), -math.inf))
    for reading, best in paths.items():
        runs = ctc.align(log_probs, reading)
        assert runs is not None
        path_labels = [0] * 6
        for run in runs:
            path_labels[run.first : run.last + 1] = [run.label] * (run.last + 1 - run.first)
        score = sum(log_probs[t, label] for t, label in enumerate(path_labels))
        assert score == pytest.approx(best)
        assert read(tuple(path_labels)) == reading


@given(seeds)
def test_greedy_runs_are_the_best_labels_of_the_frames(seed: int) -> None:
    log_probs = drawn(seed, 12, 4)
    best = tuple(int(label) for label in log_probs.argmax(axis=1))
    runs = ctc.greedy(log_probs)
    assert tuple(run.label for run in runs) == read(best)
    frames = {t: run.label for run in runs for t in range(run.first, run.last + 1)}
    assert tuple(frames.get(t, 0) for t in range(12)) == best


LABELS = ("<pad>", "ə", "ʌ", "əl", "l", "<sil>", "y")
READS_AS = {1: ("AH",), 2: ("AH",), 3: ("AH", "L"), 4: ("L",), 6: ("?",)}
"""Output: its phonemes; padding and silence stand for no sound."""


def classes(path: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """What a path reads as, labels that read alike being one."""
    alike = tuple(0 if label == 5 else 1 if label == 2 else label for label in path)
    return tuple(READS_AS[label] for label in read(alike))


@given(st.integers(0, 2**32 - 1))
def test_the_likelihood_of_a_form_is_that_of_every_path_that_reads_as_it(seed: int) -> None:
    log_probs = drawn(seed, 4, len(LABELS), sharpness=2.0)
    forms: dict[tuple[str, ...], float] = defaultdict(float)
    sequences: dict[tuple[tuple[str, ...], ...], float] = defaultdict(float)
    for path in itertools.product(range(len(LABELS)), repeat=4):
        probability = math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
        found = classes(path)
        sequences[found] += probability
        forms[tuple(itertools.chain.from_iterable(found))] += probability
    by_class = np.stack(
        [
            np.logaddexp(log_probs[:, 0], log_probs[:, 5]),
            np.logaddexp(log_probs[:, 1], log_probs[:, 2]),
            log_probs[:, 3],
            log_probs[:, 4],
            log_probs[:, 6],
        ]
    )
    best = tuple([0, 1, 3, 4, 6][number] for number in by_class.argmax(axis=0))
    free = math.log(sequences[classes(best)])
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    wanted = [("AH", "L"), ("L",), ("AH", "AH"), ("AH", "L", "AH")]
    for form in wanted:
        assert reader.accepted_likelihood(log_probs, [form]) == pytest.approx(
            math.log(forms[form]) - free
        )
    assert reader.accepted_likelihood(log_probs, wanted) == pytest.approx(
        max(math.log(forms[form]) for form in wanted) - free
    )


def test_a_clear_clip_prefers_the_form_that_was_said() -> None:
    frames = np.full((6, len(LABELS)), 0.01)
    for frame, label in enumerate((4, 4, 0, 1, 5, 0)):
        frames[frame, label] = 0.94
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    assert [each.phoneme for each in reader.hear(np.log(frames)).segments] == ["L", "AH"]
    said = reader.accepted_likelihood(np.log(frames), [("L", "AH")])
    other = reader.accepted_likelihood(np.log(frames), [("AH", "L")])
    assert said == pytest.approx(0.0) and other is not None and other < -5


def test_a_form_that_does_not_fit_into_the_clip_has_no_likelihood() -> None:
    reader = Reader(Vocabulary(LABELS, 0), "espeak-ipa", 0.02)
    log_probs = drawn(1, 2, len(LABELS))
    assert reader.accepted_likelihood(log_probs, [("L", "L", "L")]) is None
    assert reader.accepted_likelihood(log_probs, [("K",)]) is None
    assert reader.accepted_likelihood(log_probs, []) is None
