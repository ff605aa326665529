"""First-party plugins pass the checks that a plugin's author runs."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.host.plugins import Plugins
from tabwb.testing import check_exporter, check_judge, check_model, check_scorer, check_transcriber
from tests.plugins.chat_server import chat_server, says


@pytest.mark.parametrize("spec", ["echo", "echo@text=a lion and a drum", "echo@delay=0.01"])
def test_echo(plugins: Plugins, spec: str) -> None:
    check_model(spec, plugins=plugins)


def test_replay(plugins: Plugins, tmp_path: Path) -> None:
    line = {"subtest": "s1", "item": "i1", "replicate": 0, "response": "A lion with a mane."}
    file = tmp_path / "said.jsonl"
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    check_model(f"replay:{file}", plugins=plugins, key="s1/i1")


def test_openai(plugins: Plugins) -> None:
    pytest.importorskip("openai")
    with chat_server(says("A lion.")) as server:
        check_model(f"openai:small@base_url={server.url}", plugins=plugins)


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_the_bundled_model(plugins: Plugins) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    check_model("bundled@threads=1", plugins=plugins)


@pytest.mark.parametrize(
    ("spec", "kinds"),
    [
        ("choice", ("choice", "yes-no", "verbatim", "connected-text", "free")),
        ("yes-no", ("yes-no",)),
        ("repetition", ("choice", "yes-no", "verbatim", "connected-text", "free")),
        ("lexical", ("choice", "yes-no", "verbatim", "connected-text", "free")),
    ],
)
def test_scorers(plugins: Plugins, spec: str, kinds: tuple[str, ...]) -> None:
    check_scorer(spec, plugins=plugins, kinds=kinds)


@pytest.mark.parametrize("spec", ["rules", "tab-2026:echo", "tab-2026+prompt:echo"])
def test_judges(plugins: Plugins, spec: str) -> None:
    check_judge(spec, plugins=plugins)


TINY = """
[judge]
id = "tiny"
title = "One feature"
version = "1"
license = "CC0-1.0"
caution = "not compared with expert raters"

[prompt]
user = "{transcript} {definitions}"
repair = "Again: {problem}"

[[feature]]
id = "anomia"
key = "Anomia"
definition = "Word-finding difficulties."
"""


@pytest.mark.torch
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("spec", ["tiny+likelihood:bundled@threads=1", "surprisal:bundled"])
def test_judges_that_weigh(spec: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    judges = Path(os.environ["TABWB_CONFIG_DIR"]) / "judges"
    judges.mkdir(parents=True)
    (judges / "tiny.toml").write_text(TINY, encoding="utf-8")
    with closing(Plugins.load()) as plugins:
        check_judge(spec, plugins=plugins)


def test_a_person_who_types_transcripts(plugins: Plugins, tmp_path: Path) -> None:
    table = tmp_path / "typed.tsv"
    rows = "utterance_id\ttranscript\none\tD AO G\ntwo\t<sil>\n"
    table.write_text(rows, encoding="utf-8")
    check_transcriber(f"manual:{table}", plugins=plugins)


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_the_bundled_transcriber(plugins: Plugins) -> None:
    for package in ("torch", "transformers", "soundfile", "scipy"):
        pytest.importorskip(package)
    check_transcriber("bundled-words", plugins=plugins)


@pytest.mark.parametrize("spec", ["jsonl", "csv", "parquet"])
def test_exporters(plugins: Plugins, spec: str) -> None:
    if spec == "parquet":
        pytest.importorskip("pyarrow")
    check_exporter(spec, plugins=plugins)
