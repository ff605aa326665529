"""The sign, state, name and conditions of an administration, the same in all widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.records.conditions import Conditions, line_of
from tabwb.records.speakers import SCOPES
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration
from tabwb.workbench.shell.wording import ATTENTION, LESIONED, WITHDRAWN

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant

STATUS_GLYPHS = {
    AdministrationStatus.RUNNING: "▸",
    AdministrationStatus.PAUSED: "‖",
    AdministrationStatus.DONE: "✓",
    AdministrationStatus.DISCONTINUED: "■",
}


def glyph_of(administration: Administration) -> str:
    """Return the sign of an administration's status."""
    return ATTENTION if administration.interrupted else STATUS_GLYPHS[administration.status]


def state_word(administration: Administration) -> str:
    """Return the state of an administration for people; documents have *done* for *complete*."""
    done = administration.status is AdministrationStatus.DONE
    return "complete" if done else administration.status_word


def status_words(administration: Administration) -> str:
    """Return glyph, state and progress of an administration."""
    words = f"{glyph_of(administration)} {state_word(administration)}"
    if administration.status is AdministrationStatus.DONE:
        return words
    return f"{words} {administration.answered}/{administration.planned}"


def name_of(administration: Administration) -> str:
    """Return the name of an administration, such as ``tab · bundled``."""
    lesion = f" + {administration.conditions.lesion}" if administration.conditions.lesion else ""
    return f"{administration.battery} · {administration.conditions.examinee}{lesion}"


def lesion_mark(administration: Administration | None) -> str:
    """Return the mark of an administration to a lesioned model in the title bar, or nothing."""
    lesion = administration.conditions.lesion if administration is not None else None
    return f"{LESIONED} lesion {lesion}" if lesion else ""


def conditions_words(administration: Administration) -> list[str]:
    """Return the conditions in words, the ones that are seldom set only where they are set.

    The lesion is shown with the name (:func:`name_of`).
    """
    return _condition_words(administration.conditions)


def _condition_words(given: Conditions) -> list[str]:
    return [words for name, words in line_of(given).items() if name != "lesion"]


def special_conditions(given: Conditions) -> list[str]:
    """Return the conditions that are not at their defaults in words, the seed last."""
    usual = _condition_words(Conditions(given.examinee, given.kind))
    words = [word for word in _condition_words(given) if word not in usual]
    words.sort(key=lambda word: word.startswith("seed "))  # the least telling last
    return words


def special_words(administration: Administration) -> list[str]:
    """Return title, tags and conditions that are not at their defaults: what tells runs apart."""
    titles = [administration.title] if administration.title else []
    return [*titles, *administration.tags, *special_conditions(administration.conditions)]


def head_words(administration: Administration) -> list[str]:
    """Return the conditions for one line, those that are not at their defaults first."""
    special = special_words(administration)
    usual = [word for word in conditions_words(administration) if word not in special]
    return [*special, *(word for word in usual if not word.startswith("protocol "))]


def consent_words(participant: Participant) -> str:
    """Return the number of consents in force, of all scopes, and the scopes withdrawn."""
    withdrawn = [scope for scope, one in participant.last.items() if not one.given]
    more = f", {WITHDRAWN} {', '.join(withdrawn)}" if withdrawn else ""
    return f"{len(participant.may)}/{len(SCOPES)}{more}"
