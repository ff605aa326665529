"""``tabwb psst table``: the tables of the paper for the responses that are there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from tabwb.phonology.batch import Confusion, changed_features, confusions, rate_of, score
from tabwb.phonology.corpus import Classification, Match, says_one_of
from tabwb.phonology.dictionary import pronounced
from tabwb.plugin_api import Arg, Operation, Plugins, Tools, UsageError
from tabwb.records.columns import Column
from tabwb.records.speakers import NOT_RECORDED, Study
from tabwb.records.words import plural
from tabwb.tables.table import Table, table_of
from tabwb_psst.amounts import ALL, Amount, amounts_table
from tabwb_psst.corpus import SPLITS
from tabwb_psst.groups import Key, Stratum, keys_of, order_of, strata_of
from tabwb_psst.stored import CORPUS, WHERE, Response, responses_of

Which = Literal["1", "2", "3", "7", "shared", "confusion", "features"]
GOLD = "gold"
"""The transcripts of people."""
MATCHES: Mapping[Match, str] = {"paper": "removed", "code": "kept"}
"""What is done with silence and noise before a target is looked for."""
CAPTIONS: Mapping[str, str] = {
    "1": "Table 1: hours, segments and speakers by split",
    "2": "Table 2: feature and phoneme error rates by system",
    "3": "Table 3: correctness by accepted pronunciations in transcripts",
    "7": "Table 7: hours, segments and speakers by split and {by}",
    "shared": "Section 5.4: responses that every system judges wrong",
    "confusion": "Phonemes that were confused",
    "features": "Features that were changed in substitutions (appendix A)",
}


@dataclass(frozen=True, kw_only=True)
class PaperTable(Operation):
    """Make a table of the paper: 1, 2, 3 or 7, or what all systems get wrong (shared).

    Of what is stored, or of a folder. 1 and 7: hours, segments and speakers by split (7: also by
    severity). 2: FER and PER of each system against the transcripts of people. 3: whether a
    transcript contains an accepted pronunciation, against the person's score, with silence and
    noise removed (the paper) and kept (the published program). confusion and features: phonemes
    and features of substitutions by system.
    """

    NAME, TITLE, WRITES, TABLES = "psst table", "Tables of PSST", False, True
    which: Annotated[
        Which,
        Arg("1, 2, 3, 7, shared, confusion or features.", "Table", positional=True,
            metavar="TABLE"),
    ]  # fmt: skip
    corpus: Annotated[Path | None, CORPUS] = None
    where: Annotated[tuple[str, ...], WHERE] = ()
    by: Annotated[
        str,
        Arg("Keys of groups: severity, test, prompt, or columns of participants. Default: severity "
            "for 7, none for the others.", "By", metavar="KEY[,KEY...]", names=True, blank="as in "
            "the paper"),
    ] = ""  # fmt: skip

    def check(self, plugins: Plugins) -> None:
        """Refuse keys without groups."""
        if self._keys(plugins.study) and self.which in ("1", "shared"):
            raise UsageError("this table has no groups: take table 7", where="by")

    def _keys(self, study: Study) -> tuple[Key, ...]:
        return keys_of(self.by or ("severity" if self.which == "7" else ""), study)

    def do(self, tools: Tools) -> None:
        """Make the table."""
        keys = self._keys(tools.plugins.study)
        responses = responses_of(tools, self.corpus, self.where)
        by = ", ".join(key.id for key in keys)
        caption = CAPTIONS[self.which].format(by=by)
        if self.which in ("1", "7"):
            table = _amounts(f"psst-table-{self.which}", responses, keys)
        else:
            table = _MADE[self.which](_Given(responses, keys))
            if keys:
                caption += f", by {by}"
        tools.tables.append((table, caption))


def _amounts(name: str, responses: Sequence[Response], keys: Sequence[Key]) -> Table:
    amounts = [
        Amount(one.utterance.speaker, one.utterance.split or NOT_RECORDED,
               one.utterance.seconds, strata_of(one, keys))
        for one in responses
    ]  # fmt: skip
    there = {one.split for one in amounts}
    others = sorted(there - {*SPLITS, NOT_RECORDED})
    splits = [split for split in (*SPLITS, *others, NOT_RECORDED) if split in there]
    return amounts_table(name, amounts, splits, keys)


@dataclass(frozen=True, slots=True)
class _Given:
    """Responses and the keys of their groups."""

    responses: Sequence[Response]
    keys: tuple[Key, ...]

    @property
    def systems(self) -> list[str]:
        """The transcribers, by name."""
        return sorted({name for one in self.responses for name in one.transcripts})

    def groups(self) -> Iterator[tuple[Stratum, list[Response]]]:
        """Yield the responses of each group in order; without keys all of them."""
        found: defaultdict[Stratum, list[Response]] = defaultdict(list)
        for one in self.responses:
            for stratum in strata_of(one, self.keys):
                found[stratum].append(one)
        for stratum in sorted(found, key=order_of(self.keys)):
            yield stratum, found[stratum]

    def columns(self) -> list[Column]:
        """Return the columns of the keys."""
        return [key.column("the group") for key in self.keys]


def _heard(response: Response, system: str) -> tuple[str, ...] | None:
    """Return what a system heard, as phonemes; None where it has no transcript."""
    if system == GOLD:
        return response.utterance.transcript
    transcript = response.transcripts.get(system)
    if transcript is None or transcript.status == "error":
        return None
    return pronounced(transcript).phonemes


class _Pair(NamedTuple):
    gold: tuple[str, ...]
    heard: tuple[str, ...]


def _pairs(responses: Sequence[Response], system: str) -> list[_Pair]:
    """Return what people and a system transcribed of the responses that both have."""
    return [
        _Pair(gold, heard)
        for one in responses
        if (gold := one.utterance.transcript) is not None
        and (heard := _heard(one, system)) is not None
    ]


def _number(name: str, title: str, meaning: str, kind: Literal["integer", "number"]) -> Column:
    return Column(name, title, meaning, kind)


def _share(name: str, title: str, meaning: str, digits: int = 1) -> Column:
    return Column(name, title, meaning, "number", "share", digits, percent=True)


SYSTEM = Column("system", "System", "the transcriber; gold: the transcripts of people")
RESPONSES = _number("responses", "Responses", "responses that are counted", "integer")
FER = _share("fer", "FER", "feature errors / (24 x phonemes)")
PER = _share("per", "PER", "phoneme errors / phonemes")


def _need(given: _Given) -> list[str]:
    if not given.systems:
        raise UsageError(
            "no system has transcribed these responses",
            hint="tabwb transcribe --where battery=psst --transcriber SPEC",
        )
    return given.systems


def _left_out(given: _Given, systems: Sequence[str]) -> list[str]:
    """Return notes on responses that are not counted."""
    notes = []
    if without := sum(one.utterance.transcript is None for one in given.responses):
        notes.append(f"{plural(without, 'response')} without a person's transcript: not counted.")
    for system in systems:
        if lacking := sum(_heard(one, system) is None for one in given.responses):
            words = f"{system}: no transcript of {plural(lacking, 'response')}, which"
            notes.append(f"{words} {'is' if lacking == 1 else 'are'} not counted.")
    return notes


def _rates(given: _Given) -> Table:
    systems = _need(given)
    rows: list[tuple[object, ...]] = []
    for system in systems:
        for stratum, own in given.groups():
            pairs = _pairs(own, system)
            rate = rate_of(system, score([a for a, _ in pairs], [b for _, b in pairs]))
            rows.append(
                (system, *stratum, rate.utterances, rate.per_length, rate.fer_distance, rate.fer,
                 rate.per_distance, rate.per)
            )  # fmt: skip
    columns = [
        SYSTEM, *given.columns(), RESPONSES,
        _number("phonemes", "Phonemes", "phonemes of people's transcripts", "integer"),
        Column("feature_errors", "Feature errors", "sum of distances in features", "number", "", 2),
        FER,
        _number("phoneme_errors", "Phoneme errors", "insertions, deletions, substitutions",
                "integer"),
        PER,
    ]  # fmt: skip
    return table_of("psst-table-2", columns, rows, _left_out(given, systems))


def _predicted(response: Response, system: str, match: Match) -> bool | None:
    heard = _heard(response, system)
    return None if heard is None else says_one_of(heard, response.accepted, match)


def _correctness(given: _Given) -> Table:
    """Return the table; gold stands on all responses, and on those of each system with fewer."""
    systems = given.systems
    compared: list[tuple[str, str]] = [(GOLD, ALL)]
    for system in systems:
        fewer = any(
            _heard(one, system) is None and one.utterance.transcript is not None
            for one in given.responses
        )
        compared += [(system, system), *([(GOLD, system)] if fewer else [])]
    rows: list[tuple[object, ...]] = []
    for system, of in compared:
        for stratum, members in given.groups():
            own = [one for one in members if of == ALL or _heard(one, of) is not None]
            pairs = _pairs(own, system)
            rate = rate_of(system, score([a for a, _ in pairs], [b for _, b in pairs]))
            for match, silence in MATCHES.items():
                found = Classification.of(
                    (one.utterance.correct, predicted)
                    for one in own
                    if one.utterance.correct is not None
                    and (predicted := _predicted(one, system, match)) is not None
                )
                rows.append(
                    (system, of, *stratum, silence, found.compared, found.tp, found.fp, found.fn,
                     found.tn, found.f1, found.precision, found.recall, found.accuracy, rate.fer,
                     rate.per)
                )  # fmt: skip
    columns = [
        SYSTEM, Column("of", "Of", "whose responses: all, or those that this system transcribed"),
        *given.columns(),
        Column("silence", "Silence", "whether silence and noise are removed before the target is "
               "looked for (the paper), or kept (the published program)"),
        RESPONSES,
        *(_number(name, name.upper(), meaning, "integer") for name, meaning in (
            ("tp", "right, and found"), ("fp", "not right, and found"),
            ("fn", "right, and not found"), ("tn", "not right, and not found"))),
        Column("f1", "F1", "2 TP / (2 TP + FP + FN)", "number", "", 3),
        Column("precision", "Precision", "TP / (TP + FP)", "number", "", 3),
        Column("recall", "Recall", "TP / (TP + FN)", "number", "", 3),
        Column("accuracy", "Accuracy", "(TP + TN) / all", "number", "", 3),
        FER, PER,
    ]  # fmt: skip
    notes = _left_out(given, systems)
    if unscored := sum(one.utterance.correct is None for one in given.responses):
        notes.append(f"{plural(unscored, 'response')} without a person's score: not counted.")
    return table_of("psst-table-3", columns, rows, notes)


def _shared(given: _Given) -> Table:
    systems = _need(given)
    rows: list[tuple[object, ...]] = []
    transcripts: list[list[str]] = []
    for one in given.responses:
        told = [_predicted(one, system, "paper") for system in systems]
        label = one.utterance.correct
        if label is None or any(found is None or found == label for found in told):
            continue
        heard = [" ".join(_heard(one, system) or ()) for system in systems]
        most, count = Counter(heard).most_common(1)[0]
        utterance = one.utterance
        rows.append(
            (*(one.place or (utterance.id,)), utterance.speaker, utterance.prompt, label,
             " ".join(utterance.transcript or ()), most, count)
        )  # fmt: skip
        transcripts.append(heard)
    # Of one system, "most" has the same texts.
    own = [at for at, texts in enumerate(zip(*transcripts, strict=True)) if any(texts)]
    own = own if len(systems) > 1 else []
    stored = all(one.place is not None for one in given.responses)
    places = [
        _number("administration", "No.", "number of the administration", "integer"),
        _number("trial", "Item", "number of the item in it", "integer"),
    ]
    columns = [
        *(places if stored else [Column("utterance", "Utterance", "its id")]),
        Column("speaker", "Speaker", "study ID"),
        Column("prompt", "Target", "the word that was asked for"),
        Column("right", "Right", "by a person", "boolean"),
        Column("gold", "Person", "what a person transcribed"),
        Column("most", "Systems", "what most systems transcribed"),
        _number("count", "Alike", "how many systems transcribed this", "integer"),
        *(Column(f"system_{at + 1}", f"System {at + 1}", f"what {systems[at]} transcribed")
          for at in own),
    ]  # fmt: skip
    compared = sum(
        one.utterance.correct is not None
        and all(_heard(one, system) is not None for system in systems)
        for one in given.responses
    )
    notes = [
        f"{len(rows):,} of {plural(compared, 'response')} that {plural(len(systems), 'system')} "
        "transcribed; silence removed." + " Listen to them in the workbench." * stored,
        "Systems: what most of them transcribed; Alike: how many did.",
        *(f"System {at + 1}: {systems[at]}" for at in own),
    ]
    every = [
        (*row, *(texts[at] for at in own)) for row, texts in zip(rows, transcripts, strict=True)
    ]
    return table_of("psst-shared-errors", columns, every, notes)


def _confused(given: _Given) -> Table:
    rows = [
        (system, *stratum, each.step.op, each.step.ref, each.step.hyp, each.count)
        for system, stratum, found in _substituted(given)
        for each in found
    ]
    columns = [
        SYSTEM, *given.columns(),
        Column("step", "Step", "SUB, DEL or INS"),
        Column("person", "Person", "the phoneme of a person's transcript"),
        Column("heard", "Heard", "the phoneme of the system"),
        _number("count", "Count", "how often", "integer"),
    ]  # fmt: skip
    return table_of("psst-confusion", columns, rows, _left_out(given, given.systems))


def _changed(given: _Given) -> Table:
    rows = [
        (system, *stratum, str(each.change), each.count)
        for system, stratum, found in _substituted(given)
        for each in changed_features(found)
    ]
    columns = [
        SYSTEM, *given.columns(), Column("change", "Change", "the feature, before and after"),
        _number("count", "Count", "in how many substitutions", "integer"),
    ]  # fmt: skip
    return table_of("psst-features", columns, rows, _left_out(given, given.systems))


def _substituted(given: _Given) -> Iterator[tuple[str, tuple[str, ...], list[Confusion]]]:
    for system in _need(given):
        for stratum, own in given.groups():
            pairs = _pairs(own, system)
            scores = score([a for a, _ in pairs], [b for _, b in pairs])
            yield system, stratum, confusions(scores)


_MADE: Mapping[str, Callable[[_Given], Table]] = {
    "2": _rates, "3": _correctness, "shared": _shared, "confusion": _confused, "features": _changed,
}  # fmt: skip
