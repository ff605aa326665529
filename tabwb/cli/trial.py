"""``tabwb trial``: what is done to single trials after the fact. Nothing recorded is changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import command
from tabwb.cli.common import note, opened_store, store_option
from tabwb.operations.trial import (
    NoteOnTrial,
    RescoreAdministration,
    UndoLatest,
    VoidTrial,
    number_of,
)
from tabwb.phonology.inventory import to_ipa
from tabwb.records.errors import UsageError
from tabwb.records.naming import SCORES, LimitsSet, OnsetSet, Score
from tabwb.tasks.spoken_naming.task import spoken_in

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.tasks.spoken_naming.views import NamingView

Command = Callable[..., None]
reason_option = click.option("--reason", default="", help="The reason of the correction; stored.")
rater_option = click.option(
    "--rater", metavar="ID", default="", help="Rater code; default: that of the administration."
)


def trial_arguments(command: Command) -> Command:
    """``ADMINISTRATION TRIAL``."""
    return click.argument("administration")(click.argument("trial_name", metavar="TRIAL")(command))


def of_session(function: Command) -> Command:
    """Give a function the session of ADMINISTRATION, and its command ``--store``."""

    @store_option
    @wraps(function)
    def with_session(administration: str, store_location: str | None, **rest: Any) -> None:
        from tabwb.administer.session import setup

        with (
            opened_store(store_location) as (plugins, store),
            setup.resume(store, plugins, administration) as session,
        ):
            function(session, **rest)

    return with_session


def of_rater(doing: str) -> Callable[[Command], Command]:
    """Give a function a naming session with one answered trial before the eyes of a rater."""

    def decorate(function: Command) -> Command:
        @rater_option
        @of_session
        @wraps(function)
        def of_trial(
            session: Session, trial_name: str, rater: str, seen: bool = False, **rest: Any
        ) -> None:
            number = number_of(session, trial_name)
            with spoken_in(session).listening.to(number, doing, listener=rater, seen=seen):
                function(session, **rest)

        return of_trial

    return decorate


@click.group()
def trial() -> None:
    """Declare a trial void, write a note, undo, rescore; score spoken responses by ear.

    A TRIAL is its number in the administration, or ITEM or SUBTEST/ITEM if that names one trial.
    """


for operation in (VoidTrial, NoteOnTrial, UndoLatest, RescoreAdministration):
    trial.add_command(command(operation))


@trial.command()
@trial_arguments
@click.argument("given", metavar="SCORE", type=click.Choice(SCORES))
@click.option("--reason", default="", help="Why it cannot be scored, or the kind of no response.")
@click.option(
    "--seen",
    is_flag=True,
    help="You had seen the machine's result; stored with the score.",
)
@of_rater("score")
def score(session: Session, given: Score, reason: str) -> None:
    """Score the spoken response of TRIAL by ear.

    SCORE is right, self-corrected, error, no-response (--reason silent, dont-know, refused) or
    not-scorable (--reason). Of each rater the latest counts; every earlier one stays in the store.
    """
    spoken_in(session).score(given, reason=reason)
    note(f"scored {given}")


@trial.command()
@trial_arguments
@click.argument("words", metavar="WORD|PHONEMES")
@of_rater("heard")
def heard(session: Session, words: str) -> None:
    """Record what was heard in TRIAL: a plain word, ARPAbet or IPA; text of a description.

    If nothing was said, use the score: tabwb trial score ... no-response.
    """
    spoken_in(session).listening.hear(words)
    _tell_kept(session, f"heard '{words.strip()}' kept")
    view = spoken_in(session).view()
    if view is None or not view.item.coded:
        return
    word = spoken_in(session).speech.read(words)
    if word.guessed:
        ipa = to_ipa(word.pronunciations[0]) if word.pronunciations else ""
        trial_name = click.get_current_context().params["trial_name"]
        here = f"tabwb trial heard {session.administration.id} {trial_name}"
        note(f"  the sound /{ipa}/ is guessed from the letters; write it down: {here} /{ipa}/")


@trial.command()
@trial_arguments
@click.argument("given", metavar="CODE")
@click.option("--flag", "flags", multiple=True, help="For example self-corrected; repeatable.")
@reason_option
@of_rater("code")
def code(session: Session, given: str, flags: tuple[str, ...], reason: str) -> None:
    """Give the spoken response of TRIAL a code; the proposed code is kept.

    CODE is correct, semantic, formal, mixed, unrelated, nonword-related, nonword-unrelated,
    perseveration, morphological, picture-part, visual, blend, description, fragment, no-response,
    other or undecided (docs/naming-rules.md).
    """
    spoken_in(session).listening.code(given, flags, reason=reason)
    _tell_kept(session, ", ".join((f"coded {given}", *dict.fromkeys(flags))))


@trial.command()
@trial_arguments
@click.argument("seconds", metavar="SECONDS", type=click.FloatRange(min=0))
@click.option(
    "--from-picture",
    is_flag=True,
    help="SECONDS are counted from the time of the picture, not from the start of the recording.",
)
@reason_option
@of_rater("onset")
def onset(session: Session, seconds: float, from_picture: bool, reason: str) -> None:
    """Correct the onset of the spoken response of TRIAL to SECONDS of its recording.

    The latency changes with it. Every earlier onset stays in the store with its author, time and
    reason; 'tabwb trial undo' takes the correction back.
    """
    before = _view(session)
    if from_picture:
        if before.shown is None or before.shown.at_s is None:
            raise UsageError(
                "the time of the picture is not known",
                hint="give seconds of the recording, without --from-picture",
            )
        seconds += before.shown.at_s
    spoken_in(session).listening.set_onset(seconds, reason=reason)
    latency_s = _view(session).latency_s
    earlier = "not found" if before.onset_s is None else f"{before.onset_s:.3f}"
    latency = "" if latency_s is None else f", latency {latency_s:.2f} s"
    note(f"onset {earlier} -> {seconds:.3f} s{latency}")


@trial.command()
@trial_arguments
@click.option("--start", type=click.FloatRange(min=0), help="Seconds of the recording.")
@click.option("--end", type=click.FloatRange(min=0), help="Seconds of the recording.")
@click.option(
    "--new-at",
    "marks",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    multiple=True,
    help="A new attempt of the speaker begins here, without a pause; repeatable.",
)
@reason_option
@rater_option
@store_option
def attempt(start: float | None, end: float | None, marks: tuple[float, ...], **rest: Any) -> None:
    """Correct the limits and attempts of the spoken response of TRIAL.

    Times are seconds of the recording. The onset is measured again within the new limits, and the
    rules are applied to the transcript within them; 'tabwb name --resume' transcribes it again.
    Earlier limits stay in the store with their author, time and reason; 'tabwb trial undo' takes a
    correction back.
    """
    if start is None and end is None and not marks:
        raise UsageError("nothing to correct", allowed="--start, --end, --new-at")
    _correct_attempt(start=start, end=end, marks=marks, **rest)


@of_rater("attempt")
def _correct_attempt(
    session: Session,
    start: float | None,
    end: float | None,
    marks: tuple[float, ...],
    reason: str,
) -> None:
    take = _view(session).take
    if take is None:
        raise UsageError("this response has no recording")
    if start is not None or end is not None:
        first = take.start_s if start is None else start
        last = take.end_s if end is None else end
        spoken_in(session).listening.set_limits(first, last, reason=reason)
        earlier = f"{take.start_s:.3f} to {take.end_s:.3f} s"
        note(f"response {earlier} -> {first:.3f} to {last:.3f} s")
    for at_s in marks:
        spoken_in(session).mark(at_s)
        note(f"a new attempt begins at {at_s:.3f} s")


@trial.command()
@trial_arguments
@of_session
def history(session: Session, trial_name: str) -> None:
    """List every onset, limit and code that a person gave the response of TRIAL, oldest first."""
    view = _view(session, number_of(session, trial_name))
    if not view.corrections:
        note("nothing was corrected")
    for made in view.corrections:
        match made:
            case OnsetSet():
                recorded = f"onset {made.onset_s:.3f} s"
            case LimitsSet():
                recorded = f"limits {made.start_s:.3f} to {made.end_s:.3f} s"
            case _:
                recorded = ", ".join((f"code {made.code}", *made.flags))
        click.echo("  ".join(filter(None, (made.at or "-", made.by, recorded, made.reason))))


def _view(session: Session, number: int | None = None) -> NamingView:
    view = spoken_in(session).view(number)
    if view is None:
        raise UsageError("this item is not named aloud")
    return view


def _tell_kept(session: Session, kept: str) -> None:
    """What a person said is kept, and beside it what the rules say once this rater has scored."""
    from tabwb.tasks.spoken_naming.scores import naming_of

    view = spoken_in(session).view()
    if view is None or not view.item.coded:
        note(kept)
        return
    scored = any(score.by == spoken_in(session).rater for score in view.scores)
    if not scored and view.rules.reveal == "after-score":
        note(f"{kept}; the proposal of the rules is shown after your score")
        return
    proposal = naming_of(view).proposal
    if proposal is not None:
        kept += f"; the rules propose {proposal.code} ({proposal.clause})"
    note(kept)
