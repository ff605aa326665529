"""The hooks of tabwb: when each is called, and what an implementation does.

A plugin is a package with an entry point in the group ``tabwb``. The object of the entry point (a
module or an instance) has functions with the names below, marked with :data:`hookimpl`. Entry
points are loaded one by one and implementations are called one by one: ``tabwb plugins list``
reports one that raises, and the others still work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pluggy

from tabwb.plugin_api.descriptors import BatterySource, Descriptor
from tabwb.plugin_api.extensions import CommandSource, PageSource, Statistic

if TYPE_CHECKING:
    from tabwb.records import events

PROJECT = "tabwb"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Register = Callable[[Descriptor], None]
RegisterBattery = Callable[[BatterySource], None]
RegisterStatistic = Callable[[Statistic], None]
RegisterCommand = Callable[[CommandSource], None]
RegisterPage = Callable[[PageSource], None]


@hookspec
def tabwb_register_models(register: Register) -> None:
    """Register model back ends.

    Called once, before the first component is used. Call ``register`` with a
    :class:`~tabwb.plugin_api.descriptors.Descriptor` for each; its factory returns a
    :class:`~tabwb.plugin_api.components.ModelBackend`.
    """


@hookspec
def tabwb_register_judges(register: Register) -> None:
    """Register judges, which rate the features of responses.

    Called once, before the first component is used. The factory returns a
    :class:`~tabwb.plugin_api.components.Judge`.
    """


@hookspec
def tabwb_register_transcribers(register: Register) -> None:
    """Register transcribers, which turn audio into phonemes or words.

    Called once, before the first component is used. The factory returns a
    :class:`~tabwb.plugin_api.components.Transcriber`.
    """


@hookspec
def tabwb_register_scorers(register: Register) -> None:
    """Register scorers, which a battery names under ``scorers``.

    Called once, before the first component is used. The factory returns a
    :class:`~tabwb.plugin_api.components.Scorer`.
    """


@hookspec
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """Register batteries of the plugin.

    Called once, before the first battery is used. Call ``register`` with a
    :class:`~tabwb.plugin_api.descriptors.BatterySource`; the file is read when it is needed.
    """


@hookspec
def tabwb_register_exporters(register: Register) -> None:
    """Register export formats for ``tabwb export --format``.

    Called once, before the first component is used. The factory returns an
    :class:`~tabwb.plugin_api.components.Exporter`.
    """


@hookspec
def tabwb_register_statistics(register: RegisterStatistic) -> None:
    """Register statistics over the responses of groups.

    Called once, before results are first summarised. Call ``register`` with a
    :class:`~tabwb.plugin_api.extensions.Statistic`; its function is called for each group, or for
    each subtest of each group. One that raises is *undefined*, with the error as the reason.
    """


@hookspec
def tabwb_register_commands(register: RegisterCommand) -> None:
    """Register commands of the command line.

    Called when a command is named that tabwb does not have. Call ``register`` with a
    :class:`~tabwb.plugin_api.extensions.CommandSource`; its command is imported when it is used.
    """


@hookspec
def tabwb_register_pages(register: RegisterPage) -> None:
    """Register result pages of the workbench.

    Called when the pages of plugins are first asked for. Call ``register`` with a
    :class:`~tabwb.plugin_api.extensions.PageSource`; its page is built in a worker thread.
    """


@hookspec
def tabwb_register_importers(register: Register) -> None:
    """Register readers of answers that were given elsewhere, for ``tabwb import``.

    Called once, before the first component is used. The factory returns an
    :class:`~tabwb.plugin_api.components.Importer`.
    """


@hookspec
def tabwb_on_trial_started(event: events.TrialStarted) -> None:
    """A trial was presented to the examinee.

    Called by the engine: for a person after the commit, for a model before it, because the start
    of a model's trial is committed together with its answer.
    """


@hookspec
def tabwb_on_asked(event: events.Asked) -> None:
    """Several trials were sent to a back end together. Called by the engine; never stored."""


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
    """The last command was undone. Called by the engine after the commit."""


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
