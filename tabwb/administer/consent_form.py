"""A printed consent form as text: each scope is asked for by itself, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill

from tabwb.records.speakers import SCOPES, Scope

WIDTH = 72
"""Columns of the text."""
ASKED: Mapping[Scope, tuple[str, str]] = {
    "record": ("Recording", "My answers and my voice are recorded and stored."),
    "transcribe": ("Transcription", "A computer program writes down what I said."),
    "rate": ("Rating", "People, or language models, judge what I said."),
    "train": ("Training", "My recordings are used to train or test a language model."),
    "share": ("Sharing", "My data are given to people outside this study."),
    "play-back": ("Playing", "My recordings are played to people other than the raters."),
    "remote": ("Network", "My data are sent over a network to another computer."),
}
"""Title and sentence for each scope of :data:`tabwb.records.speakers.SCOPES`."""
NOTICE = (
    "This text is a draft. Use the form that your ethics committee approved, or adapt this one to "
    "its rules. tabwb stores the place of the signed form, not the form."
)
BLANK = "." * 24


def consent_form(code: str = "") -> str:
    """Return the form: one yes-or-no question for each scope, day and signatures.

    >>> print(consent_form("S-014").splitlines()[2])
    Participant code: S-014        Date: ........................
    """
    return "\n".join(_lines(code)) + "\n"


def _lines(code: str) -> Iterator[str]:
    yield "CONSENT"
    yield ""
    yield f"Participant code: {code or BLANK}        Date: {BLANK}"
    yield ""
    yield fill(
        "Please tick yes or no on each line. Each is decided separately. You can say no, and you "
        "can change your mind later, without giving a reason. Then tell us, and we record it.",
        WIDTH,
    )
    for scope in SCOPES:
        title, sentence = ASKED[scope]
        yield ""
        yield f"{f'{title} ({scope})':<52}[ ] yes    [ ] no"
        yield f"    {sentence}"
    yield ""
    yield f"Signature of the participant:      {BLANK}"
    yield ""
    yield f"Signature of the researcher:       {BLANK}"
    yield ""
    yield "-" * WIDTH
    yield fill(NOTICE, WIDTH)
