"""The made corpus of the plugin, with the clips of ``tests/data/speech`` (CC BY 4.0).

python -m tests.made_psst FOLDER --speakers 107 --utterances 3291 --seed 1
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tabwb_psst.made import COLUMNS, PROMPTS, TESTS, TWICE, WORDS, made_psst, write_table

__all__ = ["COLUMNS", "PROMPTS", "TESTS", "TWICE", "WORDS", "made_psst", "write_table"]

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make a corpus in the layout of PSST.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--speakers", type=int, default=107)
    parser.add_argument("--utterances", type=int, default=3291)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    made_psst(given.folder, speakers=given.speakers, utterances=given.utterances, seed=given.seed)
