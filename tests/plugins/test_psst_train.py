"""Training by recipes: exact continuation, every recipe, the folder that is read, bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from tabwb_psst.train.operation import Train, sparkline
from tabwb_psst.train.recipe import NAMES, SOURCES, read_recipe

from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.plugin_api import TabwbError, Tools, UsageError
from tabwb.records.errors import Interrupted
from tabwb.records.system import fork
from tests.builders import needs, small_files
from tests.plugins.psst_training import (
    card,
    curve,
    librispeech,
    save_corpus,
    save_encoder,
    save_recipe,
    timit,
    unlabelled,
)

needs("torch", "transformers", "accelerate", "python_stretch", "soundfile", "soxr", "scipy")
pytestmark = pytest.mark.torch
TABLE_2 = {  # FER and PER of the paper's table 2, in per cent
    "psst-a": (12.1, 26.4), "mo1": (11.3, 25.5), "mo2": (11.4, 25.1), "mo3": (11.7, 26.3),
    "mo4": (11.7, 25.4), "mo5": (11.9, 26.0), "mo6": (12.0, 25.9), "mo7": (12.0, 26.1),
    "y1": (9.9, 20.0), "y2": (10.3, 21.1), "y3": (10.4, 21.5), "y4": (10.6, 22.2),
    "y5": (10.9, 22.3), "y6": (12.5, 26.0), "y7": (16.7, 38.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora, small encoders, and recipes: one of 12 updates, and one that never ends."""
    root = tmp_path_factory.mktemp("made")
    save_encoder(root / "tiny", width=32, convolutions=8)
    save_encoder(root / "small", width=64, convolutions=8)
    save_corpus(root / "psst", ["cat", "dog"])
    timit(root / "timit")
    librispeech(root / "librispeech")
    unlabelled(root / "unlabelled")
    save_recipe(root / "quick.toml", warmup=4, hold=4, decay=4, frozen=2, validate_every=4)
    save_recipe(root / "long.toml", warmup=4, hold=1_000_000, decay=4, validate_every=20)
    return root


def given(made: Path, recipe: str) -> list[str]:
    """The data that a recipe takes, each as a folder that shows what it is where it can."""
    kinds = [one.source for one in read_recipe(recipe).data]
    return [f"unlabelled:{made / kind}" if kind == "unlabelled" else str(made / kind)
            for kind in kinds]  # fmt: skip


def quick(made: Path, out: Path, **more: Any) -> Train:
    """A training of 12 updates."""
    values: dict[str, Any] = {
        "recipe": str(made / "quick.toml"), "data": (str(made / "psst"),), "base": made / "tiny",
    }  # fmt: skip
    return Train(**values | more, out=out)


def job_of(operation: Train, tools: Tools) -> Path:
    """The file of the job of a training that has not begun, or was stopped."""
    folder = operation.out / "training"
    folder.mkdir(parents=True, exist_ok=True)
    list(operation.prepare(tools, folder))
    return folder / "job.json"


def done(job: Path, *more: str) -> int:
    """Train in this process, which has torch already; return the exit status."""
    from tabwb_psst.train import card, work

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(card, "_figure", lambda curve, out: None)
        return work.main([str(job), *more])


def trained(operation: Train, tools: Tools) -> Path:
    """Train to the end; return the folder."""
    assert done(job_of(operation, tools)) == 0
    return operation.out


def error_of(told: str) -> dict[str, Any]:
    """The error that a process told last."""
    found: dict[str, Any] = json.loads(told.splitlines()[-1])["error"]
    return found


@pytest.fixture
def tools(plugins: Plugins) -> Tools:
    """What an operation works with here."""
    return Tools(plugins, lambda: None, say=lambda line: None, warn=lambda line: None)


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_a_recipe_has_its_source(name: str) -> None:
    recipe = read_recipe(name)
    assert recipe.published is not None
    assert (recipe.published.fer, recipe.published.per) == TABLE_2[name]
    for key, value, source in recipe.facts():
        assert source.replace(":", " ").split()[0] in SOURCES, key
        assert value
    plain = json.loads(recipe.model_dump_json())
    stated = {key.partition(".")[0] for key in recipe.sources}
    assert {key for key, value in plain.items() if isinstance(value, dict)} <= stated


def test_the_baseline_is_that_of_the_paper() -> None:
    recipe = read_recipe("psst-a")
    plan = recipe.schedule
    assert (plan.learning_rate, plan.warmup, plan.updates, plan.frozen) == (5e-5, 4000, 12000, 2000)
    assert (plan.batch_samples, plan.seed, plan.betas) == (6_400_000, 5728395, (0.9, 0.98))
    assert len(recipe.labels) == 46
    assert (recipe.labels[4], recipe.labels[43:]) == ("AA", ("ZH", "<sil>", "<spn>"))
    assert recipe.labels[1:4] == ("", "", "")


def test_a_recipe_without_a_source_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "psst-a"\nid = "own"\n[schedule]\nwarmup = 10\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"schedule\.warmup"):
        read_recipe(str(own))
    own.write_text('extends = "psst-a"\nid = "own"\n[schedule]\nwarmup = [10, "ours"]\n', "utf-8")
    recipe = read_recipe(str(own))
    assert (recipe.schedule.updates, recipe.paper) == (8010, "extends psst-a")
    assert recipe.published is None and read_recipe("mo1").published is not None
    with pytest.raises(UsageError, match="psst-b"):
        read_recipe("psst-b")


HOSTILE = {
    "schedule.warmup": [f"[schedule]\nwarmup = [{one}, 'ours']"
                        for one in ("-1", "nan", "'4'", "true", "10_000_001")],
    "schedule.learning_rate": [f"[schedule]\nlearning_rate = [{one}, 'ours']"
                               for one in ("0.0", "nan", "inf", "1e308", "'fast'")],
    "schedule.betas[1]": ["[schedule]\nbetas = [[1.0, 0.9], 'ours']"],
    "schedule.warm": ["[schedule]\nwarm = [1, 'ours']"],
    "schedule": ["[schedule]\nwarmup = [0, 'C']\nhold = [0, 'C']\ndecay = [0, 'C']"],
    "mask.time_length": ["[mask]\ntime_length = [1_000_000_000, 'ours']"],
    "outputs.labels": [f"[outputs]\nlabels = [{one}, 'ours']"
                       for one in ("[]", "['AA']", "['', 'AA', 'AA']", "['', 'QQ']")],
    "data[1].hours": ["[[data]]\nsource = 'psst'\nhours = [1.0, 'ours']"],
    "data[2].source": ["[[data]]\nsource = 'psst'\n[[data]]\nsource = 'psst'"],
    "augment[1].values": [
        f"[[augment]]\nkind = '{kind}'\nof = 'psst'\nvalues = [[{value}, {value}], 'ours']"
        for kind, value in (("pitch", 1e308), ("time", 0.0), ("noise", -1e308), ("room", -1.0))
    ],
    "augment[1].of": [
        "[[augment]]\nkind = 'noise'\nof = 'timit'\nvalues = [[1.0, 2.0], 'ours']"
    ],
    "pseudo": ["[pseudo]\nthreshold = [0.5, 'C']\nweighted = [true, 'C']\nrounds = [1, 'C']\n"
               "longest_s = [9.0, 'C']"],
}  # fmt: skip
"""What a recipe may not state, by the key that is named."""


@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_recipe_is_refused_with_line_and_key(key: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    for body in HOSTILE[key]:
        own.write_text(f"extends = 'psst-a'\nid = 'own'\n{body}\n", encoding="utf-8")
        with pytest.raises(UsageError) as raised:
            read_recipe(str(own))
        (problem,) = (raised.value.hint or "").splitlines()
        file, line, named = problem.split(":")[:3]
        assert (file, named.strip()) == (str(own), key)
        assert int(line) >= 3


def test_a_recipe_extends_one_beside_it(tmp_path: Path) -> None:
    save_recipe(tmp_path / "one.toml", warmup=7)
    two = tmp_path / "two.toml"
    two.write_text("extends = 'one.toml'\nid = 'two'\n", encoding="utf-8")
    assert read_recipe(str(two)).schedule.warmup == 7
    two.write_text("extends = 'two.toml'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="circle"):
        read_recipe(str(two))


@pytest.mark.parametrize("name", ["/dev/zero", "nowhere.toml", "large.toml"])
def test_what_is_no_file_of_a_recipe_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.toml").write_bytes(b"#" * 2_000_001)
    with pytest.raises(UsageError) as raised:
        read_recipe(name)
    assert raised.value.where == name


def test_the_encoder_is_looked_for_in_the_users_data_folder(tmp_path: Path, tools: Tools) -> None:
    with pytest.raises(UsageError) as raised:
        list(Train(data=(), out=tmp_path / "out").prepare(tools, tmp_path))
    own = tools.plugins.configuration.data_dir.absolute()
    assert Path(raised.value.where or "").parent == own / "encoders"


@pytest.mark.parametrize("name", NAMES)
def test_each_recipe_trains_on_stand_in_data(
    name: str, made: Path, tmp_path: Path, tools: Tools
) -> None:
    data = tuple(given(made, name))
    out = trained(quick(made, tmp_path / name, recipe=name, data=data, scale=20 / 12_000), tools)
    assert [line.split(",")[0] for line in curve(out)] == ["update", *map(str, range(1, 22))]
    found = card(out)
    assert found["rates"]["test"][0]["utterances"] == 4  # type: ignore[index]
    assert (out / "model.safetensors").is_file()


@pytest.fixture(scope="module")
def whole(made: Path) -> Path:
    """A training of 12 updates that nothing has interrupted."""
    plugins = Plugins.load()
    tools = Tools(plugins, lambda: None, say=lambda line: None, warn=lambda line: None)
    out = trained(quick(made, made / "whole"), tools)
    plugins.close()
    return out


def killed(job: Path, place: object, name: str, dies: Callable[..., bool]) -> None:
    """Train in a copy of this process, which is killed where a function is called so."""

    def train() -> None:
        real = getattr(place, name)

        def call(*given: Any) -> Any:
            if dies(*given):
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given)

        setattr(place, name, call)
        done(job)

    _, status = os.waitpid(fork(train), 0)
    assert os.WIFSIGNALED(status)


def flipped(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_killed_at_any_moment_it_continues_with_the_same_losses(
    made: Path, whole: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabwb_psst.train import loop

    operation = quick(made, tmp_path / "out")
    job = job_of(operation, tools)
    rounds = operation.out / "training" / "round-0"
    newest, before = rounds / "checkpoint.pt", rounds / "checkpoint-before.pt"
    draft = rounds / "checkpoint.pt.writing"

    killed(job, loop, "_append", lambda file, row: row["update"] == 6)
    assert len(curve(rounds)) == 6
    with (rounds / "curve.csv").open("a", encoding="utf-8") as file:
        file.write("6,0.1")  # cut short
    killed(job, loop, "sync_file", lambda file: file == draft)  # written, and not in place
    assert newest.exists()
    killed(job, Path, "replace", lambda file, to: file == draft)  # between two names
    assert [one.exists() for one in (newest, before, draft)] == [False, True, True]
    killed(job, loop, "_append", lambda file, row: row["update"] == 10)
    flipped(newest)

    capsys.readouterr()
    assert done(job) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["begins"] for one in told if "begins" in one] == [4]
    assert [str(newest) in one["note"] for one in told if "note" in one] == [True]
    assert curve(operation.out) == curve(whole)
    assert card(operation.out)["rates"] == card(whole)["rates"]
    assert not rounds.exists()


def test_without_a_whole_checkpoint_it_says_what_to_remove(
    made: Path, whole: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabwb_psst.train import loop

    operation = quick(made, tmp_path / "out")
    job = job_of(operation, tools)
    killed(job, loop, "_append", lambda file, row: row["update"] == 6)
    rounds = operation.out / "training" / "round-0"
    checkpoint = rounds / "checkpoint.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    assert done(job) == 1
    assert error_of(capsys.readouterr().out)["where"] == str(rounds)
    shutil.rmtree(rounds)
    prepared = operation.out / "training" / "prepared.json"
    content = prepared.read_bytes()
    prepared.write_bytes(content[:100])
    assert done(job) == 1
    assert error_of(capsys.readouterr().out)["where"] == str(prepared)
    prepared.write_bytes(content)
    assert done(job) == 0
    assert curve(operation.out) == curve(whole)


def begun(operation: Train, updates: int) -> None:
    """Wait until so many updates are done."""
    file = operation.out / "training" / "round-0" / "curve.csv"
    while not (file.exists() and len(file.read_text("utf-8").splitlines()) > updates):
        time.sleep(0.02)


@pytest.mark.terminal
@pytest.mark.timeout(900)
def test_one_program_trains_into_a_folder_and_its_process_ends_with_it(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    recipe = str(made / "long.toml")
    operation = quick(made, tmp_path / "out", recipe=recipe)
    program = fork(lambda: print(len(list(operation.run(tools)))))
    begun(operation, 21)
    with pytest.raises(TabwbError) as raised:
        list(operation.run(tools))
    assert raised.value.where == str(operation.out)
    (trainer,) = psutil.Process(program).children()
    os.kill(program, signal.SIGKILL)
    os.waitpid(program, 0)
    trainer.wait(60)

    told = []
    with pytest.raises(Interrupted, match="after update"):
        for each in operation.run(tools):
            told.append(each)
            if each.done and each.part == "" and "loss" in each.words:
                tools.cancel.set()
    assert any("▁" in each.words for each in told)
    stopped = curve(operation.out / "training" / "round-0")
    assert len(stopped) >= 22  # from update 20 on, or a later checkpoint


# make torture: sixteen clips of eight words until none has an error, which takes two minutes.
TORTURE = bool(os.environ.get("TABWB_TORTURE_TRAINING"))


@pytest.mark.timeout(900)
def test_it_learns_its_clips(
    made: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    own = save_recipe(made / "own.toml", warmup=20, hold=100, decay=30, frozen=5,
                      validate_every=25, learning_rate=0.003, still=True)  # fmt: skip
    operation = quick(made, tmp_path / "out", recipe=str(own), base=made / "small")
    if TORTURE:
        base = save_encoder(tmp_path / "base", width=256, convolutions=16)
        data = (str(save_corpus(tmp_path / "sixteen")),)
        operation = quick(made, tmp_path / "out", recipe="psst-a", base=base, data=data, scale=0.06)
    out = trained(operation, tools)
    rates = card(out)["rates"]["valid"]  # type: ignore[index]
    assert [row["group"] for row in rates] == ["all", "moderate"]
    assert rates[0]["per"] <= (0 if TORTURE else 0.5)
    capsys.readouterr()
    clip = Path(operation.data[0]) / "test" / "audio" / "test01a-dog.wav"
    assert main(["transcribe", str(clip), "--transcriber", f"wav2vec2:{out}", "--json"]) == 0
    (heard,) = json.loads(capsys.readouterr().out)["files"]
    assert heard["status"] == "ok"
    assert not TORTURE or heard["phonemes"] == ["D", "AO", "G"]


def test_a_dry_run_says_what_training_takes(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabwb_psst.train import operation as module

    def told(work: Path, tools: Tools, *more: str) -> list[Any]:
        capsys.readouterr()
        assert done(work / "job.json", *more) == 0
        return [json.loads(capsys.readouterr().out)]

    monkeypatch.setattr(module, "_told", told)
    out = tmp_path / "out"
    words = ["psst", "train", "--data", str(made / "psst"), "--base", str(made / "tiny"), "--out",
             str(out), "--scale", "0.0075", "--dry-run", "--json"]  # fmt: skip
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["updates"], found["warmup"], found["frozen"]) == (90, 30, 15)
    assert found["learning_rate"] == 0.001
    clips = (made / "psst" / "train" / "audio").glob("*.wav")
    seconds = sum((clip.stat().st_size - 44) / 32_000 for clip in clips)
    assert found["hours"]["train psst"] == pytest.approx(seconds / 3600)
    assert found["epochs"] == pytest.approx(90)
    assert found["parameters"] > 20_000
    assert found["memory_bytes"] > 16 * found["parameters"]
    assert found["seconds"] > found["seconds_per_update"] > 0
    assert {"key": "schedule.warmup", "value": "4000", "source": "P C"} in found["values"]
    assert not out.exists()


def losses(folder: Path) -> list[float]:
    """The loss of each update."""
    return [float(line.split(",")[1]) for line in curve(folder)[1:]]


def in_parts(operation: Train, tools: Tools) -> Path:
    """The job of a training whose updates have several parts."""
    file = job_of(operation, tools)
    job = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**job, "micro_s": 1.5}), "utf-8")
    return file


def test_two_processes_share_an_update_and_continue_after_a_kill(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    from accelerate.state import AcceleratorState
    from tabwb_psst.train import loop, work

    one = in_parts(quick(made, tmp_path / "one"), tools)
    assert done(one) == 0
    two = in_parts(quick(made, tmp_path / "two", processes=2), tools)
    work._prepared(work.Job.read(two))
    seen = tmp_path / "seen.txt"
    real, append = loop.Network.losses, loop._append

    def heard(network: Any, examples: Any, device: Any) -> Any:
        if network.model.training:
            with seen.open("a", encoding="utf-8") as file:
                file.writelines(f"{os.environ['RANK']} {each.id}\n" for each in examples)
        return real(network, examples, device)

    def written(file: Path, row: dict[str, Any]) -> None:
        if row["update"] == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        append(file, row)

    def process(rank: int) -> None:
        AcceleratorState._reset_state(reset_partial_state=True)
        os.environ.update(work.shared(rank, 2, port))
        patch = pytest.MonkeyPatch()
        patch.setattr(loop.Network, "losses", heard)
        patch.setattr(loop, "_append", written)
        done(two, "--round", "0")

    port = work.free_port()
    lead, other = fork(lambda: process(0)), fork(lambda: process(1))
    os.waitpid(lead, 0)
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    lines = seen.read_text("utf-8").split("\n")[:-1]
    assert {line[0] for line in lines} == {"0", "1"}
    ids = [line[2:] for line in lines]
    assert len(set(ids)) == 4
    assert {ids.count(each) for each in ids} == {6}  # each sentence once in an update

    assert done(two) == 0  # by two processes, from update 5 on
    assert len(losses(tmp_path / "two")) == 12
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-4)


def test_a_process_that_fails_ends_those_that_would_wait_for_it() -> None:
    from tabwb_psst.train.work import _end_together

    sleeps = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    for status in (0, 3):  # at its end, and where it was stopped
        _end_together(subprocess.Popen(["sh", "-c", f"exit {status}"]), [sleeps])
        assert sleeps.poll() is None
    _end_together(subprocess.Popen(["sh", "-c", "kill -9 $$"]), [sleeps])
    assert sleeps.wait() == -signal.SIGKILL


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
def test_half_precision_computes_the_same_losses_nearly(
    half: str, made: Path, whole: Path, tmp_path: Path, tools: Tools,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    import torch
    from tabwb_psst.train import loop

    plan = read_recipe("psst-a").schedule
    assert loop.precision(plan, torch.device("cuda")) == "float16"
    assert loop.precision(plan, torch.device("cpu")) == "no"
    monkeypatch.setattr(loop, "precision", lambda plan, device: half)
    out = trained(quick(made, tmp_path / "out"), tools)
    assert losses(out) != losses(whole)
    alike = 3 if half == "float16" else 12  # its scaler skips updates until the gradients fit
    assert losses(out)[:alike] == pytest.approx(losses(whole)[:alike], rel=0.05)


def test_gpus_are_counted_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    from tabwb_psst.train.operation import _gpus

    for given, count in (("", 0), ("-1", 0), ("0", 1), ("0,2", 2)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        assert _gpus() == count


@pytest.mark.parametrize("change", [{"hidden_size": 64}, {"num_hidden_layers": 3}, {}])
def test_what_is_not_the_encoder_is_refused(
    change: dict[str, int], made: Path, tmp_path: Path, tools: Tools,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    base = tmp_path / "base"
    shutil.copytree(made / "tiny", base)
    name = "config.json" if change else "preprocessor_config.json"
    document = json.loads((base / name).read_text("utf-8"))
    (base / name).write_text(json.dumps(document | (change or {"sampling_rate": 8000})), "utf-8")
    assert done(job_of(quick(made, tmp_path / "out", base=base), tools)) == 1
    assert error_of(capsys.readouterr().out)["where"] == str(base if change else base / name)


def test_losses_that_are_not_finite_end_training(
    made: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors.torch import load_file, save_file

    base = tmp_path / "base"
    shutil.copytree(made / "tiny", base)
    weights = load_file(base / "model.safetensors")
    weights["encoder.layer_norm.weight"][:] = float("nan")
    save_file(weights, base / "model.safetensors", metadata={"format": "pt"})
    operation = quick(made, tmp_path / "out", base=base)
    assert done(job_of(operation, tools)) == 1
    assert "update 1 " in error_of(capsys.readouterr().out)["message"]
    assert not (operation.out / "training" / "round-0" / "checkpoint.pt").exists()


def test_what_was_begun_continues_without_the_corpus_and_not_with_other_values(
    made: Path, whole: Path, tmp_path: Path, tools: Tools
) -> None:
    from tabwb_psst.train import loop

    data = tmp_path / "psst"
    shutil.copytree(made / "psst", data)
    own = shutil.copy(made / "quick.toml", tmp_path)
    operation = quick(made, tmp_path / "out", data=(str(data),), recipe=str(own))
    job = job_of(operation, tools)
    killed(job, loop, "_append", lambda file, row: row["update"] == 6)
    shutil.rmtree(data / "train" / "audio")
    shutil.rmtree(data / "test" / "audio")
    save_recipe(Path(own), warmup=5, hold=4, decay=4, frozen=2, validate_every=4)
    with pytest.raises(UsageError, match="recipe differs"):
        job_of(operation, tools)
    assert done(job) == 0
    assert curve(operation.out) == curve(whole)
    assert card(operation.out)["rates"] == card(whole)["rates"]


def test_rounds_of_pseudo_labels_train_on_what_was_heard(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "y3"\nid = "own"\n[pseudo]\nthreshold = [0.0, "ours"]\nrounds = [1, "ours"]\n',
        encoding="utf-8",
    )
    data = tuple(given(made, "y3"))
    out = trained(quick(made, tmp_path / "out", recipe=str(own), data=data, scale=0.0005), tools)
    rounds = card(out)["rounds"]
    assert [one["pseudo_clips"] for one in rounds] == [0, 2]  # type: ignore[attr-defined]
    assert rounds[1]["pseudo_hours"] * 3600 == pytest.approx(2, abs=0.5)  # type: ignore[index]


def test_a_full_disk_is_said_once_and_the_same_command_continues(
    made: Path, whole: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    operation = quick(made, tmp_path / "out")
    job = job_of(operation, tools)
    with small_files(10_000):
        assert done(job) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert not any("problem" in line for line in lines)
    assert "cannot be written" in lines[-1]["error"]["message"]
    with small_files(200_000):  # the copies of the sound and the best weights, and no checkpoint
        assert done(job) == 1
    checkpoint = operation.out / "training" / "round-0" / "checkpoint.pt"
    assert error_of(capsys.readouterr().out)["where"] == str(checkpoint)
    assert not list(checkpoint.parent.glob("*.writing"))
    assert done(job) == 0
    assert curve(operation.out) == curve(whole)


def test_a_curve_of_bars() -> None:
    assert sparkline([]) == ""
    assert sparkline([2.0, 2.0]) == "▁▁"
    assert len(sparkline(list(range(1, 1000)))) <= 16
