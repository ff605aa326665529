"""Says why an import is refused in the words of the dialog, and in which field."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tabwb.records.errors import TabwbError

LABELS = {
    "file": "File",
    "battery": "Battery",
    "by": "Answered by",
    "name": "Name",
    "columns": "Columns",
    "date": "Date",
    "transcriber": "Transcriber",
}
"""The labels of the fields that can be refused."""
OPTIONS = (
    (r"--column (\w+=\w+)", "columns", r"'\1' in Columns"),
    (r"--column", "columns", "Columns"),
    (r"--battery( ID)?", "battery", "the field Battery"),
    (r"--date", "date", "Date"),
    (r"--origin human --speaker ID", "by", "Answered by 'a person' with a Name"),
    (r"--model NAME", "by", "Answered by 'a model' with a Name"),
    (r"--speaker ID", "name", "the field Name"),
    (r"--(?:speaker|model) (\S+)(?=:)", "name", r"Name '\1'"),
    (r"--origin human", "by", "Answered by 'a person'"),
    (r"--origin model", "by", "Answered by 'a model'"),
    (r"--origin unknown", "by", "Answered by 'not known'"),
    (r"--again \(again=True in Python\)", "", "'also answers that are in the store already'"),
)
"""Options of the command, the fields that ask for the same, and how the dialog names them."""


def refusal(error: TabwbError, typed: Mapping[str, str]) -> tuple[str, str]:
    r"""Return the field that is refused, empty if none can be named, and the words for it.

    >>> from tabwb.records.errors import UsageError
    >>> refusal(UsageError("'x' is not a valid date", where="--date"), {})
    ('date', "Date: 'x' is not a valid date")
    >>> refusal(UsageError("'tba' is unknown", hint="for a list: tabwb list"), {"battery": "tba"})
    ('battery', "'tba' is unknown\nfor a list: tabwb list")
    """
    words = str(error)
    where, message = error.where or "", error.message
    named = _named(f"{where}\n{message}\n{error.hint or ''}\n{error.allowed or ''}")
    quoted = (name for name, value in typed.items() if value and f"'{value}'" in message)
    of_file = "file" if typed.get("file") and where.startswith(typed["file"]) else ""
    for pattern, _, shown in OPTIONS:
        words = re.sub(pattern, shown, words)
    return named or next(quoted, of_file), words


def _named(text: str) -> str:
    """Return the field of the option that the text names first."""
    found = [
        (match.start(), field)
        for pattern, field, _ in OPTIONS
        if (match := re.search(pattern, text))
    ]
    return min(found)[1] if found else ""
