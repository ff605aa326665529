"""``tabwb import`` of answers: tables and logs of other tools, scored as in a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabwb.store import write
from tabwb.store.store import Store
from tests.cli.conftest import Run

HEAD = "subtest,item,response"
ROWS = ("words,w1,dog", "words,w2,The wall.", "saying,s1,house.")
FORMATS = {"inspect": "a.eval", "lm-eval": "a", "jsonl": "a.jsonl"}
DATA = Path(__file__).parents[1] / "data" / "interchange"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("\n".join([HEAD, *ROWS]) + "\n", encoding="utf-8")
    return path


def rewrite(path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def ratings(trials: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {
        f"{trial['subtest']}/{trial['item']}/{trial['replicate']}/{trial['options']}": [
            trial["response"],
            trial["status"],
            trial["prompt"],
            trial["latency_s"],
            trial["ratings"],
        ]
        for trial in trials
        if trial["state"] == "answered"
    }


def test_a_table_is_scored_as_a_run(run: Run, battery_file: Path, table: Path) -> None:
    done = run("import", table, "--battery", battery_file, "--model", "GPT-x", "--json")
    (given,) = done.document["administrations"]
    assert (given["examinee"], given["origin"]) == ("imported:GPT-x", "model")
    assert (given["status"], given["answered"], given["planned"]) == ("done", 3, 3)
    assert given["session_date"] is None
    (report,) = done.document["imports"]
    assert report["matched"] == {"id": 3}
    result = run("results", 1, "--json").document
    exact = {
        trial["item"]: next(r["value"] for r in trial["ratings"] if r["measure"] == "exact")
        for trial in result["trials"]
    }
    assert exact == {"w1": 1.0, "w2": 0.0, "s1": 1.0}
    assert (given["seed"], given["decoding"]["temperature"]) == (None, None)
    decoding = {trial["item"]: trial["reply"]["decoding"] for trial in result["trials"]}
    assert set(decoding["w1"].values()) == {None}
    facts = result["administration"]["model_facts"]
    assert (facts["imported_file"], facts["model"]) == ("answers.csv", "imported:GPT-x")
    (first, sent) = result["administration"]["notes"]
    assert first.startswith(f"Imported from answers.csv (SHA-256 {facts['imported_sha256'][:12]}…)")
    assert sent == "The source does not say what was sent: the prompts are the battery's."


def test_the_same_answers_have_the_same_ratings_as_a_replay(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    lines = [
        {"subtest": s, "item": i, "replicate": 0, "origin": "model", "response": r}
        for s, i, r in (row.split(",") for row in ROWS)
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run("run", battery_file, "--model", f"replay:{file}")
    run("import", file, "--battery", battery_file, "--model", "m")
    replayed, imported = (run("results", n, "--json").document["trials"] for n in (1, 2))
    assert [t["ratings"] for t in replayed] == [t["ratings"] for t in imported]
    assert [t["prompt"] for t in replayed] == [t["prompt"] for t in imported]


def test_a_round_trip_gives_the_same_responses_and_ratings(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    asked = ("--replicates", 2, "--temperature", 0.7, "--seed", 5, "--shuffle-options")
    first = run("run", battery_file, "--model", "echo", *asked, "--json").document
    for number, (format_id, name) in enumerate(FORMATS.items(), start=2):
        run("export", 1, "--format", format_id, "--out", tmp_path / name)
        run("import", tmp_path / name, "--battery", battery_file)
        second = run("results", number, "--json").document
        assert ratings(first["trials"]) == ratings(second["trials"])
        assert [t["reply"]["decoding"] for t in first["trials"]] == [
            t["reply"]["decoding"] for t in second["trials"]
        ]
        kept = ("examinee", "kind", "seed", "replicates", "protocol", "option_order", "origin")
        for condition in kept:
            assert first["administration"][condition] == second["administration"][condition]
        decodings = [each["administration"]["decoding"] for each in (first, second)]
        assert decodings[0]["temperature"] == decodings[1]["temperature"] == 0.7
    # Draws of the same model with the same seeds: together they count once.
    groups = run("results", "--by", "model", "--json").document["groups"]
    assert [len(group["administrations"]) for group in groups] == [4]
    assert [subtest["n"] for subtest in groups[0]["summary"]["subtests"]] == [4, 2]


def test_rotated_options_and_conversations_come_back(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    asked = ("--rotate-options", "--conversation")
    run("run", battery_file, "--model", "echo", *asked)
    for number, format_id in enumerate(("inspect", "lm-eval"), start=2):
        out = tmp_path / FORMATS[format_id]
        run("export", 1, "--format", format_id, "--out", out)
        run("import", out, "--battery", battery_file)
        first, second = (run("results", n, "--json").document for n in (1, number))
        assert ratings(first["trials"]) == ratings(second["trials"])
        assert second["administration"]["option_order"] == "rotated"
        assert second["administration"]["conversation"] is True
        with Store.open() as store:
            sent = [
                [t.counting.messages for t in store.trials(n) if t.counting] for n in (1, number)
            ]
        assert sent[0] == sent[1]
        assert max(map(len, sent[1])) > 3, "earlier turns are part of what was sent"


def test_a_part_of_a_battery_comes_back_as_a_part(
    run: Run, battery_file: Path, tmp_path: Path
) -> None:
    run("run", battery_file, "--model", "echo", "--subtest", "words", "--limit", 1)
    out = tmp_path / "a.eval"
    run("export", 1, "--format", "inspect", "--out", out)
    (given,) = run("import", out, "--battery", battery_file, "--json").document["administrations"]
    assert (given["planned"], given["part_subtests"], given["part_limit"]) == (1, ["words"], 1)


def test_a_log_of_another_task(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    done = run("import", DATA / "words.eval", "--battery", "tab", "--judge", "none", "--json")
    (report,) = done.document["imports"]
    assert report["matched"] == {"id": 2, "prompt": 2}
    assert (report["answers"], report["unmatched"], report["replicates"]) == (4, 2, 2)
    assert len(report["missing"]) == 18
    assert "left out: 2 answers to no item of 'tab'" in done.err
    (given,) = done.document["administrations"]
    assert (given["examinee"], given["seed"]) == ("imported:mockllm/model", 42)
    assert given["decoding"]["temperature"] == 0.7
    assert given["session_date"] == "2026-11-22"
    trials = run("results", 1, "--json").document["trials"]
    states = [trial["state"] for trial in trials]
    assert (states.count("answered"), states.count("not-administered")) == (4, 18)
    drum = next(trial for trial in trials if trial["response"] == "The drum")
    assert (drum["item"], drum["replicate"]) == ("wc1", 1)
    assert drum["options"] == ["lion", "drum", "violin", "giraffe", "boot", "boat"]
    assert drum["reply"]["prompt_tokens"] == 11
    assert (drum["reply"]["decoding"]["max_tokens"], drum["reply"]["decoding"]["seed"]) == (64, 42)
    assert drum["reply"]["recorded_at"] == "2026-11-22T11:43:52.354+00:00"


def test_a_dry_run_stores_nothing(run: Run, battery_file: Path, table: Path) -> None:
    asked = ("import", table, "--battery", battery_file, "--model", "m", "--dry-run")
    done = run(*asked)
    assert "imported:m (model): 3 answers, items found: 3 by id; recorded answers" in done.out
    assert "words/w2 0: The wall." in done.out
    assert run("results", "--json").document["administrations"] == []
    assert run(*asked, "--json").document["imports"][0]["answers"] == 3


def test_unknown_items_are_errors_with_their_place(
    run: Run, battery_file: Path, table: Path
) -> None:
    rewrite(table, HEAD, ROWS[0], "words,w22,wall", "wrds,w1,dog")
    refused = run("import", table, "--battery", battery_file, "--model", "m", status=1)
    assert (
        f"{table}:3: column 'item': 'words' has no such item; found 'w22'; allowed: w1, w2; did "
        "you mean 'w2'?"
    ) in refused.err
    assert (
        f"{table}:4: column 'subtest': 'small' has no such subtest; found 'wrds'; allowed: words, "
        "saying; did you mean 'words'?"
    ) in refused.err
    assert "nothing was imported" in refused.err
    lenient = run("import", table, "--battery", battery_file, "--model", "m", "--skip-unknown")
    assert "left out: 2 answers to no item of 'small'" in lenient.err
    assert "not administered: 2 items without an answer (words/w2, saying/s1)" in lenient.err


def test_second_answers_are_errors_unless_they_are_replicates(
    run: Run, battery_file: Path, table: Path
) -> None:
    rewrite(table, HEAD, *ROWS, "words,w1,tree")
    asked = ("import", table, "--battery", battery_file, "--model", "m")
    refused = run(*asked, status=1)
    assert f"{table}:5: a second answer to words/w1; the first is in line 2" in refused.err
    assert "--number-replicates" in refused.err
    done = run(*asked, "--number-replicates", "--json")
    assert done.document["imports"][0]["replicates"] == 2
    assert done.document["imports"][0]["missing_replicates"] == 2
    rewrite(table, f"{HEAD},replicate", *(f"{row},1" for row in ROWS), "words,w1,tree,1")
    numbered = run(*asked, "--number-replicates", status=1)
    assert "a second answer of the same replicate to words/w1" in numbered.err


def test_replicates_may_be_numbered_from_one(run: Run, battery_file: Path, table: Path) -> None:
    rows = (f"{row},{number}" for row in ROWS for number in (1, 2))
    rewrite(table, f"{HEAD},replicate", *rows)
    run("import", table, "--battery", battery_file, "--model", "m")
    trials = run("results", 1, "--json").document["trials"]
    assert [trial["replicate"] for trial in trials] == [0, 0, 0, 1, 1, 1]


def test_unlike_answers_at_an_unknown_temperature_count_each(
    run: Run, battery_file: Path, table: Path
) -> None:
    said = ("dog", "dog", "dog", "tree")
    rows = [f"words,w1,{text},{number}" for number, text in enumerate(said)]
    rewrite(table, f"{HEAD},replicate", *rows)
    run("import", table, "--battery", battery_file, "--model", "m")
    summary = run("results", 1, "--json").document["summary"]
    assert (summary["subtests"][0]["n"], summary["subtests"][0]["correct"]) == (4, 3)
    notes = run("results", 1, "--json").document["administration"]["notes"]
    assert any("each counts as a separate draw" in note for note in notes)


def test_several_models_are_several_administrations(
    run: Run, battery_file: Path, table: Path
) -> None:
    rows = [f"{row},{model},{heat}" for model, heat in (("a", 0), ("b", 0.5)) for row in ROWS]
    rewrite(table, f"{HEAD},model,temperature", *rows)
    done = run("import", table, "--battery", battery_file, "--json")
    given = done.document["administrations"]
    assert [each["examinee"] for each in given] == ["imported:a", "imported:b"]
    assert [each["decoding"]["temperature"] for each in given] == [0, 0.5]
    refused = run("import", table, "--battery", battery_file, "--model", "c", status=2)
    assert "holds answers of 2 models: a, b" in refused.err


def test_a_column_prompt_finds_the_item(run: Run, battery_file: Path, table: Path) -> None:
    rewrite(
        table,
        "question,text",
        '"Please: which one  BARKS? (cup, tree, dog)",dog',
        '"house.",house.',
    )
    columns = ("--column", "prompt=question", "--column", "response=text")
    done = run("import", table, "--battery", battery_file, "--model", "m", *columns, "--json")
    assert done.document["imports"][0]["matched"] == {"prompt within the text": 1, "prompt": 1}
    trials = {t["item"]: t for t in run("results", 1, "--json").document["trials"]}
    assert trials["w1"]["options"] == ["cup", "tree", "dog"]
    assert trials["w1"]["prompt"] == "Please: which one  BARKS? (cup, tree, dog)"
    assert trials["w2"]["state"] == "not-administered"


def test_who_answered_must_be_said(run: Run, battery_file: Path, table: Path) -> None:
    asked = ("import", table, "--battery", battery_file)
    run(*asked, status=2, err="who gave these answers is not known")
    run(*asked, "--origin", "human", status=2)
    for options, message in (
        (("--origin", "human", "--model", "m"), "--origin human and --model exclude each other"),
        (("--origin", "model", "--speaker", "S-1"), "--origin model and --speaker exclude"),
        (("--origin", "model"), "the model that gave these answers is not known"),
        (("--speaker", "Ada Byron"), "not a valid participant code"),
    ):
        run(*asked, *options, status=2, err=message)
    assert run("results", "--json").document["administrations"] == []


def test_a_persons_answers_are_protected(
    run: Run, battery_file: Path, table: Path, tmp_path: Path
) -> None:
    asked = ("import", table, "--battery", battery_file, "--speaker", "S-014")
    run("speaker", "consent", "S-014", "--scope", "play-back", "--given")
    run(*asked, status=1, err="S-014 has not consented to recording")
    assert run("results", "--json").document["administrations"] == []
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    done = run(*asked, "--date", "2024-03-09", "--json")
    (given,) = done.document["administrations"]
    assert (given["kind"], given["examinee"], given["origin"]) == ("speaker", "S-014", "human")
    assert given["session_date"] == "2024-03-09"
    with Store.open() as store:
        (entry,) = store.people.log_entries("S-014", 1)
        assert entry.act == "imported"
    shared = run("export", 1, "--format", "inspect", "--out", tmp_path / "a.eval", status=1)
    assert "(scope 'share'): S-014" in shared.err
    kept = ("--format", "inspect", "--out", tmp_path / "a.eval", "--within-study")
    run("export", 1, *kept)
    # Read back, they are the same person's, whatever the user says.
    run("import", tmp_path / "a.eval", "--battery", battery_file)
    again = run(
        "import", tmp_path / "a.eval", "--battery", battery_file, "--origin", "model", status=2
    )
    assert "the file says that a person responded" in again.err
    with Store.open() as store:
        assert store.administration(2).conditions.person == "S-014"
    gone = run("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes", "--json")
    assert gone.document["deleted"]["counts"]["administrations"] == 2
    run(*asked, status=1, err="S-014 was deleted")


def test_answers_of_unknown_origin_are_guarded(
    run: Run, battery_file: Path, table: Path, tmp_path: Path
) -> None:
    done = run("import", table, "--battery", battery_file, "--origin", "unknown")
    with Store.open() as store:
        conditions = store.administration(1).conditions
    assert (conditions.examinee, conditions.guarded) == ("imported:answers", True)
    assert "protected as a person's (state it with --model NAME or --speaker ID" in done.err
    run("judge", "run", 1, "--judge", "tab-2026:openai:gpt-4o-mini", "--json", status=1)


def test_an_import_that_is_stopped_leaves_nothing(
    run: Run, battery_file: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{row},{model}" for model in "ab" for row in ROWS]
    rewrite(table, f"{HEAD},model", *rows)
    appended = write.append
    calls: list[int] = []

    def fail(*arguments: Any) -> None:
        calls.append(arguments[2])
        if len(calls) == 2:
            raise KeyboardInterrupt
        appended(*arguments)

    monkeypatch.setattr(write, "append", fail)
    run("import", table, "--battery", battery_file, status=130)
    monkeypatch.setattr(write, "append", appended)
    assert len(calls) == 2
    assert run("results", "--json").document["administrations"] == []
    run("import", table, "--battery", battery_file)
    assert len(run("results", "--json").document["administrations"]) == 2


def test_no_model_is_asked_for_what_an_import_lacks(
    run: Run, battery_file: Path, table: Path
) -> None:
    run("import", table, "--battery", battery_file, "--model", "echo")
    run("trial", "undo", 1)
    run("resume", 1, status=1, err="the responses of this administration were imported")


def test_a_judge_that_asks_a_model_runs_afterwards(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    rewrite(path, "item,response", "ct1,We went to the sea and came home late in the evening.")
    judge = "tab-2026:echo"
    done = run(
        "import", path, "--battery", "tab", "--model", "m", "--judge", judge, "--json", status=1
    )
    # The answers are stored; echo gives no reply that can be read, as 'judge run' says too.
    assert (done.status, len(done.document["administrations"])) == (1, 1)
    trials = run("results", 1, "--json").document["trials"]
    assert {rating["rater"] for rating in trials[0]["ratings"]} >= {judge}
    assert trials[0]["judgements"][0]["rater"] == judge


def test_bad_options(run: Run, battery_file: Path, table: Path) -> None:
    for arguments, message in (
        ("--tier item=Wort", "--tier: this is for spoken naming"),
        ("--column response", "'response' is not FIELD=NAME"),
        ("--format insepct", "there is no import format 'insepct'; did you mean 'inspect'?"),
        ("--format naming", "--model: this is not for spoken naming"),
        ("--judge ruels", "did you mean 'rules'?"),
        ("--date 2024-13-01", "'2024-13-01' is not a valid date"),
    ):
        asked = ("--battery", battery_file, "--model", "m", *arguments.split())
        run("import", table, *asked, status=2, err=message)


def test_a_file_of_no_known_format(run: Run, battery_file: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.xlsx").write_bytes(b"PK")
    refused = run("import", tmp_path / "answers.xlsx", "--battery", battery_file, status=2)
    assert "is not a file of a known format" in refused.err
    assert "save a spreadsheet as CSV" in refused.err


def test_answers_to_nothing_in_the_battery(run: Run, table: Path) -> None:
    pytest.importorskip("zstandard")
    refused = run("import", DATA / "words.eval", "--battery", "naming-demo", status=2)
    assert "none of 6 answers is to an item of 'naming-demo'" in refused.err


def test_models_of_a_table_have_the_labels_of_columns_or_of_a_profile(
    run: Run, battery_file: Path, table: Path
) -> None:
    run("model", "add", "mine", "echo", "--family", "GPT", "--tuning", "instruct")
    head = f"{HEAD},model,model_family,model_tuning,model_parameters"
    names = (",A-1B,A,base,1e9", ",profile:mine,,,")
    rewrite(table, head, *(row + name for name in names for row in ROWS))
    done = run("import", table, "--battery", battery_file, "--json")
    first, second = done.document["administrations"]
    assert (first["examinee"], second["examinee"]) == ("imported:A-1B", "echo")
    assert first["labels"] == {"family": "A", "tuning": "base", "parameters": "1000000000"}
    assert second["labels"] == {"family": "GPT", "tuning": "instruct", "profile": "mine"}


SAID = (
    "I went to the store, and then I bought some bread and milk for the family.",
    "The winter was long, so we read books and played cards in the kitchen.",
    "My sister lives in the north and has three children and a small dog.",
)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.csv"
    rows = [
        "text,id,prompt,source,group,site",
        f'"{SAID[0]}",t1,Tell me about your day.,S-01,aphasia,Ulm',
        f'"{SAID[1]}",t2,What do you like?,S-01,aphasia,Ulm',
        f'"{SAID[2]}",t3,Tell me about your day.,S-02,control group,Bonn',
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_each_source_is_an_administration(run: Run, texts: Path) -> None:
    done = run("import", texts, "--origin", "human", "--json")
    one, two = done.document["administrations"]
    assert [(g["examinee"], g["kind"], g["tags"]) for g in (one, two)] == [
        ("S-01", "speaker", ["aphasia"]),
        ("S-02", "speaker", ["control-group"]),
    ]
    assert one["battery"] == two["battery"]
    trials = run("results", 1, "--json").document["trials"]
    first = next(trial for trial in trials if trial["item"] == "tell-me-about-your-day")
    assert first["response"] == SAID[0]
    assert first["attempts"][0]["metadata"] == {"source.id": "t1", "source.site": "Ulm"}
    rated = {r["measure"]: r["status"] for r in first["ratings"] if r["rater"] == "rules-2"}
    assert rated["perseverations"] == "value"
    assert len(rated) == 19


def test_a_deleted_speakers_texts_are_gone(run: Run, texts: Path, tmp_path: Path) -> None:
    run("import", texts, "--origin", "human", "--judge", "none")
    run("speaker", "delete", "S-01", "--reason", "withdrawn", "--yes")
    files = (path for path in (tmp_path / "tabwb-data").rglob("*") if path.is_file())
    stored = b"".join(path.read_bytes() for path in files)
    assert SAID[1].encode() not in stored
    assert SAID[2].encode() in stored


def test_a_registered_speaker_must_have_agreed(run: Run, texts: Path) -> None:
    consent = ("speaker", "consent", "S-02", "--scope", "record", "--withdrawn")
    run(*consent)
    run("import", texts, "--origin", "human", status=1, err="S-02")
    assert run("results", "--json").document["administrations"] == []


@pytest.mark.parametrize(
    ("head", "options", "expected"),
    [
        ("text,source", (), "who gave these answers is not known"),
        ("text,source", ("--origin", "human", "--format", "table"), None),
        ("response,source", (), "there is no column 'item'"),
        ("item,response", (), "the battery whose items were answered is not named"),
        ("text,source", ("--battery", "tab"), "neither items nor prompts are named"),
        ("text,language", ("--model", "m"), "this is not a language"),
    ],
)
def test_what_is_missing_is_said(
    run: Run, tmp_path: Path, head: str, options: tuple[str, ...], expected: str | None
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{head}\nno matter what,S-01\n", encoding="utf-8")
    done = run("import", path, *options, status=None)
    assert (done.status == 0) == (expected is None), done.err
    assert expected is None or expected in done.err


def test_each_transcript_of_a_folder_is_known_when_it_comes_again(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "more").mkdir(parents=True)
    for place, gem in (("S-31.cha", "Flood"), ("more/S-32.cha", "Cat")):
        tiers = f"@G:\t{gem}\n*PAR:\tI [/] I went (.) home with the dog .\n"
        (folder / place).write_text(f"@UTF8\n@Begin\n{tiers}@End\n", encoding="utf-8")
    done = run("import", folder, "--judge", "none", "--json")
    given = done.document["administrations"]
    assert [(one["examinee"], one["answered"], one["planned"]) for one in given] == [
        ("S-31", 1, 2),
        ("S-32", 1, 2),
    ]
    (whence, dropped, lacks) = run("results", 1, "--json").document["administration"]["notes"]
    assert whence.startswith("Imported from S-31.cha (SHA-256 ")
    assert dropped == "Dropped from the transcript: 1 pause."
    assert lacks == "The transcript lacks @Participants."
    trials = run("results", 1, "--json").document["trials"]
    rated = {r["measure"]: r["value"] for t in trials for r in t["ratings"]}
    assert (rated["retracing"], rated["false-starts"], rated["jargon"]) == (0.0, 0.0, None)
    again = run("import", folder / "S-31.cha", status=2)
    assert "S-31 are in the store already: administration 1" in again.err
    run("import", folder, "--again", "--judge", "none")


def test_one_speaker_is_named_for_a_folder_of_chat_files(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(20):
        said = f"*INV:\ttell me .\n*PAR:\twe went to the lake {number} times .\n"
        (folder / f"s{number:02}.cha").write_text(f"@UTF8\n@Begin\n{said}@End\n", encoding="utf-8")
    run("speaker", "add", "P1")
    consent = ("speaker", "consent", "P1", "--scope", "record", "--given", "2026-11-01")
    run(*consent, "--document", "binder 4")
    named = ("--speaker", "P1", "--judge", "none", "--json")
    (alone,) = run("import", folder / "s00.cha", *named).document["administrations"]
    assert (alone["examinee"], alone["answered"]) == ("P1", 1)
    (folder / "s00.cha").unlink()
    done = run("import", folder, *named)
    given = done.document["administrations"]
    assert {one["examinee"] for one in given} == {"P1"}
    assert sum(one["answered"] for one in given) == 19
