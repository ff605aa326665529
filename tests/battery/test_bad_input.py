"""Bad battery files: every problem with its line, what is allowed, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.battery.loader import MAX_BYTES, check_battery, load_battery
from tabwb.battery.problems import BatteryProblems

GOOD = """\
[battery]
id = "demo"
title = "Demo"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "words"
title = "Words"
response = "choice"
template = "{prompt} ({options})"
scorers = ["choice"]

[[subtest.item]]
id = "w1"
prompt = "Which one barks?"
options = ["dog", "tree"]
expected = "dog"
foils = { tree = "unrelated" }

[[feature]]
id = "anomia"
key = "Anomia"
title = "Anomia"
definition = "Word-finding difficulty."

[[grouping]]
id = "all"
title = "All"
source = "ours"
category = [{ id = "lexical", title = "Lexical", features = ["anomia"] }]
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "battery.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def test_the_good_one_has_no_problem(tmp_path: Path) -> None:
    assert check_battery(write(tmp_path, GOOD), scorers=["choice"]) == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "said"),
    [
        ('id = "demo"', "id = 7", 2, "battery.id", "wrong type (integer)"),
        ('id = "demo"', 'id = "My Demo"', 2, "battery.id", "no id"),
        ('title = "Demo"', 'titel = "Demo"', 3, "battery.titel", "did you mean 'title'?"),
        ('title = "Demo"\n', "", 1, "battery.title", "missing"),
        ('license = "MIT"', 'license = "MIT"\nexaminees = ["modell"]', 7,
         "battery.examinees[1]", "did you mean 'model'?"),
        ('"choice"\nt', '"choise"\nt', 11, "subtest[1].response", "did you mean 'choice'?"),
        ("scorers = [", "scorrs = [", 13, "subtest[1].scorrs", "did you mean 'scorers'?"),
        ('["choice"]', '["choise"]', 13, "subtest[1].scorers[1]", "did you mean 'choice'?"),
        ("{prompt} ({options})", "{promt} ({options})", 12, "subtest[1].template", "{prompt}"),
        ("{prompt} ({options})", "{prompt}", 12, "subtest[1].template", "never see them"),
        ('expected = "dog"', 'expected = "dgo"', 19, "subtest[1].item[1].expected",
         "did you mean 'dog'?"),
        ('expected = "dog"\n', "", 15, "subtest[1].item[1]", "needs its expected answer"),
        ('["dog", "tree"]', '["dog"]', 18, "subtest[1].item[1].options", "two or more"),
        ('["dog", "tree"]', '["dog", "tree", "Dog"]', 18, "subtest[1].item[1].options[1]",
         "stands twice"),
        ('["dog", "tree"]', '["dog", "tree", 3]', 18, "subtest[1].item[1].options[3]",
         "wrong type"),
        ("{ tree =", "{ treee =", 20, "subtest[1].item[1].foils.treee", "did you mean 'tree'?"),
        ("{ tree =", "{ dog =", 20, "subtest[1].item[1].foils.dog", "no wrong option"),
        ('["anomia"]', '["anomai"]', 32, "grouping[1].category[1].features[1]",
         "did you mean 'anomia'?"),
        ('features = ["anomia"]', "features = []", 32, "grouping[1].category[1].features",
         "empty"),
        ('prompt = "Which one barks?"', 'prompt = ""', 17, "subtest[1].item[1].prompt", "empty"),
        ('expected = "dog"', 'expected = "dog"\npractice = true', 15, "subtest[1].item",
         "practice"),
        ('source = "ours"\n', 'source = "ours"\nx.y.z = 1\n', 32, "grouping[1].x",
         "no such key"),
    ],
)  # fmt: skip
def test_each_problem_has_its_line_key_and_advice(
    tmp_path: Path, old: str, new: str, line: int, key: str, said: str
) -> None:
    assert GOOD.count(old) >= 1
    path = write(tmp_path, GOOD.replace(old, new, 1))
    problems = check_battery(path, scorers=["choice", "yes-no"])
    of_key = [str(problem) for problem in problems if problem.key == key]
    assert any(one.startswith(f"{path}:{line}: {key}: ") and said in one for one in of_key)


def test_duplicate_ids_are_named_where_they_stand(tmp_path: Path) -> None:
    second = GOOD[GOOD.index("[[subtest.item]]") : GOOD.index("[[feature]]")]
    path = write(tmp_path, GOOD.replace("[[feature]]", second + "[[feature]]", 1))
    (problem,) = check_battery(path)
    assert problem.line == 23
    assert problem.key == "subtest[1].item[2].id"
    assert "stands twice" in problem.message


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = GOOD.replace('"Demo"', "5").replace('"choice"\nt', '"x"\nt').replace('"MIT"', "[]")
    assert [problem.line for problem in check_battery(write(tmp_path, text))] == [3, 6, 11]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"", 1, "empty"),
        (b" \n\n", 1, "empty"),
        (b'[battery]\nid = "a\xff"\n', 2, "no UTF-8"),
        (b'[battery]\nid = "a"\n\x00', 3, "NUL"),
        (b"[battery\n", 1, "column"),
        (b'[battery]\nid = "a"\nid = "b"\n', 3, "column"),
        (b"x = 1979-13-99\n", 1, "TOML"),
        (b"[battery]\n", 1, "missing"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, 1, ""),
        (b"a = " + b"9" * 5000, 1, ""),
        (b'[battery]\nid = "demo"\nsubtest = 5\n', 3, "no such key"),
        (b"battery = 5\nsubtest = 5", 1, "wrong type"),
        (b"[[battery]]\n", 1, "wrong type"),
    ],
)
def test_files_that_are_no_battery(tmp_path: Path, content: bytes, line: int, said: str) -> None:
    problems = check_battery(write(tmp_path, content))
    assert any(problem.line == line and said in str(problem) for problem in problems), problems


def test_a_battery_without_items_is_refused(tmp_path: Path) -> None:
    start, end = GOOD.index("[[subtest.item]]"), GOOD.index("[[feature]]")
    (problem,) = check_battery(write(tmp_path, GOOD[:start] + GOOD[end:]))
    assert problem.key == "subtest[1].item"
    assert problem.line == 8
    problems = check_battery(write(tmp_path, GOOD[: GOOD.index("[[subtest]]")]))
    assert [problem.key for problem in problems] == ["subtest"]


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    (problem,) = check_battery(path)
    assert "too large and was not read" in problem.message
    assert f"{MAX_BYTES:,}" in problem.allowed


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/etc/hostname", "nowhere.txt", "link.txt", "folder", "a\\u0000b"]
)
def test_a_path_stays_in_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "demo"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("secret", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    text = GOOD.replace(
        'template = "{prompt}',
        f'instructions = {{ file = "{name}", source = "ours" }}\n'
        'template = "{instructions} {prompt}',
    )
    (problem,) = check_battery(write(folder, text))
    assert problem.line == 12
    assert problem.key == "subtest[1].instructions.file"
    assert "inside the battery's folder" in problem.allowed


def test_a_file_inside_the_folder_is_read_and_kept(tmp_path: Path) -> None:
    from tabwb.battery.loader import battery_from_canonical, read_assets

    (tmp_path / "how.txt").write_text("Answer with one word.\n", encoding="utf-8")
    text = GOOD.replace(
        'template = "{prompt}',
        'instructions = { file = "how.txt", source = "ours" }\ntemplate = "{instructions} {prompt}',
    )
    path = write(tmp_path, text)
    battery = load_battery(path)
    assert battery.subtests[0].instructions is not None
    assert battery.subtests[0].instructions.text == "Answer with one word."
    assert read_assets(path, battery) == {"how.txt": b"Answer with one word.\n"}
    assert battery_from_canonical(battery.canonical) == battery
    (tmp_path / "how.txt").write_text("Answer with two words.\n", encoding="utf-8")
    assert load_battery(path).content_hash != battery.content_hash
    with pytest.raises(BatteryProblems, match="just changed"):
        read_assets(path, battery)


def test_folders_and_missing_files_are_named(tmp_path: Path) -> None:
    (problem,) = check_battery(tmp_path)
    assert "folder" in problem.message
    (problem,) = check_battery(tmp_path / "nowhere.toml")
    assert "no such file" in problem.message
    with pytest.raises(BatteryProblems, match="no such file"):
        load_battery(tmp_path / "nowhere.toml")
