"""``tabwb psst split``: the search against brute force, and the report against own sums."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from tabwb_psst import partition
from tabwb_psst.corpus import SPLITS, read_corpus
from tabwb_psst.made import made_psst, write_table
from tabwb_psst.partition import Times, divergence, search

import tabwb
from tabwb.cli.main import main
from tabwb.records.speakers import AQ

AIMS = (0.7, 0.1, 0.2)
PAPER = np.array([[0.85, 1.39, 0.33, 0.03], [0.11, 0.20, 0.04, 0.00], [0.17, 0.32, 0.08, 0.02]])
"""Hours by split and severity: table 7 of the paper."""
SHARES = np.array([[328, 534, 125, 10], [315, 563, 121, 0], [282, 550, 139, 26]]) / 1_000
"""Their shares in the split, as the same table prints them."""


def made_seconds(speakers: int, seed: int) -> Times:
    """Return seconds of speakers in two tests of one of four bands: shape (speakers, 8)."""
    random = np.random.default_rng(seed)
    seconds = np.zeros((speakers, 4, 2))
    bands = random.choice(4, speakers, p=(0.42, 0.45, 0.11, 0.02))
    own = random.gamma(3, 40, (speakers, 1)) * random.dirichlet((2, 2), speakers)
    seconds[np.arange(speakers), bands] = own
    made: Times = seconds.reshape(speakers, 8)
    return made[:, made.sum(0) > 0]


def by_hand(seconds: Times, places: tuple[int, ...], splits: int = 3) -> float:
    """Return the mean divergence by the formula, one term after the other."""
    whole = seconds.sum(0) / seconds.sum()
    found = []
    for split in range(splits):
        own = sum(row for row, place in zip(seconds, places, strict=True) if place == split)
        shares = own / np.sum(own)
        found.append(sum(p * math.log(p / q) for p, q in zip(shares, whole, strict=True) if p > 0))
    return float(sum(found)) / splits


def best_of_all(seconds: Times, aims: tuple[float, ...]) -> float:
    """Return the least divergence of all assignments within the tolerance, where there are any."""
    share = seconds.sum(1) / seconds.sum()
    found: list[tuple[float, float]] = []
    for places in itertools.product(range(len(aims)), repeat=len(seconds)):
        if set(places) == set(range(len(aims))):
            sums = np.bincount(places, share)
            over = max(np.abs(sums - aims).max() - share.max() - 1e-9, 0.0)
            found.append((over, by_hand(seconds, places, len(aims))))
    return min(found)[1]


def test_divergence_of_the_published_split() -> None:
    hours = float(divergence(PAPER))
    assert hours == pytest.approx(by_hand(_apart(PAPER), _rows(PAPER)))
    # The paper says about 0.007; shares and hours (table 1) may be any that are printed so.
    random = np.random.default_rng(0)
    shares = SHARES + random.uniform(-0.0005, 0.0005, (5_000, 3, 4)) * (SHARES > 0)
    of_splits = np.array([[2.59], [0.36], [0.59]]) + random.uniform(-0.005, 0.005, (5_000, 3, 1))
    within = divergence(shares / shares.sum(-1, keepdims=True) * of_splits)
    assert 0.0070 < within.min() < within.max() < 0.0077
    assert math.isinf(float(divergence(np.array([[1.0, 0.0], [0.0, 0.0]]))))


def _apart(hours: Times) -> Times:
    """Return one speaker for each cell."""
    apart: Times = np.zeros((hours.size, hours.shape[1]))
    for place, value in enumerate(hours.flat):
        apart[place, place % hours.shape[1]] = value
    return apart


def _rows(hours: Times) -> tuple[int, ...]:
    return tuple(place // hours.shape[1] for place in range(hours.size))


@pytest.mark.parametrize("speakers", [3, 4, 5, 6, 7])
def test_small_corpora_have_the_best_of_all_assignments(speakers: int) -> None:
    for seed in range(3):
        seconds = made_seconds(speakers, seed)
        found = search(seconds, AIMS, candidates=1, seed=seed)
        assert found.method == "all" and found.tried == 3**speakers
        assert found.divergence == pytest.approx(best_of_all(seconds, AIMS), abs=1e-6)
        assert found.divergence == pytest.approx(by_hand(seconds, tuple(found.places)), abs=1e-6)


def test_candidates_and_improvement_reach_the_best_of_eight_speakers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition, "ALL_UP_TO", 0)
    for seed in range(3):
        seconds = made_seconds(8, seed)
        found = search(seconds, (0.5, 0.2, 0.3), candidates=1_000, seed=seed)
        assert found.method == "improved"
        assert found.divergence == pytest.approx(best_of_all(seconds, (0.5, 0.2, 0.3)), abs=1e-6)


def test_no_move_and_no_swap_makes_the_found_split_better() -> None:
    seconds = made_seconds(40, 1)
    found = search(seconds, AIMS, candidates=200, seed=3)
    assert found.random is not None and found.divergence < found.random
    share = seconds.sum(1) / seconds.sum()
    neighbours = [
        (*found.places[:one], split, *found.places[one + 1 :])
        for one in range(40)
        for split in range(3)
    ]
    for one, other in itertools.combinations(range(40), 2):
        swapped = found.places.copy()
        swapped[[one, other]] = swapped[[other, one]]
        neighbours.append(tuple(swapped))
    for places in neighbours:
        off = np.abs(np.bincount(places, share, 3) - AIMS).max()
        if off <= share.max() and set(places) == {0, 1, 2}:
            assert by_hand(seconds, places) > found.divergence - 1e-6


def test_random_search_is_that_of_the_paper_and_of_its_seed() -> None:
    seconds = made_seconds(107, 2)
    few = search(seconds, AIMS, candidates=50, seed=1, improve=False)
    many = search(seconds, AIMS, candidates=3_000, seed=1, improve=False)
    assert few.method == "random" and few.divergence == few.random
    assert many.divergence <= few.divergence
    again = search(seconds, AIMS, candidates=50, seed=1, improve=False)
    assert (few.places == again.places).all()
    share = seconds.sum(1) / seconds.sum()
    assert np.abs(np.bincount(many.places, share) - AIMS).max() <= share.max()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_psst(tmp_path_factory.mktemp("psst"), speakers=24, utterances=240, sounds=False)


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABWB_STORE", str(tmp_path / "store.db"))


def test_report_equals_sums_over_the_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "split.tsv"
    words = ["psst", "split", str(folder), "--by", "severity,test", "--seed", "4"]
    assert main([*words, "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["divergence"] < document["divergence_random"]
    split_of = {one["speaker"]: one["split"] for one in document["speakers"]}
    with out.open(encoding="utf-8") as file:
        assert {
            row["speaker"]: row["split"] for row in csv.DictReader(file, delimiter="\t")
        } == split_of
    utterances = read_corpus(folder).utterances
    assert set(split_of) == {one.speaker for one in utterances}
    hours: defaultdict[tuple[str, ...], float] = defaultdict(float)
    segments: defaultdict[tuple[str, ...], int] = defaultdict(int)
    people: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in utterances:
        split = split_of[one.speaker]
        for cell in ((split, "all", "all"), (split, AQ.band(one.aq or 0), one.test)):
            hours[cell] += one.frames / 16_000 / 3600
            segments[cell] += 1
            people[cell].add(one.speaker)
    (table,) = document["tables"]
    seen = 0
    for row in table["rows"]:
        cell = (row["split"], row["severity"], row["test"])
        of = (row["split"], "all", "all")
        whole = sum(hours[split, "all", "all"] for split in SPLITS)
        assert row["hours"] == pytest.approx(hours[cell])
        assert row["hours_share"] == pytest.approx(
            hours[cell] / (whole if cell == of else hours[of])
        )
        assert (row["segments"], row["speakers"]) == (segments[cell], len(people[cell]))
        seen += row["segments"]
    assert seen == 2 * len(utterances)
    assert main([*words, "--out", str(out)]) == 1
    assert main([*words, "--out", str(out), "--force", "--format", "latex"]) == 0


def test_speakers_without_an_aphasia_quotient_are_a_stratum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place, split in enumerate(SPLITS):
        rows = [
            (f"S{place}{n}-BNT01-dog", f"S{place}{n}", "BNT-SF", "dog", "D AO G", "TRUE",
             "" if n == 0 else 80, 16_000, "x.wav")
            for n in range(4)
        ]  # fmt: skip
        write_table(tmp_path / split / "utterances.tsv", rows)
    assert (
        main(["psst", "split", str(tmp_path), "--aim", "50,25,25", "--candidates", "50", "--json"])
        == 0
    )
    document = json.loads(capsys.readouterr().out)
    rows = document["tables"][0]["rows"]
    assert [row["severity"] for row in rows[:3]] == ["all", "mild", "not recorded"]
    assert sum(row["speakers"] for row in rows if row["severity"] == "not recorded") == 3
    assert document["divergence_before"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "words",
    [
        ["--aim", "70,10"], ["--aim", "70,10,30"], ["--aim", "100,0,0"], ["--aim", "a,b,c"],
        ["--aim", "-10,60,50"], ["--by", "sites"], ["--by", "split"], ["--by", ""],
        ["--candidates", "0"],
        ["--record"], ["--where", "site=A"],
    ],
)  # fmt: skip
def test_values_that_cannot_be_used(folder: Path, words: list[str]) -> None:
    assert main(["psst", "split", str(folder), *words]) == 2


def test_fewer_speakers_than_splits(tmp_path: Path) -> None:
    row = ("S1-BNT01-dog", "S1", "BNT-SF", "dog", "D AO G", "TRUE", 80, 16_000, "x.wav")
    write_table(tmp_path / "train" / "utterances.tsv", [row])
    assert main(["psst", "split", str(tmp_path)]) == 2
    write_table(tmp_path / "test" / "utterances.tsv", [("S2-BNT01-dog", "S2", *row[2:])])
    assert main(["psst", "split", str(tmp_path)]) == 2
    assert main(["psst", "split", str(tmp_path), "--aim", "60,0,40"]) == 0


def test_what_is_no_corpus_and_an_empty_store(tmp_path: Path) -> None:
    assert main(["psst", "split", str(tmp_path)]) == 2
    assert main(["psst", "split"]) != 0


def test_what_is_stored_is_split_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = made_psst(tmp_path / "psst", speakers=6, utterances=18, sounds=False)
    assert main(["import", "psst", str(root)]) == 0
    aims = ["--aim", "50,25,25"]
    capsys.readouterr()
    assert main(["psst", "split", str(root), *aims, "--json"]) == 0
    of_folder = json.loads(capsys.readouterr().out)
    out = tmp_path / "split.tsv"
    assert main(["psst", "split", *aims, "--record", "group", "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["speakers"] == of_folder["speakers"]
    assert document["divergence"] == pytest.approx(of_folder["divergence"], abs=1e-6)
    split_of = {one["speaker"]: one["split"] for one in document["speakers"]}
    with tabwb.open(tmp_path / "store.db") as study:
        records = {one.id: one for one in study.store.people.speakers()}
        assert {one: records[one].values["group"] for one in split_of} == split_of
        # The corpus' own split stays, the earlier versions too, and nobody is registered by it.
        assert all({"split", "AQ"} <= set(one.values) for one in records.values())
        assert all(one.is_imported and one.version == 2 for one in records.values())
    assert main(["psst", "split", *aims, "--record", "group"]) == 0
    assert main(["psst", "split", "--aim", "10,10,80", "--record", "group"]) == 2
    assert main(["psst", "split", *aims, "--record", "AQ"]) == 2
    assert main(["psst", "split", "--aim", "10,10,80", "--record", "group", "--force"]) == 0
    with tabwb.open(tmp_path / "store.db") as study:
        assert max(one.version for one in study.store.people.speakers()) == 3
    capsys.readouterr()
    assert main(["psst", "split", *aims, "--where", "AQ<50", "--json"]) in (0, 2)
