"""Each operation does the same from the command line, from Python and in the workbench."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.operations.battery import CheckBattery
from tabwb.operations.files import DrawFigure, ExportResults, WriteReport
from tabwb.operations.importing import ImportFile
from tabwb.operations.judge import JudgeRun
from tabwb.operations.model import AddProfile, ListModels, RemoveProfile, TryModel
from tabwb.operations.operation import Operation, made, values_of, words_of
from tabwb.operations.rate import (
    CloseSet,
    ExportRatings,
    ListLinks,
    MakeLinks,
    PlanRatings,
    ReopenSet,
    RevokeLinks,
    SettleAnswer,
    ShowSet,
    StatusOfSet,
)
from tabwb.operations.speaker import (
    AddSpeaker,
    ConsentOfSpeaker,
    DeleteSpeaker,
    ListSpeakers,
    LogOfSpeakers,
    SetSpeaker,
    ShowSpeaker,
)
from tabwb.operations.store import BackupStore, CheckStore, MergeStore, StoreInfo
from tabwb.operations.transcribing import TranscribeFiles, TranscribeResponses
from tabwb.operations.trial import (
    CodeResponse,
    HeardResponse,
    HistoryOfTrial,
    NoteOnTrial,
    RescoreAdministration,
    ScoreResponse,
    SetAttempt,
    SetOnset,
    TagAdministrations,
    UndoLatest,
    VoidTrial,
)
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tabwb.workbench.engine.jobs import Jobs
from tests.administer.naming_parts import naming_battery
from tests.administer.rating.adjudication_parts import disputed_set
from tests.builders import recordings, typed_table
from tests.cli.conftest import Run, replayed, run  # noqa: F401 - a fixture
from tests.workbench.seat import workbench


@pytest.fixture
def stores(run: Run, tmp_path: Path) -> list[Path]:  # noqa: F811
    """Three copies of a store with one administration that nobody has judged."""
    model = replayed(tmp_path / "answers.jsonl")
    first = tmp_path / "command.db"
    run("run", "tab", "--model", model, "--judge", "none", "--store", first)
    copies = [tmp_path / "python.db", tmp_path / "workbench" / "store.db"]
    copies[1].parent.mkdir()
    for copy in copies:
        shutil.copy(first, copy)
    return [first, *copies]


def ratings(path: Path) -> list[tuple[Any, ...]]:
    with Store.open(path) as store:
        return [
            (trial.plan.number, one.rater, one.measure, one.value, str(one.status), one.reason)
            for trial in store.trials(1)
            for one in trial.ratings
        ]


def ended(jobs: Jobs, number: int) -> bool:
    return not jobs.all[number].state.active


async def worked(store: Path, *wanted: Operation) -> list[Any]:
    """Do operations as background jobs of the workbench; return their documents."""
    documents = []
    async with workbench(store.parent) as seat:
        jobs = seat.desk.sessions.jobs
        for one in wanted:
            number = await seat.desk.ask(jobs.begin, one)
            await seat.until(partial(ended, jobs, number), "the end")
            documents.append(jobs.all[number].state.document)
    return documents


async def test_judging(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    options = ("--judge", "rules-1", "--scope", "all", "--json")
    document = run("judge", "run", "1", *options, "--store", command).document
    with tabwb.open(python, write=True) as study:
        table = study.judge(1, "rules-1", scope="all")
    wanted = JudgeRun(ids=(1,), judge=("rules-1",), scope="all")
    (of_workbench,) = await worked(workbench_store, wanted)
    assert {"format": 1, **of_workbench} == document
    (row,) = document["judging"]
    assert row["judged"] == 20
    names = {"id": "administration"} | {name: name for name in table.names if name != "id"}
    assert list(table.rows()) == [tuple(row[names[name]] for name in table.names)]
    assert ratings(command) == ratings(python) == ratings(workbench_store) != []


CORRECTIONS: tuple[tuple[str, type[Operation], dict[str, Any]], ...] = (
    ("tag 1 --title pilot --add a --add b", TagAdministrations,
     {"ids": (1,), "title": "pilot", "add": ("a", "b")}),
    ("tag 1 --undo", TagAdministrations, {"ids": (1,), "undo": True}),
    ("trial void 1 rp1 --reason noise", VoidTrial,
     {"administration": 1, "trial": "rp1", "reason": "noise"}),
    ("trial note 1 2 loud", NoteOnTrial, {"administration": 1, "trial": 2, "text": "loud"}),
    ("trial rescore 1", RescoreAdministration, {"administration": 1}),
    ("trial undo 1", UndoLatest, {"administration": 1}),
)  # fmt: skip


async def test_corrections(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    documents = [
        run(*words.split(), "--json", "--store", command).document for words, *_ in CORRECTIONS
    ]
    with tabwb.open(python, write=True) as study:
        of_python = [
            getattr(study, words.split()[words.startswith("trial")])(**values)
            for words, _, values in CORRECTIONS
        ]
    wanted = [kind(**values) for _, kind, values in CORRECTIONS]
    of_workbench = await worked(workbench_store, *wanted)
    assert [{"format": 1, **one} for one in of_python] == documents
    assert [{"format": 1, **one} for one in of_workbench] == documents
    assert documents[0]["administrations"][0]["tags"] == ["a", "b"]
    assert documents[1]["administrations"][0]["tags"] == []
    assert documents[-1]["undone"] == [{"what": "void", "trial": documents[2]["trial"]}]
    assert ratings(command) == ratings(python) == ratings(workbench_store) != []
    place = ("1", "--store", command)
    for words, n in (("void repetition/rp1 --reason misread", 4), ("undo", 5)):
        what, *more = words.split()
        run("trial", what, "1", *more, "--store", command)
        assert run("results", *place, "--json").document["summary"]["subtests"][3]["n"] == n
    run("trial", "void", "1", "nothing", "--reason", "x", "--store", command, status=2)
    with tabwb.open(python, write=True) as study, pytest.raises(tabwb.UsageError):
        study.void(1, "nothing", reason="x")


PEOPLE: tuple[tuple[str, str, type[Operation], dict[str, Any]], ...] = (
    ("speaker add S-014 AQ=71.3 dialect=Scots", "add_speaker", AddSpeaker,
     {"speaker": "S-014", "values": {"AQ": 71.3, "dialect": "Scots"}}),
    ("speaker set S-014 AQ= months_post_onset=18", "set_speaker", SetSpeaker,
     {"speaker": "S-014", "values": ["AQ=", "months_post_onset=18"]}),
    ("speaker consent S-014 --scope rate --scope share --given 2026-01-02", "consent",
     ConsentOfSpeaker, {"speaker": "S-014", "scope": ["rate", "share"], "given": "2026-01-02"}),
    ("speaker consent S-014 --scope rate --withdrawn 2026-02-02", "consent", ConsentOfSpeaker,
     {"speaker": "S-014", "scope": ["rate"], "withdrawn": "2026-02-02"}),
    ("speaker consent S-014 --all --withdrawn 2026-02-03", "consent", ConsentOfSpeaker,
     {"speaker": "S-014", "everything": True, "withdrawn": "2026-02-03"}),
    ("speaker list", "speakers", ListSpeakers, {}),
    ("speaker show S-014", "speaker", ShowSpeaker, {"speaker": "S-014"}),
    ("speaker log S-014", "log", LogOfSpeakers, {"speaker": "S-014"}),
    ("speaker delete S-014 --reason other --yes", "delete_speaker", DeleteSpeaker,
     {"speaker": "S-014", "reason": "other"}),
)  # fmt: skip


def undated(document: Any) -> Any:
    """A document without the times at which things were recorded, and what is drawn at random."""
    if isinstance(document, dict):
        times = ("uid", "created_at", "at", "recorded_at", "deleted_at", "made_at", "revoked_at",
                 "expires_at", "last", "link", "link_made_at", "format", "file")  # fmt: skip
        return {key: undated(value) for key, value in document.items() if key not in times}
    return list(map(undated, document)) if isinstance(document, list | tuple) else document


async def test_people(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    documents = [run(*words.split(), "--json", "--store", command).document for words, *_ in PEOPLE]
    with tabwb.open(python, write=True) as study:
        of_python = [getattr(study, name)(**values) for _, name, _, values in PEOPLE]
    wanted = [made(kind, values) for _, _, kind, values in PEOPLE]
    of_workbench = await worked(workbench_store, *wanted)
    assert undated(of_python) == undated(documents) == undated(of_workbench)
    assert documents[1]["speaker"]["values"] == {"dialect": "Scots", "months_post_onset": 18.0}
    assert [one["speaker"]["version"] for one in documents[:2]] == [1, 2]
    assert [one["speaker"]["may"] for one in documents[2:5]] == [["rate", "share"], ["share"], []]
    given = [one["given"] for one in documents[3]["speaker"]["consents"]]
    assert given == [True, True, False]
    assert documents[5]["speakers"][0]["may"] == []
    assert documents[-1]["deleted"]["reason"] == "other"


FILES: tuple[tuple[str, str, str, type[Operation], dict[str, Any]], ...] = (
    ("export 1 --out {}", "a.jsonl", "export", ExportResults, {"ids": 1}),
    ("export 1 --out {} --format parquet --wide", "a.parquet", "export", ExportResults,
     {"ids": 1, "format": "parquet", "wide": True}),
    ("report --by model --out {} --title Test --responses 2", "a.html", "report", WriteReport,
     {"by": "model", "title": "Test", "responses": 2}),
    ("report 1 --by administration --out {} --subtest repetition", "a.md", "report", WriteReport,
     {"ids": 1, "by": "administration", "subtests": ("repetition",)}),
    ("figure accuracy 1 --out {} --option policy=normalised --width double", "a.pdf",
     "write_figure", DrawFigure,
     {"name": "accuracy", "ids": 1, "option": {"policy": "normalised"}, "width": "double"}),
)  # fmt: skip


async def test_files(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    command, python, workbench_store = stores
    folders = [tmp_path / name for name in ("command", "python", "workbench")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    first, second, third = folders
    documents = []
    for words, name, *_ in FILES:
        line = words.format(first / name).split()
        documents.append(run(*line, "--json", "--store", command).document)
    with tabwb.open(python) as study:
        for _, name, method, _, values in FILES:
            assert getattr(study, method)(out=second / name, **values) == second / name
    wanted = [made(kind, {**values, "out": third / name}) for _, name, _, kind, values in FILES]
    of_workbench = await worked(workbench_store, *wanted)
    for (_, name, *_), document, other in zip(FILES, documents, of_workbench, strict=True):
        assert document == {"format": 1, "written": [str(first / name)]}
        assert other == {"written": [str(third / name)]}
        texts = {(folder / name).read_bytes() for folder in folders}
        assert len(texts) == 1, name


async def test_a_file_that_exists_is_kept(run: Run, stores: list[Path]) -> None:  # noqa: F811
    out = stores[0].with_name("a.csv")
    out.write_text("mine")
    options = ("--format", "csv", "--out", out)
    assert "--force" in run("export", 1, *options, "--store", stores[0], status=1).err
    with tabwb.open(stores[1]) as study, pytest.raises(TabwbError, match="already exists"):
        study.export(1, format="csv", out=out)
    async with workbench(stores[2].parent) as seat:
        jobs = seat.desk.sessions.jobs
        wanted = ExportResults(ids=(1,), format="csv", out=out)
        number = await seat.desk.ask(jobs.begin, wanted)
        await seat.until(partial(ended, jobs, number), "the end")
        assert jobs.all[number].state.phase == "refused"
    assert out.read_text() == "mine"


RATED: tuple[tuple[str, str, tuple[Any, ...], type[Operation], dict[str, Any]], ...] = (
    ("settle pilot 1 jargon present --reason heard --who A1", "settle",
     (1, "jargon", 1.0, "heard", "A1"), SettleAnswer,
     {"sample": 1, "measure": "jargon", "value": "present", "reason": "heard", "who": "A1"}),
    ("settle pilot 1 jargon --undo", "settle", (1, "jargon", None), SettleAnswer,
     {"sample": 1, "measure": "jargon", "undo": True}),
    ("link make pilot --rater R1 --rater R2", "make_links", (["R1", "R2"],), MakeLinks,
     {"raters": ["R1", "R2"]}),
    ("link revoke pilot --rater R2", "revoke_links", ("R2",), RevokeLinks, {"raters": "R2"}),
    ("link list pilot", "links", (), ListLinks, {}),
    ("close pilot --reason enough", "mark", ("closed", "enough"), CloseSet, {"reason": "enough"}),
    ("reopen pilot", "mark", ("reopened",), ReopenSet, {}),
    ("show pilot", "describe", (), ShowSet, {}),
    ("status pilot", "status", (), StatusOfSet, {}),
)  # fmt: skip


async def test_rating_sets(run: Run, tmp_path: Path) -> None:  # noqa: F811
    stores = [tmp_path / name / "store.db" for name in ("command", "python", "workbench")]
    for store_path in stores:
        store_path.parent.mkdir()
    with Store.open(stores[0]) as store:
        disputed_set(store)
    for store_path in stores[1:]:
        shutil.copy(stores[0], store_path)
    documents = [
        run("rate", *words.split(), "--json", "--store", stores[0]).document for words, *_ in RATED
    ]
    with tabwb.open(stores[1], write=True) as study:
        pilot = study.rating_set("pilot")
        of_python = [getattr(pilot, name)(*given) for _, name, given, *_ in RATED]
    wanted = [made(kind, {"reference": "pilot", **values}) for *_, kind, values in RATED]
    of_workbench = await worked(stores[2], *wanted)
    assert undated(of_python) == undated(documents) == undated(of_workbench)
    assert [row["answer"] for row in documents[1]["history"]] == [1.0, None]
    assert [(one["rater"], one["state"]) for one in documents[4]["links"]] == [
        ("R1", "valid"), ("R2", "revoked")
    ]  # fmt: skip
    assert [(one["status"], one["changed"]) for one in documents[5:7]] == [
        ("closed", True), ("open", True)
    ]  # fmt: skip


async def test_planning(run: Run, stores: list[Path]) -> None:  # noqa: F811
    command, python, workbench_store = stores
    words = "rate plan pilot 1 --raters R1,R2 --overlap 2 --again 0 --seed 3 --json --store"
    values = {"overlap": 2, "again": 0, "seed": 3}
    documents = [run(*words.split(), command, *dry).document for dry in (["--dry-run"], [])]
    with tabwb.open(python, write=True) as study:
        of_python = [
            study.plan_ratings("pilot", "R1,R2", 1, dry_run=dry, **values)  # type: ignore[arg-type]
            for dry in (True, False)
        ]
        files = [study.rating_set("pilot").export(python.with_suffix(".csv"), judges=True)]
    files += [store.with_suffix(".csv") for store in (command, workbench_store)]
    out = ("--out", files[1], "--judges")
    run("rate", "export", "pilot", *out, "--store", command)
    plan = made(PlanRatings, {"name": "pilot", "raters": "R1,R2", "ids": 1, **values})
    export = ExportRatings(reference="pilot", out=files[2], judges=True)
    of_workbench = (await worked(workbench_store, plan, export))[:1]
    assert {file.read_text("utf-8") for file in files} == {files[0].read_text("utf-8")}
    assert undated(of_python) == undated(documents)
    assert undated(of_workbench) == undated(documents[1:])
    assert [one["uid"] is None for one in documents] == [True, False]
    assert sum(one["samples"] for one in documents[0]["raters"]) == 5 + 2


HEARD: tuple[tuple[str, str, type[Operation], dict[str, Any]], ...] = (
    ("score 1 dog right", "score", ScoreResponse, {"score": "right"}),
    ("score 1 dog error --rater B --seen", "score", ScoreResponse,
     {"score": "error", "rater": "B", "seen": True}),
    ("heard 1 dog cat --rater B", "heard", HeardResponse, {"words": "cat", "rater": "B"}),
    ("code 1 dog semantic --rater B --flag dialect", "code", CodeResponse,
     {"code": "semantic", "rater": "B", "flags": ("dialect",)}),
    ("onset 1 dog 0.25 --reason click", "set_onset", SetOnset,
     {"seconds": 0.25, "reason": "click"}),
    ("attempt 1 dog --start 0.1 --end 0.9 --new-at 0.5", "set_attempt", SetAttempt,
     {"start": 0.1, "end": 0.9, "marks": [0.5]}),
    ("history 1 dog", "history", HistoryOfTrial, {}),
)  # fmt: skip


async def test_spoken_responses(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("soundfile")
    recordings(tmp_path / "sounds", "dog")
    typed_table(tmp_path / "typed.tsv", dog="D AO G")
    first = tmp_path / "command" / "store.db"
    first.parent.mkdir()
    run(
        *("name", naming_battery(tmp_path / "battery"), "--speaker", "S-014", "--rater", "A"),
        *("--input", tmp_path / "sounds", "--transcriber", f"manual:{tmp_path / 'typed.tsv'}"),
        *("--store", first),
        status=3,
    )
    python, of_workbench_at = tmp_path / "python", tmp_path / "workbench"
    for folder in (python, of_workbench_at):
        shutil.copytree(first.parent, folder)
    documents = [
        run("trial", *words.split(), "--json", "--store", first).document for words, *_ in HEARD
    ]
    place = {"administration": 1, "trial": "dog"}
    with tabwb.open(python / "store.db", write=True) as study:
        of_python = [getattr(study, name)(**place, **values) for _, name, _, values in HEARD]
    wanted = [made(kind, place | values) for *_, kind, values in HEARD]
    of_workbench = await worked(of_workbench_at / "store.db", *wanted)
    assert undated(of_python) == undated(documents) == undated(of_workbench)
    assert [one["kind"] for one in documents[-1]["corrections"]] == [
        "Coded", "OnsetSet", "LimitsSet"
    ]  # fmt: skip


async def test_an_administration_that_is_open_in_the_workbench_is_corrected(tmp_path: Path) -> None:
    async with workbench(tmp_path) as seat:
        await seat.begin(battery="tab", model="echo", judges="none")
        jobs = seat.desk.sessions.jobs
        note = NoteOnTrial(administration=1, trial=1, text="loud")
        number = await seat.desk.ask(jobs.begin, note)
        await seat.until(partial(ended, jobs, number), "the end")
        assert jobs.all[number].state.phase == "done"
        assert seat.desk.sessions.open_session().trials[0].notes == ("loud",)


KEPT: tuple[tuple[str, str, type[Operation], dict[str, Any]], ...] = (
    ("model add tiny echo --family demo --parameters 1.2M", "add_profile", AddProfile,
     {"name": "tiny", "spec": "echo", "family": "demo", "parameters": "1.2M"}),
    ("model list", "models", ListModels, {}),
    ("model test profile:tiny --prompt Hello", "try_model", TryModel,
     {"spec": "profile:tiny", "prompt": "Hello"}),
    ("model remove tiny", "remove_profile", RemoveProfile, {"name": "tiny"}),
    ("battery check tab", "check_battery", CheckBattery, {"file": "tab"}),
    ("battery check {}/b.toml", "check_battery", CheckBattery, {"file": "{}/b.toml"}),
    ("store check --store {}/store.db", "check_store", CheckStore, {"store": "{}/store.db"}),
    ("store info --store {}/store.db", "info", StoreInfo, {}),
    ("store merge {}/other.db --store {}/store.db", "merge", MergeStore,
     {"other": "{}/other.db"}),
    ("store backup {}/copy.db --store {}/store.db", "backup", BackupStore,
     {"out": "{}/copy.db"}),
)  # fmt: skip


def placed(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    return {
        name: value.replace("{}", str(folder)) if isinstance(value, str) else value
        for name, value in values.items()
    }


def alike(documents: list[Any], folder: Path) -> Any:
    """Documents without the folder of their interface and without times."""
    text = json.dumps(undated(documents)).replace(str(folder), "FOLDER")
    return json.loads(re.sub(r'("\w*_s": )[\d.e-]+', r"\1 0", text))


async def test_models_batteries_and_stores(
    run: Run,  # noqa: F811
    stores: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = [tmp_path / name for name in ("of-command", "of-python", "of-workbench")]
    for folder in folders:
        folder.mkdir()
        for name in ("store.db", "other.db"):
            shutil.copy(stores[0], folder / name)
        (folder / "b.toml").write_text('[battery]\nid = "b"\n')
    first, second, third = folders
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(first))
    documents = [
        run(*words.replace("{}", str(first)).split(), "--json", status=None).document
        for words, *_ in KEPT
    ]
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(second))
    with tabwb.open(second / "store.db", write=True) as study:
        of_python = [
            getattr(tabwb if hasattr(tabwb, name) else study, name)(**placed(values, second))
            for _, name, _, values in KEPT
        ]
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(third))
    wanted = [made(kind, placed(values, third)) for *_, kind, values in KEPT]
    of_workbench = await worked(third / "store.db", *wanted)
    assert alike(of_python, second) == alike(documents, first) == alike(of_workbench, third)
    assert [one["name"] for one in documents[1]["profiles"]] == ["tiny"]
    assert (documents[2]["reply"], documents[2]["facts"]["model"]) == ("Hello", "echo")
    assert [one["ok"] for one in documents[4:6]] == [True, False]
    assert documents[6]["whole"] and documents[8]["merge"]["added"] == {}
    assert all((folder / "copy.db").exists() for folder in folders)


IMPORTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("a.csv", "question,response\nrp1,house.\nrp2,no\nxx9,what?\n", "import_answers",
     {"battery": "tab", "model": "m", "columns": {"item": "question"}, "skip_unknown": True}),
    ("S-021.cha", "@UTF8\n@Begin\n*PAR:\tI [/] I went home .\n@End\n", "import_answers", {}),
    ("r.csv", "response,rater,measure,value\n1/1,R1,anomia,1\n1/1,R2,anomia,0\n",
     "import_ratings", {"set": "read"}),
    ("utterances.tsv", "utterance_id\tsession\tprompt\ttranscript\n1\tS-014\tdog\tD AO G\n",
     "import_naming", {"battery": "naming-demo", "origin": "human"}),
)  # fmt: skip


async def test_importing(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    command, python, workbench_store = stores
    files = []
    for name, text, *_ in IMPORTS:
        (tmp_path / name.partition(".")[0]).mkdir()
        files.append(tmp_path / name.partition(".")[0] / name)
        files[-1].write_text(text, "utf-8")
    files[-1] = files[-1].parent
    given = [
        made(ImportFile, {"path": file, **values})
        for file, (*_, values) in zip(files, IMPORTS, strict=True)
    ]
    names = [value.name for value in values_of(ImportFile)]
    documents = []
    for one in given:
        assert isinstance(one, ImportFile)
        words = [str(one.path), *words_of(one, names[1:]), "--json", "--store", str(command)]
        documents.append(run("import", *words).document)
    for file, (_, _, function, values) in zip(files, IMPORTS, strict=True):
        renamed = {{"set": "name"}.get(key, key): one for key, one in values.items()}
        getattr(tabwb, function)(file, store=python, **renamed)
    of_workbench = await worked(workbench_store, *given)
    assert undated(of_workbench) == undated(documents)
    assert documents[0]["imports"][0]["left_out"] == {}
    assert documents[2]["rating_set"]["name"] == "read"
    held = [contents(path) for path in stores]
    assert held[0] == held[1] == held[2]
    assert [one[0] for one in held[0][1:]] == ["imported:m", "S-021", "S-014"]


def contents(path: Path) -> list[tuple[Any, ...]]:
    """What was said in each administration, and what was given to it."""
    with Store.open(path) as store:
        return [
            (
                one.conditions.examinee,
                [
                    (
                        trial.counting and trial.counting.response,
                        [(each.rater, each.measure, each.value) for each in trial.ratings],
                    )
                    for trial in store.trials(one.id)
                ],
            )
            for one in store.administrations()
        ]


@pytest.mark.torch
@pytest.mark.usefixtures("here")
async def test_transcribing(run: Run, stores: list[Path], tmp_path: Path) -> None:  # noqa: F811
    command, python, workbench_store = stores
    sounds = recordings(tmp_path / "sounds", dog="dog_d1a4fb3f_0.flac", bed="three_8c0e5970_0.flac")
    broken = tmp_path / "broken.wav"
    broken.write_text("no sound")
    heard = [run("transcribe", sounds, broken, "--json", status=1).document]
    heard.append(tabwb.transcribe([sounds, broken]))
    given = made(ImportFile, {"path": sounds, "battery": "naming-demo", "speaker": "S-014",
                              "transcriber": "none"})  # fmt: skip
    wanted = (TranscribeFiles(files=(sounds, broken)), given,
              TranscribeResponses(administration=2, transcriber="bundled-words"))  # fmt: skip
    heard_there, _, of_workbench = await worked(workbench_store, *wanted)
    assert {"format": 1, **heard[1]} == {"format": 1, **heard_there} == heard[0]
    assert [row["status"] for row in heard[0]["files"]] == ["ok", "ok", "error"]
    options = ("--battery", "naming-demo", "--speaker", "S-014", "--transcriber", "none")
    for store in (command, python):
        run("import", sounds, *options, "--store", store)
    asked = ("trial", "transcribe", 2, "--transcriber", "bundled-words", "--json")
    document = run(*asked, "--store", command).document
    with tabwb.open(python, write=True) as study:
        of_python = study.transcribe(2, transcriber="bundled-words")
    assert document == {"format": 1, **of_python} == {"format": 1, **of_workbench}
    assert (document["transcribed"], document["errors"]) == (2, 0)
    held = [contents(path) for path in stores]
    assert held[0] == held[1] == held[2]
    for store in stores:  # all is stored
        with tabwb.open(store, write=True) as study:
            assert study.transcribe(2, transcriber="bundled-words")["planned"] == 0
