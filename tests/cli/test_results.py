"""``tabwb results`` and ``tabwb diff`` on stores with none, one and several administrations."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.form_files import read_form
from tabwb.battery.loader import load_battery
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import Adjudication, Assignment, Sample, SampleRating
from tabwb.records.ratings import Declaration, valued
from tabwb.records.states import AttemptState, ResponseKind, ResponseStatus, StopReason
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    PlannedTrial,
    RatingsEntry,
)
from tabwb.scoring.rules.passage import FEATURES
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.analysis.rating_parts import written
from tests.builders import built, copied
from tests.cli.conftest import ANSWERS, TAB, Run, replayed
from tests.store.parts import set_plan

JUDGE = "tab-2026:gemini:x"


def give(run: Run, model: str = "echo", *more: str) -> None:
    run("run", "tab", "--model", model, *more, "--json")


def models(tmp_path: Path) -> tuple[str, str, str]:
    """Specs of three models with usable answers: of a base, an instruct and another model."""
    base, instruct, other = (replayed(tmp_path / f"{name}.jsonl") for name in "abc")
    return base, instruct, other


def judge(tmp_path: Path, administration: int, present: Mapping[str, float], prompt: str) -> None:
    """Write a judge's verdicts on the connected texts into the store, as a plugin's would be."""
    told = Declaration(JUDGE, FEATURES, caution="labels by a language model", prompt_text=prompt)
    with Store.open(str(tmp_path / "tabwb-data" / "tabwb.db"), create=False) as store:
        texts = [
            trial
            for trial in store.trials(administration)
            if trial.plan.subtest == "connected-text"
        ]
        ratings = tuple(valued(JUDGE, name, present.get(name, 0.0)) for name in FEATURES)
        store.append(
            administration,
            [
                DeclarationEntry(told),
                *(RatingsEntry(trial.plan.number, 1, ratings) for trial in texts),
            ],
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1 and 2: a base and an instruct model of one family and size; 3: one without a profile."""
    folder = tmp_path_factory.mktemp("models")
    *both, other = models(folder)
    sizes = ("--family", "E-1", "--parameters", "360M", "--tuning")
    profiles = dict(zip(("base", "instruct"), both, strict=True))
    adding = [("model", "add", f"of-{name}", spec, *sizes, name) for name, spec in profiles.items()]
    given = ("profile:of-base", "profile:of-instruct", other)
    return built(folder, *adding, *(("run", "tab", "-q", "--model", one) for one in given))


@pytest.fixture
def pair(made: Path, tmp_path: Path) -> tuple[str, str, str]:
    """The store of three models, as the store of this test; their specs."""
    copied(made, tmp_path)
    base, instruct, other = (f"replay:{made / name}.jsonl" for name in "abc")
    return base, instruct, other


def test_an_empty_store_has_nothing_to_show_and_that_is_no_failure(run: Run) -> None:
    assert "tabwb run" in run("results").out
    for by in ("administration", "model", "family,tuning", "subtest", "item-tag"):
        outcome = run("results", "--by", by, "--json")
        assert outcome.document == {
            "format": 1, "groups": [], "pairs": [], "over_families": [], "notices": [],
        }  # fmt: skip
    assert "There are no administrations to show." in run("results", "--by", "model").out


def test_one_administration_has_its_trials(run: Run) -> None:
    give(run)
    document = run("results", 1, "--json").document
    assert len(document["trials"]) == 20
    assert document["summary"]["answers"]["n"] == 20
    assert document["summary"]["answers"]["statuses"] == {"prompt-echo": 20}
    (rules,) = document["summary"]["judges"]
    assert (rules["usable"], rules["n"], rules["causes"]) == (0, 5, {"prompt-echo": 5})
    assert (rules["symptom_burden"], rules["interval"]) == (None, None)


def test_a_run_gives_the_same_intervals_as_its_results(run: Run, tmp_path: Path) -> None:
    model = replayed(tmp_path / "answers.jsonl")
    given = run("run", "tab", "--model", model, "--json").document["summary"]
    assert given == run("results", 1, "--json").document["summary"]
    assert given["judges"][0]["interval"] is not None
    assert "95 %" in run("run", "tab", "--model", model).out.split("symptom burden")[1]


def test_recorded_answers_of_unknown_origin_are_not_called_answers_of_people(
    run: Run, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(
        json.dumps({"subtest": "repetition", "item": "rp1", "replicate": 0, "response": "house."})
    )
    run("run", "tab", "--model", f"replay:{own}", status=3)
    give(run)
    written = run("results", "--by", "model", "--csv", tmp_path / "models.csv")
    assert "left out: 1 administration of recorded answers of unknown origin" in written.err
    assert "@origin=model" in written.err and "of people" not in written.err


def typed(run: Run, monkeypatch: pytest.MonkeyPatch, right: int) -> None:
    """One session of a person who types, and has so many of the scored items right."""
    texts = iter(ANSWERS)
    lines = []
    for subtest in load_battery(TAB).subtests:
        for item in subtest.items:
            if subtest.response is ResponseKind.CONNECTED_TEXT:
                lines += [next(texts), ""]
            else:
                lines.append(str(item.expected) if right > 0 else f"what {item.id}")
                right -= 1
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    run("run", "tab", "--speaker", "S-014", "--research-protocol", "P-1", "--json")


def test_change_over_sessions(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for right in (2, 4, 12):
        typed(run, monkeypatch, right)
    tests, sessions, items = run("change", "S-014", "--json").document["tables"]
    last = next(row for row in tests["rows"] if row["sessions"] == "1 to 3")
    assert (last["gained"], last["lost"], last["p"]) == (10, 0, 2 * 0.5**10)
    assert last["value"] == pytest.approx(10 / 15)
    assert [row["correct"] for row in sessions["rows"]] == [2, 4, 12]
    assert [row["session_2"] for row in items["rows"]].count(True) == 4

    sets = tmp_path / "sets.csv"
    sets.write_text("item,set\nwc1,trained\nwc5,trained\nrp4,untrained\nrp5,untrained\n")
    shown = run("change", "S-014", "--sets", sets, "--baselines", "2").out
    words = " ".join(shown.split())
    assert "For research only" in words and "good or a bad day" in words
    assert "trained, untrained" in words

    no_tag = "no item of the battery has the tag 'treated'"
    run("change", "S-014", "--sets", "treated", status=2, err=no_tag)
    run("change", "S-015", status=2, err="there is no session of 'S-015'")
    run("change", "S-014", "--sets", tmp_path / "none.csv", status=2, err="cannot be read")


@pytest.mark.usefixtures("pair")
def test_options_that_cannot_be_met_are_refused(run: Run, tmp_path: Path) -> None:
    for words, message in (
        ("--by model --table differences", "the table of differences needs a baseline"),
        ("--by model --baseline b.jsonl", "belongs to the tables of differences and profiles"),
        ("--table items --details", "exclude each other"),
        ("--table positions", "--rotate-options"),
        ("--table results --measure burdn", "no row is of 'burdn'; did you mean 'burden'?"),
        ("--by model --measure burden", "--measure needs a table"),
        ("--table foils --measure burden", "has no measures"),
        ("--json --format csv", "--json and --format csv exclude each other"),
        ("--columns n", "--columns does not apply to the format table"),
        ("--format csv --details", "--details and --format csv exclude each other"),
        ("--sort N", "--sort"),
        ("1 --sort N", "cannot be sorted"),
        ("--judge rules", "--judge"),
        ("--details", "--details"),
        (f"--csv {tmp_path}/list.csv", "--csv"),
    ):
        run("results", *words.split(), status=2, err=message)
    out = tmp_path / "models.csv"
    out.write_text("mine")
    run("results", "--by", "model", "--csv", out, status=1, err="already exists")
    assert out.read_text() == "mine"


@pytest.mark.usefixtures("pair")
def test_columns_are_chosen_in_order(run: Run) -> None:
    table = run("results", 1, "--format", "markdown", "--columns", "burden,n").out
    assert table.splitlines()[2].split("|")[1].strip() == "Burden [95 %]"
    listed = run("results", "--format", "csv", "--columns", "id,answered").out
    assert listed == "id,answered\n1,20\n2,20\n3,20\n"


def test_an_empty_store_gives_tables_without_rows(run: Run) -> None:
    assert run("results", "--format", "csv").out.startswith("id,uid,battery")
    assert run("results", "--by", "model", "--format", "csv").out.startswith("group,by,")
    run("results", "--by", "model", "--format", "markdown")


AGAIN = "The dog the dog the dog went home with my sister before the day was over."
PLAIN = "Last spring I travelled to Lisbon with my parents and rode the yellow trams."


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    rows = f"item,response\nct1,{AGAIN}\nct2,<think>Hm.</think>{PLAIN}\nwc1,lion\n"
    (folder / "a.csv").write_text(rows)
    return built(folder, ("import", folder / "a.csv", "--battery", "tab", "--model", "m"))


@pytest.fixture
def imported(texts: Path, tmp_path: Path) -> None:
    copied(texts, tmp_path)


def test_features_quote_the_words(run: Run, imported: None) -> None:
    rows = run("responses", "--json").document["responses"]
    assert [(row["item"], row["response"]) for row in rows] == [
        ("ct1", AGAIN),
        ("ct2", PLAIN),
        ("wc1", "lion"),
    ]
    found = {each["feature"]: each["reason"] for each in rows[0]["features"]}
    assert "the dog the dog the dog" in found["perseverations"].lower()
    assert rows[1]["features"] == []


def test_responses_are_chosen(run: Run, imported: None) -> None:
    for options, items in (
        ("--feature perseverations", ["ct1"]),
        ("--item ct2", ["ct2"]),
        ("--subtest word-comprehension", ["wc1"]),
        ("--limit 1", ["ct1"]),
        ("--where model=imported:m --item ct2", ["ct2"]),
    ):
        rows = run("responses", *options.split(), "--json").document["responses"]
        assert [row["item"] for row in rows] == items


def test_a_feature_that_nobody_rated_is_refused(run: Run, imported: None) -> None:
    run("responses", "--feature", "perseveration", status=2, err="'perseverations'")
    assert run("responses", "--feature", "jargon", "--json").document["responses"] == []


def test_thinking_is_shown_apart_where_it_is_asked_for(run: Run, imported: None) -> None:
    (row,) = run("responses", "--item", "ct2", "--reasoning", "--json").document["responses"]
    assert (row["reasoning"], row["response"]) == ("Hm.", PLAIN)
    assert "  thinking: Hm." in run("responses", "1", "--reasoning").out.splitlines()
    assert "Hm." not in run("responses", "1").out


def marks(run: Run, *options: object) -> list[tuple[int, str, list[str]]]:
    given: Any = run("tag", *options, "--json").document
    return [(one["id"], one["title"], one["tags"]) for one in given["administrations"]]


def marked(run: Run, *options: object) -> None:
    run("run", "tab", "--model", "echo", "--judge", "none", *options, "--json")


def test_marks_are_given_changed_and_taken_back(run: Run) -> None:
    marked(run, "--title", "First try", "--tag", "pilot", "--tag", "x")
    marked(run)
    assert marks(run, 1, 2) == [(1, "First try", ["pilot", "x"]), (2, "", [])]
    assert marks(run, 1, 2, "--add", "site:A", "--title", "") == [
        (1, "", ["pilot", "x", "site:A"]),
        (2, "", ["site:A"]),
    ]
    assert marks(run, 1, "--remove", "x") == [(1, "", ["pilot", "site:A"])]
    assert marks(run, 1, "--undo") == [(1, "", ["pilot", "x", "site:A"])]
    assert marks(run, 1, "--undo") == [(1, "First try", ["pilot", "x"])]
    assert "no change of title or tags" not in run("tag", 2, "--undo").err
    run("tag", 2, "--undo", err="no change of title or tags")
    # What was recorded of the trials is as it was.
    listed = run("results", "--json").document["administrations"]
    assert [(one["answered"], one["status"], one["tags"]) for one in listed] == [
        (20, "done", ["pilot", "x"]),
        (20, "done", []),
    ]


def test_nothing_is_changed_where_one_of_several_cannot_be(run: Run) -> None:
    marked(run, "--tag", "x")
    marked(run)
    run("tag", 1, 2, "--remove", "x", status=2)
    assert marks(run, 1, 2) == [(1, "", ["x"]), (2, "", [])]


def test_results_are_listed_grouped_and_chosen_by_tags(run: Run) -> None:
    marked(run, "--title", "First try", "--tag", "pilot")
    marked(run, "--tag", "pilot", "--tag", "late", "--temperature", "0.7")
    marked(run)
    out = run("results").out
    assert "First try" in out and "tags: pilot, late" in out and "temperature 0.7" in out
    groups = run("results", "--by", "tag", "--json").document["groups"]
    assert [
        (one["by"]["tag"], [each["id"] for each in one["administrations"]]) for one in groups
    ] == [("pilot", [1]), ("pilot", [2]), ("late", [2]), ("no tag", [3])]
    late = run("results", "--where", "tag=late", "--json").document["administrations"]
    assert [one["id"] for one in late] == [2]
    exported: Any = run("results", 1, "--json").document["administration"]
    assert (exported["title"], exported["tags"]) == ("First try", ["pilot"])


def test_what_is_imported_gets_a_title_and_tags(run: Run, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("item,response\nrp1,house.\n", encoding="utf-8")
    psst = tmp_path / "psst"
    psst.mkdir()
    (psst / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\nS-014-1\tdog\tD AO G\n", encoding="utf-8"
    )
    marked = ("--title", "Elsewhere", "--tag", "pilot", "--tag", "late")
    battery = naming_battery(tmp_path)
    for words in (
        ("import", answers, "--battery", "tab", "--model", "m", "--judge", "none"),
        ("import", psst, "--battery", battery, "--origin", "human"),
    ):
        run(*words, "--tag", "a, b", status=2)
        assert run("results", "--json").document["administrations"][1:] == []
        run(*words, *marked)
    assert marks(run, 1, 2) == [(n, "Elsewhere", ["pilot", "late"]) for n in (1, 2)]


def test_a_recording_that_is_resumed_gets_no_new_title(run: Run, tmp_path: Path) -> None:
    words = ("name", naming_battery(tmp_path), "--speaker", "S-014", "--input", tmp_path)
    run(*words, "--resume", 7, "--tag", "x", status=2, err="tabwb tag 7")


def test_cautions_are_whole_once_in_a_store_and_always_in_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(*words: object, terminal: bool = True, store: str = "one.db") -> str:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
        return " ".join(run("--store", tmp_path / store, *words).out.split())

    first, second = "instrument for research", "cautions shown before"
    for store in ("one.db", "other.db"):
        given = shown("run", "tab", "--model", "echo", terminal=False, store=store)
        assert first in given
    assert first in shown("results", 1)
    again = shown("results", 1)
    assert first not in again
    assert second in again
    assert first in shown("results", 1, "--cautions")
    assert first in shown("results", 1, terminal=False)
    assert first in shown("results", 1, store="other.db")


def test_a_part_is_given_stored_and_never_pooled_with_the_whole(run: Run, tmp_path: Path) -> None:
    part = ("--subtest", "repetition,word-comprehension", "--limit", 2)
    made = run("run", "tab", "--model", "echo", *part, "--json").document
    given = made["administration"]
    assert (given["planned"], given["answered"], given["status"]) == (4, 4, "done")
    assert given["part_subtests"] == ["repetition", "word-comprehension"]
    assert (given["part_items"], given["part_limit"]) == ([], 2)
    assert run("resume", 1, "--json").document["administration"]["planned"] == 4
    run("run", "tab", "--model", "echo", "--json")
    assert "part: repetition" in " ".join(run("results").out.split())
    groups = run("results", "--by", "model", "--json").document["groups"]
    assert [one["apart"]["part"] for one in groups] == [
        "part: repetition, word-comprehension, 2 of each subtest",
        "whole battery",
    ]
    (pooled,) = run("results", "--by", "model", "--together", "part", "--json").document["groups"]
    assert (len(pooled["administrations"]), pooled["together"]) == (2, ["part"])
    (whole,) = run("results", "--where", "part=whole", "--json").document["administrations"]
    assert whole["id"] == 2
    out = tmp_path / "ratings.csv"
    run("export", 1, "--format", "csv", "--out", out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["part_subtests"] for row in rows} == {'["repetition", "word-comprehension"]'}
    assert {row["part_limit"] for row in rows} == {"2"}
    assert {row["item"] for row in rows} == {"rp1", "rp2", "wc1", "wc2"}


def test_what_the_battery_does_not_have_is_refused(run: Run) -> None:
    for options, message in (
        ("--subtest repetitio", "no subtest 'repetitio'; did you mean 'repetition'"),
        ("--item rp9", "no item 'rp9'"),
        ("--item wc1 --subtest repetition", "no item 'wc1' in the chosen subtests"),
    ):
        run("run", "tab", "--model", "echo", *options.split(), status=2, err=message)


def test_what_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [("a", "R1", "jargon", 1), ("a", "R2", "jargon", 0)])
    run("agreement", path, "--draws", 0, "--figure", tmp_path / "f.svg")
    assert (tmp_path / "f.svg").exists()
    run("agreement", tmp_path / "none.csv", status=1)
    run("agreement", path, "--judge", "R9", status=2, err="there is no rater 'R9'")
    run("agreement", path, "--kind", "jargon=kind", status=2, err="present-absent, scale")
    run("agreement", path, "12", status=2, err="read alone")


def test_agreement_and_the_report_of_judges_have_one_rule_for_few_samples(
    run: Run, tmp_path: Path
) -> None:
    path, battery = tmp_path / "few.db", load_battery(TAB)
    text = next(one for one in battery.subtests if one.id == "connected-text")
    item, numbers = text.items[0], range(1, 19)
    # a and b share 10 texts, b and c 9, a and c 4.
    judged = {"tab-2026:a": range(1, 14), "tab-2026:b": range(4, 19), "tab-2026:c": range(10, 19)}
    with Store.open(path) as store:
        store.keep_battery(battery, {})
        plan = [PlannedTrial(n, text.id, item.id, n - 1, (), item.prompt) for n in numbers]
        conditions = Conditions("replay:a.jsonl", "model")
        made = store.create_administration(battery, conditions, plan, versions={}).id
        store.append(
            made, [DeclarationEntry(Declaration(one, ("anomia", "jargon"))) for one in judged]
        )
        for n in numbers:
            said = Attempt(1, f"We went to the sea {n}.", AttemptState.OK, ResponseStatus.OK,
                           StopReason.END, 0.1)  # fmt: skip
            store.append(made, [AttemptEntry(n, said)])
            for judge, own in judged.items():
                if n in own:
                    found = n % 2 if judge == "tab-2026:a" else n % 3 == 0
                    given = (valued(judge, "anomia", found), valued(judge, "jargon", n % 2))
                    store.append(made, [RatingsEntry(n, 1, given)])
    agreement, report = (
        run(*command, made, "--json", "--store", path).document
        for command in (("agreement", "--draws", 0), ("judge", "report"))
    )
    whole, ends = {(one["first"][-1], one["second"][-1]): one for one in agreement["pairs"]}, []
    for pair in report["pairs"]:
        one = whole[pair["first"][-1], pair["second"][-1]]
        assert pair["kappa"] == {"mean": one["kappa"], "features": one["kappa_features"]}
        assert pair["ac1"] == {"mean": one["ac1"], "features": one["ac1_features"]}
        assert pair["percent"]["mean"] == one["agreement"]
        listed = [{**given, "n": given["samples"]} for given in pair["by_feature"]]
        for own, other in zip(one["features"], listed, strict=True):
            assert [own[name] for name in ("n", "kappa", "ac1", "table")] == [
                other[name] for name in ("n", "kappa", "ac1", "table")
            ]
        ends.append((one["n"], one["kappa"] is None, one["averaged"], one["reason"]))
    why = "fewer than 10 samples in common"
    assert ends == [(10, False, True, None), (4, True, False, why), (9, True, False, why)]
    few = [(one["first"][-1], one["second"][-1], one["reason"]) for one in report["left_out"]]
    assert few == [("a", "c", why), ("b", "c", why)]
    # Means over pairs are of the one that shares 10.
    means, of = agreement["features"], whole["a", "b"]["features"]
    assert [row["kappa"] for row in means] == [one["kappa"] for one in of]


FORMS = TAB.parents[1] / "forms"
PRESENT: dict[str, tuple[set[str] | None, ...]] = {
    "R1": ({"anomia", "jargon"}, {"anomia"}, {"anomia"}, set(), set()),
    "R2": ({"anomia"}, {"anomia"}, {"jargon"}, set(), set()),
    "R3": (set(), {"anomia"}, set(), {"jargon"}, None),
    "R4": (set(), set(), None, set(), None),
}
"""By rater the features found in each of five texts; None: not rated. Text 1 has a tie on anomia,
so that its burden is undefined; text 2 has anomia by three of four."""


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rated")
    path = folder / "store.db"
    said = replayed(folder / "said.jsonl")
    built(folder, ("run", "tab", "--model", said, "--judge", "rules-1", "-q", "--store", path))
    battery = load_battery(TAB)
    form, problems = read_form(FORMS / "tab-19.toml", lambda _: TAB)
    assert form is not None, problems
    with Store.open(path) as store:
        texts = [
            trial
            for trial in store.trials(1)
            if battery.subtest(trial.plan.subtest).task.connected and trial.counting is not None
        ]
        samples = tuple(
            Sample(n, 1, trial.plan.number, 1, trial.attempts[0].response, trial.plan.prompt)
            for n, trial in enumerate(texts, start=1)
        )
        assert len(samples) == 5
        places = tuple(Assignment(rater, n, n) for rater in PRESENT for n in range(1, 6))
        kept = store.sets.create(
            set_plan("pilot", form.canonical, form.id, samples, places, counts="majority")
        )
        store.sets.rate_all(
            kept.id,
            [
                SampleRating(
                    rater, n, n, "rate",
                    {measure: float(measure in found) for measure in form.measures},
                    complete=True,
                )
                for rater, given in PRESENT.items()
                for n, found in enumerate(given, start=1)
                if found is not None
            ],
        )  # fmt: skip
        store.sets.adjudicate(kept.id, Adjudication(1, "anomia", 1.0, "clear", "A1"))
    return path


@pytest.fixture
def place(rated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(rated, tmp_path))


def _burdens(summary: Results) -> dict[str, tuple[float | None, int, dict[str, int]]]:
    """Mean burden, responses with one, and causes of the others, by rater."""
    return {
        judge.rater: (
            judge.burden.symptom_burden.value,
            judge.burden.n_burden,
            dict(judge.burden.no_burden),
        )
        for judge in summary.judges
    }


EXPECTED = {
    # Text 1 is tied; texts 2 to 5 have 1, 0, 0 and 0 features by more than half.
    "majority": (0.25, 4, {"anomia undefined: no majority": 1}),
    # Settled: text 1 has anomia.
    "consensus": (0.4, 5, {}),
}


@pytest.mark.parametrize("counts", ["majority", "consensus"])
def test_a_derived_rater_has_a_burden_of_its_own_beside_those_of_people(
    place: Path, counts: str
) -> None:
    with Store.open(place) as store:
        by_columns = pool(load_columns(store, [1], primary=counts))
        by_trials = pool(load_administrations(store, [1], primary=counts))
    found = _burdens(by_columns)
    assert found == _burdens(by_trials)
    assert {"rules-1", *PRESENT, "majority"} <= set(found)
    assert found[counts] == EXPECTED[counts]
    assert found["R1"][:2] == (0.8, 5)
    assert found["R4"][:2] == (0.0, 3)


def test_every_output_says_whose_ratings_count_and_has_all_of_them(
    run: Run, place: Path, tmp_path: Path
) -> None:
    document = run("results", "1", "--json", "--store", place).document
    said = "they count in rating set pilot"
    assert (
        f"Verdicts of majority: computed from those of R1, R2, R3, R4; {said}."
        in (document["notices"])
    )
    first = next(trial for trial in document["trials"] if trial["subtest"] == "connected-text")
    anomia = {one["rater"]: one for one in first["ratings"] if one["measure"] == "anomia"}
    assert [anomia[rater]["value"] for rater in PRESENT] == [1.0, 1.0, 0.0, 0.0]
    assert (anomia["majority"]["status"], anomia["majority"]["reason"]) == (
        "undefined",
        "no majority",
    )
    shown = " ".join(run("results", "1", "--store", place).out.split())
    assert said in shown
    own = run("results", "1", "--judge", "consensus", "--counts", "consensus", "--json",
              "--store", place).document  # fmt: skip
    assert [one["rater"] for one in own["summary"]["judges"]] == ["consensus"]
    out = tmp_path / "out.csv"
    run("export", "1", "--format", "csv", "--out", out, "--store", place)
    with out.open(encoding="utf-8", newline="") as file:
        raters = {row["rater"] for row in csv.DictReader(file)}
    assert {*PRESENT, "majority"} <= raters
    with Store.open(place) as store:
        assert not {"majority", "consensus"} & set(store.raters())
    assert json.dumps(document)


def test_one_judge_can_be_shown_alone(run: Run, pair: object, tmp_path: Path) -> None:
    judge(tmp_path, 1, {"anomia": 1}, "one")
    for arguments in (("1",), ("--by", "model"), ("1", "2")):
        text = run("results", *arguments, "--judge", JUDGE).out
        assert JUDGE in text and "rules-2" not in text
    # The alias stands for the judge's own name.
    assert "rules-2" in run("results", 1, "--judge", "rules").out
    known = ("nobody", "rules-2, tab-2026:x")
    run("results", "--by", "model", "--judge", "nobody", status=2, err=known)


def test_rows_are_sorted_as_asked(run: Run, pair: tuple[str, str, str], tmp_path: Path) -> None:
    base, instruct, other = pair
    judge(tmp_path, 2, {"anomia": 1}, "one")
    judge(tmp_path, 3, {"anomia": 1, "jargon": 1}, "one")

    def order(*more: str) -> list[str]:
        document: Any = run("results", "--by", "model", "--json", *more).document
        return [group["by"]["model"] for group in document["groups"]]

    assert order("--judge", JUDGE) == [other, instruct, base]
    assert order("--sort", "name") == [base, instruct, other]


def test_models_that_are_pooled_are_named(run: Run, pair: object, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    run("export", 1, "--format", "jsonl", "--out", answers)
    give(run, f"replay:{answers}")
    document = run("results", "--by", "lesion", "--json").document
    (group,) = document["groups"]
    assert group["by"] == {"lesion": "no lesion"}
    assert group["mixed"]["examinee"][-1] == f"replay:{answers}"


def test_conditions_that_two_sides_do_not_share_are_named(run: Run, pair: object) -> None:
    sampled = ("run", "tab", "--model", "echo", "--temperature", 1, "--judge", "none")
    number = run(*sampled, "--json").document["administration"]["id"]
    document = run("diff", 1, number, "--json").document
    assert set(document["unlike"]) == {"decoding"}
    assert "A and B also differ in decoding: " in run("diff", 1, number).out
    assert run("diff", 1, 2, "--json").document["unlike"] == {}
