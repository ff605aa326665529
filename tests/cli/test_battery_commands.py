"""``tabwb battery``: list, show, check, schema, new."""

from __future__ import annotations

from pathlib import Path

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
    assert "for judges: no definition and no example" in shown
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
