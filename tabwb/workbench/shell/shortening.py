"""Texts and names shortened to a number of columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence


def clipped(text: str, width: int) -> str:
    """Return a text in at most so many columns: its beginning.

    >>> clipped("naming", 6), clipped("naming", 4)
    ('naming', 'nam…')
    """
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def short_spec(spec: str, most: int = 36) -> str:
    """Return a component's spec with its path shortened from the left.

    >>> short_spec("wav2vec2:/models/psst"), short_spec("wav2vec2:/a/long/path/to/psst", 20)
    ('wav2vec2:/models/psst', 'wav2vec2:…th/to/psst')
    """
    if len(spec) <= most:
        return spec
    name, _, rest = spec.partition(":")
    room = max(most - len(name) - 2, 1)
    return f"{name}:…{rest[-room:]}" if rest else clipped(spec, most)


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

    >>> shortened_apart(["bundled (greedy)", "bundled (temperature 0.8)"], 15)
    ['bundled…greedy)', 'bundled…0.8)']
    >>> given = ["m (temperature 1, whole battery)", "m (temperature 0.7, whole battery)"]
    >>> shortened_apart(given, 14)
    ['m…1, whole…', 'm…0.7, whole…']
    >>> given = [f"oak-{size}-chat + mlp:zero:0.{dose}@seed=4" for size in "17" for dose in "35"]
    >>> shortened_apart(given, 16)
    ['oak-1-…mlp…0.3…4', 'oak-1-…mlp…0.5…4', 'oak-7-…mlp…0.3…4', 'oak-7-…mlp…0.5…4']
    """
    different = dict.fromkeys(labels)
    cut = {label: shortened(label, width) for label in different}
    words = {label: _words(label) for label in different}
    begins = Counter(own[0] for own in words.values() if own)
    if len(set(cut.values())) == len(cut) and max(begins.values(), default=0) < 2:
        return [cut[label] for label in labels]
    having: Counter[str] = Counter()
    sharing: dict[str, int] = {}
    for place, own in enumerate(words.values()):
        having.update(set(own))
        for word in own:
            sharing[word] = sharing.get(word, 0) | 1 << place
    plain = Counter(cut.values())
    for label, own in words.items():
        if len(label) > width and own and (plain[cut[label]] > 1 or begins[own[0]] > 1):
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
    """Return words without those that tell least, with … for them."""
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
            if (room := width - len(words[kept[1]]) - 1) > 0 and kept[0] == 0:
                return f"{words[0][:room].rstrip(ENDS)}…{words[kept[1]]}"
            break  # both tell it from others
        kept.remove(least)
    return joined()
