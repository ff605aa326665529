"""``tabwb model``: listing, writing profiles, a first try."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tabwb.cli.main import cli
from tabwb.host.settings import number_of_parameters
from tabwb.records.errors import TabwbError, UsageError
from tabwb.store.store import Store


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TABWB_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tabwb(*words: str) -> Result:
    result = CliRunner().invoke(cli, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_profile_is_written_listed_used_and_removed(folders: Path) -> None:
    tabwb("model", "add", "tiny", "echo", "--family", "demo", "--tuning", "base",
          "--parameters", "1.2M")  # fmt: skip
    listed = json.loads(tabwb("model", "list", "--json").stdout)
    (profile,) = listed["profiles"]
    assert (profile["name"], profile["spec"], profile["parameters"]) == ("tiny", "echo", "1200000")
    assert "profile:tiny" in tabwb("model", "list").stdout
    tabwb("run", "tab", "--model", "profile:tiny", "--judge", "none", "--json")
    with Store.open(folders / "data" / "tabwb.db") as store:
        conditions = store.administration(1).conditions
    assert conditions.examinee == "echo"
    assert conditions.labels == {
        "family": "demo", "tuning": "base", "parameters": "1200000", "profile": "tiny"
    }  # fmt: skip
    tabwb("model", "remove", "tiny")
    assert json.loads(tabwb("model", "list", "--json").stdout)["profiles"] == []


def test_a_profile_is_not_replaced_unasked() -> None:
    tabwb("model", "add", "tiny", "echo")
    with pytest.raises(TabwbError, match="already exists: echo"):
        tabwb("model", "add", "tiny", "echo@delay=0.1")
    tabwb("model", "add", "tiny", "echo@delay=0.1", "--force")
    assert "echo@delay=0.1" in tabwb("model", "list").stdout


def test_a_profile_for_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no model back end 'ecco'"):
        tabwb("model", "add", "tiny", "ecco")


def test_every_back_end_is_listed_with_its_protocols() -> None:
    backends = {
        each["id"]: each for each in json.loads(tabwb("model", "list", "--json").stdout)["backends"]
    }
    assert backends["echo"]["protocols"] == ["generate"]
    assert {"echo", "replay", "bundled", "transformers"} <= backends.keys()


@pytest.mark.parametrize("text", ["", "many", "-5", "0", "nan", "inf", "B"])
def test_what_is_no_number_of_parameters_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a number of parameters"):
        number_of_parameters(text)
