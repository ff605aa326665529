"""Consents, asked for before each act with a person's data, and the log of these acts.

A speaker of whom neither a record nor a consent is kept is *unregistered*, and so is one whose
record is all from files: who types, or is heard in files, is accepted with a notice, as long as
nothing leaves this computer and the study does not ``require_consent``. Before this program itself
opens a microphone or sends anything, :func:`check` asks of everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill

from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge
from tabwb.records.conditions import IMPORTED, Conditions
from tabwb.records.errors import NoConsent, StoreError, UsageError
from tabwb.records.speakers import CONSENTED_TO, SCOPES, Act, LogEntry, Scope, Value
from tabwb.records.trials import Administration
from tabwb.store.store import Store


def check(store: Store, speaker: str, scope: Scope) -> None:
    """Refuse an act to which a speaker has not agreed, or no longer agrees."""
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
            hint=f"state it with {_saying(speaker)}",
        )
    refusal = f"on {withdrawn.on} withdrew consent to" if withdrawn else "has not consented to"
    raise NoConsent(
        f"{speaker} {refusal} {CONSENTED_TO[scope]} (scope '{scope}': {SCOPES[scope]})",
        hint="once it is given, record it: C on the participants page of the workbench, or "
        f"tabwb speaker consent {speaker} --scope {scope} --given DAY --document WHERE",
    )


def _saying(examinee: str) -> str:
    """Return how a user says who gave answers of unknown origin."""
    if examinee.startswith(IMPORTED):
        return "--model NAME or --speaker ID, and import the file again"
    return (
        "the option origin=model, or origin=human and participant=ID, for example "
        f"{examinee}@origin=model"
    )


def _must_consent(store: Store, plugins: Plugins, speaker: str) -> bool:
    return plugins.configuration.study.require_consent or _is_registered(store, speaker)


def _is_registered(store: Store, speaker: str) -> bool:
    versions = store.people.speaker_versions(speaker)
    recorded = any(not version.is_imported for version in versions)
    return recorded or bool(store.people.consents(speaker))


def check_store(store: Store, speaker: str) -> None:
    """Check the consent before data are stored: on another computer every person must agree."""
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


MOST_NAMED = 20
"""Most speakers that a notice about an export names."""
SHOWN = 5
"""Most people that a notice names after the first."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The consents for acts with the person of one administration; models need none."""

    store: Store
    plugins: Plugins
    conditions: Conditions

    def notices(self) -> tuple[str, ...]:
        """Return warnings for the person who gives a battery: an odd ID, a missing consent."""
        if not self.conditions.guarded:
            return ()
        speaker = self.conditions.person
        if self.conditions.study_id is None:
            return (
                f"who made the answers of {speaker} is not known: they are protected as a person's "
                f"(state it with {_saying(speaker)})",
            )
        remarks = [self.plugins.configuration.study.remark(speaker)]
        if not _is_registered(self.store, speaker) and not self.store.elsewhere:
            remarks.append(
                f"no consent of speaker {speaker} is recorded: what is said stays on this computer "
                f"(tabwb speaker consent {speaker} --scope record --given DAY)"
            )
        return tuple(filter(None, remarks))

    @staticmethod
    def notices_of(guards: Iterable[Guard]) -> tuple[str, ...]:
        """Return the notices of several administrations, those that differ in the person once."""
        alike: dict[str, list[tuple[str, str]]] = {}
        for guard in guards:
            person = guard.conditions.person
            for notice in guard.notices():
                alike.setdefault(notice.replace(person, ""), []).append((person, notice))
        found = []
        for (_, first), *others in alike.values():
            people = list(dict.fromkeys(person for person, _ in others))
            shown = f"{', '.join(people[:SHOWN])}{', …' if len(people) > SHOWN else ''}"
            found.append(first + (f"; the same of {len(people)} more: {shown}" if people else ""))
        return tuple(found)

    def missing(self, *, microphone: bool = False) -> tuple[Scope, ...]:
        """Return the scopes needed and not agreed to; with ``microphone`` everybody must agree."""
        if not self.conditions.guarded:
            return ()
        speaker, spec = self.conditions.person, self.conditions.transcriber
        must = microphone or _must_consent(self.store, self.plugins, speaker)
        reaches = spec is not None and self.plugins.reaches_out("transcribers", spec)
        needed: tuple[tuple[Scope, bool], ...] = (
            ("record", must),
            ("transcribe", must and spec is not None),
            ("remote", bool(self.store.elsewhere) or reaches),
        )
        allowed = self.store.people.allowed
        return tuple(scope for scope, asked in needed if asked and not allowed(speaker, scope))

    def check_giving(self) -> None:
        """Check, before a battery is given or resumed, the consents to all that is done."""
        if not self.conditions.guarded:
            return
        speaker = self.conditions.person
        check_store(self.store, speaker)
        if _must_consent(self.store, self.plugins, speaker):
            check(self.store, speaker, "record")
        if self.conditions.transcriber:
            self.check_transcribing(self.conditions.transcriber)
        for spec in self.conditions.judges:
            self.check_judging(self.plugins.judge(spec))

    def check_transcribing(self, transcriber: str) -> tuple[LogEntry, ...]:
        """Check ``transcribe``, and ``remote`` of everybody where a transcriber needs a network."""
        return self._checked(
            "transcribed",
            transcriber,
            "transcribe",
            lambda: self.plugins.reaches_out("transcribers", transcriber),
        )

    def check_listening(self, rater: str) -> tuple[LogEntry, ...]:
        """Check ``rate`` before a person scores recordings; return the log entries of the act.

        Who gives a battery and scores while doing so needs ``record`` only: that is giving it.
        """
        return self._checked("rated", rater, "rate", lambda: False)

    def check_judging(self, judge: Judge) -> tuple[LogEntry, ...]:
        """Check consents before a judge reads answers; return the log entries of the act.

        Rules that run here score as scorers do. Models judge, for which a registered speaker gives
        ``rate``; a judge that asks a service needs ``remote``, of everybody.
        """
        scope: Scope | None = "rate" if judge.examinee else None
        return self._checked("rated", judge.rater, scope, lambda: self._reaches_out(judge))

    def _checked(
        self, act: Act, detail: str, scope: Scope | None, sends: Callable[[], bool]
    ) -> tuple[LogEntry, ...]:
        if not self.conditions.guarded:
            return ()
        speaker = self.conditions.person
        if scope is not None and _must_consent(self.store, self.plugins, speaker):
            check(self.store, speaker, scope)
        entries = [LogEntry(act, speaker, detail=detail)]
        if sends():
            check(self.store, speaker, "remote")
            entries.append(LogEntry("sent", speaker, detail=detail))
        return tuple(entries)

    def _reaches_out(self, judge: Judge) -> bool:
        if judge.examinee and self.plugins.reaches_out("models", judge.examinee):
            return True
        try:
            return self.plugins.reaches_out("judges", judge.rater)
        except UsageError:
            # A rater that names no component: it is unknown where it sends what it reads.
            return True


@dataclass(frozen=True, slots=True)
class Permit:
    """An export may be written; :func:`logged` enters ``acts``, ``notice`` may be empty."""

    acts: tuple[LogEntry, ...] = ()
    notice: str = ""


@contextmanager
def logged(store: Store, acts: Sequence[LogEntry]) -> Iterator[None]:
    """Log that an export of people's data begins, and after the block that it is there.

    So every file of people that exists has its entry, whenever the program is killed. An entry
    *export-begun* without an entry *exported* is an export that was interrupted or failed.
    """
    if acts and store.only_read:
        raise StoreError(
            "people's data are not written from a store that cannot be written: the file must be "
            "in its log",
            where=store.location,
            hint="allow writing there, or write the file from the store itself",
        )
    store.people.log(*(replace(act, act="export-begun") for act in acts))
    yield
    store.people.log(*acts)


def unshared_speakers(
    store: Store, plugins: Plugins, administrations: Sequence[Administration]
) -> tuple[str, ...]:
    """Return the speakers whose data must not leave the study: no consent to ``share``."""
    guarded = (given.conditions for given in administrations if given.conditions.guarded)
    speakers = dict.fromkeys(conditions.person for conditions in guarded)
    return tuple(
        speaker
        for speaker in speakers
        if not store.people.allowed(speaker, "share") and _must_consent(store, plugins, speaker)
    )


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
    """
    guarded = [given for given in administrations if given.conditions.guarded]
    persons = {given.id: given.conditions.person for given in guarded}
    speakers = list(dict.fromkeys(persons.values()))
    unshared = [speaker for speaker in speakers if not store.people.allowed(speaker, "share")]
    refused = unshared_speakers(store, plugins, administrations)
    if refused and not within_study:
        raise NoConsent(
            f"not consented to sharing outside the study (scope 'share'): {_named(refused)}",
            hint=f"record it (tabwb speaker consent {refused[0]} --scope share --given DAY), or "
            "say that the file stays within the study that collected the data (--within-study), or "
            f"leave the speaker out (--where 'participant!={refused[0]}')",
        )
    inside = speakers if within_study else unshared
    acts = []
    for number, person in persons.items():
        purpose = "within the study" if person in inside else "shared"
        acts.append(LogEntry("exported", person, number, f"{format_id}, {purpose}: {out}"))
    notices = [*_withdrawn(store, speakers, "record")]
    if within_study:
        notices += _withdrawn(store, speakers, "share")
    elif unshared:
        notices.append(
            f"{_named(unshared)}: no consent to sharing (scope 'share') is recorded: the file "
            "stays within the study that collected the data"
        )
    return Permit(tuple(acts), "; ".join(notices))


def _named(speakers: Sequence[str]) -> str:
    """Return the codes of speakers, of many only the first.

    >>> _named(["S-01", "S-02"]), _named([f"S-{n}" for n in range(30)])[-19:]
    ('S-01, S-02', 'S-18, S-19, 10 more')
    """
    more = len(speakers) - MOST_NAMED
    return ", ".join([*speakers[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


_AFTER: Mapping[Scope, str] = {
    "record": "the file has what was recorded before; leave it out "
    "(--where 'participant!={speaker}'), or delete it if that was asked for "
    "(tabwb speaker delete {speaker} --reason withdrawn)",
    "share": "the file must not leave the study",
}


def _withdrawn(store: Store, speakers: Sequence[str], scope: Scope) -> Iterator[str]:
    """Yield a hint for the speakers who withdrew a scope, each with the day."""
    days: dict[str, str] = {}
    for speaker in speakers:
        of_scope = [given for given in store.people.consents(speaker) if given.scope == scope]
        if of_scope and not of_scope[-1].given:
            days[speaker] = of_scope[-1].on
    if days:
        named = ", ".join(f"{speaker} (on {day})" for speaker, day in days.items())
        after = _AFTER[scope].format(speaker=next(iter(days)))
        yield f"scope '{scope}' was withdrawn by {named}: {after}"


def record_of(store: Store, conditions: Conditions) -> Mapping[str, Value]:
    """Return the columns of the speaker's record; empty for a model, or where nothing is known."""
    return _latest_record(store, conditions.examinee) if conditions.kind == "speaker" else {}


def _latest_record(store: Store, speaker: str) -> Mapping[str, Value]:
    versions = store.people.speaker_versions(speaker)
    return versions[-1].values if versions else {}


def dialect_of(store: Store, conditions: Conditions) -> str:
    """Return the speaker's recorded dialect, which some rules allow for, or nothing."""
    if not conditions.guarded:
        return ""
    return str(_latest_record(store, conditions.person).get("dialect", ""))


WIDTH = 72
"""Columns of the text."""
ASKED: Mapping[Scope, tuple[str, str]] = {
    "record": ("Recording", "My answers and my voice are recorded and stored."),
    "transcribe": ("Transcription", "A computer program writes down what I said."),
    "rate": ("Rating", "People, or language models, judge what I said."),
    "train": ("Training", "My recordings are used to train or test a language model."),
    "share": ("Sharing", "My data are given to people outside this study."),
    "play-back": ("Playing", "My recordings are played to people other than the raters."),
    "remote": ("Network", "My data are sent over a network to another computer."),
}
"""Title and sentence for each scope of :data:`tabwb.records.speakers.SCOPES`."""
NOTICE = (
    "This text is a draft. Use the form that your ethics committee approved, or adapt this one to "
    "its rules. tabwb stores the place of the signed form, not the form."
)
BLANK = "." * 24


def consent_form(code: str = "") -> str:
    """Return the form: one yes-or-no question for each scope, day and signatures.

    >>> print(consent_form("S-014").splitlines()[2])
    Participant code: S-014        Date: ........................
    """
    return "\n".join(_lines(code)) + "\n"


def _lines(code: str) -> Iterator[str]:
    yield "CONSENT"
    yield ""
    yield f"Participant code: {code or BLANK}        Date: {BLANK}"
    yield ""
    yield fill(
        "Please tick yes or no on each line. Each is decided separately. You can say no, and you "
        "can change your mind later, without giving a reason. Then tell us, and we record it.",
        WIDTH,
    )
    for scope in SCOPES:
        title, sentence = ASKED[scope]
        yield ""
        yield f"{f'{title} ({scope})':<52}[ ] yes    [ ] no"
        yield f"    {sentence}"
    yield ""
    yield f"Signature of the participant:      {BLANK}"
    yield ""
    yield f"Signature of the researcher:       {BLANK}"
    yield ""
    yield "-" * WIDTH
    yield fill(NOTICE, WIDTH)
