"""Consents, asked for before each act with a person's data, and the log of these acts.

A speaker of whom neither a record nor a consent is kept is *unregistered*: who types, or is heard
in files, is accepted with a notice, as long as nothing leaves this computer and the study does not
``require_consent``. Before this program itself opens a microphone or sends anything, :func:`check`
asks of everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabwb.plugin_api.components import Judge, ModelJudge
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import NoConsent, UsageError
from tabwb.records.speakers import CONSENTED_TO, SCOPES, LogEntry, Scope
from tabwb.records.study import Value
from tabwb.records.trials import Administration
from tabwb.store.store import Store


def check(store: Store, speaker: str, scope: Scope) -> None:
    """Refuse an act to which a speaker has not agreed, or no longer agrees.

    Args:
        store: with the consents.
        speaker: study ID.
        scope: of the act.

    Raises:
        NoConsent: naming scope and speaker, and what to do.
    """
    if store.people.allowed(speaker, scope):
        return
    withdrawn = next(
        (given for given in reversed(store.people.consents(speaker)) if given.scope == scope), None
    )
    if ":" in speaker:
        # A spec: recorded answers that do not say whose they are.
        raise NoConsent(
            f"it is not known who gave the answers of {speaker}: a person would have to consent to "
            f"{CONSENTED_TO[scope]} (scope '{scope}')",
            hint="say it with the option origin=model, or origin=human and participant=ID, "
            f"for example {speaker}@origin=model",
        )
    refusal = f"on {withdrawn.on} withdrew consent to" if withdrawn else "has not consented to"
    raise NoConsent(
        f"{speaker} {refusal} {CONSENTED_TO[scope]} (scope '{scope}': {SCOPES[scope]})",
        hint="once it is given: "
        f"tabwb speaker consent {speaker} --scope {scope} --given DAY --document WHERE",
    )


def _is_registered(store: Store, speaker: str) -> bool:
    return bool(store.people.speaker_versions(speaker) or store.people.consents(speaker))


def notices(store: Store, plugins: Plugins, conditions: Conditions) -> tuple[str, ...]:
    """Return what to tell whoever gives a battery to a person: an odd ID, a missing consent.

    Args:
        store: with the consents.
        plugins: with the study's rules and the components.
        conditions: of the administration.
    """
    if not conditions.guarded:
        return ()
    speaker = conditions.person
    if conditions.study_id is None:
        return (
            f"who made the answers of {speaker} is not known: they are guarded as a person's "
            "(say it with the option origin=model, or origin=human and participant=ID)",
        )
    remarks = [plugins.configuration.study.remark(speaker)]
    if not _is_registered(store, speaker) and not store.elsewhere:
        remarks.append(
            f"no consent of speaker {speaker} is recorded: what is said stays on this computer "
            f"(tabwb speaker consent {speaker} --scope record --given DAY)"
        )
    return tuple(filter(None, remarks))


def check_store(store: Store, speaker: str) -> None:
    """Check the consent before data are stored: on another computer every person must agree.

    Args:
        store: where the data are kept.
        speaker: study ID.

    Raises:
        NoConsent: the speaker has not agreed to ``remote``; the message names the computer.
    """
    if not store.elsewhere:
        return
    try:
        check(store, speaker, "remote")
    except NoConsent as refused:
        raise NoConsent(
            f"{refused.message}; the store is on another computer ({store.elsewhere})",
            where=store.location,
            hint=f"{refused.hint}\nor keep the data on this computer: --store PATH",
        ) from None


def check_giving(store: Store, plugins: Plugins, conditions: Conditions) -> None:
    """Check, before a battery is given or resumed, that the person agreed to all that is done.

    Args:
        store: with the consents.
        plugins: with the study's rules and the components.
        conditions: of the administration.

    Raises:
        NoConsent: a speaker who must consent has not: to ``record``, to transcriber, judges or
            store.
    """
    if not conditions.guarded:
        return
    check_store(store, conditions.person)
    if _must_consent(store, plugins, conditions.person):
        check(store, conditions.person, "record")
    if conditions.transcriber:
        check_transcribing(store, plugins, conditions, conditions.transcriber)
    for spec in conditions.judges:
        check_judging(store, plugins, conditions, plugins.judge(spec))


def missing(
    store: Store, plugins: Plugins, conditions: Conditions, *, microphone: bool = False
) -> tuple[Scope, ...]:
    """Return every scope that an administration needs and the speaker has not agreed to.

    Args:
        store: with the consents.
        plugins: with the study's rules and the transcriber.
        conditions: of the administration.
        microphone: whether this program records: then everybody must have agreed.
    """
    if not conditions.guarded:
        return ()
    speaker, spec = conditions.person, conditions.transcriber
    must = microphone or _must_consent(store, plugins, speaker)
    reaches = spec is not None and plugins.reaches_out("transcribers", spec)
    needed: tuple[tuple[Scope, bool], ...] = (
        ("record", must),
        ("transcribe", must and spec is not None),
        ("remote", bool(store.elsewhere) or reaches),
    )
    return tuple(
        scope for scope, asked in needed if asked and not store.people.allowed(speaker, scope)
    )


def _must_consent(store: Store, plugins: Plugins, speaker: str) -> bool:
    return plugins.configuration.study.require_consent or _is_registered(store, speaker)


def check_transcribing(
    store: Store, plugins: Plugins, conditions: Conditions, transcriber: str
) -> tuple[LogEntry, ...]:
    """Check consents before a transcriber hears a person; return the log entries of the act.

    Args:
        store: with the consents.
        plugins: with the study's rules and the components.
        conditions: of the administration.
        transcriber: its spec.

    Raises:
        NoConsent: a speaker who must consent has not to ``transcribe``, or anybody to ``remote``
            for one that needs a network.
    """
    if not conditions.guarded:
        return ()
    speaker = conditions.person
    if _must_consent(store, plugins, speaker):
        check(store, speaker, "transcribe")
    entries = [LogEntry("transcribed", speaker, detail=transcriber)]
    if plugins.reaches_out("transcribers", transcriber):
        check(store, speaker, "remote")
        entries.append(LogEntry("sent", speaker, detail=transcriber))
    return tuple(entries)


def check_listening(
    store: Store, plugins: Plugins, conditions: Conditions, rater: str
) -> tuple[LogEntry, ...]:
    """Check consents before a person scores recordings; return the log entries of the act.

    Args:
        store: with the consents.
        plugins: with the study's rules and the components.
        conditions: of the administration.
        rater: who scores.

    Raises:
        NoConsent: a speaker who must consent has not to ``rate``.
    """
    if not conditions.guarded:
        return ()
    if _must_consent(store, plugins, conditions.person):
        check(store, conditions.person, "rate")
    return (LogEntry("rated", conditions.person, detail=rater),)


def check_judging(
    store: Store, plugins: Plugins, conditions: Conditions, judge: Judge
) -> tuple[LogEntry, ...]:
    """Check consents before a judge reads a person's answers; return the log entries of the act.

    Rules that run here score as scorers do. Models judge, for which a registered speaker gives
    ``rate``; a judge that asks a service needs ``remote``, of everybody.

    Args:
        store: with the consents.
        plugins: with the study's rules and the components.
        conditions: of the administration.
        judge: as made.

    Raises:
        NoConsent: the answers are not judged.
    """
    if not conditions.guarded:
        return ()
    speaker = conditions.person
    if isinstance(judge, ModelJudge) and _must_consent(store, plugins, speaker):
        check(store, speaker, "rate")
    entries = [LogEntry("rated", speaker, detail=judge.rater)]
    if _reaches_out(plugins, judge):
        check(store, speaker, "remote")
        entries.append(LogEntry("sent", speaker, detail=judge.rater))
    return tuple(entries)


def _reaches_out(plugins: Plugins, judge: Judge) -> bool:
    if isinstance(judge, ModelJudge) and plugins.reaches_out("models", judge.examinee):
        return True
    try:
        return plugins.reaches_out("judges", judge.rater)
    except UsageError:
        # A rater that names no component: nobody knows where it sends what it reads.
        return True


@dataclass(frozen=True, slots=True)
class Permit:
    """An export may be written; ``acts`` are logged when it is, ``notice`` may be empty."""

    acts: tuple[LogEntry, ...] = ()
    notice: str = ""


def check_export(
    store: Store,
    plugins: Plugins,
    administrations: Sequence[Administration],
    format_id: str,
    out: Path,
    *,
    within_study: bool = False,
) -> Permit:
    """Check consents before people's data are written to a file.

    A file can leave the study, so registered speakers must have agreed to ``share``, unless it
    stays within the study. Of unregistered ones it is taken to stay, with a notice.

    Args:
        store: where they are.
        plugins: with the study's configuration.
        administrations: what is to be written.
        format_id: in which format.
        out: the file.
        within_study: the file stays with those who collected the data.

    Raises:
        NoConsent: speakers have not agreed to ``share``; the message names all of them.
    """
    guarded = [given for given in administrations if given.conditions.guarded]
    persons = {given.id: given.conditions.person for given in guarded}
    speakers = list(dict.fromkeys(persons.values()))
    unshared = [speaker for speaker in speakers if not store.people.allowed(speaker, "share")]
    refused = [speaker for speaker in unshared if _must_consent(store, plugins, speaker)]
    if refused and not within_study:
        raise NoConsent(
            f"not consented to sharing outside the study (scope 'share'): {', '.join(refused)}",
            hint=f"record it (tabwb speaker consent {refused[0]} --scope share --given DAY), or "
            "say that the file stays within the study that collected the data (--within-study)",
        )
    inside = speakers if within_study else unshared
    acts = tuple(
        LogEntry(
            "exported",
            person,
            number,
            f"{format_id}, {'within the study' if person in inside else 'shared'}: {out}",
        )
        for number, person in persons.items()
    )
    if within_study or not unshared:
        return Permit(acts)
    return Permit(
        acts,
        f"{', '.join(unshared)}: no consent to sharing (scope 'share') is recorded: the file "
        "stays within the study that collected the data",
    )


def record_of(store: Store, conditions: Conditions) -> Mapping[str, Value]:
    """Return the columns of the speaker's record; empty for a model, or where nothing is known.

    Args:
        store: with the records.
        conditions: of the administration.
    """
    return _latest_record(store, conditions.examinee) if conditions.kind == "speaker" else {}


def _latest_record(store: Store, speaker: str) -> Mapping[str, Value]:
    versions = store.people.speaker_versions(speaker)
    return versions[-1].values if versions else {}


def dialect_of(store: Store, conditions: Conditions) -> str:
    """Return the speaker's recorded dialect, which some rules allow for, or nothing.

    Args:
        store: with the records.
        conditions: of the administration.
    """
    if not conditions.guarded:
        return ""
    return str(_latest_record(store, conditions.person).get("dialect", ""))
