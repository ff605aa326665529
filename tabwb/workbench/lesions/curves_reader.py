"""Reads curves and maps from the store in its own thread, with its own store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabwb.records.errors import TabwbError, error_text
from tabwb.store.store import Store
from tabwb.workbench.engine.engine import Say
from tabwb.workbench.engine.gc_tuning import resting
from tabwb.workbench.engine.messages import CurvesWanted
from tabwb.workbench.lesions.curves import Measure, Read


@dataclass(frozen=True, slots=True)
class CurvesRead:
    """Curves and maps were read; ``problem`` says why not."""

    turn: int
    read: Read | None
    problem: str = ""


class CurvesReader:
    """Reads once at a time; what is asked for meanwhile is read once more afterwards."""

    def __init__(self, say: Say, location: str | None) -> None:
        self._say, self._location = say, location
        self._lock = threading.Lock()
        self._wanted: CurvesWanted | None = None
        self._reading = False
        self.turn = 0

    def read(self, wanted: CurvesWanted) -> None:
        """Read curves and maps of administrations."""
        with self._lock:
            self._wanted = wanted
            self.turn += 1
            if self._reading:
                return
            self._reading = True
        threading.Thread(target=self._run, name="curves", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                wanted, turn = self._wanted, self.turn
                self._wanted = None
                if wanted is None:
                    self._reading = False
                    return
            try:
                with resting(), Store.open(self._location, create=False) as store:
                    found = CurvesRead(turn, read_curves(store, wanted))
            except TabwbError as error:
                found = CurvesRead(turn, None, _words(error))
            except Exception as error:  # noqa: BLE001 - the thread's edge: shown, never the end
                found = CurvesRead(turn, None, error_text(error))
            self._say(found)


def read_curves(store: Store, wanted: CurvesWanted) -> Read:
    """Return curves and maps: the rows of ``tabwb results --table doses`` and ``--table map``."""
    # What loads numpy is imported in this thread: on the screen's thread it would be seen.
    from tabwb.analysis.doses import dose_rows, map_cells
    from tabwb.analysis.selection import Selection, selected_groups
    from tabwb.workbench.lesions.curves import curves_of, maps_of, titles_of

    selection = Selection.of(where=wanted.where, judge=wanted.judge or None)
    rows = selected_groups(store, wanted.numbers, selection, interval=False)
    members = [one for row in rows for one in row.group.members]
    curves, no_curves = _made(lambda: curves_of(dose_rows(rows)[0]))
    maps, no_maps = _made(lambda: maps_of(map_cells(members)))
    titles = {key: title for row in rows for key, title in titles_of(row.battery).items()}
    numbers = tuple(one.administration.id for one in members)
    return Read(curves, maps, no_curves, no_maps, titles, numbers)


def _made(make: Callable[[], dict[Measure, Any]]) -> tuple[dict[Measure, Any], str]:
    try:
        return make(), ""
    except TabwbError as error:
        return {}, error.message


def _words(error: TabwbError) -> str:
    return ". ".join(filter(None, (error.message, error.hint)))
