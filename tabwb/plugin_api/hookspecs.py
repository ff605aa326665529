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

from tabwb.battery.task_type import TaskType
from tabwb.plugin_api.descriptors import BatterySource, Descriptor
from tabwb.plugin_api.extensions import CommandSource, OperationSource, PageSource, Statistic
from tabwb.records.speakers import SubjectKind

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
RegisterOperation = Callable[[OperationSource], None]
RegisterTask = Callable[[TaskType], None]
RegisterSubject = Callable[[SubjectKind], None]


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
def tabwb_register_operations(register: RegisterOperation) -> None:
    """Register operations: what a user can do, declared once for all interfaces.

    Called when an operation of a plugin is first looked for. Call ``register`` with a
    :class:`~tabwb.plugin_api.extensions.OperationSource`. The command ``tabwb ID``,
    ``Study.do("ID", ...)`` and the dialog in the workbench are made from its class.
    """


@hookspec
def tabwb_register_tasks(register: RegisterTask) -> None:
    """Register task types, which a battery names under ``response``.

    Called when a battery names a kind of response that tabwb does not have. Call ``register`` with
    a :class:`~tabwb.battery.task_type.TaskType`. It must stay installed for administrations that
    are to be resumed; without it what was recorded can still be read and exported.
    """


@hookspec
def tabwb_register_subjects(register: RegisterSubject) -> None:
    """Register kinds of subjects, with what a study records of people of this kind.

    Called when a record is first read or written. Call ``register`` with a
    :class:`~tabwb.records.speakers.SubjectKind`. Records then have the column ``kind``; its columns
    are values of ``tabwb speaker add`` and fields in the workbench. Exports do not have them.
    """


@hookspec
def tabwb_register_importers(register: Register) -> None:
    """Register readers of answers that were given elsewhere, for ``tabwb import``.

    Called once, before the first component is used. The factory returns an
    :class:`~tabwb.plugin_api.components.Importer`, or of a corpus of recordings a
    :class:`~tabwb.plugin_api.components.SpokenImporter`.
    """


@hookspec
def tabwb_on_event(event: events.Event) -> None:
    """Something happened in an administration: what, the class of the event says.

    Called by the engine, after the commit of what is stored: ``AttemptRecorded``, ``Rated`` (by
    scorers, rules judges and people), ``JudgementRecorded`` (by a judge that asks a model),
    ``Observed`` (cues, onsets, scores and codes by ear, transcripts), ``TrialSkipped``,
    ``TrialVoided``, ``Undone``, ``Noted``, ``Paused``, ``Resumed``, ``Finished`` and
    ``Discontinued``. ``TrialStarted`` comes after the commit for a person, and before it for a
    model. Never stored are ``Asked`` (several trials were sent together), ``Waiting`` (a rate
    limit, a retry) and ``Streamed`` (a piece of a reply). Whatever it returns is ignored.
    """
