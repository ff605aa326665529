"""``tabwb.open``: tables of a store, comparison, judging, exports, files and consent."""

from __future__ import annotations

import csv
import json
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pyarrow.parquet
import pytest
from tabwb_builtin.columns import TABLE

import tabwb
from docs import execute_notebook
from tabwb.administer.session import setup
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.store.store import Store
from tabwb.tables.table import table_of
from tests.builders import at_home
from tests.cli.conftest import Run
from tests.conftest import BATTERY

GOOD = {"barks": "dog", "swims": "fish", "house": "house."}
RIGHT = ("dog", "fish", "house.")
POOR = {"barks": "Dog", "swims": "wall", "house": "mouse."}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two made-up models; the good one sampled and given twice."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "battery.toml").write_text(BATTERY, encoding="utf-8")
    for name, answers, more in (
        ("good", GOOD, {"temperature": 0.5, "replicates": 2}),
        ("poor", POOR, {}),
    ):

        def answer(prompt: str, answers: dict[str, str] = answers) -> str:
            return next(text for word, text in answers.items() if word in prompt)

        given: dict[str, Any] = {"name": name, "judges": [], "store": folder / "s.db", **more}
        with at_home(folder):
            tabwb.run(folder / "battery.toml", answer, **given)
    return folder / "s.db"


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Iterator[tabwb.Study]:
    shutil.copy(made, tmp_path)
    with tabwb.open(tmp_path / "s.db") as opened:
        yield opened


def person_answers(place: Path, battery_file: Path, answers: Sequence[str], **more: Any) -> None:
    """Give a person the battery, who types these answers to its first items."""
    plugins = Plugins.load()
    with Store.open(place) as store:
        battery = setup.find_battery(plugins, str(battery_file))
        given = Conditions("S-014", "speaker", judges=(), **more)
        with setup.create(store, plugins, battery, given) as session:
            for text in answers:
                session.next()
                session.answer(text)
    plugins.close()


def test_administrations_have_every_condition(study: tabwb.Study) -> None:
    table = study.administrations()
    rows = table.to_dicts()
    assert [row["examinee"] for row in rows] == ["python:good", "python:poor"]
    assert [(row["temperature"], row["replicates"], row["answered"]) for row in rows] == [
        (0.5, 2, 6), (None, 1, 3)  # the second does not say how it decodes
    ]  # fmt: skip
    assert study.administrations(where={"model": "poor"})["id"].to_list() == [2]
    assert study.administrations(where="temperature>0")["id"].to_list() == [1]


def test_responses_have_conditions_items_and_scores(study: tabwb.Study) -> None:
    table = study.responses(where={"model": "poor"})
    columns = ("item", "response", "exact", "normalised", "extracted", "expected", "words")
    assert list(table.select(columns).rows()) == [
        ("w1", "Dog", False, True, True, "dog", 1),
        ("w2", "wall", False, False, False, "fish", 1),
        ("s1", "mouse.", False, False, False, "house.", 1),
    ]
    first = table.to_dicts()[0]
    assert first["prompt"] == "Which one barks? (dog, tree, cup)"
    assert first["options"] == ("dog", "tree", "cup")
    assert first["usable"] is True and first["latency_s"] >= 0 and first["kind"] == "model"


def test_responses_agree_with_the_document(study: tabwb.Study) -> None:
    table = study.responses()
    for number in (1, 2):
        rows = table.where(id=number).to_dicts()
        trials = study.document(number)["trials"]
        assert len(rows) == len(trials)
        for row, trial in zip(rows, trials, strict=True):
            for column, key in (
                ("trial_number", "number"), ("subtest", "subtest"), ("item", "item"),
                ("replicate", "replicate"), ("prompt", "prompt"), ("response", "response"),
                ("trial_status", "status"), ("effective_status", "effective_status"),
                ("usable", "usable"), ("stop_reason", "stop_reason"), ("latency_s", "latency_s"),
                ("expected", "expected"),
            ):  # fmt: skip
                assert row[column] == trial[key], column
            assert list(row["options"] or ()) == trial["options"]
            verdicts = {
                rating["measure"]: rating["value"]
                for rating in trial["ratings"]
                if rating["rater"] in ("choice", "repetition")
            }
            for policy in ("exact", "normalised", "extracted"):
                assert float(row[policy]) == verdicts[policy]


def test_equal_greedy_responses_are_duplicates(study: tabwb.Study, battery_file: Path) -> None:
    def answer(prompt: str) -> str:
        return "dog"

    with pytest.warns(tabwb.TabwbWarning):
        tabwb.run(battery_file, answer, replicates=2, judges=[], store=study.location)
    rows = study.responses(3)
    assert sorted(zip(rows["replicate"].to_list(), rows["duplicate"].to_list(), strict=True)) == [
        (0, False), (0, False), (0, False), (1, True), (1, True), (1, True)
    ]  # fmt: skip


def test_subtests_items_and_filters_choose_responses(study: tabwb.Study) -> None:
    assert set(study.responses(subtests="saying")["item"].to_list()) == {"s1"}
    assert len(study.responses(items="words/w1")) == 3
    assert len(study.ratings(2, items="w1")) == 3
    with pytest.raises(tabwb.UsageError, match="w9"):
        study.responses(items="w9")


def test_ratings_have_values_and_reasons(study: tabwb.Study) -> None:
    table = study.ratings(2, subtests="words")
    columns = ("item", "rater", "measure", "value", "rating_status")
    assert list(table.select(columns).rows()) == [
        (item, "choice", measure, value, "value")
        for item, values in (("w1", (0.0, 1.0, 1.0)), ("w2", (0.0, 0.0, 0.0)))
        for measure, value in zip(("exact", "normalised", "extracted"), values, strict=True)
    ]
    trials = study.document(2)["trials"]
    reasons = [rating["reason"] or None for trial in trials[:2] for rating in trial["ratings"]]
    assert table["rating_reason"].to_list() == reasons


def test_ratings_of_one_rater(study: tabwb.Study) -> None:
    assert set(study.ratings(judge="repetition")["subtest"].to_list()) == {"saying"}
    with pytest.raises(tabwb.UsageError, match="has rated none of these"):
        study.ratings(judge="rules")


def test_results_are_those_of_the_command_line(run: Run, study: tabwb.Study) -> None:
    table = study.results(by="model")
    shown = run("results", "--by", "model", "--json", "--store", study.location).document
    for group in shown["groups"]:
        for subtest in group["summary"]["subtests"]:
            found = table.where(
                group=group["name"], part=subtest["id"], measure="accuracy", policy="exact"
            ).to_dicts()
            expected = subtest["correct"] / subtest["n"]
            assert [row["value"] for row in found if row["feature"] is None] == [expected]


def test_each_table_of_groups_has_its_own_columns(study: tabwb.Study) -> None:
    whole = set(study.results().names)
    for name in ("features", "items", "item-models", "foils"):
        table = study.results(table=name)
        assert table.name == name and set(table.names) != whole
    with pytest.raises(tabwb.UsageError, match="several orders"):
        study.results(table="positions")


def test_groups_are_compared_with_a_baseline(study: tabwb.Study) -> None:
    table = study.results(table="differences", baseline="poor")
    assert set(table["group"].to_list()) == {"good"} and table["difference"].to_list()[0] > 0
    for options in ({"table": "differences"}, {"table": "no-such"}, {"baseline": "poor"}):
        with pytest.raises(tabwb.UsageError):
            study.results(**options)  # type: ignore[arg-type]


def test_tags_choose_administrations(study: tabwb.Study) -> None:
    with pytest.raises(tabwb.UsageError, match="write=True"):
        study.tag(1, add="pilot")
    with tabwb.open(study.location, write=True) as own:
        own.tag([1, 2], title="Try", add=["pilot", "first"])
        own.tag(2, remove="pilot")
    assert study.administrations()["tags"].to_list() == [("pilot", "first"), ("first",)]
    assert study.administrations(where="tag=pilot")["id"].to_list() == [1]


def test_a_participant_changes_over_sessions(battery_file: Path, tmp_path: Path) -> None:
    place = tmp_path / "people.db"
    for day, answers in (("2026-03-01", ("cup", "wall", "mouse.")), ("2026-03-08", tuple(RIGHT))):
        person_answers(place, battery_file, answers, session_date=day)
    with tabwb.open(place) as study:
        assert study.change("S-014").where(set="all items")["gained"].to_list()[0] == 3
        assert study.change("S-014", rows="sessions")["correct"].to_list() == [0, 3]
        assert len(study.change("S-014", rows="items")) == 3
        with pytest.raises(tabwb.UsageError, match="S-099"):
            study.change("S-099")


def test_an_administration_has_its_own_tables(study: tabwb.Study) -> None:
    given = study.administration(2)
    assert given.uid == study.administrations()["administration"].to_list()[1]
    assert len(given.responses()) == 3 and set(given.results()["group"].to_list()) != set()
    assert set(given.ratings(judge="choice")["id"].to_list()) == {2}


def test_two_sides_are_compared_on_their_items(study: tabwb.Study) -> None:
    table = study.compare(1, 2)
    row = table.where(measure="accuracy", part="words", policy="exact").to_dicts()[0]
    assert (row["value"], row["baseline_value"], row["difference"]) == (1.0, 0.0, 1.0)
    assert row["n_items"] == 2 and row["difference_low"] <= 1.0 and row["p"] is not None


def test_judging_needs_a_store_open_for_writing(study: tabwb.Study, tmp_path: Path) -> None:
    with pytest.raises(tabwb.UsageError, match=r"tabwb\.open\(store, write=True\)"):
        study.judge(1, "rules")
    tabwb.run(
        "tab",
        lambda prompt: f"We saw {len(prompt)} boats near home.",
        name="x",
        judges=[],
        store=tmp_path / "t.db",
    )
    with tabwb.open(tmp_path / "t.db", write=True) as own:
        told = own.judge(1, "rules").to_dicts()
        assert [(row["id"], row["rater"], row["judged"]) for row in told] == [(1, "rules-2", 5)]
        assert own.results(1, judge="rules").where(measure="burden")["rater"].to_list() == [
            "rules-2"
        ]


def test_judging_ends_as_on_the_command_line(run: Run, tmp_path: Path) -> None:
    for text in ("The boat is red.", "The boat is blue."):
        model = f"echo@text={text}"
        assert run("run", "tab", "--model", model, "--judge", "none").status == 0
    unreadable = "tab-2026:echo"
    judged = run("judge", "run", 1, 2, "--judge", unreadable, "--judge", "rules", "--json")
    assert judged.status == 1
    assert "gave no verdict" in judged.err
    given = [(one["administration"], one["rater"], one["judged"], one["unparsed"])
             for one in judged.document["judging"]]  # fmt: skip
    assert given == [(1, unreadable, 5, 5), (2, unreadable, 5, 5)] + [
        (number, "rules-2", 5, 0) for number in (1, 2)
    ]
    with (
        tabwb.open(write=True) as study,
        pytest.raises(tabwb.TabwbError, match="gave no verdict") as caught,
    ):
        study.judge([1, 2], [unreadable, "rules"], again=True)
    assert not isinstance(caught.value, tabwb.Interrupted)
    with tabwb.open() as study:
        raters = study.ratings()["rater"].to_list()
        assert set(raters) == {unreadable, "rules-2", "choice", "yes-no", "repetition", "lexical"}


def test_a_missing_store_and_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(tabwb.StoreError, match="no store here"):
        tabwb.open(tmp_path / "none.db")
    Store.open(tmp_path / "empty.db").close()
    with tabwb.open(tmp_path / "empty.db") as study:
        for table in (study.administrations(), study.responses(), study.ratings(), study.results()):
            assert len(table) == 0 and table.to_pandas().shape == (0, len(table.columns))


def test_an_id_that_is_not_there_is_named(study: tabwb.Study) -> None:
    for ids in ([], 9, "no-uid", [1, 9]):
        with pytest.raises(tabwb.TabwbError):
            study.responses(ids)


def test_an_export_may_be_wide_and_in_parts(study: tabwb.Study, tmp_path: Path) -> None:
    folder = study.export(format="parquet", wide=True, partition_by="subtest", out=tmp_path / "p")
    files = sorted(path.parent.name for path in folder.rglob("*.parquet"))
    assert files == ["subtest=saying", "subtest=words"]
    assert sum(pyarrow.parquet.read_metadata(f).num_rows for f in folder.rglob("*.parquet")) == 9
    one = study.export(where="model=poor", format="parquet", out=tmp_path / "one.parquet")
    assert set(pyarrow.parquet.read_table(one)["id"].to_pylist()) == {2}
    with pytest.raises(tabwb.UsageError, match="whole administrations"):
        study.export(where="item=w1", out=tmp_path / "no.jsonl")


def test_a_closed_study_says_so(study: tabwb.Study) -> None:
    given = study.administration(1)
    study.close()
    for wrong in (study.results, study.administrations, study.responses):
        with pytest.raises(tabwb.UsageError, match="closed"):
            wrong()
    assert repr(study).endswith(", closed>") and given.status == "done"
    Path(study.location).unlink()
    assert repr(given) == f"<Administration 1 in {study.location}>"


def test_columns_are_those_of_the_exported_table(study: tabwb.Study) -> None:
    exported = {column.name: (column.type, column.unit, column.meaning) for column in TABLE}
    for table in (study.responses(), study.ratings()):
        own = {column.name: (column.type, column.unit, column.meaning) for column in table.columns}
        shared = own.keys() & exported.keys()
        assert len(shared) > 15
        assert {name: own[name] for name in shared} == {name: exported[name] for name in shared}


def test_ignored_settings_are_a_warning(
    study: tabwb.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (folder / "tabwb.toml").write_text('[profile.x]\nid = "echo"\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    with pytest.warns(tabwb.TabwbWarning, match="not trusted: profile.x") as told:
        tabwb.open(study.location).close()
    assert told[0].filename == __file__


def test_threads_may_share_a_study(study: tabwb.Study) -> None:
    lengths: list[int] = []
    threads = [
        threading.Thread(target=lambda: lengths.append(len(study.responses()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [9] * 4


def test_the_methods_name_what_was_given(study: tabwb.Study) -> None:
    text = study.methods()
    assert "python:good" in text and "temperature 0.5" in text
    assert study.methods(by="temperature", where="model=good") != text


def test_the_methods_have_their_references_as_bibtex(study: tabwb.Study) -> None:
    assert study.methods(format="bibtex").count("@") >= study.methods().count("\n[")
    with pytest.raises(tabwb.UsageError, match="text, bibtex"):
        study.methods(format="word")  # type: ignore[arg-type]


def test_an_export_of_people_checks_consent_and_is_logged(
    battery_file: Path, tmp_path: Path
) -> None:
    place = tmp_path / "people.db"
    person_answers(place, battery_file, ("dog",))
    with tabwb.open(place) as study:
        assert study.responses()["response"].to_list() == ["dog"]
        with pytest.raises(tabwb.UsageError, match="logged"):
            study.export(1, out=tmp_path / "people.jsonl")
    with tabwb.open(place, write=True) as study:
        with pytest.warns(tabwb.TabwbWarning, match="no consent to sharing"):
            study.export(1, out=tmp_path / "people.jsonl")
        acts = [entry.act for entry in study.store.people.log_entries("S-014")]
        assert acts[-1] == "exported"


def test_an_option_that_cannot_be_used_is_named_as_in_python(study: tabwb.Study) -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"by": 3}, "by: 3 cannot be used\nallowed: one name or several"),
        ({"limit": 0}, "limit: 0 cannot be used\nallowed: 1 or more, or None"),
        ({"limit": "all"}, "limit: 'all' cannot be used"),
        ({"where": "model"}, "where: 'model' is not a filter"),
        ({"where": "model=none"}, "where: nothing has model 'none'"),
    )
    for options, said in refused:
        with pytest.raises(tabwb.UsageError) as raised:
            study.results(**options)
        assert said in str(raised.value)


EXAMPLE = table_of(
    "example",
    [
        tabwb.Column("name", "Name", "a text"),
        tabwb.Column("share", "Share", "a share", "number", "share", 1, True),
    ],
    [("a_b", 0.25), (None, None)],
    ("A note.",),
)


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tabwb.Study]:
    """Two made-up models that took the connected text of TAB."""
    place = tmp_path_factory.mktemp("files") / "s.db"
    for name in ("one", "two"):
        tabwb.run(
            "tab",
            lambda prompt: f"We saw {len(prompt)} boats near home and swam there.",
            name=name,
            subtests="connected-text,repetition",
            store=place,
        )
    with tabwb.open(place) as opened:
        yield opened


def test_a_table_as_text() -> None:
    lines = tabwb.table_text(EXAMPLE, caption="What").splitlines()
    assert lines[0] == "**What**" and lines[4].startswith("| a\\_b")
    assert "25.0 %" in tabwb.table_text(EXAMPLE) and "A note." in tabwb.table_text(EXAMPLE)
    assert r"\toprule" in tabwb.table_text(EXAMPLE, "latex")
    with pytest.raises(tabwb.UsageError, match="markdown, latex, csv, json"):
        tabwb.table_text(EXAMPLE, "word")  # type: ignore[arg-type]


def test_each_ending_has_its_format(tmp_path: Path) -> None:
    files = {
        ending: tabwb.save_table(EXAMPLE, tmp_path / f"t{ending}")
        for ending in (".csv", ".json", ".md", ".tex", ".parquet")
    }
    with files[".csv"].open(encoding="utf-8", newline="") as lines:
        assert list(csv.reader(lines)) == [["name", "share"], ["a_b", "0.25"], ["", ""]]
    document = json.loads(files[".json"].read_text("utf-8"))
    assert document["tables"][0]["rows"][1] == {"name": None, "share": None}
    assert pyarrow.parquet.read_table(files[".parquet"]).to_pylist() == [
        {"name": "a_b", "share": 0.25}, {"name": None, "share": None}
    ]  # fmt: skip
    assert "25.0" in files[".md"].read_text("utf-8") and "25.0" in files[".tex"].read_text("utf-8")


def test_a_file_is_not_replaced_and_an_unknown_ending_is_named(tmp_path: Path) -> None:
    place = tabwb.save_table(EXAMPLE, tmp_path / "t.csv")
    with pytest.raises(tabwb.TabwbError, match="already exists") as raised:
        tabwb.save_table(EXAMPLE, place)
    assert raised.value.hint == "choose another name, or pass force=True"
    assert tabwb.save_table(EXAMPLE, place, force=True) == place
    with pytest.raises(tabwb.UsageError, match=r"\.csv, \.json|\.md"):
        tabwb.save_table(EXAMPLE, tmp_path / "t.xlsx")


def test_tables_for_a_paper(talked: tabwb.Study) -> None:
    shown = talked.paper_tables()
    assert "| one" in shown and "| two" in shown
    assert r"\begin{tabular}" in talked.paper_tables(format="latex", judge="rules")
    with pytest.raises(tabwb.UsageError, match="no column 'nothing'"):
        talked.paper_tables(columns="nothing")
    with pytest.raises(tabwb.UsageError, match="'html' cannot be used\nallowed: markdown, latex"):
        talked.paper_tables(format="html")  # type: ignore[arg-type]


def test_a_report_is_one_file(talked: tabwb.Study, tmp_path: Path) -> None:
    place = talked.report(tmp_path / "r.md", by="model", title="Two made-up models", responses=1)
    text = place.read_text(encoding="utf-8")
    assert text.startswith("# Two made-up models") and "python:one" in text
    with pytest.raises(tabwb.TabwbError, match="already exists"):
        talked.report(place)
    with pytest.raises(tabwb.UsageError, match="html"):
        talked.report(tmp_path / "r.doc")


def test_a_figure_that_is_not_known_is_refused(talked: tabwb.Study) -> None:
    with pytest.raises(tabwb.UsageError, match="no figure 'burdens'"):
        talked.figure("burdens")
    with pytest.raises(tabwb.UsageError):
        talked.figure("burden", colour="red")  # type: ignore[call-arg]


NOTEBOOK = Path(__file__).parents[2] / "docs" / "study.ipynb"


def test_the_notebook_makes_table_figures_and_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMPDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                 "JUPYTER_RUNTIME_DIR"):  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path))
    notebook = execute_notebook.executed(tmp_path)
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert execute_notebook.shown(stored) == execute_notebook.shown(notebook), (
        "docs/study.ipynb is stale: .venv/bin/python docs/execute_notebook.py"
    )
    assert NOTEBOOK.stat().st_size < 300_000
    outputs = {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    table = shown(outputs, "table_2", "text/plain").splitlines()
    assert table[0].split()[:3] == ["Model", "N", "Burden"] and len(table) == 9
    rows = {row.split()[1]: [float(cell) for cell in row.split()[2:]] for row in table[1:]}
    burdens = [burden for _, burden, _, _ in rows.values()]
    assert burdens == sorted(burdens, reverse=True)
    assert all(low <= burden <= high for _, burden, low, high in rows.values())
    assert rows["Alder-1B"][1] > rows["Alder-1B-Instruct"][1]  # 60 and 10 % of slips
    for figure in ("profile", "burden"):
        assert shown(outputs, f'{figure} = study.figure("{figure}"', "image/png")
    methods = outputs["print(study.methods())"][0].text
    assert "Text Aphasia Battery" in methods and "temperature 1" in methods
    assert shown(outputs, "study.export", "text/plain").count("ratings.csv") == 2
    assert not [one for cell in outputs.values() for one in cell if one.output_type == "error"]


def shown(outputs: dict[str, Any], source: str, kind: str) -> str:
    """Return what the cell with this source shows in a format."""
    (cell,) = (cell for text, cell in outputs.items() if source in text)
    return str(cell[-1].data[kind])
