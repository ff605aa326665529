"""``tabwb phonemes``: two tables in, rates and traces out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from tabwb.phonology.labels import LABEL_SETS, LabelSetName
from tests.cli.conftest import Run

PSST = Path(__file__).parents[1] / "data" / "psst.json"
FIXED = {
    "format", "per", "fer", "status", "per_distance", "per_length", "fer_distance", "fer_length",
    "utterances", "unmapped", "mapped", "task_b",
}  # fmt: skip

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return make


@pytest.fixture
def pair(write: Write) -> Callable[..., tuple[Path, Path]]:
    """A reference and a hypothesis of rows (id, transcript, what was heard)."""

    def make(*rows: tuple[str, str, str]) -> tuple[Path, Path]:
        return (
            write("ref.tsv", "utterance_id\ttranscript", *(f"{i}\t{ref}" for i, ref, _ in rows)),
            write("hyp.tsv", "utterance_id\tasr_transcript", *(f"{i}\t{h}" for i, _, h in rows)),
        )

    return make


def test_every_case_of_the_challenges_scorer(run: Run, pair: Any) -> None:
    cases = json.loads(PSST.read_text(encoding="utf-8"))["cases"]
    ref, hyp = pair(*((case["id"], case["ref"], case["hyp"]) for case in cases))
    outcome = run("phonemes", ref, hyp, "--json")
    found = outcome.document
    assert set(found) == FIXED
    for case, one in zip(cases, found["utterances"], strict=True):
        assert one == {
            "utterance_id": case["id"],
            "per_distance": case["per_distance"],
            "per_length": case["per_length"],
            "fer_distance": case["fer_distance"],
            "fer_length": case["fer_length"],
            "trace": case["feature_steps"],
        }
    for name in ("per_distance", "per_length", "fer_distance", "fer_length"):
        assert found[name] == sum(case[name] for case in cases)
    assert (found["status"], found["unmapped"], found["task_b"]) == ("value", {}, None)


def test_a_reference_in_ipa_is_scored_over_the_forty_and_tells_what_was_mapped(
    run: Run, pair: Any
) -> None:
    ref, hyp = pair(("a", "dɒɡ <sil> kæt", "D AA G K AE T"), ("b", "bɛd", "B EH T"))
    found = run("phonemes", ref, hyp, "--json").document
    assert (found["per_distance"], found["per_length"]) == (1, 9)
    assert found["mapped"] == {"ɒ=AA": 1}
    assert "1 sound of the reference outside of the 40, mapped: ɒ=AA 1" in (
        " ".join(run("phonemes", ref, hyp).out.split())
    )


def test_a_corpus_with_empty_references(run: Run, pair: Any) -> None:
    (corpus,) = json.loads(PSST.read_text(encoding="utf-8"))["corpora"]
    rows = [(f"u{k}", ref, hyp) for k, (ref, hyp) in enumerate(corpus["rows"])]
    found = run("phonemes", *pair(*rows), "--json").document
    assert (found["fer"], found["per"]) == (corpus["fer"], corpus["per"])


def test_rows_may_stand_in_another_order(run: Run, write: Write) -> None:
    ref = write("ref.tsv", "utterance_id\ttranscript", "a\tD AO G", "b\tK AE T")
    hyp = write("hyp.tsv", "asr_transcript\tutterance_id", "K AE T\tb", "D AO G\ta")
    assert run("phonemes", ref, hyp, "--json").document["per"] == 0.0


def test_without_a_phoneme_in_the_references_rates_are_undefined(run: Run, pair: Any) -> None:
    tables = pair(("a", "", "F"), ("b", "<spn>", "AA"))
    found = run("phonemes", *tables, "--json").document
    assert (found["per"], found["fer"], found["status"]) == (None, None, "undefined")
    assert (found["per_distance"], found["fer_distance"]) == (2, 41.5)
    assert "undefined" in run("phonemes", *tables).out


def test_no_utterances_at_all(run: Run, pair: Any) -> None:
    found = run("phonemes", *pair(), "--json").document
    assert (found["status"], found["utterances"]) == ("undefined", [])
    run("phonemes", *pair(), "--by", "severity")


def test_labels_without_a_phoneme_are_dropped_and_counted(run: Run, pair: Any) -> None:
    tables = pair(("a", "D AO G", "D XX ao1 AX G XX"))
    found = run("phonemes", *tables, "--json").document
    assert (found["per_distance"], found["unmapped"]) == (0, {"XX": 2, "AX": 1})
    assert "3 labels without a phoneme, dropped: XX 2, AX 1" in run("phonemes", *tables).out
    refused = run("phonemes", *tables, "--unmapped", "error", status=1)
    assert "hyp.tsv:2: labels without a phoneme: XX, AX" in refused.err


def test_ids_missing_in_the_hypothesis_are_named(run: Run, write: Write) -> None:
    ref = write("ref.tsv", "utterance_id\ttranscript", "a\tD AO G", "b\tK AE T", "c\tB")
    hyp = write("hyp.tsv", "utterance_id\tasr_transcript", "b\tK AE T")
    run("phonemes", ref, hyp, status=1, err="are missing: a, c")
    as_silence = run("phonemes", ref, hyp, "--missing", "empty", "--json").document
    assert (as_silence["per_distance"], as_silence["per_length"]) == (4, 7)
    assert as_silence["missing"] == ["a", "c"]
    left_out = run("phonemes", ref, hyp, "--missing", "skip", "--json").document
    assert (left_out["per_distance"], left_out["per_length"]) == (0, 3)
    assert [one["utterance_id"] for one in left_out["utterances"]] == ["b"]
    assert "scored as silence: a, c" in run("phonemes", ref, hyp, "--missing", "empty").out
    assert "left out: a, c" in run("phonemes", ref, hyp, "--missing", "skip").out


def test_ids_that_only_the_hypothesis_has_are_left_out_and_said(run: Run, write: Write) -> None:
    ref = write("ref.tsv", "utterance_id\ttranscript", "a\tD")
    hyp = write("hyp.tsv", "utterance_id\tasr_transcript", "a\tD", "z\tK")
    outcome = run("phonemes", ref, hyp, "--json")
    assert (outcome.document["per"], outcome.document["extra"]) == (0.0, ["z"])
    assert "1 id of" in outcome.err
    assert "not in the reference, left out: z" in run("phonemes", ref, hyp).out


def test_rates_by_severity_and_by_a_column(run: Run, write: Write) -> None:
    ref = write(
        "ref.tsv", "utterance_id\tprompt\taq_index\ttranscript",
        "a\tdog\t90\tD AO G", "b\tdog\t75\tD AO G", "c\tcat\t\tK AE T",
    )  # fmt: skip
    hyp = write("hyp.tsv", "utterance_id\tasr_transcript", "a\tD AO G", "b\tD AO", "c\tK")
    options = ("--by", "severity", "--by", "prompt")
    by = run("phonemes", ref, hyp, *options, "--json").document["by"]
    assert [(one["name"], one["per_distance"], one["per_length"]) for one in by["severity"]] == [
        ("mild", 0, 3), ("moderate", 1, 3), ("not recorded", 2, 3),
    ]  # fmt: skip
    assert [(one["name"], one["per"]) for one in by["prompt"]] == [("dog", 1 / 6), ("cat", 2 / 3)]
    by_item = run("phonemes", ref, hyp, "--by", "item", "--json").document["by"]["item"]
    assert by_item == by["prompt"]
    shown = run("phonemes", ref, hyp, *options).out
    assert "by severity" in shown
    assert shown.index("mild") < shown.index("moderate") < shown.index("not recorded")
    assert "nothing here measures severity" in shown
    wrong = run("phonemes", ref, hyp, "--by", "speaker", status=2)
    assert "the reference has no column 'speaker'" in wrong.err


def test_tables_in_json(run: Run, pair: Any) -> None:
    tables = pair(("a", "B AE T", "P AE"), ("b", "B", "P S"))
    found = run("phonemes", *tables, "--tables", "--json").document
    assert found["confusions"][0] == ["SUB", "B", "P", 1.0, 2]
    assert found["feature_changes"] == [["voice", "+", "-", 2]]
    stops = next(each for each in found["classes"] if each["name"] == "stops")
    assert (stops["phonemes"], stops["substituted"], stops["deleted"]) == (3, 2, 1)


def test_labels_of_timit_and_their_ceiling(run: Run, pair: Any) -> None:
    tables = pair(("a", "D AO G", "dcl d aa gcl g"))
    run("phonemes", *tables, "--unmapped", "error", "--labels", "timit-39", status=1)
    found = run("phonemes", *tables, "--labels", "timit-39", "--json").document
    assert found["unmapped"] == {"dcl": 1, "gcl": 1}
    assert (found["per_distance"], found["fer_distance"]) == (1, 3.5)
    assert found["ceiling"]["merged"] == {"AO": "AA", "ZH": "SH"}
    assert found["ceiling"]["per_distance"] == 1
    assert "AO is written AA" in run("phonemes", *tables, "--labels", "timit-39").out
    exact = run("phonemes", *pair(("a", "D AO G", "dcl d ao gcl g")), "--labels", "timit-61")
    assert "0 errors of 3 phonemes" in exact.out


def test_ipa_of_espeak(run: Run, pair: Any) -> None:
    tables = pair(("a", "B AA DX AH L", "b ˈɑː ɾ əl"))
    found = run("phonemes", *tables, "--labels", "espeak-ipa", "--json").document
    assert (found["per"], found["unmapped"], "ceiling" in found) == (0.0, {}, False)


def test_another_inventory_by_panphon(run: Run, pair: Any) -> None:
    pytest.importorskip("panphon")
    tables = pair(("a", "ʃtɔl", "stɔl"))
    outcome = run("phonemes", *tables, "--inventory", "panphon", "--json")
    assert (outcome.document["inventory"], outcome.document["per_distance"]) == ("panphon", 1)
    shown = run("phonemes", *tables, "--inventory", "panphon").out
    assert "not comparable with PSST's" in " ".join(shown.split())
    run("phonemes", *tables, "--inventory", "panphon", "--accept", "x.tsv", status=2)


ACCEPT = ("prompt\tpronunciation", "cat\tK AE1 T", "Dog\tdɔg", "dog\tD AA G")


def task_b_tables(write: Write) -> tuple[Path, Path]:
    ref = write(
        "ref.tsv", "utterance_id\tprompt\ttranscript\tcorrectness",
        "a\tcat\tK AE T\tTRUE", "b\tcat\tK AE D\tFALSE", "c\tdog\tD AA G\tTRUE",
        "d\tDOG\tD AO G\tTRUE", "e\tcat\t\t",
    )  # fmt: skip
    hyp = write(
        "hyp.tsv", "utterance_id\tasr_transcript",
        "a\tAH K AE <spn> T S", "b\tK AE T", "c\tD AA G", "d\tB AO G", "e\tK AE T",
    )  # fmt: skip
    return ref, hyp


def test_task_b_with_accepted_pronunciations(run: Run, write: Write) -> None:
    ref, hyp = task_b_tables(write)
    accept = write("accept.tsv", *ACCEPT)
    found = run("phonemes", ref, hyp, "--accept", accept, "--json").document["task_b"]
    assert [found[name] for name in ("tp", "fp", "fn", "tn", "compared")] == [2, 1, 1, 0, 4]
    assert found["precision"] == found["recall"] == found["f1"] == 2 / 3
    assert (found["specificity"], found["accuracy"]) == (0.0, 0.5)
    assert [one["prediction"] for one in found["predictions"]] == [True, True, True, False, True]
    by_code = run("phonemes", ref, hyp, "--accept", accept, "--match", "code", "--json")
    assert (by_code.document["task_b"]["tp"], by_code.document["task_b"]["fn"]) == (1, 2)
    shown = run("phonemes", ref, hyp, "--accept", accept).out
    assert "precision 0.667" in shown
    assert "1 utterance without a label or a prediction" in shown


def test_task_b_with_the_hypothesis_own_predictions_and_no_transcripts(
    run: Run, write: Write
) -> None:
    ref = write("ref.tsv", "utterance_id\tprompt\tcorrectness", "a\tcat\tTRUE", "b\tcat\tTRUE")
    hyp = write("hyp.tsv", "utterance_id\tprediction", "a\tTRUE", "b\tFALSE")
    found = run("phonemes", ref, hyp, "--json").document
    assert (found["status"], found["utterances"]) == ("undefined", [])
    assert (found["task_b"]["tp"], found["task_b"]["fn"]) == (1, 1)
    assert (found["task_b"]["specificity"], found["task_b"]["precision"]) == (None, 1.0)
    assert "specificity undefined" in run("phonemes", ref, hyp).out


def test_accepted_pronunciations_without_labels_predict_only(run: Run, write: Write) -> None:
    ref = write("ref.tsv", "utterance_id\tprompt\ttranscript", "a\tcat\tK AE T")
    hyp = write("hyp.tsv", "utterance_id\tasr_transcript", "a\tK AE T")
    accept = write("accept.tsv", *ACCEPT)
    found = run("phonemes", ref, hyp, "--accept", accept, "--json").document["task_b"]
    assert (found["compared"], found["accuracy"]) == (0, None)
    assert found["predictions"][0]["prediction"] is True


def test_accepted_pronunciations_of_a_battery_by_target_or_item(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (tmp_path / "dog.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    battery = write(
        "battery.toml",
        "[battery]", 'id = "pictures"', 'title = "Pictures"', 'version = "1"', 'language = "en"',
        'license = "MIT"', 'examinees = ["speaker"]',
        "[[subtest]]", 'id = "nouns"', 'title = "Nouns"', 'response = "naming"',
        "[[subtest.item]]", 'id = "n1"', 'picture = "dog.png"', 'target = "dog"',
        'accept = [{ phonemes = "D AO G", reason = "citation" },'
        ' { phonemes = "dɑɡ", reason = "dialect" }]',
    )  # fmt: skip
    ref = write(
        "ref.tsv", "utterance_id\tprompt\ttranscript\tcorrectness",
        "a\tDog\tD AO G\tTRUE", "b\tn1\tD AA G\tTRUE", "c\tdog\tD AO\tFALSE",
    )  # fmt: skip
    hyp = write("hyp.tsv", "utterance_id\tasr_transcript", "a\tD AO G", "b\tD AA G", "c\tD AO")
    outcome = run("phonemes", ref, hyp, "--accept", battery, "--json")
    found = outcome.document["task_b"]
    assert (found["tp"], found["tn"], found["accuracy"]) == (2, 1, 1.0)


def test_text_of_others_is_no_markup(run: Run, pair: Any) -> None:
    tables = pair(("[red]x[/red]", "D", "D [b] :dog:"))
    shown = run("phonemes", *tables, "--trace").out
    assert "[red]x[/red]" in shown
    assert "[b] 1, :dog: 1" in shown


def test_the_docs_show_what_is_printed(run: Run, pair: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "phonemes.md").read_text(encoding="utf-8")
    example = page.split("--trace\n", 1)[1].split("```", 1)[0]
    tables = pair(("ACWT01a-shove", "OW P UH SH IH NG Y ER", "OW M UH SH IH NG AH"))
    assert run("phonemes", *tables, "--trace").out.startswith(example)


@pytest.mark.parametrize("name", get_args(LabelSetName))
def test_the_docs_name_what_each_set_of_labels_cannot_tell(name: LabelSetName) -> None:
    page = (Path(__file__).parents[2] / "docs" / "phonemes.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    for lost, written in LABEL_SETS[name].merged.items():
        assert f"{lost}, written {written}" in row


def test_draws_the_confusions(run: Run, pair: Any, tmp_path: Path) -> None:
    ref, hyp = pair(("1", "K AE T", "T AE T"), ("2", "D AO G", "D AO G"))
    out = tmp_path / "confusions.svg"
    run("phonemes", ref, hyp, "--figure", out)
    assert "2 utterances" in out.read_text(encoding="utf-8")
    assert str(tmp_path) not in out.read_text(encoding="utf-8")
    run("phonemes", ref, hyp, "--figure", out, status=1, err="already exists")


def test_a_hypothesis_tells_what_was_mapped_and_drops_sounds_of_other_languages(
    run: Run, pair: Any
) -> None:
    ref, hyp = pair(("a", "D AA G", "d ɒ ɡ"), ("b", "B UW K", "b uː x"), ("c", "HH AE T", "h aː t"))
    found = run("phonemes", ref, hyp, "--labels", "espeak-ipa", "--json").document
    assert found["mapped_said"] == {"ɒ=AA": 1}
    assert found["unmapped"] == {"x": 1, "aː": 1}


GERMAN = """[battery]
id = "x"
title = "X"
version = "1"
language = "de"
license = "MIT"
[[subtest]]
id = "s"
title = "S"
response = "free"
[[subtest.item]]
id = "i"
prompt = "Was?"
"""
D = [("a", "D", "D")]


@pytest.mark.parametrize(
    ("rows", "options", "status", "message"),
    [
        ([("a", "D", "D"), ("b", "D AX G", "D")], (), 1, "ref.tsv:3: 'AX' is not a phoneme of"),
        ([("a", "D", "D"), ("a", "D", "D")], (), 1, "ref.tsv: ids occur more than once: a"),
        ([("a", "D", "D " * 5001)], (), 1, "5,001 labels is too long for one utterance"),
        (D, ("--match", "code"), 2, "--match"),
        (D, ("--accept", "accept.tsv"), 1, "accept.tsv: the table cannot be read: No such file"),
        (D, ("--accept", "tab"), 2, "has no naming items"),
        (D, ("--accept", "german.toml"), 2, "not available in de"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    run: Run,
    pair: Any,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[tuple[str, str, str]],
    options: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(write("german.toml", GERMAN).parent)
    run("phonemes", *pair(*rows), *options, status=status, err=message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("cat\tK AX T",), "accept.tsv:2: 'AX' is not a phoneme"),
        (("cat\t",), "accept.tsv:2: '' holds no phoneme"),
        (("\tK",), "accept.tsv:2: 'prompt' is empty"),
        ((), "there is no pronunciation"),
        (ACCEPT[1:2], "ref.tsv:4: no pronunciation is accepted for the prompt 'dog'"),
    ],
)
def test_what_is_wrong_with_accepted_pronunciations(
    run: Run, write: Write, lines: tuple[str, ...], message: str
) -> None:
    accept = write("accept.tsv", ACCEPT[0], *lines)
    run("phonemes", *task_b_tables(write), "--accept", accept, status=1, err=message)
