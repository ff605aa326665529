"""CHAT transcripts (TalkBank): one file per administration, errors coded on the main tier.

The main tier is made by :mod:`tabwb_annotations.chat`. The headers follow AphasiaBank: the
study ID is the name of the participant, ``@ID`` has age, group and, in its last field, the aphasia
quotient; ``@Media`` names one sound file and every response has its times in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.ratings import rule_of
from tabwb.records.words import RESEARCH_ONLY, SPEECH_CAUTION
from tabwb.scoring.naming.attempts import AttemptReading, aside
from tabwb_annotations import table
from tabwb_annotations.tiers import (
    Annotated,
    Document,
    Made,
    annotated,
    code_of,
    not_carried,
    shown_of,
    sound_name,
    transcribed_attempts,
    write_folder,
)

ERROR_CODES: Mapping[str, tuple[str, ...]] = {
    "semantic": ("s:r",),
    "mixed": ("s:r", "p:w"),
    "unrelated": ("s:ur",),
    "perseveration": ("s:per",),
    "formal": ("p:w",),
    "nonword-related": ("p:n",),
    "nonword-unrelated": ("n:k",),
}
"""Our code to CHAT's; a mixed error is both, related in meaning and in sound. The others have none
there and are said in a ``%com`` line."""
WORDS = re.compile(r"(?:[^\W\d_]|[ '-])+")
"""What can be words of CHAT: brackets and digits have other meanings there."""
FILLERS = frozenset(("um", "uh", "er", "erm", "ah", "eh", "hm", "mm"))
CARRIERS = FILLERS | frozenset(
    (
        *("a", "an", "the", "it", "its", "it's", "is", "that's", "that", "this", "these", "those"),
        *("are", "they", "they're", "there", "there's", "i", "i'm", "think", "maybe", "some"),
        *("looks", "like", "called", "my", "your", "his", "her"),
    )
)
"""Words before a name that do not belong to the attempt."""
UNINTELLIGIBLE = frozenset(SILENT[1:])
SILENCE, UNKNOWN = "0", "xxx"


@dataclass(frozen=True, slots=True)
class MainTier:
    """The main tier of one response.

    Attributes:
        line: without speaker and terminator.
        coded: whether it has the response's code.
        heard: whether it has what a person heard.
        phonetic: whether each word of it is one of the transcript: then ``%pho`` is below.
    """

    line: str
    coded: bool = False
    heard: bool = False
    phonetic: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """One attempt: its words, whether it is an error of one word, its codes and its source."""

    text: str
    error: bool = False
    heard: bool = False
    phonetic: bool = True
    codes: tuple[str, ...] = ()


def main_tier(naming: Mapping[str, Any]) -> MainTier:
    """Return the main tier of one response.

    >>> cat = {"phonemes": ["K", "AE", "T"], "complete": True, "heard": "cat", "by_ear": True}
    >>> dog = {"phonemes": ["D", "AO", "G"], "complete": True, "heard": "dog", "by_ear": True}
    >>> said = {"target": "dog", "accepted": ["D AO G"], "heard": "cat, dog", "by_ear": True,
    ...         "score": "self-corrected", "code": "mixed", "code_by": "person",
    ...         "proposed": {"code": "undecided", "attempt": 1}, "transcripts": [], "start_s": 0.0,
    ...         "attempts": [{**cat, "code": "undecided"}, {**dog, "code": "correct"}],
    ...         "marks": [], "examiner": []}
    >>> main_tier(said).line
    'cat [: dog] [* s:r] [* p:w] [//] dog'
    """
    if naming["score"] == "no-response":
        return MainTier(SILENCE)
    if naming["score"] == "not-scorable":
        return MainTier(UNKNOWN)
    words = _words(naming)
    if not words:
        return MainTier(_without_words(naming))
    target = str(naming["target"])
    parts: list[str] = []
    for word in words:
        part = word.text
        if word.error and " " not in target:
            part += f" [: {target}]"
        parts.append(part + "".join(f" [* {code}]" for code in word.codes))
    return MainTier(
        " [//] ".join(parts),
        coded=any(word.codes for word in words),
        heard=any(word.heard for word in words),
        phonetic=all(word.phonetic for word in words) and not _otherwise_transcribed(naming),
    )


def _words(naming: Mapping[str, Any]) -> list[_Word]:
    """Return the attempts, with words where a person heard them."""
    found: dict[int, _Word] = {}
    for number, attempt in enumerate(naming["attempts"], start=1):
        if attempt["phonemes"] or attempt["by_ear"]:
            word = _heard(naming, attempt) or _transcribed(naming, attempt)
            error = word.error and not _is_aside(attempt)
            codes = ERROR_CODES.get(str(attempt["code"]), ())
            found[number] = replace(word, error=error, codes=codes if error else ())
    errors = [number for number, word in found.items() if word.error]
    code, by = code_of(naming)
    judged = _judged(naming)
    if errors and (judged in errors or by != "proposed"):
        coded = judged if judged in errors else errors[0]
        found[coded] = replace(found[coded], codes=ERROR_CODES.get(code, ()))
    words = list(found.values())
    if naming["score"] in {"right", "self-corrected"}:
        named = any(_accepted(naming, attempt) for attempt in naming["attempts"])
        if not named and (not words or words[-1].error or not words[-1].heard):
            # A person heard the name, whatever the transcriber wrote; it is the last attempt.
            words[-1:] = [_Word(_target(naming), phonetic=False)]
    return words


def _is_aside(attempt: Mapping[str, Any]) -> bool:
    """Return whether an attempt is a filler or a remark about the task."""
    words = tuple(str(attempt["heard"] or "").split())
    return bool(aside(AttemptReading((tuple(attempt["phonemes"]),), words)))


def _judged(naming: Mapping[str, Any]) -> int:
    """Return the number of the attempt that is scored; 0 where there is none."""
    proposed = naming["proposed"]
    return 0 if proposed is None else proposed["attempt"] or 0


def _transcribed(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Word:
    phonemes = attempt["phonemes"]
    if all(phoneme in UNINTELLIGIBLE for phoneme in phonemes):
        return _Word(UNKNOWN, phonetic=False)
    if _accepted(naming, attempt):
        same = " ".join(phonemes) in naming["accepted"]
        return _Word(_target(naming), phonetic=same, heard=attempt["by_ear"])
    ipa, by_ear = to_ipa(phonemes), bool(attempt["by_ear"])
    if attempt["complete"] is False:
        return _Word(f"&+{ipa}", heard=by_ear)
    return _Word(f"{ipa}@u", error=True, heard=by_ear)


def _heard(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> _Word | None:
    """Return the words that a person heard; None where the attempt has none."""
    heard = str(attempt["heard"] or "")
    if not heard:
        return None
    if attempt["complete"] is False:
        return _Word(f"&+{heard.strip('-')}", heard=True)
    text = " ".join("".join(WORDS.findall(heard)).split())
    if not text:
        return None
    if text == str(naming["target"]).casefold():
        return _Word(_target(naming), heard=True)
    words = text.split()
    carried = all(word in CARRIERS for word in words[:-1])
    named = attempt["code"] in {"correct", "description"}
    spelled = " ".join(_spelled(word) for word in words)
    return _Word(spelled, carried and not named, heard=text == heard)


def _otherwise_transcribed(naming: Mapping[str, Any]) -> bool:
    """Return whether a person heard other sounds or attempts than the transcript has."""
    if not naming["by_ear"]:
        return False
    transcribed = [tuple(attempt["phonemes"]) for attempt in transcribed_attempts(naming)]
    return transcribed != [tuple(attempt["phonemes"]) for attempt in naming["attempts"]]


def _spelled(word: str) -> str:
    """Return a word in the form of CHAT: fillers are marked, and I is a capital.

    >>> [_spelled(word) for word in ("um", "i'm", "dog")]
    ['&-um', "I'm", 'dog']
    """
    if word in FILLERS:
        return f"&-{word}"
    return word.capitalize() if word == "i" or word.startswith("i'") else word


def _without_words(naming: Mapping[str, Any]) -> str:
    """Return 0 for silence, and xxx for unintelligible speech and for unheard responses."""
    shown = shown_of(naming)
    phonemes = set() if shown is None else set(shown.get("phonemes", ()))
    if phonemes & UNINTELLIGIBLE:
        return UNKNOWN
    return (
        SILENCE
        if any(transcript["status"] == "empty" for transcript in naming["transcripts"])
        else UNKNOWN
    )


def _accepted(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> bool:
    """Return whether an attempt is correct by the rules and not an error by the listener."""
    is_target = attempt["code"] == "correct" or " ".join(attempt["phonemes"]) in naming["accepted"]
    return is_target and naming["score"] != "error"


def _target(naming: Mapping[str, Any]) -> str:
    return str(naming["target"]).replace(" ", "_")


TABLE = "utterances.tsv"
LANGUAGES = {"en": "eng", "de": "deu", "es": "spa", "fr": "fra", "it": "ita", "nl": "nld"}
BULLET = "\x15"
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
JOINED = (
    "A CHAT file has one sound file: NAME.wav holds the recordings of its session one after the "
    "other, as 16-bit WAV, and the times are those of NAME.wav. The originals are in the store."
)


READ = (
    f"{TABLE} has the same responses as the .cha files, and what CHAT has no place for. 'tabwb "
    "import' of this folder reads it, not the .cha files: changes of these do not come back."
)


def _write_table(
    groups: Sequence[Sequence[Annotated]], joined: Sequence[Sequence[Annotated]], path: Path
) -> None:
    rows: list[tuple[Annotated, str, float]] = []
    for group in groups:
        from_s = 0.0
        for recording in group:
            if group in joined:
                rows.append((recording, f"{_name(group)}.wav", from_s))
                from_s += recording.seconds
            else:
                rows.append((recording, sound_name(recording), 0.0))
    table.write_table(rows, path)


class ChatExporter:
    """One ``.cha`` file per administration."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of CHAT files and the recordings they belong to."""
        recordings = annotated(document)
        groups = [
            tuple(members)
            for _, members in groupby(recordings, lambda recording: recording.administration["uid"])
        ]
        made = [Made(f"{_name(group)}.cha", partial(write, group)) for group in groups]
        several = [group for group in groups if len(group) > 1 and _has_sound(group)]
        made += [Made(f"{_name(group)}.wav", partial(join, group)) for group in several]
        if made:
            made.append(Made(TABLE, partial(_write_table, groups, several)))
        alone = [
            recording if group not in several else replace(recording, sound=None)
            for group in groups
            for recording in group
        ]
        lost = not_carried(document, recordings, table.CARRIED, TABLE)
        notes = [READ, lost, *([JOINED] if several else [])]
        write_folder(out, made, alone, document, notes)


def write(recordings: Sequence[Annotated], path: Path) -> None:
    """Write the recordings of one administration as one CHAT file."""
    path.write_text("\n".join(_lines(recordings)) + "\n", encoding="utf-8")


def join(recordings: Sequence[Annotated], path: Path) -> None:
    """Write the recordings of one session one after the other, as 16-bit WAV of one channel."""
    import soundfile

    from tabwb.speech.files import info, read_clip

    sounds = [recording.sound for recording in recordings if recording.sound is not None]
    rate = max(info(sound).rate for sound in sounds)
    with soundfile.SoundFile(
        path, "w", samplerate=rate, channels=1, subtype="PCM_16", format="WAV"
    ) as out:
        for sound in sounds:
            samples, own = read_clip(sound)
            if own != rate:
                import soxr

                samples = soxr.resample(samples, own, rate)
            out.write(samples)


def _has_sound(recordings: Sequence[Annotated]) -> bool:
    return all(recording.sound is not None for recording in recordings)


def _media(recordings: Sequence[Annotated]) -> str:
    """Return the name of the session's sound file without suffix; empty where it has none."""
    if not _has_sound(recordings):
        return ""
    return Path(sound_name(recordings[0])).stem if len(recordings) == 1 else _name(recordings)


def chat_date(day: str) -> str:
    """Return a day in the form of CHAT.

    >>> chat_date("2024-03-09")
    '09-MAR-2024'
    """
    year, month, number = day.split("-")
    return f"{number}-{MONTHS[int(month) - 1]}-{year}"


def _lines(recordings: Sequence[Annotated]) -> Iterator[str]:
    administration = recordings[0].administration
    language = LANGUAGES.get(str(administration.get("language", "en")), "eng")
    yield "@UTF8"
    yield "@Begin"
    yield f"@Languages:\t{language}"
    speaker = administration.get("speaker") or {}
    named = re.sub(r"[^A-Za-z0-9_-]+", "_", str(administration["examinee"]))
    corpus = _field(speaker.get("corpus", administration["battery"]))
    role = _field(speaker.get("role")).replace(" ", "_") or "Participant"
    yield f"@Participants:\tPAR {named} {role}, INV Investigator"
    own = {**speaker, "role": role, "custom": speaker.get("AQ", speaker.get("custom"))}
    told = (own.get(name) for name in ("sex", "group", "SES", "role", "education", "custom"))
    spoken = _field(speaker.get("language", language))
    fields = [spoken, corpus, "PAR", chat_age(own.get("age_years")), *map(_field, told)]
    yield f"@ID:\t{'|'.join(fields)}|"
    yield f"@ID:\t{language}|{corpus}|INV|||||Investigator|||"
    media = _media(recordings)
    if media:
        yield f"@Media:\t{media}, audio"
    if day := administration.get("session_date"):
        yield f"@Date:\t{chat_date(day)}"
    yield f"@Comment:\t{RESEARCH_ONLY}"
    yield f"@Comment:\t{SPEECH_CAUTION}"
    yield f"@Comment:\tspeaker {administration['examinee']}"
    begins_s = 0.0
    for recording in recordings:
        for trial in recording.trials:
            yield from _trial(trial, recording, begins_s if media else None)
        begins_s += recording.seconds
    yield "@End"


def chat_age(years: float | None) -> str:
    """Return an age in the form of CHAT: years, months and days.

    >>> chat_age(58), chat_age(58.5), chat_age(58.53), chat_age(None)
    ('58;', '58;06.', '58;06.11', '')
    """
    if years is None:
        return ""
    months, days = divmod(round(years % 1 * 365.25), 365.25 / 12)
    if days < 1 or days > 365.25 / 12 - 1:
        months, days = round(years % 1 * 12), 0
    return f"{int(years)};" + (f"{int(months):02}." + f"{days:02.0f}" * (days > 0)) * bool(
        months or days
    )


def _field(value: object) -> str:
    """Return a field of ``@ID`` without bars, which separate fields."""
    return "" if value is None else " ".join(str(value).replace("|", " ").split())


def _trial(trial: Mapping[str, Any], recording: Annotated, begins_s: float | None) -> Iterator[str]:
    """Yield the lines of one response."""
    naming = trial["naming"]
    yield f"@G:\t{trial['item']}"
    for cue in naming["cues"]:
        yield f"*INV:\t0 [=! {cue['kind']} cue] ."
    start, end = naming["start_s"] or 0.0, naming["end_s"] or recording.seconds
    bullet = ""
    if begins_s is not None:
        first, last = (round((begins_s + at_s) * 1000) for at_s in (start, end))
        bullet = f" {BULLET}{first}_{last}{BULLET}"
    tier = main_tier(naming)
    yield f"*PAR:\t{tier.line} .{bullet}"
    transcribed = transcribed_attempts(naming)
    spoken = " ".join(to_ipa(attempt["phonemes"]) for attempt in transcribed).strip()
    if spoken and tier.phonetic:
        yield f"%pho:\t{spoken}"
    comments = [] if naming["transcripts"] or naming["score"] else ["not transcribed"]
    if (shown := shown_of(naming)) is not None:
        # Readers take %pho for a person's; below another word it would contradict it.
        by = f"transcribed by {shown['transcriber']}"
        comments.append(f"{by}: {spoken}" if spoken and not tier.phonetic else by)
    several = sum(bool(row["score"]) for row in naming["raters"]) > 1
    for row in naming["raters"]:
        if row["score"]:
            counts = " (counts)" * (several and row["rater"] == naming["score_by"])
            comments.append(f"score {row['score']} by {row['rater']}{counts}")
        if row["heard"] and not (tier.heard and row["heard"] == naming["heard"]):
            comments.append(f"heard {row['heard']} by {row['rater']}")
    if (rule := rule_of(naming["counts"] or "")) is not None:
        comments.append(f"score {naming['score'] or 'open'} by {rule} counts")
    code, by = code_of(naming)
    comments += [f"code {row['code']} by {row['rater']}" for row in naming["raters"] if row["code"]]
    if by == "proposed":
        uncoded = code != "correct" and not tier.coded
        comments.append(f"code {code} proposed by rule" if uncoded else "code proposed by rule")
    comments += trial["notes"]
    if comments:
        yield f"%com:\t{'; '.join(' '.join(comment.split()) for comment in comments)}"


def _name(recordings: Sequence[Annotated]) -> str:
    administration = recordings[0].administration
    if len(recordings) == 1:
        return recordings[0].name
    item = recordings[0].trials[0]["item"] if recordings[0].trials else ""
    return recordings[0].name.removesuffix(f"_{item}") or str(administration["id"])
