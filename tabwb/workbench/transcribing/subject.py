"""The subject *transcribing*: stored recordings, transcribed in the background."""

from __future__ import annotations

from tabwb.workbench.engine.jobs import TRANSCRIBING
from tabwb.workbench.engine.operations import JobController
from tabwb.workbench.shell.page import Actions, Subject

SUBJECT = Subject(__name__, actions="subject:TranscribingActions")


class TranscribingActions(Actions):
    """Transcribes what other subjects ask for."""

    def transcribe(self, number: int, transcriber: str = "") -> None:
        """Transcribe in the background; ask with which transcriber where none is named."""
        from tabwb.operations.transcribing import TranscribeResponses

        jobs = self.desk.controller(JobController)
        if transcriber:
            if jobs.working(TRANSCRIBING, number) is None:
                wanted = TranscribeResponses(administration=number, transcriber=transcriber)

                def begin() -> None:
                    jobs.begin(wanted)

                self.desk.do(begin)
            return
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        catalogue = self.desk.catalogue
        given = (one for one in (catalogue.administrations if catalogue else ()))
        spec = next((one.conditions.transcriber for one in given if one.id == number), None)
        screen = OperationScreen(
            self.desk, TranscribeResponses, f"Transcribe #{number}",
            administration=number, transcriber=spec,
        )  # fmt: skip
        self.desk.app.push_screen(screen)
