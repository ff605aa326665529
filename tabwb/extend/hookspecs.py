"""The hooks of tabwb: who calls each, when, and what an implementation does.

A plugin is a package with an entry point in the group ``tabwb``; the object it points to (a module
or an instance) holds functions named as here and marked with :data:`hookimpl`. Every entry point is
loaded by itself and every implementation is called by itself: one that raises is reported by
``tabwb plugins list`` and harms no other.
"""

from __future__ import annotations

from collections.abc import Callable

import pluggy

from tabwb.extend.components import BatterySource, Descriptor
from tabwb.records import events

PROJECT = "tabwb"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Register = Callable[[Descriptor], None]
RegisterBattery = Callable[[BatterySource], None]


@hookspec
def tabwb_register_models(register: Register) -> None:
    """Announce model back ends.

    Called once, when components are first looked for. Call ``register`` with a
    :class:`~tabwb.extend.components.Descriptor` for each; its factory returns a
    :class:`~tabwb.extend.components.ModelBackend`.
    """


@hookspec
def tabwb_register_judges(register: Register) -> None:
    """Announce judges, which rate the features of responses.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.extend.components.Judge`.
    """


@hookspec
def tabwb_register_transcribers(register: Register) -> None:
    """Announce transcribers, which turn audio into phonemes or words.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.extend.components.Transcriber`.
    """


@hookspec
def tabwb_register_scorers(register: Register) -> None:
    """Announce scorers, which a battery's ``scorers`` name.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.extend.components.Scorer`.
    """


@hookspec
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Announce batteries that the plugin brings.

    Called once, when batteries are first looked for. Call ``register`` with a
    :class:`~tabwb.extend.components.BatterySource`; the file is read when it is needed.
    """


@hookspec
def tabwb_register_exporters(register: Register) -> None:
    """Announce export formats for ``tabwb export --format``.

    Called once, when components are first looked for. The factory returns an
    :class:`~tabwb.extend.components.Exporter`.
    """


@hookspec
def tabwb_on_trial_started(event: events.TrialStarted) -> None:
    """A trial was put before the examinee.

    Called by the engine: for a person after the commit, for a model before it, because the start
    of a model's trial is committed together with its answer.
    """


@hookspec
def tabwb_on_attempt_recorded(event: events.AttemptRecorded) -> None:
    """An attempt is safe in the store. Called by the engine after the commit."""


@hookspec
def tabwb_on_rated(event: events.Rated) -> None:
    """Ratings of an attempt are safe in the store. Called by the engine after the commit."""


@hookspec
def tabwb_on_finished(event: events.Finished) -> None:
    """Every planned trial has been dealt with. Called by the engine after the commit."""


@hookspec
def tabwb_on_discontinued(event: events.Discontinued) -> None:
    """An administration was ended early. Called by the engine after the commit."""
