"""``tabwb battery``: list, show, check, schema, new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.cli import doctor
from tests.cli.conftest import Run


def test_tab_is_listed_and_shown_with_its_sources(run: Run) -> None:
    (row,) = [one for one in run("battery", "list", "--json").document["batteries"]
              if one["id"] == "tab"]  # fmt: skip
    assert row["items"] == 20
    shown = run("battery", "show", "tab").out
    assert "instructions, sent [paper, B.1]" in shown
    assert "instructions, sent [ours]" in shown
    assert "to the administrator, never sent [paper, B.2]" in shown
    assert "foil boat: phonological [ours]" in shown
    assert "expected: Yes [paper, B.3]" in shown
    assert "expected: lion [ours]" in shown
    assert "(anomia) [paper, table 4]: Overall impression" in shown
    assert "for judges [paper, D.2]: no definition and no example" in shown
    document = run("battery", "show", "tab", "--json").document
    assert len(document["prompts"]) == 20


def test_check_says_every_problem_and_exits_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.write_text('[battery]\nid = "x"\ntitel = "X"\n', encoding="utf-8")
    outcome = run("battery", "check", path)
    assert outcome.status == 1
    assert f"{path}:3: battery.titel: there is no such key" in outcome.err
    assert "did you mean 'title'?" in outcome.err
    document = run("battery", "check", path, "--json").document
    assert document["ok"] is False
    assert {problem["key"] for problem in document["problems"]} >= {"battery.titel", "subtest"}


def test_check_takes_a_file_a_folder_or_an_id(run: Run, tmp_path: Path) -> None:
    run("battery", "new", tmp_path / "colours")
    for argument in (tmp_path / "colours" / "battery.toml", tmp_path / "colours", "tab"):
        outcome = run("battery", "check", argument)
        assert outcome.status == 0
        assert outcome.out.startswith("ok: ")
    assert "this is a folder" in run("battery", "check", tmp_path).err
    assert "no such file" in run("battery", "check", tmp_path / "nowhere.toml").err
    assert "cannot be read" in run("battery", "check", "x" * 300).err
    misspelt = run("battery", "check", "tabb")
    assert misspelt.status == 2
    assert "did you mean 'tab'?" in misspelt.err


def test_a_csv_with_problems_writes_nothing(run: Run, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("prompt,options,expected\nWhich?,a|b,c\n", encoding="utf-8")
    outcome = run("battery", "new", tmp_path / "mine", "--from", items)
    assert outcome.status == 1
    assert f"{items}:2: expected: the expected answer is not one of the options" in outcome.err
    assert not (tmp_path / "mine").exists()


def test_a_battery_with_a_file_of_its_own_can_be_given(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    run("battery", "new", folder)
    path = folder / "battery.toml"
    (folder / "how.txt").write_text("One word, please.\n", encoding="utf-8")
    before, _, after = path.read_text(encoding="utf-8").partition("\ninstructions = ")
    instructions = '\ninstructions = { file = "how.txt", source = "ours" }\n'
    path.write_text(before + instructions + after.partition("\n")[2], encoding="utf-8")
    given = run("run", path, "--model", "echo", "--json")
    assert given.status == 0, given.err
    assert given.document["trials"][0]["prompt"].startswith("One word, please.\n")


def test_a_new_battery_can_be_given_at_once(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    assert run("battery", "new", folder).status == 0
    assert run("battery", "check", folder / "battery.toml").status == 0
    given = run("run", folder, "--model", "echo", "--json")
    assert given.status == 0, given.err
    assert given.document["administration"]["battery"] == "colours"
    assert run("battery", "new", folder).status == 2


def test_the_same_version_with_other_content_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    run("battery", "new", folder)
    assert run("run", folder, "--model", "echo").status == 0
    path = folder / "battery.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("can fly", "may fly"), "utf-8")
    refused = run("run", folder, "--model", "echo")
    assert refused.status == 1
    assert "version" in refused.err
    changed = path.read_text(encoding="utf-8").replace('version = "1" ', 'version = "2" ')
    path.write_text(changed, encoding="utf-8")
    assert run("run", folder, "--model", "echo").status == 0


def test_the_schema_describes_every_key(run: Run) -> None:
    schema = run("battery", "schema").document
    assert set(schema["properties"]) == {"battery", "subtest", "feature", "grouping"}
    for part in schema["$defs"].values():
        assert all("description" in value for value in part["properties"].values())


def test_one_of_a_kind_is_no_plural(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "is_installed", lambda module: module != "torch")
    path = tmp_path / "battery.toml"
    path.write_text(
        """
[battery]
id = "one"
title = "One"
version = "1"
language = "en"
license = "MIT"
examinees = ["model"]

[[subtest]]
id = "saying"
title = "Saying"
response = "verbatim"
template = "{prompt}"
scorers = ["repetition"]
item = [{ id = "s1", prompt = "house", expected = "house" }]
""",
        encoding="utf-8",
    )
    assert "1 subtest, 1 item, sha256" in run("battery", "check", path).out
    assert "; 1 item\n" in run("battery", "show", path).out
    run("run", path, "--model", "echo")
    assert "1 answer rated again" in run("trial", "rescore", 1).err
    assert ": 1 administration\n" in run("doctor").out
