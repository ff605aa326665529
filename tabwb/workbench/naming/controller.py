"""Commands of spoken naming: a microphone, marks in its recording, a transcriber, a player.

The recording runs from *ready* to a pause or the end. Level, time and alarm, which the screen needs
many times a second, it reads from :attr:`NamingController.source` without waiting for a command.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, cast

from tabwb.administer import consent
from tabwb.administer.session import setup
from tabwb.plugin_api.components import Cancel
from tabwb.records import events
from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.naming import Score, Transcribed
from tabwb.records.speakers import Consent, LogEntry, Scope
from tabwb.records.speech import Transcript
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.engine import CommandStopped, Controller, Engine
from tabwb.workbench.engine.messages import Failed, Playing, Requested
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.threads import aside
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.naming.subject import controller
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.shell.dialogs import AskWords
from tabwb.workbench.shell.page import Actions

if TYPE_CHECKING:
    from pathlib import Path

    from tabwb.administer.session.session import Events, Session
    from tabwb.administer.transcription import Job, Transcribing
    from tabwb.speech.playback import Playback
    from tabwb.tasks.spoken_naming.live import Live, OpenSource, Source
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy
    from tabwb.tasks.spoken_naming.views import NamingView
    from tabwb.workbench.naming.picture_window import PictureWindow
    from tabwb.workbench.naming.pictures import Showing
    from tabwb.workbench.naming.presenter import NamingPresenter

    Observe = Callable[[SpokenStrategy], Events]
    from tabwb.records.naming import Score


CLOSE_S = 3.0
"""What is being transcribed gets so long to end."""


class Hearing:
    """Gives responses to the transcriber of the session, and stores what it heard.

    Attributes:
        waiting: the responses that are being transcribed: (number of the trial, of the attempt).
        deaf: why nothing is transcribed, or empty.
    """

    def __init__(self, engine: Engine, sessions: SessionController, session: Session) -> None:
        self._engine, self._sessions, self._session = engine, sessions, session
        self._spec = session.administration.conditions.transcriber
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._cancel = threading.Event()
        self._thread: threading.Thread | None = None
        self._moved: dict[Path, Path] = {}
        self.waiting: set[tuple[int, int]] = set()
        self.deaf = ""

    def catch_up(self) -> None:
        """Have all responses transcribed that have no transcript, unless a job does that."""
        from tabwb.operations.transcribing import TranscribeResponses

        number = self._session.administration.id
        at_work = self._sessions.jobs.working(TranscribeResponses.DOING, number)
        if self._spec and self._thread is None and not at_work:
            for job in spoken_in(self._session).waiting(self._spec, by_any=True):
                self._put(self._spec, job)

    def hear_last(self) -> None:
        """Have the response transcribed that was just given."""
        spoken = spoken_in(self._session)
        view = spoken.view()
        job = None if view is None else spoken.job_of(view)
        if self._spec and job is not None:
            self._put(self._spec, job)

    def _put(self, spec: str, job: Job) -> None:
        if self._thread is None:
            from tabwb.administer.transcription import Transcribing, permit
            from tabwb.store.takes import work_root

            try:
                permit(self._session, spec)
            except TabwbError as error:
                self._fail(error)
                return
            later, root = self._engine.later, work_root(self._session.store)
            self._jobs, self._cancel = SimpleQueue(), threading.Event()
            work = partial(
                listen,
                partial(Transcribing, self._engine.plugins, spec, root),
                self._jobs,
                self._cancel,
                self._moved,
                lambda job, heard: later(partial(self._keep, job, heard)),
                lambda error: later(partial(self._fail, error)),
            )
            self._thread = aside("listener", work)
        self.waiting.add((job.trial, job.attempt))
        self._jobs.put(job)
        self._sessions.publish()

    def _keep(self, job: Job, transcript: Transcript) -> None:
        session = self._sessions.session
        if session is None or not self._sessions.holds(self._session.administration.id):
            return  # it is transcribed again when that administration is opened
        self._sessions.after(spoken_in(session).transcribed(job.trial, job.attempt, transcript))

    def _fail(self, error: TabwbError) -> None:
        self.deaf = error.message
        self._sessions.publish()
        self._engine.say(Failed(ErrorReport.of("Responses cannot be transcribed now", error)))

    def moved(self, source: Path, kept: Path) -> None:
        """Tell the transcriber that a recording was moved."""
        self._moved[source] = kept

    def hand_over(self, *, wait: bool = True) -> None:
        """Leave the responses that still wait for a transcript to a background job."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._cancel.set()
        self._jobs.put(None)
        if wait:
            thread.join(CLOSE_S)
        if self.waiting and self._spec and not self.deaf:
            number = self._session.administration.id
            self._engine.say(Requested("jobs", "transcribe", (number, self._spec)))


def listen(
    opened: Callable[[Cancel], Transcribing],
    jobs: SimpleQueue[Job | None],
    cancel: Cancel,
    moved: Mapping[Path, Path],
    heard: Callable[[Job, Transcript], None],
    failed: Callable[[TabwbError], None],
) -> None:
    """Open a transcriber and give it one job at a time, so that the next item never waits.

    It ends with the job None, or when it is cancelled; what is not transcribed yet is left.
    """
    try:
        transcribing = opened(cancel)
    except Exception as error:  # noqa: BLE001 - the edge: a transcriber is a plugin's
        if not isinstance(error, TabwbError):
            error = TabwbError(error_text(error))
        if not cancel.is_set():  # cancelled while it is loaded, it may fail in any way
            failed(error)
        return
    with transcribing:
        while (job := jobs.get()) is not None and not cancel.is_set():
            for transcript in _transcripts(transcribing, job, cancel, moved):
                heard(job, transcript)


def _transcripts(
    transcribing: Transcribing, job: Job, cancel: Cancel, moved: Mapping[Path, Path]
) -> Iterator[Transcript]:
    """Yield what was heard; a recording that is moved meanwhile is read once more."""
    for again in (True, False):
        placed = replace(job, source=moved.get(job.source, job.source))
        try:
            done = [transcript for _, transcript in transcribing.run([placed], cancel)]
        except Exception as error:  # noqa: BLE001 - the edge: a transcriber is a plugin's
            done = [Transcript(transcribing.spec, "error", error=error_text(error))]
        moved_meanwhile = moved.get(job.source, job.source) != placed.source
        failed = any(transcript.status == "error" for transcript in done)
        if cancel.is_set() or not (again and moved_meanwhile and failed):
            break
    if not cancel.is_set():
        yield from done


class Player:
    """Plays one response at a time."""

    def __init__(self, say: Callable[[object], object]) -> None:
        self._say = say
        self._playback: Playback | None = None

    def stop(self) -> bool:
        """Stop; return whether something was playing."""
        playback, self._playback = self._playback, None
        if playback is None:
            return False
        was_playing = playback.playing
        playback.stop()
        return was_playing

    def turn(self, session: Session, view: NamingView | None) -> None:
        """Play the recording of a response and log it, or stop what is playing."""
        if self.stop():
            return
        from tabwb.speech.playback import Playback

        take = None if view is None else view.take
        if view is None or take is None:
            raise TabwbError("nothing was recorded for this item")
        path = spoken_in(session).recordings.file(take.recording)
        playback = self._playback = Playback(path, take.start_s, take.end_s)
        playback.start()
        given = session.administration
        at = partial(_position, playback, take.start_s)
        self._say(Playing(given.id, view.trial.plan.number, at))
        who, item = given.conditions.examinee, view.trial.plan.item
        session.store.people.log(LogEntry("heard", who, given.id, f"item {item}"))


def _position(playback: Playback, start_s: float) -> float | None:
    """Return the second of the recording that is heard now; None where nothing is played."""
    played_s = playback.played_s
    return None if played_s is None else start_s + played_s


class NamingController(Controller):
    """Commands of spoken naming; extends the open session where pictures are named."""

    page = "naming"

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        sessions.extension = self
        self.open_source: OpenSource | None = None
        """Opens the microphone; None for the real one."""
        self._live: Live | None = None
        self._hearing: Hearing | None = None
        self._player = Player(self.say)
        self._presenter: NamingPresenter | None = None
        self._showing: Showing | None = None
        self._window: PictureWindow | None = None
        self._opening = False
        self._named = False
        self._lacking: tuple[Scope, ...] = ()

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
        from tabwb.tasks.spoken_naming.live import Live

        self._opening = True
        self._sessions.publish()
        try:
            session.resume()
            live = Live(session, self._opener(device))
            live.ready()
            self._live = live
        except ComponentError as error:
            raise CommandStopped(ErrorReport.of("Microphone unavailable", error)) from error
        finally:
            self._opening = False
            self._sessions.publish()
            self.engine.refresh()
        self.hearing.catch_up()

    def take_in(self) -> None:
        """Keep recordings of the open administration that were interrupted."""
        self._take_in(self._naming())
        self._sessions.publish()

    def keep_interrupted(self, number: int) -> None:
        """Keep interrupted recordings of an administration without resuming it."""
        with self._sessions.session_of(number) as session:
            if session.is_spoken:
                self._take_in(session)
        self.engine.refresh()

    def _take_in(self, session: Session) -> None:
        from tabwb.speech.wav import is_growing
        from tabwb.store import takes
        from tabwb.tasks.spoken_naming.live import adopt_recording, left_over

        for recording, path in left_over(session):
            live = self._live is not None and recording == self._live.recording
            if live or is_growing(path):
                continue
            words = "An interrupted recording is kept."
            try:
                adopt_recording(session, recording, path)
            except TabwbError as error:
                words = f"An interrupted recording could not be kept: {error}"
            self.say(messages.Told(words))
        for path in takes.of_administration(session.store, session.administration.uid):
            # The program died while the microphone was opened: no picture had been shown.
            if not is_growing(path) and not any(path == other for _, other in left_over(session)):
                path.unlink()

    def _opener(self, device: str) -> OpenSource:
        if self.open_source is not None:
            return self.open_source
        from tabwb.speech.process import pick
        from tabwb.speech.recorder import Recorder

        chosen = pick(device or None)
        return lambda path: Recorder(chosen, path)

    def _end_recording(self) -> None:
        live, self._live = self._live, None
        if live is None:
            return
        live.end()
        if self._hearing is not None:
            self._hearing.moved(live.path, spoken_in(live.session).recordings.file(live.recording))

    # ---------------------------------------------------------------- one item

    def show_picture(self, number: int, at_s: float, uncertainty_s: float) -> None:
        """Record that the picture of a trial was drawn, at this second of the recording."""
        session, live = self._naming(), self._recording()
        trial = session.next_planned()
        if trial is None or trial.plan.number != number:
            self._blank()
            self._sessions.publish()
            raise TabwbError("another picture comes next", hint="show it again")
        self._sessions.after(live.show(uncertainty_s, at_s=at_s))

    def expose(self, number: int) -> None:
        """Show the picture of a trial in the second terminal."""
        session = self._naming()
        if self._showing is not None:
            trial = session.history.trial(number)
            self._showing.show(self.presenter.picture_file(trial))

    def holds_next(self) -> bool:
        """Return whether a picture comes next and is not yet announced; then show its page."""
        session = self._sessions.session
        if session is None or self._named or session.awaiting:
            return False
        self._named = session.next_aloud() is not None
        if self._named:
            self._sessions.publish()
        return self._named

    def press(self, command: Callable[[Live], Events]) -> None:
        """Give a command whose time counts: a cue, a new attempt, the examiner's voice."""
        self._sessions.after(command(self._recording()))

    def record(self, command: Observe) -> None:
        """Record what a person says of the response: what was heard, a code, an onset."""
        self._sessions.after(command(spoken_in(self._naming())))

    def score(self, score: Score, reason: str = "") -> None:
        """Store a person's score; it closes the response window."""
        session, live = self._naming(), self._live
        closes, spoken = session.awaiting, spoken_in(session)
        made = live.score(score, reason) if live else spoken.score(score, reason=reason)
        if closes:
            self._blank()
        self._sessions.after(made)
        if closes and live is not None:
            self.hearing.hear_last()

    def end_subtest(self, *, ends: bool) -> None:
        """End the subtest as the battery's rule says, or store that further items are given."""
        from tabwb.tasks.spoken_naming.strategy import end_subtest, go_on

        self._sessions.after((end_subtest if ends else go_on)(spoken_in(self._naming())))

    def play(self) -> None:
        """Play the response that counts, or stop playing."""
        session = self._naming()
        self._player.turn(session, spoken_in(session).view())

    def picture_window(self) -> None:
        """Open the picture window on the participant's screen, or close it."""
        from tabwb.workbench.naming.picture_window import PictureWindow
        from tabwb.workbench.naming.pictures import path_of

        self._naming()
        window, self._window = self._window, None
        if window is not None and window.is_open:
            window.close()
        else:
            self._window = PictureWindow(path_of(self.store))

    # ---------------------------------------------------------------- as every session

    def _naming(self) -> Session:
        return spoken_in(self._sessions.open_session()).session

    def _recording(self) -> Live:
        if self._live is None:
            raise TabwbError("the microphone is closed", hint="space opens it")
        return self._live

    def opened(self, session: Session) -> None:
        """Prepare for a session that was opened."""
        self._presenter = self._hearing = None
        self._named = False
        self._lacking = ()
        if session.is_spoken:
            from tabwb.workbench.naming.pictures import Showing, path_of

            self._showing = Showing(path_of(self.store))
            self._showing.blank()
            self._named = session.next_aloud() is not None
            self._read_consents(session)

    def leaving(self) -> None:
        """End recording, playback and transcription."""
        try:
            self._end_recording()
        finally:
            self._player.stop()
            if self._hearing is not None:
                self._hearing.hand_over()
            if self._showing is not None:
                self._showing.end()
            if self._window is not None:
                self._window.close()
            self._showing = self._window = None

    def after(self, made: tuple[events.Event, ...]) -> None:
        """End the recording at a pause or the end; decide which page is shown next."""
        ends = events.Paused | events.Discontinued | events.Finished
        if any(isinstance(event, ends) for event in made):
            self._blank()
            self._end_recording()
        for event in made:
            if isinstance(event, events.Observed) and isinstance(event.observation, Transcribed):
                self.hearing.waiting.discard((event.trial, event.observation.attempt))
        if any(isinstance(event, events.Discontinued | events.Finished) for event in made):
            self.hearing.hand_over(wait=False)
        session = self._sessions.session
        if session is not None and session.is_spoken:
            if any(isinstance(event, events.TrialStarted) for event in made):
                self._named = session.current is not None and session.is_aloud(session.current)
            elif any(isinstance(event, events.Undone | events.TrialSkipped) for event in made):
                self._blank()
            self._reveal(session)

    def view(self) -> NamingNow | None:
        """Return the state of the naming administration, or None where no picture is named."""
        session = self._sessions.session
        if session is None or not self._named:
            return None
        now = self.presenter.now(self._live, opening=self._opening)
        return replace(now, lacking=self._lacking)

    def keep_consent(self, document: str) -> None:
        """Record today's consent to all that is needed; ``document`` says where the form is."""
        session, form = self._naming(), document.strip()
        if not self._lacking:
            return
        speaker, today = session.administration.conditions.person, date.today().isoformat()
        agreed = [Consent(speaker, scope, True, today, form) for scope in self._lacking]
        self.store.people.keep_consents(agreed)
        self._read_consents(session)
        self._sessions.reload_notices()
        self._sessions.publish()

    def _read_consents(self, session: Session) -> None:
        conditions = session.administration.conditions
        self._lacking = ()
        if setup.by_microphone(session.battery, conditions):
            guard = consent.Guard(self.store, self.plugins, conditions)
            self._lacking = guard.missing(microphone=True)

    # ---------------------------------------------------------------- afterwards

    def by_ear(
        self, number: int, trial: int, doing: str, who: str, seen: bool, command: Observe
    ) -> None:
        """Store the score, code or words of a listener on a stored response."""
        with (
            self._sessions.session_of(number) as session,
            spoken_in(session).listening.to(trial, doing, listener=who, seen=seen),
        ):
            command(spoken_in(session))
        self._sessions.tell_corrected(number)

    def play_response(self, number: int, trial: int | None = None) -> None:
        """Play a response to a person who rates it, by default the first recorded, or stop."""
        with self._sessions.session_of(number) as session:
            if trial is None:
                trial = _first_recorded(session)
            given = session.administration.conditions
            guard = consent.Guard(session.store, session.plugins, given)
            guard.check_listening(spoken_in(session).rater)
            self._player.turn(session, spoken_in(session).view(trial))

    def _reveal(self, session: Session) -> None:
        """Record that the machine's words are shown from now on, before they are."""
        view = spoken_in(session).view() if self._named else None
        if view is not None and self.presenter.may_reveal(view) and not view.revealed:
            spoken_in(session).listening.reveal()

    def _blank(self) -> None:
        if self._showing is not None:
            self._showing.blank()

    @property
    def hearing(self) -> Hearing:
        """What has the responses of the open session transcribed."""
        if self._hearing is None:
            self._hearing = Hearing(self.engine, self._sessions, self._naming())
        return self._hearing

    @property
    def presenter(self) -> NamingPresenter:
        """The presenter of the open session."""
        if self._presenter is None:
            from tabwb.workbench.naming.presenter import NamingPresenter

            self._presenter = NamingPresenter(self._naming(), self.store, self.hearing)
        return self._presenter


def _first_recorded(session: Session) -> int:
    """Return the number of the first trial whose counting answer was recorded."""
    for trial in session.trials:
        if trial.counting is not None and "recording" in trial.counting.metadata:
            return trial.plan.number
    raise TabwbError(f"nothing was recorded in #{session.administration.id}")


class NamingActions(Actions):
    """Plays, scores and codes stored responses, which other pages show."""

    def keep_recordings(self, number: int) -> None:
        """Keep the interrupted recordings of an administration."""
        self.desk.do(partial(controller(self.desk).keep_interrupted, number))

    def playback(self, number: int, trial: int | None = None) -> None:
        """Play a stored response, or stop."""
        self.desk.do(partial(controller(self.desk).play_response, number, trial))

    def listener_input(
        self,
        number: int,
        trial: int,
        what: str,
        rater: str,
        *,
        target: str,
        code: str = "",
        flags: tuple[str, ...] = (),
        rules_seen: bool = False,
    ) -> None:
        """Score or code a stored response, or write what was heard, by a listener.

        ``what`` is a score, ``heard``, ``code``, ``not-scorable``, or ``rater``: another person
        listens. An empty ``rater`` is the one who gave the administration. ``rules_seen``: the
        person has seen what the rules say of the response.
        """
        title, keep = f"Response to {target}", controller(self.desk).by_ear
        doing = what if what in {"heard", "code"} else "score"
        by_ear = partial(keep, number, trial, doing, rater, rules_seen)
        if what == "rater":
            self._ask_listener(number)
        elif what == "heard":
            self.desk.ask_words(
                title, "Heard", lambda text: by_ear(lambda spoken: spoken.listening.hear(text))
            )
        elif what == "code":
            from tabwb.workbench.naming.dialogs import CodeScreen

            def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
                if code is not None:
                    self.desk.do(lambda: by_ear(lambda spoken: spoken.listening.code(*code)))

            self.desk.app.push_screen(CodeScreen(target, code, flags), chosen)
        elif what == "not-scorable":

            def because(reason: str) -> None:
                by_ear(lambda spoken: spoken.score("not-scorable", reason=reason))

            self.desk.ask_words(f"{title} cannot be scored", "Reason", because)
        else:
            self.desk.do(lambda: by_ear(lambda spoken: spoken.score(cast("Score", what))))

    def _ask_listener(self, number: int) -> None:
        def given(rater: str | None) -> None:
            if rater is not None:
                self.desk.request("results", "listener_changed", number, rater)

        text = "From now on scores are recorded under this code, until the program ends."
        self.desk.app.push_screen(AskWords(f"Who listens to #{number}?", "Rater", text), given)
