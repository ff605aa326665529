"""The contracts of the components that plugins bring, and what passes between them and tabwb."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from tabwb.battery.model import Feature, Item, Subtest
from tabwb.battery.problems import Problem
from tabwb.lesion.declared import Part, Pool
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Likelihood, Message, Reply, Request, Wait
from tabwb.records.ratings import Declaration, Rating, Scope, Verdict
from tabwb.records.speakers import Column
from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.records.words import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tabwb.records.answers import RecordedAnswer
    from tabwb.records.naming import ImportedSession
    from tabwb.records.speech import Clip, Transcript

MOST_PROBLEMS = 20
"""The number of problems that one message lists."""


class AnswerProblems(TabwbError):
    """A file of answers cannot be imported; nothing was."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        listed = [str(problem) for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            listed.append(f"and {plural(len(problems) - MOST_PROBLEMS, 'problem')} more")
        super().__init__("\n".join(listed), hint="nothing was imported")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The answers of a file or folder.

    Attributes:
        title: what it is, for people (``inspect_ai log, task words``).
        answers: in the order of the source.
        files: the files that were read.
        strict: whether an answer to no item of the battery is an error; otherwise it is left out
            and counted. Tables are strict, logs of other tasks are not.
        names: field of :class:`~tabwb.records.answers.RecordedAnswer` to what the source calls it.
        left_out: what was read and is not an answer: reason to number.
        texts: whether they are texts without a battery: each prompt becomes an item of connected
            text.
        language: of the texts, BCP 47.
        spoken: whether the texts are transcripts of speech.
        declarations: what the raters declare whose ratings the answers have.
        people: what is said of participants: each as in
            :class:`~tabwb.records.answers.RecordedRun`, with texts by column of the record.
    """

    title: str
    answers: tuple[RecordedAnswer, ...]
    files: tuple[Path, ...]
    strict: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    texts: bool = False
    language: str = "en"
    spoken: bool = False
    declarations: tuple[Declaration, ...] = ()
    people: tuple[tuple[str, Mapping[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class SpokenFile:
    """The spoken responses of a corpus.

    Attributes:
        title: what it is, for people.
        sessions: each becomes an administration of its speaker; an item that the battery does not
            have is left out.
        battery: the tables of a battery of the corpus, as in ``battery.toml``, without files; for
            who names no other.
        rater: who transcribed and scored, an ID, where a response does not say it.
        left_out: what cannot be used: reason to number.
        problems: a line for each of them, with its place.
        notes: what else the user is to know.
    """

    title: str
    sessions: tuple[ImportedSession, ...]
    battery: Mapping[str, Any]
    rater: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Cancel = threading.Event
"""Set to end a call soon; the component checks it between pieces."""


@runtime_checkable
class ModelBackend(Protocol):
    """A model that answers in text. Made by the factory, opened once, used from one thread."""

    def open(self) -> Mapping[str, str]:
        """Load the model; return plain facts to store (model id, revision, dtype, device ...)."""

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Yield pieces of text as they come and, last, one :class:`Reply`.

        A :class:`Wait` in between announces a pause (a rate limit). Pieces before it are void: the
        reply starts again after it, unless its ``voids`` is False.

        Args:
            request: the prompt.
            cancel: once it is set, the reply ends with stop reason ``cancelled``.

        Raises:
            ComponentError: there is no reply.
        """

    def close(self) -> None:
        """Release the model; may be called twice."""


@runtime_checkable
class BatchingBackend(ModelBackend, Protocol):
    """A model back end that answers many requests together faster than one by one.

    An attribute ``concurrency`` says how many requests are in progress at one time.
    """

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` in any order.

        A request that failed yields its error in place of the reply. Waits may come in between.

        Args:
            requests: the prompts.
            cancel: once it is set, requests without an answer yield nothing.

        Raises:
            ComponentError: no request can be answered.
        """


@runtime_checkable
class LikelihoodBackend(ModelBackend, Protocol):
    """A model back end that returns the likelihood of a given text."""

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        """Return the likelihood of each continuation as the reply to ``request``, in their order.

        Under the protocol ``likelihood`` the continuations are the options of the item: the engine
        chooses the most likely one and does not call ``reply``.

        Args:
            request: the prompt; a continuation is scored after the rendered prompt.
            continuations: the texts.
            cancel: once it is set, fewer likelihoods are returned.
        """


@dataclass(frozen=True, slots=True)
class Response:
    """A response to rate, with everything that raters may know about it.

    Attributes:
        text: the response, unaltered.
        status: its status. Raters return *undefined* where there is no text: for ``empty``, and for
            ``truncated`` where reasoning used up the limit.
        prompt: the item's own prompt (without instructions and options).
        sent: the exact user message.
        messages: everything that was sent, including system message and earlier turns; empty for a
            person.
        kind: the kind of response that the subtest asks for.
        options: the options in the order shown.
        expected: the right answer, or None.
        foils: option to kind of error.
        spoken: a transcript of speech, not typed text.
        previous: earlier responses of the same administration that count, oldest first.
        dialect: the speaker's recorded dialect, or empty.
        draw: number of the verdict of one judge on this response, from 0. A judge that samples
            uses another seed for each.
        reference: the item's model answer or rubric, or empty.
        metadata: the item's own table, as plain data.
        language: of the battery, a tag such as ``en``.
    """

    text: str
    status: ResponseStatus
    prompt: str
    sent: str
    kind: ResponseKind
    options: tuple[str, ...] = ()
    expected: str | None = None
    foils: Mapping[str, str] = field(default_factory=dict)
    spoken: bool = False
    previous: tuple[str, ...] = ()
    dialect: str = ""
    messages: tuple[Message, ...] = ()
    draw: int = 0
    reference: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    language: str = "en"


@runtime_checkable
class Scorer(Protocol):
    """Compares a response with its item; named by a battery's ``scorers``.

    Its ``measures`` say what their values are: ``verdict`` (1 is right, 0 is wrong), ``share`` (0
    to 1), ``count`` (0, 1, 2 ...) or ``number``. The first verdict decides whether an answer is
    right; without one no answer is called right or wrong. Other measures are shown as means. The
    verdicts ``normalised`` and ``extracted`` are those under these policies.
    """

    @property
    def measures(self) -> Mapping[str, str] | Sequence[str]:
        """Every measure that the scorer may return, with what its values are.

        A plain sequence of names declares numbers.
        """

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return the ratings of one response; the rater is the scorer's id or spec.

        Args:
            subtest: of the item.
            item: the item.
            response: the response to it.
        """


@runtime_checkable
class Judge(Protocol):
    """Rates the features of responses.

    A judge has ``rater``, ``features``, ``caution``, and one of ``judge`` and ``judge_many``. The
    rest is optional: what a class leaves out is as it is here, whether it is a subclass or not.

    A judge that asks a model names it as its ``examinee``. It is slow, perhaps costly, and asks for
    many responses at once: it runs as a separate step after the answers are stored (``tabwb judge
    run``), never between two prompts.

    Attributes:
        rater: the resolved spec, stored as the rater.
        features: the fixed feature set over which the burden of this judge is computed.
        caution: the sentence shown with every verdict.
        scope: which responses the burden is computed over. None: connected text, or all responses
            once others were judged too.
        examinee: the resolved spec of the model that it asks; empty where it asks none.
        prompt_text: the canonical text (JSON) of everything that the model gets besides the
            response.
        most_requests: the most requests for one response: 2 where a second reply may be requested.
        writes: whether the model writes its verdict. One whose model only returns likelihoods has
            the same verdicts every time, which are not repeated.
    """

    rater: str
    features: tuple[str, ...]
    caution: str
    scope: Scope | None = None
    examinee: str = ""
    prompt_text: str = ""
    most_requests: int = 1
    writes: bool = True

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Return the ratings of one response, undefined ones included.

        Args:
            response: the response.
            features: those of the battery.
        """
        pieces = self.judge_many([response], features, Cancel())
        return next(piece.ratings for _, piece in pieces if isinstance(piece, Verdict))

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        """Yield ``(index, verdict)`` in any order; a failed call is a verdict too.

        Args:
            responses: the responses.
            features: those of the battery.
            cancel: once it is set, responses without a verdict yield nothing.
        """
        for index, response in enumerate(responses):
            if cancel.is_set():
                return
            yield index, Verdict(tuple(self.judge(response, features)), requests=0)

    def requests(self, response: Response, features: Sequence[Feature]) -> Sequence[Request]:
        """Return what would be sent for a response, for ``--dry-run``; send nothing.

        Args:
            response: the response.
            features: those of the battery.
        """
        return ()

    def open(self) -> Mapping[str, str]:
        """Load or reach the model; return plain facts to store."""
        return {}

    def close(self) -> None:
        """Release the model; may be called twice."""
        return


@runtime_checkable
class Exporter(Protocol):
    """Writes administrations to a file, or to a new folder where it writes several files.

    An exporter has ``suffix``, and one of ``export_stream`` and ``export``. The rest is optional:
    what a class leaves out is as it is here, whether it is a subclass or not.

    Attributes:
        suffix: of the file with its dot; empty for a folder.
        sound: whether it copies recordings: the documents then name their files.
        messages: whether it needs the messages that were sent, which the documents then have.
        columns: of the table that it writes, described beside the file; each has ``name``,
            ``type``, ``meaning`` and ``unit``.
        mediatype: of what it writes; empty: that of the suffix.
    """

    suffix: str
    sound: bool = False
    messages: bool = False
    columns: Sequence[Any] = ()
    mediatype: str = ""

    def expect(self, measures: Sequence[tuple[str, str]], judges: Sequence[str]) -> None:
        """Take note of the ratings that can come, before the first document.

        Args:
            measures: rater and measure.
            judges: those raters who can have a burden.
        """
        return

    def expect_participants(self, columns: Sequence[Column]) -> None:
        """Take note of what documents have of participants (``speaker``), before the first.

        Args:
            columns: of their records, only those of which somebody has a value; empty without
                participants.
        """
        return

    def export_stream(self, documents: Iterator[Mapping[str, Any]], out: Path) -> None:
        """Write administrations while they are read, however many there are.

        Args:
            documents: the document of each administration as ``tabwb results ID --json`` prints it,
                but ``trials`` is an iterator: its trials are taken in order and before the next
                document. Equal lists of ratings may be one object; nothing may be changed.
            out: the file or folder.
        """
        parts = [{**part, "trials": list(part["trials"])} for part in documents]
        self.export({"format": 1, "documents": parts}, out)

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write administrations that are in memory.

        Args:
            document: ``format``, and ``documents`` with the document of each administration, whose
                ``trials`` are a list.
            out: the file or folder.
        """
        self.export_stream(iter(document.get("documents", [document])), out)


@runtime_checkable
class Importer(Protocol):
    """Reads answers that were given elsewhere."""

    def recognises(self, path: Path) -> bool:
        """Return whether a file or folder is of this format; look at names and first bytes only."""

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return every answer.

        Args:
            path: the file or folder.
            names: field of an answer to what this file calls it, as the user says it.

        Raises:
            TabwbError: it cannot be read; the message says where and why.
        """


class SpokenImporter(Protocol):
    """Reads a corpus of recorded responses. It is registered as an :class:`Importer` is."""

    spoken: Literal[True]
    """Tells it from an importer of answers."""

    def recognises(self, path: Path) -> bool:
        """Return whether a file or folder is of this format; look at names and first bytes only."""

    def read(self, path: Path, names: Mapping[str, str]) -> SpokenFile:
        """Return every response that can be used.

        Args:
            path: the file or folder.
            names: what the user says of it: ``correctness``, a file of accepted pronunciations.

        Raises:
            TabwbError: nothing can be read; the message says where and why.
        """


@runtime_checkable
class Transcriber(Protocol):
    """Transcribes audio. Made by the factory, opened once, used from one thread."""

    @property
    def unit(self) -> Literal["phonemes", "words"]:
        """The unit of a segment of its transcripts."""

    def open(self) -> Mapping[str, str]:
        """Load the model; return plain facts to store (model id, revision, labels, licence ...)."""

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)`` in any order.

        A clip that failed yields a transcript in status ``error``.

        Args:
            clips: stretches of conditioned files, 16 kHz mono.
            cancel: once it is set, clips without a transcript yield nothing.

        Raises:
            ComponentError: no clip can be transcribed.
        """

    def close(self) -> None:
        """Release the model; may be called twice."""


@runtime_checkable
class LesionableBackend(ModelBackend, Protocol):
    """A model back end whose weights can be lesioned; see docs/lesions.md."""

    def parts(self) -> Sequence[Part]:
        """Return the parts that can be lesioned, in the order of the layers.

        Raises:
            ComponentError: the model's architecture or weights cannot be lesioned.
        """

    def lesion(self, spec: str) -> Mapping[str, str]:
        """Answer under this lesion from now on, in place of an earlier one; return facts to store.

        Before ``open`` the lesion is kept until the model is loaded. It does not end with a reply,
        an error or ``close``.

        Args:
            spec: one or more lesions joined by ``+``; empty: the intact model.

        Raises:
            TabwbError: the spec is wrong, or the model lacks what it names; no request is answered
                until a lesion could be applied.
        """


@runtime_checkable
class ActivationBackend(LesionableBackend, Protocol):
    """A lesionable back end that says how strongly its units respond to texts."""

    def activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the response of each unit to each text, in their order, of the model as it is now.

        Of a neuron its absolute value, of a head the 2-norm of its values, at each token of the
        text; tokens that the model puts before texts are not counted.

        Args:
            target: ``mlp.neurons`` or ``attention.heads``.
            texts: each is given alone, without a prompt.
            pool: of the tokens the mean, or the last one.
            cancel: once it is set, fewer are yielded.

        Yields:
            Shape (units,), float32: the units of all parts of the target, in the order of
            ``parts``.
        """


@runtime_checkable
class LaneBackend(LesionableBackend, Protocol):
    """A back end that answers under several lesions in one batch; see docs/large-sweeps.md."""

    def lanes(self, specs: Sequence[str]) -> Sequence[int]:
        """Return for each lesion how many conditions like it should share a batch.

        Args:
            specs: of the lesions; empty: the intact model.

        Returns:
            0 where the lesion cannot be beside others; 1 where it can, but gains nothing or changes
            texts by rounding.

        Raises:
            TabwbError: a spec is wrong, or the model lacks what it names.
        """

    def reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` in any order, as ``reply_many`` does.

        The lesion that was set with ``lesion`` plays no part, and is in force again afterwards.

        Args:
            lesions: specs for which :meth:`lanes` is not 0.
            requests: each with the number of its lesion.
            cancel: once it is set, requests without an answer yield nothing.

        Raises:
            ComponentError: no request can be answered.
        """
