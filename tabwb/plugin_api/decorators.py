"""Components of plain functions: a scorer, a judge, an exporter or a statistic in a few lines.

    from tabwb.plugin_api import scorer

    @scorer("my-words", "Whether the expected word is mentioned")
    def mentioned(item, response) -> bool:
        return item.expected.casefold() in response.text.casefold()

A module with such functions is a plugin: as the object of an entry point, or as one file that is
trusted with ``tabwb plugins trust FILE.py``. Functions that it imports from its other modules
count too.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from tabwb.battery.model import Feature, Item, Subtest
from tabwb.plugin_api.components import Response
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.errors import ComponentError
from tabwb.records.ratings import MeasureKind, Rating, undefined, valued
from tabwb.records.specs import Spec
from tabwb.records.words import RESEARCH_ONLY

F = TypeVar("F", bound=Callable[..., Any])
Registered = tuple[str, Descriptor | Statistic]
"""The kind of a registration, as the end of its hook's name, and what is registered."""
MADE = "__tabwb__"
"""The attribute of a decorated function with its registrations."""
_KIND_OF = {"bool": "verdict", "int": "count", "float": "number"}
"""What a function returns, as its annotation says, to what its values are."""
_CAUTION = "Found by the rules of a plugin; not checked by a person."


def scorer(
    id: str, title: str, *, measures: Mapping[str, str] | None = None, **more: Any
) -> Callable[[F], F]:
    """Register a function as a scorer, which a battery names under ``scorers``.

    The function takes any of ``subtest``, ``item``, ``response`` and ``options``. It returns the
    value of its measure; ``None`` where there is none; a value and a reason; or a mapping from
    measures to such values.

    Args:
        id: kebab-case, unique among scorers.
        title: one line for people.
        measures: each measure with what its values are: ``verdict``, ``share``, ``count`` or
            ``number``. Without it there is one, named like the function: a verdict where the
            function is annotated ``-> bool``, a count where ``-> int``, else a number.
        more: further fields of the :class:`~tabwb.plugin_api.descriptors.Descriptor`.

    >>> @scorer("given-words", "How many words were given", measures={"words": "count"})
    ... def words(response):
    ...     return len(response.text.split())
    >>> registered(words)[0][1].id
    'given-words'
    """

    def decorate(function: F) -> F:
        names = _parameters(function, ("subtest", "item", "response", "options"))
        declared = dict(measures or {_measure(function): _kind(function)})
        _check_kinds(declared)

        def make(spec: Spec, options: Any) -> _FunctionScorer:
            return _FunctionScorer(function, names, str(spec), declared, options)

        return _registered(function, "scorers", Descriptor(id, title, make, **more))

    return decorate


def judge(
    id: str, title: str, *, features: Sequence[str], caution: str = _CAUTION, **more: Any
) -> Callable[[F], F]:
    """Register a function as a judge, which rates the features of responses.

    The function takes any of ``response``, ``features`` (those of the battery) and ``options``. It
    returns a mapping from features to True, False, None (undefined), or one of them and a reason. A
    feature that is missing is undefined. It is called for usable responses only.

    Args:
        id: kebab-case, unique among judges.
        title: one line for people.
        features: the fixed set over which the burden is computed.
        caution: the sentence that is shown with every verdict.
        more: further fields of the :class:`~tabwb.plugin_api.descriptors.Descriptor`.
    """

    def decorate(function: F) -> F:
        names = _parameters(function, ("response", "features", "options"))

        def make(spec: Spec, options: Any) -> _FunctionJudge:
            return _FunctionJudge(function, names, str(spec), tuple(features), caution, options)

        return _registered(function, "judges", Descriptor(id, title, make, **more))

    return decorate


def exporter(id: str, title: str, *, suffix: str = "", **more: Any) -> Callable[[F], F]:
    """Register a function as an export format, for ``tabwb export --format``.

    The function takes ``documents``, an iterator over the document of each administration as
    ``tabwb results ID --json`` prints it (their ``trials`` may be iterators, which are taken in
    order). It yields or returns text or bytes, or a list of them. tabwb writes all of it or
    nothing, with the notices of the documents beside it. With the parameter ``out`` the function
    writes the file or folder itself.
    It may take ``options`` too.

    Args:
        id: kebab-case, unique among exporters.
        title: one line for people.
        suffix: of the file with its dot. Without one the function writes a folder where it takes
            ``out``, and a ``.txt`` file where it does not.
        more: further fields of the :class:`~tabwb.plugin_api.descriptors.Descriptor`.
    """

    def decorate(function: F) -> F:
        names = _parameters(function, ("documents", "out", "options"))
        ending = suffix or ("" if "out" in names else ".txt")

        def make(spec: Spec, options: Any) -> _FunctionExporter:
            return _FunctionExporter(function, names, ending, options)

        return _registered(function, "exporters", Descriptor(id, title, make, **more))

    return decorate


def statistic(id: str, title: str, meaning: str, **more: Any) -> Callable[[F], F]:
    """Register a function as a statistic over the responses of groups.

    The function takes :class:`~tabwb.plugin_api.extensions.Responses` and returns what ``compute``
    of a :class:`~tabwb.plugin_api.extensions.Statistic` returns.

    Args:
        id: kebab-case, unique among statistics and measures.
        title: of two or three words, for tables.
        meaning: what it is, one line without a final stop.
        more: further fields of the statistic: ``unit``, ``digits``, ``percent``, ``per`` ...
    """

    def decorate(function: F) -> F:
        return _registered(function, "statistics", Statistic(id, title, meaning, function, **more))

    return decorate


def registered(function: object) -> tuple[Registered, ...]:
    """Return what was registered of a function, or nothing."""
    found = vars(function).get(MADE, ()) if inspect.isfunction(function) else ()
    return found if isinstance(found, tuple) else ()


def registrations(module: object) -> Iterator[Registered]:
    """Yield what is registered of the functions of a module, each once."""
    for function in dict.fromkeys(filter(inspect.isfunction, vars(module).values())):
        yield from registered(function)


def _valued(
    function: Callable[..., Any], rater: str, measure: str, value: Any, reason: str
) -> Rating:
    """Return the rating of a value, or refuse what is not a finite number."""
    try:
        if math.isfinite(value):
            return valued(rater, measure, value, reason)
    except (OverflowError, TypeError):
        pass
    raise ComponentError(
        f"{function.__name__}() gave {value!r:.60} for '{measure}'",
        allowed="True, False, None or a finite number",
    )


class _FunctionScorer:
    """The scorer of a function."""

    def __init__(
        self,
        function: Callable[..., Any],
        names: Sequence[str],
        rater: str,
        measures: Mapping[str, str],
        options: Any,
    ) -> None:
        self._function, self._names, self._rater = function, names, rater
        self.measures, self._options = measures, options

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """Return a rating for each measure that the function gave a value of."""
        given = {"subtest": subtest, "item": item, "response": response, "options": self._options}
        result = self._function(**{name: given[name] for name in self._names})
        if not isinstance(result, Mapping):
            if len(self.measures) > 1:
                raise ComponentError(
                    f"{self._function.__name__}() gave {type(result).__name__}",
                    allowed=f"a mapping of {', '.join(self.measures)} to values",
                )
            result = dict.fromkeys(self.measures, result)
        return [self._rating(name, value) for name, value in result.items()]

    def _rating(self, measure: str, given: Any) -> Rating:
        value, reason = _with_reason(given)
        if measure not in self.measures:
            raise ComponentError(
                f"{self._function.__name__}() gave a value of '{measure}'",
                allowed=f"the declared measures: {', '.join(self.measures)}",
            )
        if value is None:
            return undefined(self._rater, measure, reason or "the scorer gave no value")
        if isinstance(value, bool) and self.measures.get(measure) != "verdict":
            raise ComponentError(
                f"{self._function.__name__}() gave {value}, and '{measure}' is declared as "
                f"{self.measures[measure]}",
                hint="annotate the function with '-> bool', or declare the measure as a verdict",
            )
        return _valued(self._function, self._rater, measure, value, reason)


class _FunctionJudge:
    """The judge of a function."""

    def __init__(
        self,
        function: Callable[..., Any],
        names: Sequence[str],
        rater: str,
        features: tuple[str, ...],
        caution: str,
        options: Any,
    ) -> None:
        self._function, self._names, self._options = function, names, options
        self.rater, self.features, self.caution = rater, features, caution

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Return a rating for each feature of the set; of an unusable response all undefined."""
        if not response.status.usable:
            why = f"the response is {response.status}"
            return [undefined(self.rater, feature, why) for feature in self.features]
        given = {"response": response, "features": features, "options": self._options}
        result = self._function(**{name: given[name] for name in self._names})
        if not isinstance(result, Mapping) or set(result) - set(self.features):
            raise ComponentError(
                f"{self._function.__name__}() gave {result!r:.80}",
                allowed=f"a mapping of {', '.join(self.features)} to True, False or None",
            )
        return [self._rating(feature, result.get(feature)) for feature in self.features]

    def _rating(self, feature: str, given: Any) -> Rating:
        value, reason = _with_reason(given)
        if value is None:
            return undefined(self.rater, feature, reason or "the judge gave no value")
        return _valued(self._function, self.rater, feature, value, reason)


class _FunctionExporter:
    """The export format of a function."""

    def __init__(
        self, function: Callable[..., Any], names: Sequence[str], suffix: str, options: Any
    ) -> None:
        self._function, self._names = function, names
        self.suffix, self._options = suffix, options

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        """Write administrations."""
        self.export_stream(iter(document["documents"]), out)

    def export_stream(self, documents: Iterable[Mapping[str, Any]], out: Path) -> None:
        """Write administrations while they are read."""
        from tabwb.plugin_api import write_pieces

        heard = {RESEARCH_ONLY: None}

        def noted() -> Iterator[Mapping[str, Any]]:
            for document in documents:
                heard.update(dict.fromkeys(document.get("notices", ())))
                yield document

        given = {"documents": noted(), "out": out, "options": self._options}
        result = self._function(**{name: given[name] for name in self._names})
        if "out" in self._names:
            return
        pieces = [result] if isinstance(result, str | bytes) else result
        if isinstance(pieces, Mapping) or not isinstance(pieces, Iterable):
            raise self._wrong(result)

        def write(file: Any) -> None:
            for piece in pieces:
                if not isinstance(piece, str | bytes):
                    raise self._wrong(piece)
                file.write(piece)

        write_pieces(out, write, lambda: [*heard])

    def _wrong(self, given: object) -> ComponentError:
        return ComponentError(
            f"{self._function.__name__}() gave {given!r:.60}",
            allowed="text or bytes, or several, yielded or in a list",
        )


def _registered(function: F, kind: str, what: Descriptor | Statistic) -> F:
    setattr(function, MADE, (*registered(function), (kind, what)))
    return function


def _parameters(function: Callable[..., Any], allowed: Sequence[str]) -> list[str]:
    """Return the names of a function's parameters, which are among those allowed."""
    names = [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.default is one.empty
    ]
    if wrong := [name for name in names if name not in allowed]:
        raise TypeError(
            f"{function.__name__}() has a parameter '{wrong[0]}'; allowed: {', '.join(allowed)}"
        )
    return names


def _measure(function: Callable[..., Any]) -> str:
    return function.__name__.strip("_").replace("_", "-")


def _kind(function: Callable[..., Any]) -> str:
    annotation = inspect.signature(function).return_annotation
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return _KIND_OF.get(name.replace(" ", "").removesuffix("|None"), "number")


def _check_kinds(measures: Mapping[str, str]) -> None:
    for measure, kind in measures.items():
        if kind not in get_args(MeasureKind):
            allowed = ", ".join(get_args(MeasureKind))
            raise TypeError(f"the measure '{measure}' is declared as {kind!r}; allowed: {allowed}")


def _with_reason(given: Any) -> tuple[Any, str]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str):
        return given
    return given, ""
