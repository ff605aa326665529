"""Words of the naming page before the first picture, in a break and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from tabwb.records.speakers import SCOPES, Scope
from tabwb.records.states import AdministrationStatus
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.shell.columns import short_spec
from tabwb.workbench.shell.commands import Command, key_label
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, conditions_words, folded, wrapped

OVER = {AdministrationStatus.DONE: "Complete", AdministrationStatus.DISCONTINUED: "Discontinued"}
DRAFT = "Transcripts are a draft until a trained listener has heard the recording."
FACT = 16
KEY = 7


def rest_title(work: Work, now: NamingNow) -> str:
    """Return the title of the page at rest."""
    if now.microphone == "open":
        return "Ready"
    begun = work.item is not None or work.administration.answered > 0
    return OVER.get(work.status, "Break" if begun else work.administration.battery_title)


def resting(work: Work, now: NamingNow, device: str, width: int) -> Iterator[Content]:
    """Yield what is shown while no picture is: what is to be given, how to begin."""
    administration = work.administration
    begun = work.item is not None or administration.answered > 0
    if work.status in OVER:
        scored = sum(item.standing == "scored" for item in now.items)
        described = sum(item.standing == "given" and bool(item.word) for item in now.items)
        words = "answered" if described else "scored"
        yield Content(f"{scored + described} of {len(now.items)} items {words}")
        if work.reason:
            yield from folded(work.reason, width)
        yield Content("")
        yield from key_lines("space", "shows the results", width)
        return
    if not begun and now.microphone != "open":
        yield from _fact("participant", administration.conditions.examinee, width)
        if words := ", ".join(conditions_words(administration)):
            yield from _fact("conditions", words, width)
        yield from _fact("transcriber", short_spec(now.transcriber) or "none", width)
    left = sum(item.standing == "open" for item in now.items)
    yield from _fact("pictures", f"{left} to show", width)
    yield from _fact("microphone", device or "the system's default", width)
    if now.left_over:
        count = plural(now.left_over, "interrupted recording")
        yield from folded(f"{count} will be kept when the microphone opens", width, AMBER)
    if not begun:
        for notice in work.notices:
            yield from folded(f"! {notice}", width, AMBER)
    if now.instructions:
        yield Content("")
        yield from read_aloud(now.instructions, width)
    yield Content("")
    if now.lacking:
        yield from key_lines("y", "records the participant's consent", width)
    yield from key_lines("space", _next_step(now), width)
    if now.microphone != "open":
        yield from key_lines("T", "tests the microphone", width)
    yield from key_lines("f", "speaker's view: the picture alone on this screen", width)
    yield from key_lines("F", "the picture in its own window, full screen", width)
    yield from folded("A second terminal shows it with tabwb --speaker-view.", width, QUIET)
    yield Content("")
    yield from folded(DRAFT, width, QUIET)


def _next_step(now: NamingNow) -> str:
    if now.microphone == "open":
        return "shows the first picture: time 0 of its latency"
    return "then opens the microphone" if now.lacking else "opens the microphone"


def consent_words(lacking: Sequence[Scope]) -> str:
    """Return what the participant is asked to agree to, and what scoring later needs besides."""
    later = "To correct scores in the results later, 'rate' is needed too: Participants, c."
    return "\n".join([*(f"{scope}: {SCOPES[scope]}" for scope in lacking), "", later])


def space_word(work: Work, now: NamingNow) -> str:
    """Return what space does now, in one word."""
    if now.microphone == "open":
        if now.ends:
            return "Ask"
        if now.upcoming is not None:
            return "Show"
        return "End" if work.upcoming is None else "Next"
    if work.status in OVER:
        return "Results"
    return "Continue" if work.administration.answered else "Microphone"


def read_aloud(instructions: str, width: int) -> Iterator[Content]:
    """Yield the instructions that the administrator reads to the participant."""
    yield Content.styled("Read aloud before the next picture", QUIET)
    yield from folded(f"“{instructions}”", width, "bold")


def key_lines(key: str, words: str, width: int) -> Iterator[Content]:
    """Yield a key and what it does, with the words in their own column."""
    first, *rest = wrapped(words, max(width - KEY, KEY)) or [""]
    yield Content.assemble((f"{key:<{KEY}}", f"bold {ACCENT}"), first)
    yield from (Content(" " * KEY + line) for line in rest)


def shown_keys(commands: Sequence[Command]) -> Callable[[int], Iterator[Content]]:
    """Return a function of the width that yields the commands with their keys."""

    def lines(width: int) -> Iterator[Content]:
        for command in commands:
            yield from key_lines(key_label(command.key), command.help, width)

    return lines


def _fact(name: str, words: str, width: int) -> Iterator[Content]:
    first, *rest = wrapped(words, max(width - FACT, FACT)) or [""]
    yield Content.assemble((f"{name:<{FACT}}", QUIET), first)
    yield from (Content(" " * FACT + line) for line in rest)
