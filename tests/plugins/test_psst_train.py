"""Training by recipes: exact continuation, every recipe, the folder that is read, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from tabwb_psst.train.operation import Train, sparkline
from tabwb_psst.train.recipe import NAMES, SOURCES, read_recipe

from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.plugin_api import Tools, UsageError
from tabwb.records.errors import Interrupted
from tests.builders import needs, small_files
from tests.plugins.psst_training import (
    card,
    curve,
    librispeech,
    save_corpus,
    save_encoder,
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
    """Corpora, and a small encoder and a tiny one."""
    root = tmp_path_factory.mktemp("made")
    save_encoder(root / "small", width=256, convolutions=16)
    save_encoder(root / "tiny", width=32, convolutions=8)
    save_corpus(root / "psst", ["cat", "dog"])
    save_corpus(root / "sixteen")
    timit(root / "timit")
    librispeech(root / "librispeech")
    unlabelled(root / "unlabelled")
    return root


def given(made: Path, recipe: str) -> list[str]:
    """The data that a recipe takes, each as a folder that shows what it is where it can."""
    kinds = [one.source for one in read_recipe(recipe).data]
    return [f"unlabelled:{made / kind}" if kind == "unlabelled" else str(made / kind)
            for kind in kinds]  # fmt: skip


def job_of(operation: Train, tools: Tools) -> Path:
    """The file of the job of a training that has not begun."""
    folder = operation.out / "training"
    folder.mkdir(parents=True)
    list(operation.prepare(tools, folder))
    return folder / "job.json"


def trained(operation: Train, tools: Tools) -> None:
    """Train in this process, which has torch already."""
    from tabwb_psst.train.work import main as work

    assert work([str(job_of(operation, tools))]) == 0


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
    assert read_recipe(str(own)).schedule.updates == 8010
    with pytest.raises(UsageError, match="psst-b"):
        read_recipe("psst-b")


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
    name: str, made: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / name
    trained(
        Train(recipe=name, data=tuple(given(made, name)), base=made / "tiny", out=out,
              scale=20 / 12_000), tools,
    )  # fmt: skip
    capsys.readouterr()
    assert [line.split(",")[0] for line in curve(out)] == ["update", *map(str, range(1, 22))]
    found = card(out)
    assert found["rates"]["test"][0]["utterances"] == 4  # type: ignore[index]
    assert (out / "model.safetensors").is_file()


def command(made: Path, out: Path, *more: str) -> list[str]:
    """The words that train a tiny encoder for 90 updates; a checkpoint is written every 30."""
    return ["psst", "train", "--data", str(made / "psst"), "--base", str(made / "tiny"),
            "--out", str(out), "--scale", "0.0075", *more]  # fmt: skip


def begun(words: Sequence[str], out: Path, updates: int) -> subprocess.Popen[bytes]:
    """Start the program and wait until so many updates are done."""
    process = subprocess.Popen([sys.executable, "-m", "tabwb", *words], stderr=subprocess.DEVNULL)
    file = out / "training" / "round-0" / "curve.csv"
    while not (file.exists() and len(file.read_text("utf-8").splitlines()) > updates):
        assert process.poll() is None
        time.sleep(0.02)
    return process


def trainer_of(program: subprocess.Popen[bytes]) -> psutil.Process:
    """The process that trains."""
    (found,) = (one for one in psutil.Process(program.pid).children(recursive=True)
                if "tabwb_psst.train" in one.cmdline())  # fmt: skip
    return found


@pytest.mark.terminal
@pytest.mark.timeout(900)
def test_killed_twice_it_continues_with_the_same_losses(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    data = (str(made / "psst"),)
    trained(Train(data=data, base=made / "tiny", out=whole, scale=0.0075), tools)
    words = command(made, killed)

    first = begun(words, killed, 35)
    trainer = trainer_of(first)
    trainer.send_signal(signal.SIGKILL)
    assert first.wait() == 1

    second = begun(words, killed, 61)
    trainer = trainer_of(second)
    second.kill()
    second.wait()
    trainer.wait(60)  # it ends by itself

    assert main(words) == 0
    assert len(curve(whole)) == 91
    assert curve(killed) == curve(whole)
    assert card(killed)["rates"] == card(whole)["rates"]
    assert not (killed / "training").exists()


# make torture: sixteen clips of eight words until none has an error, which takes two minutes.
CLIPS, SCALE, ERRORS = (
    ("sixteen", 0.06, 0.0) if os.environ.get("TABWB_TORTURE_TRAINING") else ("psst", 0.05, 0.5)
)


@pytest.mark.timeout(900)
def test_psst_a_learns_its_clips(
    made: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = tmp_path / "out", (str(made / CLIPS),)
    trained(Train(data=data, base=made / "small", out=out, scale=SCALE), tools)
    rates = card(out)["rates"]["valid"]  # type: ignore[index]
    assert [row["group"] for row in rates] == ["all", "moderate"]
    assert rates[0]["per"] <= ERRORS
    capsys.readouterr()
    clip = made / CLIPS / "test" / "audio" / "test01a-dog.wav"
    assert main(["transcribe", str(clip), "--transcriber", f"wav2vec2:{out}", "--json"]) == 0
    (heard,) = json.loads(capsys.readouterr().out)["files"]
    assert heard["status"] == "ok"
    assert ERRORS or heard["phonemes"] == ["D", "AO", "G"]


def test_a_dry_run_says_what_training_takes(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*command(made, out), "--dry-run", "--json"]) == 0
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


def test_stopped_it_continues_with_the_same_losses(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    whole, out, data = tmp_path / "whole", tmp_path / "out", (str(made / "psst"),)
    operation = Train(data=data, base=made / "tiny", out=out, scale=0.0025)
    told = []
    with pytest.raises(Interrupted, match="after update"):
        for each in operation.run(tools):
            told.append(each)
            if each.done == 10 and each.planned == 30:
                tools.cancel.set()
    assert 10 <= len(curve(out / "training" / "round-0")) - 1 < 30
    assert any("loss" in each.words and "▁" in each.words for each in told)
    tools.cancel.clear()
    list(operation.run(tools))
    trained(Train(data=data, base=made / "tiny", out=whole, scale=0.0025), tools)
    assert curve(out) == curve(whole)
    ((table, _),) = tools.tables
    assert [row["severity"] for row in table.to_dicts()] == ["all", "moderate", "all", "severe"]


def test_two_processes_share_an_update(made: Path, tmp_path: Path, tools: Tools) -> None:
    from tabwb_psst.train.work import main as work

    losses = []
    for processes in (1, 2):
        out = tmp_path / str(processes)
        file = job_of(Train(data=(str(made / "psst"),), base=made / "tiny", out=out, scale=0.0005,
                            processes=processes), tools)  # fmt: skip
        job = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**job, "micro_s": 1.5}), "utf-8")  # several parts of an update
        assert work([str(file)]) == 0
        losses.append([float(line.split(",")[1]) for line in curve(out)[1:]])
    assert len(losses[0]) == 6
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_rounds_of_pseudo_labels_train_on_what_was_heard(
    made: Path, tmp_path: Path, tools: Tools
) -> None:
    own, out = tmp_path / "own.toml", tmp_path / "out"
    own.write_text(
        'extends = "y3"\nid = "own"\n[pseudo]\nthreshold = [0.0, "ours"]\nrounds = [1, "ours"]\n',
        encoding="utf-8",
    )
    trained(Train(recipe=str(own), data=tuple(given(made, "y3")), base=made / "tiny", out=out,
                  scale=0.0005), tools)  # fmt: skip
    rounds = card(out)["rounds"]
    assert [one["pseudo_clips"] for one in rounds] == [0, 2]  # type: ignore[attr-defined]
    assert rounds[1]["pseudo_hours"] * 3600 == pytest.approx(2, abs=0.5)  # type: ignore[index]


def test_a_full_disk_is_said_once_and_the_same_command_continues(
    made: Path, tmp_path: Path, tools: Tools, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabwb_psst.train.work import main as work

    out = tmp_path / "out"
    job = job_of(
        Train(data=(str(made / "psst"),), base=made / "tiny", out=out, scale=0.0005), tools
    )
    with small_files(10_000):
        assert work([str(job)]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert not any("problem" in line for line in lines)
    assert "cannot be written" in lines[-1]["error"]["message"]
    with small_files(200_000):  # the copies of the sound, and no checkpoint
        assert work([str(job)]) == 1
    assert work([str(job)]) == 0
    assert len(curve(out)) == 7


def test_a_curve_of_bars() -> None:
    assert sparkline([]) == ""
    assert sparkline([2.0, 2.0]) == "▁▁"
    assert len(sparkline(list(range(1, 1000)))) <= 16
