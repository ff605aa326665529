"""What has become of the answers that were sent to the store."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET


@dataclass
class Saving:
    """Counts answers that are on their way.

    Attributes:
        unsaved: how many are.
        failed: some could not be stored.
        warned: the rater knows that leaving loses them.
    """

    unsaved: int = 0
    failed: bool = False
    warned: bool = False

    def stored(self) -> None:
        """Note that answers are stored; they hold all answers to the sample so far."""
        self.unsaved, self.failed, self.warned = max(self.unsaved - 1, 0), False, False

    def refused(self) -> None:
        """Note that answers could not be stored."""
        self.failed = True
        self.unsaved = max(self.unsaved - 1, 0)

    def mark(self) -> tuple[str, str]:
        """Return the words of the title bar, with their style."""
        if self.failed:
            return "! not saved", f"bold {AMBER}"
        return ("… saving", QUIET) if self.unsaved else ("saved", ACCENT)
