"""``tabwb.run`` and ``tabwb.resume``, and the stored administration that they return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Unpack

from tabwb.api.engine import (
    Choosing,
    Grouping,
    Names,
    Place,
    Progress,
    Rated,
    named,
    open_store,
    opened_plugins,
    python_names,
    tools_of,
    worked,
)
from tabwb.api.functions import Answering, spec_of, takes_request
from tabwb.operations.operation import Operation, made
from tabwb.operations.run import ResumeAdministration, RunBattery
from tabwb.records.conditions import FUNCTION
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from tabwb.api.study import Study
    from tabwb.host.plugins import Plugins
    from tabwb.host.settings import Configuration
    from tabwb.records.trials import Administration as Record
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


@dataclass(frozen=True, slots=True)
class Stored:
    """Where an administration is: a store that is opened for each question."""

    place: str
    location: str

    @contextmanager
    def opened(self) -> Iterator[Study]:
        """Yield the store, open for reading."""
        from tabwb.api.study import open

        with open(self.place) as study:
            yield study


def stored_in(store: Store, settings: Configuration, place: Place) -> Stored:
    """Return where an open store is, valid from every folder."""
    path, named = store.embedded, settings.store_at(None if place is None else str(place))
    return Stored(str(path.resolve()) if path else named or store.location, store.location)


class Administration:
    """A stored administration: what it is and its results, read again at each use.

    Args:
        number: its small number in the store.
        source: opens the store.
    """

    def __init__(self, number: int, source: Stored) -> None:
        self._number = number
        self._source = source

    def __repr__(self) -> str:
        try:
            record = self.record
        except TabwbError:  # the store is gone, or cannot be read now
            return f"<Administration {self._number} in {self._source.location}>"
        return (
            f"<Administration {record.id}: {record.battery} {record.battery_version}, "
            f"{record.conditions.examinee}, {record.status_word}, "
            f"{record.answered} of {record.planned}>"
        )

    @property
    def id(self) -> int:
        """Its number in the store."""
        return self._number

    @property
    def uid(self) -> str:
        """Its UUID, the same in every store and export."""
        return self.record.uid

    @property
    def status(self) -> str:
        """``running``, ``paused``, ``done`` or ``discontinued``."""
        return self.record.status.value

    @property
    def store(self) -> str:
        """The store's path or URL, without a password."""
        return self._source.location

    @property
    def record(self) -> Record:
        """What is recorded of it as a whole; ``record.conditions`` is how it is given."""
        with self._source.opened() as study:
            return study.store.administration(self._number)

    def results(self, *, table: str = "results", **options: Unpack[Grouping]) -> Table:
        """Return its results.

        Args:
            table: see :meth:`tabwb.Study.results`.
            options: of :meth:`tabwb.Study.results`.
        """
        with self._source.opened() as study:
            return study.results(ids=self._number, table=table, **options)

    def responses(self, **options: Unpack[Choosing]) -> Table:
        """Return its responses; options are those of :meth:`tabwb.Study.responses`."""
        with self._source.opened() as study:
            return study.responses(ids=self._number, **options)

    def ratings(self, **options: Unpack[Rated]) -> Table:
        """Return the ratings of its responses; options are those of :meth:`tabwb.Study.ratings`."""
        with self._source.opened() as study:
            return study.ratings(ids=self._number, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``tabwb results ID --json`` prints (``format: 1``)."""
        with self._source.opened() as study:
            return study.document(self._number)


LABELS = ("family", "tuning", "parameters")


def run(
    battery: str | PathLike[str],
    model: str | Answering,
    *,
    judges: str | Sequence[str] | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    protocol: Literal["generate", "enforced", "likelihood"] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    stop: str | Sequence[str] | None = None,
    conversation: bool | None = None,
    item_order: Literal["as-given", "shuffled"] | None = None,
    option_order: Literal["as-given", "shuffled", "rotated"] | None = None,
    lesion: str | None = None,
    prompt_noise: str | None = None,
    system_message: str | None = None,
    subtests: Names = (),
    items: Names = (),
    limit: int | None = None,
    name: str | None = None,
    labels: Mapping[str, str | float] | None = None,
    store: Place = None,
    batch_size: int = 64,
    perplexity: bool = True,
    workers: int = 1,
    max_requests: int | None = None,
    max_cost: float | None = None,
    offline: bool | None = None,
    progress: Progress = False,
) -> Administration:
    """Return an administration of a battery to a model, after all items are given and rated.

    Every response is in the store before the next prompt goes out. A condition that is None has its
    default, that of ``tabwb run``.

    Args:
        battery: an id (``"tab"``) or the path of a battery file.
        model: a spec (``"bundled"``), or a function that takes a prompt and returns the response.
            A parameter named ``request`` gets the whole request: messages, decoding with the
            seed of this reply, options.
        judges: specs of judges; empty: no judge. Default: ``rules``.
        replicates: number of times each item is given; of recorded answers as in the file.
        seed: of random orders and sampling.
        protocol: how items with options are answered.
        temperature: 0 is greedy decoding. Of a function, the temperature that it uses; without
            it, the decoding of a function without ``request`` is not known.
        top_p: nucleus mass.
        max_tokens: token limit of every reply; default: the battery's.
        stop: texts that end a reply.
        conversation: keep one context over all items.
        item_order: of the items within their subtest.
        option_order: of the options of each item; rotated: each item in all rotations.
        lesion: of the model (``"mlp.down:zero:0.3@seed=7"``); a function has none.
        prompt_noise: perturbation of the items' texts (``"words:drop:0.2@seed=3"``).
        system_message: sent in place of the battery's; ``"none"``: no system message is sent.
        subtests: give only these.
        items: give only these; ids, or ``SUBTEST/ITEM``.
        limit: give only so many items of each subtest, the first ones.
        name: of a function in the store (``python:NAME``); default: its own name.
        labels: of a function: ``family``, ``tuning`` (base, instruct), ``parameters``. Other models
            have those of their profile.
        store: a path, a URL, or None for the configured store; it is made where there is none.
        batch_size: number of items given at once to a model that can batch.
        perplexity: under a lesion store the perplexity of a fixed text, which checks that it acts.
        workers: calls of a function at one time, each in its own thread.
        max_requests: stop after so many, of model and judges together.
        max_cost: stop before more is spent, in US dollars; needs a price of the model.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: an argument cannot be used; nothing was begun.
        Interrupted: items are left; :func:`resume` continues.
        TabwbError: the model cannot be loaded, or a scorer or judge failed (all responses are
            stored).
    """
    spec, function = spec_of(model, name)
    # A function that takes no request is not told how to decode, and does not say how it does.
    untold = function is not None and temperature is None and not takes_request(function)
    operation = made(RunBattery, {
        "battery": named(battery), "model": spec, "batch_size": batch_size,
        "perplexity": perplexity, "max_requests": max_requests, "max_cost": max_cost,
        "labels": _labels(labels, function),
        "unknown": ("temperature", "top_p") if untold else (),
        "asked": {
            "judges": judges, "replicates": replicates, "seed": seed, "protocol": protocol,
            "temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "stop": stop,
            "conversation": conversation, "item_order": item_order, "option_order": option_order,
            "lesion": lesion, "prompt_noise": prompt_noise, "system_message": system_message,
            "part_subtests": subtests, "part_items": items, "part_limit": limit,
        },
    })  # fmt: skip
    with opened_plugins(offline=offline, function=function, workers=workers) as plugins:
        return _given(operation, plugins, store, progress, function)


def resume(
    store: Place,
    administration: int | str,
    model: str | Answering | None = None,
    *,
    batch_size: int = 64,
    perplexity: bool = True,
    workers: int = 1,
    max_requests: int | None = None,
    max_cost: float | None = None,
    offline: bool | None = None,
    progress: Progress = False,
) -> Administration:
    """Return an administration after the items that it had left are given and rated.

    Args:
        store: as for :func:`run`.
        administration: its number or uid.
        model: the function, where a function is the examinee; else the spec of the same model at
            another path, whose weights and tokenizer must be equal.
        batch_size: number of items given at once to a model that can batch.
        perplexity: under a lesion store the perplexity of a fixed text, which checks that it acts.
        workers: calls of a function at one time, each in its own thread.
        max_requests: stop after so many, of model and judges together.
        max_cost: stop before more is spent, in US dollars; needs a price of the model.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: it was discontinued, a person is the examinee, the function is missing, or
            ``model`` cannot continue for the examinee.
        Interrupted: items are left again.
        TabwbError: the model cannot be loaded, or a scorer or judge failed.
    """
    function, spec = (None, model) if isinstance(model, str) else (model, None)
    operation = made(ResumeAdministration, {
        "administration": administration, "model": spec, "batch_size": batch_size,
        "perplexity": perplexity, "max_requests": max_requests, "max_cost": max_cost,
    })  # fmt: skip
    with opened_plugins(offline=offline, function=function, workers=workers) as plugins:
        with open_store(store, plugins.configuration) as opened:
            given = opened.administration(administration)
        number, examinee = given.id, given.conditions.examinee
        if given.status not in {AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED}:
            if function is not None and not examinee.startswith(FUNCTION):
                raise UsageError(
                    f"the examinee of administration {number} is '{examinee}'; a function cannot "
                    "continue for it",
                    hint="leave it out, or give the spec of the same model at another path",
                )
            if function is None and examinee.startswith(FUNCTION):
                raise UsageError(
                    f"the examinee of administration {number} is the function '{examinee}'",
                    hint="give it: tabwb.resume(store, administration, function)",
                )
        return _given(operation, plugins, store, progress, function)


def _given(
    operation: Operation,
    plugins: Plugins,
    store: Place,
    progress: Progress,
    function: Answering | None,
) -> Administration:
    """Do the operation; return the administration as it is stored."""
    tools = tools_of(plugins, store)
    tools.creates = operation.creates
    more = "" if function is None else ", FUNCTION"
    tools.resumed = lambda number: f"tabwb.resume(store, {number}{more})"
    with python_names():
        worked(operation, tools, progress)
    with open_store(store, plugins.configuration) as opened:
        where = stored_in(opened, plugins.configuration, store)
    return Administration(tools.result.administration.id, where)


def _labels(
    labels: Mapping[str, str | float] | None, function: Answering | None
) -> dict[str, str] | None:
    from tabwb.host.settings import TUNINGS, number_of_parameters

    if not labels:
        return None
    if function is None:
        raise UsageError(
            "the labels of a spec are those of its profile",
            where="labels",
            hint="'tabwb model add' makes one",
        )
    for key, value in labels.items():
        if key not in LABELS:
            raise UsageError(f"'{key}' cannot be used", where="labels", allowed=", ".join(LABELS))
        if key == "tuning" and value not in TUNINGS:
            raise UsageError(
                f"{value!r} cannot be used", where="labels: tuning", allowed=", ".join(TUNINGS)
            )
    return {
        key: str(number_of_parameters(str(value))) if key == "parameters" else str(value)
        for key, value in labels.items()
    }
