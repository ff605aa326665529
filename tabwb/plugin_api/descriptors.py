"""The descriptors with which plugins register their components and batteries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from tabwb.records.speakers import Origin
from tabwb.records.specs import Spec
from tabwb.records.system import stays_here

if TYPE_CHECKING:
    from pydantic import BaseModel

ComponentKind = Literal["models", "judges", "transcribers", "scorers", "exporters", "importers"]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a plugin registers: cheap to make, imports nothing heavy.

    Attributes:
        id: kebab-case, unique among components of its kind.
        title: one line for people.
        factory: makes the component; does the heavy import. It is called with the parsed spec and
            the validated options (an instance of what ``options`` returns, or None).
        options: returns the pydantic model class of the options; called late. None: no options.
        needs: the extras of tabwb (``local``) and packages of the plugin's own that the factory
            needs; packages by the name under which they are imported or distributed (``whisper``,
            ``openai-whisper``).
        needs_network: the component is refused under ``--offline`` before the factory runs. A
            function of the spec where that depends on its options (a server on this machine needs
            no network).
        runs: ``child`` for components that must not be loaded into the program itself (torch).
        name_help: the meaning of NAME in a spec (``FILE``); empty where a spec has no NAME.
        name_required: whether a spec without NAME is an error.
        locate: returns NAME as it is stored: a path that is valid from every folder.
        aliases: other ids under which the component is found; stored specs use ``id``.
        remarks: what a user should know before choosing it, one line.
        batches: the back end also fulfils :class:`BatchingBackend`. What this and the next fields
            declare must be there; a method that is there is used without them, but commands
            know of it only when the component is made.
        lesions: the back end also fulfils :class:`LesionableBackend`.
        activations: the back end also fulfils :class:`ActivationBackend`.
        lanes: the back end also fulfils :class:`LaneBackend`.
        likelihood: the back end also fulfils :class:`LikelihoodBackend`. It then answers under
            the protocol ``likelihood`` too, whether ``protocols`` names it or not.
        protocols: how a back end can obtain answers (values of ``records.states.Protocol``).
        unsampled: those of ``protocols`` that take the most probable option, whatever the
            temperature; their replies to the same prompt are the same and count once.
        wraps: NAME is itself a spec of a component of this kind (a judge's model), to which all
            options belong. The factory is then called with a third argument: a function that makes
            the inner component. What the inner one needs is needed.
        reply_tokens: a function of the spec and the limit of the text: the most tokens that a reply
            may take, reasoning included. None: the limit.
        replicates: a function of the spec: how many replicates a model of recorded answers holds; 0
            where that cannot be read. A run without a number of replicates gives as many. Cheap.
        cuts: the transcriber itself transcribes each stretch of speech alone (``Clip.speech``). For
            other transcribers tabwb does so under the option ``cut``.
        made_by: a function of the spec: who made the recorded answers (``human``, ``model``,
            ``unknown``), and the study ID of a person where it is known. Answers that are not a
            model's are protected as a person's: consent is required, and deleting the person
            deletes them. Cheap.
        variables: environment variables with secrets that a component with ``runs = "child"`` needs
            (``HF_TOKEN``). Its process has no other key, token or password of the user's.
        install: the command that installs the plugin's own packages, for the message where one is
            missing; empty for the usual command for that package.
    """

    id: str
    title: str
    factory: Callable[..., Any]
    options: Callable[[], type[BaseModel]] | None = None
    needs: tuple[str, ...] = ()
    needs_network: bool | Callable[[Spec], bool] = False
    runs: Literal["here", "child"] = "here"
    name_help: str = ""
    name_required: bool = False
    locate: Callable[[str], str] | None = None
    aliases: tuple[str, ...] = ()
    remarks: str = ""
    batches: bool = False
    lesions: bool = False
    activations: bool = False
    lanes: bool = False
    likelihood: bool = False
    protocols: tuple[str, ...] = ("generate",)
    unsampled: tuple[str, ...] = ()
    wraps: ComponentKind | None = None
    made_by: Callable[[Spec], tuple[Origin, str]] | None = None
    variables: tuple[str, ...] = ()
    cuts: bool = False
    install: str = ""
    replicates: Callable[[Spec], int] | None = None
    reply_tokens: Callable[[Spec, int], int] | None = None

    @property
    def answers_under(self) -> tuple[str, ...]:
        """The protocols that the back end can answer under.

        >>> Descriptor("x", "X", list, likelihood=True).answers_under
        ('generate', 'likelihood')
        """
        own = self.likelihood or (isclass(self.factory) and hasattr(self.factory, "likelihood"))
        more = ("likelihood",) if own and "likelihood" not in self.protocols else ()
        return (*self.protocols, *more)

    @property
    def abilities(self) -> tuple[str, ...]:
        """The fields of optional methods that a model back end declares.

        >>> Descriptor("x", "X", list, batches=True, protocols=("likelihood",)).abilities
        ('batches', 'likelihood')
        """
        names = ("batches", "likelihood", "lesions", "activations", "lanes")
        declared = {name for name in names if getattr(self, name)}
        declared |= {"likelihood"} & set(self.protocols)
        return tuple(name for name in names if name in declared)

    def reaches_out(self, spec: Spec) -> bool:
        """Return whether the component of this spec, which may be invalid, needs a network."""
        needs = self.needs_network
        return needs if isinstance(needs, bool) else needs(spec)


@dataclass(frozen=True, slots=True)
class BatterySource:
    """A battery that a plugin brings.

    Attributes:
        id: kebab-case, unique among batteries.
        path: of its TOML file, which is read when the battery is needed.
        owner: the plugin; filled in when it registers.
    """

    id: str
    path: Path
    owner: str = ""


def reply_tokens(spec: Spec, limit: int, option: str = "reasoning_tokens") -> int:
    """Return the most tokens of a reply, reasoning included.

    Args:
        spec: of a model.
        limit: the most tokens of its response.
        option: holds the token limit of reasoning.

    >>> reply_tokens(Spec("transformers", "m", {"reasoning_tokens": "512"}), 64)
    576
    """
    try:
        return limit + max(int(spec.options.get(option, 0)), 0)
    except ValueError:
        return limit  # the options are checked when the model is made


def service_descriptor(
    service: str, title: str, *, model: str, options: str, thinking: str, remarks: str
) -> Descriptor:
    """Return the descriptor of a service's models.

    Args:
        service: id of the back end, and the extra of tabwb with its client.
        title: one line for people.
        model: ``MODULE:CLASS`` of the back end, which is made with a name, options and ``local``.
        options: ``MODULE:CLASS`` of its options.
        thinking: the option that holds the tokens for reasoning, which are added to the limit of a
            reply.
        remarks: what a user should know before choosing it.
    """

    def make(spec: Spec, chosen: Any) -> Any:
        return resolve_name(model)(spec.name, chosen, local=not needs_network(spec))

    return Descriptor(
        service,
        title,
        make,
        options=lambda: resolve_name(options),
        needs=(service,),
        needs_network=needs_network,
        name_help="NAME",
        name_required=True,
        remarks=remarks,
        batches=True,
        reply_tokens=lambda spec, limit: reply_tokens(spec, limit, thinking),
        protocols=("generate", "enforced"),
    )


def needs_network(spec: Spec) -> bool:
    """Return whether the server that a spec names is not this machine's own.

    >>> from tabwb.records.specs import parse_spec
    >>> [needs_network(parse_spec(f"openai:m{options}")) for options in (
    ...     "", "@base_url=http://localhost:11434/v1", "@base_url=http://192.168.1.5/v1",
    ...     "@socket=/run/llama.sock")]
    [True, False, True, False]
    """
    if "socket" in spec.options:
        return False
    try:
        host = urlsplit(spec.options.get("base_url", "")).hostname
    except ValueError:
        return True
    return not host or not stays_here(host)
