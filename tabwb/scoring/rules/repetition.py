"""Repeated words: rules 1 (retracing), 3 (perseverations) and 10 (stereotypies)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.lexical import is_word
from tabwb.scoring.rules.passage import (
    NOT_SEEN,
    Passage,
    RuleVerdict,
    Run,
    Thresholds,
    Token,
    absent,
    echoed,
    find_runs,
    is_content,
    present,
    read,
    without_fillers,
)


def _is_idiom(words: Sequence[str], run: Run) -> bool:
    """Return whether a run is *again and again and again* or *side by side by side*."""
    if run.size != 2:
        return False
    first, second = words[run.start : run.start + 2]
    if first == "and" or first in vocabulary.REDUPLICATING:
        first, second = second, first
    if second == "and":
        return first in vocabulary.COORDINATED or first.endswith("er")
    return second in vocabulary.REDUPLICATING


def retracing(passage: Passage) -> RuleVerdict:
    """Rule 1, two-sided: the same 2-6 words (not all one word) exactly twice in a row.

    Both copies are within one utterance; 3 or more belong to rule 3. In a transcript of speech it
    is a rate: 3.5 per 100 words or more. Ours: *again and again and again* and *side by
    side by side* are English.

    >>> retracing(read("The kite is the kite is flying.")).words
    ('The kite is the kite is',)
    """
    quotes: list[str] = []
    for utterance in passage.utterances:
        tokens = without_fillers(utterance.tokens)
        words = [token.word for token in tokens]
        quotes += [
            passage.quote(tokens[run.start : run.end])
            for run in find_runs(words, *passage.limits.retraced_words)
            if run.times == 2 and not _is_idiom(words, run)
            # Three dots separate copies in typed text: "we swam... and swam".
            if not passage.typed_form
            or "..." not in passage.text[tokens[run.start].start : tokens[run.end - 1].end]
        ]
    if not quotes:
        return absent()
    if not passage.context.spoken:
        return present(*quotes)
    least = passage.limits.retracings_per_100_spoken
    rate = 100 * len(quotes) / len(passage.tokens)
    note = f"{rate:.1f} per 100 words of speech"
    return absent(f"{note}, under {least}") if rate < least else present(*quotes, note=note)


REPEATED_WORDS = "the rule sees words that come again, not an idea that returns in other words"


def perseverations(passage: Passage) -> RuleVerdict:
    """Rule 3, two-sided: inappropriate repetition of words.

    1-6 words 3 or more times in a row, with a content word (not *very, really, much, ha, no*); or
    an utterance of 5 or more words again verbatim; or any 8 words twice; or 4 or more words across
    a sentence end twice in a row. Prompt text is subtracted first: the repeated words must include
    one (in the first clause: a content word) outside every stretch of 3 words of the prompt. Ours,
    so that a repetition that includes the prompt (appendix C, example 3) still counts.
    In ``rules-2`` one word three times between commas is emphasis in typed text (*I loved, loved,
    loved it*), and a phrase of 3 words or more that is said 3 times in one response counts.

    >>> perseverations(read("The ball, the ball, the ball kept bouncing.")).words
    ('The ball, the ball, the ball',)
    """
    limits, tokens = passage.limits, passage.plain
    words = [token.word for token in tokens]
    prompt = echoed(passage, limits.prompt_stretch)

    def is_new(start: int, end: int) -> bool:
        return any(at not in prompt for at in range(start, end))

    def has_content(start: int, end: int) -> bool:
        return any(
            at not in prompt and words[at] not in vocabulary.EMPHATIC and is_content(words[at])
            for at in range(start, end)
        )

    spans: list[tuple[int, int]] = []
    for run in find_runs(words, *limits.perseverated_words):
        if _is_emphasis(passage, tokens[run.start : run.end], run):
            continue
        enough = run.times >= limits.perseverated_times
        if enough and has_content(run.start, run.end) and not _is_idiom(words, run):
            spans.append((run.start, run.end))
    for run in find_runs(words, limits.repeated_across_stop, limits.repeated_anywhere):
        crosses = tokens[run.start].utterance < tokens[run.end - 1].utterance
        if crosses and is_new(run.start, run.end):
            spans.append((run.start, run.end))
    spans += [span for span in _again(tokens, limits) if is_new(*span)]
    if limits.returning_words:
        spans += [span for span in _returning(tokens, limits) if has_content(*span)]
    if not spans:
        return absent(REPEATED_WORDS if limits.form_based else "")
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or end > outermost[-1][1]:
            outermost.append((start, end))
    return present(*(passage.quote(tokens[start:end]) for start, end in outermost))


def _is_emphasis(passage: Passage, tokens: Sequence[Token], run: Run) -> bool:
    if run.size != 1 or run.times > passage.limits.emphatic_times or passage.context.spoken:
        return False
    between = (passage.text[token.end : following.start] for token, following in pairwise(tokens))
    return len(passage.plain) != len(tokens) and all("," in gap for gap in between)


def _returning(tokens: Sequence[Token], limits: Thresholds) -> Iterator[tuple[int, int]]:
    """Yield the span of the last occurrence of each phrase that returns often enough."""
    size, times = limits.returning_words, limits.returning_times
    words = [token.word for token in tokens]
    phrases = list(zip(*(words[at:] for at in range(size)), strict=False))
    often = {phrase for phrase, count in Counter(phrases).items() if count >= times}
    places: dict[tuple[str, ...], list[int]] = {}
    for at, phrase in enumerate(phrases):
        if phrase not in often or not is_content(phrase[-1]):
            continue
        run = tokens[at : at + size]
        opens = at == 0 or tokens[at - 1].utterance != run[0].utterance
        named = any(token.text[0].isupper() for token in run)
        if run[0].utterance == run[-1].utterance and not (opens or named):
            starts = places.setdefault(phrase, [])
            if not starts or at - starts[-1] >= size:
                starts.append(at)
    for starts in places.values():
        fills = len(starts) * size >= limits.returning_share * len(tokens)
        if len(starts) >= times and fills:
            yield starts[-1], starts[-1] + size


def _again(tokens: Sequence[Token], limits: Thresholds) -> Iterator[tuple[int, int]]:
    """Yield the second occurrence of utterances and stretches that were said before, as spans."""
    words = [token.word for token in tokens]
    seen: set[tuple[str, ...]] = set()
    start = 0
    for at, token in enumerate(tokens):
        if at + 1 < len(tokens) and tokens[at + 1].utterance == token.utterance:
            continue
        utterance = tuple(words[start : at + 1])
        if len(utterance) >= limits.repeated_utterance:
            if utterance in seen:
                yield start, at + 1
            seen.add(utterance)
        start = at + 1
    size = limits.repeated_anywhere
    first: dict[tuple[str, ...], int] = {}
    end = 0
    for at in range(len(words) - size + 1):
        earlier = first.setdefault(tuple(words[at : at + size]), at)
        if at - earlier >= size and at >= end:
            yield at, at + size
            end = at + size


def stereotypies(passage: Passage) -> RuleVerdict:
    """Rule 10, one-sided: overlearned words said repeatedly.

    3 or more in a row of the same expletive, *yes*, *no*, *okay*, *well*, *you know*, or of one
    non-word; or one short formula (a whole utterance of up to 5 words outside the prompt, ours)
    in 3 or more answers, this one included. In ``rules-2`` also any word or syllable 4 or more
    times as the whole answer.

    >>> stereotypies(read("I keep saying dammit dammit dammit all the time")).words
    ('dammit dammit dammit',)
    """
    limits, tokens = passage.limits, passage.plain
    words = [token.word for token in tokens]
    quotes: list[str] = []
    for run in find_runs(words, 1, 2):
        unit = tuple(words[run.start : run.start + run.size])
        stereotyped = (
            sorted(unit) == sorted(vocabulary.STEREOTYPED_PAIR)
            if run.size == 2
            else unit[0] in vocabulary.STEREOTYPED or (len(unit[0]) > 1 and not is_word(unit[0]))
        )
        if run.times >= limits.stereotypy_times and stereotyped:
            quotes.append(passage.quote(tokens[run.start : run.end]))
    whole = len(words) >= limits.whole_answer_times > 0 and len(set(words)) == 1
    if whole and not quotes:
        quotes.append(passage.quote(tokens))
    if 1 + len(passage.context.previous) >= limits.formula_answers:
        quotes += _shared_formulas(passage)
    return present(*quotes) if quotes else NOT_SEEN


def _shared_formulas(passage: Passage) -> Iterator[str]:
    limits = passage.limits
    longest = limits.formula_words
    others = [_formulas_of(answer, longest) for answer in passage.context.previous]
    prompts = _formulas_of(passage.context.prompt, longest)
    for formula in _formulas(passage, longest):
        answers = 1 + sum(formula in other for other in others)
        if answers >= limits.formula_answers and formula not in prompts:
            yield f"{formula} (in {answers} answers)"


def _formulas(passage: Passage, longest: int) -> tuple[str, ...]:
    short = (
        " ".join(token.word for token in without_fillers(utterance.tokens))
        for utterance in passage.utterances
        if len(utterance.tokens) <= longest
    )
    return tuple(dict.fromkeys(filter(None, short)))


@lru_cache(maxsize=1024)
def _formulas_of(answer: str, longest: int) -> tuple[str, ...]:
    return _formulas(read(answer), longest)
