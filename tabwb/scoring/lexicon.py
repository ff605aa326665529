"""Known, common and rarer words of English, and whether a text is English.

The shipped lists (``data/README.md`` says how they are made and under which licences): the *known*
words are those of the CMU Pronouncing Dictionary and of SCOWL up to size 70, the *common* words are
those of SCOWL's sizes 10, 20 and 35 (40,233 words). Processor time on a busy two-core machine:
:func:`load_lexicon` 15 ms (a set of all words would take 60), ``known`` 1 microsecond for a common
word and 35 for any other, ``nearest_common`` 0.3 ms.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files

from tabwb.phonology.dictionary import place_of
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
    f"{_ARTICLES} {POSSESSIVES} {_PRONOUNS} {_PREPOSITIONS} {_CONJUNCTIONS} {_AUXILIARIES} "
    f"{_DETERMINERS}"
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

    >>> is_english("flimby gorp snizz and blah".split()), is_english("xqz wbrt plimf".split())
    (True, False)
    """
    if any(word in ENGLISH_MARKS for word in words):
        return True
    lexicon = load_lexicon()
    known = sum(n for word, n in Counter(words).items() if lexicon.known(word.partition("'")[0]))
    return known >= known_share * len(words)


def is_foreign(words: Sequence[str]) -> bool:
    """Return whether the function words of a text are those of another language than English.

    In a text of :data:`FOREIGN_WORDS` words or more those of another language are a fifth of all
    words and more than the English ones; words of both (*me*, *die*, *on*) count for English only.

    >>> is_foreign("le meilleur voyage que j'ai fait était en italie".split())
    True
    >>> is_foreign("we went to rome and saw la dolce vita".split())
    False
    """
    if len(words) < FOREIGN_WORDS:
        return False
    english = FUNCTION_WORDS | ENGLISH_MARKS
    counts = Counter(words)
    native = sum(counts[word] for word in english)
    other = max(sum(counts[word] for word in own - english) for own in FOREIGN.values())
    return other >= FOREIGN_SHARE * len(words) and other > native


LEVELS = (10, 20, 35)
"""SCOWL's sizes of the blocks of ``common.txt``, the most frequent words first."""
RARER = (40, 50, 55, 60)
"""SCOWL's sizes of the blocks of ``rarer.txt.gz``, read at the first query."""


_DATA = files("tabwb.scoring") / "data"


class Lexicon:
    """Known and common words of English; upper and lower case are the same.

    Args:
        known: words of a-z in byte order, one per line, each line terminated.
        common: words in blocks by level, an empty line between blocks.
    """

    def __init__(self, known: bytes, common: str) -> None:
        self._known = b"\n" + known
        self._levels = tuple(
            (level, frozenset(block.split()))
            for level, block in zip(LEVELS, common.split("\n\n"), strict=False)
        )

    def known(self, word: str) -> bool:
        """Return whether a word of letters a-z is in either list.

        >>> lexicon = load_lexicon()
        >>> [lexicon.known(word) for word in ("Giraffe", "colour", "blorf", "republice")]
        [True, True, False, False]
        """
        lower = word.lower()
        return self.common(lower) or self._searched(lower)

    def common(self, word: str) -> bool:
        """Return whether a word is among the common ones.

        >>> load_lexicon().common("republic"), load_lexicon().common("abalone")
        (True, False)
        """
        return self.level(word) is not None

    def level(self, word: str) -> int | None:
        """Return SCOWL's size of a common word (10, 20 or 35; smaller is more frequent), else None.

        >>> load_lexicon().level("house"), load_lexicon().level("pa"), load_lexicon().level("st")
        (10, 35, None)
        """
        lower = word.lower()
        return next((level for level, words in self._levels if lower in words), None)

    def size(self, word: str) -> int | None:
        """Return SCOWL's size of a word up to 60, None for a word beyond it.

        >>> [load_lexicon().size(word) for word in ("dog", "pooch", "tat", "dat")]
        [10, 40, 50, None]
        """
        return self.level(word) or self._rarer.get(word.lower())

    def nearest_common(self, word: str, level: int = LEVELS[-1]) -> str | None:
        """Return the most frequent common word one edit away (then the first by alphabet), or None.

        An edit is one letter deleted, inserted or replaced, or two adjacent letters swapped (a
        typing error). A word that is common itself is not its own neighbour.

        >>> lexicon = load_lexicon()
        >>> [lexicon.nearest_common(word) for word in ("recieve", "flimby", "blorf")]
        ['receive', 'flimsy', None]
        >>> lexicon.nearest_common("flimby", level=20)
        """
        lower = word.lower()
        if len(lower) > self.longest + 1:
            return None
        edits = frozenset(one_edit_away(lower)) - {lower}
        for at, words in self._levels:
            if at <= level and (near := edits & words):
                return min(near)
        return None

    @cached_property
    def longest(self) -> int:
        """Letters of the longest common word."""
        return max(len(word) for _, words in self._levels for word in words)

    @cached_property
    def _rarer(self) -> dict[str, int]:
        import gzip

        text = gzip.decompress((_DATA / "rarer.txt.gz").read_bytes()).decode("ascii")
        blocks = zip(RARER, text.split("\n\n"), strict=True)
        return {word: size for size, block in blocks for word in block.split()}

    def _searched(self, word: str) -> bool:
        if not (word.isascii() and word.isalpha()):
            return False
        wanted = word.encode("ascii")
        at = place_of(wanted, self._known, b"\n")
        return self._known.startswith(b"\n" + wanted + b"\n", at)


def one_edit_away(word: str) -> Iterator[str]:
    """Yield all strings of a-z one edit away from ``word`` (some twice, ``word`` too).

    >>> sorted(set(one_edit_away("a")))[:4]
    ['', 'a', 'aa', 'ab']
    """
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in string.ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the shipped lists, read once."""
    return Lexicon((_DATA / "words.txt").read_bytes(), (_DATA / "common.txt").read_text("ascii"))
