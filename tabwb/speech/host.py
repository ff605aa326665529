"""The sound host, ``python -m tabwb.speech.host VERB``: everything that touches PortAudio.

Options come as a line of JSON on its input, messages go as lines of JSON to its output. Whatever C
libraries print goes to stderr, which the program keeps in a file. A second line, or the end of the
input, asks it to end: so it ends in good order when the program dies in whatever way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

from tabwb.records.errors import TabwbError
from tabwb.speech.portaudio import HostError, Tell, listed, portaudio


def _devices(options: Mapping[str, Any], tell: Tell, ending: threading.Event) -> None:
    tell({"event": "devices", "devices": listed(portaudio())})


def _record(options: Mapping[str, Any], tell: Tell, ending: threading.Event) -> None:
    from tabwb.speech.capture import capture

    capture(options, tell, ending)


def _play(options: Mapping[str, Any], tell: Tell, ending: threading.Event) -> None:
    from tabwb.speech.playback import play_here

    play_here(options, tell, ending)


VERBS = {"devices": _devices, "record": _record, "play": _play}


def main(verb: str) -> None:
    """Run one verb and end."""
    writing = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a library prints is not a message
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lock = threading.Lock()

    def tell(message: Mapping[str, Any]) -> None:
        with lock:
            try:
                writing.write(json.dumps(message, allow_nan=False).encode() + b"\n")
            except OSError:
                ending.set()  # the program has closed the pipe

    ending = threading.Event()
    reading = os.fdopen(os.dup(0), "rb")
    options = json.loads(reading.readline() or b"{}")

    def listen() -> None:
        reading.readline()
        ending.set()

    threading.Thread(target=listen, name="listen", daemon=True).start()
    status = 0
    try:
        VERBS[verb](options, tell, ending)
    except HostError as error:
        tell({"event": "error", "kind": error.kind, "message": str(error), "where": error.where})
        status = 1
    except TabwbError as error:
        tell({"event": "error", "kind": "other", "message": error.message, "where": error.where})
        status = 1
    # PortAudio can block forever for a device that disappeared; all files are closed here.
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1])
