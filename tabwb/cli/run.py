"""``tabwb run`` and ``resume``: what a terminal adds to these operations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import command
from tabwb.cli.common import note
from tabwb.cli.process import ENDING, caught
from tabwb.operations.run import ResumeAdministration, RunBattery
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.records.system import interrupt

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.operations.operation import Operation, Tools


def show(operation: Operation, tools: Tools) -> None:
    """Print the results so far; a caution that this terminal has seen is not repeated."""
    from tabwb.analysis.statistics.summary import pool  # loads numpy
    from tabwb.cli.shown_cautions import cautions_for
    from tabwb.media.terminal import print_view
    from tabwb.media.views.administration import administration_view

    data = tools.result
    results = pool([data], interval=True)
    written = cautions_for(tools.store.location, whole=False)
    print_view(administration_view(data.administration, data.battery, results, written=written))


def typed(session: Any, tools: Tools) -> None:
    """Let a person type the answers."""
    give_to_typist(session, aside=click.get_current_context().params["as_json"])


run = command(RunBattery, shown=show, person=typed)
resume = command(ResumeAdministration, shown=show, person=typed)


HELP = """\
Type the answer and press enter (connected text: an empty line ends it).
:skip REASON   pass over this item        :void REASON         declare it void
:undo          take back the last answer  :note TEXT           write a note
:pause         stop here, continue later    :discontinue REASON  end early
:help          this list                  ::TEXT               the answer :TEXT"""

_WITH_REASON = frozenset({"skip", "void", "discontinue"})


def give_to_typist(session: Session, *, aside: bool = False) -> None:
    """Show each item and record what is typed, until done or paused; end of input pauses."""
    if session.status is not AdministrationStatus.RUNNING:
        return
    note(f"{session.battery.title}: {session.battery.disclaimer}".rstrip(": "))
    conditions = session.administration.conditions
    from tabwb.administer.consent import Guard

    for notice in Guard(session.store, session.plugins, conditions).notices():
        note(f"warning: {notice}")
    note(HELP)
    with caught(interrupt, *ENDING):
        _give_typed(session, aside)


def _give_typed(session: Session, aside: bool) -> None:
    subtest = ""
    while session.status is AdministrationStatus.RUNNING:
        made = session.next_typed()
        started = [event for event in made if isinstance(event, events.TrialStarted)]
        if not started:
            return
        plan = started[0].trial
        if plan.subtest != subtest:
            subtest = plan.subtest
            _introduce(session, subtest)
        answer_one(session, aside=aside)


def _introduce(session: Session, subtest_id: str) -> None:
    subtest = session.battery.subtest(subtest_id)
    note(f"\n== {subtest.title} ==")
    if subtest.administrator is not None:
        note(f"(to the administrator: {subtest.administrator.text})")


def answer_one(session: Session, *, aside: bool) -> None:
    """Show the current item, and record the answer or do the command that is typed."""
    while session.awaiting:
        trial = session.current
        assert trial is not None
        number, planned = session.position
        subtest = session.battery.subtest(trial.plan.subtest)
        many_lines = subtest.task.many_lines
        try:
            if picture := subtest.item(trial.plan.item).picture:
                note(f"(show the picture: {picture})")
            click.echo(f"\nitem {number}/{planned}\n{trial.plan.prompt}", err=aside)
            typed = _read(aside, many_lines=many_lines)
            if typed == "":
                note("nothing typed: enter again records no response, or type the answer")
                typed = _read(aside, many_lines=many_lines)
        except KeyboardInterrupt:
            # An answer half typed is not an answer; the item will be shown again.
            session.pause("stopped by the user")
            return
        except OSError as error:
            # The terminal was closed: the item is not visible.
            session.pause(f"the terminal cannot be used: {error.strerror or error}")
            return
        try:
            _take(session, typed)
        except TabwbError as error:
            note(str(error))


def _take(session: Session, typed: str | None) -> None:
    if typed is None:
        session.pause("the input ended")
        return
    if not is_command(typed):
        session.answer(typed.removeprefix(":"))
        return
    command, _, words = typed[1:].partition(" ")
    if command in _WITH_REASON and not words.strip():
        raise TabwbError(
            f"':{command}' needs a reason", hint=f"for example: :{command} the fire alarm rang"
        )
    with_words: dict[str, Callable[[str], object]] = {
        "skip": session.corrections.skip,
        "void": session.corrections.void,
        "note": session.corrections.note,
        "discontinue": session.discontinue,
    }
    if command in with_words:
        with_words[command](words)
    elif command == "undo":
        for event in session.corrections.undo():
            note(f"taken back: {getattr(event, 'what', '')}")
    elif command == "pause":
        session.pause("by the user")
    elif command == "help":
        note(HELP)
    else:
        raise TabwbError(f"there is no command ':{command}'", hint=HELP)


def is_command(line: str) -> bool:
    """Return whether a line is a command.

    >>> is_command(":pause"), is_command("::pause"), is_command("pause")
    (True, False, False)
    """
    return line.startswith(":") and not line.startswith("::")


def _read(aside: bool, *, many_lines: bool) -> str | None:
    """Return one answer, or None at the end of the input."""
    lines: list[str] = []
    while True:
        click.echo("> ", nl=False, err=aside)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=aside)
            return "\n".join(lines) if lines else None
        line = line.rstrip("\r\n")
        if not many_lines or (not lines and is_command(line)):
            return line
        if not line:
            return "\n".join(lines)
        lines.append(line)
