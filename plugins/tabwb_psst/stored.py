"""Spoken responses of the store in the form of the corpus: for tables, splits and training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.phonology.inventory import parse_pronunciation
from tabwb.plugin_api import Arg, Clip, Tools, Transcript, UsageError, numbers_of
from tabwb.records.naming import LimitsSet, Scored, Take, observations_of, transcripts_of
from tabwb.records.speakers import Scope, Study, Value
from tabwb.records.trials import Administration, Trial
from tabwb_psst.corpus import RATE, Split, Utterance, read_corpus
from tabwb_psst.importing import stated_of, transcript_of


@dataclass(frozen=True, slots=True)
class Response:
    """A spoken response, of the store or of a folder.

    Attributes:
        utterance: as the corpus has it; of the store ``split`` is that of the participant's record,
            or empty, ``where`` the administration, and ``transcript`` the last one that a person
            typed, without silence.
        values: of the participant's record, with what follows from them (severity of AQ).
        clip: where its sound is, or None.
        accepted: pronunciations of the target, ARPAbet.
        transcripts: by transcriber, without those that people typed.
        place: of the store, the numbers of administration and trial.
    """

    utterance: Utterance
    values: Mapping[str, Value] = field(default_factory=dict)
    clip: Clip | None = None
    accepted: tuple[tuple[str, ...], ...] = ()
    transcripts: Mapping[str, Transcript] = field(default_factory=dict)
    place: tuple[int, int] | None = None


def stored_responses(
    tools: Tools, numbers: Sequence[int], *, sounds: bool = False
) -> Iterator[Response]:
    """Yield the spoken responses of administrations that count, in order.

    Args:
        tools: of the operation.
        numbers: of administrations.
        sounds: find the sound files.
    """
    store = tools.store
    study = tools.plugins.study
    records = {one.id: study.values_of(one.values) for one in store.people.speakers()}

    @cache
    def battery(content_hash: str) -> Battery:
        return battery_from_canonical(store.battery_canonical(content_hash))

    for number in numbers:
        given = store.administration(number)
        if not given.conditions.guarded:
            continue
        paths: dict[str, Path] = {}
        if sounds:
            paths = {
                one.uid: store.people.recording_path(one.sha256)
                for one in store.people.recordings(number)
            }
        values = records.get(given.conditions.person, {})
        for trial in store.trials(number):
            found = _response(given, battery(given.battery_hash), trial, values, paths)
            if found is not None:
                yield found


def _response(
    given: Administration,
    battery: Battery,
    trial: Trial,
    values: Mapping[str, Value],
    paths: Mapping[str, Path],
) -> Response | None:
    attempt = trial.counting
    take = Take.of_metadata(attempt.metadata) if attempt and trial.is_answered else None
    if attempt is None or take is None:
        return None
    start_s, end_s = take.start_s, take.end_s
    gold, machines = transcripts_of(trial)
    correct: bool | None = None
    for seen in observations_of(trial):
        if getattr(seen, "attempt", None) != attempt.number:
            continue
        if isinstance(seen, LimitsSet):
            start_s, end_s = seen.start_s, seen.end_s
        elif isinstance(seen, Scored):
            right = {"right": True, "self-corrected": True, "not-scorable": None}
            correct = right.get(seen.score, False)
    subtest = battery.subtest(trial.plan.subtest)
    item = next(one for one in subtest.items if one.id == trial.plan.item)
    aq = values.get("AQ")
    path = paths.get(take.recording)
    utterance = Utterance(
        id=f"{given.id}-{trial.plan.subtest}-{trial.plan.item}",
        session=given.title or str(given.id),
        speaker=given.conditions.person,
        test=subtest.title,
        prompt=str(item.extra.get("target") or item.id),
        split=cast(Split, values.get("split", "")),
        transcript=None if gold is None else gold.phonemes,
        correct=correct,
        aq=float(aq) if isinstance(aq, int | float) else None,
        frames=round((end_s - start_s) * RATE),
        filename=path.name if path else "",
        sound=path,
        where=f"#{given.id}",
    )
    clip = Clip(str(path), start_s, end_s) if path else None
    accepted = tuple(
        parse_pronunciation(form["phonemes"], beyond="allophones")
        for form in cast(Sequence[Mapping[str, str]], item.extra.get("accept", ()))
    )
    place = given.id, trial.plan.number
    return Response(utterance, values, clip, accepted, machines, place)


def _read(study: Study, stated: Mapping[str, str]) -> Mapping[str, Value]:
    """Return the values that a folder states of a participant; what is none is left out."""
    found: dict[str, Value] = {}
    for name, text in stated.items():
        with suppress(UsageError):
            found[name] = study.column(name).read(text)
    return study.values_of(found)


def may(tools: Tools, speaker: str, scope: Scope) -> bool:
    """Return whether a person has agreed to a scope, such as to train a model.

    A person of whom only files have told is not asked, where the study does not require consent.
    """
    people = tools.store.people
    asked = (
        tools.plugins.study.require_consent
        or bool(people.consents(speaker))
        or any(not version.is_imported for version in people.speaker_versions(speaker))
    )
    return not asked or people.allowed(speaker, scope)


CORPUS = Arg(
    "A folder in the layout of PSST; default: what is stored.", "Folder", metavar="[CORPUS]",
    positional=True, blank="what is stored",
)  # fmt: skip
WHERE = Arg(
    "Of what is stored, only administrations with this value. Also KEY=A,B, KEY!=VALUE, "
    "KEY<NUMBER, KEY>NUMBER.",
    metavar="KEY=VALUE", pairs=True,
)  # fmt: skip


def responses_of(
    tools: Tools, corpus: Path | None, where: Sequence[str] = (), *, sounds: bool = False
) -> list[Response]:
    """Return the responses of a folder, or those of the store; what is left out is said.

    Raises:
        UsageError: there is none.
    """
    if corpus is None:
        numbers = numbers_of(tools, (), where, everything=True)
        found = list(stored_responses(tools, numbers, sounds=sounds))
        if not found:
            raise UsageError("no spoken response is stored" + (" with these values" * bool(where)))
        return found
    if where:
        raise UsageError("it applies to what is stored, not to a folder", where="where")
    read = read_corpus(corpus, sounds=sounds)
    for kind, count in read.problem_counts.items():
        first = next(one for one in read.problems if one.kind == kind)
        what = f"left out ({kind})" if kind in read.left_out else kind
        tools.warn(f"{what}: {count}, first {first}")
    if not read.utterances:
        raise UsageError("no utterance can be used", where=str(corpus))
    study = tools.plugins.study
    return [
        Response(
            one, _read(study, stated_of(one, read)),
            Clip(str(one.sound)) if one.sound else None,
            read.accepted.get(one.prompt.casefold(), ()),
            {
                system: transcript_of(system, labels)
                for system, labels in read.systems.get(one.id, {}).items()
            },
        )
        for one in read.utterances
    ]  # fmt: skip
