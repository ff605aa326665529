"""The consent form as text."""

from __future__ import annotations

from tabwb.administer.consent_form import ASKED, WIDTH, consent_form
from tabwb.records.speakers import SCOPES


def test_the_form_asks_for_every_scope_by_itself() -> None:
    text = consent_form("S-014")
    assert list(ASKED) == list(SCOPES)
    assert "Participant code: S-014" in text
    assert text.count("[ ] yes    [ ] no") == len(SCOPES)
    assert all(f"({scope})" in text and ASKED[scope][1] in text for scope in SCOPES)
    assert max(map(len, text.splitlines())) <= WIDTH + 4
    assert "ethics committee" in text
