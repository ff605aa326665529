"""Makes the view models of the naming page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.records.states import TrialState
from tabwb.scoring.naming.summary import is_late, outcome_of
from tabwb.scoring.naming.target import right_by_score
from tabwb.speech.envelope import Envelope, envelope_of
from tabwb.speech.files import info
from tabwb.tasks.spoken_naming.live import left_over
from tabwb.tasks.spoken_naming.scores import Naming, naming_of
from tabwb.tasks.spoken_naming.strategy import instructions_of, reason_to_end
from tabwb.tasks.spoken_naming.task import cues_of, spoken_in
from tabwb.workbench.naming.view_models import (
    Card,
    Microphone,
    NamedItem,
    NamingNow,
    Standing,
)
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.pictures import read_picture
from tabwb.workbench.shell.rule_verdicts import rule_verdicts, score_words
from tabwb.workbench.shell.sound import (
    Sound,
    awaited,
    sound_of,
    stretch_around,
)

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.records.trials import Trial
    from tabwb.store.store import Store
    from tabwb.tasks.spoken_naming.live import Live
    from tabwb.tasks.spoken_naming.views import NamingView
    from tabwb.workbench.naming.controller import Hearing


_STANDINGS: Mapping[TrialState, Standing] = {
    TrialState.PLANNED: "open",
    TrialState.SKIPPED: "skipped",
    TrialState.VOID: "void",
    TrialState.NOT_ADMINISTERED: "not-administered",
}
_SHORT: Mapping[str, str] = {
    "self-corrected": "self-cor.",
    "no-response": "no response",
    "not-scorable": "unscorable",
}


class NamingPresenter:
    """Makes the view models of one session. Owned by the worker's thread."""

    def __init__(self, session: Session, store: Store, hearing: Hearing) -> None:
        self._session, self._hearing = session, hearing
        self._assets = store.battery_assets(session.battery.content_hash)
        self._envelopes: dict[tuple[str, float, float], Envelope] = {}
        self._cards: dict[int, Card] = {}
        self._items: dict[int, tuple[Trial, NamedItem]] = {}
        self._naming: Naming | None = None

    def may_reveal(self, view: NamingView) -> bool:
        """Return whether there is a transcript and the rules over it may be shown now."""
        if view.transcript is None:
            return False
        return view.score is not None or view.rules.reveal == "live"

    def now(self, live: Live | None, *, opening: bool) -> NamingNow:
        """Return the present state of the session and of the recording that is being made."""
        session = self._session
        view = spoken_in(session).view()
        coming = session.next_aloud()
        begins = coming is not None and (
            view is None or view.trial.plan.subtest != coming.plan.subtest
        )
        microphone: Microphone = "open" if live else "closed"
        base = NamingNow(
            card=None if view is None else self._card(view.trial),
            upcoming=self._card(coming) if coming else None,
            items=tuple(self._named_items()),
            microphone="opening" if opening else microphone,
            transcriber=session.administration.conditions.transcriber or "",
            left_over=0 if live else len(left_over(session)),
            instructions=instructions_of(session) if begins or not live else "",
            ends=reason_to_end(spoken_in(session)),
        )
        return base if view is None else self._with_response(base, view, live)

    def _with_response(self, base: NamingNow, view: NamingView, live: Live | None) -> NamingNow:
        take, score, code, shown = view.take, view.score, view.code, view.shown
        waits = self._session.awaiting and view.trial is self._session.current
        if self._naming is None or self._naming.view != view:
            self._naming = naming_of(view)
        naming = self._naming
        revealed = view.revealed
        described = view.attempt is not None and not view.item.coded
        unscored = "given" if described else ""
        return replace(
            base,
            shown_s=None if shown is None else shown.at_s,
            waits=self._session.awaiting,
            cues=cues_of(view.rules, view.item),
            cues_given=len(view.cues),
            examiner_speaks=waits and live is not None and live.examiner_speaks,
            score=score.score if score else unscored,
            score_words=score_words(score.score, score.reason) if score else "",
            heard=_text(view),
            code=code.code if code else "",
            flags=code.flags if code else (),
            sound=awaited(view) if waits else self._sound(naming, live, revealed=revealed),
            remarks="" if take is None else take.remarks,
            listening=self._listening(view),
            hidden=view.item.coded and view.transcript is not None and not revealed,
            machine=rule_verdicts(naming) if revealed else None,
        )

    def _card(self, trial: Trial) -> Card:
        number = trial.plan.number
        if number in self._cards:
            return self._cards[number]
        item, rules = spoken_in(self._session).item(trial), spoken_in(self._session).rules(trial)
        picture, trouble = None, ""
        try:
            if item.picture:
                picture = read_picture(self._assets[item.picture], item.picture)
        except TabwbError as error:
            trouble = str(error)
        except KeyError:
            trouble = f"the battery holds no picture {item.picture}"
        card = self._cards[number] = Card(
            number=number,
            target=item.name,
            coded=item.coded,
            accepted=item.accepted,
            picture=picture,
            trouble=trouble,
            prompt=item.prompt,
            practice=trial.plan.practice,
            limit_s=rules.time_limit,
        )
        return card

    def picture_file(self, trial: Trial) -> bytes:
        """Return the file of a trial's picture, as the battery has it."""
        return self._assets.get(spoken_in(self._session).item(trial).picture, b"")

    def _named_items(self) -> Iterator[NamedItem]:
        session = self._session
        now = session.current if session.awaiting else None
        for trial in filter(session.is_aloud, session.trials):
            number = trial.plan.number
            if now is not None and number == now.plan.number:
                yield NamedItem(spoken_in(session).item(trial).name, "now")
                continue
            if number not in self._items or self._items[number][0] is not trial:
                self._items[number] = trial, self._named(trial)
            yield self._items[number][1]

    def _named(self, trial: Trial) -> NamedItem:
        name = spoken_in(self._session).item(trial).name
        if trial.state is not TrialState.ANSWERED:
            return NamedItem(name, _STANDINGS[trial.state])
        view = spoken_in(self._session).view_of(trial)
        score, latency = view.score, view.latency_s
        if score is None:
            given = "" if view.item.coded else MARKS["given"]
            return NamedItem(name, "given", word=given, latency_s=latency)
        if trial.plan.practice:
            return NamedItem(name, "scored", word="practice")
        by_ear = right_by_score(score.score, view.rules.rule)
        outcome = outcome_of(
            by_ear,
            late=is_late(latency, view.rules.time_limit),
            late_counts=view.rules.late_counts,
            cues_count=[cue.counts for cue in view.cues],
        )
        right = None if outcome is None else outcome == "right"
        word = "" if view.code is None else view.code.code
        is_code = word not in {"", "correct", score.score}
        if not is_code:
            word = _SHORT.get(score.score, "")
        if by_ear and not right:
            word, is_code = ("after cue" if outcome == "right-after-cue" else "late"), False
        return NamedItem(name, "scored", right, word, latency, is_code)

    def _listening(self, view: NamingView) -> str:
        attempt, transcript = view.attempt, view.transcript
        if attempt is None:
            return ""
        if (view.trial.plan.number, attempt.number) in self._hearing.waiting:
            deaf = self._hearing.deaf
            return f"nothing is transcribed: {deaf}" if deaf else "… transcribing"
        if transcript is not None and transcript.status == "error":
            return f"not transcribed: {transcript.error}"
        return ""

    def _sound(self, naming: Naming, live: Live | None, *, revealed: bool) -> Sound | None:
        take, spoken = naming.view.take, spoken_in(self._session)
        if take is None:
            return None
        try:
            path = spoken.recordings.file(take.recording)
            growing = live is not None and live.recording == take.recording
            recorded_s = live.source.now_s if growing and live else info(path).seconds
            key = (take.recording, *stretch_around(take, recorded_s))
            if key not in self._envelopes:
                self._envelopes[key] = envelope_of(path, *key[1:])
        except TabwbError:
            return None  # the recording is not kept yet, or gone with its speaker
        return sound_of(naming, self._envelopes[key], revealed=revealed)


def _text(view: NamingView) -> str:
    """Return what was heard of the response; of a description its text."""
    if not view.item.coded:
        return "" if view.attempt is None else view.attempt.response
    return "" if view.heard is None else view.heard.text
