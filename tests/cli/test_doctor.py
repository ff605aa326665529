"""``tabwb doctor``: it looks, and changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabwb.cli import doctor
from tabwb.cli.doctor import LACKING
from tabwb.host import index
from tests.cli.conftest import Run


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bundled model be passed over: to load it takes longer than all the rest."""
    monkeypatch.setattr(doctor, "is_installed", lambda module: module != "torch")


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_a_fresh_installation_is_looked_at_and_left_as_it_is(run: Run, tmp_path: Path) -> None:
    outcome = run("doctor", "--json")
    findings = {finding["what"]: finding for finding in outcome.document["findings"]}
    assert outcome.status == 0, outcome.out
    assert "none yet" in findings["store"]["text"]
    assert findings["settings"]["text"].startswith(os.environ["TABWB_CONFIG_DIR"])
    assert "answers 'door.'" in findings["bundled"]["text"]
    assert not (tmp_path / "tabwb-data" / "tabwb.db").exists()


def test_what_is_done_without_for_want_of_an_extra_is_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "is_installed", lambda module: module not in {"keyring", "torch"})
    findings = {f["what"]: f for f in run("doctor", "--json").document["findings"]}
    assert set(LACKING) == set(index.EXTRAS)
    assert findings["[keyring]"]["state"] == "note"
    assert findings["[local]"]["text"].startswith("not installed (torch): no local models")
    assert "bundled" not in findings
    assert "keys from the environment only" in findings["[keyring]"]["text"]
    assert findings["[keyring]"]["todo"] == 'install it with: pip install "tabwb[keyring]"'


@pytest.mark.usefixtures("without_torch")
def test_a_damaged_store_is_a_problem_with_advice(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database at all, but long enough to look at" * 100)
    outcome = run("doctor", "--store", broken, status=1)
    assert "! problem" in outcome.out
    assert str(broken) in outcome.out


def test_a_broken_configuration_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tabwb.toml").write_text("store = \n", encoding="utf-8")
    outcome = run("doctor", status=1)
    assert "tabwb.toml" in outcome.out + outcome.err
    assert "Traceback" not in outcome.err
