"""Models that can be examined: back ends, profiles of the user's own, a first try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.operations.operation import Arg, Operation, Tools
from tabwb.records.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from tabwb.plugin_api.descriptors import Descriptor

PROFILE = Arg("Of the profile; profile:NAME stands for the model.", positional=True)
SPEC = Arg("Of the model.", positional=True)


@dataclass(frozen=True, kw_only=True)
class ListModels(Operation):
    """List back ends and profiles of models."""

    NAME, TITLE = "model list", "List"
    STORE: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read them."""
        tools.document |= {
            "backends": [_backend(one) for one in tools.plugins.descriptors("models")],
            "profiles": [
                {"name": name, "spec": str(one.spec), "where": one.where, **one.labels}
                for name, one in sorted(tools.plugins.configuration.profiles.items())
            ],
        }
        if not tools.document["profiles"]:
            tools.say("no profiles; 'tabwb model add NAME SPEC' writes one")

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each back end, then for each profile."""
        for backend in document["backends"]:
            missing = f"  (needs the extra {backend['missing']})" if backend["missing"] else ""
            yield f"{backend['spec']:28} {backend['title']}{missing}"
        for profile in document["profiles"]:
            labels = [profile[key] for key in ("family", "tuning") if key in profile]
            if "parameters" in profile:
                labels.append(f"{int(profile['parameters']):,} parameters")
            shown = f"  ({', '.join(labels)})" if labels else ""
            yield f"{'profile:' + profile['name']:28} {profile['spec']}{shown}"


@dataclass(frozen=True, kw_only=True)
class AddProfile(Operation):
    """Write profile NAME for the model SPEC into your configuration."""

    NAME, TITLE = "model add", "Write"
    STORE: ClassVar[bool] = False
    SETTINGS: ClassVar[bool] = True
    name: Annotated[str, PROFILE]
    spec: Annotated[str, SPEC]
    family: Annotated[str, Arg("The family of the model, for example Llama-3.2.")] = ""
    tuning: Annotated[Literal["base", "instruct"] | None, Arg("How it was trained.")] = None
    parameters: Annotated[
        str, Arg("The number of parameters: 1240000000, 1.24B or 360M.", metavar="N")
    ] = ""
    force: Annotated[bool, Arg("Replace a profile of this name.")] = False

    @property
    def about(self) -> str:
        """The profile."""
        return f"profile:{self.name}"

    def do(self, tools: Tools) -> None:
        """Write it."""
        from tabwb.host.settings import write_profile

        plugins, name = tools.plugins, self.name
        known = plugins.configuration.profiles.get(name)
        if known is not None and not self.force:
            raise UsageError(
                f"profile '{name}' already exists: {known.spec}",
                hint=f"{tools.called('force')} replaces it",
            )
        tuning = self.tuning or ""
        profile = plugins.profile_of(name, self.spec, self.family, tuning, self.parameters)
        path = write_profile(plugins.configuration.config_dir, name, profile)
        tools.document |= {"profile": name, "spec": str(profile.spec), "file": str(path)}
        tools.say(f"profile:{name} is written to {path}")


@dataclass(frozen=True, kw_only=True)
class RemoveProfile(Operation):
    """Delete profile NAME from your configuration."""

    NAME, TITLE = "model remove", "Remove"
    STORE: ClassVar[bool] = False
    SETTINGS: ClassVar[bool] = True
    name: Annotated[str, PROFILE]

    @property
    def about(self) -> str:
        """The profile."""
        return f"profile:{self.name}"

    def do(self, tools: Tools) -> None:
        """Remove it."""
        from tabwb.host.settings import remove_profile

        path = remove_profile(tools.plugins.configuration.config_dir, self.name)
        tools.document |= {"profile": self.name, "file": str(path)}
        tools.say(f"profile:{self.name} is deleted from {path}")


@dataclass(frozen=True, kw_only=True)
class TryModel(Operation):
    """Load or reach the model SPEC, send one prompt, and show the reply."""

    NAME, TITLE = "model test", "Try"
    STORE: ClassVar[bool] = False
    spec: Annotated[str, SPEC]
    prompt: Annotated[str, Arg("The prompt.")] = "Say hello."
    max_tokens: Annotated[
        int, Arg("Largest number of tokens of the reply.", low=1, high=100_000)
    ] = 32

    @property
    def about(self) -> str:
        """The model."""
        return self.spec

    def do(self, tools: Tools) -> None:
        """Open the model, ask it and close it again."""
        from tabwb.administer.session.exchange import try_model

        tried = try_model(
            tools.plugins, self.spec, tools.cancel, prompt=self.prompt, max_tokens=self.max_tokens,
            on_wait=lambda wait: tools.say(f"{wait.reason}: waiting {wait.seconds:.0f} s"),
        )  # fmt: skip
        reply = tried.reply
        tools.document |= {
            "model": tried.model,
            "facts": dict(tried.facts),
            "opened_s": tried.opened_s,
            "prompt": self.prompt,
            "reply": reply.text,
            "stop_reason": reply.stop_reason.value,
            "latency_s": reply.latency_s,
            "prompt_tokens": reply.prompt_tokens,
            "reply_tokens": reply.reply_tokens,
            "price": None if tried.price is None else str(tried.price),
            "cost": tried.cost,
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each fact."""
        sent, received = (
            "not counted" if document[name] is None else str(document[name])
            for name in ("prompt_tokens", "reply_tokens")
        )
        rows = (
            *document["facts"].items(),
            ("opened in", f"{document['opened_s']:.1f} s"),
            ("answered in", f"{document['latency_s']:.2f} s"),
            ("stopped because", document["stop_reason"]),
            ("tokens", f"{sent} sent, {received} back"),
            ("price", document["price"] or "unknown (see prices.toml)"),
            ("prompt", document["prompt"]),
            ("reply", document["reply"]),
        )
        for name, text in rows:
            yield f"{name:18} {text}"

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what it took, the facts, and the reply."""
        words = f"opened in {document['opened_s']:.1f} s, answered in {document['latency_s']:.2f} s"
        sent, received = document["prompt_tokens"], document["reply_tokens"]
        if sent is None or received is None:
            words += ", tokens not counted"
        else:
            words += f", {sent} tokens sent, {received} back"
        if document["cost"] is None:
            words += ", cost unknown"
        elif document["cost"]:
            words += f", {document['cost']:.6f} USD"
        yield words
        yield ", ".join(f"{key} {value[:40]}" for key, value in document["facts"].items())
        yield f"{document['prompt']}  ->  {document['reply'][:200]}"


def _backend(descriptor: Descriptor) -> dict[str, Any]:
    return {
        "id": descriptor.id,
        "spec": spec_shape(descriptor),
        "title": descriptor.title,
        "protocols": list(descriptor.answers_under),
        "needs": list(descriptor.needs),
        "missing": missing_extra(descriptor),
        "remarks": descriptor.remarks,
    }


def spec_shape(descriptor: Descriptor) -> str:
    """Return how the spec of a component is written: ``transformers:PATH-OR-ID``."""
    return descriptor.id + (f":{descriptor.name_help}" if descriptor.name_help else "")


def missing_extra(descriptor: Descriptor) -> str | None:
    """Return the extra that a component needs and that is not installed."""
    from tabwb.host.index import check_needs

    try:
        check_needs(descriptor)
    except MissingExtra as error:
        return error.extra
    return None
