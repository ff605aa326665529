"""Links and names of files in the pages of the repository lead to files and headings that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import ROOT

FOLDERS = ("docs", "plugins", "tabwb", "batteries")
PAGES = [*ROOT.glob("*.md"), *(page for each in FOLDERS for page in (ROOT / each).rglob("*.md"))]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, code blocks left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def broken(page: Path) -> Iterator[str]:
    """Yield the links of a page whose target does not exist."""
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?:", link):
            continue
        file, _, heading = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists() or (heading and heading not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_has_its_target(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title: `x`\n[a](#a-title-x) [b](#b) [c](c.md) [d](page.md#d)\n", "utf-8")
    assert list(broken(page)) == ["#b", "c.md", "page.md#d"]


FILES = [
    str(path.relative_to(ROOT))
    for folder in ("tabwb", "plugins", "batteries", "training", "benchmarks", "tests", "docs")
    for path in (ROOT / folder).rglob("*")
    if "__pycache__" not in path.parts
]
NAMED = re.compile(
    r"`((?:tabwb|plugins|batteries|training|benchmarks|tests|docs)/[\w./+-]+|[\w/]+\.py)`"
)


def absent(page: Path) -> Iterator[str]:
    """Yield the files that a page names in backticks and that do not exist."""
    for name in NAMED.findall(page.read_text(encoding="utf-8")):
        if not any(f"/{path}".endswith(f"/{name.rstrip('/')}") for path in FILES):
            yield name


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "CHANGELOG.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_file_that_is_named_exists(page: Path) -> None:
    # plugins/tabwb_NAME and tabwb/workbench/NAME are places for files of the reader's.
    assert [name for name in absent(page) if "NAME" not in name] == []


def test_an_absent_file_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`tabwb/no.py` `trial/page.py` `no/page.py` `tests/`", "utf-8")
    assert list(absent(page)) == ["tabwb/no.py", "no/page.py"]
