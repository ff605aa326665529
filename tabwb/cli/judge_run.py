"""``tabwb judge run``: judge stored answers, now or at any later time."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import Any

import click

from tabwb.administer.judging.calls import (
    Estimate,
    check_limits,
    format_estimate,
    format_spent,
    format_tally,
)
from tabwb.administer.judging.judging import Judging
from tabwb.administer.judging.task import Task, check_verdicts
from tabwb.administer.limits import Limits
from tabwb.cli.common import inform, note, opened_store, print_json, print_messages
from tabwb.cli.progress import Countdown
from tabwb.cli.selecting import check_chosen
from tabwb.cli.signals import stopping
from tabwb.records import events
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.ratings import Scope
from tabwb.store.store import Store

FEW = 3
"""Answers after which the time that is left can be told."""


def judge_administrations(
    administrations: tuple[str, ...],
    everything: bool,
    where: tuple[str, ...],
    judges: tuple[str, ...],
    scope: Scope,
    repeats: int,
    again: bool,
    dry_run: bool,
    max_requests: int | None,
    max_cost: float | None,
    store_location: str | None,
    as_json: bool,
    offline: bool | None,
) -> None:
    """Judge administrations, as the options of the command say."""
    check_chosen(administrations, where, everything=everything)
    if not judges:
        raise UsageError(
            "no judge: give --judge SPEC",
            hint="'tabwb judge list' shows the judges; without a network, for example: "
            f"tabwb judge run {administrations[0] if administrations else '--all'} --judge rules",
        )
    from tabwb.analysis.selection import matching

    limits = Limits(max_requests, max_cost)
    documents: list[dict[str, Any]] = []
    tasks: list[Task] = []
    try:
        with opened_store(store_location, offline, dry=dry_run) as (plugins, store):
            for spec in judges if max_requests is not None else ():
                check_limits(plugins.judge(spec), limits)
            numbers = dict.fromkeys(
                matching(store, administrations, where)
                if where or everything
                else (store.administration(name).id for name in administrations)
            )
            for spec in dict.fromkeys(judges):
                task = Task(store, plugins, spec, scope=scope, repeats=repeats, again=again)
                tasks.append(task)
                printed = Printed(store, task, quiet=as_json)
                cancel = threading.Event()
                try:
                    if dry_run:
                        documents += [printed.estimate(number) for number in numbers]
                    for number in () if dry_run else numbers:
                        with store.lock(number), stopping(cancel):
                            limits = printed.judge(number, limits, cancel, documents)
                except Interrupted as error:
                    hint = "the same command continues from here"
                    raise Interrupted(error.message, hint=hint) from error
                finally:
                    task.close()
    finally:
        if as_json and documents:
            print_json({"format": 1, "judging": documents})
    check_verdicts(tasks, "the same command asks about these again")


class Printed:
    """Prints what a judge does."""

    def __init__(self, store: Store, task: Task, *, quiet: bool, warn: bool = True) -> None:
        self._store = store
        self._task = task
        self._quiet = quiet
        self._warn = warn

    def estimate(self, number: int) -> dict[str, Any]:
        """Print what would be sent for one administration, and what it would cost."""
        judging = self._judging(number)
        requests = list(judging.requests())
        estimate = judging.estimate()
        document = {
            **self._heading(number),
            "price": None if self._task.price is None else str(self._task.price),
            **_fields(estimate),
        }
        if self._quiet:
            document["requests"] = [
                {
                    "trial": trial,
                    "messages": [asdict(message) for message in request.messages],
                    "max_tokens": request.decoding.max_tokens,
                }
                for trial, request in requests
            ]
            return document
        for trial, request in requests:
            click.echo(f"--- administration {number}, trial {trial}")
            print_messages(request.messages)
        note(self._told(number, estimate))
        return document

    def judge(
        self,
        number: int,
        limits: Limits,
        cancel: threading.Event,
        documents: list[dict[str, Any]],
    ) -> Limits:
        """Judge an administration whose lock the caller holds; return the limits that are left."""
        judging = self._judging(number)
        estimate = judging.estimate()
        inform(self._told(number, estimate))
        try:
            self._run(judging, limits, cancel, estimate)
        finally:
            documents.append(self._document(judging))
            inform(format_tally(judging.tally))
        return limits.after(judging.tally)

    def _judging(self, number: int) -> Judging:
        for warning in self._task.warnings(number) if self._warn else ():
            note(f"warning: {warning}")
        return self._task.judging(number)

    def _run(
        self, judging: Judging, limits: Limits, cancel: threading.Event, estimate: Estimate
    ) -> None:
        planned = estimate.to_ask + estimate.duplicates + estimate.from_store
        countdown = Countdown("judged", planned, quiet=self._quiet)
        try:
            for event in self._task.run(judging, limits, cancel):
                if isinstance(event, events.Waiting):
                    if self._quiet and not event.voids:
                        continue
                    countdown.wait(f"{event.reason}: waiting {event.seconds:.0f} s")
                elif isinstance(event, events.JudgementRecorded):
                    tally = judging.tally
                    asked = tally.judged - tally.from_store
                    timed = asked if asked >= FEW else 0
                    countdown.show(tally.judged, f"  {format_spent(tally)}", timed=timed)
        finally:
            countdown.status.close()

    def _document(self, judging: Judging) -> dict[str, Any]:
        document = self._heading(judging.number) | _fields(judging.tally)
        document["price"] = None if self._task.price is None else str(self._task.price)
        if self._task.repeats > 1:
            judged = self._store.judgements(judging.number)
            from tabwb.analysis.judges import self_agreement  # loads numpy

            agreements = self_agreement(judged, self._task.judge.rater, self._task.judge.features)
            document["self_agreement"] = [_fields(agreement) for agreement in agreements]
            for row in () if self._quiet else agreements:
                share = "undefined" if row.percent is None else f"{row.percent:.2f}"
                kappa = "undefined" if row.kappa is None else f"{row.kappa:.2f}"
                click.echo(
                    f"{row.feature:32} same verdict {share} of {row.pairs} pairs, kappa {kappa}"
                )
        return document

    def _heading(self, number: int) -> dict[str, Any]:
        rater = self._task.judge.rater
        return {"administration": number, "rater": rater, "scope": self._task.scope}

    def _told(self, number: int, estimate: Estimate) -> str:
        words = format_estimate(estimate, self._task.price)
        return f"{self._task.judge.rater}, administration {number}: {words}"


def _fields(record: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(record).items() if key != "price"}
