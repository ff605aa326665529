"""Marks, words and lines of the rating screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from tabwb.administer.rating.session import Asked, Draft
from tabwb.battery.forms import Form, Option, Question
from tabwb.phonology.inventory import parse_spoken, to_ipa
from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.records.words import plural
from tabwb.workbench.rating.view_models import RatingView, Slot, attempts_in, slots_of
from tabwb.workbench.shell.columns import Column, Heading, laid
from tabwb.workbench.shell.drawn import scale
from tabwb.workbench.shell.sound import bars
from tabwb.workbench.shell.wording import (
    ABSENT,
    ACCENT,
    AMBER,
    LEAST,
    PRESENT,
    QUIET,
    folded,
    wrapped,
)

BESIDE_NAME = 51
"""Columns of the title bar beside the name of the set and the rater's code."""
UNSURE, OPEN = "?", "·"
LOUD_ROWS, ONLY_LOUD_ROWS = 2, 6
"""Lines of the loudness of a recording, beside others and where it is all there is."""
PIECE_GAP = 3
"""Columns between two pieces in a line."""
SURE = ("guessed", "unsure", "fairly sure", "sure")
"""The confidences 0 to 3 in words."""


def mark(question: Question, answer: Answer) -> str:
    """Return an answer as it is shown beside the question.

    Args:
        question: that was answered.
        answer: to it.
    """
    if answer == CANNOT_TELL:
        return UNSURE
    if answer is None:
        return OPEN
    if question.kind == "present-absent":
        return PRESENT if answer == 1.0 else ABSENT
    if question.kind == "scale":
        return f"{answer:g}"
    if question.kind == "choice":
        return next((one.title for one in question.options if one.value == answer), str(answer))
    if question.kind == "phonemes":
        return in_ipa(str(answer))
    return str(answer)


def answer_words(question: Question, answer: Answer, *, confirmed: bool = False) -> str:
    """Return an answer as a mark with its word."""
    shown = mark(question, answer)
    if answer == CANNOT_TELL:
        return f"{shown} cannot tell"
    if question.kind == "present-absent":
        not_looked = "not looked at, confirmed as absent" if confirmed else "not looked at"
        words = {PRESENT: "present", ABSENT: "absent", OPEN: not_looked}
        return f"{shown} {words[shown]}"
    if answer is None:
        return f"{shown} not answered"
    if question.kind == "scale":
        title = next((one.title for one in question.options if one.value == shown), "")
        return f"{shown} {title}".rstrip()
    return shown


def in_ipa(phonemes: str) -> str:
    """Return phonemes in ARPAbet as IPA; what is not read stays as it is.

    >>> in_ipa("D AO G"), in_ipa("D <sil> AO"), in_ipa("9")
    ('dɔɡ', 'd <sil> ɔ', '9')
    """
    try:
        read = parse_spoken(phonemes)
    except TabwbError:
        return phonemes
    words: list[list[str]] = [[]]
    shown: list[str] = []
    for phoneme in read:
        if phoneme.startswith("<"):
            shown += [to_ipa(words[-1]), phoneme]
            words.append([])
        else:
            words[-1].append(phoneme)
    return " ".join(filter(None, [*shown, to_ipa(words[-1])]))


def definition_lines(
    slot: Slot, answer: Answer, width: int, *, room: int, confirmed: bool = False
) -> Iterator[Content]:
    """Yield what stands about one question: title, answer, definition, answers allowed, example."""
    question, width = slot.question, max(width, LEAST)
    title = question.title + (f", attempt {slot.attempt}" if question.per_attempt else "")
    said = answer_words(question, answer, confirmed=confirmed)
    head = Content.assemble((title, "bold"), "   ", (said, ACCENT))
    body: list[Content] = []
    if question.options and any(
        option.key or question.kind == "scale" for option in question.options
    ):
        pieces = [
            Content.assemble((option.key or option.value, f"bold {ACCENT}"), " ", option.title)
            for option in question.options
        ]
        body += flowed(pieces, width)
    if question.definition:
        body += [Content(line) for line in wrapped(question.definition, width)]
    if question.example:
        body += [Content.styled(line, QUIET) for line in wrapped(f"e.g. {question.example}", width)]
    lines = [head.truncate(width, ellipsis=True), *body]
    if len(lines) > room:
        lines = lines[: max(room, 1)]
        lines[-1] = Content.assemble(lines[-1].truncate(width - 2), " …")
    yield from lines


def flowed(pieces: list[Content], width: int) -> list[Content]:
    """Return pieces side by side, wrapped between them."""
    lines: list[Content] = []
    for piece in pieces:
        if lines and lines[-1].cell_length + PIECE_GAP + piece.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], " " * PIECE_GAP, piece)
        else:
            lines.append(piece)
    return lines


def sample_lines(view: RatingView, width: int) -> Iterator[Content]:
    """Yield prompt, context and text of a sample."""
    width = max(width, LEAST)
    if view.prompt:
        yield from (Content.styled(line, "bold") for line in _wrapped(view.prompt, width))
        yield Content("")
    if view.audio_s is not None:
        yield Content.assemble(
            ("▸ ", ACCENT), f"a recording of {view.audio_s:.2f} s", ("   space plays it", QUIET)
        )
    if view.loudness is not None:
        alone = not (view.picture or view.text or view.target)
        wide = min(width, 100)
        for row in bars(view.loudness, wide, ONLY_LOUD_ROWS if alone else LOUD_ROWS):
            yield Content.styled(row, ACCENT)
        if alone:
            yield scale(wide, highest=view.audio_s or 1.0)
    if view.target:
        yield Content.assemble(("expected  ", QUIET), (view.target, "bold"))
    if view.context_before:
        yield from (Content.styled(line, QUIET) for line in _wrapped(view.context_before, width))
    if view.text:
        for line in _wrapped(view.text, width - 2):
            yield Content.assemble(("▌ ", ACCENT), line)
    elif "text" in view.form.shows and not view.form.spoken:
        yield Content.assemble(("▌ ", ACCENT), ("(nothing was said)", QUIET))
    if view.context_after:
        yield from (Content.styled(line, QUIET) for line in _wrapped(view.context_after, width))


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        yield from wrapped(line, max(width, LEAST)) or [""]


def progress_words(view: RatingView) -> str:
    """Return ``sample 12 of 82``."""
    return f"sample {view.position} of {view.planned}" + ("   learning" if view.learning else "")


def title_line(
    view: RatingView | None, saved: tuple[str, str], width: int
) -> tuple[Content, Content]:
    """Return both ends of the title bar: set and rater, and what is saved."""
    words = ""
    if view is not None:
        room = max(width - len(view.rater) - BESIDE_NAME, LEAST)
        name = Content(view.set_name).truncate(room, ellipsis=True).plain
        words = f" · rating set {name} · rater {view.rater}"
    left = Content.assemble(("tabwb", f"bold {ACCENT}"), words)
    return left, Content.assemble(("blind", QUIET), "   ", ("", "") if view is None else saved)


def place_line(view: RatingView, draft: Draft, *, more: bool) -> tuple[Content, Content]:
    """Return what stands above a sample at the left and at the right."""
    left = Content.styled(progress_words(view) if view.phase != "over" else "", "bold")
    if more:
        left = Content.assemble(left, ("   page down", f"bold {ACCENT}"), (" continues", QUIET))
    if view.phase != "rate":
        return left, Content("")
    note = "note ✓   " if draft.note else ""
    sure = confidence_words(draft.confidence)
    looked = looked_words(view.form, draft.answers)
    return left, Content.styled(f"{looked}{note}confidence {sure}", QUIET)


def looked_words(form: Form, answers: Mapping[str, Answer]) -> str:
    """Return how many features were looked at; nothing for a form without such questions."""
    features = [one.measure for one in form.questions if one.kind == "present-absent"]
    looked = sum(answers.get(measure) is not None for measure in features)
    return f"{looked} of {len(features)} looked at   " if features else ""


def asked_words(asked: Asked, form: Form) -> str:
    """Return what a rater is asked to confirm before a sample is complete.

    >>> form = Form("one", "1", "One", "MIT", "", (Question("anomia", "Anomia"),))
    >>> asked_words(Asked(Draft(), ("anomia",), True, True), form)
    'nothing answered, less than 1 s. enter again: 1 feature absent'
    >>> asked_words(Asked(Draft(), ("anomia",), False, False, again=True), form)
    '1 feature not looked at. wait, then enter: absent'
    """
    features = plural(len(asked.unmarked), "feature")
    said = ["nothing answered"] if asked.untouched else []
    if asked.unmarked and not asked.untouched:
        said.append(f"{features} not looked at")
    said += [f"less than {form.least_seconds:g} s"] * asked.fast
    key = "wait, then enter" if asked.again else "enter again"
    absent = f"{features} absent" if asked.untouched else "absent"
    return f"{', '.join(said)}. {key}: {absent if asked.unmarked else 'complete'}"


def confidence_words(confidence: int | None) -> str:
    """Return a confidence in words.

    >>> confidence_words(3), confidence_words(None)
    ('3 sure', '- not given')
    """
    return "- not given" if confidence is None else f"{confidence} {SURE[confidence]}"


_Compared = tuple[bool, Question, Answer, Answer]
"""Whether they differ, the question, the rater's own answer, the right one."""


def feedback_lines(view: RatingView, width: int) -> Iterator[Content]:
    """Yield the right answers to a calibration sample beside the rater's own, the unlike first."""
    right: Mapping[str, Answer] = view.right or {}
    rows = []
    for slot in slots_of(view.form, attempts_in(right)):
        if slot.key in right:
            own, other = view.rated.get(slot.key), right[slot.key]
            rows.append((own != other, slot.question, own, other))
    unlike = sum(row[0] for row in rows)
    same = len(rows) - unlike
    yield Content.assemble(("Right answers   ", "bold"), (f"{same} of {len(rows)} as yours", QUIET))
    yield Content("")
    shown: list[_Compared | Heading] = []
    for row in sorted(rows, key=lambda row: not row[0]):
        shown.append(row)
        differs, question, *_ = row
        if differs and question.definition:
            shown += map(Heading, folded(question.definition, width, QUIET, 4))
    yield from laid(COMPARED, shown, width)


def _quietly(words: str, row: _Compared, style: str) -> Content:
    return Content.styled(words, style if row[0] else QUIET)


COMPARED: Sequence[Column[_Compared]] = (
    Column("", lambda row: "!" if row[0] else "", style=f"bold {AMBER}"),
    Column("", lambda row: _quietly(row[1].title, row, "bold"), least=16, most=34, end=True),
    Column("yours", lambda row: _quietly(answer_words(row[1], row[2]), row, ACCENT), least=14),
    Column("right", lambda row: _quietly(answer_words(row[1], row[3]), row, "bold"), least=14),
)
"""The columns of own and right answers."""


def over_lines(view: RatingView, *, only: bool) -> Iterator[Content]:
    """Yield the lines of the screen when nothing is left to rate."""
    yield Content.styled(f"{view.done} of {view.planned} samples are rated. Thank you.", "bold")
    yield Content("")
    if view.withheld:
        yield Content(f"{view.withheld} are not shown: their speakers do not agree to rating now.")
    yield Content.styled(
        f"z shows the last sample again; F10 {'ends the program' if only else 'leaves'}.", QUIET
    )


def option_columns(question: Question) -> Sequence[Column[Answer]]:
    """Return the columns of answers to choose from: key, title, definition."""

    def of(value: Answer) -> Option | None:
        return next((one for one in question.options if one.value == _text(value)), None)

    def key(value: Answer) -> str:
        found = of(value)
        return UNSURE if value == CANNOT_TELL else found.key if found is not None else ""

    def title(value: Answer) -> str:
        found = of(value)
        if value == CANNOT_TELL:
            return "cannot tell"
        return answer_words(question, value) if found is None else found.title

    def definition(value: Answer) -> str:
        found = of(value)
        return "" if found is None else found.definition

    return (
        Column("", key, style="bold"),
        Column("", title, least=20, end=True),
        Column("", definition, least=20, end=True, style=QUIET),
    )


def _text(value: Answer) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
