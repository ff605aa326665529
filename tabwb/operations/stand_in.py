"""Made data in place of a paper's own: by seed, so that a ledger runs whole without them.

Nothing that is computed from them says anything about the paper.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins

SAMPLES, RATERS, JUDGE = 82, 5, "gemini-2.5-flash"
"""Of the study in section 6 of TAB: samples that several people rated, people, the judge."""
MODELS = (
    ("Llama-3.2-1B", 0.5), ("OLMo-2-1B", 0.3), ("OLMo-2-1B-Instruct", 0.15),
    ("Gemma-3-1B-it", 0.05), ("Llama-3.2-1B-Instruct", 0.02),
)  # fmt: skip
"""Models of TAB's table 2, and how often their made answers go wrong."""
REPLICATES = 4
SYSTEMS = {
    "Y1": 0.20, "Y2": 0.21, "Y3": 0.22, "Y4": 0.22, "Y5": 0.22, "Y6": 0.26, "Y7": 0.38,
    "MO1": 0.26, "MO2": 0.25, "MO3": 0.26, "MO4": 0.25, "MO5": 0.26, "MO6": 0.26, "MO7": 0.26,
    "PSST-A": 0.26,
}  # fmt: skip
"""Systems of PSST's table 2, and how often a phoneme of their made transcripts is another one."""
_SENTENCES = (
    "We walked along the river until it was dark.", "My sister found a small green boat.",
    "The kitchen smelled of bread and coffee.", "I was happy because everyone had come.",
    "Then we took the train back to the city.", "The garden is quiet in the morning.",
    "First you cut the onions and warm the oil.", "My boss was kind and taught me a lot.",
)  # fmt: skip
_WRONG = (
    "The ball, the ball, the ball was there.", "I went to the st- store.", "Nice.",
    "I wanted the flimby gorp and a blorf.", "It was the thing. You know, stuff and things and",
    "The kite is the kite is flying.",
)  # fmt: skip


def made_ratings(place: Path, seed: int, folders: Mapping[str, Path], plugins: Plugins) -> None:
    """Write ratings of 82 samples on TAB's 19 features: by 2 or 3 people each, and by a judge."""
    from tabwb.battery.loader import load_battery

    draw = random.Random(seed)
    features = [one.id for one in load_battery(plugins.find_battery("tab")).features]
    rows: list[Sequence[object]] = []
    shares = {feature: draw.choice((0.0, 0.05, 0.1, 0.35, 0.45)) for feature in features}
    for sample in range(1, SAMPLES + 1):
        people = draw.sample(range(1, RATERS + 1), draw.choice((2, 3)))
        for feature in features:
            is_there = draw.random() < shares[feature]
            for rater in (*(f"SLP{number}" for number in people), JUDGE):
                value = is_there != (draw.random() < (0.2 if shares[feature] else 0.0))
                rows.append((sample, rater, feature, int(value)))
    place.mkdir(parents=True)
    with (place / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("response", "rater", "measure", "value"), *rows])


def made_answers(place: Path, seed: int, folders: Mapping[str, Path], plugins: Plugins) -> None:
    """Write answers of five models to TAB, as files that ``replay:FILE`` reads."""
    from tabwb.battery.loader import load_battery

    battery = load_battery(plugins.find_battery("tab"))
    place.mkdir(parents=True)
    for model, wrong in MODELS:
        draw = random.Random(f"{seed} {model}")
        lines = [
            json.dumps({
                "subtest": subtest.id, "item": item.id, "replicate": replicate,
                "response": _answer(item.expected, item.options, wrong, draw),
            })
            for subtest in battery.subtests for item in subtest.items
            for replicate in range(REPLICATES)
        ]  # fmt: skip
        (place / f"{model}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _answer(expected: str | None, options: Sequence[str], wrong: float, draw: random.Random) -> str:
    if expected is None:
        said = draw.sample(_SENTENCES, 4)
        return " ".join(draw.choice(_WRONG) if draw.random() < wrong else one for one in said)
    if draw.random() >= wrong:
        return expected
    return draw.choice(options) if options else expected[: max(1, len(expected) // 2)]


GRID = """
format = 1
name = "stand-in"

[[lesions]]
targets = ["attention", "mlp"]
amounts = [0.1, 0.2, 0.3, 0.4]
seeds = [{seed}]
"""


def made_grid(place: Path, seed: int, folders: Mapping[str, Path], plugins: Plugins) -> None:
    """Write a small grid of lesions."""
    place.mkdir(parents=True)
    (place / "grid.toml").write_text(GRID.format(seed=seed + 1), encoding="utf-8")


def made_transcripts(place: Path, seed: int, folders: Mapping[str, Path], plugins: Plugins) -> None:
    """Write transcripts of the test split of the folder ``psst``, one table for each system."""
    from tabwb.phonology.inventory import PHONEMES
    from tabwb.phonology.transcripts import read_table

    given = read_table(folders["psst"] / "test" / "utterances.tsv")
    place.mkdir(parents=True)
    for system, wrong in SYSTEMS.items():
        draw = random.Random(f"{seed} {system}")

        def heard(transcript: str, share: float, draw: random.Random) -> Iterator[str]:
            for label in transcript.split():
                if draw.random() >= share:
                    yield label
                elif draw.random() < 0.7:
                    yield draw.choice(PHONEMES)

        lines = ["utterance_id\tasr_transcript"]
        for row in given.rows:
            said = " ".join(heard(row.cells["transcript"], wrong, draw))
            lines.append(f"{row.cells['utterance_id']}\t{said or '<sil>'}")
        (place / f"{system}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


Maker = Callable[[Path, int, Mapping[str, Path], "Plugins"], None]
"""Writes made data into a new folder: its seed, the folders of other data, the plugins."""
MAKERS: Mapping[str, Maker] = {
    "ratings": made_ratings, "answers": made_answers, "transcripts": made_transcripts,
    "grid": made_grid,
}  # fmt: skip
