"""What works in the language of a battery: tables of words and sounds exist for English only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabwb.battery.model import Battery, Subtest
from tabwb.records.languages import (
    NO_SPACES,
    is_english,
    is_unspaced_language,
    language_name,
    not_available,
    primary_language,
)
from tabwb.records.states import ResponseKind


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is measured, and why it is not available, or empty.

    Attributes:
        name: what is measured.
        where: ids of the subtests; empty: all.
        missing: why it is not available, or empty where it is.
        hint: what changes that, or what takes its place.
    """

    name: str
    where: tuple[str, ...]
    missing: str = ""
    hint: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the row for documents."""
        return {
            "measure": self.name,
            "subtests": list(self.where),
            "available": not self.missing,
            "reason": self.missing or None,
            "hint": self.hint or None,
        }


def available(battery: Battery) -> tuple[Measure, ...]:
    """Return what can be measured of a battery in its language, and what cannot.

    Everything that is not available is *undefined*, with the reason given here.
    """
    return tuple(_measures(battery))


def unavailable(battery: Battery) -> str:
    """Return a sentence that lists what is undefined in a battery's language; empty in English."""
    missing = [measure for measure in available(battery) if measure.missing]
    if not missing or is_english(battery.language):
        return ""
    names = "; ".join(dict.fromkeys(measure.name for measure in missing))
    return f"not available for {language_name(battery.language)}, and undefined: {names}"


def _measures(battery: Battery) -> Iterator[Measure]:
    language = battery.language
    missing = "" if is_english(language) else not_available(language)
    unspaced = NO_SPACES if is_unspaced_language(language) else ""

    def of(*kinds: ResponseKind, scorer: str = "") -> tuple[str, ...]:
        return tuple(
            subtest.id
            for subtest in battery.subtests
            if subtest.response in kinds and (not scorer or _has(subtest, scorer))
        )

    choice, asked = of(ResponseKind.CHOICE, scorer="choice"), of(ResponseKind.YES_NO)
    asked = tuple(one for one in asked if _has(battery.subtest(one), "yes-no"))
    said = of(ResponseKind.VERBATIM, scorer="repetition")
    if choice:
        yield Measure("choice: exact, normalised", choice)
        yield Measure("choice: extracted", choice, missing, "read 'normalised'")
    if asked:
        listed = bool(battery.yes and battery.no)
        lacks = "" if listed else missing
        words = "list the words for yes and no: yes, no in [battery]"
        yield Measure("yes-no: exact, normalised", asked)
        yield Measure("yes-no: extracted, yes-rate", asked, lacks, words if lacks else "")
    if said:
        yield Measure("repetition: exact, normalised, errors", said)
        yield Measure("repetition: extracted", said, unspaced, "read 'normalised'")
    measured = tuple(one.id for one in battery.subtests if _has(one, "lexical"))
    if measured:
        yield Measure("words, TTR, MATTR, MTLD, mean words", measured, unspaced)
    connected = tuple(one.id for one in battery.subtests if one.task.connected)
    if battery.features:
        rules = "a person or a model can judge"
        yield Measure("text rules (rules-2, rules-1)", connected, missing, rules)
    coded = tuple(one.id for one in battery.subtests if one.task.coded)
    if coded:
        ear = "listeners score and code by ear"
        yield Measure("naming: scores and codes of listeners", coded)
        yield Measure("naming: an accepted name, as a listener wrote it", coded)
        yield Measure("naming: right or wrong by phonemes, distance", coded, missing, ear)
        yield Measure(
            "naming: articles, fillers, number, nonwords, similarity", coded, missing, ear
        )
    if len(coded) < len(battery.subtests):
        yield Measure("status: refused (by its words)", (), missing, "a refusal has status 'ok'")
        script = "the script is still tested" if missing else ""
        yield Measure("status: not-language (by its words)", (), missing, script)


def _has(subtest: Subtest, scorer: str) -> bool:
    return any(spec.partition("@")[0] == scorer for spec in subtest.scorers)


def lines(battery: Battery) -> Iterator[str]:
    """Yield what works in the language of a battery, as a table; nothing for English."""
    if is_english(battery.language):
        return
    rows = available(battery)
    code = primary_language(battery.language)
    yield f"what works in {code} ({language_name(battery.language)}):"
    width = max(len(row.name) for row in rows) if rows else 0
    for row in rows:
        state = "no " if row.missing else "yes"
        why = "; ".join(filter(None, (row.missing, row.hint if row.missing else "")))
        yield f"  {state}  {row.name:<{width}}  {why}".rstrip()


def scored_by(battery: Battery) -> Iterator[str]:
    """Yield which scorer scores each subtest with right answers that does not name one."""
    for subtest in battery.subtests:
        if subtest.task.right_or_wrong and not subtest.scorers:
            yield f"{subtest.id}: not scored (scorers = [])"
        elif subtest.task.right_or_wrong and subtest.scorers_are_usual:
            yield f"{subtest.id}: scored by {', '.join(subtest.scorers)} (the battery names none)"


def english_prompt(battery: Battery, judge: str) -> str:
    """Return a warning about a judge whose prompt is in English, or nothing."""
    if is_english(battery.language):
        return ""
    return (
        f"the prompt of judge '{judge}' is in English and the answers are in "
        f"{language_name(battery.language)}: its verdicts are not comparable with those on English"
    )
