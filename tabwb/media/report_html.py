"""A report as one HTML file that needs nothing else: no script, no font, no address.

Every text passes the escapes of Jinja2, and control characters are shown as escapes, so that no
response, name or battery acts as markup. The page's own policy forbids scripts and addresses.
Figures are images inside the file: a browser runs no script in them, and their identifiers do not
meet those of other figures.
"""

from __future__ import annotations

import base64
from importlib.resources import files
from typing import TYPE_CHECKING

from tabwb.records.visible import visible

if TYPE_CHECKING:
    from tabwb.media.report import Report

TEMPLATE = "report.html.j2"


def report_html(report: Report) -> bytes:
    """Return a report as HTML, the same bytes each time."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode("ascii")
    template = environment.from_string(
        (files("tabwb.media") / "templates" / TEMPLATE).read_text(encoding="utf-8")
    )
    text: str = template.render(report=report)
    return text.encode("utf-8", "backslashreplace")


def _shown(value: object) -> object:
    """Return a value without characters that reorder or hide text, whatever its type."""
    text = visible(str(value))
    return type(value)(text) if isinstance(value, str) else text
