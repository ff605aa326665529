"""Every scorer on texts of a megabyte that a looping or lesioned model may write.

``python -m benchmarks scorers``: processor time of each reading (the least of :data:`TIMES`), the
slowest shape first, and what is over :data:`LIMIT_S`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from time import process_time

from tabwb_builtin.raters import SCORERS

from tabwb.battery.model import Item, Subtest
from tabwb.plugin_api.components import Response, Scorer
from tabwb.records.errors import UsageError
from tabwb.records.reasoning import split_reasoning
from tabwb.records.specs import Spec
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.passage import TextContext

SIZE = 1_000_000
LETTERS = 80_000
"""Of the one word of a text."""
LIMIT_S = 0.2
TIMES = 3
TARGET = "The lion drank the water."
ASKED = "Which one is an animal? (lion, drum, violin)"


def shapes(size: int = SIZE) -> Mapping[str, str]:
    """Return texts by name."""
    random = Random(1)
    letters, common = "abcdefghijklmnopqrstuvwxyz", "the a dog lion house we went to see it yes no"
    long = " ".join(random.choice(letters) * 3 + str(random.random()) for _ in range(300))
    names = [first + second for first in letters for second in letters]
    loop = " ".join(names[:70])
    changed = " ".join(f"{loop} {random.choice(names)}" for _ in range(size // len(loop) + 1))

    def filled(unit: str) -> str:
        return (unit * (size // len(unit) + 1))[:size]

    def drawn(signs: str | list[str], n: int, between: str = "") -> str:
        return between.join(random.choice(signs) for _ in range(n))[:size]

    units = {
        **{"one word": "the ", "content word": "dog ", "alternating": "yes no ", "digits": "1"},
        **{"sentences": "I went. ", "nonwords": "blorf gnip ", "long phrase": f"{long} "},
        **{"punctuation": ".,!?-", "apostrophes": "'", "quotes": '"Yes" ', "lines": "a\n"},
        **{"commas": "lion, ", "dots": "a.", "hyphens": "b-b-b-boat ", "not spaced": "日本語 "},
        **{"apologies": "I'm sorry, ", "negations": "I can't ", "emoji": "😀", "spaces": " "},
        **{
            "families": "👨‍👩‍👧 ",
            "tags": "<think>a</think>",
            "openings": "<think>",
            "asides": "not a ",
        },
        **{
            "ends": "a</think>\n",
            "ticks": "`a` <",
            "backslashes": "\\boxed{",
            "devanagari": "हिन्दी ",
        },
        **{
            "capitals": "STRASSE ",
            "sharp s": "ß",
            "thai": "ไทย",
            "hangul": "한국어 ",
            "sounds": "heard: ",
        },
    }
    return {
        **{name: filled(unit) for name, unit in units.items()},
        "one long word": "a" * min(LETTERS, size),
        "one drawn word": drawn(letters, min(LETTERS, size)),
        "drawn words": drawn(common.split(), size // 2, " "),
        "drawn letters": drawn(letters + " ", size),
        "no spaces": drawn(letters, size),
        "marks": "e" + "\u0301" * (size - 1),
        "Thue-Morse": " ".join("ab"[at.bit_count() % 2] for at in range(size // 2)),
        "one changed word in each loop": changed[:size],
    }


def _status(kind: ResponseKind) -> Callable[[str], object]:
    return lambda text: response_status(text, StopReason.END, ASKED, kind=kind, language="en")


def _scored(scorer: str, kind: ResponseKind, item: Item) -> Callable[[str], object]:
    """Return what rates a text as in an administration."""
    made: Scorer = next(each for each in SCORERS if each.id == scorer).factory(Spec(scorer), None)
    subtest = Subtest("s", "S", kind, (item,))

    def score(text: str) -> object:
        known = (item.prompt, item.prompt, kind, item.options, item.expected)
        return made.score(subtest, item, Response(text, ResponseStatus.OK, *known))

    return score


def _judge(kind: ResponseKind) -> Callable[[str], object]:
    expected = TARGET if kind is ResponseKind.VERBATIM else None
    return lambda text: judge(TextContext(text, kind, prompt=ASKED, expected=expected))


def _named(text: str) -> object:
    target = NamingTarget(target="lion", accept=(Accepted(("L", "AY", "AH", "N"), "citation"),))
    try:
        return propose_response(target, heard=parse_heard(text))
    except UsageError as error:
        return error


READERS: Mapping[str, Callable[[str], object]] = {
    "status, connected text": _status(ResponseKind.CONNECTED_TEXT),
    "status, choice": _status(ResponseKind.CHOICE),
    "choice": _scored(
        "choice", ResponseKind.CHOICE, Item("c", ASKED, ("lion", "drum", "violin"), "lion")
    ),
    "yes-no": _scored("yes-no", ResponseKind.YES_NO, Item("y", ASKED, (), "Yes")),
    "repetition": _scored(
        "repetition",
        ResponseKind.VERBATIM,
        Item("r", f"Please repeat exactly: {TARGET}", (), TARGET),
    ),
    "repetition of a word": _scored(
        "repetition",
        ResponseKind.VERBATIM,
        Item("r", "Please repeat exactly: house.", (), "house."),
    ),
    "lexical": _scored("lexical", ResponseKind.CONNECTED_TEXT, Item("t", "Tell me about a trip.")),
    "rules, connected text": _judge(ResponseKind.CONNECTED_TEXT),
    "rules, repetition": _judge(ResponseKind.VERBATIM),
    "naming by words": _named,
    "reasoning": split_reasoning,
}


def _spent(read: Callable[[str], object], text: str) -> float:
    began = process_time()
    read(text)
    return process_time() - began


def main() -> None:
    """Print a table."""
    texts = shapes()
    for reader, read in READERS.items():
        read("We went to the lake. " * 100)  # loads word lists
        spent = [
            (min(_spent(read, text) for _ in range(TIMES)), name) for name, text in texts.items()
        ]
        over = sum(seconds > LIMIT_S for seconds, _ in spent)
        slowest = ", ".join(f"{shape} {seconds:.2f} s" for seconds, shape in sorted(spent)[:-4:-1])
        median = sorted(spent)[len(spent) // 2][0]
        print(f"{reader:24} median {median:.2f} s; over {LIMIT_S} s: {over}; {slowest}")


if __name__ == "__main__":
    main()
