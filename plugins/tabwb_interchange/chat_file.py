"""CHAT files: their tiers, what is said on a main tier, and its codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, NamedTuple

from tabwb.battery.problems import Problem
from tabwb.records.ratings import Declaration, Rating, undefined, valued

MOST_PIECES = 100_000
"""The most words of one utterance: ``[x 99]`` within ``[x 99]`` would multiply them."""
FILLERS = frozenset(["ah", "eh", "ew", "hm", "mm", "uh", "uhm", "um", "er", "erm"])
"""Fillers of old files (``&uh``); other old ``&`` forms are fragments."""
TERMINATORS = {
    **{sign: sign for sign in (".", "?", "!")},
    "+...": "...", "+..?": "...?", "+!?": "!?", "+/.": " –", "+//.": " –", "+/?": " –?",
    "+//?": " –?", '+"/.': ":", '+".': ".", "+.": "...", "+..": "...",
}  # fmt: skip
"""Terminator to how it reads."""
SEPARATORS = {",": ",", ";": ";", "„": ",", "‡": ",", ":": "", "-,": ",", "-": ""}
UNTRANSCRIBED = "www"
VOICE = "⁇§⁎°∆∇∬∮▁▔◉☺♋Ϋ⁑↑↓↻≠∙∾⤆⤇Ἡ→←↗↘↖↙⇗⇘∞≡≈≋‹›〔〕^\x01\x02\x03\x04\x07"
"""Signs of intonation and voice in, around and between words (conversation analysis)."""

_PAUSE = r"\((?:\.{1,3}|\d+(?:[.:]\d*)*)\)"
_TOKEN = re.compile(
    rf"(?P<time>[\x15•](?:%\w+:[^\x15•]*|\s*\d+_\d+-?\s*)?[\x15•]?)|(?P<pause>{_PAUSE}|#+(?:\d+(?:_\d+)?)?(?=\s|$))"
    r"|(?P<linker>\+[<+^,\"≋≈](?=\s|$))"
    r"|(?P<open><)|(?P<close>>)|(?P<space>\s+)|(?P<word>(?:\+[^\s\[\]<>\x15]*|[^\s\[\]<>\x15])"
    r"(?:(?!" + _PAUSE + r")[^\s\[\]<>\x15])*)|(?P<other>.)",
    re.DOTALL,
)
_FORM = re.compile(r"@(?P<form>[a-z]+)(?::[\w&+]+)*(?:-(?P<ending>\w+))?.*", re.DOTALL)
_OVERLAP = re.compile(r"[⌈⌉⌊⌋]\d?")
_VOICE = re.compile(f"[{re.escape(VOICE)}]")
_REPEATED = re.compile(r"↫([^↫]*)↫")
_UNSAID = re.compile(r"\([^()]*\)")
_TIMES = re.compile(r"x\s*(\d{1,2})$")
_CODES: tuple[tuple[str, str], ...] = (
    (r":{1,2}\s", "targets of errors ([: ...])"),
    (r"\*", "error codes ([* ...])"),
    (r"\+\s", "postcodes ([+ ...])"),
    (r"=!|=\?|=|%|\^|#", "remarks ([= ...], [% ...])"),
    (r"[<>]\d*\s$", "marks of overlap"),
    (r"(!{1,2}|\?|\"|')\s$", "marks of stress, doubt and quotation"),
    (r"-\s|@s|s:", "marks of language"),
)
_KINDS = tuple((re.compile(start), name) for start, name in _CODES)

PieceKind = Literal["word", "filler", "fragment", "unclear", "pause", "mark"]


class CodedError(NamedTuple):
    """An error code, empty where the transcriber gave none, and the words that it follows."""

    code: str
    words: str


class Retracing(NamedTuple):
    """A mark of retracing, the words that it follows, and how many full words these are."""

    mark: str
    words: str
    size: int


@dataclass(slots=True)
class Said:
    """What one or several utterances hold.

    Attributes:
        lines: the utterances as they read, one after the other; empty ones are left out.
        dropped: what was taken off, to number.
        errors, retracings, fragments, omitted, neologisms, postcodes, terminators: the marks of
            which ``chat-codes`` is made.
        marked: whether it has a mark of disfluency, fillers included.
    """

    lines: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    errors: list[CodedError] = field(default_factory=list)
    retracings: list[Retracing] = field(default_factory=list)
    fragments: list[str] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)
    neologisms: list[str] = field(default_factory=list)
    postcodes: list[str] = field(default_factory=list)
    terminators: list[tuple[str, str]] = field(default_factory=list)
    marked: bool = False

    @property
    def text(self) -> str:
        """The utterances, one per line."""
        return "\n".join(self.lines)


class _Piece(NamedTuple):
    text: str
    kind: PieceKind


class MainTierError(ValueError):
    """A main tier that cannot be read; the message says why."""


def said(tier: str, *, pauses: bool = False, ca: bool = False) -> Said:
    """Return what a main tier says.

    >>> said("&-um <the dog> [//] the cat [: rat] [* s:r] &+fr went (be)hind . [+ gram]").text
    'um the dog the cat fr- went hind.'
    >>> said("I [/] I want the (.) xxx +...", pauses=True).text
    'I I want the... xxx...'
    """
    found = Said()
    _Reader(found, pauses=pauses, ca=ca).read(tier)
    return found


class _Reader:
    """Reads one main tier into what was said."""

    def __init__(self, found: Said, *, pauses: bool, ca: bool) -> None:
        self._found, self._pauses, self._ca = found, pauses, ca
        self._pieces: list[_Piece] = []
        self._open: list[int] = []
        self._last = (0, 0)

    def read(self, tier: str) -> None:
        """Read the tier."""
        at = 0
        while at < len(tier):
            if tier[at] == "[":
                end = _closing(tier, at)
                self._code(tier[at + 1 : end].strip())
                at = end + 1
                continue
            match = _TOKEN.match(tier, at)
            assert match is not None  # every character is at least 'other'
            self._token(str(match.lastgroup), match.group())
            at = match.end()
        if self._open:
            raise MainTierError("'<' without a matching '>'")
        line = _joined(self._pieces)
        if any(piece.kind not in ("mark", "pause") for piece in self._pieces):
            self._found.lines.append(line)
        elif self._pieces:
            self._found.dropped["utterances without a word"] += 1

    def _token(self, kind: str, text: str) -> None:
        match kind:
            case "open":
                self._open.append(len(self._pieces))
            case "close":
                if not self._open:
                    raise MainTierError("'>' without a matching '<'")
                self._last = (self._open.pop(), len(self._pieces))
            case "pause":
                self._pause()
            case "time":
                self._found.dropped["time marks"] += 1
            case "linker":
                self._found.dropped["linkers (+<, ++, ...)"] += 1
            case "other":
                raise MainTierError("']' without a matching '['")
            case "word":
                self._word(text)

    def _pause(self) -> None:
        self._found.marked = True
        if self._pauses:
            self._pieces.append(_Piece("...", "pause"))
        else:
            self._found.dropped["pauses"] += 1

    def _add(self, text: str, kind: PieceKind) -> None:
        self._last = (len(self._pieces), len(self._pieces) + 1)
        self._pieces.append(_Piece(text, kind))

    def _drop(self, what: str) -> None:
        """Count something that was not said; a code behind it belongs to no word."""
        self._last = (len(self._pieces),) * 2
        self._found.dropped[what] += 1

    def _word(self, token: str) -> None:
        if token in TERMINATORS:
            before = [piece.text for piece in self._pieces if piece.kind != "mark"]
            if before:
                self._found.terminators.append((token, " ".join(before[-3:])))
                self._found.marked |= token in ("+...", "+..?", "+//.", "+//?")
            self._pieces.append(_Piece(TERMINATORS[token], "mark"))
        elif token in SEPARATORS:
            if mark := SEPARATORS[token]:
                self._pieces.append(_Piece(mark, "mark"))
        elif (word := token.rstrip(".?!,;")) != token and not token.startswith("&="):
            # Not as the manual writes it: a sign belongs behind a space.
            if word:
                self._spoken(word)
            self._pieces.append(_Piece(token[len(word) :], "mark"))
        else:
            self._spoken(token)

    def _spoken(self, token: str) -> None:
        found = self._found
        if token.startswith("&"):
            self._prefixed(token)
        elif token == "0":
            self._drop("actions without speech (0)")
        elif token[0] == "0" and token[1:2].isalpha():
            found.omitted.append(token[1:].partition("@")[0])
            self._drop("words that were left out (0word)")
        elif re.fullmatch(r"-[.?!']*", token):
            self._drop("signs of intonation and voice")
        else:
            text, form = self._form(token)
            if form == "sl":
                self._drop("signs of a signed language (@sl)")
            elif text == UNTRANSCRIBED:
                self._drop("stretches that were not transcribed (www)")
            elif text:
                if form == "n":
                    found.neologisms.append(text)
                self._add(text, "unclear" if text in ("xxx", "yyy") else "word")

    def _prefixed(self, token: str) -> None:
        found, sign = self._found, token[1:2]
        if sign in ("=", "{", "}"):
            self._drop("events (&=...)")
        elif sign == "*":
            self._drop("words of another speaker (&*...)")
        else:
            old = sign not in "-+~" if sign else True
            text, _ = self._form(token[1:] if old else token[2:])
            if not text:
                return
            found.marked = True
            if sign == "-" or (old and text.lower() in FILLERS):
                self._add(text, "filler")
            elif sign == "~":
                self._add(text, "word")
            else:
                found.fragments.append(text)
                self._add(f"{text.rstrip('-')}-", "fragment")

    def _form(self, token: str) -> tuple[str, str]:
        """Return a word as it was spoken, and the letters of its form (``n`` in ``umfa@n``)."""
        token = _OVERLAP.sub("", token)
        word = token[:1] + token[1:].partition("@")[0]
        marked = _FORM.fullmatch(token[len(word) :])
        form, ending = (marked["form"], marked["ending"] or "") if marked else ("", "")
        word = re.sub(r"\$[\w:]+$", "", word)
        word = _VOICE.sub("", _REPEATED.sub(r"\1-", word))
        if form != "u":
            word = word.translate(_UNSTRESSED)
        if self._ca and re.fullmatch(_UNSAID, word):
            word = word[1:-1]
        plain = _UNSAID.sub("", word).replace("(", "").replace(")", "")
        unsaid = plain != word
        plain = plain.strip("+").replace("+", "-").replace("_", " ").replace("~", "").strip()
        if not plain:
            self._drop("words that were not said" if unsaid else "signs of intonation and voice")
        elif unsaid:
            self._found.dropped["parts of words that were not said"] += 1
        return plain and plain + ending, form

    def _code(self, code: str) -> None:
        found = self._found
        first, last = self._last
        pieces = self._pieces[first:last]
        words = " ".join(piece.text for piece in pieces)
        if code in ("/", "//", "///", "/-", "/?"):
            size = sum(piece.kind == "word" for piece in pieces)
            found.retracings.append(Retracing(code, words, size))
            found.marked = True
        elif times := _TIMES.match(code):
            self._repeat(int(times[1]))
        else:
            if code.startswith("*"):
                found.errors.append(CodedError(code[1:].strip(), words))
            elif code.startswith("+"):
                found.postcodes.append(code[1:].strip())
            known = (name for start, name in _KINDS if start.match(f"{code} "))
            found.dropped[next(known, "other codes in brackets")] += 1

    def _repeat(self, times: int) -> None:
        first, last = self._last
        said = self._pieces[first:last]
        if len(self._pieces) + len(said) * times > MOST_PIECES:
            raise MainTierError(f"[x {times}] makes more than {MOST_PIECES:,} words")
        self._pieces[last:last] = said * (times - 1)
        self._last = (first, last + len(said) * max(0, times - 1))


_UNSTRESSED = str.maketrans("", "", "ˈˌ:")


def _closing(tier: str, start: int) -> int:
    """Return where the code that opens at ``start`` ends; codes within it are part of it."""
    depth = 0
    for at in range(start, len(tier)):
        depth += (tier[at] == "[") - (tier[at] == "]")
        if not depth:
            return at
    raise MainTierError(f"'{tier[start : start + 20]}': '[' without a matching ']'")


def _joined(pieces: list[_Piece]) -> str:
    """Return pieces as they read: marks directly follow a word."""
    line = ""
    for text, kind in pieces:
        attached = kind in ("mark", "pause")
        line += text if attached or not line else f" {text}"
    return line.strip()


RATER = "chat-codes"
CAUTION = "codes of the transcript, which a transcriber wrote for another purpose"
SHOWN = 3
"""How many codes a reason names."""
POSTCODES = frozenset(("es", "jar", "per", "cir", "gram"))
"""Codes of whole utterances in AphasiaBank."""
FUNCTION_WORDS = frozenset(
    (
        *("art", "aux", "comp", "conj", "coord", "cop", "det", "inf", "mod", "part", "poss"),
        *("prep", "pro", "pron", "rel", "neg"),
        *(
            "a",
            "am",
            "an",
            "and",
            "are",
            "at",
            "be",
            "because",
            "been",
            "but",
            "by",
            "can",
            "could",
        ),
        *("did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "i"),
        *(
            "if",
            "in",
            "into",
            "is",
            "it",
            "its",
            "me",
            "my",
            "of",
            "off",
            "on",
            "onto",
            "or",
            "our",
        ),
        *("out", "over", "she", "should", "that", "the", "their", "them", "there", "these", "they"),
        *("this", "those", "to", "up", "was", "we", "were", "who", "will", "with", "would", "you"),
        "your",
    )
)
"""What can follow the 0 of an omitted function word: its part of speech or the word."""

Basis = str
ERRORS: Basis = "error codes ([* ...])"
UTTERANCES: Basis = "codes of utterances ([+ es], [+ jar], ...)"
MARKS: Basis = "marks of retracing, fragments, fillers or broken utterances"
_Find = Callable[[Said], Iterator[str]]


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a feature is found.

    Attributes:
        basis: what kind of coding a transcript must have, for the feature to be absent.
        find: yields what says that it is present.
    """

    basis: Basis
    find: _Find


def _coded(pattern: str) -> _Find:
    known = re.compile(pattern)

    def find(said: Said) -> Iterator[str]:
        for code, words in said.errors:
            if known.match(code.replace(" ", "").replace("-", ":")):
                yield f"{words} [* {code}]"

    return find


def _post(*codes: str) -> _Find:
    return lambda said: (f"[+ {code}]" for code in said.postcodes if code in codes)


def _any(*finds: _Find) -> _Find:
    return lambda said: (found for find in finds for found in find(said))


def _abandoned(said: Said) -> Iterator[str]:
    for terminator, before in said.terminators:
        if terminator in ("+...", "+..?", "+//.", "+//?"):
            yield f"{before} {terminator}"


def _retraced(said: Said) -> Iterator[str]:
    return (f"{words} [{mark}]" for mark, words, size in said.retracings if size > 1)


def _neologisms(said: Said) -> Iterator[str]:
    yield from _coded(r"n(:|$)")(said)
    yield from (f"{word}@n" for word in said.neologisms)


def _left_out(said: Said) -> Iterator[str]:
    return (f"0{word}" for word in said.omitted if word.lower() in FUNCTION_WORDS)


RULES: dict[str, _Rule] = {
    "abandoned-utterances": _Rule(MARKS, _abandoned),
    "empty-speech": _Rule(UTTERANCES, _post("es")),
    "semantic-paraphasias": _Rule(ERRORS, _coded(r"s:(r(?!:(gc|prep|pro|det))|ur|uk|per)")),
    "phonemic-paraphasias": _Rule(ERRORS, _coded(r"p(:[wnm]|$)")),
    "neologisms": _Rule(ERRORS, _neologisms),
    "jargon": _Rule(UTTERANCES, _post("jar")),
    "perseverations": _Rule(ERRORS, _any(_coded("s:per"), _post("per"))),
    "stereotypies-and-automatisms": _Rule(ERRORS, _coded(r"n:(k|uk):s")),
    "omission-of-bound-morphemes": _Rule(ERRORS, _coded(r"m:(a:)?(0|base)")),
    "omission-of-function-words": _Rule(ERRORS, _left_out),
    "paragrammatism": _Rule(ERRORS, _coded(r"m:(a:)?(\+|=|c(:|$)|irr|sub|vsg|vun)")),
    "false-starts": _Rule(MARKS, lambda said: (f"&+{text}" for text in said.fragments)),
    "retracing": _Rule(MARKS, _retraced),
}
"""Feature to how it is found. A retracing is of two words or more, as APROCSA defines it."""

WITHOUT_CODE = (
    *("anomia", "short-and-simplified-utterances", "conduite-d-approche", "meaning-unclear"),
    *("off-topic", "overall-communication-impairment"),
)
FEATURES = (*RULES, *WITHOUT_CODE)


def bases_of(utterances: Iterable[Said]) -> frozenset[Basis]:
    """Return the kinds of coding that a transcript has somewhere."""
    found: set[Basis] = set()
    for said in utterances:
        if said.errors or said.omitted or said.neologisms:
            found.add(ERRORS)
        if POSTCODES & set(said.postcodes):
            found.add(UTTERANCES)
        if said.marked:
            found.add(MARKS)
    return frozenset(found)


def ratings_of(
    said: Said, bases: frozenset[Basis], features: Iterable[str] = FEATURES
) -> tuple[Rating, ...]:
    """Return what the codes of a text say of each feature.

    >>> from tabwb_interchange.chat_file import said
    >>> text = said("the dog [: cat] [* s:r] ran .")
    >>> [(r.measure, r.value, r.reason) for r in ratings_of(text, bases_of([text]), [
    ...     "semantic-paraphasias", "neologisms", "jargon"])]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('semantic-paraphasias', 1.0, 'dog [* s:r]'), ('neologisms', 0.0, ''),
     ('jargon', None, 'the transcript has no codes of utterances ([+ es], [+ jar], ...)')]
    """
    return tuple(_rating(said, bases, feature) for feature in features)


def _rating(said: Said, bases: frozenset[Basis], feature: str) -> Rating:
    rule = RULES.get(feature)
    if rule is None:
        return undefined(RATER, feature, "CHAT has no code for it")
    found = list(rule.find(said))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        return valued(RATER, feature, True, f"{'; '.join(found[:SHOWN])}{more}")
    if rule.basis not in bases:
        return undefined(RATER, feature, f"the transcript has no {rule.basis}")
    return valued(RATER, feature, False)


def declaration() -> Declaration:
    """Return what the rater declares of itself."""
    return Declaration(RATER, tuple(RULES), caution=CAUTION)


EXAMINERS = frozenset(
    (
        *("Investigator", "Examiner", "Interviewer", "Observer", "Clinician", "Therapist"),
        *("Teacher", "Mother", "Father", "Camera_Operator", "Media", "Environment", "Narrator"),
    )
)
"""Roles whose speech is not the one that is looked for."""
EXAMINED = frozenset(
    ("Participant", "Target_Adult", "Target_Child", "Patient", "Subject", "Client")
)
"""Roles whose speech it is, where one speaker alone has such a role."""
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_HEADER = re.compile(r"@(?P<name>[A-Za-z0-9][^:\t]*?)(?::[\t ]*(?P<value>.*))?", re.DOTALL)
_MAIN = re.compile(r"\*(?P<code>[^:\s]{1,7}):(?P<gap>[\t ]*)(?P<tier>.*)", re.DOTALL)
_DATE = re.compile(r"(\d{1,2})-([A-Za-z]{3})-(\d{4})")


class Tier(NamedTuple):
    """A main tier.

    Attributes:
        code: of the speaker.
        gem: the gem in which it is; empty outside of gems.
        text: with continuation lines joined.
    """

    line: int
    code: str
    gem: str
    text: str


ID_FIELDS = (
    "language", "corpus", "code", "age", "sex", "group", "SES", "role", "education", "custom",
)  # fmt: skip
"""The fields of ``@ID``, in their order."""
AGE = re.compile(r"(\d{1,3})(?:;(\d{0,2})(?:\.(\d{0,2}))?)?")
AQ_NUMBER = re.compile(r"\d{1,3}(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant, from ``@Participants`` and ``@ID``.

    ``fields`` are those of ``@ID`` that are not empty, by their names in :data:`ID_FIELDS`.
    """

    code: str
    name: str = ""
    role: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, str]:
        """What ``@ID`` says of the person, by column of the record.

        ``custom`` is the aphasia quotient in AphasiaBank: a number to 100 is read as that.

        >>> Participant("PAR", "", "", {"age": "58;06.", "custom": "71.3"}).record
        {'age_years': '58.5', 'AQ': '71.3'}
        """
        known = {**self.fields, **({"role": self.role} if self.role else {})}
        known.pop("code", None)
        if age := years_of(known.pop("age", "")):
            known["age_years"] = age
        if AQ_NUMBER.fullmatch(known.get("custom", "")) and float(known["custom"]) <= 100:
            known["AQ"] = known.pop("custom")
        return known


def years_of(age: str) -> str:
    """Return an age as CHAT writes it, ``YEARS;MONTHS.DAYS``, in years; empty where it is not one.

    >>> years_of("58;"), years_of("58;06.12"), years_of("58;06"), years_of("about 58")
    ('58', '58.53', '58.5', '')
    """
    found = AGE.fullmatch(age.strip())
    if found is None:
        return ""
    years, months, days = (int(part or 0) for part in found.groups())
    return f"{years + months / 12 + days / 365.25:.2f}".rstrip("0").rstrip(".")


@dataclass(slots=True)
class ChatFile:
    """What a file holds.

    Attributes:
        languages: ISO 639-3.
        participants: by code.
        tiers: main tiers of all speakers, in order.
        gems: whether the file has gems.
        ca: ``@Options`` has CA.
        date: of the session, ISO 8601; empty where it is not said.
        dropped: kinds of other lines, to number.
        lacks: what is not as the manual asks.
        problems: lines that cannot be read.
    """

    languages: tuple[str, ...] = ()
    participants: dict[str, Participant] = field(default_factory=dict)
    tiers: list[Tier] = field(default_factory=list)
    gems: bool = False
    ca: bool = False
    date: str = ""
    dropped: Counter[str] = field(default_factory=Counter)
    lacks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_chat(text: str, where: str) -> ChatFile:
    """Return the headers and main tiers of a file."""
    file = ChatFile()
    headers: Counter[str] = Counter()
    gem, ended = "", False
    for number, line in _lines(text, where, file):
        if ended:
            file.dropped["lines after @End"] += 1
        elif line.startswith("*"):
            if tier := _tier(number, line, gem, where, file):
                file.tiers.append(tier)
        elif line.startswith("%"):
            file.dropped["dependent tiers (%mor, %com, ...)"] += 1
        elif match := _HEADER.fullmatch(line):
            name, value = match["name"].strip(), (match["value"] or "").strip()
            headers[name] += 1
            ended = name == "End"
            if name in ("G", "BG", "Bg"):
                gem, file.gems = _gem(value), True
            elif name in ("EG", "Eg"):
                gem = ""
            else:
                _header(name, value, file)
        else:
            _problem(file, where, number, line, "this header cannot be read", "@NAME: and a value")
    for name in ("UTF8", "Begin", "Participants", "End"):
        if not headers[name]:
            file.lacks.append(f"@{name}")
    return file


def _lines(text: str, where: str, file: ChatFile) -> Iterator[tuple[int, str]]:
    """Yield each line with those that continue it, and the number of the first."""
    held: list[str] = []
    first = 0
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.rstrip()
        if not line:
            continue
        if raw[0] in "\t " and held:
            held.append(line.strip())
        elif raw[0] in "@*%":
            if held:
                yield first, " ".join(held)
            held, first = [line], number
        else:
            _problem(file, where, number, line, "this line has no valid beginning",
                     "@ (header), * (what somebody said), % (dependent tier), or a tab, which "
                     "continues the line before")  # fmt: skip
    if held:
        yield first, " ".join(held)


def _problem(file: ChatFile, where: str, line: int, text: str, message: str, allowed: str) -> None:
    shown = repr(text if len(text) <= 40 else f"{text[:39]}…")
    file.problems.append(Problem(where, line, "", message, shown, allowed))


def _tier(number: int, line: str, gem: str, where: str, file: ChatFile) -> Tier | None:
    match = _MAIN.fullmatch(line)
    if match is None:
        allowed = "* and a speaker's code of up to 7 signs, a colon and a tab: *PAR:"
        _problem(file, where, number, line, "this main tier names no speaker", allowed)
        return None
    if match["gap"] != "\t":
        file.dropped["missing tabs after a speaker's code"] += 1
    return Tier(number, match["code"], gem, match["tier"])


def _gem(value: str) -> str:
    return " ".join(value.replace("_", " ").split()) or "(gem without a name)"


def _header(name: str, value: str, file: ChatFile) -> None:
    match name:
        case "Languages":
            file.languages = tuple(part.strip() for part in value.split(",") if part.strip())
        case "Participants":
            for part in value.split(","):
                if words := part.split():
                    name = " ".join(words[1:-1])
                    role = words[-1] if len(words) > 1 else ""
                    file.participants[words[0]] = Participant(words[0], name, role)
        case "ID":
            _id([part.strip() for part in value.split("|")], file)
        case "Options":
            file.ca = file.ca or re.search(r"\bCA\b", value) is not None
        case "Date":
            file.date = _day(value)


def _id(fields: list[str], file: ChatFile) -> None:
    """Keep what is said, field by field."""
    said = {name: value for name, value in zip(ID_FIELDS, fields, strict=False) if value}
    code = said.get("code", "")
    known = file.participants.get(code, Participant(code))
    file.participants[code] = Participant(
        code, known.name, known.role or said.get("role", ""), said
    )


def _day(value: str) -> str:
    """Return a date of CHAT in ISO 8601; empty where it is none.

    >>> _day("09-MAR-2024"), _day("March 2024"), _day("30-FEB-2024")
    ('2024-03-09', '', '')
    """
    match = _DATE.match(value)
    if match is None or match[2].upper() not in MONTHS:
        return ""
    try:
        day = date(int(match[3]), MONTHS.index(match[2].upper()) + 1, int(match[1]))
    except ValueError:
        return ""
    return day.isoformat()


def speakers_of(file: ChatFile) -> Mapping[str, int]:
    """Return the codes on main tiers, each with its number of utterances, the most first."""
    return dict(Counter(tier.code for tier in file.tiers).most_common())


def examinee_of(file: ChatFile) -> str | None:
    """Return the code of the participant whose speech is examined; None where several may be.

    It is the only one who speaks, else ``PAR``, else the only speaker who is examined by role, else
    the only one whose role is not an examiner's.
    """
    codes = speakers_of(file)
    if len(codes) == 1:
        return next(iter(codes))
    if "PAR" in codes:
        return "PAR"
    roles = {code: file.participants.get(code, Participant(code)).role for code in codes}
    examined = [code for code, role in roles.items() if role in EXAMINED]
    others = [code for code, role in roles.items() if role not in EXAMINERS]
    return next((found[0] for found in (examined, others) if len(found) == 1), None)
