"""Texts of the item pane: conditions, reply, verdicts, hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from textual.content import Content

from tabwb.records.states import AdministrationStatus, StopReason, TrialState
from tabwb.tasks.task_type import task_type
from tabwb.workbench.engine.view_models import Item, Verdict, Work
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    MARKS,
    QUIET,
    conditions_words,
    seconds,
    stopped,
)

Keys = Literal["administrator", "person", "field"]
"""Who uses the keys: the administrator, the person between two answers, the answer field."""
PERSON_NEXT = "space next item   esc commands"
"""The hint between two answers of a person who types."""
NOTHING_TYPED = "Nothing typed: press enter again to record no response, or type the answer"


def of_person(work: Work) -> bool:
    """Return whether a person answers."""
    return work.administration.conditions.kind == "speaker"


def opening(work: Work) -> Content:
    """Return what is shown before the first item: examinee, conditions, facts, notices."""
    one = work.administration
    lines = [("given to", one.conditions.examinee)]
    lines.append(("conditions", ", ".join(conditions_words(one))))
    lines += [
        (name.replace("_", " "), f"{int(value):,}" if value.isdecimal() else value)
        for name, value in work.facts
        if len(value) < 60
    ]
    width = max(len(name) for name, _ in lines)
    said = [Content.assemble((f"{name:<{width}}   ", QUIET), value) for name, value in lines]
    told = [Content.styled(f"! {notice}", AMBER) for notice in work.notices]
    return Content("\n").join([*said, *told])


def reply(work: Work) -> Content | str:
    """Return the answer, or the state of an item without one."""
    item = work.item
    if work.asking and not work.together:
        return Content.styled("…", QUIET)
    if item is None or work.awaiting:
        return ""
    attempt = item.attempt
    if attempt is not None:
        if not attempt.response.strip():
            return Content.styled("(no response)", QUIET)
        cut = attempt.stop_reason is StopReason.LENGTH
        limit = f"  [cut at {item.token_limit} tokens]" if cut else ""
        return Content.assemble(attempt.response, (limit, AMBER))
    if item.trial.state in {TrialState.SKIPPED, TrialState.VOID}:
        glyph = MARKS[item.trial.state.value]
        return Content.assemble(
            (f"{glyph} {item.trial.state.value}", "bold"), (f"  {item.trial.reason}", QUIET)
        )
    if item.error:
        return Content.assemble(("! in error", f"bold {AMBER}"), f"  {item.error}")
    return ""


def verdict_rows(work: Work, *, hidden: bool) -> Iterator[list[Content]]:
    """Yield the verdicts, then further facts; of a person with hidden verdicts only the latency."""
    item = work.item
    waits = work.awaiting or (work.asking and not work.together)
    if item is None or waits or item.attempt is None:
        return
    latency = seconds(item.attempt.latency_s)
    person = of_person(work)
    if person and hidden:
        yield [Content.styled("● recorded", "bold"), Content.styled(latency, QUIET)]
        return
    yield [_verdict(one, person=person) for one in item.verdicts]
    facts = []
    if item.expected is not None and item.verdicts:
        facts.append(Content.assemble(("expected ", QUIET), item.expected))
    if item.foil:
        label = "" if item.foil in {"no-option", "ambiguous"} else "foil: "
        facts.append(Content.assemble((label, QUIET), item.foil.replace("-", " ")))
    facts += [Content(text) for text in (latency, stopped(item)) if text]
    if len(item.trial.attempts) > 1:
        facts.append(Content(f"attempt {item.attempt.number} of {len(item.trial.attempts)}"))
    yield facts


def _verdict(one: Verdict, *, person: bool) -> Content:
    """Return one policy's verdict; for a person without colour."""
    mark = "- none" if one.right is None else "✓ right" if one.right else "✗ wrong"
    style = "bold"
    if not person and one.right is not None:
        style = f"bold {ACCENT}" if one.right else f"bold {AMBER}"
    return Content.assemble((f"{one.measure} ", QUIET), (mark, style))


def findings(item: Item, *, hidden: bool) -> Content:
    """Return further measures and features, then the notes."""
    lines = [] if item.attempt is None or hidden else list(item.findings)
    lines += [f"note: {note}" for note in item.trial.notes]
    return Content("\n").join([Content.styled(line, QUIET) for line in lines])


def hint(work: Work, keys: Keys, *, pausing: bool, nothing_typed: bool) -> tuple[str, str]:
    """Return what is happening and what can be done now, with its style.

    Args:
        work: the open administration.
        keys: who uses the keys.
        pausing: a pause follows the answer under way.
        nothing_typed: the field asks whether to record nothing.
    """
    if work.loading:
        return f"… loading {work.loading}", QUIET
    if pausing and work.together:
        return "‖ pausing after the answers under way   esc stops them now", AMBER
    if pausing:
        return "‖ pausing after this answer   esc stops it now", AMBER
    person = of_person(work)
    match work.status:
        case AdministrationStatus.DONE if keys == "person":
            return "✓ done, thank you   esc commands", f"bold {ACCENT}"
        case AdministrationStatus.DONE:
            return "✓ done   space shows the results", f"bold {ACCENT}"
        case AdministrationStatus.DISCONTINUED:
            return "■ discontinued   space shows the results, u takes it back", AMBER
        case AdministrationStatus.PAUSED:
            why = f": {work.reason}" if work.reason else ""
            return f"‖ paused{why}   space continues", AMBER
    if work.together:
        return "▸ many at once   » auto-run, a ends it   esc stops it", QUIET
    if work.asking:
        auto = "   » auto-run, a ends it" if work.auto else "   esc stops it"
        return f"▸ answering{auto}", QUIET
    if work.auto and not person:
        return "» auto-run   a ends it", QUIET
    if person and work.awaiting:
        if nothing_typed:
            return NOTHING_TYPED, AMBER
        if keys == "field":
            kind = task_type(work.item.kind).asks_for if work.item else ""
            return f"asked for: {kind}   enter records   esc: commands", QUIET
        return "enter goes back to the answer", QUIET
    if keys == "person":
        return PERSON_NEXT, QUIET
    return _next(work, person=person)


def _next(work: Work, *, person: bool) -> tuple[str, str]:
    if work.item is not None and work.item.error:
        return "r asks again   space continues; this item comes again at the end", AMBER
    if work.item is not None:
        return f"space gives the next item   {work.remaining} left", QUIET
    if work.upcoming in {None, 1}:
        return "space gives the first item" + ("" if person else ", a gives all"), QUIET
    rest = "" if person else f", a gives all {work.remaining} that are left"
    left = f"   {work.remaining} left" if person else ""
    return f"space gives item {work.upcoming}{rest}{left}", QUIET
