"""Function words, and whether a text is in the language of its battery."""

from __future__ import annotations

from collections.abc import Sequence

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
"""Words with a grammatical function; every other word is a content word."""

ENGLISH_MARKS = word_set(
    "the and is are was were with that this have has you your it its my of for from they we she "
    "what when because not but there their would could"
)
"""Function words that are rarely words of another language: one of them makes a text English."""


KNOWN_SHARE = 0.5
"""With a smaller share of known words, and no English function word, a text is not English."""
FOREIGN_WORDS = 5
"""In a shorter text function words do not show the language."""
FOREIGN_SHARE = 0.2
"""With at least this share of another language's function words a text may be in that language."""


FOREIGN = {
    "fr": word_set(
        "le la les un une des du de et est sont que qui dans pour sur avec je tu il elle nous "
        "vous ils elles ce cette ces mon ma mes sa ses ne pas plus au aux était étaient avait "
        "j'ai c'est mais où très être ai été d'un d'une n'est qu'il"
    ),
    "de": word_set(
        "der das dem den des ein eine einen einem einer und ist sind ich du er sie wir ihr "
        "nicht mit auf für von zu im am als auch aber wenn mein meine meiner sich habe haben "
        "hatte waren wurde nach bei aus wie noch sehr dass über"
    ),
    "es": word_set(
        "el la los las un una unos de del y es son que en para por con yo tú él ella nosotros "
        "mi mis su sus no se lo le al pero muy más era fue cuando donde hay está había como "
        "este esta"
    ),
    "it": word_set(
        "il lo la gli le un uno una di del della dei delle e è sono che per con io lui lei "
        "noi mio mia miei si non ma molto più era quando dove nel nella al alla ho abbiamo "
        "questo questa come"
    ),
    "pt": word_set(
        "o os as um uma de do da dos das e é são que em para por com eu ele ela nós meu minha "
        "se não mas muito mais era foi quando onde no na nos nas ao está este esta como"
    ),
    "nl": word_set(
        "de het een en is zijn ik je jij hij zij wij niet met op voor van te naar als ook "
        "maar mijn deze dat die heb hebben had waren werd bij uit nog zeer over er om we aan"
    ),
}
"""Function words of other languages of Latin script, as a closed list by BCP 47 tag."""


def is_english(words: Sequence[str], known_share: float = KNOWN_SHARE) -> bool:
    """Return whether half of the words are known or one is an English function word.

    Args:
        words: in small letters.
        known_share: the least share of known words.

    >>> is_english("flimby gorp snizz and blah".split()), is_english("xqz wbrt plimf".split())
    (True, False)
    """
    from tabwb.scoring.lexicon import load_lexicon

    if any(word in ENGLISH_MARKS for word in words):
        return True
    known = sum(map(load_lexicon().known, (word.partition("'")[0] for word in words)))
    return known >= known_share * len(words)


def is_foreign(words: Sequence[str]) -> bool:
    """Return whether the function words of a text are those of another language than English.

    A language claims a text of :data:`FOREIGN_WORDS` words or more when its function words are a
    fifth of all words and more than the English ones. Words of both languages (*me*, *die*, *on*)
    count for English only.

    >>> is_foreign("le meilleur voyage que j'ai fait était en italie".split())
    True
    >>> is_foreign("we went to rome and saw la dolce vita".split())
    False
    """
    if len(words) < FOREIGN_WORDS:
        return False
    english = FUNCTION_WORDS | ENGLISH_MARKS
    native = sum(word in english for word in words)
    other = max(
        sum(word in own and word not in english for word in words) for own in FOREIGN.values()
    )
    return other >= FOREIGN_SHARE * len(words) and other > native
