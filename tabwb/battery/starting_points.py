"""What a new battery begins with: texts for each kind of response, and a worked example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_INSTRUCTIONS = {
    "choice": "Answer with exactly one of the listed words and nothing else.",
    "yes-no": "Answer with one word, Yes or No, and nothing else.",
    "verbatim": "Repeat the text exactly as it stands; punctuation and capital letters matter.",
    "connected-text": "Answer in 3 to 5 full sentences.",
    "free": "Answer the question.",
}
_SCORERS = {
    "choice": ["choice"],
    "yes-no": ["yes-no"],
    "verbatim": ["repetition"],
    "connected-text": ["lexical"],
}


def battery_table(battery_id: str) -> dict[str, Any]:
    """The table ``[battery]`` of a new battery."""
    return {
        "id": battery_id,
        "title": title_of(battery_id),
        "version": "1",
        "language": "en",
        "license": "CC-BY-4.0",
        "examinees": ["model", "speaker"],
    }


def subtest_table(subtest: str, response: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A ``[[subtest]]`` with instructions, template and scorers that fit its kind of response."""
    options = " ({options})" if response == "choice" else ""
    return {
        "id": subtest,
        "title": title_of(subtest),
        "response": response,
        "instructions": {"text": _INSTRUCTIONS.get(response, "Answer."), "source": "ours"},
        "template": f"{{instructions}}\n{{prompt}}{options}",
        "scorers": _SCORERS.get(response, []),
        "item": list(items),
    }


def title_of(identifier: str) -> str:
    """A title for people to begin with.

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
citation = ""            # how to cite it; doi, url, notes and disclaimer may stand here too
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
"""  # noqa: E501 - a line of TOML cannot be broken
"""A battery with one subtest of each kind, to be filled in with :meth:`str.format`."""
