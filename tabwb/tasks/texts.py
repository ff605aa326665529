"""The task types whose answers are text.

``choice``: one of the item's options is chosen. ``yes-no``: a question is answered with Yes or No.
``verbatim``: a text is repeated, character for character. ``connected-text``: a few sentences,
without a right answer. ``description``: a picture or a question is described, aloud or typed; a
person types it, or it is what a transcriber of words wrote of a recording, which a person can
correct. ``free``: any answer, which scorers of the battery's author rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tabwb.battery.task_type import TaskType, picture_problems
from tabwb.plugin_api import RegisterTask, hookimpl
from tabwb.records.languages import is_english
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind
from tabwb.records.words import near
from tabwb.scoring.repetition import ERROR_TYPES
from tabwb.scoring.text import fold_case, normalised, straight
from tabwb.scoring.yes_no import NO, YES

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy


def _choice_problems(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    language = subtest.get("battery", {}).get("language", "en")
    for index, item in enumerate(subtest["item"]):
        yield from _options((*path, "item", index), item, language)


def _options(path: KeyPath, item: Mapping[str, Any], language: str) -> Iterator[Broken]:
    options = item.get("options", [])
    if len(options) < 2:
        yield Broken(
            (*path, "options") if options else path,
            "a choice needs options",
            str(len(options)),
            "two or more",
        )
        return
    folded = Counter(normalised(option, language) for option in options)
    for index, option in enumerate(options):
        where = (*path, "options", index)
        if folded[normalised(option, language)] > 1:
            yield Broken(
                where,
                "this option is given twice",
                shortened(option),
                "options that differ in more than case, quotes, a final stop and Unicode form",
            )
        if option != option.strip():
            yield Broken(where, "leading or trailing white space in an option", shortened(option))
    expected = item.get("expected")
    if expected is not None and expected not in options:
        yield Broken(
            (*path, "expected"),
            f"the expected answer is not one of the options{_other_form(expected, options)}",
            shortened(expected),
            ", ".join(options),
            near(expected, options),
        )
    wrong = [option for option in options if option != expected]
    for foil in item.get("foils", {}):
        if foil not in wrong:
            yield Broken(
                (*path, "foils", foil),
                f"the foil is not one of the wrong options{_other_form(foil, wrong)}",
                shortened(foil),
                ", ".join(wrong),
                near(foil, wrong),
            )


def _other_form(text: str, options: Sequence[str]) -> str:
    """Return what is said where only the Unicode form of a text differs (ö, o with two dots)."""
    same = straight(text) in map(straight, options)
    return " (it is one in another Unicode form; copy the option)" if same else ""


CHOICE = TaskType(
    kind=ResponseKind.CHOICE,
    asks_for="one of the options",
    instructions="Answer with exactly one of the listed words and nothing else.",
    scorers=("choice",),
    needs=("prompt", "expected"),
    takes=("options", "foils"),
    check=_choice_problems,
    options=True,
    judged="on-demand",
    right_or_wrong=True,
)


def _yes_no_problems(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    head = subtest.get("battery", {})
    language = head.get("language", "en")
    own = [*head.get("yes", ()), *head.get("no", ())]
    if not own and not is_english(language):
        return  # nothing is known of its answers
    folded = {fold_case(word, language) for word in own}
    spelled: dict[str, str] = {}
    for index, item in enumerate(subtest["item"]):
        expected = item.get("expected")
        if expected is None or (not own and expected in (YES, NO)):
            continue
        where, name = (*path, "item", index, "expected"), fold_case(expected, language)
        if name not in folded:
            allowed = own or [YES, NO]
            meant = near(expected.capitalize(), allowed)
            problem = "not an answer to a yes/no question"
            yield Broken(where, problem, shortened(expected), ", ".join(allowed), meant)
        elif (first := spelled.setdefault(name, expected)) != expected:
            problem = "this answer is spelled in two ways"
            yield Broken(where, problem, shortened(expected), first)


YES_NO = TaskType(
    kind=ResponseKind.YES_NO,
    asks_for="Yes or No",
    instructions="Answer with one word, Yes or No, and nothing else.",
    scorers=("yes-no",),
    needs=("prompt", "expected"),
    check=_yes_no_problems,
    answers=(YES, NO),
    judged="on-demand",
    right_or_wrong=True,
)


VERBATIM = TaskType(
    kind=ResponseKind.VERBATIM,
    asks_for="the words exactly as given",
    instructions="Repeat the text exactly as it stands; punctuation and capital letters matter.",
    scorers=("repetition",),
    needs=("prompt", "expected"),
    right_or_wrong=True,
    errors=ERROR_TYPES,
)


CONNECTED_TEXT = TaskType(
    kind=ResponseKind.CONNECTED_TEXT,
    asks_for="a few sentences",
    instructions="Answer in 3 to 5 full sentences.",
    scorers=("lexical",),
    takes=("expected",),
    many_lines=True,
    connected=True,
)


def _description_problems(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    for index, item in enumerate(subtest["item"]):
        where = (*path, "item", index)
        if not item.get("picture") and not item.get("prompt", "").strip():
            yield Broken(where, "there is nothing to describe", "", "prompt or picture")
        yield from picture_problems(where, item)


def _description_strategy(session: Session) -> SpokenStrategy:
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy  # loads the phonology

    return SpokenStrategy(session)


DESCRIPTION = TaskType(
    kind=ResponseKind.DESCRIPTION,
    asks_for="a description in a few sentences",
    instructions="Describe it in 3 to 5 full sentences.",
    scorers=("lexical",),
    needs=(),
    takes=("prompt", "picture", "expected"),
    check=_description_problems,
    spoken=True,
    many_lines=True,
    rated_as=ResponseKind.CONNECTED_TEXT,
    connected=True,
    strategy=_description_strategy,
)


FREE = TaskType(
    kind=ResponseKind.FREE,
    instructions="Answer the question.",
    takes=("expected",),
    many_lines=True,
)


@hookimpl
def tabwb_register_tasks(register: RegisterTask) -> None:
    """Register the task types of this module."""
    for task in (CHOICE, YES_NO, VERBATIM, CONNECTED_TEXT, DESCRIPTION, FREE):
        register(task)
