"""Lesions: the parts of a model, a plan, units found by the localizer, sweeps over a grid."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from tabwb.lesion.declared import MEASURES
from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools, asked_conditions
from tabwb.operations.run import BATCH_SIZE, BATTERY, TOGETHER
from tabwb.records.errors import Interrupted, MissingExtra, TabwbError, UsageError
from tabwb.records.files import expanded
from tabwb.records.words import plural, size_text, time_left

if TYPE_CHECKING:
    from rich.tree import Tree

    from tabwb.administer.sweep.grid import Grid
    from tabwb.administer.sweep.sweep import Known, Model, Point, Sweep
    from tabwb.administer.sweep.sweep import Told as Step
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.lesion.declared import Part
    from tabwb.lesion.localizer import Localized
    from tabwb.plugin_api.components import LesionableBackend
    from tabwb.records.conditions import Conditions


@dataclass(frozen=True, kw_only=True)
class LesionTargets(Operation):
    """Show the parts of a model that can be lesioned, as a tree with sizes."""

    NAME, TITLE, STORE, WRITES = "lesion targets", "Targets", False, False
    model: Annotated[str, MODEL]

    def do(self, tools: Tools) -> None:
        """Load the model and list its parts."""
        with _loaded(tools, self.model) as (backend, _):
            parts = tools.result = backend.parts()
        tools.document |= {"model": self.model, "parts": list(map(_part_document, parts))}

    def lines(self, document: Mapping[str, Any]) -> Iterator[Tree]:
        """Yield the parts under their layers; what is in no layer comes first."""
        from rich.text import Text
        from rich.tree import Tree

        from tabwb.lesion.declared import TARGETS

        tree = Tree(Text(document["model"]))
        layers: dict[int | None, Tree] = {None: tree}
        parts = document["parts"]
        for part in sorted(parts, key=lambda one: -1 if one["layer"] is None else one["layer"]):
            layer, target = part["layer"], part["target"]
            if layer not in layers:
                layers[layer] = tree.add(Text(f"layer {layer}"))
            unit = TARGETS[target].unit
            units = "" if unit == "weight" else f"{plural(part['units'], unit)}, "
            layers[layer].add(Text(f"{target}  {units}{part['parameters']:,} parameters"))
        yield tree


@dataclass(frozen=True, kw_only=True)
class PlanLesion(Operation):
    """Show which tensors LESION would change in a model, and which share of its parameters."""

    NAME, TITLE, STORE, WRITES = "lesion plan", "Plan", False, False
    lesion: Annotated[str, Arg("TARGET:OPERATION[:AMOUNT][@key=value,...].", positional=True)]
    model: Annotated[str, MODEL]

    def do(self, tools: Tools) -> None:
        """Load the model and find what the lesion would take."""
        from tabwb.lesion.localizer import localizer_scores
        from tabwb.lesion.spec import lesion_text, stored_form
        from tabwb.lesion.taken import kept, planned, whole

        lesions = stored_form(self.lesion)
        with _loaded(tools, self.model) as (backend, facts):
            parts = backend.parts()
            scores = localizer_scores(backend, parts, lesions, self.model)
            found = planned(lesions, parts, self.model, scores)
        tools.result, of = found, whole(parts, facts)
        tools.document |= {
            "model": self.model,
            "lesion": lesion_text(lesions),
            "parameters": sum(one.parameters for one in found),
            "of_parameters": of,
            "kept_bytes": kept(found),
            "parts": [
                {
                    "lesion": str(one.lesion),
                    **_part_document(one.part),
                    "taken_units": one.units,
                    "taken_parameters": one.parameters,
                }
                for one in found
            ],
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield a table of the parts, the share of the parameters, and what is kept."""
        from tabwb.lesion.taken import change_text
        from tabwb.media.terminal import table

        view = table("units", "of", "parameters", first=("part", "tensors"), fold=True)
        for one in document["parts"]:
            units = f"{one['taken_units']:,}", f"{one['units']:,}", f"{one['taken_parameters']:,}"
            view.add_row(one["part"], "\n".join(one["tensors"]), *units)
        yield view
        change = change_text(document["parameters"], document["of_parameters"])
        yield f"{document['lesion']} in {document['model']} {change}"
        yield f"kept to restore them: {size_text(document['kept_bytes'])}"


@dataclass(frozen=True, kw_only=True)
class LocalizeUnits(Operation):
    """Write a list of the units that respond more to sentences than to lists of nonwords.

    For each unit Welch's t of its responses to both is computed. The list is lesioned with:
    --lesion mlp.neurons:zero@select=list,file=FILE. The agreement of two halves of the items is
    printed.
    """

    NAME, TITLE, DOING, TOLD = "lesion localize", "Localize", "Localizing", "text"
    STORE: ClassVar[bool] = False
    model: Annotated[str, MODEL]
    out: Annotated[
        str, Arg("The JSON file of the list, for select=list,file=FILE.", metavar="PATH")
    ]
    target: Annotated[str, Arg("Which units are measured.", choices=tuple(MEASURES))] = (
        "mlp.neurons"
    )
    share: Annotated[
        float,
        Arg("The share of all units that the list gets: those with the largest t.",
            low=0, above=True, high=1),
    ] = 0.01  # fmt: skip
    items: Annotated[
        str | None,
        Arg("A TOML file with two conditions in place of sentences and nonwords.", metavar="PATH"),
    ] = None
    tokens: Annotated[
        Literal["mean", "last"],
        Arg("The response to a text: the mean over its tokens, or that at the last one."),
    ] = "mean"
    force: Annotated[bool, Arg("Overwrite existing files.")] = False

    @property
    def about(self) -> str:
        """The units of the model."""
        return f"{self.target} of {self.model}"

    def run(self, tools: Tools) -> Progress:
        """Ask the model for its responses to all texts, and write the list."""
        from tabwb.host.writing import write_bytes
        from tabwb.lesion.localizer import list_document, localizing, read_items, shipped_items
        from tabwb.media.destination import check_destination
        from tabwb.plugin_api.components import ActivationBackend

        out, plugins = Path(self.out), tools.plugins
        check_destination(out, force=self.force, remedy="choose another name, or use --force")
        items = shipped_items() if self.items is None else read_items(Path(self.items))
        count = len(items.first.texts) + len(items.second.texts)
        with closing(plugins.open_model(self.model)) as backend:
            if not isinstance(backend, ActivationBackend):
                raise plugins.no_activations(self.model)
            yield Told(f"loading {self.model}")
            facts, parts = backend.open(), backend.parts()
            yield Told("", 0, count)
            work = localizing(
                backend.activations, parts, self.target, items, tools.cancel, self.tokens
            )
            found = yield from _counted(work, count)
        spec = {"spec": self.model, **facts}
        document = list_document(found, self.share, spec, items, self.tokens)
        place = check_destination(out, force=self.force)
        write_bytes(place, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
        tools.document |= {**document, "file": self.out}

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield what was found: units of each part, and how the halves of the items agree."""
        from tabwb.lesion.spec import escaped
        from tabwb.media.terminal import table

        view = table("units", "t", "d", first="part")
        for name, numbers in document["units"].items():
            t, d = document["t"][name], document["d"][name]
            view.add_row(name, f"{len(numbers):,}", _range(t), _range(d))
        yield view
        yield (
            f"{document['contrast']}: {document['taken']:,} of {document['of']:,} units, "
            f"{document['positive']:,} with t above 0, {document['undefined']:,} with t undefined"
        )
        half = document["split_half"]
        yield (
            f"odd against even items: Dice {_number(half['dice'])} "
            f"(by chance {_number(half['dice_by_chance'])}, "
            f"in these layers {_number(half['dice_by_chance_in_these_layers'])}), "
            f"r of t {_number(half['correlation'])} "
            f"(of all items {_number(half['correlation_of_whole'])})"
            + (f"; {half['reason']}" if half["reason"] else "")
        )
        file = escaped(document["file"])
        yield f"written; as a lesion: {document['target']}:zero@select=list,file={file}"


@dataclass(frozen=True, kw_only=True)
class RepeatCondition(Operation):
    """Give the condition of ADMINISTRATION again, and compare the answers; nothing is stored.

    The stored lesion is applied to the model, each item is asked with the seed that it had, and
    the differences are shown: answers, and the model facts and versions that may cause them.

    Exit status: 0 the answers are the same; 1 some are not.
    """

    NAME, TITLE, DOING, WRITES = "lesion repeat", "Repeat", "Repeating", False
    administration: Annotated[
        int | str, Arg("Number or uid of the administration.", positional=True)
    ]
    model: Annotated[
        str | None,
        Arg("Another model, for example in another precision; default: the stored one.",
            metavar="SPEC"),
    ] = None  # fmt: skip
    batch_size: Annotated[int, BATCH_SIZE] = TOGETHER

    def run(self, tools: Tools) -> Progress:
        """Ask everything again and compare."""
        from tabwb.administer.session.drive import repeat

        store = tools.store
        given = store.administration(self.administration)
        yield Told(f"giving administration {given.id} again")
        yield Told("", 0, 1)
        found = repeat(
            store, tools.plugins, given, tools.cancel, model=self.model, together=self.batch_size
        )
        different = len(found.different)
        tools.document |= {
            "administration": given.id,
            "lesion": given.conditions.lesion,
            "answers": found.answers,
            "same": found.answers - different,
            "different": list(map(asdict, found.different)),
            "facts": list(map(asdict, found.facts)),
        }
        if different:
            raise TabwbError(
                f"{different} of {found.answers} answers differ",
                hint="answers are reproducible only in float32 with equal weights and versions"
                if found.facts
                else "in bfloat16 and on accelerators answers also depend on the batch",
            )

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield how many answers are the same, and what differs."""
        from tabwb.media.terminal import table

        yield f"{document['same']} of {document['answers']} answers are the same"
        for what, differences in (("item", document["different"]), ("fact", document["facts"])):
            if differences:
                view = table(first=(what, "stored", "now"), fold=True)
                for one in differences:
                    view.add_row(one["what"], one["stored"], one["now"])
                yield view
        if not document["facts"]:
            yield "model, lesion and versions are those that are stored"


@contextmanager
def _loaded(tools: Tools, model: str) -> Iterator[tuple[LesionableBackend, Mapping[str, str]]]:
    """Yield a model that can be lesioned, loaded, and its facts."""
    from tabwb.administer.sweep.sweep import Model

    loaded = Model.loaded(tools.plugins, model, tools.cancel)
    with closing(loaded.backend):
        yield loaded.lesionable(), loaded.facts


def _counted(work: Generator[int, None, Localized], count: int) -> Generator[Told, None, Localized]:
    while True:
        try:
            done = next(work)
        except StopIteration as ended:
            found: Localized = ended.value
            return found
        yield Told("", done, count, timed=done)


def _part_document(part: Part) -> dict[str, object]:
    return {
        "part": part.name,
        "target": part.target,
        "layer": part.layer,
        "units": part.units,
        "parameters": part.parameters,
        "tensors": dict(part.tensors),
    }


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


MODEL = Arg("The model, for example bundled.", "Model", metavar="SPEC")


RECENT = 20
"""Conditions that were given last, of which is told."""


@dataclass(frozen=True, slots=True)
class Swept:
    """How far a sweep is.

    Attributes:
        name: of the sweep, which is the tag of its administrations.
        points: its conditions.
        known: those that the store has, when the sweep began and when it ended.
        before: number of conditions that were done before it began.
        given: number of those given since then.
        items: number of answers stored since then.
        begun: names of conditions that were begun since then and have not ended.
        failures: name and reason of each condition that failed.
        recent: names of the conditions given last, the latest first.
        forecast: what an estimate found, in words.
    """

    name: str
    points: Sequence[Point]
    known: Known
    before: int = 0
    given: int = 0
    items: int = 0
    begun: frozenset[str] = frozenset()
    failures: tuple[tuple[str, str], ...] = ()
    recent: tuple[str, ...] = ()
    forecast: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """Number of conditions that are done."""
        return self.before + self.given

    def summary(self, *, active: bool) -> str:
        """Return the counts in words."""
        words = f"{self.done} of {plural(len(self.points), 'condition')} done"
        words += f", {self.before} of them before" if self.before else ""
        if active and self.begun:
            words += f", {len(self.begun)} running, {plural(self.items, 'item')} answered"
        return words + (f", {len(self.failures)} failed" if self.failures else "")

    def time_left(self, seconds: float) -> str:
        """Return the time that is left in words; empty before one condition is done."""
        if not self.given:
            return ""
        left = len(self.points) - self.done - len(self.failures)
        return time_left(seconds / self.given * left).strip()

    def after(self, step: Step) -> Swept:
        """Return it after something happened to one condition."""
        from tabwb.records.events import AttemptRecorded

        name = step.point.name
        if step.failed:
            failures = (*self.failures, (name, step.failed))
            return replace(self, begun=self.begun - {name}, failures=failures)
        if step.event is not None:
            items = self.items + isinstance(step.event, AttemptRecorded)
            return replace(self, begun=self.begun | {name}, items=items)
        recent = (name, *self.recent)[:RECENT]
        return replace(self, begun=self.begun - {name}, given=self.given + 1, recent=recent)


class _Ready(NamedTuple):
    """A sweep that can be given: whole, its own share, the model, and what gives it."""

    sweep: Sweep
    points: Sequence[Point]
    model: Model | None
    give: Callable[..., Iterator[Step]]


@dataclass(frozen=True, kw_only=True)
class SweepLesions(Operation):
    """Give BATTERY to a model under every lesion of a grid, and to the intact model.

    Each condition is a separate administration, tagged with the name of the grid. Conditions that
    the store has are not given again, so the same command continues a stopped sweep.

    Exit status: 0 done; 1 conditions failed; 3 stopped early, the same command continues.
    """

    NAME, TITLE, DOING, TOLD = "lesion sweep", "Sweep", "Sweep", "condition"
    ESTIMATE: ClassVar[str] = "Show the conditions, the time and the detectable differences."
    PAGE: ClassVar[str] = "sweep"
    battery: Annotated[str, BATTERY]
    model: Annotated[str, MODEL]
    grid: Annotated[
        str | Mapping[str, Any],
        Arg("A TOML file with lesions, amounts and seeds.", "Grid", metavar="FILE"),
    ]
    workers: Annotated[
        int,
        Arg("Number of models that work at one time, each in a separate process.", "Workers",
            low=1, high=256),
    ] = 1  # fmt: skip
    lanes: Annotated[
        int | None,
        Arg("Number of conditions in one batch of the model; 1: each alone. Default: up to 16 "
            "where that is faster, in float32.", metavar="N", low=1, high=64),
    ] = None  # fmt: skip
    shard: Annotated[
        str,
        Arg("Give only the Ith of N shares of the conditions, for job arrays of a cluster.",
            metavar="I/N"),
    ] = "1/1"  # fmt: skip
    cluster: Annotated[
        str | None,
        Arg("Scheduler of a Dask cluster whose workers answer: tcp://HOST:PORT, or its .json "
            "file.", metavar="ADDRESS"),
    ] = None  # fmt: skip
    asked: Annotated[
        Mapping[str, Any],
        Arg("The conditions of every administration.",
            conditions=("run", "replicates", "seed", "protocol")),
    ] = field(default_factory=dict)  # fmt: skip
    batch_size: Annotated[int, BATCH_SIZE] = TOGETHER

    @property
    def about(self) -> str:
        """Battery, model and grid."""
        grid = Path(self.grid).name if isinstance(self.grid, str) else "grid"
        return f"{self.battery} · {self.model} · {grid}"

    @property
    def creates(self) -> bool:
        """Administrations are made, with a store where there is none."""
        return True

    def check(self, plugins: Plugins) -> None:
        """Refuse a grid that cannot be read, and what a cluster cannot do."""
        from tabwb.administer.sweep.grid import parse_shard

        self.check_grid()
        parse_shard(self.shard)
        if self.cluster is None:
            return
        for name, usual in (("workers", 1), ("lanes", None)):
            if getattr(self, name) != usual:
                raise _not_on_cluster(name)

    def check_grid(self) -> str:
        """Refuse a grid that cannot be read; return the name of the sweep."""
        return self._grid().name

    def estimate(self, tools: Tools) -> Progress:
        """Tell what the sweep would give, how long it takes, and what it can show."""
        from tabwb.administer.session.smallest_difference import to_json
        from tabwb.administer.sweep.forecast import forecast, over_seeds_json

        if self.cluster is not None:
            raise _not_on_cluster("dry_run")
        yield Told(f"loading {self.model}", waits=True)
        with self._ready(tools) as (sweep, own, model, _):
            assert model is not None
            swept = tools.result = _swept(tools, sweep, own)
            yield Told("asking the intact model once; nothing is stored", waits=True)
            found = forecast(sweep, own, model, swept.before, self.batch_size, tools.cancel)
        if tools.cancel.is_set():
            raise Interrupted("stopped; nothing was stored")
        tools.document |= {
            "name": sweep.name,
            "conditions": len(own),
            "roles": found.roles,
            "done_before": swept.before,
            "responses": found.responses,
            "seconds_each": found.seconds_each,
            "seconds": found.seconds(self.workers),
            "smallest_difference": to_json(found.can_show),
            "smallest_difference_over_seeds": over_seeds_json(found.over_seeds),
            "points": [{**_named(one), "matches": one.matches} for one in own],
        }
        lines = tuple(found.lines(self.workers))
        tools.result = replace(swept, forecast=lines)
        for line in lines:
            yield Told(line)

    def planned(self, tools: Tools) -> None:
        """Find the conditions and what the store has of them, without an estimate."""
        with self._ready(tools) as (sweep, own, _, _):
            tools.result = _swept(tools, sweep, own)

    def run(self, tools: Tools) -> Progress:
        """Give the conditions that the store lacks."""
        waited = f"waiting for a worker of {self.cluster}"
        yield Told(waited if self.cluster else f"loading {self.model}")
        with self._ready(tools) as (sweep, own, _, give):
            swept = tools.result = _swept(tools, sweep, own)
            failed: list[dict[str, Any]] = []
            planned, document = len(own), tools.document
            document |= {
                "name": sweep.name, "conditions": planned, "done_before": swept.before,
                "given": 0, "failed": failed, "left": _left(swept),
            }  # fmt: skip
            yield Told("", swept.before, planned)
            try:
                for step in give(sweep, own, tools.opened, tools.cancel):
                    swept = tools.result = swept.after(step)
                    told = Told("", swept.done, planned, event=step.event)
                    if step.failed:
                        failed.append({**_named(step.point), "reason": step.failed})
                        told = told._replace(problem=f"{step.point.name}: {step.failed}")
                    elif step.event is None:
                        told = told._replace(words=step.point.name, timed=swept.given)
                    yield told
            except BaseException as error:
                document |= {"given": swept.given, "left": _left(swept) - swept.given}
                tools.cancel.set()  # the workers' threads end at their next item
                error.add_note(f"{tools.same} continues the sweep")
                raise
            known = sweep.known(tools.store)  # another command may have given some meanwhile
            swept = tools.result = replace(swept, known=known)
            left = max(_left(swept) - len(failed), 0)
            document |= {"given": swept.given, "left": left}
            _say_unlike(tools, sweep, swept)
        if failed:
            raise TabwbError(
                f"{plural(len(failed), 'condition')} failed: {failed[0]['reason']}",
                hint=f"all others are stored; {tools.same} tries again",
            )
        if left:
            others = "; conditions that another command is giving are skipped"
            raise Interrupted(
                f"{plural(left, 'condition')} of the sweep left",
                hint=f"{tools.same} continues{'' if tools.cancel.is_set() else others}",
            )

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the conditions of an estimate, or how many were given."""
        if "points" not in document:
            yield (
                f"sweep '{document['name']}': {plural(document['conditions'], 'condition')}, "
                f"{document['done_before']} done before, {document['given']} given now"
            )
            return
        width = max(map(len, document["roles"]))
        for one in document["points"]:
            matches = one["matches"]
            matched = f"  (as many parameters as {matches})" if matches else ""
            name = ", ".join(filter(None, (one["lesion"], one["setting"]))) or "-"
            yield f"{one['role']:{width}} {name}{matched}"

    @contextmanager
    def _ready(self, tools: Tools) -> Iterator[_Ready]:
        """Yield the sweep with what gives it: a model that is loaded here, or a cluster."""
        from tabwb.administer.sweep.grid import parse_shard, sweep_of
        from tabwb.administer.sweep.pool import run_sweep
        from tabwb.administer.sweep.sweep import Model

        plugins, grid = tools.plugins, self._grid()
        first, count = parse_shard(self.shard)
        battery, conditions = self._resolved(tools)
        with ExitStack() as held:
            if self.cluster is not None:
                cluster = held.enter_context(self._cluster(tools, conditions))
                parts = cluster.parts(tools.cancel) if grid.rows else ()
                model, give = None, _on_cluster(cluster, self.batch_size)
            else:
                model = Model.loaded(plugins, conditions.examinee, tools.cancel)
                held.callback(model.backend.close)
                parts = grid.needed(model)
                give = partial(
                    run_sweep, model=model, workers=self.workers, together=self.batch_size,
                    lanes=self.lanes,
                )  # fmt: skip
            sweep = sweep_of(plugins, battery, conditions, grid, parts)
            yield _Ready(sweep, sweep.points[first - 1 :: count], model, give)

    def _grid(self) -> Grid:
        from tabwb.administer.sweep.grid import grid_of, read_grid

        return read_grid(expanded(self.grid)) if isinstance(self.grid, str) else grid_of(self.grid)

    def _resolved(self, tools: Tools) -> tuple[Battery, Conditions]:
        from tabwb.administer.session import setup
        from tabwb.administer.session.plan import of_language
        from tabwb.administer.sweep.grid import resolved

        battery = setup.find_battery(tools.plugins, self.battery)
        for text in of_language(battery):
            tools.warn(text)
        asked = asked_conditions(self.model, "model", self.asked)
        return battery, resolved(tools.plugins, battery, asked)

    def _cluster(self, tools: Tools, conditions: Conditions) -> Any:
        from importlib.util import find_spec

        if find_spec("distributed") is None:
            raise MissingExtra("--cluster", "cluster", package="distributed")
        from tabwb.administer.sweep.cluster import Cluster

        offline = tools.plugins.configuration.offline
        assert self.cluster is not None
        return Cluster(self.cluster, conditions.examinee, tools.cancel, offline=offline)


def _on_cluster(cluster: Any, together: int) -> Callable[..., Iterator[Step]]:
    from tabwb.administer.sweep.cluster import run_on_cluster

    return partial(run_on_cluster, cluster=cluster, together=together)


def _not_on_cluster(name: str) -> UsageError:
    return UsageError(
        "it cannot be used together with --cluster",
        where=name, hint="leave out --cluster, or the other option",
    )  # fmt: skip


def _swept(tools: Tools, sweep: Sweep, own: Sequence[Point]) -> Swept:
    known = sweep.known(tools.store) if tools.creates or tools.there else {}
    swept = Swept(sweep.name, own, known)
    return replace(swept, before=len(own) - _left(swept))


def _left(swept: Swept) -> int:
    from tabwb.administer.sweep.pool import waiting

    return len(waiting(swept.points, swept.known))


def _say_unlike(tools: Tools, sweep: Sweep, swept: Swept) -> None:
    """Say which checkpoints are not of the architecture of the sweep's model."""
    from tabwb.lesion.declared import OTHER, PARENT_PARTS

    parent = sweep.conditions.examinee
    for one in swept.points:
        if one.role != "perturbation" or one.model == parent:
            continue
        begun = swept.known.get(one.conditions)
        facts = {} if begun is None else tools.store.history(begun.id).model_facts
        if facts.get(PARENT_PARTS) == OTHER:
            tools.warn(
                f"{one.model} has other parts than {parent}: they differ in architecture or size, "
                "not only in training"
            )


def _named(point: Point) -> dict[str, str]:
    """Return what names a condition in JSON: of temperatures and the like it is the setting."""
    return {"role": point.role, "lesion": point.lesion, "setting": point.setting}
