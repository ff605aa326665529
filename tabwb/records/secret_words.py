"""Words that look like keys of services: not stored, and not shown in errors."""

from __future__ import annotations

import re

SHOWN = "[key]"
_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    # The prefixes of OpenAI, Anthropic and OpenRouter; Hugging Face, GitHub, GitLab, Groq, others.
    r"sk-(?=[\w-]{0,60}\d)[\w-]{0,40}?[A-Za-z0-9]{16}[\w-]*"
    r"|(?:hf|gsk|r8|gh[pousr])_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|(?:xai|pplx|nvapi|glpat|xox[abp])-[\w-]{20,}"
    r"|AIza[\w-]{30,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,999}\.[\w-]+\.[\w-]*"
    # Long words of capitals, small letters and digits; hexadecimal hashes have one case, and names
    # of files and models hold words.
    r"|(?=[A-Za-z]*\d)(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?![A-Za-z0-9]{0,26}[a-z]{6})"
    r"[A-Za-z0-9]{32,}(?![A-Za-z0-9])"
    r")"
    # A user and a password in an address, and a key in its query.
    r"|(?<=://)[^/\s@'\",?#]+(?=@)"
    r"|(?<=[?&]key=)[^&\s'\"]+|(?<=[?&]api_key=)[^&\s'\"]+|(?<=[?&]token=)[^&\s'\"]+"
)


def without_keys(text: str) -> str:
    """Return the text with all that looks like a key replaced by ``[key]``.

    >>> without_keys("refused: sk-proj-abcDEF0123456789abcdef0123 of http://me:word@host/v1?key=x")
    'refused: [key] of http://[key]@host/v1?key=[key]'
    >>> without_keys("/sk-study-2024-1/hf_models_cache_of_us/NamingOfParticipant12Session3.wav")
    '/sk-study-2024-1/hf_models_cache_of_us/NamingOfParticipant12Session3.wav'
    """
    return _KEYS.sub(SHOWN, text)


def has_key(text: str) -> bool:
    """Return whether a part of the text looks like a key.

    >>> has_key("openai:sk-proj-abcDEF0123456789abcdef0123"), has_key("openai:llama3.2:1b")
    (True, False)
    """
    return _KEYS.search(text) is not None
