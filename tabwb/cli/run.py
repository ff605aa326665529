"""``tabwb run`` and ``tabwb resume``: give a battery, here in the terminal."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    on_terminal,
    open_plugins,
    open_store,
    print_json,
    store_option,
)
from tabwb.cli.signals import ENDING, caught
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from tabwb.administer.session import Session
    from tabwb.battery.model import Battery
    from tabwb.extend.components import ModelBackend
    from tabwb.extend.plugins import Plugins
    from tabwb.records.trials import Conditions


TOGETHER = 64
"""Items that a batching model gets at once; on a laptop more gains nothing."""
SEEDS = click.IntRange(-(2**53), 2**53)
"""What every store and every reader of JSON keeps exactly."""


class Finite(click.FloatRange):
    """A number in a range; unlike click's own it refuses NaN, which is in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


@click.command()
@click.argument("battery")
@click.option("--model", metavar="SPEC", help="The model, for example bundled or replay:FILE.")
@click.option("--speaker", metavar="ID", help="A person who types: a study ID, never a name.")
@click.option(
    "--research-protocol",
    metavar="ID",
    help="The protocol under which a battery made for models is given to a person.",
)
@click.option(
    "--judge",
    "judges",
    metavar="SPEC",
    multiple=True,
    help="Judge of connected text; may be given several times. Default: rules. 'none': no judge.",
)
@click.option("--replicates", type=click.IntRange(1, 100_000), default=1, show_default=True)
@click.option("--seed", type=SEEDS, default=1, show_default=True, help="Of orders and of sampling.")
@click.option(
    "--protocol",
    type=click.Choice(["generate", "enforced", "likelihood"]),
    default="generate",
    show_default=True,
    help="How a model answers items with options: freely, held to the options, or by which option "
    "it finds likeliest. Items without options are always answered freely.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(1, 10_000),
    default=TOGETHER,
    show_default=True,
    help="How many items a model gets at once, where it can batch; 1 streams each reply.",
)
@click.option("--conversation", is_flag=True, help="Keep one context over all items.")
@click.option("--shuffle-items", is_flag=True, help="Shuffle items within their subtest.")
@click.option("--shuffle-options", is_flag=True, help="Shuffle the options of each item.")
@click.option("--rotate-options", is_flag=True, help="Give each item in all its rotations.")
@click.option("--max-tokens", type=click.IntRange(1, 100_000), default=256, show_default=True)
@click.option(
    "--temperature",
    type=Finite(0, 10),
    default=0.0,
    show_default=True,
    help="0 is greedy decoding.",
)
@click.option("--top-p", type=Finite(0, 1, min_open=True), default=1.0, show_default=True)
@click.option("--stop", "stops", multiple=True, metavar="TEXT", help="Ends a reply; repeatable.")
@click.option("--dry-run", is_flag=True, help="Print every prompt as it would be sent.")
@store_option
@json_option
@offline_option
def run(**options: Any) -> int:
    """Give BATTERY (an id or a path) to a model or to a person who types.

    Exit status: 0 done, 3 stopped early but resumable, 130 after a second ctrl+c.
    """
    plugins = open_plugins(options.get("offline"))
    from tabwb.administer import setup

    try:
        battery = setup.find_battery(plugins, options["battery"])
        conditions = _conditions(options)
        conditions = setup.resolve(plugins, battery, conditions)
        _warn(battery, conditions)
        if options.get("dry_run"):
            as_json = bool(options.get("as_json"))
            return _dry_run(plugins, battery, conditions, as_json=as_json)
        with (
            open_store(options.get("store_location"), plugins) as store,
            opened_model(plugins, conditions) as model,
            setup.create(store, plugins, battery, conditions) as session,
        ):
            together = options.get("batch_size", TOGETHER)
            return _give(session, model, together, as_json=bool(options.get("as_json")))
    finally:
        plugins.close()


@click.command()
@click.argument("administration")
@store_option
@json_option
@offline_option
def resume(
    administration: str, store_location: str | None, as_json: bool, offline: bool | None
) -> int:
    """Go on with ADMINISTRATION (its number or uid) where it stopped."""
    from tabwb.administer import setup

    plugins = open_plugins(offline)
    try:
        with (
            open_store(store_location, plugins, create=False) as store,
            setup.resume(store, plugins, administration) as session,
        ):
            if session.status is AdministrationStatus.DISCONTINUED:
                raise UsageError(
                    f"administration {session.administration.id} was discontinued",
                    hint=f"'tabwb trial undo {session.administration.id}' takes that back",
                )
            if session.status is AdministrationStatus.DONE:
                note(f"administration {session.administration.id} is done: nothing is left to ask")
                _show(session, as_json=as_json)
                return 0
            with opened_model(plugins, session.administration.conditions) as model:
                session.resume()
                return _give(session, model, TOGETHER, as_json=as_json)
    finally:
        plugins.close()


def _conditions(options: dict[str, Any]) -> Conditions:
    from tabwb.records.exchange import Decoding
    from tabwb.records.states import Protocol
    from tabwb.records.trials import Conditions

    model, speaker = options.get("model"), options.get("speaker")
    if (model is None) == (speaker is None):
        raise UsageError(
            "name one examinee: --model SPEC or --speaker ID",
            hint="for example: tabwb run tab --model bundled",
        )
    if options.get("shuffle_options") and options.get("rotate_options"):
        raise UsageError("--shuffle-options and --rotate-options exclude each other")
    if speaker is not None and options.get("conversation"):
        raise UsageError("--conversation is for models; a person remembers anyway")
    judges = tuple(options.get("judges") or ("rules",))
    if "none" in judges and len(judges) > 1:
        raise UsageError("--judge none stands alone")
    stops = tuple(options.get("stops") or ())
    if "" in stops:
        raise UsageError("--stop needs some text: an empty one would end every reply at once")
    seed = options.get("seed", 1)
    return Conditions(
        examinee=str(speaker if model is None else model),
        kind="speaker" if model is None else "model",
        seed=seed,
        replicates=options.get("replicates", 1),
        protocol=Protocol(options.get("protocol", "generate")),
        decoding=Decoding(
            max_tokens=options.get("max_tokens", 256),
            temperature=options.get("temperature", 0.0),
            top_p=options.get("top_p", 1.0),
            stop=stops,
            seed=seed,
        ),
        conversation=bool(options.get("conversation")),
        item_order="shuffled" if options.get("shuffle_items") else "as-given",
        option_order=(
            "shuffled"
            if options.get("shuffle_options")
            else "rotated"
            if options.get("rotate_options")
            else "as-given"
        ),
        judges=() if judges == ("none",) else judges,
        research_protocol=options.get("research_protocol"),
    )


def _warn(battery: Battery, conditions: Conditions) -> None:
    from tabwb.administer.plan import nothing_varies

    if nothing_varies(battery, conditions):
        note(
            "warning: greedy decoding and nothing that varies: the replicates will be identical "
            "and count once (--temperature or --shuffle-options makes them differ)"
        )


def _dry_run(plugins: Plugins, battery: Battery, conditions: Conditions, *, as_json: bool) -> int:
    from tabwb.administer.conversation import request_for
    from tabwb.administer.expense import expense_of
    from tabwb.administer.plan import plan_trials

    trials = plan_trials(battery, conditions)
    requests = [request_for(battery, conditions, plan) for plan in trials]
    price = plugins.price(conditions.examinee) if conditions.kind == "model" else None
    expense = expense_of(requests, price)
    if as_json:
        print_json(
            {
                "format": 1,
                "battery": battery.id,
                "battery_version": battery.version,
                "battery_hash": battery.content_hash,
                "examinee": conditions.examinee,
                "estimate": {
                    "requests": expense.requests,
                    "prompt_tokens": expense.prompt_tokens,
                    "reply_tokens_at_most": expense.reply_tokens,
                    "cost_at_most": expense.cost,
                    "price": None if price is None else str(price),
                },
                "prompts": [
                    {
                        "number": plan.number,
                        "subtest": plan.subtest,
                        "item": plan.item,
                        "replicate": plan.replicate,
                        "messages": [
                            {"role": message.role, "content": message.content}
                            for message in request.messages
                        ],
                        "max_tokens": request.decoding.max_tokens,
                    }
                    for plan, request in zip(trials, requests, strict=True)
                ],
            }
        )
        return 0
    for plan, request in zip(trials, requests, strict=True):
        click.echo(f"--- {plan.number}/{len(trials)}  {plan.subtest} {plan.item}")
        for message in request.messages:
            click.echo(f"[{message.role}]")
            click.echo(message.content)
    if conditions.kind == "model":
        cost = "cost unknown" if expense.cost is None else f"{expense.cost:.2g} USD"
        note(
            f"{expense.requests} requests, about {expense.prompt_tokens:,} tokens out and at most "
            f"{expense.reply_tokens:,} back: at most {cost} ({price or 'no price is known'})"
        )
    return 0


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model that is loaded.

    Attributes:
        backend: what answers.
        facts: what it says of itself (revision, dtype).
        cancel: set by ctrl+c.
    """

    backend: ModelBackend
    facts: Mapping[str, str]
    cancel: threading.Event


@contextmanager
def opened_model(plugins: Plugins, conditions: Conditions) -> Iterator[OpenModel | None]:
    """The examinee's model, loaded; None for a person.

    It is loaded before an administration is begun, so that one that cannot be loaded leaves none.
    """
    if conditions.kind != "model":
        yield None
        return
    backend = plugins.open_model(conditions.examinee)
    cancel = threading.Event()
    if on_terminal():
        note(f"loading {conditions.examinee}")
    try:
        with stopping(cancel):
            yield OpenModel(backend, backend.open(), cancel)
    finally:
        backend.close()


def _give(session: Session, model: OpenModel | None, together: int, *, as_json: bool) -> int:
    number = session.administration.id
    # Said at once, so that it is known however the run ends.
    note(f"administration {number}")
    if model is not None:
        _give_to_model(session, model, together, quiet=as_json)
    else:
        from tabwb.cli.typing import give_to_typist

        give_to_typist(session, aside=as_json)
    if session.status is AdministrationStatus.DONE:
        _judge(session, quiet=as_json)
    try:
        _show(session, as_json=as_json)
    finally:
        # Also when nobody reads the results: that more is to be done is the more important news.
        if session.status is AdministrationStatus.PAUSED:
            raise Interrupted(
                f"administration {number} is paused: {session.pause_reason or 'by the user'}",
                hint=f"go on with: tabwb resume {number}",
            )
    return 0


def _give_to_model(session: Session, model: OpenModel, together: int, *, quiet: bool) -> None:
    from tabwb.administer.drive import drive
    from tabwb.cli.progress import Progress
    from tabwb.extend.prices import cost_of

    price = session.plugins.price(session.administration.conditions.examinee)
    charged = price is None or price.prompt or price.reply
    done = sum(trial.counting is not None for trial in session.trials)
    progress = Progress(
        len(session.trials),
        done,
        quiet=quiet,
        cost=(lambda sent, received: cost_of(price, sent, received)) if charged else None,
    )
    try:
        session.opened(model.facts)
        for event in drive(session, model.backend, model.cancel, together=together):
            progress.show(event)
    finally:
        progress.close()


def _judge(session: Session, *, quiet: bool) -> None:
    """Let the judges behind which a model stands judge, now that every answer is safe."""
    from tabwb.administer.judging import Limits
    from tabwb.cli.judge_run import Task

    cancel = threading.Event()
    options = {"scope": "connected-text", "repeats": 1, "again": False}
    number = session.administration.id
    for spec in session.raters.later:
        task = Task(session.store, session.plugins, spec, options, quiet=quiet)
        try:
            with stopping(cancel):
                task.judge_held(number, Limits(), cancel, [])
        except Interrupted as error:
            raise Interrupted(
                error.message, hint=f"go on with: tabwb judge run {number} --judge {spec}"
            ) from error
        finally:
            task.close()
            session.reload()


@contextmanager
def stopping(cancel: threading.Event) -> Iterator[None]:
    """First ctrl+c (or a closed terminal) stops after what is under way; the second one at once."""

    def handler(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()
        # Not through Python's stderr: the signal may have come in the middle of writing there.
        with suppress(OSError):
            os.write(2, b"\nstopping; what is answered is safe (ctrl+c again to stop at once)\n")

    with caught(handler, "SIGINT", *ENDING):
        yield


def _show(session: Session, *, as_json: bool) -> None:
    from tabwb.report.document import administration_document

    administration = session.store.administration(session.administration.id)
    if as_json:
        print_json(
            administration_document(
                administration,
                session.battery,
                session.trials,
                model_facts=session.model_facts,
                notes=session.notes,
                declarations=session.declarations,
            )
        )
        return
    from tabwb.report.tables import print_administration

    print_administration(
        administration, session.battery, session.trials, declarations=session.declarations
    )
