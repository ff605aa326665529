"""Writes the tables of ``rules-judge.md`` from the code, and measures the rules on other texts.

``python docs/rules_judge.py`` writes them, ``--check`` fails when one is not current, and
``--measure FILE`` prints in how many of the file's texts (one a line) each rule fires.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tabwb.records.states import ResponseKind
from tabwb.scoring.rules import (
    CURRENT,
    FEATURES,
    NEVER,
    ONE_SIDED,
    TWO_SIDED,
    Outcome,
    TextContext,
    Thresholds,
    Verdict,
    judge,
    rater_id,
)

PAGE = Path(__file__).with_name("rules-judge.md")
PUBLISHED = Path(__file__).parents[1] / "tests" / "data" / "rules_published.json"
NAME = rater_id(CURRENT)
TITLES = {"conduite-d-approche": "conduite d'approche"}


def judged_transcripts() -> str:
    """Every feature of D.3's two transcripts: the paper's label, and what the rule says."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["judged"]
    verdicts = [judge(TextContext(each["text"], spoken=True)) for each in published]
    rows = [f"| feature | paper 1 | {NAME} | paper 2 | {NAME} |", "|---|---|---|---|---|"]
    for feature in FEATURES:
        cells = [_title(feature)]
        for each, said in zip(published, verdicts, strict=True):
            cells += [str(int(feature in each["present"])), _cell(said[feature])]
        rows.append(f"| {' | '.join(cells)} |")
    pairs = [
        (feature in each["present"], said[feature].outcome is Outcome.PRESENT)
        for each, said in zip(published, verdicts, strict=True)
        for feature in TWO_SIDED + ONE_SIDED
    ]
    found = sum(label and fired for label, fired in pairs)
    false = sum(fired and not label for label, fired in pairs)
    labelled = sum(label for label, _ in pairs)
    return "\n".join(
        [
            *rows,
            "",
            f"Found: {found} of the {labelled} positives of features that have a rule; "
            f"false positives: {false}.",
        ]
    )


def illustrated_responses() -> str:
    """Appendix C's five responses: the paper's symptoms, and what fires."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["illustrated"]
    rows = [f"| response | the paper says | {NAME} says present |", "|---|---|---|"]
    for each in published:
        verdicts = judge(illustrated_context(each))
        fired = [
            f"{_title(feature)} ({_plain(str(verdict))})"
            for feature, verdict in verdicts.items()
            if verdict.outcome is Outcome.PRESENT
        ]
        labels = ", ".join(map(_title, each["present"]))
        rows.append(f"| {each['id']} ({each['kind']}) | {labels} | {'; '.join(fired) or '-'} |")
    return "\n".join(rows)


def illustrated_context(published: Mapping[str, Any]) -> TextContext:
    """One of appendix C's responses with its item."""
    return TextContext(
        published["text"],
        ResponseKind(published["kind"]),
        prompt=published["prompt"],
        expected=published.get("expected"),
    )


def defined_examples() -> str:
    """D.2's 18 one-line examples: whether the feature's own rule finds it, and what else fires."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["defined"]
    rows = ["| feature | example | its rule | also present |", "|---|---|---|---|"]
    for each in published:
        verdicts = judge(TextContext(each["text"]))
        others = ", ".join(
            _title(feature)
            for feature, verdict in verdicts.items()
            if verdict.outcome is Outcome.PRESENT and feature != each["feature"]
        )
        own = verdicts[each["feature"]].outcome.value
        rows.append(f"| {_title(each['feature'])} | {each['text']} | {own} | {others or '-'} |")
    return "\n".join(rows)


def thresholds() -> str:
    """The numbers of this version."""
    rows = ["| number | value |", "|---|---|"]
    for field in dataclasses.fields(CURRENT):
        value = getattr(CURRENT, field.name)
        shown = f"{value[0]} to {value[1]}" if isinstance(value, tuple) else f"{value:g}"
        rows.append(f"| `{field.name}` | {shown} |")
    return "\n".join(rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "judged transcripts": judged_transcripts,
    "illustrated responses": illustrated_responses,
    "defined examples": defined_examples,
    "thresholds": thresholds,
}


def written(page: str) -> str:
    """The page with every table as the code makes it now."""
    for name, table in TABLES.items():
        opening, closing = f"<!-- table: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = page.partition(opening)
        _, _, after = rest.partition(closing)
        page = f"{before}{opening}{table()}\n{closing}{after}"
    return page


def measure(texts: Iterable[str], limits: Thresholds = CURRENT) -> str:
    """In how many texts of healthy writers each rule fires: its false positives."""
    fired: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        verdicts = judge(TextContext(text), limits)
        fired.update(f for f, said in verdicts.items() if said.outcome is Outcome.PRESENT)
    rates = (
        f"{feature:32} {fired[feature]:5} {100 * fired[feature] / max(1, total):5.1f} %"
        for feature in FEATURES
        if feature not in NEVER
    )
    return "\n".join([f"{total} texts", *rates])


def _title(feature: str) -> str:
    return TITLES.get(feature, feature.replace("-", " "))


def _cell(verdict: Verdict) -> str:
    if verdict.outcome is not Outcome.PRESENT:
        return str(verdict.outcome)
    return f"**present**: {_plain(str(verdict))}"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")


def main() -> None:
    """Write, check or measure, as the arguments say."""
    if sys.argv[1:2] == ["--measure"]:
        print(measure(Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()))
        return
    page = PAGE.read_text(encoding="utf-8")
    current = written(page)
    if sys.argv[1:2] == ["--check"]:
        sys.exit(current != page)
    PAGE.write_text(current, encoding="utf-8")


if __name__ == "__main__":
    main()
