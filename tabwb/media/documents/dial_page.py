"""The dial as one HTML file with a slider: its answers are in it, and it asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from tabwb.analysis.sessions import COMPARED
from tabwb.records.words import RESEARCH_ONLY
from tabwb.scoring.word_difference import word_difference
from tabwb.tables.table import Table

if TYPE_CHECKING:
    from tabwb.battery.model import Battery


class PageFacts(NamedTuple):
    """What a page says beside its table.

    Attributes:
        title, about: its heading, and the line below.
        slider, choice: what the slider turns, and what the list beside it has.
        first, later: what is said of an answer at the left end, and elsewhere.
        differs: what an underlined word is not.
        features: the heading of the features.
        note: at the end.
        unit: before an amount.
    """

    title: str
    about: str
    slider: str
    choice: str
    first: str
    later: str
    differs: str
    features: str
    note: str
    unit: str


def lesion_facts(model: str, target: str, layers: str, prompt: str) -> PageFacts:
    """Return what a page of a model says."""
    where = "all layers" if layers == "all" else f"layers {layers}"
    return PageFacts(
        f"The dial: {model}, {target}, {where}", prompt, "Amount", "Seed",
        "Said by the intact model", "Said by the lesioned model", "not said by the intact model",
        "Features that the rules judge finds, by amount",
        "A lesion here is a change of numbers in a model. It says nothing about a brain and is not "
        "a diagnosis. Underlined: words that the intact model does not say.", target,
    )  # fmt: skip


def session_facts(who: str, battery: Battery) -> PageFacts:
    """Return what a page of sessions says."""
    return PageFacts(
        f"The sessions of {who}", f"{battery.title} {battery.version}", "Session", "Item",
        "Said at the first session", "Said at this session", "not in what it is compared with",
        "What is said of the answer, by session",
        f"{RESEARCH_ONLY} {COMPARED} Underlined: what differs.", "session",
    )  # fmt: skip


def dial_page(table: Table, titles: Mapping[str, str], about: PageFacts) -> str:
    """Return the page of a table of a dial; see :func:`tabwb.analysis.tables.lesions.dial_table`.

    The policy of its content allows no request, and no script but its own, by its hash.
    """
    rows = table.to_dicts()
    intact = next((row["answer"] or "" for row in rows if row.get("role") == "intact"), "")
    features = [(name, titles[name]) for name in titles if name in table.names]
    steps = []
    for row in rows:
        answer, role = row["answer"] or "", row.get("role", "session")
        compared = {"session": row.get("compared"), "intact": None}.get(role, intact)
        words = word_difference(answer if compared is None else compared, answer).second
        day, new, seeds = row.get("day"), len(row["new_words"] or ()), row.get("seeds") or 0
        notes = [
            "" if row["status"] == "ok" else row["status"],
            "" if day is None else f"day {day}",
            row.get("source"),
            f"compared with {row['compared']}" if row.get("compared") else "",
            "" if compared is None else f"{new} of {row['words']} {about.differs}",
            f"{row['alike']} of {seeds} seeds have the same features" if seeds > 1 else "",
        ]
        steps.append({
            "role": role, "at": row["amount"] if role != "session" else row["session"],
            "choice": row["seed"] if role != "session" else row["item"],
            "answer": answer, "pieces": [*words],
            "features": {name: row[name] for name, _ in features}, "notes": [*filter(None, notes)],
        })  # fmt: skip
    data = {"unit": about.unit, "first": about.first, "later": about.later,
            "features": features, "steps": steps}  # fmt: skip
    templates = files("tabwb.media") / "templates"
    script = (templates / "dial.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # In a script element only "<" can end or change it.
    filled = {
        "HASH": f"sha256-{digest}",
        **{name.upper(): escape(words) for name, words in about._asdict().items()},
        "SCRIPT": script,
        "DATA": json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    }
    page = (templates / "dial.html").read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(filled)})@", lambda place: filled[place[1]], page)
