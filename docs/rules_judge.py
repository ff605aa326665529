"""Write the tables of ``rules-judge.md`` from the code; measure the rules on other texts.

``python docs/rules_judge.py`` writes them, ``--check`` fails when one is not current, and
``--measure FILE`` prints the number of the file's texts (one per line) in which each rule fires.
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
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import (
    CURRENT,
    FEATURES,
    NEVER,
    ONE_SIDED,
    TWO_SIDED,
    Outcome,
    RuleVerdict,
    TextContext,
    Thresholds,
    rater_id,
)

PAGE = Path(__file__).with_name("rules-judge.md")
PUBLISHED = Path(__file__).parents[1] / "tests" / "data" / "rules_published.json"
NAME = rater_id(CURRENT)
TITLES = {"conduite-d-approche": "conduite d'approche"}


def judged_transcripts() -> str:
    """Return the paper's labels and the rules' verdicts for D.3's two transcripts."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["judged"]
    verdicts = [judge(TextContext(text["text"], spoken=True)) for text in published]
    rows = [f"| feature | paper 1 | {NAME} | paper 2 | {NAME} |", "|---|---|---|---|---|"]
    for feature in FEATURES:
        cells = [_title(feature)]
        for text, ratings in zip(published, verdicts, strict=True):
            cells += [str(int(feature in text["present"])), _cell(ratings[feature])]
        rows.append(f"| {' | '.join(cells)} |")
    pairs = [
        (feature in text["present"], ratings[feature].outcome is Outcome.PRESENT)
        for text, ratings in zip(published, verdicts, strict=True)
        for feature in TWO_SIDED + ONE_SIDED
    ]
    hits = sum(label and fired for label, fired in pairs)
    false = sum(fired and not label for label, fired in pairs)
    labelled = sum(label for label, _ in pairs)
    return "\n".join(
        [
            *rows,
            "",
            f"Found: {hits} of the {labelled} positives of features that have a rule; "
            f"false positives: {false}.",
        ]
    )


def illustrated_responses() -> str:
    """Return the paper's symptoms and the rules that fire for appendix C's five responses."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["illustrated"]
    rows = [f"| response | the paper says | {NAME} says present |", "|---|---|---|"]
    for example in published:
        verdicts = judge(illustrated_context(example))
        fired = [
            f"{_title(feature)} ({_plain(str(verdict))})"
            for feature, verdict in verdicts.items()
            if verdict.outcome is Outcome.PRESENT
        ]
        labels = ", ".join(map(_title, example["present"]))
        rows.append(
            f"| {example['id']} ({example['kind']}) | {labels} | {'; '.join(fired) or '-'} |"
        )
    return "\n".join(rows)


def illustrated_context(published: Mapping[str, Any]) -> TextContext:
    """Return one of appendix C's responses with its item."""
    return TextContext(
        published["text"],
        ResponseKind(published["kind"]),
        prompt=published["prompt"],
        expected=published.get("expected"),
    )


def defined_examples() -> str:
    """Return the verdict of the feature's own rule, and others that fire, for D.2's 18 examples."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))["defined"]
    rows = ["| feature | example | its rule | also present |", "|---|---|---|---|"]
    for example in published:
        verdicts = judge(TextContext(example["text"]))
        others = ", ".join(
            _title(feature)
            for feature, verdict in verdicts.items()
            if verdict.outcome is Outcome.PRESENT and feature != example["feature"]
        )
        own = verdicts[example["feature"]].outcome.value
        rows.append(
            f"| {_title(example['feature'])} | {example['text']} | {own} | {others or '-'} |"
        )
    return "\n".join(rows)


def thresholds() -> str:
    """Return the thresholds of this version."""
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
    """Return the page with every table as the code makes it now."""
    for name, table in TABLES.items():
        opening, closing = f"<!-- table: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = page.partition(opening)
        _, _, after = rest.partition(closing)
        page = f"{before}{opening}{table()}\n{closing}{after}"
    return page


def measure(texts: Iterable[str], limits: Thresholds = CURRENT) -> str:
    """Return the share of texts in which each rule fires: false positives on normal texts."""
    fired: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        verdicts = judge(TextContext(text), limits)
        fired.update(f for f, rating in verdicts.items() if rating.outcome is Outcome.PRESENT)
    rates = (
        f"{feature:32} {fired[feature]:5} {100 * fired[feature] / max(1, total):5.1f} %"
        for feature in FEATURES
        if feature not in NEVER
    )
    return "\n".join([f"{total} texts", *rates])


def _title(feature: str) -> str:
    return TITLES.get(feature, feature.replace("-", " "))


def _cell(verdict: RuleVerdict) -> str:
    if verdict.outcome is not Outcome.PRESENT:
        return str(verdict.outcome)
    return f"**present**: {_plain(str(verdict))}"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")


def main() -> None:
    """Write, check or measure, depending on the arguments."""
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
