"""The exact strings that are sent, built from a battery's data and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.exchange import Message


def render_prompt(subtest: Subtest, item: Item, options: Sequence[str] | None = None) -> str:
    """Return the user message for one item.

    Args:
        subtest: gives template and instructions; without instructions its line is left out.
        item: gives prompt and, unless ``options`` says otherwise, the options.
        options: the options in the order to be shown.
    """
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
    pieces: list[str] = []
    rest = template
    while rest:
        places = [(rest.find(name), name) for name in fields if name in rest]
        if not places:
            pieces.append(rest)
            break
        at, name = min(places)
        pieces += [rest[:at], fields[name]]
        rest = rest[at + len(name) :]
    return "".join(pieces)


def opening_messages(battery: Battery) -> tuple[Message, ...]:
    """Return the messages before the first prompt: the system message, if there is one."""
    return () if battery.system is None else (Message("system", battery.system.text),)
