"""Bad battery files: every problem with its line, what is allowed, and no traceback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.loader import MAX_BYTES, check_battery, load_battery
from tabwb.battery.problems import BatteryProblems, line_of, locate
from tabwb.records.problems import KeyPath

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
        ('id = "demo"', 'id = "My Demo"', 2, "battery.id", "not a valid id"),
        ('title = "Demo"', 'titel = "Demo"', 3, "battery.titel", "did you mean 'title'?"),
        ('title = "Demo"', 'title = "De\\u001b[31mmo"', 3, "battery.title", "character U+001B"),
        ('"demo"', '"' + "d" * 65 + '"', 2, "battery.id", "up to 64 characters"),
        ('scorers = ["choice"]', "max_tokens = 0", 13, "subtest[1].max_tokens", "at least 1"),
        ('scorers = ["choice"]', "max_tokens = 1_000_000", 13, "subtest[1].max_tokens",
         "at most 100,000"),
        ('scorers = ["choice"]', "max_tokens = 0x" + "f" * 6000, 13, "subtest[1].max_tokens",
         "out of range"),
        ('scorers = ["choice"]', "max_tokens = true", 13, "subtest[1].max_tokens",
         "wrong type (boolean); found true; allowed: integer"),
        ('"choice"\nt', '"singing"\nt', 11, "subtest[1].response", "allowed: choice, yes-no"),
        ('"choice"\nt', '"verbatim"\nt', 12, "subtest[1].template", "would be empty"),
        ('"choice"\nt', '"verbatim"\nt', 20, "subtest[1].item[1].foils", "takes no foils"),
        ("[[subtest.item]]", "[subtest.item]", 15, "subtest[1].item",
         "each begun with [[subtest.item]]"),
        ("{prompt} ({options})", "{prompt} ({options}) { 0 }", 12, "subtest[1].template",
         "no such field"),
        ('expected = "dog"', 'expected = "dog "', 19, "subtest[1].item[1].expected",
         "leading or trailing white space"),
        ('["dog", "tree"]', '["dog", "tree", "\'Tree.\'"]', 18, "subtest[1].item[1].options[3]",
         "is given twice"),
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
        ('expected = "dog"\n', "", 15, "subtest[1].item[1].expected", "missing"),
        ('["dog", "tree"]', '["dog"]', 18, "subtest[1].item[1].options", "two or more"),
        ('["dog", "tree"]', '["dog", "tree", "Dog"]', 18, "subtest[1].item[1].options[1]",
         "is given twice"),
        ('["dog", "tree"]', '["dog", "tree", 3]', 18, "subtest[1].item[1].options[3]",
         "wrong type"),
        ("{ tree =", "{ treee =", 20, "subtest[1].item[1].foils.treee", "did you mean 'tree'?"),
        ("{ tree =", "{ dog =", 20, "subtest[1].item[1].foils.dog", "not one of the wrong options"),
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
    assert "is given twice" in problem.message


def test_broken_rules_come_together_with_wrong_types(tmp_path: Path) -> None:
    text = GOOD.replace('title = "Demo"', 'titel = "Demo"').replace('title = "Words"', "title = 5")
    text = text.replace('expected = "dog"', 'expected = "dgo"').replace('"anomia"]', '"anomai"]')
    keys = [problem.key for problem in check_battery(write(tmp_path, text))]
    assert keys == [
        "battery.titel",
        "subtest[1].title",
        "subtest[1].item[1].expected",
        "grouping[1]",
        "grouping[1].category[1].features[1]",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('expected = "dog"', "expected = 5"),
        ('expected = "dog"', 'expcted = "dog"'),
        ('options = ["dog", "tree"]', "options = 5"),
        ('options = ["dog", "tree"]', 'options = ["dog", 5]'),
        ('options = ["dog", "tree"]', 'option = ["dog", "tree"]'),
        ('response = "choice"', 'response = "choise"'),
        ('template = "{prompt} ({options})"', "template = 5"),
        ('id = "anomia"', "id = 5"),
        ('id = "lexical"', "id = 5"),
        ('features = ["anomia"]', 'features = [5, "anomia"]'),
        ('foils = { tree = "unrelated" }', "foils = 5"),
    ],
)
def test_one_slip_is_one_problem(tmp_path: Path, old: str, new: str) -> None:
    assert len(check_battery(write(tmp_path, GOOD.replace(old, new)), scorers=["choice"])) == 1


def test_a_problem_never_steers_the_terminal(tmp_path: Path) -> None:
    text = GOOD + '"\\u001b[2J" = 1\n'
    (problem,) = check_battery(write(tmp_path, text))
    assert str(problem).isprintable()


def test_what_is_no_ordinary_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "battery.toml")
    (problem,) = check_battery(tmp_path / "battery.toml")
    assert "not a regular file" in problem.message


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = GOOD.replace('"Demo"', "5").replace('"choice"\nt', '"x"\nt').replace('"MIT"', "[]")
    assert [problem.line for problem in check_battery(write(tmp_path, text))] == [3, 6, 11]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"", 1, "empty"),
        (b" \n\n", 1, "empty"),
        (b"\xef\xbb\xbf\n", 1, "empty"),
        (b'[battery]\nid = "a\xff"\n', 2, "not valid UTF-8"),
        (b'[battery]\nid = "a"\n\x00', 3, "NUL"),
        (b"[battery\n", 1, "column"),
        (b'[battery]\nid = "a"\nid = "b"\n', 3, "column"),
        (b"x = 1979-13-99\n", 1, "TOML"),
        (b"[battery]\n", 1, "missing"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, 1, ""),
        (b"a = " + b"9" * 5000, 1, ""),
        (b"a = 0x" + b"f" * 5000, 1, "no such key"),
        (b".".join([b"a"] * 1000) + b" = 1", 1, "no such key"),
        (b"a = " + b"[" * 400 + b"]" * 400, 1, "no such key"),
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
    problems = check_battery(write(folder, text))
    assert {problem.line for problem in problems} == {12}
    assert {problem.key for problem in problems} == {"subtest[1].instructions.file"}
    assert "inside the battery's folder" in problems[-1].allowed


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
    assert Path(battery.origin) == path
    assert read_assets(path, battery) == {"how.txt": b"Answer with one word.\n"}
    assert battery_from_canonical(battery.canonical) == battery
    (tmp_path / "how.txt").write_text("Answer with two words.\n", encoding="utf-8")
    assert load_battery(path).content_hash != battery.content_hash
    with pytest.raises(BatteryProblems, match="just changed"):
        read_assets(path, battery)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"one\n\xff", "not valid UTF-8 (its line 2)"),
        (b"a\x00b", "U+0000"),
        (b"x" * (MAX_BYTES + 1), "too large"),
    ],
)
def test_a_named_file_holds_printable_text(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "how.txt").write_bytes(content)
    text = GOOD.replace(
        'template = "{prompt}',
        'instructions = { file = "how.txt", source = "ours" }\ntemplate = "{instructions} {prompt}',
    )
    (problem,) = check_battery(write(tmp_path, text))
    assert problem.line == 12
    assert said in problem.message


def test_folders_and_missing_files_are_named(tmp_path: Path) -> None:
    (problem,) = check_battery(tmp_path)
    assert "folder" in problem.message
    (problem,) = check_battery(tmp_path / "nowhere.toml")
    assert "no such file" in problem.message
    with pytest.raises(BatteryProblems, match="no such file"):
        load_battery(tmp_path / "nowhere.toml")


bare = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
quoted = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters='"\\'), max_size=5
)
keys = bare | quoted.map(lambda text: f'"{text}"')
blanks = st.sampled_from(["", " ", "\n", "  # note ] } = [\n", "\n\n\t"])
scalars = st.sampled_from(
    [
        "1", "-2.5e3", "true", "1979-05-27T07:32:00Z", "07:32:00", "inf",
        '""', '"a # b"', r'"q \" ] } , ="', "'raw \\'", '"""one\ntwo "" three\\\n  four"""',
        "'''a\n'' b\n'''", '"""x\\""""', "''''four''''",
    ]
)  # fmt: skip


@st.composite
def arrays(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    parts = [draw(blanks) + value + draw(blanks) for value in draw(st.lists(values, max_size=3))]
    trailing = draw(st.sampled_from(["", ","])) if parts else ""
    return "[" + ",".join(parts) + trailing + draw(blanks) + "]"


@st.composite
def inline_tables(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    names = draw(st.lists(keys, max_size=3, unique=True))
    return "{ " + ", ".join(f"{name} = {draw(values)}" for name in names) + " }"


values = st.recursive(scalars, lambda inner: arrays(inner) | inline_tables(inner), max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 4))):
        header = draw(st.lists(keys, min_size=1, max_size=2))
        style = draw(st.sampled_from(["[{}]", "[[{}]]", "[ {} ]  # note"]))
        lines.append(style.format(" . ".join(header) if draw(st.booleans()) else ".".join(header)))
        for name in draw(st.lists(keys, max_size=3)):
            dotted = name + ("." + draw(keys) if draw(st.booleans()) else "")
            lines.append(f"{dotted} = {draw(values)}" + draw(st.sampled_from(["", " # end"])))
            lines.extend([""] * draw(st.integers(0, 1)))
    return "\n".join(lines) + "\n"


def paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found: set[KeyPath] = set()
    for key, one in inner if isinstance(value, dict | list) else ():
        found |= {(*path, key)} | (
            paths(one, (*path, key)) if isinstance(one, dict | list) else set()
        )
    return found


@given(text=documents())
def test_every_path_that_tomli_finds_has_a_line(text: str) -> None:
    try:
        tables = tomli.loads(text)
    except tomli.TOMLDecodeError:
        return
    lines = locate(text)
    assert set(lines) == paths(tables)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


@given(before=st.lists(values, max_size=3), after=values)
def test_the_line_of_a_key_is_where_its_name_stands(before: list[str], after: str) -> None:
    text = "".join(f"k{index} = {value}\n" for index, value in enumerate(before))
    line = text.count("\n") + 1
    assert locate(f"{text}wanted = {after}\n")[("wanted",)] == line


def test_lines_of_dotted_keys_inline_tables_and_elements() -> None:
    text = 'a.b = { c = 1, d.e = [1,\n  2] }\n[[t]]\n[[t]]\nx = """\ny\n"""\nz = 1\n[t.u]\nv = 2\n'
    lines = locate(text)
    assert lines[("a", "b", "d", "e", 1)] == 2
    assert lines[("t", 1)] == 4
    assert lines[("t", 1, "z")] == 8
    assert lines[("t", 1, "u", "v")] == 10
    assert line_of(lines, ("t", 1, "nothing", 5)) == 4
    assert line_of(lines, ("other",)) == 1
