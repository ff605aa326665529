"""The paper's examples given to judges, and the docs page that prints their verdicts."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tabwb.host.judge_prompt_files import load_prompt
from tabwb.host.judge_prompts import bundled_folder
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tests.plugins.chat_server import Handler, chat_server, says

DOCS = Path(__file__).parents[1] / "docs"
TAB = load_prompt(bundled_folder() / "tab-2026.toml")
PRESENT = ("anomia", "conduite-d-approche")


@pytest.fixture(scope="module")
def examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judged_examples", DOCS / "judged_examples.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load(Configuration(offline=True))
    yield loaded
    loaded.close()


def columns(page: str, *names: str) -> list[tuple[str, ...]]:
    """Cells of the named columns, feature by feature, of the seven tables."""
    found: list[tuple[str, ...]] = []
    heads: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| feature |"):
            heads = cells
        elif line.startswith("| ") and heads[:1] == ["feature"] and len(cells) == len(heads):
            found.append(tuple(cells[heads.index(name)] for name in names))
    return found


def test_the_page_has_what_the_rules_say_now(examples: ModuleType, plugins: Plugins) -> None:
    page = (DOCS / "judged-examples.md").read_text(encoding="utf-8")
    now = columns(examples.page(plugins, ["rules-2"]), "feature", "paper", "rules-2")
    printed = columns(page, "feature", "paper", "rules-2")
    # Two transcripts with all 19 features; of the others those that anybody speaks of.
    assert len(now) >= 2 * 19
    assert set(now) <= set(printed)
    assert printed[: 2 * 19] == now[: 2 * 19]


def test_a_chat_model_behind_the_published_prompt_judges_all_seven(
    examples: ModuleType, plugins: Plugins
) -> None:
    pytest.importorskip("openai", reason="needs tabwb[openai]")
    asked: list[str] = []

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        asked.append(json.dumps(body["messages"], ensure_ascii=False))
        says(TAB.labels(PRESENT))(handler, body)

    with chat_server(then=answer) as chat:
        judge = f"tab-2026:openai:x@base_url={chat.url}"
        page = examples.page(plugins, [judge])
    published = json.loads(examples.PUBLISHED.read_text(encoding="utf-8"))
    texts = [each["text"] for kind in ("judged", "illustrated") for each in published[kind]]
    assert len(texts) == len(asked) == 7
    for text in texts:
        assert sum(json.dumps(text, ensure_ascii=False)[1:-1] in each for each in asked) >= 1
    cells = columns(page, "feature", judge)
    assert {value for _, value in cells} == {"0", "1"}
    assert sum(value == "1" for _, value in cells) == 7 * len(PRESENT)
