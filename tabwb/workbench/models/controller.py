"""Writes model profiles and tries models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tabwb.administer.session.opening import Tried, try_model
from tabwb.host.settings import Configuration, remove_profile, write_profile
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """The outcome of a command: ``written``, ``removed``, ``trying``, ``tried``, ``refused``."""

    phase: str
    words: str


class ModelsController(Controller):
    """Writes profiles, and tries models."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)

    def write_profile(
        self, name: str, spec: str, family: str, tuning: str, parameters: str
    ) -> None:
        """Add a profile, or replace one of this name."""

        def write() -> str:
            profile = self.plugins.profile_of(name, spec, family, tuning, parameters)
            path = write_profile(self.plugins.configuration.config_dir, name, profile)
            return f"profile:{name} is written to {path}"

        self._changed("written", write)

    def remove_profile(self, name: str) -> None:
        """Take a profile out of the user's configuration."""

        def remove() -> str:
            path = remove_profile(self.plugins.configuration.config_dir, name)
            return f"profile:{name} is removed from {path}"

        self._changed("removed", remove)

    def try_model(self, spec: str) -> None:
        """Load or reach a model, ask it one question, and report its reply."""
        self.engine.cancel.clear()
        self.say(ModelOutcome("trying", f"opening {spec}"))
        try:
            tried = try_model(
                self.plugins,
                spec,
                self.engine.cancel,
                on_wait=lambda wait: self.say(
                    ModelOutcome("trying", f"{wait.reason}: waiting {wait.seconds:.0f} s")
                ),
            )
        except TabwbError as error:
            self.say(ModelOutcome("refused", str(error)))
        else:
            self.say(ModelOutcome("tried", _tried_words(tried)))

    def _changed(self, phase: str, change: Callable[[], str]) -> None:
        try:
            words = change()
        except TabwbError as error:
            self.say(ModelOutcome("refused", str(error)))
            return
        fresh = Configuration.load()
        self.plugins.configuration = replace(self.plugins.configuration, profiles=fresh.profiles)
        self.engine.reload()
        self.say(ModelOutcome(phase, words))


def _tried_words(tried: Tried) -> str:
    reply = tried.reply
    words = f"opened in {tried.opened_s:.1f} s, answered in {reply.latency_s:.2f} s"
    if reply.prompt_tokens is None or reply.reply_tokens is None:
        words += ", tokens not counted"
    else:
        words += f", {reply.prompt_tokens} tokens sent, {reply.reply_tokens} back"
    if tried.cost is None:
        words += ", cost unknown"
    elif tried.cost:
        words += f", {tried.cost:.6f} USD"
    facts = ", ".join(f"{key} {value[:40]}" for key, value in tried.facts.items())
    return f"{words}\n{facts}\n{tried.prompt}  ->  {reply.text[:200]}"
