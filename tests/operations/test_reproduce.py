"""``tabwb reproduce``: papers are computed again, without their data and on made data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.analysis.ledger import CANNOT, DIFFERS, REPRODUCED, STAND_IN
from tabwb.operations.reproduce import PAPERS, papers
from tests.builders import DATA, needs
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

SMALLER = {
    "speakers = 40, utterances = 800": "speakers = 20, utterances = 160",
    "speakers = 9, utterances = 90": "speakers = 9, utterances = 45",
    "replicates = 4": "replicates = 1",
}
"""Sizes of made data, and smaller ones that have every value too."""


def values_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return next(one["rows"] for one in document["tables"] if one["name"] == "ledger")


def test_papers_are_listed(run: Run) -> None:  # noqa: F811
    found = run("reproduce", "--json").document["papers"]
    assert [one["id"] for one in found] == ["psst-2022", "tab-2025", "tab-2026"]


def test_what_follows_from_the_paper_is_computed_without_data(run: Run) -> None:  # noqa: F811
    document = run("reproduce", "psst-2022", "--cells", "--json").document
    found = {
        (one["at"], one["row"], one["column"]): one
        for one in reversed(values_of(document))  # of two ways the first, by printed values
    }
    listed = run("reproduce", "--json").document["papers"]
    assert document["values"] == len(found) == listed[0]["values"]
    assert found["Figure 1", "FER", "value"]["status"] == REPRODUCED
    assert found["section 3", "utterances", "value"]["ours"] == "3,122"
    assert found["section 4", "Y5, FER", "value"]["status"] == DIFFERS
    assert found["Table 2", "Y1", "per"]["status"] == CANNOT
    differ = [one["at"] for one in values_of(document) if one["status"] == DIFFERS]
    assert len(differ) == document["counts"][DIFFERS] == 18
    assert differ.count("Table 2, data") == 11  # hours of train, which table 1 has otherwise
    assert differ.count("Table 3") == 1  # the rate of Y7 is not that of table 2


def test_printed_tables_equal_the_oracle(run: Run) -> None:  # noqa: F811
    oracle = json.loads((DATA / "psst.json").read_text(encoding="utf-8"))
    (entry,) = [one for one in papers()["psst-2022"].entry if one.at == "Table 6"]
    assert dict(entry.rows) == {
        phoneme: " ".join(of[name] for name in oracle["features"])
        for phoneme, of in oracle["feature_table"].items()
    }
    gold, baseline = oracle["classification"]
    entries = {one.at: one for one in papers()["psst-2022"].entry}
    for at, row, counts in (
        ("Table 3, gold transcripts", "PSST-Gold", gold), ("Table 3", "PSST-A", baseline)
    ):  # fmt: skip
        (cells,) = [one for name, *one in entries[at].rows if name == row]
        names = entries[at].columns[:4]
        assert [float(cell) for cell in cells[:4]] == [round(counts[name], 3) for name in names]


@pytest.mark.torch
@pytest.mark.parametrize("paper", ["tab-2026", "psst-2022"])
def test_every_value_with_a_step_is_computed_on_stand_in_data(
    run: Run, tmp_path: Path, paper: str  # noqa: F811
) -> None:  # fmt: skip
    needs("soundfile", "sklearn", "torch")
    ledger = (PAPERS / f"{paper}.toml").read_text(encoding="utf-8")
    for size, smaller in SMALLER.items():
        ledger = ledger.replace(size, smaller)
    (tmp_path / "paper.toml").write_text(ledger, encoding="utf-8")
    asked = ("reproduce", tmp_path / "paper.toml", "--stand-in", "--cells", "--json")
    words = (*asked, "--work", tmp_path / "work")
    document = run(*words).document
    assert document["failed"] == []
    file = papers()[paper]
    with_step = {
        (entry.at, row, column)
        for entry in file.entry if entry.step
        for row, *cells in entry.rows
        for column, cell in zip(entry.columns, cells, strict=True)
        if cell and column in entry.found
        and (entry.found[column] != "{row}" or row in entry.names)
    }  # fmt: skip
    by_place = {
        (one["at"], one["row"], one["column"]): one["status"]
        for one in values_of(document)
        if not (one["by"] or "").startswith("the printed values")
    }
    assert {by_place[place] for place in with_step} <= {STAND_IN, REPRODUCED, DIFFERS}
    needy = {one.id for one in file.step if one.needs}
    assert {
        by_place[place] for place in with_step
        if next(one for one in file.entry if one.at == place[0]).step in needy
    } == {STAND_IN}  # fmt: skip
    assert run(*words).document == document  # from the documents of finished steps


@pytest.mark.torch
def test_lesions_are_given_on_stand_in_data(run: Run) -> None:  # noqa: F811
    needs("torch")
    document = run(
        "reproduce", "artificial-aphasias-2025", "--stand-in", "--cells", "--json"
    ).document
    lesions = [one for one in values_of(document) if one["at"] == "section 6.1, lesions"]
    assert Counter(one["status"] for one in lesions) == {STAND_IN: 8}


def test_a_ledger_of_a_laboratory(run: Run, tmp_path: Path) -> None:  # noqa: F811
    ledger = tmp_path / "ours.toml"
    ledger.write_text(
        """
[paper]
id = "ours"
title = "Ours"
citation = "Us"
[[data]]
id = "transcripts"
title = "Transcripts"
source = "us"
[[step]]
id = "rates"
run = "phonemes"
needs = ["transcripts"]
values = { reference = "{transcripts}/ref.tsv", hypothesis = "{transcripts}/hyp.tsv" }
[[entry]]
at = "Table 1"
title = "Rates"
columns = ["per"]
rows = [["ours", "33.3 %"]]
step = "rates"
found = { per = "per" }
""",
        encoding="utf-8",
    )
    (tmp_path / "ref.tsv").write_text("utterance_id\ttranscript\na\tK AE T\n", encoding="utf-8")
    (tmp_path / "hyp.tsv").write_text("utterance_id\tasr_transcript\na\tK AE P\n", encoding="utf-8")
    given = tabwb.reproduce(ledger, data={"transcripts": tmp_path}, cells=True)
    assert given["counts"][REPRODUCED] == 1
    command = run("reproduce", ledger, "--data", f"transcripts={tmp_path}", "--json").document
    assert command["counts"] == given["counts"]
    work = ("--data", f"transcripts={tmp_path}", "--work", tmp_path / "work", "--json")
    for damaged in ("{", "[]", '{"values": 1}'):
        run("reproduce", ledger, *work)
        (tmp_path / "work" / "rates.json").write_text(damaged, encoding="utf-8")
    assert run("reproduce", ledger, *work).document["counts"] == given["counts"]
    (tmp_path / "hyp.tsv").write_text("utterance_id\nasr_transcript\n", encoding="utf-8")
    failed = run("reproduce", ledger, "--data", f"transcripts={tmp_path}", "--json", status=1)
    assert failed.document["failed"] == ["rates"]
    run("reproduce", ledger, "--data", "transcript=/", status=2)
    text = ledger.read_text(encoding="utf-8")
    for old, new in (
        ("reference =", "referenz ="), ('"phonemes"', '"phonem"'),
        ('"{transcripts}/ref.tsv"', "[1]"), ("values = { ", 'values = { missing = "x", '),
    ):  # fmt: skip
        ledger.write_text(text.replace(old, new), encoding="utf-8")
        failed = run("reproduce", ledger, "--data", f"transcripts={tmp_path}", "--json", status=1)
        assert failed.document["counts"][CANNOT] == 1


def test_made_data_of_another_seed_are_others(run: Run, tmp_path: Path) -> None:  # noqa: F811
    ledger, work = tmp_path / "ours.toml", tmp_path / "work"
    ledger.write_text(
        """
[paper]
id = "ours"
title = "Ours"
citation = "Us"
[[data]]
id = "corpus"
title = "A corpus"
source = "us"
stand_in = "psst made"
stand_in_values = { speakers = 3, utterances = 6, sounds = false }
[[step]]
id = "split"
run = "psst split"
needs = ["corpus"]
values = { corpus = "{corpus}" }
[[entry]]
at = "Table 1"
title = "Split"
columns = ["n"]
rows = [["train", "1"]]
step = "split"
found = { n = "seed" }
""",
        encoding="utf-8",
    )
    words = ("reproduce", ledger, "--stand-in", "--work", work, "--json", "--seed")
    half = work / "stand-in-1" / "corpus.part"
    half.mkdir(parents=True)  # left by a run that was killed
    (half / "correctness.json").write_text("{", encoding="utf-8")
    for seed in (1, 2):
        assert run(*words, seed).document["failed"] == []
    tables = [
        (work / f"stand-in-{seed}" / "corpus/train/utterances.tsv").read_bytes() for seed in (1, 2)
    ]
    assert tables[0] != tables[1]
    assert not half.exists()
    assert (work / "stand-in-1" / "split.json").exists()
