"""Glyphs, words and lines for states and numbers, the same in all widgets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from rich.cells import cell_len
from textual.content import Content

from tabwb.records.condition_table import line_of
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Rating
from tabwb.records.states import (
    AdministrationStatus,
    RatingStatus,
    ResponseStatus,
    StopReason,
)
from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import Item, SubtestScore

ACCENT, QUIET, LINE, AMBER = "$accent", "$quiet", "$line", "$warning"
"""Theme variables that texts are styled with."""
LEAST = 20
"""No text is wrapped narrower, also before there is any room."""

MARKS = {
    "right": "✓",
    "wrong": "✗",
    "given": "●",
    "open": "·",
    "error": "!",
    "skipped": "›",
    "void": "∅",
    "not-administered": "-",
}
LESIONED = "▲"
"""The glyph of a model under a lesion."""
RECORDING = "◉"
"""The glyph of a microphone that records."""
ATTENTION = "!"
"""The glyph of what somebody has to look at: in error, interrupted, not saved."""
STATUS_GLYPHS = {
    AdministrationStatus.RUNNING: "▸",
    AdministrationStatus.PAUSED: "‖",
    AdministrationStatus.DONE: "✓",
    AdministrationStatus.DISCONTINUED: "■",
}
_STOPS = {
    StopReason.END: "complete",
    StopReason.STOP_STRING: "ended at a stop string",
    StopReason.CANCELLED: "stopped",
    StopReason.REFUSED: "refused",
}
_RESPONSES = {
    ResponseStatus.EMPTY: "no response",
    ResponseStatus.REFUSED: "refused",
    ResponseStatus.NOT_LANGUAGE: "not language",
    ResponseStatus.PROMPT_ECHO: "echo of the prompt",
    ResponseStatus.REPEATED_ANSWER: "repeated answer",
    ResponseStatus.DEGENERATE: "degenerate",
}


def bar(share: float, width: int) -> Content:
    """Return a thin bar, exact to half a cell.

    >>> bar(0.5, 4).plain, bar(0.625, 4).plain, bar(0.0, 4).plain
    ('━━╌╌', '━━╸╌', '╌╌╌╌')
    """
    halves = round(max(0.0, min(1.0, share)) * width * 2)
    full, half = divmod(halves, 2)
    return Content.assemble(("━" * full + "╸" * half, ACCENT), ("╌" * (width - full - half), QUIET))


def spread(left: Content, right: Content, width: int) -> Content:
    """Return a line with one text at the left, which is cut, and one at the right.

    >>> spread(Content("item"), Content("1 of 2"), 14).plain
    'item    1 of 2'
    """
    room = width - right.cell_length - 1
    if left.cell_length > room:
        left = left.truncate(max(room, 0), ellipsis=True)
    return Content.assemble(left, " " * max(width - left.cell_length - right.cell_length, 0), right)


def stopped(item: Item) -> str:
    """Return why the answer ended and which kind of text it is, or an empty text."""
    attempt = item.attempt
    if attempt is None:
        return ""
    words = [_STOPS.get(attempt.stop_reason, "")]
    if attempt.stop_reason is StopReason.LENGTH:
        words.append(f"[cut at {item.token_limit} tokens]")
    status = item.status or attempt.status
    if status is not None:
        words.append(_RESPONSES.get(status, ""))
    return ", ".join(dict.fromkeys(word for word in words if word))


PRESENT, ABSENT = "▣", "□"
"""A feature in a response; ● and ○ are other signs."""
_WITHOUT = {RatingStatus.UNPARSED: "?", RatingStatus.ERROR: "!", RatingStatus.UNDEFINED: "-"}


def verdict_words(rating: Rating | None, probability: float | None = None) -> str:
    """Return a judge's verdict on a feature with its probability, or why there is none.

    >>> from tabwb.records.ratings import undefined, valued
    >>> verdict_words(valued("j", "anomia", True), 0.7), verdict_words(valued("j", "anomia", False))
    ('▣ present 0.70', '□ absent')
    >>> verdict_words(undefined("j", "anomia", "empty")), verdict_words(None)
    ('- undefined', '- not asked')
    """
    if rating is None:
        return "- not asked"
    if rating.status is not RatingStatus.VALUE:
        return f"{_WITHOUT[rating.status]} {rating.status.value}"
    word = f"{PRESENT} present" if rating.value else f"{ABSENT} absent"
    return word if probability is None else f"{word} {probability:.2f}"


def wrapped(text: str, width: int) -> list[str]:
    """Return a line wrapped at blanks, where wide characters take two columns.

    Args:
        text: one line.
        width: columns; a longer word is broken.

    >>> wrapped("the boy falls", 8), wrapped("男孩掉下", 5)
    (['the boy', 'falls'], ['男孩', '掉下'])
    """
    if cell_len(text) == len(text):
        return wrap(text, width)
    lines, line = [], ""
    for word in text.split():
        if line and cell_len(word) <= width < cell_len(f"{line} {word}"):
            lines.append(line)
            line = ""
        for character in f" {word}" if line else word:
            if cell_len(line + character) > width:
                lines.append(line.rstrip())
                line = ""
            line += character
    return [*lines, line] if line else lines


def folded(text: str, width: int, style: str = "", indent: int = 0) -> Iterator[Content]:
    """Yield a text in lines of its own, each so many columns from the left."""
    for line in text.splitlines():
        for part in wrapped(line, max(width - indent, LEAST)) or [""]:
            yield Content.assemble(" " * indent, (part, style))


def seconds(value: float | None) -> str:
    """Return a latency in words.

    >>> seconds(0.4142), seconds(63.21), seconds(None)
    ('0.41 s', '63.21 s', '')
    """
    return "" if value is None else f"{value:.2f} s"


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


def short_spec(spec: str, most: int = 36) -> str:
    """Return a component's spec with its path shortened from the left.

    >>> short_spec("wav2vec2:/models/psst"), short_spec("wav2vec2:/a/long/path/to/psst", 20)
    ('wav2vec2:/models/psst', 'wav2vec2:…th/to/psst')
    """
    if len(spec) <= most:
        return spec
    name, _, rest = spec.partition(":")
    room = max(most - len(name) - 2, 1)
    return f"{name}:…{rest[-room:]}" if rest else f"{spec[: most - 1]}…"


def shortened(label: str, width: int) -> str:
    """Return a name in at most so many columns: its beginning and its end.

    The end tells servers and lesions apart. Of a file the folders are left out first.

    >>> shortened("openai:small@base_url=http://localhost:8000/v1", 20), shortened("bundled", 20)
    ('openai:small@…000/v1', 'bundled')
    >>> shortened("replay:/home/me/study/lesioned.jsonl", 16), shortened("replay:/me/a.jsonl", 8)
    ('replay:…ed.jsonl', 'repla…nl')
    """
    if len(label) <= width:
        return label
    kind, colon, path = label.partition(":")
    named_file = colon and "/" in path and "://" not in path and "@" not in path
    if named_file and width > len(kind) + 2:
        file = path.rpartition("/")[2]
        return f"{kind}:…{file[-max(width - len(kind) - 2, 1) :]}"
    end = width // 3
    return f"{label[: width - end - 1]}…{label[len(label) - end :]}"


def shortened_apart(labels: Sequence[str], width: int) -> list[str]:
    """Return labels cut to a width; those that would look alike keep what differs between them.

    Of a label that is too long the words go that tell it least from the others. Labels that are
    alike even then are numbered.

    Args:
        labels: one for each row.
        width: columns of characters.

    >>> given = ["m (temperature 1, whole battery)", "m (temperature 0.7, whole battery)"]
    >>> shortened_apart(given, 14)
    ['m…1, whole…', 'm…0.7, whole…']
    >>> given = [f"oak-{size}-chat + mlp:zero:0.{dose}@seed=4" for size in "17" for dose in "35"]
    >>> shortened_apart(given, 16)
    ['oak-1-…mlp…0.3…4', 'oak-1-…mlp…0.5…4', 'oak-7-…mlp…0.3…4', 'oak-7-…mlp…0.5…4']
    """
    different = dict.fromkeys(labels)
    cut = {label: shortened(label, width) for label in different}
    if len(set(cut.values())) == len(cut):
        return [cut[label] for label in labels]
    words = {label: _words(label) for label in different}
    having: Counter[str] = Counter()
    sharing: dict[str, int] = {}
    for place, own in enumerate(words.values()):
        having.update(set(own))
        for word in own:
            sharing[word] = sharing.get(word, 0) | 1 << place
    plain = Counter(cut.values())
    for label, own in words.items():
        if len(label) > width and plain[cut[label]] > 1:
            cut[label] = shortened(_fewer_words(own, sharing, having, width), width)
    alike = Counter(cut.values())
    for number, label in enumerate(different, 1):
        if alike[cut[label]] > 1:
            cut[label] = f"{cut[label][: width - len(str(number)) - 1]}#{number}"
    return [cut[label] for label in labels]


SEPARATORS = " -_/:@=,+()"
SHORT = 10
"""The most characters of a first word that stays."""
ENDS = " :@=,+(."
"""Separators that are not shown before an ellipsis."""
_ANY = re.escape(SEPARATORS)


def _words(label: str) -> list[str]:
    return re.findall(rf"(?:[^{_ANY}.]|\.(?=\d))*(?:[{_ANY}]|\.(?!\d))*", label)[:-1]


def _fewer_words(
    words: Sequence[str], sharing: Mapping[str, int], having: Mapping[str, int], width: int
) -> str:
    """Return words without those that tell least, with … for them.

    Args:
        words: of a label, each with the separators after it; a short first one stays.
        sharing: by word, a bit for each label that has it.
        having: by word, how many labels have it.
        width: columns.
    """
    kept = list(range(len(words)))

    def joined() -> str:
        text, before = "", -1
        for at in kept:
            text = (text if at == before + 1 else f"{text.rstrip(ENDS)}…") + words[at]
            before = at
        return text if before == len(words) - 1 else f"{text.rstrip(ENDS)}…"

    def others_without(at: int) -> int:
        same = -1
        for place in kept:
            if place != at:
                same &= sharing[words[place]]
        return same.bit_count()

    stays = len(words[0].rstrip(SEPARATORS)) <= min(width // 2, SHORT)
    while len(joined()) > width and len(kept) > 1:
        least = min(
            [at for at in kept if at or not stays],
            key=lambda at: (others_without(at), -having[words[at]], -len(words[at]), -at),
        )
        if len(kept) == 2 and others_without(least) > 1:
            break  # both tell it from others
        kept.remove(least)
    return joined()


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


def marks(subtest: SubtestScore, *, hidden: bool = False, person: bool = False) -> Content:
    """Return one mark for each trial, or a bar for many trials."""
    if not subtest.marks:
        return bar(subtest.given / subtest.planned if subtest.planned else 0.0, 10)
    parts: list[Content | tuple[str, str]] = []
    shown = ["given" if hidden and mark in {"right", "wrong"} else mark for mark in subtest.marks]
    for mark in shown:
        right = "$foreground" if person else ACCENT
        style = {"right": right, "given": ACCENT, "wrong": "$foreground"}.get(mark, QUIET)
        parts.append((MARKS[mark], style))
        parts.append((" ", ""))
    return Content.assemble(*parts[:-1])


def compact(subtests: Sequence[SubtestScore], burden: str, width: int, *, hidden: bool) -> Content:
    """Return the live scores in one line: ``word 2/3   sentence -   burden 1.60 over 7``.

    Where it is narrow the pieces move together; subtests that do not fit even so are left out from
    the far end, with ``…`` in their place. The current one never is.
    """

    def part(subtest: SubtestScore) -> Content:
        if hidden or subtest.right is None:
            words = f"{subtest.given} given" if subtest.given else "-"
        else:
            words = f"{subtest.right}/{subtest.scored}"
        return Content.assemble(
            (subtest.short, "$foreground" if subtest.current else QUIET), " ", (words, "bold")
        )

    tail = [] if hidden or not burden else [Content.styled(burden, ACCENT)]
    for gap in ("   ", "  "):
        line = Content(gap).join([*map(part, subtests), *tail])
        if line.cell_length <= width:
            return line
    chosen = list(subtests)
    tail.insert(0, Content.styled("…", QUIET))
    while len(chosen) > 1:
        chosen.remove(next(subtest for subtest in reversed(chosen) if not subtest.current))
        line = Content("  ").join([*map(part, chosen), *tail])
        if line.cell_length <= width:
            break
    return line.truncate(width, ellipsis=True)


def sentence(words: str) -> str:
    """Return words that a plugin declared as a sentence.

    >>> sentence("a text rule; not compared with expert raters")
    'A text rule; not compared with expert raters.'
    """
    return words[:1].upper() + words[1:].rstrip(".") + "." if words else ""
