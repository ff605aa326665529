"""The process of a component: its frames, its log and its end."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Collection

from tabwb.plugin_api.child.environment import child_environment
from tabwb.plugin_api.child.frames import Frame, read_frame, write_frame
from tabwb.plugin_api.child.log import ChildLog
from tabwb.plugin_api.config.settings import Configuration
from tabwb.records import system
from tabwb.records.errors import TabwbError
from tabwb.records.specs import Spec

LONGEST_ANSWER = 32 * 2**20
"""Bytes of a frame."""


class Process:
    """One running host; a thread puts its frames into a queue, and None at the end.

    Args:
        name: of the component.
        spec: of the component.
        configuration: passed on to the host.
        variables: of the environment that the host gets besides the usual ones.
    """

    def __init__(
        self, name: str, spec: Spec, configuration: Configuration, variables: Collection[str]
    ) -> None:
        self.log = ChildLog(configuration.data_dir / "logs", name)
        self.popen = system.start(
            system.python("tabwb.plugin_api.child.host"),
            child_environment(configuration, spec.options.get("threads"), os.environ, variables),
            stdin=system.PIPE,
            stdout=system.PIPE,
            stderr=system.PIPE,
        )
        assert self.popen.stdin and self.popen.stdout and self.popen.stderr
        self.log.follow(self.popen.stderr)
        self._writing, self._reading = self.popen.stdin, self.popen.stdout
        self.frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self.outgoing: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        threading.Thread(target=self._write, name=f"write to {name}", daemon=True).start()
        threading.Thread(target=self._listen, name=f"listen to {name}", daemon=True).start()

    def _listen(self) -> None:
        try:
            while (frame := read_frame(self._reading, LONGEST_ANSWER)) is not None:
                self.frames.put(frame)
        except (TabwbError, ValueError, OSError):
            system.kill_group(self.popen)
        finally:
            self.frames.put(None)
            self._reading.close()

    def _write(self) -> None:
        # In a thread: a child that is stopped or busy does not read, and a large request would
        # block its writer.
        try:
            while (frame := self.outgoing.get()) is not None:
                write_frame(self._writing, frame)
        except OSError:
            return  # the child is gone
        finally:
            with contextlib.suppress(OSError):
                self._writing.close()

    def end(self, grace_s: float) -> int:
        """Close the pipe, wait, end the process if it still runs; return its exit status."""
        self.outgoing.put(None)
        try:
            status = self.popen.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.popen.terminate()
            try:
                status = self.popen.wait(0.5)
            except subprocess.TimeoutExpired:
                system.kill_group(self.popen)
                status = self.popen.wait()
        self.log.close()
        return status
