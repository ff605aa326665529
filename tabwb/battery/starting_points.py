"""Templates of a new battery: texts for each kind of response, and an example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabwb.battery.task_type import task_type
from tabwb.records.states import ResponseKind


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
