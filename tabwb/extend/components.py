"""The contracts of the parts that plugins bring, and the cheap descriptors that announce them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.records.exchange import Reply, Request
from tabwb.records.ratings import Rating
from tabwb.records.specs import Spec
from tabwb.records.states import ResponseKind, ResponseStatus

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
        needs: extras of tabwb (``local``) without which the factory cannot work.
        needs_network: refused under ``--offline`` before the factory runs.
        runs: ``child`` for what must not load into the program itself (torch).
        name_help: what NAME means in a spec (``FILE``), empty where none is taken.
        name_required: whether a spec without NAME is an error.
        aliases: other ids under which the component is found; stored specs use ``id``.
        remarks: what a user should know before choosing it, one line.
        batches: the back end also fulfils :class:`BatchingBackend`.
    """

    id: str
    title: str
    factory: Callable[[Spec, Any], Any]
    options: Callable[[], type[BaseModel]] | None = None
    needs: tuple[str, ...] = ()
    needs_network: bool = False
    runs: Literal["here", "child"] = "here"
    name_help: str = ""
    name_required: bool = False
    aliases: tuple[str, ...] = ()
    remarks: str = ""
    batches: bool = False


@runtime_checkable
class ModelBackend(Protocol):
    """A model that answers in text. Made by the factory, opened once, used from one thread."""

    def open(self) -> Mapping[str, str]:
        """Load the model; return plain facts to store (model id, revision, dtype, device ...)."""

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Yield pieces of text as they come and, last, one :class:`Reply`.

        A failure raises :class:`tabwb.records.errors.ComponentError`; a set ``cancel`` ends the
        reply with stop reason ``cancelled``.
        """

    def close(self) -> None:
        """Give back what was loaded; may be called twice."""


@runtime_checkable
class BatchingBackend(ModelBackend, Protocol):
    """A model back end that answers many requests faster together than one by one."""

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply]]:
        """Yield ``(index, reply)`` in whatever order they come."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response to be rated, with what raters may know about it.

    Attributes:
        text: the response, unaltered.
        status: its status; raters give *undefined* for ``empty``.
        prompt: the item's own prompt (without instructions and options).
        sent: the exact user message.
        kind: what the subtest asks for.
        options: the options in the order shown.
        expected: the right answer, or None.
        foils: option to kind of error.
        spoken: a transcript of speech, not typed text.
        previous: earlier counting responses of the same administration, oldest first.
        dialect: the speaker's recorded dialect, or empty.
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


@runtime_checkable
class Scorer(Protocol):
    """Compares a response with its item; named by a battery's ``scorers``."""

    measures: tuple[str, ...]
    """Every measure the scorer may give, the one that decides first."""

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Ratings of one response; the rater is the scorer's id."""


@runtime_checkable
class Judge(Protocol):
    """Rates the features of responses."""

    rater: str
    """The resolved spec, stored as the rater."""
    features: tuple[str, ...]
    """The fixed feature set over which this judge's burden is computed."""
    caution: str
    """The sentence shown with every verdict."""

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Ratings of one response over the battery's features; undefined ones included."""


@runtime_checkable
class Exporter(Protocol):
    """Writes administrations to a file."""

    suffix: str

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write the results documents (``format: 1`` shapes of DESIGN 7) to ``out``."""


@dataclass(frozen=True, slots=True)
class BatterySource:
    """A battery that a plugin brings: where its TOML file lies."""

    id: str
    path: Path
    owner: str = ""


@runtime_checkable
class Transcriber(Protocol):
    """Audio to phonemes or words. The contract is completed with the spoken tasks."""

    unit: Literal["phonemes", "words"]


__all__ = [
    "BatchingBackend",
    "Battery",
    "BatterySource",
    "Cancel",
    "ComponentKind",
    "Descriptor",
    "Exporter",
    "Judge",
    "ModelBackend",
    "Response",
    "Scorer",
    "Transcriber",
]
