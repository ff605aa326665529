"""A response to a picture: its attempts, both rules of correctness, and the code proposed for it.

The code of an attempt comes from :mod:`tabwb.scoring.naming.rules`; a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise

from tabwb.phonology.distance import align_phonemes
from tabwb.phonology.inventory import SILENT, is_vowel
from tabwb.records.languages import is_english, not_available
from tabwb.records.speech import Segment
from tabwb.scoring.naming.attempts import (
    AttemptReading,
    SpokenAttempt,
    articles,
    aside,
    cuts,
    introduces,
    is_fragment,
    propose_attempts,
)
from tabwb.scoring.naming.case import Case, Earlier, Proposal, Settings, is_right
from tabwb.scoring.naming.heard import HeardAs, names_rejected, parts, read_words
from tabwb.scoring.naming.rules import decide, no_name_comes
from tabwb.scoring.naming.target import (
    BREAK_S,
    NO_SPEECH,
    Correctness,
    NamingTarget,
    Rule,
    correct_any,
    matched,
)
from tabwb.scoring.naming.words import pronunciations, words_sounding
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
        SpokenAttempt(
            *times,
            reading.phonemes,
            complete=bool(reading.words or reading.ways) and not reading.broken_off,
        )
        for reading in readings
    )
    written = heard.text if heard is not None and len(readings) == 1 else ""
    proposals = tuple(
        _coded_name(target, reading, settings, written) if attempt.complete else None
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


def _coded_name(
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


@dataclass(frozen=True, slots=True)
class Response:
    """One response as the rules read it; ``proposals`` has None for a fragment."""

    attempts: tuple[SpokenAttempt, ...]
    readings: tuple[AttemptReading, ...]
    proposals: tuple[Proposal | None, ...]
    verdicts: dict[Rule, Correctness]
    proposal: Proposal

    def judged_phonemes(self, target: NamingTarget, settings: Settings) -> tuple[str, ...]:
        """Return the phonemes of the judged attempt, fillers and carriers left out."""
        if (number := self.proposal.attempt) is None or not is_english(settings.language):
            return ()
        return _read_attempt(target, self.readings[number - 1], settings).phonemes


def propose_response(
    target: NamingTarget,
    segments: Sequence[Segment] = (),
    settings: Settings | None = None,
    *,
    heard: HeardAs | None = None,
    marks: Sequence[float] = (),
    earlier: Sequence[Earlier] = (),
    guessed: Sequence[bool] = (),
) -> Response:
    """Return a response as the rules read it (rules 0, 4 and 16).

    What a listener ``heard`` replaces the transcript attempt by attempt. ``marks`` are times at
    which a person marked the beginning of an attempt, ``earlier`` the responses to items before,
    oldest first; of ``guessed`` segments the sound follows from a transcriber's letters alone.
    """
    settings = settings or Settings()
    if not is_english(settings.language):
        return Response(*propose_in(target, settings, heard, segments))
    attempts = propose_attempts(segments, marks=marks, accepted=target.accepted)
    unsure = _guessed_of(attempts, segments, guessed)
    attempts, readings = _read_attempts(attempts, unsure, heard, target, settings)
    noise = any(segment.phoneme in SILENT[1:] for segment in segments)
    proposals = _proposals(target, readings, attempts, settings, earlier)
    number = _first_at_name(target, readings, attempts)
    if number is None:
        broken = replace(readings[0], broken_off=True) if readings else AttemptReading(noise=noise)
        noisy = heard is not None and any(reading.noise for reading in readings)
        case = Case(target, AttemptReading(noise=True) if noisy else broken, settings, earlier)
        first = replace(decide(case), attempt=1 if attempts else None)
    else:
        coded = proposals[number - 1]
        assert coded is not None
        before = zip(readings[: number - 1], attempts, strict=False)
        passed = (
            aside(reading) or "carrier" * introduces(reading)
            for reading, attempt in before
            if attempt.complete
        )
        flags = dict.fromkeys((*filter(None, passed), *coded.flags))
        first = replace(coded, attempt=number, flags=tuple(flags))
    verdicts: dict[Rule, Correctness] = {
        "correct-any": _any(
            target, attempts, readings, proposals, segments, settings, heard, guessed
        ),
        "correct-first": _first(first, attempts, provisional=heard is None),
    }
    proposal = _of_response(first, attempts, proposals, verdicts, settings, heard)
    return Response(attempts, readings, proposals, verdicts, proposal)


def _guessed_of(
    attempts: Sequence[SpokenAttempt], segments: Sequence[Segment], guessed: Sequence[bool]
) -> list[bool]:
    """Return of each attempt whether the sound of one of its words is guessed."""
    pairs = zip(segments, guessed, strict=False)
    spoken = iter([guess for segment, guess in pairs if segment.phoneme not in SILENT])
    return [any([*islice(spoken, len(attempt.phonemes))]) for attempt in attempts]


def _read_attempts(
    attempts: Sequence[SpokenAttempt],
    guessed: Sequence[bool],
    heard: HeardAs | None,
    target: NamingTarget,
    settings: Settings,
) -> tuple[tuple[SpokenAttempt, ...], tuple[AttemptReading, ...]]:
    """Return the attempts, and each as the rules read it (rule 0)."""
    spoken = list(attempts)
    pairs = zip(attempts, guessed, strict=True)
    readings = [_machine_reading(target, settings, attempt, guess) for attempt, guess in pairs]
    whole = [at for at, attempt in enumerate(attempts) if attempt.complete]
    listed = target.listed | settings.listed
    written = () if heard is None else heard.attempts
    noise = any(one.noise for one in written)
    given = [part for one in written for part in parts(replace(one, noise=noise), listed)]
    places = whole if len(whole) == len(given) else list(range(len(given)))
    for at, reading in zip(places, given, strict=True):
        inside = attempts[at : at + 1] or attempts
        broken = not reading.words and is_fragment(reading.phonemes, target.accepted)
        said = bool(reading.words or reading.ways)
        complete = said and not (reading.broken_off or broken)
        times = (inside[0].onset_s, inside[-1].offset_s) if inside else (0.0, 0.0)
        segments = tuple(Segment(phoneme, *times) for phoneme in reading.phonemes)
        attempt = SpokenAttempt(*times, reading.phonemes, complete, segments)
        spoken[at : at + 1], readings[at : at + 1] = [attempt], [reading]
    return tuple(spoken), tuple(readings)


def _machine_reading(
    target: NamingTarget, settings: Settings, attempt: SpokenAttempt, guessed: bool
) -> AttemptReading:
    pairs = enumerate(pairwise(attempt.segments), 1)
    breaks = frozenset(at for at, (a, b) in pairs if b.start_s - a.end_s >= BREAK_S)
    reading = AttemptReading((attempt.phonemes,), breaks=breaks, guessed=guessed)
    names = list(names_rejected(attempt.phonemes))
    rejected = any(name in target.accepted for name in names)
    if not rejected and any(len(name) > 1 and words_sounding(name).common for name in names):
        case = Case(target, reading, settings)
        rejected = not case.is_word and not is_right(case) and _named_after(case) is None
    return replace(reading, rejected=rejected)


def _read_attempt(
    target: NamingTarget, reading: AttemptReading, settings: Settings
) -> AttemptReading:
    """Return an attempt without fillers, carriers and false starts (rules 5 and 6)."""
    case = Case(target, reading, settings)
    if reading.rejected or is_right(case):
        return reading
    named = _named_after(case)
    if _is_whole(case):
        return named if named is not None and _is_article(reading, named) else reading
    if named is not None:
        return named
    shorter = list(_cut(reading))
    for cut in shorter:
        if _is_whole(replace(case, reading=cut)):
            return cut
    return shorter[-1] if shorter and reading.words else reading


def _cut(reading: AttemptReading, *, named: bool = False) -> Iterator[AttemptReading]:
    for cut in cuts(reading, named=named):
        yield read_words(cut.words, cut) if cut.words else cut


def _named_after(case: Case) -> AttemptReading | None:
    """Return the accepted form that remains after a cut, or None."""
    shorter = _cut(case.reading, named=True)
    return next((cut for cut in shorter if is_right(replace(case, reading=cut))), None)


def _is_article(whole: AttemptReading, named: AttemptReading) -> bool:
    """Return whether what was cut from a word by its sound is an article or a filler."""
    cut = len(whole.phonemes) - len(named.phonemes)
    before = whole.phonemes[:cut]
    if whole.words or whole.phonemes[cut:] != named.phonemes or before not in articles():
        return False
    return before[-1] != "N" or is_vowel(named.phonemes[0])


def _is_whole(case: Case) -> bool:
    """Return whether the uncut attempt has a meaning: a word, or that no name comes."""
    return case.is_listed or case.is_word or no_name_comes(case) is not None


def _proposals(
    target: NamingTarget,
    readings: Sequence[AttemptReading],
    attempts: Sequence[SpokenAttempt],
    settings: Settings,
    earlier: Sequence[Earlier],
) -> tuple[Proposal | None, ...]:
    """Return the proposal of each attempt, computed backwards because rule 8 needs what follows."""
    proposals: list[Proposal | None] = []
    right, next_sound = False, ""
    for whole, attempt in zip(reversed(readings), reversed(attempts), strict=True):
        if not attempt.complete:
            proposals.append(None)
            next_sound = attempt.phonemes[0] if attempt.phonemes else ""
            continue
        read = _read_attempt(target, whole, settings)
        case = Case(target, read, settings, earlier, followed=right, next_sound=next_sound)
        proposal = decide(case)
        next_sound = read.phonemes[0] if read.phonemes else ""
        right = right or proposal.code == "correct"
        proposals.append(proposal)
    return tuple(reversed(proposals))


def _coded(attempts: Sequence[SpokenAttempt]) -> int | None:
    """Return the number, from 1, of the first complete attempt; None without any."""
    return next((at for at, attempt in enumerate(attempts, 1) if attempt.complete), None)


def _first_at_name(
    target: NamingTarget, readings: Sequence[AttemptReading], attempts: Sequence[SpokenAttempt]
) -> int | None:
    """Return the number, from 1, of the first complete attempt at a name, or None."""
    for number, (reading, attempt) in enumerate(zip(readings, attempts, strict=True), 1):
        passed = aside(reading) or introduces(reading)
        if attempt.complete and (not passed or _is_named(target, reading)):
            return number
    return _coded(attempts)


def _is_named(target: NamingTarget, reading: AttemptReading) -> bool:
    if reading.words:
        return reading.word in target.listed
    sounds = {way for word in target.listed for way in pronunciations(word)}
    return reading.phonemes in sounds | {tuple(form) for form in target.accepted}


def _first(
    proposal: Proposal, attempts: Sequence[SpokenAttempt], *, provisional: bool
) -> Correctness:
    number = proposal.attempt
    judged = attempts[number - 1] if number and proposal.right else None
    onset_s, offset_s = (judged.onset_s, judged.offset_s) if judged else (None, None)
    clause = f"attempt {number}: {proposal.clause}" if number else proposal.clause
    return Correctness(
        *("correct-first", proposal.right, clause, proposal.form),
        *(onset_s, offset_s, proposal.edits),
        attempt=number,
        provisional=provisional,
    )


def _any(
    target: NamingTarget,
    attempts: Sequence[SpokenAttempt],
    readings: Sequence[AttemptReading],
    proposals: Sequence[Proposal | None],
    segments: Sequence[Segment],
    settings: Settings,
    heard: HeardAs | None,
    guessed: Sequence[bool],
) -> Correctness:
    for number, (attempt, proposal) in enumerate(zip(attempts, proposals, strict=True), 1):
        if proposal is not None and proposal.code == "correct":
            return Correctness(
                *("correct-any", True, proposal.clause, proposal.form),
                *(attempt.onset_s, attempt.offset_s, proposal.edits),
                attempt=number,
            )
    spoken = tuple(segments if heard is None else _segments(readings))
    rejects = [at for at, one in zip(attempts, readings, strict=True) if one.rejected]
    if heard is None:
        times = [(one.onset_s, one.offset_s) for one in rejects]
        spoken = tuple(
            replace(one, phoneme=SILENT[0])
            if any(start <= one.start_s and one.end_s <= end for start, end in times)
            else one
            for one in spoken
        )
    whole = correct_any(spoken, target.accept, settings.tolerance)
    if whole.value and heard is None and any(guessed):
        known = zip(spoken, guessed, strict=True)
        sure = [replace(one, phoneme=SILENT[0]) if guess else one for one, guess in known]
        if not correct_any(sure, target.accept, settings.tolerance).value:
            clause = f"{whole.clause}, as the letters of a transcriber's word are read"
            return Correctness("correct-any", None, clause)
    if whole.value:
        return whole
    part = _part(target, readings, settings)
    if part is not None:
        clause = "an accepted form is in the response, ignoring weak vowels or a variety"
        return Correctness("correct-any", True, clause, embedded=True, attempt=part)
    for number, proposal in enumerate(proposals, 1):
        if proposal is not None and proposal.right is None:
            return Correctness("correct-any", None, proposal.clause, attempt=number)
    return whole


def _part(
    target: NamingTarget, readings: Sequence[AttemptReading], settings: Settings
) -> int | None:
    """Return the number of the attempt that holds a form in weak vowels or a variety, or None."""
    word = target.target.casefold()
    most = 2 * max((len(form.phonemes) for form in target.accept), default=0)  # said as 2 at most
    for number, reading in enumerate(readings, 1):
        if reading.rejected or (reading.guessed and not reading.words):
            continue
        for start, end in combinations(range(len(reading.phonemes) + 1), 2):
            window = reading.phonemes[start:end]
            if end - start <= most and matched(window, target.accept, word, settings.varieties):
                return number
    return None


def _segments(readings: Sequence[AttemptReading]) -> Iterator[Segment]:
    """Yield what a listener heard as segments without times, words separated by silence."""
    for reading in readings:
        for at, phoneme in enumerate(() if reading.rejected else reading.phonemes):
            if at in reading.breaks:
                yield Segment(SILENT[0], 0.0, 0.0)
            yield Segment(phoneme, 0.0, 0.0)
        yield Segment(SILENT[0], 0.0, 0.0)


def _of_response(
    first: Proposal,
    attempts: Sequence[SpokenAttempt],
    proposals: Sequence[Proposal | None],
    verdicts: dict[Rule, Correctness],
    settings: Settings,
    heard: HeardAs | None,
) -> Proposal:
    codes = [None if proposal is None else proposal.code for proposal in proposals]
    right = codes.index("correct") + 1 if "correct" in codes else None
    anywhere = verdicts["correct-any"]
    wrong_first = first.right is False and first.attempt is not None
    flags: list[str] = []
    if right is not None and wrong_first:
        flags.append("self-corrected")
        if _approached([entry for entry in attempts[:right] if entry.complete]):
            flags.append("conduite")
    if settings.rule == "correct-any" and anywhere.value and first.code != "correct":
        chosen = None if right is None else proposals[right - 1]
        number = right or (_holding(anywhere, attempts) if attempts else None)
        by_16 = replace(first, code="correct", rule="16", candidates=(), chance_rate=None)
        base = chosen or replace(by_16, clause=anywhere.clause)
        embedded = ("embedded",) * anywhere.embedded
        given = (*flags, *(f for f in base.flags if f != "repeats"), *embedded)
        return replace(base, attempt=number, flags=tuple(dict.fromkeys(given)))
    by_ear = heard is not None and first.code != "undecided" and "guessed-sound" not in first.flags
    embedded = ("embedded",) * (anywhere.embedded and not by_ear and first.code != "correct")
    return replace(first, flags=tuple(dict.fromkeys((*first.flags, *flags, *embedded))))


def _holding(verdict: Correctness, attempts: Sequence[SpokenAttempt]) -> int:
    if verdict.attempt is not None:
        return verdict.attempt
    spoken = 0
    for number, attempt in enumerate(attempts, 1):
        spoken += len(attempt.phonemes)
        if verdict.place is not None and verdict.place < spoken:
            return number
    return _coded(attempts) or 1


def _approached(attempts: Sequence[SpokenAttempt]) -> bool:
    if len(attempts) < 3:
        return False
    right = attempts[-1].phonemes
    away = [align_phonemes(right, earlier.phonemes).distance for earlier in attempts[:-1]]
    nearer = all(earlier >= later for earlier, later in pairwise(away))
    return nearer and away[0] < len(right)
