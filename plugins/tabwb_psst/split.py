"""``tabwb psst split``: speakers to train, valid and test, so that the splits are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabwb.plugin_api import Arg, Operation, Plugins, TabwbError, Tools, UsageError, write_text
from tabwb.records.speakers import IMPORT_OF, Speaker, Study, operator
from tabwb.records.words import RESEARCH_ONLY, plural, separated
from tabwb_psst.amounts import Amount, amounts_table
from tabwb_psst.corpus import SPLITS
from tabwb_psst.groups import Key, keys_of, stratum_of
from tabwb_psst.partition import Found, divergence, search
from tabwb_psst.stored import CORPUS, WHERE, responses_of

RECORDED = "split"
METHODS = {
    "random": "the best of {tried:,} random assignments",
    "improved": "the best of {tried:,} random assignments ({random:.4f}), improved by moves and "
    "swaps of speakers",
    "all": "the best of all {tried:,} assignments",
}


@dataclass(frozen=True, kw_only=True)
class SplitSpeakers(Operation):
    """Assign speakers to train, valid and test so that the splits are alike.

    Of CORPUS, a folder in the layout of PSST, or of what is stored. A speaker is in one split.
    Among random assignments that are near the aim, the one with the least mean Kullback-Leibler
    divergence of the hours over the strata is taken (the paper, section 3), then improved by moves
    and swaps of speakers; of up to 9 speakers all assignments are tried.
    """

    NAME, TITLE, TABLES = "psst split", "Split speakers", True
    corpus: Annotated[Path | None, CORPUS] = None
    where: Annotated[tuple[str, ...], WHERE] = ()
    aim: Annotated[
        str,
        Arg("Per cent of the hours for train, valid and test; 0: no such split.", "Aim",
            metavar="TRAIN,VALID,TEST", short=True),
    ] = "70,10,20"  # fmt: skip
    by: Annotated[
        str,
        Arg("Keys of the strata: severity, test, prompt, or columns of participants.", "Strata",
            metavar="KEY[,KEY...]", names=True, short=True),
    ] = "severity"  # fmt: skip
    candidates: Annotated[
        int, Arg("Random assignments.", "Candidates", metavar="N", low=1, high=1_000_000)
    ] = 1_000
    seed: Annotated[int, Arg("Of the random assignments.", "Seed", low=0)] = 0
    random_only: Annotated[
        bool,
        Arg("Take the best random assignment, as the paper does.", "Search",
            words=("improved", "random only")),
    ] = False  # fmt: skip
    out: Annotated[
        Path | None,
        Arg("Write speaker and split to this file (TSV).", "File", kind="new", blank="not written"),
    ] = None  # fmt: skip
    record: Annotated[
        str,
        Arg("Record the split of each participant in this column; without a name: split. The "
            "participant's earlier record is kept.", "Record in", metavar="COLUMN", alone=RECORDED,
            blank="not recorded", short=True),
    ] = ""  # fmt: skip
    force: Annotated[
        bool,
        Arg("Replace a file, and other splits of participants' records.", "Existing",
            words=("kept", "replaced")),
    ] = False  # fmt: skip

    @property
    def about(self) -> str:
        """What is split."""
        return self.corpus.name if self.corpus else "what is stored"

    @property
    def writes(self) -> bool:
        """Whether participants' records are changed."""
        return bool(self.record)

    def check(self, plugins: Plugins) -> None:
        """Check the values that do not depend on the data."""
        aims = _aims(self.aim)
        _keys(self.by, plugins.study)
        if self.record:
            column = plugins.study.column(self.record)
            for split in aims:
                column.read(split)
            if self.corpus is not None:
                raise UsageError("splits of what is stored can be recorded, not those of a folder",
                                 where="record")  # fmt: skip
        if self.out is not None and self.out.exists() and not self.force:
            raise TabwbError("the file already exists", where=str(self.out),
                             hint="choose another name, or replace it with --force")  # fmt: skip

    def do(self, tools: Tools) -> None:
        """Search, and report as table 7."""
        aims, keys = _aims(self.aim), _keys(self.by, tools.plugins.study)
        responses = [
            one for one in responses_of(tools, self.corpus, self.where) if one.utterance.frames > 0
        ]
        amounts = [
            Amount(one.utterance.speaker, one.utterance.split, one.utterance.seconds,
                   (stratum_of(one, keys),))
            for one in responses
        ]  # fmt: skip
        seconds, speakers = _seconds(amounts)
        if len(speakers) < len(aims):
            raise UsageError(
                f"{plural(len(speakers), 'speaker')} cannot be in {len(aims)} splits: each needs "
                "one", hint="an aim of 0 leaves a split out" if len(speakers) > 1 else None,
            )  # fmt: skip
        found = search(
            seconds, tuple(aims.values()), self.candidates, self.seed,
            improve=not self.random_only,
        )  # fmt: skip
        names = list(aims)
        places = dict(zip(speakers, found.places, strict=True))
        split_of = {
            speaker: names[places[speaker.casefold()]]
            for speaker in sorted({one.speaker for one in amounts}, key=str.casefold)
        }
        self._keep(tools, split_of)
        made = [one._replace(split=split_of[one.speaker]) for one in amounts]
        before = _divergence(amounts, [one for one in SPLITS if one in {a.split for a in amounts}])
        document = {
            "by": [key.id for key in keys], "aim": aims, "candidates": self.candidates,
            "seed": self.seed,
            "method": found.method, "tried": found.tried, "divergence": found.divergence,
            "divergence_random": found.random, "divergence_before": before,
            "tolerance": found.tolerance,
            "speakers": [
                {"speaker": speaker, "split": split} for speaker, split in split_of.items()
            ],
        }  # fmt: skip
        tools.document |= document
        notes = [_told(found, before)]
        table = amounts_table("psst-split", made, names, keys, notes)
        caption = f"Hours, segments and speakers by split and {', '.join(key.id for key in keys)}"
        tools.tables.append((table, caption))

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was written and recorded."""
        count = len(document["speakers"])
        if self.out is not None:
            yield f"{plural(count, 'speaker')} written to {self.out}"
        if self.record:
            yield f"recorded of {plural(count, 'participant')} in '{self.record}'"

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the divergence first, which stands below the table elsewhere."""
        before = document["divergence_before"]
        compared = "" if before is None else f", {before:.4f} before"
        yield f"divergence {document['divergence']:.4f} nats{compared}"
        yield from self.lines(document)

    def _keep(self, tools: Tools, split_of: Mapping[str, str]) -> None:
        if self.record:
            self._record(tools, split_of)
        if self.out is not None:
            rows = "".join(f"{speaker}\t{split}\n" for speaker, split in split_of.items())
            made = f"Speakers by split, made by tabwb psst split with seed {self.seed}."
            write_text(self.out, f"speaker\tsplit\n{rows}", (RESEARCH_ONLY, made))

    def _record(self, tools: Tools, split_of: Mapping[str, str]) -> None:
        """Add a version of the records that do not have their split; it registers nobody."""
        study, people = tools.plugins.study, tools.store.people
        records = {one.id: one for one in people.speakers()}
        by = f"{IMPORT_OF}psst split with seed {self.seed} by {operator()}"
        new, others = [], []
        for speaker, split in split_of.items():
            record = records.get(speaker, Speaker(speaker))
            value = study.column(self.record).read(split)
            if (known := record.values.get(self.record)) == value:
                continue
            if known is not None:
                others.append(speaker)
            values = {**record.values, self.record: value}
            study.check_record(values)
            new.append(replace(record, values=values, by=by))
        if others and not self.force:
            shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
            raise UsageError(
                f"{plural(len(others), 'participant')} have another value in '{self.record}': "
                f"{shown}", where="record", hint="replace it with --force, or name another column",
            )  # fmt: skip
        if new:
            people.keep_speakers(new)


def _aims(text: str) -> dict[str, float]:
    """Return the share of each split that is wanted.

    >>> _aims("70,10,20"), _aims("0.8,0,0.2")
    ({'train': 0.7, 'valid': 0.1, 'test': 0.2}, {'train': 0.8, 'test': 0.2})
    """
    allowed = "three numbers in sum 100, such as 70,10,20, two of them above 0"
    try:
        numbers = [float(one) for one in separated(text)]
    except ValueError:
        numbers = []
    total = sum(numbers)
    is_usual = min(abs(total - 100), abs(total - 1)) < 1e-6
    positive = [one for one in numbers if one > 0]
    if len(numbers) != len(SPLITS) or not is_usual or min(numbers) < 0 or len(positive) < 2:
        raise UsageError(f"'{text}' cannot be used", where="aim", allowed=allowed)
    return {split: number / total for split, number in zip(SPLITS, numbers, strict=True) if number}


def _keys(text: str, study: Study) -> tuple[Key, ...]:
    keys = keys_of(text, study)
    if not keys or any(key.id == RECORDED for key in keys):
        wrong = f"'{RECORDED}' is what is assigned" if keys else "a key is needed"
        raise UsageError(wrong, where="by", allowed="severity, test, columns of participants")
    return keys


def _seconds(amounts: Sequence[Amount]) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str]]:
    """Return the seconds of each speaker in each stratum, and the speakers in order.

    Those whose ids differ in capitals only may be one person: they are one here.
    """
    speakers = sorted({one.speaker.casefold() for one in amounts})
    strata = sorted({one.strata for one in amounts})
    rows = {speaker: place for place, speaker in enumerate(speakers)}
    columns = {stratum: place for place, stratum in enumerate(strata)}
    seconds = np.zeros((len(speakers), len(strata)))
    for one in amounts:
        seconds[rows[one.speaker.casefold()], columns[one.strata]] += one.seconds
    return seconds, speakers


def _divergence(amounts: Sequence[Amount], splits: Sequence[str]) -> float | None:
    """Return the divergence of splits that there are already; None where some have none."""
    if len(splits) < 2 or any(one.split not in splits for one in amounts):
        return None
    parts = [[one for one in amounts if one.split == split] for split in splits]
    strata = sorted({one.strata for one in amounts})
    hours = [
        [sum(one.seconds for one in part if one.strata == stratum) for stratum in strata]
        for part in parts
    ]
    return float(divergence(np.array(hours)))


def _told(found: Found, before: float | None) -> str:
    how = METHODS[found.method].format(tried=found.tried, random=found.random or 0.0)
    told = f"Mean Kullback-Leibler divergence of the hours: {found.divergence:.4f} nats, {how}."
    return told if before is None else f"{told} The splits that there were: {before:.4f}."
