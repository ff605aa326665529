"""``tabwb psst tran``: right or wrong by sound, confidence and PSST-B (Tran 2022)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from tabwb.phonology.corpus import Classification, says_one_of
from tabwb.phonology.dictionary import pronounced
from tabwb.plugin_api import Arg, Operation, Told, Tools, Transcript, UsageError
from tabwb.records.columns import P_VALUE, Column
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.system import need
from tabwb.records.words import plural
from tabwb.speech.files import read_clip
from tabwb.tables.table import Table, table_of
from tabwb_psst.classify import Fitted, Sample, Truths, fitted, scored, welch
from tabwb_psst.corpus import SPLITS
from tabwb_psst.features import Features, features
from tabwb_psst.stored import CORPUS, WHERE, Response, may, responses_of

PSST_B = "PSST-B"
USUAL = "bundled-words"
STEP = 50
"""Responses between two steps of the progress."""


@dataclass(frozen=True, slots=True)
class Known:
    """A response with its label, its features, and what PSST-B says of its transcript."""

    split: str
    speaker: str
    right: bool
    psst_b: bool
    features: Features


@dataclass(frozen=True, kw_only=True)
class ClassifyResponses(Operation):
    """Tell right from wrong responses by sound, confidence and PSST-B, as Tran (2022) did.

    Of CORPUS, a folder in the layout of PSST, or of what is stored with transcripts of TRANSCRIBER.
    Features are mean and standard deviation of loudness and of spectral flux, mean and maximum of
    the transcript's confidence, and whether it has an accepted pronunciation (PSST-B). t tests
    compare the right and wrong responses of train. Classifiers are fitted on train, chosen on valid
    and evaluated on test, beside PSST-B alone.
    """

    NAME, TITLE = "psst tran", "Classify responses"
    DOING, TOLD, TABLES = "Classifying", "response", True
    WRITES: ClassVar[bool] = False
    SAFE: ClassVar[str] = "nothing is stored"
    corpus: Annotated[Path | None, CORPUS] = None
    where: Annotated[tuple[str, ...], WHERE] = ()
    transcriber: Annotated[
        str | None,
        Arg("Whose stored transcripts are used (default: the only one's); of a folder, what "
            "transcribes it (default: bundled-words).", "Transcriber", metavar="SPEC",
            kind="transcribers", blank="the only one that is stored"),
    ] = None  # fmt: skip
    seed: Annotated[int, Arg("Of the groups of speakers in the grid search.", "Seed", low=0)] = 0

    @property
    def about(self) -> str:
        """What is classified."""
        return self.corpus.name if self.corpus else "what is stored"

    def run(self, tools: Tools) -> Iterator[Told]:
        """Compute features, compare them, and fit classifiers."""
        need("sklearn", "a classifier", "psst")
        responses = responses_of(tools, self.corpus, self.where, sounds=True)
        left_out: Counter[str] = Counter()
        usable = [one for one in responses if _is_usable(tools, one, left_out)]
        _splits([one.utterance.split for one in usable], left_out)
        spec = self._spec(tools, usable)
        known: list[Known] = []
        for done, (one, transcript) in enumerate(self._transcribed(tools, usable, spec), 1):
            found = _known(one, transcript)
            if isinstance(found, Known):
                known.append(found)
            else:
                left_out[found] += 1
            if done % STEP == 0:
                yield Told("features", done, len(usable), done)
        splits = _splits([one.split for one in known], left_out)
        undefined = {
            name: sum(one.features[place] is None for one in known)
            for place, name in enumerate(Features._fields)
        }
        tools.document |= {
            "transcriber": spec, "seed": self.seed, "responses": len(responses),
            "left_out": dict(left_out), "undefined": undefined, "splits": dict(splits),
        }  # fmt: skip
        train = [one for one in known if one.split == "train"]
        tools.tables.append((_tests(train), "Features of right and wrong responses of train"))
        names = [
            name for place, name in enumerate(Features._fields)
            if any(one.features[place] is not None for one in train)
        ]  # fmt: skip
        samples: dict[str, Sample] = {split: _sample(known, split, names) for split in SPLITS}
        made: list[Fitted] = []
        for fit in fitted(samples, self.seed):
            made.append(fit)
            yield Told(f"fitted: {fit.name}", len(usable), len(usable), len(usable))
            if tools.cancel.is_set():
                raise Interrupted("stopped between two classifiers")
        table, chosen = _search(samples, made)
        tools.document |= {"features": [*names, PSST_B], "chosen": chosen or None}
        tools.tables.append((table, f"Classifiers by {', '.join(map(_words, names))}, {PSST_B}"))
        table = _evaluation(samples, known, made, chosen)
        tools.tables.append((table, "Right or wrong on test, by system"))

    def _spec(self, tools: Tools, responses: Sequence[Response]) -> str:
        """Return the spec of the transcriber; of what is stored, one that is there."""
        if self.corpus is not None:
            return str(tools.plugins.resolve("transcribers", self.transcriber or USUAL)[1])
        stored = list(dict.fromkeys(spec for one in responses for spec in one.transcripts))
        if self.transcriber is None and len(stored) == 1:
            return stored[0]
        if self.transcriber in stored:
            return self.transcriber
        if self.transcriber is not None:
            spec = str(tools.plugins.resolve("transcribers", self.transcriber)[1])
            if spec in stored:
                return spec
        raise UsageError(
            "no transcript of it is stored" if self.transcriber else "name one of the transcribers"
            if stored else "no transcript of a transcriber is stored",
            where="transcriber", allowed=", ".join(stored) or None,
            hint=None if stored else "tabwb transcribe makes transcripts",
        )  # fmt: skip

    def _transcribed(
        self, tools: Tools, responses: Sequence[Response], spec: str
    ) -> Iterator[tuple[Response, Transcript | None]]:
        if self.corpus is None:
            for one in responses:
                yield one, one.transcripts.get(spec)
                if tools.cancel.is_set():
                    raise Interrupted("stopped before all features were known")
            return
        paths = [one.utterance.sound for one in responses if one.utterance.sound is not None]
        number = 0
        for place, transcript in tools.transcripts(spec, paths):
            number += 1
            yield responses[place], transcript
        if number < len(responses):
            raise Interrupted("stopped before all responses were transcribed")


def _splits(splits: Sequence[str], left_out: Counter[str]) -> Counter[str]:
    """Return how many responses each split has; train and test need some."""
    found = Counter(splits)
    for split in ("train", "test"):
        if not found[split]:
            why = "; ".join(f"{reason}: {count}" for reason, count in left_out.items())
            raise UsageError(f"no response of {split} can be used{f' ({why})' if why else ''}")
    return found


def _is_usable(tools: Tools, response: Response, left_out: Counter[str]) -> bool:
    """Return whether a response can be used, and count why not."""
    utterance = response.utterance
    why = ""
    if utterance.split not in SPLITS:
        why = "no split"
    elif utterance.correct is None:
        why = "not scored"
    elif response.clip is None:
        why = "no sound"
    elif utterance.where.startswith("#") and not may(tools, utterance.speaker, "train"):
        why = "no consent to train"
    if why:
        left_out[why] += 1
    return not why


def _known(response: Response, transcript: Transcript | None) -> Known | str:
    """Return what is known of a response, or why it cannot be used."""
    utterance, clip = response.utterance, response.clip
    if transcript is None:
        return "no transcript"
    if transcript.status == "error":
        return "transcript in error"
    assert clip is not None and utterance.correct is not None
    try:
        samples, rate = read_clip(clip.path, clip.start_s, clip.end_s)
    except TabwbError:
        return "sound that cannot be read"
    return Known(
        utterance.split,
        utterance.speaker,
        utterance.correct,
        says_one_of(pronounced(transcript).phonemes, response.accepted),
        features(samples, rate, transcript.segments),
    )


def _values(known: Sequence[Known], name: str) -> list[float]:
    """Return the defined values of a feature."""
    found = (getattr(one.features, name) for one in known)
    return [value for value in found if value is not None]


def _sample(known: Sequence[Known], split: str, names: Sequence[str]) -> Sample:
    """Return the responses of a split of which all these features are defined."""
    own = [
        one
        for one in known
        if one.split == split and all(getattr(one.features, name) is not None for name in names)
    ]
    rows = [[*(getattr(one.features, name) for name in names), float(one.psst_b)] for one in own]
    return Sample(
        np.array(rows, float).reshape(len(own), len(names) + 1),
        np.array([one.right for one in own], bool),
        [one.speaker.casefold() for one in own],
    )


def _number(name: str, title: str, meaning: str, digits: int = 3, unit: str = "") -> Column:
    return Column(name, title, meaning, "number", unit, digits)


def _tests(train: Sequence[Known]) -> Table:
    """Return Welch's t test of each feature between right and wrong responses."""
    sides = (("right", True), ("wrong", False))
    columns = [Column("feature", "Feature", "mean, standard deviation or maximum over a response")]
    for side, _ in sides:
        columns += [
            Column(f"n_{side}", f"N {side}", f"{side} responses with a value", "integer"),
            _number(f"mean_{side}", f"Mean {side}", f"mean of {side} responses"),
            _number(f"sd_{side}", "SD", f"standard deviation of {side} responses"),
        ]
    columns += [
        _number("t", "t", "Welch's t, right less wrong", 2),
        _number("df", "df", "degrees of freedom (Welch and Satterthwaite)", 0),
        _number("p", "p", "two-sided", 3, P_VALUE),
    ]
    rows = []
    for name in Features._fields:
        values = [
            np.array(_values([one for one in train if one.right is right], name))
            for _, right in sides
        ]
        test = welch(*values)
        halves = zip(test.n, test.mean, test.sd, strict=True)
        cells = [cell for half in halves for cell in half]
        rows.append((_words(name), *cells, test.t, test.df, test.p))
    notes = (
        f"{plural(len(train), 'response')} of train; N has a value, the others are undefined.",
        "The tests take responses as independent; those of one speaker are alike: p is too small.",
    )
    return table_of("tran-tests", columns, rows, notes)


SYSTEM = Column("system", "System", "PSST-B alone, or a classifier")


def _search(samples: Mapping[str, Sample], made: Sequence[Fitted]) -> tuple[Table, str]:
    """Return the best values of each classifier, and the classifier that is chosen."""
    columns = [
        SYSTEM,
        Column("parameters", "Values", "the best of the grid"),
        _number("f1_search", "F1 search", "mean over groups of training speakers left out"),
        _number("f1_valid", "F1 valid", "on valid"),
        Column("chosen", "Chosen", "the best F1 on valid; without valid, in the search", "boolean"),
        Column("reason", "Reason", "why there is no classifier"),
    ]
    valid = samples["valid"]
    of_valid = {one.name: _f1(valid, one.predicted["valid"]) for one in made if one.predicted}
    by_valid = any(value is not None for value in of_valid.values())
    ranks = {
        one.name: (of_valid[one.name] if by_valid else one.search_f1) or 0.0
        for one in made
        if one.predicted
    }
    chosen = max(ranks, key=ranks.__getitem__, default="")  # the first of equal ones
    rows = [
        (
            one.name,
            ", ".join(f"{key} {value:g}" for key, value in one.parameters.items()) or None,
            one.search_f1,
            of_valid.get(one.name),
            one.name == chosen,
            one.reason or None,
        )
        for one in made
    ]
    return table_of("tran-search", columns, rows), chosen


def _evaluation(
    samples: Mapping[str, Sample], known: Sequence[Known], made: Sequence[Fitted], chosen: str
) -> Table:
    """Return how PSST-B and each classifier do on the same test responses."""
    columns = [
        SYSTEM,
        Column("chosen", "Chosen", "the classifier with the best F1 on valid", "boolean"),
        Column("n", "N", "test responses", "integer"),
        _number("f1", "F1", "2 TP / (2 TP + FP + FN)"),
        _number("precision", "Precision", "TP / (TP + FP)"),
        _number("recall", "Recall", "TP / (TP + FN)"),
        _number("accuracy", "Accuracy", "(TP + TN) / N"),
        Column("differs", "Differs", "responses of which PSST-B says otherwise", "integer"),
    ]
    test = samples["test"]
    psst_b = test.features[:, -1] > 0
    every = [(one.right, one.psst_b) for one in known if one.split == "test"]
    systems = {one.name: one.predicted["test"] for one in made if one.predicted}
    found: list[tuple[str, bool | None, Classification, int]] = [
        (PSST_B, None, scored(test.right, psst_b), 0),
        *(
            (name, name == chosen, scored(test.right, said), int((said != psst_b).sum()))
            for name, said in systems.items()
        ),
    ]
    if len(every) > len(test.right):
        found.insert(0, (f"{PSST_B}, all", None, Classification.of(every), 0))
    rows = [
        (name, is_chosen, one.compared, one.f1, one.precision, one.recall, one.accuracy, differs)
        for name, is_chosen, one, differs in found
    ]
    notes = []
    if left := len(known) - sum(len(one.right) for one in samples.values()):
        notes.append(
            f"{left} of {plural(len(known), 'response')} lack a feature and are in no classifier."
        )
    return table_of("tran-evaluation", columns, rows, notes)


def _f1(sample: Sample, predicted: Truths) -> float | None:
    return scored(sample.right, predicted).f1


def _words(name: str) -> str:
    return name.replace("_", " ")
