"""The dial as one HTML file with a slider: its answers are in it, and it asks for nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from tabwb.scoring.word_difference import word_difference
from tabwb.tables.table import Table


def dial_page(
    table: Table, titles: Mapping[str, str], model: str, target: str, layers: str, prompt: str
) -> str:
    """Return the page of a table of a dial; see :func:`tabwb.analysis.tables.lesions.dial_table`.

    The policy of its content allows no request, and no script but its own, by its hash.
    """
    rows = table.to_dicts()
    intact = next((row["answer"] or "" for row in rows if row["role"] == "intact"), "")
    features = [(name, titles[name]) for name in titles if name in table.names]
    steps = [
        {
            "role": row["role"], "amount": row["amount"], "seed": row["seed"],
            "answer": row["answer"] or "", "status": row["status"], "words": row["words"],
            "new_words": len(row["new_words"] or ()), "alike": row["alike"], "seeds": row["seeds"],
            "pieces": [*word_difference(intact, row["answer"] or "").second],
            "features": {name: row[name] for name, _ in features},
        }
        for row in rows
    ]  # fmt: skip
    data = {"target": target, "features": features, "steps": steps}
    templates = files("tabwb.media") / "templates"
    script = (templates / "dial.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    where = "all layers" if layers == "all" else f"layers {layers}"
    # In a script element only "<" can end or change it.
    filled = {
        "HASH": f"sha256-{digest}",
        "TITLE": escape(f"The dial: {model}, {target}, {where}"),
        "PROMPT": escape(prompt),
        "SCRIPT": script,
        "DATA": json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
    }
    page = (templates / "dial.html").read_text(encoding="utf-8")
    return re.sub(f"@({'|'.join(filled)})@", lambda place: filled[place[1]], page)
