"""``tabwb psst tran``: features against values by hand, classifiers against an own search."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tabwb_psst.classify import GRID, Sample, fitted, scored, welch
from tabwb_psst.corpus import read_corpus
from tabwb_psst.features import HOP, RATE, WIDTH, WINDOW, Features, features, flux, frames, loudness
from tabwb_psst.made import made_psst

from tabwb.cli.main import main
from tabwb.phonology.corpus import says_one_of
from tabwb.records.speech import Segment
from tabwb.speech.files import read_clip
from tests.builders import typed_table

scipy_special = pytest.importorskip("scipy.special")
scipy_stats = pytest.importorskip("scipy.stats")


def sine(hertz: float, amplitude: float, seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    times = np.arange(round(seconds * rate)) / rate
    return (amplitude * np.sin(2 * np.pi * hertz * times)).astype(np.float32)


def test_a_steady_sine_has_the_loudness_of_its_mean_square_and_no_flux() -> None:
    # The second harmonic of a multiple of 100 Hz is at a zero of the window: I = a^2 / 2 exactly.
    found = features(sine(1_000, 0.5), RATE)
    assert found.loudness_mean == pytest.approx((0.125 / 1e-6) ** 0.3, rel=1e-6)
    assert found.loudness_sd == pytest.approx(0, abs=1e-6)
    assert found.flux_mean == pytest.approx(0, abs=1e-12)
    assert found.flux_sd == pytest.approx(0, abs=1e-12)
    full = features(sine(1_000, 1.0), RATE)
    assert full.loudness_mean == pytest.approx(51.25, abs=0.01)
    # A tenth of the amplitude: 20 dB, a factor of 10 ** (2 * 0.3).
    quiet = features(sine(1_000, 0.05), RATE)
    assert found.loudness_mean == pytest.approx(10**0.6 * (quiet.loudness_mean or 0), rel=1e-5)
    other = features(sine(1_000, 0.5, rate=44_100), 44_100)
    assert other.loudness_mean == pytest.approx(found.loudness_mean, rel=0.01)


def test_two_sines_far_apart_have_nothing_in_common() -> None:
    low, high = sine(500, 0.5, 0.02), sine(5_000, 0.5, 0.02)
    framed = np.stack([low, low, high]).astype(float)
    assert flux(framed) == pytest.approx([0, 2], abs=1e-6)


def test_noise_has_the_loudness_and_flux_of_its_distribution() -> None:
    sigma = 0.1
    noise = np.random.default_rng(0).normal(0, sigma, 60 * RATE).astype(np.float32)
    found = features(noise, RATE)
    # E[I^.3] of I around sigma^2 to second order: 1 + .3 (.3 - 1) / 2 var(I) / E[I]^2.
    spread = 2 * np.square(WINDOW).sum() / WINDOW.sum() ** 2
    assert found.loudness_mean == pytest.approx(
        (sigma**2 / 1e-6) ** 0.3 * (1 - 0.105 * spread), rel=2e-3
    )
    assert found.loudness_sd == pytest.approx(
        (sigma**2 / 1e-6) ** 0.3 * 0.3 * np.sqrt(spread), rel=0.03
    )
    # Magnitudes of a bin in two frames are Rayleigh, correlated by the overlap of the windows:
    # E[|X||Y|] / E[|X|^2] = pi / 4 2F1(-1/2, -1/2; 1; rho^2), and flux is 2 - 2 cos.
    rho = (WINDOW[:HOP] * WINDOW[HOP:]).sum() / np.square(WINDOW).sum()
    alike = np.pi / 4 * scipy_special.hyp2f1(-0.5, -0.5, 1, rho**2)
    assert found.flux_mean == pytest.approx(2 - 2 * alike, rel=0.01)


def test_frames_are_twenty_milliseconds_every_ten() -> None:
    assert (WIDTH / RATE, HOP / RATE) == (0.02, 0.01)
    assert frames(np.zeros(RATE, np.float32), RATE).shape == (99, 320)
    assert WINDOW[0] == pytest.approx(0.08) and WINDOW[160] == 1.0


@pytest.mark.parametrize("samples", [np.zeros(0), np.zeros(RATE), np.ones(319)])
def test_a_clip_without_sound_has_no_value(samples: np.ndarray) -> None:
    assert features(samples.astype(np.float32), RATE) == Features()


def test_frames_of_zeros_are_left_out() -> None:
    tone = sine(1_000, 0.5, 0.1)
    around = np.concatenate([np.zeros(RATE, np.float32), tone, np.zeros(RATE, np.float32)])
    framed = frames(around, RATE)
    assert len(loudness(framed)) == (np.abs(framed).max(1) > 0).sum() < 12
    one = features(sine(1_000, 0.5, 0.02), RATE)
    assert one.loudness_mean is not None and one.flux_mean is None


def test_confidence_of_the_segments_that_have_one() -> None:
    tone = sine(1_000, 0.5)
    segments = [Segment("D", 0, 1, 0.5), Segment("AO", 0, 1, 0.9), Segment("G", 0, 1, None)]
    found = features(tone, RATE, segments)
    assert found.confidence_mean == pytest.approx(0.7) and found.confidence_max == 0.9
    typed = features(tone, RATE, [Segment("D", 0, 1)])
    assert (typed.confidence_mean, typed.confidence_max) == (None, None)


def test_t_tests_are_those_of_scipy() -> None:
    random = np.random.default_rng(1)
    right, wrong = random.normal(0, 1, 40), random.normal(0.4, 2, 25)
    found = welch(right, wrong)
    other = scipy_stats.ttest_ind(right, wrong, equal_var=False)
    assert (found.t, found.df, found.p) == pytest.approx((other.statistic, other.df, other.pvalue))
    for pair in ((right, wrong[:1]), (right[:0], wrong), (np.ones(3), np.ones(4))):
        assert welch(*pair).p is None


def made_sample(responses: int, speakers: int, seed: int) -> Sample:
    random = np.random.default_rng(seed)
    right = random.random(responses) < 0.5
    psst_b = np.where(random.random(responses) < 0.25, ~right, right)
    values = np.column_stack([random.normal(0, 1, (responses, 2)) + right[:, None], psst_b])
    return Sample(values, right, [f"S{number % speakers}" for number in range(responses)])


def test_classifiers_are_those_of_an_own_search_over_groups_of_speakers() -> None:
    from sklearn.metrics import f1_score
    from sklearn.model_selection import GroupKFold
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    train, test = made_sample(120, 12, 1), made_sample(40, 5, 2)
    made = {one.name: one for one in fitted({"train": train, "test": test}, seed=3)}
    assert list(made) == list(GRID)
    folds = list(
        GroupKFold(5, shuffle=True, random_state=3).split(
            train.features, train.right, train.speakers
        )
    )
    people = np.array(train.speakers)
    assert all(not set(people[fit]) & set(people[left]) for fit, left in folds)

    def predicted(c: float, fit: np.ndarray, of: np.ndarray) -> np.ndarray:
        scaler = StandardScaler().fit(fit)
        labels = (
            train.right if len(fit) == 120 else train.right[np.isin(train.features, fit).all(1)]
        )
        made = SVC(kernel="linear", C=c).fit(scaler.transform(fit), labels)
        return np.asarray(made.predict(scaler.transform(of)))

    scores = {
        c: np.mean([
            f1_score(train.right[left], predicted(c, train.features[fit], train.features[left]))
            for fit, left in folds
        ])
        for c in (0.1, 1.0, 10.0)
    }  # fmt: skip
    best = max(scores, key=lambda c: scores[c])
    found = made["SVM, linear"]
    assert found.parameters == {"C": best}
    assert found.search_f1 == pytest.approx(scores[best])
    assert (found.predicted["test"] == predicted(best, train.features, test.features)).all()
    again = list(fitted({"train": train, "test": test}, seed=3))
    assert all((one.predicted["test"] == made[one.name].predicted["test"]).all() for one in again)


@pytest.mark.parametrize(("speakers", "right"), [(1, None), (6, True)])
def test_there_is_no_classifier_of_one_speaker_or_one_label(
    speakers: int, right: bool | None
) -> None:
    sample = made_sample(30, speakers, 1)
    if right is not None:
        sample = Sample(sample.features, np.full(30, right), sample.speakers)
    for one in fitted({"train": sample, "test": sample}, seed=0):
        assert one.reason and not one.predicted and one.search_f1 is None


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABWB_STORE", str(tmp_path / "store.db"))


TOLD = """
import json
from pathlib import Path

from tabwb.plugin_api import Descriptor, Segment, Transcript, hookimpl


class Told:
    unit = "phonemes"

    def __init__(self, file):
        self._said = json.loads(Path(file).read_text())

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        for at, clip in enumerate(clips):
            segments = tuple(
                Segment(phoneme, 0.0, 0.1, confidence)
                for phoneme, confidence in self._said[Path(clip.path).stem]
            )
            yield at, Transcript("told", "ok" if segments else "empty", segments, seconds=1.0)

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    make = lambda spec, options: Told(spec.name)
    register(Descriptor("told", "Says what a file says", make, name_help="FILE"))
"""


def test_a_folder_is_transcribed_and_classified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = made_psst(tmp_path / "psst", speakers=12, utterances=120)
    corpus = read_corpus(root)
    chance = np.random.default_rng(1)
    said: dict[str, list[tuple[str, float | None]]] = {}
    for place, one in enumerate(corpus.utterances):
        phonemes = [label for label in one.transcript or () if not label.startswith("<")]
        if place % 5 == 0:
            phonemes = ["P", *phonemes[1:]]
        sure = [round(chance.uniform(0.3, 1.0), 3) for _ in phonemes]
        said[one.id] = list(zip(phonemes, sure, strict=True)) if place % 11 else []
    file, plugin = tmp_path / "said.json", tmp_path / "told.py"
    file.write_text(json.dumps(said), encoding="utf-8")
    plugin.write_text(TOLD, encoding="utf-8")
    assert main(["plugins", "trust", str(plugin)]) == 0
    capsys.readouterr()
    words = ["psst", "tran", str(root), "--transcriber", f"told:{file}", "--seed", "2", "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    tests, search, evaluation = (table["rows"] for table in document["tables"])

    def own(split: str, right: bool) -> list[Features]:
        found = []
        for one in corpus.utterances:
            if one.split == split and one.correct is right:
                samples, rate = read_clip(one.sound or "")
                segments = [Segment(label, 0, 0, sure) for label, sure in said[one.id]]
                found.append(features(samples, rate, segments))
        return found

    for place, row in enumerate(tests):
        values = [
            [value for one in own("train", right) if (value := one[place]) is not None]
            for right in (True, False)
        ]
        assert (row["n_right"], row["n_wrong"]) == tuple(map(len, values))
        assert row["mean_right"] == pytest.approx(np.mean(values[0]))
        assert row["sd_wrong"] == pytest.approx(np.std(values[1], ddof=1))
        other = scipy_stats.ttest_ind(*values, equal_var=False)
        assert (row["t"], row["p"]) == pytest.approx((other.statistic, other.pvalue))
    silent = [one for one in corpus.utterances if not said[one.id]]
    assert document["undefined"]["confidence_mean"] == len(silent)
    assert document["undefined"]["loudness_mean"] == 0
    assert [row["system"] for row in search] == list(GRID)
    assert [row["system"] for row in search if row["chosen"]] == [document["chosen"]]

    forms = {one.prompt: corpus.accepted[one.prompt.casefold()] for one in corpus.utterances}

    def psst_b(with_sound: bool) -> tuple[np.ndarray, np.ndarray]:
        tested = [one for one in corpus.split("test") if said[one.id] or not with_sound]
        heard = [
            says_one_of([label for label, _ in said[one.id]], forms[one.prompt]) for one in tested
        ]
        return np.array([one.correct for one in tested], bool), np.array(heard, bool)

    for row, with_sound in zip(evaluation, (False, True), strict=False):
        wanted = scored(*psst_b(with_sound))
        assert (row["n"], row["f1"], row["recall"]) == (wanted.compared, wanted.f1, wanted.recall)
        assert (row["precision"], row["accuracy"]) == (wanted.precision, wanted.accuracy)
        assert row["chosen"] is None and row["differs"] == 0
    assert [row["n"] for row in evaluation[1:]] == [evaluation[1]["n"]] * 5
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_typed_transcripts_have_no_confidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = made_psst(tmp_path / "psst", speakers=8, utterances=64)
    utterances = read_corpus(root).utterances
    typed = {one.id: " ".join(one.transcript or ["<sil>"]) for one in utterances}
    table = typed_table(tmp_path / "typed.tsv", **typed)
    assert main(["psst", "tran", str(root), "--transcriber", f"manual:{table}", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["undefined"]["confidence_max"] == len(utterances)
    assert document["features"] == [
        "loudness_mean",
        "loudness_sd",
        "flux_mean",
        "flux_sd",
        "PSST-B",
    ]
    tests, _, evaluation = (table["rows"] for table in document["tables"])
    assert [row["p"] for row in tests[4:]] == [None, None]
    assert evaluation[0]["system"] == "PSST-B"
    assert evaluation[0]["n"] == document["splits"]["test"]


def test_what_cannot_be_classified(tmp_path: Path) -> None:
    assert main(["psst", "tran", str(tmp_path)]) == 2
    assert main(["psst", "tran"]) != 0
    root = made_psst(tmp_path / "psst", speakers=4, utterances=8, sounds=False)
    assert main(["psst", "tran", str(root), "--transcriber", "nobody"]) != 0
    (root / "test" / "utterances.tsv").unlink()
    assert main(["psst", "tran", str(root)]) == 2


def test_people_who_agreed_to_other_things_only_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = made_psst(tmp_path / "psst", speakers=6, utterances=12, sounds=False)
    assert main(["import", "psst", str(root)]) == 0
    tested = read_corpus(root).split("test")
    capsys.readouterr()
    # Of nobody who is known from files alone a consent is asked: then transcripts are missing.
    assert main(["psst", "tran"]) == 2
    assert "consent" not in capsys.readouterr().err
    for speaker in {one.speaker for one in tested}:
        words = ["speaker", "consent", speaker, "--scope", "record", "--given", "2024-03-09"]
        assert main(words) == 0
    capsys.readouterr()
    assert main(["psst", "tran"]) == 2
    assert f"no consent to train: {len(tested)}" in capsys.readouterr().err
