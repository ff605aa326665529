"""What a rater says of itself when it rates: its fixed set of features, its scope, its caution."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

Scope = Literal["connected-text", "all"]
"""Over which answers a burden is computed: connected text only, or all that the rater rated."""
RaterKind = Literal["judge", "scorer", "person"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a rater declared when it rated; kept with the administration, never changed.

    Attributes:
        rater: as it stands in the ratings.
        features: of a judge the fixed set of its burden: every feature that it can call present
            *and* absent. Of a scorer the one measure that decides, or nothing where it decides
            nothing; a scorer without a declaration decides by ``exact``.
        scope: over which answers the burden is computed.
        kind: what the rater is.
        caution: the sentence that stands with its verdicts, or empty.
        prompt_text: the canonical text of everything that a model behind the rater is told besides
            the response; empty where no model stands behind it.
    """

    rater: str
    features: tuple[str, ...]
    scope: Scope = "connected-text"
    kind: RaterKind = "judge"
    caution: str = ""
    prompt_text: str = ""

    @property
    def prompt_hash(self) -> str | None:
        """SHA-256 (hex) of the prompt's text, or None where there is none.

        >>> Declaration("rules-1", ("jargon",)).prompt_hash is None
        True
        """
        return prompt_hash(self.prompt_text)


def prompt_hash(text: str) -> str | None:
    """SHA-256 (hex) of a prompt's canonical text, or None where there is none."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None
