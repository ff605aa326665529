"""CHAT transcripts (TalkBank): one file per administration, errors coded on the main tier.

``cat [: dog] [* s:r] [//] dog`` is what was said, what was meant, the kind of error, and that it
was taken back. A response that is no word stands in IPA with ``@u``. Codes are CHAT's own (manual,
part 1, "Word-level error codes"); what has none there is said in a ``%com`` line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tabwb.phonology.inventory import to_ipa
from tabwb.records.words import RESEARCH_ONLY, SPEECH_CAUTION
from tabwb.scoring.naming.heard import parse_heard
from tabwb_annotations.folder import Made, sound_name, write_folder
from tabwb_annotations.loss import not_carried
from tabwb_annotations.tiers import (
    Annotated,
    Document,
    annotated,
    code_of,
    shown_of,
    transcriber_of,
)

CARRIED = (
    "score", "finer score", "heard line", "code", "proposed code", "cue", "note", "transcriber",
)  # fmt: skip
ERROR_CODES: Mapping[str, str] = {
    "semantic": "s:r",
    "mixed": "s:r",
    "unrelated": "s:ur",
    "perseveration": "s:per",
    "formal": "p:w",
    "nonword-related": "p:n",
    "nonword-unrelated": "n:k",
}
"""Our code to CHAT's; the others have none there."""
LANGUAGES = {"en": "eng", "de": "deu", "es": "spa", "fr": "fra", "it": "ita", "nl": "nld"}
BULLET = "\x15"
WORDS = re.compile(r"(?:[^\W\d_]|[ '-])+")
"""What can be words of CHAT: brackets and digits have meanings of their own there."""


class ChatExporter:
    """One ``.cha`` file per administration."""

    suffix = ""
    sound = True

    def export(self, document: Document, out: Path) -> None:
        """Write a folder of CHAT files and the recordings they belong to."""
        recordings = annotated(document)
        trials = [trial for each in recordings for trial in each.trials]
        made = [
            Made(f"{_name(group)}.cha", partial(write, group))
            for group in (
                tuple(members)
                for _, members in groupby(recordings, lambda each: each.administration["uid"])
            )
        ]
        write_folder(out, made, recordings, document, [not_carried(trials, CARRIED, "CHAT")])


def write(recordings: Sequence[Annotated], path: Path) -> None:
    """Write the recordings of one administration as one CHAT file."""
    path.write_text("\n".join(_lines(recordings)) + "\n", encoding="utf-8")


def utterance(naming: Mapping[str, Any]) -> str:
    """The main tier of one response, without speaker and terminator.

    >>> said = {"target": "dog", "accepted": ["D AO G"], "heard": "cat", "score": "self-corrected",
    ...         "code": "semantic", "code_by": "person", "proposed": None, "start_s": 0.0,
    ...         "transcripts": [],
    ...         "attempts": [
    ...             {"onset_s": 0.5, "offset_s": 0.9, "phonemes": ["K", "AE", "T"],
    ...              "complete": True},
    ...             {"onset_s": 2.5, "offset_s": 2.9, "phonemes": ["D", "AO", "G"],
    ...              "complete": True},
    ...         ]}
    >>> utterance(said)
    'cat [: dog] [* s:r] [//] dog'
    """
    if naming["score"] == "no-response":
        return "0"
    if naming["score"] == "not-scorable":
        return "xxx"
    words = [_word(naming, attempt) for attempt in naming["attempts"]]
    right = naming["score"] in {"right", "self-corrected"}
    if right and not any(_is_accepted(naming, attempt) for attempt in naming["attempts"]):
        # A person heard the name, whatever a machine made of it; it came last.
        words[-1:] = [_target(naming)]
    if not words and _heard(naming):
        words = [_coded(naming, _heard(naming))]
    if words:
        return " [//] ".join(words)
    # Nothing was heard, or nobody has listened: the one is silence, the other is not known.
    return "0" if any(each["status"] == "empty" for each in naming["transcripts"]) else "xxx"


def _word(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> str:
    ipa = to_ipa(attempt["phonemes"])
    if _is_accepted(naming, attempt):
        return _target(naming)
    if attempt["complete"] is False:
        return f"&+{ipa}"
    others = [
        each
        for each in naming["attempts"]
        if each["complete"] is not False and not _is_accepted(naming, each)
    ]
    # What was heard is said of the response: of which attempt, only where there is one.
    only = _heard(naming) if len(others) == 1 else ""
    return _coded(naming, only or f"{ipa}@u")


def _is_accepted(naming: Mapping[str, Any], attempt: Mapping[str, Any]) -> bool:
    said = " ".join(attempt["phonemes"]) in naming["accepted"]
    return said and naming["score"] != "error"


def _coded(naming: Mapping[str, Any], word: str) -> str:
    target = _target(naming)
    if word == target:
        return word
    code = ERROR_CODES.get(code_of(naming)[0])
    return f"{word} [: {target}]" + (f" [* {code}]" if code else "")


def _target(naming: Mapping[str, Any]) -> str:
    return str(naming["target"]).replace(" ", "_")


def _heard(naming: Mapping[str, Any]) -> str:
    """What a person heard: a word (one replacement is of one word in CHAT), or phonemes in IPA.

    Empty where nobody wrote it down, or where it cannot be a word of CHAT.
    """
    if not naming["heard"]:
        return ""
    heard = parse_heard(str(naming["heard"]))
    if heard.word:
        return heard.word.replace(" ", "_") if WORDS.fullmatch(heard.word) else ""
    return f"{to_ipa(heard.pronunciations[0])}@u"


def _lines(recordings: Sequence[Annotated]) -> Iterator[str]:
    administration = recordings[0].administration
    language = LANGUAGES.get(str(administration.get("language", "en")), "eng")
    corpus = administration["battery"]
    yield "@UTF8"
    yield "@Begin"
    yield f"@Languages:\t{language}"
    yield "@Participants:\tPAR Participant, INV Investigator"
    yield f"@ID:\t{language}|{corpus}|PAR|||||Participant|||"
    yield f"@ID:\t{language}|{corpus}|INV|||||Investigator|||"
    if len(recordings) == 1 and recordings[0].sound is not None:
        yield f"@Media:\t{Path(sound_name(recordings[0])).stem}, audio"
    yield f"@Comment:\t{RESEARCH_ONLY}"
    yield f"@Comment:\t{SPEECH_CAUTION}"
    yield f"@Comment:\tspeaker {administration['examinee']}"
    for recording in recordings:
        for trial in recording.trials:
            yield from _trial(trial, recording, one_file=len(recordings) == 1)
    yield "@End"


def _trial(trial: Mapping[str, Any], recording: Annotated, *, one_file: bool) -> Iterator[str]:
    naming = trial["naming"]
    yield f"@G:\t{trial['item']}"
    for cue in naming["cues"]:
        yield f"*INV:\t0 [=! {cue['kind']} cue] ."
    start, end = naming["start_s"] or 0.0, naming["end_s"] or recording.seconds
    bullet = f" {BULLET}{round(start * 1000)}_{round(end * 1000)}{BULLET}" if one_file else ""
    line = utterance(naming)
    yield f"*PAR:\t{line} .{bullet}"
    spoken = " ".join(to_ipa(attempt["phonemes"]) for attempt in naming["attempts"])
    if spoken and line != "0":
        yield f"%pho:\t{spoken}"
    said = [] if naming["transcripts"] or naming["score"] else ["not transcribed"]
    if (shown := shown_of(naming)) is not None:
        # Who reads %pho takes it for a person's; beside silence it would say the contrary.
        by = f"transcribed by {transcriber_of(shown)}"
        said.append(f"{by}: {spoken}" if spoken and line == "0" else by)
    if not one_file:
        said.append(f"file {sound_name(recording)}")
    if naming["score"]:
        said.append(f"score {naming['score']} by {naming['score_by']}")
    if naming["heard"] and _heard(naming) not in line.split():
        said.append(f"heard {naming['heard']}")
    code, by = code_of(naming)
    if code != "correct" and code and f"[* {ERROR_CODES.get(code)}]" not in line:
        said.append(f"code {code} {'proposed by rule' if by == 'proposed' else f'by {by}'}")
    elif by == "proposed":
        said.append("code proposed by rule, not by a person")
    said += trial["notes"]
    if said:
        yield f"%com:\t{'; '.join(' '.join(one.split()) for one in said)}"


def _name(recordings: Sequence[Annotated]) -> str:
    administration = recordings[0].administration
    if len(recordings) == 1:
        return recordings[0].name
    item = recordings[0].trials[0]["item"] if recordings[0].trials else ""
    return recordings[0].name.removesuffix(f"_{item}") or str(administration["id"])
