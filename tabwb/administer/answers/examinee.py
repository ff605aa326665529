"""Who gave imported answers: what the file says counts before what the user says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tabwb.host.plugins import Plugins
from tabwb.records.answers import RecordedRun
from tabwb.records.conditions import IMPORTED, ExamineeKind
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.speakers import Origin, check_id
from tabwb.records.specs import parse_spec


@dataclass(frozen=True, slots=True)
class Stated:
    """What the user says of the answers.

    Attributes:
        model: a spec, a profile, or any name of a model; None: as in the file.
        speaker: the participant code of a person; None: as in the file.
        origin: who made the answers; None: as in the file.
    """

    model: str | None = None
    speaker: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Examinee:
    """The examinee of an administration, as it is stored."""

    examinee: str
    kind: ExamineeKind
    origin: Origin


def examinee_of(run: RecordedRun, stated: Stated, plugins: Plugins, source: Path) -> Examinee:
    """Return who gave the answers of a run."""
    where = str(source)
    _check(run, stated, where)
    said: Origin | None = "model" if stated.model else "human" if stated.speaker else None
    origin = run.origin
    if origin in {None, "unknown"}:
        origin = stated.origin or said or origin
    if origin is None:
        raise UsageError(
            "who gave these answers is not known",
            where=where,
            allowed="--model NAME; --origin human --speaker ID; or --origin unknown, which is "
            "protected as a person's",
            hint="of sources that the file names, --origin human or --origin model is enough"
            if run.participant
            else None,
        )
    known, given = run.participant, stated.speaker or ""
    participant = given or known if run.participant_is_own else known or given
    if origin == "human" and not participant:
        raise UsageError(
            "the participant who gave these answers is not known",
            where=where,
            hint="state it with --speaker ID (a code, never a name)",
        )
    if participant and origin != "model":
        check_id(participant)
        return Examinee(participant, "speaker", origin)
    name = stated.model or run.model
    if not name:
        if origin == "model":
            raise UsageError(
                "the model that gave these answers is not known",
                where=where,
                hint="state it with --model NAME",
            )
        name = "standard-input" if where == "-" else source.stem
    if run.exported and not stated.model and _is_spec(name):
        return Examinee(name, "model", origin)
    return Examinee(spec_of(name, plugins), "model", origin)


def _is_spec(name: str) -> bool:
    """Return whether a name can stay as it is: a back end that is not installed here is kept."""
    try:
        return bool(parse_spec(name)) and name.isprintable() and len(name) <= 300
    except UsageError:
        return False


def _check(run: RecordedRun, stated: Stated, where: str) -> None:
    """Refuse what the user says against the file."""
    recorded = run.origin
    if stated.model and stated.speaker:
        raise UsageError("--model and --speaker exclude each other")
    if recorded == "human" and stated.origin == "model":
        raise UsageError("--origin model: the file says that a person responded", where=where)
    if recorded == "model" and (stated.origin in ("human", "unknown") or stated.speaker):
        option = f"--speaker {stated.speaker}" if stated.speaker else f"--origin {stated.origin}"
        raise UsageError(f"{option}: the file says that a model responded", where=where)
    if recorded == "human" and stated.model:
        raise UsageError(
            f"--model {stated.model}: the file says that a person responded", where=where
        )
    if stated.origin == "human" and stated.model:
        raise UsageError("--origin human and --model exclude each other: give --speaker ID")
    if stated.origin == "model" and stated.speaker:
        raise UsageError("--origin model and --speaker exclude each other: give --model NAME")
    if (
        stated.speaker
        and run.participant not in ("", stated.speaker)
        and not run.participant_is_own
    ):
        raise UsageError(
            f"--speaker {stated.speaker}: according to the file, the responses are those of "
            f"{run.participant}",
            where=where,
            hint="consent and deletion use that ID",
        )


def spec_of(name: str, plugins: Plugins) -> str:
    """Return the spec under which a model's answers are stored.

    A spec of an installed back end is kept, so that imported answers of a model are compared with
    those it gave here. Any other name follows ``imported:``.
    """
    cleaned = name.strip()
    if not cleaned or not cleaned.isprintable() or len(cleaned) > 300:
        raise UsageError(
            f"{cleaned[:60]!r} cannot be the name of a model",
            allowed="up to 300 characters that can be printed",
        )
    try:
        descriptor, spec = plugins.resolve("models", cleaned, used=False)
        if descriptor.made_by is None:
            return str(spec)
    except TabwbError:
        if cleaned.startswith("profile:"):
            raise
    whole = cleaned if cleaned.startswith(IMPORTED) else f"{IMPORTED}{cleaned}"
    try:
        parse_spec(whole)
    except UsageError:
        # A name that only looks as if it had options.
        whole = whole.replace("@", " ")
    return whole
