"""A proxy of a plugin's importer that checks what it returns and raises."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tabwb.plugin_api.answer_files import AnswerFile
from tabwb.plugin_api.components import Importer
from tabwb.plugin_api.registry.guarded import error_words, plugin_code
from tabwb.records.answers import KnownDecoding, RecordedAnswer, RecordedRun
from tabwb.records.errors import ComponentError, MissingExtra, MissingPackage, TabwbError
from tabwb.records.ratings import Rating
from tabwb.records.states import StopReason

TEXTS = ("where", "subtest", "item", "prompt", "question", "given_at", "error")
NUMBERS = ("latency_s", "prompt_tokens", "reply_tokens", "replicate")


class GuardedImporter:
    """An importer whose failures name it.

    Args:
        inner: what the plugin made.
        name: its id, for messages.
    """

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._name = name

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
        """Return the answers of a file or folder, each field checked.

        Args:
            path: the file or folder.
            names: field to what the source calls it.

        Raises:
            ComponentError: the plugin failed, or returned something that is not answers.
            TabwbError: the plugin says why the file cannot be read.
        """
        try:
            with plugin_code:
                read = self._inner.read(path, names)
        except TabwbError:
            raise
        except Exception as error:
            raise self._failed("read()", path, error) from error
        if not isinstance(read, AnswerFile):
            raise self._wrong(path, f"a {type(read).__name__}", "an AnswerFile")
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


def _mistakes(answer: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an answer, and what is allowed there."""
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
