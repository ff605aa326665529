"""The contracts of the parts that plugins bring, and the cheap descriptors that announce them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Message, Reply, Request, Wait
from tabwb.records.ratings import Rating, Scope
from tabwb.records.speakers import Origin
from tabwb.records.specs import Spec
from tabwb.records.speech import Clip, Transcript
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason

if TYPE_CHECKING:
    from pydantic import BaseModel

ComponentKind = Literal["models", "judges", "transcribers", "scorers", "exporters"]
Cancel = threading.Event
"""Set by whoever wants a call to end soon; the component looks at it between pieces."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a plugin registers: cheap to make, imports nothing heavy.

    Attributes:
        id: kebab-case, unique among components of its kind.
        title: one line for people.
        factory: makes the component from a spec; does the heavy import. It is called with the
            parsed spec and the validated options (an instance of what ``options`` returns, or
            None where the component has no options).
        options: returns the pydantic model class of the options; called late. None: no options.
        needs: what the factory cannot work without: extras of tabwb (``local``), or packages of the
            plugin's own, by the name under which they are imported or distributed (``whisper``,
            ``openai-whisper``).
        needs_network: refused under ``--offline`` before the factory runs. A function of the spec
            where that depends on its options (a server on this machine needs none).
        runs: ``child`` for what must not load into the program itself (torch).
        name_help: what NAME means in a spec (``FILE``), empty where none is taken.
        name_required: whether a spec without NAME is an error.
        locate: gives NAME as it is to be stored: a path that holds from every folder.
        aliases: other ids under which the component is found; stored specs use ``id``.
        remarks: what a user should know before choosing it, one line.
        batches: the back end also fulfils :class:`BatchingBackend`.
        likelihood: the back end also fulfils :class:`LikelihoodBackend`. It then answers under
            the protocol ``likelihood`` too, whether ``protocols`` names it or not.
        protocols: how a back end can obtain answers (values of ``records.states.Protocol``).
        unsampled: those of ``protocols`` that take the most probable option, whatever the
            temperature; their replies to the same prompt are the same and count once.
        wraps: NAME is itself a spec of a component of this kind (a judge's model), to which all
            options belong. The factory is then called with a third argument: a function that makes
            the inner component. What the inner one needs is needed.
        reply_tokens: the most tokens that a reply to this spec may take, reasoning included, where
            its text is limited to so many; None: these.
        replicates: how many replicates a model of recorded answers holds of this spec; 0 where that
            cannot be read. A run for which no number was given gives as many. Reading them is
            cheap.
        cuts: a transcriber that hears each stretch of speech by itself (``Clip.speech``). For any
            other the option ``cut`` has tabwb do so.
        made_by: of a model of recorded answers, who made those of this spec (``human``, ``model``,
            ``unknown``) and, of a person's, the study ID where it is known. What is not a model's
            is guarded as a person's: consents are asked for, and the deletion of the person deletes
            it. Reading it is cheap.
        variables: environment variables with secrets that a component with ``runs = "child"`` needs
            (``HF_TOKEN``). Its process has no other key, token or password of the user's.
        install: the command that installs the plugin's own packages, for the message where one is
            missing; empty for the usual command for that package.
    """

    id: str
    title: str
    factory: Callable[..., Any]
    options: Callable[[], type[BaseModel]] | None = None
    needs: tuple[str, ...] = ()
    needs_network: bool | Callable[[Spec], bool] = False
    runs: Literal["here", "child"] = "here"
    name_help: str = ""
    name_required: bool = False
    locate: Callable[[str], str] | None = None
    aliases: tuple[str, ...] = ()
    remarks: str = ""
    batches: bool = False
    likelihood: bool = False
    protocols: tuple[str, ...] = ("generate",)
    unsampled: tuple[str, ...] = ()
    wraps: ComponentKind | None = None
    made_by: Callable[[Spec], tuple[Origin, str]] | None = None
    variables: tuple[str, ...] = ()
    cuts: bool = False
    install: str = ""
    replicates: Callable[[Spec], int] | None = None
    reply_tokens: Callable[[Spec, int], int] | None = None

    @property
    def answers_under(self) -> tuple[str, ...]:
        """The protocols under which the back end can be asked.

        >>> Descriptor("x", "X", list, likelihood=True).answers_under
        ('generate', 'likelihood')
        """
        more = ("likelihood",) if self.likelihood and "likelihood" not in self.protocols else ()
        return (*self.protocols, *more)

    def reaches_out(self, spec: Spec) -> bool:
        """Whether the component of this spec needs more than this machine.

        The spec's options need not have been validated.
        """
        needs = self.needs_network
        return needs if isinstance(needs, bool) else needs(spec)


@runtime_checkable
class ModelBackend(Protocol):
    """A model that answers in text. Made by the factory, opened once, used from one thread."""

    def open(self) -> Mapping[str, str]:
        """Load the model; return plain facts to store (model id, revision, dtype, device ...)."""

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Yield pieces of text as they come and, last, one :class:`Reply`.

        A :class:`Wait` in between says that the back end rests (a rate limit); it begins the reply
        anew if pieces came before it. A failure raises
        :class:`tabwb.records.errors.ComponentError`; a set ``cancel`` ends the reply with stop
        reason ``cancelled``.
        """

    def close(self) -> None:
        """Give back what was loaded; may be called twice."""


@runtime_checkable
class BatchingBackend(ModelBackend, Protocol):
    """A model back end that answers many requests faster together than one by one.

    One with an attribute ``concurrency`` tells how many it has under way at one time.
    """

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` in whatever order they come.

        A request that failed yields its error in place of the reply and harms no other; waits may
        be told in between. Only what makes all of them impossible is raised. Where ``cancel`` is
        set, requests that were not answered yield nothing.
        """


@runtime_checkable
class LikelihoodBackend(ModelBackend, Protocol):
    """A model back end that can say how likely it finds a given text."""

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        """Return the likelihood of each continuation as the reply to ``request``, in their order.

        The continuation is scored as the model would write it: after the rendered prompt. Under
        the protocol ``likelihood`` the continuations are the options of the item; the engine
        chooses the most likely one, and ``reply`` is not called. Fewer are returned when
        cancelled.
        """


@dataclass(frozen=True, slots=True)
class Response:
    """A response to be rated, with what raters may know about it.

    Attributes:
        text: the response, unaltered.
        status: its status. Raters give *undefined* where there is no text: for ``empty``, and for
            ``truncated`` where reasoning used up the limit.
        prompt: the item's own prompt (without instructions and options).
        sent: the exact user message.
        messages: everything that was sent, system message and earlier turns included; empty for a
            person.
        kind: what the subtest asks for.
        options: the options in the order shown.
        expected: the right answer, or None.
        foils: option to kind of error.
        spoken: a transcript of speech, not typed text.
        previous: earlier counting responses of the same administration, oldest first.
        dialect: the speaker's recorded dialect, or empty.
        draw: 0-based; which of several verdicts of one judge on this response is asked for. A judge
            that samples draws each with another seed.
        reference: the item's model answer or rubric, or empty.
        metadata: the item's own table, as plain data.
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


@runtime_checkable
class Scorer(Protocol):
    """Compares a response with its item; named by a battery's ``scorers``.

    The first of ``measures`` decides whether an answer is right, whatever its name: 1 is right, 0
    is wrong. Where it has any other value in a subtest, nothing is called right or wrong there and
    the measure is shown as a mean. A scorer that only measures (words, ratios) has an attribute
    ``decides = False``. ``normalised`` and ``extracted``, where a scorer gives them, are the
    verdicts under those policies.
    """

    @property
    def measures(self) -> tuple[str, ...]:
        """Every measure that the scorer may give, the one that decides first."""

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Ratings of one response; the rater is the scorer's id or its spec with options."""


@runtime_checkable
class Judge(Protocol):
    """Rates the features of responses."""

    @property
    def rater(self) -> str:
        """The resolved spec, stored as the rater."""

    @property
    def features(self) -> tuple[str, ...]:
        """The fixed feature set over which this judge's burden is computed."""

    @property
    def caution(self) -> str:
        """The sentence shown with every verdict."""

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Ratings of one response over the battery's features; undefined ones included."""


@runtime_checkable
class ScopedJudge(Judge, Protocol):
    """A judge whose burden has one scope, whatever else it was given to judge."""

    @property
    def scope(self) -> Scope:
        """Of any other judge: connected text, or all answers once others were judged too."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge that asks a model says of one response.

    Attributes:
        ratings: one for each measure; all in status error where the call failed, all unparsed
            where the reply could not be read.
        raw: the model's own words, unaltered; of a repaired verdict those that were read.
        first_raw: the words that could not be read, where a repair was asked for.
        repaired: the verdict comes from a second request.
        structured: the API was told to keep to the schema.
        stop_reason: why the last reply ended.
        requests: how many requests were sent.
        prompt_tokens, reply_tokens: of all requests together, or None where not counted.
        latency_s: seconds, of all requests together.
    """

    ratings: tuple[Rating, ...]
    raw: str = ""
    first_raw: str = ""
    repaired: bool = False
    structured: bool = False
    stop_reason: StopReason = StopReason.END
    requests: int = 1
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    latency_s: float = 0.0


@runtime_checkable
class ModelJudge(Judge, Protocol):
    """A judge behind which a model stands: slow, perhaps costly, and many at once.

    It is run as a step of its own after the answers are safe (``tabwb judge run``), never between
    two prompts. One whose model only weighs and writes nothing says ``writes = False``: its
    verdicts are the same every time, so that it is never asked to repeat them.
    """

    @property
    def prompt_text(self) -> str:
        """The canonical text (JSON) of everything put to the model besides the response."""

    @property
    def examinee(self) -> str:
        """The spec of the model that judges, as resolved."""

    @property
    def most_requests(self) -> int:
        """How many requests one response may take: 2 where a reply is asked for again."""

    def open(self) -> Mapping[str, str]:
        """Load or reach the model; plain facts to store."""

    def requests(self, response: Response, features: Sequence[Feature]) -> Sequence[Request]:
        """Exactly what would be sent for a response, for ``--dry-run``; asks nothing."""

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        """Yield ``(index, verdict)`` in whatever order they come; a failed call is a verdict too.

        Where ``cancel`` is set, responses that were not judged yield nothing.
        """

    def close(self) -> None:
        """Give back what was opened; may be called twice."""


@runtime_checkable
class Exporter(Protocol):
    """Writes administrations to a file, or to a new folder where it makes several files.

    One that copies recordings says ``sound = True``: the documents then name their files.
    """

    @property
    def suffix(self) -> str:
        """Of the file, with its dot; empty for a folder."""

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write the results documents (as ``tabwb results ID --json`` prints them) to ``out``.

        ``document`` has ``format`` and ``documents``, a list with one document per administration.
        """


@dataclass(frozen=True, slots=True)
class BatterySource:
    """A battery that a plugin brings.

    Attributes:
        id: kebab-case, unique among batteries.
        path: of its TOML file, which is read when the battery is needed.
        owner: the plugin; filled in when it registers.
    """

    id: str
    path: Path
    owner: str = ""


@runtime_checkable
class Transcriber(Protocol):
    """Audio to phonemes or words. Made by the factory, opened once, used from one thread."""

    @property
    def unit(self) -> Literal["phonemes", "words"]:
        """What a segment of its transcripts is."""

    def open(self) -> Mapping[str, str]:
        """Load the model; return plain facts to store (model id, revision, labels, licence ...)."""

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)`` in whatever order they come.

        Clips are files of 16 kHz mono as conditioning leaves them. A clip that failed yields a
        transcript in status ``error`` and harms no other; only what makes all of them impossible
        is raised, as a :class:`tabwb.records.errors.ComponentError`. Where ``cancel`` is set,
        clips that were not transcribed yield nothing.
        """

    def close(self) -> None:
        """Give back what was loaded; may be called twice."""


__all__ = [
    "BatchingBackend",
    "Battery",
    "BatterySource",
    "Cancel",
    "Clip",
    "ComponentKind",
    "Descriptor",
    "Exporter",
    "Judge",
    "LikelihoodBackend",
    "ModelBackend",
    "ModelJudge",
    "Response",
    "ScopedJudge",
    "Scorer",
    "Transcriber",
    "Transcript",
    "Verdict",
]
