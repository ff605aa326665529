"""Proxies of plugins' components that check everything they return and raise.

A component can raise anything, print, return the wrong types or never return. Each of these becomes
a :class:`~tabwb.records.errors.ComponentError` that names the component, or is contained. Any
method can raise one.

Calls that have no limit of their own get one of time and memory.
"""

from __future__ import annotations

import inspect
import math
import numbers
import os
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_type_hints

from tabwb.lesion.declared import PARAMETERS, TARGETS, Part, Pool
from tabwb.plugin_api.components import AnswerFile, Cancel, Importer, SpokenFile
from tabwb.records.errors import (
    ComponentError,
    MissingExtra,
    MissingPackage,
    TabwbError,
    error_text,
)
from tabwb.records.exchange import Likelihood, Reply, Request, Wait
from tabwb.records.files import stdout_to_stderr
from tabwb.records.ratings import Rating
from tabwb.records.reasoning import AUTO, ReasoningStream, passed_on, separated
from tabwb.records.states import StopReason
from tabwb.records.system import is_real

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

    from tabwb.records.speech import Clip, Transcript

T = TypeVar("T")

MEMORY = 2 * 1024**3
"""Bytes by which the program may grow meanwhile."""
_LOOK_S = 0.05
_STATM = Path("/proc/self/statm")


class LimitReached(ComponentError):
    """A plugin's call reached a limit of time or memory."""


class _Stopped(SystemExit):
    """Raised in the thread of a call that is abandoned, so that it ends and frees its memory."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of ``work``, which runs in a thread that is abandoned at the limit.

    A server that sends a byte now and then never times out, and a chat template can loop for ever.

    Args:
        seconds: the limit.
        work: the call.

    Raises what the call raises, or ``TimeoutError`` where it does not return in time.
    """
    thread, done = _prepared(work)
    thread.start()
    return done.result(timeout=seconds)


def limited(name: str, seconds: float, work: Callable[[], T], *, memory: int = MEMORY) -> T:
    """Return the result of a plugin's call, which has limits of time and memory.

    The call runs in its own thread. At a limit it is abandoned; code in Python ends then, a
    call in C continues until it returns. Memory is what the whole program grows by; where the
    system does not tell, it has no limit.

    Raises:
        LimitReached: a limit is reached. What the call raises is raised too; a
            ``KeyboardInterrupt`` says what was running.
    """
    thread, done = _prepared(work)
    deadline, most = time.monotonic() + seconds, _memory() + memory
    try:
        with interrupts_say(f"{name} was running"):
            thread.start()  # in here, because ctrl+c may come while it starts
            while True:
                try:
                    return done.result(timeout=min(_LOOK_S, max(0.0, deadline - time.monotonic())))
                except TimeoutError:
                    if done.done():  # one that the call itself raised
                        raise
                if time.monotonic() >= deadline:
                    raise _exceeded(name, f"did not end within {seconds:g} s", f"{seconds:g} s")
                if _memory() > most:
                    size = f"{memory / 1024**3:.2g} GiB"
                    raise _exceeded(name, f"took more than {size} of memory", size)
    finally:
        if not done.done():
            _stop(thread)


@contextmanager
def interrupts_say(what: str) -> Iterator[None]:
    """Let a ``KeyboardInterrupt`` say what was running, where it does not yet."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        stopped.args = stopped.args or (what,)
        raise


def _prepared(work: Callable[[], T]) -> tuple[threading.Thread, Future[T]]:
    """Return a thread that makes a call, not yet started, and what its result will be."""
    from concurrent.futures import Future

    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except _Stopped:
            done.cancel()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done.set_exception(error)

    # Not by an executor, whose threads the interpreter waits for when it ends.
    return threading.Thread(target=run, daemon=True), done


def _exceeded(name: str, what: str, allowed: str) -> LimitReached:
    return LimitReached(
        f"{name} {what}",
        allowed=allowed,
        hint="choose fewer administrations, or remove the plugin (tabwb plugins list) and report "
        "it to its author",
    )


def _stop(thread: threading.Thread) -> None:
    """Raise an exception in a thread; one that waits in C gets it when that returns."""
    import ctypes

    if thread.ident is not None:
        stopped = ctypes.py_object(_Stopped)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), stopped)


def _memory() -> int:
    """Return the bytes of memory that the program takes; 0 where that is not known."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


class PluginExit(Exception):
    """A plugin tried to end the program, or raised an error that is not an ``Exception``."""


class _ExitsAsErrors:
    """Turns an attempt of a plugin to end the program into a :class:`PluginExit`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, Exception | _Stopped):
            return
        if isinstance(error, KeyboardInterrupt) and is_real(error):
            return
        raise PluginExit(error_text(error)) from error


class _PluginCode(_ExitsAsErrors):
    """Runs code of a plugin with its output on stderr; only ctrl+c ends the program."""

    def __enter__(self) -> None:
        stdout_to_stderr.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        stdout_to_stderr.__exit__()
        super().__exit__(kind, error, trace)


# Without state, so one instance serves every call: a reply has thousands of pieces.
plugin_code, exits_as_errors = _PluginCode(), _ExitsAsErrors()


def error_words(error: Exception) -> str:
    """Return the text of an error, with the name of its type where it is not ours."""
    ours = isinstance(error, TabwbError | PluginExit)
    return error_text(error, typed=not ours)


def not_async(result: T) -> T:
    """Return what a method of a plugin returned.

    Raises:
        TypeError: it is a coroutine or an asynchronous generator: the method is an ``async def``.
    """
    if inspect.iscoroutine(result) or inspect.isasyncgen(result):
        name = result.__qualname__
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"{name} is an 'async def'; tabwb does not await methods: write 'def'")
    return result


LONGEST_REPLY = 2**24
"""Characters of a reply; a component in a child process has a limit of the same order."""
_MOST_METADATA = 1_000
"""Names in the metadata of a reply; they are stored with each response."""
CLOSE_S = 5.0
"""Seconds that ``close`` of a component may take; then the program continues."""
_ROUNDING = 1e-3
"""A logarithm of a probability is at most so far above 0."""
_LONGEST_FACTS = 20_000_000
"""Characters of what a back end may say of a lesion; it is stored with each administration."""
Report = Callable[[str], object]
"""Called with a failure that must not end the program."""


class GuardedComponent:
    """A component that is opened and closed."""

    _FAILED = ""
    """Before the text of what the plugin raised; ``{}`` is the name."""

    def __init__(self, inner: Any, name: str, report: Report, owner: str = "") -> None:
        self.inner = inner
        self._name = name
        self._report = report
        self._owner = owner

    def open(self) -> Mapping[str, str]:
        """Open the component; return its facts as text.

        Raises:
            ComponentError: its facts are not a mapping.
        """
        of = f" of plugin '{self._owner}'" if self._owner else ""
        facts = self._call(self.inner.open, f"open() of '{{}}'{of} failed: ")
        if not isinstance(facts, Mapping):
            raise self._wrong(f"{_kind(facts)} as its facts", "a mapping of names to text")
        return {str(key): str(value) for key, value in facts.items()}

    def close(self) -> None:
        """Close the component; a failure is reported and never raised."""

        def close() -> None:
            with exits_as_errors:
                self.inner.close()

        # Redirected out here: a thread that never ends would never restore stdout.
        try:
            with stdout_to_stderr:
                within(CLOSE_S, close)
        except TimeoutError as error:
            # One of the plugin's own has a text; that of the limit has none.
            how = f"failed: {error}" if str(error) else f"did not end within {CLOSE_S:g} s"
            self._report(f"close() of '{self._name}' {how}")
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._report(f"close() of '{self._name}' failed: {error_words(error)}")

    def _call(self, work: Callable[[], T], failed: str | None = None) -> T:
        """Call code of the plugin; any error that is not ours becomes a ComponentError."""
        try:
            with plugin_code:
                return not_async(work())
        except TabwbError as error:
            if type(error).__module__ == TabwbError.__module__:
                raise
            raise ComponentError(error_text(error, typed=False)) from error
        except Exception as error:
            words = self._FAILED if failed is None else failed
            raise ComponentError(words.format(self._name) + error_words(error)) from error

    def _each(self, begin: Callable[[], Any]) -> Iterator[Any]:
        iterator = self._call(lambda: iter(not_async(begin())))
        end = object()
        try:
            while (piece := self._call(lambda: next(iterator, end))) is not end:
                yield piece
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                self._call(close)

    def _pairs(self, begin: Callable[[], Any], count: int) -> Iterator[tuple[int, Any]]:
        given: set[int] = set()
        for pair in self._each(begin):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise self._wrong(_kind(pair), "pairs (index, result)")
            index, piece = pair
            if not _is_a(numbers.Integral, index) or not 0 <= index < count:
                raise self._wrong(f"the index {index!r}", f"0 to {count - 1}")
            if index in given:
                raise self._wrong(f"the index {index!r} again", "one result for each index")
            if not isinstance(piece, Wait):
                given.add(int(index))
            yield int(index), piece

    def _wrong(self, what: str, allowed: str) -> ComponentError:
        return ComponentError(f"'{self._name}' gave {what}", allowed=allowed)


class GuardedModel(GuardedComponent):
    """A model back end that yields only valid pieces; with the plugin's optional methods.

    The reasoning of a reply is apart from its text: where the back end did not see to it, by the
    tags of the text under the option ``reasoning``.
    """

    def __init__(
        self, inner: Any, name: str, report: Report, reasoning: str = AUTO, owner: str = ""
    ) -> None:
        super().__init__(inner, name, report, owner)
        self._reasoning = reasoning
        if hasattr(inner, "reply_many"):
            self.reply_many = self._reply_many
        if hasattr(inner, "likelihood"):
            self.likelihood = self._likelihood
        if hasattr(inner, "lesion"):
            self.parts, self.lesion = self._parts, self._lesion
        if hasattr(inner, "activations"):
            self.activations = self._activations
        if hasattr(inner, "reply_lanes"):
            self.lanes, self.reply_lanes = self._lanes, self._reply_lanes

    @property
    def concurrency(self) -> Any:
        """The number of requests in progress at one time, where the back end says."""
        return self.inner.concurrency

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Yield pieces of text and, last, the reply.

        Raises:
            ComponentError: a piece is anything else.
        """
        stream = ReasoningStream(self._reasoning)
        streamed: list[str] = []
        size = 0
        ended = False
        for piece in self._each(lambda: self.inner.reply(request, cancel)):
            if ended:
                raise self._wrong(f"{_kind(piece)} after the reply", "the reply as the last piece")
            if isinstance(piece, str):
                streamed.append(piece)
                size += len(piece)
                if size > LONGEST_REPLY:
                    raise self._too_long(size)
                yield from passed_on(stream, stream.feed(piece))
            elif isinstance(piece, Wait | Reply):
                checked = self._checked(piece)
                self._check_streamed("".join(streamed), piece)
                if isinstance(checked, Wait) and checked.voids:
                    streamed, size = [], 0  # those before it are void
                    stream = ReasoningStream(self._reasoning)
                elif isinstance(checked, Reply):
                    ended = True
                    yield from passed_on(stream, stream.rest_of(checked.text))
                yield checked
            else:
                raise self._wrong(_kind(piece), "text, a Wait, or a Reply")

    def _check_streamed(self, streamed: str, piece: Wait | Reply) -> None:
        if not isinstance(piece, Reply) or not streamed or streamed == piece.text:
            return
        from tabwb.host.keys import redact

        if piece.text != redact(streamed):  # a key that a service sent back
            said = f"the pieces {streamed[:60]!r} and then the reply {piece.text[:60]!r}"
            raise self._wrong(said, "a reply whose text is exactly the joined pieces")

    def _checked(self, piece: Any) -> Any:
        """Return a reply or wait with plain numbers."""
        if isinstance(piece, Wait):
            return replace(piece, seconds=self._seconds(piece.seconds, "a wait's seconds"))
        if not isinstance(piece.text, str):
            raise self._wrong(f"{_kind(piece.text)} as a reply's text", "str")
        if not isinstance(piece.stop_reason, StopReason):
            raise self._wrong(f"the stop reason {piece.stop_reason!r}", "a StopReason")
        if not isinstance(piece.reasoning, str | None):
            raise self._wrong(f"{_kind(piece.reasoning)} as a reply's reasoning", "str, or None")
        size = len(piece.text) + len(piece.reasoning or "")
        if size > LONGEST_REPLY:
            raise self._too_long(size)
        first = piece.first_piece_s
        checked = replace(
            piece,
            latency_s=self._seconds(piece.latency_s, "latency_s"),
            first_piece_s=None if first is None else self._seconds(first, "first_piece_s"),
            prompt_tokens=self._count(piece.prompt_tokens, "prompt_tokens"),
            reply_tokens=self._count(piece.reply_tokens, "reply_tokens"),
            metadata=self._metadata(piece.metadata),
        )
        return separated(checked, self._reasoning)

    def _too_long(self, size: int) -> ComponentError:
        return self._wrong(f"a reply of {size:,} characters", f"up to {LONGEST_REPLY:,} characters")

    def _seconds(self, value: Any, field: str) -> float:
        if not _is_a(numbers.Real, value) or not 0 <= value < math.inf:
            raise self._wrong(f"{field} = {value!r}", "a finite number of seconds, 0 or more")
        return float(value)

    def _count(self, value: Any, field: str) -> int | None:
        if value is None:
            return None
        if not _is_a(numbers.Integral, value) or not 0 <= value < 2**53:
            raise self._wrong(f"{field} = {value!r}", "a whole number, 0 or more, or None")
        return int(value)

    def _metadata(self, metadata: object) -> dict[str, str]:
        if not isinstance(metadata, Mapping):
            raise self._wrong(f"{_kind(metadata)} as metadata", "a mapping of names to text")
        plain = {str(key): str(value) for key, value in metadata.items()}
        length = sum(map(len, plain.values()))
        if len(plain) > _MOST_METADATA or length > LONGEST_REPLY:
            raise self._wrong(
                f"metadata of {len(plain):,} names and {length:,} characters",
                f"up to {_MOST_METADATA:,} names and {LONGEST_REPLY:,} characters",
            )
        return plain

    def _reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)``; an invalid reply is the error of its request."""
        return self._replies(lambda: self.inner.reply_many(requests, cancel), len(requests))

    def _lanes(self, specs: Sequence[str]) -> Sequence[int]:
        counts = self._call(lambda: list(self.inner.lanes(specs)))
        if len(counts) != len(specs):
            raise self._wrong(f"{len(counts)} numbers of lanes", f"{len(specs)}")
        return [self._count(count, "a number of lanes") or 0 for count in counts]

    def _reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)``; an invalid reply is the error of its request."""
        begin = lambda: self.inner.reply_lanes(lesions, requests, cancel)  # noqa: E731
        return self._replies(begin, len(requests))

    def _replies(
        self, begin: Callable[[], Any], count: int
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        for index, piece in self._pairs(begin, count):
            if isinstance(piece, TabwbError):
                yield index, piece  # type: ignore[misc]
                continue
            try:
                if not isinstance(piece, Reply | Wait):
                    raise self._wrong(_kind(piece), "a Reply, a Wait or a ComponentError")
                yield index, self._checked(piece)
            except ComponentError as error:
                yield index, error

    def _parts(self) -> Sequence[Part]:
        parts = self._call(lambda: list(self.inner.parts()), "parts() of '{}' failed: ")
        for part in parts:
            if not isinstance(part, Part):
                raise self._wrong(f"{_kind(part)} as a part", "tabwb.plugin_api.Part")
            if wrong := _wrong_in(part):
                raise self._wrong(f"a part with {wrong}", "see Part in docs/reference/records.md")
        if len({part.name for part in parts}) < len(parts):
            raise self._wrong("several parts of one name", "each name once: its draws depend on it")
        return parts

    def _lesion(self, spec: str) -> Mapping[str, str]:
        facts = self._call(lambda: self.inner.lesion(spec), "lesion() of '{}' failed: ")
        if not isinstance(facts, Mapping):
            raise self._wrong(f"{_kind(facts)} as facts of a lesion", "a mapping of names to text")
        found = {str(key): str(value) for key, value in facts.items()}
        if (length := sum(map(len, found.values()))) > _LONGEST_FACTS:
            allowed = f"up to {_LONGEST_FACTS:,}"
            raise self._wrong(f"facts of a lesion with {length:,} characters", allowed)
        if not (count := found.get(PARAMETERS, "0")).isdecimal():
            raise self._wrong(f"the fact {PARAMETERS} = {count!r}", "a whole number")
        return found

    def _activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        import numpy as np

        for values in self._each(lambda: self.inner.activations(target, texts, pool, cancel)):
            if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind != "f":
                raise self._wrong(_kind(values), "an array of floats, one for each unit")
            yield values.astype(np.float32, copy=False)

    def _likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        begin = lambda: self.inner.likelihood(request, continuations, cancel)  # noqa: E731
        return [self._checked_likelihood(item) for item in self._each(begin)]

    def _checked_likelihood(self, item: object) -> Likelihood:
        if not isinstance(item, Likelihood):
            raise self._wrong(_kind(item), "tabwb.records.exchange.Likelihood")
        value = item.log_probability
        if not _is_a(numbers.Real, value):
            raise self._wrong(f"log_probability = {value!r}", "a natural logarithm")
        if not value <= _ROUNDING:  # also not a number
            raise self._wrong(f"log_probability = {value!r}", "0 or less, the log of a probability")
        tokens = self._count(item.tokens, "tokens")
        if tokens is None:
            raise self._wrong("tokens = None", "a whole number, 0 or more")
        prompt_tokens = self._count(item.prompt_tokens, "prompt_tokens")
        return Likelihood(float(value), tokens, prompt_tokens, self._metadata(item.metadata))


class GuardedTranscriber(GuardedComponent):
    """A transcriber that yields pairs of a clip's index and a transcript."""

    _FAILED = "transcriber '{}' failed: "

    @property
    def unit(self) -> Literal["phonemes", "words"]:
        """The unit of a segment.

        Raises:
            ComponentError: it is neither phonemes nor words.
        """
        unit = self._call(lambda: self.inner.unit)
        if unit not in {"phonemes", "words"}:
            raise self._wrong(f"the unit {unit!r}", "phonemes, words")
        return unit  # type: ignore[no-any-return]

    def transcribe_many(
        self, clips: Sequence[Clip], cancel: Cancel
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield ``(index, transcript)``; anything else is the error of its clip."""
        from tabwb.records.speech import Transcript

        begin = lambda: self.inner.transcribe_many(clips, cancel)  # noqa: E731
        for index, transcript in self._pairs(begin, len(clips)):
            if isinstance(transcript, Transcript):
                yield index, transcript
            else:
                error = f"'{self._name}' gave {_kind(transcript)} instead of a Transcript"
                yield index, Transcript(self._name, "error", error=error)


def inner_of(component: T) -> T:
    """Return the component that the plugin made, for conformance checks."""
    return component.inner if isinstance(component, GuardedComponent) else component


def _wrong_in(part: Part) -> str:
    """Return which field of a part cannot be used, or nothing."""
    tensors = part.tensors if isinstance(part.tensors, Mapping) else {None: 0}
    fields = {
        "name": _is_line(part.name),
        "target": isinstance(part.target, str) and part.target in TARGETS,
        "layer": part.layer is None or _counts(part.layer, 0),
        "units": _counts(part.units, 1),
        "parameters": _counts(part.parameters, 1),
        "tensors": all(_is_line(name) and _counts(size, 0) for name, size in tensors.items()),
    }
    for key, fits in fields.items():
        if not fits:
            return f"{key} = {getattr(part, key)!r}"
    is_weight = TARGETS[part.target].unit == "weight"
    if part.units != part.parameters if is_weight else part.parameters % part.units:
        return f"units = {part.units} and parameters = {part.parameters}"
    return ""


def _is_line(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _counts(value: object, least: int) -> bool:
    return _is_a(int, value) and least <= value < 2**53  # type: ignore[operator]


def _is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__


TEXTS = ("where", "subtest", "item", "prompt", "question", "given_at", "error")
NUMBERS = ("latency_s", "prompt_tokens", "reply_tokens", "replicate")


class GuardedImporter:
    """An importer whose failures name it."""

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._name = name
        self.spoken = bool(getattr(inner, "spoken", False))

    def recognises(self, path: Path) -> bool:
        """Return whether the importer takes a path for one of its format.

        Raises:
            ComponentError: the plugin failed, or returned something else.
        """
        try:
            with plugin_code:
                known = self._inner.recognises(path)
        except Exception as error:
            raise self._failed("recognises()", path, error) from error
        if not isinstance(known, bool):
            raise self._wrong(path, f"{known!r:.40} from recognises()", "True or False")
        return known

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return the answers of a file or folder, each field checked; or its spoken responses.

        Raises:
            ComponentError: the plugin failed, or returned something that is not answers.
            TabwbError: the plugin says why the file cannot be read.
        """
        try:
            with plugin_code:
                read: Any = self._inner.read(path, names)
        except TabwbError:
            raise
        except Exception as error:
            raise self._failed("read()", path, error) from error
        if self.spoken and isinstance(read, SpokenFile):
            for given, allowed in _spoken_mistakes(read):
                raise self._wrong(path, given, allowed)
            return cast("AnswerFile", read)  # of a SpokenImporter
        if not isinstance(read, AnswerFile):
            wanted = "a SpokenFile" if self.spoken else "an AnswerFile"
            raise self._wrong(path, f"a {type(read).__name__}", wanted)
        if not isinstance(read.answers, tuple):
            raise self._wrong(path, f"answers as a {type(read.answers).__name__}", "a tuple")
        if not all(isinstance(file, Path) for file in read.files):
            raise self._wrong(path, f"files={read.files!r:.60}", "paths (pathlib.Path)")
        if not read.answers:
            raise TabwbError("there is no answer in it", where=str(path))
        declared = {declaration.rater for declaration in read.declarations}
        for number, answer in enumerate(read.answers, 1):
            for given, allowed in (*_mistakes(answer), *_wrong_ratings(answer, declared)):
                raise self._wrong(path, f"answer {number} with {given}", allowed)
        return read

    def _failed(self, what: str, path: Path, error: Exception) -> ComponentError:
        return ComponentError(
            f"{what} of the importer '{self._name}' failed: {error_words(error)}",
            where=str(path),
            hint="choose another format with --format, or report it to the plugin's author",
        )

    def _wrong(self, path: Path, given: str, allowed: str) -> ComponentError:
        return ComponentError(
            f"the importer '{self._name}' returned {given}", where=str(path), allowed=allowed
        )


def recognising(makers: Iterable[Callable[[], Importer]], path: Path) -> Importer | None:
    """Return the first importer that takes a path for one of its format, or None.

    Args:
        makers: of the importers; one that fails does not keep the others from being asked, and
            one whose packages are not installed is passed over.
        path: of a file or folder.

    Raises:
        ComponentError: no importer takes it, and one failed.
    """
    failures = []
    for make in makers:
        try:
            if (importer := make()).recognises(path):
                return importer
        except (MissingExtra, MissingPackage):
            continue  # named with ``--format``, it says what to install
        except ComponentError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return None


def _wrong_ratings(answer: Any, declared: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the ratings that an answer has."""
    given = set()
    for rating in getattr(answer, "ratings", ()):
        if not isinstance(rating, Rating) or rating.rater not in declared:
            yield f"ratings={rating!r:.60}", "ratings of raters in AnswerFile.declarations"
        elif (key := (rating.rater, rating.measure)) in given:
            yield f"'{rating.measure}' rated twice", "one rating for each rater and measure"
        else:
            given.add(key)


def _spoken_mistakes(read: SpokenFile) -> Iterator[tuple[str, str]]:
    """Yield the first value of each field that is not of its kind, and what is allowed there."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    from tabwb.records.naming import ImportedSession

    config = ConfigDict(revalidate_instances="always", strict=True, allow_inf_nan=False)
    kinds = get_type_hints(SpokenFile, localns={"ImportedSession": ImportedSession})
    for name, kind in kinds.items():
        try:
            TypeAdapter(kind, config=config).validate_python(getattr(read, name))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            yield f"{place}={first['input']!r:.40}", first["msg"].removeprefix("Input should be ")


def _mistakes(answer: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an answer, and what is allowed there."""
    from tabwb.records.answers import KnownDecoding, RecordedAnswer, RecordedRun

    if not isinstance(answer, RecordedAnswer):
        yield f"the type {type(answer).__name__}", "a RecordedAnswer"
        return
    if answer.text is not None and not isinstance(answer.text, str):
        yield f"text={answer.text!r:.40}", "text, or None where there is none"
    for name, kind in (("run", RecordedRun), ("decoding", KnownDecoding)):
        if not isinstance(getattr(answer, name), kind):
            yield f"{name}={getattr(answer, name)!r:.40}", f"a {kind.__name__}"
    for name in TEXTS:
        if not isinstance(getattr(answer, name), str):
            yield f"{name}={getattr(answer, name)!r:.40}", "text"
    for name in NUMBERS:
        value = getattr(answer, name)
        whole = name != "latency_s"
        if value is None:
            continue
        kinds = int if whole else int | float
        if isinstance(value, bool) or not isinstance(value, kinds):
            yield (
                f"{name}={value!r:.40}",
                "a whole number, or None" if whole else "seconds, or None",
            )
        elif not math.isfinite(value) or value < 0:
            yield f"{name}={value!r:.40}", "0 or more, or None"
    if not isinstance(answer.stop_reason, StopReason):
        yield f"stop_reason={answer.stop_reason!r:.40}", "a StopReason: " + ", ".join(StopReason)
    plain = isinstance(answer.metadata, Mapping) and all(
        isinstance(word, str) for pair in answer.metadata.items() for word in pair
    )
    if not plain:
        yield f"metadata={answer.metadata!r:.40}", "texts by name"
