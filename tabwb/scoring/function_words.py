"""The function words of English, as a closed list. It belongs to the version of the rules judge."""

from __future__ import annotations

from tabwb.scoring.text import word_set

_ARTICLES = "the a an"
POSSESSIVES = "my your our their his her its"
_PRONOUNS = (
    "i you he she it we they me him us them mine yours hers ours theirs myself yourself himself "
    "herself itself ourselves themselves who whom whose which what that this these those one"
)
_PREPOSITIONS = (
    "of in on at to from by with without for into onto out off up down over under about after "
    "before between through during until till since against among along across around behind "
    "below above beside near toward towards upon within per like as than via past"
)
_CONJUNCTIONS = (
    "and but or nor so yet because if when while where why how whether although though unless then"
)
_AUXILIARIES = (
    "am is are was were be been being have has had having do does did doing can could will would "
    "shall should may might must ought cannot not"
)
_DETERMINERS = (
    "some any no every each either neither both all many much more most few little less least "
    "several such other another there here too very just also only even quite rather"
)

FUNCTION_WORDS = word_set(
    " ".join(
        (
            _ARTICLES,
            POSSESSIVES,
            _PRONOUNS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _DETERMINERS,
        )
    )
)
"""Words with a grammatical job; every other word is a content word."""

ENGLISH_MARKS = word_set(
    "the and is are was were with that this have has you your it its my of for from they we she "
    "what when because not but there their would could"
)
"""Function words that are hardly words of another language: one of them makes a text English."""
