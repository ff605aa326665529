"""Measure phonology: 1,000 utterances aligned, with both rates and every trace."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.util import find_spec

from benchmarks.measure import call, interleaved
from benchmarks.rows import Result

UTTERANCES = 1000


def transcripts(seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Return references of 1 to 40 phonemes (mean 13) and hypotheses with a PER of about 0.25."""
    from tabwb.phonology.inventory import PHONEMES

    chance = random.Random(seed)
    refs, hyps = [], []
    for _ in range(UTTERANCES):
        length = min(40, max(1, round(chance.gammavariate(2.5, 5.2))))
        ref = chance.choices(PHONEMES, k=length)
        hyp: list[str] = []
        for phoneme in ref:
            kind = chance.random()
            if kind < 0.07:  # deleted
                continue
            hyp.append(chance.choice(PHONEMES) if kind < 0.20 else phoneme)
            if kind > 0.94:  # inserted
                hyp.append(chance.choice(PHONEMES))
        refs.append(ref)
        hyps.append(hyp)
    return refs, hyps


def error_rates(rounds: int) -> Iterator[Result]:
    """Yield the row of PER, FER and traces, compared with single utterances and panphon."""
    from tabwb.phonology.batch import score
    from tabwb.phonology.distance import align_features, align_phonemes
    from tabwb.phonology.inventory import to_ipa

    refs, hyps = transcripts()

    def batch() -> object:
        found = score(refs, hyps)
        return found.per, found.fer, found.traces()

    def one_at_a_time() -> None:
        for ref, hyp in zip(refs, hyps, strict=True):
            align_features(ref, hyp)
            align_phonemes(ref, hyp)

    runs = {"one at a time, no numpy": one_at_a_time}
    if find_spec("panphon"):
        from panphon.distance import Distance

        distance = Distance()
        written = [(to_ipa(hyp), to_ipa(ref)) for hyp, ref in zip(hyps, refs, strict=True)]

        def panphon() -> None:
            for hyp, ref in written:
                distance.feature_edit_distance(hyp, ref)

        runs["panphon, distances of features only"] = panphon
    own, *others = interleaved(
        lambda: call(batch, 5), *(lambda run=run: call(run, 1) for run in runs.values()),
        rounds=rounds,
    )  # fmt: skip
    yield Result(
        "PER, FER and traces, 1,000 utterances", "0.07 s", own,
        tuple(zip(runs, others, strict=True)),
    )  # fmt: skip
