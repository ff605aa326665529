"""The program ``tabwb``: the command line, and the workbench where no command is given.

The two interfaces do not import each other; this is the only module that imports both.
"""

from __future__ import annotations

import gc

from tabwb.records import system

YOUNG = 20_000
"""New objects after which garbage is collected; most of a command's are modules, which stay."""


def open_workbench(
    store_location: str | None, offline: bool, battery: str | None, model: str | None
) -> int:
    """Open the workbench; its exit status. Textual is imported here and not before."""
    system.check_memory(system.WORKBENCH_AT_LEAST)
    from tabwb.workbench.app import run_workbench

    return run_workbench(store_location, offline, battery, model)


def open_speaker_view(store_location: str | None) -> int:
    """Show what the workbench's administration shows to a participant; return the exit status."""
    system.check_memory(system.WORKBENCH_AT_LEAST)
    from tabwb.workbench.second_terminal import run_second_terminal

    return run_second_terminal(store_location)


def open_rating(store_location: str | None, rating_set: int | str, rater: str) -> int:
    """Open the rating screen alone, blind to the source; its exit status."""
    system.check_memory(system.WORKBENCH_AT_LEAST)
    from tabwb.workbench.rating.only import run_rating

    return run_rating(store_location, rating_set, rater)


def main() -> int:
    """Run the program with the arguments of its process."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    system.check_memory()
    from tabwb.cli import main as command_line  # importing it needs memory itself

    return command_line.main(
        workbench=open_workbench, speaker_view=open_speaker_view, rating_page=open_rating
    )
