"""What the worker tells the screen; each is posted from its thread and handled in the screen's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from tabwb.workbench.engine import snapshots

if TYPE_CHECKING:
    from tabwb.workbench.judging.judged_response import JudgedResponse


class Ready(Message):
    """Plugins and store are open, or have changed: here is what there is."""

    def __init__(self, catalogue: snapshots.Catalogue) -> None:
        self.catalogue = catalogue
        super().__init__()


class Changed(Message):
    """The open administration as it stands now; ``opened`` the first time, ``over`` at its end."""

    def __init__(
        self, work: snapshots.Work | None, *, opened: bool = False, over: bool = False
    ) -> None:
        self.work = work
        self.opened = opened
        self.over = over
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        """Give way to a later one, so that a fast model never outruns the screen."""
        return isinstance(message, Changed) and not self.opened and not self.over


class Settled(Message):
    """A command that was queued is done, and everything that it had to say was said."""


class Streamed(Message):
    """The reply so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        """Give way to a longer one, and to what was made of it."""
        return isinstance(message, Streamed | Changed)


class ResultsReady(Message):
    """Results of one administration; ``again`` when they replace those that are shown."""

    def __init__(self, results: snapshots.Results, *, again: bool = False) -> None:
        self.results = results
        self.again = again
        super().__init__()


class Failed(Message):
    """Something that needs a person."""

    def __init__(self, trouble: snapshots.Trouble) -> None:
        self.trouble = trouble
        super().__init__()


class Exported(Message):
    """A file was written; or it was not, and here is why."""

    def __init__(self, path: str = "", refused: snapshots.Trouble | None = None) -> None:
        self.path = path
        self.refused = refused
        super().__init__()


class Told(Message):
    """News; nothing need be done."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class Judging(Message):
    """How judging stands: ``estimate``, ``running``, ``done``, ``stopped`` or ``refused``."""

    def __init__(self, phase: str, words: str, judged: int = 0, planned: int = 0) -> None:
        self.phase = phase
        self.words = words
        self.judged = judged
        self.planned = planned
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        """Give way to later progress, so that a fast judge never outruns the screen."""
        return isinstance(message, Judging) and self.phase == message.phase == "running"


class JudgingOffered(Message):
    """An administration is done whose conditions name judges that ask a model."""

    def __init__(self, number: int, judges: tuple[str, ...]) -> None:
        self.number = number
        self.judges = judges
        super().__init__()


class VerdictsReady(Message):
    """What every judge says of one response."""

    def __init__(self, found: JudgedResponse) -> None:
        self.found = found
        super().__init__()


class ModelTold(Message):
    """What came of a command about models: ``written``, ``removed``, ``tried``, ``refused`` ..."""

    def __init__(self, phase: str, words: str) -> None:
        self.phase = phase
        self.words = words
        super().__init__()
