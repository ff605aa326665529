"""The hooks of tabwb: who calls each, when, and what an implementation does.

A plugin is a package with an entry point in the group ``tabwb``; the object it points to (a module
or an instance) holds functions named as here and marked with :data:`hookimpl`. Every entry point is
loaded by itself and every implementation is called by itself: one that raises is reported by
``tabwb plugins list`` and harms no other.
"""

from __future__ import annotations

from collections.abc import Callable

import pluggy

from tabwb.plugin_api.descriptors import BatterySource, Descriptor
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
    :class:`~tabwb.plugin_api.descriptors.Descriptor` for each; its factory returns a
    :class:`~tabwb.plugin_api.components.ModelBackend`.
    """


@hookspec
def tabwb_register_judges(register: Register) -> None:
    """Announce judges, which rate the features of responses.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.plugin_api.components.Judge`.
    """


@hookspec
def tabwb_register_transcribers(register: Register) -> None:
    """Announce transcribers, which turn audio into phonemes or words.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.plugin_api.components.Transcriber`.
    """


@hookspec
def tabwb_register_scorers(register: Register) -> None:
    """Announce scorers, which a battery's ``scorers`` name.

    Called once, when components are first looked for. The factory returns a
    :class:`~tabwb.plugin_api.components.Scorer`.
    """


@hookspec
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Announce batteries that the plugin brings.

    Called once, when batteries are first looked for. Call ``register`` with a
    :class:`~tabwb.plugin_api.descriptors.BatterySource`; the file is read when it is needed.
    """


@hookspec
def tabwb_register_exporters(register: Register) -> None:
    """Announce export formats for ``tabwb export --format``.

    Called once, when components are first looked for. The factory returns an
    :class:`~tabwb.plugin_api.components.Exporter`.
    """


@hookspec
def tabwb_on_trial_started(event: events.TrialStarted) -> None:
    """A trial was put before the examinee.

    Called by the engine: for a person after the commit, for a model before it, because the start
    of a model's trial is committed together with its answer.
    """


@hookspec
def tabwb_on_asked(event: events.Asked) -> None:
    """Several trials were put to a back end together. Called by the engine; never stored."""


@hookspec
def tabwb_on_waiting(event: events.Waiting) -> None:
    """A back end waits (a rate limit, a retry). Called by the engine; never stored."""


@hookspec
def tabwb_on_streamed(event: events.Streamed) -> None:
    """A piece of a reply arrived. Called by the engine for each piece; never stored."""


@hookspec
def tabwb_on_attempt_recorded(event: events.AttemptRecorded) -> None:
    """An attempt is in the store. Called by the engine after the commit."""


@hookspec
def tabwb_on_rated(event: events.Rated) -> None:
    """Ratings of an attempt are in the store. Called by the engine after the commit.

    The raters are scorers and rules judges, and the people who score spoken responses.
    """


@hookspec
def tabwb_on_judgement_recorded(event: events.JudgementRecorded) -> None:
    """A verdict of a judge that asks a model is in the store. Called after the commit."""


@hookspec
def tabwb_on_observed(event: events.Observed) -> None:
    """An observation of a person is in the store. Called by the engine after the commit.

    Cues, onsets, scores and codes by ear, and transcripts are observations.
    """


@hookspec
def tabwb_on_trial_skipped(event: events.TrialSkipped) -> None:
    """A trial was skipped. Called by the engine after the commit."""


@hookspec
def tabwb_on_trial_voided(event: events.TrialVoided) -> None:
    """A trial was declared void. Called by the engine after the commit."""


@hookspec
def tabwb_on_undone(event: events.Undone) -> None:
    """The last command was taken back. Called by the engine after the commit."""


@hookspec
def tabwb_on_noted(event: events.Noted) -> None:
    """A note was written. Called by the engine after the commit."""


@hookspec
def tabwb_on_paused(event: events.Paused) -> None:
    """An administration was paused. Called by the engine after the commit."""


@hookspec
def tabwb_on_resumed(event: events.Resumed) -> None:
    """A paused administration continues. Called by the engine after the commit."""


@hookspec
def tabwb_on_finished(event: events.Finished) -> None:
    """Every planned trial is done. Called by the engine after the commit."""


@hookspec
def tabwb_on_discontinued(event: events.Discontinued) -> None:
    """An administration was ended early. Called by the engine after the commit."""
