"""The localizer: the units that respond more to sentences than to lists of nonwords.

The contrast is that of the functional localizer of the language network in people (E. Fedorenko et
al., 2010, Journal of Neurophysiology 104, 1177-1194), used for units of language models by
B. AlKhamissi et al. (2025, The LLM language network, NAACL; arXiv 2411.02280): the units with the
largest Welch t of their response magnitudes are taken, over all layers. Their units are the outputs
of blocks; these are neurons and heads, which can be lesioned. It selects units by what they respond
to; that they do anything for language does not follow.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabwb.lesion.declared import MEASURES, Part, Pool
from tabwb.lesion.draw import how_many
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Scores, top
from tabwb.records.errors import ComponentError, Interrupted, UsageError
from tabwb.records.files import read_regular

ITEMS: Final = "language-1"
TOO_LARGE = 20_000_000
LONGEST = 100
FEWEST = 4
"""So many texts has each condition: each half then has a variance."""
_ALLOWED = (
    "a TOML file with format = 1, name, and tables [first] and [second], each with label and texts"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the two conditions."""

    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a contrast: selective units respond more to ``first`` than to ``second``."""

    name: str
    first: Condition
    second: Condition
    sha256: str

    @property
    def contrast(self) -> str:
        """The contrast in words: ``sentences > nonwords``."""
        return f"{self.first.label} > {self.second.label}"


def shipped_items() -> Items:
    """Return the shipped items: 80 sentences, and 80 lists of nonwords of the same lengths."""
    place = files("tabwb.lesion") / "data" / f"{ITEMS}.toml"
    return _of(place.read_bytes(), ITEMS)


def read_items(path: Path) -> Items:
    """Return the items of a file."""
    content = read_regular(path, TOO_LARGE)
    if content is None:
        raise UsageError("cannot be read: there is no such file", where=str(path))
    return _of(content, str(path))


def _of(content: bytes, where: str) -> Items:
    import tomli

    try:
        table = tomli.loads(content.decode())
    # ValueError: of both, and a number with thousands of digits.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not TOML in UTF-8: {error}", where=where) from error
    name = table.get("name")
    if table.get("format") != 1 or not isinstance(name, str) or not name.strip():
        raise UsageError("is not a file of items of format 1", where=where, allowed=_ALLOWED)
    _check_shown(name, "name", where)
    first, second = (_condition(table, key, where) for key in ("first", "second"))
    seen: set[str] = set()
    for text in (*first.texts, *second.texts):
        if text in seen:
            raise UsageError(
                f"has a text twice: {text[:80]!r}", where=where, allowed="each text once"
            )
        seen.add(text)
    return Items(name, first, second, hashlib.sha256(content).hexdigest())


def _condition(table: Mapping[str, Any], key: str, where: str) -> Condition:
    own = table.get(key)
    label = own.get("label") if isinstance(own, dict) else None
    texts = own.get("texts") if isinstance(own, dict) else None
    if not isinstance(label, str) or not isinstance(texts, list):
        raise UsageError(
            f"has no table [{key}] with label and texts", where=where, allowed=_ALLOWED
        )
    _check_shown(label, f"{key}.label", where)
    if not all(isinstance(text, str) and text.strip() and "\0" not in text for text in texts):
        raise UsageError(f"has a text in [{key}] that is empty or no text", where=where)
    if len(texts) < FEWEST:
        message = f"has {len(texts)} texts in [{key}]"
        raise UsageError(message, where=where, allowed=f"{FEWEST} or more")
    return Condition(label, tuple(texts))


def _check_shown(text: str, key: str, where: str) -> None:
    if not (text.strip() and text.isprintable() and len(text) <= LONGEST):
        allowed = f"1 to {LONGEST} printable characters"
        raise UsageError(f"has a {key} that cannot be shown", where=where, allowed=allowed)


Values = NDArray[np.float64]
T = TypeVar("T", bound=np.generic)
Activations = Callable[[str, Sequence[str], Pool, threading.Event], Iterator[NDArray[np.float32]]]
"""``activations`` of :class:`tabwb.plugin_api.components.ActivationBackend`."""
STATISTIC = "welch-t"


@dataclass(slots=True)
class Moments:
    """Number, mean and sum of squared deviations of values that come one after the other.

    B. P. Welford (1962, Technometrics 4, 419-420).
    """

    count: int = 0
    mean: Values = field(default_factory=lambda: np.zeros(()))
    squares: Values = field(default_factory=lambda: np.zeros(()))

    def add(self, values: Values) -> None:
        """Take one more value of each unit into account, shape (units,)."""
        self.count += 1
        before = values - self.mean
        self.mean = self.mean + before / self.count
        self.squares = self.squares + before * (values - self.mean)

    def together(self, other: Moments) -> Moments:
        """Return the moments of the values of both.

        T. F. Chan, G. H. Golub and R. J. LeVeque (1983, The American Statistician 37, 242-247).
        """
        count = self.count + other.count
        apart = other.mean - self.mean
        mean = self.mean + apart * other.count / count
        within = apart**2 * self.count * other.count / count
        return Moments(count, mean, self.squares + other.squares + within)

    @property
    def variance(self) -> Values:
        """The variance of a sample: squared deviations over ``count - 1``."""
        return self.squares / (self.count - 1)


def welch_t(first: Moments, second: Moments) -> Values:
    """Return the t of two samples with unequal variances, nan where neither varies.

    t = (m1 - m2) / sqrt(s1^2 / n1 + s2^2 / n2) (B. L. Welch, 1947, Biometrika 34, 28-35).
    """
    error = np.sqrt(first.variance / first.count + second.variance / second.count)
    return _over(first.mean - second.mean, error)


def effect_size(first: Moments, second: Moments) -> Values:
    """Return the difference in units of the root of the mean variance, nan where neither varies.

    d = (m1 - m2) / sqrt((s1^2 + s2^2) / 2) (J. Cohen, 1988, Statistical power analysis, 2.3).
    """
    return _over(first.mean - second.mean, np.sqrt((first.variance + second.variance) / 2))


def _over(difference: Values, deviation: Values) -> Values:
    undefined = np.full(np.shape(difference), np.nan)
    found: Values = np.divide(difference, deviation, out=undefined, where=deviation > 0)
    return found


@dataclass(frozen=True, slots=True)
class Localized:
    """Welch's t and effect size d of each unit, nan where undefined; t of odd and even items."""

    parts: tuple[Part, ...]
    t: Values
    d: Values
    halves: tuple[Values, Values]

    def by_part(self, values: NDArray[T]) -> dict[str, NDArray[T]]:
        """Return values of all units by the name of their part."""
        ends = np.cumsum([0, *(part.units for part in self.parts)])
        return {
            part.name: values[first:last]
            for part, first, last in zip(self.parts, ends[:-1], ends[1:], strict=True)
        }

    @property
    def scores(self) -> dict[str, Values]:
        """Name of each part to the t of its units."""
        return self.by_part(self.t)


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """How well two halves of the items agree; a value is None where it is undefined."""

    units: int
    dice: float | None
    chance: float | None
    layer_chance: float | None
    correlation: float | None
    whole: float | None
    reason: str = ""


def localize(
    activations: Activations,
    parts: Sequence[Part],
    target: str,
    items: Items,
    cancel: threading.Event,
    pool: Pool = "mean",
) -> Localized:
    """Return the statistic of each unit of a model as it is now."""
    work = localizing(activations, parts, target, items, cancel, pool)
    while True:
        try:
            next(work)
        except StopIteration as ended:
            found: Localized = ended.value
            return found


def localizing(
    activations: Activations,
    parts: Sequence[Part],
    target: str,
    items: Items,
    cancel: threading.Event,
    pool: Pool = "mean",
) -> Generator[int, None, Localized]:
    """Yield the number of texts that are read; return what :func:`localize` returns."""
    own = tuple(part for part in parts if part.target == target)
    if not own:
        has = ", ".join(one for one in MEASURES if any(part.target == one for part in parts))
        raise UsageError(f"the model has no '{target}'", where="--target", allowed=has or "none")
    texts = (*items.first.texts, *items.second.texts)
    groups = [[Moments(), Moments()], [Moments(), Moments()]]
    done, size = 0, sum(part.units for part in own)
    for values in activations(target, texts, pool, cancel):
        if done == len(texts):
            raise ComponentError(f"the model gave more numbers than for {done} texts")
        if values.shape != (size,) or not np.isfinite(values).all():
            raise ComponentError(
                f"the model gave no finite number for each of {size:,} units for the text "
                f"'{texts[done]}'"
            )
        is_second = done >= len(items.first.texts)
        place = done - is_second * len(items.first.texts)
        groups[is_second][place % 2].add(values.astype(np.float64))
        done += 1
        yield done
    if done < len(texts):
        raise Interrupted(f"the localizer was stopped after {done} of {len(texts)} texts")
    first, second = (odd.together(even) for odd, even in groups)
    odd, even = (welch_t(groups[0][half], groups[1][half]) for half in (0, 1))
    return Localized(own, welch_t(first, second), effect_size(first, second), (odd, even))


def localizer_scores(
    backend: object, parts: Sequence[Part], lesions: Sequence[Lesion], model: str
) -> Scores | None:
    """Return the scores of the shipped items on a model, for lesions that the localizer selects.

    Args:
        backend: loaded, intact.
        parts: of the model.
        lesions: whose targets are measured; None is returned where none needs it.
        model: its name, for errors.

    Raises:
        UsageError: the model has no such units, or they cannot be measured.
    """
    scores: dict[str, Values] = {}
    targets = {one.target for one in lesions if one.source == "localizer"}
    if not targets:
        return None
    activations: Activations | None = getattr(backend, "activations", None)
    if activations is None:
        message = f"'{model}' gives no activations of its units, which the localizer needs"
        raise UsageError(message, hint="select=list takes units from a file")
    for target in sorted(targets):
        found = localize(activations, parts, target, shipped_items(), threading.Event())
        scores |= found.scores
    return scores


def split_half(found: Localized, share: float) -> SplitHalf:
    """Return how well the odd and the even items agree.

    With k units taken of N by each half, A and B: Dice = |A and B| / k (L. R. Dice, 1945, Ecology
    26, 297-302, with |A| = |B| = k). Of two random sets of k units |A and B| is k^2 / N on average
    (hypergeometric), so that Dice is k / N. With a and b units of a part of n units it is the sum
    over parts of a b / n, over k. The correlation of the whole test is 2 r / (1 + r) (C. Spearman,
    1910, and W. Brown, 1910, British Journal of Psychology 3, 271-295 and 296-322), where r > 0.
    """
    odd, even = found.halves
    count = how_many(len(odd), share)
    reasons = []
    dice = chance = layer_chance = correlation = whole = None
    first, second = top(odd, share), top(even, share)
    if first is None or second is None or not count:
        reasons.append(
            "no unit is taken" if not count else "t is undefined for units that would be taken"
        )
    else:
        dice = len(np.intersect1d(first, second)) / count
        chance = count / len(odd)
        sizes = [part.units for part in found.parts]
        ends = np.cumsum([0, *sizes])
        a, b = (np.histogram(own, ends)[0] for own in (first, second))
        layer_chance = float((a * b / np.array(sizes)).sum() / count)
    both = np.isfinite(odd) & np.isfinite(even)
    one, other = odd[both], even[both]
    if len(one) < 3 or not one.std() or not other.std():
        reasons.append("t is defined for fewer than three units, or is the same for all")
    else:
        correlation = float(np.corrcoef(one, other)[0, 1])
        whole = 2 * correlation / (1 + correlation) if correlation > 0 else None
    return SplitHalf(count, dice, chance, layer_chance, correlation, whole, "; ".join(reasons))


def list_document(
    found: Localized, share: float, facts: Mapping[str, str], items: Items, pool: Pool
) -> dict[str, Any]:
    """Return the content of a list file: the top share, and how it was found."""
    target, size = found.parts[0].target, len(found.t)
    taken = top(found.t, share)
    if taken is None or not len(taken):
        defined = int(np.isfinite(found.t).sum())
        none = not how_many(size, share)
        what = "none" if none else f"more than the {defined:,} that have a statistic"
        raise UsageError(
            f"{share} of {size:,} units takes {what}",
            where="--share",
            allowed=f"{0.5 / size:.3g} to {defined / size:.3g}",
        )
    chosen = np.zeros(size, dtype=np.bool_)
    chosen[taken] = True
    of_parts = {name: np.flatnonzero(own) for name, own in found.by_part(chosen).items()}
    units = {name: own for name, own in of_parts.items() if len(own)}
    t, d = found.by_part(found.t), found.by_part(found.d)
    halves = split_half(found, share)
    return {
        "format": 1,
        "target": target,
        "measure": MEASURES[target],
        "tokens": pool,
        "statistic": STATISTIC,
        "contrast": items.contrast,
        "items": {
            "name": items.name,
            "sha256": items.sha256,
            items.first.label: len(items.first.texts),
            items.second.label: len(items.second.texts),
        },
        "model": dict(facts),
        "share": share,
        "taken": len(taken),
        "of": size,
        "undefined": int(size - np.isfinite(found.t).sum()),
        "positive": int((found.t > 0).sum()),
        "split_half": {
            "dice": halves.dice,
            "dice_by_chance": halves.chance,
            "dice_by_chance_in_these_layers": halves.layer_chance,
            "correlation": halves.correlation,
            "correlation_of_whole": halves.whole,
            "reason": halves.reason,
        },
        "units": {name: own.tolist() for name, own in units.items()},
        "t": {name: t[name][own].tolist() for name, own in units.items()},
        "d": {name: d[name][own].tolist() for name, own in units.items()},
    }
