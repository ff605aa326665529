r"""The reasoning of a model apart from its response: what stands between the tags of thinking.

Models write their thinking before, and sometimes between, what they say: in tags of their chat
template (``<think>`` of DeepSeek R1, Qwen3 and many more, ``[THINK]`` of Mistral, ``<seed:think>``,
``◁think▷`` of Kimi, ``<|START_THINKING|>`` of Cohere, ``<|inner_prefix|>`` of Apertus ...) or in
channels (gpt-oss, Gemma 4). :func:`split_reasoning` is the rule; :class:`ReasoningStream` applies
it to what came so far of a text.

A tag begins or ends a span of thinking by where it stands; a tag that is quoted in running text
(``the tag <think> begins it``), in quotation marks or in code is a word of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from tabwb.records.errors import UsageError
from tabwb.records.exchange import THOUGHT_AWAY, Reply, Wait
from tabwb.records.specs import parse_spec
from tabwb.records.states import StopReason

OPTION = "reasoning"
"""The option of every model, with one of :data:`AUTO`, :data:`KEEP`, or tags."""
AUTO, KEEP = "auto", "keep"
ALLOWED = (
    f"{AUTO} (the tags that models are known to use), {KEEP} (reasoning stays in the response), or "
    "tags: <plan> for <plan>...</plan>, or OPEN...CLOSE; several with a space between"
)
"""The values of the option, for messages and docs."""


@dataclass(frozen=True, slots=True)
class Split:
    """A text of a model in its two parts; of several spans of thinking with an empty line between.

    ``response`` is the text itself where it has no thinking; ``unclosed``: it ends inside thinking.
    """

    reasoning: str
    response: str
    unclosed: bool = False


_NAME = r"(?:[a-z]{2,12}[:_])?(?:ant)?(?:think(?:ing)?|thoughts?|reasoning)"
_XML = rf"<(?P<slash>/?)(?P<name>{_NAME})(?:\s+[a-z_]+=[^<>\n]{{0,80}})?\s*>"
_PAIRS = {
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|think|>": "<|/think|>",
    "<|thinking|>": "<|/thinking|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<|channel>": "<channel|>",
    "<unused94>": "<unused95>",
}
_SPEECH = (
    r"(?P<o_speech>\AHere(?:'s| is) my thought process:)"
    r"|(?P<c_speech>^Here(?:'s| is) my response:)"
)
"""What Granite 3.2 writes in place of tags."""
_TICKS = "(?P<ticks>`+|~{3,})"
_WRAPPERS = (
    *((f"<{name}>", f"</{name}>") for name in ("answer", "response", "output")),
    (r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
    (r"<\|START_(?:RESPONSE|TEXT)\|>", r"<\|END_(?:RESPONSE|TEXT)\|>"),
)
"""What some templates write around the answer that follows the thinking."""
_HARMONY = re.compile(
    r"(?:<\|start\|>(?P<role>[^<]*))?<\|channel\|>(?P<channel>[^<]*)"
    r"(?:<\|constrain\|>[^<]*)?(?:<\|message\|>(?P<text>.*?)(?P<end><\|end\|>|<\|return\|>|"
    r"<\|call\|>|(?=<\|start\|>|<\|channel\|>)|\Z)|\Z)",
    re.DOTALL,
)
_BARE_HARMONY = re.compile(r"\Aanalysis(?P<text>.*?)assistant\s?final(?P<rest>.*)\Z", re.DOTALL)
"""gpt-oss where the server leaves the special tokens out."""
SPECIAL = ("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|constrain|>", "<|call|>")
"""Special tokens of channels: text for this rule, where a tokenizer has the first of them."""
_NEXT_CHANNEL = "<|start|>assistant<|channel|>"
_OPENINGS = (
    *_PAIRS, "<think>", "<thinking>", "<thought>", "<reasoning>",
    "<|channel|>analysis<|message|>",
)  # fmt: skip
"""Tags that a reply may be cut inside."""
_STARTS = ("Here is my thought process:", "Here's my thought process:", "analysis")
_OPEN, _CLOSE = "\"'`‘“„«‹([{「『", "\"'`’”“»›)]}」』"
_JOINERS = re.compile(
    r"\W*|\s+(?:and|or|to|und|oder|bis|et|ou|y|o|e|и|или|और|या|أو|او)\s+"
    r"|\s*(?:和|与|與|及|或|と|や|か|و|ו)\s*",
    re.IGNORECASE,
)
_SENTENCE_END = ".!?…。！？．｡।॥؟۔։።)"
_BLANK = (
    "".join(filter(str.isspace, map(chr, range(0x3001))))
    + "\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
)
"""White space, and characters without width, such as a byte order mark."""


class _Tag(NamedTuple):
    """An opening or closing tag in a text; tags of one ``family`` belong together."""

    start: int
    end: int
    opens: bool
    family: str


@lru_cache(maxsize=32)
def _pattern(option: str) -> re.Pattern[str]:
    """Return what finds every tag under a value of the option; its groups name the families."""
    pairs = list(_PAIRS.items()) if option == AUTO else _custom(option)
    parts = [_XML, _SPEECH] if option == AUTO else []
    tags = [
        (tag, f"{kind}{n}")
        for n, pair in enumerate(pairs)
        for kind, tag in zip("oc", pair, strict=True)
    ]
    for tag, group in sorted(tags, key=lambda each: -len(each[0])):  # one may begin another
        thought = r"(?:thought\b)?" if tag in ("<|channel>", "<unused94>") else ""
        parts.append(rf"(?P<{group}>{re.escape(tag)}{thought})")
    flags = re.IGNORECASE | re.MULTILINE if option == AUTO else re.NOFLAG
    return re.compile("|".join((*parts, _TICKS)), flags)


def _custom(option: str) -> list[tuple[str, str]]:
    """Return the opening and closing tags of a value of the option."""
    pairs = []
    for word in option.split():
        opening, dots, closing = word.partition("...")
        if not dots and (named := re.fullmatch(r"<([^<>/|]+)>|\[([^\[\]/]+)\]", word)):
            closing = f"{word[0]}/{named[1] or named[2]}{word[-1]}"
        pairs.append((opening, closing))
    if not pairs or any(not closing or opening in ("", closing) for opening, closing in pairs):
        raise UsageError(f"option '{OPTION}': '{option}' is not allowed", allowed=ALLOWED)
    return pairs


def _tags(text: str, option: str, begin: int = 0) -> Iterator[_Tag]:
    """Yield the tags of a text; backticks and fences are of the family "`"."""
    if option == AUTO and not any(sign in text for sign in "<[◁"):
        lowered = text.lower()
        if not any(spoken in lowered for spoken in ("my thought process:", "my response:")):
            return  # backticks alone decide nothing, and the pattern is slow over long texts
    for match in _pattern(option).finditer(text, begin):
        group = match.lastgroup or ""
        if match["ticks"]:
            yield _Tag(*match.span(), opens=False, family="`")
        elif option == AUTO and match["name"]:
            yield _Tag(*match.span(), match["slash"] == "", match["name"].lower())
        else:
            yield _Tag(*match.span(), group[0] == "o", group[1:])


def is_tag(token: str, option: str = AUTO) -> bool:
    """Return whether a special token of a tokenizer is a tag, so that it must be written out.

    >>> is_tag("[THINK]"), is_tag("<|im_start|>")
    (True, False)
    """
    found = None if option == KEEP else _pattern(option).fullmatch(token)
    return found is not None and not found["ticks"]


def check_option(value: str) -> str:
    """Return a value of the option ``reasoning``.

    >>> check_option("auto"), check_option("<plan>"), check_option("[[...]]")
    ('auto', '<plan>', '[[...]]')
    """
    if value not in (AUTO, KEEP):
        _custom(value)
    return value


def opened_by(prompt: str, option: str = AUTO) -> str:
    r"""Return the tag at the end of a prompt, after which the reply begins inside thinking, or "".

    >>> opened_by("<|assistant|>\n<think>\n"), opened_by("<think>\n\n</think>\n\n")
    ('<think>', '')
    """
    tags = [] if option == KEEP else list(_tags(prompt, option, max(0, len(prompt) - 200)))
    if not tags or prompt[tags[-1].end :].strip() or not tags[-1].opens:
        return ""
    return prompt[tags[-1].start : tags[-1].end]


def closing_of(opened: str, option: str = AUTO) -> str:
    r"""Return the text that ends a span at once that ``opened`` begins, as Qwen3's template does.

    >>> closing_of("<think>"), closing_of("[THINK]")
    ('</think>', '[/THINK]')
    """
    pairs = _PAIRS if option in (AUTO, KEEP) else dict(_custom(option))
    for opening, closing in pairs.items():
        if opened.startswith(opening):
            return closing
    return "</{}>".format(re.split(r"[\s>]", opened[1:], maxsplit=1)[0])


def split_reasoning(
    text: str, option: str = AUTO, *, opened: str = "", cut: bool = False, more: bool = False
) -> Split:
    r"""Return a text of a model as reasoning and response.

    A response has no thinking in it: splitting it again gives it back.

    >>> split_reasoning("<think>\nA lion.\n</think>\n\nlion")
    Split(reasoning='A lion.', response='lion', unclosed=False)
    >>> split_reasoning("A lion has a mane.\n</think>\nlion").response
    'lion'
    >>> split_reasoning("<think>A lion has")
    Split(reasoning='A lion has', response='', unclosed=True)
    >>> split_reasoning("Models write <think> before their answer.").response
    'Models write <think> before their answer.'
    """
    if option == KEEP:
        return Split("", text)
    thoughts, rest, ends_inside = list[str](), text, False
    while True:
        split = _read(rest, option, opened, more)
        thoughts.append(split.reasoning)
        ends_inside = ends_inside or split.unclosed
        if split.response in ("", rest):
            break
        rest, opened = split.response, ""
    if cut and not ends_inside and (whole := _completed(split.response, option)):
        begun = _read(whole, option, "", more)
        if begun.unclosed:
            return Split(_joined([*thoughts, begun.reasoning]), begun.response, unclosed=True)
    return Split(_joined(thoughts), split.response, ends_inside)


def _completed(text: str, option: str) -> str:
    """Return a text that ends in the middle of an opening tag with the whole tag, or nothing."""
    openings = _OPENINGS if option == AUTO else [opening for opening, _ in _custom(option)]
    for opening in openings:
        begun = text[text.rfind(opening[0]) :]
        if len(begun) > 1 and opening.lower().startswith(begun.lower()):
            return text.removesuffix(begun) + opening
    return ""


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip(_BLANK) for part in parts if part.strip(_BLANK))


def _read(text: str, option: str, opened: str, more: bool) -> Split:
    """Return a text in its two parts, without looking into the response again."""
    if option == AUTO and not opened:
        if SPECIAL[0] in text and (found := _by_channel(text, more)) is not None:
            return found
        if (bare := _BARE_HARMONY.match(text)) is not None:
            return Split(bare["text"].strip(), _stripped(bare["rest"], more))
        if more and (text.startswith(_STARTS[-1]) or any(s.startswith(text) for s in _STARTS)):
            return Split("", "")
    family = next((tag.family for tag in _tags(opened, option)), "")
    tags = [tag for tag in _tags(text, option) if tag.family == "`" or not _is_quoted(text, tag)]
    last_end = {tag.family: n for n, tag in enumerate(tags) if not tag.opens}
    nested = set[str]()
    in_words = _ends_in_words(text, tags)
    first = at = tick = fences = single = 0
    has_said = False
    thoughts, said = list[str](), list[str]()
    named = {"_speech"}  # families whose end is a word of the answer where nothing began
    for n, tag in enumerate(tags):
        if family:
            is_end = tag.family == family or (
                not more  # of thinking whose own end is missing: <thinking>...</think>
                and bool(re.fullmatch(rf"{_NAME}:{_NAME}", f"{family}:{tag.family}"))
                and tag.family not in nested
                and n > last_end.get(family, -1)
                and not _is_running(text, tag)
            )
            if is_end and not tag.opens and n not in in_words:
                thoughts.append(text[at : tag.start])
                at, family, fences, single = tag.end, "", 0, 0
                nested.clear()
            elif tag.opens and tag.family != family:
                nested.add(tag.family)
            elif opened and tag.opens and not n and not text[: tag.start].strip(_BLANK):
                at = tag.end
            continue
        if single % 2 and text.find("\n", tick, tag.start) >= 0:
            single = 0
        if tag.family == "`":
            ticks = tag.end - tag.start
            fences, single, tick = fences + ticks // 3, single + ticks % 3, tag.end
            continue
        is_code = bool(fences % 2 or single % 2)
        if tag.opens:
            end = tags[n + 1] if n + 1 < len(tags) and tags[n + 1].family == tag.family else None
            ends = more or n < last_end.get(tag.family, -1)
            if is_code or not _begins(
                text, tag, end, at, ends=ends, said=has_said, again=bool(thoughts)
            ):
                named.add(tag.family)
                continue
            said.append(text[at : tag.start])
            has_said = has_said or not _is_blank(text, at, tag.start)
            at, family = tag.end, tag.family
            first = first if thoughts or has_said else at
        elif tag.family not in named and not is_code and _closes_alone(text, tag, at):
            if thoughts and (_is_blank(text, at, tag.start) or _is_blank(text, tag.end)):
                said.append(text[at : tag.start])
            else:  # what seemed to be said before it was thinking
                thoughts, said, has_said = [text[first : tag.start]], [], False
            at = tag.end
    if family:
        return Split(_joined([*thoughts, text[at:]]), _response([*said, ""], more), unclosed=True)
    if not thoughts:
        return Split("", text)
    return Split(_joined(thoughts), _response([*said, text[at:]], more))


def _by_channel(text: str, more: bool) -> Split | None:
    """Return a text in the form of gpt-oss by its channels; None where it only quotes one."""
    parts = list(_HARMONY.finditer(text))
    if not parts or text[: parts[0].start()].strip(_BLANK):
        return None
    thoughts, said, thinks = list[str](), list[str](), False
    for part in parts:
        thinks = not part["channel"].strip().startswith("final")
        (thoughts if thinks else said).append(part["text"] or "")
    last, rest = parts[-1], text[parts[-1].end() :]
    cut = rest.strip() and _NEXT_CHANNEL.startswith(rest.strip()) if last["end"] else not rest
    if thinks and cut:
        return Split(_joined(thoughts), _joined(said), unclosed=True)
    rest = rest.removeprefix("<|start|>assistant")
    return Split(_joined(thoughts), _stripped("".join([*said, rest]), more))


def _stripped(said: str, more: bool) -> str:
    """Return a response without white space around it; at its end, more may follow."""
    return said.lstrip(_BLANK) if more else said.strip(_BLANK)


def _response(parts: Sequence[str], more: bool) -> str:
    said = "".join(parts)
    said = said.lstrip(_BLANK) if parts[-1].strip(_BLANK) else _stripped(said, more)
    for opening, closing in _WRAPPERS:
        whole = re.fullmatch(rf"{opening}(.*?)(?:{closing})?", said, re.DOTALL | re.IGNORECASE)
        if whole is not None:
            return _stripped(whole[1], more)
    return said


def _ends_in_words(text: str, tags: Sequence[_Tag]) -> set[int]:
    """Return the closing tags that thinking only speaks of, because a later one ends it.

    In "I shall write </think> when I am done. </think>" the first is one.
    """
    ended: dict[str, bool] = {}
    found = set()
    for n in range(len(tags) - 1, -1, -1):
        tag = tags[n]
        if tag.opens or not _is_running(text, tag):
            ended[tag.family] = not tag.opens
        elif ended.get(tag.family):
            found.add(n)
    return found


def _begins(
    text: str, tag: _Tag, end: _Tag | None, at: int, *, ends: bool, said: bool, again: bool
) -> bool:
    """Return whether an opening tag begins a span of thinking."""
    last = _last(text, at, tag.start)
    if last is None and not said:
        return not _names_both(text, tag, end)
    if _names_both(text, tag, end, dots=True):
        return False
    after = text[tag.end : tag.end + 1]
    if last is None or "\n" in text[last : tag.start]:
        return ends or after in ("\n", "")
    spaced = last < tag.start - 1
    if not ends or (spaced and after in tuple(" \t,.;:")):
        return False
    return again or not spaced or text[last] in _SENTENCE_END


def _closes_alone(text: str, tag: _Tag, at: int) -> bool:
    """Return whether a closing tag without an opening one ends thinking that the prompt began."""
    last = _last(text, at, tag.start)
    if last is None or "\n" in text[last : tag.start]:
        return True
    after = text[tag.end : tag.end + 2]
    if last == tag.start - 1:
        return after[:1] not in ("-", "`") or after == "--"
    ended = text[last] in _SENTENCE_END
    if after[:1] in ("\n", "") or _is_blank(text, tag.end):
        return ended or after == "\n\n"
    return after[0].isalnum() or (ended and after[0].isspace())


def _is_blank(text: str, begin: int, end: int | None = None) -> bool:
    return all(text[at] in _BLANK for at in range(begin, len(text) if end is None else end))


def _last(text: str, begin: int, end: int) -> int | None:
    """Return the place of the last character in a part of a text that is not white space."""
    return next((at for at in range(end - 1, begin - 1, -1) if text[at] not in _BLANK), None)


def _names_both(text: str, tag: _Tag, end: _Tag | None, *, dots: bool = False) -> bool:
    """Return whether a text only names the two tags: ``<think> and </think>``."""
    if end is None or end.opens or end.start - tag.end > _LONGEST:
        return False
    between = text[tag.end : end.start]
    if "\n" in between or not _JOINERS.fullmatch(between):
        return False
    has_words = any(letter.isalnum() for letter in between)
    after = text[end.end : end.end + 1]
    return (has_words or (dots and bool(between.strip()))) and after not in ("\n", "")


def _is_quoted(text: str, tag: _Tag) -> bool:
    """Return whether a tag stands in quotation marks, brackets or backticks, fences aside."""
    before, after = text[tag.start - 1 : tag.start], text[tag.end : tag.end + 1]
    is_fence = text.endswith("```", 0, tag.start)
    return bool(before and after) and before in _OPEN and after in _CLOSE and not is_fence


def _is_running(text: str, tag: _Tag) -> bool:
    """Return whether a tag has a space, and no end of a sentence, before it and text after."""
    before = text[max(0, tag.start - 40) : tag.start]
    after = text[tag.end : tag.end + 1]
    if before[-1:] not in (" ", "\t") or not before.strip():
        return False
    return before.rstrip()[-1] not in _SENTENCE_END + "\n" and after in (" ", "\t", ",", ";")


def option_of(spec: str) -> str:
    """Return the option ``reasoning`` of a model's spec; ``auto`` where it has none.

    >>> option_of("openai:m@reasoning=keep"), option_of("imported:a model")
    ('keep', 'auto')
    """
    try:
        return check_option(parse_spec(spec).options.get(OPTION, AUTO))
    except UsageError:
        return AUTO


def holds_reasoning(text: str) -> bool:
    """Return whether a response has reasoning in it, by the known tags.

    >>> holds_reasoning("<think>A mane.</think>lion"), holds_reasoning("The tag <think> is one.")
    (True, False)
    """
    if not any(sign in text for sign in "<[◁") and not text.startswith(("Here", "analysis")):
        return False
    return split_reasoning(text).response != text


def separated(
    reply: Reply, option: str = AUTO, *, opened: str = "", closing: str = "", apart: str = ""
) -> Reply:
    """Return a reply with its reasoning apart; one whose back end did that stays as it is."""
    if reply.reasoning is not None:
        return with_cause(reply)
    if apart:
        reply = replace(reply, reasoning=apart)
    if option == KEEP:
        return reply
    if closing and closing in reply.text:
        if closing.startswith("</"):
            opened = f"<{closing[2:]}"
            return with_split(reply, split_reasoning(reply.text, option, opened=opened))
        before, _, after = reply.text.rpartition(closing)
        inner = split_reasoning(before + closing, option, opened=opened)
        return with_split(reply, Split(inner.reasoning or before.strip(), after.lstrip()))
    split = split_reasoning(
        reply.text, option, opened=opened, cut=reply.stop_reason is StopReason.LENGTH
    )
    if split.response == reply.text and not split.unclosed:
        return with_cause(reply)
    return with_split(reply, split)


def with_split(reply: Reply, split: Split) -> Reply:
    """Return a reply with the two parts of its text."""
    reasoning = _joined([reply.reasoning or "", split.reasoning])
    made = replace(reply, text=split.response, reasoning=reasoning)
    return with_cause(made, unclosed=split.unclosed)


def with_cause(reply: Reply, *, unclosed: bool = False) -> Reply:
    """Return a reply that says so where thinking used up its limit of tokens."""
    spent = reply.stop_reason is StopReason.LENGTH and reply.reasoning and not reply.text.strip()
    if not unclosed and not spent:
        return reply
    return replace(reply, metadata={**reply.metadata, "cause": THOUGHT_AWAY})


def whole_text(reply: Reply) -> str:
    r"""Return everything that a model wrote, its reasoning in tags before the response.

    >>> whole_text(Reply("lion", StopReason.END, 0.1, reasoning="A mane."))
    '<think>\nA mane.\n</think>\n\nlion'
    """
    return (
        f"<think>\n{reply.reasoning}\n</think>\n\n{reply.text}" if reply.reasoning else reply.text
    )


TAKEN_BACK = Wait(0.0, "what came so far is reasoning")
"""Makes the pieces before it void, where they proved to be no part of the response."""


class ReasoningStream:
    r"""Shows the response of a text that comes in pieces, by the rule for the whole text.

    What may be part of a tag, or become thinking by a later tag, is held back.

    >>> stream = ReasoningStream()
    >>> [stream.feed(piece) for piece in ("<thi", "nk>A mane", ".</thi", "nk>\n", "lion")]
    ['', '', '', '', 'lion']
    """

    def __init__(self, option: str = AUTO, opened: str = "") -> None:
        self._option, self._opened = option, opened
        known = "<[◁" if option == AUTO else "".join(dict.fromkeys(option))
        self._sign = re.compile(rf"[{re.escape(known)}]")
        self._text = self._shown = ""
        self._late: list[str] = []  # settled pieces: one text of each would take quadratic time
        self._settled = option == KEEP
        self._reads = self._due = 0
        self._void = False
        self.inside = bool(opened) and option != KEEP

    @property
    def said(self) -> bool:
        """Whether a part of the response was passed on."""
        return bool(self._shown.strip()) or (not self.inside and any(map(str.strip, self._late)))

    def feed(self, text: str) -> str:
        """Take in a piece; return the text that belongs to the response, as far as is known."""
        if self._option == KEEP or (self._settled and not self._sign.search(text)):
            self._late.append(text)
            return "" if self.inside else text
        self._join()
        self._text += text
        if len(self._text) < self._due:
            return ""
        self._reads += 1
        if self._reads > _OFTEN:  # a model that repeats a tag
            self._due = len(self._text) * 17 // 16
        known = _known(self._text, self._option)
        now = split_reasoning(self._text, self._option, opened=self._opened, more=True)
        self.inside = now.unclosed
        if known < len(self._text):
            self._settled = False
            now = split_reasoning(self._text[:known], self._option, opened=self._opened, more=True)
        else:
            starts = self._option == AUTO and self._text.startswith(_STARTS)
            self._settled = not starts and (self.inside or bool(now.response))
        return self._passed(now.response)

    def finish(self, *, cut: bool = False) -> Split:
        """Return the two parts of the whole text."""
        self._join()
        return split_reasoning(self._text, self._option, opened=self._opened, cut=cut)

    def taken_back(self) -> bool:
        """Return whether what was passed on has just proved to be no response; True once."""
        void, self._void = self._void, False
        return void

    def rest_of(self, response: str) -> str:
        """Return what was not passed on of the final response; all of it after a taking back."""
        self._join()
        return self._passed(response)

    def _join(self) -> None:
        late = "".join(self._late)
        self._late.clear()
        self._text += late
        self._shown += "" if self.inside else late

    def _passed(self, response: str) -> str:
        if not response.startswith(self._shown):
            self._void, self._shown = True, ""
        new = response[len(self._shown) :]
        self._shown = response
        return new


class _Stream(Protocol):
    def taken_back(self) -> bool: ...


def passed_on(stream: _Stream, piece: str) -> Iterator[str | Wait]:
    """Yield what a stream has just returned, after :data:`TAKEN_BACK` where it began anew."""
    if stream.taken_back():
        yield TAKEN_BACK
    if piece:
        yield piece


_LONGEST = 200
"""In characters: a tag, or the words between two that are only named."""
_OFTEN = 100
_UNFINISHED = re.compile(
    r"(?:<\|end\|>)?(?:<\|start\|>[^<]*)?<\|channel\|>[^<]*(?:<[^>]*)?\Z"
    r"|<\|(?:end|start)\|>[^<]*(?:<[^>]*)?\Z|[<\[◁][^<>\[\]◁▷\n]{0,100}\Z"
)


def _known(text: str, option: str) -> int:
    """Return the length of a text without an end that may be, or stand at, a tag."""
    begin = max(0, len(text) - _LONGEST)
    known = len(text)
    if option == AUTO:
        match = _UNFINISHED.search(text, begin)
        known = match.start() if match else known
    else:
        tags = [tag for pair in _custom(option) for tag in pair]
        ends = range(begin, len(text))
        known = next((n for n in ends if any(t.startswith(text[n:]) for t in tags)), known)
    for tag in _tags(text, option, begin):
        if tag.end <= known and not text[tag.end : known].strip(_BLANK):
            known = tag.start
    return known
