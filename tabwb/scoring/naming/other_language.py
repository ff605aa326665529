"""Responses in a language without tables: only a name, as a listener wrote it, is recognised.

Nothing here knows sounds, inflection, articles or fillers; what needs them is left to a person,
with the reason that it is not available in the language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.phonology.inventory import SILENT
from tabwb.records.languages import not_available
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import AttemptReading, SpokenAttempt
from tabwb.scoring.naming.case import Proposal, Settings
from tabwb.scoring.naming.correct import Correctness
from tabwb.scoring.naming.heard import HeardAs
from tabwb.scoring.naming.target import NO_SPEECH, NamingTarget, Rule
from tabwb.scoring.text import names_alike

ANY = ("correct", "semantic", "formal", "mixed", "unrelated", "nonword-related")
"""Codes that a person chooses from where nothing is known of a response."""


def propose_in(
    target: NamingTarget, settings: Settings, heard: HeardAs | None, segments: Sequence[Segment]
) -> tuple[
    tuple[SpokenAttempt, ...],
    tuple[AttemptReading, ...],
    tuple[Proposal | None, ...],
    dict[Rule, Correctness],
    Proposal,
]:
    """Return attempts, readings, proposals, verdicts and the proposal of a whole response."""
    readings = () if heard is None else heard.attempts
    times = (segments[0].start_s, segments[-1].end_s) if segments else (0.0, 0.0)
    attempts = tuple(
        SpokenAttempt(*times, reading.phonemes, complete=_is_said(reading)) for reading in readings
    )
    written = heard.text if heard is not None and len(readings) == 1 else ""
    proposals = tuple(
        _coded(target, reading, settings, written) if attempt.complete else None
        for reading, attempt in zip(readings, attempts, strict=True)
    )
    given = [(number, one) for number, one in enumerate(proposals, 1) if one is not None]
    if given:
        number, first = given[0]
        right = next((at for at, one in given if one.code == "correct"), None)
        chosen = right if right and settings.rule == "correct-any" else number
        proposal = replace(proposals[chosen - 1] or first, attempt=chosen)
    elif heard is None and all(one.phoneme == SILENT[0] for one in segments):
        right, first = None, Proposal("no-response", NO_SPEECH, "1")
        proposal = first
    else:
        right, first = None, _unknown(settings, "2" if heard is not None else "")
        proposal = first
    anywhere = True if right else first.right
    verdicts: dict[Rule, Correctness] = {
        "correct-any": Correctness("correct-any", anywhere, proposal.clause, attempt=right),
        "correct-first": Correctness("correct-first", first.right, first.clause, attempt=None),
    }
    return attempts, readings, proposals, verdicts, proposal


def _is_said(reading: AttemptReading) -> bool:
    return bool(reading.words or reading.ways) and not reading.broken_off


def _coded(
    target: NamingTarget, reading: AttemptReading, settings: Settings, written: str
) -> Proposal:
    said = (reading.word, written)  # as written: STRASSE is Straße

    def listed(words: Sequence[str]) -> bool:
        return any(names_alike(one, word, settings.language) for word in words for one in said)

    names = (target.target, *(form.word for form in target.accept if form.word))
    shown = f"'{reading.word}'"
    if reading.word and listed(names):
        return Proposal("correct", f"{shown} is an accepted name", "7")
    for key, code in (("visual", "visual"), ("parts", "picture-part")):
        if reading.word and listed(getattr(target, key)):
            return Proposal(code, f"{shown} is listed under '{key}'", "10")
    if reading.word and listed(target.semantic):
        clause = f"{shown} is listed under 'semantic'; similarity in sound: "
        clause += not_available(settings.language)
        return Proposal("undecided", clause, "10", ("semantic", "mixed"))
    return _unknown(settings, "15")


def _unknown(settings: Settings, rule: str) -> Proposal:
    return Proposal("undecided", not_available(settings.language), rule, ANY)
