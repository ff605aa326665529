"""What is exported for inspect_ai and lm-evaluation-harness, read back by these tools and by us."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tabwb_builtin import parquet
from tabwb_interchange.inspect_export import InspectExporter
from tabwb_interchange.inspect_log import InspectLog
from tabwb_interchange.lm_eval import LmEvalExporter, LmEvalSamples

from tabwb.host.plugins import Plugins
from tabwb.media.documents.exporting import export
from tabwb.plugin_api import ComponentError
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Decoding
from tabwb.store.store import Store
from tabwb.testing import check_exporter
from tabwb.testing.checks import document_of
from tests.analysis.test_frame import Made

REAL = Path(__file__).parents[1] / "data" / "interchange" / "lm-eval" / "made__up-7b"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load()
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def document(plugins: Plugins, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """An administration of TAB to ``echo``."""
    whole = document_of(plugins, tmp_path_factory.mktemp("given"))
    plain: Json = json.loads(json.dumps(whole))
    return plain


@pytest.fixture
def eval_log(document: Json, tmp_path: Path) -> Path:
    out = tmp_path / "echo.eval"
    InspectExporter().export(document, out)
    return out


@pytest.fixture
def folder(document: Json, tmp_path: Path) -> Path:
    out = tmp_path / "lm"
    LmEvalExporter().export(document, out)
    return out / "echo"


def answered(document: Json) -> list[Json]:
    return [trial for trial in document["documents"][0]["trials"] if trial["state"] == "answered"]


def test_inspect_reads_its_log(document: Json, eval_log: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    log = log_module.read_eval_log(str(eval_log))
    trials = answered(document)
    given = document["documents"][0]["administration"]
    assert (log.version, log.status) == (2, "success")
    assert (log.eval.task, log.eval.task_version) == ("tab", given["battery_version"])
    assert (log.eval.model, log.eval.eval_id) == ("echo", given["uid"])
    assert log.eval.model_generate_config.temperature == 0
    assert log.eval.metadata["tabwb_version"] == given["versions"]["tabwb"]
    assert len(log.samples) == log.results.completed_samples == len(trials) == 20
    by_item = {sample.metadata["item"]: sample for sample in log.samples}
    for trial in trials:
        sample = by_item[trial["item"]]
        assert (sample.epoch, sample.target) == (1, trial["expected"] or "")
        assert [turn.role for turn in sample.input] == ["system", "user"]
        assert [turn.content for turn in sample.input] == [
            turn["content"] for turn in trial["messages"]
        ]
        assert sample.input[-1].content == trial["prompt"]
        assert sample.output.completion == trial["response"]
        assert sample.messages[-1].content == trial["response"]
        assert sample.choices == (trial["options"] or None)
        for rating in trial["ratings"]:
            score = sample.scores[rating["rater"]]
            assert score.value[rating["measure"]] == rating["value"]
            if rating["reason"]:
                assert f"{rating['measure']}: {rating['reason']}" in score.explanation
    usage = log.stats.model_usage["echo"]
    assert usage.input_tokens == sum(trial["reply"]["prompt_tokens"] for trial in trials)
    one = log.samples[7]
    assert log_module.read_eval_log_sample(str(eval_log), id=one.id, epoch=1).uuid == one.uuid
    summaries = log_module.read_eval_log_sample_summaries(str(eval_log))
    assert [summary.uuid for summary in summaries] == [
        sample.uuid for sample in sorted(log.samples, key=lambda s: _place(summaries, s))
    ]


def _place(summaries: list[Any], sample: Any) -> int:
    return [summary.id for summary in summaries].index(sample.id)


def test_inspect_keeps_what_we_wrote(eval_log: Path, tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    pytest.importorskip("zstandard")
    log = log_module.read_eval_log(str(eval_log))
    ours = InspectLog().read(eval_log, {}).answers
    for name in ("again.eval", "again.json"):
        log_module.write_eval_log(log, str(tmp_path / name))
        again = InspectLog().read(tmp_path / name, {}).answers
        key = {answer.item: answer for answer in again}
        for answer in ours:
            read = key[answer.item]
            assert (read.text, read.run, read.metadata) == (
                answer.text,
                answer.run,
                answer.metadata,
            )


def test_means_are_those_of_the_samples(document: Json, eval_log: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log")
    log = log_module.read_eval_log(str(eval_log), header_only=True)
    (exact,) = (s for s in log.results.scores if (s.scorer, s.name) == ("choice", "exact"))
    values = [
        rating["value"]
        for trial in answered(document)
        for rating in trial["ratings"]
        if (rating["rater"], rating["measure"]) == ("choice", "exact")
    ]
    assert (exact.scored_samples, exact.unscored_samples) == (len(values), 0)
    assert exact.metrics["mean"].value == pytest.approx(sum(values) / len(values))


def test_a_file_holds_one_administration_and_a_folder_several(
    document: Json, tmp_path: Path
) -> None:
    two = {"format": 1, "documents": [*document["documents"], *document["documents"]]}
    with pytest.raises(ComponentError, match=r"a \.eval file holds one administration"):
        InspectExporter().export(two, tmp_path / "two.eval")
    assert not list(tmp_path.glob("two*"))
    InspectExporter().export(document, tmp_path / "logs")
    names = sorted(path.suffix for path in (tmp_path / "logs").iterdir())
    assert names == [".eval", ".txt"]


def test_the_files_of_lm_eval(document: Json, folder: Path) -> None:
    (results,) = folder.glob("results_*.json")
    date = results.stem.removeprefix("results_")
    tasks = {path.name for path in folder.glob("samples_*")}
    subtests = ("connected-text", "repetition", "sentence-comprehension", "word-comprehension")
    assert tasks == {f"samples_{subtest}_{date}.jsonl" for subtest in subtests}
    whole = json.loads(results.read_text(encoding="utf-8"))
    real = json.loads(next(REAL.glob("results_*.json")).read_text(encoding="utf-8"))
    # Everything that the tool's own file has, but for facts of its libraries.
    assert set(real) - set(whole) <= {"transformers_version", "upper_git_hash"}
    assert set(whole) - set(real) == {"tabwb", "tabwb_version"}
    assert whole["model_name"] == "echo"
    assert whole["n-samples"]["repetition"] == {"original": 5, "effective": 5}
    lines = (folder / f"samples_word-comprehension_{date}.jsonl").read_text(encoding="utf-8")
    first = json.loads(lines.splitlines()[0])
    own = json.loads(next(REAL.glob("samples_tab_gen_*")).read_text().splitlines()[0])
    assert set(own) - set(first) == {"exact_match"}
    trial = next(t for t in answered(document) if t["subtest"] == "word-comprehension")
    assert first["arguments"]["gen_args_0"]["arg_1"]["max_gen_toks"] == 64
    assert (first["resps"], first["filtered_resps"]) == ([[trial["response"]]], [trial["response"]])
    assert first["target"] == trial["expected"]
    assert {"exact", "normalised", "extracted"} <= set(first["metrics"])
    values = [json.loads(line)["exact"] for line in lines.splitlines()]
    assert whole["results"]["word-comprehension"]["exact,none"] == sum(values) / len(values)


def test_lm_eval_finds_its_files_and_makes_its_table(folder: Path) -> None:
    pytest.importorskip("pytablewriter")
    utils = pytest.importorskip("lm_eval.utils")
    files = [str(path) for path in folder.iterdir()]
    (results,) = utils.get_results_filenames(files)
    found = utils.get_sample_results_filenames(files)
    dates = {utils.get_file_datetime(name.rpartition("/")[2]) for name in found}
    assert {utils.get_file_task_name(name.rpartition("/")[2]) for name in found} == {
        "connected-text", "repetition", "sentence-comprehension", "word-comprehension",
    }  # fmt: skip
    assert utils.get_file_datetime(results.rpartition("/")[2]) == f"{next(iter(dates))}.json"
    assert utils.sanitize_model_name("a/b") == "a__b"
    table = utils.make_table(json.loads(Path(results).read_text(encoding="utf-8")))
    assert "|repetition" in table
    assert "normalised" in table


@pytest.mark.parametrize("format_id", ["inspect", "lm-eval"])
def test_conformance(plugins: Plugins, document: Json, format_id: str) -> None:
    check_exporter(format_id, plugins=plugins, document=document)


def test_our_importers_read_our_exports(document: Json, eval_log: Path, folder: Path) -> None:
    trials = {trial["item"]: trial for trial in answered(document)}
    for read in (InspectLog().read(eval_log, {}), LmEvalSamples().read(folder, {})):
        assert {answer.item for answer in read.answers} == set(trials)
        assert len({answer.run for answer in read.answers}) == 1
        for answer in read.answers:
            trial = trials[answer.item]
            assert answer.text == trial["response"]
            assert answer.metadata == trial["attempts"][0]["metadata"]
            assert answer.stop_reason == trial["stop_reason"]
            assert answer.latency_s == trial["latency_s"]


def test_options_that_were_weighed_are_a_multiple_choice_document(
    document: Json, tmp_path: Path
) -> None:
    whole = json.loads(json.dumps(document))
    trial = next(t for t in answered(whole) if t["subtest"] == "word-comprehension")
    weighed = {option: -float(at) - 0.5 for at, option in enumerate(trial["options"])}
    trial["reply"]["option_log_probabilities"] = weighed
    LmEvalExporter().export(whole, tmp_path / "lm")
    (file,) = (tmp_path / "lm").rglob("samples_word-comprehension_*")
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    own = json.loads(next(REAL.glob("samples_tab_mc_*")).read_text().splitlines()[0])
    assert [r["arg_1"] for r in first["arguments"].values()] == [
        r["arg_1"] for r in own["arguments"].values()
    ]
    assert first["resps"][0] == [["-0.5", "None"]]
    assert first["filtered_resps"][1] == ["-1.5", "None"]


ODD = "openai:org/m:1b@base_url=http://localhost:1/v1"
NAMES = (ODD, "echo", "transformers:Mödel x")


class Models(Made):
    """Administrations of models, two of one conditions, with names that no folder can have."""

    names = cycle(NAMES)

    def conditions(self) -> Conditions:
        return Conditions(next(self.names), "model", decoding=Decoding(temperature=1.0))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("store") / "s.db") as opened:
        made = Models(opened, 21)
        for _ in range(9):
            made.administration()
        yield opened


def written(store: Store, plugins: Plugins, options: str, out: Path) -> Path:
    export(store, plugins, (), f"parquet{options}", out, within_study=True)
    return out


@pytest.mark.parametrize(("wide", "sums"), [("false", "value"), ("true", "rules-2 burden")])
def test_partitions_hold_the_rows_of_one_file(
    store: Store, plugins: Plugins, tmp_path: Path, wide: str, sums: str
) -> None:
    one = pq.read_table(written(store, plugins, f"@wide={wide}", tmp_path / "one.parquet"))
    options = f"@wide={wide},partition_by=model+subtest"
    folder = written(store, plugins, options, tmp_path / "folder")
    everything = f"{folder}/**/*.parquet"
    relation = duckdb.sql(
        f"""SELECT model, subtest, count(*), sum("{sums}")
        FROM read_parquet('{everything}', hive_partitioning = true) GROUP BY ALL"""
    )
    scanned = pl.scan_parquet(folder, hive_partitioning=True)
    by_polars = scanned.group_by("model", "subtest").agg(pl.len(), pl.col(sums).sum().alias("s"))
    dataset = ds.dataset(folder, partitioning="hive").to_table(["model", "subtest", sums])
    read = {
        "duckdb": relation.fetchall(),
        "polars": by_polars.collect().rows(),
        "pyarrow": _summed(dataset, sums),
        "one file": _summed(one, sums),
    }
    expected = sorted(read["one file"])
    assert {model for model, *_ in expected} == set(NAMES)
    for name, rows in read.items():
        for row, other in zip(sorted(rows), expected, strict=True):
            assert row[:3] == other[:3], name
            assert math.isclose(row[3] or 0, other[3] or 0), name
    assert sum(row[2] for row in expected) == one.num_rows


def _summed(table: pa.Table, sums: str) -> list[tuple[Any, ...]]:
    grouped = table.group_by(["model", "subtest"]).aggregate([([], "count_all"), (sums, "sum")])
    order = ["model", "subtest", "count_all", f"{sums}_sum"]
    return [tuple(row.values()) for row in grouped.select(order).to_pylist()]


def test_the_wide_table_has_the_values_of_the_long_one(
    store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    long = pq.read_table(written(store, plugins, "", tmp_path / "long.parquet"))
    wide = pq.read_table(written(store, plugins, "@wide=true", tmp_path / "wide.parquet"))
    values = {
        (row["administration"], row["trial_number"], f"{row['rater']} {row['measure']}"): row[
            "value"
        ]
        for row in long.to_pylist()
        if row["rater"] is not None
    }
    measures = {name for _, _, name in values}
    assert measures < set(wide.column_names)
    for row in wide.to_pylist():
        for name in measures:
            key = row["administration"], row["trial_number"], name
            assert row[name] == values.get(key), key
    assert wide.schema.field("rules-2 burden").type == pa.int64()
    assert wide.schema.field("rules-2 burden").metadata[b"unit"] == b"features"


def test_closed_files_are_continued_in_another_part(
    store: Store, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "OPEN", 2)
    folder = written(store, plugins, "@wide=true,partition_by=subtest", tmp_path / "folder")
    assert len(list(folder.rglob("part-1.parquet"))) > 1
    one = pq.read_table(written(store, plugins, "@wide=true", tmp_path / "one.parquet"))
    assert ds.dataset(folder, partitioning="hive").count_rows() == one.num_rows


def test_folders_are_private_and_described_beside(
    store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    folder = written(store, plugins, "@partition_by=model", tmp_path / "folder")
    assert {path.name for path in folder.iterdir()} == {
        f"model={quote(name, safe='')}" for name in NAMES
    }
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".parquet"}
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
    beside = {path.name for path in tmp_path.iterdir() if path.name != "tabwb-data"}
    assert beside == {"folder", "folder.README.txt", "folder.datapackage.json"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("partition_by=modell", "did you mean 'model'"),
        ("partition_by=value", "cannot be partitioned by 'value'"),
        ("partition_by=model+model", "named twice"),
        ("partition_by=battery_hash", "too long for the name of a folder"),
    ],
)
def test_what_cannot_be_a_folder_is_refused(
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: str,
    problem: str,
) -> None:
    monkeypatch.setattr(parquet, "LONGEST", 60)
    with pytest.raises(TabwbError) as raised:
        written(store, plugins, f"@{options}", tmp_path / "folder")
    assert problem in str(raised.value)
    assert not list(tmp_path.glob("*folder*"))
