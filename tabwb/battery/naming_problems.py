"""What ties the keys of a naming subtest together, and keeps them out of every other kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.battery.locate import KeyPath
from tabwb.battery.naming import ITEM_KEYS, RULE_KEYS, SOURCES_KEY
from tabwb.battery.problems import Broken, near, shortened
from tabwb.battery.toml_schema import BatteryFile, ItemTable, SubtestTable
from tabwb.phonology.inventory import parse_pronunciation
from tabwb.records.errors import TabwbError

NAMING = "naming"
_NEEDED = ("picture", "target", "accept")
_FILE_TYPES = (".png", ".jpg", ".jpeg")


def naming_problems(path: KeyPath, subtest: SubtestTable) -> Iterator[Broken]:
    """Yield the problems of a subtest of pictures, or the naming keys of any other subtest."""
    if subtest.response != NAMING:
        yield from _only_naming(path, subtest)
        return
    if subtest.scorers:
        what = "a naming subtest is scored by its own rules"
        yield Broken((*path, "scorers"), what, "", "none")
    if subtest.late_counts and subtest.time_limit is None:
        what = "without a time limit no answer is late"
        yield Broken((*path, "late_counts"), what, "true", "time_limit, in seconds")
    if subtest.tolerance is not None and (
        (subtest.tolerance.slips is None) == (subtest.tolerance.share is None)
    ):
        what = "exactly one of 'slips' and 'share' is needed"
        yield Broken((*path, "tolerance"), what, "", "slips or share")
    yield from _start(path, subtest)
    for key in subtest.rule_sources:
        if key not in RULE_KEYS:
            where = (*path, SOURCES_KEY, key)
            yield Broken(where, "no such rule", "", ", ".join(RULE_KEYS), near(key, RULE_KEYS))
    for index, item in enumerate(subtest.item):
        yield from _item((*path, "item", index), subtest, item)


def models_name_nothing(battery: BatteryFile) -> Iterator[Broken]:
    """Yield a problem where a battery with pictures is for models, which are sent none."""
    naming = [subtest.id for subtest in battery.subtest if subtest.response == NAMING]
    if naming and "model" in battery.battery.examinees:
        yield Broken(
            ("battery", "examinees"),
            f"a model names no pictures ('{naming[0]}' is spoken naming)",
            ", ".join(battery.battery.examinees),
            'examinees = ["speaker"]',
        )


def _only_naming(path: KeyPath, subtest: SubtestTable) -> Iterator[Broken]:
    kind = subtest.response
    for key in (*RULE_KEYS, SOURCES_KEY):
        if key in subtest.model_fields_set:
            yield Broken(
                (*path, key), f"a subtest of response '{kind}' has no such rule", "", "none"
            )
    for index, item in enumerate(subtest.item):
        where = (*path, "item", index)
        for key in ITEM_KEYS:
            if key in item.model_fields_set:
                yield Broken((*where, key), f"an item of response '{kind}' takes no {key}")


def _start(path: KeyPath, subtest: SubtestTable) -> Iterator[Broken]:
    counted = [item.id for item in subtest.item if not item.practice]
    if subtest.start_item and subtest.start_item not in counted:
        what = "there is no such item that counts"
        meant = near(subtest.start_item, counted)
        where = (*path, "start_item")
        yield Broken(where, what, shortened(subtest.start_item), ", ".join(counted), meant)
    elif subtest.basal and not subtest.start_item:
        what = "there is no item to go back from"
        yield Broken((*path, "basal"), what, str(subtest.basal), "start_item, the id of an item")
    elif subtest.basal:
        left = len(counted) - counted.index(subtest.start_item)
        if subtest.basal > left:
            what = f"only {left} items stand from the start item on"
            yield Broken((*path, "basal"), what, str(subtest.basal), f"up to {left}")


def _item(path: KeyPath, subtest: SubtestTable, item: ItemTable) -> Iterator[Broken]:
    for key in _NEEDED:
        if not getattr(item, key):
            what = "this is empty" if key in item.model_fields_set else "this key is missing"
            yield Broken((*path, key), what, "", "at least one" if key == "accept" else "")
    if item.picture and not item.picture.lower().endswith(_FILE_TYPES):
        what = "this is not a picture file"
        yield Broken((*path, "picture"), what, shortened(item.picture), ", ".join(_FILE_TYPES))
    yield from _accepted(path, subtest, item)
    for key in ("semantic", "visual", "parts", "unrelated"):
        yield from _neighbours((*path, key), item, getattr(item, key))


def _accepted(path: KeyPath, subtest: SubtestTable, item: ItemTable) -> Iterator[Broken]:
    slips = subtest.tolerance.slips if subtest.tolerance is not None else None
    seen: dict[tuple[str, ...], int] = {}
    for index, form in enumerate(item.accept):
        where = (*path, "accept", index, "phonemes")
        try:
            phonemes = parse_pronunciation(form.phonemes)
        except TabwbError as error:
            hint = (error.hint or "").removeprefix("did you mean '").removesuffix("'?")
            yield Broken(where, error.message, shortened(form.phonemes), error.allowed or "", hint)
            continue
        if phonemes in seen:
            what = f"this pronunciation is given twice (first in number {seen[phonemes] + 1})"
            yield Broken(where, what, shortened(form.phonemes))
        seen.setdefault(phonemes, index)
        if slips is not None and len(phonemes) <= slips:
            what = f"with {slips} slips tolerated anything would equal this"
            yield Broken(where, what, shortened(form.phonemes), f"more than {slips} phonemes")


def _neighbours(path: KeyPath, item: ItemTable, words: Sequence[str]) -> Iterator[Broken]:
    right = {form.word.casefold() for form in item.accept if form.word}
    right |= {item.target.casefold()} if item.target else set()
    seen: set[str] = set()
    for index, word in enumerate(words):
        folded = word.casefold()
        if folded != folded.strip():
            yield Broken(
                (*path, index), "outer white space: no word heard could equal this", shortened(word)
            )
        if folded in right:
            yield Broken(
                (*path, index),
                "this word is accepted, so it cannot be listed as related",
                shortened(word),
            )
        elif folded in seen:
            yield Broken((*path, index), "this word is given twice", shortened(word))
        seen.add(folded)
