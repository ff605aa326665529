"""Registers ``gemini:NAME``. Imports nothing heavy."""

from __future__ import annotations

from tabwb.plugin_api import Register, hookimpl
from tabwb.plugin_api.descriptors import service_descriptor


@hookimpl
def tabwb_register_models(register: Register) -> None:
    """Gemini models by Google's API."""
    register(
        service_descriptor(
            "gemini",
            "A Gemini model by Google's API, for example gemini-2.5-flash",
            model="tabwb_gemini.backend:GeminiModel",
            options="tabwb_gemini.options:GeminiOptions",
            thinking="thinking_budget",
            remarks="the key is read from GEMINI_API_KEY, GOOGLE_API_KEY or the keyring: "
            "tabwb key set gemini",
        )
    )
