"""The card of the speech model, written from ``training.json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from training.words.pronunciations import PHONEMES, RECORDED_WORDS

_INTRODUCTION = """# Model card: bundled-words

It knows a few dozen words and tends to transcribe any sound as one of them. With it, every part of
spoken naming runs without a download: recording, transcription, alignment, scoring, report. Use it
to learn and to test the program. For research use a model trained on much more speech
(`wav2vec2:PATH-OR-ID`), and measure it on recordings like your own.

tabwb is an instrument for research. It is not a medical device. It does not diagnose aphasia or any
other condition, does not measure its severity, and must not be used to decide about a person's
care. Its transcripts are drafts until a trained listener has heard the recording.

## What it is
A small conformer of the wav2vec 2.0 family (`Wav2Vec2BertForCTC` in `transformers`), trained from
scratch with connectionist temporal classification on log-mel features. It writes the 40 phonemes of
PSST in ARPAbet without stress, one of them or a blank every {frame} ms. Its input is the whole
recording; in training, phonemes were allowed only where somebody spoke. The times of its phonemes
are nevertheless approximate: some tens of milliseconds late or early. Input: 16 kHz mono;
`AutoProcessor` and `AutoModelForCTC` read the folder without a network.

In tabwb, `bundled-words` conditions a recording (PSST, appendix B.2), finds speech, and
transcribes each stretch of speech separately: twice, with frames 10 ms apart, of which the hearing
that is likelier in both is kept.
"""

_SPEECH = """
## Training data
{train_clips:,} one-second recordings of {words} English words by {train_speakers} speakers,
{silence} seconds of background noise, and synthesised speech. Another {dev_clips} clips of
{dev_speakers} speakers, the dev speakers, selected the checkpoints of runs 1 to 3. Runs 4 to 6
followed schedules set beforehand, and in their last {late:.0f} % the dev speakers are training data
too. The weights are the mean of the moving averages at the ends of runs 5 and 6, without a
selection.

{credit}. Licence of the recordings: {licence}.
For training they were changed: cut, mixed with noise and reverberation, played faster and slower.
The author of the recordings is not involved in the model and does not endorse it.

Synthesised with espeak-ng (formant synthesis, many voices and accents of English) and flite (four
voices of Carnegie Mellon University): the recorded words, {other} other common words, invented
words and likely naming errors, with pronunciations from flite's lexicon, which is made from the CMU
Pronouncing Dictionary. Ten of the recorded words are {common:.0%} of the training clips; of
the others there are {least} to {most} clips each. A recording is labelled with the word's citation
form, whatever the speaker's accent.

All clips of a speaker are on one side of the split, by a hash of the speaker's code
(seed {seed}: the first with held-out recordings of all words of the naming demonstration).
"""

_LIMITS = """
## Limits
- It knows a few dozen words and tends to transcribe any sound as one of them. Errors that are words
  of its list are transcribed better than others, and words similar to a known one are often
  transcribed as that.
- English, volunteers at their own microphones, one word in a second. No recording of a person with
  aphasia, dysarthria or apraxia of speech is known to be in the training data, and its errors on
  such speech are unknown; expect more errors, and of other kinds.
- Most phonemes occur in a few words only. These occur in synthesised speech only:
  {synthetic}.
- Its confidences are not calibrated.
- Laughter, coughing, other voices and noise with the rhythm of speech are transcribed as phonemes.

## Licence
MIT, like the program, for scripts and weights; the training recordings are under CC BY 4.0 with the
credit above, which has to stay with the model.
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
    known = False
    for number, run in enumerate(runs, 1):
        last, plan = run["history"][-1], run["plan"]
        size = f"{plan['layers']} layers of {plan['width']}, batches of {plan['batch']}"
        ended = (
            f"{last['step']:,} steps, {last['examples']:,} examples, {last['minutes']:.0f} minutes"
        )
        unheard = [row for row in run["history"] if not row.get("dev_known")][-1]
        of_dev = f"PER on the dev speakers {unheard['dev_per']:.3f}"
        if known:
            of_dev = "the run before was trained on the dev speakers"
        elif known := "dev_known" in last:
            of_dev += f" at minute {unheard['minutes']:.0f}, before the training on them"
        told = f"seed {plan['seed']}, {size}; {ended}; {of_dev}"
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
            f"{found['clips']} recordings by {found['speakers']} speakers without a clip in the",
            "training data; greedy decoding, every clip once. 95 % intervals by resampling",
            "speakers (2,000 times). *The model alone*: of the unchanged recording;",
            "*bundled-words*: as in the program.\n",
            _table(("", "the model alone", "bundled-words"), rows),
            f"\nOf the {rare['words']} words with few recordings ({rare['clips']} clips) the model",
            f"alone came nearest to the right one in {few} (exact interval, Clopper-Pearson).",
            "\nFor each word: held-out clips, how often it was the nearest of all words, PER.\n",
            _table(("word", "clips", "nearest", "PER"), words),
            "\nMost frequent confusions of words: "
            + "; ".join(f"*{a}* for *{b}* ({n})" for a, b, n in found["taken_for"][:8])
            + ".",
            "\nMost frequent confusions of phonemes:\n",
            _table(("spoken", "transcribed", "times"), confused),
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
            "The model alone; `bundled-words` transcribes only clips with a distinct sound.\n",
            _table(("sound", "clips", "without phonemes", "phonemes"), noise),
            "\n### Unknown words",
            f"{unknown['words']} words outside the training lists, synthesised by three voices of "
            "the training:",
            f"PER {_percent(unknown['per'])}, FER {_percent(unknown['fer'])};",
            f"{unknown['heard_as_recorded_word']} of {unknown['per']['clips']} clips were",
            "transcribed as exactly one of the recorded words. Real voices would have more errors.",
            "Examples:\n",
            _table(("word", "voice", "spoken", "transcribed"), unknown["examples"]),
        )
    )


def card_text(record: dict[str, Any]) -> str:
    """Return the card of the model of ``record``."""
    split, held = record["recorded"]["split"], record["held_out"]
    counts = sorted(n for n in split["train"]["words"].values() if n)
    known = [w for w, n in split["train"]["words"].items() if n]
    heard = {phoneme for word in known for phoneme in RECORDED_WORDS[word]}
    speech = _SPEECH.format(
        train_clips=split["train"]["clips"],
        train_speakers=len(split["train"]["speakers"]),
        dev_clips=split["dev"]["clips"],
        dev_speakers=len(split["dev"]["speakers"]),
        late=100 * (1 - record["runs"][-1]["plan"]["dev_from"]),
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
