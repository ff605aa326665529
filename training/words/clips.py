"""Copy the test clips of tabwb: ``python -m training.words.clips SPEECH_FOLDER OUT_FOLDER``.

They are from speakers who are held out of the training of the bundled model.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections import defaultdict
from pathlib import Path

from training.words.recordings import Recording, of_split, read_recordings, silence_files

# Of each word of the naming demonstration, and of "three", every kept-out clip up to the first
# number; of every other word up to the second.
NAMING_WORDS = ("bed", "bird", "cat", "dog", "house", "tree", "three")
_OF_NAMING = 5
_OF_OTHERS = 1


def choose(recordings: list[Recording]) -> list[Recording]:
    """Choose the clips to copy, each of another speaker within a word."""
    by_word: defaultdict[str, dict[str, Recording]] = defaultdict(dict)
    for recording in sorted(of_split(recordings, "test"), key=lambda r: r.path.name):
        by_word[recording.word].setdefault(recording.speaker, recording)
    return [
        recording
        for word, clips in sorted(by_word.items())
        for recording in list(clips.values())[: _OF_NAMING if word in NAMING_WORDS else _OF_OTHERS]
    ]


def copy_clips(speech: Path, out: Path) -> int:
    """Copy the chosen clips, two of silence, a manifest and the licence; return how many."""
    out.mkdir(parents=True, exist_ok=True)
    rows = [(r.path, r.path.name, r.word, r.speaker) for r in choose(read_recordings(speech))]
    rows += [(path, f"silence_{path.name}", "", "") for path in silence_files(speech)[1]]
    for source, name, _, _ in rows:
        shutil.copyfile(source, out / name)
    with (out / "manifest.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("file", "word", "speaker"))
        writer.writerows(row[1:] for row in rows)
    shutil.copyfile(speech / "LICENSE-CC-BY-4.0.txt", out / "LICENSE-CC-BY-4.0.txt")
    return len(rows)


def main() -> None:
    """Copy the clips."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("speech", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    print(f"{copy_clips(arguments.speech, arguments.out)} clips")


if __name__ == "__main__":
    main()
