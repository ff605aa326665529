"""Detection of refusals: replies whose content is that the model will not or cannot answer."""

from __future__ import annotations

import re
from functools import lru_cache

from tabwb.scoring.text import straight

_INABILITY = (
    r"(?:can't|cannot|can not|won't|will not|(?:am|'m|are|'re|was|were) (?:\w+ )?"
    r"(?:unable to|not able to|not programmed to|not designed to|not allowed to|not permitted to))"
)
_ACT = (
    r"(?:help(?! (?:but|\w+ing)\b)|assist|answer|respond|reply|provide|comply|fulfil|fulfill|"
    r"complete|share|discuss|engage|participate|generate|create|continue|process|describe|"
    r"have|do (?:that|this|so))\b"
)
_MACHINE = (
    r"(?:\w+ )?(?:ai|language model|artificial intelligence|chatbot|computer program|"
    r"(?:virtual|digital) assistant|text-based (?:model|program))\b"
)
_I = r"(?:i|we)(?: (?:really|simply|just|also|personally|currently|therefore|still))?"
_LACK = (
    r"(?:don't|do not|never|lack|can't|cannot|haven't|have not|have no|have never|am not|'m not)"
)
_OPENING = (
    r"(?:(?:well|but|and|so|yet|while|although|though|since|because|sorry|unfortunately|however|"
    r"i'm afraid|i am afraid|to be honest|as such|therefore)[, ]+)*(?:that )?"
)
DECLINES = (
    rf"{_I} ?{_INABILITY} {_ACT}",
    rf"{_I} (?:can't|cannot|won't)$",
    rf"{_I} (?:would|'d) (?:rather|prefer) not\b|i(?:'d|'ll) (?:rather|prefer) not\b",
    rf"{_I} (?:prefer not to|must decline|have to decline|decline to|refuse)\b",
    rf"{_I} ?(?:am|'m|do not feel|don't feel) (?:not )?comfortable\b(?= (?:with |to )?"
    r"(?:shar|answer|discuss|talk|provid|giv|tell))",
    rf"{_I} (?:don't|do not) want to (?:talk about|discuss|answer|share|say|tell)\b",
    r"no comment$",
    rf"{_I} (?:don't|do not) (?:actually )?(?:have|possess) (?:a |an |any |the )?"
    r"(?:physical|personal|human|real-life|ability|capability|capacity|"
    r"emotions|consciousness|access to|body\b|"
    r"memories|experiences|feelings|opinions|preferences)",
    rf"{_I} (?:have no|lack) (?:a |any )?(?:physical|personal|human)\b",
    rf"(?:i'm|i am|being|as) (?:\w+ ){{0,2}}{_MACHINE}",
    r"(?:i'm|i am) (?:just |only )?not (?:a )?(?:human|person)\b",
)
"""Beginnings of a clause that declines, as regular expressions; English only."""
_MACHINE_DECLINES = rf"(?:as (?:an?|such) [^,]*, )?{_I} ?{_LACK}\b"
"""In a reply that calls itself a machine any of these declines."""
ASIDES = (
    r"(?:i'm|i am|we're|we are)? ?(?:so |very |really |truly )?sorry$|sorry$",
    r"(?:my |our )?(?:sincere )?apologies|i apologi[sz]e|unfortunately$|however$",
    r"(?:hello|hi|hey|sure|certainly|of course|okay|ok|well|thanks|thank you)(?: there)?$",
    r"(?:thank you|thanks) for\b",
    r"(?:that's|that is|what) an? (?:\w+ )?(?:\w+ )?(?:question|prompt|topic|request|idea)$",
    r"(?:great|good|interesting) question$",
    r"(?:if|when) you(?:'d| would|'ll| have| need| want| like)\b",
    r"(?:would|do) you (?:like|want|have|need)\b|is there (?:any|some)",
    r"(?:please |just )?(?:let me know|feel free|ask me|don't hesitate)|please\b",
    r"(?:how|what) (?:else )?(?:can|may|could|would) (?:i|you)\b",
    r"i(?:'d| would) be (?:happy|glad|pleased|delighted)|i(?:'m| am) (?:here|happy|glad) to\b",
    r"i (?:can|could|may be able to) (?:certainly |still |instead |definitely |try to )?"
    r"(?:help|assist|provide|offer|share|tell you|give you|suggest|discuss|explain|generate|write|"
    r"answer|talk)\b",
    r"i (?:was|am|'m) (?:designed|created|trained|programmed|developed|made) (?:to|by|as|for)\b|"
    r"i'm (?:designed|created|trained|programmed|developed|made) (?:to|by|as|for)\b",
    r"(?:trained|designed|created|developed) (?:to|by)\b|i (?:only )?exist\b",
    r"my (?:purpose|function|role|goal|training|responses|knowledge|capabilities)\b",
    r"i (?:hope|understand)\b|(?:is|are) there\b|so my (?:answers|responses)\b",
    r"(?:so|and|nor|or) (?:i|we) (?:have|has|had) (?:never|not|no)\b",
    r"(?:so|and|therefore|nor|or) i "
    r"(?:can't|cannot|don't|do not|haven't|am not|am unable|have not)\b",
)
"""Beginnings of a clause that neither declines nor answers: politeness, offers, introductions."""
_DECLINES = _OPENING + "(?:" + "|".join(f"(?:{each})" for each in DECLINES) + ")"
_AS_MACHINE = _OPENING + f"(?:{_MACHINE_DECLINES})"
_ASIDE = _OPENING + "(?:" + "|".join(f"(?:{each})" for each in ASIDES) + ")"
_IS_MACHINE = re.compile(
    rf"\b(?:i'm|i am|as|being) (?:just |only |merely )?(?:an? )(?:\w+ ){{0,2}}{_MACHINE}"
)
_CLAUSE = re.compile(
    r"[.!?;:\n]+\s*|,? \b(?:but|however|though|yet|instead)\b,? |(?<=sorry), |, (?=i\b|if\b|we\b)"
)
_DECORATION = re.compile(r"[*_\"“”‘#>`]+")
_TRIGGER = re.compile(
    r"\b(?:can't|cannot|can not|won't|will not|unable|not able|not|no|don't|never|decline|refuse|"
    r"rather|lack|ai|language model|chatbot)\b"
)
CLAUSES = 40
"""Number of clauses that are read."""


def is_refusal(text: str) -> bool:
    """Return whether the content of a reply is that it will not or cannot answer; English only.

    The reply is cut into clauses (at stops, colons, before *but*, *however*, *if*). A clause
    *declines* when it begins as one of :data:`DECLINES`, is an *aside* when it begins as one of
    :data:`ASIDES`, and *answers* otherwise. A refusal declines at least once and never answers: a
    reply that declines and then answers is a response. "I can't find the word" and "I don't know"
    decline nothing.

    >>> is_refusal("My apologies, but I'm not able to answer that.")
    True
    >>> is_refusal("I can't share everything, but my best trip was to Rome.")
    False
    >>> is_refusal("As an AI, I do not have a childhood. How can I help you?")
    True
    """
    folded = " ".join(_DECORATION.sub("", straight(text)).casefold().split(" "))
    if _TRIGGER.search(folded) is None:
        return False
    machine = _IS_MACHINE.search(folded) is not None
    clauses = _clauses(folded)[:CLAUSES]
    declines = [_declines(clause, machine) for clause in clauses]
    return any(declines) and all(
        declining or _compiled(_ASIDE).match(clause)
        for clause, declining in zip(clauses, declines, strict=True)
    )


# Compiled for the first text with a trigger word: compilation takes some milliseconds.
@lru_cache(maxsize=8)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _clauses(folded: str) -> list[str]:
    return [clause for part in _CLAUSE.split(folded) if (clause := part.strip(" ,-()'"))]


def _declines(clause: str, machine: bool) -> bool:
    return bool(
        _compiled(_DECLINES).match(clause) or (machine and _compiled(_AS_MACHINE).match(clause))
    )
