"""The main tier of CHAT as it was said: words and what marks them, codes and targets taken off.

Written after the CHAT manual (MacWhinney, Tools for Analyzing Talk, part 1: words, the main line,
scoped symbols, error coding). Kept are words as they were spoken, with their errors, retracings,
fillers and fragments; dropped is what a transcriber wrote about them, and everything dropped is
counted.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
