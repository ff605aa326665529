"""The tables of naming-rules.md, made from the code: codes, flags, the decision table, varieties.

``python docs/naming_rules.py`` writes them, ``--check`` fails when one is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tabwb.scoring.naming.codes import CODES, FLAGS
from tabwb.scoring.naming.forms import VARIETIES
from tabwb.scoring.naming.table import RULES

PAGE = Path(__file__).parent / "naming-rules.md"


def codes() -> str:
    """Every code."""
    lines = ["| code | meaning | proposed by |", "|---|---|---|"]
    lines += [f"| `{name}` | {one.definition} | {one.proposer} |" for name, one in CODES.items()]
    return "\n".join(lines)


def flags() -> str:
    """Every flag."""
    lines = ["| flag | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {said} |" for name, said in FLAGS.items())])


def rules() -> str:
    """The decision table, in the order in which it is applied."""
    lines = ["| # | rule | what it says | from |", "|---|---|---|---|"]
    lines += [f"| {one.number} | {one.name} | {one.says} | {one.source} |" for one in RULES]
    return "\n".join(lines)


def varieties() -> str:
    """Every variety of English that can be recorded."""
    lines = ["| variety | what differs |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {said} |" for name, said in VARIETIES.items())])


TABLES = {"codes": codes, "flags": flags, "decision table": rules, "varieties": varieties}


def written(page: str) -> str:
    """Return the page with every table as the code makes it now."""
    for name, table in TABLES.items():
        opening, closing = f"<!-- table: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = page.partition(opening)
        _, _, after = rest.partition(closing)
        page = f"{before}{opening}{table()}\n{closing}{after}"
    return page


def main() -> None:
    """Write or check the page."""
    page = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:2] == ["--check"]:
        sys.exit(written(page) != page)
    PAGE.write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main()
