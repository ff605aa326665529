"""``tabwb import psst``: the corpus as a battery of recordings, sessions and participants."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.plugin_api import ImportedSession, Named, Segment, SpokenFile, Transcript, UsageError
from tabwb_psst.corpus import (
    OF_SESSIONS,
    TABLE,
    UNSPLIT,
    Accepted,
    Corpus,
    Utterance,
    is_corpus,
    read_corpus,
    recorded_name,
)

BATTERY: Final = "psst"
RATER: Final = "psst"
"""Who transcribed and judged, as the corpus does not say."""
TESTLESS: Final = "PSST"
CORRECTNESS: Final = "correctness"
"""What the user names: the file of accepted pronunciations."""


class PsstImporter:
    """Reads the PSST corpus."""

    spoken: Literal[True] = True

    def recognises(self, path: Path) -> bool:
        """Return whether a folder has tables of utterances by split."""
        return is_corpus(path)

    def read(self, path: Path, names: Mapping[str, str]) -> SpokenFile:
        """Return its sessions, a battery of its prompts, and what it says of participants."""
        given = names.get(CORRECTNESS)
        corpus = read_corpus(path, Path(given) if given else None)
        if not corpus.utterances:
            first = f"first: {corpus.problems[0]}" if corpus.problems else None
            raise UsageError("no utterance can be used", where=str(path), hint=first)
        accepted, guessed = _all_accepted(corpus)
        return SpokenFile(
            f"PSST corpus, {len(corpus.utterances):,} utterances of "
            f"{len(corpus.by_speaker)} speakers",
            tuple(_sessions(corpus)),
            battery_tables(corpus, accepted),
            RATER,
            {str(kind): n for kind, n in corpus.left_out.items()},
            tuple(map(str, corpus.problems)),
            tuple(_notes(corpus, guessed)),
        )


def battery_tables(corpus: Corpus, accepted: Accepted) -> dict[str, Any]:
    """Return a battery of recordings: a subtest for each test, an item for each prompt."""
    subtests: dict[str, dict[str, Any]] = {}
    for (test, folded), (subtest, item, prompt) in _ids(corpus).items():
        forms = [
            {"phonemes": " ".join(form), "reason": "accepted in the corpus"}
            for form in accepted[folded]
        ]
        table: dict[str, Any] = {"id": subtest, "title": test, "response": "naming", "item": []}
        subtests.setdefault(test, table)["item"].append(
            {"id": item, "target": prompt, "accept": forms}
        )
    tables = list(subtests.values())
    digest = hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()
    head = {
        "id": BATTERY,
        "title": "PSST: responses to the BNT-SF and the VNT",
        "version": digest[:8],
        "language": "en",
        "license": "that of the corpus",
        "citation": "Gale, Fleegle, Fergadiotis and Bedrick (2022). The Post-Stroke Speech "
        "Transcription (PSST) Challenge.",
        "notes": "Made of an imported corpus; it has no pictures.",
        "examinees": ["speaker"],
    }
    return {"battery": head, "subtest": tables}


def _ids(corpus: Corpus) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Return subtest, item and prompt of each test and prompt in lower case, in their order."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    tests: dict[str, str] = {}
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for one in sorted(corpus.utterances, key=_place):
        test = one.test or TESTLESS
        if test not in tests:
            tests[test] = _id(test, taken[""])
        if (key := (test, one.prompt.casefold())) not in found:
            found[key] = tests[test], _id(one.prompt, taken[test]), one.prompt
    return found


def _place(utterance: Utterance) -> tuple[str, str]:
    """Return the test, and what names an item and its place in the id: VNT20-shove."""
    session, whole = f"{utterance.session}-", utterance.id
    own = whole.removeprefix(session) if whole.startswith(session) else whole.partition("-")[2]
    return utterance.test, own or utterance.prompt


def _id(text: str, taken: set[str]) -> str:
    name = re.sub("[^a-z0-9]+", "-", text.casefold())[:60].strip("-") or "item"
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found)
    return found


def _all_accepted(corpus: Corpus) -> tuple[dict[str, tuple[tuple[str, ...], ...]], list[str]]:
    """Return accepted pronunciations of all prompts: the dictionary's where the corpus has none."""
    accepted, guessed = dict(corpus.accepted), []
    for prompt in corpus.prompts:
        if prompt not in accepted:
            known = [word.phonemes for word in load_dictionary().pronunciations(prompt)]
            accepted[prompt] = tuple(known) or (guessed_sound(prompt) or ("AH",),)
            guessed.append(prompt)
    return accepted, guessed


def _sessions(corpus: Corpus) -> Iterable[ImportedSession]:
    found: defaultdict[tuple[str, str], list[Utterance]] = defaultdict(list)
    for utterance in corpus.utterances:
        found[utterance.split, utterance.session].append(utterance)
    ids = _ids(corpus)
    tests = Counter(prompt for _, prompt in ids)
    items = Counter(item for _, item, _ in ids.values())
    for (split, session), own in found.items():
        told = corpus.sessions.get(session, {})
        named = []
        for one in own:
            test, prompt = one.test or TESTLESS, one.prompt.casefold()
            subtest, item, _ = ids[test, prompt]
            name = item if items[item] == 1 else f"{subtest}/{item}"
            alone = tests[prompt] == 1 and item == _id(prompt, set())
            named.append(_named(one, corpus, one.prompt if alone else name))
        table = corpus.root / (split or UNSPLIT) / TABLE
        day = told.get("session_date", "")
        stated: list[dict[str, str]] = []
        for one in own:
            if (texts := stated_of(one, corpus)) not in stated:
                stated.append(texts)
        yield ImportedSession(own[0].speaker, table, tuple(named), day, session, tuple(stated))


def _named(utterance: Utterance, corpus: Corpus, item: str) -> Named:
    """Return a response to an item, as the battery names it."""
    rater = corpus.sessions.get(utterance.session, {}).get("rater", "")
    heard = [transcript_of(*one) for one in corpus.systems.get(utterance.id, {}).items()]
    if utterance.transcript is not None:
        heard.append(transcript_of("", utterance.transcript))
    score = {True: "right", False: "error", None: None}[utterance.correct]
    return Named(
        item,
        transcripts=tuple(heard),
        score=score,  # type: ignore[arg-type]
        sound=utterance.sound,
        rater=rater,
    )


def transcript_of(transcriber: str, labels: Sequence[str]) -> Transcript:
    """Return a transcript without times."""
    segments = tuple(Segment(label, 0.0, 0.0) for label in labels)
    status: Literal["ok", "empty"] = "ok" if segments else "empty"
    return Transcript(transcriber, status, segments, metadata={"times": "none"})


def stated_of(utterance: Utterance, corpus: Corpus) -> dict[str, str]:
    """Return what the corpus states of a speaker: of our export, the participant's record."""
    if told := corpus.sessions.get(utterance.session):
        own = {recorded_name(name): name for name in OF_SESSIONS}
        return {own.get(name, name): text for name, text in told.items()
                if name not in OF_SESSIONS and text}  # fmt: skip
    aq = {} if utterance.aq is None else {"AQ": f"{utterance.aq:g}"}
    return {"corpus": "PSST", "split": utterance.split, **aq}


def _notes(corpus: Corpus, guessed: Sequence[str]) -> Iterable[str]:
    if differing := corpus.problem_counts.get("durations"):
        yield f"duration_frames is not the sound's, which counts: {differing}"
    if corpus.merged:
        count = sum(corpus.merged.values())
        words = _named_in(corpus.merged)
        yield f"accepted pronunciations that stood twice are merged: {count} ({words})"
    if guessed:
        yield f"accepted by the dictionary, as the corpus lists none: {_named_in(guessed)}"


def _named_in(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return ", ".join(listed[:10]) + more
