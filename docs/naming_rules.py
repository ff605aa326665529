"""Write the tables of naming-rules.md from the code: codes, flags, decision table, varieties.

``python docs/naming_rules.py`` writes them, ``--check`` fails when one is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tabwb.scoring.naming.rules import RULES
from tabwb.scoring.naming.target import CODES, FLAGS, VARIETIES

PAGE = Path(__file__).parent / "naming-rules.md"


def codes() -> str:
    """Return the table of codes."""
    lines = ["| code | meaning | proposed by |", "|---|---|---|"]
    lines += [f"| `{name}` | {code.definition} | {code.proposer} |" for name, code in CODES.items()]
    return "\n".join(lines)


def flags() -> str:
    """Return the table of flags."""
    lines = ["| flag | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {meaning} |" for name, meaning in FLAGS.items())])


def rules() -> str:
    """Return the decision table, in the order in which it is applied."""
    lines = ["| # | rule | what it says | from |", "|---|---|---|---|"]
    lines += [f"| {rule.number} | {rule.name} | {rule.says} | {rule.source} |" for rule in RULES]
    return "\n".join(lines)


def varieties() -> str:
    """Return the table of the varieties of English that can be recorded."""
    lines = ["| variety | what differs |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| `{name}` | {meaning} |" for name, meaning in VARIETIES.items())]
    )


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
