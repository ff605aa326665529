r"""Train the letter-to-sound model from the shipped pronunciations, and measure it.

    python -m training.lexicon.letters            measures on held-out words, then writes the model

Only words that SCOWL has up to size 60 are used, each with its first pronunciation: the
dictionary's surnames follow other rules. One word in twenty, chosen by the SHA-256 of its spelling,
is held out for the measurement; the written model is the measured one. The same sources give the
same bytes.
"""

from __future__ import annotations

import hashlib
import lzma
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from pathlib import Path

from tabwb.phonology.dictionary import (
    BEGIN,
    END,
    FIRST,
    ORDER,
    Graphone,
    load_dictionary,
    read_model,
)
from tabwb.phonology.distance import align_phonemes
from tabwb.scoring.lexicon import load_lexicon

OUT = Path(__file__).parents[2] / "tabwb" / "phonology" / "data" / "letters.txt.xz"
SIZES = ((1, 0), (1, 1), (2, 1), (1, 2))
"""Letters and phonemes of a graphone."""
ROUNDS = 6
RAREST = 3
"""A graphone that stands in fewer words is a mistake of the alignment."""

Pair = tuple[str, tuple[str, ...]]


def write_model(graphones: Iterable[Graphone], counts: Mapping[str, int]) -> Iterable[str]:
    """Yield the lines that :func:`~tabwb.phonology.dictionary.read_model` reads."""
    for letters, phonemes in graphones:
        yield " ".join((letters, *phonemes))
    yield ""
    before = ""
    for gram in sorted(counts):
        shared = 0
        while shared < min(len(before), len(gram) - 1) and before[shared] == gram[shared]:
            shared += 1
        count = counts[gram]
        yield f"{shared}{gram[shared:]}" + (f"\t{count}" if count > 1 else "")
        before = gram


def symbols_of(graphones: Iterable[Graphone]) -> dict[Graphone, str]:
    """Return the character that stands for each graphone in n-grams."""
    return {graphone: chr(FIRST + number) for number, graphone in enumerate(graphones)}


def known_words() -> dict[str, list[tuple[str, ...]]]:
    """Return the words of SCOWL up to size 60 with their pronunciations."""
    dictionary, lexicon = load_dictionary(), load_lexicon()
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for number in range(len(dictionary)):
        word, phonemes = dictionary.entry(number)
        if word.isalpha() and lexicon.size(word) is not None:
            found[word].append(phonemes)
    return found


def is_held_out(word: str) -> bool:
    """Return whether a word is held out for the measurement (one in twenty, by its SHA-256)."""
    return hashlib.sha256(word.encode()).digest()[0] % 20 == 0


def align(data: Sequence[Pair]) -> list[list[Graphone]]:
    """Return each word cut into graphones by expectation-maximisation, then the best path."""
    cost: dict[Graphone, float] = {}
    for number in range(ROUNDS):
        counts: dict[Graphone, float] = defaultdict(float)
        for letters, phonemes in data:
            _expect(letters, phonemes, cost, counts)
        totals = sum(counts.values())
        cost = {each: count / totals for each, count in counts.items() if count > 1e-3}
        print(f"round {number + 1}: {len(cost)} graphones", flush=True)
    found = [_best(letters, phonemes, cost) for letters, phonemes in data]
    seen = Counter(each for path in found for each in path)
    cost = {each: cost[each] for each, count in seen.items() if count >= RAREST}
    return [path for letters, phonemes in data if (path := _best(letters, phonemes, cost))]


def _expect(
    letters: str,
    phonemes: tuple[str, ...],
    cost: dict[Graphone, float],
    counts: dict[Graphone, float],
) -> None:
    """Add the expected counts of one word (forward and backward sums)."""
    rows, columns = len(letters) + 1, len(phonemes) + 1
    forward = [[0.0] * columns for _ in range(rows)]
    backward = [[0.0] * columns for _ in range(rows)]
    forward[0][0] = backward[-1][-1] = 1.0
    arcs: list[tuple[int, int, int, int, Graphone, float]] = []
    for i in range(rows):
        for j in range(columns):
            if not forward[i][j]:
                continue
            for a, b in SIZES:
                if i + a < rows and j + b < columns:
                    graphone = (letters[i : i + a], phonemes[j : j + b])
                    weight = cost.get(graphone, 0.0) if cost else (0.1 if (a, b) != (1, 1) else 1.0)
                    if weight:
                        arcs.append((i, j, i + a, j + b, graphone, weight))
                        forward[i + a][j + b] += forward[i][j] * weight
    total = forward[-1][-1]
    if not total:
        return
    for i, j, k, m, graphone, weight in reversed(arcs):
        back = backward[k][m] * weight
        if back:
            backward[i][j] += back
            counts[graphone] += forward[i][j] * back / total


def _best(letters: str, phonemes: tuple[str, ...], cost: dict[Graphone, float]) -> list[Graphone]:
    """Return the likeliest path, empty if there is none."""
    best: dict[tuple[int, int], tuple[float, list[Graphone]]] = {(0, 0): (0.0, [])}
    for i in range(len(letters) + 1):
        for j in range(len(phonemes) + 1):
            here = best.get((i, j))
            if here is None:
                continue
            for a, b in SIZES:
                graphone = (letters[i : i + a], phonemes[j : j + b])
                if len(graphone[0]) < a or len(graphone[1]) < b or graphone not in cost:
                    continue
                score = here[0] + log(cost[graphone])
                old = best.get((i + a, j + b))
                if old is None or score > old[0]:
                    best[i + a, j + b] = (score, [*here[1], graphone])
    return best.get((len(letters), len(phonemes)), (0.0, []))[1]


def ngrams(paths: Iterable[Sequence[Graphone]], symbols: dict[Graphone, str]) -> dict[str, int]:
    """Return n-grams with their counts: those of the lower orders are of distinct predecessors."""
    texts = [BEGIN + "".join(symbols[each] for each in path) + END for path in paths]
    longest: Counter[str] = Counter()
    for text in texts:
        for end in range(1, len(text)):
            longest[text[max(0, end + 1 - ORDER) : end + 1]] += 1
    counts: Counter[str] = Counter(longest)
    level = [each for each in longest if len(each) == ORDER]
    for length in range(ORDER - 1, 0, -1):
        shorter = {each[1:] for each in level}
        before = {each for each in longest if len(each) == length}
        for each in level:
            counts[each[1:]] += 1
        level = list(shorter | before)
    return dict(counts)


def measure(
    data: Mapping[str, Sequence[tuple[str, ...]]], lines: Iterable[str]
) -> tuple[float, float]:
    """Return phoneme error rate and share of wrong words, compared with the nearest variant."""
    model = read_model(lines)
    edits = length = wrong = 0
    for word, ways in data.items():
        said = model.pronounce(word) or ()
        errors, way = min((int(align_phonemes(way, said).distance), way) for way in ways)
        edits, length, wrong = edits + errors, length + len(way), wrong + bool(errors)
    return edits / length, wrong / len(data)


def main() -> None:
    """Train, measure, write."""
    words = known_words()
    train = [(word, ways[0]) for word, ways in words.items() if not is_held_out(word)]
    held = {word: ways for word, ways in words.items() if is_held_out(word)}
    print(f"{len(train)} words, {len(held)} held out", flush=True)
    paths = align(train)
    graphones = sorted({each for path in paths for each in path})
    counts = ngrams(paths, symbols_of(graphones))
    lines = list(write_model(graphones, counts))
    data = lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    OUT.write_bytes(data)
    print(f"{len(graphones)} graphones, {len(counts)} n-grams, {len(data)} bytes", flush=True)
    start = time.process_time()
    per, wer = measure(held, lines)
    each = (time.process_time() - start) / len(held)
    print(f"held out: PER {per:.1%}, words wrong {wer:.1%}, {1000 * each:.1f} ms a word")


if __name__ == "__main__":
    main()
