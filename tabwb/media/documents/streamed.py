"""Results documents of any size: one at a time, each with an iterator of its trials.

Of a person the whole document is made at once; it is small. Of a model the trials are read from the
store while the document is written.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from tabwb.analysis.administrations import (
    AdministrationData,
    load_administrations,
    load_columns,
    people_of,
)
from tabwb.analysis.file_names import (
    SPEC_KEYS,
    file_names,
    renamed,
    specs_in,
    without_folders,
)
from tabwb.analysis.plain import Json
from tabwb.analysis.selection import Selection, limited
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.statistics.summary import pool
from tabwb.media.documents.document import (
    SHARED,
    TrialDocuments,
    administration_document,
    administration_json,
    around,
    calls_by_trial,
    shared_ratings,
)
from tabwb.records.ratings import Once
from tabwb.records.states import TrialState
from tabwb.records.trials import Administration
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.plugin_api.extensions import Statistic


AT_ONCE = 20_000
"""Trials whose columns are read at a time."""
SMALL = 200
"""Trials of an administration of a model that is read as a whole, which is faster."""
WHOLE = 1_000
"""Trials of whole administrations that are read at a time."""
Advance = Callable[[int], None]
"""Is told how many trials more are done."""


def streamed_documents(
    store: Store,
    administrations: Sequence[Administration],
    *,
    sound: bool = False,
    messages: bool = False,
    primary: str = "",
    names: Mapping[str, str] | None = None,
    advance: Advance | None = None,
) -> Iterator[Json]:
    """Yield the document of each administration; its ``trials`` are an iterator.

    The trials of a document must be taken before the next document. Everything is read inside
    :meth:`Store.unchanged`.
    """
    trials_of = Trials(store, names or {}, messages=messages)
    for batch in _batches(administrations):
        whole = partial(load_administrations, store, sound=sound, primary=primary)
        numbers = [record.id for record in batch]
        loaded = whole(numbers) if _is_small(batch[0]) else _columns(store, numbers, primary)
        for data in loaded:
            if data.columns is not None and _is_streamed(data):
                document = _streamed(data, trials_of)
            else:
                (read,) = (data,) if data.columns is None else whole([data.administration.id])
                made = administration_document(read, messages=messages)
                document = renamed(made, names or {})
            trials = iter(document["trials"])
            document["trials"] = trials if advance is None else _counted(trials, advance)
            yield document


def _is_small(record: Administration) -> bool:
    """Whether the whole document is read at once: of persons, and where that takes less time."""
    return record.conditions.kind != "model" or record.planned <= SMALL


def document_of(
    store: Store,
    reference: int | str,
    selection: Selection,
    statistics: tuple[Statistic, ...] = (),
    *,
    sound: bool = False,
) -> Json:
    """Return the document of one administration; its ``trials`` are an iterator.

    ``sound``: recordings have the paths of their files.
    """
    (data,) = load_columns(
        store,
        [reference],
        primary=selection.primary,
        statistics=statistics,
        judge=selection.judge or "",
    )
    results = limited(pool([data], interval=True), selection)
    if _is_streamed(data):
        return _streamed(data, Trials(store, {}), results)
    (whole,) = load_administrations(store, [reference], sound=sound, primary=selection.primary)
    document = administration_document(whole, results)
    return {**document, "trials": iter(document["trials"])}


def _is_streamed(data: AdministrationData) -> bool:
    """Whether trials can be read in parts: what is said aloud is compared over all of them."""
    return data.administration.conditions.kind == "model" and not data.battery.spoken


def _streamed(data: AdministrationData, trials: Trials, results: Results | None = None) -> Json:
    """Return the document of a model's administration with an iterator of its trials."""
    results = pool([data]) if results is None else results
    document: Json = renamed(around(data, results, ()), trials.names)
    document["trials"] = trials.of(data)
    return document


def names_in(
    store: Store,
    administrations: Sequence[Administration],
    documents: Callable[[], Iterator[Json]],
) -> dict[str, str]:
    """Return, for each spec with a folder, what documents call it, as :func:`file_names`."""
    facts = store.facts([record.id for record in administrations])
    heads = [
        {"administration": {**administration_json(record), "model_facts": dict(own.model)}}
        for record, own in zip(administrations, facts, strict=True)
    ]
    conditions = dict.fromkeys(specs_in(heads))
    others = dict.fromkeys(specs_in(_elsewhere(store, administrations)))
    short = {spec: without_folders(spec) for spec in (*conditions, *others)}
    if all(spec == name for spec, name in short.items()):
        return {}
    n = Counter(short.values())
    if all(n[short[spec]] == 1 for spec in others if spec not in conditions):
        return file_names([*conditions, *others])
    return file_names(dict.fromkeys(specs_in(documents())))


def _elsewhere(store: Store, administrations: Sequence[Administration]) -> Iterator[Json]:
    """Yield what else can hold specs: raters, notes of replies, batteries, answers of persons."""
    numbers = [record.id for record in administrations]
    yield {"rater": list(store.raters())}
    for noted in store.notes_with(numbers, sorted(SPEC_KEYS)):
        yield json.loads(noted)
    for battery in dict.fromkeys(record.battery_hash for record in administrations):
        yield json.loads(store.battery_canonical(battery))
    persons = [record.id for record in administrations if record.conditions.kind != "model"]
    if persons:
        for data in load_administrations(store, persons):
            yield administration_document(data)


def _columns(store: Store, numbers: Sequence[int], primary: str) -> Iterator[AdministrationData]:
    loaded = load_columns(store, numbers, primary=primary)
    by_number = {data.administration.id: data for data in loaded}
    return (by_number[number] for number in numbers)


def _batches(administrations: Iterable[Administration]) -> Iterator[list[Administration]]:
    """Yield administrations that are read at once: all small, or all large."""
    for small, records in groupby(administrations, key=_is_small):
        batch: list[Administration] = []
        size = 0
        for record in records:
            if batch and size + record.planned > (WHOLE if small else AT_ONCE):
                yield batch
                batch, size = [], 0
            batch.append(record)
            size += record.planned
        yield batch


def _counted(trials: Iterator[Json], advance: Advance) -> Iterator[Json]:
    done = 0
    for trial in trials:
        yield trial
        done += 1
        if done == 1_000:
            advance(done)
            done = 0
    advance(done)


class Trials:
    """Reads the documents of trials of models; administrations share equal ratings."""

    def __init__(self, store: Store, names: Mapping[str, str], *, messages: bool = False) -> None:
        from tabwb.store.read import Rated

        self.names = names
        self._store, self._messages = store, messages
        self._named = partial(renamed, names=names) if names else None
        self._rated, self._ratings = Rated(), shared_ratings(self._named)

    def of(self, data: AdministrationData) -> Iterator[Json]:
        """Yield the document of each trial of an administration."""
        from tabwb.store.columns import STATUSES

        assert data.columns is not None
        prepared, place = data.columns
        start, end = prepared.starts[place : place + 2].tolist()
        effective = {
            number: None if status < 0 else STATUSES[status]
            for number, status in zip(
                prepared.trials[start:end].tolist(),
                prepared.counted[start:end].tolist(),
                strict=True,
            )
        }
        number, conditions = data.administration.id, data.administration.conditions
        people = people_of(data.declarations)
        made = TrialDocuments(data.battery, conditions, self._named, self._ratings)
        for part in self._store.trial_parts(number, self._rated):
            numbers = [trial.plan.number for trial in part]
            within = range(min(numbers), max(numbers) + 1)
            judged = self._store.judgements(number, within) if data.declarations else ()
            calls = calls_by_trial(judged)
            sent = self._store.messages(number, within) if self._messages else None
            system = sent or self._store.messages(number, within, system=True)
            for stored in part:
                how = data.derivation
                trial = stored if how is None else how.with_derived(stored, people)
                counting = trial.counting if trial.state is TrialState.ANSWERED else None
                status = None if counting is None else counting.status
                of_attempt = trial.plan.number, counting.number if counting else 0
                document = made.document(
                    trial,
                    effective.get(trial.plan.number, status) if counting is not None else None,
                    calls.get(trial.plan.number, ()),
                    sent=None if sent is None else sent.get(of_attempt, ()),
                    system=system.get(of_attempt, ()),
                )
                yield _renamed(document, self.names) if self.names else document


def _renamed(document: Json, names: Mapping[str, str]) -> Json:
    """Return a trial's document with specs replaced, as :func:`renamed` does."""
    # Most trials hold no spec besides those of their ratings, and this test is ten times faster.
    if names.keys().isdisjoint(_texts(document)) and not document["judgements"]:
        return document
    for key, value in document.items():
        if key not in SHARED:
            document[key] = renamed(value, names)
    return document


def _texts(document: Json) -> list[str]:
    texts = [document[key] for key in ("subtest", "item", "prompt", "response", "reason", "foil")]
    texts += document["notes"]
    for attempt in document["attempts"]:
        texts += attempt["response"], attempt["error"]
        texts += attempt["metadata"]
        texts += attempt["metadata"].values()
    reply = document["reply"]
    if reply is not None:
        texts += reply["option_log_probabilities"] or ()
        for sent in (reply["decoding"] or {}).values():
            if isinstance(sent, list):
                texts += sent
            elif isinstance(sent, str):
                texts.append(sent)
    return texts


STEP = "  "


class Indented:
    r"""Encodes plain data with two spaces for each level; what is not finite becomes null.

    >>> Indented().text({"a": [1, None], "b": {}, "c": float("nan")})
    '{\n  "a": [\n    1,\n    null\n  ],\n  "b": {},\n  "c": null\n}'
    """

    def __init__(self, *, ascii_only: bool = False) -> None:
        string = encode_basestring_ascii if ascii_only else encode_basestring
        self._string = string
        # What these make needs no call of Python, but for numbers with a fraction.
        self._plain: dict[type, Callable[[Any], str]] = {
            str: string,
            type(None): {None: "null"}.__getitem__,
            bool: {True: "true", False: "false"}.__getitem__,
            int: int.__repr__,
            float: lambda value: float.__repr__(value) if math.isfinite(value) else "null",
        }

    def text(self, value: Any, start: str = "\n") -> str:
        """Return a value as JSON."""
        plain, inner = self._plain, start + STEP
        made = plain.get(value.__class__)
        if made is not None:
            return made(value)
        if isinstance(value, Mapping):
            if not value:
                return "{}"
            pairs = [
                f"{self._string(key if key.__class__ is str else _key(key))}: "
                f"{made(item) if (made := plain.get(item.__class__)) else self.text(item, inner)}"
                for key, item in value.items()
            ]
            return f"{{{inner}{f',{inner}'.join(pairs)}{start}}}"
        if isinstance(value, list | tuple):
            if not value:
                return "[]"
            items = [
                made(item) if (made := plain.get(item.__class__)) else self.text(item, inner)
                for item in value
            ]
            return f"[{inner}{f',{inner}'.join(items)}{start}]"
        for kind in (str, float, int):
            if isinstance(value, kind):
                return plain[kind](value)
        raise TypeError(f"JSON has no {type(value).__name__}")

    def document(self, document: Json) -> Iterator[str]:
        """Yield a document, whose ``trials`` are an iterator, in pieces."""
        between = "{"
        for key, value in document.items():
            yield f"{between}\n{STEP}{self._string(key)}: "
            between = ","
            if key == "trials":
                yield from self._trials(value)
            else:
                yield self.text(value, "\n" + STEP)
        yield "\n}"

    def _trials(self, trials: Iterator[Json]) -> Iterator[str]:
        start = "\n" + STEP * 2
        inner = start + STEP
        shared = Once(lambda given: self.text(given, inner))
        # Keys of which trials share values; those values are made once.
        keys = Once(lambda key: (f"{self._string(key)}: ", key in SHARED))
        before = "["
        for trial in trials:
            pairs = []
            for key, value in trial.items():
                begin, is_shared = keys.of(key)
                made = self._plain.get(value.__class__)
                if made is not None:
                    text = made(value)
                else:
                    text = shared.of(value) if is_shared else self.text(value, inner)
                pairs.append(begin + text)
            yield f"{before}{start}{{{inner}{f',{inner}'.join(pairs)}{start}}}"
            before = ","
        yield "[]" if before == "[" else f"\n{STEP}]"


def _key(key: object) -> str:
    """Return a key other than text as the standard library writes it."""
    return str(json.loads(json.dumps({key: 0}).partition(":")[0][1:]))
