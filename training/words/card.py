"""The card of the speech model, written from ``training.json`` so that no number is typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from training.words.pronunciations import PHONEMES, RECORDED_WORDS

_INTRODUCTION = """# Model card: bundled-words

It knows a few dozen words and will hear one of them in anything. It lets every part of spoken
naming run with nothing to download: recording, transcription, alignment, scoring, report. Use it to
learn the program and to test it. For research bring a model that has heard much more speech
(`wav2vec2:PATH-OR-ID`), and measure it on recordings like your own.

tabwb is an instrument for research. It is not a medical device. It does not diagnose aphasia or any
other condition, does not measure its severity, and must not be used to decide about a person's
care. What this model writes is a draft until a trained listener has heard the recording.

## What it is
A small conformer of the wav2vec 2.0 family (`Wav2Vec2BertForCTC` in `transformers`), trained from
scratch with connectionist temporal classification on log-mel features. It writes the 40 phonemes of
PSST in ARPAbet without stress, and decides on one of them or on a blank every {frame} ms. It looks
at the whole recording at once; the training let no phoneme be written where nobody spoke. Still the
times of its phonemes are rough: some tens of milliseconds late or early. Input: 16 kHz mono;
`AutoProcessor` and `AutoModelForCTC` read the folder without a network.

In tabwb, `bundled-words` conditions a recording (PSST, appendix B.2), finds speech, and
gives the model each stretch of speech by itself.
"""

_SPEECH = """
## What it heard
{train_clips:,} one-second recordings of {words} English words by {train_speakers} speakers,
{silence} seconds of background noise, and synthesised speech. Another {dev_clips} clips of
{dev_speakers} speakers chose which state of the training was kept.

{credit}. Licence of the recordings: {licence}.
For the training they were changed: cut, mixed with noise and reverberation, played faster and
slower. The author of the recordings has no part in the model and does not endorse it.

Synthesised with espeak-ng (formant synthesis, many voices and accents of English) and flite (four
voices of Carnegie Mellon University): the recorded words, {other} other common words, invented
words and likely errors in naming, with pronunciations from flite's lexicon, that is from the CMU
Pronouncing Dictionary. Ten of the recorded words stand for {common:.0%} of the training clips; of
the others there are {least} to {most} clips each. A recording is labelled with the word's citation
form, whatever the speaker's accent.

All clips of a speaker are on one side of the split, which a hash of the speaker's code decides
(seed {seed}: the first that leaves recordings of all words of the naming demonstration on the
kept-out side).
"""

_LIMITS = """
## Limits
- It knows a few dozen words and will hear one of them in anything. An error that is a word of its
  list is heard better than one that is not, and a word close to a known one is pulled towards it.
- English, volunteers at their own microphones, one word in a second. No recording of a person with
  aphasia, dysarthria or apraxia of speech was known to be in the training, and nothing is known of
  its errors there; expect more of them, and of another kind.
- Most phonemes occur in a few words only. These it knows from synthesised speech alone:
  {synthetic}.
- It does not say how sure it is in any calibrated way.
- Laughter, coughing, other voices in the room and noise with the rhythm of speech come out as
  phonemes.

## Licence
MIT, like the program, for scripts and weights; the recordings that it learned from are under CC BY
4.0 with the credit above, which has to stay with the model.
"""


def _percent(figure: dict[str, Any]) -> str:
    value, low, high = (f"{figure[k]:.1%}"[:-1] for k in ("value", "low", "high"))
    return f"{value} % ({low}-{high})"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _made(record: dict[str, Any]) -> str:
    runs = record["runs"]
    rows: list[tuple[str, object]] = [("parameters", f"{record['parameters']:,} (float32)")]
    for number, run in enumerate(runs, 1):
        last, plan = run["history"][-1], run["plan"]
        size = f"{plan['layers']} layers of {plan['width']}, batches of {plan['batch']}"
        ended = (
            f"{last['step']:,} steps, {last['examples']:,} examples, {last['minutes']:.0f} minutes"
        )
        told = (
            f"seed {plan['seed']}, {size}; {ended}; PER on the dev speakers {last['dev_per']:.3f}"
        )
        rows.append((f"run {number}", told))
    rows += [("synthesised", "; ".join(f"`{call}`" for call in record["synthesised"]))]
    rows += [(name, version) for name, version in record["versions"].items()]
    notes = "\n".join(fill(f"- {note}", 100, subsequent_indent="  ") for note in record["notes"])
    return f"\n## How it was made\n{_table(('', ''), rows)}\n\n{notes}".rstrip()


def _rates(figures: dict[str, Any]) -> list[tuple[str, str]]:
    found = figures["recorded"]
    return [
        ("phoneme error rate (PER)", _percent(found["per"])),
        ("feature error rate (FER)", _percent(found["fer"])),
        ("nearest of the recorded words is the right one", _percent(found["nearest_word"])),
        ("every phoneme right", _percent(found["exact"])),
        ("PER of two words with half a second between", _percent(figures["pairs"]["per"])),
        *(
            (
                f"PER with {pad['seconds']} s of {'soft noise' if pad['noise_rms'] else 'zeros'} "
                "before and after (every third clip)",
                _percent(pad["per"]),
            )
            for pad in figures["padded"]
        ),
    ]


def _recorded(held: dict[str, Any]) -> str:
    found, rare = held["recorded"], held["rare_words"]
    share = rare["right"] / rare["clips"]
    few = f"{share:.1%} ({100 * rare['low']:.1f}-{100 * rare['high']:.1f})".replace("%", " %")
    rows = [
        (name, alone, shipped)
        for (name, alone), (_, shipped) in zip(_rates(held), _rates(held["shipped"]), strict=True)
    ]
    words = [
        (r["word"], r["clips"], r["nearest"], "" if r["per"] is None else f"{r['per']:.2f}")
        for r in found["words"]
    ]
    confused = [(a or "(nothing)", b or "(nothing)", n) for a, b, n in found["confusions"][:15]]
    return "\n".join(
        (
            "\n## Held-out figures",
            f"{found['clips']} recordings by {found['speakers']} speakers of whom no clip was in",
            "the training; greedy decoding, every clip once. 95 % intervals by drawing speakers",
            "(2,000 times). *The model alone* was given the recording, *bundled-words* is what the",
            "program hears of it.\n",
            _table(("", "the model alone", "bundled-words"), rows),
            f"\nOf the {rare['words']} words with few recordings ({rare['clips']} clips) the model",
            f"alone came nearest to the right one in {few} (exact interval, Clopper-Pearson).",
            "\nEach word: kept-out clips, how often it was the nearest of all words, PER.\n",
            _table(("word", "clips", "nearest", "PER"), words),
            "\nTaken for another word most often: "
            + "; ".join(f"*{a}* for *{b}* ({n})" for a, b, n in found["taken_for"][:8])
            + ".",
            "\nWhat was said, what was heard instead, how often:\n",
            _table(("said", "heard", "times"), confused),
        )
    )


def _elsewhere(held: dict[str, Any]) -> str:
    noise = [
        (n["kind"], n["clips"], n["empty"], f"{n['phonemes']} in {n['seconds']:.0f} s")
        for n in held["noise"]
    ]
    unknown = held["unknown_words"]
    return "\n".join(
        (
            "\n### Without speech",
            "The model alone; `bundled-words` gives it nothing where no sound stands out.\n",
            _table(("sound", "clips", "of them nothing heard", "phonemes"), noise),
            "\n### Words it never heard",
            f"{unknown['words']} words that are in no list of the training, synthesised by three "
            "voices that are:",
            f"PER {_percent(unknown['per'])}, FER {_percent(unknown['fer'])};",
            f"{unknown['heard_as_recorded_word']} of {unknown['per']['clips']} clips came out as",
            "exactly one of the recorded words. Real voices would fare worse. Some of them:\n",
            _table(("word", "voice", "said", "heard"), unknown["examples"]),
        )
    )


def card_text(record: dict[str, Any]) -> str:
    """Write the card of the model that ``record`` is about."""
    split, held = record["recorded"]["split"], record["held_out"]
    counts = sorted(n for n in split["train"]["words"].values() if n)
    known = [w for w, n in split["train"]["words"].items() if n]
    heard = {phoneme for word in known for phoneme in RECORDED_WORDS[word]}
    speech = _SPEECH.format(
        train_clips=split["train"]["clips"],
        train_speakers=len(split["train"]["speakers"]),
        dev_clips=split["dev"]["clips"],
        dev_speakers=len(split["dev"]["speakers"]),
        words=len(known),
        silence=split["silence"]["train"],
        credit=record["recorded"]["credit"],
        licence=record["recorded"]["licence"],
        other=record["other_words"],
        common=sum(counts[-10:]) / sum(counts),
        least=counts[0],
        most=counts[-11],
        seed=split["seed"],
    )
    return "\n".join(
        (
            _INTRODUCTION.format(frame=round(1000 * record["frame_seconds"])) + speech,
            _recorded(held),
            _elsewhere(held),
            _made(record),
            _LIMITS.format(synthetic=", ".join(p for p in PHONEMES if p not in heard)),
            "Written by `python -m training.words.evaluate --speech FOLDER --card WORDS-CARD.md`.",
        )
    )


def write_card(path: Path, record: Path) -> None:
    """Write the card of the model whose ``training.json`` is ``record``."""
    text = card_text(json.loads(record.read_text(encoding="utf-8")))
    path.write_text(text + "\n", encoding="utf-8")
