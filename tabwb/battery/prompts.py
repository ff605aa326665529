"""The exact strings that are sent, built from a battery's data and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.exchange import Message


def render_prompt(subtest: Subtest, item: Item, options: Sequence[str] | None = None) -> str:
    """Return the user message for one item."""
    shown = item.options if options is None else options
    template = subtest.template
    if subtest.instructions is None:
        template = template.replace("{instructions}\n", "").replace("{instructions}", "").lstrip()
    # One pass over the template, so that braces inside a prompt are never read as fields.
    fields = {
        "{instructions}": subtest.instructions.text if subtest.instructions else "",
        "{prompt}": item.prompt,
        "{options}": ", ".join(shown),
    }
    return re.sub("|".join(map(re.escape, fields)), lambda name: fields[name[0]], template)


NO_MESSAGE = "none"
"""As a system message: none is sent."""


def opening_messages(battery: Battery, given: str | None = None) -> tuple[Message, ...]:
    """Return the messages before the first prompt: the system message, if there is one.

    ``given`` takes the place of the battery's; :data:`NO_MESSAGE`: there is none.
    """
    text = given or (battery.system.text if battery.system is not None else NO_MESSAGE)
    return () if text == NO_MESSAGE else (Message("system", text),)
