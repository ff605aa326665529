"""Measure whether sampled replies of the bundled model are independent.

``python -m benchmarks.draws [--replicates N] [--temperature T] [--seed S]`` gives TAB to the
bundled model and prints, beside the values of independent draws:

- the share of replicates in which the first words of two open questions agree;
- the variance of the number of right answers per replicate, over that of independent items,
  ``sum p_i (1 - p_i)`` (p_i: share of replicates in which item i is right);
- the number of draws that two runs with neighbouring seeds share.

Nothing here fails: figures are for people. 400 replicates take some minutes.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draws", description=__doc__)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--temperature", type=float, default=2.5)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    said, right = administered(options.replicates, options.temperature, options.seed)
    replicates = options.replicates
    for one, other in (("ct1", "ct2"), ("ct1", "ct3"), ("ct2", "ct5")):
        first, second = (first_words(said[item]) for item in (one, other))
        together = sum(a == b for a, b in zip(first, second, strict=True)) / replicates
        chance = agreement_by_chance(first, second)
        error = math.sqrt(chance * (1 - chance) / replicates)
        print(
            f"first words of {one} and {other} agree: {together:.1%} "
            f"(independent: {chance:.1%}, standard error {error:.1%})"
        )
    for subtest, items in right.items():
        ratio = variance_ratio(items)
        print(
            f"variance of right answers per replicate, {subtest}: "
            f"{'undefined' if ratio is None else f'{ratio:.2f} x independence'} "
            f"(standard error {math.sqrt(2 / max(replicates - 1, 1)):.2f})"
        )
    following, _ = administered(replicates, options.temperature, options.seed + 1)
    shared = sum(
        following[item][at] == texts[at + 1]
        for item, texts in said.items()
        if item.startswith("ct")
        for at in range(replicates - 1)
    )
    print(
        f"connected text: replicate k of seed {options.seed + 1} equals replicate k + 1 of seed "
        f"{options.seed} in {shared} of {5 * (replicates - 1)} replies"
    )


def administered(
    replicates: int, temperature: float, seed: int
) -> tuple[Mapping[str, list[str]], Mapping[str, list[list[bool]]]]:
    """Give TAB; return the responses by item, and the scores by subtest and item."""
    from tabwb.administer.session import setup
    from tabwb.administer.session.drive import drive
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Decoding
    from tabwb.store.store import Store

    plugins = Plugins.load()
    battery = setup.find_battery(plugins, "tab")
    conditions = setup.resolve(
        plugins,
        battery,
        Conditions(
            "bundled",
            "model",
            seed=seed,
            replicates=replicates,
            decoding=Decoding(temperature=temperature, seed=seed),
            judges=(),
        ),
    )
    backend = plugins.open_model(conditions.examinee)
    said: dict[str, list[str]] = {}
    right: dict[str, dict[str, list[bool]]] = {"all": {}}
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            Store.open(Path(folder) / "store.db") as store,
            setup.create(store, plugins, battery, conditions) as session,
        ):
            backend.open()
            for _ in drive(session, backend, threading.Event(), together=64):
                pass
            for trial in session.trials:
                plan, counting = trial.plan, trial.counting
                assert counting is not None, f"{plan.item} has no reply"
                said.setdefault(plan.item, []).append(counting.response)
                scored = [one.value for one in trial.ratings if one.measure == "extracted"]
                if scored and scored[0] is not None:
                    for group in ("all", plan.subtest):
                        items = right.setdefault(group, {})
                        items.setdefault(plan.item, []).append(bool(scored[0]))
    finally:
        backend.close()
        plugins.close()
    return said, {name: list(items.values()) for name, items in right.items()}


def first_words(texts: Sequence[str]) -> list[str]:
    """Return the first word of each text, in lower case; empty if there is none.

    >>> first_words(["The dog.", ""])
    ['the', '']
    """
    return [(text.split() or [""])[0].casefold() for text in texts]


def agreement_by_chance(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of all pairs, one from each, that are equal.

    >>> agreement_by_chance(["a", "b"], ["a", "a"])
    0.5
    """
    one, other = Counter(first), Counter(second)
    return sum(count * other[word] for word, count in one.items()) / (len(first) * len(second))


def variance_ratio(items: Sequence[Sequence[bool]]) -> float | None:
    """Return the variance of right answers per replicate over that of independent items.

    ``var(sum_i y_ir) / sum_i p_i (1 - p_i)``, both with n - 1 degrees of freedom; None if no
    item varies.

    Args:
        items: of each item, whether it was right in each replicate.

    >>> variance_ratio([[True, False, True, False], [True, False, True, False]])
    2.0
    """
    replicates = len(items[0]) if items else 0
    if replicates < 2:
        return None
    totals = [sum(values) for values in zip(*items, strict=True)]
    mean = sum(totals) / replicates
    found = sum((total - mean) ** 2 for total in totals) / (replicates - 1)
    shares = [sum(values) / replicates for values in items]
    expected = sum(p * (1 - p) for p in shares) * replicates / (replicates - 1)
    return found / expected if expected else None


if __name__ == "__main__":
    main()
