"""The thread that holds the store for the rating screen, and lets only views out of it.

The screen gets the function that puts requests into this thread's queue. The queue and the views
are all that both share, so that nothing which tells a source can be reached from the screen.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from tabwb.administer.rating.session import RaterSession
from tabwb.administer.rating.view import view_of
from tabwb.records.errors import StoreError, TabwbError, error_text
from tabwb.records.files import WorkFolder
from tabwb.workbench.rating.view_models import Reply, Request

if TYPE_CHECKING:
    from tabwb.speech.playback import Playback


SLOW = 0.75
"""The speed of slow playback."""
Cut = tuple[Path, float, float]
"""A file, and the start and end of the stretch in seconds."""


class SampleSound:
    """Plays one stretch at a time; a further request stops it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder: WorkFolder | None = None
        self._playing: Playback | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Stop, and remove the copies."""
        self.stop()
        if self._folder is not None:
            self._folder.close()

    def play(self, cut: Cut | None, *, slow: bool) -> str:
        """Play a stretch, or stop what is heard; return what is done, in words."""
        if self.stop():
            return "stopped"
        if cut is None:
            return "there is no recording to play"
        from tabwb.speech.playback import Playback

        self._playing = Playback(self._slow_copy(cut)) if slow else Playback(*cut)
        self._playing.start()
        seconds = f"{self._playing.seconds:.1f} s"
        return f"playing {seconds} at {SLOW:g} of the speed" if slow else f"playing {seconds}"

    def stop(self) -> bool:
        """Stop; return whether something was heard."""
        playing, self._playing = self._playing, None
        if playing is None or not playing.playing:
            return False
        playing.stop()
        return True

    def _slow_copy(self, cut: Cut) -> Path:
        from tabwb.speech.condition import slowed
        from tabwb.speech.files import read_clip, write_wav

        if self._folder is None:
            self._folder = WorkFolder(self._root)
        path = self._folder.path / "slow.wav"
        samples, rate = read_clip(*cut)
        write_wav(path, slowed(samples, rate, SLOW), rate)
        return path


T = TypeVar("T")
Say = Callable[[Reply], object]
Send = Callable[[Request], None]
LOOK_S = 0.5
"""Seconds between two checks whether the program is ending."""


def connection(place: str | None, set_ref: int | str, rater: str) -> Callable[[Say], Send]:
    """Return the function that starts the work of one rater on one set."""

    def connect(say: Say) -> Send:
        requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        Worker(requests, say, place, set_ref, rater).start()
        return requests.put

    return connect


class Worker(threading.Thread):
    """Opens the store, handles the requests in their order, and ends with the program."""

    def __init__(
        self,
        requests: queue.SimpleQueue[Request],
        say: Say,
        place: str | None,
        set_ref: int | str,
        rater: str,
    ) -> None:
        super().__init__(name="rating")  # no daemon: what was sent is stored before the end
        self._requests, self._say = requests, say
        self._place, self._set_ref, self._rater = place, set_ref, rater

    def run(self) -> None:
        """Work until the screen is closed or the program ends."""
        with ExitStack() as ends:
            opened = self._guarded(lambda: self._opened(ends))
            if opened is not None:
                self._guarded(lambda: self._show(opened[0]))
            while (request := self._next()) is not None and request.what != "close":
                if opened is not None:  # else why not was said
                    self._guarded(lambda: self._current(*opened, request), request)

    def _opened(self, ends: ExitStack) -> tuple[RaterSession, SampleSound]:
        from tabwb.administer.rating.session import RaterSession
        from tabwb.host.plugins import Plugins
        from tabwb.host.settings import Configuration
        from tabwb.store import takes
        from tabwb.store.store import Store

        configuration = Configuration.load()
        plugins = Plugins.load(configuration)
        ends.callback(plugins.close)
        store = ends.enter_context(Store.open(configuration.store_at(self._place), create=False))
        sound = ends.enter_context(SampleSound(takes.work_root(store)))
        session = RaterSession.open(store, plugins, self._set_ref, self._rater)
        return ends.enter_context(session), sound

    def _next(self) -> Request | None:
        while True:
            try:
                return self._requests.get(timeout=LOOK_S)
            except queue.Empty:
                if not threading.main_thread().is_alive():
                    return None

    def _show(self, session: RaterSession) -> None:

        self._say(Reply("shown", view_of(session)))

    def _current(self, session: RaterSession, sound: SampleSound, request: Request) -> None:
        """Handle a request, unless its answers are to a sample that is shown no more."""
        visit = session.visit
        if request.draft is not None and request.visit != visit:
            return
        try:
            self._handle(session, sound, request)
        except TabwbError:
            if session.visit != visit:  # the sample was deleted meanwhile
                self._show(session)
            raise

    def _handle(self, session: RaterSession, sound: SampleSound, request: Request) -> None:
        what = request.what
        if what == "guidelines":
            session.read_guidelines()
        elif what in {"play", "slow"}:
            self._say(Reply("said", words=sound.play(session.audio(), slow=what == "slow")))
        elif what == "keep" and request.draft is not None:
            session.keep(request.draft, seconds=request.seconds)
            self._say(Reply("kept"))
        else:
            self._move(session, request)
            sound.stop()

    def _move(self, session: RaterSession, request: Request) -> None:
        moved, said = True, ""
        if request.what in {"back", "undo"} and request.draft and session.phase == "rate":
            session.keep(request.draft, seconds=request.seconds)  # what could not be kept before
        if request.what == "finish":
            session.finish(request.draft, seconds=request.seconds)
        elif request.what == "go-on":
            session.go_on()
        elif request.what == "undo":
            done = session.progress.done
            moved = session.undo(seconds=request.seconds)
            if session.progress.done < done:
                said = "taken back: this sample is open again; enter completes it"
        elif request.what == "back":
            moved = session.back()
        self._show(session)
        if not moved:
            said = "this is the first sample" if request.what == "back" else "nothing to take back"
        if said:
            self._say(Reply("said", words=said))

    def _guarded(self, job: Callable[[], T], request: Request | None = None) -> T | None:
        try:
            return job()
        except StoreError as error:
            # A rater may be anybody's browser: where the store is, and the driver's words about it,
            # are for whoever runs the study.
            words = "   ".join(filter(None, (error.message.partition(": ")[0], error.hint)))
        except TabwbError as error:
            # Without place and alternatives: a path or the name of another set can tell something.
            words = "   ".join(filter(None, (error.message, error.hint))).replace("\n", "   ")
        except Exception as error:  # noqa: BLE001 - the worker's edge: shown, never the end
            words = f"something unexpected happened: {error_text(error)}"
        unsaved = request is not None and request.what == "keep"
        self._say(Reply("failed", words=words, unsaved=unsaved))
        return None
