"""From a person's answers to the row of ratings of an attempt that results count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tabwb.battery.forms import Form, form_from_canonical, with_source_question
from tabwb.records.counting import PERSON
from tabwb.records.rating_sets import RatingSet
from tabwb.records.ratings import Declaration, Rating, undefined


@lru_cache(maxsize=16)
def form_of(canonical: str, ask_source: bool) -> Form:
    """Return what a set asks."""
    form = form_from_canonical(canonical)
    return with_source_question(form) if ask_source else form


def asked_by(kept: RatingSet) -> Form:
    """Return what a set asks; the question of the source is its last one, where it is asked."""
    return form_of(kept.form, kept.ask_source)


def with_earlier(
    form: Form, given: Sequence[Rating], earlier: Sequence[Rating], why: str
) -> tuple[Rating, ...]:
    """Return the ratings of a new row, which replaces the rater's last one of the attempt.

    Measures that the form does not ask are carried over. If nothing is left, what was rated before
    becomes undefined, because a row without ratings would replace nothing.
    """
    carried = (one for one in earlier if not is_asked(form, one.measure))
    return (*given, *carried) or tuple(undefined(one.rater, one.measure, why) for one in earlier)


def is_asked(form: Form, measure: str) -> bool:
    """Return whether a rating of a measure (``code:formal``) follows from a question of a form."""
    return measure.partition(":")[0] in form.measures


def counted_as(form: Form, code: str) -> str:
    """Return under which id results count what a person answers to a form.

    Who scores or codes spoken names is a listener of the session, as who does so in the session.
    """
    return f"{PERSON}{code}" if {"correct", "code"} & {*form.measures} else code


def declaration_of(form: Form, rater: str) -> Declaration:
    """Return what a person declares who rates with a form: the features that it decides."""
    decides = tuple(one.measure for one in form.questions if one.is_feature)
    return Declaration(rater, decides, kind="person")
