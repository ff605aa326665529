"""What plugin authors import: hooks, contracts, records, and helpers of model back ends.

    from tabwb.plugin_api import Descriptor, hookimpl

Each name is imported from its module when it is first used, so this import costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabwb.battery.model import Battery as Battery
    from tabwb.battery.model import Feature as Feature
    from tabwb.battery.model import Item as Item
    from tabwb.battery.model import Subtest as Subtest
    from tabwb.battery.task_type import TaskType as TaskType
    from tabwb.host.guarded import within as within
    from tabwb.host.keys import find_key as find_key
    from tabwb.host.keys import missing_key as missing_key
    from tabwb.host.keys import redact as redact
    from tabwb.host.loading import API_VERSION as API_VERSION
    from tabwb.host.offline import is_offline as is_offline
    from tabwb.host.plugins import Plugins as Plugins
    from tabwb.host.remote_model import RemoteFailure as RemoteFailure
    from tabwb.host.remote_model import RemoteModel as RemoteModel
    from tabwb.host.remote_model import Retries as Retries
    from tabwb.host.remote_model import StopStrings as StopStrings
    from tabwb.host.writing import draft_of as draft_of
    from tabwb.host.writing import write_pieces as write_pieces
    from tabwb.host.writing import write_text as write_text
    from tabwb.host.writing import write_with as write_with
    from tabwb.lesion.arrays import lesioned_arrays as lesioned_arrays
    from tabwb.lesion.declared import Part as Part
    from tabwb.lesion.localizer import localizer_scores as localizer_scores
    from tabwb.lesion.spec import Lesion as Lesion
    from tabwb.lesion.spec import parse_lesions as parse_lesions
    from tabwb.operations.operation import IDS as IDS
    from tabwb.operations.operation import Arg as Arg
    from tabwb.operations.operation import Operation as Operation
    from tabwb.operations.operation import Told as Told
    from tabwb.operations.operation import Tools as Tools
    from tabwb.operations.operation import numbers_of as numbers_of
    from tabwb.plugin_api.components import ActivationBackend as ActivationBackend
    from tabwb.plugin_api.components import AnswerFile as AnswerFile
    from tabwb.plugin_api.components import AnswerProblems as AnswerProblems
    from tabwb.plugin_api.components import BatchingBackend as BatchingBackend
    from tabwb.plugin_api.components import Cancel as Cancel
    from tabwb.plugin_api.components import Exporter as Exporter
    from tabwb.plugin_api.components import Importer as Importer
    from tabwb.plugin_api.components import Judge as Judge
    from tabwb.plugin_api.components import LaneBackend as LaneBackend
    from tabwb.plugin_api.components import LesionableBackend as LesionableBackend
    from tabwb.plugin_api.components import LikelihoodBackend as LikelihoodBackend
    from tabwb.plugin_api.components import ModelBackend as ModelBackend
    from tabwb.plugin_api.components import Response as Response
    from tabwb.plugin_api.components import Scorer as Scorer
    from tabwb.plugin_api.components import SpokenFile as SpokenFile
    from tabwb.plugin_api.components import SpokenImporter as SpokenImporter
    from tabwb.plugin_api.components import Transcriber as Transcriber
    from tabwb.plugin_api.decorators import exporter as exporter
    from tabwb.plugin_api.decorators import judge as judge
    from tabwb.plugin_api.decorators import scorer as scorer
    from tabwb.plugin_api.decorators import statistic as statistic
    from tabwb.plugin_api.descriptors import BatterySource as BatterySource
    from tabwb.plugin_api.descriptors import Descriptor as Descriptor
    from tabwb.plugin_api.extensions import CommandSource as CommandSource
    from tabwb.plugin_api.extensions import Computed as Computed
    from tabwb.plugin_api.extensions import OperationSource as OperationSource
    from tabwb.plugin_api.extensions import PageData as PageData
    from tabwb.plugin_api.extensions import PageSource as PageSource
    from tabwb.plugin_api.extensions import Responses as Responses
    from tabwb.plugin_api.extensions import Statistic as Statistic
    from tabwb.plugin_api.extensions import StatisticValue as StatisticValue
    from tabwb.plugin_api.hookspecs import Register as Register
    from tabwb.plugin_api.hookspecs import RegisterBattery as RegisterBattery
    from tabwb.plugin_api.hookspecs import RegisterCommand as RegisterCommand
    from tabwb.plugin_api.hookspecs import RegisterOperation as RegisterOperation
    from tabwb.plugin_api.hookspecs import RegisterPage as RegisterPage
    from tabwb.plugin_api.hookspecs import RegisterStatistic as RegisterStatistic
    from tabwb.plugin_api.hookspecs import RegisterSubject as RegisterSubject
    from tabwb.plugin_api.hookspecs import RegisterTask as RegisterTask
    from tabwb.plugin_api.hookspecs import hookimpl as hookimpl
    from tabwb.records.answers import KnownDecoding as KnownDecoding
    from tabwb.records.answers import RecordedAnswer as RecordedAnswer
    from tabwb.records.answers import RecordedRun as RecordedRun
    from tabwb.records.errors import ComponentError as ComponentError
    from tabwb.records.errors import MissingExtra as MissingExtra
    from tabwb.records.errors import TabwbError as TabwbError
    from tabwb.records.errors import UsageError as UsageError
    from tabwb.records.events import Asked as Asked
    from tabwb.records.events import AttemptRecorded as AttemptRecorded
    from tabwb.records.events import Discontinued as Discontinued
    from tabwb.records.events import Event as Event
    from tabwb.records.events import Finished as Finished
    from tabwb.records.events import JudgementRecorded as JudgementRecorded
    from tabwb.records.events import Noted as Noted
    from tabwb.records.events import Observed as Observed
    from tabwb.records.events import Paused as Paused
    from tabwb.records.events import Rated as Rated
    from tabwb.records.events import Resumed as Resumed
    from tabwb.records.events import Streamed as Streamed
    from tabwb.records.events import TrialSkipped as TrialSkipped
    from tabwb.records.events import TrialStarted as TrialStarted
    from tabwb.records.events import TrialVoided as TrialVoided
    from tabwb.records.events import Undone as Undone
    from tabwb.records.events import Waiting as Waiting
    from tabwb.records.exchange import NOT_SENT as NOT_SENT
    from tabwb.records.exchange import Decoding as Decoding
    from tabwb.records.exchange import Likelihood as Likelihood
    from tabwb.records.exchange import Message as Message
    from tabwb.records.exchange import Reply as Reply
    from tabwb.records.exchange import Request as Request
    from tabwb.records.exchange import Wait as Wait
    from tabwb.records.naming import ImportedSession as ImportedSession
    from tabwb.records.naming import Named as Named
    from tabwb.records.problems import Broken as Broken
    from tabwb.records.ratings import Declaration as Declaration
    from tabwb.records.ratings import MeasureKind as MeasureKind
    from tabwb.records.ratings import Rating as Rating
    from tabwb.records.ratings import Verdict as Verdict
    from tabwb.records.ratings import failed as failed
    from tabwb.records.ratings import undefined as undefined
    from tabwb.records.ratings import valued as valued
    from tabwb.records.speakers import Column as Column
    from tabwb.records.speakers import SubjectKind as SubjectKind
    from tabwb.records.specs import Spec as Spec
    from tabwb.records.specs import parse_spec as parse_spec
    from tabwb.records.speech import Clip as Clip
    from tabwb.records.speech import Segment as Segment
    from tabwb.records.speech import Stretch as Stretch
    from tabwb.records.speech import Transcript as Transcript
    from tabwb.records.states import Protocol as Protocol
    from tabwb.records.states import RatingStatus as RatingStatus
    from tabwb.records.states import ResponseKind as ResponseKind
    from tabwb.records.states import ResponseStatus as ResponseStatus
    from tabwb.records.states import StopReason as StopReason
    from tabwb.records.system import stays_here as stays_here
    from tabwb.scoring.distributions import t_quantile as t_quantile

_NAMES = {
    "tabwb.battery.model": "Battery Feature Item Subtest",
    "tabwb.battery.task_type": "TaskType",
    "tabwb.host.keys": "find_key missing_key redact",
    "tabwb.host.loading": "API_VERSION",
    "tabwb.host.offline": "is_offline",
    "tabwb.host.plugins": "Plugins",
    "tabwb.host.remote_model": "RemoteFailure RemoteModel Retries StopStrings",
    "tabwb.host.guarded": "within",
    "tabwb.host.writing": "draft_of write_pieces write_text write_with",
    "tabwb.lesion.arrays": "lesioned_arrays",
    "tabwb.lesion.declared": "Part",
    "tabwb.lesion.localizer": "localizer_scores",
    "tabwb.lesion.spec": "Lesion parse_lesions",
    "tabwb.operations.operation": "Arg IDS Operation Told Tools numbers_of",
    "tabwb.plugin_api.components": "ActivationBackend AnswerFile AnswerProblems BatchingBackend "
    "Cancel Exporter Importer Judge LaneBackend LesionableBackend LikelihoodBackend ModelBackend "
    "Response Scorer SpokenFile SpokenImporter Transcriber",
    "tabwb.plugin_api.decorators": "exporter judge scorer statistic",
    "tabwb.plugin_api.descriptors": "BatterySource Descriptor",
    "tabwb.plugin_api.extensions": "CommandSource Computed OperationSource PageData PageSource "
    "Responses Statistic StatisticValue",
    "tabwb.plugin_api.hookspecs": "Register RegisterBattery RegisterCommand RegisterOperation "
    "RegisterPage RegisterStatistic RegisterSubject RegisterTask hookimpl",
    "tabwb.records.answers": "KnownDecoding RecordedAnswer RecordedRun",
    "tabwb.records.errors": "ComponentError MissingExtra TabwbError UsageError",
    "tabwb.records.events": "Asked AttemptRecorded Discontinued Event Finished JudgementRecorded "
    "Noted Observed Paused Rated Resumed Streamed TrialSkipped TrialStarted TrialVoided "
    "Undone Waiting",
    "tabwb.records.exchange": "Decoding Likelihood Message NOT_SENT Reply Request Wait",
    "tabwb.records.naming": "ImportedSession Named",
    "tabwb.records.problems": "Broken",
    "tabwb.records.ratings": "Declaration MeasureKind Rating Verdict failed undefined valued",
    "tabwb.records.speakers": "Column SubjectKind",
    "tabwb.records.specs": "Spec parse_spec",
    "tabwb.records.speech": "Clip Segment Stretch Transcript",
    "tabwb.records.states": "Protocol RatingStatus ResponseKind ResponseStatus StopReason",
    "tabwb.records.system": "stays_here",
    "tabwb.scoring.distributions": "t_quantile",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


_OLD = {
    "ExpectingExporter": "Exporter",
    "ModelJudge": "Judge",
    "ScopedJudge": "Judge",
    "StreamingExporter": "Exporter",
}
"""Names of before 0.2, which are imported until 0.3."""


def __getattr__(name: str) -> Any:
    if name in _OLD:
        import warnings

        message = f"tabwb.plugin_api.{name} is an old name, until tabwb 0.3: use {_OLD[name]}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        name = _OLD[name]
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *_MODULE_OF]
