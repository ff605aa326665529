"""Every link between the pages of the repository leads to a file and a heading that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
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
