"""A rater's work as the page in a browser asks for it: requests, what they get, and who is there.

Everything goes through :class:`tabwb.administer.rating.session.RaterSession`, as that of the rating
screen does. A request names the sample it is about and the version of the answers that it changes:
a repeated one changes nothing, and one about answers that were changed elsewhere meanwhile gets
what is stored, which counts.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.administer.rating.view import (
    SURE,
    RatingView,
    answer_title,
    asked_words,
    turned,
    view_of,
)
from tabwb.battery.forms import MOST_ATTEMPTS, Form, Question, check_answers, question_keys
from tabwb.phonology.inventory import CLASSES, to_ipa
from tabwb.phonology.typed import place_of_error, read_phonemes, reading_words
from tabwb.records.errors import TabwbError
from tabwb.records.files import WorkFolder
from tabwb.records.rating_sets import CANNOT_TELL, Answer, measure_of
from tabwb.records.words import without_controls
from tabwb.serve.admission import Guest

log = logging.getLogger("tabwb.serve")
IDLE_S = 300.0
"""Seconds without a request after which a seat is given up; the page takes it again by itself."""
MOST_WAITING = 4
"""Requests of one rater that may wait; more are refused."""
PEAKS = 600
"""Heights of which a waveform is drawn."""
PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif",
            b"RIFF": "image/webp"}  # fmt: skip
"""Types by the first bytes of a file; no other kind of picture is sent."""

Name = Annotated[str, StringConstraints(max_length=80)]
Words = Annotated[str, StringConstraints(max_length=2000)]
Number = Annotated[int, Field(ge=0, le=2**40)]


class SaidDraft(BaseModel):
    """What a rater says of a sample, as a browser sends it."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    answers: Annotated[dict[Name, float | Words], Field(max_length=500)]
    confidence: Annotated[int, Field(ge=0, le=3)] | None = None
    note: Words = ""
    evidence: Annotated[dict[Name, list[Number]], Field(max_length=500)] = {}

    def draft(self, form: Form) -> Draft:
        """Return it as the rating screen has it: words in one line, phonemes in ARPAbet."""
        answers: dict[str, str | float] = {}
        for key, one in self.answers.items():
            kind = form.question(measure_of(key)[0]).kind
            words = _line(one) if isinstance(one, str) else float(one)
            spoken = kind == "phonemes" and isinstance(words, str) and words != CANNOT_TELL
            answers[key] = read_phonemes(str(words)) if spoken else words
        check_answers(form, answers)
        marked = {key: tuple(words) for key, words in self.evidence.items()}
        return Draft(answers, self.confidence, _line(self.note), marked)


class Said(BaseModel):
    """A request of the page: what it wants, and to which answers of which sample this belongs."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    ticket: Name
    what: Literal["view", "keep", "finish", "go-on", "undo", "back", "guidelines", "phonemes"]
    place: Number = 0
    version: Number = 0
    draft: SaidDraft | None = None
    seconds: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    confirms: bool = False
    text: Words = ""


def read_said(body: bytes) -> Said | None:
    """Return a request, or None where the page can't have sent this.

    >>> read_said(b'{"ticket": "x", "what": "view"}').what
    'view'
    >>> read_said(b'{"ticket": "x", "what": "view", "rater": "R2"}') is None
    True
    """
    try:
        return Said.model_validate_json(body)
    except ValidationError:
        return None


def _line(text: str) -> str:
    return " ".join(without_controls(text).split())


class Seat:
    """One rater's work in a browser; requests are handled one after the other.

    Attributes:
        shown: type and file, or bytes, of the picture and the recording of the sample, by names
            that nobody can guess.
    """

    def __init__(self, guest: Guest, ticket: str, opened: Opened) -> None:
        self.guest, self.ticket = guest, ticket
        self.shown: dict[str, tuple[str, bytes | Path]] = {}
        self.used_at = time.monotonic()
        self.waiting = 0
        self.turn = asyncio.Lock()
        self._session, self._root, self._here = opened
        self._ends = ExitStack()
        self._ends.enter_context(self._session)
        self._folder: WorkFolder | None = None
        self._visit = -1
        self._last: tuple[str, int, int] | None = None

    def close(self) -> None:
        """Free the rater's lock, and remove what was copied."""
        self._ends.close()
        if self._folder is not None:
            self._folder.close()

    def answer(self, said: Said) -> dict[str, Any]:
        """Do what is asked, and return what the page gets.

        A move is done once, also where its reply was lost and the page asks again.
        """
        session = self._session
        if said.what == "phonemes":
            return phonemes_read(said.text)
        session.refuse_closed()
        if said.what == "guidelines":
            session.read_guidelines()
            return {}
        asked = said.what, said.place, said.version
        if asked == self._last and said.what in {"undo", "back"}:
            return self._view()
        draft = None if said.draft is None else said.draft.draft(session.form)
        if said.place and said.place != session.progress.place and not session.show(said.place):
            return self._view(conflict=True)
        changes = draft is not None and draft != session.draft
        stale = said.version != session.version or session.phase != "rate"
        if changes and (stale or session.progress.place != said.place):
            return self._view(conflict=True)
        if said.what == "view":
            return self._view(form=True)
        visit, seconds = session.visit, max(said.seconds - session.seconds_before, 0.0)
        try:
            self._do(said, draft, seconds)
            self._last = asked
        except TabwbError:
            if session.visit == visit:
                raise
            return self._view(conflict=True)  # the sample was deleted meanwhile
        return {"version": session.version} if said.what == "keep" else self._view()

    def _do(self, said: Said, draft: Draft | None, seconds: float) -> None:
        session = self._session
        if said.what == "keep" and draft is not None:
            session.keep(draft, seconds=seconds)
        elif said.what == "finish" and session.phase == "rate":
            asked = session.asked
            if said.confirms or asked is None or asked.draft != draft:
                session.finish(draft, seconds=seconds)
        elif said.what == "go-on" and session.phase == "feedback":
            session.go_on()
        elif said.what == "undo":
            session.undo(seconds=seconds)
        elif said.what == "back":
            session.back()

    def offered(self, name: str) -> tuple[str, bytes | Path] | None:
        """Return the picture or the recording with a name.

        The set may have been closed, or the speaker have withdrawn, since the sample was shown.
        """
        self._session.refuse_closed()
        self._check_sending()
        return self.shown.get(name)

    def _check_sending(self) -> None:
        if not self._here:
            self._session.check_sending()

    def _view(self, *, form: bool = False, conflict: bool = False) -> dict[str, Any]:
        session = self._session
        self._check_sending()
        view = view_of(session)
        if session.visit != self._visit:
            self._visit, self.shown = session.visit, self._offered(view)
        urls = {kind.partition("/")[0]: f"shown/{name}" for name, (kind, _) in self.shown.items()}
        told = document(view) | {
            "id": session.uid,
            "version": session.version,
            "spent": session.seconds_before,
            "picture": urls.get("image"),
            "sound": urls.get("audio"),
        }
        return {
            "view": told,
            "conflict": conflict,
            **({"form": form_document(view.form)} if form else {}),
        }

    def _offered(self, view: RatingView) -> dict[str, tuple[str, bytes | Path]]:
        """Return the picture and the recording of the sample, by a new name each."""
        made: dict[str, tuple[str, bytes | Path]] = {}
        for start, kind in PICTURES.items():
            if view.picture is not None and view.picture.startswith(start):
                made[secrets.token_urlsafe(32)] = kind, view.picture
        cut = self._session.audio()
        if self._folder is not None:
            self._folder.close()
            self._folder = None
        if cut is not None:
            from tabwb.speech.files import playable

            self._folder = WorkFolder(self._root)
            try:
                path, kind = playable(*cut, self._folder.path / "cut.wav")
                made[secrets.token_urlsafe(32)] = kind, path
            except TabwbError as error:
                log.warning("a recording cannot be sent: %s", error.message)
        return made


Opened = tuple[RaterSession, Path, bool]
"""A rater's work, where copies of recordings go, and whether it is shown on this computer alone."""


def document(view: RatingView) -> dict[str, Any]:
    """Return what a browser shows: nothing that :class:`RatingView` has not."""
    asked, draft, loudness = view.asked, view.draft, view.loudness
    return {
        "phase": view.phase, "set": view.set_name, "rater": view.rater, "place": view.position,
        "planned": view.planned, "done": view.done, "withheld": view.withheld,
        "answers": dict(draft.answers), "confidence": draft.confidence, "note": draft.note,
        "evidence": dict(draft.evidence), "complete": view.complete, "confirmed": view.confirmed,
        "asked": asked and asked_words(asked, view.form, "Next"),
        "words": view.text.split(), "prompt": view.prompt, "before": view.context_before,
        "after": view.context_after, "target": view.target, "learning": view.learning,
        "seconds": view.audio_s, "peaks": None if loudness is None else peaks(loudness.peaks_dbfs),
        "right": view.right, "guidelines": view.guidelines, "first": view.guidelines_first,
    }  # fmt: skip


def peaks(dbfs: tuple[float, ...]) -> list[int]:
    """Return heights from 0 to 100, the loudest of each part; -60 dBFS and less is 0.

    >>> peaks((-60.0, -30.0, 0.0))
    [0, 50, 100]
    """
    step = max(len(dbfs) / PEAKS, 1.0)
    parts = (dbfs[int(at * step) : int((at + 1) * step)] for at in range(round(len(dbfs) / step)))
    return [round(min(max(max(part) / 60 + 1, 0), 1) * 100) for part in parts if part]


def form_document(form: Form) -> dict[str, Any]:
    """Return the questions as raters see them, with the letters of the rating screen."""
    keys = question_keys(form)
    questions = [
        {
            "measure": one.measure, "title": one.title, "definition": one.definition,
            "example": one.example, "key": keys[one.measure], "group": one.group,
            "kind": one.kind, "unsure": one.cannot_tell, "each": one.per_attempt,
            "optional": one.optional, "answers": _answers(one), "turns": _turns(one),
            "open": answer_title(one, None),
        }
        for one in form.questions
    ]  # fmt: skip
    sounds = {name: [(one, to_ipa([one])) for one in own] for name, own in CLASSES.items()}
    repeated = any(one.per_attempt for one in form.questions)
    return {
        "sure": SURE, "attempts": MOST_ATTEMPTS if repeated else 1,
        "notes": form.notes, "groups": [asdict(group) for group in form.groups],
        "questions": questions, "spoken": form.spoken, "shows": form.shows,
        "asks": form.unmarked == "ask",
        "phonemes": sounds if any(one.kind == "phonemes" for one in form.questions) else {},
    }  # fmt: skip


def _answers(question: Question) -> list[dict[str, Any]]:
    """Return the answers to choose from: in words, as their buttons have them, with their keys."""
    values: Sequence[Answer] = question.values
    if question.kind == "present-absent":
        values = (0.0, 1.0, *values[2:])
    made = []
    for value in values:
        words, unsure = answer_title(question, value), value == CANNOT_TELL
        point = _written(value) if question.kind == "scale" and not unsure else ""
        option = next((one for one in question.options if one.value == _written(value)), None)
        made.append({
            "value": value, "words": words, "short": "?" if unsure else "" if point else words,
            "key": point or (option.key if option else ""),
            "definition": option.definition if option else "",
        })  # fmt: skip
    return made


def _turns(question: Question) -> dict[str | None, Answer]:
    """Return the answer after one more press of the question's key, by the answer before."""
    if question.kind not in {"present-absent", "scale"}:
        return {}
    return {_written(one): turned(question, one) for one in (None, *question.values)}


def _written(answer: Answer) -> str | None:
    return f"{answer:g}" if isinstance(answer, float) else answer


def phonemes_read(text: str) -> dict[str, Any]:
    """Return how phonemes are read so far, and where one is wrong.

    >>> phonemes_read("dɔɡ"), phonemes_read("D XX G")["wrong"]
    ({'reading': 'D AO G   dɔɡ', 'wrong': None}, (2, 2))
    """
    try:
        read_phonemes(text or "D")
    except TabwbError as error:
        return {"reading": reading_words(text), "wrong": place_of_error(text, error)}
    return {"reading": reading_words(text), "wrong": None}


class Seats:
    """The raters who are there."""

    def __init__(self, opens: Callable[[Guest], Opened]) -> None:
        self._opens = opens
        self._taken: dict[str, Seat] = {}

    @property
    def guests(self) -> Mapping[tuple[int, str], Guest]:
        """Who are there."""
        return {seat.guest.who: seat.guest for seat in self._taken.values()}

    def of(self, ticket: str) -> Seat | None:
        """Return the seat with a ticket."""
        return self._taken.get(ticket)

    async def shown(self, name: str) -> tuple[str, bytes | Path] | None:
        """Return the picture or the recording with a name, while its sample may be shown."""
        for seat in [seat for seat in self._taken.values() if name in seat.shown]:
            async with seat.turn:
                if self._taken.get(seat.ticket) is seat:
                    return await asyncio.to_thread(seat.offered, name)
        return None

    async def take(self, guest: Guest, ticket: str) -> Seat:
        """Return a new seat; the rater's older one is left."""
        await self.leave(lambda seat: seat.guest.who == guest.who)
        opened = await asyncio.to_thread(self._opens, guest)
        seat = self._taken[ticket] = Seat(guest, ticket, opened)
        return seat

    async def leave(self, which: Callable[[Seat], bool] = lambda seat: True) -> None:
        """Close seats, each after the request that it works on."""
        for seat in [seat for seat in self._taken.values() if which(seat)]:
            self._taken.pop(seat.ticket, None)
            async with seat.turn:
                await asyncio.to_thread(seat.close)

    async def leave_idle(self, links: frozenset[int]) -> None:
        """Close seats whose links have ended, and those that nobody has used for long."""
        old = time.monotonic() - IDLE_S
        await self.leave(lambda seat: seat.guest.link.id in links or seat.used_at < old)

    async def ask(self, seat: Seat, said: Said) -> dict[str, Any] | None:
        """Return what the page gets; None where it asks too much at once, or has left."""
        if seat.waiting >= MOST_WAITING:
            return None
        seat.waiting += 1
        try:
            async with seat.turn:
                if self._taken.get(seat.ticket) is not seat:
                    return None
                seat.used_at = time.monotonic()
                return await asyncio.to_thread(seat.answer, said)
        finally:
            seat.waiting -= 1
