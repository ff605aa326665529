"""Registers ``openai:NAME@base_url=...``. Imports nothing heavy."""

from __future__ import annotations

from tabwb.plugin_api import Register, hookimpl
from tabwb.plugin_api.descriptors import service_descriptor


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Chat completions, wherever they are served."""
    register(
        service_descriptor(
            "openai",
            "A model behind the chat completions of OpenAI, Ollama, llama.cpp, vLLM, LM Studio ...",
            model="tabwb_openai.backend:OpenAIModel",
            options="tabwb_openai.options:OpenAIOptions",
            thinking="reasoning_tokens",
            remarks="base_url names the server, for example http://localhost:11434/v1 for Ollama; "
            "one on this machine works under --offline",
        )
    )
