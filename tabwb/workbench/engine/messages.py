"""Messages to the screen: news of the worker's thread, requests of one subject to another.

Subjects define their own messages. All are sent with ``Desk.tell``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tabwb.workbench.engine.view_models import Catalogue, ErrorReport, Work


@dataclass(frozen=True, slots=True)
class Ready:
    """Plugins and store are open, or have changed."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Changed:
    """The open administration was opened, has changed, or was closed: ``work`` is None."""

    work: Work | None
    opened: bool = False

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a model can be fast)."""
        return isinstance(later, Changed) and not self.opened


@dataclass(frozen=True, slots=True)
class Streamed:
    """The reply so far."""

    text: str

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, Streamed | Changed)


@dataclass(frozen=True, slots=True)
class Settled:
    """A queued command is done, and all of its messages were sent."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Responses or ratings of an administration have changed in the store."""

    number: int


@dataclass(frozen=True, slots=True)
class ResultsWanted:
    """The results of an administration are to be shown."""

    number: int


@dataclass(frozen=True, slots=True)
class AutoRunComplete:
    """An auto-run has given the last item of an administration."""

    number: int


@dataclass(frozen=True, slots=True)
class TranscribingWanted:
    """Stored responses are to be transcribed in the background.

    Attributes:
        number: of the administration.
        transcriber: a spec, for the responses without a transcript; empty: a dialog asks.
    """

    number: int
    transcriber: str = ""


@dataclass(frozen=True, slots=True)
class GroupsWanted:
    """The results of all administrations are to be shown by a key, for example ``lesion``."""

    by: str


@dataclass(frozen=True, slots=True)
class CurvesWanted:
    """Curves and maps of lesions are to be shown.

    Attributes:
        numbers: of the administrations; empty: all.
        where: filters that they must match, as ``tabwb results --where`` takes them.
        judge: whose verdicts are shown; empty: every judge's.
        words: what is shown, in words.
        back: id of the page to which *Back* returns.
    """

    numbers: tuple[int, ...] = ()
    where: tuple[str, ...] = ()
    judge: str = ""
    words: str = ""
    back: str = "home"


@dataclass(frozen=True, slots=True)
class NewWanted:
    """The dialog of a new administration is to be opened with these fields filled in.

    Empty ones have their defaults; ``participant`` is the code of a person.
    """

    battery: str
    model: str
    lesion: str
    participant: str = ""


@dataclass(frozen=True, slots=True)
class ParticipantWanted:
    """The page of a participant is to be shown; an empty code shows the list."""

    code: str


@dataclass(frozen=True, slots=True)
class ScoreCounted:
    """The responses of an administration that are right were counted, of those scored."""

    administration: int
    right: int
    scored: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed, and the user has to know."""

    report: ErrorReport


@dataclass(frozen=True, slots=True)
class Told:
    """A notification; nothing need be done."""

    text: str


@dataclass(frozen=True, slots=True)
class JudgesPending:
    """An administration is done whose conditions name judges that ask a model."""

    number: int
    judges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VerdictsWanted:
    """One response is to be shown, with what every judge says of it."""

    number: int
    trial: int


@dataclass(frozen=True, slots=True)
class PlaybackWanted:
    """The recorded response to one trial is to be played, or stopped."""

    number: int
    trial: int


@dataclass(frozen=True, slots=True)
class Playing:
    """The recorded response to a trial is being played.

    Attributes:
        position: returns the second of the recording that is heard now; None: it is over. It may be
            called from any thread.
    """

    number: int
    trial: int
    position: Callable[[], float | None]


@dataclass(frozen=True, slots=True)
class ListenerInput:
    """A person who listens to a stored response scores it, codes it or writes what was heard.

    Attributes:
        what: a score, ``heard``, ``code``, ``not-scorable``, or ``rater``: another person listens.
        rater: the study ID of the person; empty: the one who gave the administration.
        target: the name of the picture.
        code: of the response so far, or empty.
        rules_seen: whether the person has seen what the rules say of the response.
    """

    number: int
    trial: int
    what: str
    rater: str
    target: str
    code: str = ""
    flags: tuple[str, ...] = ()
    rules_seen: bool = False


@dataclass(frozen=True, slots=True)
class ListenerChanged:
    """Another person listens to the responses of an administration from now on."""

    number: int
    rater: str


@dataclass(frozen=True, slots=True)
class ExportWanted:
    """The responses of administrations are to be written to a file.

    Attributes:
        numbers: of the administrations.
        what: is exported, in words.
        name: of the proposed file, without its ending.
        figures: names of figures that suit the page.
        drawn: the administrations that figures show; empty: those that are exported.
        by: keys by which figures group them.
        judge: whose burdens figures show; empty: every judge's.
    """

    numbers: tuple[int, ...]
    what: str
    name: str
    figures: tuple[str, ...] = ()
    drawn: tuple[int, ...] = ()
    by: str = "administration"
    judge: str = ""


@dataclass(frozen=True, slots=True)
class KeepRecordings:
    """Interrupted recordings of an administration are to be kept."""

    number: int
