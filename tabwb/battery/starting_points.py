"""Templates of a new battery: texts for each kind of response, and an example."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from math import hypot
from typing import Any

from tabwb.records.states import ResponseKind
from tabwb.tasks.task_type import task_type


def battery_table(battery_id: str) -> dict[str, Any]:
    """Return the table ``[battery]`` of a new battery."""
    return {
        "id": battery_id,
        "title": title_of(battery_id),
        "version": "1",
        "language": "en",
        "license": "CC-BY-4.0",
        "examinees": ["model", "speaker"],
    }


def subtest_table(subtest: str, response: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a ``[[subtest]]`` table with the usual instructions, template and scorers."""
    known = response in set(ResponseKind)  # what is misspelt is reported with its line later
    task = task_type(ResponseKind(response) if known else ResponseKind.FREE)
    return {
        "id": subtest,
        "title": title_of(subtest),
        "response": response,
        "instructions": {"text": task.instructions, "source": "ours"},
        "template": "{instructions}\n{prompt}" + (" ({options})" if task.options else ""),
        "scorers": list(task.scorers),
        "item": list(items),
    }


def title_of(identifier: str) -> str:
    """Return a title for people to begin with.

    >>> title_of("word-comprehension")
    'Word comprehension'
    """
    return identifier.replace("-", " ").capitalize()


EXAMPLE = """\
# A battery is data: nothing in it runs, and the files that it names lie inside this folder.
# Every key is explained in docs/batteries.md; your editor can use `tabwb battery schema`.

[battery]
id = "{id}"
title = "{title}"
version = "1"            # change it whenever anything below changes
language = "en"
license = "CC-BY-4.0"
citation = ""            # how to cite it; doi, url, notes and disclaimer are allowed here too
examinees = ["model", "speaker"]   # a kind that is left out needs a research protocol
# system = {{ text = "...", source = "ours" }}   # a system message for models


# ---- choice: one of the options -------------------------------------------------------------
[[subtest]]
id = "words"
title = "Words"
response = "choice"
# Words to the examiner are shown and never sent:
administrator = {{ text = "Show the options with each question.", source = "ours" }}
# Instructions are sent. The source is "ours", or the section of the paper the text is from:
instructions = {{ text = "Answer with exactly one of the listed words and nothing else.", source = "ours" }}
template = "{{instructions}}\\n{{prompt}} ({{options}})"
scorers = ["choice"]
max_tokens = 64

[[subtest.item]]
id = "example"
prompt = "Which one is a colour?"
options = ["green", "window"]
expected = "green"
practice = true          # given first, never counted

[[subtest.item]]
id = "w1"
prompt = "Which one can fly?"
options = ["bird", "bard", "table", "plane"]
expected = "bird"
foils = {{ bard = "phonological", plane = "semantic" }}   # what choosing it would mean
tags = ["animal"]        # results are shown by tag too


# ---- yes-no: exactly Yes or No ----------------------------------------------------------------
[[subtest]]
id = "sentences"
title = "Sentences"
response = "yes-no"
instructions = {{ text = "Answer with one word, Yes or No, and nothing else.", source = "ours" }}
scorers = ["yes-no"]

[[subtest.item]]
id = "s1"
prompt = "Is a letter written by a writer?"
expected = "Yes"
tags = ["passive"]


# ---- verbatim: the expected text again, character for character ------------------------------
[[subtest]]
id = "saying"
title = "Saying again"
response = "verbatim"
instructions = {{ text = "Repeat the text exactly as it stands; punctuation and capital letters matter.", source = "ours" }}
scorers = ["repetition"]

[[subtest.item]]
id = "r1"
prompt = "Please say: moon."
expected = "moon."


# ---- connected-text: a few sentences, no right answer ----------------------------------------
[[subtest]]
id = "telling"
title = "Telling"
response = "connected-text"
instructions = {{ text = "Answer in 3 to 5 full sentences.", source = "ours" }}
scorers = ["lexical"]

[[subtest.item]]
id = "t1"
prompt = "Tell me about your morning."


# ---- description: a few sentences, typed or spoken; an item may have a picture for speakers ---
[[subtest]]
id = "describing"
title = "Describing"
response = "description"
instructions = {{ text = "Describe it in 3 to 5 full sentences.", source = "ours" }}
scorers = ["lexical"]

[[subtest.item]]
id = "d1"
prompt = "Describe the room that you are in."
# picture = "room.png"   # then: examinees = ["speaker"]
"""  # noqa: E501 - a line of TOML cannot be broken
"""A battery with one subtest of each kind in text, to be filled in with :meth:`str.format`."""

NAMING_EXAMPLE = """\
# A battery of pictures to be named aloud. It is data: nothing in it runs, and the pictures (PNG or
# JPEG) lie in this folder. Every key is explained in docs/batteries.md, every rule in
# docs/naming-rules.md; your editor can use `tabwb battery schema`.

[battery]
id = "{id}"
title = "{title}"
version = "1"            # change it whenever anything below, or a picture, changes
language = "en"
license = "CC-BY-4.0"
citation = ""            # how to cite it; doi, url, notes and disclaimer are allowed here too
examinees = ["speaker"]


[[subtest]]
id = "nouns"
title = "Nouns"
response = "naming"
# Words to who administers, and words said to the speaker:
administrator = {{ text = "Show one picture at a time.", source = "ours" }}
instructions = {{ text = "Tell me the name of each picture with one word.", source = "ours" }}

# Rules that change scores. Those that are left out are as `tabwb battery show` says.
rule = "correct-first"   # or "correct-any": an accepted form anywhere in the response
time_limit = 20          # seconds from the picture to speech
late_counts = false      # whether a right answer after the limit counts as right
# tolerance = {{ slips = 1, reason = "slips of articulation" }}   # or {{ share = 0.5 }}
# number = "scored"      # "balls" is not right for *ball*; left out: it is
# discontinue = {{ after = 8, counts_cued = false }}
# start_item = "ball"    # begin here; with basal, go back until so many in a row are right
# basal = 8
feedback = "neutral"     # or "none", "right-or-wrong"
response_rule = "first-response"   # or "whole-window"
reveal = "after-score"   # or "live": show at once what the machine heard
# Where a rule is from; one that is not named here is yours ("ours"):
# rule_sources = {{ time_limit = "BNT manual" }}
# Helps for every item, in the order in which they may be given; an item may have its own:
cues = [{{ kind = "semantic", text = "What is it for?", when = "no name came", counts = true }}]

[[subtest.item]]
id = "ball"
picture = "ball.png"
target = "ball"
# `tabwb battery pronounce ball` writes this line; add the dialects of the people you record:
accept = [{{ phonemes = "B AO L", reason = "citation" }}, {{ phonemes = "B AA L", reason = "dialect" }}]
semantic = ["bat", "toy", "balloon"]   # related in meaning
visual = ["circle", "ring", "moon"]    # what the picture may be taken for
# parts = []                           # parts of what is shown
# unrelated = []                       # words that have nothing to do with it
# practice = true                      # given first, never counted
cues = [
  {{ kind = "stimulus", text = "It is a toy.", when = "it was taken for something else", counts = true }},
  {{ kind = "phonemic", text = "It begins with ba.", when = "no name came", counts = false }},
]
"""  # noqa: E501 - a line of TOML cannot be broken
"""A battery with one picture to be named, to be filled in with :meth:`str.format`."""


SIDE = 240
"""Pixels of the example's picture."""


def example_picture() -> bytes:
    """Return a drawn ball as PNG, so that a new battery can be given at once.

    >>> example_picture()[1:4]
    b'PNG'
    """
    middle, radius = (SIDE - 1) / 2, SIDE * 0.42
    rows = bytearray()
    for y in range(SIDE):
        rows.append(0)  # no filter
        for x in range(SIDE):
            out = hypot(x - middle, y - middle) / radius
            stripe = abs(y - middle + (x - middle) / 3) < SIDE / 10
            rows.append(255 if out > 1 else 0 if out > 0.88 else 110 if stripe else 205)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)  # 8 bits of grey
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
