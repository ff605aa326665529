"""The bench's part that gives naming batteries: a microphone, marks in its recording, a listener.

The recording runs from *ready* to a pause or the end; what the screen needs many times a second
(level, time, alarm) it reads from :attr:`NamingBench.source` itself, without waiting for a command.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records import events
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.naming import Score
from tabwb.records.speakers import LogEntry
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import Say
from tabwb.workbench.engine.open_session import Stopped
from tabwb.workbench.engine.snapshots import Trouble
from tabwb.workbench.models.controller import ModelsBench
from tabwb.workbench.naming.second_view import Showing, path_of
from tabwb.workbench.naming.snapshots import NamingNow

if TYPE_CHECKING:
    from tabwb.administer.naming.live import Live, OpenSource, Source
    from tabwb.administer.naming.views import NamingView
    from tabwb.administer.session.session import Session
    from tabwb.administer.transcription.transcribe import Job
    from tabwb.records.speech import Transcript
    from tabwb.speech.playback import Playback
    from tabwb.workbench.naming.describe import Describer
    from tabwb.workbench.naming.listener import Listener

Later = Callable[[Callable[[], None]], None]
"""Queues a command for the worker's thread; may be called from any."""


class NamingBench(ModelsBench):
    """Commands of spoken naming."""

    def __init__(
        self,
        say: Say,
        *,
        location: str | None = None,
        offline: bool = False,
        later: Later | None = None,
    ) -> None:
        super().__init__(say, location=location, offline=offline)
        self.open_source: OpenSource | None = None
        self._later = later
        self._live: Live | None = None
        self._listener: Listener | None = None
        self._describer: Describer | None = None
        self._showing: Showing | None = None
        self._playback: Playback | None = None
        self._opening = False
        self._named = False

    # ---------------------------------------------------------------- what others read

    @property
    def source(self) -> Source | None:
        """What is listened to now; its values may be read from any thread."""
        live = self._live
        return None if live is None else live.source

    # ---------------------------------------------------------------- the microphone

    def ready(self, device: str = "") -> None:
        """Open the microphone; everything from here on is recorded."""
        session = self._naming()
        if self._live is not None:
            return
        from tabwb.administer.naming.live import Live

        self._opening = True
        self._show()
        try:
            session.resume()
            live = Live(session, self._opener(device))
            live.ready()
            self._live = live
        except ComponentError as error:
            raise Stopped(Trouble.of("Microphone unavailable", error)) from error
        finally:
            self._opening = False
            self._show()
            self.refresh()
        self._listen_to_what_waits(session)

    def take_in(self) -> None:
        """Keep recordings of the open administration that were interrupted."""
        self._take_in(self._naming())
        self._show()

    def keep_interrupted(self, number: int) -> None:
        """Keep recordings of an administration that were interrupted, without going on with it."""
        with self._session_of(number) as session:
            if session.is_spoken:
                self._take_in(session)
        self.refresh()

    def _take_in(self, session: Session) -> None:
        from tabwb.administer.naming.live import adopt_recording, left_over
        from tabwb.speech.wav import is_growing
        from tabwb.store import takes

        for recording, path in left_over(session):
            live = self._live is not None and recording == self._live.recording
            if live or is_growing(path):
                continue
            try:
                adopt_recording(session, recording, path)
            except TabwbError as error:
                self.say(messages.Told(f"An interrupted recording could not be kept: {error}"))
            else:
                self.say(messages.Told("An interrupted recording is kept."))
        for path in takes.of_administration(session.store, session.administration.uid):
            # The program died while the microphone was opened: no picture had been shown.
            if not is_growing(path) and not any(path == other for _, other in left_over(session)):
                path.unlink()

    def _opener(self, device: str) -> OpenSource:
        if self.open_source is not None:
            return self.open_source
        from tabwb.speech.devices import pick
        from tabwb.speech.recorder import Recorder

        chosen = pick(device or None)
        return lambda path: Recorder(chosen, path)

    def _end_recording(self) -> None:
        live, self._live = self._live, None
        if live is None:
            return
        live.end()
        if self._listener is not None:
            self._listener.moved(live.path, live.session.spoken.recording_path(live.recording))

    # ---------------------------------------------------------------- one item

    def show_picture(self, number: int, at_s: float, uncertainty_s: float) -> None:
        """The picture of this trial was drawn at this second of the recording."""
        session, live = self._naming(), self._recording()
        coming = session.upcoming(1)
        if not coming or coming[0].plan.number != number:
            self._blank()
            self._show()
            raise TabwbError("another picture comes next", hint="show it again")
        self._after(live.show(uncertainty_s, at_s=at_s))

    def expose(self, number: int) -> None:
        """Put the picture of this trial before a second terminal."""
        session = self._naming()
        if self._showing is not None:
            trial = next(one for one in session.trials if one.plan.number == number)
            self._showing.show(self._describe().picture_file(trial))

    def named_comes_next(self) -> bool:
        """Whether a picture comes next and is not yet announced; then its page is shown."""
        session = self._session
        if session is None or self._named or session.awaiting:
            return False
        self._named = any(map(session.is_aloud, session.upcoming(1)))
        if self._named:
            self._show()
        return self._named

    def cue(self) -> None:
        """Give the next cue."""
        self._after(self._recording().cue())

    def re_prompt(self) -> None:
        """Ask again."""
        self._after(self._recording().re_prompt())

    def mark_attempt(self) -> None:
        """A new attempt begins now."""
        self._after(self._recording().mark())

    def examiner(self) -> None:
        """The administrator begins to speak, or has ended."""
        self._after(self._recording().examiner())

    def score(self, score: Score, reason: str = "") -> None:
        """A person's score; closes the window where it is open."""
        session = self._naming()
        closes = session.awaiting
        if self._live is not None:
            made = self._live.score(score, reason)
        else:
            made = session.spoken.score(score, reason=reason)
        if closes:
            self._blank()
        self._after(made)
        if closes:
            self._listen(session)

    def hear(self, text: str) -> None:
        """Write down what was heard."""
        self._after(self._naming().spoken.hear(text))

    def code(self, code: str, flags: tuple[str, ...]) -> None:
        """A person's code."""
        self._after(self._naming().spoken.code(code, flags))

    def set_onset(self, at_s: float) -> None:
        """A person moves the onset."""
        self._after(self._naming().spoken.set_onset(at_s))

    def play(self) -> None:
        """Play the response that counts, or stop playing."""
        session = self._naming()
        self._play(session, session.spoken.view())

    def _play(self, session: Session, view: NamingView | None) -> None:
        playing, self._playback = self._playback, None
        if playing is not None and playing.playing:
            playing.stop()
            return
        from tabwb.speech.playback import Playback

        take = None if view is None else view.take
        if view is None or take is None:
            raise TabwbError("nothing was recorded for this item")
        live = self._live
        growing = live is not None and live.recording == take.recording
        path = live.path if live and growing else session.spoken.recording_path(take.recording)
        self._playback = Playback(path, take.start_s, take.end_s)
        self._playback.start()
        given = session.administration
        who, item = given.conditions.examinee, view.trial.plan.item
        session.store.people.log(LogEntry("heard", who, given.id, f"item {item}"))

    # ---------------------------------------------------------------- the listener

    def _listen(self, session: Session) -> None:
        """Have the response that was just given transcribed."""
        view, live = session.spoken.view(), self._live
        job = None if view is None or live is None else live.job(view)
        if job is not None:
            self._put(session, job)

    def _listen_to_what_waits(self, session: Session) -> None:
        from tabwb.administer.naming.run import waiting

        spec = session.administration.conditions.transcriber
        if spec and self._listener is None:
            for job in waiting(session, spec, by_any=True):
                self._put(session, job)

    def _put(self, session: Session, job: Job) -> None:
        spec, later = session.administration.conditions.transcriber, self._later
        if not spec or later is None:
            return
        if self._listener is None:
            from tabwb.administer.naming.run import permit
            from tabwb.store.takes import work_root
            from tabwb.workbench.naming.listener import Listener

            number = session.administration.id
            try:
                permit(session, spec)
            except TabwbError as error:
                self._deaf(error)
                return

            def heard(job: Job, said: Transcript) -> None:
                later(partial(self._transcribed, number, job, said))

            def failed(error: TabwbError) -> None:
                later(partial(self._deaf, error))

            folder = work_root(session.store)
            self._listener = Listener(self.plugins, spec, heard, failed, folder)
            self._listener.start()
        self._describe().wait_for(job.trial, job.attempt)
        self._listener.put(job)
        self._show()

    def _transcribed(self, administration: int, job: Job, said: Transcript) -> None:
        session = self._session
        if session is None or session.administration.id != administration:
            return  # it comes again when that one is opened
        self._describe().came(job.trial, job.attempt)
        self._after(session.spoken.transcribed(job.trial, job.attempt, said))

    def _deaf(self, error: TabwbError) -> None:
        self._describe().deaf = error.message
        self._show()
        self.say(messages.Failed(Trouble.of("Responses cannot be transcribed now", error)))

    # ---------------------------------------------------------------- as every session

    def _naming(self) -> Session:
        return self._open_session().spoken.session

    def _recording(self) -> Live:
        if self._live is None:
            raise TabwbError("the microphone is closed", hint="space opens it")
        return self._live

    def _opened(self, session: Session, *, loading: bool = True) -> None:
        self._describer = None
        if session.is_spoken:
            self._showing = Showing(path_of(self.store))
            self._showing.blank()
            self._named = any(map(session.is_aloud, session.upcoming(1)))
        super()._opened(session, loading=loading)

    def _leave(self, reason: str) -> None:
        try:
            self._end_recording()
        finally:
            if self._playback is not None:
                self._playback.stop()
                self._playback = None
            if self._listener is not None:
                self._listener.close()
                self._listener = None
            if self._showing is not None:
                self._showing.end()
                self._showing = None
            super()._leave(reason)

    def _after(self, made: tuple[events.Event, ...]) -> None:
        ends = events.Paused | events.Discontinued | events.Finished
        if any(isinstance(one, ends) for one in made):
            self._blank()
            self._end_recording()
        session = self._session
        if session is not None and session.is_spoken:
            if any(isinstance(one, events.TrialStarted) for one in made):
                self._named = session.current is not None and session.is_aloud(session.current)
            elif any(isinstance(one, events.Undone | events.TrialSkipped) for one in made):
                self._blank()
            self._reveal(session)
        super()._after(made)

    def _reveal(self, session: Session) -> None:
        """Keep that the machine's words are shown from now on, before they are."""
        view = session.spoken.view() if self._named else None
        if view is not None and self._describe().may_reveal(view) and not view.revealed:
            session.spoken.reveal()

    def _blank(self) -> None:
        if self._showing is not None:
            self._showing.blank()

    def _describe(self) -> Describer:
        if self._describer is None:
            from tabwb.workbench.naming.describe import Describer

            self._describer = Describer(self._naming(), self.store)
        return self._describer

    def naming_now(self) -> NamingNow | None:
        """The naming administration as it stands, or None where something else is given."""
        session = self._session
        if session is None or not self._named:
            return None
        return self._describe().now(self._live, opening=self._opening)
