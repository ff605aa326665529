"""``tabwb import --set``: ratings made elsewhere become a rating set of stored responses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.administer.rating.elsewhere.reading import (
    FileMapping,
    measures_by_name,
    read_labels,
    read_tasks,
)
from tabwb.administer.rating.elsewhere.study import read_study
from tabwb.host.forms import open_form
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerProblems
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, SampleRating
from tabwb.store.store import Store
from tests.builders import built, copied
from tests.cli.conftest import Run

SAID = (
    "We drove to the sea, and my sister told us about the the boat.",
    "I was in the town and bought some bread and cheese for lunch.",
)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two texts, t1 and t2, of two speakers."""
    folder = tmp_path_factory.mktemp("texts")
    rows = (f'"{said}",t{n},Tell me.,S-0{n}' for n, said in enumerate(SAID, start=1))
    table = write(folder / "texts.csv", "text,id,prompt,speaker", *rows)
    return built(folder, ("import", table, "--judge", "none"))


@pytest.fixture
def stored(texts: Path, tmp_path: Path) -> Path:
    copied(texts, tmp_path)
    return Path(shutil.copy(texts / "texts.csv", tmp_path)).parent


def kept(name: str, folder: Path) -> dict[tuple[str, str, int], SampleRating]:
    """The ratings of a set by rater, text and purpose."""
    with Store.open(folder / "tabwb-data" / "tabwb.db") as store:
        made = store.sets.get(name)
        texts = {sample.number: sample.text for sample in store.sets.samples(made.id)}
        return {
            (one.rater, texts[one.sample], one.position): one for one in store.sets.ratings(made.id)
        }


def answers(name: str, folder: Path) -> list[tuple[str, int, Any]]:
    ratings = kept(name, folder)
    return [
        (rater, SAID.index(text) + 1, dict(one.answers))
        for (rater, text, _), one in ratings.items()
    ]


LONG = (
    *("response,rater,measure,value,note,occasion", "t1,R1,anomia,1,hard,", "t1,R1,Jargon,no,,"),
    *(
        "t1,R2,anomia,?,,",
        "t1,R2,jargon,0,,",
        "t1,R2,source,machine,,",
        "t2,R1,anomia,,,",
        "t2,R1,jargon,present,,",
        "t1,R1,anomia,0,,2",
    ),
    "t2,adjudicated,jargon,absent,,",
)


def test_one_row_per_answer(run: Run, stored: Path) -> None:
    done = run("import", write(stored / "r.csv", *LONG), "--set", "pilot", "--json")
    document = done.document
    assert document["rating_set"]["name"] == "pilot"
    assert document["ratings"]["raters"] == ["R1", "R2"]
    ratings = kept("pilot", stored)
    assert [(r, p, one.purpose, dict(one.answers)) for (r, _, p), one in ratings.items()] == [
        ("R1", 1, "rate", {"anomia": 1.0, "jargon": 0.0}),
        ("R1", 2, "rate", {"jargon": 1.0}),
        ("R1", 3, "again", {"anomia": 0.0}),
        ("R2", 1, "rate", {"anomia": CANNOT_TELL, "jargon": 0.0, "source": "machine"}),
    ]
    assert ratings["R1", SAID[0], 1].note == "hard"
    with Store.open(stored / "tabwb-data" / "tabwb.db") as store:
        (settled,) = store.sets.adjudications(store.sets.get("pilot").id)
        events = store.sets.events(store.sets.get("pilot").id)
        assert store.sets.get("pilot").ask_source
    assert (settled.measure, settled.answer) == ("jargon", 0.0)
    assert [event.kind for event in events] == ["planned", "imported"]
    trials = run("results", 1, "--json").document["trials"]
    rated = {r["measure"]: r["value"] for t in trials for r in t["ratings"] if r["rater"] == "R1"}
    assert (rated["anomia"], rated["jargon"]) == (1.0, 0.0)
    features = run("agreement", "pilot", "--json").document["features"]
    n = {feature["measure"]: feature["n"] for feature in features}
    assert (n["anomia"], n["jargon"]) == (0, 1)


REDCAP = """response = "record_id"
speaker = "pid"
[raters]
anna = "R1"
bob = "R2"
carl = ""
[values]
"9" = "cannot-tell"
[measures]
anomia = "anom_{rater}"
jargon = { column = "feat_{rater}___7", values = { "1" = "present", "0" = "absent" } }
"""


def test_redcap_with_columns_for_each_rater(run: Run, stored: Path) -> None:
    write(stored / "map.toml", REDCAP)
    columns = [f"anom_{r},feat_{r}___7" for r in ("anna", "bob", "carl")]
    table = write(
        stored / "redcap.csv",
        f"record_id,redcap_event_name,text,pid,{','.join(columns)}",
        f't1,arm_1,"{SAID[0]}",S-01,1,0,9,1,1,1',
        f't7,arm_1,"{SAID[1]}",S-02,0,1,,0,1,1',
    )
    done = run("import", table, "--set", "rc", "--mapping", stored / "map.toml", "--judge", "none")
    assert "left out: 4 answers of carl" in done.err
    assert answers("rc", stored) == [
        ("R1", 1, {"anomia": 1.0, "jargon": 0.0}),
        ("R1", 2, {"anomia": 0.0, "jargon": 1.0}),
        ("R2", 1, {"anomia": CANNOT_TELL, "jargon": 1.0}),
        ("R2", 2, {"jargon": 0.0}),
    ]
    shown = run("results", "--json").document["administrations"]
    assert [given["examinee"] for given in shown] == ["S-01", "S-02", "S-02"]


def task(number: int, *annotations: dict[str, Any], **data: str) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": []}


def annotation(by: object, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"completed_by": by, "result": list(results), "was_cancelled": False, **more}


def choice(control: str, *choices: str) -> dict[str, Any]:
    value = {"choices": list(choices)}
    return {"from_name": control, "to_name": "text", "type": "choices", "value": value}


def test_label_studio_with_a_list_of_features(run: Run, stored: Path) -> None:
    note = {"from_name": "note", "type": "textarea", "value": {"text": ["long pauses"]}}
    tasks = [
        task(
            1,
            annotation(3, choice("features", "Anomia", "Empty speech"), note, lead_time=12.5),
            annotation({"id": 4, "email": "b@x.org"}, choice("features", "Anomia")),
            annotation(5, was_cancelled=True),
            text_id="t1",
            text=SAID[0],
        ),
        task(2, annotation(3), text_id="t2"),
    ]
    path = write(stored / "ls.json", json.dumps(tasks))
    mapping = write(stored / "m.toml", 'response = "text_id"', '[raters]\n"b@x.org" = "Bea"')
    run("import", path, "--set", "ls", "--mapping", mapping, err="left out: 1 skipped tasks")
    ratings = kept("ls", stored)
    first = ratings["R3", SAID[0], 1]
    assert (first.note, first.seconds, len(first.answers)) == ("long pauses", 12.5, 19)
    assert {m for m, answer in first.answers.items() if answer} == {"anomia", "empty-speech"}
    assert {*ratings["R3", SAID[1], 2].answers.values()} == {0.0}
    listed = [len(ratings[key].confirmed or ()) for key in (("R3", SAID[0], 1), ("R3", SAID[1], 2))]
    assert listed == [17, 19], "what a list leaves out was not looked at one by one"
    assert {m for m, a in ratings["Bea", SAID[0], 1].answers.items() if a} == {"anomia"}


def test_label_studio_with_a_control_for_each_question(run: Run, stored: Path) -> None:
    rating = {"from_name": "jargon", "type": "rating", "value": {"rating": 3}}
    tasks = [task(1, annotation(1, choice("anomia", "not present"), rating), id="t1")]
    path = write(stored / "ls.json", json.dumps(tasks))
    run("import", path, "--set", "ls", "--form", "aprocsa-27")
    assert answers("ls", stored) == [("R1", 1, {"anomia": 0.0, "jargon": 3.0})]


NAMES = st.sampled_from(
    ["id", "data", "annotations", "completed_by", "result", "from_name", "value", "choices", "text"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["anomia", "Jargon", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


CONTROL = st.fixed_dictionaries(
    {"from_name": st.sampled_from(["anomia", "features", "note", "odd"]) | JSON},
    optional={"value": st.dictionaries(NAMES, JSON, max_size=3) | JSON, "type": JSON},
)
ANNOTATION = st.fixed_dictionaries(
    {"completed_by": st.integers(1, 3) | JSON, "result": st.lists(CONTROL, max_size=3) | JSON},
    optional={"lead_time": JSON, "was_cancelled": JSON},
)
TASKS = st.lists(
    st.fixed_dictionaries(
        {"id": JSON, "annotations": st.lists(ANNOTATION, max_size=3) | JSON},
        optional={"data": st.dictionaries(NAMES, JSON, max_size=3) | JSON},
    ),
    max_size=2,
)


@settings(max_examples=40, deadline=None)
@given(TASKS)
def test_any_tasks_are_read_or_refused(tasks: list[dict[str, Any]]) -> None:
    known = {"anomia": "anomia", "jargon": "jargon"}
    try:
        labels = read_tasks(tasks, Path("x.json"), FileMapping(), known)
    except TabwbError:
        return
    assert labels.labels or labels.sheets


def test_a_speaker_must_agree_to_rating(run: Run, stored: Path) -> None:
    for scope, agreed in (("record", "--given"), ("rate", "--withdrawn")):
        run("speaker", "consent", "S-01", "--scope", scope, agreed)
    run("import", write(stored / "r.csv", *LONG), "--set", "pilot", status=1, err="S-01")
    with Store.open(stored / "tabwb-data" / "tabwb.db") as store:
        assert store.sets.all() == ()


HEAD = "response,rater,measure,value"
WRONG: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    ((HEAD, "t1,R1,anomy,1"), (), "did you mean 'anomia'"),
    ((HEAD, "t1,R1,anomia,7"), (), "'anomia' cannot be '7'"),
    ((HEAD, "t1,Anna B,anomia,1"), (), "under [raters]"),
    ((HEAD, "t1,R1,anomia,1", "t1,R1,Anomia,0"), (), "has rated 'anomia' of response 't1' twice"),
    (("response,rater,measure", "t1,R1,anomia"), (), "there is no column 'value'"),
    ((HEAD, "t9,R1,anomia,1"), (), "is not in the store: 't9'"),
    ((f"{HEAD},text", "t1,R1,anomia,1,another"), (), "another text in the store"),
    ((f"{HEAD},text", "1/1,R1,anomia,1,another"), (), "another text in the store"),
    ((HEAD, "t1,R1,anomia#2,1"), (), "has no answer 'anomia#2'"),
    ((f"{HEAD},text", "new,R1,anomia,1,another"), (), "who gave these answers is not known"),
    ((HEAD, "t1,R1,anomia,1"), ("--battery", "tab"), "--battery"),
    (("[1, 2",), (), "is not JSON"),
    (('[{"id": 1, "data": {}}]',), (), "not a task with annotations"),
    (('[{"id": 1, "data": 3, "annotations": []}]',), (), "data are not an object"),
)


def test_what_is_wrong_is_told_and_nothing_is_stored(run: Run, stored: Path) -> None:
    for lines, options, expected in WRONG:
        table = write(stored / "r.csv", *lines)
        done = run("import", table, "--set", "pilot", *options, status=None, err=expected)
        assert done.status in (1, 2)
    with Store.open(stored / "tabwb-data" / "tabwb.db") as store:
        assert store.sets.all() == ()
        assert len(store.administrations()) == 2


def test_responses_are_found_by_number_where_an_id_is_not_enough(run: Run, stored: Path) -> None:
    run("import", stored / "texts.csv", "--judge", "none", "--again")
    refused = run(
        "import", write(stored / "r.csv", HEAD, "t1,R1,anomia,1"), "--set", "pilot", status=2
    )
    assert "several stored texts have the id 't1': 1/1 and 3/1" in refused.err
    table = write(stored / "r.csv", HEAD, "3/1,R1,anomia,1", "2/1/1,R1,anomia,0")
    run("import", table, "--set", "pilot")
    with Store.open(stored / "tabwb-data" / "tabwb.db") as store:
        samples = store.sets.samples(store.sets.get("pilot").id)
    assert [(one.administration, one.trial, one.text) for one in samples] == [
        (3, 1, SAID[0]),
        (2, 1, SAID[1]),
    ]


def test_two_raters_of_a_file_are_not_made_one(run: Run, stored: Path) -> None:
    table = write(stored / "r.csv", HEAD, "t3,1,anomia,1", "t3,R1,anomia,0", "t3,R1,jargon,0")
    refused = run("import", table, "--set", "pilot", "--dry-run", status=2)
    assert "raters '1' and 'R1' would both be R1" in refused.err
    mapping = write(stored / "m.toml", "[raters]", "1 = 'A'")
    done = run("import", table, "--set", "pilot", "--mapping", mapping, "--dry-run")
    assert "2 raters (A, R1)" in done.err + done.out


def test_a_person_has_no_code_of_a_judge(run: Run, stored: Path) -> None:
    for code in ("rules", "rules-2", "lexical"):
        table = write(stored / "r.csv", HEAD, f"t3,{code},anomia,1")
        said = f"'{code}' is a judge or a scorer"
        run("import", table, "--set", "pilot", "--dry-run", status=2, err=said)


def test_answers_without_a_rater_are_left_out(run: Run, stored: Path) -> None:
    table = write(stored / "r.csv", HEAD, "t3,,anomia,1", "t3,R1,anomia,0")
    done = run("import", table, "--set", "pilot", "--dry-run")
    assert "left out: 1 answers without a rater" in done.err


def test_ratings_without_a_set_are_not_taken_for_answers(run: Run, stored: Path) -> None:
    refused = run("import", write(stored / "r.csv", *LONG), status=2)
    assert "--set NAME makes a rating set of it" in refused.err
    run(
        "import",
        stored / "texts.csv",
        "--form",
        "tab-19",
        status=2,
        err="--form: this is for ratings",
    )


def test_every_problem_of_a_mapping_is_told_with_its_line(run: Run, stored: Path) -> None:
    mapping = write(stored / "m.toml", "respons = 'a'", "rater = 3", "[measures]", "anomia = 1")
    table = write(stored / "r.csv", *LONG)
    done = run("import", table, "--set", "pilot", "--mapping", mapping, status=1)
    for words in ("m.toml:1", "did you mean 'response'", "m.toml:2", "m.toml:4"):
        assert words in done.err
    mapping = write(stored / "m.toml", "[measures]", "anomy = 'x'")
    done = run("import", table, "--set", "pilot", "--mapping", mapping, status=1)
    assert "form 'tab-19' has no question 'anomy'" in done.err
    for lines, words in (
        (("[measures.anomia]", "column = 'value'", "values = 5"), "this is not a table"),
        (("a = " + "[" * 5000,), "nested more than the allowed"),
    ):
        mapping = write(stored / "m.toml", *lines)
        done = run("import", table, "--set", "pilot", "--mapping", mapping, status=1)
        assert (words in done.err, "defect" in done.err) == (True, False)


def test_a_column_of_the_mapping_that_is_not_there(stored: Path) -> None:
    form = open_form("tab-19", Plugins.load().find_battery)
    known = measures_by_name(form, {})
    mapping = FileMapping(measures={"anomia": "anomy"}, columns={"response": "id"})
    path = write(stored / "w.csv", "id,rater,anomi", "1,R1,1")
    with pytest.raises(AnswerProblems, match="did you mean 'anomi'"):
        read_labels(path, mapping, known)


def test_the_folder_of_a_set_gives_the_same_figures_in_another_store(
    run: Run, stored: Path
) -> None:
    texts = write(stored / "m.csv", "text,id,prompt,model", f'"={SAID[0]}",t3,Ask =.,m-x')
    run("import", texts)
    rows = [*LONG, 't3,R1,anomia,1,"=1, a note",', "t3,R2,anomia,1,,", "t3,R2,jargon,?,,"]
    table = write(stored / "r.csv", *rows)
    run("import", table, "--set", "pilot", "--counts", "consensus")
    folder, other = stored / "study", stored / "other.db"
    run("rate", "export", "pilot", "--out", folder, "--within-study")
    done = run("import", folder, "--store", other, "--json")
    assert done.document["rating_set"]["name"] == "pilot"
    figures = [run("agreement", "pilot", "--json", *o).out for o in ((), ("--store", other))]
    assert figures[0] == figures[1]
    assert "rules-2" in figures[0]
    with Store.open(other) as store:
        made = store.sets.get("pilot")
        samples = store.sets.samples(made.id)
        (settled,) = store.sets.adjudications(made.id)
        notes = {one.note for one in store.sets.ratings(made.id)}
    assert (made.counts, settled.reason) == ("consensus", "settled elsewhere")
    assert [sample.text for sample in samples][2] == f"={SAID[0]}"
    assert notes == {"", "hard", "=1, a note"}
    run("import", folder, "--set", "copy")
    with Store.open(stored / "tabwb-data" / "tabwb.db") as store:
        assert len(store.administrations()) == 3
    for name, old, new, words in (
        ("set.json", '"max_words": null', '"max_words": "a"', "max_words: Input should be"),
        ("set.json", '"R1",', "5,", "set.json: 0: Input should be"),
        ("form.json", '"kind": "present-absent"', '"kind": []', "questions.0.kind: Input"),
        ("form.json", '"measure": "jargon"', '"measure": "anomia"', "each measure once"),
        ("samples.csv", ",1.0,", ",nan,", "samples.csv:2: 'nan' is not a weight"),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(TabwbError) as refused_folder:
            read_study(folder)
        assert words in str(refused_folder.value)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "guidelines.txt").symlink_to(__file__)
    run("import", folder, "--set", "third", status=2, err="lies outside the folder")
    (folder / "guidelines.txt").unlink()
    (folder / "form.json").write_text("[]", encoding="utf-8")
    run("import", folder, "--set", "third", status=1, err="is not an object")
    (folder / "form.json").unlink()
    refused = run("import", folder, "--set", "third", status=2).err
    assert "is not the folder of a rating set" in refused
