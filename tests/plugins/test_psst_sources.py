"""What recipes are trained on: folders and the store, perturbed copies, who is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tabwb_psst.made import made_psst
from tabwb_psst.train.recipe import Recipe, read_recipe
from tabwb_psst.train.sources import Chosen, choose, places_of
from tabwb_psst.train.stored import check_again, stored_examples

from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.plugin_api import Tools, UsageError
from tests.builders import needs, recordings, typed_table
from tests.plugins.psst_training import librispeech, save_corpus, timit, unlabelled

needs("soundfile", "torch", "transformers", "accelerate", "python_stretch")


def chosen(recipe: Recipe, *data: str, seed: int = 1) -> Chosen:
    """The data of a recipe, none of the store."""
    return choose(recipe, places_of(data, recipe), seed, lambda where: ((), frozenset(), ()))


@contextmanager
def opened() -> Iterator[Tools]:
    """What an operation works with, with the store of the environment."""
    with closing(Plugins.load()) as plugins:
        place = plugins.configuration.store_at
        with closing(Tools(plugins, lambda: place(None), say=print, warn=print)) as tools:
            yield tools


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    save_corpus(root / "psst", ["cat", "dog"])
    timit(root / "timit")
    librispeech(root / "librispeech")
    unlabelled(root / "unlabelled")
    return root


def test_nobody_of_the_test_split_is_trained_on(made: Path) -> None:
    found = chosen(read_recipe("y1"), str(made / "psst"), f"unlabelled:{made / 'unlabelled'}")
    pool = [one for one in found.examples if one.labels is None]
    assert sorted(one.speaker for one in pool) == ["ABC01", "ABC02"]
    assert any("1 recording left out: of 1 speaker" in note for note in found.notes)
    trained = [one for one in found.examples if one.split == "train" and one.labels is not None]
    assert {one.speaker for one in trained} == {"train01", "train02"}
    assert Counter(one.split for one in found.examples) == {"train": 6, "valid": 4, "test": 4}


def test_copies_stand_beside_psst_and_in_place_of_timit(made: Path) -> None:
    recipe = read_recipe("mo5")
    found = chosen(recipe, str(made / "psst"), str(made / "timit"))
    count = Counter((one.source, one.change) for one in found.examples if one.split == "train")
    assert count == {("psst", ""): 4, ("psst", "pitch"): 4, ("timit", "room"): 3}
    assert "1 utterance left out: of TIMIT with labels outside the inventory" in found.notes
    pitches = [one.value for one in found.examples if one.change == "pitch"]
    assert all(-3 <= value <= 3 for value in pitches)
    assert len(set(pitches)) == 4
    assert found.examples == chosen(recipe, str(made / "psst"), str(made / "timit")).examples
    other = chosen(recipe, str(made / "psst"), str(made / "timit"), seed=2).examples
    assert pitches != [one.value for one in other if one.change == "pitch"]


def test_timit_is_folded_and_only_its_train_part_is_read(made: Path) -> None:
    found = chosen(read_recipe("y2"), str(made / "psst"), str(made / "timit"))
    labels = {one.id: one.labels for one in found.examples if one.source == "timit"}
    assert labels == {
        "FABC0-SA1": ("<sil>", "K", "AE", "T", "<sil>"),
        "FABC1-SA2": ("<sil>", "B", "EH", "D", "<sil>"),
        "FABC2-SI1": ("<sil>", "AE", "T", "<sil>"),
    }


def test_words_are_pronounced_by_dictionary_and_by_letters(made: Path) -> None:
    found = chosen(read_recipe("y4"), str(made / "psst"), str(made / "librispeech"))
    labels = {one.id: one.labels for one in found.examples if one.source == "librispeech"}
    assert labels == {"84-121-0000": ("K", "AE", "T"), "84-121-0001": ("B", "L", "AO", "R", "F")}
    assert any("the recipe takes 3.9" in note for note in found.notes)


def test_no_more_hours_than_the_recipe_takes_by_seed(made: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "y4"\nid = "own"\n[[data]]\nsource = "psst"\n'
        '[[data]]\nsource = "librispeech"\nhours = [0.0001, "ours"]\n', encoding="utf-8",
    )  # fmt: skip
    found = chosen(read_recipe(str(own)), str(made / "psst"), str(made / "librispeech"))
    assert sum(one.source == "librispeech" for one in found.examples) == 1


def test_what_cannot_be_used_is_counted_and_the_rest_goes_on(made: Path, tmp_path: Path) -> None:
    corpus = save_corpus(tmp_path / "psst", ["cat", "dog"])
    table = corpus / "train" / "utterances.tsv"
    lines = table.read_text("utf-8").splitlines()
    lines[1] = lines[1].replace("K AE T", "K QQ T")
    (corpus / "train" / "audio" / "train02a-dog.wav").unlink()
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = chosen(read_recipe("psst-a"), str(corpus))
    assert sum(one.split == "train" for one in found.examples) == 2
    assert {"1 left out: labels", "1 left out: sounds"} <= set(found.notes)


@pytest.mark.parametrize(
    ("recipe", "data", "words"),
    [
        ("psst-a", ["{0}/nothing"], "not a corpus"),
        ("psst-a", ["{0}/timit"], "not trained on 'timit'"),
        ("y2", ["{0}/psst"], "timit:FOLDER"),
        ("psst-a", ["psst:{0}/timit"], "not the PSST corpus"),
        ("y4", ["{0}/psst", "librispeech:{0}/nothing"], "no such folder"),
    ],
)
def test_data_that_do_not_fit_a_recipe_are_refused(
    made: Path, recipe: str, data: list[str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        chosen(read_recipe(recipe), *(one.format(made) for one in data))


def test_an_encoder_that_is_not_there_is_named_with_its_command(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["psst", "train", "--recipe", "y5", "--data", str(made / "psst"), "--out",
             str(tmp_path / "out"), "--base", str(tmp_path / "large")]  # fmt: skip
    assert main([*words, "--offline"]) == 2
    said = capsys.readouterr().err
    assert f'hf download facebook/wav2vec2-large-lv60 --local-dir "{tmp_path / "large"}"' in said
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").rglob("*.json"))


def test_a_speaker_in_two_splits_trains_one_only(tmp_path: Path) -> None:
    corpus = made_psst(tmp_path / "psst", speakers=6, utterances=24, sounds=False)
    table = corpus / "test" / "utterances.tsv"
    head, *rows = table.read_text("utf-8").splitlines()
    train = (corpus / "train" / "utterances.tsv").read_text("utf-8").splitlines()[1]
    person = rows[0].split("\t")[1]
    moved = "\t".join(["again-1", person, *train.split("\t")[2:]])
    (corpus / "train" / "utterances.tsv").write_text(
        f"{head}\n{train}\n{moved}\n", encoding="utf-8"
    )
    found = chosen(read_recipe("psst-a"), str(corpus))
    assert "again-1" not in {one.id for one in found.examples}
    assert "1 left out: splits" in found.notes


def test_responses_of_the_store_need_consent_and_no_test_speaker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setenv("TABWB_STORE", str(tmp_path / "store.db"))
    sounds = recordings(tmp_path / "sounds", "dog")
    typed = typed_table(tmp_path / "typed.tsv", dog="D AO G")
    for speaker in ("S01", "S02", "S03"):
        assert main(["name", "naming-demo", "--speaker", speaker, "--input", str(sounds),
                     "--transcriber", f"manual:{typed}"]) in (0, 3)  # fmt: skip
    for speaker in ("S02", "S03"):
        agree = ["speaker", "consent", speaker, "--given", "--scope"]
        assert main([*agree, "transcribe"]) == 0
        assert speaker == "S02" or main([*agree, "train"]) == 0
    with opened() as tools:
        found, _, notes = stored_examples(tools, "")
        said = {one.speaker: one.labels for one in found}
        assert said == dict.fromkeys(("S01", "S03"), ("D", "AO", "G"))
        assert "1 response left out: of speakers who have not consented to 'train'" in notes
        check_again(tools, [{"source": "store", "speaker": "S03"}])
    assert main(["speaker", "consent", "S03", "--withdrawn", "--scope", "train"]) == 0
    with opened() as tools, pytest.raises(UsageError, match="S03"):
        check_again(tools, [{"source": "store", "speaker": "S03"}])
