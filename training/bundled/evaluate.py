"""Score the bundled model: ``python -m training.bundled.evaluate FOLDER [--card CARD.md]``."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from training.bundled import stories
from training.bundled.answer import Message, Speaker, user_says, with_system
from training.bundled.card import write_card
from training.bundled.corpus import SYSTEM
from training.bundled.items import (
    Item,
    battery_items,
    held_out_families,
    held_out_items,
    held_out_prompts,
)
from training.bundled.results import Answered, Report, Score

MOST_PROMPTS = 100  # there are not many more prompts that the hash holds out


def is_right(item: Item, answer: str) -> bool:
    """Compare exactly; a connected text must have three to five different sentences."""
    if item.task != "connected":
        return answer.strip() == item.expected
    told = stories.sentences(answer)
    return 3 <= len(told) <= 5 and len(set(told)) == len(told) and answer.endswith((".", "!"))


def score(items: Sequence[Item], answers: Sequence[str]) -> list[Score]:
    """Count the right answers of each group, groups in the order of the items."""
    groups: dict[str, list[bool]] = {}
    for item, answer in zip(items, answers, strict=True):
        groups.setdefault(item.group, []).append(is_right(item, answer))
    return [Score(group, sum(hits), len(hits)) for group, hits in groups.items()]


def _answered(items: Sequence[Item], answers: Sequence[str]) -> list[Answered]:
    return [
        Answered(i.group, i.user.partition("\n")[2] or i.user, i.expected, a, is_right(i, a))
        for i, a in zip(items, answers, strict=True)
    ]


def answer_in_conversation(speaker: Speaker, items: Sequence[Item]) -> list[str]:
    """Give the items one after another, with the model's own answers in the history."""
    history: list[Message] = with_system(SYSTEM, [])
    answers = []
    for item in items:
        history.append(user_says(item.user))
        answers += speaker.answer([history])
        history.append({"role": "assistant", "content": answers[-1]})
    return answers


def _conversations(speaker: Speaker, items: Sequence[Item], turns: int) -> Score:
    """Score held-out items in conversations of ``turns`` mixed turns."""
    mixed = list(items)
    random.Random(11).shuffle(mixed)
    hits = n = 0
    for start in range(0, len(mixed) - turns + 1, turns):
        part = mixed[start : start + turns]
        answers = answer_in_conversation(speaker, part)
        hits += sum(is_right(i, a) for i, a in zip(part, answers, strict=True))
        n += turns
    return Score(f"mixed items in conversations of {turns} turns", hits, n)


def _connected(speaker: Speaker, count: int, seed: int) -> tuple[list[Score], list[Answered]]:
    prompts = held_out_prompts(count, seed)
    items = [item for _, item in prompts]
    answers = speaker.reply([item.user for item in items])
    on_topic = sum(
        topic in stories.topics_of(answer)
        for (topic, _), answer in zip(prompts, answers, strict=True)
    )
    scores = score(items, answers)
    scores = [Score("connected text: 3-5 sentences, none twice", s.right, s.n) for s in scores]
    scores.append(Score("connected text: opening on the topic of the prompt", on_topic, count))
    different = len(set(answers))
    scores.append(Score("connected text: answers that differ from all others", different, count))
    return scores, _answered(items, answers)


def evaluate(folder: Path, count: int, seed: int = 7) -> Report:
    """Give the battery once item by item and once as a conversation, then the held-out items.

    Args:
        folder: of the model.
        count: held-out items of each group.
        seed: of the held-out items. Report another seed than that used for development.
    """
    speaker = Speaker(folder)
    tab = battery_items()
    single = speaker.reply([item.user for item in tab])
    held = held_out_items(count, seed)
    answers = speaker.reply([item.user for item in held])
    families = held_out_families(min(count, 50), seed + 1)
    by_family = score(families, speaker.reply([item.user for item in families]))
    connected, texts = _connected(speaker, min(count, MOST_PROMPTS), seed)
    in_turns = _conversations(speaker, [i for k in range(20) for i in held[k::count]], 10)
    return Report(
        tab=score(tab, single),
        tab_answers=_answered(tab, single),
        tab_conversation=score(tab, answer_in_conversation(speaker, tab)),
        held_out=[*score(held, answers), *by_family, *connected, in_turns],
        held_out_answers=[*_answered(held, answers), *texts],
    )


def _print(report: Report, misses: int) -> None:
    for title, scores in (
        ("TAB, item by item", report.tab),
        ("TAB, one conversation", report.tab_conversation),
        ("Held out", report.held_out),
    ):
        print(title)
        for s in scores:
            print(f"  {s.group:58} {s.right:4d} / {s.n:<4d} {s.percent()}")
    for row in report.tab_answers:
        print(f"  {'ok ' if row.right else 'NOT'}  {row.prompt}  ->  {row.answer}")
    shown: dict[str, int] = {}
    for row in report.held_out_answers:
        shown[row.group] = shown.get(row.group, 0) + (not row.right)
        if not row.right and shown[row.group] <= misses:
            print(f"  miss  {row.prompt!r}  ->  {row.answer!r}")


def main(arguments: list[str] | None = None) -> None:
    """Read the options, evaluate, print, and write the card if requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=300, help="held-out items per group")
    parser.add_argument("--seed", type=int, default=7, help="of the held-out items")
    parser.add_argument("--misses", type=int, default=5, help="wrong answers shown per group")
    parser.add_argument("--json", action="store_true", help="print the whole report as JSON")
    parser.add_argument("--card", type=Path, help="write the model card to this file")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    report = evaluate(options.folder, options.count, options.seed)
    if options.json:
        print(json.dumps(asdict(report), indent=2, ensure_ascii=False))
    else:
        _print(report, options.misses)
    if options.card:
        write_card(options.card, options.folder, report, options.seed)


if __name__ == "__main__":
    main()
