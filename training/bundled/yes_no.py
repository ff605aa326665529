"""Yes/no items: roles in passive sentences, tools, time, order, size and plain facts."""

from __future__ import annotations

import random
from collections.abc import Callable

from training.bundled.knowledge import PROPERTIES, is_plural, noun_phrase
from training.bundled.tables import Table
from training.bundled.turns import Turn
from training.bundled.words import NAMES, Split, capitalise, gerund, in_split

INSTRUCTION = "Answer with one word, Yes or No, and nothing else."
_OTHER_INSTRUCTIONS = (
    "Answer Yes or No.",
    "Answer with Yes or No and nothing else.",
    "Reply with one word, Yes or No.",
    "Say only Yes or No.",
)

_TABLE = Table("yes_no")
ROLES = _TABLE.rows("roles")
TASKS = _TABLE.rows("tasks")
_EVENTS = _TABLE.rows("events")
_ORDER = _TABLE.rows("order")
_PLACES = _TABLE.lines("places")
_ACTORS = _TABLE.lines("actors")
_ACTIONS = _TABLE.rows("actions")
_COMPARISONS = _TABLE.rows("comparisons")
_OPPOSITES = _TABLE.rows("opposites")
_SIZES = (_TABLE.lines("animals by size"), _TABLE.lines("objects by size"))
_CALENDARS = _TABLE.rows("calendars")
_UNLIKELY_AGENTS = ("loaves", "meals", "goods", "walls", "pipes", "fires", "parcels", "suits")

Answered = tuple[str, bool]


def _person(rng: random.Random) -> tuple[str, str, str, str]:
    """Give subject, "is", "has" and "was" for the person of a temporal question."""
    name = rng.choice(NAMES)
    return rng.choice(
        (
            ("you", "are", "have", "were"),
            ("you", "are", "have", "were"),
            ("I", "am", "have", "was"),
            ("we", "are", "have", "were"),
            ("they", "are", "have", "were"),
            ("she", "is", "has", "was"),
            ("he", "is", "has", "was"),
            (name, "is", "has", "was"),
            ("the guest", "is", "has", "was"),
            ("the children", "are", "have", "were"),
        )
    )


def _is_about_to(who: str, be: str, rng: random.Random) -> str:
    short = {"you": "you're", "I": "I'm", "we": "we're", "they": "they're"}
    short |= {"she": "she's", "he": "he's"}
    return short[who] if who in short and rng.random() < 0.6 else f"{who} {be}"


def _roles(rng: random.Random) -> Answered:
    """Passive and active sentences with the roles kept, swapped or mixed up."""
    agents, participle, verb, patients = rng.choice(ROLES)
    truth = rng.random() < 0.5
    if truth:
        first, second = patients, agents
    elif rng.random() < 0.65:
        first, second = agents, patients
    else:
        first, second = patients, rng.choice([a for a in _UNLIKELY_AGENTS if a != patients])
    form = rng.random()
    if form < 0.84:
        adverb = rng.choice(("", "", "", "", "usually ", "often "))
        return f"Are {first} {adverb}{participle} by {second}?", truth
    if form < 0.92:
        return f"Do {second} {verb} {first}?", truth
    if form < 0.95:
        return f"Is it {second} who {verb} {first}?", truth
    return f"Can {first} be {participle} by {second}?", truth


def _tools(rng: random.Random) -> Answered:
    """Whether a job is done with a tool."""
    task, right, wrong = rng.choice(TASKS)
    truth = rng.random() < 0.5
    if truth:
        tool = rng.choice(right.split(", "))
    elif rng.random() < 0.75:
        tool = rng.choice(wrong.split(", "))
    else:
        other = rng.choice([t for t in TASKS if t[0].split()[0] != task.split()[0]])
        tool = rng.choice(other[1].split(", "))
        if tool in right:
            truth = True
    form = rng.random()
    if form < 0.7:
        return f"Do you {task} with {tool}?", truth
    if form < 0.82:
        return f"Do people {task} with {tool}?", truth
    if form < 0.93:
        return f"Would you use {tool} to {task}?", truth
    return f"Is {tool} the right thing to {task}?", truth


def _completion(rng: random.Random) -> Answered:
    """Whether something has happened yet."""
    who, be, have, was = _person(rng)
    verb, done = rng.choice(_EVENTS)
    is_ = _is_about_to(who, be, rng)
    who_again = who
    asked = f"{have} {who_again} {done}"
    before = rng.choice(
        (
            f"{is_} about to {verb}",
            f"{is_} about to {verb}",
            f"{is_} going to {verb} tomorrow",
            f"{is_} just going to {verb}",
            f"{who} {have} not {done} yet",
            f"{is_} planning to {verb} later",
            f"{is_} still waiting to {verb}",
        )
    )
    after = rng.choice(
        (
            f"{who} {have} just {done}",
            f"{who} {have} already {done}",
            f"{who} {have} {done} before",
            f"{who} {was} the first who {have.replace('have', 'had').replace('has', 'had')} {done}",
            f"{is_} glad to have {done}",
        )
    )
    form = rng.random()
    if form < 0.9:
        truth = rng.random() < 0.5
        yet = rng.choice((" yet", " yet", " already", ""))
        return f"If {after if truth else before}, {asked}{yet}?", truth
    if form < 0.96:
        truth, future = rng.random() < 0.5, rng.random() < 0.5
        time = "future" if future else "past"
        return f"If {before if truth == future else after}, is that in the {time}?", truth
    truth = rng.random() < 0.5
    negated = rng.random() < 0.5
    text = f"If {before if truth == negated else after}, "
    text += f"is it {'wrong' if negated else 'right'} that {who} {have} {done}?"
    return text, truth


def _arrival(rng: random.Random) -> Answered:
    """Who was first at a place."""
    people = ["I", "you", *rng.sample(NAMES, 2), "we", "they", "my friend", "he", "she"]
    first, second = rng.sample(people, 2)
    if rng.random() < 0.5:
        first, second = rng.choice((("I", "you"), ("you", "I")))
    was = "were" if first in ("you", "we", "they") else "was"
    place = rng.choice(_PLACES)
    came = rng.choice(("arrived", "arrived", "came", "got there", "turned up"))
    earlier = rng.choice(
        (
            f"If {first} {was} {place} when {second} {came}",
            f"If {first} {was} {place} when {second} {came}",
            f"If {first} {was} already {place} when {second} {came}",
            f"If {first} {was} {place} before {second}",
            f"When {second} {came}, {first} {was} {place}. So",
        )
    )
    truth = rng.random() < 0.5
    subject, other = (first, second) if truth else (second, first)
    them = {"I": "me", "we": "us", "they": "them", "he": "him", "she": "her"}
    question = rng.choice(
        (
            f"did {subject} get there first",
            f"did {subject} get there first",
            f"did {subject} get there earlier",
            f"did {subject} arrive before {them.get(other, other)}",
        )
    )
    return f"{earlier}, {question}?", truth


def _sequence(rng: random.Random) -> Answered:
    """Which of two ordered things comes first."""
    truth = rng.random() < 0.5
    if rng.random() < 0.5:
        first, second = rng.choice(_ORDER)
        early = (first, second) if truth else (second, first)
        a, b = early
        return rng.choice(
            (
                f"Do you {a} before you {b}?",
                f"Do you {b} after you {a}?",
                f"Is it usual to {a} before {gerund(b)}?",
                f"If you {b}, do you {a} first?",
            )
        ), truth
    calendar = rng.choice(_CALENDARS)
    i, j = sorted(rng.sample(range(len(calendar)), 2))
    a, b = (calendar[i], calendar[j]) if truth else (calendar[j], calendar[i])
    if len(calendar) == 10:
        return rng.choice((f"Is {b} more than {a}?", f"Is {a} less than {b}?")), truth
    unit = {7: "week", 12: "year", 4: "year", 3: "day"}[len(calendar)]
    if unit == "year" and len(calendar) == 4:
        a, b = ("spring", "winter") if truth else ("winter", "spring")
        if rng.random() < 0.5:
            a, b = ("summer", "autumn") if truth else ("autumn", "summer")
    start = {7: "that begins on Monday", 12: "", 4: "that begins in spring", 3: ""}[len(calendar)]
    return rng.choice(
        (
            f"Does {a} come before {b} in a {unit} {start}?",
            f"Is {a} earlier than {b} in a {unit} {start}?",
            f"Does {b} come after {a} in a {unit} {start}?",
        )
    ).replace(" ?", "?"), truth


def _size(rng: random.Random) -> Answered:
    """Which of two things is bigger."""
    scale = rng.choice(_SIZES)
    i, j = sorted(rng.sample(range(len(scale)), 2))
    truth = rng.random() < 0.5
    small, big = (scale[i], scale[j]) if truth else (scale[j], scale[i])
    return rng.choice(
        (
            f"Is {small} smaller than {big}?",
            f"Is {big} bigger than {small}?",
            f"Is {big} larger than {small}?",
            f"Can {small} be smaller than {big}?",
        )
    ), truth


def _comparison(rng: random.Random) -> Answered:
    """Two people compared, in both directions."""
    one, two = rng.sample(NAMES, 2)
    more, less = rng.choice(_COMPARISONS)
    if rng.random() < 0.5:
        more, less = less, more
    truth = rng.random() < 0.5
    asked = rng.choice(
        (f"{two} {less} than {one}", f"{one} {more} than {two}")
        if truth
        else (f"{one} {less} than {two}", f"{two} {more} than {one}")
    )
    return f"If {one} is {more} than {two}, is {asked}?", truth


def _opposite(rng: random.Random) -> Answered:
    """Negation with two words that exclude each other."""
    one, two = rng.choice(_OPPOSITES)
    if rng.random() < 0.5:
        one, two = two, one
    what = rng.choice(("it", "he", "she", "this", "that", rng.choice(NAMES)))
    negated = rng.random() < 0.6
    truth = rng.random() < 0.5
    asked = (two if truth else one) if negated else (one if truth else two)
    be = rng.choice(("isn't", "is not")) if negated else "is"
    return f"If {what} {be} {one}, is {what} {asked}?", truth


def _reversal(rng: random.Random) -> Answered:
    """An active sentence and its passive, with or without the roles swapped."""
    agent, patient = rng.sample(_ACTORS, 2)
    present, participle = rng.choice(_ACTIONS)
    truth = rng.random() < 0.5
    a, p = (agent, patient) if truth else (patient, agent)
    if rng.random() < 0.5:
        return f"If {agent} {present} {patient}, is {p} {participle} by {a}?", truth
    return f"If {patient} is {participle} by {agent}, is it {a} who {present} {p}?", truth


def _property(rng: random.Random) -> Answered:
    """A plain fact about a thing."""
    prop = rng.choice(PROPERTIES)
    kind, words = rng.choice(prop.phrases)
    truth = rng.random() < 0.5
    pool = prop.yes
    if not truth:
        other = rng.choice(PROPERTIES)
        pool = tuple(t for t in other.yes if t in set(prop.no)) or prop.no
    thing = rng.choice(pool)
    phrase, plural = noun_phrase(thing), is_plural(thing)
    if kind in ("is", "pp"):
        adverb = rng.choice(("", "", "usually ", "often ")) if kind == "pp" else ""
        return f"{'Are' if plural else 'Is'} {phrase} {adverb}{words}?", truth
    if kind == "do":
        return f"{'Do' if plural else 'Does'} {phrase} {words}?", truth
    return f"{capitalise(kind)} {phrase} {words}?", truth


# name: generator, share
FAMILIES: dict[str, tuple[Callable[[random.Random], Answered], float]] = {
    "passive roles": (_roles, 0.25),
    "tools": (_tools, 0.18),
    "done or about to": (_completion, 0.18),
    "who arrived first": (_arrival, 0.17),
    "properties": (_property, 0.09),
    "order": (_sequence, 0.03),
    "size": (_size, 0.03),
    "opposites": (_opposite, 0.03),
    "comparisons": (_comparison, 0.02),
    "passive of a given sentence": (_reversal, 0.02),
}


# What a row of questions practises: mostly what is learned last.
PRACTICE = {
    "passive roles": 0.08,
    "tools": 0.27,
    "done or about to": 0.05,
    "who arrived first": 0.05,
    "properties": 0.25,
    "order": 0.08,
    "size": 0.05,
    "opposites": 0.08,
    "comparisons": 0.05,
    "passive of a given sentence": 0.04,
}


def _user_text(question: str, rng: random.Random) -> str:
    if rng.random() < 0.25:
        question = question.replace("'", "’")
    if rng.random() < 0.78:
        return f"{INSTRUCTION}\n{question}"
    instruction = rng.choice((INSTRUCTION, *_OTHER_INSTRUCTIONS, "", ""))
    return f"{instruction}\n{question}".lstrip("\n")


def generate(rng: random.Random, split: Split = "train", family: str | None = None) -> Turn:
    """Draw one yes/no question, of one family if named; both answers are equally frequent."""
    names = [family] if family else list(FAMILIES)
    shares = [FAMILIES[name][1] for name in names]
    while True:
        question, truth = FAMILIES[rng.choices(names, shares)[0]][0](rng)
        if in_split(question, split, one_in=12):
            return Turn("yes_no", _user_text(question, rng), "Yes" if truth else "No", question)
