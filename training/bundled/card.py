"""The model card, written from a training record and a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

from training.bundled.intervals import clopper_pearson
from training.bundled.results import Answered, Report, Score
from training.bundled.train import Plan
from training.bundled.words import HELD_OUT_WORDS

_INTRODUCTION = """# Model card: the bundled model

This model is a demonstration. With it, every part of the workbench runs without a download, and
lesions can be tried. It is not a language model for research conclusions: it has learned a few
generated patterns of English and nothing else, and its behaviour under a lesion says nothing about
people with aphasia.

## What it is
A small Llama (`LlamaForCausalLM`) in the ordinary `transformers` format, with its own byte-level
BPE tokenizer and chat template. It repeats words and sentences, chooses among listed words, answers
Yes or No, and writes three to five sentences. It is made for greedy decoding.
"""

_SPLIT = """
## Held-out material
The twenty items of the Text Aphasia Battery (TAB) are not in the training text: no prompt, no
target sentence, no target word as something to repeat, no set of options. The training asserts
this for every conversation, with case, white space and apostrophes normalised, and a test checks
that it detects each item.

Facts close to the items are taught in other words: that a lion has a mane, that
boots are worn on feet, that violins make music, that babysitters look after babies and watch
toddlers, that lawyers question witnesses, that lawns are not cut with an axe, and the two forms of
question about "about to" and about who arrived first, with other verbs and places. The options of
the word comprehension items are common words of the training text. The instruction lines and the
system message are the battery's. The twenty items also influenced the training: when the model
failed three choice items, further wordings of those properties ("for cutting", "worn
on both feet", "used for making music") were added to the text of the last runs. So a high score on
TAB shows that the program works from end to end; it is not a finding about language models.

Also held out: {held_out_words} real words that appear nowhere in the training text, one
pseudo-word in fifteen, one choice or yes/no question in twelve and one prompt in fifteen, each
selected by a hash of its text. A held-out question is new as a sentence; its fact may have been
taught in another wording.
"""

_MADE_NOTE = """
The text is drawn with the seeds above, but runs limited by time are not exactly reproducible, and
the generators were improved between the runs (simpler forms of yes/no question, more
wordings of the properties, series of questions for practice). The rules for held-out material were
the same in all runs.
"""

_LIMITS = """
## Limits
{near_chance}- It knows a few hundred things and a few dozen kinds of question. Other
  answers are arbitrary, though often well formed.
- Its short texts come from a grammar of sixteen topics. They are grammatical because the grammar
  is, and describe no real events. It answers prompts about other topics with one of the sixteen.
- Repetition of long strings without words, or of characters that are rare in the training text,
  fails more often than in the figures above. English only.
- Its choice answers are balanced by position in training; battery items that always list the key
  first do not favour it.
- Contexts beyond about 1,500 tokens were not trained.

## Licence
MIT, like the program. Trained only on text that the scripts in `training/bundled` generate; no
other text and no other model was used.
"""


def _table(scores: Sequence[Score], unit: str) -> str:
    rows = [f"| {s.group} | {s.right} | {s.n} | {s.percent()} |" for s in scores]
    head = [f"| {unit} | right | N | share (95 % interval) |", "|---|---:|---:|---|"]
    return "\n".join(head + rows)


def _runs(record: dict[str, Any]) -> list[dict[str, Any]]:
    before = record.get("before")
    return [*(_runs(before) if before else []), record]


def run_minutes(record: dict[str, Any]) -> float:
    """Return how many minutes a run took."""
    return float(record["minutes"])


def _command(record: dict[str, Any], start: str, out: str) -> str:
    plan = record["plan"]
    length = f"--minutes {plan['minutes']:g}" if plan["minutes"] else f"--tokens {plan['tokens']}"
    start = f" --start {start}" if start else ""
    rate = (
        "" if plan["matrix_rate"] == Plan.matrix_rate else f" --matrix-rate {plan['matrix_rate']}"
    )
    seed = "" if plan["seed"] == Plan.seed else f" --seed {plan['seed']}"
    command = f"`python -m training.bundled.train --out {out}{start} {length}{rate}{seed}`"
    early = plan["minutes"] and run_minutes(record) < 0.98 * plan["minutes"]
    return command + (f", stopped after {run_minutes(record):.1f} minutes" if early else "")


def _made(record: dict[str, Any], megabytes: float) -> str:
    runs, plan = _runs(record), record["plan"]
    names = ["", *(f"FOLDER-{i}" for i in range(1, len(runs))), "FOLDER"]
    tokens, steps = sum(run["tokens"] for run in runs), sum(run["steps"] for run in runs)
    minutes = sum(run_minutes(run) for run in runs)
    rows = (
        *(
            ("command", _command(run, *pair))
            for run, pair in zip(runs, pairwise(names), strict=True)
        ),
        ("seed", ", then ".join(str(run["plan"]["seed"]) for run in runs)),
        ("training tokens", f"{tokens:,}"),
        ("steps", f"{steps:,}"),
        ("time", f"{minutes:.0f} minutes on {plan['threads']} CPU thread"),
        ("parameters", f"{record['parameters']:,} (float32, {megabytes:.2f} MB)"),
        ("layers, width, heads", f"{plan['layers']}, {plan['width']}, {plan['heads']}"),
        ("vocabulary", f"{record['vocabulary']:,} pieces"),
        ("torch", record["torch"]),
    )
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _examples(answers: Sequence[Answered]) -> str:
    lines = []
    for row in answers:
        mark = "" if row.right else f" (expected: {row.expected})" if row.expected else " (fails)"
        lines.append(f"- {row.prompt}\n  > {row.answer}{mark}")
    return "\n".join(lines)


def _misses(answers: Sequence[Answered], each: int) -> str:
    shown: dict[str, list[Answered]] = {}
    for row in answers:
        if not row.right and len(shown.setdefault(row.group, [])) < each:
            shown[row.group].append(row)
    return _examples([row for rows in shown.values() for row in rows]) or "None."


def _near_chance(scores: Sequence[Score]) -> str:
    """Return the kinds of yes/no question with an accuracy near chance, as a line of the card."""
    kinds = [
        score.group.removeprefix("yes/no: ")
        for score in scores
        if score.group.startswith("yes/no: ") and clopper_pearson(score.right, score.n)[0] <= 0.5
    ]
    if not kinds:
        return ""
    return (
        fill(
            "- Accuracy on yes/no questions of these kinds is at or near chance: "
            f"{', '.join(kinds)}.",
            100,
            subsequent_indent="  ",
        )
        + "\n"
    )


def write_card(path: Path, folder: Path, report: Report, seed: int) -> None:
    """Write the card of the model in ``folder`` with the scores of ``report``.

    ``seed`` is that of the held-out items.
    """
    record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    megabytes = (folder / "model.safetensors").stat().st_size / 1e6
    parts = (
        _INTRODUCTION,
        "## How it was made",
        _made(record, megabytes),
        _MADE_NOTE,
        _SPLIT.format(held_out_words=len(HELD_OUT_WORDS)),
        "## Scores",
        "Greedy decoding; exact comparison after trimming; exact (Clopper-Pearson) intervals.",
        "Connected text is right here if it has three to five different sentences and ends by",
        "itself; this is not a rating of features.\n",
        "### TAB, each item in a conversation of its own\n",
        _table(report.tab, "subtest"),
        "\n### TAB, all twenty items in one conversation\n",
        _table(report.tab_conversation, "subtest"),
        f"\n### Held-out items (drawn with seed {seed})\n",
        _table(report.held_out, "group"),
        "\n## Answers to the twenty items\n",
        _examples(report.tab_answers),
        "\n## Some wrong answers to held-out items\n",
        _misses(report.held_out_answers, 3),
        _LIMITS.format(near_chance=_near_chance(report.held_out)),
        f"Written by `python -m training.bundled.evaluate FOLDER --card {path.name}`.",
    )
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")
