"""``tabwb trial``: what is done to single trials after the fact. Nothing recorded is changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tabwb.cli.common import note, open_store, opened_plugins, store_option
from tabwb.cli.giving import check_raters
from tabwb.phonology.inventory import to_ipa
from tabwb.records.errors import UsageError
from tabwb.records.events import Undone
from tabwb.records.naming import SCORES, LimitsSet, OnsetSet, Score
from tabwb.records.words import near, plural

if TYPE_CHECKING:
    from tabwb.administer.naming.views import NamingView
    from tabwb.administer.session.session import Session


reason_option = click.option("--reason", default="", help="The reason of the correction; stored.")
rater_option = click.option(
    "--rater", metavar="ID", default="", help="Rater code; default: that of the administration."
)


@click.group()
def trial() -> None:
    """Declare a trial void, write a note, undo, rescore; score spoken responses by ear.

    A TRIAL is its number in the administration, or ITEM or SUBTEST/ITEM if that names one trial.
    """


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.option("--reason", required=True, help="The reason.")
@store_option
def void(administration: str, trial_name: str, reason: str, store_location: str | None) -> int:
    """Declare TRIAL void: its responses stay in the store and do not count."""
    with _opened(administration, store_location) as session:
        number = _number(session, trial_name)
        session.void(reason, number)
        note(f"trial {number} of administration {session.administration.id} is void")
    return 0


@trial.command("note")
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("text")
@store_option
def write_note(administration: str, trial_name: str, text: str, store_location: str | None) -> int:
    """Write a note on TRIAL."""
    with _opened(administration, store_location) as session:
        number = _number(session, trial_name)
        session.note(text, number)
        note(f"note on trial {number} of administration {session.administration.id}")
    return 0


@trial.command()
@click.argument("administration")
@store_option
def undo(administration: str, store_location: str | None) -> int:
    """Take back the latest command of ADMINISTRATION: a response, a score, a skip ...

    Its record stays, marked as taken back.
    """
    with _opened(administration, store_location) as session:
        for event in session.undo():
            if isinstance(event, Undone):
                item = session.trials[event.trial - 1].plan.item if event.trial else ""
                note(f"taken back: {event.what}{f' of {event.trial}, {item}' if item else ''}")
    return 0


@trial.command()
@click.argument("administration")
@store_option
def rescore(administration: str, store_location: str | None) -> int:
    """Rate every response of ADMINISTRATION again; earlier ratings stay in the store."""
    with _opened(administration, store_location) as session:
        made = session.rescore()
        note(f"{plural(len(made), 'answer')} rated again")
        check_raters(session)
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("said", metavar="SCORE", type=click.Choice(SCORES))
@click.option("--reason", default="", help="Why it cannot be scored, or the kind of no response.")
@click.option(
    "--seen",
    is_flag=True,
    help="You had seen the machine's result; stored with the score.",
)
@rater_option
@store_option
def score(
    administration: str,
    trial_name: str,
    said: Score,
    reason: str,
    seen: bool,
    rater: str,
    store_location: str | None,
) -> int:
    """Score the spoken response of TRIAL by ear.

    SCORE is right, self-corrected, error, no-response (--reason silent, dont-know, refused) or
    not-scorable (--reason). Of each rater the latest counts; every earlier one stays in the store.
    """
    with _looking_at(
        administration, trial_name, rater, store_location, "score", seen=seen
    ) as session:
        session.spoken.score(said, reason=reason)
        note(f"scored {said}")
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("words", metavar="WORD|PHONEMES")
@rater_option
@store_option
def heard(
    administration: str, trial_name: str, words: str, rater: str, store_location: str | None
) -> int:
    """Record what was heard in TRIAL: a plain word, ARPAbet or IPA; text of a description.

    If nothing was said, use the score: tabwb trial score ... no-response.
    """
    with _looking_at(administration, trial_name, rater, store_location, "heard") as session:
        session.spoken.hear(words)
        _tell_kept(session, f"heard '{words.strip()}' kept")
        view = session.spoken.view()
        said = None if view is None else view.heard_as
        if said is not None and said.guessed:
            ipa = to_ipa(said.pronunciations[0]) if said.pronunciations else ""
            here = f"tabwb trial heard {session.administration.id} {trial_name}"
            note(f"  the sound /{ipa}/ is guessed from the letters; write it down: {here} /{ipa}/")
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("said", metavar="CODE")
@click.option("--flag", "flags", multiple=True, help="For example self-corrected; repeatable.")
@reason_option
@rater_option
@store_option
def code(
    administration: str,
    trial_name: str,
    said: str,
    flags: tuple[str, ...],
    reason: str,
    rater: str,
    store_location: str | None,
) -> int:
    """Give the spoken response of TRIAL a code; the proposed code is kept.

    CODE is correct, semantic, formal, mixed, unrelated, nonword-related, nonword-unrelated,
    perseveration, morphological, picture-part, visual, blend, description, fragment, no-response,
    other or undecided (docs/naming-rules.md).
    """
    with _looking_at(administration, trial_name, rater, store_location, "code") as session:
        session.spoken.code(said, flags, reason=reason)
        _tell_kept(session, ", ".join((f"coded {said}", *dict.fromkeys(flags))))
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@click.argument("seconds", metavar="SECONDS", type=click.FloatRange(min=0))
@click.option(
    "--from-picture",
    is_flag=True,
    help="SECONDS are counted from the time of the picture, not from the start of the recording.",
)
@reason_option
@rater_option
@store_option
def onset(
    administration: str,
    trial_name: str,
    seconds: float,
    from_picture: bool,
    reason: str,
    rater: str,
    store_location: str | None,
) -> int:
    """Correct the onset of the spoken response of TRIAL to SECONDS of its recording.

    The latency changes with it. Every earlier onset stays in the store with its author, time and
    reason; 'tabwb trial undo' takes the correction back.
    """
    with _looking_at(administration, trial_name, rater, store_location, "onset") as session:
        before = _view(session)
        if from_picture:
            if before.shown is None or before.shown.at_s is None:
                raise UsageError(
                    "the time of the picture is not known",
                    hint="give seconds of the recording, without --from-picture",
                )
            seconds += before.shown.at_s
        session.spoken.set_onset(seconds, reason=reason)
        latency = _view(session).latency_s
        told = "" if latency is None else f", latency {latency:.2f} s"
        note(f"onset {_seconds(before.onset_s)} -> {seconds:.3f} s{told}")
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
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
def attempt(
    administration: str,
    trial_name: str,
    start: float | None,
    end: float | None,
    marks: tuple[float, ...],
    reason: str,
    rater: str,
    store_location: str | None,
) -> int:
    """Correct the limits and attempts of the spoken response of TRIAL.

    Times are seconds of the recording. The onset is measured anew within the new limits, and the
    rules are applied to the transcript within them; 'tabwb name --resume' transcribes it again.
    Earlier limits stay in the store with their author, time and reason; 'tabwb trial undo' takes a
    correction back.
    """
    if start is None and end is None and not marks:
        raise UsageError("nothing to correct", allowed="--start, --end, --new-at")
    with _looking_at(administration, trial_name, rater, store_location, "attempt") as session:
        take = _view(session).take
        if take is None:
            raise UsageError("this response has no recording")
        if start is not None or end is not None:
            first = take.start_s if start is None else start
            last = take.end_s if end is None else end
            session.spoken.set_limits(first, last, reason=reason)
            was = f"{take.start_s:.3f} to {take.end_s:.3f} s"
            note(f"response {was} -> {first:.3f} to {last:.3f} s")
        for at_s in marks:
            session.spoken.mark(at_s)
            note(f"a new attempt begins at {at_s:.3f} s")
    return 0


@trial.command()
@click.argument("administration")
@click.argument("trial_name", metavar="TRIAL")
@store_option
def history(administration: str, trial_name: str, store_location: str | None) -> int:
    """List every onset, limit and code that a person gave the response of TRIAL, oldest first."""
    with _opened(administration, store_location) as session:
        view = _view(session, _number(session, trial_name))
        if not view.corrections:
            note("nothing was corrected")
        for each in view.corrections:
            what = (
                f"onset {each.onset_s:.3f} s" if isinstance(each, OnsetSet)
                else f"limits {each.start_s:.3f} to {each.end_s:.3f} s"
                if isinstance(each, LimitsSet)
                else ", ".join((f"code {each.code}", *each.flags))
            )  # fmt: skip
            click.echo("  ".join(filter(None, (each.at or "-", each.by, what, each.reason))))
    return 0


def _view(session: Session, number: int | None = None) -> NamingView:
    view = session.spoken.view(number)
    if view is None:
        raise UsageError("this item is not named aloud")
    return view


def _seconds(value: float | None) -> str:
    return "not found" if value is None else f"{value:.3f}"


@contextmanager
def _looking_at(
    administration: str,
    trial_name: str,
    rater: str,
    store_location: str | None,
    doing: str,
    *,
    seen: bool = False,
) -> Iterator[Session]:
    """A naming session with one answered trial before the eyes of a rater, for what they do."""
    with _opened(administration, store_location) as session:
        number = _number(session, trial_name)
        with session.spoken.looking_at(number, doing, listener=rater, seen=seen):
            yield session


def _tell_kept(session: Session, kept: str) -> None:
    """What a person said is kept, and beside it what the rules say once this rater has scored."""
    from tabwb.administer.naming.scores import naming_of

    view = session.spoken.view()
    if view is None or not view.item.coded:
        note(kept)
        return
    scored = any(each.by == session.spoken.rater for each in view.scores)
    if not scored and view.rules.reveal == "after-score":
        note(f"{kept}; the proposal of the rules is shown after your score")
        return
    proposal = naming_of(view).proposal
    beside = ""
    if proposal is not None:
        beside = f"; the rules propose {proposal.code} ({proposal.clause})"
    note(kept + beside)


@contextmanager
def _opened(administration: str, store_location: str | None) -> Iterator[Session]:
    from tabwb.administer.session import setup

    with (
        opened_plugins() as plugins,
        open_store(store_location, plugins, create=False) as store,
        setup.resume(store, plugins, administration) as session,
    ):
        yield session


def _number(session: Session, name: str) -> int:
    if name.isdecimal():
        return int(name)
    found = [
        trial.plan.number
        for trial in session.trials
        if name in {trial.plan.item, f"{trial.plan.subtest}/{trial.plan.item}"}
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"'{name}' matches {len(found)} trials", allowed=", ".join(map(str, found))
        )
    meant = near(name, _names(session))
    raise UsageError(
        f"administration {session.administration.id} has no trial '{name}'",
        allowed=f"1 to {len(session.trials)}, ITEM, or SUBTEST/ITEM",
        hint=f"did you mean '{meant}'?" if meant else None,
    )


def _names(session: Session) -> list[str]:
    """What a trial may be called by: its item, or subtest and item."""
    plans = [trial.plan for trial in session.trials]
    return [plan.item for plan in plans] + [f"{plan.subtest}/{plan.item}" for plan in plans]
