"""Key paths and lines, against tomli on texts that are put together at random."""

from __future__ import annotations

from typing import Any

import tomli
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.locate import line_of, locate
from tabwb.records.problems import KeyPath

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
