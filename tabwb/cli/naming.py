"""``tabwb name``, and spoken naming in the plain terminal: one line of keys for each command.

The workbench has the page for it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import command
from tabwb.cli.common import note
from tabwb.cli.process import ENDING, caught
from tabwb.cli.run import answer_one, show
from tabwb.operations.naming import NameAloud
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.naming import SCORE_KEYS, Cued, Scored
from tabwb.records.states import AdministrationStatus
from tabwb.records.system import interrupt

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.operations.operation import Tools
    from tabwb.tasks.spoken_naming.live import Live

HELP = """\
enter      show the next item; end a description
1 right   2 self-corrected   3 error   4 no response [silent|dont-know|refused]
5 REASON cannot be scored
c next cue   e ask again   m new attempt   x examiner speaks (on, off)   h WORD what was heard
k CODE [FLAG ...]   u undo   s REASON skip   v REASON void   n TEXT note
p pause   d REASON discontinue   ? this list
where the battery's rule says to end a subtest: enter ends it, g [REASON] gives further items"""

Made = tuple[events.Event, ...]


def give_by_microphone(session: Session, device: str | None, cancel: threading.Event) -> None:
    """Record from ready to end and take commands from the terminal, until done or paused."""
    from tabwb.speech.process import pick
    from tabwb.speech.recorder import Recorder
    from tabwb.tasks.spoken_naming.live import Live

    chosen = pick(device)
    live = Live(session, lambda path: Recorder(chosen, path))
    live.ready()
    note(f"recording from {live.source.device}")
    note(HELP)
    _read_aloud(session)
    try:
        with caught(interrupt, *ENDING):
            _give(live, cancel)
    finally:
        live.end()


def _give(live: Live, cancel: threading.Event) -> None:
    session = live.session
    alarm = ""
    while session.status is AdministrationStatus.RUNNING and not cancel.is_set():
        if live.source.alarm and live.source.alarm != alarm:
            alarm = live.source.alarm
            note(f"! {alarm}")
        try:
            note("> ", newline=False)
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            session.pause("stopped by the user")
            return
        if not line:
            session.pause("the input ended")
            return
        try:
            _command(live, line.strip())
        except TabwbError as error:
            note(str(error))


def _command(live: Live, line: str) -> None:
    from tabwb.tasks.spoken_naming.strategy import go_on
    from tabwb.tasks.spoken_naming.task import spoken_in

    session = live.session
    key, _, words = line.partition(" ")
    words = words.strip()
    plain: dict[str, Callable[[], Made]] = {
        "": partial(_show, live),
        "c": live.cue,
        "e": live.re_prompt,
        "m": live.mark,
        "x": live.examiner,
        "u": session.corrections.undo,
        "p": partial(session.pause, "by the user"),
    }
    with_words: dict[str, Callable[[str], Made]] = {
        "s": session.corrections.skip,
        "v": session.corrections.void,
        "n": session.corrections.note,
        "d": session.discontinue,
        "h": spoken_in(session).listening.hear,
        "g": partial(go_on, spoken_in(session)),
    }
    if key == "?":
        note(HELP)
    elif key in SCORE_KEYS:
        _tell(session, live.score(SCORE_KEYS[key], words))
    elif key in plain:
        _tell(session, plain[key]())
    elif key == "k":
        code, *flags = words.split() or [""]
        _tell(session, spoken_in(session).listening.code(code, flags))
    elif key in with_words:
        _tell(session, with_words[key](words))
    else:
        raise TabwbError(f"there is no command '{key}'", hint=HELP)


def _show(live: Live) -> Made:
    """Show the next item, or end a description or a subtest; what is typed is answered here."""
    from tabwb.tasks.spoken_naming.strategy import end_subtest, reason_to_end
    from tabwb.tasks.spoken_naming.task import spoken_in

    session = live.session
    if reason := reason_to_end(spoken_in(session)):
        made = end_subtest(spoken_in(session))
        note(f"ended: {reason}")
        _read_aloud(session)
        return made
    current, coming = session.current, session.next_planned()
    if session.awaiting and current is not None and not spoken_in(session).is_coded(current):
        return live.finish()
    if session.awaiting or coming is None or session.is_aloud(coming):
        return live.show()
    made = session.next()
    answer_one(session, aside=True)
    return made


def _tell(session: Session, made: Made) -> None:
    from tabwb.tasks.spoken_naming.strategy import reason_to_end
    from tabwb.tasks.spoken_naming.task import cues_of, spoken_in

    for event in made:
        if isinstance(event, events.TrialStarted):
            trial = session.trials[event.trial.number - 1]
            if not session.is_aloud(trial):
                continue
            item = spoken_in(session).item(trial)
            number, planned = session.position
            picture = f"  (picture {item.picture})" if item.picture else ""
            asked = "" if item.coded else f"  {item.prompt}".rstrip()
            note(f"item {number}/{planned}  {item.name}{asked}{picture}")
        elif isinstance(event, events.AttemptRecorded) and _is_description(session):
            note("kept; h TEXT writes or corrects its text")
        elif isinstance(event, events.Undone):
            note(f"taken back: {event.what}")
        elif isinstance(event, events.Observed) and isinstance(event.observation, Cued):
            view = spoken_in(session).view()
            if view is not None:
                note(f"say: {cues_of(view.rules, view.item)[event.observation.cue].text}")
        elif isinstance(event, events.Observed) and isinstance(event.observation, Scored):
            note(f"scored: {event.observation.score}")
            if reason := reason_to_end(spoken_in(session)):
                note(f"! {reason}: enter ends it, g [REASON] gives further items")
                continue
            coming, now = session.next_planned(), session.current
            if coming is not None and now is not None and coming.plan.subtest != now.plan.subtest:
                _read_aloud(session)


def _is_description(session: Session) -> bool:
    from tabwb.tasks.spoken_naming.task import spoken_in

    trial = session.current
    return trial is not None and session.is_aloud(trial) and not spoken_in(session).is_coded(trial)


def _read_aloud(session: Session) -> None:
    from tabwb.tasks.spoken_naming.strategy import instructions_of

    if words := instructions_of(session):
        note(f"read aloud: {words}")


def _recorded(session: Any, tools: Tools) -> None:
    give_by_microphone(session, click.get_current_context().params["device"], tools.cancel)


name = command(NameAloud, shown=show, person=_recorded)
